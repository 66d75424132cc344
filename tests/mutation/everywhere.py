"""Break the package anywhere, and see whether the tests of the broken part fail.

    python -m tests.mutation.everywhere --sample 40 --seed 0 --record FILE

Tests of frozen results run first, then those of the part, by its folder; no table of touched lines
is needed, and no part is left out but nets. Exit status 1 if more than one in twenty is missed.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

from tests.mutation.mutants import mutants_of
from tests.mutation.nursery import Nursery

#: Tests of the parts that have no folder of their own name, by the start of the path.
TESTS = {
    "_prepare": "fitting search test_mistakes.py test_every_search.py",
    "_finish": "fitting search",
    "_reader": "reporting stats search",
    "_time_limit": "fitting search test_minimize_runs.py",
    "_earlier": "search",
    "_minimize": "test_minimize.py test_minimize_runs.py test_minimize_aims.py",
    "_html": "test_html.py reporting",
    "_code": "checkpoint",
    "_digests": "checkpoint",
    "_description": "checkpoint",
    "_declarations": "contracts test_plugins.py samplers schedulers",
    "base": "contracts test_plugins.py samplers schedulers",
    "_fronts": "samplers test_minimize_aims.py search/test_objectives.py",
    "chaos": "test_chaos.py faults",
    "estimators": "spaces libraries fitting search",
    "spaces": "spaces",
    "resources": "search fitting contracts libraries",
    "history": "test_study.py samplers reporting",
    "study": "test_study.py",
    "watch": "test_watch.py plotting",
    "datasets": "test_datasets.py",
    "experiment": "test_experiment.py",
    "samplers": "samplers contracts",
    "schedulers": "schedulers contracts",
    "search": "search test_every_search.py test_mistakes.py",
    "fitting": "fitting search test_every_search.py faults/test_hopeless.py",
    "space": "space test_mistakes.py",
}
OTHERS = "test_plain.py test_pickles.py test_extras.py test_every_search.py test_mistakes.py"
LEFT_OUT = ("sksearch/neural/", "sksearch/datasets")  # run in an environment of their own


def main(arguments=None):
    """Run the command; return its exit status."""
    args = parse(arguments)
    os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    mutants = draw(args)
    missed = 0
    with Nursery() as nursery:
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
    return parser.parse_args(arguments)


def draw(args):
    """Draw faults in the bodies of functions."""
    files = [path.as_posix() for path in sorted(Path("sksearch").rglob("*.py"))]
    files = [path for path in files if not path.startswith(LEFT_OUT)]
    mutants = [m for path in files for m in mutants_of(path, Path(path).read_bytes()) if m.in_body]
    print(f"{len(mutants)} faults are possible", flush=True)
    return random.Random(args.seed).sample(mutants, args.sample)


def outcome(tree, path, budget):
    """Return what the tests of this part say: found, survived, or no end in time (a miss, too)."""
    part = path.split("/")[1].removesuffix(".py")
    chosen = next((v for k, v in TESTS.items() if part.startswith(k)), part)
    if not all((tree / "tests" / name).exists() for name in chosen.split()):
        chosen = OTHERS
    end = time.monotonic() + budget
    for tests, options in (("frozen", ["--whole"]), (chosen, [])):
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *options]
        command += [f"tests/{name}" for name in tests.split()]
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
