"""How far proposals are from the nearest known parameters, by scale and by formula.

A thesis [1]_ reports that 30, 78 and 99 % of 78,000 proposals are nearer than 1, 2 and 4 % to one
of 425 known candidates of logistic regression on MNIST, 195 drawn at random and 230 by TPE. Its
data are not published; its code is [2]_. Here as many candidates are made again, ten times, and
compared with the proposals of Hyperband and of a hybrid by two formulas on three scales:

- "squared" is the root of the mean squared difference; "printed" is the formula of the text, the
  root of the mean difference without a square, whatever its sign.
- "logarithmic" is the scale that rates are drawn on, "linear" the one of the text. "code" is what
  the code computes: rates are kept as they are, and divided by the range of their logarithms. So
  all learning rates lie within 7 % of its unit interval, and all weight decays within 1 %.

    python examples/benchmarks/nearest_curves.py [--record file.jsonl]

.. [1] C. Matache, "Efficient design of machine learning hyperparameter optimizers", MEng thesis,
   Imperial College London, 2019, section 8.3.1.
.. [2] https://github.com/cristianmatache/autotune-v2, ``Arm.normalize`` in autotune/core/arm.py
   and ``KnownFnEvaluator`` in autotune/benchmarks/known_loss_fn_problem.py.
"""

import argparse
import json
import sys
import warnings
from pathlib import Path

import numpy as np

from sksearch.samplers import RandomSampler, TPESampler
from sksearch.schedulers import FullFidelity, Hyperband
from sksearch.simulators import play

sys.path.insert(0, str(Path(__file__).parents[1]))
from experiment_transfer import problems

PUBLISHED = (0.30, 0.78, 0.99)
LIMITS = (0.01, 0.02, 0.04)
N_RANDOM, N_LEARNT, N_SETS = 195, 230, 10
N_TRAININGS = 24
BRACKETS = Hyperband(brackets=(4, 3, 2))
TPE = TPESampler(n_initial=10)
PROPOSED = {
    "Hyperband": RandomSampler(),
    "NONE": TPESampler(n_initial=10, transfer="none"),
}
BOUNDS = {
    "learning_rate": (1e-6, 1),
    "weight_decay": (1e-6, 0.1),
    "momentum": (0.3, 0.999),
    "batch_size": (20, 2000),
}
RATES = ("learning_rate", "weight_decay")


def as_drawn(params):
    """Places on the unit interval, rates by their logarithms."""
    return np.column_stack([
        np.log(values / low) / np.log(high / low)
        if name in RATES
        else (values - low) / (high - low)
        for name, (low, high), values in columns(params)
    ])  # fmt: skip


def linear(params):
    """Places on the unit interval, as the text has it."""
    return np.column_stack([
        (values - low) / (high - low) for _, (low, high), values in columns(params)
    ])  # fmt: skip


def as_in_the_code(params):
    """Rates divided by the range of their logarithms; differences do not depend on the origin."""
    return np.column_stack([
        values / (np.log(high / low) if name in RATES else high - low)
        for name, (low, high), values in columns(params)
    ])  # fmt: skip


def columns(params):
    """Name, bounds and values of each parameter."""
    for name, bounds in BOUNDS.items():
        yield name, bounds, np.array([p[name] for p in params], dtype=float)


SCALES = {"logarithmic": as_drawn, "linear": linear, "code": as_in_the_code}
FORMULAS = {
    "squared": lambda apart: np.sqrt((apart**2).mean(axis=-1)),
    "printed": lambda apart: np.sqrt(np.abs(apart.mean(axis=-1))),
}


def params_of(problem, sampler, scheduler, seeds):
    """Candidates of some runs."""
    histories = (play(sampler, scheduler, problem, random_state=seed) for seed in seeds)
    return [trial.params for history in histories for trial in history.trials]


def known_ones(problem, number):
    """Candidates drawn at random and by TPE, as many as published."""
    full, seeds = FullFidelity(N_TRAININGS), range(100 * number, 100 * number + 10)
    drawn = params_of(problem, RandomSampler(), full, seeds)[:N_RANDOM]
    return drawn + params_of(problem, TPE, full, seeds)[:N_LEARNT]


def shares(proposed, known, scale, formula):
    """Shares of proposals nearer than each limit to a known candidate."""
    to = SCALES[scale](known)
    places = SCALES[scale](proposed)
    nearest = np.array([FORMULAS[formula](place - to).min() for place in places])
    return [(nearest < limit).mean() for limit in LIMITS]


def measure(n_sets, n_runs):
    """Mean shares over sets of known candidates and their standard deviation, by case."""
    problem = problems("published")["logistic regression"]
    known = [known_ones(problem, number) for number in range(n_sets)]
    for search, sampler in PROPOSED.items():
        proposed = params_of(problem, sampler, BRACKETS, range(5_000, 5_000 + n_runs))
        for scale in SCALES:
            for formula in FORMULAS:
                found = np.array([shares(proposed, each, scale, formula) for each in known])
                yield {
                    "search": search,
                    "scale": scale,
                    "formula": formula,
                    "mean": found.mean(axis=0).round(4).tolist(),
                    "sd": found.std(axis=0, ddof=1).round(4).tolist(),
                }


def main():
    """Run and print."""
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sets", type=int, default=N_SETS, help="of known candidates")
    parser.add_argument("--runs", type=int, default=10, help="of the searches that propose")
    parser.add_argument("--record", type=Path, help="file for the shares")
    args = parser.parse_args()
    lines = []
    for line in measure(args.sets, args.runs):
        lines.append(line)
        cells = "".join(
            f"{f'{mean:.3f} ± {sd:.3f}':>16}"
            for mean, sd in zip(line["mean"], line["sd"], strict=True)
        )
        print(f"{line['search']:10}{line['scale']:12}{line['formula']:8}{cells}", flush=True)
    if args.record is not None:
        args.record.write_text("".join(json.dumps(line) + "\n" for line in lines))


if __name__ == "__main__":
    main()
