"""The best candidates averaged: which they are, how much each counts, and what they promise."""

import pickle
import signal
import time
import warnings
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from types import SimpleNamespace

import joblib
import numpy as np
import pytest
from scipy import sparse
from scipy.stats import loguniform, randint, uniform
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.cluster import KMeans
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import (
    load_diabetes,
    load_digits,
    load_iris,
    load_wine,
    make_multilabel_classification,
)
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import Ridge, SGDClassifier
from sklearn.metrics import get_scorer
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    RepeatedKFold,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_predict,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sksearch import (
    ASHASearchCV,
    Bound,
    HyperbandSearchCV,
    PBTSearchCV,
    RandomSearchCV,
    SearchCV,
    SuccessiveHalvingSearchCV,
    TPESearchCV,
    model_selection as namesakes,
)
from sksearch._utils._time_limit import N_MEMBERS, TimeLimit
from sksearch.executors import FuturesBackend
from sksearch.fitting.finish import _greedy_selection as _average, _members
from sksearch.fitting.finish._averaged import AveragedClassifier, AveragedRegressor
from sksearch.fitting.finish._greedy_selection import AverageScores, choose_average
from sksearch.fitting.run import _predictions
from sksearch.model_selection import HalvingRandomSearchCV
from sksearch.search import SearchMismatchError, _base
from sksearch.space import Outcome
from tests import interrupted
from tests.interrupted import Guessing, Trouble, scorer

pytestmark = pytest.mark.timeout(120)

X, y = load_iris(return_X_y=True)
rng = np.random.default_rng(0)
NOISY = X[:, :2] + rng.normal(scale=0.3, size=(150, 2))  # trees differ on it
NAMES = np.array(["setosa", "versicolor", "virginica"])[y]
FOLDS = StratifiedKFold(3, shuffle=True, random_state=0)
TREE = DecisionTreeClassifier(random_state=0)
DEPTHS = {"max_depth": randint(1, 9), "min_samples_leaf": randint(1, 20)}
ALPHA_OF_TREE = {"ccp_alpha": loguniform(1e-4, 1e-1)}
EPOCHS = {"resource": "epochs", "max_resources": 9}
SGD = SGDClassifier(loss="log_loss", random_state=0)
ALPHA = {"alpha": loguniform(1e-5, 1e-1)}


def random_search(estimator=TREE, space=DEPTHS, **kwargs):
    kwargs = {"n_iter": 8, "cv": FOLDS, "random_state": 0, "ensemble": True} | kwargs
    return RandomSearchCV(estimator, space, **kwargs)


# ---- it is what it says


def plainly_chosen(shares, labels, folds, metric, n_steps=25, in_vain=4):
    """Greedy selection with replacement, written as a reader would."""

    class Told(ClassifierMixin, BaseEstimator):
        classes_ = np.unique(labels)

        def predict_proba(self, rows):
            return self.mean[rows]

        def predict(self, rows):
            return self.classes_[self.mean[rows].argmax(axis=1)]

    def score(chosen):
        model = Told()
        counts = Counter(sorted(chosen))  # in the same order: ties depend on the last bit
        given = [shares[i] for i in counts]
        model.mean = np.average(given, axis=0, weights=[*counts.values()])
        return np.mean([get_scorer(metric)(model, test, labels[test]) for test in folds])

    chosen, best, n_best = [], -np.inf, 0
    while len(chosen) < n_steps and len(chosen) - n_best < in_vain:
        values = [score([*chosen, i]) for i in range(len(shares))]
        chosen.append(int(np.argmax(values)))
        if max(values) > best:
            best, n_best = max(values), len(chosen)
    return chosen[:n_best]


@pytest.mark.few(1)
@pytest.mark.parametrize("metric", ["neg_log_loss", "accuracy", "f1_macro", "roc_auc_ovr"])
def test_it_is_the_greedy_choice_by_predictions_out_of_fold(metric):
    four = StratifiedKFold(4, shuffle=True, random_state=0)
    search = random_search(scoring=metric, n_iter=12, cv=four).fit(NOISY, NAMES)
    results = search.cv_results_
    order = [int(i) for i in np.argsort(results["rank_test_score"], kind="stable")]
    shares = [
        cross_val_predict(
            clone(TREE).set_params(**results["params"][i]), NOISY, NAMES, cv=four,
            method="predict_proba",
        )
        for i in order
    ]  # fmt: skip
    folds = [test for _, test in four.split(NOISY, NAMES)]
    chosen = plainly_chosen(shares, NAMES, folds, metric)
    expected = {order[i]: chosen.count(i) / len(chosen) for i in set(chosen)}
    if search.ensemble_.gain:
        assert search.ensemble_.weights == pytest.approx(expected)
    else:
        assert metric == "f1_macro"


