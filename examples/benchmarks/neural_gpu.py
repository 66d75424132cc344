"""Nets on one GPU: several candidates at a time, memory afterwards, and images a second.

Four things, each with its bar. Without a GPU a small run on the CPU shows that the command works.

* Images a second of a loop written by hand, of ours and of skorch's own (``neural.py``); the bar
  is for the nets with convolutions.
* Twenty candidates that need more memory than the GPU has, among one that does not.
* Hyperband on the subset of CIFAR-10 (noise of the same size where there is no data folder):
  epochs of candidates a second, one at a time in this process and several at a time in worker
  processes. All have trained something before the clock starts.
* The GPU's memory before and after these searches: what PyTorch has allocated in this process
  after the first, and what the driver says after those in workers, when the workers are ended.

    python examples/benchmarks/neural_gpu.py [--jobs 4 8] [--seconds 90] [--small] [--bar]
"""

import argparse
import sys
import time
import warnings

import joblib
import numpy as np
import torch
from neural import BAR, compare, images_of

from sksearch import HyperbandSearchCV, RandomSearchCV
from sksearch.datasets import load
from sksearch.executors import end_idle_workers
from sksearch.neural import BlockConvNetClassifier, ConvNetClassifier, conv_net_space

SPEED_UP = 2.5  # several at a time over one at a time
N_HUNGRY = 20
SLACK = 64e6  # bytes that the driver may need or not need for itself


def cifar(small):
    """Images as bytes, and labels."""
    n_samples = 300 if small else 10_000
    data = load("cifar10", n_samples=n_samples)
    if data.data.shape[1] == 32 * 32 * 3:
        print(f"data: {data.source}")
        return (255 * data.data).round().astype(np.uint8).reshape(-1, 32, 32, 3), data.target
    print("data: noise, since there is no data folder")
    return images_of(n_samples)


def one_split(n, n_test):
    """One split into the first rows and the last."""
    return [(np.arange(n - n_test), np.arange(n - n_test, n))]


def memory():
    """Bytes that PyTorch has allocated in this process, and that all processes use of the GPU."""
    if not torch.cuda.is_available():
        return np.zeros(2)
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    free, total = torch.cuda.mem_get_info()
    return np.array([torch.cuda.memory_allocated(), total - free])


# ---- full memory


def hungry_search(small):
    """A search over candidates that no memory is large enough for, and a small one; its data."""
    if small:
        y = np.arange(34) % 2
        X = np.zeros((34, 8, 8), dtype=np.uint8)
        space = [{"head": [(10**9, 10**5 + i) for i in range(N_HUNGRY)]}, {"head": [(8,)]}]
        net = BlockConvNetClassifier(n_blocks=1, n_filters=4)
    else:
        X, y = np.zeros((34, 512, 512, 3), dtype=np.uint8), np.arange(34) % 2
        rates = np.geomspace(1e-5, 1e-4, N_HUNGRY).tolist()
        # What 30 double layers hand on is 240 GB, with few weights: those are made on the CPU.
        space = [
            {"n_layers": [30], "n_filters": [128], "learning_rate": rates},
            {"n_layers": [1], "n_filters": [4]},
        ]
        net = BlockConvNetClassifier(n_blocks=3, head=(8,), separable=True, batch_size=30)
        net.set_params(precision="fp32")
    net.set_params(max_epochs=1, random_state=0)
    search = RandomSearchCV(
        net, space, n_iter=N_HUNGRY + 1, cv=one_split(34, 4), refit=False, random_state=0
    )
    return search, X, y


def survive(n_jobs, devices, small):
    """Count the hungry candidates with the status "memory" if the small one is well, else 0."""
    search, X, y = hungry_search(small)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of failed fits
        search.set_params(n_jobs=n_jobs, devices=devices).fit(X, y)
    n_full, n_ok = (search.statuses_.count(status) for status in ("memory", "ok"))
    print(f"n_jobs={n_jobs}: {n_full} candidates without memory, {n_ok} well", flush=True)
    return n_full if n_ok == 1 else 0


# ---- several at a time


def hyperband(small, **params):
    """The search whose throughput is measured."""
    largest = 3 if small else 27
    space = conv_net_space(horizon=largest)
    if small:
        space |= {"n_filters": [2, 4], "n_blocks": [1]}
    net = ConvNetClassifier(n_stages=2 if small else 3, random_state=0)
    return HyperbandSearchCV(
        net, space, resource="epochs", max_resources=largest, random_state=0, refit=False
    ).set_params(**params)


