"""
Five searches on images
=======================

Five searches for a convolutional net, with equally many epochs, on three sets of images.

Random search and a Gaussian process train each candidate to the end; Hyperband, BOHB and
incremental evaluation train more candidates, and most of them only a little. What is the test
error of the net that each ends with, and what is that of the default net?

::

    python examples/experiment_images.py [--part | --full] [--seeds 1] [--n-jobs 2]
        [--methods random GP Hyperband BOHB incremental default] [--cache FOLDER]
        [--out images.png]

The small setting is for two CPU cores: 900 images of half the height and width, nets of at most
16 filters, 9 epochs. The others are for a GPU, with the whole space: part has 10,000 images and
9 epochs, full has all images, 27 epochs, and at most 30 minutes a search. Each seed has other
images for training and for the test; all searches of a seed have the same.

A cache makes it resumable: what has ended is read from there. So several commands, each with a
method of its own, can share a GPU, and a last one prints the table of all.

Images come from the data folder (see `sksearch.datasets.load`), else from scikit-learn's digits;
``--download folder`` gets them by torchvision instead. Tables are in
docs/records/measurements/searches-on-images.md.
"""

import argparse
import time
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np
from joblib import Memory
from scipy.stats import randint
from sklearn.model_selection import train_test_split

from sksearch import BOHBSearchCV, GPBayesSearchCV, HyperbandSearchCV, RandomSearchCV
from sksearch.datasets import load
from sksearch.neural import ConvNetClassifier
from sksearch.plotting import RegretDisplay
from sksearch.search import IncrementalEvaluationSearchCV
from sksearch.stats import anytime_regret

#: The names of the sets, and those of torchvision's classes.
DATA = {"mnist": "MNIST", "fashion_mnist": "FashionMNIST", "cifar10": "CIFAR10"}
METHODS = ("random", "GP", "Hyperband", "BOHB", "incremental")
DEFAULT = "default"  # the default net, without a search
ALL = (*METHODS, DEFAULT)
CIFAR_SHAPE = (32, 32, 3)


@dataclass(frozen=True)
class Setting:
    """How much is computed.

    Parameters
    ----------
    n_train, n_test : int
        Largest counts of images; a third of `n_train` judges the candidates.
    max_epochs : int
        Count of epochs of the best candidates.
    space : dict
        What replaces entries of `ConvNetClassifier.space`.
    shrink : int
        How many pixels, in each direction, become one.
    n_iterations : int
        Of Hyperband, whose count of epochs all searches get.
    batch_size : int
        Count of candidates that are under way at a time where a model proposes them.
    timeout : float or None
        Seconds of a search.
    device : str
        Where the nets are trained.
    """

    n_train: int
    n_test: int
    max_epochs: int
    space: dict = field(default_factory=dict)
    shrink: int = 1
    n_iterations: int = 2
    batch_size: int = 2
    timeout: float | None = None
    device: str = "cpu"


SMALL_SPACE = {
    "n_filters": [4, 8, 16],
    "n_blocks": [1],
    "batch_size": [32, 64],
    "shift": randint(0, 3),
    "cutout": [0, 4],
}
SETTINGS = {
    "small": Setting(900, 3_000, 9, SMALL_SPACE, shrink=2),
    "part": Setting(10_000, 10_000, 9, device="auto"),
    "full": Setting(60_000, 10_000, 27, batch_size=8, timeout=1_800, device="auto"),
}


@lru_cache(maxsize=1)
def images_of(name, folder=None):
    """Images of shape (n, height, width) or (n, height, width, 3), and their labels."""
    if folder is not None:
        import torchvision

        images = getattr(torchvision.datasets, DATA[name])(folder, download=True)
        return np.asarray(images.data), np.asarray(images.targets)
    rows = load(name)
    n_pixels = rows.data.shape[1]
    side = round(n_pixels**0.5)
    shape = CIFAR_SHAPE if n_pixels == np.prod(CIFAR_SHAPE) else (side, side)
    return rows.data.reshape(-1, *shape), rows.target


