"""`SearchCV("auto")` next to FLAML and AutoGluon, in equal seconds on one core.

Twelve tables, and ten frames as people have them (dates, texts, IDs, categories, gaps), are read
in three forms: as pandas reads them, after ``convert_dtypes()``, and as polars. A third of the
rows, at most 2,000, are kept for the test, and up to ``--rows`` others are searched with. ``list``
and ``averaged`` are this library, and ``untuned`` is the best untuned model of the list by the
test rows. Peers run if they are installed and named, as a newcomer types them, with one thread.
``error`` is 1 - accuracy or 1 - R2 on the test rows, and ``loss`` is the log loss; ``own_loss`` is
the log loss of the same model before its probabilities are calibrated. The last lines are ratios
of errors and losses to those of the peers, as geometric means over seeds and then over tables, and
mean ranks of runs. A line of JSON for each run has the versions and the seed. With ``--record``
only runs not in the record are run.

    python examples/benchmarks/systems.py [--frames tables] [--forms plain converted polars]
        [--names list averaged untuned FLAML AutoGluon "AutoGluon best"] [--seconds 30]
        [--seeds 2] [--rows 4000] [--record FILE] [--picture FILE]
"""

import argparse
import json
import tempfile
import time
import warnings
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from _report import print_rows
from _systems_picture import draw
from scipy.stats import rankdata, wilcoxon
from sklearn.datasets import load_diabetes, load_wine
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from sksearch import SearchCV
from sksearch.datasets import _data_folder

FRAMES = {  # whether y has classes
    "titanic": True, "taxis": False, "taxis_payment": True, "mpg": False, "planets": False,
    "penguins": True, "horse_colic": True, "breast_cancer": True, "german": True,
    "pollution": False,
}  # fmt: skip
TABLES = {  # likewise
    "adult": True, "churn": True, "letter": True, "magic": True, "nursery": True, "phoneme": True,
    "satimage": True, "spambase": True, "california_housing": False, "diamonds": False,
    "house_16h": False, "pol": False,
}  # fmt: skip
DATES = {"taxis": ["pickup", "dropoff"], "taxis_payment": ["pickup", "dropoff"],
         "pollution": ["when"]}  # fmt: skip
FORMS = ("plain", "converted", "polars")
KEYS = ("frame", "form", "name", "seconds", "seed", "rows")
LEAST = 1 / 2_000  # error or loss that counts instead of a lower one, for ratios
MOST_TEST, MOST_TRAIN = 2_000, 4_000
PACKAGES = ("sksearch", "scikit-learn", "skrub", "pandas", "polars", "lightgbm", "flaml",
            "autogluon.tabular")  # fmt: skip


def load(name, form="plain", n_rows=None, seed=0):
    """Return the columns and the target of a frame in a form, or of one made of bundled data."""
    folder = "messy" if name in FRAMES else "tabular"
    path = _data_folder() / folder / f"{name}.csv.gz"
    frame = pd.read_csv(path) if path.is_file() else bundled((FRAMES | TABLES)[name])
    for column in DATES.get(name, []) if path.is_file() else ():
        frame[column] = pd.to_datetime(frame[column])
    if n_rows is not None and n_rows < len(frame):
        frame = frame.sample(n_rows, random_state=seed).reset_index(drop=True)
    if form == "converted":
        frame = frame.convert_dtypes()
    if form == "polars":
        import polars

        frame = polars.from_pandas(frame)
        return frame.drop("target"), frame["target"]
    return frame.drop(columns="target"), frame["target"]


def bundled(classifies):
    """Make a messy frame of a table that comes with scikit-learn."""
    frame = (load_wine if classifies else load_diabetes)(as_frame=True).frame
    n, rng = len(frame), np.random.default_rng(0)
    third = frame.iloc[:, 2]
    frame["level"] = pd.cut(third, 4, labels=list("abcd")).astype(object)
    frame["words"] = [f"the {rng.choice(list('xyz'))} of {value:.1f}" for value in third]
    frame["when"] = pd.date_range("2020-01-01", periods=n, freq="7h")
    frame["row_id"], frame["country"] = [f"r{i}" for i in rng.permutation(n)], "here"
    frame.iloc[::9, [0, 3]] = np.nan
    frame.loc[::7, "level"] = None
    return frame


# ---- runs: each returns functions for labels, probabilities and those of the plain model, or None


def by_list(X, y, seconds, seed, classifies, ensemble=False):
    """This library."""
    task = "classification" if classifies else "regression"
    from sksearch import default_models

    models = default_models(X, y, task=task)
    search = SearchCV(models, timeout=seconds, ensemble=ensemble, random_state=seed).fit(X, y)
    best = search.best_estimator_
    plain = getattr(best, "model", best)
    return search.predict, *(getattr(each, "predict_proba", None) for each in (search, plain))


