"""
Six searches for an architecture
================================

Six searches for the architecture of a convolutional net: the experiment of [1]_.

A net has one to five layers, each with its own filters, dropout, batch normalisation and pooling.
Random search, a Gaussian process and a forest train each net until the loss on images that are put
aside has not improved for two epochs, or for all epochs. Incremental evaluation trains a
population, which is chosen by one of the three, for two epochs, then the best quarter one epoch
more, and so on until one is left.

::

    python examples/experiment_architectures.py [--size part] [--data mnist cifar10] [--seeds 1]
        [--methods random "incremental, random"] [--minutes 4] [--record FILE]
        [--checkpoints FOLDER] [--download FOLDER]

The small size takes a minute on one CPU core: 300 images of half the height and width, at most 6
epochs and 16 filters, and each search the epochs of 6 whole trainings. The part is for a GPU: the
published space on 10,000 images, of which 2,000 are for the test, 20 epochs, and each incremental
evaluation the epochs of 5 whole trainings; with `--minutes` the other searches can have equal
time. The full size is the published one: all images, 20 epochs, an hour a search on MNIST and six
on CIFAR-10; it has not been run. Images come from the data folder (see `sksearch.datasets.load`),
else from scikit-learn's digits; ``--download folder`` gets them by torchvision. Tables are in
docs/records/measurements/architectures.md.

With a record, runs that are in the file are not repeated, and the table has all of them; with
checkpoints a search that was stopped goes on. So several commands, each with a method of its own,
can share a GPU.

What differs from [1]_: there, the images that stop a training are those that judge the net; here
they are a tenth of those that it is trained on. And the winner is trained again on all images.

.. [1] M. Wistuba, "Bayesian optimization combined with incremental evaluation for neural network
   architecture optimization", AutoML workshop at ECML PKDD 2017.
"""

import argparse
import json
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from scipy.stats import randint
from sklearn.model_selection import train_test_split

from sksearch import GPBayesSearchCV, RandomSearchCV, When
from sksearch.search import ForestBayesSearchCV, IncrementalEvaluationSearchCV

try:
    from sksearch.neural import LayeredConvNetClassifier
except ImportError as error:  # it names the extra to install
    raise SystemExit(str(error)) from error

from experiment_images import DATA, images_of, in_percent, split_of

#: By the names that they have as populations of incremental evaluation.
CLASSES = {"random": RandomSearchCV, "gp": GPBayesSearchCV, "forest": ForestBayesSearchCV}
METHODS = (*CLASSES, *(f"incremental, {of}" for of in CLASSES))
PUBLISHED = {"batch_size": 50, "learning_rate": 0.1, "momentum": 0.9, "weight_decay": 1e-4}
MIN_SIDE = 16  # pixels; smaller images stay as they are


@dataclass(frozen=True)
class Setting:
    """How much is computed.

    Parameters
    ----------
    n_train, n_test : int
        Largest counts of images; a third of `n_train` judges the nets.
    max_epochs : int
        Largest count of epochs of a net.
    n_trainings : int
        How many whole trainings each search has the epochs of.
    shrink : int
        How many pixels, in each direction, become one.
    space : dict
        What replaces entries of `LayeredConvNetClassifier.space`.
    hours : dict of str to float
        Time of a search by the name of the data, if it has one.
    device : str
        Where the nets are trained.
    """

    n_train: int
    n_test: int
    max_epochs: int
    n_trainings: int
    shrink: int = 1
    space: dict = field(default_factory=dict)
    hours: dict = field(default_factory=dict)
    device: str = "cpu"


def layers(**values):
    """Entries of the space for all layers."""
    return {
        f"{kind}_{i}": each if i == 1 else When(each, "n_layers", ">=", i)
        for kind, each in values.items()
        for i in range(1, 6)
    }


def narrow(n_filters):
    """Entries of the space for nets of few small filters."""
    return layers(n_filters=randint(2, n_filters + 1), filter_size=[3, 5])


HOURS = {"mnist": 1.0, "fashion_mnist": 1.0, "cifar10": 6.0}
#: As published: each number of filters is as likely as any other.
UNIFORM = layers(n_filters=randint(2, 129))
SETTINGS = {
    "small": Setting(300, 1_000, 6, 6, shrink=2, space=narrow(16)),
    "part": Setting(8_000, 2_000, 20, 5, space=UNIFORM, device="auto"),
    "full": Setting(60_000, 10_000, 20, 2_000, space=UNIFORM, hours=HOURS, device="auto"),
}