def test_its_models_are_trained_on_all_rows():
    search = random_search(scoring="neg_log_loss").fit(NOISY, NAMES)
    weights = search.ensemble_.weights
    models = [
        clone(TREE).set_params(**search.cv_results_["params"][i]).fit(NOISY, NAMES)
        for i in weights
    ]
    given = [model.predict_proba(NOISY) for model in models]
    expected = np.average(given, axis=0, weights=list(weights.values()))
    np.testing.assert_allclose(search.predict_proba(NOISY), expected)
    assert isinstance(search.best_estimator_, AveragedClassifier)
    assert len(weights) > 1


def test_an_average_is_used_unless_it_is_clearly_worse():
    def used(differences, spread=0.1):
        alone = 0.8 + np.resize([0.0, spread], len(differences))
        return not _average._is_worse(np.add(differences, alone), alone)

    assert used([0.01, 0.02, 0.03])
    assert used([-0.01, 0.01, -0.01])
    assert used([0.0, 0.0])
    assert not used([-0.01, -0.011, -0.012])
    assert not used([-0.01, -0.01])
    assert used([-0.04, 0.0, -0.1])
    assert used([-1e-16, 0.0, 0.0], spread=0.0)
    assert not used([-0.4, 0.0, -0.1])  # more than candidates differ from fold to fold
    assert not used([np.nan, 0.1])


def test_what_it_brings_is_measured_on_folds_that_did_not_choose():
    labels = rng.integers(2, size=(4, 200))

    class Luck:
        """Candidates that know nothing: each average is right by luck."""

        def __len__(self):
            return len(labels)

        def ways(self):
            return [self.score]

        def score(self, part, predictions):
            return float(((predictions > 0.5) == labels[part]).mean())

    gains, chosen = [], []
    for _ in range(12):
        candidates = rng.random((8, *labels.shape))
        average = choose_average(Luck(), candidates, [0] * 8, np.inf, 8)
        gains.append(average.score - average.alone)
        best = average.weights if len(average.weights) > 1 else {0: 1.0}
        mean = sum(weight * candidates[i] for i, weight in best.items())
        chosen.append(np.mean([Luck().score(k, mean[k]) for k in range(4)]))
    assert abs(np.mean(gains)) < 0.02
    assert max(chosen) > 0.55  # as they look to those who chose by them


def test_classifiers_are_selected_by_the_metric_and_by_log_loss():
    labels = rng.integers(2, size=(3, 300))

    class Scores(AverageScores):
        def __init__(self):
            self._classes, self._codes = [np.array([0, 1])], {}
            self._rows = [SimpleNamespace(y=y) for y in labels]
            self._weights = np.ones(labels.shape)

        def __len__(self):
            return len(labels)

        def score(self, part, predictions):
            return float((predictions.argmax(1) == labels[part]).mean())

    # As accurate, but too certain, or with the same errors and honest
    is_right = rng.random(labels.shape) < 0.8
    sure, honest = (np.where(is_right == labels, p, 1 - p) for p in (0.999, 0.8))
    candidates = [np.stack([1 - p, p], axis=-1) for p in (sure, honest)]
    scores = Scores()
    by_metric, by_loss = (
        max(range(2), key=lambda i: sum(way(k, candidates[i][k]) for k in range(3)))
        for way in scores.ways()
    )
    assert (by_metric, by_loss) == (0, 1)
    found = [scores.log_likelihood(k, candidates[1][k]) for k in range(3)]
    assert np.isclose(np.mean(found), np.log(np.where(is_right, 0.8, 0.2)).mean())
    average = choose_average(scores, candidates, [0, 0], np.inf, 8)
    assert 0.5 <= average.weights[0] < 0.6


@pytest.mark.parametrize("space", [[0.3], [0.3, 0.30001]])
def test_one_candidate_is_used_alone_where_others_bring_nothing(space):
    search = random_search(Ridge(), {"alpha": space}, n_iter=len(space), cv=KFold(3)).fit(X, y)
    assert isinstance(search.best_estimator_, Ridge)
    assert search.ensemble_.weights == {search.best_index_: 1.0}
    assert search.ensemble_.gain == 0
    assert "used alone" in str(search.ensemble_)


