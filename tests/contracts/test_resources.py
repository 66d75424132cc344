"""What every resource must do: continuing is the same as not having stopped."""

import itertools
import re

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin, clone, is_classifier
from sklearn.cluster import MiniBatchKMeans
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import make_classification
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import Perceptron, SGDClassifier, SGDRegressor
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, StandardScaler, TargetEncoder
from sklearn.tree import DecisionTreeClassifier

from sksearch import resources
from sksearch.base import Resource
from sksearch.base._state import State
from sksearch.executors import VirtualClock, spend
from sksearch.resources import as_resource
from sksearch.resources._data import FoldsResource, SamplesResource, WholeResource, nested_order
from sksearch.resources._epochs import EpochsResource, SecondsResource
from sksearch.resources._parameter import ParameterResource

X, y = make_classification(240, 8, n_informative=5, n_classes=3, random_state=0)
CLASSES = np.unique(y)


class CountingScaler(StandardScaler):
    """Counts its fits."""

    n_fits = 0

    def fit(self, X, y=None, sample_weight=None):
        CountingScaler.n_fits += 1
        return super().fit(X, y, sample_weight)


TRAINED_BY_EPOCHS = [
    SGDClassifier(random_state=0),
    SGDClassifier(random_state=0, class_weight="balanced"),
    SGDRegressor(random_state=0),
    Perceptron(random_state=0),
    MLPClassifier((7,), random_state=0),
    MLPClassifier((7,), random_state=np.random.RandomState(4)),
    MLPRegressor(hidden_layer_sizes=(7,), random_state=0),
    GaussianNB(),
    BernoulliNB(),
    MiniBatchKMeans(3, n_init=1, random_state=0),
    make_pipeline(StandardScaler(), MLPClassifier((7,), random_state=0)),
    make_pipeline(StandardScaler(), PCA(4), SGDClassifier(random_state=0)),
    make_pipeline("passthrough", make_pipeline(StandardScaler(), SGDClassifier(random_state=0))),
    make_pipeline(
        KBinsDiscretizer(4, encode="ordinal", quantile_method="averaged_inverted_cdf"),
        TargetEncoder(),
        SGDClassifier(random_state=0),
    ),
    Pipeline([("clf", SGDClassifier(random_state=0))]),
    MLPClassifier((7,), solver="lbfgs", random_state=0),
]

GROWN = [
    (RandomForestClassifier(random_state=0), "n_estimators"),
    (RandomForestClassifier(random_state=0, class_weight="balanced"), "n_estimators"),
    (RandomForestClassifier(random_state=0, oob_score=False, max_samples=0.5), "n_estimators"),
    (ExtraTreesClassifier(random_state=0), "n_estimators"),
    (BaggingClassifier(random_state=0), "n_estimators"),
    (GradientBoostingClassifier(random_state=0, subsample=0.7), "n_estimators"),
    (HistGradientBoostingClassifier(random_state=0, early_stopping=False), "max_iter"),
    (HistGradientBoostingClassifier(random_state=0, early_stopping=True), "max_iter"),
    (GradientBoostingClassifier(random_state=0, n_iter_no_change=2), "n_estimators"),
    (Pipeline([("pca", PCA(5)), ("rf", RandomForestClassifier(random_state=0))]),
     "rf__n_estimators"),
    (make_pipeline(PCA(2), GaussianNB()), "pca__n_components"),
    (DecisionTreeClassifier(random_state=0), "max_depth"),
]  # fmt: skip


def train(resource, estimator, *amounts):
    np.random.seed(0)  # TargetEncoder shuffles by the global generator
    state, spent = State(clone(estimator)), 0
    target = y if is_classifier(estimator) else y.astype(float)
    classes = CLASSES if is_classifier(estimator) else None
    for amount in amounts:
        state = resource.train(state, X, target, amount, spent, classes, {})
        spent = amount
    return state.estimator


def outputs(estimator):
    for method in ("decision_function", "predict_proba", "predict"):
        if hasattr(estimator, method):
            return getattr(estimator, method)(X)
    return None


def test_every_resource_is_tested_here():
    found = (c for c in vars(resources).values() if isinstance(c, type))
    classes = {c for c in found if issubclass(c, Resource)}
    assert classes - {Resource} == {
        EpochsResource, FoldsResource, ParameterResource, SamplesResource, SecondsResource,
        WholeResource,
    }  # fmt: skip


