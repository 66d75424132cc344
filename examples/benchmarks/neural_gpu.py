"""Nets on one GPU: several candidates at a time, memory afterwards, and images a second.

Each part takes four minutes at most, and writes its figures to a JSON file when it ends, with the
name of the machine. Without a GPU a small run on the CPU shows that the command works.

speed
    Images a second of a loop written by hand, of ours and of skorch's own (``neural.py``); the bar
    is for the nets with convolutions.
memory
    Twenty candidates that need more memory than the GPU has, among one that does not, one and four
    at a time.
jobs-1, jobs-4, jobs-8
    One fixed list of candidates with a fixed count of epochs, on the subset of CIFAR-10 (noise of
    the same size where there is no data folder), so many at a time: epochs a second, and the
    GPU's memory before and after. All workers have trained something before the clock starts.

    python examples/benchmarks/neural_gpu.py [--part speed memory jobs-1 jobs-4 jobs-8]
        [--out neural_gpu.json] [--small] [--bar]
"""

import argparse
import json
import sys
import time
import warnings
from pathlib import Path

import joblib
import numpy as np
import torch
from neural import BAR, compare, images_of
from sklearn.model_selection import ParameterSampler

from sksearch import RandomSearchCV
from sksearch.datasets import load
from sksearch.executors import end_idle_workers
from sksearch.neural import BlockConvNetClassifier, ConvNetClassifier

PARTS = ("speed", "memory", "jobs-1", "jobs-4", "jobs-8")
SPEED_UP = 2.5  # several at a time over one at a time
N_CANDIDATES, N_EPOCHS = 16, 6  # of the list that is trained one and several at a time
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
        search.set_params(n_jobs=n_jobs, workers__devices=devices).fit(X, y)
    n_full, n_ok = (search.statuses_.count(status) for status in ("memory", "ok"))
    print(f"n_jobs={n_jobs}: {n_full} candidates without memory, {n_ok} well", flush=True)
    return n_full if n_ok == 1 else 0


# ---- several at a time


def candidates(small):
    """The same candidates each time, as a space of single choices; and their net."""
    rng = np.random.RandomState(0)
    n, n_epochs = (4, 1) if small else (N_CANDIDATES, N_EPOCHS)
    found = list(ParameterSampler(ConvNetClassifier.space(horizon=n_epochs), n, random_state=rng))
    if small:
        found = [params | {"n_filters": 2, "n_blocks": 1} for params in found]
    net = ConvNetClassifier(n_stages=2 if small else 3, max_epochs=n_epochs, random_state=0)
    return net, [{name: [value] for name, value in params.items()} for params in found], n_epochs


def warm_up(X, y, n_jobs, devices):
    """Have each worker train nets."""
    space = {"learning_rate": np.geomspace(0.01, 0.1, 2 * n_jobs).tolist()}
    net = ConvNetClassifier(n_filters=8, max_epochs=1, random_state=0)
    RandomSearchCV(
        net, space, n_iter=2 * n_jobs, n_jobs=n_jobs, workers={"devices": devices}, refit=False,
        cv=one_split(len(X), len(X) // 5),
    ).fit(X, y)  # fmt: skip


def throughput(n_jobs, devices, small):
    """Figures of the whole list, so many candidates at a time."""
    X, y = cifar(small)
    net, space, n_epochs = candidates(small)
    before = memory()[1]
    start = time.perf_counter()
    warm_up(X, y, n_jobs, devices)
    first = time.perf_counter() - start
    allocated = memory()[0]
    search = RandomSearchCV(
        net, space, n_iter=len(space), n_jobs=n_jobs, workers={"devices": devices}, refit=False,
        cv=one_split(len(X), len(X) // 5), random_state=0,
    )  # fmt: skip
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a candidate may diverge
        search.fit(X, y)
    took = time.perf_counter() - start
    held = memory()
    end_idle_workers()
    kept = held[0] - allocated if n_jobs == 1 else memory()[1] - before
    return {
        "epochs a second": len(space) * n_epochs / took,
        "seconds": took,
        "seconds of the first epochs": first,
        "best score": float(search.best_score_),
        "failed": len(search.statuses_) - search.statuses_.count("ok"),
        "GB held by idle workers": (held[1] - memory()[1]) / 1e9,
        "GB not given back": kept / 1e9,
    }


# ---- all of it


def measure(part, devices, small):
    """Figures of one part, by name."""
    if part == "speed":
        size = (256, 1) if small else (25_000, 3)
        device, precisions = ("cuda", ["fp32", "bf16"]) if devices else ("cpu", ["fp32"])
        tables = [compare(device, precision, *size) for precision in precisions]
        # An epoch of logistic regression is less work than to bring the images to the GPU.
        ratios = [table[name] for table in tables for name in ("residual net", "blocks")]
        return {"images a second, ours / by hand": min(ratios)}
    if part == "memory":
        several = 2 if small else 4
        return {"survived": min(survive(n_jobs, devices, small) for n_jobs in (1, several))}
    n_jobs = int(part.removeprefix("jobs-"))
    return throughput(n_jobs, None if n_jobs == 1 else devices, small)


def bars(figures):
    """Rows (what, value, bar, met) of what has been measured so far."""
    rows = []
    if "speed" in figures:
        (ratio,) = figures["speed"].values()
        rows.append(("images a second, ours / by hand", ratio, f">= {BAR}", ratio >= BAR))
    if "memory" in figures:
        n_full = figures["memory"]["survived"]
        is_met = n_full == N_HUNGRY
        rows.append(("candidates without memory survived", n_full, f"= {N_HUNGRY}", is_met))
    jobs = {part: each for part, each in figures.items() if part.startswith("jobs-")}
    if "jobs-1" in jobs and len(jobs) > 1:
        speeds = {part: each["epochs a second"] for part, each in jobs.items()}
        ratio = max(speeds.values()) / speeds["jobs-1"]
        rows.append(("several at a time / one", ratio, f">= {SPEED_UP}", ratio >= SPEED_UP))
    if jobs:
        kept = max(each["GB not given back"] for each in jobs.values())
        rows.append(("GB not given back", kept, f"<= {SLACK / 1e9}", kept <= SLACK / 1e9))
    return rows


def main():
    """Measure the parts, keep their figures, and return whether all bars are met."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--part", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--out", type=Path, default=Path("neural_gpu.json"))
    parser.add_argument("--small", action="store_true", help="only to see that it works")
    parser.add_argument("--bar", action="store_true", help="fail where a bar is missed on a GPU")
    args = parser.parse_args()
    has_gpu = torch.cuda.is_available()
    small = args.small or not has_gpu
    torch.set_num_threads(1)
    machine = "no GPU: a small run on the CPU, of which no figure means anything"
    if has_gpu:
        machine = f"{torch.cuda.get_device_name()}, {joblib.cpu_count()} cores"
        torch.zeros(1, device="cuda")
    print(machine)
    known = json.loads(args.out.read_text()) if args.out.exists() else {}
    figures = known["figures"] if known.get("machine") == machine else {}
    for part in args.part:
        start = time.perf_counter()
        figures[part] = measure(part, [0] if has_gpu else None, small)
        print(f"{part} ({time.perf_counter() - start:.0f} s): {figures[part]}", flush=True)
        args.out.write_text(json.dumps({"machine": machine, "figures": figures}, indent=1))
    print(f"\n{'':<38}{'value':>8}  bar")
    for what, value, bar, met in (rows := bars(figures)):
        print(f"{what:<38}{value:>8.2f}  {bar}{'' if met or small else '  MISSED'}")
    return small or not args.bar or all(met for *_, met in rows)


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