def test_there_are_no_more_models_than_asked_for():
    kwargs = {"n_iter": 12, "cv": StratifiedKFold(4, shuffle=True, random_state=0)}
    whole, small = (random_search(ensemble=n, **kwargs).fit(NOISY, y) for n in (True, 2))
    assert len(whole.ensemble_) > len(small.ensemble_) == 2
    assert len(small.best_estimator_.models) == 2
    assert isinstance(random_search(ensemble=1).fit(NOISY, y).best_estimator_, type(TREE))


@pytest.mark.whole
def test_it_is_better_on_new_rows():
    X, y = load_digits(return_X_y=True)
    net = make_pipeline(StandardScaler(), MLPClassifier((20,), max_iter=30))
    space = {
        "mlpclassifier__alpha": loguniform(1e-5, 1),
        "mlpclassifier__learning_rate_init": loguniform(1e-3, 1e-1),
    }
    errors = []
    for ensemble in (True, False):
        search = random_search(net, space, n_iter=8, cv=3, ensemble=ensemble)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            errors.append(1 - search.fit(X[:900], y[:900]).score(X[900:], y[900:]))
    assert errors[0] < 0.95 * errors[1]


def test_dear_models_are_left_out():
    shares = np.array([[0.4, 0.6], [0.9, 0.2], [0.3, 0.9]])  # of the right class of two rows

    class Scores:
        def __len__(self):
            return 2

        def ways(self):
            return [self.score]

        def score(self, part, predictions):
            return float(predictions.min())

    candidates = [[share, share] for share in shares]
    free = choose_average(Scores(), candidates, [0, 5, 5], np.inf, 9)
    dear = choose_average(Scores(), candidates, [0, 5, 5], 9, 9)
    none = choose_average(Scores(), candidates, [0, 5, 5], 4, 9)
    assert {1, 2} <= free.weights.keys()
    assert len({1, 2} & dear.weights.keys()) == 1
    assert none.weights == {0: 1.0}


@pytest.mark.whole
def test_a_search_with_a_timeout_keeps_time_for_its_models():
    search = SearchCV(TREE, timeout=4, ensemble=True, random_state=0, cv=FOLDS)
    start = time.perf_counter()
    search.fit(NOISY, y)
    assert 2.5 < time.perf_counter() - start < 12  # on a busy machine, too
    assert hasattr(search, "ensemble_")


def test_time_is_kept_for_the_best_of_the_others():
    limit = TimeLimit(100.0)
    assert limit.of_members([10.0]) == 0
    assert limit.of_members([10.0, 1.0, 2.0]) == 3
    assert limit.of_members([10.0, *[1.0] * 50]) == N_MEMBERS
    assert limit.of_members([10.0, 90.0]) == pytest.approx(18)  # a fifth of what is left
    assert limit.of_members([200.0, 5.0]) == 0
    assert TimeLimit().of_members([10.0, 90.0]) == np.inf
    limit.for_last, limit.for_members = 10.0, 3.0
    assert limit.left() == pytest.approx(87, abs=1)


# ---- every kind of search


HOWS = {
    "random": (RandomSearchCV, SGD, ALPHA, {"n_iter": 6}),
    "TPE": (TPESearchCV, SGD, ALPHA, {"n_iter": 8}),
    "epochs": (HyperbandSearchCV, SGD, ALPHA, EPOCHS),
    "the top rung": (HyperbandSearchCV, SGD, ALPHA, EPOCHS | {"select": "top"}),
    "rows": (HyperbandSearchCV, TREE, DEPTHS, {"resource": "n_samples"}),
    "trees": (
        HyperbandSearchCV, RandomForestClassifier(random_state=0),
        DEPTHS, {"resource": "n_estimators", "max_resources": 9},
    ),
    "folds": (
        SuccessiveHalvingSearchCV, TREE, DEPTHS, {"resource": "folds", "n_candidates": 12},
    ),
    "race": (SearchCV, TREE, DEPTHS, {"n_iter": 12}),
    "ASHA": (ASHASearchCV, SGD, ALPHA, EPOCHS | {"n_candidates": 9}),
    "PBT": (PBTSearchCV, SGD, ALPHA, EPOCHS | {"population_size": 4, "step": 3}),
    "a count that training finds": (
        RandomSearchCV, HistGradientBoostingClassifier(random_state=0),
        {"learning_rate": loguniform(0.02, 0.5), "max_iter": Outcome(60)}, {"n_iter": 5},
    ),
}  # fmt: skip


