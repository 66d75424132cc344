"""Params and size chosen together: what is begun, what is paid, and what gets everything."""

import numpy as np
import pytest
from scipy.stats import uniform

from sksearch import Bound
from sksearch.base import Resume, Start
from sksearch.history import Problem, Result
from sksearch.samplers import QuasiRandomSampler
from sksearch.schedulers import Fabolas
from sksearch.search import FabolasSearchCV
from sksearch.space import Beliefs, Space
from sksearch.study import Study
from tests.fakes import Curve

SPACE = {"x": uniform(0, 1), "z": uniform(0, 1)}
TOP = 64


def quality(params):
    return -((params["x"] - 0.3) ** 2) - (params["z"] - 0.7) ** 2


def score(params, r):
    """All candidates get better with the size, and small sizes prefer a smaller x."""
    left = 1 - np.log(r) / np.log(TOP)
    return quality({**params, "x": params["x"] + 0.2 * left}) - 0.5 * left**2


def run(
    scheduler,
    seed=0,
    score=score,
    space=SPACE,
    continues=False,
    seconds=None,
    n_full=np.inf,
    **kwargs,
):
    """Drive a study whose trainings cost a second for each unit, or what is said.

    It ends by itself, or when so many full trainings are paid.
    """
    space = Space(space)
    problem = Problem(space, 1, TOP, seed, continues=continues, **kwargs)
    study, jobs, spent = Study(problem, QuasiRandomSampler(), scheduler), [], 0.0
    while spent < n_full * TOP and (job := study.ask()) is not None:
        jobs.append(job)
        cost = seconds(job) if seconds else float(job.resource - job.spent * continues)
        spent += cost
        study.tell(job, Result(score(job.params, job.resource), cost))
    return study.history, jobs


def found_for(scheduler, n_full, seed, score=score, continues=False):
    """Quality of the best candidate with all of the resource, after so many full trainings."""
    history, _ = run(scheduler, seed, score, continues=continues, n_full=n_full)
    return max(quality(trial.params) for trial in history.trials if TOP in trial.results)


def test_the_first_candidates_are_halved_from_a_64th_to_an_eighth():
    history, jobs = run(Fabolas(16, n_initial=8))
    first = [(job.trial_id, job.resource) for job in jobs[:15]]
    assert first[:8] == [(i, 1) for i in range(8)]
    assert [r for _, r in first[8:]] == [2] * 4 + [4] * 2 + [8]
    on = [i for i, r in first[8:12]]
    at_1 = [history.trials[i].results[1].score for i in range(8)]
    assert on == sorted(range(8), key=at_1.__getitem__, reverse=True)[:4]


def test_at_most_half_of_the_candidates_are_the_first_ones():
    _, jobs = run(Fabolas(6, n_initial=20))
    assert [(job.trial_id, job.resource) for job in jobs[:3]] == [(0, 1), (1, 1), (2, 1)]
    assert jobs[3].resource == 2


def test_a_free_worker_does_not_wait_for_the_first_candidates():
    problem = Problem(Space(SPACE), 1, TOP, 0, continues=False)
    study = Study(problem, QuasiRandomSampler(), Fabolas(16, n_initial=4, cost="resource"))
    jobs = [study.ask() for _ in range(4)]
    for job in jobs[:3]:
        study.tell(job, Result(score(job.params, 1), 1.0))
    assert study.ask() is not None


@pytest.mark.whole
@pytest.mark.parametrize("cost", ["seconds", "resource"])
@pytest.mark.parametrize("continues", [False, True])
def test_a_good_candidate_is_found_for_a_few_full_trainings(cost, continues):
    found = [found_for(Fabolas(None, cost=cost), 12, seed, score, continues) for seed in range(3)]
    assert np.median(found) > -0.006


def test_the_predicted_best_is_scored_with_everything_at_the_end():
    history, jobs = run(Fabolas(12, cost="resource"))
    assert len(history.trials) == 12
    assert jobs[-1].resource == TOP
    assert 1 <= sum(job.resource == TOP for job in jobs[-3:]) <= 3
    full = [quality(trial.params) for trial in history.trials if TOP in trial.results]
    assert max(full) >= np.quantile([quality(trial.params) for trial in history.trials], 0.8)


def test_full_size_is_paid_as_soon_as_small_sizes_have_cost_as_much():
    _, jobs = run(Fabolas(32))
    since = 0
    for job in jobs[20:-3]:
        since = 0 if job.resource == TOP else since + job.resource
        assert since < 4 * TOP


@pytest.mark.whole
def test_cheap_params_are_tried_where_they_promise_as_much():
    """Seconds grow a hundredfold with z, of which the score does not depend."""

    def flat(params, r):
        return -((params["x"] - 0.3) ** 2) - 0.2 / r

    shares = {}
    for cost in ("seconds", "resource"):
        z = []
        for seed in range(4):
            history, _ = run(
                Fabolas(24, cost=cost), seed, flat,
                seconds=lambda job: job.resource * 100 ** job.params["z"],
            )  # fmt: skip
            z += [trial.params["z"] for trial in history.trials[5:]]
        shares[cost] = np.mean(z)
    assert shares["seconds"] < 0.4 < shares["resource"] + 0.1
    assert shares["seconds"] < shares["resource"]


