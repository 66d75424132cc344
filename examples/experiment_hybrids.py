"""
Hybrids of Hyperband and TPE on CIFAR-10
========================================

Hyperband and its hybrids with TPE for a convolutional net on CIFAR-10, as in [1]_.

Hyperband, and TPE in its brackets, which learns from results of its own bracket alone (NONE) or
from the survivors of earlier brackets, too (SURV); with ``--all`` also from all results (ALL) and
from those that were stopped at the same rung (SAME). Compared are the errors of the survivors of
all brackets, by their means and by Kolmogorov-Smirnov tests.

::

    python examples/experiment_hybrids.py [--seeds 1] [--all] [--full]
        [--record file.jsonl] [--checkpoints folder]

The small setting takes a minute on one CPU core: 300 images of half the height and width, at most
9 epochs and 16 filters; so few survivors do not tell which is better. The full one is that of
[1]_, for a GPU: 40,000 images to train on, 10,000 to judge, 81 epochs, the three brackets that
its code runs, ten runs with ``--seeds 10``; it has not been run. Images come from the data folder
(see `sksearch.datasets.load`), else from scikit-learn's digits; ``--download folder`` gets them by
torchvision.

Runs that ``--record`` has are not repeated, and a search that was killed continues from its
checkpoint, so that a long experiment can be run in parts. Printed is also the early convergence:
the mean of the lowest error so far over the epochs spent (the area under its curve).

Published, errors of survivors: Hyperband 0.1201 (sd 0.011), NONE 0.1177 (0.0077), SURV 0.1148
(0.0065), none of the differences significant.

.. [1] C. Matache, "Efficient design of machine learning hyperparameter optimizers", 2019.
"""

import argparse
import json
import warnings
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from sklearn.model_selection import train_test_split

from sksearch import SearchCV
from sksearch.samplers import RandomSampler, TPESampler
from sksearch.schedulers import Hyperband
from sksearch.space import LogRandInt
from sksearch.stats import area_under_curve, compare_optima

try:
    from sksearch.neural import CudaConvNetClassifier
except ImportError as error:  # it names the extra to install
    raise SystemExit(str(error)) from error

from experiment_images import images_of, shrunk

TRANSFER = {"NONE": "none", "SURV": "survivors", "ALL": "all", "SAME": "same"}
PUBLISHED_ONES = ("NONE", "SURV")
MIN_SIDE = 16  # pixels; smaller images stay as they are


@dataclass(frozen=True)
class Setting:
    """How much is computed.

    Parameters
    ----------
    n_train, n_valid : int
        Largest counts of images to train on, and to judge the nets.
    max_epochs : int
        Count of epochs of survivors.
    brackets : tuple of int or None
        Which brackets of Hyperband are run.
    n_iterations : int
        How often they are run.
    n_initial : int
        Count of candidates before the first model.
    shrink : int
        How many pixels, in each direction, become one.
    space : dict
        What replaces entries of `CudaConvNetClassifier.space`.
    device : str
        Where the nets are trained.
    """

    n_train: int
    n_valid: int
    max_epochs: int
    brackets: tuple | None = None
    n_iterations: int = 1
    n_initial: int = 10
    shrink: int = 1
    space: dict = field(default_factory=dict)
    device: str = "cpu"


FEW_FILTERS = {f"n_filters_{i}": LogRandInt(4, 17) for i in (1, 2, 3)}
SMALL_BATCHES = {"batch_size": LogRandInt(16, 65)}
SETTINGS = {
    "small": Setting(
        300, 600, 9, n_iterations=2, n_initial=4, shrink=2, space=FEW_FILTERS | SMALL_BATCHES
    ),
    "full": Setting(40_000, 10_000, 81, brackets=(4, 3, 2), device="auto"),
}


def make_search(method, seed, setting, n_train, n_valid, checkpoints=None):
    """Make Hyperband or one of its hybrids; the last images judge the nets."""
    rows = np.arange(n_train + n_valid)
    sampler = RandomSampler()
    if method in TRANSFER:
        sampler = TPESampler(n_initial=setting.n_initial, transfer=TRANSFER[method])
    return SearchCV(
        CudaConvNetClassifier(
            max_epochs=setting.max_epochs, device=setting.device, random_state=seed
        ),
        CudaConvNetClassifier.space() | setting.space,
        sampler=sampler,
        scheduler=Hyperband(n_iterations=setting.n_iterations, brackets=setting.brackets),
        resource="epochs",
        max_resources=setting.max_epochs,
        cv=[(rows[:n_train], rows[n_train:])],
        refit=False,
        random_state=seed,
        checkpoint_dir=None if checkpoints is None else Path(checkpoints) / f"{method}_{seed}",
    )


