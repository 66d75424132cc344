"""Thresholds that are found by training: which they are, and that they cost no training."""

import copy
import pickle
import warnings

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import loguniform
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV, StratifiedKFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from sksearch import HyperbandSearchCV, RandomSearchCV, SearchCV, load_history
from sksearch.space import Outcome, Threshold, default_space

X, y = make_classification(400, weights=[0.9], flip_y=0.1, random_state=1)
NAMES = np.array(["common", "rare"])[y]
FOLDS = StratifiedKFold(3, shuffle=True, random_state=0)
GRID = [
    round(float(expit(0.2 * k)), 3) for k in sorted(range(-24, 25), key=lambda k: (abs(k), -k))
]
SPACE = {"estimator__C": [0.01, 0.1, 1, 10], "threshold": Threshold()}


class Counted(LogisticRegression):
    """Counts its trainings and predictions."""

    n_fits = n_predictions = 0

    def fit(self, X, y, sample_weight=None):
        Counted.n_fits += 1
        return super().fit(X, y, sample_weight)

    def predict_proba(self, X):
        Counted.n_predictions += 1
        return super().predict_proba(X)


def search(model=None, space=SPACE, **kwargs):
    model = FixedThresholdClassifier(LogisticRegression()) if model is None else model
    kwargs = {"n_iter": 2, "scoring": "f1", "cv": FOLDS, "random_state": 0} | kwargs
    return RandomSearchCV(model, space, **kwargs)


def test_all_values_are_there_the_nearest_to_a_half_first():
    threshold = Threshold()
    assert [threshold.value(count) for count in range(1, threshold.high + 1)] == GRID


def test_it_is_the_threshold_with_the_best_mean_over_the_folds():
    found = search().fit(X, y)
    for row, params in enumerate(found.cv_results_["params"]):
        scores = np.empty((3, len(GRID)))
        for fold, (train, test) in enumerate(FOLDS.split(X, y)):
            model = LogisticRegression(C=params["estimator__C"]).fit(X[train], y[train])
            shares = model.predict_proba(X[test])[:, 1]
            scores[fold] = [f1_score(y[test], shares >= t) for t in GRID]
        best = int(scores.mean(axis=0).argmax())  # the first of equal ones
        assert params["threshold"] == GRID[best]
        for fold in range(3):
            assert found.cv_results_[f"split{fold}_test_score"][row] == scores[fold, best]
    best = found.best_estimator_
    assert type(best) is FixedThresholdClassifier
    assert best.threshold == found.best_params_["threshold"] != 0.5
    again = clone(best).fit(X, y)
    assert np.array_equal(found.predict(X), again.predict(X))


def test_there_is_one_training_and_one_prediction_for_each_fold():
    Counted.n_fits = Counted.n_predictions = 0
    search(FixedThresholdClassifier(Counted())).fit(X, y)
    assert Counted.n_fits == 2 * 3 + 1
    assert Counted.n_predictions == 2 * 3


def test_scores_that_no_threshold_changes_leave_it_at_a_half():
    found = search(scoring="roc_auc").fit(X, y)
    assert {params["threshold"] for params in found.cv_results_["params"]} == {0.5}


@pytest.mark.parametrize("pos_label", ["common", "rare"])
def test_labels_and_pipelines(pos_label):
    model = make_pipeline(
        StandardScaler(), FixedThresholdClassifier(LogisticRegression(), pos_label=pos_label)
    )
    space = {
        "fixedthresholdclassifier__estimator__C": [0.1, 1],
        "fixedthresholdclassifier__threshold": Threshold(),
    }
    metric = make_scorer(f1_score, pos_label=pos_label)
    found = search(model, space, n_iter=2, scoring=metric).fit(X, NAMES)
    threshold = found.best_params_["fixedthresholdclassifier__threshold"]
    assert found.best_estimator_[-1].threshold == threshold
    plain = [
        metric(clone(model).set_params(fixedthresholdclassifier__estimator__C=1)
               .fit(X[train], NAMES[train]), X[test], NAMES[test])
        for train, test in FOLDS.split(X, y)
    ]  # fmt: skip
    assert found.best_score_ >= np.mean(plain)
    assert set(found.predict(X)) == {"common", "rare"}


def cost(y_true, y_pred):
    return -float(np.mean(np.where(y_true == 1, 20 * (y_pred == 0), y_pred == 1)))


def test_costs_move_it():
    dear = search(scoring=make_scorer(cost)).fit(X, y)
    plain = search(scoring="accuracy").fit(X, y)
    assert dear.best_params_["threshold"] < 0.2 < plain.best_params_["threshold"]


def in_a_pipeline(e, X, y):
    e = pickle.loads(pickle.dumps(copy.deepcopy(e)))
    assert isinstance(e, Pipeline)
    assert len(e) == 2
    assert e.get_params()["m__threshold"] == e[-1].threshold == e.named_steps["m"].threshold
    assert clone(e)[-1].threshold == e[-1].threshold
    return f1_score(y, e.predict(X)) - abs(e[-1].threshold - 0.3)