@pytest.mark.few(2)
@pytest.mark.parametrize("how", HOWS)
def test_every_kind_of_search_has_one(how):
    cls, estimator, space, kwargs = HOWS[how]
    kwargs = {"scoring": "neg_log_loss", "cv": 3, "random_state": 0} | kwargs
    search = cls(estimator, space, ensemble=True, **kwargs).fit(NOISY, NAMES)
    plain = cls(estimator, space, **kwargs).fit(NOISY, NAMES)
    np.testing.assert_array_equal(
        search.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"]
    )
    ensemble, results = search.ensemble_, search.cv_results_
    assert len(ensemble) > 1 or how in ("the top rung", "PBT"), "others are far behind"
    assert list(ensemble.params) == [results["params"][i] for i in ensemble.weights]
    if "n_resources" in results and not search.plan_.any_rung_wins:
        top = results["n_resources"][search.best_index_]
        assert {results["n_resources"][i] for i in ensemble.weights} == {top}
    assert len({results.get("trial_id", range(999))[i] for i in ensemble.weights}) == len(ensemble)
    assert search.score(NOISY, NAMES) > -1
    assert isinstance(search.best_estimator_, AveragedClassifier) == (len(ensemble) > 1)
    if how == "a count that training finds":
        counts = [model.estimator.n_iter_ for model in search.best_estimator_.models]
        assert counts == [each["max_iter"] for each in ensemble.params]


@pytest.mark.filterwarnings("ignore:scikit-learn's")
@pytest.mark.parametrize("cv", [TimeSeriesSplit(3), RepeatedKFold(n_splits=2, n_repeats=2), 1])
def test_folds_may_leave_rows_out_or_have_them_twice(cv):
    cv = [(np.arange(0, 150, 2), np.arange(1, 150, 2))] if cv == 1 else cv
    order = rng.permutation(150)
    search = random_search(cv=cv, scoring="neg_log_loss").fit(NOISY[order], y[order])
    assert len(search.ensemble_) > 1


@pytest.mark.parametrize("metric", ["low", "high"])
def test_the_metric_that_was_optimised_chooses(metric):
    def mean(sign):
        return lambda model, X, y: sign * float(np.mean(model.predict(X)))

    search = random_search(
        Ridge(), {"alpha": [1e-3, 1, 10, 100, 1e4]}, n_iter=5, cv=KFold(3), refit=metric,
        scoring={"high": mean(1), "low": mean(-1)},
    ).fit(X[:, :2], X[:, 3])  # fmt: skip
    winner = search.best_index_
    assert search.ensemble_.weights == {winner: 1.0}, "a linear metric has no better average"
    assert winner == search.cv_results_[f"mean_test_{metric}"].argmax()


def test_a_candidate_that_violates_a_bound_is_not_in_it():
    bound = Bound("model_size", "<=", 2200)
    search = random_search(scoring="neg_log_loss", known={"constraints": bound}).fit(NOISY, y)
    violations = search.cv_results_["violation"]
    assert 0 < np.count_nonzero(violations) < 8
    assert all(violations[i] == 0 for i in search.ensemble_.weights)


# ---- nothing is lost


SPACE = {"quality": uniform()}
SEARCHES = {
    "whole fits": (RandomSearchCV, {"n_iter": 8}),
    "epochs": (HyperbandSearchCV, EPOCHS),
    "rows": (HyperbandSearchCV, {"resource": "n_samples", "min_resources": 2}),
    "folds": (SuccessiveHalvingSearchCV, {"resource": "folds", "cv": 9}),
}


def make(name, **kwargs):
    cls, defaults = SEARCHES[name]
    log = None if kwargs.get("log") is None else str(kwargs["log"])
    kwargs.pop("log", None)
    kwargs = {"cv": 3, "random_state": 0, "scoring": told} | defaults | kwargs
    return cls(Guessing(log=log), SPACE, **{"ensemble": True} | kwargs)


def told(estimator, X, y):
    """A score that averages may improve, with the trouble of `interrupted.scorer`."""
    if hasattr(estimator, "total_"):
        scorer(estimator, X, y)
    share = estimator.predict_proba(X)[:, 1]
    return -float(np.mean((share - y) ** 2))


def fit(search):
    return search.fit(interrupted.X, interrupted.Y)


def bits(search):
    return search.predict_proba(interrupted.X).tobytes(), repr(search.ensemble_)