@pytest.mark.parametrize(
    "estimator", TRAINED_BY_EPOCHS, ids=lambda estimator: re.sub(r"at 0x\w+", "", str(estimator))
)
def test_epochs_in_three_rungs_equal_epochs_at_once(estimator):
    at_once = train(EpochsResource(), estimator, 9)
    in_rungs = train(EpochsResource(), estimator, 1, 3, 9)
    np.testing.assert_array_equal(outputs(in_rungs), outputs(at_once))


@pytest.mark.parametrize(("estimator", "name"), GROWN, ids=str)
def test_a_parameter_in_rungs_equals_fit_at_once(estimator, name):
    resource = as_resource(name, estimator)
    resource.check(estimator, [])
    in_rungs = train(resource, estimator, 2, 4, 5)
    at_once = clone(estimator).set_params(**{name: 5}).fit(X, y)
    np.testing.assert_array_equal(outputs(in_rungs), outputs(at_once))
    assert in_rungs.get_params()[name] == 5
    if hasattr(in_rungs, "warm_start"):
        assert not in_rungs.warm_start, "warm_start is ours, not the user's"


def test_a_forest_is_grown_and_not_made_again():
    forest = RandomForestClassifier(random_state=0)
    resource = as_resource("n_estimators", forest)
    assert resource.continues
    state = resource.train(State(clone(forest)), X, y, 3, 0, None, {})
    first = list(state.estimator.estimators_)
    state = resource.train(state, X, y, 9, 3, None, {})
    assert [a is b for a, b in zip(first, state.estimator.estimators_[:3], strict=True)] == [
        True
    ] * 3


@pytest.mark.parametrize(
    "estimator",
    [
        HistGradientBoostingClassifier(early_stopping=True),
        GradientBoostingClassifier(n_iter_no_change=3),
        MLPClassifier(),
        BaggingClassifier(oob_score=True),
    ],
    ids=str,
)
def test_training_that_would_differ_is_planned_as_fitted_again(estimator):
    name = "n_estimators" if hasattr(estimator, "n_estimators") else "max_iter"
    assert not as_resource(name, estimator).continues


def test_transformers_are_fitted_once_and_epochs_paid_once():
    CountingScaler.n_fits = 0
    train(EpochsResource(), make_pipeline(CountingScaler(), SGDClassifier()), 1, 3, 9)
    assert CountingScaler.n_fits == 1


def test_a_pipeline_with_memory_ends_up_fitted(tmp_path):
    steps = [("a", StandardScaler()), ("b", PCA(3)), ("c", SGDClassifier(random_state=0))]
    cached = train(EpochsResource(), Pipeline(steps, memory=str(tmp_path)), 1, 4)
    plain = train(EpochsResource(), Pipeline(steps), 4)
    np.testing.assert_array_equal(outputs(cached), outputs(plain))


def test_balanced_weights_match_the_training_rows():
    rare = np.where(y == 0, 0, 1)
    keep = (rare == 1) | (np.arange(len(y)) % 4 == 0)
    weights = {c: keep.sum() / (2 * (rare[keep] == c).sum()) for c in (0, 1)}
    got, expected = (
        EpochsResource().train(
            State(SGDClassifier(random_state=0, class_weight=w)), X[keep], rare[keep], 5, 0,
            np.array([0, 1]), {},
        ).estimator
        for w in ("balanced", weights)
    )  # fmt: skip
    np.testing.assert_array_equal(got.coef_, expected.coef_)
    assert got.class_weight == "balanced"


def test_a_solver_without_partial_fit_gets_the_amount_as_iterations():
    net = train(EpochsResource(), MLPClassifier((5,), solver="lbfgs", random_state=0), 1, 4)
    assert net.n_iter_ == 4


def test_early_stopping_is_refused_with_a_sentence():
    for estimator in (SGDClassifier(early_stopping=True), MLPClassifier(early_stopping=True)):
        with pytest.raises(ValueError, match="the search itself stops early"):
            EpochsResource().check(estimator, [])
        EpochsResource().check(estimator, ["early_stopping"])
        with pytest.raises(ValueError, match="the search itself stops early"):
            train(EpochsResource(), estimator, 1)


class KerasClassifier(SGDClassifier):
    """Looks like one of scikeras."""

    __module__ = "scikeras.wrappers"

    def __init__(self, epochs=1):
        super().__init__(random_state=0)
        self.epochs = epochs


