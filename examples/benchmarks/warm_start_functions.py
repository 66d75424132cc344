"""A warm start beside a plain list of earlier winners and beside none, on families of functions.

Each family draws tasks that are alike: of five of them 30 random results are known, of a sixth
the minimum is searched for. Listed: the best candidates of the five are tried first, and nothing
else is known. The regret is 0 at the minimum and 1 at the median of 1,500 random candidates. The
rules of `WarmStart` were chosen on "branin", "svm" and "boosting", with ten seeds.

    python examples/benchmarks/warm_start_functions.py [--families camel hart3 net] [--seeds 20]
        [--record examples/benchmarks/records/warm_start_functions.jsonl]
"""

import argparse
import zlib
from pathlib import Path

import numpy as np
from _report import by, print_rows, recorded
from bounds import branin
from scipy.optimize import minimize
from scipy.stats import loguniform, uniform

from sksearch.history import Problem, Result
from sksearch.samplers import GPSampler, WarmStart
from sksearch.samplers._warm_start import EarlierTask
from sksearch.schedulers import FullFidelity
from sksearch.space import Space
from sksearch.study import Study

N, N_EARLIER, N_TASKS = 30, 30, 5
SHOWN = (1, 2, 3, 5, 8, 12, 20, 30)
A = np.array([[3, 10, 30], [0.1, 10, 35], [3, 10, 30], [0.1, 10, 35]])
P = 1e-4 * np.array(
    [[3689, 1170, 2673], [4699, 4387, 7470], [1091, 8732, 5547], [381, 5743, 8828]]
)


def moved_branin(rng):
    """Branin's function, moved by a twentieth of the range."""
    move = rng.normal(0, 0.05, 2) * 15
    space = {"a": uniform(-5, 15), "b": uniform(0, 15)}
    return space, lambda p: branin({"x": p["a"] - move[0], "y": p["b"] - move[1]})[0]


def svm(rng):
    """A valley in two logarithms, and a choice."""
    c, gamma = rng.normal(1, 0.6), rng.normal(-2, 0.6)
    best, behind = rng.choice(3, p=[0.7, 0.2, 0.1]), rng.uniform(0.02, 0.2, 3)
    behind[best] = 0
    kernels = ["rbf", "poly", "linear"]

    def loss(p):
        x, y = np.log10(p["C"]) - c, np.log10(p["gamma"]) - gamma
        far = (x + y) ** 2 * 0.15 + (x - y) ** 2 * 0.02
        return 0.4 * (1 - np.exp(-far)) + behind[kernels.index(p["kernel"])]

    return {"C": loguniform(1e-3, 1e4), "gamma": loguniform(1e-5, 1e1), "kernel": kernels}, loss


def boosting(rng):
    """Five numbers, of which two matter, and a wall where training diverges."""
    rate, middle = rng.normal(-1.2, 0.3), rng.normal([0.4, 0.5, 0.5, 0.3], 0.15)
    weights = np.array([1, 0.3, 0.05, 0.02]) * rng.uniform(0.5, 1.5, 4)
    others = {f"x{i}": uniform(0, 1) for i in range(4)}

    def loss(p):
        d, x = np.log10(p["lr"]) - rate, np.array([p[name] for name in others])
        wall = 20 * np.exp(4 * (d - 0.9)) if d > 0.9 else 0
        return 0.3 * d * d + (weights * (x - middle) ** 2).sum() + wall

    return {"lr": loguniform(1e-4, 1), **others}, loss


def hart3(rng):
    """Hartmann's function of three parameters, moved, with other depths."""
    move, depths = rng.normal(0, 0.05, 3), np.array([1, 1.2, 3, 3.2]) * rng.uniform(0.8, 1.2, 4)
    space = {f"x{i}": uniform(0, 1) for i in range(3)}

    def loss(p):
        x = np.array([p[name] for name in space]) - move
        return -(depths @ np.exp(-(A * (x - P) ** 2).sum(axis=1)))

    return space, loss


def camel(rng):
    """The six-hump camel's back, moved and tilted: which of its two minima is best varies."""
    move, tilt = rng.normal(0, 0.1, 2), rng.normal(0, 0.3, 2)

    def loss(p):
        x, y = p["x"] - move[0], p["y"] - move[1]
        value = (4 - 2.1 * x * x + x**4 / 3) * x * x + x * y + (-4 + 4 * y * y) * y * y
        return value + tilt @ [x, y]

    return {"x": uniform(-2, 4), "y": uniform(-1, 2)}, loss


