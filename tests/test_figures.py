"""Figures of pages are those of the records, and no page contradicts another."""

import importlib
import json
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from scipy.stats import ks_2samp, wilcoxon

from sksearch.history import Problem
from sksearch.schedulers import Hyperband
from sksearch.space import Space
from sksearch.stats import draws_to_hit

ROOT = Path(__file__).parents[1]
RECORDS = ROOT / "examples" / "benchmarks" / "records"
PAGES = {
    page.stem: page.read_text(encoding="utf-8")
    for page in sorted((ROOT / "docs" / "records" / "measurements").glob("*.md"))
}
MEASUREMENTS = "\n".join(PAGES.values())


def test_each_measurement_begins_with_the_claim_that_the_index_has():
    lines = PAGES["index"].splitlines()
    expected = []
    for name in PAGES.keys() - {"index"}:
        title, claim = PAGES[name].split("\n\n")[:2]
        expected.append(f"| [{title.removeprefix('# ')}]({name}.md) | {' '.join(claim.split())} |")
    assert sorted(line for line in lines if line.startswith("| [")) == sorted(expected)


def lines_of(name):
    return [json.loads(line) for line in (RECORDS / name).read_text().splitlines()]


def rows_of(text, after):
    """Cells of the first table after a piece of the text, without emphasis."""
    found, begun = [], False
    for line in [*text[text.index(after) :].splitlines(), ""]:
        if line.startswith("|"):
            begun = True
            found.append([cell.strip(" *`") for cell in line.strip("|").split("|")])
        elif begun:
            return [row for row in found if not set("".join(row)) <= set("-: ")]
    raise AssertionError(after)


def as_shown(value, shown):
    """Whether a number rounds to what a page has of it."""
    decimals = len(shown.partition(".")[2])
    return abs(value - float(shown)) <= 0.5000001 * 10.0**-decimals


# ---- lists of models


def errors(name):
    """1 - score on the test rows, by table."""
    lines = lines_of("many_models.jsonl")
    return {line["table"]: 1 - line["test"] for line in lines if line["name"] == name}


def test_scores_of_lists_match_the_record():
    head, *rows = rows_of(MEASUREMENTS, "\n# Many models, one search")
    names = head[1:7]
    *rows, mean, most = rows
    assert len(rows) == 12
    scores = {name: errors(name) for name in (*names, "averaged")}
    behind = {name: [] for name in scores}
    for table, *shown in rows:
        of = {name: 1 - scores[name][table] for name in scores}
        for name, text in zip(names, shown, strict=False):
            assert as_shown(of[name], text), table
        best = max(of[name] for name in names[1:])
        for name, value in of.items():
            behind[name].append(best - value)
    for i, name in enumerate(names, 1):
        assert as_shown(np.mean(behind[name]), mean[i])
        assert as_shown(np.max(behind[name]), most[i])
    assert as_shown(-np.mean(behind["averaged"]), "0.0012")
    assert as_shown(np.max(behind["averaged"]), "0.0041")


# ---- bounds and failures

METHODS = ("gp", "tpe", "forest", "optuna gp", "optuna tpe", "random")
PROBLEMS = {
    "Gardner": "gardner",
    "Branin in a disk": "branin",
    "Hartmann in a ball": "hartmann",
    "bowl beside a line": "line",
    "on": "fails, on",
    "off": "fails, off",
    "on, four": "fails, on 4",
    "off, four": "fails, off 4",
}


def kept(found, n):
    return [value for value, bound in found[:n] if bound <= 0]


@pytest.mark.parametrize("after", ["\n# Measured bounds", "**fail**, their distance"])
def test_regrets_under_bounds_match_the_record(after):
    """Of the methods that always have a candidate that keeps the bound."""
    records, problem, n_checked = lines_of("bounds.jsonl"), None, 0
    for name, when, *shown in rows_of(MEASUREMENTS, after)[1:]:
        problem = PROBLEMS.get(name, problem)
        mine = [r for r in records if r["problem"] == problem]
        least = min(min(kept(r["found"], 60), default=np.inf) for r in mine)
        for method, text in zip(METHODS, shown, strict=True):
            found = [r["found"] for r in mine if r["method"] == method]
            assert len(found) == 10
            if when == "failures":
                value = 20 * np.mean([bound for f in found for _, bound in f[:20]])
            elif not all(kept(f, int(when)) for f in found):
                continue
            else:
                value = np.mean([min(kept(f, int(when))) - least for f in found])
            assert as_shown(value, text), (problem, when, method)
            n_checked += 1
    assert n_checked >= 40


