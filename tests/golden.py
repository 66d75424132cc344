"""What all searches find, bit for bit, to be compared before and after a change of the code.

    python tests/golden.py write before.json
    ... change the code ...
    python tests/golden.py compare before.json

It holds for one machine and one set of versions: that is why no such file is in the repository.
There are the named searches, each with all resources, and the cases of `tests/frozen`: what users
see of the whole product. Of the latter there is a file with fewer digits, which a test compares on
every machine; this writes it again, where it is meant to change:

    python tests/golden.py freeze
"""

import inspect
import json
import re
import sys
import tempfile
import warnings
from pathlib import Path

from scipy.stats import loguniform, randint, uniform
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import Ridge, SGDClassifier
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import sksearch
from sksearch import When
from sksearch.samplers import GPSampler
from tests.frozen.cases import FILE, all_cases, as_json, run, write_file

X, y = make_classification(120, 6, n_informative=4, flip_y=0.2, random_state=0)
XR, yr = make_regression(90, 4, noise=20, random_state=0)
SGD = make_pipeline(StandardScaler(), SGDClassifier(random_state=0))
SGD_SPACE = {
    "sgdclassifier__alpha": loguniform(1e-6, 1e1),
    "sgdclassifier__penalty": ["l2", "l1", "elasticnet"],
    "sgdclassifier__l1_ratio": When(uniform(0, 1), "sgdclassifier__penalty", "==", "elasticnet"),
}
FOREST = RandomForestClassifier(random_state=0)
FOREST_SPACE = {"max_features": uniform(0.1, 0.9), "min_samples_leaf": randint(1, 30)}
KNN_SPACE = {"n_neighbors": randint(1, 40), "weights": ["uniform", "distance"]}

#: What each resource is tried with: estimator, space, data, arguments of the search.
RESOURCES = {
    "epochs": (SGD, SGD_SPACE, (X, y), {"resource": "epochs", "max_resources": 9}),
    "trees": (FOREST, FOREST_SPACE, (X, y), {"resource": "n_estimators", "max_resources": 9}),
    "rows": (KNeighborsRegressor(), KNN_SPACE, (XR, yr), {"resource": "n_samples"}),
    "folds": (SGD, SGD_SPACE, (X, y), {"resource": "folds"}),
}
WHOLE = (KNeighborsRegressor(), KNN_SPACE, (XR, yr), {})
FEW = {"n_iter": 14}
TIMES = re.compile(r'"(fit_time|score_time|seconds)":[^,}\]]+')
SPANS = re.compile(r',"span":\[[^\]]*\]')
STATES = re.compile(r'"(h|sha)":"[^"]*"|"n":\d+')  # a pickle may have other bytes
VERSIONS = re.compile(r'"(versions|sksearch)":(\{[^}]*\}|"[^"]*")')