def net(rng):
    """Learning rate, decay, width, depth and activation; nothing is learnt at large rates."""
    rate, decay = rng.normal(-2.5, 0.4), rng.normal(-4, 0.7)
    behind = rng.uniform(0, 0.06, 3)
    behind -= behind.min()
    depth = rng.choice([2, 3, 4])

    def loss(p):
        d, w = np.log10(p["lr"]) - rate, np.log10(p["wd"]) - decay
        error = 0.08 * d * d + 0.01 * w * w + 0.01 * abs(p["depth"] - depth)
        error += behind["rte".index(p["act"])] + 0.1 / p["width"] ** 0.5
        return min(0.9, error + (0.5 if d > 1 else 0))

    return {
        "lr": loguniform(1e-5, 1), "wd": loguniform(1e-7, 1e-1), "width": loguniform(8, 512),
        "depth": [1, 2, 3, 4, 5], "act": ["r", "t", "e"],
    }, loss  # fmt: skip


FAMILIES = {each.__name__: each for each in (moved_branin, svm, boosting, hart3, camel, net)}
NAMES = {"branin": "moved_branin"}
WAYS = ("cold", "warm", "listed")


def losses(space, loss, sampler, seed, first=()):
    """The least loss after each candidate, shape (N,)."""
    problem = Problem(Space(space), seed=seed, n_candidates=N, initial_params=tuple(first))
    study, found = Study(problem, sampler, FullFidelity(N)), []
    while (job := study.ask()) is not None:
        found.append(float(loss(job.params)))
        study.tell(job, Result(-found[-1]))
    return np.minimum.accumulate(found)


def regrets(family, seed):
    """Regret after each candidate by way of searching, and the minimum as far as it is found."""
    own = zlib.crc32(f"{family} {seed}".encode()) % 2**31
    rng, told, make = np.random.default_rng(own), [], FAMILIES[NAMES.get(family, family)]
    for _ in range(N_TASKS):
        space, loss = make(rng)
        params = [Space(space).sample(rng) for _ in range(N_EARLIER)]
        told.append(EarlierTask(params, [-loss(p) for p in params]))
    space, loss = make(rng)
    winners = [task.params[int(np.argmax(task.scores))] for task in told]
    curves = {
        "cold": losses(space, loss, GPSampler(), own),
        "warm": losses(space, loss, WarmStart(GPSampler(), told), own),
        "listed": losses(space, loss, GPSampler(), own, winners),
    }
    cube = Space(space)
    drawn = [loss(cube.sample(np.random.default_rng((own, i)))) for i in range(1_500)]
    starts = [cube.to_unit(cube.sample(np.random.default_rng((own, 9, i)))) for i in range(600)]

    def at(u):
        return loss(cube.from_unit(np.clip(u, 0, 1)))

    ends = [
        minimize(at, u, method="Nelder-Mead", options={"maxfev": 250}).fun
        for u in sorted(starts, key=at)[:4]
    ]
    least = min([*drawn, *ends, *(curve[-1] for curve in curves.values())])
    return {way: (curve - least) / (np.median(drawn) - least) for way, curve in curves.items()}


def run(family, seed):
    """Return regrets at the counts that are shown, by way of searching."""
    curves = regrets(family, seed)
    return {way: [round(float(curves[way][n - 1]), 6) for n in SHOWN] for way in WAYS}


def table(lines):
    """Return the rows of the page."""
    rows = [["family", "search", *(f"n = {n}" for n in SHOWN)]]
    for (family,), of in by(lines, "family").items():
        for way in WAYS:
            mean = np.mean([line[way] for line in of], axis=0)
            rows.append([family, way, *(f"{x:.3f}" for x in mean)])
    return rows


def main():
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--families", nargs="+", default=["camel", "hart3", "net"])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--record", type=Path, help="file of runs, read first and appended to")
    args = parser.parse_args()
    keys = [
        {"family": family, "seed": seed} for family in args.families for seed in range(args.seeds)
    ]
    print_rows(table(recorded(args.record, keys, run)))


if __name__ == "__main__":
    main()