def make_search(method, name, y, seed, setting, folder=None):
    """One of the six searches."""
    held_out = train_test_split(np.arange(len(y)), test_size=1 / 3, stratify=y, random_state=seed)
    hours = setting.hours.get(name)
    common = {
        "cv": [held_out],
        "random_state": seed,
        "timeout": hours and 3_600 * hours,
        "checkpoint_dir": folder,
    }
    net = LayeredConvNetClassifier(
        max_epochs=setting.max_epochs, device=setting.device, random_state=seed, **PUBLISHED
    )
    space = LayeredConvNetClassifier.space() | setting.space
    incremental, _, of = method.rpartition(", ")
    if not incremental:
        net.set_params(early_stopping=True)
        return CLASSES[of](net, space, n_iter=setting.n_trainings, **common)
    return IncrementalEvaluationSearchCV(
        net,
        space,
        population=of,
        budget=setting.n_trainings * setting.max_epochs,
        resource="epochs",
        min_resources=2,
        max_resources=setting.max_epochs,
        step=1,
        **common,
    )


def run(method, name, seed, setting, args):
    """Fit one search, and try its net on the test images."""
    X, X_test, y, y_test = split_of(name, seed, setting, args.download)
    folder = args.checkpoints and Path(args.checkpoints, f"{name}-{method}-{seed}")
    if args.minutes and method in CLASSES:  # as many candidates as there is time for
        setting = replace(setting, hours={name: args.minutes / 60}, n_trainings=2_000)
    search = make_search(method, name, y, seed, setting, folder)
    start = time.perf_counter()
    search.fit(X, y)
    return {
        "data": name,
        "method": method,
        "seed": seed,
        "size": args.size,
        "images": len(y) + len(y_test),
        "candidates": len(search.history_.trials),
        "valid": round(1 - search.best_score_, 5),
        "test": round(1 - search.score(X_test, y_test), 5),
        "params": {key: _plain(value) for key, value in search.best_params_.items()},
        "seconds": round(time.perf_counter() - start, 1),
    }


def _plain(value):
    return value.item() if isinstance(value, np.generic) else value


def print_table(name, rows):
    """Means over the seeds ± standard deviations, and the number of layers with the first seed."""
    print(f"\n{name}: errors in %")
    print(f"{'':<22}{'candidates':>10}{'validation':>14}{'test':>14}{'layers':>8}{'seconds':>9}")
    for method in METHODS:
        if runs := [row for row in rows if row["method"] == method]:
            of = {key: [each[key] for each in runs] for key in runs[0]}
            errors = "".join(f"{in_percent(of[which]):>14}" for which in ("valid", "test"))
            print(
                f"{method:<22}{np.mean(of['candidates']):>10.0f}{errors}"
                f"{of['params'][0]['n_layers']:>8}{np.mean(of['seconds']):>9.1f}"
            )


def main():
    """Run what is not in the record, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[1])
    parser.add_argument("--size", choices=SETTINGS, default="small")
    parser.add_argument("--data", nargs="+", choices=DATA, default=["mnist"])
    parser.add_argument("--methods", nargs="*", choices=METHODS, default=METHODS)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--minutes", type=float, help="of searches that train each net to the end")
    parser.add_argument("--record", metavar="FILE", help="a line for each run, added as it ends")
    parser.add_argument("--checkpoints", metavar="FOLDER", help="where searches can be resumed")
    parser.add_argument("--download", metavar="FOLDER", help="get images by torchvision")
    args = parser.parse_args()
    record = Path(args.record or "/dev/null")
    lines = record.read_text().splitlines() if args.record and record.exists() else []
    rows = [row for row in map(json.loads, lines) if row["size"] == args.size]
    for name in args.data:
        setting = SETTINGS[args.size]
        if images_of(name, args.download)[0].shape[1] < MIN_SIDE:
            setting = replace(setting, shrink=1)
        known = {(row["data"], row["method"], row["seed"]) for row in rows}
        for seed in range(args.seeds):
            for method in args.methods:
                if (name, method, seed) not in known:
                    rows.append(run(method, name, seed, setting, args))
                    with record.open("a") as file:
                        file.write(json.dumps(rows[-1]) + "\n")
        print_table(name, [row for row in rows if row["data"] == name])


if __name__ == "__main__":
    main()
