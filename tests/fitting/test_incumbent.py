"""The leader of a search, and its rivals."""

import math
from types import SimpleNamespace

from sksearch.base._decisions import Job
from sksearch.fitting.run._incumbent import Incumbent
from sksearch.fitting.run._top_trials import TopTrials


def test_equals_count_as_candidates_in_vain_and_the_first_leads():
    incumbent = Incumbent(SimpleNamespace(plan=SimpleNamespace(refit=False)), None, None)
    seen = []
    for trial_id, score in enumerate([0.5, 0.5, 0.4, math.nan, 0.6, 0.6]):
        incumbent.compare(Job(trial_id, {}, 1, 0, 0), score)
        seen.append((incumbent.trial_id, incumbent.n_without_improvement))
    assert seen == [(0, 0), (0, 1), (0, 2), (0, 3), (4, 0), (4, 1)]


def entered(size, *entries):
    """Ids of the best, of trials with these scores at a resource, and of those that left."""
    best, left = TopTrials(size), []
    for trial_id, resource, score in entries:
        left += best.enter(SimpleNamespace(id=trial_id, bracket=0), resource, score)
    return [entry[-1] for entry in best._entries], left


def test_each_is_among_the_top_at_the_resource_where_it_was_best():
    found = (0, 1, 0.8), (1, 1, 0.1), (1, 2, 0.5), (2, 1, 0.3), (3, 1, 0.9), (3, 2, 0.7)
    assert entered(9, *found) == ([3, 0, 1, 2], [])
    assert entered(2, *found) == ([3, 0], [2, 1])


def test_of_equals_the_larger_resource_and_then_the_first_is_better():
    assert entered(9, (0, 1, 0.5), (1, 1, 0.5), (2, 2, 0.5))[0] == [2, 0, 1]


def test_a_candidate_without_a_score_is_not_among_the_top():
    assert entered(3, (0, 1, 0.5), (1, 1, math.nan), (2, 1, -math.inf)) == ([0], [1, 2])
