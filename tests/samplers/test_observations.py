"""What samplers learn from: the schemes of transfer, on a history that is laid out by hand."""

import math
import pickle

import numpy as np
import pytest
from scipy.stats import randint, uniform

from sksearch import When
from sksearch.base import Start
from sksearch.history import History, Problem, Result
from sksearch.samplers import RandomSampler
from sksearch.samplers._observations import TRANSFERS, ResultIndex, observe
from sksearch.schedulers import Hyperband
from sksearch.space import Space
from sksearch.study import Study

# All at more than a fifth of the largest, below which "rung" and "joint" do not look.
LOW, MID, TOP = 4, 6, 9
# Bracket, then rungs with "ok", "fails" or "runs". Bracket 1 is the one that is being filled.
TRIALS = [
    (0, {LOW: "ok"}),  # 0
    (0, {LOW: "ok"}),  # 1
    (0, {LOW: "ok", MID: "fails"}),  # 2
    (0, {LOW: "ok", MID: "ok"}),  # 3, stopped at MID
    (0, {LOW: "ok", MID: "ok", TOP: "ok"}),  # 4, a survivor
    (0, {LOW: "fails"}),  # 5
    (0, {LOW: "ok", TOP: "ok"}),  # 6, a survivor that skipped MID
    (1, {MID: "ok"}),  # 7
    (1, {MID: "ok", TOP: "ok"}),  # 8
    (1, {MID: "runs"}),  # 9
    (1, {MID: "fails"}),  # 10
    (1, {MID: "ok", TOP: "runs"}),  # 11
    (2, {TOP: "ok"}),  # 12, of a later bracket, for which an idle worker had time
    (2, {TOP: "runs"}),  # 13
]
FAILED = {2, 5, 10}


def score(trial_id, resource):
    return trial_id + resource / 100


def history_by_hand():
    history = History(Problem(Space({"x": uniform(0, 20)}), LOW, TOP, seed=0))
    for resource in (LOW, MID, TOP):
        for i, (_, rungs) in enumerate(TRIALS):
            if min(rungs) == resource:
                # Trials of later brackets begin later, so their numbers are in order.
                while len(history.trials) <= i:
                    k = len(history.trials)
                    history.start({"x": float(k)}, TRIALS[k][0], min(TRIALS[k][1]))
        for i, (_, rungs) in enumerate(TRIALS):
            if resource in rungs and history.trials[i].running is None:
                history.resume(i, resource)
            if resource in rungs and rungs[resource] != "runs":
                ok = rungs[resource] == "ok"
                cost = 10 * i + resource
                history.tell(
                    i,
                    resource,
                    Result(score(i, resource), cost) if ok else Result(math.nan, cost, "error"),
                )
    return history


def pairs(data):
    """Which trial at which resource each row is."""
    trials = np.round(20 * data.U[:, 0]).astype(int).tolist()
    found = list(zip(trials, data.resource.tolist(), strict=True))
    np.testing.assert_allclose(data.y, [score(*pair) for pair in found])
    np.testing.assert_allclose(data.cost, [10 * i + r for i, r in found])
    return found


def ids(points):
    return {round(20 * u) for u in points[:, 0]}


OWN = [(7, MID), (8, MID), (11, MID)]


@pytest.mark.parametrize(
    ("transfer", "earlier"),
    [
        ("none", []),
        # 2 failed at MID, and 6 was not measured there: its nearest rung above is TOP.
        ("all", [(3, MID), (4, MID), (6, TOP)]),
        ("survivors", [(4, MID), (6, TOP)]),
        ("same", [(3, MID)]),
    ],
)
def test_of_earlier_brackets_each_scheme_sees_its_trials(transfer, earlier):
    data = observe(history_by_hand(), Start(MID, bracket=1), transfer)
    assert sorted(pairs(data)) == sorted(earlier + OWN)
    # Failures have no score that a scheme could pass on: only "all" hands down everything.
    assert ids(data.failed) == (FAILED if transfer == "all" else {10})
    # 11 runs too, but its score here is known.
    assert ids(data.running) == ({9, 13} if transfer == "all" else {9})


@pytest.mark.parametrize("transfer", ["none", "all", "survivors", "same"])
def test_the_first_bracket_sees_itself_at_its_first_rung(transfer):
    data = observe(history_by_hand(), Start(LOW, bracket=0), transfer)
    assert sorted(pairs(data)) == [(i, LOW) for i in (0, 1, 2, 3, 4, 6)]
    assert ids(data.failed) == (FAILED if transfer == "all" else {2, 5})
    assert ids(data.running) == ({9, 11, 13} if transfer == "all" else set())


@pytest.mark.parametrize(
    ("transfer", "earlier"),
    [("none", []), ("all", [4, 6, 8]), ("survivors", [4, 6, 8]), ("same", [4, 6, 8])],
)
def test_at_the_largest_resource_who_got_there_survived_and_was_stopped_there(transfer, earlier):
    data = observe(history_by_hand(), Start(TOP, bracket=2), transfer)
    assert sorted(pairs(data)) == [(i, TOP) for i in (*earlier, 12)]
    assert ids(data.running) == ({9, 11, 13} if transfer == "all" else {13})