def by_itself(e, X, y):
    assert isinstance(e, FixedThresholdClassifier)
    assert e.get_params()["threshold"] == e.threshold
    return f1_score(y, e.predict(X)) - abs(e.threshold - 0.3)


def test_scorers_may_look_at_the_model():
    model = Pipeline(
        [("s", StandardScaler()), ("m", FixedThresholdClassifier(LogisticRegression()))]
    )
    space = {"m__estimator__C": [0.1], "m__threshold": Threshold()}
    found = search(model, space, n_iter=1, scoring=in_a_pipeline).fit(X, y)
    grid = {"m__estimator__C": [0.1], "m__threshold": sorted(GRID)[15:21]}
    plain = GridSearchCV(model, grid, scoring=in_a_pipeline, cv=FOLDS).fit(X, y)
    assert found.best_params_ == plain.best_params_
    assert found.best_score_ == plain.best_score_
    space = {"estimator__C": [0.1], "threshold": Threshold()}
    alone = search(space=space, n_iter=1, scoring=by_itself).fit(X, y)
    assert 0.2 < alone.best_params_["threshold"] < 0.4


@pytest.mark.whole
def test_several_metrics_and_training_scores():
    metrics = {"f1": "f1", "recall": "recall"}
    found = search(scoring=metrics, refit="f1", return_train_score=True).fit(X, y)
    alone = search().fit(X, y)
    assert found.best_params_ == alone.best_params_
    assert found.best_score_ == alone.best_score_
    assert np.isfinite(found.cv_results_["mean_train_recall"]).all()


@pytest.mark.whole
def test_workers_checkpoints_and_records(tmp_path):
    expected = search().fit(X, y)
    for kwargs in ({"n_jobs": 2}, {"checkpoint_dir": tmp_path}, {"checkpoint_dir": tmp_path}):
        found = search(**kwargs).fit(X, y)
        assert found.best_params_ == expected.best_params_
        assert list(found.cv_results_["params"]) == list(expected.cv_results_["params"])
    assert load_history(tmp_path).best_params_ == expected.best_params_
    grown = search(checkpoint_dir=tmp_path, n_iter=4, space=SPACE).fit(X, y)
    assert grown.best_params_ == expected.best_params_


def test_a_race_and_a_report():
    model = FixedThresholdClassifier(LogisticRegression())
    found = SearchCV(model, scoring="f1", n_iter=3, cv=3, random_state=0).fit(X, y)
    untuned, others = found.cv_results_["params"][0], found.cv_results_["params"][1:]
    assert "threshold" not in untuned, "the first candidate is the untuned estimator"
    assert all("threshold" in params for params in others)
    assert "threshold" in str(found.report())


def test_the_default_space_has_it_and_all_of_the_model():
    inner = default_space(LogisticRegression(), n_samples=400, n_features=20)
    space = default_space(FixedThresholdClassifier(LogisticRegression()), n_samples=400)
    assert isinstance(space.pop("threshold"), Threshold)
    assert list(space) == [f"estimator__{name}" for name in inner]


@pytest.mark.parametrize(
    ("model", "y", "match"),
    [
        (LogisticRegression(), load_iris().target, "two classes, but y has 3"),
        (LinearSVC(), load_iris().target == 0, "wrap it in CalibratedClassifierCV"),
    ],
)
def test_what_has_no_threshold_is_refused(model, y, match):
    X = load_iris().data
    space = {"estimator__C": loguniform(0.1, 10), "threshold": Threshold()}
    with warnings.catch_warnings(), pytest.raises(ValueError, match=match):
        warnings.simplefilter("ignore")
        search(FixedThresholdClassifier(model), space, scoring="accuracy").fit(X, y)


def test_it_goes_with_no_resource_that_cuts_training_and_no_average():
    with pytest.raises(ValueError, match="interrupts training"):
        HyperbandSearchCV(
            FixedThresholdClassifier(LogisticRegression()), SPACE, resource="estimator__max_iter"
        ).fit(X, y)
    with pytest.raises(ValueError, match="ignore the threshold"):
        search(ensemble=True).fit(X, y)


@pytest.mark.parametrize("high", [0, 100])
def test_there_are_49_at_most(high):
    with pytest.raises(ValueError, match=f"Threshold\\(high={high}\\)"):
        Threshold(high)


@pytest.mark.parametrize(
    ("name", "outcome", "cure"),
    [
        ("threshold", Outcome(5), r"Pass Threshold\(\)"),
        ("estimator__max_iter", Threshold(), "Pass an Outcome"),
    ],
)
def test_a_count_is_not_a_threshold(name, outcome, cure):
    with pytest.raises(ValueError, match=cure):
        search(space={"estimator__C": [1, 10], name: outcome}).fit(X, y)