# ---- the simulation


def test_crashes_that_were_simulated_match_the_record():
    parts = {part["from"]: part for part in lines_of("simulation.jsonl")}.values()  # told last
    stories = sum(part["seeds"] for part in parts)
    crashes = sum(part["counts"]["crashes"] for part in parts)
    assert f"{stories:,} searches" in MEASUREMENTS
    assert f"{crashes:,} crashes" in MEASUREMENTS


def test_errors_of_the_six_searches_match_the_record():
    runs = lines_of("architectures.jsonl")
    found = {}
    for run in runs:
        found.setdefault((run["data"], run["method"]), []).append(run)
    names = ["random", "gp", "forest"]
    page = PAGES["architectures"]
    for data, after in {"mnist": "\n| MNIST", "cifar10": "\n| CIFAR-10"}.items():
        rows = rows_of(page, after)[1:]
        for method, row in zip(
            [*names, *(f"incremental, {of}" for of in names)], rows, strict=True
        ):
            of = found[data, method]
            for key, text in zip(("valid", "test"), row[2:], strict=True):
                mean, spread = text.split(" ± ")
                values = 100 * np.array([run[key] for run in of])
                assert as_shown(values.mean(), mean), (data, method)
                assert as_shown(values.std(ddof=1), spread), (data, method)
            assert as_shown(np.mean([run["candidates"] for run in of]), row[1])
    best = {data: min(run["test"] for run in runs if run["data"] == data) for data, _ in found}
    assert f"{100 * best['mnist']:.2f} % on MNIST" in page
    assert f"{100 * best['cifar10']:.2f} % on CIFAR-10" in page
    reproduced = (ROOT / "docs" / "records" / "reproduced.md").read_text(encoding="utf-8")
    assert f"{len(runs)} of 36 runs: on MNIST" in reproduced
    assert f"{len(runs)} of 36 searches ended" in page
    assert all(f"the best net {100 * error:.2f} %" in reproduced for error in best.values())


def test_the_picture_of_systems_matches_the_record(monkeypatch):
    monkeypatch.syspath_prepend(RECORDS.parent)
    from _systems_picture import PANELS, ratios

    shown = {"seconds": 60, "rows": 4_000}
    lines = [line for line in lines_of("systems.jsonl") if shown.items() <= line.items()]
    with Image.open(ROOT / "docs" / "images" / "systems.png") as picture:
        drawn = json.loads(picture.text["Description"])
    assert drawn == {field: ratios(lines, field) for field in PANELS}


# ---- pages beside each other


def test_the_table_of_the_readme_matches_the_measurements():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    ours = {row[0]: row[1:] for row in rows_of(readme, "## Compared with other tools")[1:]}
    theirs = {row[0]: row for row in rows_of(MEASUREMENTS, "\n# One line on real tables")[1:]}
    assert ours.keys() == theirs.keys()
    for name, (at_10, at_30, folds, behind) in ours.items():
        row = theirs[name]
        assert (at_10, at_30, folds, behind) == (row[1], row[3], row[7], row[10]), name


def test_what_the_criteria_say_of_the_one_line_is_measured():
    criteria = (ROOT / "docs" / "records" / "criteria.md").read_text(encoding="utf-8")
    (said,) = re.findall(
        r"on (\d+) pairs of table and model \(mean rank ([\d.]+), the next ([\d.]+)\)", criteria
    )
    rows = rows_of(MEASUREMENTS, "\n# One line on real tables")[1:]
    ranks = sorted(float(row[1]) for row in rows)
    assert (float(said[1]), float(said[2])) == tuple(ranks[:2])
    assert f"over {said[0]} pairs" in MEASUREMENTS