def warm_up(X, y, n_jobs, devices):
    """Have each worker train nets."""
    space = {"learning_rate": np.geomspace(0.01, 0.1, 2 * n_jobs).tolist()}
    net = ConvNetClassifier(n_filters=8, max_epochs=1, random_state=0)
    RandomSearchCV(
        net, space, n_iter=2 * n_jobs, n_jobs=n_jobs, devices=devices, refit=False,
        cv=one_split(len(X), len(X) // 5),
    ).fit(X, y)  # fmt: skip


def throughput(X, y, n_jobs, devices, small, seconds):
    """Epochs of candidates a second of the whole search, and bytes that it has not given back."""
    before = memory()[1]
    start = time.perf_counter()
    warm_up(X, y, n_jobs, devices)
    first = time.perf_counter() - start
    allocated = memory()[0]
    search = hyperband(
        small, n_jobs=n_jobs, devices=devices, timeout=seconds, cv=one_split(len(X), len(X) // 5)
    )
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a candidate may diverge
        search.fit(X, y)
    took = time.perf_counter() - start
    trials = search.history_.trials
    n_epochs = sum(trial.resource for trial in trials)
    held = memory()
    end_idle_workers()
    kept = held[0] - allocated if n_jobs == 1 else memory()[1] - before
    print(
        f"n_jobs={n_jobs}: {n_epochs} epochs of {len(trials)} candidates in {took:.1f} s, "
        f"{n_epochs / took:.2f} a second; best {search.best_score_:.3f}, "
        f"{len(search.statuses_) - search.statuses_.count('ok')} failed; first epochs {first:.1f} "
        f"s; idle workers held {(held[1] - memory()[1]) / 1e9:.2f} GB, {kept / 1e9:.3f} GB kept",
        flush=True,
    )
    return n_epochs / took, kept


# ---- all of it


def measure(args, has_gpu, small):
    """Print everything; return (what, value, bar, met) of each bar."""
    devices = [0] if has_gpu else None
    size = (256, 1) if small else (25_000, 3)
    tables = [
        compare("cuda" if has_gpu else "cpu", precision, *size)
        for precision in (["fp32", "bf16"] if has_gpu else ["fp32"])
    ]
    # An epoch of logistic regression is less work than to bring the images to the GPU.
    ratio = min(table[name] for table in tables for name in ("residual net", "blocks"))
    n_full = min(survive(n_jobs, devices, small) for n_jobs in (1, args.jobs[0]))
    end_idle_workers()
    X, y = cifar(small)
    (alone, kept), *several = [
        throughput(X, y, n_jobs, None if n_jobs == 1 else devices, small, args.seconds)
        for n_jobs in (1, *args.jobs)
    ]
    speed_up = max(speed for speed, _ in several) / alone
    kept = max(kept, *(bytes_ for _, bytes_ in several))
    return [
        ("images a second, ours / by hand", ratio, f">= {BAR}", ratio >= BAR),
        ("candidates without memory survived", n_full, f"= {N_HUNGRY}", n_full == N_HUNGRY),
        ("several at a time / one", speed_up, f">= {SPEED_UP}", speed_up >= SPEED_UP),
        ("GB not given back", kept / 1e9, f"<= {SLACK / 1e9}", kept <= SLACK),
    ]


def main():
    """Print all figures and return whether all bars are met."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--jobs", type=int, nargs="+", default=None, help="default: 4 8, or 2")
    parser.add_argument("--seconds", type=float, default=90, help="of each search at most")
    parser.add_argument("--small", action="store_true", help="only to see that it works")
    parser.add_argument("--bar", action="store_true", help="fail where a bar is missed on a GPU")
    args = parser.parse_args()
    has_gpu = torch.cuda.is_available()
    small = args.small or not has_gpu
    args.jobs = args.jobs or ([2] if small else [4, 8])
    torch.set_num_threads(1)
    start = time.perf_counter()
    if has_gpu:
        print(f"{torch.cuda.get_device_name()}, {joblib.cpu_count()} cores")
        torch.zeros(1, device="cuda")
    else:
        print("no GPU: a small run on the CPU, of which no figure means anything")
    bars = measure(args, has_gpu, small)
    print(f"\n{'':<38}{'value':>8}  bar")
    for what, value, bar, met in bars:
        print(f"{what:<38}{value:>8.2f}  {bar}{'' if met or small else '  MISSED'}")
    print(f"{time.perf_counter() - start:.0f} s in all")
    return small or not args.bar or all(met for *_, met in bars)


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
