"""`minimize`: the searches on a plain function."""

import math
import pickle
import time
import warnings
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import loguniform, randint, uniform

from sksearch import When, minimize
from sksearch.executors import VirtualClock, spend
from sksearch.history import History, Problem
from sksearch.samplers import (
    ForestSampler,
    GPSampler,
    GridSampler,
    QuasiRandomSampler,
    RandomSampler,
    TPESampler,
)
from sksearch.schedulers import FullFidelity, Hyperband, SuccessiveHalving
from sksearch.space import Space
from tests.losses import SPACE, bowl, curve


def test_warnings_of_choices_name_the_parameter_space():
    with pytest.warns(UserWarning, match=r"^space\['x'\] has 3 choices"):
        minimize(lambda params: params["x"], {"x": [1, 1, 2]}, n_iter=2)


class Calls:
    """A function that remembers what it was called with."""

    def __init__(self, func=bowl):
        self.func = func
        self.args = []

    def __call__(self, *args):
        self.args.append(args)
        return self.func(*args)


# ---- results


def test_the_result_names_the_best_and_what_it_took():
    func = Calls()
    result = minimize(func, SPACE, n_iter=12, random_state=0)
    losses = [bowl(params) for (params,) in func.args]
    assert result.fun == min(losses)
    assert result.x == func.args[np.argmin(losses)][0]
    assert bowl(result.x) == result.fun
    assert result.nfev == result.nit == 12
    assert result.success
    assert result.message == "All candidates were evaluated."
    assert isinstance(result.history, History)
    assert [trial.params for trial in result.history.trials] == [p for (p,) in func.args]
    scores = [trial.results[1].score for trial in result.history.trials]
    np.testing.assert_array_equal(scores, [-loss for loss in losses])
    assert all(trial.results[1].cost >= 0 for trial in result.history.trials)
    assert type(result.fun) is float


def test_it_finds_the_minimum():
    for seed in range(3):
        assert minimize(bowl, SPACE, n_iter=25, random_state=seed).fun < 1e-3


@pytest.mark.whole
@pytest.mark.slow
@pytest.mark.parametrize("sampler", [GPSampler(), TPESampler(), ForestSampler()], ids=str)
def test_learning_beats_drawing(sampler):
    found, drawn = (
        np.mean(
            [minimize(bowl, SPACE, n_iter=30, sampler=s, random_state=i).fun for i in range(6)]
        )
        for s in (sampler, RandomSampler())
    )
    assert found < drawn / 1.5


@pytest.mark.few(1)
@pytest.mark.slow
@pytest.mark.parametrize("penalty", [1.0, 1e4, 1e9])
def test_huge_losses_in_a_part_of_the_space_do_not_hinder(penalty):
    def walled(params):
        return bowl(params) + penalty * (params["x"] > 0.6)

    found = [minimize(walled, SPACE, n_iter=25, random_state=seed).fun for seed in range(2)]
    assert np.mean(found) < 0.005, "of random candidates 0.02"


def test_the_default_is_a_gaussian_process():
    default, named = (
        minimize(bowl, SPACE, n_iter=16, sampler=sampler, random_state=0)
        for sampler in (None, GPSampler())
    )
    assert default.x == named.x
    assert default.history.log == named.history.log


@pytest.mark.parametrize("sampler", [GPSampler(), TPESampler(), ForestSampler(), RandomSampler()])
def test_it_repeats_with_its_seed(sampler):
    first, again, other, state = (
        minimize(bowl, SPACE, n_iter=12, sampler=sampler, random_state=seed)
        for seed in (0, 0, 1, np.random.RandomState(0))
    )
    assert first.x == again.x == state.x
    assert first.x != other.x


def test_all_kinds_of_parameters_reach_the_function():
    space = {
        "lr": loguniform(1e-4, 1),
        "depth": randint(1, 5),
        "kind": ["a", None, (1, 2)],
        "width": When(randint(8, 65), "depth", ">=", 3),
    }
    func = Calls(lambda params: params["lr"] + len(params))
    result = minimize(func, space, n_iter=15, random_state=0)
    checked = Space(space)
    for (params,) in func.args:
        checked.check(params)
        assert type(params["depth"]) is int
    assert "width" not in result.x
    union = minimize(lambda p: len(p), [{"a": [1, 2]}, {"a": [1], "b": [3, 4]}], random_state=0)
    assert (union.fun, union.nit) == (1.0, 4)
    assert minimize(func, checked, n_iter=15, random_state=0).x == result.x


def test_the_function_may_change_its_argument():
    def careless(params):
        return bowl(params) + 0 * params.pop("x")

    result = minimize(careless, SPACE, n_iter=8, random_state=0)
    assert set(result.x) == {"x", "y"}
    assert all(set(trial.params) == {"x", "y"} for trial in result.history.trials)