@pytest.mark.whole
def test_sizes_that_say_nothing_cost_little():
    """Scores below a quarter of all are noise; those above are the candidate's own."""
    found = []
    for seed in range(3):
        rng = np.random.default_rng(seed)

        def useless_below(params, r, rng=rng):
            return quality(params) if r >= TOP // 4 else -float(rng.random())

        found.append(found_for(Fabolas(None, cost="resource"), 12, seed, useless_below))
    assert np.median(found) > -0.1


def test_failures_are_avoided():
    def fails_right(params, r):
        return np.nan if params["x"] > 0.6 else score(params, r)

    history, _ = run(Fabolas(30, cost="resource"), score=fails_right)
    late = history.trials[12:]
    assert sum(trial.params["x"] > 0.6 for trial in late) <= 4


def test_only_allowed_candidates_are_begun():
    history, _ = run(Fabolas(16, cost="resource"), allows=lambda params: params["x"] > 0.4)
    assert all(trial.params["x"] > 0.4 for trial in history.trials)


def test_what_is_believed_is_tried():
    space = Space(SPACE)
    found = []
    for prior in (None, Beliefs(space, {"z": uniform(0.9, 0.1)})):
        history, _ = run(
            Fabolas(14, cost="resource"), score=lambda params, r: float(-params["x"]), prior=prior
        )
        found.append(np.mean([trial.params["z"] > 0.9 for trial in history.trials[5:]]))
    assert found[1] > found[0]


def test_known_results_are_learnt_from():
    space = Space(SPACE)
    rng = np.random.default_rng(5)
    known = tuple((params, quality(params)) for params in (space.sample(rng) for _ in range(30)))
    history, _ = run(Fabolas(6, n_initial=1, cost="resource"), known=known)
    assert quality(history.trials[2].params) > -0.05


def test_a_finite_space_ends():
    history, _ = run(Fabolas(None), space={"x": [0.1, 0.3, 0.5], "z": [0.5, 0.7]})
    assert len(history.trials) == 6
    assert TOP in history.trials[np.argmax([quality(t.params) for t in history.trials])].results


def test_one_size_is_full_fidelity():
    problem = Problem(Space(SPACE), 4, 4, 0)
    study = Study(problem, QuasiRandomSampler(), Fabolas(8, n_initial=3, cost="resource"))
    while (job := study.ask()) is not None:
        study.tell(job, Result(quality(job.params), 1.0))
    assert [list(trial.results) for trial in study.history.trials] == [[4]] * 8


def test_a_dropped_cache_changes_nothing():
    history, _ = run(Fabolas(12, cost="resource"))
    scheduler = Fabolas(20, cost="resource")
    first = scheduler.next(history, np.random.default_rng(0))
    history.cache.clear()
    assert scheduler.next(history, np.random.default_rng(0)) == first
    assert isinstance(first, Start | Resume)


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"n_candidates": 0}, "n_candidates=0 must be an integer of at least 1"),
        ({"n_initial": True}, "n_initial=True must be an integer of at least 1"),
        ({"cost": "epochs"}, "cost='epochs' must be one of seconds, resource"),
    ],
)
def test_wrong_parameters_are_errors(kwargs, message):
    with pytest.raises(ValueError, match=message):
        Fabolas(**kwargs)


# ---- the search

X, y = np.zeros((12, 2)), np.arange(12.0)
QUALITY = {"quality": uniform(0, 1)}


def make(**kwargs):
    common = {"n_iter": 12, "resource": "epochs", "max_resources": 16, "cv": 2, "random_state": 0}
    return FabolasSearchCV(Curve(), QUALITY, **(common | kwargs))


def test_the_search_returns_what_was_scored_with_everything():
    search = make(select="top").fit(X, y)
    assert search.best_n_resources_ == 16
    assert search.best_params_["quality"] > 0.85
    assert search.min_resources_ == 1


@pytest.mark.few(1)
@pytest.mark.parametrize(("n_jobs", "batch_size"), [(2, 1), (2, 3)])
def test_workers_change_nothing_and_several_candidates_may_be_under_way(n_jobs, batch_size):
    one = make(workers={"batch_size": batch_size}).fit(X, y)
    two = make(workers={"batch_size": batch_size}, n_jobs=n_jobs).fit(X, y)
    assert one.cv_results_["params"] == two.cv_results_["params"]
    assert list(one.cv_results_["n_resources"]) == list(two.cv_results_["n_resources"])


def test_seconds_count_where_a_time_is_given():
    space, rng = Space(QUALITY), np.random.RandomState(0)
    costs = [make(**kwargs)._compose(space, rng)[1].cost
             for kwargs in ({}, {"timeout": 5}, {"cost": "seconds"})]  # fmt: skip
    assert costs == ["resource", "seconds", "seconds"]


def test_bounds_and_audits_are_refused():
    with pytest.raises(ValueError, match="compares the values of a single score"):
        make(known={"constraints": Bound("predict_time", "<=", 1)}).fit(X, y)
    with pytest.raises(ValueError, match="does not plan how many"):
        make(audit=0.1).fit(X, y)
