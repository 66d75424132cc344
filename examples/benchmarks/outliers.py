"""The Gaussian process with and without its guard against outliers, where the optimum is known.

Eight functions as they are, with a half in which each candidate fails badly (a score of -1000),
and Rosenbrock's valley on a disk: `regret` is the mean decimal logarithm of the distance to the
optimum after 60 evaluations.

    python examples/benchmarks/outliers.py [--seeds 3]
"""

import argparse

import numpy as np
from scipy.stats import uniform

from sksearch.history import Problem, Result
from sksearch.samplers import GPSampler
from sksearch.schedulers import FullFidelity
from sksearch.simulators import Branin
from sksearch.simulators._functions import (
    Ackley,
    Hartmann3,
    Hartmann6,
    Levy,
    Rosenbrock,
    SixHumpCamel,
    StyblinskiTang,
)
from sksearch.space import Space
from sksearch.study import Study

N_EVALUATIONS = 60
SMALLEST = 1e-7  # a distance that counts as none
SAMPLERS = {
    "guarded": GPSampler(),
    "plain": GPSampler(guards=("interior", "second_opinion", "ties")),
}
FUNCTIONS = [
    Ackley(), Branin(), Hartmann3(), Hartmann6(), Levy(), Rosenbrock(), SixHumpCamel(),
    StyblinskiTang(),
]  # fmt: skip


def whole(function, u):
    return score(function, u)


def half_diverges(function, u):
    best = (function.argmin[0] - function.bounds[:, 0]) / np.ptp(function.bounds, axis=1)
    return -1000.0 if abs(u[0] - best[0]) > 0.25 else score(function, u)


def on_a_disk(function, u):
    return np.nan if np.sum((2 * u - 1) ** 2) > 1 else score(function, u)


def score(function, u):
    low, high = function.bounds.T
    return -float(function([low + u * (high - low)])[0])


def regret(sampler, task, function, seed):
    """Decimal logarithm of the distance to the optimum."""
    names = [f"x{i}" for i in range(function.n_dims)]
    space = Space(dict.fromkeys(names, uniform(0, 1)))
    study = Study(Problem(space, seed=seed), sampler, FullFidelity(N_EVALUATIONS))
    scores = []
    while (job := study.ask()) is not None:
        scores.append(task(function, np.array([job.params[name] for name in names])))
        study.tell(job, Result(scores[-1]))
    return np.log10(max(SMALLEST, -np.nanmax(scores) - function.minimum))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=3)
    n_seeds = parser.parse_args().seeds
    tasks = [(whole, f) for f in FUNCTIONS] + [(half_diverges, f) for f in FUNCTIONS]
    print("regret of", *SAMPLERS)
    for number, (task, function) in enumerate([*tasks, (on_a_disk, Rosenbrock())]):
        found = [
            np.mean([regret(each, task, function, 100 * number + s) for s in range(n_seeds)])
            for each in SAMPLERS.values()
        ]
        print(f"{task.__name__:14}{function!r:28}", *(f"{x:6.2f}" for x in found), flush=True)


if __name__ == "__main__":
    main()
