"""What beliefs about good values are worth: `known={"prior": ...}` beside no belief.

A belief is about each number and choice of a task. A good one has its mode at the best of 2,000
draws, moved by a normal step of a tenth of each range; a wrong one at the worst of ten draws. Both
have a standard deviation of 0.15 of the range, or weights of 4 to 1. Printed is the mean regret, 0
at the best known loss and 1 at the median one, clipped there, after n candidates; and how many
candidates the search needs with the belief for what it has after n without. The bars are n / 1.5
for a good belief, and 2 n for a wrong one, at n = 10 and 20.

    python examples/benchmarks/beliefs.py [--seeds 5] [--samplers GP TPE forest random]
        [--record examples/benchmarks/records/beliefs.jsonl]

Runs that the record has are not repeated.
"""

import argparse
import sys
from functools import cache
from pathlib import Path

import numpy as np
from _report import needs_rows, print_bars, print_rows, recorded, steps_of
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
SHOWN = (5, 10, 20, 30, 60)
JUDGED = (10, 20)
TASKS = ("branin", "hartmann6", "mixed", "conditional")
SAMPLERS = {
    "random": PriorSampler(RandomSampler()),
    "TPE": TPESampler(),
    "forest": ForestSampler(),
    "GP": GPSampler(),
}
WIDTH = 0.15
MOST = {"good belief": 1 / 1.5, "wrong belief": 2.0}  # of the candidates without a belief


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


@cache
def priors_of(name, seed):
    """Beliefs about a task by their kind."""
    task, rng = load_task(name), np.random.default_rng(seed)
    space = Space(task.space)
    draws = [space.sample(rng) for _ in range(2_000)]
    good = min(draws, key=task.regret)
    wrong = max(draws[:10], key=task.regret)
    return {
        "no belief": None,
        "good belief": beliefs_around(space, good, rng),
        "wrong belief": beliefs_around(space, wrong, None),
    }


def run(sampler, way, task, seed):
    """Return the steps of the regret."""
    prior, task = priors_of(task, seed)[way], load_task(task)
    problem = Problem(Space(task.space), seed=seed, prior=prior, n_candidates=N)
    study, found = Study(problem, SAMPLERS[sampler], FullFidelity(N)), []
    while (job := study.ask()) is not None:
        found.append(min(1.0, task.regret(job.params)))
        study.tell(job, Result(-task.loss(job.params, np.random.default_rng(seed))))
    return {"steps": steps_of(found)}


def table(lines):
    """Return the rows of the page."""
    return needs_rows(lines, N, SHOWN, JUDGED, "no belief")[0]


def main():
    """Run, print, and return whether a bar failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--samplers", nargs="+", choices=SAMPLERS, default=list(SAMPLERS))
    parser.add_argument("--record", type=Path, help="file of runs, read first and appended to")
    args = parser.parse_args()
    keys = [
        {"sampler": name, "way": way, "task": task, "seed": seed}
        for name in args.samplers
        for way in ("no belief", *MOST)
        for task in TASKS
        for seed in range(args.seeds)
    ]
    rows, needs = needs_rows(recorded(args.record, keys, run), N, SHOWN, JUDGED, "no belief")
    print_rows(rows)
    bars = [
        (f"{name}, {way}", bool(np.all(counts <= MOST[way] * np.array(JUDGED))))
        for (name, way), counts in needs.items()
        if way in MOST
    ]
    return int(not print_bars(bars))


if __name__ == "__main__":
    sys.exit(main())
