"""Searches over nets: by epochs, with several workers, and with candidates that fail."""

import warnings

import numpy as np
import pytest
from scipy.stats import loguniform

pytest.importorskip("torch")
pytest.importorskip("skorch")

import torch

from sksearch import BOHBSearchCV, HyperbandSearchCV, RandomSearchCV, SearchCV
from sksearch.datasets import load
from sksearch.neural import (
    BlockConvNetClassifier,
    ConvNetClassifier,
    CudaConvNetClassifier,
    LayeredConvNetClassifier,
    PixelLogisticClassifier,
)
from sksearch.space import Space
from tests import scripts

FAMILIES = [
    (BlockConvNetClassifier, BlockConvNetClassifier.space),
    (ConvNetClassifier, ConvNetClassifier.space),
    (ConvNetClassifier, lambda: ConvNetClassifier.space(horizon=27)),
    (CudaConvNetClassifier, CudaConvNetClassifier.space),
    (LayeredConvNetClassifier, LayeredConvNetClassifier.space),
    (PixelLogisticClassifier, PixelLogisticClassifier.space),
]
TINY = {"n_filters": [2, 4], "n_blocks": [1], "batch_size": [16, 32]}


@pytest.mark.parametrize(("cls", "make_space"), FAMILIES)
def test_each_candidate_of_a_space_is_a_net_that_can_be_built_or_says_why_not(cls, make_space):
    space, rng = Space(make_space()), np.random.default_rng(0)
    X, y = np.zeros((4, 32, 32, 3), dtype=np.uint8), np.arange(4) % 2
    for params in [space.sample(rng) for _ in range(8)]:
        net = cls(device="cpu").set_params(**params)
        net._validate_params()
        problem = ""
        try:
            net._begin(X, y, None, 27)
        except ValueError as error:
            problem = str(error)
        assert problem == "" or "too small for this architecture" in problem


def test_the_family_of_blocks_has_as_many_models_as_were_published():
    """Its ranges have eight learning rates; the published number counts seven."""
    space = BlockConvNetClassifier.space()
    assert space["learning_rate"] == [10.0**power for power in range(-7, 1)]
    assert Space(space).size == 39_200
    assert Space(space | {"learning_rate": space["learning_rate"][:-1]}).size == 34_300


def test_layers_that_are_not_there_have_no_params():
    space, rng = Space(LayeredConvNetClassifier.space()), np.random.default_rng(0)
    for params in [space.sample(rng) for _ in range(20)]:
        assert len(params) == 1 + 5 * params["n_layers"]


def results(search):
    kept = ("params", "n_resources", "mean_test_score", "split0_test_score")
    return {name: list(search.cv_results_[name]) for name in kept}


@pytest.fixture(scope="module")
def quick():
    return ConvNetClassifier(n_stages=2, device="cpu", learning_rate=0.1)


@pytest.mark.timeout(200)
def test_bohb_trains_nets_by_epochs_the_same_with_two_workers(quick, images):
    space = ConvNetClassifier.space() | TINY
    searches = [
        BOHBSearchCV(
            quick, space, resource="epochs", max_resources=3, cv=2, n_jobs=n_jobs, random_state=0
        ).fit(*images)
        for n_jobs in (1, 2)
    ]
    assert results(searches[0]) == results(searches[1])
    assert set(searches[0].statuses_) == {"ok"}
    assert max(searches[0].cv_results_["n_resources"]) == 3
    assert searches[0].best_estimator_.n_epochs_ == searches[0].best_n_resources_
    assert searches[0].best_estimator_.max_epochs == quick.max_epochs
    a, b = (search.best_estimator_.predict_proba(images[0]) for search in searches)
    assert np.array_equal(a, b)


@pytest.mark.timeout(120)
def test_schedules_are_searched_when_the_horizon_is_given(quick, images):
    space = ConvNetClassifier.space(horizon=3) | TINY
    search = HyperbandSearchCV(
        quick, space, resource="epochs", max_resources=3, cv=2, random_state=0
    ).fit(*images)
    assert set(search.statuses_) == {"ok"}
    assert len({params["schedule"] for params in search.cv_results_["params"]}) > 1


@pytest.mark.timeout(120)
def test_epochs_are_paid_once_as_if_trained_at_one_go(images):
    net = PixelLogisticClassifier(device="cpu", random_state=0)
    search = HyperbandSearchCV(
        net, {"learning_rate": loguniform(1e-4, 1)}, resource="epochs", max_resources=9, cv=2,
        random_state=0,
    ).fit(*images)  # fmt: skip
    at_once = net.set_params(**search.best_params_, max_epochs=search.best_n_resources_).fit(
        *images
    )
    a, b = at_once.predict_proba(images[0]), search.best_estimator_.predict_proba(images[0])
    assert np.array_equal(a, b)