def n_steps(log):
    return len(log.read_text().splitlines()) if log.exists() else 0


@pytest.mark.few(1)
@pytest.mark.parametrize("name", SEARCHES)
def test_the_count_of_workers_changes_nothing(name):
    expected = fit(make(name))
    assert len(expected.ensemble_) > 1 or name == "folds", "one candidate got all folds"
    assert bits(fit(make(name, n_jobs=2))) == bits(expected)


@pytest.mark.whole
@pytest.mark.slow
def test_threads_and_pools_change_nothing():
    search = random_search(scoring="neg_log_loss")
    expected = search.fit(NOISY, y).predict_proba(NOISY).tobytes()
    with joblib.parallel_config("threading", n_jobs=2):
        assert search.fit(NOISY, y).predict_proba(NOISY).tobytes() == expected
    with (
        ProcessPoolExecutor(1) as pool,
        joblib.parallel_config(FuturesBackend(pool), n_jobs=1),
    ):
        assert search.fit(NOISY, y).predict_proba(NOISY).tobytes() == expected


@pytest.fixture
def calm():
    """No trouble afterwards."""
    yield
    Trouble.after = None


@pytest.mark.few(1)
@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_that_was_interrupted_has_the_ensemble_of_one_that_was_not(name, calm, tmp_path):
    expected = fit(make(name))
    search = make(name, checkpoint_dir=tmp_path)
    for after in (7, 5, 3):
        Trouble.after, Trouble.happens = after, lambda: signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            fit(search)
        assert not hasattr(search, "ensemble_")
    assert bits(fit(search)) == bits(expected)


def test_a_finished_search_trains_its_models_alone_again(tmp_path):
    search = make("whole fits", log=tmp_path / "log", checkpoint_dir=tmp_path / "checkpoint")
    expected, n_before = bits(fit(search)), n_steps(tmp_path / "log")
    assert bits(fit(search)) == expected
    assert n_steps(tmp_path / "log") - n_before == len(search.ensemble_)


def test_the_count_of_models_may_change_and_whether_there_are_any_may_not(tmp_path):
    search = make("whole fits", checkpoint_dir=tmp_path)
    assert len(fit(search).ensemble_) > 1
    assert bits(fit(search.set_params(ensemble=1))) == bits(fit(make("whole fits", ensemble=1)))
    assert len(search.ensemble_) == 1
    with pytest.raises(SearchMismatchError, match="ensemble"):
        fit(search.set_params(ensemble=False))


@pytest.mark.whole
def test_a_search_that_is_extended_has_the_ensemble_of_the_larger_one(tmp_path):
    fit(make("whole fits", checkpoint_dir=tmp_path, n_iter=4))
    larger = fit(make("whole fits", checkpoint_dir=tmp_path, n_iter=8))
    assert bits(larger) == bits(fit(make("whole fits", n_iter=8)))


class Rare(DecisionTreeClassifier):
    """Fails on all rows, if it is deep."""

    def fit(self, X, y):
        if len(X) == 150 and self.max_depth > 3:
            raise RuntimeError("too many rows")
        return super().fit(X, y)


@pytest.mark.few(1)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_model_that_fails_on_all_rows_is_left_out(n_jobs):
    search = random_search(Rare(random_state=0), scoring="neg_log_loss", n_jobs=n_jobs)
    with pytest.warns(UserWarning, match=r"left out of the ensemble.*too many rows"):
        search.fit(NOISY, y)
    assert all(model.estimator.max_depth <= 3 for model in search.best_estimator_.models)
    assert len(search.ensemble_) > 1


def test_predictions_are_kept_of_the_best_alone(monkeypatch):
    monkeypatch.setattr("sksearch.fitting.run._findings.N_AVERAGED", 4)
    runs = []

    class Run(_base.Run):
        def drive(self):
            super().drive()
            runs.append(self)

    monkeypatch.setattr(_base, "Run", Run)
    for how in ("random", "epochs", "race"):
        cls, estimator, space, kwargs = HOWS[how]
        cls(estimator, space, ensemble=True, cv=3, random_state=0, **kwargs).fit(NOISY, y)
        outputs = runs.pop().findings.outputs
        kept = {
            trial
            for (trial, _), reached in [*outputs.reached.items(), *outputs.new.items()]
            if any(output.predictions for output in reached)
        }
        assert 0 < len(kept) <= 4 + (how == "race"), how


