"""`SearchCV("auto")` on frames as people have them: dates, texts, IDs, categories, gaps.

Each frame of the data folder's ``messy/`` is read in three forms: as pandas reads it, after
``convert_dtypes()``, and as polars. A third of the rows, at most 2,000, are kept for the test, and
up to 4,000 others are searched with. ``list`` and ``averaged`` are this library, for as many
seconds as each of the peers; these run where they are installed and named, with one thread.
``error`` is 1 - accuracy or 1 - R2 on the test rows, and ``loss`` is the log loss; ``own_loss`` is
the log loss of the same model before its probabilities are calibrated. The last lines are ratios
of these, and of the errors and losses to those of the peers, as geometric means. A line of JSON
for each run has the versions and the seed. With
``--record`` it goes on where it was stopped. ``--frames`` also takes the data folder's tables.

    python examples/benchmarks/messy.py [--frames taxis ...] [--forms plain converted polars]
        [--names list averaged FLAML AutoGluon] [--seconds 30] [--seeds 2] [--rows 4000]
        [--record FILE]
"""

import argparse
import json
import time
import warnings
from importlib.metadata import PackageNotFoundError, version
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
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
    """FLAML, whose last training is within its time."""
    from flaml import AutoML

    found = AutoML()
    task = "classification" if classifies else "regression"
    found.fit(X, y, task=task, time_budget=seconds, seed=seed, n_jobs=1, verbose=0)
    return found.predict, found.predict_proba, None


def autogluon(X, y, seconds, seed, classifies):
    """AutoGluon, medium quality."""
    from autogluon.tabular import TabularPredictor

    found = TabularPredictor(label="target", verbosity=0)
    found.fit(X.assign(target=np.asarray(y)), time_limit=seconds, num_cpus=1)
    return found.predict, found.predict_proba, None


RUNS = {"list": by_list, "averaged": averaged, "FLAML": flaml, "AutoGluon": autogluon}


def run(frame, form, name, seconds, seed, n_rows=MOST_TRAIN):
    """Search on a frame, and return the errors on the test rows."""
    classifies = (FRAMES | TABLES)[frame]
    X, y = load(frame, form)
    rows = np.arange(len(X))
    n_test = min(MOST_TEST, len(X) // 3)
    strata = np.asarray(y).astype(str) if classifies else None
    train, test = train_test_split(rows, test_size=n_test, random_state=seed, stratify=strata)
    train = train[:n_rows]
    start = time.perf_counter()
    parts = [(X[r], y[r]) if form == "polars" else (X.iloc[r], y.iloc[r]) for r in (train, test)]
    (X_train, y_train), (X_test, y_test) = parts
    predict, *given = RUNS[name](X_train, y_train, seconds, seed, classifies)
    took = round(time.perf_counter() - start, 2)
    found = {"took": took, "loss": None, "own_loss": None, "n_rows": len(train)}
    truth = np.asarray(y_test)
    if classifies:
        found["error"] = float(
            np.mean(np.asarray(predict(X_test)).astype(str) != truth.astype(str))
        )
        known = np.unique(np.asarray(y_train))  # numbers in their order, not as texts
        codes = np.arange(len(known))
        for key, probabilities in zip(("loss", "own_loss"), given, strict=True):
            if probabilities is not None:
                shares = np.clip(np.asarray(probabilities(X_test), float), 1e-15, 1)
                shares /= shares.sum(1, keepdims=True)
                found[key] = log_loss(np.searchsorted(known, truth), shares, labels=codes)
    else:
        truth = truth.astype(float)
        left = np.asarray(predict(X_test), float) - truth
        found["error"] = float(np.mean(left**2) / np.var(truth))
    return found


def ratios(entries, field, one, other):
    """Return how a figure of one way is to that of another, run by run.

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
    ratios : ndarray of shape (n_runs,)
        Of the runs that both have.
    """
    keys = ("frame", "form", "seconds", "seed")
    found = {(e["name"], *(e[key] for key in keys)): e[field] for e in entries}
    pairs = [(v, found[other, *key]) for (name, *key), v in found.items()
             if name == one and found.get((other, *key))]  # fmt: skip
    return np.array([a / b for a, b in pairs if a is not None])


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
    parser.add_argument("--frames", nargs="+", default=list(FRAMES), choices=FRAMES | TABLES)
    parser.add_argument("--forms", nargs="+", default=list(FORMS), choices=FORMS)
    parser.add_argument("--names", nargs="+", default=["list", "averaged"], choices=RUNS)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--rows", type=int, default=MOST_TRAIN, help="of training, at most")
    parser.add_argument("--record", type=Path)
    args = parser.parse_args(argv)
    old = args.record.read_text().splitlines() if args.record and args.record.exists() else []
    keys = ("frame", "form", "name", "seconds", "seed")
    done = {tuple(json.loads(line)[key] for key in keys) for line in old}
    wanted = product(args.frames, args.forms, args.names, [args.seconds], range(args.seeds))
    entries = [json.loads(line) for line in old]
    for key in wanted:
        if key in done:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = run(*key, args.rows)
        entry = dict(zip(keys, key, strict=True)) | found | {"versions": installed()}
        entries.append(entry)
        if args.record:
            with args.record.open("a") as file:
                file.write(json.dumps(entry) + "\n")
        print(
            *key, f"error {found['error']:.4f}", f"log loss {found['loss']}",
            f"own {found['own_loss']}", f"{found['took']} s",
        )  # fmt: skip
    both = [each for each in entries if each["loss"] and each.get("own_loss")]
    for name in sorted({each["name"] for each in both}):
        own = [each["loss"] / each["own_loss"] for each in both if each["name"] == name]
        mean = np.exp(np.mean(np.log(own)))
        print(f"{name}: log loss {mean:.3f} of the models' own, geometric mean of {len(own)}")
    for one, other, field in product(
        ("averaged", "list"), ("FLAML", "AutoGluon"), ("error", "loss")
    ):
        if len(each := ratios(entries, field, one, other)):
            print(
                f"{one} / {other}: {field} {np.exp(np.log(each).mean()):.3f}, at most "
                f"{each.max():.2f}, {(each < 1).sum()} of {len(each)} lower"
            )


if __name__ == "__main__":
    main()
