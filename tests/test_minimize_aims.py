"""`minimize` with objectives, bounds and constraints; what ends it, and what it refuses."""

import math

import numpy as np
import pytest

from sksearch import Bound, minimize
from sksearch.plotting import ParetoDisplay
from sksearch.samplers import (
    GPSampler,
    HypervolumeSampler,
    NSGA2Sampler,
    QuasiRandomSampler,
    RandomSampler,
    TPESampler,
)
from sksearch.schedulers import PASHA, FullFidelity, SuccessiveHalving
from tests.losses import SPACE, bowl, measured, trials, two

# ---- objectives


@pytest.mark.parametrize("sampler", [None, GPSampler(), NSGA2Sampler(), RandomSampler()], ids=str)
def test_several_objectives_have_a_front(sampler):
    found = minimize(
        two, SPACE, objectives=["near", "far"], n_iter=12, sampler=sampler, random_state=0
    )
    values = np.array([two(t.params) for t in found.history.trials])
    free = [not (np.all(values <= v, 1) & np.any(values < v, 1)).any() for v in values]
    assert sorted(found.pareto.index) == np.flatnonzero(free).tolist()
    np.testing.assert_array_equal(found.pareto.values, values[found.pareto.index])
    knee = found.history.trials[found.pareto.knee()].params
    assert found.x == knee
    assert found.fun == dict(zip(("near", "far"), two(knee), strict=True))
    assert ParetoDisplay(front=found.pareto).plot().ax_.get_xlabel() == "near"


def as_dict(params):
    near, far = two(params)
    return {"far": -far, "other": "a word", "near": np.float64(near)}


@pytest.mark.parametrize(
    ("func", "objectives"),
    [
        (lambda params: list(two(params)), ("near", "far")),
        (lambda params: np.array(two(params)), ["near", "far"]),
        (as_dict, ["near", "-far"]),
        (lambda params: {"near": two(params)[0], "far": two(params)[1]}, ["near", "far"]),
        (lambda params: two(params)[::-1], ["far", "near"]),
    ],
)
def test_objectives_come_in_many_forms(func, objectives):
    args = {"n_iter": 10, "sampler": QuasiRandomSampler(), "random_state": 0}
    found = minimize(func, SPACE, objectives=objectives, **args)
    same = minimize(two, SPACE, objectives=["near", "far"], **args)
    assert sorted(found.pareto.index) == sorted(same.pareto.index)
    assert found.x == same.x


def test_a_minus_is_for_what_is_to_be_large():
    found = minimize(
        as_dict, SPACE, objectives=["-far", "near"], n_iter=10, random_state=0, target=0.0
    )
    assert found.message == "All candidates were evaluated."
    results = [t.results[1] for t in found.history.trials]
    assert [r.score for r in results] == [as_dict(t.params)["far"] for t in found.history.trials]
    assert found.pareto.signs.tolist() == [1, -1]


def test_by_default_several_objectives_grow_the_front():
    default, named = (
        minimize(two, SPACE, objectives=["a", "b"], n_iter=9, sampler=sampler, random_state=0)
        for sampler in (None, HypervolumeSampler())
    )
    assert trials(default) == trials(named)


def test_schedulers_promote_by_rank():
    found = minimize(
        lambda params, n: two(params),
        SPACE, objectives=["a", "b"], scheduler=SuccessiveHalving(), max_resources=9,
        sampler=RandomSampler(), random_state=0,
    )  # fmt: skip
    assert {max(found.history.trials[i].results) for i in found.pareto.index} == {9}


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (1.0, "lacks a, b"),
        ((1.0, 2.0, 3.0), "lacks a, b"),
        ({"a": 1.0}, "lacks b"),
        ({"a": 1.0, "b": None}, "None, but must return a number"),
        ((1.0, math.nan), "nan as b"),
    ],
)
def test_an_objective_that_is_missing_is_a_failure_that_is_named(value, said):
    with pytest.raises(RuntimeError, match=said):
        minimize(lambda params: value, SPACE, objectives=["a", "b"], n_iter=2, random_state=0)


# ---- constraints


def test_who_is_refused_is_never_tried():
    tried = []

    def func(params):
        tried.append(params)
        return bowl(params)

    found = minimize(
        func, SPACE, n_iter=12, random_state=0, known={"constraints": lambda p: p["x"] < 0}
    )
    assert len(tried) == 12
    assert all(params["x"] < 0 for params in tried)
    assert found.x["x"] > -0.4, "the best that is allowed is near 0"


@pytest.mark.parametrize("sampler", [None, TPESampler(), RandomSampler()], ids=str)
@pytest.mark.parametrize("as_list", [True, False])
def test_bounds_on_what_is_returned_are_kept(sampler, as_list):
    bound = Bound("memory", "<=", 0.1)
    found = minimize(
        measured, SPACE, n_iter=20, sampler=sampler, random_state=0,
        known={"constraints": [bound] if as_list else bound},
    )  # fmt: skip
    kept = [t.params for t in found.history.trials if abs(t.params["x"]) <= 0.1]
    assert found.fun == min(map(bowl, kept))
    assert found.success


