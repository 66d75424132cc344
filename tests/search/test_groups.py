"""`workers`, `stop` and `known`: dicts whose keys are nested parameters."""

import inspect
import pickle
from itertools import pairwise

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import sksearch
from sksearch import RandomSearchCV, SearchCV, minimize, tune

X, y = load_iris(return_X_y=True)
CLASSES = [
    getattr(sksearch.search, name) for name in sksearch.search.__all__ if name.endswith("SearchCV")
]
KEYS = {
    "workers": {"timeout": None, "memory": None, "retries": 1, "devices": None},
    "stop": {"score": None, "patience": None, "converged": False, "overtime": None},
    "known": {"params": "auto", "results": None, "prior": None, "constraints": None},
}
LEARNS = {"batch_size": "auto"}  # a key of the workers of a search that learns
#: Some classes are not in `search`, and some learn.
N_CLASSES, N_LEARNING = 22, 11
WRONG = {
    "workers": {"timeout": 0, "memory": 2.5, "retries": -1, "devices": 3},
    "stop": {"score": np.nan, "patience": 0, "converged": "yes", "overtime": -1},
    "known": {"params": "all", "prior": [1]},
}


class NeverFitted(SVC):
    """Its fit is an error that no test expects."""

    def fit(self, X, y):
        raise AssertionError


def make(cls, **params):
    space = {"C": [0.1, 1.0]}
    return cls(NeverFitted(), space, **params)


def has_batches(cls):
    return "Batch" in str(inspect.signature(cls).parameters["workers"].annotation)


def test_search_cv_has_few_parameters():
    assert len(inspect.signature(SearchCV).parameters) <= 24
    assert len(CLASSES) == N_CLASSES
    assert sum(map(has_batches, CLASSES)) == N_LEARNING


@pytest.mark.parametrize("cls", CLASSES)
def test_keys_are_nested_parameters(cls):
    search = make(cls)
    nested = {k: v for k, v in search.get_params().items() if k.partition("__")[0] in KEYS}
    expected = KEYS | {"workers": KEYS["workers"] | (LEARNS if has_batches(cls) else {})}
    assert nested == dict.fromkeys(KEYS) | {
        f"{group}__{key}": value for group, keys in expected.items() for key, value in keys.items()
    }
    mine = {"memory": 2**30}
    search.set_params(workers=mine, stop__patience=3, known__prior={"C": {1.0: 1}})
    search.set_params(workers__retries=2)
    assert (mine, search.workers) == ({"memory": 2**30}, {"memory": 2**30, "retries": 2})
    assert (search.stop, search.known) == ({"patience": 3}, {"prior": {"C": {1.0: 1}}})
    assert "workers={'memory': 1073741824, 'retries': 2}" in " ".join(repr(search).split())
    assert make(cls).workers is None
    kept = search.workers
    assert search.set_params(**search.get_params()).workers is kept
    for copied in (clone(search), pickle.loads(pickle.dumps(search))):
        assert copied.workers == search.workers
        assert copied.workers is not search.workers
        assert copied.get_params()["stop__patience"] == 3


@pytest.mark.parametrize("cls", CLASSES)
def test_a_wrong_key_is_refused_before_anything_is_spent(cls):
    search = make(cls)
    for group, key in (("workers", "mmory"), ("stop", "target_score"), ("known", "prior__C")):
        with pytest.raises(ValueError, match=rf"{group} has no key '{key}'.*Its keys are '"):
            search.set_params(**{f"{group}__{key}": 3, "n_jobs": 2})
        assert search.n_jobs is None
        assert getattr(search, group) is None
        wrong = make(cls, **{group: {key: 3}})
        for use in (wrong.fit, wrong.plan):
            with pytest.raises(ValueError, match=rf"{group} has no key '{key}'.*Its keys are '"):
                use(X, y)
    if not has_batches(cls):
        with pytest.raises(ValueError, match="workers has no key 'batch_size'"):
            make(cls, workers={"batch_size": 2}).fit(X, y)


