"""Kill searches again and again, and see that nothing comes of it.

Small searches of several kinds are run once undisturbed. Then each is started with a
`checkpoint_dir` and killed with SIGKILL at random moments, and started again with one or two
workers, until it has been killed often enough; then it may end. One of its candidates kills its
process, one hangs, one raises. After each kill it is noted which evaluations had ended, as the
journal and the spool tell; none of these may be run again.

    python examples/benchmarks/chaos.py [--searches 20] [--kills 100] [--parallel 2]

Exit status 1 if a bar fails.
"""

import argparse
import os
import pickle
import random
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path

from _report import print_bars
from _victim import KINDS, in_process

from sksearch.checkpoint._checkpoint import read_journal

VICTIM = Path(__file__).with_name("_victim.py")
LIMIT = 300  # seconds that one process may take
GONE = 2.0  # seconds after which nothing of a killed search may be left


@dataclass
class Report:
    """What one search went through.

    Parameters
    ----------
    kind : str
        Of `KINDS`.
    """

    kind: str
    kills: int = 0
    deaths: int = 0  # of the search with its own candidate, beside the kills
    evaluations: int = 0
    in_flight: int = 0  # begun again, since they had not ended at a kill
    again: list[str] = field(default_factory=list)  # run again though they had ended
    equal: bool = True
    gone: float = 0.0  # the longest that workers were there after a kill, seconds
    left: list[str] = field(default_factory=list)  # files that nobody needs
    resume: float = 0.0  # the longest from the start of a search to its end, seconds