def test_ranks_and_their_picture_match_the_records(monkeypatch):
    monkeypatch.syspath_prepend(RECORDS.parent)
    from _tables_picture import ranks_by_field
    from _tables_report import Records

    ranks = ranks_by_field(Records(RECORDS / "tables"), 30)
    rows = {row[0]: row for row in rows_of(MEASUREMENTS, "\n# One line on real tables")[1:]}
    names = {"Optuna TPE": "Optuna TPE, pruned over folds"}
    for field, column in {"test": 3, "cv": 7}.items():
        shown = {name: float(rows[names.get(name, name)][column]) for name in ranks[field]}
        assert shown == ranks[field]
    with Image.open(ROOT / "docs" / "images" / "tables.png") as picture:
        assert json.loads(picture.text["Description"]) == ranks


BENCHMARKS = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8").split("\n## ")[1:]


def numbers(text):
    """Numbers of a text, with ".05" and "0.05" alike."""
    return {found.lstrip("0") or "0" for found in re.findall(r"(?<![\w.])[\d,]*\.?\d+", text)}


@pytest.mark.parametrize("claim", BENCHMARKS, ids=lambda claim: claim.partition("\n")[0])
def test_every_number_of_a_benchmark_is_in_the_record_that_it_links(claim):
    records = re.findall(r"\]\(records/measurements/([\w-]+)\.md\)", claim)
    figures = re.sub(r"\]\(.*?\)|`[^`]*`", "", claim)
    assert numbers(figures) - numbers(" ".join(PAGES[name] for name in records)) == set()


def test_there_are_eight_benchmarks_with_command_and_conditions():
    assert len(BENCHMARKS) == 8
    for claim in BENCHMARKS:
        assert all(f"\n- {part}" in claim for part in ("Condition", "Command", "Record"))


# ---- the documents, reproduced

REPRODUCED = (ROOT / "docs" / "records" / "reproduced.md").read_text(encoding="utf-8")


@pytest.fixture
def script(monkeypatch):
    """A function that imports a script by its name, for this test alone."""
    for folder in (RECORDS.parent, RECORDS.parents[1]):
        monkeypatch.syspath_prepend(folder)
    return importlib.import_module


def both_shown(values, text):
    """Whether a mean and its error round to a cell such as "0.834 ± 0.024"."""
    shown = text.split(" ± ")
    return len(shown) == 2 and all(map(as_shown, values, shown))


def test_exact_figures_of_the_documents_are_computed():
    rows = {row[0]: row[1:] for row in rows_of(REPRODUCED, "\n## Exact")[1:]}
    draws = [
        " ".join(str(draws_to_hit(100_000, n, Fraction(p))) for p in ("1/2", "19/20", ".99"))
        for n in (1_000, 5_000, 10_000)
    ]
    published, ours, _ = rows[
        "draws until a model of the top 1, 5, 10 % with p > .5, .95, .99 [A]"
    ]
    assert (published, ours) == (", ".join(draws), "the same nine")
    space = Space({"x": [0, 1]})
    for text, column, most in [("81 epochs", 0, 81), ("81 epochs", 1, 81), ("27 minutes", 1, 27)]:
        (cells,) = (cells for name, cells in rows.items() if text in name)
        brackets = Hyperband().bracket_table(Problem(space, 1, most))
        assert cells[column].split() == [str(n) for n, _ in brackets]


def test_draws_to_the_best_of_600_models_are_those_of_the_record(script):
    """Mean, standard deviation and worst of 600 runs, theory, and the published ones."""
    experiment = script("experiment_600_models")
    lines = lines_of("reproduced/draws.jsonl")
    record = {
        (line["search"], line["goal"]): (line["mean"], line["sd"], line["worst"]) for line in lines
    }
    assert {(line["search"], line["runs"]) for line in lines} == {("random", 600), ("GP", 195)}
    assert "from the first 195 in" in " ".join(MEASUREMENTS.split())
    assert "search from 600 models, the process from 195" in REPRODUCED
    good = experiment.goals(experiment.read(experiment.TABLE)[1])
    rows = rows_of(REPRODUCED, "\n## The best of 600 trained models")[1:]
    names = {"the best model": "best model"}
    assert [names.get(row[0], row[0]) for row in rows] == list(good)
    for row in rows:
        goal = names.get(row[0], row[0])
        published = experiment.PUBLISHED[goal]
        mean, sd = experiment.by_theory(600, int(good[goal].sum()))
        ours = [record.pop((search, goal)) for search in ("random", "GP")]
        pairs = zip(published, ours, strict=True)  # of random search, of the process
        cells = [f"{m:.0f} ± {d:.0f} ({w})" for pair in pairs for m, d, w in pair]
        ratios = [each[1][0] / each[0][0] for each in (published, ours)]
        shown = [*cells[:2], f"{mean:.0f} ± {sd:.0f}", *cells[2:], *(f"{r:.2f}" for r in ratios)]
        assert row[1:] == shown, goal
    assert not record


