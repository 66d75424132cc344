"""Schedulers that somebody else wrote: what is wrong with one is said, and where it can be before
anything is trained.
"""

import pytest
from scipy.stats import uniform
from sklearn.datasets import load_iris

from sksearch import SearchCV
from sksearch.base import Plan, Resume, Rung, Scheduler, Start, Told
from sksearch.history import Problem
from sksearch.samplers import GPSampler, RandomSampler
from sksearch.schedulers import BracketScheduler, FullFidelity, SuccessiveHalving
from sksearch.space import Space
from sksearch.study import Study
from tests.comparisons import assert_same_results
from tests.fakes import Curve

X, y = load_iris(return_X_y=True)
PLAN = Plan(((Rung(8, 3),),))


class Table(BracketScheduler):
    def __init__(self, table):
        self.table = table

    def bracket_table(self, problem):
        return self.table


class Own(Scheduler):
    """Returns these decisions, one after the other, whenever nothing is running."""

    def __init__(self, *decisions, plan=PLAN):
        self.decisions = decisions
        self.planned = plan

    def next(self, history, rng):
        n = len(history.log) // 2
        return None if history.n_running or n == len(self.decisions) else self.decisions[n]

    def plan(self, problem):
        return self.planned


class Whole(Scheduler):
    """Decides as `FullFidelity` does, and is of another class."""

    def __init__(self, count):
        self.count = count

    def next(self, history, rng):
        done = len(history.trials) == self.count
        return None if done else Start(history.problem.max_resources)

    def plan(self, problem):
        return Plan(((Rung(problem.max_resources, self.count),),))


class Folds(Scheduler):
    """Reads scores fold by fold, and drops nobody."""

    told = Told(by_fold=True)

    def next(self, history, rng):
        idle = (t for t in history.trials if t.running is None and t.resource < 3)
        if (trial := next(idle, None)) is not None:
            return Resume(trial.id, trial.resource + 1)
        return None if len(history.trials) == 4 else Start(1)

    def plan(self, problem):
        return Plan((tuple(Rung(r, 4) for r in range(1, 4)),))


def search_with(scheduler):
    return SearchCV(
        Curve(), {"quality": uniform(0, 1)}, sampler=RandomSampler(), scheduler=scheduler,
        resource="epochs", max_resources=8, cv=2, random_state=0,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([(6, 8)], r"Table.bracket_table has the row \(6, 8\)"),
        (
            [(6, [2.5, 8])],
            r"has the row \(6, \[2.5, 8\]\): a row must be the number of candidates",
        ),
        ([(6, [(2, 6), (8, 2)])], "has the row"),
        ([(6, [8, 2])], r"with the resources \[8, 2\]: each must be larger"),
        ([(6, [])], "a bracket must be a tuple of at least one Rung"),
        ([(6, [0, 8])], "resource must be an integer of at least 1"),
        ([(6, [2, 16])], "has a rung of 16, but max_resources is 8"),
        ([], "plans no bracket"),
    ],
)
def test_a_wrong_table_is_refused_before_training(table, message):
    with pytest.raises(ValueError, match=message):
        search_with(Table(table)).plan(X, y)


@pytest.mark.parametrize("plan", [[(3, [8])], None])
def test_a_plan_is_a_plan(plan):
    with pytest.raises(TypeError, match="return a Plan, such as"):
        search_with(Own(plan=plan)).plan(X, y)


def test_a_bracket_is_not_a_rung():
    with pytest.raises(ValueError, match="a bracket must be a tuple of at least one Rung"):
        search_with(Own(plan=Plan((Rung(1, 9), Rung(8, 3))))).plan(X, y)


@pytest.mark.parametrize(
    ("decision", "error", "message"),
    [
        (8, TypeError, "Own.next returned 8: return a Start, a Resume, or None"),
        (Start(16), ValueError, "returned Start.*whole number from 1 to 8"),
        (Start(2.5), ValueError, "whole number from 1 to 8"),
        (Resume(3, 8), ValueError, "the history has 0"),
        (Start(2), ValueError, "bracket 0 up to 2, but its plan has no such rung"),
        (None, ValueError, "did not start a candidate"),
    ],
    ids=str,
)
def test_a_wrong_decision_is_refused_before_training(decision, error, message):
    n_calls = Curve.n_calls
    with pytest.raises(error, match=message):
        search_with(Own(decision)).fit(X, y)
    assert Curve.n_calls == n_calls


def test_a_study_names_the_fault_as_well():
    problem = Problem(Space({"x": uniform(0, 1)}), max_resources=8)
    with pytest.raises(ValueError, match="whole number from 1 to 8"):
        Study(problem, RandomSampler(), Own(Start(9))).ask()
    with pytest.raises(ValueError, match="trials are numbered from 0, and the history has 0"):
        Study(problem, RandomSampler(), Own(Resume(-1, 8))).ask()


# ---- equals of ours


def whole_fits(scheduler):
    return SearchCV(
        Curve(), {"quality": uniform(0, 1)}, sampler=GPSampler(), scheduler=scheduler, cv=2,
        random_state=0,
    )  # fmt: skip


def test_one_that_decides_as_full_fidelity_is_its_equal():
    # Of 8 candidates 2 come before the first model, of a count that is not known 4.
    ours, own = (whole_fits(each).fit(X, y) for each in (FullFidelity(8), Whole(8)))
    assert own.plan_.notes == ours.plan_.notes
    assert own.history_.problem.n_candidates == ours.history_.problem.n_candidates == 8
    assert_same_results(own, ours)


def test_one_with_rungs_still_needs_to_be_told_what_is_spent():
    for scheduler in (SuccessiveHalving(9), Table([(6, [2, 8])])):
        with pytest.raises(ValueError, match=r"need resource=, the unit of training"):
            whole_fits(scheduler).fit(X, y)


def test_one_told_fold_by_fold_gets_folds():
    search = SearchCV(
        Curve(), {"quality": uniform(0, 1)}, sampler=RandomSampler(), scheduler=Folds(), cv=3,
        random_state=0,
    ).fit(X, y)  # fmt: skip
    assert search.plan_.by_folds
    assert search.history_.problem.races
    assert search.history_.problem.n_candidates == 4
    assert len(search.cv_results_["params"]) == 4


def test_nobody_is_audited_by_one_that_does_not_say_so():
    assert not hasattr(search_with(Own(Start(8), Start(8), Start(8))).fit(X, y), "audited_")
