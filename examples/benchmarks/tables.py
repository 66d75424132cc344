"""Searches on real tables at equal processor seconds: ours, peers, and no search at all.

Twelve tables x four estimators (boosting of scikit-learn and LightGBM, pipelines with an MLP and
with support vectors; classifiers or regressors, as the table asks): 2,000 rows to search with, up
to 10,000 others to test on, three frozen folds, runs of 30 processor seconds on one core. What a
tool would return is read at 10 and at 30 seconds: for peers the best of the evaluations that were
complete by then, for ours what an interrupted copy of the search has; the test score is of that
candidate trained on all 2,000 rows. That last training is charged to no peer, nor to ours at 10
seconds; at 30 it is inside ``timeout=30``, and a search that ends later is read as at 10. A second
is as many processor seconds as a fixed workload, timed at the start of each run, takes times
longer here than on the machine on which the records were begun.

Peers run with their defaults and with our space of the day on which the records were begun; FLAML
has its own. Optuna's pruner sees each fold, and gets no first guess. HalvingRandomSearchCV ends by
a count of candidates and not by time: it runs once for 10 and once for 30 seconds, with as many
candidates as fit by the cost of the untuned estimator; if that was too many, the best of its last
whole rung counts. The CV score of FLAML's and halving's candidates is taken again on the frozen
folds.

    python examples/benchmarks/tables.py --tools SearchCV          # run what is missing, report
    python examples/benchmarks/tables.py --report                  # report what is recorded
    python examples/benchmarks/tables.py --report --picture docs/images/tables.png
    python examples/benchmarks/tables.py --tables development --estimators histgb svm --seeds 1
    python examples/benchmarks/tables.py --estimators forest linear xgboost --seeds 1

Records are in ``records/tables`` and in the repository. Peers are run only where one is missing;
ours also where it is of another version of the sources. Exit status 1 if a run or a bar failed.
"""

import argparse
import importlib
import importlib.metadata
import os
import platform
import sys
import time
import warnings
import zlib
from functools import partial
from itertools import product
from multiprocessing import get_context
from multiprocessing.connection import wait
from pathlib import Path

import numpy as np
import sklearn
from _report import version_of
from _tables_cases import (
    DEVELOPMENT,
    ESTIMATORS,
    MORE_ESTIMATORS,
    REPORTED,
    TABLES,
    make_case,
    space_of,
    untuned,
)
from _tables_clock import REFERENCE_SECONDS, run_for, workload
from _tables_picture import draw
from _tables_report import ALL_TOOLS, Records, print_scores, report
from _tables_tools import OURS, TOOLS, UNTUNED, from_flaml, refitted, size_of_halving
from sklearn.base import clone

CHECKPOINTS = (10, 30, 100, 300)
FOLDER = Path(__file__).parent / "records" / "tables"
SOURCES = (
    *(
        "space",
        "history.py",
        "base",
        "models",
        "acquisition",
        "samplers",
    ),
    *("schedulers", "resources", "executors", "study.py", "fitting", "search", "progress"),
)


def run_tool(tool, table, estimator, seed_index, seconds):
    """Make one record.

    Parameters
    ----------
    tool, table, estimator : str
        Names.
    seed_index : int
        From 0.
    seconds : float
        Length of the run.

    Returns
    -------
    record : dict
        To be stored as JSON.
    """
    case = make_case(table, estimator, seed_index)
    workload()  # the first training of a process is slower
    scale = workload() / REFERENCE_SECONDS
    record = {
        "tool": tool,
        "table": table,
        "estimator": estimator,
        "seed": seed_index,
        "seconds": seconds,
        "scale": round(scale, 4),
        "version": version(tool),
        "sklearn": sklearn.__version__,
        "python": platform.python_version(),
    }
    if tool == UNTUNED:
        return record | {"at": score_untuned(case, scale)}
    if tool not in ("SearchCV", "FLAML"):  # which have their own
        record["space"] = digest(space_of(case))
    record["at"] = read_run(tool, case, points_of(seconds), scale)
    return record | {"scale_after": round(workload() / REFERENCE_SECONDS, 4)}