class Victim:
    """One start of a search, in a session of its own.

    Parameters
    ----------
    kind : str
        Of `KINDS`.
    seed : int
        Of the search.
    n_jobs : int
        Count of workers.
    folder : Path
        For its files.
    checkpoint : bool, default=True
        Whether it has a `checkpoint_dir`.
    """

    def __init__(self, kind, seed, n_jobs, folder, checkpoint=True):
        self.log, self.result = folder / "log", folder / "result"
        self.n_lines = len(lines(self.log))
        temporary = folder / "tmp"
        temporary.mkdir(exist_ok=True)
        command = [sys.executable, VICTIM, kind, seed, n_jobs, self.log, self.result]
        if checkpoint:
            command.append(folder / "checkpoint")
        with open(folder / "output", "ab") as output:
            self.process = subprocess.Popen(
                [str(word) for word in command],
                stdout=output,
                stderr=output,
                start_new_session=True,
                env=os.environ | {"TMPDIR": str(temporary), "OMP_NUM_THREADS": "1"},
            )
        self.started = time.monotonic()

    def wait_for_lines(self, n):
        """Return when it has appended so many lines to the log, or the process has ended."""
        while len(lines(self.log)) < self.n_lines + n:
            if self.process.poll() is not None:
                return
            if time.monotonic() > self.started + LIMIT:
                self.kill()
                raise TimeoutError("a search did not begin")
            time.sleep(0.01)

    def ends(self, seconds=LIMIT):
        """Wait; return whether the process has ended, by itself or of its candidate."""
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def kill(self):
        """Kill the search, not its workers."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def seconds_until_gone(self):
        """Wait until nothing is left of the session; how long that took."""
        start = time.monotonic()
        while session(self.process.pid) and time.monotonic() < start + LIMIT:
            time.sleep(0.01)
        return time.monotonic() - start


def session(leader):
    """Ids of the living processes of a session."""
    found = []
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            state, _, _, sid = (folder / "stat").read_text().rpartition(")")[2].split()[:4]
        except OSError:  # it has just ended
            continue
        if int(sid) == leader and state not in "ZX":
            found.append(int(folder.name))
    return found


def lines(path):
    """Lines of a file, none if there is no file."""
    return path.read_text().splitlines() if path.exists() else []


def ended_evaluations(checkpoint, begun):
    """Names of the evaluations that the journal or the spool knows to have ended."""
    try:
        _, events, _ = read_journal(checkpoint)
    except FileNotFoundError:
        return set()
    told = {f"{e['t']}.{e['r']}" for e in events if e["k"] == "tell"}
    spooled = {file.name.removesuffix(".json") for file in (checkpoint / "spool").glob("*.json")}
    return spooled | {name for name in begun if name.rpartition(".")[0] in told}


def torment(kind, seed, n_kills, folder):
    """Kill one search so many times, let it end, and say what came of it."""
    rng = random.Random(f"{kind} {seed}")
    report = Report(kind)
    (plain := folder / "undisturbed").mkdir(parents=True)
    undisturbed = Victim(kind, seed, 2, plain, checkpoint=False)
    undisturbed.ends()
    expected, seconds = pickle.loads(undisturbed.result.read_bytes())
    n_rounds = 0
    while report.kills < n_kills:
        (own := folder / str(n_rounds)).mkdir()
        one_search(kind, seed, n_kills, seconds, own, rng, report)
        report.equal &= pickle.loads((own / "result").read_bytes())[0] == expected
        n_rounds += 1
    return report


def one_search(kind, seed, n_kills, seconds, folder, rng, report):
    """Kill a search until it has ended, or has been killed often enough."""
    checkpoint = folder / "checkpoint"
    ended_at: list[tuple[int, set[str]]] = []  # lines of the log, and what had ended by then
    window = 0.15 * seconds
    while True:
        victim = Victim(kind, seed, _n_jobs(kind, rng), folder)
        spares = report.kills >= n_kills
        # The first line is that it begins, the second that its first evaluation does.
        victim.wait_for_lines(rng.choice([1, 2, 2, 2]))
        delay = rng.uniform(0, rng.choice([0.1, window]))
        if victim.ends(LIMIT if spares else delay):
            if victim.process.returncode == 0:
                break
            if not in_process(kind) or victim.process.returncode != -signal.SIGKILL:
                raise RuntimeError(f"{kind} failed: {lines(folder / 'output')[-5:]}")
            report.deaths += 1
        elif spares:
            victim.kill()
            raise TimeoutError(f"{kind} does not end")
        else:
            victim.kill()
            report.kills += 1
            window *= 1.4
        if rng.random() < 0.5:  # else the next begins while workers of this one are there
            report.gone = max(report.gone, victim.seconds_until_gone())
        log = lines(victim.log)
        ended_at.append((len(log), ended_evaluations(checkpoint, log)))
    report.resume = max(report.resume, time.monotonic() - victim.started)
    _count(lines(victim.log), ended_at, report)
    report.left += _files_left(folder)


def _n_jobs(kind, rng):
    return 1 if in_process(kind) else rng.choice([1, 2])


def _count(log, ended_at, report):
    """Add up what the log says."""
    names = [line for line in log if line != "fit"]
    report.evaluations += len(set(names))
    report.in_flight += len(names) - len(set(names))
    for n_lines, ended in ended_at:
        report.again += [name for name in log[n_lines:] if name in ended]
    report.in_flight -= len(report.again)


def _files_left(folder):
    """What should not be there when a search has ended."""
    known = {"journal.jsonl", "lock", "splits.npz", "states", "spool"}
    files = [f for f in (folder / "checkpoint").rglob("*") if f.name not in known]
    files += (folder / "tmp").glob("sksearch-*")
    return [str(file.relative_to(folder)) for file in files]


def print_report(reports):
    """Print a line for each search."""
    columns = ("kills", "deaths", "eval.", "in flight", "again", "equal", "gone s", "files")
    print(f"{'':<32}" + "".join(f"{column:>10}" for column in columns))
    for r in reports:
        cells = (r.kills, r.deaths, r.evaluations, r.in_flight, len(r.again), r.equal)
        text = "".join(f"{cell!s:>10}" for cell in cells)
        print(f"{r.kind:<32}{text}{r.gone:>10.2f}{len(r.left):>10}")
        for name in (*r.again, *r.left):
            print(f"    {name}")


def main():
    """Torment, print and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--searches", type=int, default=20, help="taken from the kinds in turn")
    parser.add_argument(
        "--kinds", nargs="+", choices=KINDS, metavar="KIND", help="one search each"
    )
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--parallel", type=int, default=2, help="searches at a time")
    parser.add_argument("--gone", type=float, default=GONE, help="seconds that workers may stay")
    args = parser.parse_args()
    kinds = args.kinds or [kind for _, kind in zip(range(args.searches), cycle(KINDS))]
    shares = [(args.kills + i) // len(kinds) for i in range(len(kinds))]
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(args.parallel) as pool:
        folders = [Path(name, str(i)) for i in range(len(kinds))]
        seeds = range(args.seed, args.seed + len(kinds))
        reports = list(pool.map(torment, kinds, seeds, shares, folders))
    print_report(reports)
    print(f"{time.monotonic() - start:.0f} s")
    kills, gone = sum(r.kills for r in reports), max(r.gone for r in reports)
    bars = [
        (f"{kills} kills over {len(reports)} searches", kills >= args.kills),
        ("each ends as the undisturbed search does", all(r.equal for r in reports)),
        ("no evaluation that had ended is run again", not any(r.again for r in reports)),
        (f"{args.gone:g} s after a kill no process is left", gone <= args.gone),
        ("no file is left that nobody needs", not any(r.left for r in reports)),
    ]
    return 0 if print_bars(bars) else 1


if __name__ == "__main__":
    sys.exit(main())