def survivors_of(search):
    """Return the errors of those that were trained to the end, in all brackets."""
    last = search.history_.problem.max_resources
    scores = [t.results[last].score for t in search.history_.trials if last in t.results]
    return [1 - score for score in scores if np.isfinite(score)]


def convergence_of(search):
    """Return the lowest error so far, averaged over the epochs spent."""
    best, spent, reached = [], [], {}
    for event, trial_id, resource in search.history_.log:
        if event != "tell":
            continue
        score = search.history_.trials[trial_id].results[resource].score
        total = spent[-1] if spent else 0
        spent.append(total + resource - reached.get(trial_id, 0))
        reached[trial_id] = resource
        best.append(np.nanmin([1 - score, best[-1] if best else 1.0]))
    return float(area_under_curve([best], spent)[0] / (spent[-1] - spent[0]))


def recorded(path):
    """Return the runs that a record has, by search and seed."""
    lines = path.read_text().splitlines() if path is not None and path.exists() else []
    return {(line["search"], line["seed"]): line for line in map(json.loads, lines)}


def run(methods, seeds, setting, folder=None, record=None, checkpoints=None):
    """Return the runs of each search, those of the record included.

    Parameters
    ----------
    methods, seeds : sequence
        Names of searches, and their seeds.
    setting : Setting
        How much is computed.
    folder : str or None, default=None
        Where torchvision puts the images.
    record : Path or None, default=None
        File with a line for each run, which is read first and appended to.
    checkpoints : str or None, default=None
        Folder for the checkpoints of the searches.

    Returns
    -------
    runs : list of dict
        ``search``, ``seed``, ``errors`` of the survivors, and ``convergence``.
    """
    known, runs = recorded(record), []
    for seed in seeds:
        if all((method, seed) in known for method in methods):
            runs += [known[method, seed] for method in methods]
            continue
        X, y = images_of("cifar10", folder)
        n_valid = min(setting.n_valid, len(y) // 3)
        n_train = min(setting.n_train, len(y) - n_valid)
        X_train, X_valid, y_train, y_valid = train_test_split(
            X, y, train_size=n_train, test_size=n_valid, stratify=y, random_state=seed
        )
        small = X.shape[1] < MIN_SIDE
        X = shrunk(np.concatenate([X_train, X_valid]), 1 if small else setting.shrink)
        y = np.concatenate([y_train, y_valid])
        for method in methods:
            if (line := known.get((method, seed))) is None:
                search = make_search(method, seed, setting, n_train, n_valid, checkpoints).fit(
                    X, y
                )
                line = {"search": method, "seed": seed, "errors": survivors_of(search)}
                line["convergence"] = convergence_of(search)
                if record is not None:
                    with record.open("a") as file:
                        file.write(json.dumps(line) + "\n")
            runs.append(line)
    return runs


def main():
    """Run everything and print the table of survivors and of the tests."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[1])
    parser.add_argument("--full", action="store_true", help="the published setting, for a GPU")
    parser.add_argument("--all", action="store_true", help="also ALL and SAME")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--download", metavar="FOLDER", help="get images by torchvision")
    parser.add_argument("--record", type=Path, help="file of runs, read first and appended to")
    parser.add_argument("--checkpoints", metavar="FOLDER", help="where searches can be continued")
    args = parser.parse_args()
    methods = ["Hyperband", *(TRANSFER if args.all else PUBLISHED_ONES)]
    setting = SETTINGS["full" if args.full else "small"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a net whose training diverges has failed: a result
        seeds, files = range(args.seeds), (args.download, args.record, args.checkpoints)
        runs = run(methods, seeds, setting, *files)
    of = {method: [line for line in runs if line["search"] == method] for method in methods}
    print(f"Errors of the survivors of all brackets, {args.seeds} runs of each")
    print(compare_optima({m: np.concatenate([r["errors"] for r in of[m]]) for m in methods}))
    print("\nLowest error so far, averaged over the epochs spent")
    for method, lines in of.items():
        print(f"{method:<12}{np.mean([line['convergence'] for line in lines]):.4f}")


if __name__ == "__main__":
    main()
