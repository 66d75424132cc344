"""Kill the searches of a script at random moments, and check that the results do not change.

    python -m sksearch.chaos script.py [--kills 20] [--seed 0]

The script is run once without interruption. Then each of its searches gets its own
``checkpoint_dir``, and the script is killed with SIGKILL and restarted, the given number of times,
before it may run to its end. The results must equal the results of the first run, and no finished
evaluation or training step may be repeated. Only work in progress at the time of a kill may be
repeated.

If a search has ``random_state=None``, it gets 0. The results of asynchronous searches with several
workers, and of searches with a ``timeout``, depend on time, so they cannot be compared.

The exit status is 1 if a check fails.
"""

import argparse
import os
import pickle
import random
import re
import runpy
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from sksearch._utils._terminal import say
from sksearch.checkpoint._checkpoint import read_journal
from sksearch.checkpoint._records import ToldEvent, read_as
from sksearch.checkpoint.identity._description import describe
from sksearch.fitting.prepare import _prepare
from sksearch.fitting.run._evaluation import evaluate
from sksearch.fitting.run._tasks import Context, Output, Task
from sksearch.search import _base

__all__: list[str] = []  # a command

LIMIT = 3600  # seconds that one run of a script may take
WHAT = re.compile(r"begin|end|\d+again")  # units of training that are repeated, the last one
VICTIM = "import sys; from sksearch.chaos import _run_script; _run_script(*sys.argv[1:])"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Parameters
    ----------
    arguments : sequence of str or None, default=None
        The command-line arguments; None: ``sys.argv``.

    Returns
    -------
    status : int
        0 if all checks passed, otherwise 1.

    Raises
    ------
    RuntimeError
        If the script fails by itself.

    Examples
    --------
    >>> from contextlib import redirect_stdout
    >>> from io import StringIO
    >>> from sksearch.chaos import main
    >>> with redirect_stdout(StringIO()) as printed:
    ...     try:
    ...         main(["--help"])
    ...     except SystemExit as ended:
    ...         print(ended.code)
    >>> printed.getvalue().split()[0]
    'usage:'
    """
    parser = argparse.ArgumentParser(
        prog="sksearch.chaos", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("script", help="a Python file that fits one or more searches")
    parser.add_argument("--kills", type=int, default=20, help="number of kills, default: 20")
    parser.add_argument("--seed", type=int, default=0, help="seed of the times of the kills")
    args = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="chaos-") as name:
        report = torment(args.script, args.kills, random.Random(args.seed), Path(name))
    say(str(report))
    return 0 if report.is_good else 1


@dataclass
class KillReport:
    """Effects of the kills on the searches of a script.

    Parameters
    ----------
    kills : int, default=0
        Number of kills.
    evaluations : int, default=0
        Number of evaluations, each counted once.
    in_flight : int, default=0
        Number of evaluations interrupted by a kill, and restarted.
    again : int, default=0
        Number of finished evaluations that were repeated.
    steps_again : int, default=0
        Units of the resource trained twice.
    equal : bool, default=True
        Whether the results are the same as without interruption.

    Examples
    --------
    >>> from sksearch.chaos import KillReport
    >>> report = KillReport(kills=100, evaluations=540, in_flight=93)
    >>> report.again, report.equal  # nothing that had ended was run again
    (0, True)
    """

    kills: int = 0
    evaluations: int = 0
    in_flight: int = 0
    again: int = 0
    steps_again: int = 0
    equal: bool = True

    @property
    def is_good(self) -> bool:
        """True if all checks passed."""
        return self.equal and not self.again + self.steps_again

    def __str__(self):
        bars = [
            (self.equal, "each search ends like the undisturbed one"),
            (not self.again, f"{self.again} finished evaluations were repeated"),
            (not self.steps_again, f"{self.steps_again} units of training were repeated"),
        ]
        head = (
            f"{self.kills} kills, {self.evaluations} evaluations, {self.in_flight} of them ran at"
        )
        lines = [f"{'ok  ' if holds else 'FAIL'}  {text}" for holds, text in bars]
        return "\n".join([f"{head} a kill and were begun again", *lines])


# ---- the script


class _Logged:
    """`evaluate` that appends a line to a log when it begins, and one when it has ended."""

    def __init__(self, log: str, number: int):
        self.log, self.number = log, number

    def __call__(self, context: Context, task: Task, environment: Any) -> Output:
        self.write(task, "begin")
        output = evaluate(context, task, environment)
        if task.continues and (task.state is None or output.lost_state):
            self.write(task, f"{task.spent}again")
        self.write(task, "end")
        return output

    def write(self, task: Task, what: str) -> None:
        """Append a line: search, task, and event."""
        with open(self.log, "a") as file:
            file.write(f"{self.number} {task.name} {what}\n")


def _run_script(script: str, folder: str, disturbed: str) -> None:
    """Run a script; its searches log their evaluations, and write their results."""
    numbers, found = count(), []
    fit = _base.BaseSearch.fit

    def logged_fit(search, *args, **kwargs):
        number = next(numbers)
        own = f"{folder}/checkpoint {number}" if disturbed == "yes" else None
        seed = 0 if search.random_state is None else search.random_state
        search.set_params(checkpoint_dir=own, random_state=seed)
        _prepare.evaluate = _Logged(f"{folder}/log", number)
        fit(search, *args, **kwargs)
        found.append(_outcome(search, *args[:1]))
        return search

    base: Any = _base.BaseSearch  # for this process alone
    base.fit = logged_fit
    sys.argv = [script]
    sys.path.insert(0, str(Path(script).parent))
    runpy.run_path(script, run_name="__main__")
    Path(folder, "result").write_bytes(pickle.dumps(found))


def _outcome(search, X=None):
    """Text of all results of a search, except times."""
    results = {n: list(v) for n, v in search.cv_results_.items() if not n.endswith("_time")}
    best: Any = getattr(search, "best_estimator_", None)
    said = [best.predict(X)] if X is not None and hasattr(best, "predict") else []
    return describe([results, search.statuses_, getattr(search, "best_params_", None), said])


# ---- its kills


def torment(script: str, n_kills: int, rng: random.Random, folder: Path) -> KillReport:
    """Kill a script a number of times, and report the effects.

    Parameters
    ----------
    script : str
        Path of the script.
    n_kills : int
        Number of kills.
    rng : random.Random
        Generator of the random moments.
    folder : Path
        Empty folder for the script's output.

    Returns
    -------
    report : KillReport
        Report on all searches of the script.

    Raises
    ------
    RuntimeError
        If the script fails by itself, or fits no search.

    Examples
    --------
    >>> import random
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from sksearch.chaos import torment
    >>> with TemporaryDirectory() as folder:  # doctest: +SKIP
    ...     print(torment("my_search.py", 5, random.Random(0), Path(folder)))
    """
    report = KillReport()
    (plain := folder / "undisturbed").mkdir()
    undisturbed = _start(script, plain, disturbed=False)
    _wait_for_begin(undisturbed, plain, 0)
    start = time.monotonic()
    _wait(undisturbed, plain, LIMIT)
    seconds = time.monotonic() - start
    expected = pickle.loads((plain / "result").read_bytes())
    if not expected:
        raise RuntimeError(f"{script} does not fit an sksearch search.")
    numbers = count()
    while report.kills < n_kills:
        (own := folder / str(next(numbers))).mkdir()
        _one_run(script, n_kills, seconds, own, rng, report)
        report.equal &= pickle.loads((own / "result").read_bytes()) == expected
    return report


def _one_run(script, n_kills, seconds, folder, rng, report):
    """Kill a script until it has ended, or often enough."""
    kills: list[tuple[int, set[str]]] = []  # number of lines, and evaluations finished by then
    window = 0.15 * seconds
    while True:
        n_begun = _n_begun(folder)
        process = _start(script, folder, disturbed=True)
        _wait_for_begin(process, folder, n_begun)
        spares = report.kills >= n_kills
        if _wait(process, folder, LIMIT if spares else rng.uniform(0, window)):
            break
        process.kill()
        process.wait()
        report.kills += 1
        window *= 1.4
        lines = _lines(folder)
        kills.append((len(lines), _ended(folder, lines)))
    lines = _lines(folder)
    report.steps_again += sum(int(what[:-5]) for _, what in lines if what.endswith("again"))
    begun = [name for name, what in lines if what == "begin"]
    again = sum(name in ended for n, ended in kills for name, what in lines[n:] if what == "begin")
    report.evaluations += len(set(begun))
    report.again += again
    report.in_flight += len(begun) - len(set(begun)) - again


def _start(script, folder, disturbed):
    """Start the script in a process of its own."""
    command = [sys.executable, "-c", VICTIM, script, str(folder), "yes" if disturbed else "no"]
    with open(folder / "output", "ab") as output:
        return subprocess.Popen(command, stdout=output, stderr=output, stdin=subprocess.DEVNULL)


def _wait(process, folder, seconds):
    """Wait; return whether the process has ended. RuntimeError if it failed by itself."""
    try:
        status = process.wait(seconds)
    # The usual case: the script is still running and is killed now
    except subprocess.TimeoutExpired:
        return False
    if status != 0:
        said = (folder / "output").read_text(errors="replace").splitlines()[-15:]
        raise RuntimeError("The script fails even without kills:\n" + "\n".join(said))
    return True


def _wait_for_begin(process, folder, n_begun):
    """Wait until more has begun than before, or the process has nothing left to do."""
    while process.poll() is None and _n_begun(folder) == n_begun:
        time.sleep(0.02)


def _lines(folder):
    """Pairs of search and task, and the event of each log line; a torn last line is left out."""
    log = folder / "log"
    words = [line.split() for line in log.read_text().splitlines()] if log.exists() else []
    return [(" ".join(w[:2]), w[2]) for w in words if len(w) == 3 and WHAT.fullmatch(w[2])]


def _n_begun(folder):
    """Number of evaluations begun so far."""
    return sum(what == "begin" for _, what in _lines(folder))


def _ended(folder, lines):
    """Names of the evaluations that had ended, by their own lines or by a journal."""
    told = set()
    for checkpoint in folder.glob("checkpoint *"):
        number = checkpoint.name.split()[1]
        with suppress(FileNotFoundError):
            _, events, _ = read_journal(checkpoint)
            ended = filter(None, (read_as(ToldEvent, record) for record in events))
            told |= {f"{number} {each.trial_id}.{each.resource}" for each in ended}
    return {n for n, what in lines if what == "end" or n.rpartition(".")[0] in told}


if __name__ == "__main__":
    from sksearch import chaos  # workers can import its functions, unlike __main__'s

    os.environ.setdefault("PYTHONUNBUFFERED", "1")
    sys.exit(chaos.main())
