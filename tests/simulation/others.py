"""What others do to the folder of a search, and what must hold all the same."""

from sksearch.checkpoint import accept_changes
from sksearch.checkpoint._lines import decode
from sksearch.search import SearchLockedError
from tests.simulation import forgery
from tests.simulation.chance import happens
from tests.simulation.computer import Clock, Computer, Fate, Killed, OpenFile, running_on
from tests.simulation.learners import X, Y
from tests.simulation.outcomes import outcome
from tests.simulation.world import FOLDER, KEY

NOTE = "tests.simulation.learners.NOTE"


def second_master(world):
    """Another process has the same idea."""
    world.counts["second master"] += 1
    first, executor = world.fate, world.executor
    lock = world.disk.files().get(f"{FOLDER}/lock")
    is_locked = lock is not None and isinstance(lock.holder, OpenFile)
    before = world.lines()
    fate = Fate(world.rng)
    name, end, _ = bytes(lock.data).partition(b"\n") if is_locked else (b"", b"", b"")
    if is_locked and not (end and name.startswith(b"%d " % lock.holder.computer.pid)):
        fate.kill_at = 100  # the first one waits for the second here, and so it is not named
    computer = Computer(world.disk, fate, world.new_pid(), world.alive)
    world.fate = fate
    search = world.drawn.make(FOLDER, **world.size)
    try:
        with running_on(computer, Clock(fate, world.make_executor)):
            search.fit(X, Y)
    except SearchLockedError as error:
        if lock is None or lock.holder is None or "is in use by another" not in str(error):
            world.broken.append(f"refused, and not by a lock: {error}")
    except BaseException as error:
        if not fate.dead:  # of a user who lost patience
            world.judge(error, fate)
    else:
        if is_locked:
            world.broken.append("two masters at once")
        else:
            world.check_found(outcome(search))
    if is_locked and world.lines() != before:
        world.broken.append("the second master has written to the journal")
    computer.end()
    world.fate, world.executor = first, executor


def vanish(world):
    """Somebody removes the folder."""
    if FOLDER.rpartition("/")[2] in world.disk.node("/sim").names:
        world.counts["folder vanishes"] += 1
        world.happened.add("vanish")
        world.homeless = world.fate
        world.told.clear()
        world.acknowledged.clear()
        world.spooled.clear()
        world.ended.clear()
        world.found = None
        world.disk.remove_all(FOLDER)


def meet_another_search(world):
    """Another search is given the same folder: it is refused, and nothing is changed."""
    before = world.lines()
    if not before:
        return
    world.counts["another search"] += 1
    n_began = world.n_began
    drawn, y = world.drawn.another(world.rng), Y
    if drawn is None:
        drawn, y = world.drawn, Y + 1
    ended, found = world.start(Fate(world.rng), drawn, y)
    if ended != "mismatch":
        world.broken.append(f"another search was not refused: {ended} {found}")
    if world.lines()[: len(before)] != before or world.n_began > n_began:
        world.broken.append("another search has changed what was there")
    world.check()


def edit(world):
    """The user edits a global: the search is refused by its name, until that is accepted."""
    if not world.lines() or NOTE in accepted(world):
        return
    world.counts["global edited"] += 1
    before, world.note = world.note, f"{world.note}."
    n_began, lines = world.n_began, world.lines()
    ended, text = world.start(Fate(world.rng))
    if ended != "mismatch" or NOTE not in text or world.n_began > n_began:
        world.broken.append(f"an edited global was not refused by its name: {ended} {text}")
    if world.lines()[: len(lines)] != lines:
        world.broken.append("a search that was refused has changed what was there")
    world.check()
    if happens(world.rng, 0.5):
        world.note = before
        return
    fate = Fate(world.rng)
    if happens(world.rng, 0.3):
        fate.kill_at = 1 + world.rng.randrange(60)
    computer = Computer(world.disk, fate, world.new_pid(), world.alive)
    world.fate, world.executor = fate, None
    try:
        with running_on(computer, Clock(fate, world.make_executor)):
            accept_changes(FOLDER, NOTE)
    except Killed:
        world.leave(computer)
    computer.end()
    if fate.dead:  # so nobody was told that it is accepted, and a loss of power may take it
        world.note = before


def accepted(world):
    """Names of the globals whose changes the journal says are accepted."""
    records = [record for record in map(decode, world.lines()) if record["k"] == "accept"]
    return {name for record in records for name in record["names"]}


def meddle(world):
    """Somebody forges or damages what is there."""
    what = world.rng.choice(["forge", "forge", "damage", "key"])
    if what == "forge":
        done = forgery.forge_state(world.disk, FOLDER, world.rng)
    elif what == "damage":
        done = forgery.damage_state(world.disk, FOLDER, world.rng)
    else:
        done = forgery.spoil_key(world.disk, KEY, world.rng)
    if done:
        world.counts[what] += 1
        world.happened.add("key" if what == "key" else "forge")
