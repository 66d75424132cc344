"""How much processor time imports take in a fresh process, beside scikit-learn's own.

Run it in an environment of its own: pandas, where it is installed, is imported by scikit-learn.

    python examples/benchmarks/imports.py [--repeats 10]

Exit status 1 if a bar fails.
"""

import argparse
import os
import subprocess
import sys

import numpy as np
from _report import print_bars

CODES = (
    "import sklearn.model_selection",
    "import sksearch",
    "from sksearch import SearchCV",
    "from sksearch import *",
)
BARS = {"import sksearch": 1.15, "from sksearch import SearchCV": 1.25}
WITHOUT_TORCH = "; import sys; assert 'torch' not in sys.modules"


def seconds_of(code):
    """Seconds of a processor, user and system, of a process that does nothing else."""
    # Python compiles modules once, unless it may not keep them.
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": ""}
    command = [sys.executable, "-c", code + WITHOUT_TORCH]
    before = os.times()
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
    after = os.times()
    return after[2] + after[3] - before[2] - before[3]


def main():
    """Measure, print and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repeats", type=int, default=10, help="of each, by turns")
    args = parser.parse_args()
    for code in CODES:
        seconds_of(code)  # reads the files from disk, and compiles them
    seconds = np.array([[seconds_of(code) for code in CODES] for _ in range(args.repeats)])
    print(f"{'processor seconds':34s}{'min':>8s}{'median':>8s}{'max':>8s}{'ratio':>8s}")
    medians = np.median(seconds, axis=0)
    ratios = dict(zip(CODES, medians / medians[0], strict=True))
    for code, column in zip(CODES, seconds.T, strict=True):
        low, middle, high = np.quantile(column, [0, 0.5, 1])
        print(f"{code:34s}{low:8.2f}{middle:8.2f}{high:8.2f}{ratios[code]:8.2f}")
    bars = [
        (f"{code}: at most {bar:g} of scikit-learn's, without torch", ratios[code] <= bar)
        for code, bar in BARS.items()
    ]
    return int(not print_bars(bars))


if __name__ == "__main__":
    sys.exit(main())
