"""Images a second: a loop written by hand, our classifiers, and skorch's own loop.

The same net, batch size, precision and optimizer in one run, in turns, so that whatever else the
machine does meets all alike. Each turn is one epoch; the ratio is of the fastest turns.

    python examples/benchmarks/neural.py [--images 1280] [--turns 5] [--device cpu] [--bar]
"""

import argparse
import sys
import time
import warnings

import numpy as np
import torch
from skorch import NeuralNetClassifier
from torch import nn
from torch.nn import functional

from sksearch.neural import BlockConvNetClassifier, ConvNetClassifier, PixelLogisticClassifier

BAR = 0.9
CASES = {
    "residual net": lambda: ConvNetClassifier(n_filters=16, warmup=0.0),
    "blocks": lambda: BlockConvNetClassifier(batch_size=128),
    "logistic regression": lambda: PixelLogisticClassifier(batch_size=128),
}


def images_of(n, seed=0):
    """`n` images of noise, 32 x 32 pixels in 3 colours, and labels."""
    rng = np.random.default_rng(seed)
    return rng.integers(256, size=(n, 32, 32, 3), dtype=np.uint8), rng.integers(10, size=n)


class Bare:
    """A training loop as one writes it in PyTorch, with the data on the device.

    Parameters
    ----------
    classifier : ImageClassifier
        Fitted; for its net and its settings.
    X, y : ndarray
        Images and labels.
    """

    def __init__(self, classifier, X, y):
        self.device = torch.device(classifier.device)
        self.module = classifier.net_.module_.to(self.device)
        self.X = torch.from_numpy(X).permute(0, 3, 1, 2).to(self.device)
        self.y = torch.from_numpy(y).to(self.device)
        self.batch_size, self.precision = classifier.batch_size, classifier.precision
        self.optimizer = torch.optim.SGD(
            self.module.parameters(),
            lr=1e-4,
            momentum=0.9,
            nesterov=True,
            weight_decay=classifier.weight_decay,
            fused=True,
        )

    def epoch(self):
        """Train for one epoch."""
        self.module.train()
        order = torch.randperm(len(self.X), device=self.device)
        total = torch.zeros((), device=self.device)
        for rows in order.split(self.batch_size):
            x, y = self.X[rows], self.y[rows]
            self.optimizer.zero_grad(set_to_none=True)
            enabled = self.precision == "bf16"
            with torch.autocast(self.device.type, torch.bfloat16, enabled=enabled):
                loss = functional.cross_entropy(self.module(x), y)
            loss.backward()
            self.optimizer.step()
            total += loss.detach() * len(rows)
        return total.item() / len(self.X)


class Ours:
    """An epoch of ``partial_fit``, its checks and all included.

    Parameters
    ----------
    classifier : ImageClassifier
        To train.
    X, y : ndarray
        Images and labels.
    """

    def __init__(self, classifier, X, y):
        self.classifier, self.X, self.y = classifier, X, y

    def epoch(self):
        """Train for one epoch."""
        self.classifier.partial_fit(self.X, self.y)


class Skorch:
    """skorch as it comes, on the same net: its DataLoader and its record of each batch.

    Parameters
    ----------
    classifier : ImageClassifier
        Fitted; for its net and its settings.
    X, y : ndarray
        Images and labels.
    """

    def __init__(self, classifier, X, y):
        self.X, self.y = X.transpose(0, 3, 1, 2), y
        self.net = NeuralNetClassifier(
            classifier.net_.module_,
            criterion=nn.CrossEntropyLoss,
            optimizer=torch.optim.SGD,
            optimizer__momentum=0.9,
            optimizer__nesterov=True,
            optimizer__weight_decay=classifier.weight_decay,
            optimizer__fused=True,
            lr=1e-4,
            max_epochs=1,
            batch_size=classifier.batch_size,
            iterator_train__shuffle=True,
            train_split=None,
            device=classifier.device,
            verbose=0,
        ).initialize()

    def epoch(self):
        """Train for one epoch."""
        self.net.partial_fit(self.X, self.y)


def best_seconds(ways, turns, device):
    """Fewest seconds of an epoch of each way, in turns after a first one that does not count.

    On the CPU they are seconds of one thread's work, since other processes may use it as well.
    """
    clock = time.process_time if device == "cpu" else time.perf_counter
    seconds = {name: [] for name in ways}
    for turn in range(turns + 1):
        for name, way in ways.items():
            if device == "cuda":
                torch.cuda.synchronize()
            start = clock()
            way.epoch()
            if device == "cuda":
                torch.cuda.synchronize()
            if turn:
                seconds[name].append(clock() - start)
    return {name: min(each) for name, each in seconds.items()}


def compare(device, precision, n_images, turns):
    """Print images a second of each net and way; return ours over by hand, by name of the net."""
    X, y = images_of(n_images)
    print(f"PyTorch {torch.__version__}, {device}, {precision}, {n_images} images")
    print(f"{'images a second':<22}{'bare':>10}{'ours':>10}{'skorch':>10}{'ours / bare':>13}")
    ratios = {}
    for name, make in CASES.items():
        classifier = make().set_params(
            device=device,
            precision=precision,
            max_epochs=1,
            learning_rate=1e-4,
            schedule="constant",
            random_state=0,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ways = {"ours": Ours(classifier.partial_fit(X[:256], y[:256]), X, y)}
            for key, way in (("bare", Bare), ("skorch", Skorch)):
                other = make().set_params(**classifier.get_params())
                ways[key] = way(other.partial_fit(X[:256], y[:256]), X, y)
            seconds = best_seconds(ways, turns, device)
        speeds = {key: n_images / s for key, s in seconds.items()}
        ratios[name] = speeds["ours"] / speeds["bare"]
        cells = "".join(f"{speeds[key]:>10,.0f}" for key in ("bare", "ours", "skorch"))
        print(f"{name:<22}{cells}{ratios[name]:>13.2f}", flush=True)
    return ratios


def main():
    """Print a table and return whether the bar is met."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--images", type=int, default=1_280)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--precision", choices=["fp32", "bf16"], default="fp32")
    parser.add_argument("--bar", action="store_true", help="fail below 0.9 of the bare loop")
    args = parser.parse_args()
    torch.set_num_threads(1)
    ratios = compare(args.device, args.precision, args.images, args.turns)
    return min(ratios.values()) >= BAR or not args.bar


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
