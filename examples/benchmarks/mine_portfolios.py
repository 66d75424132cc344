"""First candidates of `sksearch.space`: recorded trainings, from which a greedy choice is made.

Each family of estimators is trained on six tables, on two draws of 1,333 rows, with its own
params, with configurations that others have published, and with random draws from its default
space, and is scored on up to 3,000 other rows. Boosters and nets have the count of iterations that
is best on those rows. A portfolio begins with the own params; then that candidate is taken, again
and again, which lowers the mean logarithm of the smallest error the most for its time.

    OMP_NUM_THREADS=1 python examples/benchmarks/mine_portfolios.py [--seconds 2400] [--write]
        [--check LightGBM SVM] [--record examples/benchmarks/records/first_candidates.jsonl]

Trainings are kept in the cache as they come, so that a second call adds to them. `--check` trains
own params, the portfolio and as many random draws on the six other tables, and prints figures of
these alone.
"""

import argparse
import itertools
import json
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from _report import print_rows, recorded
from catboost import CatBoostClassifier, CatBoostRegressor
from lightgbm import LGBMClassifier, LGBMRegressor, early_stopping
from sklearn import ensemble, linear_model, neighbors, neural_network, svm
from sklearn.base import clone, is_classifier
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import LabelEncoder, OneHotEncoder, OrdinalEncoder, StandardScaler
from xgboost import XGBClassifier, XGBRegressor

import sksearch.estimators
from sksearch.datasets import load
from sksearch.space import Outcome, Space, default_space, first_candidates

MINED = ("adult", "california_housing", "letter", "magic", "churn", "house_16h")
CHECKED = ("phoneme", "satimage", "diamonds", "spambase", "nursery", "pol")
N_TRAIN, N_TEST, N_DRAWS = 1_333, 3_000, 2
MOST = 8  # candidates of a portfolio
UNSURE = 0.04  # how much a relative error differs from table to table
PATIENCE = 50  # iterations
ENOUGH = 80  # entries of a family
SPACES = Path(sksearch.estimators.__file__).parent / "portfolios.json"

# Estimators for classes and for numbers, and the share of the time.
FAMILIES = {
    "LightGBM": (LGBMClassifier(n_jobs=1, verbosity=-1), LGBMRegressor(n_jobs=1, verbosity=-1), 4),
    "MLP": (neural_network.MLPClassifier(), neural_network.MLPRegressor(), 5),
    "SVM": (svm.SVC(), svm.SVR(), 2),
    "HistGradientBoosting": (
        ensemble.HistGradientBoostingClassifier(),
        ensemble.HistGradientBoostingRegressor(),
        7,
    ),
    "XGBoost": (XGBClassifier(n_jobs=1), XGBRegressor(n_jobs=1), 3),
    "CatBoost": (
        CatBoostClassifier(thread_count=1, verbose=0, allow_writing_files=False),
        CatBoostRegressor(thread_count=1, verbose=0, allow_writing_files=False),
        3,
    ),
    "RandomForest": (ensemble.RandomForestClassifier(), ensemble.RandomForestRegressor(), 1.5),
    "ExtraTrees": (ensemble.ExtraTreesClassifier(), ensemble.ExtraTreesRegressor(), 1),
    "GradientBoosting": (
        ensemble.GradientBoostingClassifier(),
        ensemble.GradientBoostingRegressor(),
        1.5,
    ),
    "KNeighbors": (neighbors.KNeighborsClassifier(), neighbors.KNeighborsRegressor(), 0.5),
    "LogisticRegression": (linear_model.LogisticRegression(max_iter=300), None, 0.3),
    "Ridge": (linear_model.RidgeClassifier(), linear_model.Ridge(), 0.2),
    "SGD": (linear_model.SGDClassifier(), linear_model.SGDRegressor(), 0.5),
}
# Lists that stay as they were written: too little was trained, or draws are alike (grids of C).
BY_HAND = ("CatBoost", "GradientBoosting", "KNeighbors", "LogisticRegression", "Ridge")
SCALED = ("MLP", "SVM", "KNeighbors", "LogisticRegression", "Ridge", "SGD")