def test_a_finite_space_is_gone_through_once():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for sampler in (None, GridSampler(), TPESampler()):
            func = Calls(lambda params: params["a"] * params["b"])
            result = minimize(func, {"a": [1, 2, 3], "b": [5, 4]}, n_iter=50, sampler=sampler)
            assert result.x == {"a": 1, "b": 4}
            assert result.nfev == len({tuple(p.values()) for (p,) in func.args}) == 6


@pytest.mark.parametrize("value", [1, np.float32(0.5), np.int64(3), True, np.array(0.25)])
def test_losses_may_be_any_number(value):
    result = minimize(lambda params: value, SPACE, n_iter=2, random_state=0)
    assert result.fun == float(value)


def test_first_guesses_are_tried_first():
    guess = {"x": 0.3, "y": -0.2}
    func = Calls()
    assert minimize(func, SPACE, n_iter=6, known={"params": guess}, random_state=0).x == guess
    assert func.args[0] == (guess,)
    func = Calls()
    guesses = [{"x": 0.5, "y": 0.5}, guess]
    minimize(func, SPACE, n_iter=6, known={"params": guesses}, random_state=0)
    assert [params for (params,) in func.args[:2]] == guesses


def test_equal_losses_name_the_first():
    func = Calls(lambda params: 1.0)
    assert minimize(func, SPACE, n_iter=6, random_state=0).x == func.args[0][0]


# ---- failures


def failing(params):
    if params["x"] > 0.2:
        raise OSError("no space left")
    return bowl(params)


def test_a_failure_costs_only_itself():
    with pytest.warns(UserWarning, match=r"of 20 evaluations failed.*no space left"):
        result = minimize(failing, SPACE, n_iter=20, random_state=0)
    assert result.nfev == 20
    assert result.x["x"] <= 0.2
    statuses = Counter(trial.results[1].status for trial in result.history.trials)
    assert statuses["error"] > 0
    assert statuses["ok"] + statuses["error"] == 20
    failed = next(t for t in result.history.trials if t.results[1].status == "error")
    assert failed.results[1].error == "OSError: no space left"


def test_running_out_of_memory_is_told_from_other_errors():
    def func(params):
        if params["x"] > 0:
            raise MemoryError("too large")
        return 0.0

    with pytest.warns(UserWarning, match="too large"):
        result = minimize(func, SPACE, n_iter=10, random_state=0)
    assert {t.results[1].status for t in result.history.trials} == {"ok", "memory"}


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, np.float64("nan")])
def test_what_is_not_finite_is_a_failure(value):
    func = Calls(lambda params: value if params["x"] > 0 else 1.0)
    with pytest.warns(UserWarning, match="not a finite number"):
        result = minimize(func, SPACE, n_iter=8, random_state=0)
    assert result.fun == 1.0
    assert {t.results[1].status for t in result.history.trials} == {"ok", "nan"}


@pytest.mark.parametrize("value", [None, "low", [1.0, 2.0]], ids=repr)
def test_a_result_that_is_not_a_number_is_a_failure_as_well(value):
    with pytest.raises(RuntimeError, match="All 3 evaluations failed") as caught:
        minimize(lambda params: value, SPACE, n_iter=3, random_state=0)
    assert isinstance(caught.value.__cause__, (TypeError, ValueError))


def test_if_all_fail_the_last_error_is_the_cause():
    def func(params):
        raise KeyError("momentum")

    with pytest.raises(RuntimeError, match="All 5 evaluations failed") as caught:
        minimize(func, SPACE, n_iter=5, random_state=0)
    assert isinstance(caught.value.__cause__, KeyError)
    with pytest.raises(RuntimeError, match=r"returned nan.*and return a number") as caught:
        minimize(lambda params: math.nan, SPACE, n_iter=5, random_state=0)
    assert caught.value.__cause__ is None


def test_an_interrupt_is_not_a_failure():
    def func(params):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        minimize(func, SPACE, n_iter=5, random_state=0)


# ---- the end


def test_a_target_ends_it():
    result = minimize(bowl, SPACE, n_iter=500, target=0.01, random_state=0)
    assert result.message == "The target was reached."
    assert result.fun <= 0.01
    assert result.nfev < 100
    scores = [-trial.results[1].score for trial in result.history.trials]
    assert min(scores[:-1], default=1) > 0.01
    assert minimize(lambda params: 2.0, SPACE, n_iter=5, target=2.0).nfev == 1
    assert minimize(bowl, SPACE, n_iter=5, target=-1.0, random_state=0).nfev == 5


