"""Make the curves that `sksearch.simulators.load_mnist_curves` reads.

Multinomial logistic regression of 10,000 images of MNIST, trained for 81 epochs by stochastic
gradient descent with momentum, for 1,024 settings of learning rate, weight decay, momentum and
batch size. 512 of them are a scrambled Sobol sequence, which covers the space; the other 512 were
proposed by TPE in the light of the errors so far, so that recorded settings are dense where a
search goes. After every epoch the error and the cross-entropy on 5,000 further images are noted.

    python examples/make_mnist_curves.py [--out curves.npz]

Takes about twenty minutes of one core, and the data folder (see `sksearch.datasets`). What is done
is kept in ``<out>.partial.npz``, from which a run that was stopped goes on.

==========  ==============================================================  ==============
symbol      meaning                                                         shape
==========  ==============================================================  ==============
W, V        weights with the bias in the last column, and their velocity    (10, n_pixels)
A, y        a mini-batch with a column of ones, and its classes             (b, n_pixels)
P           probabilities of classes, then their excess over the truth      (10, b)
eta, decay  learning rate, weight decay                                     scalars
mu, b       momentum, count of rows in a mini-batch                         scalars
==========  ==============================================================  ==============
"""

import argparse
import json
import shlex
import sys
import time
from datetime import date
from pathlib import Path

import numpy as np
import scipy
from scipy.stats import loguniform, randint, uniform
from threadpoolctl import threadpool_limits

import sksearch
from sksearch.datasets import load
from sksearch.history import Problem, Result
from sksearch.samplers import TPESampler
from sksearch.schedulers import FullFidelity
from sksearch.space import Space
from sksearch.study import Study

OUT = Path(__file__).parents[1] / "sksearch" / "simulators" / "data" / "mnist_sgd.npz"
N_TRAIN, N_VALID, N_EPOCHS = 10_000, 5_000, 81
N_SOBOL, N_TPE = 512, 512
CHUNK = 64  # settings that are trained side by side, between two looks at their errors
SEED = 0
MAX_LOSS = 1_000.0  # cross-entropy that stands for any larger one, and for a diverged training
SPACE = [
    {"name": "learning_rate", "type": "float", "lower": 1e-6, "upper": 1.0, "log": True},
    {"name": "weight_decay", "type": "float", "lower": 1e-6, "upper": 1e-1, "log": True},
    {"name": "momentum", "type": "float", "lower": 0.3, "upper": 0.999, "log": False},
    {"name": "batch_size", "type": "int", "lower": 20, "upper": 2000, "log": False},
]
DISTRIBUTIONS = {
    "learning_rate": loguniform(1e-6, 1.0),
    "weight_decay": loguniform(1e-6, 1e-1),
    "momentum": uniform(0.3, 0.699),
    "batch_size": randint(20, 2001),
}


def read_images():
    """Training and validation images with a column of ones, and their classes."""
    images = load("mnist", n_samples=N_TRAIN + N_VALID, random_state=SEED)
    if not images.source.endswith("mnist.npz"):
        sys.exit(f"MNIST is not there, only {images.source}: see sksearch.datasets.load.")
    order = np.random.default_rng(SEED).permutation(N_TRAIN + N_VALID)
    A, y = images.data[order], images.target[order]
    used = A[:N_TRAIN].any(axis=0)  # the others have no gradient, and cost a seventh of the time
    A = np.column_stack([A[:, used], np.ones(len(A), np.float32)])
    return A[:N_TRAIN], y[:N_TRAIN], A[N_TRAIN:], y[N_TRAIN:]


def train_epoch(W, V, A, y, params):
    """Go through all rows once; W and V change in place."""
    b, eta = params["batch_size"], np.float32(params["learning_rate"])
    mu, decay = np.float32(params["momentum"]), np.float32(params["weight_decay"])
    for start in range(0, len(A), b):
        batch, classes = A[start : start + b], y[start : start + b]
        P = W @ batch.T
        P -= P.max(axis=0)
        np.exp(P, out=P)
        P /= P.sum(axis=0)
        P[classes, np.arange(len(classes))] -= 1
        V *= mu
        V += P @ batch / np.float32(len(classes)) + decay * W
        W -= eta * V


def validate(weights, A, y):
    """Errors and cross-entropies of several models, each of shape (n_models,)."""
    n_models = len(weights)
    Z = (A @ weights.reshape(n_models * 10, -1).T).reshape(len(A), n_models, 10)
    Z -= Z.max(axis=2, keepdims=True)
    errors = (Z.argmax(axis=2) != y[:, np.newaxis]).mean(axis=0)
    truth = Z[np.arange(len(y)), :, y]
    np.exp(Z, out=Z)
    losses = (np.log(Z.sum(axis=2)) - truth).mean(axis=0, dtype=float)
    diverged = ~np.isfinite(losses)
    return np.where(diverged, 0.9, errors), np.where(diverged, MAX_LOSS, losses.clip(0, MAX_LOSS))


