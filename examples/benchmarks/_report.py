"""Run many searches once, keep what they brought, and compare them over tasks.

Results are JSON lines, appended as they come: what was interrupted goes on, and nothing is run
twice as long as the version of its package stays. For this library's own methods the version
contains a hash of the sources that they depend on.
"""

import hashlib
import importlib.metadata
import json
import os
import sys
import time
import warnings
from itertools import product
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed, parallel_config
from threadpoolctl import threadpool_limits

import sksearch
from sksearch.stats import friedman, ranks as ranks_of, wilcoxon_holm

#: Files and folders of the package that a proposal can depend on.
SOURCES = (
    "space",
    "history.py",
    "base",
    "models",
    "acquisition",
    "samplers",
    "schedulers",
    "study.py",
)
SECONDS_BETWEEN_LINES = 60


def version_of(method, ours, packages, sources=SOURCES):
    """Return what a cached result of this method is valid for.

    Parameters
    ----------
    method : str
        Name of the method.
    ours : container of str
        Names of this library's methods.
    packages : dict of str to str
        Package of the peers whose names begin so.
    sources : tuple of str, default=SOURCES
        Files and folders of this library that a result depends on.

    Returns
    -------
    version : str
        "missing" for a peer that is not installed.
    """
    if method in ours:
        folder = Path(sksearch.__file__).parent
        files = [f for name in sources for f in [folder / name, *(folder / name).rglob("*.py")]]
        digest = hashlib.sha256()
        for file in sorted(f for f in files if f.is_file()):
            digest.update(file.read_bytes())
        return f"{sksearch.__version__}+{digest.hexdigest()[:12]}"
    package = next(p for start, p in packages.items() if method.startswith(start))
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "missing"


def recorded(path, keys, run):
    """Yield a line for each key: the record's, or what is run now and appended to the record.

    Parameters
    ----------
    path : Path or None
        The record, JSON lines; None: everything is run and nothing is written.
    keys : iterable of dict
        What tells runs apart.
    run : callable
        ``run(**key) -> dict``, to be stored as JSON beside the key.
    """
    text = path.read_text(encoding="utf-8") if path is not None and path.exists() else ""
    known = [json.loads(line) for line in text.splitlines()]
    for key in keys:
        line = next((line for line in known if key.items() <= line.items()), None)
        if line is None:
            line = key | run(**key)
            if path is not None:
                with path.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(line) + "\n")
        yield line


def by(lines, *names):
    """Group lines by some of their fields, in the order of the first ones.

    Parameters
    ----------
    lines : iterable of dict
        From `recorded`.
    *names : str
        Fields.

    Returns
    -------
    groups : dict of tuple to list of dict
        By the values of the fields.
    """
    groups = {}
    for line in lines:
        groups.setdefault(tuple(line[name] for name in names), []).append(line)
    return groups


def steps_of(regrets):
    """Return where a sequence of regrets falls, as pairs of number and lowest regret so far.

    Parameters
    ----------
    regrets : iterable of float
        Of each candidate.

    Returns
    -------
    steps : list of (int, float)
        Numbers begin at 1.
    """
    steps = []
    for n, regret in enumerate(regrets, 1):
        if not steps or regret < steps[-1][1]:
            steps.append((n, round(float(regret), 5)))
    return steps


def needs_rows(lines, n, shown, judged, base):
    """Return rows of mean regrets, and of candidates needed for those of a base.

    Parameters
    ----------
    lines : iterable of dict
        With ``sampler``, ``way`` and ``steps``.
    n : int
        Number of candidates of each run.
    shown, judged : sequence of int
        Numbers of candidates at which regrets are shown, and to which numbers are compared.
    base : str
        The way that others are compared with.

    Returns
    -------
    rows : list of list of str
        With a head.
    needs : dict of tuple to ndarray
        By sampler and way: the candidates needed, infinite if never.
    """
    means, needs = {}, {}
    for key, of in by(lines, "sampler", "way").items():
        curves = np.ones((len(of), n))
        for curve, line in zip(curves, of, strict=True):
            for first, regret in line["steps"]:
                curve[first - 1 :] = regret
        means[key] = curves.mean(axis=0)
    rows = [["search", *(f"n = {i}" for i in shown), *(f"for {i}" for i in judged)]]
    for (sampler, way), mean in means.items():
        goals = (means[sampler, base][i - 1] for i in judged)
        there = [mean <= goal for goal in goals]
        counts = [each.argmax() + 1 if each.any() else np.inf for each in there]
        needs[sampler, way] = np.array(counts)
        cells = [f"{mean[i - 1]:.3f}" for i in shown]
        cells += [f"over {n}" if count > n else str(count) for count in counts]
        rows.append([f"{sampler}, {way}", *cells])
    return rows, needs


