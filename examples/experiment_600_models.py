"""
How many draws to the best of 600 models
========================================

Random, Bayesian and Parzen search on a table of 600 trained models, as in [1]_.

How many draws until a search finds the best model, one whose error is within 1, 5 or 10 % of the
best one's, or one of the best 1, 5 or 10 % of all models? The only thing that differs between the
runs of a search is the model that it begins with: all 600 with ``--all``, else 60 of them.

::

    python examples/experiment_600_models.py [--all] [--n-jobs 2] [--cache folder] [--out file.png]
        [--record file.jsonl]

All 600 first draws take an hour of a core; tables are in docs/records/reproduced.md. The published
finding holds: a model of the scores finds each goal in fewer draws than random search, and the
more so, the rarer the goal.

Why the numbers differ:

- The models do. Theirs are convolutional networks on CIFAR-10, ours multilayer perceptrons on
  Fashion-MNIST (``make_model_table.py``).
- So the rows "within x %" ask for other counts of models: theirs has 6 within 5 %, ours 3, and
  none but the best within 1 %. "Top x %" is as rare in both tables, and there the ratios agree.
- The best model is found sooner here. Its neighbours are good, too, which need not be so; and our
  process has another kernel, acquisition function and transformation of scores than theirs. With
  one table of each we cannot tell which it is.
- The second draw is no choice of the model, which needs two results, but a point of a Sobol
  sequence. Its seed is the number of the first draw.

.. [1] H. Bertrand, "Hyper-parameter optimization in deep learning and transfer learning:
   applications to medical imaging", thesis, Universite Paris-Saclay, 2019, chapter on
   hyper-parameter optimization.
"""

import argparse
import json
from functools import lru_cache
from pathlib import Path

import numpy as np
from joblib import Memory, Parallel, delayed

from sksearch.history import Problem, Result
from sksearch.samplers import ForestSampler, GPSampler, RandomSampler, TPESampler
from sksearch.schedulers import FullFidelity
from sksearch.simulators import TabularProblem
from sksearch.space import Space
from sksearch.stats import compare_optima, hit_probability
from sksearch.study import Study

MOST_DRAWN = 150  # of the runs whose order is drawn
TABLE = Path(__file__).parent / "data" / "fashion_models.npz"
SAMPLERS = {
    "random": RandomSampler(),
    "GP": GPSampler(n_initial=1),
    "TPE": TPESampler(n_initial=1),
    "forest": ForestSampler(n_initial=1),
}
# Mean, standard deviation and worst of random and of Bayesian search, over 600 runs each.
PUBLISHED = {
    "best model": ((297, 171, 599), (87, 64, 249)),
    "within 1 %": ((146, 114, 554), (26, 16, 120)),
    "within 5 %": ((87, 75, 397), (17, 11, 67)),
    "within 10 %": ((54, 52, 296), (15, 9, 44)),
    "top 1 %": ((87, 75, 397), (17, 11, 67)),
    "top 5 %": ((18, 17, 106), (10, 8, 38)),
    "top 10 %": ((10, 10, 62), (7, 7, 36)),
}


@lru_cache
def read(path):
    """The space of all rows, the error of each, and the number of each candidate's row."""
    problem = TabularProblem.read(path)
    space = Space(problem.space)
    rows = {space.key(params): i for i, params in enumerate(problem.params)}
    return space, problem.losses(problem.params)[:, -1], rows


def draws(path, name, first, at_least=0):
    """Rows in the order in which a search draws them, until it has the best one and so many."""
    space, losses, rows = read(path)
    problem = Problem(space, seed=first, initial_params=(space.candidate(first),))
    study = Study(problem, SAMPLERS[name], FullFidelity(space.size))
    order = []
    while len(order) < min(at_least, space.size) or losses.argmin() not in order:
        job = study.ask()
        order.append(rows[space.key(job.params)])
        study.tell(job, Result(-losses[order[-1]]))
    return order


