"""Who leads a search, and among whom."""

import math
from types import SimpleNamespace

import pytest
from scipy.stats import uniform

from sksearch.base import Job
from sksearch.fitting._incumbent import Incumbent
from sksearch.fitting._top_trials import TopTrials
from sksearch.history import History, Problem, Result
from sksearch.space import Space


def test_equals_count_as_candidates_in_vain_and_the_first_leads():
    incumbent = Incumbent(SimpleNamespace(plan=SimpleNamespace(refit=False)), None, None)
    seen = []
    for trial_id, score in enumerate([0.5, 0.5, 0.4, math.nan, 0.6, 0.6]):
        incumbent.compare(Job(trial_id, {}, 1, 0, 0), score)
        seen.append((incumbent.trial_id, incumbent.n_in_vain))
    assert seen == [(0, 0), (0, 1), (0, 2), (0, 3), (4, 0), (4, 1)]


def history_of(*results):
    """A history of trials with these results at one fold of two, and at both if there are two."""
    history = History(Problem(Space({"x": uniform(0, 1)}), 1, 2, seed=0))
    for x, of_rungs in enumerate(results):
        trial = history.start({"x": x / 10}, 0, 1)
        for resource, result in enumerate(of_rungs, 1):
            if resource > 1:
                history.resume(trial.id, resource)
            history.tell(trial.id, resource, result)
    return history


@pytest.mark.parametrize(
    ("any_rung_wins", "size", "expected"),
    [(False, 9, [3, 1]), (True, 9, [3, 0, 1, 2]), (True, 2, [3, 0])],
)
def test_the_top_is_of_the_largest_resource_unless_any_rung_wins(any_rung_wins, size, expected):
    history = history_of(
        [Result(0.8)],
        [Result(0.1), Result(0.5)],
        [Result(0.3)],
        [Result(0.9), Result(0.7)],
        [Result(math.nan)],
    )
    best = TopTrials.of(history, size, any_rung_wins)
    assert [entry[-1] for entry in best._entries] == expected


def test_who_breaks_a_bound_is_not_among_the_best():
    history = history_of([Result(0.9, slacks=(-0.5,))], [Result(0.1)], [Result(0.2, slacks=(1,))])
    assert [entry[-1] for entry in TopTrials.of(history, 9)._entries] == [2, 1]
