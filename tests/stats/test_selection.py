"""The score of the best of several, corrected for the choice."""

import numpy as np
import pytest

from sksearch.stats._selection import selected_score
from sksearch.stats._ties import find_ties


def simulate(n, k, draw, n_runs=200, seed=0):
    """Scores of candidates with known true scores, run by run."""
    rng = np.random.default_rng(seed)
    for _ in range(n_runs):
        truth = draw(rng, n)
        yield truth, truth[:, None] + rng.standard_normal(k) + rng.standard_normal((n, k))


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "draw",
    [
        lambda rng, n: np.zeros(n),
        lambda rng, n: rng.standard_normal(n),
        lambda rng, n: -3 * rng.exponential(size=n),
        lambda rng, n: (rng.random(n) < 0.1).astype(float),
    ],
    ids=["equal", "normal", "skewed", "two groups"],
)
@pytest.mark.parametrize(("n", "k"), [(1, 5), (10, 3), (50, 5)])
def test_the_interval_covers_the_true_score_of_the_chosen_one(n, k, draw):
    covered = bias = seen = 0
    for truth, scores in simulate(n, k, draw, 100):
        found, chosen = selected_score(scores), scores.mean(axis=1).argmax()
        covered += found.low <= truth[chosen] <= found.high
        bias += (found.corrected - truth[chosen]) / 100
        seen += (found.seen - truth[chosen]) / 100
    assert covered >= 90
    assert n == 1 or bias < seen / 2


def test_a_single_candidate_is_not_corrected():
    found = selected_score([[0.8, 0.9, 0.7]])
    assert found.corrected == pytest.approx(found.seen) == pytest.approx(0.8)
    assert np.isnan(found.p_value)


def test_a_winner_far_ahead_keeps_its_score():
    scores = np.random.default_rng(0).normal(0.5, 0.01, (30, 5))
    scores[3] += 0.4
    found = selected_score(scores)
    assert found.corrected == pytest.approx(found.seen, abs=0.003)
    assert found.p_value < 1e-6


def test_equal_candidates_are_pulled_to_their_mean():
    scores = np.random.default_rng(0).normal(0.5, 0.05, (60, 5))
    found = selected_score(scores)
    assert found.seen > 0.54
    assert found.corrected == pytest.approx(0.5, abs=0.015)
    assert found.p_value > 0.05


def test_tibshirani_is_what_their_formula_says():
    # Fold by fold the best are 0.9, 0.8 and 0.9, the winner has 0.9, 0.7 and 0.8.
    scores = [[0.9, 0.7, 0.8], [0.6, 0.8, 0.7], [0.5, 0.6, 0.9]]
    bias = (0.0 + 0.1 + 0.1) / 3
    assert selected_score(scores).tibshirani == pytest.approx(0.8 - bias)


def test_folds_that_a_race_left_out_are_missing():
    scores = np.random.default_rng(0).normal(0.5, 0.05, (60, 5))
    whole = selected_score(scores)
    scores[scores.mean(axis=1) < 0.49, 3:] = np.nan
    cut = selected_score(scores)
    assert cut.seen == whole.seen
    assert cut.corrected == pytest.approx(whole.corrected, abs=0.02)


def test_failed_candidates_do_not_count():
    scores = np.random.default_rng(0).normal(0.5, 0.05, (20, 5))
    failed = np.vstack([np.full((3, 5), np.nan), scores])
    assert selected_score(failed) == selected_score(scores)
    assert not find_ties(failed, 3).tied[:3].any()


def test_one_fold_has_no_interval():
    found = selected_score([[0.5], [0.6]])
    assert found.seen == 0.6
    assert np.isnan([found.corrected, found.low, found.high]).all()


def test_equal_scores_have_no_width_but_that_of_the_folds():
    found = selected_score(np.tile([0.6, 0.62, 0.64], (9, 1)))
    assert found.corrected == pytest.approx(0.62)
    assert found.p_value == 1.0


def test_candidates_within_noise_are_tied_and_others_are_not():
    rng = np.random.default_rng(1)
    folds = rng.normal(0, 0.1, 5)
    scores = folds + rng.normal(0, 0.01, (20, 5))
    scores[10:] -= 0.1
    tied = find_ties(scores, int(scores.mean(axis=1).argmax())).tied
    assert tied[:10].sum() >= 9
    assert not tied[10:].any()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: selected_score([0.1, 0.2]), r"scores has shape \(2,\)"),
        (lambda: selected_score([[np.nan, np.nan]]), "finite score"),
        (
            lambda: selected_score([[0.1, 0.2]], chosen=3),
            "chosen=3 must be the index of one of 1 rows",
        ),
        (lambda: selected_score([[0.1, 0.2]], confidence=1.0), "confidence=1.0"),
    ],
)
def test_what_cannot_be_told_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
