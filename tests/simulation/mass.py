"""Tell many stories, in parts by seed, and keep a record that parts add up in.

    python -m tests.simulation --seeds 10000 [--from 0] [--workers 2] [--record FILE]
    python -m tests.simulation --record FILE

Without ``--seeds`` the record is summed up. Exit status 1 if a promise was not kept.
"""

import argparse
import faulthandler
import hashlib
import json
import os
import platform
import random
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
PART = 250  # seeds of a line of the record
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
    firsts = range(args.first, args.first + args.seeds, PART)
    end, lines = args.first + args.seeds, []
    with ProcessPoolExecutor(
        args.workers, mp_context=get_context("spawn"), max_tasks_per_child=1
    ) as pool:
        parts = [pool.submit(part, first, min(first + PART, end)) for first in firsts]
        for future in as_completed(parts):
            lines.append(future.result())
            if args.record:
                with open(args.record, "a") as file:
                    file.write(json.dumps(lines[-1]) + "\n")
            print(lines[-1]["from"], lines[-1]["counts"]["crashes"], flush=True)
    if args.record:
        lines = [json.loads(line) for line in args.record.read_text().splitlines()]
    return report(lines)


def part(first, end):
    """Tell the stories of some seeds; a line of the record."""
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


def report(lines):
    """Print what the parts of a record add up to; return the exit status."""
    counts = sum((Counter(line["counts"]) for line in lines), Counter())
    broken = [case for line in lines for case in line["broken"]]
    seeds = {seed for line in lines for seed in range(line["from"], line["from"] + line["seeds"])}
    seconds = sum(line["seconds"] for line in lines)
    print(f"{len(seeds)} stories, {counts['crashes']} crashes, {len(broken)} promises broken")
    print(f"{seconds:.0f} seconds of a core; code {', '.join(sorted({x['code'] for x in lines}))}")
    for name, count in counts.most_common():
        print(f"{count:10} {name}")
    for case in broken:
        print(f"\nseed {case['seed']}: {case['text']}")
    return 1 if broken else 0
