"""Break the package anywhere, and see whether the tests of the broken part fail.

    python -m tests.mutation.everywhere --sample 40 --seed 0 --record FILE

Tests of frozen results run first, then those near the broken file by imports (`tests.changing`).
No table of touched lines is needed, and no part is left out but nets. ``--root`` judges the tests
of another checkout, and ``--like`` draws faults only from files that are the same in a third one.
Exit status 1 if more than one in twenty is missed.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

from tests import changing, times
from tests.mutation.mutants import mutants_of
from tests.mutation.nursery import ROOT, Nursery

NEAR = 2  # imports between a test and the file that is broken
LEFT_OUT = ("sksearch/neural/", "sksearch/datasets")  # run in an environment of their own


def main(arguments=None):
    """Run the command; return its exit status."""
    args = parse(arguments)
    os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    mutants = draw(args)
    missed = 0
    with Nursery(args.root) as nursery:
        for mutant in mutants:
            begin = time.perf_counter()
            with nursery.broken(mutant):
                caught = outcome(nursery.tree, mutant.path, args.budget)
            missed += caught != "found"
            line = {"key": mutant.key, "outcome": caught}
            if args.record:
                with open(args.record, "a") as file:
                    file.write(json.dumps(line) + "\n")
            seconds = time.perf_counter() - begin
            print(f"{caught:8} {seconds:5.0f} s  {' | '.join(mutant.key)}", flush=True)
    print(f"{len(mutants) - missed} of {len(mutants)} faults were found")
    return int(20 * missed > len(mutants))


def parse(arguments):
    """Read the command line."""
    parser = argparse.ArgumentParser(
        "tests.mutation.everywhere", description=__doc__.split("\n")[0]
    )
    parser.add_argument("--sample", type=int, default=40, help="how many faults")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--record", type=Path, help="file of JSON lines, which is added to")
    parser.add_argument("--budget", type=float, default=1200, help="seconds of tests for a fault")
    parser.add_argument("--root", type=Path, default=ROOT, help="the checkout that is broken")
    parser.add_argument("--like", type=Path, default=ROOT, help="one with the same files")
    return parser.parse_args(arguments)


def draw(args):
    """Draw faults in the bodies of functions."""
    files = sorted(file.relative_to(args.root) for file in args.root.glob("sksearch/**/*.py"))
    files = [file.as_posix() for file in files if not file.as_posix().startswith(LEFT_OUT)]
    texts = {file: (args.root / file).read_bytes() for file in files}
    same = [file for file in files if _read(args.like / file) == texts[file]]
    mutants = [m for file in same for m in mutants_of(file, texts[file]) if m.in_body]
    print(f"{len(mutants)} faults are possible", flush=True)
    return random.Random(args.seed).sample(mutants, args.sample)


def _read(file):
    return file.read_bytes() if file.exists() else None


def outcome(tree, path, budget):
    """Return what the tests near a file say: found, survived, or no end in time (a miss, too)."""
    seconds = times.read()["files"]
    near = changing.distances_from([path])
    near = [test for test, n in near.items() if n <= NEAR and "/test_" in test]
    near = sorted(near, key=lambda test: (seconds.get(test, changing.UNKNOWN), test))
    near = [test for test in near if (tree / test).exists() and "/frozen/" not in test]
    end = time.monotonic() + budget
    for tests in (["tests/frozen"], near):
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
        try:
            run = subprocess.run(
                command,
                cwd=tree,
                env=os.environ | {"PYTHONPATH": str(tree)},
                timeout=end - time.monotonic(),
                capture_output=True,
                text=True,
            )
        except subprocess.TimeoutExpired:
            return "no end"
        if run.returncode:
            return "found"
    return "survived"


if __name__ == "__main__":
    sys.exit(main())