def train(candidates, images):
    """Train some settings side by side, on the same mini-batches where their sizes agree.

    Returns
    -------
    errors, losses : ndarray of shape (n_candidates, N_EPOCHS)
        On the validation images after each epoch.
    """
    A, y, A_valid, y_valid = images
    limit = 1 / np.sqrt(A.shape[1])  # of uniform weights, as torch.nn.Linear begins
    W = np.random.default_rng(SEED).uniform(-limit, limit, (10, A.shape[1])).astype(np.float32)
    W = np.repeat(W[np.newaxis], len(candidates), axis=0)
    V = np.zeros_like(W)
    errors = np.empty((len(candidates), N_EPOCHS), np.float32)
    losses = np.empty_like(errors)
    for epoch in range(N_EPOCHS):
        order = np.random.default_rng((SEED, epoch)).permutation(len(A))
        shuffled, classes = A[order], y[order]
        for i, params in enumerate(candidates):
            train_epoch(W[i], V[i], shuffled, classes, params)
        errors[:, epoch], losses[:, epoch] = validate(W, A_valid, y_valid)
    return errors, losses


def rounded(losses):
    """The same to 13 bits, 1 part in 8,000, of which a file needs half the room."""
    mantissa, exponent = np.frexp(losses)
    return np.ldexp(np.round(mantissa * 2**13) / 2**13, exponent).astype(np.float32)


def read_partial(path):
    """Errors and losses of an earlier run that was stopped."""
    if not path.is_file():
        return np.empty((0, N_EPOCHS), np.float32), np.empty((0, N_EPOCHS), np.float32)
    with np.load(path) as arrays:
        return arrays["errors"], arrays["losses"]


def collect(partial):
    """Params, errors and losses of all settings."""
    images = read_images()
    errors, losses = read_partial(partial)
    study = Study(
        Problem(Space(DISTRIBUTIONS), seed=SEED),
        TPESampler(n_initial=N_SOBOL),
        FullFidelity(N_SOBOL + N_TPE),
    )
    began = time.perf_counter()
    for n_done in range(0, N_SOBOL + N_TPE, CHUNK):
        jobs = [study.ask() for _ in range(CHUNK)]
        if n_done == len(errors):  # else this chunk is known, and the study is told again
            new = train([job.params for job in jobs], images)
            errors, losses = np.vstack([errors, new[0]]), np.vstack([losses, new[1]])
            np.savez_compressed(partial, errors=errors, losses=losses)
        for job, error in zip(jobs, errors[n_done:, -1], strict=False):
            study.tell(job, Result(score=-float(error)))
        minutes = (time.perf_counter() - began) / 60
        print(f"{n_done + CHUNK} settings, {minutes:.1f} min, best {errors[:, -1].min():.4f}")
    params = [trial.params for trial in study.history.trials]
    return params, errors, losses


def main():
    """Train, and write the file."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, default=OUT)
    args = parser.parse_args()
    args.out.parent.mkdir(parents=True, exist_ok=True)
    partial = args.out.with_suffix(".partial.npz")
    with threadpool_limits(1):
        params, errors, losses = collect(partial)
    meta = {
        "name": "logistic regression by SGD on MNIST",
        "space": SPACE,
        "losses": {
            "error": "share of wrong validation rows; 0.9 for a diverged training",
            "log_loss": f"validation cross-entropy in nats, at most {MAX_LOSS}, to 13 bits",
        },
        "n_train": N_TRAIN,
        "n_valid": N_VALID,
        "n_epochs": N_EPOCHS,
        "n_sobol": N_SOBOL,
        "n_tpe": N_TPE,
        "seed": SEED,
        "made": date.today().isoformat(),
        "command": shlex.join(["python", *sys.argv]),
        "versions": {
            "python": sys.version.split()[0],
            "numpy": np.__version__,
            "scipy": scipy.__version__,
            "sksearch": sksearch.__version__,
        },
    }
    np.savez_compressed(
        args.out,
        meta=np.array(json.dumps(meta)),
        X=np.array([[p[entry["name"]] for entry in SPACE] for p in params]),
        error=errors,
        log_loss=rounded(losses),
    )
    partial.unlink()
    print(f"{args.out}: {args.out.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