def test_a_later_bracket_that_runs_ahead_is_not_looked_at():
    history = history_by_hand()
    history.tell(13, TOP, Result(score(13, TOP), 130 + TOP))
    for transfer in ("none", "all", "survivors", "same"):
        assert max(i for i, _ in pairs(observe(history, Start(MID, 1), transfer))) == 11


@pytest.mark.parametrize(
    ("n_enough", "resource", "trials"),
    [
        (1, TOP, [4, 6, 8, 12]),
        (4, TOP, [4, 6, 8, 12]),
        (5, MID, [3, 4, 7, 8, 11]),
        (6, LOW, [0, 1, 2, 3, 4, 6]),
        (7, LOW, [0, 1, 2, 3, 4, 6]),  # nowhere enough: where there are most
    ],
)
@pytest.mark.parametrize("start", [Start(LOW, 0), Start(MID, 1), Start(TOP, 2)], ids=str)
def test_rung_takes_the_largest_resource_with_enough_results(start, n_enough, resource, trials):
    data = observe(history_by_hand(), start, "rung", n_enough)
    assert sorted(pairs(data)) == [(i, resource) for i in trials]
    assert ids(data.failed) == FAILED
    assert ids(data.running) == {9, 11, 13} - set(trials)


def test_of_equal_counts_below_enough_rung_takes_the_larger_resource():
    history = History(Problem(Space({"x": uniform(0, 20)}), LOW, TOP))
    history.start({"x": 1.0}, 0, LOW)
    for resource in (LOW, MID):
        history.tell(0, resource, Result(score(1, resource), 10 + resource))
        if resource == LOW:
            history.resume(0, MID)
    assert pairs(observe(history, Start(LOW), "rung", 5)) == [(1, MID)]


@pytest.mark.parametrize("transfer", ["rung", "joint"])
def test_results_after_a_tiny_part_of_the_training_are_not_looked_at(transfer):
    history = History(Problem(Space({"x": uniform(0, 20)}), 1, 81))
    for i in range(3):
        history.start({"x": float(i)}, 0, 1)
        history.tell(i, 1, Result(score(i, 1), 10 * i + 1))
    assert pairs(observe(history, Start(1), transfer, 1)) == []
    assert ids(observe(history, Start(1), transfer, 1).running) == set()
    history.resume(2, 27)
    assert ids(observe(history, Start(1), transfer, 1).running) == {2}
    history.tell(2, 27, Result(score(2, 27), 47))
    assert pairs(observe(history, Start(1), transfer, 9)) == [(2, 27)]


@pytest.mark.parametrize("transfer", ["rung", "joint"])
def test_a_fortieth_of_the_largest_resource_is_enough_to_learn_from(transfer):
    for largest, n_seen in ((80, 3), (81, 0)):
        history = History(Problem(Space({"x": uniform(0, 20)}), 1, largest))
        for i in range(3):
            history.start({"x": float(i)}, 0, 2)
            history.tell(i, 2, Result(score(i, 2), 10 * i + 2))
        assert len(observe(history, Start(2), transfer, 1).y) == n_seen


def test_joint_takes_all_results_in_the_order_of_telling():
    history = history_by_hand()
    data = observe(history, Start(MID, 1), "joint")
    told = [(i, r) for event, i, r in history.log if event == "tell"]
    assert pairs(data) == [(i, r) for i, r in told if TRIALS[i][1][r] == "ok"]
    assert len(data.y) == 15
    assert ids(data.running) == {9, 13}


@pytest.mark.parametrize("transfer", TRANSFERS)
def test_each_trial_is_labelled_once_in_the_order_of_first_results(transfer):
    history = history_by_hand()
    data = observe(history, Start(MID, 1), transfer)
    told = list(dict.fromkeys(i for event, i, _ in history.log if event == "tell"))
    if transfer in ("none", "survivors", "same"):
        told = [i for i in told if TRIALS[i][0] == 1]
    assert np.round(20 * data.tried[:, 0]).astype(int).tolist() == told
    assert data.ok.tolist() == [i not in FAILED for i in told]


@pytest.mark.parametrize("transfer", TRANSFERS)
def test_places_are_those_in_the_order_of_telling(transfer):
    history = history_by_hand()
    data = observe(history, Start(MID, 1), transfer)
    assert [history.log[i] for i in data.log_index] == [("tell", *pair) for pair in pairs(data)]
    failed = np.round(20 * data.failed[:, 0]).astype(int).tolist()
    assert [history.log[i][:2] for i in data.failed_log_index] == [("tell", i) for i in failed]