def cases():
    """Yield a name, a search and its data for each case."""
    for name in sorted(n for n in sksearch.search.__all__ if n.endswith("SearchCV")):
        cls = getattr(sksearch.search, name)
        params = inspect.signature(cls).parameters
        own = {key: value for key, value in FEW.items() if key in params}
        if cls is sksearch.search.HypergradientSearchCV:
            yield name, cls(Ridge(), {"alpha": loguniform(1e-3, 1e3)}, **own), (XR, yr)
            continue
        if issubclass(cls, sksearch.model_selection.GridSearchCV):
            yield name, cls(KNeighborsRegressor(), {"n_neighbors": [1, 3, 9, 3]}), (XR, yr)
            continue
        if "resource" in params and name != "SearchCV":
            goes_on = cls is sksearch.PBTSearchCV
            kinds = ("epochs", "trees") if goes_on else RESOURCES
            for kind in kinds:
                estimator, space, data, args = RESOURCES[kind]
                yield f"{name} {kind}", cls(estimator, space, **args, **own), data
        else:
            estimator, space, data, _ = WHOLE
            yield name, cls(estimator, space, **own), data
            estimator, space, data, _ = RESOURCES["epochs"]
            yield f"{name} sgd", cls(estimator, space, **own), data
    estimator, space, data, args = RESOURCES["epochs"]
    extras = {
        "BOHB asynchronous": sksearch.BOHBSearchCV(
            estimator, space, scheduler="asynchronous", **args
        ),
        "BOHB all": sksearch.BOHBSearchCV(estimator, space, transfer="all", **args),
        "GPHyperband joint": sksearch.HyperbandSearchCV(
            estimator,
            space,
            sampler=GPSampler("ei_distribution", transfer="joint"),
            n_iterations=2,
            workers={"batch_size": 2},
            **args,
        ),
        "Hyperband gp": sksearch.HyperbandSearchCV(estimator, space, sampler="gp", **args),
        "Halving tpe": sksearch.HalvingSearchCV(estimator, space, sampler="tpe", **args),
        **{
            f"Evolution {method}": sksearch.search.EvolutionSearchCV(
                *WHOLE[:2], method=method, **FEW
            )
            for method in ("cma-es", "genetic", "pso")
        },
        "Hyperband algorithm1": sksearch.HyperbandSearchCV(
            estimator, space, candidates="algorithm1", ensemble=2, **args
        ),
        "GP portfolio": sksearch.GPBayesSearchCV(
            estimator, space, acquisition="portfolio", n_iter=20, workers={"batch_size": 3}
        ),
        "GP lcb": sksearch.GPBayesSearchCV(estimator, space, acquisition="lcb", n_iter=14),
        "GP thompson": sksearch.GPBayesSearchCV(
            estimator, space, acquisition="thompson", n_iter=14
        ),
        "GP log_pi": sksearch.GPBayesSearchCV(
            estimator, space, acquisition="log_pi", n_iter=14, n_initial=4
        ),
        "ASHA stopping": sksearch.ASHASearchCV(estimator, space, variant="stopping", **args),
        "Incremental gp": sksearch.search.IncrementalEvaluationSearchCV(
            estimator, space, population="gp", candidates="largest", **args
        ),
    }
    for name, search in extras.items():
        yield name, search, data


def record(search, data):
    """What a search finds and notes, without times."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search.set_params(random_state=3, cv=3, checkpoint_dir=folder, verbose=0)
        search.fit(*data)
        journal = (Path(folder) / "journal.jsonl").read_text().splitlines()
    lines = [VERSIONS.sub("", TIMES.sub(r'"\1":0', SPANS.sub("", line[9:]))) for line in journal]
    columns = {
        key: value.tolist() if key != "params" else list(map(repr, value))
        for key, value in search.cv_results_.items()
        if not key.endswith("_time")
    }
    return {
        "columns": json.loads(json.dumps(columns, default=repr)),
        "best": [repr(search.best_params_), search.best_score_, int(search.best_index_)],
        "plan": str(search.plan_),
        "predictions": search.predict(data[0]).tolist(),
        "log": [list(event) for event in search.history_.log],
        "journal": [STATES.sub("", line) for line in lines],
    }


def freeze():
    """Write what the cases of `tests/frozen` tell to the file of the repository."""
    answers = {name: run(case) for name, case in all_cases().items()}
    write_file(answers)
    print(f"{len(answers)} cases frozen in {FILE}")
    return 0


def main(mode, path=None):
    if mode == "freeze":
        return freeze()
    found = {}
    for name, search, data in cases():
        found[name] = record(search, data)
        print(".", end="", flush=True)
    for name, case in all_cases().items():
        found[name] = as_json(run(case))
        print(".", end="", flush=True)
    print()
    if mode == "write":
        Path(path).write_text(json.dumps(found))
        print(f"{len(found)} cases written to {path}")
        return 0
    before = json.loads(Path(path).read_text())
    found = json.loads(json.dumps(found))
    different = {
        f"{name}: {part}"
        for name in before.keys() | found.keys()
        for part in before.get(name, found.get(name))
        if json.dumps(before.get(name, {}).get(part)) != json.dumps(found.get(name, {}).get(part))
    }
    for line in sorted(different):
        print(line)
    print(f"{len(before)} cases compared, {len(different)} parts differ")
    return bool(different)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