def test_a_bound_may_be_on_the_loss_or_an_objective():
    found = minimize(
        bowl, SPACE, n_iter=6, random_state=0, known={"constraints": Bound("loss", ">=", 0.2)}
    )
    assert found.fun >= 0.2
    found = minimize(
        two, SPACE, objectives=["a", "b"], n_iter=10, random_state=0,
        known={"constraints": Bound("a", "<=", 0.1)},
    )  # fmt: skip
    assert (found.pareto.values[:, 0] <= 0.1).all()


def test_if_no_candidate_satisfies_a_bound_the_nearest_is_named():
    with pytest.warns(UserWarning, match="No candidate satisfies all bounds"):
        found = minimize(
            measured,
            SPACE,
            n_iter=6,
            random_state=0,
            known={"constraints": Bound("memory", ">=", 2)},
        )
    assert not found.success
    assert "No candidate satisfies all bounds" in found.message
    assert abs(found.x["x"]) == max(abs(t.params["x"]) for t in found.history.trials)


def test_a_target_counts_only_within_bounds():
    found = minimize(
        measured, SPACE, n_iter=5, target=10, random_state=0,
        known={"params": {"x": 0.9, "y": 0}, "constraints": Bound("memory", "<=", 0.8)},
    )  # fmt: skip
    assert found.nfev > 1
    assert found.message == "The target was reached."


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (1.0, "lacks memory"),
        ({"memory": 1.0}, "lacks loss"),
        ({"loss": 1.0}, "lacks memory"),
        ({"loss": 1.0, "memory": "much"}, "'much'"),
        ({}, "lacks loss, memory"),
    ],
)
def test_what_a_bound_needs_is_named(value, said):
    with pytest.raises(RuntimeError, match=said):
        minimize(
            lambda params: value, SPACE, n_iter=2, known={"constraints": Bound("memory", "<=", 1)}
        )


# ---- the end


@pytest.mark.parametrize(
    ("ends", "message"),
    [
        ({"timeout": 0.2}, "Time is up."),
        ({"target": 0.3}, "The target was reached."),
        ({"callback": lambda history: len(history.trials) == 5}, "The callback stopped"),
    ],
)
def test_without_a_count_something_else_ends_it(ends, message):
    found = minimize(bowl, SPACE, n_iter=None, sampler=RandomSampler(), random_state=0, **ends)
    assert found.message.startswith(message)


def test_without_a_count_a_finite_space_is_gone_through():
    assert minimize(lambda params: params["a"], {"a": [3, 1, 2]}, n_iter=None).nfev == 3


# ---- arguments


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        *(("timeout", value, "'timeout'") for value in (math.nan, math.inf, -1, 0, True, "1 s")),
        *(("workers", {"timeout": value}, 'workers."timeout"') for value in (math.nan, -1, True)),
        *(("target", value, "'target'") for value in (math.nan, math.inf, -math.inf, True, "low")),
        *(("n_jobs", value, "n_jobs") for value in (0, 1.5, True, "2")),
        *(("workers", {"batch_size": v}, "batch_size.*'auto'") for v in (0, "many", True, None)),
        *(("n_iter", value, "n_iter") for value in (math.nan, -1, True, "9", None)),
        *(("min_resources", value, "min_resources") for value in (0, True, 2.0, None, 2)),
        *(("checkpoint_dir", value, "checkpoint_dir") for value in ("", 3, "a\0b")),
        *(("objectives", value, "objectives=") for value in (3, "loss", ["loss"], ["a", 3])),
        *(("objectives", value, "objectives=") for value in (["a", "-a"], ["-", "b"], [])),
        ("objectives", ["a", "-fit_time"], "another name"),
        ("known", {"constraints": 3}, 'constraints"]: 3, at index 0, must be a function'),
        ("known", {"constraints": lambda params: False}, 'constraints"]: no allowed candidate'),
        (
            "known",
            {"constraints": lambda params: None},
            'constraints"]: .* must return True or False',
        ),
        (
            "known",
            {"constraints": lambda params: params["z"]},
            'constraints"]: .* raised KeyError',
        ),
        ("known", {"results": 3}, "results.*: a int is not"),
        ("known", {"results": {"z": [1, 2], "score": [1, 2]}}, "none of them lies in the space"),
    ],
)
def test_what_cannot_be_used_is_refused_before_a_call(name, value, said):
    calls = []
    with pytest.raises((ValueError, TypeError), match=said):
        minimize(calls.append, SPACE, **{name: value})
    assert not calls


@pytest.mark.parametrize(
    ("kwargs", "said"),
    [
        ({"scheduler": PASHA(9), "objectives": ["a", "b"]}, "a single score"),
        ({"scheduler": PASHA(9), "known": {"constraints": Bound("a", "<=", 1)}}, "a single score"),
        ({"scheduler": FullFidelity(None)}, "would never end"),
        (
            {"known": {"params": {"x": 0.5, "y": 0.5}, "constraints": lambda p: p["x"] < 0}},
            r'known\["params"\]\[0\].* not allowed by known\["constraints',
        ),
    ],
)
def test_arguments_that_do_not_fit_each_other_are_refused_before_a_call(kwargs, said):
    calls = []
    with pytest.raises(ValueError, match=said):
        minimize(lambda *args: calls.append(args), SPACE, max_resources=9, **kwargs)
    assert not calls
