"""Every default space is valid for its estimator: it fits with what is drawn from it."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import ParameterSampler
from sklearn.utils import all_estimators

from sksearch.estimators._composed import find_space
from sksearch.estimators._default import own_candidate
from sksearch.estimators._family import Nothing, families
from sksearch.estimators._parts import Size
from sksearch.space import Outcome, Space, default_space, first_candidates
from tests.spaces import cases

SPACES = {
    name for family in families() for name in family.spaces if not isinstance(family, Nothing)
}
ALL = [*cases.made(SPACES), *cases.of_libraries(), *cases.VARIANTS]
IDS = [f"{type(estimator).__name__}-{i}" for i, (estimator, _, _) in enumerate(ALL)]


def sizes(X):
    return {"n_samples": len(X), "n_features": X.shape[1] if hasattr(X, "shape") else None}


def without_outcome(space):
    return {name: values for name, values in space.items() if not isinstance(values, Outcome)}


def fit(estimator, params, space, X, y):
    """Fit a candidate with five iterations in place of an outcome."""
    few = {name: 5 for name, values in space.items() if isinstance(values, Outcome)}
    few |= {name: 5 for name in params if name == "n_estimators"}
    model = clone(estimator).set_params(**params | few)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        getattr(model, "fit_resample", model.fit)(X, y)


@pytest.mark.parametrize(("estimator", "X", "y"), ALL, ids=IDS)
def test_a_default_space_is_valid_for_its_estimator(estimator, X, y, capfd):
    space = default_space(estimator, **sizes(X))
    assert sum(isinstance(values, Outcome) for values in space.values()) <= 1
    whole = Space(space)
    rng = np.random.default_rng(0)
    for params in [whole.sample(rng) for _ in range(2)]:
        fit(estimator, params, space, X, y)
    first = first_candidates(estimator, **sizes(X))
    for params in first:
        whole.check(params)
        assert list(params) == list(without_outcome(space))
        fit(estimator, params, space, X, y)
    assert len({whole.key(params) for params in first}) == len(first)
    output = capfd.readouterr()
    assert "unknown parameter" not in (output.out + output.err).lower()


@pytest.mark.parametrize(("estimator", "X", "y"), ALL, ids=IDS)
def test_scikit_learn_draws_from_a_space(estimator, X, y):
    space = without_outcome(default_space(estimator, **sizes(X)))
    for params in ParameterSampler(space, 2, random_state=0):
        assert params.keys() == space.keys()
        Space(space).check(params)
        clone(estimator).set_params(**params)


@pytest.mark.parametrize(("estimator", "X", "y"), ALL, ids=IDS)
def test_sizes_need_not_be_known(estimator, X, y):
    known = default_space(estimator, **sizes(X))
    if not find_space(estimator, Size()):
        assert known.keys() <= {"n_components", "k"}
        with pytest.raises(ValueError, match="worth searching"):
            default_space(estimator)
    else:
        unknown = default_space(estimator)
        assert unknown.keys() <= known.keys()
        Space(unknown)


def constructed():
    """Scikit-learn's estimators that need no argument."""
    found = []
    for name, cls in all_estimators():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            try:
                found.append(pytest.param(name, cls(), id=name))
            except TypeError:
                continue
    return found


@pytest.mark.parametrize(("name", "estimator"), constructed())
def test_an_estimator_of_scikit_learn_has_a_space_or_an_error(name, estimator):
    if find_space(estimator, Size(500, 20)):
        space = default_space(estimator, n_samples=500, n_features=20)
        assert space.keys() <= estimator.get_params().keys()
        assert own_candidate(estimator, space).keys() == without_outcome(space).keys()
        Space(space)
    else:
        with pytest.raises(ValueError, match=f"{name}.*Pass a space"):
            default_space(estimator, n_samples=500, n_features=20)
        assert first_candidates(estimator, n_samples=500, n_features=20) == []
