"""Records of `tables.py`, and what they say."""

import json
import math
from itertools import product

import numpy as np
from _report import print_bars
from _tables_cases import DEVELOPMENT
from _tables_tools import OURS, TOOLS, UNTUNED

from sksearch.stats import ranks as ranks_of, wilcoxon_holm

#: Rows of untuned estimators; where a model has no such variant, it is taken as it is.
VARIANTS = {
    UNTUNED: "as is",
    f"{UNTUNED}, 300 iterations": "300 iterations",
    f"{UNTUNED}, early stopping": "early stopping",
}
ALL_TOOLS = (UNTUNED, *TOOLS)
DRIFT = 1.2  # of the workload's time within a run: what else the machine had to do
BEHIND = 0.005  # of the score of the best untuned variant


class Records:
    """JSON lines, a file for each tool; the last line of a run counts.

    Parameters
    ----------
    folder : Path
        Made when the first record comes.
    """

    def __init__(self, folder):
        self.folder = folder
        self._all = {}
        for file in sorted(folder.glob("*.jsonl")) if folder.is_dir() else ():
            for line in file.read_text(encoding="utf-8").splitlines():
                record = json.loads(line)
                self._all[self.key(record)] = record

    @staticmethod
    def key(record):
        """What tells runs apart; of untuned estimators not the length of a run."""
        key = tuple(record[name] for name in ("tool", "table", "estimator", "seed"))
        return (*key, 0 if key[0] == UNTUNED else record["seconds"])

    def has(self, key, version=None):
        """Whether there is a record, of this version unless that is None."""
        record = self.get(*key)
        return record is not None and version in (None, record["version"])

    def get(self, tool, table, estimator, seed, seconds):
        """The record of a run, None without one."""
        return self._all.get((tool, table, estimator, seed, 0 if tool == UNTUNED else seconds))

    def add(self, record):
        """Append a record to the file of its tool."""
        self._all[self.key(record)] = record
        self.folder.mkdir(parents=True, exist_ok=True)
        name = record["tool"].replace(" ", "_").lower()
        with (self.folder / f"{name}.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")

    def __iter__(self):
        return iter(self._all.values())


class Results:
    """Scores of some rows on the runs that all of them have.

    Parameters
    ----------
    records : Records
        All that is known.
    rows : list of str
        Tools, or keys of `VARIANTS`.
    runs : list of (str, str, int)
        Table, estimator and index of the seed.
    seconds : int
        Length of the runs.
    """

    def __init__(self, records, rows, runs, seconds):
        self.records, self.rows, self.seconds = records, rows, seconds
        self.runs = [run for run in runs if all(self._record(row, run) for row in rows)]
        self.pairs = sorted({(table, estimator) for table, estimator, _ in self.runs})

    def _record(self, row, run):
        tool = UNTUNED if row in VARIANTS else row
        return self.records.get(tool, *run, self.seconds)

    def entry(self, row, run, t):
        """What a record says of a row at a time."""
        at = self._record(row, run)["at"]
        return at.get(VARIANTS[row], at["as is"]) if row in VARIANTS else at[str(t)]

    def table(self, field, t):
        """Values, shape (n_runs, n_rows); NaN where a tool has nothing yet."""
        values = [[self.entry(row, run, t).get(field) for row in self.rows] for run in self.runs]
        return np.array(values, dtype=float)

    def by_pair(self, values):
        """Means over the seeds of each pair of table and estimator, shape (n_pairs, n_rows)."""
        of = [self.pairs.index(run[:2]) for run in self.runs]
        return np.array([values[np.equal(of, i)].mean(axis=0) for i in range(len(self.pairs))])

    def ranks(self, field, t):
        """Mean ranks over seeds, shape (n_pairs, n_rows); a tool that has nothing is last."""
        return self.by_pair(ranks_of(-self.table(field, t)))

    def p_values(self, field, t, control):
        """Of Wilcoxon's test on mean scores, with Holm's correction, shape (n_rows,)."""
        scores = self.table(field, t)
        worst = np.nanmin(scores, axis=1, keepdims=True)
        scores = np.where(np.isnan(scores), worst, scores)
        return wilcoxon_holm(-self.by_pair(scores), control=control)

    def behind(self, t):
        """Share of runs behind the best untuned variant by more than `BEHIND`, shape (n_rows,)."""
        best = [max(self.entry(v, run, t)["test"] for v in VARIANTS) for run in self.runs]
        limit = np.array(best) - BEHIND * np.abs(best)
        return 1 - (self.table("test", t) >= limit[:, None]).mean(axis=0)  # NaN is behind