# TabRepo's greedy order, rounded; learning rates of at least 0.02, since rounds are fewer here.
LIGHTGBM = [
    (0.03, 127, 0.9, 3, False), (0.02, 53, 0.7, 14, False), (0.02, 16, 0.56, 48, True),
    (0.034, 127, 0.83, 6, True), (0.047, 89, 0.62, 56, False), (0.02, 22, 0.74, 6, False),
    (0.04, 16, 0.43, 33, True), (0.031, 127, 0.83, 50, False), (0.079, 127, 0.46, 12, True),
    (0.1, 8, 0.5, 20, False), (0.1, 16, 0.7, 50, False), (0.05, 6, 0.6, 10, False),
]  # fmt: skip
XGBOOST = [
    (0.02, 10, 0.69, 0.6), (0.088, 5, 0.66, 0.63), (0.093, 7, 0.91, 0.8), (0.038, 7, 0.75, 0.56),
    (0.03, 4, 0.75, 0.92), (0.066, 5, 0.98, 1.4), (0.03, 10, 0.55, 1.15),
]  # fmt: skip
CATBOOST = [
    (0.069, 6, 2.2, 0), (0.031, 8, 2.8, 1), (0.049, 4, 4.6, 0), (0.071, 4, 2.7, 1),
    (0.05, 5, 1.05, 0), (0.037, 6, 1.4, 1), (0.085, 7, 4.5, 0),
]  # fmt: skip
FOREST = [(0.75, 1), (0.75, 2), (1.0, 5), (0.75, 40), (1.0, 1), (1.0, 20), (0.4, 1), (0.4, 3)]
PUBLISHED = {
    "LightGBM": [
        {"learning_rate": a, "num_leaves": b, "colsample_bytree": c, "min_child_samples": d}
        | {"extra_trees": e, "reg_lambda": 0.01}
        for a, b, c, d, e in LIGHTGBM
    ],
    "HistGradientBoosting": [
        {"learning_rate": a, "max_leaf_nodes": b, "max_features": c, "min_samples_leaf": d}
        | {"l2_regularization": 0.01}
        for a, b, c, d, _ in LIGHTGBM
    ],
    "XGBoost": [
        {"learning_rate": a, "max_depth": b, "colsample_bytree": c, "min_child_weight": d}
        | {"subsample": 1.0, "reg_lambda": 1.0}
        for a, b, c, d in XGBOOST
    ],
    "CatBoost": [
        {"learning_rate": a, "depth": b, "l2_leaf_reg": c}
        | {"grow_policy": ["SymmetricTree", "Depthwise"][d]}
        for a, b, c, d in CATBOOST
    ],
    "RandomForest": [
        {"max_features": a, "min_samples_leaf": b, "max_samples": 1.0, "criterion": "entropy"}
        for a, b in FOREST
    ],
    "ExtraTrees": [
        {"max_features": a, "min_samples_leaf": b, "criterion": "entropy"} for a, b in FOREST
    ],
}


# ---- one training


def tables(names):
    """Yield name, X for trees, X for all others, y."""
    for name in names:
        bunch = load(name, N_DRAWS * N_TRAIN + N_TEST, random_state=0)
        if not bunch.source.endswith(".gz"):
            raise SystemExit(f"{name} is not in the folder that SKSEARCH_DATA names.")
        X, y = bunch.data, bunch.target
        order = np.random.default_rng(0).permutation(len(y))
        y = np.asarray(y)[order]
        is_regression = y.dtype.kind == "f"
        y = (y - y.mean()) / y.std() if is_regression else LabelEncoder().fit_transform(y)
        text, numbers = [], list(range(X.shape[1]))
        if hasattr(X, "columns"):
            text = make_column_selector(dtype_exclude="number")
            numbers = make_column_selector(dtype_include="number")
        codes = OrdinalEncoder(encoded_missing_value=-1)
        one_hot = OneHotEncoder(min_frequency=20, sparse_output=False, handle_unknown="ignore")
        scaled = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
        plain = make_column_transformer((codes, text), ("passthrough", numbers))
        dense = make_column_transformer((one_hot, text), (scaled, numbers))
        yield name, plain.fit_transform(X)[order], dense.fit_transform(X)[order], y