def averaged(X, y, seconds, seed, classifies):
    """This library, with the average of its candidates."""
    return by_list(X, y, seconds, seed, classifies, ensemble=True)


def flaml(X, y, seconds, seed, classifies):
    """FLAML, which trains its winner again after its time."""
    from flaml import AutoML

    found = AutoML()
    task = "classification" if classifies else "regression"
    found.fit(X, y, task=task, time_budget=seconds, seed=seed, n_jobs=1, verbose=0)
    return found.predict, found.predict_proba, None


def autogluon(X, y, seconds, seed, classifies, presets="medium_quality"):
    """AutoGluon, which has no seed for all its models."""
    from autogluon.tabular import TabularPredictor

    rows = X.assign(target=np.asarray(y))
    with tempfile.TemporaryDirectory() as folder:  # models are read again to predict
        found = TabularPredictor(label="target", path=folder, verbosity=0)
        found.fit(rows, time_limit=seconds, num_cpus=1, num_gpus=0, presets=presets)
        found.persist()
    return found.predict, found.predict_proba, None


def untuned(X, y, seconds, seed, classifies):
    """Each model of the list without tuning; `run` keeps the lowest error."""
    from sksearch import default_models

    task = "classification" if classifies else "regression"
    return [(model.predict, getattr(model, "predict_proba", None), None)
            for _, model in default_models(X, y, task=task) if model.fit(X, y)]  # fmt: skip


RUNS = {
    "list": by_list, "averaged": averaged, "untuned": untuned, "FLAML": flaml,
    "AutoGluon": autogluon, "AutoGluon best": partial(autogluon, presets="best_quality"),
}  # fmt: skip
PEERS = ("FLAML", "AutoGluon", "AutoGluon best")
RANKED = {"averaged": "sksearch"} | dict(zip(PEERS, PEERS, strict=True))