def means():
    """Mean and error of 300 runs by problem and search."""
    lines = lines_of("reproduced/hybrids.jsonl")
    lines = [line for line in lines if ", seeds " not in line["search"]]
    assert {(line["runs"], line["protocol"]) for line in lines} == {(300, "published")}
    found = {(line["problem"], line["search"]): (line["mean"], line["error"]) for line in lines}
    assert len(found) == len(lines) == 15
    return found


def test_means_of_other_seeds_are_those_of_the_record():
    """Of each range of seeds, and of all of them compared with the estimator's parts."""
    text, found = " ".join(REPRODUCED.split()), []
    for line in lines_of("reproduced/hybrids.jsonl")[15:]:
        seeds = line["search"].removeprefix("NONE, seeds ")
        assert re.search(rf"{seeds} have {line['mean']:.3f} ± {line['error']:.3f}", text), seeds
        found.append((line["runs"], line["mean"], line["error"]))
    runs, each, errors = np.array(found).T
    mean, error = runs @ each / runs.sum(), np.hypot.reduce(runs * errors) / runs.sum()
    (parts,) = (
        line
        for line in lines_of("reproduced/parts.jsonl")
        if (line["problem"], line["search"]) == ("flat Branin", "ours, all parts")
    )
    away = abs(mean - parts["mean"]) / np.hypot(error, parts["error"])
    assert f"All {int(runs.sum()):,} have {mean:.3f} ± {error:.3f}, {away:.1f} errors of" in text
    assert f"its parts ({parts['mean']:.3f} ± {parts['error']:.3f})" in text
    assert away < 2


def test_means_of_hybrids_are_those_of_the_record(script):
    published = script("experiment_transfer").PUBLISHED
    found = means()
    rows = rows_of(REPRODUCED, "\n## Hybrids on simulated curves")[1:]
    for name, *cells in rows:
        problem = name.removesuffix(", families")
        for search, (said, ours, errors) in {"Hyperband": cells[:3], "NONE": cells[3:]}.items():
            if not ours:
                assert (problem, search) not in found
                continue
            mean, error = found.pop((problem, search))
            assert float(said) == published[problem][search], name
            assert both_shown((mean, error), ours), name
            away = abs(mean - published[problem][search]) / error
            assert as_shown(away, errors) if away < 2 else errors == "explained below", name
    for name, said, theirs, errors, one, ours in rows_of(REPRODUCED, "| NONE on |")[1:]:
        mean, error = found.pop((name, "hyperopt"))
        assert float(said) == published[name]["NONE"], name
        assert both_shown((mean, error), theirs), name
        assert as_shown(abs(mean - published[name]["NONE"]) / error, errors), name
        assert both_shown(found.pop((name, "one coordinate at a time")), one), name
        assert both_shown(means()[name, "NONE"], ours), name
    assert not found


