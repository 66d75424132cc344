"""Brackets overlap in time, and n_jobs changes nothing."""

import numpy as np
import pytest
from joblib import parallel_config

from sksearch.executors import VirtualClock
from sksearch.samplers import RandomSampler, TPESampler
from sksearch.schedulers import Hyperband
from sksearch.schedulers._audited import Audited
from sksearch.schedulers._brackets import MAX_LANES
from sksearch.schedulers._iterated_halving import IteratedHalving
from sksearch.simulators import Branin, GammaCurves, play
from tests.checkpoint.test_resume import fit_and_stop, make, outcome
from tests.interrupted import X, Y

CURVES = GammaCurves(Branin(), noise=1)
ALONE = TPESampler(transfer="none")


def searched(n_workers, batch_size=None, sampler=ALONE, scheduler=None):
    """History and simulated seconds."""
    with VirtualClock(n_workers) as clock:
        history = play(
            sampler,
            scheduler or Hyperband(),
            CURVES,
            random_state=1,
            batch_size=batch_size or n_workers,
        )
    return history, clock.seconds


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "sampler",
    [RandomSampler(), *(TPESampler(transfer=t) for t in ("none", "all", "survivors", "same"))],
    ids=str,
)
def test_no_bracket_waits_for_another(sampler):
    """Training begins again nowhere: 1404 epochs, and no candidate takes less than 81."""
    seconds = [searched(n, sampler=sampler)[1] for n in (1, 2, 5, 20, 128)]
    assert seconds[0] == 1404
    assert np.all(np.array(seconds[1:]) <= [750, 326, 110, 81])


@pytest.mark.whole
@pytest.mark.parametrize(
    "sampler",
    [ALONE, TPESampler(transfer="none", multivariate=False), TPESampler(transfer="all")],
    ids=str,
)
def test_the_count_of_workers_changes_no_candidate(sampler):
    scheduler = IteratedHalving(2)
    first, *others = (searched(n, 6, sampler, scheduler)[0] for n in (1, 2, 6, 6))
    for other in others:
        assert other.log == first.log
        assert [t.params for t in other.trials] == [t.params for t in first.trials]


def test_a_bracket_begins_before_the_one_before_it_has_ended():
    history, _ = searched(5)
    log = [(event, history.trials[i].bracket, r) for event, i, r in history.log]
    for bracket in range(4):
        last = max(k for k, (event, b, _) in enumerate(log) if (event, b) == ("tell", bracket))
        first = min(k for k, (event, b, _) in enumerate(log) if (event, b) == ("ask", bracket + 1))
        assert first < last


def test_who_is_next_is_the_one_that_would_end_first():
    history, _ = searched(5)
    time, ends = 0, {}
    for event, i, resource in history.log:
        if event == "ask":
            ends[i] = time + resource - history.trials[i].spent(resource)
        else:
            assert ends[i] == min(ends.values())
            time = ends.pop(i)


@pytest.mark.parametrize(
    ("n_iterations", "batch_size", "n_workers", "busy"),
    [(1, 1, 3, 0.6), (12, 1, 20, 0.6), (12, 2, 20, 0.8)],
)
def test_brackets_without_common_results_run_together_at_any_batch_size(
    n_iterations, batch_size, n_workers, busy
):
    scheduler = Hyperband(9, n_iterations)
    one, _ = searched(1, batch_size, scheduler=scheduler)
    with VirtualClock(n_workers) as clock:
        many = play(ALONE, scheduler, CURVES, random_state=1, batch_size=batch_size)
    assert many.log == one.log
    assert [t.params for t in many.trials] == [t.params for t in one.trials]
    assert clock.utilisation > busy
    running = np.zeros(len(scheduler.plan(one.problem).brackets), int)
    for k, (event, i, _) in enumerate(one.log):
        running[one.trials[i].bracket] += 1 if event == "ask" else -1
        assert running.max() <= batch_size
        if event == "tell" and not any(earlier[0] == "tell" for earlier in one.log[:k]):
            assert np.count_nonzero(running) >= min(MAX_LANES, len(running)) - 1


def test_brackets_that_run_together_propose_as_if_they_were_alone():
    """Only the seeds of the candidates depend on the other brackets."""
    history, _ = searched(3, 1)
    for bracket in range(5):
        running = 0
        for event, i, _ in history.log:
            if history.trials[i].bracket == bracket:
                running += 1 if event == "ask" else -1
                assert running in (0, 1)  # all earlier results of the bracket were known


@pytest.mark.parametrize("sampler", [TPESampler(), TPESampler(transfer="all")], ids=str)
def test_brackets_with_common_results_run_one_after_another_with_one_candidate(sampler):
    history, seconds = searched(20, 1, sampler)
    assert seconds == 1404
    brackets = [trial.bracket for trial in history.trials]
    assert brackets == sorted(brackets)


def test_a_scheduler_with_decisions_of_its_own_has_no_lanes():
    class Own(Hyperband):
        def next(self, history, rng):
            return super().next(history, rng)

    history, seconds = searched(20, 1, scheduler=Own())
    assert seconds == 1404
    assert len(history.trials) == 128


def test_an_audit_changes_neither_proposals_nor_promotions_of_brackets_that_run_together():
    plain, _ = searched(20, 1)
    audited, _ = searched(20, 1, scheduler=Audited(Hyperband(), 0.1))
    assert audited.log[: len(plain.log)] == plain.log
    assert len(audited.log) > len(plain.log)


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("after", "transfer", "n"),
    [(3, "all", 5), (9, "all", 5), (17, "all", 5), (24, "all", 5), (31, "all", 5), (40, "all", 5),
     (5, "none", 1), (24, "none", 1)],
)  # fmt: skip
def test_a_search_that_continues_tells_in_the_same_order(after, transfer, n, tmp_path):
    def search(folder=None, n_jobs=None):
        search = make("bohb", folder, transfer=transfer, workers={"batch_size": n}, n_jobs=n_jobs)
        return search.set_params(estimator__random_state=0)  # threads share the global one

    fit_and_stop(search(tmp_path), after)
    with parallel_config("threading"):
        found = search(tmp_path, 3).fit(X, Y)
    expected = search().fit(X, Y)
    assert outcome(found) == outcome(expected)
    assert found.history_.log == expected.history_.log
