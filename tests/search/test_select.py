"""Which row wins: the best at any rung, or the best at the top."""

import numpy as np
import pytest
from scipy.stats import loguniform, uniform
from sklearn.datasets import load_iris
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import SGDClassifier

from sksearch import ASHASearchCV, HyperbandSearchCV, SearchCV, load_history
from sksearch.reader._values import rank
from sksearch.resources._data import FoldsResource, SamplesResource
from sksearch.resources._epochs import EpochsResource, SecondsResource
from sksearch.resources._parameter import ParameterResource
from sksearch.samplers import RandomSampler
from sksearch.schedulers import Hyperband, MedianStopping, SuccessiveHalving
from sksearch.search import IncrementalEvaluationSearchCV
from tests.fakes import Curve, Failing, Sized

X, y = load_iris(return_X_y=True)
QUALITY = {"quality": uniform()}


class Peaked(Curve):
    """Its score rises up to 3 epochs, and falls from then on."""

    def score(self, X, y=None):
        return self.quality - abs(self.n_epochs_ - 3) / 100


def search_of(estimator=None, cls=HyperbandSearchCV, **kwargs):
    kwargs = {"resource": "epochs", "max_resources": 9, "cv": 2, "random_state": 0, **kwargs}
    return cls(Peaked() if estimator is None else estimator, QUALITY, **kwargs)


def smallest_intermediate_loss(search):
    """What Hyperband returns, from its history alone: Li et al. 2018, Algorithm 1, line 12."""
    losses = {
        (trial.id, resource): -result.score
        for trial in search.history_.trials
        for resource, result in trial.results.items()
        if np.isfinite(result.score)
    }
    return min(losses, key=losses.get)


@pytest.mark.few(2)
@pytest.mark.parametrize("seed", range(5))
def test_the_winner_is_the_configuration_with_the_smallest_intermediate_loss(seed):
    search = search_of(random_state=seed).fit(X, y)
    trial_id, resource = smallest_intermediate_loss(search)
    row = search.best_index_
    assert search.cv_results_["trial_id"][row] == trial_id
    assert search.best_n_resources_ == search.cv_results_["n_resources"][row] == resource < 9
    assert search.best_params_ == search.history_.trials[trial_id].params
    assert search.best_score_ == search.cv_results_["mean_test_score"].max()
    assert search.cv_results_["rank_test_score"][row] == 1
    assert search.best_estimator_.n_epochs_ == resource
    assert search.progress_.best_score == search.best_score_


def test_the_top_rung_wins_if_asked_for():
    search = search_of(select="top").fit(X, y)
    assert search.best_n_resources_ == search.best_estimator_.n_epochs_ == 9
    assert search.best_score_ < search.cv_results_["mean_test_score"].max()
    assert search.progress_.best_score == search.best_score_


def test_select_changes_nothing_that_is_trained():
    best, top = (search_of(select=select).fit(X, y) for select in ("best", "top"))
    assert best.history_.log == top.history_.log
    for name, column in best.cv_results_.items():
        if "time" not in name and "rank" not in name:
            np.testing.assert_array_equal(column, top.cv_results_[name])


def search_on(resource, select):
    return HyperbandSearchCV(
        SGDClassifier(random_state=0), {"alpha": loguniform(1e-5, 1)}, resource=resource,
        cv=4, random_state=0, select=select,
    )  # fmt: skip


@pytest.mark.parametrize("resource", ["folds", "n_samples"])
def test_rungs_of_rows_and_folds_are_not_compared(resource):
    auto, top = (search_on(resource, select).fit(X, y) for select in ("auto", "top"))
    assert auto.best_index_ == top.best_index_
    assert auto.best_n_resources_ == auto.max_resources_


def test_rungs_of_rows_are_compared_if_asked_for():
    best = search_on("n_samples", "best").fit(X, y)
    assert best.best_score_ == best.cv_results_["mean_test_score"].max()


@pytest.mark.parametrize(
    ("resource", "comparable"),
    [
        (EpochsResource(), True), (SecondsResource(), True), (ParameterResource("k"), True),
        (FoldsResource(), False), (SamplesResource(), False),
    ],
)  # fmt: skip
def test_which_resources_have_rungs_that_can_be_compared(resource, comparable):
    assert resource.comparable is comparable


class PeakedUnits(Sized):
    """Its score rises up to 3 units, and falls from then on."""

    def score(self, X, y):
        return self.quality - abs(self.n_units - 3) / 100


def test_a_parameter_has_the_count_of_the_rung_that_won():
    search = search_of(PeakedUnits(), resource="n_units").fit(X, y)
    assert search.best_params_["n_units"] == search.best_n_resources_ < 9
    assert search.best_estimator_.n_units == search.best_n_resources_
    assert search.best_score_ == search.cv_results_["mean_test_score"].max()


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "search",
    [
        search_of(cls=ASHASearchCV),
        search_of(cls=IncrementalEvaluationSearchCV, min_resources=1),
        search_of(cls=SearchCV, scheduler=MedianStopping()),
        search_of(cls=SearchCV, scheduler=SuccessiveHalving(select="best")),
    ],
    ids=lambda search: repr(search.get_params().get("scheduler") or type(search).__name__),
)
def test_it_is_so_with_every_scheduler(search):
    search.fit(X, y)
    assert search.best_score_ == search.cv_results_["mean_test_score"].max()
    assert search.best_estimator_.n_epochs_ == search.best_n_resources_


