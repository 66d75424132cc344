"""The history and the study: what is known, asked and told."""

import math
import pickle

import pytest
from scipy.stats import uniform

from sksearch.base import Resume, Start
from sksearch.base._decisions import Job
from sksearch.history import History, Problem, Result
from sksearch.samplers import RandomSampler
from sksearch.schedulers import FullFidelity, Hyperband
from sksearch.space import Space
from sksearch.study import Study

SPACE = Space({"x": uniform(0, 1)})


def test_a_history_counts_what_was_asked_and_told():
    history = History(Problem(SPACE, 1, 9))
    first = history.start({"x": 0.1}, 0, 1)
    history.start({"x": 0.2}, 0, 1)
    assert history.n_running == 2
    history.tell(0, 1, Result(0.5))
    assert (history.n_running, history.n_told(0, 1), history.rung(0, 1)) == (1, 1, [0, 1])
    assert first.resource == 1
    history.resume(0, 3)
    assert first.running == 3
    assert history.log == [("ask", 0, 1), ("ask", 1, 1), ("tell", 0, 1), ("ask", 0, 3)]
    assert history.knows({"x": 0.2})
    assert not history.knows({"x": 0.3})


@pytest.mark.parametrize("resource", [1, 0])
def test_a_trial_only_goes_up(resource):
    history = History(Problem(SPACE, 1, 9))
    history.start({"x": 0.1}, 0, 1)
    with pytest.raises(ValueError, match="cannot run"):
        history.resume(0, 3)  # it is running
    history.tell(0, 1, Result(0.5))
    with pytest.raises(ValueError, match="cannot run"):
        history.resume(0, resource)


def test_a_job_is_told_once():
    study = Study(Problem(SPACE), RandomSampler(), FullFidelity(2))
    job = study.ask()
    with pytest.raises(ValueError, match="tell each job exactly once"):
        study.tell(Job(job.trial_id, job.params, 5), Result(0.0))
    study.tell(job, Result(0.0))
    with pytest.raises(ValueError, match="tell each job exactly once"):
        study.tell(job, Result(0.0))


def test_an_infinite_score_is_not_a_result():
    with pytest.raises(ValueError, match="finite, or NaN"):
        Result(math.inf)


@pytest.mark.parametrize(("low", "high"), [(0, 3), (4, 3), (-1, 3)])
def test_a_problem_has_sensible_resources(low, high):
    with pytest.raises(ValueError, match=f"min_resources={low}"):
        Problem(SPACE, low, high)


def test_the_cache_is_not_pickled():
    history = History(Problem(SPACE))
    history.cache["big"] = object()
    assert pickle.loads(pickle.dumps(history)).cache == {}


def test_guesses_come_first_and_do_not_move_the_draws_after_them():
    def params(guesses):
        study = Study(
            Problem(SPACE, seed=4, initial_params=guesses), RandomSampler(), FullFidelity(5)
        )
        return [study.ask().params for _ in range(5)]

    guess = {"x": 0.5}
    assert params((guess,))[0] == guess
    assert params((guess,))[1:] == params(())[1:]


def test_a_scheduler_may_name_the_params_and_the_parent():
    class Copy(FullFidelity):
        def next(self, history, rng):
            if not history.trials:
                return Start(1)
            if len(history.trials) == 1:
                return Start(2, params={"x": 0.25}, parent=0)
            return None

    study = Study(Problem(SPACE, 1, 2), RandomSampler(), Copy())
    study.tell(study.ask(), Result(0.0))
    job = study.ask()
    assert (job.params, job.parent, job.resource) == ({"x": 0.25}, 0, 2)
    assert study.history.trials[1].parent == 0


def test_decisions_are_plain_values():
    assert Start(3) == Start(3)
    assert Resume(1, 9) != Resume(1, 3)


def test_the_sum_of_a_plan():
    plan = Hyperband().plan(Problem(SPACE, 1, 9))
    assert plan.n_candidates == 15
    assert plan.n_jobs == 20
    assert plan.total_resources(continues=False) == 9 + 9 + 9 + 9 + 9 + 27


# ---- what makes no sense is told at once


@pytest.mark.parametrize("cost", [math.nan, math.inf, -1.0])
def test_a_cost_is_a_count_of_seconds(cost):
    with pytest.raises(ValueError, match="number of seconds"):
        Result(0.5, cost)


def test_a_result_is_a_result():
    study = Study(Problem(SPACE), RandomSampler(), FullFidelity(2))
    job = study.ask()
    with pytest.raises(TypeError, match=r"result=0.5 must be a Result"):
        study.tell(job, 0.5)
    study.tell(job, Result(0.5))
    assert study.ask().trial_id == 1


def test_a_study_has_a_space_and_guesses_within_it():
    def study_of(problem):
        return Study(problem, RandomSampler(), FullFidelity(2))

    with pytest.raises(TypeError, match="must be a Space"):
        study_of(Problem({"x": uniform(0, 1)}))
    with pytest.raises(ValueError, match=r"initial_params\[1\]"):
        study_of(Problem(SPACE, initial_params=({"x": 0.5}, {"x": 5.0})))
