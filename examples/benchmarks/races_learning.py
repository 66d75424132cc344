"""What samplers find with a race over folds, and without, for the same count of folds.

A candidate's score on a fold is a function's value, plus what the fold adds for everybody, plus
noise. Folds differ three times as much as the noise. After 150 folds the candidate with the best
mean over all 5 is taken, and its regret is that of the function itself. "untold" is a race whose
models know nothing of dropped candidates but that they were tried.

    python examples/benchmarks/races_learning.py [--seeds 12]
"""

import argparse

import numpy as np
from scipy.stats import uniform

from sksearch.history import Problem, Result
from sksearch.samplers import GPSampler, TPESampler
from sksearch.schedulers import FoldRace, FullFidelity
from sksearch.simulators import Branin
from sksearch.simulators._functions import Hartmann6
from sksearch.space import Space
from sksearch.study import Study

N_FOLDS, BUDGET = 5, 150
#: Functions, and what their values are divided by.
FUNCTIONS = {"Branin": (Branin(), 30.0), "Hartmann6": (Hartmann6(), 1.0)}
SAMPLERS = {"GP": GPSampler(), "TPE": TPESampler()}


def regret_of(way, function, scale, sampler, noise, seed):
    """Return the regret after `BUDGET` folds, and the count of candidates."""
    d = function.n_dims
    low, width = function.bounds[:, 0], np.ptp(function.bounds, axis=1)
    rng = np.random.default_rng((seed, d))
    of_folds = rng.normal(0, 3 * noise, N_FOLDS)
    problem = Problem(Space({f"x{i}": uniform(0, 1) for i in range(d)}), 1, N_FOLDS, seed)
    scheduler = FullFidelity(None) if way == "all folds" else FoldRace(None)
    study = Study(problem, sampler, scheduler)
    if way == "untold":
        study.history.problem = problem
    scores, n_folds, best = {}, 0, (-np.inf, 0.0)
    while n_folds < BUDGET:
        job = study.ask()
        if job.trial_id not in scores:
            u = np.array([job.params[f"x{i}"] for i in range(d)])
            value = (function.minimum - function([low + width * u])[0]) / scale
            on_folds = value + of_folds + rng.normal(0, noise, N_FOLDS)
            scores[job.trial_id] = value, on_folds
        value, on_folds = scores[job.trial_id]
        n_folds += job.resource - job.spent
        mean = on_folds[: job.resource].mean()
        study.tell(job, Result(mean, 1.0, fold_scores=tuple(on_folds[: job.resource])))
        if job.resource == N_FOLDS:
            best = max(best, (mean, value))
    return -best[1], len(scores)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=12)
    seeds = range(parser.parse_args().seeds)
    print(
        f"{'function':10} {'noise':>5} sampler {'folds':10} {'mean':>7} {'median':>7} candidates"
    )
    for name, (function, scale) in FUNCTIONS.items():
        for noise in (0.02, 0.1):
            for label, sampler in SAMPLERS.items():
                for way in ("all folds", "race", "untold"):
                    runs = [regret_of(way, function, scale, sampler, noise, s) for s in seeds]
                    regrets, counts = np.array(runs).T
                    print(
                        f"{name:10} {noise:5} {label:7} {way:10} {regrets.mean():7.4f} "
                        f"{np.median(regrets):7.4f} {np.median(counts):10.0f}",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
