"""Six searches for the architecture of a convolutional net: the experiment of [1]_.

A net has one to five layers, each with its own filters, dropout, batch normalisation and pooling.
Random search, a Gaussian process and a forest train each net until the loss on images that are put
aside has not improved for two epochs, or for all epochs. Incremental evaluation trains a
population, which is chosen by one of the three, for two epochs, then the best quarter one epoch
more, and so on until one is left.

    python examples/experiment_architectures.py [--data mnist] [--seeds 1] [--full]

The small setting takes a minute on one CPU core: 300 images of half the height and width, at most
6 epochs and 16 filters, and each search the epochs of 6 whole trainings. The full one is the
published one, for a GPU: all images, 20 epochs, an hour a search on MNIST and six on CIFAR-10; it
has not been run. Images come from the data folder (see `sksearch.datasets.load`), else from
scikit-learn's digits; ``--download folder`` gets them by torchvision.

What differs from [1]_: there, the images that stop a training are those that judge the net; here
they are a tenth of those that it is trained on. And the winner is trained again on all images.

.. [1] M. Wistuba, "Bayesian optimization combined with incremental evaluation for neural network
   architecture optimization", AutoML workshop at ECML PKDD 2017.
"""

import argparse
import time
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.stats import randint
from sklearn.base import clone
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


def narrow(n_filters):
    """Entries of the space for nets of few small filters."""
    values = {"n_filters": randint(2, n_filters + 1), "filter_size": [3, 5]}
    return {
        f"{kind}_{i}": each if i == 1 else When(each, "n_layers", ">=", i)
        for kind, each in values.items()
        for i in range(1, 6)
    }


HOURS = {"mnist": 1.0, "fashion_mnist": 1.0, "cifar10": 6.0}
SETTINGS = {
    "small": Setting(300, 1_000, 6, 6, shrink=2, space=narrow(16)),
    "full": Setting(60_000, 10_000, 20, 2_000, hours=HOURS, device="auto"),
}


def make_searches(name, y, seed, setting):
    """The six searches, by their names."""
    space = LayeredConvNetClassifier.space() | setting.space
    held_out = train_test_split(np.arange(len(y)), test_size=1 / 3, stratify=y, random_state=seed)
    hours = setting.hours.get(name)
    common = {
        "cv": [held_out],
        "random_state": seed,
        "timeout": hours and 3_600 * hours,
    }
    net = LayeredConvNetClassifier(
        max_epochs=setting.max_epochs, device=setting.device, random_state=seed, **PUBLISHED
    )
    stopping = clone(net).set_params(early_stopping=True)
    whole = {
        of: cls(stopping, space, n_iter=setting.n_trainings, **common)
        for of, cls in CLASSES.items()
    }
    incremental = {
        f"incremental, {of}": IncrementalEvaluationSearchCV(
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
        for of in CLASSES
    }
    return whole | incremental


def run_search(search, images):
    """Fit a search, and try its net on the test images."""
    X, X_test, y, y_test = images
    start = time.perf_counter()
    search.fit(X, y)
    return {
        "candidates": len(search.history_.trials),
        "valid": 1 - search.best_score_,
        "test": 1 - search.score(X_test, y_test),
        "layers": search.best_params_["n_layers"],
        "seconds": time.perf_counter() - start,
    }


def print_table(name, found):
    """Means over the seeds ± standard deviations, and the count of layers with the first seed."""
    print(f"\n{name}: errors in %")
    print(f"{'':<22}{'candidates':>10}{'validation':>14}{'test':>14}{'layers':>8}{'seconds':>9}")
    for method, results in found.items():
        of = {key: [result[key] for result in results] for key in results[0]}
        errors = "".join(f"{in_percent(of[which]):>14}" for which in ("valid", "test"))
        print(
            f"{method:<22}{np.mean(of['candidates']):>10.0f}{errors}{of['layers'][0]:>8}"
            f"{np.mean(of['seconds']):>9.1f}"
        )


def main():
    """Run everything and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--full", action="store_true", help="the published setting, for a GPU")
    parser.add_argument("--data", nargs="+", choices=DATA, default=["mnist"])
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--download", metavar="FOLDER", help="get images by torchvision")
    args = parser.parse_args()
    for name in args.data:
        setting, found = SETTINGS["full" if args.full else "small"], {}
        if images_of(name, args.download)[0].shape[1] < MIN_SIDE:
            setting = replace(setting, shrink=1)
        for seed in range(args.seeds):
            images = split_of(name, seed, setting, args.download)
            for method, search in make_searches(name, images[2], seed, setting).items():
                found.setdefault(method, []).append(run_search(search, images))
        print_table(name, found)


if __name__ == "__main__":
    main()
