"""Hyperband with the published densities: hyperopt's, inside of our brackets.

The thesis [1]_ took its Parzen estimator from hyperopt, and its hybrids on flat functions end at
other means than ours. Here hyperopt proposes the candidates of the same brackets (each learns from
its own results, "NONE", after ten random draws), beside our sampler in both of its forms.

    pip install hyperopt setuptools
    python examples/benchmarks/published_tpe.py [--runs 300] [--samplers hyperopt ...]
        [--record file.jsonl]

.. [1] C. Matache, "Efficient design of machine learning hyperparameter optimizers", MEng thesis,
   Imperial College London, 2019.
"""

import argparse
import logging
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from _peers import require

from sksearch.base import Reads, Sampler
from sksearch.samplers import TPESampler
from sksearch.samplers._observations import observe
from sksearch.schedulers import Hyperband
from sksearch.simulators import play

sys.path.insert(0, str(Path(__file__).parents[1]))
from experiment_transfer import PUBLISHED, lines_of, problems

FLAT = ("flat Branin", "flat Rastrigin", "flat drop-wave")
N_RANDOM = 10


@dataclass(frozen=True)
class HyperoptSampler(Sampler):
    """hyperopt's TPE on the unit cube, told of the results of the own bracket."""

    reads = Reads(results=True)

    def ask(self, history, start, rng):
        """Draw, and let it suggest from the eleventh candidate on."""
        space = history.problem.space
        data = observe(history, start, "none", space.n_dims + 2, None)
        if len(data.y) < N_RANDOM:
            return space.sample(rng)
        hyperopt, tpe = require("hyperopt"), require("hyperopt.tpe")
        names = [f"u{i}" for i in range(space.n_dims)]
        domain = history.cache.get("hyperopt")
        if domain is None:
            cube = {name: hyperopt.hp.uniform(name, 0, 1) for name in names}
            domain = history.cache["hyperopt"] = hyperopt.base.Domain(lambda _: 0, cube)
        trials = hyperopt.Trials()
        known = enumerate(zip(data.U, data.y, strict=True))
        trials.insert_trial_docs([document(i, names, u, -y) for i, (u, y) in known])
        trials.refresh()
        seed = int(rng.integers(2**31))
        (found,) = tpe.suggest([len(data.y)], domain, trials, seed, n_startup_jobs=0)
        values = found["misc"]["vals"]
        return space.from_unit(np.array([values[name][0] for name in names]))


def document(i, names, u, loss):
    """A finished trial in hyperopt's words."""
    return {
        "state": 2,
        "tid": i,
        "spec": None,
        "result": {"status": "ok", "loss": float(loss)},
        "misc": {
            "tid": i,
            "cmd": None,
            "workdir": None,
            "idxs": {name: [i] for name in names},
            "vals": {name: [float(x)] for name, x in zip(names, u, strict=True)},
        },
        "exp_key": None,
        "owner": None,
        "version": 0,
        "book_time": None,
        "refresh_time": None,
    }


SAMPLERS = {
    "ours": TPESampler(n_initial=N_RANDOM, transfer="none"),
    "one coordinate at a time": TPESampler(
        n_initial=N_RANDOM, transfer="none", multivariate=False
    ),
    "hyperopt": HyperoptSampler(),
}


def lowest(sampler, problem, seed):
    """The lowest loss at any rung, as the thesis counts."""
    history = play(sampler, Hyperband(brackets=(4, 3, 2)), problem, random_state=seed)
    return -max(result.score for trial in history.trials for result in trial.results.values())


def main():
    """Run and print."""
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--samplers", nargs="+", choices=SAMPLERS, default=list(SAMPLERS))
    parser.add_argument("--record", type=Path, help="file to append means to")
    args = parser.parse_args()
    for name in FLAT:
        problem = problems("published")[name]
        print(f"{name}: published {PUBLISHED[name]['NONE']}")
        for sampler in args.samplers:
            found = np.array([lowest(SAMPLERS[sampler], problem, i) for i in range(args.runs)])
            error = found.std(ddof=1) / np.sqrt(len(found))
            away = (found.mean() - PUBLISHED[name]["NONE"]) / error
            line = f"  {sampler:26}{found.mean():9.4f} +- {error:.4f}  ({away:+.1f} errors)"
            print(line, flush=True)
            if args.record is not None:
                with args.record.open("a") as file:
                    file.writelines(lines_of(name, "published", {sampler: found}))


if __name__ == "__main__":
    main()