def print_rows(rows):
    """Print rows as a page has them.

    Parameters
    ----------
    rows : list of list of str
        The head, and a row for each line.
    """
    head, *rows = rows
    for row in [head, ["---", *["--:"] * (len(head) - 1)], *rows]:
        print("| " + " | ".join(row) + " |")


def collect(function, methods, tasks, n_seeds, n, versions, path, n_jobs):
    """Run what is not in the cache, and return everything.

    Parameters
    ----------
    function : callable
        ``function(method, task, n, seed) -> dict``, to be stored as JSON.
    methods, tasks : list of str
        Names; all pairs are run.
    n_seeds : int
        Seeds 0, 1, ... are run.
    n : int
        Evaluations, or any other size of the budget.
    versions : dict of str to str
        Version of each method.
    path : Path
        The cache, made if missing.
    n_jobs : int
        Count of processes, one thread each.

    Returns
    -------
    results : dict of (method, task, seed) to dict
        Without the searches that failed.
    errors : dict of str to str
        Last error of each method that failed.
    """
    cache, errors = _read(path), {}
    wanted = {
        (method, task, seed): (method, versions[method], task, seed, n)
        for seed, task, method in product(range(n_seeds), tasks, methods)
    }
    todo = {what: key for what, key in wanted.items() if key not in cache}
    path.parent.mkdir(parents=True, exist_ok=True)
    os.environ["PYTHONHASHSEED"] = "0"  # of the workers: SMAC3's proposals depend on it
    start = told = time.monotonic()
    with (
        parallel_config("loky", inner_max_num_threads=1),
        path.open("a", encoding="utf-8") as file,
    ):
        jobs = (delayed(_call)(function, key, what, n) for what, key in todo.items())
        parallel = Parallel(n_jobs, return_as="generator_unordered", batch_size=1)
        for i, (key, result, error) in enumerate(parallel(jobs), 1):
            if error:
                errors[key[0]] = f"{error} ({key[2]}, seed {key[3]})"
                continue
            cache[key] = result
            file.write(json.dumps({"key": key, "result": result}) + "\n")
            file.flush()
            if time.monotonic() - told > SECONDS_BETWEEN_LINES:
                told = time.monotonic()
                print(f"{i} of {len(todo)}, {told - start:.0f} s", file=sys.stderr, flush=True)
    return {what: cache[key] for what, key in wanted.items() if key in cache}, errors


def _read(path):
    """Cached results by key; a line that an interruption cut off is left out."""
    cache = {}
    if path.is_file():
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                entry = json.loads(line)
            except json.JSONDecodeError:
                continue
            cache[tuple(entry["key"])] = entry["result"]
    return cache


def _call(function, key, what, n):
    """One search; an error of one must not end all the others."""
    method, task, seed = what
    try:
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if "torch" in sys.modules:
                sys.modules["torch"].set_num_threads(1)
            return key, function(method, task, n, seed), None
    except Exception as error:
        return key, None, f"{type(error).__name__}: {error}"


def table_of(results, methods, tasks, n_seeds, field):
    """Arrange one field of the results, shape (n_methods, n_tasks, n_seeds, ...).

    Parameters
    ----------
    results : dict
        From `collect`; complete for these methods.
    methods, tasks : list of str
        Names.
    n_seeds : int
        Count of seeds.
    field : str
        What to arrange.

    Returns
    -------
    table : ndarray
        Infinite where a regret is missing, since no training had ended well.
    """
    nested = [[[results[m, t, s][field] for s in range(n_seeds)] for t in tasks] for m in methods]
    table = np.array(nested, dtype=float)
    return np.where(np.isnan(table), np.inf, table)


