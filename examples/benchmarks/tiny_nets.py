"""What a search costs where nets are tiny: halving over epochs, skorch alone, and a bare loop.

The same candidates are trained for the same epochs on the same folds, and scored on the test rows:
by `SuccessiveHalvingSearchCV`, which goes on with nets that are promoted; by skorch's ``fit`` and
``score``; and by a loop as one writes it in PyTorch. Processor seconds of the best of some turns,
and what ours takes more than either for each fold and rung.

    OMP_NUM_THREADS=1 python examples/benchmarks/tiny_nets.py [--turns 3]
"""

import argparse
import sys
import time

import numpy as np
import torch
from scipy.stats import loguniform
from sklearn.base import clone
from sklearn.datasets import make_classification
from skorch import NeuralNetClassifier
from torch import nn
from torch.nn import functional

from sksearch import SuccessiveHalvingSearchCV

N_ROWS, N_FEATURES, N_HIDDEN, BATCH, N_FOLDS = 300, 10, 16, 64, 3
MOST = 1.4  # of skorch's time


class Net(nn.Module):
    """One hidden layer."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(N_FEATURES, N_HIDDEN), nn.ReLU(), nn.Linear(N_HIDDEN, 2), nn.Softmax(-1)
        )

    def forward(self, X):
        return self.layers(X)


def make_net():
    """The net as skorch has it."""
    return NeuralNetClassifier(
        Net, verbose=0, train_split=None, batch_size=BATCH, optimizer=torch.optim.Adam,
        iterator_train__shuffle=True,
    )  # fmt: skip


def by_search(X, y):
    """Halving, 27 candidates, 1 to 27 epochs."""
    search = SuccessiveHalvingSearchCV(
        make_net(), {"lr": loguniform(1e-4, 1e-1)}, n_candidates=27, resource="epochs",
        max_resources=27, cv=N_FOLDS, random_state=0, refit=False,
    )  # fmt: skip
    return search.fit(X, y)


def by_skorch(X, y, trials):
    """Each candidate to its last epoch, on each fold."""
    for trial in trials:
        for train, test in folds():
            net = clone(make_net()).set_params(max_epochs=trial.resource, **trial.params)
            net.fit(X[train], y[train]).score(X[test], y[test])


def by_hand(X, y, trials):
    """The same without skorch."""
    X, y = torch.from_numpy(X), torch.from_numpy(y)
    for trial in trials:
        for train, test in folds():
            net = Net()
            optimizer = torch.optim.Adam(net.parameters(), lr=trial.params["lr"])
            for _ in range(trial.resource):
                for rows in torch.from_numpy(train)[torch.randperm(len(train))].split(BATCH):
                    optimizer.zero_grad()
                    functional.nll_loss(net(X[rows]).log(), y[rows]).backward()
                    optimizer.step()
            with torch.no_grad():
                (net(X[test]).argmax(-1) == y[test]).float().mean().item()


def folds():
    """Rows to train on and to test on."""
    rows = np.arange(N_ROWS)
    return [(rows[rows % N_FOLDS != k], rows[rows % N_FOLDS == k]) for k in range(N_FOLDS)]


def main():
    """Print seconds and ratios; 1 if a bar fails."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--turns", type=int, default=3)
    args = parser.parse_args()
    torch.set_num_threads(1)
    X, y = make_classification(N_ROWS, N_FEATURES, random_state=0)
    X, y = X.astype(np.float32), y.astype(np.int64)
    trials = by_search(X, y).history_.trials
    n_jobs = N_FOLDS * sum(len(trial.results) for trial in trials)
    ways = {
        "ours": lambda: by_search(X, y),
        "skorch": lambda: by_skorch(X, y, trials),
        "bare loop": lambda: by_hand(X, y, trials),
    }
    seconds = dict.fromkeys(ways, np.inf)
    for _ in range(args.turns):
        for name, way in ways.items():
            start = time.process_time()
            way()
            seconds[name] = min(seconds[name], time.process_time() - start)
    print(f"{n_jobs} folds and rungs:", {name: round(s, 2) for name, s in seconds.items()})
    for name in ("skorch", "bare loop"):
        more = 1_000 * (seconds["ours"] - seconds[name]) / n_jobs
        ratio = seconds["ours"] / seconds[name]
        print(f"ours / {name}: {ratio:.2f}, {more:.1f} ms more for a fold and rung")
    return int(seconds["ours"] > MOST * seconds["skorch"])


if __name__ == "__main__":
    sys.exit(main())