@pytest.mark.parametrize("transfer", TRANSFERS)
def test_an_empty_history_gives_empty_arrays(transfer):
    space = Space({"x": uniform(0, 1), "k": ["a", "b"], "n": When(randint(0, 3), "k", "==", "a")})
    history = History(Problem(space, 1, 9))
    data = observe(history, Start(1), transfer)
    for points in (data.U, data.failed, data.running):
        assert points.shape == (0, 3)
    assert data.y.shape == data.cost.shape == data.resource.shape == (0,)


@pytest.mark.parametrize("transfer", TRANSFERS)
def test_a_history_of_failures_has_no_scores(transfer):
    history = History(Problem(Space({"x": uniform(0, 20)}), 1, 9))
    for i in range(3):
        history.start({"x": float(i)}, 0, 1)
        history.tell(i, 1, Result(math.nan, status="error"))
    data = observe(history, Start(1), transfer)
    assert len(data.y) == 0
    assert ids(data.failed) == {0, 1, 2}


def test_points_match_the_candidates_with_nan_where_inactive():
    space = Space({"x": uniform(0, 1), "k": ["a", "b"], "n": When(randint(0, 3), "k", "==", "a")})
    history = History(Problem(space))
    rng = np.random.default_rng(0)
    for i in range(20):
        history.start(space.sample(rng), 0, 1)
        if i < 15:
            history.tell(i, 1, Result(float(i)))
    data = observe(history, Start(1))
    expected = np.array([space.to_unit(trial.params) for trial in history.trials])
    np.testing.assert_array_equal(data.U, expected[:15])
    np.testing.assert_array_equal(data.running, expected[15:])
    assert np.isnan(data.U).any()


# ---- the cache


def assert_same(one, two):
    for name in ("U", "y", "cost", "resource", "log_index", "failed", "failed_log_index", "tried",
                 "ok", "running", "excluded"):  # fmt: skip
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name), err_msg=name)


def hyperband_events(n_workers, seed):
    """A history after each event of Hyperband, with failures and jobs that end in any order."""
    rng = np.random.default_rng(seed)
    problem = Problem(Space({"x": uniform(0, 1), "k": ["a", "b", "c"]}), 1, 9, seed)
    study = Study(problem, RandomSampler(), Hyperband(n_iterations=2))
    running = []
    while True:
        while len(running) < n_workers and (job := study.ask()) is not None:
            running.append(job)
            yield study.history
        if not running:
            return
        job = running.pop(rng.integers(len(running)))
        failed = rng.random() < 0.15
        study.tell(job, Result(math.nan if failed else rng.random(), rng.random()))
        yield study.history


STARTS = [Start(1, 0), Start(3, 1), Start(9, 2), Start(1, 3), Start(9, 5)]


@pytest.mark.few(3)
@pytest.mark.parametrize("n_workers", [1, 4])
@pytest.mark.parametrize("transfer", TRANSFERS)
def test_the_cache_may_be_dropped_at_any_moment(transfer, n_workers):
    for history in hyperband_events(n_workers, seed=1):
        twin = pickle.loads(pickle.dumps(history))
        assert twin.cache == {}
        for start in STARTS:
            assert_same(observe(history, start, transfer), observe(twin, start, transfer))
    history.cache.clear()
    for start in STARTS:
        assert_same(observe(history, start, transfer), observe(twin, start, transfer))


@pytest.mark.parametrize("transfer", TRANSFERS)
def test_the_history_is_only_read(transfer):
    history = history_by_hand()
    before = pickle.dumps(history)
    observe(history, Start(MID, 1), transfer)
    assert pickle.dumps(history) == before


@pytest.mark.parametrize("n_workers", [1, 4])
def test_pending_are_the_running_trials_without_a_score(n_workers):
    for history in hyperband_events(n_workers, seed=2):
        running = [trial for trial in history.trials if trial.running is not None]
        assert len(running) == history.n_running <= n_workers
        for transfer in ("joint", "all"):
            data = observe(history, Start(1, 0), transfer)
            known = {tuple(u) for u in data.U}
            points = [history.problem.space.to_unit(trial.params) for trial in running]
            expected = {tuple(u) for u in points} - known
            assert {tuple(u) for u in data.running} == expected


@pytest.mark.parametrize("transfer", ["none", "all", "joint"])
def test_what_is_known_only_grows_at_its_end_while_a_bracket_is_filled(transfer):
    before = np.empty((0, 2))
    for history in hyperband_events(1, seed=3):
        data = observe(history, Start(1, 3), transfer)
        np.testing.assert_array_equal(data.U[: len(before)], before)
        before = data.U
    assert len(before) > 5


def test_each_event_is_read_once():
    history = history_by_hand()
    index = ResultIndex.of(history)
    assert index.n_read == len(history.log)
    scored = list(index.scored)
    assert ResultIndex.of(history) is index
    assert list(index.scored) == scored
    history.tell(9, MID, Result(0.5))
    assert list(ResultIndex.of(history).scored) == [*scored, (9, MID)]
    assert set(index.failed) == FAILED
    assert len(index.points.rows) == len(history.trials)