def test_a_callback_sees_each_evaluation_and_may_end_it():
    seen = []
    result = minimize(
        bowl, SPACE, n_iter=20, callback=lambda history: seen.append(len(history.trials)),
        random_state=0,
    )  # fmt: skip
    assert seen == list(range(1, 21))
    assert result.nfev == 20
    result = minimize(
        bowl, SPACE, n_iter=20, callback=lambda history: len(history.trials) == 7, random_state=0
    )
    assert (result.nfev, result.message) == (7, "The callback stopped the search.")


@pytest.mark.parametrize("sampler", [None, RandomSampler()], ids=str)
def test_beliefs_are_followed(sampler):
    def count_near(prior):
        func = Calls(lambda params: params["x"] ** 2)
        space = {"x": uniform(-10, 20)}
        minimize(func, space, n_iter=6, sampler=sampler, known={"prior": prior}, random_state=0)
        return sum(0.2 <= params["x"] <= 0.4 for (params,) in func.args)

    assert count_near({"x": uniform(0.2, 0.2)}) >= 2 > count_near(None)


def test_time_ends_it():
    def slow(params):
        time.sleep(0.02)
        return bowl(params)

    result = minimize(slow, SPACE, n_iter=10_000, timeout=0.3, random_state=0)
    assert result.message == "Time is up."
    assert 1 <= result.nfev < 50
    assert minimize(slow, SPACE, n_iter=10, timeout=1e-9, random_state=0).nfev == 1


def test_a_history_survives_pickling():
    result = minimize(bowl, SPACE, n_iter=10, random_state=0)
    revived = pickle.loads(pickle.dumps(result))
    assert revived.x == result.x
    assert revived.history.log == result.history.log


# ---- as the searches do


def test_the_logger_tells_of_its_calls(caplog):
    with caplog.at_level("INFO", "sksearch"), pytest.warns(UserWarning, match="failed"):
        minimize(failing, {"x": [0.1, 0.3], "y": [0.0]}, random_state=0)
    first, *_, last = caplog.messages
    assert first == "minimize: starts, 2 candidates, 1 fold"
    assert last.startswith("minimize: done in")
    assert [r.levelname for r in caplog.records].count("WARNING") == 1


def test_a_bracket_that_will_not_end_in_time_is_told():
    def slow(params, n):
        spend(n)
        return curve(params, n)

    args = {"scheduler": Hyperband(), "max_resources": 27, "timeout": 50, "random_state": 0}
    with VirtualClock(), pytest.warns(UserWarning, match="first bracket will take about"):
        minimize(slow, SPACE, sampler=RandomSampler(), **args)


class Unplanned(SuccessiveHalving):
    """Brings candidates up to what its plan does not have."""

    def next(self, history, rng):
        decision = super().next(history, rng)
        return replace(decision, resource=2) if history.trials else decision


def test_a_rung_that_is_not_planned_is_refused():
    with pytest.raises(ValueError, match="its plan has no such rung"):
        minimize(curve, SPACE, scheduler=Unplanned(), max_resources=9, random_state=0)


# ---- resources


@pytest.mark.parametrize("sampler", [None, TPESampler(), RandomSampler()], ids=str)
def test_with_hyperband_it_spends_the_plan(sampler):
    func = Calls(curve)
    result = minimize(
        func, SPACE, sampler=sampler, scheduler=Hyperband(), max_resources=27, random_state=0
    )
    plan = Hyperband().plan(Problem(Space(SPACE), 1, 27))
    planned = Counter()
    for rungs in plan.brackets:
        for rung in rungs:
            planned[rung.resource] += rung.n_candidates
    assert Counter(resource for _, resource in func.args) == planned
    assert result.nfev == plan.n_jobs
    assert result.nit == plan.n_candidates
    at_top = [bowl(params) for params, resource in func.args if resource == 27]
    assert result.fun == pytest.approx(min(at_top) + 1 / 27)


def test_the_best_is_among_those_at_the_largest_resource():
    """Though less resource may give a smaller loss."""
    result = minimize(
        lambda params, n: bowl(params) + n,
        SPACE,
        scheduler=SuccessiveHalving(),
        max_resources=9,
        random_state=0,
    )
    assert result.fun > 9


def test_without_a_scheduler_each_candidate_gets_all():
    func = Calls(curve)
    result = minimize(func, SPACE, n_iter=6, max_resources=5, random_state=0)
    assert [resource for _, resource in func.args] == [5] * 6
    assert result.nfev == 6


def test_rungs_begin_at_the_smallest_resource():
    func = Calls(curve)
    minimize(
        func, SPACE, scheduler=Hyperband(), min_resources=3, max_resources=27,
        sampler=QuasiRandomSampler(), random_state=0,
    )  # fmt: skip
    assert {resource for _, resource in func.args} == {3, 9, 27}


def test_a_target_counts_at_full_resource_only():
    result = minimize(
        lambda params, n: float(n),
        SPACE,
        scheduler=Hyperband(),
        max_resources=9,
        target=8.5,
        random_state=0,
    )
    assert result.message == "All candidates were evaluated."