def report(records, args, checkpoints):
    """Print ranks, tests and scores as Markdown, and the bars.

    Parameters
    ----------
    records : Records
        All that is known.
    args : Namespace
        Tools, tables, estimators, count of seeds and seconds.
    checkpoints : list of int
        Times at which incumbents were read.

    Returns
    -------
    ok : bool
        Whether no bar failed.
    """
    runs = list(product(args.tables, args.estimators, range(args.seeds)))
    rows = recorded_rows(records, args.tools or ALL_TOOLS, runs, args.seconds)
    everywhere = [row for row in rows if not limited(row, args.estimators)]
    bars = []
    if everywhere:
        bars = compare(Results(records, everywhere, runs, args.seconds), checkpoints, len(runs))
    if len(everywhere) < len(rows):
        known = [run for run in runs if not any(limited(row, run[1:2]) for row in rows)]
        compare(Results(records, rows, known, args.seconds), checkpoints, len(known))
    print_versions(records, rows, args.seconds)
    return print_bars(bars)


def recorded_rows(records, tools, runs, seconds):
    """Return the rows of these tools that have a record of some of the runs."""
    return [
        row
        for tool in tools
        for row in (VARIANTS if tool == UNTUNED else (tool,))
        if any(records.has((tool, *run, seconds)) for run in runs)
    ]


def limited(row, estimators):
    """Whether a tool does not know one of these estimators."""
    known = None if row in VARIANTS else TOOLS[row].estimators
    return known is not None and not set(estimators) <= set(known)


def compare(results, checkpoints, n_asked):
    """Print what `report` says for one set of rows, and return the bars."""
    rows, n = results.rows, len(results.runs)
    estimators = sorted({estimator for _, estimator in results.pairs})
    print(
        f"\n{n} runs on {len(results.pairs)} pairs of table and estimator "
        f"({', '.join(estimators)}) that all rows have; {n_asked - n} are missing.\n"
    )
    if not n:
        return []
    control = next((i for i, row in enumerate(rows) if row in OURS), None)
    columns, untuned = {}, UNTUNED in rows
    for field in ("test", "cv"):
        for t in checkpoints:
            columns[f"rank {field} @{t}"] = results.ranks(field, t).mean(axis=0)
            if control is not None and len(rows) > 1:
                p_values = results.p_values(field, t, control)
                columns[f"p {field} @{t}"] = p_values
    for t in checkpoints if untuned else ():
        columns[f"behind @{t}"] = results.behind(t)
    for t in checkpoints:
        started = results.table("n_started", t)
        counts = np.where(np.isnan(started), results.table("n", t), started)
        columns[f"candidates @{t}"] = [middle(column) for column in counts.T]
    order = np.argsort(columns[f"rank test @{checkpoints[-1]}"], kind="stable")
    print_table(rows, columns, order)
    print_parts(results, checkpoints[-1], estimators, order)
    return bars_of(results, columns, checkpoints, control) if control is not None else []


def middle(values):
    """Median of what is there."""
    values = values[~np.isnan(values)]
    return float(np.median(values)) if len(values) else math.nan


