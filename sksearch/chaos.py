"""Kill the searches of a script at random moments, and see that nothing comes of it.

    python -m sksearch.chaos script.py [--kills 20] [--seed 0]

The script is run once undisturbed. Then it is killed with SIGKILL again and again, each of its
searches with a ``checkpoint_dir`` of its own, and started again, until it has been killed often
enough and may end. Its searches must end as the undisturbed ones did, and no evaluation that had
ended, and no step of a model that had been trained, may be paid for again. What ran at the moment
of a kill may.

A search whose ``random_state`` is None gets 0. Results that depend on time cannot be equal: those
of asynchronous searches with several workers, and of a ``timeout``.

Exit status 1 if a promise was not kept.
"""

import argparse
import os
import pickle
import random
import runpy
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from sksearch._description import describe
from sksearch.checkpoint import read_journal
from sksearch.fitting._evaluation import Context, Output, Task, evaluate
from sksearch.search import _base

__all__ = ["main"]

LIMIT = 3600  # seconds that one run of a script may take
VICTIM = "import sys; from sksearch.chaos import _run_script; _run_script(*sys.argv[1:])"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Parameters
    ----------
    arguments : sequence of str or None, default=None
        The words of the command line; None: those of this process.

    Returns
    -------
    status : int
        0 if all promises were kept, else 1.

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
    parser = argparse.ArgumentParser(prog="sksearch.chaos", description=__doc__.split("\n")[0])
    parser.add_argument("script")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0, help="of the moments of the kills")
    args = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="chaos-") as name:
        report = _torment(args.script, args.kills, random.Random(args.seed), Path(name))
    print(report)
    return 0 if report.is_good else 1


@dataclass
class _Report:
    """What the searches of a script went through."""

    kills: int = 0
    evaluations: int = 0
    in_flight: int = 0  # begun again, since they ran at a kill
    again: int = 0  # evaluations that were run again though they had ended
    steps_again: int = 0  # units of the resource that models had been trained for, and were again
    equal: bool = True

    @property
    def is_good(self) -> bool:
        """Whether all promises were kept."""
        return self.equal and not self.again and not self.steps_again

    def __str__(self):
        bars = [
            (self.equal, "each search ends as the undisturbed one"),
            (not self.again, f"{self.again} evaluations that had ended are run again"),
            (not self.steps_again, f"{self.steps_again} units of training are paid for again"),
        ]
        head = (
            f"{self.kills} kills, {self.evaluations} evaluations, {self.in_flight} of them ran at"
        )
        lines = [f"{'ok  ' if holds else 'FAIL'}  {text}" for holds, text in bars]
        return "\n".join([f"{head} a kill and begun again", *lines])


# ---- the script


class _Logged:
    """`evaluate` that appends a line to a log when it begins."""

    def __init__(self, log: str, number: int):
        self.log, self.number = log, number

    def __call__(self, context: Context, task: Task, environment: Any) -> Output:
        lost = task.spent if task.continues and task.state is None else 0
        with open(self.log, "a") as file:
            file.write(f"{self.number} {task.name} {lost}\n")
        return evaluate(context, task, environment)


def _run_script(script: str, folder: str, disturbed: str) -> None:
    """Run a script; its searches log their evaluations, and leave what they have found."""
    numbers, found = count(), []
    fit = _base.BaseSearch.fit

    def logged_fit(search, *args, **kwargs):
        number = next(numbers)
        own = f"{folder}/checkpoint {number}" if disturbed == "yes" else None
        seed = 0 if search.random_state is None else search.random_state
        search.set_params(checkpoint_dir=own, random_state=seed)
        _base.evaluate = _Logged(f"{folder}/log", number)
        fit(search, *args, **kwargs)
        found.append(_outcome(search))
        return search

    base: Any = _base.BaseSearch  # for this process alone
    base.fit = logged_fit
    sys.argv = [script]
    sys.path.insert(0, str(Path(script).parent))
    runpy.run_path(script, run_name="__main__")
    Path(folder, "result").write_bytes(pickle.dumps(found))


