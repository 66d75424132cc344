"""How far proposals are from the nearest known parameters, by scale and by what has proposed both.

A thesis [1]_ reports that 30, 78 and 99 % of the candidates of its optimizers are nearer than 1, 2
and 4 % to one of 425 known ones (root of the mean squared difference on the unit interval). The
data are not published. Here 425 known ones, and candidates of several searches, are those of
logistic regression on MNIST, with the rates on a logarithmic and on a linear scale.

    python examples/benchmarks/nearest_curves.py

.. [1] C. Matache, "Efficient design of machine learning hyperparameter optimizers", MEng thesis,
   Imperial College London, 2019, section 8.3.1.
"""

import sys
import warnings
from pathlib import Path

import numpy as np

from sksearch.samplers import RandomSampler, TPESampler
from sksearch.schedulers import FullFidelity, Hyperband
from sksearch.simulators import play

sys.path.insert(0, str(Path(__file__).parents[1]))
from experiment_transfer import problems

N_KNOWN = 425
BRACKETS = Hyperband(brackets=(4, 3, 2))
TPE, HYBRID = TPESampler(n_initial=10), TPESampler(n_initial=10, transfer="none")


def params_of(problem, sampler, scheduler, seeds):
    """Candidates of some runs."""
    histories = (play(sampler, scheduler, problem, random_state=seed) for seed in seeds)
    return [trial.params for history in histories for trial in history.trials]


def main():
    """Run and print."""
    warnings.simplefilter("ignore")
    problem = problems("published")["logistic regression"]
    space = play(RandomSampler(), FullFidelity(1), problem, random_state=0).problem.space
    drawn = params_of(problem, RandomSampler(), FullFidelity(24), range(20))
    learnt = params_of(problem, TPE, FullFidelity(24), range(100, 110))
    known = {
        "at random": drawn[:N_KNOWN],
        "half of TPE": drawn[: N_KNOWN // 2] + learnt[: N_KNOWN - N_KNOWN // 2],
    }
    proposed = {
        "Hyperband": params_of(problem, RandomSampler(), BRACKETS, range(200, 210)),
        "TPE": params_of(problem, TPE, FullFidelity(24), range(300, 340)),
        "hybrid": params_of(problem, HYBRID, BRACKETS, range(500, 510)),
    }
    names = sorted(drawn[0])
    lists = (*known.values(), *proposed.values())
    table = np.array([[p[name] for name in names] for each in lists for p in each], dtype=float)

    def linear(params):
        values = np.array([[p[name] for name in names] for p in params], dtype=float)
        return (values - table.min(axis=0)) / np.ptp(table, axis=0)

    def logarithmic(params):
        return np.array([space.to_unit(p) for p in params])

    for scale in (logarithmic, linear):
        for kind, those in known.items():
            for search, candidates in proposed.items():
                apart = scale(candidates)[:, None] - scale(those)[None]
                nearest = np.sqrt((apart**2).mean(axis=-1)).min(axis=1)
                shares = "".join(
                    f"{(nearest < limit).mean():8.3f}" for limit in (0.01, 0.02, 0.04)
                )
                print(f"{scale.__name__:12} known: {kind:12} of {search:10}{shares}")


if __name__ == "__main__":
    main()
