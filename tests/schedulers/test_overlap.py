"""Brackets overlap in time, and n_jobs changes nothing."""

import numpy as np
import pytest
from joblib import parallel_config

from sksearch.executors import VirtualClock
from sksearch.samplers import RandomSampler, TPESampler
from sksearch.schedulers import Hyperband
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


@pytest.mark.few(2)
@pytest.mark.parametrize("after", [3, 9, 17, 24, 31, 40])
def test_a_search_that_continues_tells_in_the_same_order(after, tmp_path):
    def search(folder=None, n_jobs=None):
        search = make("bohb", folder, transfer="all", workers={"batch_size": 5}, n_jobs=n_jobs)
        return search.set_params(estimator__random_state=0)  # threads share the global one

    fit_and_stop(search(tmp_path), after)
    with parallel_config("threading"):
        found = search(tmp_path, 3).fit(X, Y)
    expected = search().fit(X, Y)
    assert outcome(found) == outcome(expected)
    assert found.history_.log == expected.history_.log
