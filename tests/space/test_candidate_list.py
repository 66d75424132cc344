"""A union whose dicts have one candidate each: a list of candidates with common coordinates."""

import numpy as np
import pytest

from sksearch.base import Start
from sksearch.history import History, Problem, Result
from sksearch.samplers import ForestSampler, GPSampler, QuasiRandomSampler, TPESampler
from sksearch.schedulers import FullFidelity
from sksearch.space import Space
from sksearch.study import Study


def listed(*candidates):
    return Space([{name: [value] for name, value in c.items()} for c in candidates])


ROWS = [
    {"rate": 0.1, "solver": "sgd", "n": 8},
    {"rate": 1e-5, "solver": "adam", "n": 64},
    {"rate": 0.003, "solver": "adam", "n": 8},
]


def test_each_parameter_has_one_coordinate_and_numbers_are_in_order():
    space = listed(*ROWS)
    assert [d.name for d in space.dimensions] == ["n", "rate", "solver"]
    assert space.size == 3
    assert space.categorical.tolist() == [False, False, True]
    U = np.array([space.to_unit(row) for row in ROWS])
    np.testing.assert_allclose(U[:, 0], [0.25, 0.75, 0.25])
    np.testing.assert_allclose(U[:, 1], [5 / 6, 1 / 6, 3 / 6])
    np.testing.assert_allclose(U[:, 2], [0.25, 0.75, 0.75])


def test_every_point_of_the_cube_is_one_of_the_candidates():
    space = listed(*ROWS)
    U = np.random.default_rng(0).random((200, 3))
    assert all(space.from_unit(u) in ROWS for u in U)
    V = space.canonical(U)
    for u, v in zip(U, V, strict=True):
        np.testing.assert_array_equal(v, space.to_unit(space.from_unit(u)))
    np.testing.assert_array_equal(space.canonical(V), V)
    assert [space.from_unit(space.to_unit(row)) for row in ROWS] == ROWS


def test_points_draws_and_unseen_are_the_candidates():
    space, rng = listed(*ROWS), np.random.default_rng(0)
    assert [space.candidate(i) for i in range(3)] == ROWS
    draws = [space.sample(rng) for _ in range(3_000)]
    assert min(draws.count(row) for row in ROWS) > 900
    keys = {space.key(ROWS[0]), space.key(ROWS[2])}
    assert space.sample_unseen(keys, rng) == ROWS[1]


def test_candidates_may_lack_parameters():
    rows = [{"kind": "a", "x": 0.1}, {"kind": "a", "x": 0.9}, {"kind": "b"}]
    space = listed(*rows)
    assert np.isnan(space.to_unit(rows[2])[1])
    assert [space.from_unit(space.to_unit(row)) for row in rows] == rows
    assert space.from_unit([0.9, 0.5]) == {"kind": "b"}


def test_an_unlisted_candidate_is_not_in_the_space():
    space = listed(*ROWS)
    space.check(ROWS[1])
    for wrong in (ROWS[0] | {"n": 64}, {"rate": 0.1}, ROWS[0] | {"m": 1}):
        with pytest.raises(ValueError, match="not one of the 3 listed"):
            space.check(wrong)
        with pytest.raises(ValueError, match="not one of the 3 listed"):
            space.to_unit(wrong)


def test_other_unions_are_as_before():
    assert Space([{"x": [1]}, {"x": [2, 3]}]).dimensions[0].name == "(dict)"
    assert Space([{"x": [1, 2]}]).n_dims == 1
    assert Space([{}, {}]).size == 2


@pytest.mark.whole
@pytest.mark.parametrize(
    "sampler", [GPSampler(n_initial=4), ForestSampler(n_initial=4), TPESampler(n_initial=4)]
)
def test_samplers_that_learn_find_the_best_candidate_of_a_list(sampler):
    rng = np.random.default_rng(0)
    X = rng.random((200, 2)).round(4)
    space = listed(*({"x": x, "y": y} for x, y in X.tolist()))
    loss = ((X - 0.3) ** 2).sum(axis=1)
    best = {"x": X[loss.argmin(), 0], "y": X[loss.argmin(), 1]}
    study = Study(Problem(space), sampler, FullFidelity(60))
    while (job := study.ask()) is not None:
        p = job.params
        study.tell(job, Result(-((p["x"] - 0.3) ** 2) - (p["y"] - 0.3) ** 2))
    tried = [trial.params for trial in study.history.trials]
    assert best in tried


def test_a_design_proposes_candidates_of_the_list():
    space = listed(*ROWS)
    params = QuasiRandomSampler().ask(History(Problem(space)), Start(1), np.random.default_rng(0))
    assert params in ROWS