def print_table(rows, columns, order):
    """Print columns of numbers as Markdown."""
    print(f"| tool | {' | '.join(columns)} |")
    print(f"|---|{'--:|' * len(columns)}")
    for i in order:
        cells = [text_of(name, values[i]) for name, values in columns.items()]
        print(f"| {rows[i]} | {' | '.join(cells)} |")


def text_of(column, value):
    """A number in as many digits as its column needs."""
    if math.isnan(value):
        return ""
    if column.startswith("p "):
        return f"{value:.3f}" if value >= 0.001 else f"{value:.0e}"
    if column.startswith("behind"):
        return f"{100 * value:.0f} %"
    return f"{value:.0f}" if column.startswith("candidates") else f"{value:.2f}"


def print_parts(results, t, estimators, order):
    """Print mean ranks by test score for kinds of tables, and for each estimator."""
    ranks = results.ranks("test", t)
    parts = {
        "development": [table in DEVELOPMENT for table, _ in results.pairs],
        "other tables": [table not in DEVELOPMENT for table, _ in results.pairs],
    }
    parts |= {name: [e == name for _, e in results.pairs] for name in estimators}
    print(f"\nMean ranks by test score at {t} seconds:\n")
    columns = {
        f"{name} ({sum(part)})": ranks[part].mean(axis=0)
        for name, part in parts.items()
        if any(part)
    }
    print_table(results.rows, columns, order)


def print_scores(records, args, t, field="test"):
    """Print the score of each run at one time."""
    tools = args.tools or ALL_TOOLS
    for estimator, table, seed in product(args.estimators, args.tables, range(args.seeds)):
        cells = []
        for tool in tools:
            record = records.get(tool, table, estimator, seed, args.seconds)
            at = record and record["at"]["as is" if tool == UNTUNED else str(t)]
            known = at and at[field] is not None
            cells.append(f"{at[field]:.4f}" if known else "none" if at else "")
        print(f"{estimator:<9} {table:<19} {seed} " + "".join(f"{cell:>11}" for cell in cells))


def bars_of(results, columns, checkpoints, control):
    """What the first of our searches must reach."""
    rows, bars = results.rows, []
    for field, t in product(("test", "cv"), checkpoints):
        ranks = columns[f"rank {field} @{t}"]
        bars.append((f"{rows[control]}: best rank by {field} @{t}", ranks[control] <= min(ranks)))
        if f"p {field} @{t}" in columns:
            p_values = np.delete(columns[f"p {field} @{t}"], control)
            ahead = np.delete(ranks, control) > ranks[control]
            bars.append((f"p < 0.05 against each by {field} @{t}", all((p_values < 0.05) & ahead)))
    for t in checkpoints if UNTUNED in rows else ():
        share = columns[f"behind @{t}"][control]
        bars.append((f"behind the best untuned variant in at most 5 % @{t}", share <= 0.05))
    return bars


def print_versions(records, rows, seconds):
    """Print what was run, and whether spaces differ."""
    tools = {UNTUNED if row in VARIANTS else row for row in rows}
    used = [r for r in records if r["tool"] in tools and r["seconds"] == seconds]
    print("\nVersions: " + ", ".join(sorted({f"{r['tool']} {r['version']}" for r in used})))
    scales = [record["scale"] for record in used]
    if scales:
        print(f"Workload: {min(scales):.2f} to {max(scales):.2f} of the reference")
    drifts = [abs(np.log(r["scale_after"] / r["scale"])) for r in used if "scale_after" in r]
    if drifts:
        n = sum(drift > np.log(DRIFT) for drift in drifts)
        print(f"In {n} of {len(drifts)} runs it had changed by more than a fifth at the end.")
    spaces = {}
    for r in used:
        if "space" in r:
            spaces.setdefault((r["table"], r["estimator"]), set()).add(r["space"])
    n = sum(len(found) > 1 for found in spaces.values())
    if n:
        print(f"On {n} pairs the space was changed between runs.")
