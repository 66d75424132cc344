"""
Hybrids of Hyperband and TPE on images
======================================

Hyperband and its hybrids with TPE: logistic regression on MNIST, a net on CIFAR-10, as in [1]_.

Hyperband, and TPE in its brackets, which learns from results of its own bracket alone (NONE) or
from the survivors of earlier brackets, too (SURV); with ``--all`` also from all results (ALL) and
from those that were stopped at the same rung (SAME). Compared are the lowest errors of runs, and
errors of the survivors of all brackets, by their means and by Kolmogorov-Smirnov tests.

::

    python examples/experiment_hybrids.py [--data mnist] [--size full] [--seeds 1] [--all]
        [--record file.jsonl] [--checkpoints folder]

The small setting takes a minute on one CPU core: 300 images, at most 9 epochs, and nets of at most
16 filters for images of half the height and width; so few survivors do not tell which is better.
The full one is the published one, with the three brackets that the code of [1]_ runs, and at most
81 epochs. On MNIST 10,000 images train the models and 5,000 judge them: 20 runs of three searches
take a quarter of an hour of one core. On CIFAR-10 (40,000 and 10,000 images) a GPU is needed, and
it has not been run; ``--size part`` is for one core, with 8,000 and 2,000 images of half the
height and width, and 9 epochs. Images come from the data folder (see `sksearch.datasets.load`),
else from scikit-learn's digits; ``--download folder`` gets them by torchvision.

Runs that ``--record`` has are not repeated, and a search that was killed continues from its
checkpoint, so that a long experiment can be run in parts. Printed is also the early convergence:
the mean of the lowest error so far over the epochs spent (the area under its curve).

Published, MNIST, means of the lowest errors of 20 runs: Hyperband 0.0805, NONE 0.07917, SURV
0.07911. CIFAR-10, errors of survivors: Hyperband 0.1201 (sd 0.011), NONE 0.1177 (0.0077), SURV
0.1148 (0.0065). None of the differences is significant.

.. [1] C. Matache, "Efficient design of machine learning hyperparameter optimizers", 2019.
"""

import argparse
import json
import warnings
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
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
from make_mnist_curves import DISTRIBUTIONS, train_epoch

TRANSFER = {"NONE": "none", "SURV": "survivors", "ALL": "all", "SAME": "same"}
PUBLISHED_ONES = ("NONE", "SURV")
MIN_SIDE = 16  # pixels; smaller images stay as they are


class SoftmaxRegression(ClassifierMixin, BaseEstimator):
    """Logistic regression by stochastic gradient descent, as in `make_mnist_curves`.

    The last column of X is one: its weight is the bias.

    Parameters
    ----------
    learning_rate, weight_decay, momentum : float
        Of the steps.
    batch_size : int
        Images of a step.
    random_state : int
        Seed of the first weights and of the order of images in each epoch.
    """

    def __init__(
        self, learning_rate=0.01, weight_decay=1e-4, momentum=0.9, batch_size=100, random_state=0
    ):
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.momentum = momentum
        self.batch_size = batch_size
        self.random_state = random_state

    def partial_fit(self, X, y, classes=None):
        """Train for one epoch."""
        if not hasattr(self, "classes_"):
            self.classes_ = np.unique(y) if classes is None else np.asarray(classes)
            self.n_features_in_, self.n_epochs_ = X.shape[1], 0
            limit, shape = 1 / np.sqrt(X.shape[1]), (len(self.classes_), X.shape[1])
            rng = np.random.default_rng(self.random_state)
            self.W_ = rng.uniform(-limit, limit, shape).astype(np.float32)
            self.V_ = np.zeros_like(self.W_)
        rng = np.random.default_rng((self.random_state, self.n_epochs_))
        order = rng.permutation(len(X))
        labels = np.searchsorted(self.classes_, y)
        train_epoch(self.W_, self.V_, X[order], labels[order], self.get_params())
        self.n_epochs_ += 1
        return self

    def fit(self, X, y):
        """Train for one epoch from the first weights."""
        if hasattr(self, "classes_"):
            del self.classes_
        return self.partial_fit(X, y)

    def predict(self, X):
        """Predict the class with the greatest probability."""
        return self.classes_[np.argmax(X @ self.W_.T, axis=1)]


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
    space : dict or None
        What replaces entries of `CudaConvNetClassifier.space`; None: logistic regression.
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
    space: dict | None = field(default_factory=dict)
    device: str = "cpu"


FEW_FILTERS = {f"n_filters_{i}": LogRandInt(4, 17) for i in (1, 2, 3)}
SMALL_BATCHES = {"batch_size": LogRandInt(16, 65)}
SMALL = {
    "n_iterations": 2, "n_initial": 4, "shrink": 2, "space": FEW_FILTERS | SMALL_BATCHES
}  # fmt: skip
SETTINGS = {
    "cifar10": {
        "small": Setting(300, 600, 9, **SMALL),
        "part": Setting(8_000, 2_000, 9, **SMALL),
        "full": Setting(40_000, 10_000, 81, brackets=(4, 3, 2), device="auto"),
    },
    "mnist": {
        "small": Setting(300, 600, 9, n_iterations=2, n_initial=4, space=None),
        "full": Setting(10_000, 5_000, 81, brackets=(4, 3, 2), space=None),
    },
}


