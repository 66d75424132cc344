"""An audit of early stopping: what is trained on, what it costs, and what the report says."""

import numpy as np
import pytest
from scipy.stats import uniform
from sklearn.base import BaseEstimator, RegressorMixin

from sksearch import ASHASearchCV, HyperbandSearchCV, SearchCV, SuccessiveHalvingSearchCV
from sksearch.history import Problem
from sksearch.samplers import RandomSampler
from sksearch.schedulers import ASHA, FoldRace, FullFidelity, Hyperband, SuccessiveHalving
from sksearch.schedulers._audited import Audited
from sksearch.search import IncrementalEvaluationSearchCV
from sksearch.space import Space
from tests.checkpoint.test_resume import fit_and_stop
from tests.fakes import Curve, Failing
from tests.interrupted import Noisy, X as X_NOISY, Y as Y_NOISY, scorer

X, Y = np.zeros((12, 1)), np.zeros(12)
SPACE = {"quality": uniform(0, 1)}
ARGS = {"resource": "epochs", "max_resources": 27, "cv": 2, "random_state": 0}


class Crossing(RegressorMixin, BaseEstimator):
    """The better its quality, the worse its score after one epoch, and the better at the end."""

    def __init__(self, quality=0.5):
        self.quality = quality

    def fit(self, X, y=None):
        return self.partial_fit(X, y)

    def partial_fit(self, X, y=None):
        self.n_epochs_ = getattr(self, "n_epochs_", 0) + 1
        return self

    def predict(self, X):
        return np.zeros(len(X))

    def score(self, X, y=None):
        return -self.quality if self.n_epochs_ < 27 else self.quality


def rows(search, n=None):
    """Rows of the results by trial and resource, without times."""
    results = search.cv_results_
    keys = zip(results["trial_id"].tolist(), results["n_resources"].tolist(), strict=True)
    values = zip(map(repr, results["params"]), results["mean_test_score"].tolist(), strict=True)
    return dict(zip(keys, values, strict=True))


def halving(estimator=None, **kwargs):
    return SuccessiveHalvingSearchCV(estimator or Curve(), SPACE, **ARGS | kwargs)


def test_an_audit_adds_rows_and_changes_no_other():
    plain = HyperbandSearchCV(Curve(), SPACE, **ARGS).fit(X, Y)
    audited = HyperbandSearchCV(Curve(), SPACE, audit=0.2, **ARGS).fit(X, Y)
    before, after = rows(plain), rows(audited)
    assert before.items() <= after.items()
    added = after.keys() - before.keys()
    assert sorted(added) == sorted((i, 27) for i in audited.audited_)
    n_stopped = sum(trial.resource < 27 for trial in plain.history_.trials)
    assert len(added) == round(0.2 * n_stopped)
    assert not hasattr(plain, "audited_")
    # They come last, so that no proposal knows them.
    asked = [(i, r) for event, i, r in audited.history_.log if event == "ask"]
    assert set(asked[-len(added) :]) == added


@pytest.mark.few(3)
@pytest.mark.parametrize(
    "search",
    [
        HyperbandSearchCV(Curve(), SPACE, audit=0.2, **ARGS),
        HyperbandSearchCV(Curve(), SPACE, audit=1, **ARGS),
        HyperbandSearchCV(Curve(), SPACE, audit=0.3, **ARGS | {"resource": "n_samples"}),
        HyperbandSearchCV(Curve(), SPACE, audit=0.3, resource="folds", cv=9, random_state=0),
        SuccessiveHalvingSearchCV(Curve(), SPACE, audit=0.05, **ARGS),
        IncrementalEvaluationSearchCV(Curve(), SPACE, audit=0.1, **ARGS),
        HyperbandSearchCV(Curve(), SPACE, sampler="gp", audit=0.1, **ARGS | {"max_resources": 9}),
    ],
    ids=lambda search: f"{type(search).__name__} {search.resource} {search.audit}",
)
def test_what_it_costs_is_in_the_plan(search):
    rows_X = np.zeros((60, 1))
    if search.resource == "n_samples":
        search.set_params(max_resources=60, min_resources=4)
    plan = search.plan(rows_X, np.zeros(60))
    assert plan.n_audited > 0
    assert f"{plan.n_audited} are audits of candidates stopped early" in str(plan)
    search.fit(rows_X, np.zeros(60))
    trials = search.history_.trials
    assert len(search.audited_) == plan.n_audited
    done = {}
    for trial in trials:
        for resource in trial.results:
            key = trial.bracket, resource
            done[key] = done.get(key, 0) + 1
    assert done == {(r.bracket, r.n_resources): r.n_candidates for r in plan.rungs}
    spans = [span for t in trials for r in t.results.values() for span in r.spans]
    assert len(spans) == plan.n_fits - 1
    continues = search.resource in ("epochs", "folds")
    paid = sum(max(t.results) if continues else sum(t.results) for t in trials)
    assert paid == plan.total_resources
    assert search.progress_.spent == search.progress_.planned == paid


def test_epochs_that_were_paid_are_not_paid_again():
    Curve.n_calls = 0
    search = halving(audit=0.2, refit=False).fit(X, Y)
    assert Curve.n_calls == 2 * search.plan_.total_resources


