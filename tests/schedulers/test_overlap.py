"""Brackets that learn nothing from each other overlap in time, and n_jobs changes nothing."""

import pytest

from sksearch.executors import VirtualClock
from sksearch.samplers import TPESampler
from sksearch.schedulers import Hyperband, IteratedHalving
from sksearch.simulators import Branin, GammaCurves, play

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


def test_time_falls_with_workers():
    """Training begins anew nowhere: 1404 epochs, and no candidate takes less than 81."""
    seconds = {n: searched(n)[1] for n in (1, 2, 5, 10)}
    assert seconds[1] == 1404
    assert seconds[2] < 1404 / 1.7
    assert seconds[5] < 1404 / 3.5
    assert seconds[10] < 1404 / 6.5


@pytest.mark.parametrize(
    "sampler", [ALONE, TPESampler(transfer="none", multivariate=False)], ids=str
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