@pytest.mark.parametrize("n_columns", [1, 7])
def test_predictions_of_many_rows_are_kept_of_a_part(n_columns):
    splits = [(np.arange(10), np.arange(n)) for n in (50_000, 70_000)]
    kept = _predictions.kept_rows(splits, [np.arange(n_columns)], None)
    assert sum(map(len, kept)) * n_columns <= _predictions.MOST_NUMBERS
    assert len(kept[1]) == pytest.approx(1.4 * len(kept[0]), rel=0.01)
    small = _predictions.kept_rows([(np.arange(5), np.arange(7))], [], np.zeros((12, 3)))
    assert list(small[0]) == list(range(7))


# ---- what can be averaged


def test_it_pickles_with_the_search_and_survives_a_clone():
    search = random_search(scoring="neg_log_loss").fit(NOISY, NAMES)
    average, expected = search.best_estimator_, search.predict_proba(NOISY)
    again = pickle.loads(pickle.dumps(search)).best_estimator_
    for same in (again, clone(average), clone(average).fit(NOISY[:5], NAMES[:5])):
        np.testing.assert_array_equal(same.predict_proba(NOISY), expected)
    assert average.n_features_in_ == search.n_features_in_ == 2
    frame = search.ensemble_.to_frame()
    assert frame["weight"].is_monotonic_decreasing
    assert dict(frame["weight"]) == search.ensemble_.weights
    assert str(search.ensemble_).count("row ") == len(frame)


@pytest.mark.few(5)
@pytest.mark.parametrize("labels", [NAMES, y == 2, y * 10 - 5, NAMES.astype(object)])
@pytest.mark.parametrize("model", [DecisionTreeClassifier(random_state=0), LinearSVC()])
def test_labels_are_of_any_type(labels, model):
    votes = isinstance(model, LinearSVC)
    space = {"C": loguniform(1e-4, 10)} if votes else DEPTHS
    search = random_search(model, space, scoring=None, n_iter=4).fit(NOISY, labels)
    assert search.score(NOISY, labels) > 0.6
    assert set(search.predict(NOISY)) <= set(labels)
    np.testing.assert_allclose(search.predict_proba(NOISY).sum(axis=1), 1)


def test_a_model_without_probabilities_votes():
    a, b = LinearSVC().fit(X, NAMES), GaussianNB().fit(X[:100], NAMES[:100])
    c = KNeighborsClassifier().fit(X, NAMES)
    average = AveragedClassifier([a, b, c], weights=[2, 1, 1])
    classes = average.classes_
    share = 2.0 * (a.predict(X)[:, np.newaxis] == classes) + c.predict_proba(X)
    share[:, :2] += b.predict_proba(X)
    assert list(average.predict(X)) == list(classes[share.argmax(axis=1)])
    assert not hasattr(average, "predict_proba")


@pytest.mark.few(1)
@pytest.mark.parametrize("n_columns", [1, 2])
def test_regressors_are_averaged_also_of_several_targets(n_columns):
    rows, target = load_diabetes(return_X_y=True)
    targets = np.column_stack([target, rows[:, 2]])[:, :n_columns].squeeze()
    space = {"max_depth": randint(1, 6), "min_samples_leaf": randint(1, 40)}
    search = random_search(DecisionTreeRegressor(random_state=0), space, cv=3).fit(rows, targets)
    average = search.best_estimator_
    assert isinstance(average, AveragedRegressor)
    given = [model.predict(rows) for model in average.models]
    mean = np.average(given, axis=0, weights=average.weights)
    np.testing.assert_allclose(search.predict(rows), mean)
    assert search.predict(rows).shape == targets.shape


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("model", "space"),
    [
        (TREE, DEPTHS),
        (KNeighborsClassifier(), {"n_neighbors": randint(1, 30), "p": [1, 2]}),
        (MLPClassifier((5,), max_iter=30, random_state=0), ALPHA),
    ],
)
def test_several_labels(model, space):
    rows, labels = make_multilabel_classification(120, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search = random_search(model, space, cv=3, n_iter=6, scoring="f1_macro").fit(rows, labels)
    assert search.predict(rows).shape == labels.shape
    assert search.score(rows, labels) > 0.3
    if len(search.ensemble_) > 1:
        shares = search.predict_proba(rows)
        assert len(shares) == labels.shape[1]
        np.testing.assert_allclose(sum(shares[0].T), 1)


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csc_array, sparse.lil_matrix])
@pytest.mark.parametrize(
    ("model", "metric"),
    [
        (OneVsRestClassifier(GaussianNB()), "f1_macro"),
        (OneVsRestClassifier(LinearSVC(random_state=0)), None),
    ],
)
def test_sparse_labels_are_as_dense_ones(model, metric, kind):
    rows, labels = make_multilabel_classification(60, random_state=0)
    name = "var_smoothing" if metric else "C"
    space = {f"estimator__{name}": [1e-9, 1e-2, 1]}
    options = {"cv": KFold(2), "n_iter": 3, "scoring": metric}
    dense, found = (
        random_search(model, space, **options).fit(rows, each) for each in (labels, kind(labels))
    )
    for name in ("mean_test_score", "rank_test_score"):
        np.testing.assert_allclose(found.cv_results_[name], dense.cv_results_[name])
    assert np.isfinite(found.score(rows, kind(labels)))
    assert np.shape(found.predict(rows)) == labels.shape


