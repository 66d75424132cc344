"""What is collected, what runs only when asked for, and what is tried again."""

import gc
import json
import os
import shutil
import signal
import sys
import time
from importlib.util import find_spec
from pathlib import Path

# Hundreds of Pythons are started, and compiling the package takes each of them a second: what is
# compiled is kept in `__pycache__`, also where an environment forbids it.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# Each process of the tests has one core. Before anything loads OpenMP or a BLAS, which start a
# thread for each core: threads that wait for each other take twice the time of the tests.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")
# Tests write and delete thousands of files, for each of which a disk takes milliseconds.
MEMORY = Path("/dev/shm")
if MEMORY.is_dir() and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > 4e9:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))

import pytest  # noqa: E402

from tests import times  # noqa: E402
from tests.changing import choose_files  # noqa: E402
from tests.choosing import choose  # noqa: E402

collect_ignore_glob = [] if find_spec("torch") and find_spec("skorch") else ["sksearch/neural/*"]
collect_ignore_glob += [
    "docs/api.md",
    "docs/_build/*",
    "docs/gallery/*",
    "docs/generated/*",
]  # made
if not find_spec("torch"):
    collect_ignore_glob += ["sksearch/hypergradients/_torch.py"]

#: Engines of others: a cluster may fail by itself. What was tried again is named in the summary.
CLUSTERS = {"dask", "ray", "spark", "mpi"}
TESTS = Path(__file__).parent / "tests"
#: Seconds for a test on one. On a busy machine its start takes minutes, and one that was cut short
#: cannot be repeated: in a process where Spark has half started it never will.
CLUSTER_SECONDS = 600
CTRL_C = "An unexpected Ctrl-C arrived"


@pytest.fixture(autouse=True, scope="session")
def no_files_in_the_home(tmp_path_factory):
    """The key that signs models is in a folder of the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
        yield


def pytest_addoption(parser):
    parser.addoption(
        "--whole", action="store_true", help="also run the tests marked `whole`: whole matrices"
    )
    parser.addoption(
        "--changed", action="store_true", help="run what changed files touch, for a minute"
    )
    parser.addoption("--write-times", metavar="NAME", help="note the times in tests/times.json")


def pytest_configure(config):
    is_worker = hasattr(config, "workerinput")  # of pytest-xdist
    if config.option.changed and not is_worker:
        n_processes = int(getattr(config.option, "numprocesses", None) or 1)
        chosen = choose_files(n_processes, times.read()["files"])
        os.environ["SKSEARCH_CHANGED"] = json.dumps(chosen)  # its workers choose the same
    if config.option.write_times and not is_worker:
        config.pluginmanager.register(times.Timing(config.option.write_times, time.monotonic))


def pytest_report_header(config):
    if config.option.changed:
        changed, chosen, n_left_out = json.loads(os.environ["SKSEARCH_CHANGED"])
        names = ", ".join(changed[:5]) + " ..." * (len(changed) > 5)
        return f"changed: {names or 'nothing'}; {len(chosen)} files run, {n_left_out} have no time"
    return None


def pytest_ignore_collect(collection_path, config):
    """Collect what a change touches, if that is asked for."""
    if not config.option.changed or collection_path.is_dir():
        return None
    _, chosen, _ = json.loads(os.environ["SKSEARCH_CHANGED"])
    return collection_path.relative_to(config.rootpath).as_posix() not in chosen or None


def _takes_all(config):
    """Whether no case is left out: the whole matrices are asked for, or one case by its name."""
    return config.option.whole or any("[" in argument for argument in config.args)


def _is_whole(mark):
    """Whether a mark leaves a case to --whole: clusters, too."""
    return mark.name == "whole" or (mark.name == "xdist_group" and mark.args[0] in CLUSTERS)


@pytest.hookimpl(wrapper=True)
def pytest_generate_tests(metafunc):
    """Mark the further cases of a matrix; where they would not run, they are not made."""
    yield
    calls = metafunc._calls
    if not Path(metafunc.module.__file__).is_relative_to(TESTS):
        return  # those of scikit-learn, of which all count
    few = next((mark.args[0] for mark in metafunc.definition.iter_markers("few")), None)
    free = [call for call in calls if not any(map(_is_whole, call.marks))]
    chosen = {id(free[i]) for i in choose([call.params for call in free], few)}
    for call in calls:
        if id(call) not in chosen:
            call.marks.extend((pytest.mark.whole.mark, pytest.mark.matrix.mark))
    if chosen and not _takes_all(metafunc.config):
        metafunc._calls = [call for call in calls if id(call) in chosen]


def pytest_collection_modifyitems(config, items):
    for item in items:
        if item.nodeid.startswith("docs/"):  # one test for a whole page
            item.add_marker(pytest.mark.slow)
        if item.nodeid.startswith(("docs/", "sksearch/search/")):  # they show what tests test
            item.add_marker(pytest.mark.whole)
        if any(map(_is_whole, item.iter_markers("xdist_group"))):
            item.add_marker(pytest.mark.flaky(reruns=1))
            item.add_marker(pytest.mark.timeout(CLUSTER_SECONDS), append=False)
            item.add_marker(pytest.mark.whole)
        else:
            item.add_marker(pytest.mark.flaky(reruns=1, only_rerun=[CTRL_C]))
    items[:] = times.longest_first(items)
    if not _takes_all(config):
        left = [item for item in items if item.get_closest_marker("whole")]
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if not item.get_closest_marker("whole")]


def pytest_collection_finish():
    """Leave what there is before the first test to itself: the collector need not look at it."""
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup():
    """Let Ctrl-C, which some tests send, do what Python has it do.

    A shell has what it runs in the background ignore it, and clusters have handlers of their own.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Let a Ctrl-C that a test did not expect fail only this test.

    In a worker of pytest-xdist it would end the run. What comes from the terminal ends it anyway.
    The test is tried again, which its summary says.
    """
    try:
        return (yield)
    except KeyboardInterrupt:
        if not hasattr(item.config, "workerinput"):
            raise
        pytest.fail(CTRL_C)
