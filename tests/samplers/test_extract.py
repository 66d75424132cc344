"""Long histories: what stands for all results, and proposals as functions of the history."""

import collections
import math
import pickle
from dataclasses import dataclass, fields

import numpy as np
import pytest
from scipy.stats import uniform

from sksearch.base import Start
from sksearch.history import History, Problem, Result
from sksearch.samplers import GPSampler, RandomSampler, TPESampler
from sksearch.samplers._observations import Observations, observe
from sksearch.samplers._subsample import Extract, Largest, sampling_keys
from sksearch.schedulers import FullFidelity, Hyperband
from sksearch.space import Space
from sksearch.study import Study

SHORT = Extract(25, 30, above=40, renewed=7)
TOP = Start(1)


def problem(seed=0, **facts):
    return Problem(Space({"x": uniform(0, 1), "k": ["a", "b", "c"]}), seed=seed, **facts)


def histories(n, n_workers=1, failing=0.1, sampler=None, scheduler=None, seed=0, **facts):
    """A history after each result, where jobs end in any order."""
    rng = np.random.default_rng(seed)
    scheduler = scheduler or FullFidelity(n)
    study, running = Study(problem(seed, **facts), sampler or RandomSampler(), scheduler), []
    while True:
        while len(running) < n_workers and (job := study.ask()) is not None:
            running.append(job)
        if not running:
            return
        job = running.pop(rng.integers(len(running)))
        score = math.nan if rng.random() < failing else rng.normal()
        slacks = tuple(rng.normal(size=len(study.history.problem.bounds)))
        study.tell(job, Result(score, slacks=() if math.isnan(score) else slacks))
        yield study.history


def last(events):
    return collections.deque(events, maxlen=1).pop()


def assert_same(one, two):
    for field in fields(Observations):
        a, b = (getattr(data, field.name) for data in (one, two))
        if isinstance(a, Observations):
            assert_same(a, b)
        else:
            np.testing.assert_array_equal(a, b, err_msg=field.name)


# ---- the largest keys


@pytest.mark.parametrize("step", [1, 3, 50])
def test_the_largest_match_the_whole_table_however_it_was_read(step):
    keys = np.random.default_rng(0).integers(5, size=(50, 2)).astype(float)
    part = Largest(8, 2)
    for n in range(step, 51, step):
        part.read(n, lambda new: keys[new])
        best_first = sorted(range(n), key=lambda i: (*-keys[i], i))
        assert part.rows.tolist() == sorted(best_first[:8])
        np.testing.assert_array_equal(part.keys, keys[part.rows])


def test_a_shorter_table_is_read_again():
    keys = np.arange(9.0)[:, np.newaxis]
    part = Largest(3, 1).read(9, lambda new: keys[new])
    assert part.rows.tolist() == [6, 7, 8]
    assert part.read(5, lambda new: keys[new]).rows.tolist() == [2, 3, 4]


def test_a_later_result_is_drawn_with_a_greater_probability():
    """One of four results is drawn as often as its place says: 1, 2, 3, 4 of 10 times."""
    at = np.arange(4)
    drawn = [int(sampling_keys(seed, at, at).argmax()) for seed in range(4_000)]
    counts = np.bincount(drawn, minlength=4)
    # Five standard deviations of a count.
    np.testing.assert_allclose(counts, [400, 800, 1_200, 1_600], atol=5 * math.sqrt(4_000 / 4))


# ---- observations


def test_a_short_history_is_taken_whole():
    for history in histories(SHORT.above, n_workers=3):
        assert_same(observe(history, TOP, extract=SHORT), observe(history, TOP))


@pytest.mark.parametrize("bounds", [(), ("seconds",)])
def test_the_best_results_are_always_there(bounds):
    for history in histories(200, bounds=bounds):
        data, whole = observe(history, TOP, extract=SHORT), observe(history, TOP)
        began = whole if data.began is None else data.began
        told = len(history.log) // 2 // SHORT.renewed * SHORT.renewed
        is_old = whole.log_index < 2 * told
        best = [i for i in whole.best_first if is_old[i] or began is whole][: SHORT.best]
        assert set(whole.trial_id[best]) <= set(data.trial_id)
        assert data.n_all == len(whole.y)


def test_an_extract_has_a_limit_and_grows_at_its_end_until_it_is_drawn_again():
    before, n_renewed = None, 0
    for history in histories(300):
        data, n = observe(history, TOP, extract=SHORT), len(history.log) // 2
        assert len(data.y) + len(data.failed) <= SHORT.size + SHORT.best + SHORT.renewed
        if data.began is None:
            continue
        if n % SHORT.renewed and before is not None:
            for name in ("U", "y", "tried", "failed"):
                one, two = getattr(before, name), getattr(data, name)
                np.testing.assert_array_equal(two[: len(one)], one)
        elif before is not None:
            n_renewed += (
                len(before.began.y) != len(data.began.y)
                or (before.began.trial_id != data.began.trial_id).any()
            )
        np.testing.assert_array_equal(data.U[: len(data.began.U)], data.began.U)
        before = data
    assert n_renewed > 30