def test_names_of_columns_are_known():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(NOISY, columns=list("ab"))
    search = random_search(scoring="neg_log_loss").fit(frame, y)
    assert list(search.best_estimator_.feature_names_in_) == list("ab")
    assert search.predict(frame).shape == (150,)


def test_it_is_an_estimator_among_others():
    X, y = load_digits(return_X_y=True)
    models = [DecisionTreeClassifier(max_depth=d).fit(X[:900], y[:900]) for d in (5, 9)]
    frozen = AveragedClassifier([FrozenEstimator(model) for model in models])
    grid = GridSearchCV(make_pipeline(frozen), {}, cv=2).fit(X[900:], y[900:])
    assert grid.best_score_ == pytest.approx(frozen.score(X[900:], y[900:]), abs=0.01)


@pytest.mark.whole
def test_a_formula_is_as_good_as_the_metric(monkeypatch):
    quick = random_search(scoring="roc_auc").fit(NOISY, y == 1)
    monkeypatch.setattr(_average, "quick", lambda *args: None)
    slow = random_search(scoring="roc_auc").fit(NOISY, y == 1)
    assert quick.ensemble_.weights == slow.ensemble_.weights
    assert quick.ensemble_.score == pytest.approx(slow.ensemble_.score)


# ---- what is refused


@pytest.mark.parametrize("ensemble", [0, -1, 1.5, "all", None])
def test_a_count_that_is_none_is_refused_before_anything_is_spent(ensemble, monkeypatch):
    monkeypatch.setattr(_base.BaseSearch, "_run", None)
    with pytest.raises(ValueError, match="'ensemble'"):
        random_search(ensemble=ensemble).fit(X, y)


def needs_a_tree(estimator, X, y):
    return estimator.tree_.max_depth


@pytest.mark.parametrize(
    ("estimator", "kwargs", "match"),
    [
        (KMeans(), {"param_distributions": {"n_init": [1, 2]}}, "neither a classifier nor"),
        (TREE, {"refit": False}, "refit=False trains none"),
        (TREE, {"refit": "1se"}, "chooses one candidate"),
        (TREE, {"refit": lambda results: 0}, "chooses one candidate"),
        (TREE, {"objectives": ["score", "model_size"]}, "chosen by one score"),
        (TREE, {"scoring": needs_a_tree}, r"without a model \(AttributeError: .*tree_"),
        (
            TREE,
            {"scoring": {"a": "accuracy", "b": needs_a_tree}, "refit": "b"},
            r"without a model \(AttributeError: .*tree_",
        ),
    ],
)
def test_what_cannot_be_averaged_is_refused_before_anything_is_spent(
    estimator, kwargs, match, monkeypatch
):
    monkeypatch.setattr(_base.BaseSearch, "_run", None)
    with pytest.raises(ValueError, match=match):
        random_search(estimator).set_params(**kwargs).fit(X, y)


class TakesAny(ClassifierMixin, BaseEstimator):
    def __init__(self, a=1):
        self.a = a

    def fit(self, X, y):
        self.classes_ = list(set(y))
        return self

    def predict(self, X):
        return np.array([self.classes_[0]] * len(X), dtype=object)

    def score(self, X, y):
        return 1.0


@pytest.mark.parametrize("labels", [[1, "1"], [b"a", "a"], [True, "a"]])
def test_labels_without_an_order_are_refused(labels, monkeypatch):
    monkeypatch.setattr(_base.BaseSearch, "_run", None)
    mixed = np.array(labels, dtype=object)[np.arange(len(X)) % 2]
    with pytest.raises(ValueError, match=r"averages by class.*cannot be sorted"):
        random_search(TakesAny(), {"a": randint(1, 99)}, cv=KFold(2)).fit(X, mixed)