def test_it_is_the_same_for_any_count_of_workers():
    search = halving(audit=0.2, n_jobs=2).fit(X, Y)
    assert rows(search) == rows(halving(audit=0.2).fit(X, Y))


@pytest.mark.whole
@pytest.mark.parametrize("after", [20, 29, 33])
def test_a_search_that_was_interrupted_audits_the_same_ones(after, tmp_path):
    args = ARGS | {"max_resources": 9, "scoring": scorer, "refit": False, "audit": 0.5}

    def make(folder):
        return SuccessiveHalvingSearchCV(Noisy(), SPACE, checkpoint_dir=folder, **args)

    whole = make(None).fit(X_NOISY, Y_NOISY)
    fit_and_stop(make(tmp_path), after)
    again = make(tmp_path).fit(X_NOISY, Y_NOISY)
    assert rows(again) == rows(whole)
    assert again.audited_ == whole.audited_
    assert len(whole.audited_) == 4


def test_an_audit_can_be_asked_for_afterwards(tmp_path):
    whole = halving(audit=0.2).fit(X, Y)
    halving(checkpoint_dir=tmp_path).fit(X, Y)
    before = Curve.n_calls
    with pytest.warns(UserWarning, match="fitted models of 80 evaluations .* were deleted"):
        audited = halving(audit=0.2, checkpoint_dir=tmp_path, refit=False).fit(X, Y)
    assert rows(audited) == rows(whole)
    assert Curve.n_calls - before == 2 * 27 * len(audited.audited_)  # their states are gone


@pytest.mark.filterwarnings("ignore:.*non-finite", "ignore:(?s).*fits failed")
def test_who_failed_is_not_audited():
    search = halving(Failing(threshold=0.3), audit=1).fit(X, Y)
    statuses = [t.results[t.resource].status for t in search.history_.trials]
    assert "error" in statuses
    assert all(statuses[i] == "ok" for i in search.audited_)


def test_schedulers_whose_rungs_are_not_known_refuse_it():
    with pytest.raises(ValueError, match="leave audit out"):
        ASHASearchCV(Curve(), SPACE, audit=0.1, **ARGS).fit(X, Y)
    for scheduler in (ASHA(), FoldRace(), None):
        with pytest.raises(ValueError, match="synchronous scheduler"):
            Audited(scheduler)
    for share in (0, -0.1, 1.5, np.nan):
        with pytest.raises(ValueError, match="share="):
            Audited(Hyperband(), share)
    with pytest.raises(ValueError, match="'audit' parameter"):
        halving(audit=1.5).fit(X, Y)


def test_no_candidate_is_audited_if_none_is_stopped():
    problem = Problem(Space(SPACE), 1, 27)
    assert Audited(FullFidelity(5)).plan(problem).total_resources(continues=True) == 5 * 27
    search = halving(audit=0.5, min_resources="auto", max_resources=2).fit(X, Y)
    assert search.audited_ == []


def test_one_at_least_is_audited():
    plan = Audited(SuccessiveHalving(), 0.001).plan(Problem(Space(SPACE), 1, 27))
    assert plan.audits == ((1, 0, 0, 0),)
    assert plan.total_resources(continues=True) == 27 + 2 * 9 + 6 * 3 + 18 + 26


def test_it_composes_with_any_sampler():
    search = SearchCV(
        Curve(), SPACE, sampler=RandomSampler(), scheduler=Audited(Hyperband(), 0.2), **ARGS
    ).fit(X, Y)
    named = HyperbandSearchCV(Curve(), SPACE, audit=0.2, **ARGS).fit(X, Y)
    assert rows(search) == rows(named)
    assert search.audited_ == named.audited_


# ---- the report


def audit_of(search):
    text = " ".join(str(search.report(full=True)).split())
    return text[text.index("audit of") :].partition(" Failures")[0]


def test_the_report_says_that_stopping_was_harmless():
    search = halving(audit=0.2).fit(X, Y)
    said = audit_of(search)
    assert f"audit of {len(search.audited_)} stopped candidates: none would have won" in said
    n = len(search.audited_)
    most = 100 * (1 - 0.05 ** (1 / n))  # Clopper and Pearson's bound for none of n
    assert f"at most {most:.0f} % of all stopped candidates would have" in said


def test_the_report_of_several_objectives_says_by_which_of_them_an_audit_judges():
    search = halving(audit=0.2, objectives=["score", "fit_time"]).fit(X, Y)
    assert " by score alone" in audit_of(search)
    assert "alone" not in audit_of(halving(audit=0.2).fit(X, Y))


def test_the_report_says_what_stopping_has_cost():
    search = halving(Crossing(), audit=0.2).fit(X, Y)
    said = audit_of(search)
    trials = search.history_.trials
    final = [t.results[27].score for t in trials if t.id in search.audited_]
    other = max(t.results[27].score for t in trials if 27 in t.results and t.id not in
                search.audited_)  # fmt: skip
    n_better = sum(score > other for score in final)
    assert n_better > 0
    assert f"{n_better} would have won, by up to " in said
    assert search.best_score_ == max(final), "an audited candidate may win"


def test_a_search_without_an_audit_says_nothing_of_it():
    assert "audit" not in str(halving().fit(X, Y).report(full=True))
