"""What results of other tables are worth: `WarmStart` beside the same sampler without them.

The recorded scores of 48 candidates for ten tables and five models (`_fold_scores.py`): each pair
is a task in its turn, and the same candidates on the nine other tables are what earlier searches
have found. Regret is 0 at the best candidate and 1 at the median one. Misled: the earlier scores
are those of another model, which say nothing of this one. Listed: the best candidates of five of
the other tables are tried first, and nothing else is known of those tables. Printed is the mean
regret after n candidates, and how many candidates the warm start needs for what the cold one has
after n: bars are n / 2, and 1.1 n if it is misled, at n = 10 and 20.

    python examples/benchmarks/warm_start.py [--seeds 3] [--samplers GP TPE random]
        [--record examples/benchmarks/records/warm_start.jsonl]
    python examples/benchmarks/warm_start.py --families taskset arlbench yahpo_lcbench \\
        yahpo_rbv2_rpart --half report --seeds 4 --samplers GP

With ``--families`` the tasks are recorded ones of others (`_development`), and what is known are
30 random results of each of five others of the family with the same parameters.
"""

import argparse
import sys
import zlib
from functools import cache
from pathlib import Path

import numpy as np
from _development import HALVES, development_tasks
from _fold_scores import MODELS, TABLES, model_of, read
from _peers import our_result
from _report import needs_rows, print_bars, print_rows, recorded, steps_of
from _tasks import load_task, seed_of_task
from joblib import Parallel, delayed
from sklearn.model_selection import ParameterSampler

from sksearch.history import Problem, Result
from sksearch.samplers import GPSampler, RandomSampler, TPESampler, WarmStart
from sksearch.samplers._warm_start import EarlierTask
from sksearch.schedulers import FullFidelity
from sksearch.space import Space
from sksearch.study import Study

N = 32
SHOWN = (2, 5, 10, 15, 20, 30)
JUDGED = (10, 20)
N_LISTED = 5
N_EARLIER = 30  # random results of an earlier task
SAMPLERS = {"random": RandomSampler(), "TPE": TPESampler(), "GP": GPSampler()}
WAYS = ("cold", "warm", "listed", "misled")
MOST = {"warm": 0.5, "misled": 1.1}  # of the candidates of a cold search


def tasks_of(model, record):
    """Return candidates and mean scores by table; names without those of a pipeline's steps."""
    found = {}
    for table in TABLES:
        scores = record[table, model].mean(axis=1)
        drawn = ParameterSampler(model_of(model, table)[1], len(scores), random_state=0)
        params = [{name.rpartition("__")[2]: v for name, v in each.items()} for each in drawn]
        found[table] = params, scores
    return found


def earlier_of(params, scores):
    """These candidates with those scores, as many as both have."""
    n = min(len(params), len(scores))
    return EarlierTask(params[:n], scores[:n])


def best_of(tasks):
    """The best candidate of each of the first tasks, each once."""
    best = [task.params[int(np.argmax(task.scores))] for task in tasks[:N_LISTED]]
    return tuple(each for i, each in enumerate(best) if each not in best[:i])


def regrets(params, scores, sampler, seed, first=()):
    """Return the regret of the best one after each candidate, shape (N,)."""
    space = Space([{name: [v] for name, v in each.items()} for each in params])
    by_key = {space.key(each): score for each, score in zip(params, scores, strict=True)}
    n = min(N, len(by_key))
    first = tuple(each for each in first if space.contains(each))
    problem = Problem(space, seed=seed, n_candidates=n, initial_params=first)
    study = Study(problem, sampler, FullFidelity(n))
    found = []
    while (job := study.ask()) is not None:
        found.append(by_key[space.key(job.params)])
        study.tell(job, Result(found[-1]))
    best, median = scores.max(), np.median(scores)
    curve = (best - np.maximum.accumulate(found)) / max(best - median, 1e-12)
    return np.r_[curve, np.zeros(N - n)]


def on_a_task(name, relatives, sampler, seed):
    """Regrets of each way on a recorded task, after each of N candidates."""
    task = load_task(name)
    told = [random_results(load_task(other), seed) for other in relatives]
    ways = {
        "cold": (sampler, ()),
        "warm": (WarmStart(sampler, told), ()),
        "listed": (sampler, best_of(told)),
    }
    return {way: task_regrets(task, *how, seed) for way, how in ways.items()}


