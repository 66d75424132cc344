"""
Weights that all architectures share
====================================

Weights that all architectures share: one training instead of one for each net [1]_, [2]_.

A net has one to three convolutional layers with 4, 8 or 16 filters each: 39 architectures of
`LayeredConvNetClassifier`. A super-net holds the largest of them; each smaller one is a path
through it, and uses the first filters of each layer. For each batch a path is drawn, and its part
of the weights is trained. Then each path is scored on the validation images, which costs no
training, and the best one is trained from the beginning.

::

    python examples/experiment_weight_sharing.py [--epochs 20] [--shared-epochs 60] [--seeds 3]
        [--record examples/benchmarks/records/weight_sharing.jsonl]

Printed: the epochs of both ways, the rank correlation of shared scores and scores of nets trained
alone, and the test error of the net that each way chooses. The digits of scikit-learn; a minute
for a seed.

.. [1] H. Pham, M. Guan, B. Zoph, Q. Le, J. Dean, "Efficient neural architecture search via
   parameter sharing", ICML 2018. https://arxiv.org/abs/1802.03268
.. [2] H. Cai, C. Gan, T. Wang, Z. Zhang, S. Han, "Once-for-all: train one network and specialize
   it for efficient deployment", ICLR 2020. https://arxiv.org/abs/1908.09791
"""

import argparse
import json
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr
from sklearn.model_selection import train_test_split

from sksearch import When, minimize
from sksearch.datasets import load
from sksearch.samplers import GridSampler
from sksearch.space import Space

try:
    import torch
    from torch import nn
    from torch.nn import functional

    from sksearch.neural import LayeredConvNetClassifier
except ImportError as error:  # it names the extra to install
    raise SystemExit(str(error)) from error

MAX_LAYERS, FILTERS = 3, [4, 8, 16]
SIDE, N_CLASSES, BATCH = 8, 10, 50
SPACE = {"n_layers": [1, 2, 3], "n_filters_1": FILTERS} | {
    f"n_filters_{i}": When(FILTERS, "n_layers", ">=", i) for i in (2, 3)
}


class SuperNet(nn.Module):
    """The largest net; a path takes the first filters of each layer, and the head of its depth."""

    def __init__(self):
        super().__init__()
        widths = [1] + [max(FILTERS)] * MAX_LAYERS
        pairs = list(pairwise(widths))
        self.layers = nn.ModuleList(nn.Conv2d(a, b, 3, padding=1) for a, b in pairs)
        self.scales = nn.ParameterList(torch.ones(b) for _, b in pairs)
        self.shifts = nn.ParameterList(torch.zeros(b) for _, b in pairs)
        sides = [SIDE // 2**i for i in range(1, MAX_LAYERS + 1)]
        self.heads = nn.ModuleList(nn.Linear(max(FILTERS) * s * s, N_CLASSES) for s in sides)

    def forward(self, X, path):
        """Scores of the classes by one path, normalised by the batch."""
        n_in = 1
        for i in range(path["n_layers"]):
            n, layer = path[f"n_filters_{i + 1}"], self.layers[i]
            X = functional.conv2d(X, layer.weight[:n, :n_in], layer.bias[:n], padding=1)
            scale, shift = self.scales[i][:n], self.shifts[i][:n]
            X = functional.batch_norm(X, None, None, scale, shift, training=True)
            X = functional.max_pool2d(functional.relu(X), 2)
            n_in = n
        X, head = X.flatten(1), self.heads[path["n_layers"] - 1]
        return functional.linear(X, head.weight[:, : X.shape[1]], head.bias)


def train_shared(X, y, epochs, seed):
    """Train a super-net: for each batch one path, drawn at random."""
    torch.manual_seed(seed)
    rng, net, space = np.random.default_rng(seed), SuperNet(), Space(SPACE)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, nesterov=True)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
    for _ in range(epochs):
        for rows in torch.from_numpy(rng.permutation(len(X))).split(BATCH):
            optimizer.zero_grad()
            loss = functional.cross_entropy(net(X[rows], space.sample(rng)), y[rows])
            loss.backward()
            optimizer.step()
        schedule.step()
    return net


@torch.no_grad()
def shared_error(net, path, X, y):
    """Share of wrong classes by a path of the super-net."""
    return float((net(X, path).argmax(dim=1) != y).float().mean())


def alone(path, X, y, epochs, seed):
    """The net of a path, trained from the beginning."""
    net = LayeredConvNetClassifier(
        **path, max_epochs=epochs, batch_size=BATCH, learning_rate=0.05, random_state=seed
    )
    return net.fit(X, y)


def run(epochs, shared_epochs, seed):
    """Search both ways with one split of the digits; what was found, by name."""
    data = load("digits")
    images, y = data.data.reshape(-1, SIDE, SIDE).astype("float32"), data.target
    train, rest = train_test_split(np.arange(len(y)), test_size=0.5, stratify=y, random_state=seed)
    val, test = train_test_split(rest, test_size=0.5, stratify=y[rest], random_state=seed)
    X, targets = torch.from_numpy(images)[:, None], torch.from_numpy(y)
    net = train_shared(X[train], targets[train], shared_epochs, seed)
    found = minimize(
        lambda path: shared_error(net, path, X[val], targets[val]),
        SPACE, sampler=GridSampler(), n_iter=Space(SPACE).size,
    )  # fmt: skip
    paths = [trial.params for trial in found.history.trials]
    shared = [-trial.results[1].score for trial in found.history.trials]
    nets = [alone(path, images[train], y[train], epochs, seed) for path in paths]
    scores = [1 - one.score(images[val], y[val]) for one in nets]
    errors = [1 - one.score(images[test], y[test]) for one in nets]
    return {
        "epochs, shared": shared_epochs + epochs,
        "epochs, each alone": len(paths) * epochs,
        "rank correlation": float(spearmanr(shared, scores)[0]),
        "test error, shared": errors[paths.index(found.x)],
        "test error, each alone": errors[int(np.argmin(scores))],
        "test error, mean of all": float(np.mean(errors)),
    }


def table(lines):
    """Return the rows of the page: a result, of each seed, and their mean."""
    rows = [["", *(f"seed {i}" for i in range(len(lines))), "mean"]]
    for name in lines[0]:
        values = [line[name] for line in lines]
        shown = "{:.0f}" if name.startswith("epochs") else "{:.3f}"
        rows.append([name, *map(shown.format, [*values, np.mean(values)])])
    return rows


def main():
    """Print the results of each seed, and their means."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument("--epochs", type=int, default=20, help="of a net that is trained alone")
    parser.add_argument("--shared-epochs", type=int, default=60, help="of the super-net")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--record", type=Path, help="where to write the results")
    args = parser.parse_args()
    found = [run(args.epochs, args.shared_epochs, seed) for seed in range(args.seeds)]
    if args.record is not None:
        args.record.write_text("".join(f"{json.dumps(one)}\n" for one in found))
    for row in table(found):
        print(f"{row[0]:<24}" + "".join(f"{cell:>9}" for cell in row[1:]))


if __name__ == "__main__":
    main()