def test_a_search_that_draws_test_rows_is_refused():
    search = HalvingRandomSearchCV(TREE, DEPTHS, ensemble=True)
    with pytest.raises(ValueError, match="subsamples them"):
        search.fit(X, y)
    search.set_params(resource="max_depth", max_resources=9, param_distributions=ALPHA_OF_TREE)
    assert search.fit(NOISY, y).ensemble_


def test_workers_that_die_are_left_out():
    lost = _members._model_of(_members.LostTask("crash", "gone", 1.0), None)
    assert lost == (None, "crash: gone")


def test_a_list_of_models_is_averaged_across_models():
    models = [("tree", TREE), ("neighbours", KNeighborsClassifier(20))]
    spaces = {"tree": DEPTHS, "neighbours": {"n_neighbors": randint(10, 40)}}
    search = random_search(models, spaces, scoring="neg_log_loss").fit(NOISY, y)
    kinds = {type(model.estimator) for model in search.best_estimator_.models}
    assert kinds <= {DecisionTreeClassifier, KNeighborsClassifier}
    assert len(search.ensemble_) > 1


def changed(X):
    X["hue"] = np.log(X["hue"])
    return X


def correct(model, X, y):
    return np.mean(model.predict(X) == y)


@pytest.mark.parametrize("scoring", ["accuracy", "neg_log_loss", correct])
@pytest.mark.parametrize(
    ("step", "copying"),
    [
        (StandardScaler(copy=False), StandardScaler()),
        (FunctionTransformer(changed), FunctionTransformer(lambda X: changed(X.copy()))),
    ],
)
def test_steps_that_change_rows_in_place_change_no_scores(step, copying, scoring):
    rows, y = load_wine(return_X_y=True, as_frame=True)
    space = {"gaussiannb__var_smoothing": [1e-9, 0.1]}
    args = {"cv": 3, "scoring": scoring, "return_train_score": True}
    names = ["mean_test_score", "mean_train_score"]

    def of(each):
        return make_pipeline(each, GaussianNB())

    expected = GridSearchCV(of(copying), space, **args).fit(rows, y).cv_results_
    search = namesakes.GridSearchCV(of(step), space, **args, ensemble=True)
    found = search.fit(rows.copy(), y).cv_results_
    for name in names:
        np.testing.assert_allclose(found[name], expected[name])
    args |= {"n_iter": 2, "random_state": 0, "error_score": "raise"}
    found, expected = (
        SearchCV([("a", of(each))], {"a": space}, **args).fit(rows.copy(), y).cv_results_
        for each in (step, copying)
    )
    for name in names:
        np.testing.assert_array_equal(found[name], expected[name])


def test_a_regressor_of_a_transformed_target_may_change_rows_in_place():
    rows, y = load_diabetes(return_X_y=True)

    def times_100(X):
        X *= 100
        return X

    inner = make_pipeline(FunctionTransformer(times_100), Ridge())
    pipe = make_pipeline(StandardScaler(), TransformedTargetRegressor(inner))
    space = {"transformedtargetregressor__regressor__ridge__alpha": [0.1, 1e6]}
    expected, found = (
        namesakes.GridSearchCV(pipe, space, cv=3, scoring="r2", ensemble=ensemble)
        .fit(rows.copy(), y)
        .cv_results_["mean_test_score"]
        for ensemble in (False, True)
    )
    np.testing.assert_array_equal(found, expected)


def test_training_scores_of_decision_values_are_of_probabilities():
    args = {"n_iter": 2, "scoring": "neg_log_loss", "cv": 3, "error_score": "raise"}
    search = SearchCV([LinearSVC()], **args, return_train_score=True, random_state=0)
    search.fit(*load_iris(return_X_y=True))
    assert (search.cv_results_["mean_train_score"] > -0.5).all()


def test_mean_probabilities_never_exceed_one():
    """scikit-learn's log loss refuses them, and rounding exceeds 1 from nine models on."""
    sure = DecisionTreeClassifier().fit([[0], [1]], [0, 1])
    draws = np.random.default_rng(0).dirichlet(np.ones(14), 50)
    averages = [AveragedClassifier([sure] * 14, each.tolist()) for each in draws]
    assert {average.predict_proba([[0.0]]).max() for average in averages} == {1.0}
