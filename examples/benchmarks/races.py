"""Races over folds: is the winner that of full cross-validation, and for how many fits?

The scores of 48 candidates on each of 5 folds are recorded for 10 tables and 5 models, see
``_fold_scores.py``. A search is 40 of them in a random order; there are 4 for each table and
model, 200 in all. Each method goes through the same candidates and may drop some on the way; it
returns the best of those that have all folds. Two candidates with the same mean are the same
winner. Parameters of the race were chosen on five of the tables.

    python examples/benchmarks/races.py [--candidates 40] [--orders 4]

Exit status 1 if a bar fails.
"""

import argparse
import sys
from collections import defaultdict

import numpy as np
from _fold_scores import DEVELOPED_ON, HELD_OUT, read
from scipy.stats import t as student, uniform

from sksearch.history import Problem, Result
from sksearch.samplers import RandomSampler
from sksearch.schedulers import FoldRace
from sksearch.space import Space
from sksearch.study import Study

SPACE = Space({"x": uniform(0, 1)})
SAME, FITS = 0.95, 0.6  # bars: share of the same winners at least, share of the fits at most
TIE = 1e-6  # of means whose folds are recorded in single precision


def full(scores):
    """Evaluate all candidates on all folds; return the winner and the count of fits."""
    return int(scores.mean(axis=1).argmax()), scores.size


def fold_race(scores, batch_size=1, **kwargs):
    """Race by `FoldRace`."""
    n, k = scores.shape
    study = Study(Problem(SPACE, 1, k), RandomSampler(), FoldRace(n, **kwargs))
    running, means, n_fits = [], {}, 0
    while True:
        while len(running) < batch_size and (job := study.ask()) is not None:
            running.append(job)
        if not running:
            return max(means, key=means.get), n_fits
        job = running.pop(0)
        on_folds = scores[job.trial_id, : job.resource]
        n_fits += job.resource - job.spent
        if job.resource == k:
            means[job.trial_id] = on_folds.mean()
        study.tell(job, Result(on_folds.mean(), fold_scores=tuple(on_folds)))


def one_by_one(scores, drops):
    """Candidate by candidate, with a rule ``drops(leader's folds, own folds) -> bool``."""
    leader, n_fits = 0, scores.shape[1]
    for i in range(1, len(scores)):
        for r in range(1, scores.shape[1] + 1):
            n_fits += 1
            if r < scores.shape[1] and drops(scores[leader, :r], scores[i, :r]):
                break
        else:
            if scores[i].mean() > scores[leader].mean():
                leader = i
    return leader, n_fits


def is_behind(best, own):
    """Drop whoever is behind on the first folds."""
    return own.mean() < best.mean()


def t_test(best, own, alpha=0.05):
    """Drop by a paired t-test on the candidate's own differences, which needs two folds."""
    if len(own) < 2:
        return False
    d = best - own
    sd = d.std(ddof=1) / np.sqrt(len(d))
    return d.mean() > 0 and d.mean() > student.isf(alpha, len(d) - 1) * sd


def optuna_race(scores, pruner):
    """Race by a pruner of Optuna, which is told a fold's score, or the mean so far."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    by_fold = pruner == "WilcoxonPruner"
    kwargs = {"p_threshold": 0.1} if by_fold else {"n_startup_trials": 5}
    study = optuna.create_study(
        direction="maximize",
        sampler=optuna.samplers.RandomSampler(seed=0),
        pruner=getattr(optuna.pruners, pruner)(**kwargs),
    )
    n_fits, means = 0, {}
    for i, row in enumerate(scores):
        trial = study.ask()
        for r in range(1, len(row) + 1):
            n_fits += 1
            trial.report(row[r - 1] if by_fold else row[:r].mean(), r)
            if r < len(row) and trial.should_prune():
                study.tell(trial, state=optuna.trial.TrialState.PRUNED)
                break
        else:
            study.tell(trial, means.setdefault(i, row.mean()))
    return max(means, key=means.get), n_fits


METHODS = {
    "all folds": full,
    "FoldRace": fold_race,
    "FoldRace, error 0.01": lambda scores: fold_race(scores, error=0.01),
    "FoldRace, error 0.05": lambda scores: fold_race(scores, error=0.05),
    "FoldRace, error 0.1": lambda scores: fold_race(scores, error=0.1),
    "FoldRace, error 0.4": lambda scores: fold_race(scores, error=0.4),
    "FoldRace, batch of 4": lambda scores: fold_race(scores, batch_size=4),
    "paired t-test, 0.05": lambda scores: one_by_one(scores, t_test),
    "behind on the mean": lambda scores: one_by_one(scores, is_behind),
    "Optuna WilcoxonPruner": lambda scores: optuna_race(scores, "WilcoxonPruner"),
    "Optuna MedianPruner": lambda scores: optuna_race(scores, "MedianPruner"),
}


def searches(n_candidates, n_orders):
    """Yield table, model and scores of shape (n_candidates, n_folds) of each search."""
    for number, ((table, model), scores) in enumerate(sorted(read().items())):
        for order in range(n_orders):
            rng = np.random.default_rng((number, order))
            yield table, model, scores[rng.permutation(len(scores))[:n_candidates]]


def run(method, n_candidates, n_orders):
    """Run all searches; return rows of table, model, same winner, share of fits, score lost."""
    rows = []
    for table, model, scores in searches(n_candidates, n_orders):
        winner, n_fits = METHODS[method](scores)
        lost = scores.mean(axis=1).max() - scores[winner].mean()
        rows.append((table, model, lost <= TIE, n_fits / scores.size, lost))
    return rows


def line(name, rows):
    """Print the means of some rows."""
    same, fits, lost = np.array([row[2:] for row in rows], dtype=float).T
    print(
        f"{name:24} {same.mean():11.1%} {fits.mean():9.1%} {lost.mean():12.5f} {lost.max():8.4f}"
    )
    return same.mean(), fits.mean()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--candidates", type=int, default=40)
    parser.add_argument("--orders", type=int, default=4)
    args = parser.parse_args()
    results = {}
    for method in METHODS:
        try:
            results[method] = run(method, args.candidates, args.orders)
        except ImportError as error:
            print(f"{method} is left out: {error}")
    groups = {"developed on": DEVELOPED_ON, "held out": HELD_OUT}
    for title, tables in ({"all tables": DEVELOPED_ON + HELD_OUT} | groups).items():
        n = sum(row[0] in tables for row in results["FoldRace"])
        print(f"\n{f'{title}, {n} searches':24} same winner      fits    mean lost     most")
        for method, rows in results.items():
            line(method, [row for row in rows if row[0] in tables])
    for column, title in ((0, "table"), (1, "model")):
        print(f"\n{f'FoldRace by {title}':24} same winner      fits    mean lost     most")
        parts = defaultdict(list)
        for row in results["FoldRace"]:
            parts[row[column]].append(row)
        for name, rows in parts.items():
            line(name, rows)
    same, fits = np.array([row[2:4] for row in results["FoldRace"]], dtype=float).mean(axis=0)
    bars = {
        f"same winner in {SAME:.0%}: {same:.1%}": same >= SAME,
        f"at most {FITS:.0%} of the fits: {fits:.1%}": fits <= FITS,
    }
    print()
    for text, ok in bars.items():
        print(f"{'ok    ' if ok else 'FAILED'} {text}")
    return not all(bars.values())


if __name__ == "__main__":
    sys.exit(main())