def test_a_model_of_keras_is_fitted_again_or_refused_with_a_way():
    for estimator in (KerasClassifier(), make_pipeline(StandardScaler(), KerasClassifier())):
        for resource in (EpochsResource(), SecondsResource()):
            with pytest.raises(ValueError, match=r"ParameterResource\('epochs'\)"):
                resource.check(estimator, [])
    with pytest.raises(ValueError, match="cannot be trained in parts"):
        train(EpochsResource(), KerasClassifier(), 1)
    again = as_resource(ParameterResource("epochs"), KerasClassifier())
    assert (type(again), again.continues) == (ParameterResource, False)
    again.check(KerasClassifier(), [])


def test_a_net_with_max_epochs_gets_all_epochs_in_one_call():
    class Net(SGDClassifier):
        """skorch's protocol: one call of partial_fit is max_epochs epochs."""

        def __init__(self, max_epochs=10):
            super().__init__(random_state=0)
            self.max_epochs = max_epochs
            self.calls = []

        def partial_fit(self, X, y, classes=None):
            self.calls = [*self.calls, self.max_epochs]
            return super().partial_fit(X, y, classes=classes)

    net = train(EpochsResource(), Net(), 1, 3, 9)
    assert net.calls == [1, 2, 6]
    assert net.max_epochs == 10


class TakesTime(SGDClassifier):
    """Each call takes 0.3 simulated seconds."""

    def partial_fit(self, X, y, classes=None):
        spend(0.3)
        return super().partial_fit(X, y, classes)


def test_seconds_are_used_up_and_the_rest_is_carried_over():
    resource = SecondsResource()
    state = State(TakesTime(random_state=0))
    with VirtualClock():
        state = resource.train(state, X, y, 1, 0, CLASSES, {})
        assert (state.n_steps, state.seconds) == (4, pytest.approx(1.2))
        state = resource.train(state, X, y, 2, 1, CLASSES, {})
        assert (state.n_steps, state.seconds) == (7, pytest.approx(2.1))


@pytest.mark.whole
def test_seconds_of_a_real_clock_are_used_up():
    resource = SecondsResource()
    state = resource.train(State(SGDClassifier(random_state=0)), X, y, 1, 0, CLASSES, {})
    assert state.n_steps > 10
    assert state.seconds >= 1
    refitted = resource.refit(State(SGDClassifier(random_state=0)), X, y, 2, 7, CLASSES, {})
    assert refitted.n_steps == 7


@pytest.mark.parametrize("stratified", [True, False])
def test_subsets_of_rows_are_nested_and_in_proportion(stratified):
    strata = np.repeat([0, 1, 2, 3], [300, 80, 15, 5]) if stratified else None
    resource, train = SamplesResource(), np.arange(400)[::-1]
    subsets = [
        resource.rows(train, strata, amount, 400, np.random.default_rng(1))
        for amount in (8, 40, 150, 399, 400)
    ]
    assert [len(rows) for rows in subsets] == [8, 40, 150, 399, 400]
    for smaller, larger in itertools.pairwise(subsets):
        assert set(smaller.tolist()) < set(larger.tolist())
    if stratified:
        for rows in subsets:
            counts = np.bincount(strata[rows], minlength=4)
            assert counts.min() >= 1, "each class has a row"
            assert np.abs(counts - len(rows) * np.array([0.75, 0.2, 0.0375, 0.0125])).max() <= 2


def test_a_fold_gives_its_share_of_the_rows():
    train = np.arange(100, 180)
    rows = SamplesResource().rows(train, None, 25, 100, np.random.default_rng(0))
    assert len(rows) == 20
    assert set(rows.tolist()) <= set(train.tolist())
    mask = np.zeros(200, dtype=bool)
    mask[train] = True
    assert len(SamplesResource().rows(mask, None, 25, 100, np.random.default_rng(0))) == 20


def test_an_order_is_a_permutation():
    rng = np.random.default_rng(0)
    for n in (1, 2, 17):
        order = nested_order(rng.integers(3, size=n), rng.permutation(n))
        assert sorted(order.tolist()) == list(range(n))


def test_folds_continue_where_they_were():
    assert list(FoldsResource().folds(10, 1, 0)) == [0]
    assert list(FoldsResource().folds(10, 3, 1)) == [1, 2]
    assert list(WholeResource().folds(3, 1, 0)) == [0, 1, 2]


