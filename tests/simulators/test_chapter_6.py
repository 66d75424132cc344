"""Two bugs of published optimizers, which a simulated run shows at once ([1]_, chapter 6).

.. [1] C. Matache, "Efficient design of machine learning hyperparameter optimizers", 2019.
"""

import math
from collections import Counter
from dataclasses import dataclass

import pytest

from sksearch.samplers import RandomSampler, TPESampler
from sksearch.schedulers import BracketScheduler, Hyperband
from sksearch.simulators import FAMILIES, GammaCurves, play
from sksearch.simulators._functions import Rastrigin


@dataclass(frozen=True)
class FloatingPointHyperband(BracketScheduler):
    """With the number of brackets from logarithms, as most implementations have it."""

    factor: float = 3

    def bracket_table(self, problem):
        R = problem.max_resources
        s_max = int(math.log(R) / math.log(self.factor))
        return [
            ((s_max + 1) // (s + 1) * 3**s, [R // 3**i for i in range(s, -1, -1)])
            for s in range(s_max, -1, -1)
        ]


@dataclass(frozen=True)
class LateHalving(Hyperband):
    """The first published hybrid: it does not halve after the lowest rung."""

    def _promoted(self, history, bracket, lower, upper):
        rungs = self._plan(history).brackets[bracket]
        ids = history.rung(bracket, lower.resource)
        if lower != rungs[0] or len(rungs) < 3:
            return super()._promoted(history, bracket, lower, upper)
        return ids if history.n_told(bracket, lower.resource) == lower.n_candidates else None


def spent(scheduler, R, sampler=None):
    """Units spent in each bracket by one run, training each job from the beginning."""
    problem = GammaCurves(Rastrigin(2), FAMILIES["rastrigin-1"], n_epochs=R, noise=10)
    history = play(sampler or RandomSampler(), scheduler, problem, random_state=0)
    units = Counter()
    for event, trial_id, resource in history.log:
        if event == "tell":
            units[history.trials[trial_id].bracket] += resource
    return [units[bracket] for bracket in sorted(units)]


@pytest.mark.parametrize("R", [9, 27, 81, 243])
def test_hyperband_has_a_bracket_for_each_power_and_keeps_its_budget(R):
    s_max = round(math.log(R, 3))
    units = spent(Hyperband(), R)
    assert len(units) == s_max + 1
    assert units[0] == max(units) == (s_max + 1) * R


def test_floating_point_logarithms_lose_the_most_explorative_bracket():
    assert len(spent(FloatingPointHyperband(), 81)) == len(spent(Hyperband(), 81)) == 5
    assert len(spent(Hyperband(), 243)) == 6
    assert len(spent(FloatingPointHyperband(), 243)) == 5, "log(243) / log(3) was 4.999..."


@pytest.mark.parametrize("transfer", ["none", "all", "survivors", "same", "rung"])
def test_hybrids_keep_the_budget_of_each_bracket(transfer):
    assert spent(Hyperband(), 27, TPESampler(transfer=transfer)) == spent(Hyperband(), 27)


def test_a_hybrid_that_does_not_halve_at_the_lowest_rung_breaks_the_budget():
    right, wrong = spent(Hyperband(), 81), spent(LateHalving(), 81, TPESampler(transfer="none"))
    assert right[0] == 5 * 81
    assert wrong[0] == 5 * 81 + (81 - 27) * 3, "81 candidates at 3 epochs instead of 27"