@pytest.mark.parametrize("cls", CLASSES)
def test_values_are_validated_by_the_name_of_the_key(cls):
    for group, values in WRONG.items():
        for key, value in values.items():
            name = rf"'{group}\[\"{key}\"\]' parameter of {cls.__name__} must be"
            with pytest.raises(ValueError, match=name):
                make(cls, **{group: {key: value}}).fit(X, y)
        for value in (3, "all", [1]):
            with pytest.raises(ValueError, match=f"'{group}' parameter of {cls.__name__}.*'"):
                make(cls, **{group: value}).fit(X, y)


def test_a_string_is_short_for_a_dict():
    search = make(SearchCV, stop="converged")
    assert search.get_params()["stop__converged"] is True
    assert search.set_params(stop__patience=3).stop == {"converged": True, "patience": 3}


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("patience", 'stop={"patience": ...}'),
        ("early_stopping_rounds", 'stop={"patience": ...}'),
        ("mem_limit", 'workers={"memory": ...}'),
        ("trial_timeout", 'workers={"timeout": ...}'),
        ("gpus", 'workers={"devices": ...}'),
        ("x0", 'known={"params": ...}'),
        ("constraints", 'known={"constraints": ...}'),
    ],
)
def test_a_key_as_a_parameter_is_refused_with_its_group(name, written):
    for use in (lambda **params: RandomSearchCV(SVC(), **params), minimize):
        if use is not minimize or "stop" not in written:
            with pytest.raises(TypeError) as caught:
                use(**{name: 3})
            assert f"has no parameter {name}: write {written}" in str(caught.value)
    if name == "patience":
        with pytest.raises(ValueError, match=r'pass stop=."patience": 3. to its constructor'):
            RandomSearchCV(SVC(), {"C": [1, 2]}).fit(X, y, patience=3)


def test_tools_of_scikit_learn_reach_the_keys():
    search = RandomSearchCV(SVC(), {"C": [0.1, 1.0, 10.0]}, n_iter=3, cv=2, random_state=0)
    outer = GridSearchCV(search, {"stop__patience": [1, 2]}, cv=2).fit(X, y)
    assert outer.best_estimator_.stop == {"patience": outer.best_params_["stop__patience"]}
    pipe = make_pipeline(StandardScaler(), search).set_params(randomsearchcv__stop__score=0.5)
    assert pipe[-1].stop == {"score": 0.5}
    assert "workers" in search._repr_html_()


def test_clones_keep_the_results_of_earlier_searches():
    earlier = RandomSearchCV(SVC(), {"C": [0.1, 1.0]}, n_iter=2, cv=2).fit(X, y)
    known = {"results": [earlier, earlier.cv_results_]}
    search = SearchCV(SVC(), {"C": [0.1, 1.0]}, n_iter=2, cv=2, known=known, random_state=0)
    assert clone(search).known["results"][0] is earlier
    assert clone(search).known is not known
    assert np.isfinite(cross_val_score(search, X, y, cv=2)).all()


def test_minimize_has_those_keys_that_it_can_use():
    def loss(params):
        return params["x"] ** 2

    space, args = {"x": [3, 1, 2]}, {"n_iter": 3, "random_state": 0}
    found = minimize(loss, space, known={"params": {"x": 2}}, workers={"batch_size": 1}, **args)
    assert found.history.trials[0].params == {"x": 2}
    for group, key in (("workers", "memory"), ("known", "param")):
        with pytest.raises(ValueError, match=f"{group} has no key '{key}'"):
            minimize(loss, space, **{group: {key: 1}}, **args)
    with pytest.raises(ValueError, match=r"'workers\[\"timeout\"\]' parameter of minimize"):
        minimize(loss, space, workers={"timeout": -1}, **args)


def test_tune_passes_groups_on():
    space = {"C": [0.1, 1.0, 10.0]}
    args = {"param_distributions": space, "cv": 2, "random_state": 0, "verbose": 0}
    assert len(tune(SVC(), X, y, stop={"patience": 1}, **args).history_.trials) <= len(space["C"])
    with pytest.raises(ValueError, match="stop has no key"):
        tune(SVC(), X, y, stop={"patient": 1}, **args)


def test_defaults_are_not_shared():
    searches = [make(RandomSearchCV) for _ in range(3)]
    searches[0].set_params(known__params=None)
    for one, other in pairwise(searches):
        assert one.known is not other.known or one.known is None
    assert searches[1].get_params()["known__params"] == "auto"
