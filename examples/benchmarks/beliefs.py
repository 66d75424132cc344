"""What beliefs about good values are worth: `known={"prior": ...}` beside no belief.

A belief is about each number and choice of a task. A good one has its mode at the best of 2,000
draws, moved by a normal step of a tenth of each range; a wrong one at the worst of ten draws. Both
have a standard deviation of 0.15 of the range, or weights of 4 to 1. Printed is the mean regret, 0
at the best known loss and 1 at the median one, clipped there, after n candidates; and how many
candidates the search needs with the belief for what it has after n without. The bars are n / 1.5
for a good belief, and 2 n for a wrong one, at n = 10 and 20.

    python examples/benchmarks/beliefs.py [--seeds 5] [--samplers GP TPE forest random]
"""

import argparse
import math
import sys

import numpy as np
from _tasks import load_task
from scipy.stats import norm

from sksearch.history import Problem, Result
from sksearch.samplers import (
    ForestSampler,
    GPSampler,
    PriorSampler,
    RandomSampler,
    TPESampler,
)
from sksearch.schedulers import FullFidelity
from sksearch.space import Beliefs, Space
from sksearch.study import Study

N = 60
SHOWN = (5, 10, 20, 30, 45, 60)
JUDGED = (10, 20)
TASKS = ("branin", "hartmann6", "mixed", "conditional")
SAMPLERS = {
    "GP": GPSampler(),
    "TPE": TPESampler(),
    "forest": ForestSampler(),
    "random": PriorSampler(RandomSampler()),
}
WIDTH = 0.15


class Around:
    """A normal distribution on a parameter's own scale.

    Parameters
    ----------
    dimension : Dimension
        The parameter.
    middle : float
        Coordinate of the mode.
    """

    def __init__(self, dimension, middle):
        self.dimension, self.middle = dimension, middle

    def cdf(self, values):
        """Probability of at most these values."""
        places = np.array([self.dimension.to_unit(v) for v in np.asarray(values, float)])
        return norm.cdf(places, self.middle, WIDTH)


def beliefs_around(space, params, rng):
    """Beliefs with a mode at a candidate; with a generator moved by a tenth of each range."""
    given = {}
    for dimension, u in zip(space.dimensions, space.to_unit(params), strict=True):
        if np.isnan(u):
            continue
        if dimension.kind == "categorical":
            given[dimension.name] = dict.fromkeys(dimension.choices, 1.0)
            given[dimension.name][params[dimension.name]] = 4.0
        else:
            step = 0.0 if rng is None else 0.1 * rng.standard_normal()
            given[dimension.name] = Around(dimension, float(np.clip(u + step, 0, 1)))
    return Beliefs(space, given)


def regrets(task, sampler, prior, seed):
    """Return the regret of the best one after each candidate, shape (N,)."""
    problem = Problem(Space(task.space), seed=seed, prior=prior, n_candidates=N)
    study, found = Study(problem, sampler, FullFidelity(N)), []
    while (job := study.ask()) is not None:
        found.append(min(1.0, task.regret(job.params)))
        study.tell(job, Result(-task.loss(job.params, np.random.default_rng(seed))))
    return np.minimum.accumulate(found)


def needed(curve, regret):
    """Count of candidates after which a mean curve has come to a regret."""
    there = np.flatnonzero(curve <= regret)
    return int(there[0]) + 1 if len(there) else math.inf


def main():
    """Run, print, and return whether a bar failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--samplers", nargs="+", choices=SAMPLERS, default=list(SAMPLERS))
    args = parser.parse_args()
    failed = False
    print(f"{'':<16}" + "".join(f"{f'n = {n}':>9}" for n in SHOWN) + f"   needed for {JUDGED}")
    for name in args.samplers:
        curves = {"without": [], "good": [], "wrong": []}
        for task in map(load_task, TASKS):
            space = Space(task.space)
            for seed in range(args.seeds):
                rng = np.random.default_rng(seed)
                draws = [space.sample(rng) for _ in range(2_000)]
                good = min(draws, key=task.regret)
                wrong = max(draws[:10], key=task.regret)
                priors = {
                    "without": None,
                    "good": beliefs_around(space, good, rng),
                    "wrong": beliefs_around(space, wrong, None),
                }
                for way, prior in priors.items():
                    curves[way].append(regrets(task, SAMPLERS[name], prior, seed))
        means = {way: np.mean(each, axis=0) for way, each in curves.items()}
        for way, mean in means.items():
            counts = [needed(mean, means["without"][n - 1]) for n in JUDGED]
            line = "".join(f"{mean[n - 1]:>9.4f}" for n in SHOWN)
            print(f"{f'{name}, {way}':<16}{line}   {counts}", flush=True)
            share = {"good": 1 / 1.5, "wrong": 2.0}.get(way, 1.0)
            failed |= any(count > share * n for count, n in zip(counts, JUDGED, strict=True))
    print("bars:", "FAILED" if failed else "ok")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
