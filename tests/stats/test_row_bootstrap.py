"""The interval of a winner's score by the rows that it was tested on."""

from dataclasses import dataclass

import numpy as np
import pytest

from sksearch.stats._row_bootstrap import corrected_by_rows
from sksearch.stats._selection import selected_score

SHARE = (0.0, 1.0)


@dataclass
class Rows:
    """As `RowScores`."""

    contributions: np.ndarray
    n_samples: int


def interval(right, chosen=None, n_folds=5, limits=SHARE):
    """The corrected score of candidates that are right on rows, shape (n_candidates, n_rows)."""
    n = right.shape[1]
    folds = right.reshape(len(right), n_folds, -1)
    scores = folds.mean(axis=2)
    z = (folds - scores[:, :, None]).reshape(right.shape) / n
    chosen = int(scores.mean(axis=1).argmax()) if chosen is None else chosen
    selected = selected_score(scores, chosen=chosen)
    rows = Rows(z, n)
    return corrected_by_rows(selected, scores, chosen, rows, np.arange(len(right)), limits)


@pytest.mark.whole
def test_the_interval_covers_the_truth_of_candidates_that_guess():
    rng = np.random.default_rng(0)
    found = [interval((rng.random((40, 150)) < 0.5).astype(float)) for _ in range(60)]
    assert np.mean([each.seen for each in found]) > 0.56
    assert np.mean([each.corrected for each in found]) == pytest.approx(0.5, abs=0.02)
    assert np.mean([each.low <= 0.5 <= each.high for each in found]) >= 0.9


@pytest.mark.parametrize(("p", "n"), [(0.5, 150), (0.9, 500), (0.97, 250), (0.8, 60)])
def test_the_interval_is_at_most_half_as_wide_again_as_that_of_new_rows(p, n):
    right = (np.arange(n) < p * n).astype(float)
    found = interval(np.random.default_rng(0).permutation(right)[None])
    width = 2 * 1.96 * np.sqrt(p * (1 - p) / n)
    assert width < found.high - found.low <= 1.5 * width
    assert found.n_samples == n


def test_a_winner_that_is_always_right_may_be_wrong_on_the_next_row():
    found = interval(np.ones((3, 100)))
    assert found.corrected == found.high == 1
    assert 0.96 < found.low < 0.99


def test_a_winner_far_ahead_keeps_its_score():
    rng = np.random.default_rng(0)
    right = (rng.random((30, 200)) < 0.5).astype(float)
    right[3] = rng.random(200) < 0.9
    found = interval(right)
    assert found.corrected == found.seen


def test_candidates_that_are_right_on_the_same_rows_share_their_luck():
    right = (np.random.default_rng(0).random((1, 200)) < 0.7).astype(float)
    assert interval(right.repeat(50, axis=0)).corrected == pytest.approx(right.mean())


def test_a_winner_that_is_not_the_best_was_chosen_for_less_luck():
    rng = np.random.default_rng(0)
    right = (rng.random((30, 200)) < 0.5).astype(float)
    best, other = interval(right), interval(right, int(right.mean(axis=1).argmin()))
    assert other.corrected == other.seen
    assert best.corrected < best.seen


@pytest.mark.parametrize("n_unknown", [1, 20])
def test_candidates_whose_rows_are_not_known_are_left_out_if_they_are_few(n_unknown):
    right = (np.random.default_rng(0).random((30, 200)) < 0.5).astype(float)
    scores = right.reshape(30, 5, -1).mean(axis=2)
    z = (right - scores.repeat(40, axis=1)) / 200
    z[np.argsort(scores.mean(axis=1))[:n_unknown]] = np.nan
    chosen = int(scores.mean(axis=1).argmax())
    folds = selected_score(scores, chosen=chosen)
    found = corrected_by_rows(folds, scores, chosen, Rows(z, 200), np.arange(30), SHARE)
    assert (found.n_samples == 200) == (n_unknown == 1)
    assert n_unknown == 1 or found == folds


def test_few_rows_leave_it_to_the_folds():
    right = np.tile([1.0, 0.0], (3, 5))
    assert interval(right).n_samples == 0


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("share", "loss"), [(0.005, 10.0), (0.005, 36.0), (0.02, 5.0), (0.02, 36.0), (0.04, 8.0)]
)
def test_a_winner_without_a_very_wrong_row_may_be_lucky(share, loss):
    """Candidates lose as much on few rows as on all others, as by log loss of a sure class."""
    rng, found = np.random.default_rng(0), []
    for _ in range(30):
        is_wrong = rng.random((12, 200)) < share
        scores = -np.where(is_wrong, loss, rng.normal(0.5, 0.1, is_wrong.shape))
        found.append(interval(scores, limits=(-np.inf, 0.0)))
    truth = -(share * loss + (1 - share) * 0.5)
    is_in = [each.low <= truth <= each.high for each in found]
    assert np.mean(is_in) >= 0.86