def train(family, model, train, test, n_classes):
    """Fit one candidate and return its error: share of wrong classes, or mean squared error.

    Iterations end when the loss has not fallen for a while, since the share of wrong classes
    stays where it is while a slow learner begins; the smallest error on the way is the result.
    """
    most = 100 if n_classes > 10 else 400
    if family == "LightGBM":
        metric = {0: ["l2"], 2: ["binary_logloss", "binary_error"]}.get(
            n_classes, ["multi_logloss", "multi_error"]
        )
        stop = early_stopping(PATIENCE, first_metric_only=True, verbose=False)
        model.set_params(n_estimators=most, metric=metric)
        model.fit(*train, eval_set=[test], callbacks=[stop])
        return min(model.evals_result_["valid_0"][metric[-1]])
    if family == "XGBoost":
        metric = {0: ["rmse"], 2: ["error", "logloss"]}.get(n_classes, ["merror", "mlogloss"])
        model.set_params(n_estimators=most, early_stopping_rounds=PATIENCE, eval_metric=metric)
        model.fit(*train, eval_set=[test], verbose=False)
        error = min(model.evals_result()["validation_0"][metric[0]])
        return error if n_classes else error**2
    if family == "CatBoost":
        model.set_params(iterations=most, od_type="Iter", od_wait=PATIENCE)
        model.set_params(**{"custom_metric": "Accuracy"} if n_classes else {})
        model.fit(*train, eval_set=test)
        curves = model.get_evals_result()["validation"]
        return 1 - max(curves["Accuracy"]) if n_classes else min(curves["RMSE"]) ** 2
    if "GradientBoosting" in family:
        name = "max_iter" if family[0] == "H" else "n_estimators"
        model.set_params(warm_start=True)
        if family[0] == "H":
            model.set_params(early_stopping=False)
        grow = lambda k: model.set_params(**{name: 20 * k}).fit(*train)  # noqa: E731
        return best_of(grow, model, test, most // 20, 3)
    if family == "MLP":
        classes = {"classes": np.arange(n_classes)} if n_classes else {}

        def three_epochs(k):
            for _ in range(3):
                model.partial_fit(*train, **classes)

        return best_of(three_epochs, model, test, 34, 5)
    model.fit(*train)
    return error_and_loss(model, *test)[0]


def best_of(step, model, test, most, patience):
    """Take steps until error and loss have not fallen for a while; return the smallest error."""
    curve = []
    for k in range(1, most + 1):
        step(k)
        curve.append(error_and_loss(model, *test))
        if k - np.argmin(curve, axis=0).max() > patience:
            break
    return np.min(curve, axis=0)[0]


def error_and_loss(model, X, y):
    """Error, and what training lowers: both are the squared error where y is a number."""
    if not is_classifier(model):
        return (np.mean((np.ravel(model.predict(X)) - y) ** 2),) * 2
    if not hasattr(model, "predict_proba"):
        return (np.mean(model.predict(X) != y),) * 2
    p = model.predict_proba(X)
    return np.mean(p.argmax(1) != y), -np.mean(np.log(np.maximum(p[np.arange(len(y)), y], 1e-9)))


def evaluate(family, params, data):
    """Train on all draws of a table; return the mean error and the seconds of one training."""
    _, plain, dense, y = data
    X = dense if family in SCALED else plain
    n_classes = 0 if y.dtype.kind == "f" else len(np.unique(y))
    estimator = FAMILIES[family][0 if n_classes else 1]
    if estimator is None:
        return None
    test = X[N_DRAWS * N_TRAIN :], y[N_DRAWS * N_TRAIN :]
    n_draws = 1 if n_classes > 10 else N_DRAWS  # a tree a class
    errors, start = [], time.process_time()
    for draw in range(n_draws):
        rows = slice(draw * N_TRAIN, (draw + 1) * N_TRAIN)
        model = clone(estimator).set_params(**params_for(estimator, params, X.shape[1]))
        if "random_state" in model.get_params() or family == "CatBoost":
            model.set_params(random_state=draw)
        errors.append(train(family, model, (X[rows], y[rows]), test, n_classes))
    return float(np.mean(errors)), (time.process_time() - start) / n_draws


def params_for(estimator, entry, n_features):
    """Params of an estimator from a recorded entry, whose gamma is a multiple."""
    params = {k: tuple(v) if isinstance(v, list) else v for k, v in entry.items()}
    if "gamma * n_features" in params:
        params["gamma"] = params.pop("gamma * n_features") / n_features
    searched = default_space(estimator)
    return {k: v for k, v in params.items() if k in searched}


# ---- what is trained, and what is chosen


def random_entry(family, rng):
    """Draw from the default space of classes and of numbers, numbers rounded to two digits."""
    entry = {}
    for estimator in FAMILIES[family][:2]:
        if estimator is not None:
            space = default_space(estimator, n_samples=2_000, n_features=1)
            searched = {k: v for k, v in space.items() if not isinstance(v, Outcome)}
            entry = Space(searched).sample(rng) | entry
    entry.pop("early_stopping", None)
    if family == "SVM":
        entry["gamma * n_features"] = entry.pop("gamma")
    return {k: float(f"{v:.2g}") if type(v) is float else v for k, v in entry.items()}


def pool(family, seed=0):
    """Own params, what is in the file, what others found, and then random draws."""
    yield {}
    yield from json.loads(SPACES.read_text()).get(family, [])
    yield from PUBLISHED.get(family, [])
    rng = np.random.default_rng(seed)
    while True:
        yield random_entry(family, rng)


def mine(seconds, cache, records):
    """Train until the time of each family is up."""
    data = list(tables(MINED))
    shares = sum(family[2] for family in FAMILIES.values())
    for family, (_, _, share) in FAMILIES.items():
        spent = sum(seconds_of(r) for r in records.values() if r["family"] == family)
        for entry in itertools.islice(pool(family), ENOUGH):
            if spent > seconds * share / shares:
                break
            for table in data:
                key = json.dumps([family, table[0], entry])
                if key in records:
                    continue
                found = evaluate(family, entry, table)
                if found is not None:
                    keep(cache, records, key, family, table[0], entry, *found)
                    spent += seconds_of(records[key])
        print(f"{family}: {spent:.0f} s", flush=True)


def seconds_of(record):
    """Processor time of all draws."""
    return record["seconds"] * (1 if record["table"] == "letter" else N_DRAWS)


def keep(cache, records, key, family, table, entry, error, seconds):
    """Add one line to the cache."""
    records[key] = {"family": family, "table": table, "entry": entry}
    records[key] |= {"error": error, "seconds": seconds}
    with cache.open("a") as file:
        file.write(json.dumps([key, records[key]]) + "\n")


def matrix(family, records, names):
    """Entries trained on all tables, logarithms of errors, seconds as multiples of the own."""
    own = [r for r in records.values() if r["family"] == family and r["table"] in names]
    columns = [name for name in names if any(r["table"] == name for r in own)]
    rows = {}
    for r in own:
        rows.setdefault(json.dumps(r["entry"]), {})[r["table"]] = r
    rows = {k: v for k, v in rows.items() if len(v) == len(columns)}
    entries = [json.loads(k) for k in rows]
    logs = np.array([[np.log(max(v[c]["error"], 1e-4)) for c in columns] for v in rows.values()])
    cost = np.array([[v[c]["seconds"] for c in columns] for v in rows.values()])
    return entries, logs, (cost / cost[:1]).mean(1) if rows else cost


def choose(entries, logs, cost, most=MOST):
    """Pick greedily what lowers the smallest errors the most for its time; entry 0 is the own.

    The smallest error is a soft minimum, as on another table each one would be a little different.
    """
    chosen = [0]
    weights = np.exp(-(logs - logs.min(0)) / UNSURE)
    while len(chosen) <= min(most, len(entries) - 1):
        gain = np.log1p(weights / weights[chosen].sum(0)).mean(1) / np.sqrt(cost + 1)
        gain[chosen] = -1
        chosen.append(int(np.argmax(gain)))
    return [entries[i] for i in chosen[1:]], chosen


def left_out(logs, entries, cost):
    """Mean gain on a table of a portfolio that was chosen on the others, and of random draws."""
    gains, chance = [], []
    for j in range(logs.shape[1]):
        rest = np.delete(logs, j, axis=1)
        _, chosen = choose(entries, rest, cost, 5)
        gains.append(logs[0, j] - logs[chosen, j].min())
        rng = np.random.default_rng(j)
        n = len(chosen) - 1
        draws = [rng.choice(np.arange(1, len(logs)), n, replace=False) for _ in range(200)]
        chance.append(np.mean([logs[0, j] - min(logs[0, j], *logs[d, j]) for d in draws]))
    return np.mean(gains), np.mean(chance)


def report(records):
    """Print what is chosen, and return it by family."""
    found = {}
    for family in FAMILIES:
        entries, logs, cost = matrix(family, records, MINED)
        if len(entries) < 3:
            continue
        found[family], chosen = choose(entries, logs, cost)
        gains = left_out(logs, entries, cost)
        drop, chance = (f"{1 - np.exp(-gain):.1%}" for gain in gains)
        print(
            f"\n{family}: {len(entries)} entries. On a table left out the error falls, from that"
        )
        print(f"of the own params, by {drop} with five chosen ones, {chance} with random ones")
        best = logs[0].copy()
        for i in chosen[1:]:
            best = np.minimum(best, logs[i])
            print(f"  {1 - np.exp((best - logs[0]).mean()):6.1%} x{cost[i]:4.1f}  {entries[i]}")
    return found


def check(family, table):
    """Return the error of own params, and the least of five first candidates and five draws."""
    of = next(of for of in tables(CHECKED) if of[0] == table)
    _, plain, dense, y = of
    X = dense if family in SCALED else plain
    estimator = FAMILIES[family][y.dtype.kind == "f"]
    sizes = {"n_samples": 2_000, "n_features": X.shape[1]}
    rng = np.random.default_rng(1)
    ways = {
        "own": [{}],
        "first": first_candidates(estimator, **sizes)[:5],
        "drawn": [random_entry(family, rng) for _ in range(5)],
    }
    return {
        way: round(float(min(error_of(family, entry, of) for entry in entries)), 5)
        for way, entries in ways.items()
    }


def error_of(family, entry, table):
    """Return the error of a candidate, trained without its own early stopping."""
    return evaluate(family, {k: v for k, v in entry.items() if k != "early_stopping"}, table)[0]


def table(lines):
    """Return the rows of the page."""
    rows = [["family", "table", "default parameters", "five first candidates", "five draws"]]
    for line in lines:
        errors = (f"{line[way]:.3f}" for way in ("own", "first", "drawn"))
        rows.append([line["family"], line["table"], *errors])
    return rows


def write(found):
    """Write the data file, a candidate a line; lists that are not mined stay."""
    mined = {family: entries for family, entries in found.items() if family not in BY_HAND}
    found = json.loads(SPACES.read_text()) | mined
    blocks = [
        f'"{family}": [\n  ' + ",\n  ".join(json.dumps(entry) for entry in entries) + "\n]"
        for family, entries in found.items()
    ]
    SPACES.write_text("{\n" + ",\n".join(blocks) + "\n}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=0, help="processor time to add up to")
    parser.add_argument("--write", action="store_true", help="replace the data file")
    parser.add_argument("--check", nargs="*", choices=FAMILIES, help="families to check")
    parser.add_argument("--record", type=Path, help="file of checks, read first and appended to")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    cache = Path(tempfile.gettempdir()) / "sksearch_portfolios.jsonl"
    lines = cache.read_text().splitlines() if cache.exists() else []
    records = dict(json.loads(line) for line in lines)
    if args.seconds:
        mine(args.seconds, cache, records)
    if args.check is not None:
        keys = [
            {"family": family, "table": name}
            for family in args.check or FAMILIES
            for name in CHECKED
        ]
        print_rows(table(recorded(args.record, keys, check)))
        return
    found = report(records)
    if args.write:
        write(found)


if __name__ == "__main__":
    main()
