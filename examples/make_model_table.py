"""Make the table of 600 trained models that the comparison of random and Bayesian search reads.

Multilayer perceptrons of scikit-learn on Fashion-MNIST, halved to 14 x 14 pixels: 3,000 images to
train on for 10 epochs, 5,000 others to measure the error on. Seven hyperparameters have 34,300
combinations, as many as those of the convolutional networks in [1]_; 600 of them are drawn and
trained, as in its comparison of searches.

    python examples/make_model_table.py [--out table.npz]

Takes a quarter of an hour of one core. What is done is kept in ``<out>.partial.npz``, from which
a run that was stopped goes on. Without a data folder (see `sksearch.datasets`) the images are
scikit-learn's digits, and the table says so.

The file is a pool of the format that `sksearch.simulators.TabularProblem.read` reads.

.. [1] H. Bertrand, "Optimization of hyper-parameters of deep learning", thesis, chapter 2.
"""

import argparse
import json
import math
import shlex
import sys
import time
import warnings
from datetime import date
from pathlib import Path

import numpy as np
import scipy
import sklearn
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss
from sklearn.neural_network import MLPClassifier
from threadpoolctl import threadpool_limits

import sksearch
from sksearch.datasets import load
from sksearch.space import Space

OUT = Path(__file__).parent / "data" / "fashion_models.npz"
N_MODELS, N_EPOCHS = 600, 10
N_TRAIN, N_VALID = 3_000, 5_000
SAVE_EVERY = 20  # models
SEED = 0
MAX_LOSS = 10.0  # cross-entropy of a diverged training, and the largest one noted
GRID = {
    "n_layers": [1, 2, 3, 4, 5],
    "width": [4, 8, 16, 32, 64, 128, 256],
    "activation": ["relu", "tanh"],
    "solver": ["adam", "sgd"],
    "learning_rate": [1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1],
    "batch_size": [4, 8, 16, 32, 64, 128, 256],
    "alpha": [1e-5, 1e-4, 1e-3, 1e-2, 1e-1],
}


def read_images():
    """Training and validation images and classes, and where they come from."""
    images = load("fashion_mnist", n_samples=N_TRAIN + N_VALID, random_state=SEED)
    order = np.random.default_rng(SEED).permutation(len(images.target))
    X, y = images.data[order], images.target[order]
    if X.shape[1] == 784:
        X = X.reshape(-1, 14, 2, 14, 2).mean(axis=(2, 4)).reshape(len(X), -1)
    n_train = len(X) * N_TRAIN // (N_TRAIN + N_VALID)
    X = X - X[:n_train].mean(axis=0)
    return X[:n_train], y[:n_train], X[n_train:], y[n_train:], images.source


def train(params, images):
    """Error and cross-entropy of one model."""
    X, y, X_valid, y_valid = images[:4]
    model = MLPClassifier(
        (params["width"],) * params["n_layers"],
        activation=params["activation"],
        solver=params["solver"],
        learning_rate_init=params["learning_rate"],
        batch_size=params["batch_size"],
        alpha=params["alpha"],
        max_iter=N_EPOCHS,
        n_iter_no_change=N_EPOCHS + 1,
        random_state=SEED,
    )
    with warnings.catch_warnings():
        # Ten epochs are all that a model gets, and a diverging one overflows.
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            model.fit(X, y)
        except ValueError as error:
            if "non-finite" not in str(error):
                raise
            return 1 - 1 / len(np.unique(y)), MAX_LOSS
        P = model.predict_proba(X_valid)
    loss = min(log_loss(y_valid, P), MAX_LOSS) if np.isfinite(P).all() else MAX_LOSS
    return float((model.classes_[P.argmax(axis=1)] != y_valid).mean()), loss


def collect(candidates, images, partial):
    """Errors and cross-entropies, shape (n_candidates, 2), and seconds of processor time."""
    rows = []
    if partial.is_file():
        with np.load(partial) as arrays:
            rows = arrays["rows"].tolist()
    for i in range(len(rows), len(candidates)):
        began = time.process_time()
        error, loss = train(candidates[i], images)
        rows.append([error, loss, time.process_time() - began])
        if (i + 1) % SAVE_EVERY == 0:
            np.savez_compressed(partial, rows=np.array(rows))
            best, minutes = min(row[0] for row in rows), sum(row[2] for row in rows) / 60
            print(f"{i + 1} models, {minutes:.1f} min, best error {best:.4f}")
    return np.array(rows)


def describe(errors, source):
    """What the file says about itself."""
    return {
        "kind": "pool",
        "name": f"{N_MODELS} multilayer perceptrons on images",
        "space": [
            {"name": name, "type": "float" if isinstance(choices[0], float) else "int"}
            | ({"type": "cat"} if isinstance(choices[0], str) else {})
            | {"choices": choices}
            for name, choices in GRID.items()
        ],
        "loss": "share of wrong validation rows",
        "best": {"loss": float(errors.min())},
        "median": float(np.median(errors)),
        "data": Path(source).name,
        "n_train": N_TRAIN,
        "n_valid": N_VALID,
        "n_epochs": N_EPOCHS,
        "seed": SEED,
        "made": date.today().isoformat(),
        "command": shlex.join(["python", *sys.argv]),
        "versions": {
            "python": sys.version.split()[0],
            "numpy": np.__version__,
            "scipy": scipy.__version__,
            "scikit-learn": sklearn.__version__,
            "sksearch": sksearch.__version__,
        },
    }


def main():
    """Train, and write the file."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, default=OUT)
    args = parser.parse_args()
    args.out.parent.mkdir(parents=True, exist_ok=True)
    partial = args.out.with_suffix(".partial.npz")
    space, images = Space(GRID), read_images()
    numbers = np.random.default_rng(SEED).choice(space.size, N_MODELS, replace=False)
    candidates = [space.candidate(i) for i in numbers]
    with threadpool_limits(1):
        rows = collect(candidates, images, partial)
    X = [[GRID[name].index(params[name]) for name in GRID] for params in candidates]
    np.savez_compressed(
        args.out,
        meta=np.array(json.dumps(describe(rows[:, 0], images[4]))),
        X=np.array(X, dtype=float),
        valid=rows[:, 0].reshape(-1, 1, 1),
        log_loss=rows[:, 1].astype(np.float32),
        time=rows[:, 2:].astype(np.float32),
    )
    partial.unlink()
    size = args.out.stat().st_size / 1000
    print(f"{args.out}: {size:.0f} kB, {math.fsum(rows[:, 2]) / 60:.1f} min")


if __name__ == "__main__":
    main()