def test_failures_in_hyperband_are_not_brought_further():
    func = Calls(lambda params, n: curve(params, n) if params["x"] < 0.5 else math.nan)
    with pytest.warns(UserWarning, match="evaluations failed"):
        minimize(func, SPACE, scheduler=Hyperband(), max_resources=9, random_state=0)
    failed = [tuple(params.values()) for params, _ in func.args if params["x"] >= 0.5]
    assert len(failed) == len(set(failed)) > 0, "each was tried once"


# ---- arguments


@pytest.mark.parametrize(
    ("kwargs", "error", "message"),
    [
        ({"func": 3}, TypeError, "func=3 must be callable"),
        (
            {"n_iter": 0},
            ValueError,
            "'n_iter' parameter of minimize must be an int",
        ),
        ({"n_iter": 2.5}, ValueError, "must be an int.*Got 2.5"),
        ({"sampler": "gp"}, TypeError, "sampler='gp' is not a Sampler: pass an instance, such as"),
        ({"sampler": GPSampler}, TypeError, "pass an instance"),
        ({"scheduler": 3, "max_resources": 9}, TypeError, "must be an instance of Scheduler"),
        ({"scheduler": Hyperband()}, ValueError, "needs max_resources="),
        (
            {"space": {}, "known": {"params": {"x": 1}}},
            ValueError,
            r"params.*\[0\] sets 'x'",
        ),
        ({"known": {"params": [{"x": 0.0}]}}, ValueError, r"params.*\[0\] lacks 'y'"),
        ({"min_resources": 5, "max_resources": 3}, ValueError, "min_resources=5"),
        ({"space": {"x": "low"}}, TypeError, "wrap it in a list"),
        ({"space": []}, ValueError, "empty search space"),
    ],
)
def test_bad_arguments_are_refused_before_anything_is_evaluated(kwargs, error, message):
    func = Calls()
    with pytest.raises(error, match=message):
        minimize(**({"func": func, "space": SPACE} | kwargs))
    assert func.args == []


@pytest.mark.parametrize(
    "kwargs",
    [
        {"max_resources": 0},
        {"max_resources": 9.5},
        {"timeout": -1.0},
        {"timeout": "1 s"},
        {"target": "low"},
        {"callback": 3},
        {"known": {"params": 5}},
        {"known": {"prior": 5}},
        {"known": {"prior": {"z": {"a": 1}}}},
        {"n_iter": True},
    ],
    ids=str,
)
def test_arguments_that_make_no_sense_are_refused_before_anything_is_evaluated(kwargs):
    func = Calls(lambda *args: 1.0)
    with pytest.raises((ValueError, TypeError), match=next(iter(kwargs))):
        minimize(func, SPACE, **({"n_iter": 2, "random_state": 0} | kwargs))
    assert func.args == []


def test_repeated_guesses_are_tried_once():
    guess = {"x": 0.5, "y": 0.5}
    func = Calls()
    minimize(func, SPACE, n_iter=4, known={"params": [guess, dict(guess)]}, random_state=0)
    assert [params for (params,) in func.args].count(guess) == 1


def test_a_scheduler_names_its_own_count():
    result = minimize(
        lambda params, n: bowl(params),
        SPACE,
        n_iter=3,
        scheduler=FullFidelity(7),
        max_resources=2,
        random_state=0,
    )
    assert result.nit == 7


@pytest.mark.parametrize(
    ("answer", "n"),
    [(True, 1), (np.True_, 1), (False, 4), (np.False_, 4), (None, 4), (1, 4), ("no", 4)],
)
def test_a_callback_stops_with_true_of_any_kind_and_nothing_else(answer, n):
    result = minimize(bowl, SPACE, n_iter=4, callback=lambda history: answer, random_state=0)
    assert result.nit == n


def test_a_function_may_change_its_argument():
    def greedy(params):
        params["list"].append(1)
        params["x"] = 7.0
        return len(params["list"])

    space = {"x": uniform(0, 1), "list": [[], [5]]}
    result = minimize(greedy, space, n_iter=8, random_state=0)
    assert result.x["list"] == []
    assert space["list"] == [[], [5]]
    assert all(0 <= trial.params["x"] <= 1 for trial in result.history.trials)


def test_a_short_search_begins_with_a_quarter_of_it_at_most():
    space = {f"x{j}": uniform(0, 1) for j in range(9)}
    func = lambda params: sum((x - 0.3) ** 2 for x in params.values())  # noqa: E731

    def tried(sampler):
        result = minimize(func, space, n_iter=10, sampler=sampler, random_state=0)
        return [trial.params for trial in result.history.trials]

    quarter = tried(GPSampler(n_initial=2))
    assert tried(None) == tried(GPSampler()) == quarter != tried(GPSampler(n_initial=10))