def shrunk(images, by):
    """Images whose pixels are the means of squares of pixels."""
    if by == 1:
        return images
    n, height, width, *colours = images.shape
    squares = images.reshape(n, height // by, by, width // by, by, *colours)
    return squares.mean(axis=(2, 4), dtype=np.float32)


def split_of(name, seed, setting, folder):
    """Images for training, for the test, and the labels of both."""
    X, y = images_of(name, folder)
    n_test = min(setting.n_test, len(y) // 4)
    n_train = min(setting.n_train, len(y) - n_test)
    sizes = {"train_size": n_train, "test_size": n_test}
    X_train, X_test, *labels = train_test_split(X, y, stratify=y, random_state=seed, **sizes)
    return shrunk(X_train, setting.shrink), shrunk(X_test, setting.shrink), *labels


def make_searches(name, y, seed, setting, n_jobs):
    """The five searches, by their names, with equally many epochs."""
    n_epochs = setting.max_epochs
    space = ConvNetClassifier.space(horizon=n_epochs) | setting.space
    if name != "mnist":  # mirrored digits are no digits
        space |= {"flip": [False, True]}
    net = ConvNetClassifier(max_epochs=n_epochs, device=setting.device, random_state=seed)
    held_out = train_test_split(np.arange(len(y)), test_size=1 / 3, stratify=y, random_state=seed)
    common = {
        "cv": [held_out],
        "random_state": seed,
        "n_jobs": n_jobs,
        "timeout": setting.timeout,
    }
    batches = {"workers": {"batch_size": setting.batch_size}}
    epochs = {"resource": "epochs", "max_resources": n_epochs} | common
    halving = {"n_iterations": setting.n_iterations} | epochs
    hyperband = HyperbandSearchCV(net, space, **halving)
    total = count_epochs(hyperband, y)
    whole = {"n_iter": total // n_epochs} | common
    return {
        "random": RandomSearchCV(net, space, **whole),
        "GP": GPBayesSearchCV(net, space, **batches, **whole),
        "Hyperband": hyperband,
        "BOHB": BOHBSearchCV(net, space, **batches, **halving),
        "incremental": IncrementalEvaluationSearchCV(
            net,
            space,
            budget=total,
            min_resources=max(1, n_epochs // 9),
            step=max(1, n_epochs // 3),  # so that the last candidate is trained to the end
            **batches,
            **epochs,
        ),
    }


def count_epochs(hyperband, y):
    """Count of epochs of the planned search, which all searches get."""
    return hyperband.plan(np.zeros((len(y), 8, 8)), y).total_resources


def results_of(search, n_epochs):
    """Epochs that had been spent when each result came, and the lowest error by then."""
    history, reached, epochs, errors = search.history_, {}, [], []
    unit = n_epochs / history.problem.max_resources  # of a whole training the unit is all of it
    for event, trial, resource in history.log:
        if event == "tell":
            epochs.append((resource - reached.get(trial, 0)) * unit)
            reached[trial] = resource
            errors.append(1 - history.trials[trial].results[resource].score)
    return np.cumsum(epochs), np.fmin.accumulate(errors)


def run_search(name, method, seed, size, folder, n_jobs):
    """Run one search, and try its best net on the test images."""
    setting = SETTINGS[size]
    X, X_test, y, y_test = split_of(name, seed, setting, folder)
    search = make_searches(name, y, seed, setting, n_jobs)[method]
    start = time.perf_counter()
    search.fit(X, y)
    seconds = time.perf_counter() - start
    epochs, errors = results_of(search, setting.max_epochs)
    return {
        "candidates": len(search.history_.trials),
        "epochs": epochs[-1],
        "valid": 1 - search.best_score_,
        "test": 1 - search.score(X_test, y_test),
        "seconds": seconds,
        "curve": (epochs, errors),
        "params": search.best_params_,
    }


def run_default(name, n_epochs, seed, size, folder):
    """Train the default net on all that a search gets, and try it on the test images."""
    setting = SETTINGS[size]
    X, X_test, y, y_test = split_of(name, seed, setting, folder)
    net = ConvNetClassifier(max_epochs=n_epochs, device=setting.device, random_state=seed)
    start = time.perf_counter()
    net.fit(X, y)
    seconds = time.perf_counter() - start
    test = 1 - net.score(X_test, y_test)
    return {
        "candidates": 1,
        "epochs": n_epochs,
        "valid": np.nan,
        "test": test,
        "seconds": seconds,
    }


def run_all(name, methods, seeds, size, run, folder, n_jobs):
    """Results of all runs on one set, a list by the name of the method."""
    found = {
        method: [run["search"](name, method, seed, size, folder, n_jobs) for seed in seeds]
        for method in METHODS
        if method in methods
    }
    if DEFAULT in methods:
        setting = SETTINGS[size]
        y = split_of(name, 0, setting, folder)[2]
        total = count_epochs(make_searches(name, y, 0, setting, n_jobs)["Hyperband"], y)
        for n_epochs in (setting.max_epochs, total):
            found[f"{DEFAULT}, {n_epochs} epochs"] = [
                run["default"](name, n_epochs, seed, size, folder) for seed in seeds
            ]
    return found


def in_percent(errors):
    """Mean of errors, and their standard deviation if there are several."""
    errors = 100 * np.array(errors)
    if np.isnan(errors).any():
        return ""
    spread = f" ± {errors.std(ddof=1):.1f}" if len(errors) > 1 else ""
    return f"{errors.mean():.1f}{spread}"


def print_table(name, found):
    """Means over the seeds ± standard deviations, and the best params of the first seed."""
    n_seeds = len(next(iter(found.values())))
    print(f"\n{name}: errors in %, seeds: {n_seeds}")
    print(f"{'':<20}{'candidates':>10}{'epochs':>8}{'validation':>14}{'test':>14}{'seconds':>9}")
    for method, results in found.items():
        of = {key: [result[key] for result in results] for key in results[0]}
        cells = [f"{np.mean(of['candidates']):>10.0f}{np.mean(of['epochs']):>8.0f}"]
        cells += [f"{in_percent(of[which]):>14}" for which in ("valid", "test")]
        print(f"{method:<20}" + "".join(cells) + f"{np.mean(of['seconds']):>9.0f}")
    for method, (first, *_) in found.items():
        if "params" in first:
            print(f"{method}: {first['params']}")


def draw(found, path):
    """Lowest validation error so far over the epochs that were spent, a panel for each set."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(
        1, len(found), figsize=(max(6, 4 * len(found)), 3.6), squeeze=False, layout="constrained"
    )
    for ax, (name, of_name) in zip(axes.flat, found.items(), strict=True):
        curves = {
            method: [result["curve"] for result in results]
            for method, results in of_name.items()
            if method in METHODS
        }
        last = max(epochs[-1] for of_method in curves.values() for epochs, _ in of_method)
        grid = np.arange(1, last + 1)
        errors = {
            method: [anytime_regret(epochs, 100 * error, grid) for epochs, error in of_method]
            for method, of_method in curves.items()
        }
        RegretDisplay.from_results(errors, grid, unit="epochs spent", ax=ax)
        ax.set_title(name, loc="left", fontsize=11)
        ax.set_ylabel("")
        ax.get_legend().remove()
    axes[0, 0].set_ylabel("Lowest validation error so far (%)")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5, frameon=False)
    figure.savefig(path, dpi=100)


def main():
    """Run everything, print the tables, draw."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[1])
    sizes = parser.add_mutually_exclusive_group()
    parser.set_defaults(size="small")
    for size in ("part", "full"):
        sizes.add_argument(f"--{size}", dest="size", action="store_const", const=size)
    parser.add_argument("--data", nargs="+", choices=DATA, default=list(DATA))
    parser.add_argument("--methods", nargs="+", choices=ALL, default=ALL)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--n-jobs", type=int, default=2)
    parser.add_argument("--download", metavar="FOLDER", help="get images by torchvision")
    parser.add_argument(
        "--cache", type=Path, help="folder that keeps finished runs, until a setting changes"
    )
    parser.add_argument("--out", type=Path, help="file for the figure")
    args = parser.parse_args()
    memory = Memory(args.cache, verbose=0)
    run = {
        "search": memory.cache(run_search, ignore=["n_jobs"]),
        "default": memory.cache(run_default),
    }
    found, start = {}, time.perf_counter()
    for name in args.data:
        found[name] = run_all(
            name, args.methods, range(args.seeds), args.size, run, args.download, args.n_jobs
        )
        print_table(name, found[name])
    print(f"\n{time.perf_counter() - start:.0f} seconds in all")
    if args.out is not None:
        draw(found, args.out)


if __name__ == "__main__":
    main()
