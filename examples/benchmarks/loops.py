"""How long the loops of a developer take: the tests without the slow ones, and README's command.

    python examples/benchmarks/loops.py

Prints seconds by the clock, CPU seconds, and how many tests passed; on a machine with other load
half of the CPU seconds says more. Exit status 1 if a bar fails.
"""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

from _report import print_bars

ROOT = Path(__file__).parents[2]
PYTEST = [sys.executable, "-m", "pytest", "-q", "-n", "2"]
LOOPS = {  # arguments, and the seconds that it may take on two idle cores
    "developer": (["-m", "not slow"], 120),
    "README": (["--dist", "loadgroup"], 360),
}


def measured(arguments):
    """Seconds, CPU seconds, and how many tests passed; the summary if one failed."""
    start, before = time.perf_counter(), os.times()
    done = subprocess.run([*PYTEST, *arguments], cwd=ROOT, capture_output=True, text=True)
    seconds, after = time.perf_counter() - start, os.times()
    if done.returncode:
        sys.exit(done.stdout[-5000:])
    cpu = after.children_user - before.children_user
    cpu += after.children_system - before.children_system
    return seconds, cpu, int(re.search(r"(\d+) passed", done.stdout)[1])


def main():
    """Run both, print and return the exit status."""
    rows = {name: measured(arguments) for name, (arguments, _) in LOOPS.items()}
    for name, (seconds, cpu, n_passed) in rows.items():
        print(f"{name:<10}{seconds:>6.0f} s{cpu:>6.0f} CPU s{n_passed:>7} passed")
    bars = [(f"{name} {most} s", rows[name][0] <= most) for name, (_, most) in LOOPS.items()]
    share = rows["developer"][2] / rows["README"][2]
    bars.append((f"a developer runs 80 % of the tests: {share:.0%}", share >= 0.8))
    return 0 if print_bars(bars) else 1


if __name__ == "__main__":
    sys.exit(main())
