"""Break the code in one place after the other, and see whether a test fails.

    python -m tests.mutation sksearch/checkpoint --sample 300 --seed 0 --record FILE
    python -m tests.mutation sksearch/checkpoint --again FILE

Exit status 1 if a fault was not found. Which tests touch which line is recorded at the first run
(minutes) and kept in ``--table``, and so it is later for tests that are new. Those that have
changed are named: ``--changed tests/checkpoint/test_lines.py``.
"""

import argparse
import json
import os
import random
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.mutation.judging import Judging
from tests.mutation.mutants import mutants_of
from tests.mutation.nursery import Nursery
from tests.mutation.touching import Table

TESTS = (
    "tests/simulation",
    "tests/checkpoint",
    "tests/executors/test_loop.py",
    "tests/executors/test_clock.py",
    "tests/executors/test_in_process.py",
    "tests/executors/test_executors.py",
    "tests/executors/test_virtual.py",
    "tests/executors/test_signals.py",
    "tests/executors/test_live_classes.py",
    "tests/faults/test_checkpoints.py",
    "tests/test_minimize_runs.py",
    "tests/search/test_constraints.py",
)
WATCHED = ("sksearch/checkpoint", "sksearch/executors")  # whose lines the table knows
EQUIVALENT = Path(__file__).with_name("equivalent.txt")


def main(arguments=None):
    """Run the command; return its exit status."""
    args = parse(arguments)
    os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    reasons = read_equivalent(EQUIVALENT.read_text())
    table, lines = Table(args.table.absolute()), []
    old = args.again.read_text() if args.again else ""
    record = args.record and args.record.absolute()

    def note(line):
        lines.append(line)
        if record:
            with open(record, "a") as file:
                file.write(json.dumps(line) + "\n")
        show(line)

    with Nursery() as nursery:
        nursery.enter_tree()
        mutants = draw(args, old)
        plugin = Judging(
            nursery,
            table,
            files_of(WATCHED),
            tuple(args.changed),
            mutants,
            reasons,
            args.budget,
            note,
        )
        options = [
            "-q",
            "-s",
            "--whole",
            "-p",
            "no:cacheprovider",
            *([] if args.slow else ["-m", "not slow"]),
        ]
        status = pytest.main([*options, *TESTS], plugins=[plugin])
    if len(lines) < len(mutants):
        return int(status) or 1
    return report(lines)


def parse(arguments):
    """Read the command line."""
    parser = argparse.ArgumentParser("tests.mutation", description=__doc__.split("\n")[0])
    parser.add_argument("paths", nargs="+", help="files or folders to break")
    parser.add_argument("--sample", type=int, help="how many faults; all if left out")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--record", type=Path, help="file of JSON lines, which is added to")
    parser.add_argument("--again", type=Path, help="only what survived in this record")
    parser.add_argument("--budget", type=float, default=30, help="seconds of tests for a fault")
    parser.add_argument("--slow", action="store_true", help="with tests marked `slow`")
    parser.add_argument("--table", type=Path, default=Path("/tmp/sksearch-touching.json"))
    parser.add_argument("--changed", nargs="+", default=(), help="tests to be recorded again")
    return parser.parse_args(arguments)


def files_of(paths):
    """List files of Python in this folder."""
    found = []
    for path in map(Path, paths):
        found += [path] if path.is_file() else sorted(path.rglob("*.py"))
    return [file.as_posix() for file in found]


def draw(args, old):
    """Return the sample, or what survived by an old record."""
    files = files_of(args.paths)
    mutants = [mutant for path in files for mutant in mutants_of(path, Path(path).read_bytes())]
    if args.again:
        outcomes = {
            tuple(line["key"]): line["outcome"] for line in map(json.loads, old.splitlines())
        }
        return [mutant for mutant in mutants if outcomes.get(mutant.key) == "survived"]
    print(f"{len(mutants)} faults are possible", flush=True)
    n = len(mutants) if args.sample is None else min(args.sample, len(mutants))
    return random.Random(args.seed).sample(mutants, n)


def read_equivalent(text):
    """Return reasons by key: blocks of file and function, line, change, and why."""
    blocks = [block.splitlines() for block in text.strip().split("\n\n")]
    return {tuple(block[:3]): " ".join(block[3:]) for block in blocks if block[0][0] != "#"}


def show(line):
    """Print a fault that was not found, as `equivalent.txt` would have it."""
    if line["outcome"] == "survived":
        print(
            f"\n# line {line['line']}, {line['tests']} tests", *line["key"], sep="\n", flush=True
        )
    else:
        print(".", end="", flush=True)


def report(lines):
    """Print the score; return the exit status."""
    counts = Counter(line["outcome"] for line in lines)
    n = counts["killed"] + counts["survived"]
    share = counts["killed"] / n if n else 1.0
    print(f"\n{counts['killed']} of {n} faults were found ({share:.1%}); ", end="")
    print(f"{counts['equivalent']} are equivalent")
    return 1 if counts["survived"] else 0


if __name__ == "__main__":
    sys.exit(main())