@pytest.mark.whole
@pytest.mark.timeout(120)
def test_the_best_nets_are_averaged_the_same_with_two_workers(images):
    net = PixelLogisticClassifier(device="cpu", random_state=0)
    X, y = images
    rng = np.random.default_rng(0)
    y = np.where(rng.random(len(y)) < 0.25, rng.permutation(y), y)  # else one net knows all
    searches = [
        HyperbandSearchCV(
            net, {"learning_rate": loguniform(1e-3, 0.1)}, resource="epochs", max_resources=3,
            cv=2, random_state=0, n_jobs=n_jobs, ensemble=True, select="top",
            scoring="neg_log_loss",
        ).fit(X, y)
        for n_jobs in (1, 2)
    ]  # fmt: skip
    a, b = (search.best_estimator_ for search in searches)
    each = [model.predict_proba(X) for model in a.models]
    assert len(each) == len(searches[0].ensemble_) > 1
    assert {model.n_epochs_ for model in a.models} == {3}
    mean = np.average(each, axis=0, weights=a.weights)
    np.testing.assert_allclose(a.predict_proba(X), mean, rtol=1e-6)
    assert np.array_equal(a.predict_proba(X), b.predict_proba(X))
    assert a.score(*images) > 0.8


def fit_quietly(search, images):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of failed fits
        return search.fit(*images)


@pytest.mark.timeout(120)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_candidates_that_cannot_be_trained_are_survived(n_jobs, images):
    space = [
        {"n_blocks": [2], "head": [(8,)], "learning_rate": [1e-3, 1e38]},
        {"n_blocks": [5], "head": [(8,)]},
        {"n_blocks": [1], "head": [(10**9, 10**5)]},
    ]
    net = BlockConvNetClassifier(n_filters=4, max_epochs=2, device="cpu", random_state=0)
    search = fit_quietly(RandomSearchCV(net, space, n_iter=4, cv=2, n_jobs=n_jobs), images)
    by_params = {
        (params["n_blocks"], params.get("learning_rate")): (status, error)
        for params, status, error in zip(
            search.cv_results_["params"], search.statuses_, search.errors_, strict=True
        )
    }
    assert by_params[2, 1e-3] == ("ok", "")
    assert by_params[1, None][0] == "memory"
    for key, text in (
        ((2, 1e38), "training diverged"),
        ((5, None), "too small for this architecture"),
    ):
        assert by_params[key][0] == "error"
        assert text in by_params[key][1]
    alone = clone_of_the_good_one(net).fit(*images)
    best = search.best_estimator_
    assert np.array_equal(best.predict_proba(images[0]), alone.predict_proba(images[0]))


def clone_of_the_good_one(net):
    return BlockConvNetClassifier(**net.get_params()).set_params(
        n_blocks=2, head=(8,), learning_rate=1e-3
    )


@pytest.mark.timeout(60)
def test_stopping_early_is_refused_by_a_search_that_stops_early(quick, images):
    net = ConvNetClassifier(**quick.get_params()).set_params(early_stopping=True)
    search = HyperbandSearchCV(net, TINY, resource="epochs", max_resources=3)
    with pytest.raises(ValueError, match="the search itself stops early"):
        search.fit(*images)


@pytest.mark.whole
@pytest.mark.slow
@pytest.mark.timeout(290)
def test_nine_small_nets_learn_two_thousand_images():
    data = load("mnist", n_samples=2_000)
    X = data.data.reshape(len(data.data), *(int(data.data.shape[1] ** 0.5),) * 2)
    space = {"learning_rate": [0.05, 0.1, 0.2], "batch_size": [32, 64, 128]}
    # At a constant rate the last steps scatter by 0.2; an average of the weights does not.
    net = ConvNetClassifier(n_filters=8, device="cpu", random_state=0, ema_decay=0.98)
    search = HyperbandSearchCV(
        net, space, resource="epochs", max_resources=9, cv=2, random_state=0, n_jobs=2
    ).fit((255 * X).astype(np.uint8), data.target)
    assert len(set(search.cv_results_["trial_id"])) >= 9
    assert search.best_score_ > 0.85


@pytest.mark.timeout(60)
def test_without_torch_the_error_names_the_extra():
    code = """
import sys
sys.modules["torch"] = sys.modules["skorch"] = None
try:
    import sksearch.neural
except ImportError as error:
    assert 'pip install ".[neural]"' in str(error), error
else:
    raise AssertionError
"""
    scripts.run(["-c", code], check=True, timeout=50)


@pytest.mark.timeout(60)
def test_torch_keeps_its_count_of_threads(quick, images):
    before = torch.get_num_threads()
    SearchCV(quick, TINY, max_resources=1, resource="epochs", cv=2).fit(*images)
    assert torch.get_num_threads() == before