def test_the_transfer_of_history_is_that_of_the_records(script):
    """Means of runs and of our estimator alone, and what the page says of their differences."""
    experiment, page = script("experiment_transfer"), PAGES["which-history-transfer"]
    record = {
        name: dict(zip(("mean", "error"), found, strict=True)) for name, found in means().items()
    }
    for line in lines_of("reproduced/parts.jsonl"):
        of, _, scheme = line["search"].partition(", ")
        if of == "ours" and (scheme == "all parts" or scheme in experiment.SCHEMES):
            record[line["problem"], scheme.replace("all parts", "NONE")] = line
    head, *rows = rows_of(page, "# Which history")
    assert len(rows) == 5
    apart = {}
    for problem, *cells in rows:
        for search, cell in zip(head[1:], cells, strict=True):
            if not cell:
                continue
            shown, _, said = cell.removesuffix(")").partition(" (")
            found = record[problem, search]
            assert both_shown((found["mean"], found["error"]), shown), (problem, search)
            assert float(said) == experiment.PUBLISHED[problem][search]
            if search == "Hyperband" or problem == "Rastrigin-1":
                assert abs(found["mean"] - float(said)) <= 2 * found["error"]
            for other in head[1:]:
                if (problem, other) in record:
                    more = record[problem, other]
                    error = np.hypot(found["error"], more["error"])
                    apart[problem, search, other] = (found["mean"] - more["mean"]) / error
    flat = {key: value for key, value in apart.items() if key[0].startswith("flat")}
    least = {
        problem: min(
            x for (p, a, b), x in apart.items() if (p, a) == (problem, "Hyperband") and b != a
        )
        for problem in ("flat Branin", "flat Rastrigin", "flat drop-wave", "Rastrigin-1")
    }
    assert min(x for problem, x in least.items() if problem[0] == "f") >= 10
    assert least["Rastrigin-1"] >= 5
    for worse in ("ALL", "SAME"):
        for better in ("NONE", "SURV"):
            assert 3 <= flat["flat Branin", worse, better] <= 4.5
    among = {key: x for key, x in flat.items() if "Hyperband" not in key}
    others = [
        x
        for (p, a, b), x in among.items()
        if p != "flat Branin" or {a, b} in ({"ALL", "SAME"}, {"NONE", "SURV"})
    ]
    assert max(map(abs, others)) < 2
    for problem in ("flat Branin", "flat Rastrigin", "flat drop-wave"):
        ours = [record[problem, scheme]["mean"] for scheme in experiment.SCHEMES]
        assert max(ours) - min(ours) < (record[problem, "Hyperband"]["mean"] - max(ours)) / 11