def run(frame, form, name, seconds, seed, n_rows):
    """Search on a frame, and return the errors on the test rows."""
    classifies = (FRAMES | TABLES)[frame]
    X, y = load(frame, form)
    rows = np.arange(len(X))
    n_test = min(MOST_TEST, len(X) // 3)
    strata = np.asarray(y).astype(str) if classifies else None
    train, test = train_test_split(rows, test_size=n_test, random_state=seed, stratify=strata)
    train = train[:n_rows]
    parts = [(X[r], y[r]) if form == "polars" else (X.iloc[r], y.iloc[r]) for r in (train, test)]
    (X_train, y_train), (X_test, y_test) = parts
    start = time.perf_counter()
    fitted = RUNS[name](X_train, y_train, seconds, seed, classifies)
    took = round(time.perf_counter() - start, 2)
    figures = of_classes if classifies else of_numbers
    known, truth = np.unique(np.asarray(y_train)), np.asarray(y_test)
    each = [figures(*one, X_test, truth, known) for one in np.reshape(fitted, (-1, 3))]
    return {"took": took, "n_rows": len(train)} | min(each, key=lambda found: found["error"])


def of_classes(predict, chances, own_chances, X, truth, known):
    """Share of wrong classes, and log losses if there are probabilities."""
    wrong = np.asarray(predict(X)).astype(str) != truth.astype(str)
    found = {"error": float(np.mean(wrong)), "loss": None, "own_loss": None}
    for key, function in (("loss", chances), ("own_loss", own_chances)):
        if function is not None:
            shares = np.clip(np.asarray(function(X), float), 1e-15, 1)
            shares /= shares.sum(1, keepdims=True)
            codes = np.searchsorted(known, truth)  # numbers in their order, not as texts
            found[key] = log_loss(codes, shares, labels=np.arange(len(known)))
    return found


def of_numbers(predict, chances, own_chances, X, truth, known):
    """Mean squared error relative to the variance."""
    left = np.asarray(predict(X), float) - truth.astype(float)
    error = float(np.mean(left**2) / np.var(truth.astype(float)))
    return {"error": error, "loss": None, "own_loss": None}


def ratios(entries, field, one, other):
    """Return how a figure of one way is to that of another, table by table.

    Parameters
    ----------
    entries : list of dict
        Runs, as in the record.
    field : {"error", "loss"}
        The figure.
    one, other : str
        Names of two ways.

    Returns
    -------
    ratios : ndarray of shape (n_tables,)
        Geometric means over the seeds that both have; at least one error in 2,000 counts.
    """
    found = {}
    for (frame, form, *_), run in by_run(entries, field).items():
        if {one, other} <= {*run}:
            ratio = max(run[one], LEAST) / max(run[other], LEAST)
            found.setdefault((frame, form), []).append(ratio)
    return np.array([mean(each) for each in found.values()])


def by_run(entries, field):
    """A figure of each way, as a dict for each frame, form, time, seed and number of rows."""
    found = {}
    for entry in entries:
        if entry[field] is not None:
            key = tuple(entry[each] for each in KEYS if each != "name")
            found.setdefault(key, {})[entry["name"]] = entry[field]
    return found


def installed():
    """Versions of the packages that matter."""
    found = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def main(argv=None):
    """Run what is not in the record, and print a line for each run."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    choices = {"tables": None} | FRAMES | TABLES
    parser.add_argument("--frames", nargs="+", default=list(FRAMES), choices=choices)
    parser.add_argument("--forms", nargs="+", default=list(FORMS), choices=FORMS)
    parser.add_argument("--names", nargs="+", default=["list", "averaged"], choices=RUNS)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--rows", type=int, default=MOST_TRAIN, help="of training, at most")
    parser.add_argument("--record", type=Path)
    parser.add_argument("--picture", type=Path, help="PNG: a row for each table, a dot a tool")
    args = parser.parse_args(argv)
    if args.frames == ["tables"]:
        args.frames = list(TABLES)
    old = args.record.read_text().splitlines() if args.record and args.record.exists() else []
    entries = {tuple(entry[key] for key in KEYS): entry for entry in map(json.loads, old)}
    asked = [args.frames, args.forms, args.names, [args.seconds], range(args.seeds), [args.rows]]
    for key in product(*asked):
        if key in entries:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = run(*key)
        entries[key] = dict(zip(KEYS, key, strict=True)) | found | {"versions": installed()}
        if args.record:
            with args.record.open("a") as file:
                file.write(json.dumps(entries[key]) + "\n")
        print(
            *key, f"error {found['error']:.4f}", f"log loss {found['loss']}",
            f"own {found['own_loss']}", f"{found['took']} s", flush=True,
        )  # fmt: skip
    asked[2] = RUNS
    lines = [entries[key] for key in product(*asked) if key in entries]
    for rows in (ratio_table(lines), rank_table(lines)):
        print_rows(rows)
    if args.picture:
        draw(lines, args.picture)


def ratio_table(lines):
    """Return rows of ratios to the peers' errors and losses."""
    heads = ["at most", "lower", "p"]
    found = [["seconds", "rows", "data", "compared with", "error", *heads, "log loss", *heads]]
    for conditions, some in by_conditions(lines):
        for peer in PEERS:
            pairs = [ratios(some, field, "averaged", peer) for field in ("error", "loss")]
            if len(pairs[0]):
                cells = [cell for pair in pairs if len(pair) for cell in cells_of(pair)]
                found.append([*conditions, peer, *cells])
    return found


def by_conditions(lines):
    """Return seconds, rows and kind of data, as text, with the runs of each."""
    found = {}
    for line in lines:
        kind = "tables" if line["frame"] in TABLES else "frames"
        found.setdefault((line["seconds"], line["rows"], kind), []).append(line)
    return [((f"{s:g}", f"{n:,}", kind), some) for (s, n, kind), some in sorted(found.items())]


def cells_of(each):
    """Geometric mean and largest ratio, number of lower figures, and Wilcoxon's p."""
    p = wilcoxon(np.log(each)).pvalue if len(each) > 1 else 1.0
    shown = f"{p:.3f}" if p >= 0.001 else "<0.001"
    return [f"{mean(each):.3f}", f"{each.max():.2f}", f"{(each < 1).sum()} of {len(each)}", shown]


def rank_table(lines):
    """Return rows of mean ranks in the runs that all ways have."""
    found = [["seconds", "rows", "data", "figure", "runs", *RANKED.values()]]
    for conditions, some in by_conditions(lines):
        names = [name for name in RANKED if any(e["name"] == name for e in some)]
        for field, title in (("error", "error"), ("loss", "log loss")):
            runs = [run for run in by_run(some, field).values() if {*names} <= {*run}]
            if runs and len(names) > 1:
                ranks = rankdata([[run[name] for name in names] for run in runs], axis=1)
                means = dict(zip(names, ranks.mean(axis=0), strict=True))
                cells = [f"{means[name]:.2f}" if name in means else "" for name in RANKED]
                found.append([*conditions, title, str(len(runs)), *cells])
    return found


def mean(ratios):
    """Geometric mean."""
    return float(np.exp(np.log(ratios).mean()))


if __name__ == "__main__":
    main()