def mean_ranks(regrets):
    """Rank methods for each task and seed, and average over seeds.

    Parameters
    ----------
    regrets : ndarray of shape (n_methods, n_tasks, n_seeds)
        Less is better.

    Returns
    -------
    ranks : ndarray of shape (n_methods, n_tasks)
        From 1.
    """
    return ranks_of(np.moveaxis(regrets, 0, -1)).mean(axis=1).T


def print_comparison(methods, regrets, labels, ours, extras):
    """Print regrets, ranks and tests, a line for each method in order of its final rank.

    Parameters
    ----------
    methods : list of str
        Names.
    regrets : ndarray of shape (n_methods, n_tasks, n_seeds, n_checkpoints)
        Normalised; means are of regrets clipped at 1, ranks are of the raw ones.
    labels : list of str
        Names of the checkpoints.
    ours : container of str
        Methods of which the best at each checkpoint is tested against all others.
    extras : dict of str to ndarray of shape (n_methods,)
        More columns.

    Returns
    -------
    means : ndarray of shape (n_methods, n_checkpoints)
        Mean ranks over tasks.
    """
    ranks = [mean_ranks(regrets[..., c]) for c in range(len(labels))]
    means = np.column_stack([rank.mean(axis=1) for rank in ranks])
    clipped = np.minimum(regrets, 1).mean(axis=(1, 2))
    ours = [i for i, method in enumerate(methods) if method in ours]
    p_values = np.full(means.shape, np.nan)
    for c, rank in enumerate(ranks):
        if ours and len(methods) > 1:
            best = min(ours, key=lambda i: means[i, c])
            p_values[:, c] = wilcoxon_holm(rank.T, control=best)
    print(
        "regret: mean, clipped at 1; rank: mean over tasks; p: Wilcoxon over tasks against our "
        "best, Holm"
    )
    columns = [f"{what} {label}" for what in ("regret", "rank", "p") for label in labels]
    print(f"{'':<22}" + "".join(f"{column:>13}" for column in [*columns, *extras]))
    for i in np.argsort(means[:, -1]):
        cells = [f"{x:>13.4f}" for x in clipped[i]] + [f"{x:>13.2f}" for x in means[i]]
        cells += [f"{'-' if np.isnan(p) else format(p, '.3f'):>13}" for p in p_values[i]]
        cells += [f"{extra[i]:>13.2f}" for extra in extras.values()]
        print(f"{methods[i]:<22}" + "".join(cells))
    if len(methods) > 2:
        tests = [friedman(rank.T).p_value for rank in ranks]
        print(
            "Friedman: "
            + ", ".join(f"p={p:.2g} at {n}" for p, n in zip(tests, labels, strict=True))
        )
    return means


def print_by_task(methods, tasks, regrets):
    """Print mean regrets of each task, clipped at 1.

    Parameters
    ----------
    methods, tasks : list of str
        Names.
    regrets : ndarray of shape (n_methods, n_tasks, n_seeds)
        At one checkpoint.
    """
    print(f"\n{'':<22}" + "".join(f"{task[:10]:>11}" for task in tasks))
    for method, row in zip(methods, np.minimum(regrets, 1).mean(axis=2), strict=True):
        print(f"{method:<22}" + "".join(f"{value:>11.4f}" for value in row))


def print_bars(bars):
    """Print each bar and whether it is met.

    Parameters
    ----------
    bars : list of (str, bool or None)
        None: it could not be measured.

    Returns
    -------
    ok : bool
        Whether none failed.
    """
    print()
    for what, ok in bars:
        print(f"bar: {what}: {'not measured' if ok is None else 'ok' if ok else 'FAILED'}")
    return all(ok is None or bool(ok) for _, ok in bars)  # NumPy's False is not False


def available(methods, versions, check):
    """Leave out methods that are not there, and say so.

    Parameters
    ----------
    methods : list of str
        Names.
    versions : dict of str to str
        From `version_of`.
    check : callable
        ``check(method)`` raises ImportError.

    Returns
    -------
    methods : list of str
        The others.
    """
    kept = []
    for method in methods:
        try:
            if versions[method] == "missing":
                raise ImportError("its package is not installed, see requirements.txt")
            check(method)
            kept.append(method)
        except ImportError as error:
            print(f"without {method}: {error}")
    return kept
