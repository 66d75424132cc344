"""What PASHA saves, and what it loses: against ASHA with the same candidates.

Both draw the same candidates on imitated and on recorded trainings. Printed are the epochs that
PASHA spent as a share of ASHA's (mean, least and most over seeds), the same before the best
candidate alone is brought from the last open rung to its last epoch, the median of the highest
rung that was opened, the mean regret of the candidate that each of them chose (0 is the best of
all candidates at the last epoch, 1 the median one), and how often they chose the same. Recorded
tasks are left out where the data folder is not there.

    python examples/benchmarks/pasha.py [--candidates 81 243] [--seeds 20]
"""

import argparse

import numpy as np

from sksearch.samplers import RandomSampler
from sksearch.schedulers import ASHA, PASHA
from sksearch.schedulers._brackets import ladder
from sksearch.simulators import FAMILIES, Branin, GammaCurves, load_mnist_curves, play
from sksearch.simulators._functions import Hartmann6, Rastrigin
from sksearch.simulators._tables import load_task

N_WORKERS = 4
RECORDED = ("lcbench_fashion", "lcbench_covertype", "lcbench_vehicle")


def problems():
    """Name what is searched."""
    found = {
        "Branin, flat curves": GammaCurves(Branin()),
        "Hartmann 6, flat curves": GammaCurves(Hartmann6()),
        "Branin": GammaCurves(Branin(), FAMILIES["branin"]),
        "Rastrigin-1": GammaCurves(Rastrigin(2), FAMILIES["rastrigin-1"], noise=10),
        "Rastrigin-2": GammaCurves(Rastrigin(2), FAMILIES["rastrigin-2"], noise=10),
        "MNIST, error": load_mnist_curves(),
        "MNIST, log loss": load_mnist_curves("log_loss"),
    }
    for name in RECORDED:
        try:
            found[name] = load_task(name)
        except FileNotFoundError as error:
            print(f"without {name}: {error}")
    return found


def one_run(scheduler, problem, seed):
    """Play once.

    Returns
    -------
    epochs, epochs_before : int
        All that were spent, and those before the best candidate was brought past closed rungs.
    opened : int
        The highest rung that candidates were promoted to.
    loss : float
        Last loss of the chosen one.
    trials : list of Trial
        All of them.
    """
    history = play(RandomSampler(), scheduler, problem, random_state=seed, n_workers=N_WORKERS)
    top = problem.max_resources
    epochs = sum(trial.resource for trial in history.trials)
    finished = [trial for trial in history.trials if top in trial.results]
    scores = np.array([trial.results[top].score for trial in finished])
    if not np.isfinite(scores).any():
        return epochs, epochs, top, np.nan, history.trials
    chosen = finished[np.nanargmax(scores)]
    rungs = sorted(chosen.results)
    jumped = rungs != ladder(1, top, scheduler.factor)
    opened = rungs[-2] if jumped else top
    return epochs, epochs - (top - opened), opened, -np.nanmax(scores), history.trials


def last_losses(problem, trials, seed):
    """What all candidates end with, the ones that failed left out."""
    ids = {"trials": [trial.id for trial in trials]} if problem.needs_trials else {}
    losses = problem.losses([trial.params for trial in trials], seed, **ids)[:, -1]
    return losses[np.isfinite(losses)]


def compare(problem, n_candidates, seed):
    """Shares of ASHA's epochs, the rung opened, regrets of ASHA and PASHA, whether the same."""
    asha = one_run(ASHA(n_candidates), problem, seed)
    pasha = one_run(PASHA(n_candidates), problem, seed)
    losses = last_losses(problem, asha[-1], seed)
    best, median = losses.min(), np.median(losses)
    regrets = [(run[3] - best) / (median - best) for run in (asha, pasha)]
    return [
        pasha[0] / asha[0],
        pasha[1] / asha[0],
        pasha[2],
        *regrets,
        asha[3] == pasha[3],
    ]


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--candidates", type=int, nargs="+", default=[81, 243])
    parser.add_argument("--seeds", type=int, default=20)
    args = parser.parse_args()
    columns = ["share", "least", "most", "before", "rung", "regret", "of ASHA", "same"]
    found = problems()
    for n_candidates in args.candidates:
        print(f"\n{n_candidates} candidates, {args.seeds} seeds, {N_WORKERS} workers")
        print(f"{'':<26}" + "".join(f"{column:>9}" for column in columns))
        for name, problem in found.items():
            rows = [compare(problem, n_candidates, seed) for seed in range(args.seeds)]
            share, before, opened, asha, pasha, same = np.array(rows, dtype=float).T
            cells = [share.mean(), share.min(), share.max(), before.mean()]
            cells = [f"{cell:>9.2f}" for cell in cells] + [f"{np.median(opened):>9.0f}"]
            cells += [f"{np.nanmean(regret):>9.3f}" for regret in (pasha, asha)]
            print(f"{name:<26}" + "".join(cells) + f"{same.mean():>9.0%}")


if __name__ == "__main__":
    main()