def make_search(method, seed, setting, n_train, n_valid, checkpoints=None):
    """Make Hyperband or one of its hybrids; the last images judge the nets."""
    rows = np.arange(n_train + n_valid)
    sampler = RandomSampler()
    if method in TRANSFER:
        sampler = TPESampler(n_initial=setting.n_initial, transfer=TRANSFER[method])
    if setting.space is None:
        model, space = SoftmaxRegression(random_state=seed), DISTRIBUTIONS
    else:
        model = CudaConvNetClassifier(
            max_epochs=setting.max_epochs, device=setting.device, random_state=seed
        )
        space = CudaConvNetClassifier.space() | setting.space
    return SearchCV(
        model,
        space,
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
    """Return the lowest error, and the lowest so far averaged over the epochs spent."""
    best, spent, reached = [], [], {}
    for event, trial_id, resource in search.history_.log:
        if event != "tell":
            continue
        score = search.history_.trials[trial_id].results[resource].score
        total = spent[-1] if spent else 0
        spent.append(total + resource - reached.get(trial_id, 0))
        reached[trial_id] = resource
        best.append(np.nanmin([1 - score, best[-1] if best else 1.0]))
    return float(best[-1]), float(area_under_curve([best], spent)[0] / (spent[-1] - spent[0]))


def recorded(path):
    """Return the runs that a record has, by search and seed."""
    lines = path.read_text().splitlines() if path is not None and path.exists() else []
    return {(line["search"], line["seed"]): line for line in map(json.loads, lines)}


def images(data, seed, setting, folder=None):
    """Return images and classes, the last ones to judge, and the numbers of both kinds."""
    X, y = images_of(data, folder)
    n_valid = min(setting.n_valid, len(y) // 3)
    n_train = min(setting.n_train, len(y) - n_valid)
    X_train, X_valid, y_train, y_valid = train_test_split(
        X, y, train_size=n_train, test_size=n_valid, stratify=y, random_state=seed
    )
    X, y = np.concatenate([X_train, X_valid]), np.concatenate([y_train, y_valid])
    if setting.space is None:
        X = X.reshape(len(X), -1).astype(np.float32)
        X = X[:, X[:n_train].any(axis=0)]  # the weights of the others have no gradient
        return np.column_stack([X, np.ones(len(X), np.float32)]), y, n_train, n_valid
    return shrunk(X, 1 if X.shape[1] < MIN_SIDE else setting.shrink), y, n_train, n_valid


def run(methods, seeds, setting, data="cifar10", folder=None, record=None, checkpoints=None):
    """Return the runs of each search, those of the record included.

    Parameters
    ----------
    methods, seeds : sequence
        Names of searches, and their seeds.
    setting : Setting
        How much is computed.
    data : {"cifar10", "mnist"}, default="cifar10"
        The images.
    folder : str or None, default=None
        Where torchvision puts the images.
    record : Path or None, default=None
        File with a line for each run, which is read first and appended to.
    checkpoints : str or None, default=None
        Folder for the checkpoints of the searches.

    Returns
    -------
    runs : list of dict
        ``search``, ``seed``, ``errors`` of the survivors, ``lowest`` and ``convergence``.
    """
    known, runs = recorded(record), []
    for seed in seeds:
        if all((method, seed) in known for method in methods):
            runs += [known[method, seed] for method in methods]
            continue
        X, y, n_train, n_valid = images(data, seed, setting, folder)
        for method in methods:
            if (line := known.get((method, seed))) is None:
                search = make_search(method, seed, setting, n_train, n_valid, checkpoints).fit(
                    X, y
                )
                line = {"search": method, "seed": seed, "errors": survivors_of(search)}
                line["lowest"], line["convergence"] = convergence_of(search)
                if record is not None:
                    with record.open("a") as file:
                        file.write(json.dumps(line) + "\n")
            runs.append(line)
    return runs


def main():
    """Run everything and print the table of survivors and of the tests."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[1])
    parser.add_argument("--data", choices=SETTINGS, default="cifar10")
    parser.add_argument("--size", choices=("small", "part", "full"), default="small")
    parser.add_argument("--all", action="store_true", help="also ALL and SAME")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--download", metavar="FOLDER", help="get images by torchvision")
    parser.add_argument("--record", type=Path, help="file of runs, read first and appended to")
    parser.add_argument("--checkpoints", metavar="FOLDER", help="where searches can be continued")
    args = parser.parse_args()
    methods = ["Hyperband", *(TRANSFER if args.all else PUBLISHED_ONES)]
    if args.size not in SETTINGS[args.data]:
        parser.error(f"--size {args.size}: {args.data} has {', '.join(SETTINGS[args.data])}.")
    setting = SETTINGS[args.data][args.size]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a net whose training diverges has failed: a result
        seeds, files = range(args.seeds), (args.download, args.record, args.checkpoints)
        runs = run(methods, seeds, setting, args.data, *files)
    of = {method: [line for line in runs if line["search"] == method] for method in methods}
    print(f"Errors of the survivors of all brackets, {args.seeds} runs of each")
    print(compare_optima({m: np.concatenate([r["errors"] for r in of[m]]) for m in methods}))
    print("\nLowest error of each run")
    if args.seeds > 1:
        print(compare_optima({m: np.array([r["lowest"] for r in of[m]]) for m in methods}))
    print("\nLowest error so far, averaged over the epochs spent")
    for method, lines in of.items():
        print(f"{method:<12}{np.mean([line['convergence'] for line in lines]):.4f}")


if __name__ == "__main__":
    main()