def random_results(task, seed):
    """What a random search of a task has found, scores greater is better."""
    rng = np.random.default_rng((zlib.crc32(task.name.encode()), seed))
    space = Space(task.space)
    params = [space.sample(rng) for _ in range(N_EARLIER)]
    return EarlierTask(params, [-task.loss(each, rng) for each in params])


def task_regrets(task, sampler, first, seed):
    """The regret of the incumbent after each candidate, 1 at most, shape (N,)."""
    own = seed_of_task(task.name, seed)
    problem = Problem(Space(task.space), seed=own, n_candidates=N, initial_params=first)
    study, rng = Study(problem, sampler, FullFidelity(N)), np.random.default_rng((own, 1))
    params, losses = [], []
    for _ in range(N):
        job = study.ask()
        params.append(job.params)
        losses.append(task.loss(job.params, rng))
        study.tell(job, our_result(losses[-1]))
    found = task.regrets(params, losses)
    return np.array([1.0 if regret is None else min(1.0, regret) for regret in found])


def compare_families(args):
    """Print mean regrets by family, and over all tasks."""
    print(f"{'':<28}" + "".join(f"{f'n = {n}':>9}" for n in SHOWN))
    for name in args.samplers:
        everything = {}
        for family in args.families:
            tasks = development_tasks()[family]
            reported = development_tasks(args.half)[family]
            shapes = {task: repr(load_task(task).parameters) for task in tasks}
            relatives = {
                task: [other for other in tasks if other != task and shapes[other] == shapes[task]]
                for task in reported
            }
            jobs = (
                delayed(on_a_task)(task, others[:N_LISTED], SAMPLERS[name], seed)
                for task, others in relatives.items()
                if others
                for seed in range(args.seeds)
            )
            curves = Parallel(args.jobs)(jobs)
            print_means(f"{name}, {family}", curves)
            everything[family] = curves
        print_means(f"{name}, all", [each for curves in everything.values() for each in curves])


def print_means(label, curves):
    """A line for each way."""
    for way in curves[0] if curves else ():
        mean = np.mean([each[way] for each in curves], axis=0)
        print(f"{label[:19]:<20}{way:<8}" + "".join(f"{mean[n - 1]:>9.4f}" for n in SHOWN))


@cache
def recorded_tasks():
    """Return candidates and scores by model and table."""
    record = read()
    return {model: tasks_of(model, record) for model in MODELS}


def run(sampler, way, model, table, seed):
    """Return the steps of the regret."""
    tasks, used, first = recorded_tasks(), SAMPLERS[sampler], ()
    others = [other for other in tasks[model] if other != table]
    told = [EarlierTask(*tasks[model][other]) for other in others]
    if way == "warm":
        used = WarmStart(used, told)
    elif way == "listed":
        first = best_of(told)
    elif way == "misled":
        scores = tasks[MODELS[(MODELS.index(model) + 1) % len(MODELS)]]
        wrong = [earlier_of(tasks[model][other][0], scores[other][1]) for other in others]
        used = WarmStart(used, wrong)
    return {"steps": steps_of(regrets(*tasks[model][table], used, seed, first))}


def table(lines):
    """Return the rows of the page."""
    return needs_rows(lines, N, SHOWN, JUDGED, "cold")[0]


def main():
    """Run, print, and return whether a bar failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--samplers", nargs="+", choices=SAMPLERS, default=list(SAMPLERS))
    parser.add_argument("--families", nargs="+", choices=development_tasks(), metavar="FAMILY")
    parser.add_argument("--half", choices=HALVES, help="every second task of each family")
    parser.add_argument("--jobs", type=int, default=1, help="processes, of --families")
    parser.add_argument("--record", type=Path, help="file of runs, read first and appended to")
    args = parser.parse_args()
    if args.families:
        compare_families(args)
        return 0
    keys = [
        {"sampler": name, "way": way, "model": model, "table": table, "seed": seed}
        for name in args.samplers
        for way in WAYS
        for model in MODELS
        for table in TABLES
        for seed in range(args.seeds)
    ]
    rows, needs = needs_rows(recorded(args.record, keys, run), N, SHOWN, JUDGED, "cold")
    print_rows(rows)
    bars = [
        (f"{name}, {way}", bool(np.all(counts <= MOST[way] * np.array(JUDGED))))
        for (name, way), counts in needs.items()
        if way in MOST
    ]
    return int(not print_bars(bars))


if __name__ == "__main__":
    sys.exit(main())