def test_failures_have_their_share():
    data = observe(
        last(histories(2_000, failing=0.25)), TOP, extract=Extract(SHORT.best, 400, above=400)
    )
    share = len(data.failed) / (len(data.failed) + len(data.y) - SHORT.best)
    assert 0.18 < share < 0.34  # four standard deviations of a share of 400 draws


def test_running_candidates_are_there():
    for history in histories(100, n_workers=4):
        running = [t.params for t in history.trials if t.running is not None]
        expected = np.array([history.problem.space.to_unit(p) for p in running]).reshape(-1, 2)
        np.testing.assert_array_equal(observe(history, TOP, extract=SHORT).running, expected)


def test_of_a_long_rung_that_is_not_learnt_from_the_latest_are_pending():
    history = History(Problem(Space({"x": uniform(0, 1)}), 1, 3, seed=0))
    for i in range(300):
        resource = 3 if i < 60 else 1
        trial = history.start({"x": i / 300}, 0, resource)
        if i % 7:
            history.tell(trial.id, resource, Result(float(i)))
    data = observe(history, Start(1), n_enough=5, extract=SHORT)
    asked = [i for i in range(200, 300) if i % 7]
    np.testing.assert_allclose(data.excluded[:, 0], np.array(asked) / 300)


@pytest.mark.whole
@pytest.mark.parametrize("known", [0, 30])
@pytest.mark.parametrize("scheduler", [FullFidelity(150), Hyperband(n_iterations=20)])
def test_the_cache_may_be_dropped_at_any_moment(scheduler, known):
    facts = {"known": tuple(({"x": i / 30, "k": "a"}, i / 30) for i in range(known))}
    if isinstance(scheduler, Hyperband):
        facts["max_resources"] = 3
    compared = 0
    for history in histories(0, 3, scheduler=scheduler, **facts):
        twin = pickle.loads(pickle.dumps(history))
        data = observe(history, TOP, extract=SHORT)
        assert_same(data, observe(twin, TOP, extract=SHORT))
        compared += data.learnt is not None
    assert compared > 20


# ---- proposals


@dataclass(frozen=True)
class ShortTPE(TPESampler):
    extract = Extract(SHORT.best, SHORT.size, SHORT.above)


@dataclass(frozen=True)
class ShortGP(GPSampler):
    extract = SHORT


QUASI_RANDOM = SHORT.above - 5


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("sampler", "bounds"),
    [
        (ShortTPE(), ()),
        (ShortTPE(multivariate=False), ("seconds",)),
        (ShortGP(n_initial=QUASI_RANDOM), ("seconds",)),
        (ShortGP(n_initial=QUASI_RANDOM, guards=()), ()),
        (ShortGP(n_initial=QUASI_RANDOM, marginalise=True, guards=()), ()),
        (ShortGP("ei_per_second", n_initial=QUASI_RANDOM, guards=("outliers",)), ()),
    ],
    ids=str,
)
def test_proposals_of_a_long_history_are_a_function_of_it(sampler, bounds):
    n = SHORT.above + 3 * SHORT.renewed
    history = last(histories(n, 2, sampler=sampler, bounds=bounds))
    compared = 0
    twin = Study(history.problem, sampler, FullFidelity(n))
    for event, trial_id, resource in history.log:
        trial = history.trials[trial_id]
        if event == "tell":
            twin.history.tell(trial_id, resource, trial.results[resource])
            continue
        if trial_id > SHORT.above and trial_id % 3 == 0:
            twin.history.cache.clear()
            job = twin.ask()
            assert (job.params, job.prediction) == (trial.params, trial.prediction)
            compared += 1
        else:
            twin.replay(trial_id, trial.params, resource, 0, None, trial.prediction)
    assert compared >= 5


def test_all_but_the_extract_is_forgotten():
    """A proposal does not change with a result that is neither good nor drawn."""
    history = last(histories(300, failing=0))
    drawn = set(observe(history, TOP, extract=ShortTPE.extract).trial_id)
    other = next(i for i in range(300) if i not in drawn)

    def proposals(score):
        history.trials[other].results[1] = Result(score)
        history.cache.clear()
        return [ShortTPE().ask(history, TOP, np.random.default_rng(i)) for i in range(5)]

    score = history.trials[other].results[1].score
    assert proposals(score) == proposals(-99.0) != proposals(99.0)