@pytest.mark.parametrize("select", ["auto", "best", "top"])
def test_search_cv_reads_it_from_its_scheduler(select, tmp_path):
    named = search_of(select=select).fit(X, y)
    args = {"resource": "epochs", "sampler": RandomSampler(), "checkpoint_dir": tmp_path}
    composed = search_of(cls=SearchCV, scheduler=Hyperband(select=select), **args).fit(X, y)
    assert composed.best_index_ == named.best_index_
    before = Curve.n_calls
    other = search_of(cls=SearchCV, scheduler=Hyperband(select="top"), refit=False, **args)
    assert other.fit(X, y).best_n_resources_ == 9
    assert Curve.n_calls == before  # the checkpoint continues with another choice


def test_a_choice_that_does_not_exist_is_refused():
    for select in ("last", 3):
        search = search_of(cls=SearchCV, scheduler=SuccessiveHalving(select=select))
        with pytest.raises(ValueError, match=r"scheduler\.select=.* must be a str among"):
            search.fit(X, y)


def test_of_equal_scores_that_of_the_larger_resource_wins():
    class Flat(Curve):
        def score(self, X, y=None):
            return 1.0

    assert search_of(Flat()).fit(X, y).best_n_resources_ == 9


def test_ranks():
    means, resources = [0.5, 0.9, 0.9, np.nan, 0.7, np.nan], [1, 1, 3, 9, 9, 1]
    assert rank(means, resources).tolist() == [4, 3, 2, 5, 1, 5]
    assert rank(means, resources, any_rung_wins=True).tolist() == [4, 2, 1, 5, 3, 5]


def test_a_target_may_be_reached_at_any_rung():
    target = 0.6
    search = search_of(stop={"score": target}).fit(X, y)
    assert search.best_score_ >= target
    assert search.cv_results_["n_resources"].max() < 9
    top = search_of(stop={"score": target}, select="top").fit(X, y)
    assert top.cv_results_["n_resources"].max() == 9


def test_failed_rows_never_win():
    search = search_of(Failing(), error_score=9.0)
    with pytest.warns(FitFailedWarning):
        search.fit(X, y)
    assert search.best_score_ < 1
    assert search.statuses_[search.best_index_] == "ok"


def test_of_several_metrics_the_one_to_be_refitted_decides():
    search = HyperbandSearchCV(
        SGDClassifier(random_state=0), {"alpha": loguniform(1e-5, 10)}, resource="epochs",
        max_resources=9, scoring=["accuracy", "f1_macro"], refit="f1_macro", cv=2, random_state=0,
    ).fit(X, y)  # fmt: skip
    for metric in ("accuracy", "f1_macro"):
        means = search.cv_results_[f"mean_test_{metric}"]
        assert means[np.argmin(search.cv_results_[f"rank_test_{metric}"])] == means.max()
    assert search.best_score_ == search.cv_results_["mean_test_f1_macro"].max()


def test_a_callable_refit_may_choose_any_row():
    search = search_of(refit=lambda results: int(np.argmin(results["mean_test_score"]))).fit(X, y)
    row = search.best_index_
    assert search.best_n_resources_ == search.cv_results_["n_resources"][row]
    assert search.best_estimator_.n_epochs_ == search.best_n_resources_


def test_without_a_refit_it_is_known_how_far_the_best_was_trained():
    search = search_of(refit=False).fit(X, y)
    assert search.best_n_resources_ == search_of().fit(X, y).best_estimator_.n_epochs_


def test_seconds_are_refitted_with_the_calls_of_the_rung_that_won():
    from sksearch.executors import VirtualClock, spend

    class Timed(Peaked):
        def partial_fit(self, X, y=None):
            spend(1.0)
            return super().partial_fit(X, y)

    with VirtualClock():
        search = search_of(Timed(), resource="seconds", max_resources=9).fit(X, y)
    assert search.best_n_resources_ == search.best_estimator_.n_epochs_ == 3


def test_a_checkpoint_continues_with_another_select(tmp_path):
    search_of(select="top", checkpoint_dir=tmp_path).fit(X, y)
    before = Curve.n_calls
    search = search_of(select="best", checkpoint_dir=tmp_path, refit=False).fit(X, y)
    assert Curve.n_calls == before
    assert search.best_n_resources_ == smallest_intermediate_loss(search)[1] < 9


def test_load_history_has_the_winner(tmp_path):
    for select in ("best", "top"):
        search = search_of(select=select, checkpoint_dir=tmp_path / select).fit(X, y)
        saved = load_history(tmp_path / select)
        assert saved.best_index_ == search.best_index_
        np.testing.assert_array_equal(
            saved.cv_results_["rank_test_score"], search.cv_results_["rank_test_score"]
        )


def test_an_interrupted_search_shows_the_best_row_so_far():
    class Interrupting(Peaked):
        def partial_fit(self, X, y=None):
            if Curve.n_calls > 40:
                raise RuntimeError("the end")
            return super().partial_fit(X, y)

    Curve.n_calls = 0
    search = search_of(Interrupting(), error_score="raise")
    with pytest.raises(RuntimeError, match="the end"):
        search.fit(X, y)
    assert search.interrupted_
    assert search.best_score_ == np.nanmax(search.cv_results_["mean_test_score"])


def test_whole_fits_have_no_best_n_resources():
    search = SearchCV(Curve(), QUALITY, n_iter=2, cv=2).fit(X, y)
    assert not hasattr(search, "best_n_resources_")
