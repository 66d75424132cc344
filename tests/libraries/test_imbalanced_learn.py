"""Pipelines of imbalanced-learn, whose samplers change the rows and the target alike."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import loguniform
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline as sklearn_pipeline
from sklearn.preprocessing import StandardScaler

from sksearch import HyperbandSearchCV, SuccessiveHalvingSearchCV

imblearn = pytest.importorskip("imblearn", reason="imbalanced-learn is not installed")
from imblearn.over_sampling import SMOTE, RandomOverSampler  # noqa: E402
from imblearn.pipeline import make_pipeline  # noqa: E402
from imblearn.under_sampling import RandomUnderSampler  # noqa: E402

X, y = make_classification(300, 6, weights=[0.85], class_sep=1.5, flip_y=0, random_state=0)
CV = StratifiedKFold(3)
WEIGHTS = np.ones(len(y))


def sgd():
    return SGDClassifier(random_state=0)


def every_second(X, y):
    """What a FunctionSampler may do."""
    return X[::2], y[::2]


def search_of(pipeline, resource="epochs", **kwargs):
    name = next(name for name in pipeline.get_params() if name.endswith("alpha"))
    kwargs = {"max_resources": 9, "error_score": "raise", **kwargs}
    return SuccessiveHalvingSearchCV(
        pipeline, {name: loguniform(1e-5, 1e-1)}, resource=resource, n_candidates=3, cv=CV,
        scoring="balanced_accuracy", random_state=0, **kwargs,
    )  # fmt: skip


def calls_by_hand(pipeline, X, y, n_calls):
    """Fit the steps of a flat pipeline once, then train its last step epoch by epoch."""
    for _, step in pipeline.steps[:-1]:
        if hasattr(step, "fit_resample"):
            X, y = step.fit_resample(X, y)
        else:
            X = step.fit_transform(X, y)
    pipeline[-1].random_state = np.random.RandomState(pipeline[-1].random_state)  # for all calls
    for _ in range(n_calls):
        pipeline[-1].partial_fit(X, y, classes=[0, 1])
    return pipeline


PIPELINES = {
    "scaled first": make_pipeline(StandardScaler(), RandomOverSampler(random_state=0), sgd()),
    "scaled after": make_pipeline(RandomUnderSampler(random_state=0), StandardScaler(), sgd()),
    "alone": make_pipeline(SMOTE(random_state=0), sgd()),
    "two": make_pipeline(
        SMOTE(random_state=0),
        StandardScaler(),
        RandomUnderSampler(sampling_strategy={0: 90, 1: 90}),
        sgd(),
    ),
    "function": make_pipeline(imblearn.FunctionSampler(func=every_second), sgd()),
}


@pytest.mark.parametrize("name", [name for name in PIPELINES if name != "two"])
def test_scores_match_the_steps_by_hand(name):
    search = search_of(PIPELINES[name]).fit(X, y)
    for row, params in enumerate(search.cv_results_["params"]):
        n_epochs = search.cv_results_["n_resources"][row]
        for fold, (train, test) in enumerate(CV.split(X, y)):
            model = clone(PIPELINES[name]).set_params(**params)
            calls_by_hand(model, X[train], y[train], n_epochs)
            expected = search.scorer_(model, X[test], y[test])
            assert search.cv_results_[f"split{fold}_test_score"][row] == expected
    model = clone(PIPELINES[name]).set_params(**search.best_params_)
    n_epochs = search.cv_results_["n_resources"][search.best_index_]
    calls_by_hand(model, X, y, n_epochs)
    np.testing.assert_array_equal(search.best_estimator_[-1].coef_, model[-1].coef_)


NESTED = {
    "sampler inside": sklearn_pipeline(
        StandardScaler(), make_pipeline(SMOTE(random_state=0), sgd())
    ),
    "sampler outside": make_pipeline(
        SMOTE(random_state=0), sklearn_pipeline(StandardScaler(), sgd())
    ),
}


@pytest.mark.parametrize("name", [*PIPELINES, *NESTED])
def test_no_candidate_is_trained_on_rows_with_the_target_of_others(name):
    search = search_of({**PIPELINES, **NESTED}[name]).fit(X, y)
    assert search.best_score_ > 0.9  # 0.5 is chance
    assert search.score(X, y) > 0.8


def test_samplers_with_memory(tmp_path):
    steps = (StandardScaler(), SMOTE(random_state=0), sgd())
    plain = search_of(make_pipeline(*steps)).fit(X, y)
    cached = search_of(make_pipeline(*steps, memory=str(tmp_path))).fit(X, y)
    np.testing.assert_array_equal(
        plain.cv_results_["mean_test_score"], cached.cv_results_["mean_test_score"]
    )


@pytest.mark.whole
@pytest.mark.slow
def test_seconds():
    search = search_of(PIPELINES["scaled first"], "seconds", min_resources=1, max_resources=1)
    search.set_params(n_candidates=1)
    assert search.fit(X, y).best_score_ > 0.9


@pytest.mark.few(1)
@pytest.mark.parametrize("kwargs", [{"n_jobs": 2}, {"checkpoint_dir": True}, {"ensemble": True}])
def test_resampled_rows_travel_with_the_state(kwargs, tmp_path):
    # Without random_state the sampler would draw other rows if it were asked at each rung.
    pipeline = make_pipeline(StandardScaler(), RandomUnderSampler(), sgd())
    kwargs = {k: str(tmp_path) if k == "checkpoint_dir" else v for k, v in kwargs.items()}
    here, there = search_of(pipeline).fit(X, y), search_of(pipeline, **kwargs).fit(X, y)
    np.testing.assert_array_equal(
        here.cv_results_["mean_test_score"], there.cv_results_["mean_test_score"]
    )


class Unpicklable(SGDClassifier):
    """Its fitted models cannot be pickled, so they are lost from rung to rung."""

    def __getstate__(self):
        if hasattr(self, "coef_"):
            raise TypeError("not to be pickled")
        return super().__getstate__()


def test_lost_states_are_trained_again_on_the_same_rows(tmp_path):
    steps = (StandardScaler(), RandomUnderSampler(random_state=0))
    here = search_of(make_pipeline(*steps, sgd())).fit(X, y)
    lost = search_of(
        make_pipeline(*steps, Unpicklable(random_state=0)), checkpoint_dir=str(tmp_path)
    )
    lost.set_params(param_distributions={"unpicklable__alpha": loguniform(1e-5, 1e-1)})
    with pytest.warns(UserWarning, match="cannot be stored between rungs"):
        lost.fit(X, y)
    np.testing.assert_array_equal(
        here.cv_results_["mean_test_score"], lost.cv_results_["mean_test_score"]
    )


def test_data_frames_with_named_classes():
    frame = pd.DataFrame(X, columns=list("abcdef"), index=np.arange(len(X))[::-1])
    target = pd.Series(np.where(y == 1, "rare", "common"), index=frame.index)
    search = search_of(PIPELINES["scaled first"], ensemble=True).fit(frame, target)
    assert search.score(frame, target) > 0.9
    assert set(search.predict(frame)) == {"rare", "common"}
    assert list(search.feature_names_in_) == list("abcdef")


def test_a_sampler_may_be_searched():
    space = {
        "smote": ["passthrough", SMOTE(random_state=0), RandomUnderSampler(random_state=0)],
        "sgdclassifier__alpha": loguniform(1e-5, 1e-1),
    }
    search = HyperbandSearchCV(
        make_pipeline(SMOTE(random_state=0), sgd()), space, resource="epochs", max_resources=9,
        cv=CV, scoring="balanced_accuracy", error_score="raise", random_state=0,
    ).fit(X, y)  # fmt: skip
    assert search.best_score_ > 0.9


@pytest.mark.parametrize("nested", [False, True])
def test_weights_of_rows_that_are_resampled_are_refused_before_training(nested):
    pipeline, name = PIPELINES["scaled first"], "sgdclassifier__sample_weight"
    if nested:
        pipeline, name = NESTED["sampler inside"], "pipeline__sgdclassifier__sample_weight"
    with pytest.raises(ValueError, match="sample_weight has an entry for each row, but a step"):
        search_of(pipeline).plan(X, y, **{name: WEIGHTS})


def test_weights_for_a_step_before_the_sampler_are_passed_on():
    search = search_of(PIPELINES["scaled first"])
    assert search.fit(X, y, standardscaler__sample_weight=WEIGHTS).best_score_ > 0.9


def test_a_searched_sampler_fails_where_there_are_weights():
    search = search_of(make_pipeline("passthrough", sgd()), error_score=np.nan)
    choices = [{"pipeline": ["passthrough"]}, {"pipeline": [RandomUnderSampler(random_state=0)]}]
    search.estimator.steps[0] = ("pipeline", "passthrough")
    search.set_params(param_distributions=choices, n_candidates=2, max_resources=2)
    with pytest.warns(FitFailedWarning), pytest.warns(UserWarning, match="non-finite"):
        search.fit(X, y, sgdclassifier__sample_weight=WEIGHTS)
    assert sum("resamples the rows" in error for error in search.errors_) == 1
    assert search.best_params_["pipeline"] == "passthrough"


def test_forests_are_fitted_again_behind_a_sampler():
    pipeline = make_pipeline(
        RandomUnderSampler(random_state=0), RandomForestClassifier(random_state=0)
    )
    search = SuccessiveHalvingSearchCV(
        pipeline, {"randomforestclassifier__max_depth": [1, 2, 3]}, cv=CV, n_candidates=3,
        resource="randomforestclassifier__n_estimators", max_resources=9, random_state=0,
    ).fit(X, y)  # fmt: skip
    expected = clone(pipeline).set_params(**search.best_params_).fit(X, y)
    np.testing.assert_array_equal(search.predict_proba(X), expected.predict_proba(X))
