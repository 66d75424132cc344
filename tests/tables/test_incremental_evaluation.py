"""Populations and rungs of incremental evaluation, and what they really cost."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import uniform

from sksearch.history import Problem, Result
from sksearch.samplers import RandomSampler
from sksearch.schedulers import IncrementalEvaluation
from sksearch.space import Space
from sksearch.study import Study

SPACE = Space({"x": uniform(0, 1)})

# (budget, b_init, b, r): rungs of (candidates, resource), and their cost, by hand.
TABLES = {
    (100, 2, 1, 0.25): ([(42, 2), (10, 3), (2, 4), (1, 5)], 84 + 10 + 2 + 1),
    (700, 2, 1, 0.25): ([(300, 2), (75, 3), (18, 4), (4, 5), (1, 6)], 600 + 75 + 18 + 4 + 1),
    (60, 3, 2, 1 / 3): ([(15, 3), (5, 5), (1, 7)], 45 + 10 + 2),
    (30, 1, 5, 0.5): ([(5, 1), (2, 6), (1, 11)], 5 + 10 + 5),
    (11, 2, 1, 0.25): ([(4, 2), (1, 3)], 8 + 1),
}


def problem(min_resources=2, max_resources=10**6, space=SPACE, continues=True):
    return Problem(space, min_resources, max_resources, continues=continues)


def rungs_of(scheduler, of=None):
    (rungs,) = scheduler.plan(of or problem()).brackets
    return [(rung.n_candidates, rung.resource) for rung in rungs]


def cost_of(scheduler, of=None):
    of = of or problem()
    return scheduler.plan(of).total_resources(continues=of.continues)


def cost_by_counting(n, b_init, b, r, max_resources, continues):
    """Units of a population, added up candidate by candidate and in fractions."""
    total, resource = n * b_init, b_init
    while n > 1 and resource < max_resources:
        n = max(1, int(n * r))
        reached = min(resource + b, max_resources)
        total += sum(reached - (resource if continues else 0) for _ in range(n))
        resource = reached
    return total


@pytest.mark.parametrize("case", TABLES, ids=str)
def test_rungs_are_those_counted_by_hand(case):
    budget, b_init, b, r = case
    scheduler = IncrementalEvaluation(budget, keep=r, step=b)
    rungs, cost = TABLES[case]
    assert rungs_of(scheduler, problem(b_init)) == rungs
    assert cost_of(scheduler, problem(b_init)) == cost


@pytest.mark.parametrize("budget", [5, 7, 50, 99, 100, 1000, 12345])
def test_the_documents_defaults_begin_with_the_documents_population(budget):
    (first, *_) = rungs_of(IncrementalEvaluation(budget))
    assert first == (math.floor(budget / Fraction(7, 3)), 2)


@pytest.mark.few(2)
@pytest.mark.slow
@pytest.mark.parametrize("candidates", ["algorithm1", "largest"])
@pytest.mark.parametrize("continues", [True, False])
@pytest.mark.parametrize("max_resources", [7, 10**6])
def test_the_budget_is_never_exceeded(candidates, continues, max_resources):
    n_planned = 0
    grid = itertools.product(
        [*range(1, 40), 64, 100, 333, 1000],
        [Fraction(1, 10), Fraction(1, 4), Fraction(1, 3), Fraction(1, 2), Fraction(9, 10)],
        [1, 2, 5, 50],
        [1, 2, 7],
    )
    for budget, r, b, b_init in grid:
        scheduler = IncrementalEvaluation(budget, float(r), b, candidates)
        of = problem(b_init, max_resources, continues=continues)
        args = (b_init, b, r, max_resources, continues)
        try:
            (n, _), *_ = rungs_of(scheduler, of)
        except ValueError:
            if candidates == "largest":
                assert cost_by_counting(2, *args) > budget
            continue
        assert cost_of(scheduler, of) == cost_by_counting(n, *args) <= budget
        if candidates == "largest":
            assert cost_by_counting(n + 1, *args) > budget
        n_planned += 1
    assert n_planned > 500


def test_one_that_is_kept_where_the_series_has_a_fraction_may_cost_too_much():
    # 9 / (1 + 10 / 3) is 2.08: two candidates, of which the better one costs 10 more.
    b_init, b, r, budget = 1, 10, Fraction(1, 4), 9
    formula = math.floor(budget / (b_init + b * r / (1 - r)))
    assert formula == 2
    assert cost_by_counting(formula, b_init, b, r, 1000, True) == 12 > budget
    with pytest.raises(ValueError, match="need budget=12 "):
        rungs_of(IncrementalEvaluation(budget, step=b), problem(b_init))


def test_the_population_is_lowered_until_its_rungs_are_paid_for():
    # Of 8 candidates 2 and 1 are kept: 8 + 2 * 10 + 10 is 38, where the series says 34.7.
    scheduler = IncrementalEvaluation(35, step=10)
    assert math.floor(35 / (1 + Fraction(10, 3))) == 8
    assert rungs_of(scheduler, problem(1)) == [(7, 1), (1, 11)]
    assert cost_of(scheduler, problem(1)) == 17
    assert rungs_of(IncrementalEvaluation(38, step=10), problem(1))[0] == (8, 1)


def test_the_formula_leaves_much_unspent_where_much_is_kept():
    assert cost_of(IncrementalEvaluation(100, keep=0.9)) == 54
    assert cost_of(IncrementalEvaluation(100, keep=0.9, candidates="largest")) == 99


@pytest.mark.parametrize(("n", "rungs"), [(2, [2, 1]), (3, [3, 1]), (4, [4, 1]), (8, [8, 2, 1])])
def test_few_candidates_end_with_one(n, rungs):
    scheduler = IncrementalEvaluation(n * 2 + len(rungs), candidates="largest")
    assert [count for count, _ in rungs_of(scheduler)] == rungs


@pytest.mark.parametrize("size", [1, 2, 3, 12])
def test_a_small_space_ends_with_one_as_well(size):
    of = problem(space=Space({"x": list(range(size))}))
    counts = [count for count, _ in rungs_of(IncrementalEvaluation(1000), of)]
    assert counts[0] == size
    assert counts[-1] == 1
    assert 1 not in counts[:-1]


@pytest.mark.parametrize("max_resources", [2, 3, 4, 5, 6])
def test_no_rung_is_above_the_largest_resource(max_resources):
    scheduler = IncrementalEvaluation(1000, step=3)
    rungs = rungs_of(scheduler, problem(2, max_resources))
    resources = [resource for _, resource in rungs]
    assert resources == sorted({2, min(5, max_resources), max_resources})
    assert rungs[-1][0] > 1, "several are left, since there is no more to spend on them"


def test_a_decimal_keeps_its_digits():
    assert int(10 * Fraction(0.3)) == 2, "the binary fraction is a little less"
    scheduler = IncrementalEvaluation(26, keep=0.3, candidates="largest")
    assert rungs_of(scheduler) == [(11, 2), (3, 3), (1, 4)]
    assert rungs_of(IncrementalEvaluation(24, keep=0.3, candidates="largest")) == [
        (10, 2), (3, 3), (1, 4),
    ]  # fmt: skip


def test_the_default_budget_matches_ten_whole_trainings():
    of = problem(2, 20)
    assert rungs_of(IncrementalEvaluation(), of) == rungs_of(IncrementalEvaluation(200), of)


@pytest.mark.parametrize(("min_resources", "step"), [(1, 1), (2, 1), (3, 1), (8, 4)])
def test_the_default_step_is_half_of_the_beginning(min_resources, step):
    (_, low), (_, next_one), *_ = rungs_of(IncrementalEvaluation(1000), problem(min_resources))
    assert next_one - low == step


@pytest.mark.parametrize("candidates", ["algorithm1", "largest"])
@pytest.mark.parametrize("keep", [0.1, 0.25, 0.9])
def test_a_budget_that_is_too_small_is_refused_and_the_smallest_is_named(keep, candidates):
    def scheduler(budget):
        return IncrementalEvaluation(budget, keep, candidates=candidates)

    with pytest.raises(ValueError, match=r"two to min_resources=2.*takes budget=\d+") as error:
        scheduler(3).plan(problem())
    smallest = int(str(error.value).split("takes budget=")[1].split(".")[0])
    assert rungs_of(scheduler(smallest)) == [(2, 2), (1, 3)]
    with pytest.raises(ValueError, match=f"takes budget={smallest}\\."):
        scheduler(smallest - 1).plan(problem())


def test_a_budget_that_is_too_small_is_refused_before_anything_is_spent():
    study = Study(problem(), RandomSampler(), IncrementalEvaluation(3))
    with pytest.raises(ValueError, match="budget=3 is too small"):
        study.ask()
    assert study.history.trials == []


@pytest.mark.parametrize("continues", [True, False])
def test_a_study_spends_the_planned_amount(continues):
    scheduler, of = IncrementalEvaluation(100), problem(continues=continues)
    study = Study(of, RandomSampler(), scheduler)
    spent = 0
    while (job := study.ask()) is not None:
        spent += job.resource - (job.spent if continues else 0)
        study.tell(job, Result(job.params["x"]))
    assert spent == cost_of(scheduler, of) <= 100
    best = max(study.history.trials, key=lambda trial: trial.params["x"])
    assert best.resource == max(trial.resource for trial in study.history.trials)


@pytest.mark.parametrize(
    ("params", "match"),
    [
        ({"keep": 0}, "keep=0 "),
        ({"keep": 1}, "keep=1 "),
        ({"keep": np.nan}, "keep=nan "),
        ({"keep": 1 - 1e-9}, "between 0 and 1"),
        ({"budget": 0}, "budget=0 "),
        ({"budget": 10.5}, "budget=10.5 "),
        ({"step": 0}, "step=0 "),
        ({"candidates": "mine"}, "largest"),
    ],
)
def test_parameters_that_make_no_rungs_are_refused(params, match):
    with pytest.raises(ValueError, match=match):
        IncrementalEvaluation(**params)
