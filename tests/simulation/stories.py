"""The story of one search: what happens to each process, until the search has ended."""

import re
import signal
from functools import partial

from tests.simulation import others
from tests.simulation.chance import happens
from tests.simulation.computer import FAILING, Fate
from tests.simulation.outcomes import ALL_FAILED
from tests.simulation.searches import draw_search
from tests.simulation.watching import watching
from tests.simulation.world import EXECUTORS, FOLDER, KEY, BrokenPromiseError, World

#: How often something happens between two starts.
SHARES = {"grows": 0.2, "meets another search": 0.04, "meddles": 0.07, "edits": 0.03}


def tell(rng, n_crashes=40):
    """Tell the story of one search.

    Parameters
    ----------
    rng : random.Random
        Draws it.
    n_crashes : int, default=40
        After so many the search may end undisturbed.

    Returns
    -------
    counts : Counter
        What has happened, by kind; "crashes" are starts on what a dead, interrupted or failed
        process has left.

    Raises
    ------
    BrokenPromiseError
        If a promise was not kept.
    """
    world = World(rng, draw_search(rng))
    counts, pace = world.counts, rng.choice([10, 20, 40, 100])
    with watching(world):
        for _ in range(n_crashes):
            if happens(rng, SHARES["grows"]):
                world.grow()
            fate, ending = draw_fate(world, pace)
            ended, found = world.start(fate)
            counts[ended] += 1
            if ended == "finished":
                world.check_found(found)
                world.check()
                if not world.size and (world.found is None or happens(rng, 0.3)):
                    break
                world.happened.add("ended, and grew")
                world.grow()
                continue
            counts["crashes"] += 1
            if ended == "killed" and ending == "power":
                counts["power"] += 1
                world.lose_power()
            if ended == "error":
                world.happened.add("error")
            if happens(rng, SHARES["meets another search"]):
                others.meet_another_search(world)
            if happens(rng, SHARES["meddles"]):
                others.meddle(world)
            if happens(rng, SHARES["edits"]):
                others.edit(world)
        _end(world)
    return counts


def _end(world):
    """Let the search end undisturbed, and see what is left."""
    world.kind, world.rest = "serial", []
    world.grow()
    for _ in range(3):
        ended, found = world.start(Fate(world.rng))
        if ended != "error":
            break
    world.check_found(found)
    world.check()
    files = {p.removeprefix(f"{FOLDER}/") for p in world.disk.files("/sim")}
    kept = {"journal.jsonl", "lock", "splits.npz", KEY}
    left = {f for f in files - kept if not re.match(r"journal\.bad(\.\d+)?$", f)}
    # One that was stopped may go on with more time, or, where all had failed before its end, be
    # seen to fail again.
    may_keep = "$"
    if world.stops or found == ALL_FAILED:
        may_keep = r"(states|spool)/(?!.*\.tmp$)"
    left = {f for f in left if not re.match(may_keep, f)}
    if left:
        raise BrokenPromiseError(f"files are left: {sorted(left)}")
    if world.disk.files()[f"{FOLDER}/lock"].holder is not None:
        raise BrokenPromiseError("the lock is left")


def draw_fate(world, pace):
    """Draw what happens to the next process."""
    rng, happened = world.rng, world.happened
    world.kind = rng.choice(list(EXECUTORS))
    world.n_workers = rng.randint(1, world.drawn.n_workers)
    world.is_far = world.kind == "threads" and happens(rng, 0.3)
    fate = Fate(rng)
    at = 1 + rng.randrange(rng.choice([pace, pace, 4 * pace, 10]))
    ending = rng.choices(["none", "kill", "power", "signal", "error"], [3, 45, 30, 12, 10])[0]
    if ending in ("kill", "power"):
        fate.kill_at = at
        happened.add("kill")
    elif ending == "signal":
        fate.signal = rng.choice([signal.SIGINT, signal.SIGINT, signal.SIGTERM])
        if happens(rng, 0.3):
            fate.signal, fate.line = signal.SIGINT, 1 + rng.randrange(40 * pace)
        else:
            fate.signal_at = at
        if happens(rng, 0.3):
            fate.kill_at = at + 1 + rng.randrange(30)
            happened.add("kill")
    elif ending == "error":
        fate.error = rng.choice(list(FAILING))
        fate.error_at = range(at, at + rng.choice([1, 1, 3, 20, 1000]))
        happened.add("error")
        if happens(rng, 0.5):
            fate.kill_at = at + rng.randrange(60)
            ending = rng.choice(["kill", "power"])
    if happens(rng, 0.1):
        fate.jumps = {1 + rng.randrange(pace): rng.choice([-1e9, -3600.0, 3600.0, 1e9])}
        world.counts["clock jumps"] += 1
    if happens(rng, 0.1):
        fate.pace = rng.choice([0.05, 1.0])
        world.counts["slow disk"] += 1
    if happens(rng, 0.1):
        fate.short = {at + n for n in range(20)}
    if happens(rng, 0.05):
        fate.meanwhile[1 + rng.randrange(2 * pace)] = partial(others.second_master, world)
    if happens(rng, 0.01):
        fate.meanwhile[1 + rng.randrange(2 * pace)] = partial(others.vanish, world)
    return fate, ending
