"""Tell many stories, in parts by seed, and keep a record that parts add up in.

    python -m tests.simulation --seeds 10000 [--from 0] [--workers 2] [--record FILE]
    python -m tests.simulation --record FILE

Parts that the record has are not told again, unless a promise was not kept in them. Without
``--seeds`` the record is summed up. Exit status 1 if a promise was not kept.
"""

import argparse
import faulthandler
import hashlib
import json
import os
import platform
import random
import signal
import subprocess
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path

import numpy
import sklearn

import sksearch
from tests.simulation.stories import tell
from tests.simulation.world import BrokenPromiseError

ROOT = Path(__file__).parents[2]
PART = 1000  # seeds of a line of the record
STUCK_SECONDS = 1800  # of one story, which takes less than one on an idle machine


def main(arguments=None):
    """Run the command; return its exit status."""
    parser = argparse.ArgumentParser("tests.simulation", description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=0, help="how many stories")
    parser.add_argument("--from", type=int, default=0, dest="first", help="the first seed")
    parser.add_argument("--workers", type=int, default=2, help="processes")
    parser.add_argument("--record", type=Path, help="file of JSON lines, which is added to")
    args = parser.parse_args(arguments)
    os.environ["PYTHONHASHSEED"] = "0"  # so that a seed tells the same story in each process
    end = args.first + args.seeds
    known = read(args.record)
    firsts = [
        first
        for first in range(args.first, end, PART)
        if first not in known or known[first]["broken"]
    ]
    with ProcessPoolExecutor(
        args.workers, mp_context=get_context("spawn"), max_tasks_per_child=1
    ) as pool:
        parts = [pool.submit(part, first, min(first + PART, end)) for first in firsts]
        for future in as_completed(parts):
            line = future.result()
            known[line["from"]] = line
            if args.record:
                with open(args.record, "a") as file:
                    file.write(json.dumps(line) + "\n")
            print(line["from"], line["counts"].get("crashes", 0), len(line["broken"]), flush=True)
    return report(list(known.values()))


def read(record):
    """Return the last line of each part of a record, by its first seed."""
    text = record.read_text() if record and record.exists() else ""
    lines = map(json.loads, text.splitlines())
    return {line["from"]: line for line in lines}


def part(first, end):
    """Tell the stories of some seeds; a line of the record."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # which shells take from background
    counts, broken, start = Counter(), [], time.process_time()
    for seed in range(first, end):
        faulthandler.dump_traceback_later(STUCK_SECONDS, exit=True)
        try:
            counts += tell(random.Random(seed))
        except BrokenPromiseError as error:
            broken.append({"seed": seed, "text": str(error)[:5000]})
    faulthandler.cancel_dump_traceback_later()
    return {
        "from": first,
        "seeds": end - first,
        "counts": dict(sorted(counts.items())),
        "broken": broken,
        "seconds": round(time.process_time() - start, 1),
        "code": digest_of_code(),
        "commit": commit(),
        "versions": {
            "sksearch": sksearch.__version__,
            "sklearn": sklearn.__version__,
            "numpy": numpy.__version__,
            "python": platform.python_version(),
        },
    }


def digest_of_code():
    """What tells the code that has run from another one."""
    files = sorted([*ROOT.glob("sksearch/**/*.py"), *ROOT.glob("tests/simulation/*.py")])
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:16]


def commit():
    """The commit that the code is of, or that it was changed from."""
    command = ["git", "-C", str(ROOT), "rev-parse", "--short=12", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True).stdout.strip()


def report(lines):
    """Print what the parts of a record add up to; return the exit status."""
    counts = sum((Counter(line["counts"]) for line in lines), Counter())
    broken = [case for line in lines for case in line["broken"]]
    seeds = {seed for line in lines for seed in range(line["from"], line["from"] + line["seeds"])}
    seconds = sum(line["seconds"] for line in lines)
    print(f"{len(seeds)} stories, {counts['crashes']} crashes, {len(broken)} promises broken")
    print(f"{seconds:.0f} seconds of a core")
    codes = Counter((line["commit"], line["code"]) for line in lines)
    for (commit, code), n_parts in codes.items():
        now = ", which is the code of today" if code == digest_of_code() else ""
        print(f"{n_parts} parts by code {code} of commit {commit}{now}")
    for name, count in counts.most_common():
        print(f"{count:10} {name}")
    for case in broken:
        print(f"\nseed {case['seed']}: {case['text']}")
    return 1 if broken else 0
