"""Kill searches with a straggler at random moments, and count what is trained twice.

Searches by epochs, iterations, rows and folds, of whole fits, of counts that training finds, and
of ensembles, each with one worker and with two. `sksearch.chaos` kills each with SIGKILL and
starts it again, and sees from the log of its evaluations what was paid for again although it had
ended.

    python examples/benchmarks/paid_once.py [--kills 100] [--seed 0] [--kinds epochs rows]

`--kills` is the count over all kinds, for one worker and again for two. Exit status 1 if a bar
fails.
"""

import argparse
import random
import sys
import tempfile
import time
from pathlib import Path

from _report import print_bars
from _straggling import KINDS

from sksearch import chaos

SCRIPT = """
import sys
sys.path.insert(0, {here!r})
from _straggling import run

if __name__ == "__main__":
    run({kind!r}, {n_jobs})
"""


def torment(kind, n_jobs, n_kills, seed):
    """Kill a search of a kind; the report of `sksearch.chaos`."""
    with tempfile.TemporaryDirectory(prefix="paid-once-") as name:
        script = Path(name, "script.py")
        here = str(Path(__file__).parent)
        script.write_text(SCRIPT.format(here=here, kind=kind, n_jobs=n_jobs))
        rng = random.Random(f"{kind} {n_jobs} {seed}")
        return chaos.torment(str(script), n_kills, rng, Path(name))


def print_line(name, report, seconds):
    """Print what a search went through."""
    cells = (
        report.kills, report.evaluations, report.in_flight, report.again, report.steps_again,
        report.equal, f"{seconds:.0f}",
    )  # fmt: skip
    print(f"{name:<36}" + "".join(f"{cell!s:>10}" for cell in cells), flush=True)


def main():
    """Torment, print and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, metavar="KIND", default=list(KINDS))
    args = parser.parse_args()
    n_kills = -(-args.kills // len(args.kinds))
    columns = ("kills", "eval.", "in flight", "again", "steps", "equal", "s")
    print(f"{'':<36}" + "".join(f"{column:>10}" for column in columns))
    reports = []
    for kind in args.kinds:
        for n_jobs in (1, 2):
            start = time.monotonic()
            reports.append(torment(kind, n_jobs, n_kills, args.seed))
            print_line(f"{kind}, n_jobs={n_jobs}", reports[-1], time.monotonic() - start)
    bars = [
        (f"{sum(r.kills for r in reports)} kills", all(r.kills >= n_kills for r in reports)),
        ("each ends as the undisturbed search does", all(r.equal for r in reports)),
        ("no evaluation that had ended is run again", not any(r.again for r in reports)),
        ("no step of training is paid for again", not any(r.steps_again for r in reports)),
    ]
    return 0 if print_bars(bars) else 1


if __name__ == "__main__":
    sys.exit(main())
