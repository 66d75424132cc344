"""Published and hand-computed schedules, in exact integers."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import mpmath
import pytest
from scipy.stats import uniform

from sksearch.base import Plan
from sksearch.history import Problem
from sksearch.schedulers import Hyperband, SuccessiveHalving
from sksearch.schedulers._brackets import ladder
from sksearch.schedulers._iterated_halving import IteratedHalving
from sksearch.space import Space

SPACE = Space({"x": uniform(0, 1)})

# (max_resources, factor): [(candidates at the lowest rung, [resources])], by hand.
TABLES = {
    (81, 3): [
        (81, [1, 3, 9, 27, 81]),
        (27, [3, 9, 27, 81]),
        (9, [9, 27, 81]),
        (6, [27, 81]),
        (5, [81]),
    ],
    (243, 3): [
        (243, [1, 3, 9, 27, 81, 243]),
        (81, [3, 9, 27, 81, 243]),
        (27, [9, 27, 81, 243]),
        (18, [27, 81, 243]),
        (9, [81, 243]),
        (6, [243]),
    ],
    (1000, 10): [
        (1000, [1, 10, 100, 1000]),
        (100, [10, 100, 1000]),
        (20, [100, 1000]),
        (4, [1000]),
    ],
    (343, 7): [(343, [1, 7, 49, 343]), (49, [7, 49, 343]), (14, [49, 343]), (4, [343])],
    (27, 3): [(27, [1, 3, 9, 27]), (9, [3, 9, 27]), (6, [9, 27]), (4, [27])],
    (100, 4): [(64, [1, 6, 25, 100]), (16, [6, 25, 100]), (8, [25, 100]), (4, [100])],
}


def problem(max_resources, min_resources=1, continues=True):
    return Problem(SPACE, min_resources, max_resources, continues=continues)


def adapted(scheduler, max_resources, continues=True):
    """The problem from the lowest rung on that the scheduler finds sensible."""
    least = problem(max_resources, continues=continues)
    return replace(least, min_resources=scheduler.adapt(least)[1])


@pytest.mark.parametrize(("max_resources", "factor"), TABLES)
def test_brackets_match_the_table(max_resources, factor):
    assert Hyperband(factor).bracket_table(problem(max_resources)) == TABLES[max_resources, factor]


def test_algorithm_1_begins_with_other_counts_at_81():
    brackets = Hyperband(candidates="algorithm1").bracket_table(problem(81))
    assert [n for n, _ in brackets] == [81, 34, 15, 8, 5]


def test_rungs_keep_the_published_counts():
    plan = Hyperband().plan(problem(81))
    counts = [[rung.n_candidates for rung in rungs] for rungs in plan.brackets]
    assert counts == [[81, 27, 9, 3, 1], [27, 9, 3, 1], [9, 3, 1], [6, 2], [5]]


@pytest.mark.parametrize("factor", range(2, 11))
def test_every_power_has_all_its_rungs(factor):
    for exponent in range(60 // factor.bit_length()):
        R = factor**exponent
        rungs = ladder(1, R, factor)
        assert rungs == [factor**k for k in range(exponent + 1)]
        if exponent:
            assert len(ladder(1, R - 1, factor)) == exponent
            assert len(ladder(1, R + 1, factor)) == exponent + 1


def test_floating_point_logarithms_would_lose_a_rung():
    assert math.floor(math.log(243) / math.log(3)) == 4
    assert len(ladder(1, 243, 3)) == 6


@pytest.mark.parametrize("factor", [1.5, 2, 2.5, 3, math.e, 3.7, 4, 10])
@pytest.mark.parametrize("min_resources", [1, 2, 7])
@pytest.mark.parametrize("max_resources", [7, 81, 100, 729, 999, 10**6])
def test_rungs_are_floors_of_exact_quotients(factor, min_resources, max_resources):
    rungs = ladder(min_resources, max_resources, factor)
    assert rungs[-1] == max_resources
    assert rungs[0] >= min_resources
    assert all(a < b for a, b in itertools.pairwise(rungs))
    exact = Fraction(factor)
    assert set(rungs) == {
        q
        for k in range(len(rungs) + 40)
        if (q := math.floor(max_resources / exact**k)) >= min_resources
    }
    with mpmath.workdps(60):  # an oracle of another kind: the number of rungs by logarithms
        quotient = mpmath.log(mpmath.mpf(max_resources) / min_resources) / mpmath.log(factor)
        near = abs(quotient - mpmath.nint(quotient)) < mpmath.mpf(10) ** -40
        expected = int(mpmath.nint(quotient) if near else mpmath.floor(quotient)) + 1
    if factor >= 2:  # below, neighbouring rungs may be equal and count once
        assert len(rungs) == expected


@pytest.mark.parametrize("candidates", ["table", "algorithm1"])
@pytest.mark.parametrize(("max_resources", "factor"), [*TABLES, (999, 3), (500, 2.5)])
def test_no_bracket_costs_more_than_hyperbands_budget(max_resources, factor, candidates):
    plan = Hyperband(factor, candidates=candidates).plan(problem(max_resources))
    budget = len(plan.brackets) * max_resources
    for rungs in plan.brackets:
        spent = plan.bracket_resources(rungs, continues=False)
        assert spent <= budget or candidates == "algorithm1"
        assert plan.bracket_resources(rungs, continues=True) <= spent


def test_hyperband_at_81_costs_what_one_adds_up_by_hand():
    plan = Hyperband().plan(problem(81))
    anew = [81 + 81 + 81 + 81 + 81, 81 + 81 + 81 + 81, 81 + 81 + 81, 162 + 162, 405]
    paid = [81 + 54 + 54 + 54 + 54, 81 + 54 + 54 + 54, 81 + 54 + 54, 162 + 108, 405]
    for rungs, all_of_it, difference in zip(plan.brackets, anew, paid, strict=True):
        assert plan.bracket_resources(rungs, continues=False) == all_of_it
        assert plan.bracket_resources(rungs, continues=True) == difference
    assert plan.total_resources(continues=False) == 405 + 324 + 243 + 324 + 405
    assert plan.n_candidates == 128


def test_iterations_repeat_all_brackets():
    once, twice = (Hyperband(n_iterations=n).plan(problem(27)) for n in (1, 2))
    assert twice.brackets == once.brackets * 2


@pytest.mark.parametrize("of", [range(4, 1, -1), [4, 3, 2], (4, 3, 2)])
def test_brackets_that_are_asked_for_match_the_whole_table(of):
    every = Hyperband().plan(problem(81)).brackets
    plan = Hyperband(brackets=of).plan(problem(81))
    assert plan.brackets == every[:3]
    assert plan.n_candidates == 117
    assert plan.total_resources(continues=False) == 972
    assert sum(rungs[-1].n_candidates for rungs in plan.brackets) == 3
    assert Hyperband(brackets=(0, 4)).plan(problem(81)).brackets == (every[4], every[0])
    assert hash(Hyperband(brackets=of)) == hash(Hyperband(brackets=(4, 3, 2)))


@pytest.mark.parametrize("of", [(), (2, 2), (-1,), (1.5,), "43", 3, (True,)])
def test_brackets_that_are_no_numbers_of_brackets_are_refused(of):
    with pytest.raises(ValueError, match=r"brackets=.*distinct integers"):
        Hyperband(brackets=of)


def test_a_bracket_above_the_table_is_refused_by_the_plan():
    with pytest.raises(ValueError, match=r"contains 5, .*numbered from 4 to 0"):
        Hyperband(brackets=(5, 4)).plan(problem(81))


def test_a_minimum_drops_the_lowest_rungs():
    assert ladder(5, 81, 3) == [9, 27, 81]
    assert len(Hyperband().bracket_table(problem(81, min_resources=5))) == 3


def test_halving_ends_with_one_candidate_by_default():
    (rungs,) = SuccessiveHalving(factor=3).plan(problem(81)).brackets
    assert [(r.resource, r.n_candidates) for r in rungs] == [
        (1, 81), (3, 27), (9, 9), (27, 3), (81, 1),
    ]  # fmt: skip


def test_halving_of_few_candidates_still_reaches_the_top():
    (rungs,) = SuccessiveHalving(n_candidates=5, factor=3).plan(problem(81)).brackets
    assert [rung.n_candidates for rung in rungs] == [5, 1, 1, 1, 1]


# max_resources: rungs of the wide bracket and of the short ones, where nobody chose the lowest.
@pytest.mark.parametrize(
    ("max_resources", "wide", "short"),
    [
        (81, [(3, 36), (9, 12), (27, 4), (81, 1)], [(9, 9), (27, 3), (81, 1)]),
        (52, [(2, 36), (6, 12), (17, 4), (52, 1)], [(6, 9), (17, 3), (52, 1)]),
        (20, [(1, 27), (2, 9), (7, 3), (20, 1)], [(2, 9), (7, 3), (20, 1)]),
        (10, [(1, 12), (3, 4), (10, 1)], [(3, 3), (10, 1)]),
        (5, [(1, 9), (2, 3), (5, 1)], [(2, 3), (5, 1)]),
        (2, [(1, 3), (2, 1)], [(2, 1)]),
        (1, [(1, 1)], [(1, 1)]),
    ],
)
def test_iterated_halving_is_wide_once(max_resources, wide, short):
    scheduler = IteratedHalving(n_iterations=3)
    brackets = scheduler.plan(adapted(scheduler, max_resources)).brackets
    assert [[(r.resource, r.n_candidates) for r in b] for b in brackets] == [wide, short, short]


def test_iterated_halving_begins_where_the_user_says():
    (wide, short) = IteratedHalving(n_iterations=2).bracket_table(problem(243, 1))
    assert wide == (4 * 81, [1, 3, 9, 27, 81, 243])
    assert short == (81, [3, 9, 27, 81, 243])
    assert IteratedHalving(n_iterations=2).bracket_table(problem(243, 81)) == [
        (4, [81, 243]), (1, [243]),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("continues", "n_candidates", "documented", "max_resources"),
    [(True, 36, [3.8, 2.3], n) for n in (54, 52, 100, 1_797)]
    + [(False, 27, [4, 3], n) for n in (54, 81, 100, 1_797)],
)
def test_iterated_halving_costs_what_is_documented(
    continues, n_candidates, documented, max_resources
):
    scheduler = IteratedHalving(n_iterations=2)
    plan = scheduler.plan(adapted(scheduler, max_resources, continues))
    assert plan.brackets[0][0].n_candidates == n_candidates
    spent = [plan.bracket_resources(b, continues) / max_resources for b in plan.brackets]
    assert spent == pytest.approx(documented, rel=0.06)


@pytest.mark.few(2)
@pytest.mark.slow
@pytest.mark.parametrize("continues", [True, False])
@pytest.mark.parametrize("factor", [1.5, 2, 3, 4, 10])
def test_no_bracket_of_iterated_halving_costs_more_than_hyperband_allows(factor, continues):
    scheduler = IteratedHalving(factor, n_iterations=2)
    for max_resources in range(1, 1_001):
        from_one = problem(max_resources, continues=continues)
        for each in (from_one, adapted(scheduler, max_resources, continues)):
            wide, short = scheduler.plan(each).brackets
            for bracket in (wide, short):
                cost = Plan.bracket_resources(bracket, continues)
                assert cost <= len(wide) * max_resources


def test_a_small_space_shortens_the_plan():
    small = Problem(Space({"x": list(range(30))}), 1, 27)
    plan = Hyperband().plan(small)
    assert [rungs[0].n_candidates for rungs in plan.brackets] == [27, 3]
    assert plan.n_candidates == 30


@pytest.mark.parametrize("factor", [1, 0, -3, 1.0000001, math.nan, math.inf])
def test_a_factor_that_makes_no_rungs_is_refused(factor):
    with pytest.raises(ValueError, match="factor="):
        ladder(1, 81, factor)


def test_an_unknown_table_is_refused():
    with pytest.raises(ValueError, match="algorithm1"):
        Hyperband(candidates="mine")