def points_of(seconds):
    """Times at which a run is read."""
    return [*(t for t in CHECKPOINTS if t < seconds), seconds]


def digest(space):
    """Short text that tells spaces apart."""
    values = {name: getattr(v, "args", None) or repr(v) for name, v in space.items()}
    return f"{zlib.crc32(repr(values).encode()):08x}"


def score_untuned(case, scale):
    """Scores of the variants of the untuned estimator."""
    found = {}
    for name, model in untuned(case).items():
        start = time.process_time()
        cv = cv_score(case, model)
        test = clone(model).fit(case.X, case.y).score(case.X_test, case.y_test)
        spent = (time.process_time() - start) / scale
        found[name] = {"cv": cv, "test": test, "seconds": round(spent, 2)}
    return found


def cv_score(case, model):
    """Mean score over the frozen folds."""
    scores = []
    for train, test in case.folds:
        X, X_test = (part(case.X, rows) for rows in (train, test))
        scores.append(clone(model).fit(X, case.y[train]).score(X_test, case.y[test]))
    return float(np.mean(scores))


def part(X, rows):
    """Rows of an array or a DataFrame."""
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def read_run(name, case, points, scale):
    """Search, and score what the tool would return at each time."""
    tool, space = TOOLS[name], space_of(case)
    for module in tool.modules:
        importlib.import_module(module)
    if tool.is_ours:
        search = partial(tool.search, case, space, points[-1], checkpoints=points)
        entries = run_for(points[-1], scale, search, ends_itself=True)
        found = {t: ours_at(entries, t, t == points[-1]) for t in points}
    elif tool.runs_each:
        found = {}
        for t in points:
            n = size_of_halving(case, t, scale)
            search = partial(tool.search, case, space, t, n_candidates=n)
            entries = run_for(t, scale, search)
            found[t] = last_of(entries, n)
    else:
        entries = run_for(points[-1], scale, partial(tool.search, case, space, points[-1]))
        found = {t: best_of(entries, t) for t in points}
    return {str(t): scored(name, case, entry) for t, entry in found.items()}


def best_of(entries, t):
    """The best evaluation that was complete at `t`; the first of equal ones."""
    entries = [entry for entry in entries if entry["at"] <= t]
    best = max(entries, key=lambda entry: entry["cv"], default=None)
    if best is None:
        return None
    started = {key: entries[-1][key] for key in ("n_started",) if key in best}
    return best | started | {"n": len(entries)}


def last_of(entries, n_candidates):
    """The best candidate of the last rung of halving that was complete."""
    return entries[-1] | {"n": n_candidates} if entries else None


def ours_at(entries, t, is_last):
    """What our search returns at `t`, or has returned before."""
    final = [entry for entry in entries if entry["of"] is None]
    # Without a copy at the end the search has ended before; its entry is made after the scoring.
    has_copy = any(entry["of"] == t for entry in entries)
    if is_last and final and (final[0]["at"] <= t or not has_copy):
        return final[0]
    end = {"ended": final[0]["at"]} if final and is_last else {}
    return next((entry | end for entry in entries if entry["of"] == t), None) or next(
        (entry for entry in final if entry["at"] <= t), None
    )


def scored(name, case, entry):
    """What is kept of an incumbent; without one the scores are missing."""
    if entry is None:
        return {"cv": None, "test": None}
    params = entry["params"]
    model = from_flaml(case, params) if name == "FLAML" else None
    test, cv = entry.get("test"), entry["cv"]
    if test is None:
        fitted = refitted(case, params) if model is None else model.fit(case.X, case.y)
        test = fitted.score(case.X_test, case.y_test)
    if name == "HalvingRandomSearchCV":
        cv = cv_score(case, clone(case.model).set_params(**params))
    elif model is not None:
        cv = cv_score(case, model)
    kept = {"cv": round(cv, 6), "test": round(float(test), 6), "params": repr(params)}
    kept |= {key: entry[key] for key in ("n", "n_started") if key in entry}
    times = ("ended",) if entry.get("of") else ("at", "ended")  # a copy has a clock of its own
    return kept | {key: round(entry[key], 2) for key in times if key in entry}