@pytest.mark.parametrize(
    ("resource", "estimator", "names", "words"),
    [
        ("epochs", DecisionTreeClassifier(), [], "integer parameter.*'n_samples' or 'folds'"),
        ("seconds", DecisionTreeClassifier(), [], "partial_fit"),
        (
            "n_trees",
            RandomForestClassifier(),
            [],
            "not supported by estimator RandomForest.*'epochs'",
        ),
        ("n_estimators", RandomForestClassifier(), ["n_estimators"], "as the resource since"),
    ],
)
def test_combinations_that_cannot_work_are_refused(resource, estimator, names, words):
    with pytest.raises(ValueError, match=f"(?s){words}"):
        as_resource(resource, estimator).check(estimator, names)


@pytest.mark.parametrize(
    ("resource", "estimator", "expected"),
    [
        ("epochs", SGDClassifier(), (1, 81)),
        ("n_estimators", RandomForestClassifier(), (1, 100)),
        ("clf__max_iter", Pipeline([("clf", HistGradientBoostingClassifier())]), (1, 100)),
        ("n_samples", SGDClassifier(), (50, 4000)),
        ("folds", SGDClassifier(), (1, 5)),
        (None, SGDClassifier(), (1, 1)),
    ],
)
def test_limits_of_a_user_who_names_none(resource, estimator, expected):
    assert as_resource(resource, estimator).limits(estimator, 4000, 5, 2) == expected


def test_the_fewest_rows_are_four_of_each_class():
    resource = as_resource("n_samples", SGDClassifier())
    assert resource.limits(SGDClassifier(), 200, 5, 10) == (40, 200)
    assert resource.limits(SGDClassifier(), 30, 5, 10) == (30, 30)


@pytest.mark.parametrize(
    ("resource", "estimator", "words"),
    [
        ("seconds", SGDClassifier(), "needs max_resources"),
        ("max_depth", DecisionTreeClassifier(), "max_depth=None.*pass max_resources"),
    ],
)
def test_limits_that_only_the_user_knows_are_asked_for(resource, estimator, words):
    with pytest.raises(ValueError, match=f"(?s){words}"):
        as_resource(resource, estimator).limits(estimator, 100, 5, 2)


class Stateless(TransformerMixin, BaseEstimator):
    """Fits nothing, so that a pipeline that ends with it never looks fitted."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X * 2


@pytest.mark.parametrize(
    ("resource", "last"),
    [(EpochsResource(), SGDClassifier(random_state=0)),
     (ParameterResource("rf__n_estimators", True), RandomForestClassifier(random_state=0))],
    ids=["epochs", "trees"],
)  # fmt: skip
def test_stateless_transformers_do_not_stop_a_candidate(resource, last):
    pipe = Pipeline([("scale", StandardScaler()), ("twice", Stateless()), ("rf", last)])
    np.testing.assert_array_equal(
        outputs(train(resource, pipe, 1, 3, 9)), outputs(train(resource, pipe, 9))
    )


def test_rows_are_kept_only_where_a_transformer_cannot_make_them_again():
    def rows_of(*steps, data=X):
        state = State(make_pipeline(*steps, SGDClassifier(random_state=0)))
        return EpochsResource().train(state, data, y, 1, 0, CLASSES, {}).rows

    assert rows_of(StandardScaler()) is None
    assert rows_of(PCA(3, svd_solver="full")) is None
    assert rows_of(KBinsDiscretizer(4, quantile_method="averaged_inverted_cdf")) is None
    assert rows_of(TargetEncoder(), data=np.round(X)) is not None


@pytest.mark.slow
def test_seconds_pass_the_rows_through_the_transformers_once_a_job():
    class Slow(Stateless):
        n_transforms = 0

        def transform(self, X):
            Slow.n_transforms += 1
            return super().transform(X)

    pipe = make_pipeline(Slow(), SGDClassifier(random_state=0))
    state = SecondsResource().train(State(pipe), X, y, 1, 0, CLASSES, {})
    assert state.n_steps > 10
    assert Slow.n_transforms == 1


def test_what_to_expect_of_a_parameter_is_asked_of_the_estimator_and_the_rows():
    boosting = HistGradientBoostingClassifier()
    assert as_resource("max_iter", boosting, 5_000).continues
    assert not as_resource("max_iter", boosting, 20_000).continues
    assert as_resource(ParameterResource("n_estimators"), RandomForestClassifier()).continues
    wrapped = TransformedTargetRegressor(RandomForestClassifier())
    assert as_resource("regressor__n_estimators", wrapped).continues
