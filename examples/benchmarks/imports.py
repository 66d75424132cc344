"""How long ``import sksearch`` takes in a fresh process, beside scikit-learn's own import.

Run it in an environment of its own: pandas, where it is installed, is imported by scikit-learn.

    python examples/benchmarks/imports.py [--repeats 10]

Exit status 1 if a bar fails.
"""

import argparse
import subprocess
import sys

import numpy as np
from _report import print_bars

MODULES = ("sklearn.model_selection", "sksearch")
LIMIT = 1.0  # seconds
CODE = """
import sys, time
start = time.perf_counter()
import {module}
seconds = time.perf_counter() - start
assert "torch" not in sys.modules
print(seconds)
"""


def seconds_of(module):
    """Seconds of the import in a process that has imported nothing else."""
    command = [sys.executable, "-c", CODE.format(module=module)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main():
    """Measure, print and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repeats", type=int, default=10, help="of each, by turns")
    args = parser.parse_args()
    for module in MODULES:
        seconds_of(module)  # reads the files from disk
    seconds = np.array([[seconds_of(m) for m in MODULES] for _ in range(args.repeats)])
    print(f"{'import':24s}{'min':>8s}{'median':>8s}{'max':>8s}  seconds")
    for module, column in zip(MODULES, seconds.T, strict=True):
        low, middle, high = np.quantile(column, [0, 0.5, 1])
        print(f"{module:24s}{low:8.2f}{middle:8.2f}{high:8.2f}")
    theirs, ours = np.median(seconds, axis=0)
    print(f"ratio {ours / theirs:.2f}")
    return int(not print_bars([(f"under {LIMIT:g} s and without torch", ours < LIMIT)]))


if __name__ == "__main__":
    sys.exit(main())