def version(tool):
    """Version of the package; of ours with a hash of the sources."""
    if tool == UNTUNED:
        return sklearn.__version__
    packages = {tool: TOOLS[tool].package}
    return version_of(tool, OURS, packages, SOURCES)


def run_alone(what, sender):
    """Make a record in this process, and send it, or the text of an error."""
    warnings.simplefilter("ignore")
    try:
        sender.send((what, run_tool(*what), None))
    except Exception as error:
        sender.send((what, None, f"{type(error).__name__}: {error}"))


def run_missing(records, todo, n_jobs):
    """Run each in a process of its own, `n_jobs` at a time, and keep records as they come."""
    context, running, left = get_context("fork"), {}, list(todo)
    n_failed, n_done, begin = 0, 0, time.monotonic()
    while left or running:
        while left and len(running) < n_jobs:
            receiver, sender = context.Pipe(duplex=False)
            what = left.pop(0)
            process = context.Process(target=run_alone, args=(what, sender))
            process.start()
            sender.close()
            running[receiver] = process, what
        for receiver in wait(list(running)):
            process, what = running.pop(receiver)
            try:
                what, record, error = receiver.recv()
            except EOFError:
                record, error = None, "the process ended without an answer"
            process.join()
            n_done += 1
            label = f"{n_done} of {len(todo)}, {time.monotonic() - begin:.0f} s: {what}"
            if error:
                n_failed += 1
                print(f"{label}: FAILED: {error}", file=sys.stderr, flush=True)
                continue
            records.add(record)
            found = [(at["cv"], at["test"], at.get("n")) for at in record["at"].values()]
            print(f"{label}: {found}", file=sys.stderr, flush=True)
    return n_failed


def arguments():
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    names = ALL_TOOLS
    parser.add_argument("--tools", nargs="+", choices=names, metavar="TOOL", help=", ".join(names))
    groups = {"development": DEVELOPMENT, "reported": REPORTED, "all": TABLES}
    parser.add_argument(
        "--tables", nargs="+", default=["all"], choices=(*groups, *TABLES), metavar="TABLE"
    )
    kinds = (*ESTIMATORS, *MORE_ESTIMATORS)
    parser.add_argument("--estimators", nargs="+", choices=kinds, default=list(ESTIMATORS))
    parser.add_argument("--seeds", type=int, default=2, help="indices 0, 1, ... of seeds")
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time")
    parser.add_argument("--records", type=Path, default=FOLDER, help="folder of the records")
    parser.add_argument("--report", action="store_true", help="run nothing")
    parser.add_argument("--scores", action="store_true", help="print the test score of each run")
    parser.add_argument("--picture", type=Path, help="draw the ranks of all runs into this PNG")
    parser.add_argument("--workload", action="store_true", help="only time the fixed workload")
    args = parser.parse_args()
    args.tables = [t for name in args.tables for t in groups.get(name, (name,))]
    return args


def main():
    """Run what is missing, print, and return the exit status."""
    if os.environ.get("OMP_NUM_THREADS") != "1":
        names = ("OMP", "OPENBLAS", "MKL", "BLIS")
        os.environ.update({f"{name}_NUM_THREADS": "1" for name in names})
        os.execv(sys.executable, [sys.executable, *sys.argv])  # read when libraries are loaded
    args = arguments()
    if args.workload:
        print([round(workload(), 3) for _ in range(10)])
        return 0
    records = Records(args.records)
    tools = args.tools or ALL_TOOLS
    todo = [
        what
        for seed, tool, estimator, table in product(
            range(args.seeds), tools, args.estimators, args.tables
        )
        if tool == UNTUNED or estimator in (TOOLS[tool].estimators or (estimator,))
        for what in [(tool, table, estimator, seed, args.seconds)]
        if not records.has(what, version(tool) if tool in OURS else None)
    ]
    n_failed = 0 if args.report else run_missing(records, todo, args.jobs)
    points = points_of(args.seconds)
    if args.scores:
        print_scores(records, args, points[-1])
    if args.picture:
        draw(records, args.seconds, args.picture)
    ok = report(records, args, points)
    return int(n_failed > 0 or not ok)


if __name__ == "__main__":
    sys.exit(main())