def goals(losses):
    """Which rows are good enough, by the name of the goal."""
    ordered = np.sort(losses)
    found = {"best model": losses == ordered[0]}
    found |= {f"within {p} %": losses <= ordered[0] * (1 + p / 100) for p in (1, 5, 10)}
    return found | {
        f"top {p} %": losses <= ordered[len(losses) * p // 100 - 1] for p in (1, 5, 10)
    }


def by_theory(n_models, n_good):
    """Mean and standard deviation of the count of draws of random search, exactly."""
    missed = [1 - hit_probability(n_models, n_good, n) for n in range(n_models)]
    mean = sum(missed)
    second = sum((2 * n + 1) * p for n, p in enumerate(missed))
    return mean, (second - mean**2) ** 0.5


def print_tables(counts, good, n_models):
    """Draws to each goal, as mean, standard deviation and worst, beside the published ones."""
    print(f"{'':<12}{'models':>6}{'theory':>11}" + "".join(f"{name:>16}" for name in counts))
    for goal, is_good in good.items():
        mean, sd = by_theory(n_models, is_good.sum())
        cells = [f"{is_good.sum():>6}", f"{f'{mean:.0f} ± {sd:.0f}':>11}"]
        for each in counts.values():
            n = each[goal]
            cells.append(f"{f'{n.mean():.0f} ± {n.std():.0f} ({n.max()})':>16}")
        print(f"{goal:<12}" + "".join(cells))
    if not {"random", "GP"} <= set(counts):
        return
    print(
        f"\n{'published':<12}{'random':>17}{'Bayesian':>16}{'ratio':>8}{'ours: GP / random':>20}"
    )
    for goal, both in PUBLISHED.items():
        cells = [f"{f'{mean} ± {sd} ({worst})':>16}" for mean, sd, worst in both]
        ratio = counts["GP"][goal].mean() / counts["random"][goal].mean()
        print(f"{goal:<12} " + "".join(cells) + f"{both[1][0] / both[0][0]:>8.2f}{ratio:>20.2f}")


def lines_of(counts):
    """Lines of a record: draws of a search until it reaches a goal, over all its runs."""
    for name, each in counts.items():
        for goal, n in each.items():
            line = {"search": name, "goal": goal, "runs": len(n), "mean": round(n.mean(), 4)}
            yield json.dumps(line | {"sd": round(n.std(), 4), "worst": int(n.max())})


def draw_figure(orders, counts, losses, good, out):
    """The order of the models in one run of two searches, and how many draws all runs needed."""
    import matplotlib.pyplot as plt

    colors = dict(zip(SAMPLERS, ("#D55E00", "#0072B2", "#009E73", "#CC79A7"), strict=True))
    fig, axes = plt.subplots(2, 2, figsize=(10, 6.6), layout="constrained")
    for ax, (name, order) in zip(axes[0], orders.items(), strict=True):
        errors, n = losses[order], np.arange(1, len(order) + 1)
        ax.plot(n, errors, "o", ms=3, color=colors[name], alpha=0.5, mew=0, label="drawn model")
        ax.step(n, np.minimum.accumulate(errors), where="post", color="k", label="best so far")
        ax.set_xlim(0, len(order) + 1)
        ax.set(xlabel="Draw", ylabel="Error", ylim=(0, 1))
        ax.set_title(f"One run: {name}", loc="left", fontsize=11)
    axes[0, 1].legend(loc="lower right", ncols=2, frameon=False)
    for ax, goal in zip(axes[1], ("best model", "top 1 %"), strict=True):
        for name, each in counts.items():
            n = each[goal]
            label = f"{name}: {n.mean():.0f} ± {n.std():.0f}, worst {n.max()}"
            shares = np.full(len(n), 1 / len(n))
            bins = np.arange(0, len(losses) + 1, 20)
            ax.hist(n, bins, weights=shares, color=colors[name], alpha=0.5, label=label)
        ax.set(xlabel="Draws", ylabel="Share of runs", xlim=(0, len(losses)))
        ax.set_title(f"Draws until: {goal}", loc="left", fontsize=11)
        ax.legend(frameon=False)
    for ax in axes.flat:
        ax.grid(axis="y", color="#e9edf1")
        ax.set_axisbelow(True)
        ax.spines[["top", "right"]].set_visible(False)
        ax.tick_params(which="both", length=0)
    fig.savefig(out, dpi=150)


def main():
    """Run all searches from all first draws, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[1])
    parser.add_argument("--table", type=Path, default=TABLE)
    parser.add_argument("--searches", nargs="+", choices=SAMPLERS, default=list(SAMPLERS))
    parser.add_argument("--firsts", type=int, default=60, help="how many first draws")
    parser.add_argument("--all", action="store_true", help="all first draws")
    parser.add_argument("--n-jobs", type=int, default=1)
    parser.add_argument("--cache", type=Path, help="folder that keeps runs that are done")
    parser.add_argument("--out", type=Path, help="file for the figure")
    parser.add_argument("--record", type=Path, help="file for the table")
    args = parser.parse_args()
    _, losses, _ = read(args.table)
    good = goals(losses)
    n_firsts = len(losses) if args.all else min(args.firsts, len(losses))
    firsts = [i * len(losses) // n_firsts for i in range(n_firsts)]
    run = Memory(args.cache, verbose=0).cache(draws)
    counts = {}
    for name in args.searches:
        jobs = (delayed(run)(args.table, name, first) for first in firsts)
        orders = Parallel(n_jobs=args.n_jobs)(jobs)
        counts[name] = {
            goal: np.array([is_good[order].argmax() + 1 for order in orders])
            for goal, is_good in good.items()
        }
        print(f"{name}: {len(orders)} runs, {sum(map(len, orders))} draws", flush=True)
    if args.record is not None:
        args.record.write_text("".join(f"{line}\n" for line in lines_of(counts)))
    print_tables(counts, good, len(losses))
    to_best = {name: each["best model"] for name, each in counts.items()}
    print(f"\ndraws until the best model\n{compare_optima(to_best)}")
    if args.out is not None:
        orders = {name: run(args.table, name, 0, MOST_DRAWN) for name in ("random", "GP")}
        draw_figure(orders, counts, losses, good, args.out)


if __name__ == "__main__":
    main()