def _outcome(search):
    """Text of everything that a search has found, but for times."""
    results = {n: list(v) for n, v in search.cv_results_.items() if not n.endswith("_time")}
    return describe([results, search.statuses_, getattr(search, "best_params_", None)])


# ---- its kills


def _torment(script, n_kills, rng, folder):
    """Kill a script so many times, and say what came of it."""
    report = _Report()
    (plain := folder / "undisturbed").mkdir()
    start = time.monotonic()
    undisturbed = _start(script, plain, disturbed=False)
    _wait(undisturbed, plain, LIMIT)
    seconds = time.monotonic() - start
    expected = pickle.loads((plain / "result").read_bytes())
    if not expected:
        raise RuntimeError(f"{script} fits no search of sksearch.")
    numbers = count()
    while report.kills < n_kills:
        (own := folder / str(next(numbers))).mkdir()
        _one_run(script, n_kills, seconds, own, rng, report)
        report.equal &= pickle.loads((own / "result").read_bytes()) == expected
    return report


def _one_run(script, n_kills, seconds, folder, rng, report):
    """Kill a script until it has ended, or has been killed often enough."""
    ended_at: list[tuple[int, set[str]]] = []  # lines of the log, and what had ended by then
    window = 0.15 * seconds
    while True:
        n_before = len(_lines(folder))
        process = _start(script, folder, disturbed=True)
        while process.poll() is None and len(_lines(folder)) == n_before:
            time.sleep(0.01)  # until it has begun something, or has nothing left to do
        spares = report.kills >= n_kills
        if _wait(process, folder, LIMIT if spares else rng.uniform(0, window)):
            break
        process.kill()
        process.wait()
        report.kills += 1
        window *= 1.4
        lines = _lines(folder)
        ended_at.append((len(lines), _ended(folder, lines)))
    lines = _lines(folder)
    names = [" ".join(line.split()[:2]) for line in lines]
    again = sum(name in ended for n, ended in ended_at for name in names[n:])
    report.evaluations += len(set(names))
    report.again += again
    report.in_flight += len(names) - len(set(names)) - again
    report.steps_again += sum(int(line.split()[2]) for line in lines)


def _start(script, folder, disturbed):
    """Start the script in a process of its own."""
    command = [sys.executable, "-c", VICTIM, script, str(folder), "yes" if disturbed else "no"]
    with open(folder / "output", "ab") as output:
        return subprocess.Popen(command, stdout=output, stderr=output, stdin=subprocess.DEVNULL)


def _wait(process, folder, seconds):
    """Wait; whether the process has ended. RuntimeError if it has failed by itself."""
    try:
        status = process.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    if status != 0:
        said = (folder / "output").read_text(errors="replace").splitlines()[-15:]
        raise RuntimeError("The script fails by itself:\n" + "\n".join(said))
    return True


def _lines(folder):
    """Lines of the log; the last one may be torn by a kill."""
    log = folder / "log"
    lines = log.read_text().splitlines() if log.exists() else []
    return [line for line in lines if len(line.split()) == 3]


def _ended(folder, lines):
    """Names of the evaluations that journals or workers' files know to have ended."""
    ended = set()
    for checkpoint in folder.glob("checkpoint *"):
        number = checkpoint.name.split()[1]
        try:
            _, events, _ = read_journal(checkpoint)
        except FileNotFoundError:
            continue
        told = {f"{number} {e['t']}.{e['r']}" for e in events if e["k"] == "tell"}
        begun = {" ".join(line.split()[:2]) for line in lines}
        ended |= {name for name in begun if name.rpartition(".")[0] in told}
        ended |= {f"{number} {file.stem}" for file in (checkpoint / "spool").glob("*.json")}
    return ended


if __name__ == "__main__":
    from sksearch import chaos  # whose functions workers can import, as those of __main__ not

    os.environ.setdefault("PYTHONUNBUFFERED", "1")
    sys.exit(chaos.main())