def test_the_published_runs_are_the_best_of_117_draws(script):
    """Expected lowest value of so many uniform draws, from all values of a fine grid."""
    problems = script("experiment_transfer").problems("published")
    page = PAGES["which-history-transfer"].partition("The expected best of")[2]
    shown = re.findall(r"-?\d+\.\d+", page)
    axis = (np.arange(600) + 0.5) / 600
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    for i, name in enumerate(("flat Branin", "flat Rastrigin", "flat drop-wave")):
        function = problems[name].function
        low, high = function.bounds.T
        values = np.sort(function(low + grid * (high - low)))
        above = 1 - np.arange(1, len(values)) / len(values)
        for n, text in zip((117, 128), (shown[i], shown[3 + i]), strict=True):
            best = values[0] + np.sum(np.diff(values) * above**n)
            assert best == pytest.approx(float(text), rel=2e-3), (name, n)
        published = script("experiment_transfer").PUBLISHED[name]["Hyperband"]
        assert float(shown[6 + i]) == published
    for brackets, cells in ((None, 0), ((4, 3, 2), 1)):
        table = Hyperband(brackets=brackets).bracket_table(Problem(Space({"x": [0, 1]}), 1, 81))
        cell = rows_of(PAGES["which-history-transfer"], "**The published protocol.**")[1][
            1 + cells
        ]
        n, full, _ = re.findall(r"([\d,]+) (?:candidates|full fits|epochs)", cell)
        counts = [(m, rungs, [m // 3**k for k in range(len(rungs))]) for m, rungs in table]
        assert sum(m for m, _, _ in counts) == int(n)
        assert sum(left[-1] for _, _, left in counts) == int(full)


CHANGED = {
    "nothing": "all parts",
    "ten first candidates": "first",
    "share of good candidates": "good",
    "widths of the kernels": "kernels",
    "form of the prior": "prior",
    "coordinates together or apart": "coordinates",
    "no forgetting": "no forgetting",
    "half the weight of the prior": "half the prior",
}


def test_parts_of_estimators_are_those_of_the_record(script):
    """Each scheme from hyperopt's parts and ours, and each part exchanged alone."""
    parts, published = script("parts_of_tpe"), script("experiment_transfer").PUBLISHED
    lines = lines_of("reproduced/parts.jsonl")
    assert {(line["runs"], line["protocol"]) for line in lines} == {(1000, "published")}
    record = {(line["problem"], line["search"]): (line["mean"], line["error"]) for line in lines}
    left = dict(record)
    for name, scheme, said, theirs, errors, ours in rows_of(REPRODUCED, "| | scheme |")[1:]:
        which = "all parts" if scheme == "NONE" else scheme
        found, mine = (left.pop((name, f"{of}, {which}")) for of in ("hyperopt", "ours"))
        assert both_shown(found, theirs), (name, scheme)
        assert both_shown(mine, ours), (name, scheme)
        assert float(said) == published[name][scheme]
        away = abs(found[0] - float(said)) / (found[1] * np.sqrt(1 + 1000 / 7000))
        assert as_shown(away, errors), (name, scheme)
        assert float(errors) <= 2
    rows = rows_of(REPRODUCED, "| changed |")[1:]
    assert [CHANGED[row[0]] for row in rows] == [
        name.removeprefix("ours, ") for name in parts.VARIANTS if name.startswith("ours")
    ]
    columns = [(name, of) for of in ("hyperopt", "ours") for name in parts.FLAT]
    for change, *cells in rows:
        for (name, of), shown in zip(columns, cells, strict=True):
            key = name, f"{of}, {CHANGED[change]}"
            assert both_shown(record[key], shown), key
            left.pop(key, None)
    assert not left
    # Figures in the text below: the share of good candidates alone, and sizes of other changes.
    means = {key: mean for key, (mean, _) in record.items()}
    text = REPRODUCED.partition("| changed |")[2].partition("\n## ")[0]
    pairs = re.findall(r"\((-?[\d.]+) (?:and|against) (-?[\d.]+)", text)
    wave, rastrigin, branin = "flat drop-wave", "flat Rastrigin", "flat Branin"
    for (name, *keys), texts in zip(
        (
            (wave, "hyperopt, good", "ours, all parts"),
            (wave, "ours, good", "hyperopt, all parts"),
            (branin, "ours, all parts", "ours, coordinates"),
            (rastrigin, "ours, coordinates", "ours, all parts"),
        ),
        pairs,
        strict=True,
    ):
        assert all(as_shown(means[name, key], text) for key, text in zip(keys, texts, strict=True))
    for name in parts.FLAT:
        for of in ("hyperopt", "ours"):
            for change in ("prior", "half the prior", "no forgetting"):
                ratio = means[name, f"{of}, {change}"] / means[name, f"{of}, all parts"]
                assert abs(ratio - 1) < 0.07


@pytest.mark.filterwarnings("ignore:ks_2samp")  # equal samples have no exact p-value
def test_hybrids_on_mnist_are_those_of_the_record():
    """Means, standard deviations, tests, and how many runs were made."""
    section = REPRODUCED.partition("\n## Hybrids on MNIST\n")[2].partition("\n## ")[0]
    runs = {}
    for line in lines_of("reproduced/mnist.jsonl"):
        runs.setdefault(line["search"], []).append(line)
    n = len(runs["NONE"])
    assert {tuple(line["seed"] for line in lines) for lines in runs.values()} == {tuple(range(n))}
    text = " ".join(section.split())
    assert f"ours: {n} of 20," in text
    documents = (ROOT / "docs" / "records" / "documents.md").read_text(encoding="utf-8")
    assert f"10,000 images, {n} of 20 runs" in documents
    rows = rows_of(section, "| | published")[1:]
    assert [row[0] for row in rows] == list(runs)
    for search, _, *cells in rows:
        lines = runs[search]
        for key, cell in zip(("lowest", "errors", "convergence"), cells, strict=True):
            values = np.hstack([line[key] for line in lines])
            assert both_shown((values.mean(), values.std(ddof=1)), cell), (search, key)
    for pair, shown in zip(
        (("Hyperband", "NONE"), ("NONE", "SURV")), re.findall(r"p = ([\d.]+),", text), strict=True
    ):
        p = ks_2samp(*([line["lowest"] for line in runs[search]] for search in pair)).pvalue
        assert as_shown(p, shown)
        assert p > 0.05
    area = {search: [line["convergence"] for line in lines] for search, lines in runs.items()}
    earlier = np.less([area["NONE"], area["SURV"]], area["Hyperband"]).all(axis=0).sum()
    assert f"in {earlier} of {n} runs both are below" in text


def test_shares_of_near_curves_are_those_of_the_record(script):
    scales = {"of the code": "code", "linear": "linear", "logarithmic": "logarithmic"}
    formulas = {"squares, as in the code": "squared", "as printed": "printed"}
    found = {
        (line["scale"], line["formula"], line["search"]): (line["mean"], line["sd"])
        for line in lines_of("reproduced/nearest.jsonl")
    }
    for scale, formula, *cells in rows_of(REPRODUCED, "| scale | formula |")[1:]:
        for search, texts in {"Hyperband": cells[:3], "NONE": cells[3:]}.items():
            values = zip(*found.pop((scales[scale], formulas[formula], search)), strict=True)
            assert all(map(both_shown, values, texts)), (scale, formula, search)
    assert not found
    said = script("nearest_curves").PUBLISHED
    assert "Published: {:.2f}, {:.2f} and {:.2f} of 78,000".format(*said) in REPRODUCED


def test_speeds_are_those_of_the_record(script):
    simulators = script("simulators")
    found = json.loads((RECORDS / "reproduced" / "seconds.json").read_text())
    published = (
        simulators.PUBLISHED[81], simulators.PUBLISHED[15_000], simulators.PUBLISHED_NEAREST
    )  # fmt: skip
    ours = []
    for (_, said, shown), seconds in zip(
        rows_of(REPRODUCED, "\n## Speed")[1:], published, strict=True
    ):
        assert as_shown(1e3 * seconds, said.removesuffix(" ms"))
        ours += re.findall(r"[\d.]+(?= ms)", shown)
    assert list(found) == list(simulators.RECORDED)
    assert all(as_shown(1e3 * s, text) for s, text in zip(found.values(), ours, strict=True))


# ---- several objectives, evolution

FRONTS = {
    "HypervolumeSampler": "hypervolume",
    "ParEGO, process": "parego gp",
    "ParEGO, densities": "parego tpe",
    "NSGA2Sampler": "nsga2",
    "random": "random",
}
FRONT_PROBLEMS = {"net, error and size": "mlp", "boosting, error and depth": "boosting"}


@pytest.mark.parametrize(("after", "n"), [("# Several", 60), ("With 200 evaluations", 200)])
def test_volumes_under_fronts_are_those_of_the_record(after, n, script):
    page, volumes = PAGES["several-objectives"], {}
    lines = [line for line in lines_of("fronts.jsonl") if line["n"] == n]
    for line in script("fronts").volumes(lines):
        volumes.setdefault((line["problem"], line["method"]), []).append(line["volume"])
    head, *rows = rows_of(page, after)
    for name, *cells in rows:
        problem = FRONT_PROBLEMS.get(name, name.lower())
        for method, cell in zip(head[1:], cells, strict=True):
            method = FRONTS.get(method, method.lower().replace("-ii", "2"))
            found = volumes.get((problem, method))
            assert as_shown(np.mean(found), cell) if found else cell == "-", (problem, method)
    if n == 200:
        drawn = [np.mean(volumes[name[0].lower(), "random"]) for name in rows]
        (shown,) = re.findall(r"random draws ([\d., and]+)\)", page)
        assert all(map(as_shown, drawn, re.findall(r"[\d.]+", shown)))


def test_ratios_of_evolution_are_those_of_the_record(script):
    evolution, found = script("evolution"), {}
    for path in sorted((RECORDS / "evolution").iterdir()):
        record = json.loads(path.read_text(encoding="utf-8"))
        (ours, *peers), ms = record["losses"], record["milliseconds"]
        for peer in peers:
            one, two = (
                np.log(np.add(record["losses"][name], evolution.TINY)) for name in (ours, peer)
            )
            p = wilcoxon((one - two).ravel(), alternative="greater").pvalue
            ratio = np.exp((one - two).mean())
            found[peer] = ratio, p, ms[ours], ms[peer], ms[ours] / ms[peer]
    rows = rows_of(PAGES["evolution-and-swarms"], "# Evolution")[1:]
    assert len(rows) == len(found)
    for _, _, *cells in rows:
        of = [peer for peer, each in found.items() if all(map(as_shown, each, cells))]
        assert len(of) == 1, cells
        found.pop(of[0])


# ---- tables of pages that scripts make from records

#: Page, what comes before the table, the function that makes it, and its record.
TABLES = [
    ("averages-of-candidates", "# Averages", "averages.table", "averages.jsonl"),
    ("other-systems", "# Other", "systems.ratio_table", "systems.jsonl"),
    ("other-systems", "\n| seconds | rows | data | figure", "systems.rank_table", "systems.jsonl"),
    ("beliefs", "# Beliefs", "beliefs.table", "beliefs.jsonl"),
    ("busy-workers", "# Busy", "asynchronous.table", "busy/halving.jsonl"),
    (
        "busy-workers",
        "`python examples/benchmarks/scale",
        "scale_out.table",
        "busy/searches.jsonl",
    ),
    ("busy-workers", "\nEight real", "scale_out.peer_table", "busy/peers.jsonl"),
    ("epochs", "# Epochs", "epochs.table", "epochs.jsonl"),
    ("first-candidates", "# First", "mine_portfolios.table", "first_candidates.jsonl"),
    ("gradients-of-penalties", "# Gradients", "hypergradients.table", "hypergradients.jsonl"),
    ("hyperband-against-random-search", "# Hyperband", "hyperband.table", "hyperband.jsonl"),
    ("learning-one-fidelity", "# Learning", "sample_efficiency.table", "one_fidelity.jsonl"),
    ("predictions-that-hold", "# Predictions", "intervals.table", "intervals.jsonl"),
    ("results-of-other-tables", "# Results", "warm_start.table", "warm_start.jsonl"),
    (
        *("results-of-other-tables", "**Functions.**"),
        *("warm_start_functions.table", "warm_start_functions.jsonl"),
    ),
    ("size-and-params-together", "# Size", "fabolas.table", "fabolas.jsonl"),
    ("size-and-params-together", "\n| Fabolas ahead", "fabolas.comparison", "fabolas.jsonl"),
    (
        *("weights-that-architectures-share", "# Weights"),
        *("experiment_weight_sharing.table", "weight_sharing.jsonl"),
    ),
]


#: Packages that scripts import.
NEEDED = {
    "experiment_weight_sharing": ["torch"],
    "mine_portfolios": ["catboost", "lightgbm", "xgboost"],
}


@pytest.mark.parametrize(("page", "after", "function", "record"), TABLES, ids=lambda each: each)
def test_tables_are_those_that_scripts_make_from_records(page, after, function, record, script):
    name, _, function = function.partition(".")
    for package in NEEDED.get(name, ()):
        pytest.importorskip(package)
    made = getattr(script(name), function)(lines_of(record))
    assert rows_of(PAGES[page], after) == [[cell.strip("`") for cell in row] for row in made]


#: Fractions in the text of these pages that are settings.
SETTINGS = {
    "averages-of-candidates": {".5"},
    "beliefs": {".15"},
    "other-systems": {"1.6", "2.7", "2.8", ".9"},
    "busy-workers": {"70"},
    "predictions-that-hold": {"95", "1.96"},
}


@pytest.mark.parametrize("page", dict.fromkeys(page for page, *_ in TABLES))
def test_figures_in_the_text_are_those_of_the_tables(page):
    """Decimal fractions and percentages; other numbers are sizes and settings."""
    lines = PAGES[page].splitlines()
    tables = " ".join(line for line in lines if line.startswith("|"))
    text = re.sub(r"`[^`]*`", "", " ".join(line for line in lines if not line.startswith("|")))
    figures = re.findall(r"(?<![\w.])[\d,]*\.\d+|[\d,]+(?= %)", text)
    assert numbers(" ".join(figures)) - numbers(tables) == SETTINGS.get(page, set())


def test_pages_of_the_documents_have_records():
    documents = (ROOT / "docs" / "records" / "documents.md").read_text(encoding="utf-8")
    linked = set(re.findall(r"\]\(measurements/([\w-]+)\.md", documents))
    checked = {"architectures", "which-history-transfer", "measured-bounds"}
    checked |= {"how-many-draws-to-the-best-of-600-models"}
    checked |= {"several-objectives", "evolution-and-swarms"}
    assert linked <= checked | {page for page, *_ in TABLES}


def test_each_record_of_the_documents_is_compared():
    here = Path(__file__).read_text(encoding="utf-8")
    for record in sorted((RECORDS / "reproduced").iterdir()):
        assert f'"reproduced/{record.name}"' in here or f'"{record.name}"' in here, record.name
