"""A checkpoint directory between processes that are killed, run out of disk, or are forked."""

import os
import re
import signal
import tempfile
from pathlib import Path

import pytest

from sksearch.checkpoint import SearchLockedError
from sksearch.checkpoint._checkpoint import Checkpoint, read_journal

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals and limits of Unix")

HOLDER = """
import sys, time
from sksearch.checkpoint._checkpoint import Checkpoint
checkpoint = Checkpoint(sys.argv[1])
print("open", flush=True)
time.sleep(600)
"""


@pytest.mark.slow
@pytest.mark.timeout(60)
def test_a_second_process_is_refused_at_once_until_the_first_is_killed(tmp_path, start):
    holder = start(HOLDER, tmp_path)
    assert holder.stdout.readline() == "open\n"
    with pytest.raises(
        SearchLockedError, match=rf"process {holder.pid} on {re.escape(os.uname().nodename)}"
    ):
        Checkpoint(tmp_path)
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    with Checkpoint(tmp_path) as checkpoint:
        assert checkpoint.header is None


APPENDER = """
import os, random, signal, sys, time, warnings
from sksearch.checkpoint._checkpoint import Checkpoint

warnings.simplefilter("ignore", UserWarning)

n_kills = int(sys.argv[2])
rng = random.Random(0)
text = "".join(rng.choices("abcdefgh", k=1000)) * 3000

total = 0
for n in range(n_kills):
    folder = os.path.join(sys.argv[1], str(n))
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        with Checkpoint(folder) as checkpoint:
            checkpoint.begin({"class": "SearchCV"}, [([0], [1])])
            t = 0
            os.write(write, b"begun\\n")
            while True:
                checkpoint.append({"k": "tell", "t": t, "text": f"{t}{text}"})
                os.write(write, b"done\\n")  # now it is acknowledged
                t += 1
    os.close(write)
    with open(read, "rb") as file:
        for _ in range(1 + n % 3):  # it has begun, and appended one or two on a slow machine too
            file.readline()
        time.sleep(rng.uniform(0, 0.1))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        acknowledged = n % 3 + len(file.readlines())
    with Checkpoint(folder) as checkpoint:
        events = checkpoint.events
    assert [event["t"] for event in events] == list(range(len(events)))
    assert all(event["text"] == f"{event['t']}{text}" for event in events)
    assert len(events) >= acknowledged
    total += acknowledged
print(total)
"""


@pytest.mark.whole
@pytest.mark.slow
@pytest.mark.timeout(120)
def test_no_acknowledged_record_is_lost_in_twenty_kills(tmp_path, start):
    process = start(APPENDER, tmp_path, 20)
    out, _ = process.communicate()
    assert process.returncode == 0
    assert int(out) >= 10


FORKING = """
import os, signal, sys, time
from sksearch.checkpoint._checkpoint import Checkpoint
checkpoint = Checkpoint(sys.argv[1])
child = os.fork()
if child == 0:
    time.sleep(60)
checkpoint.begin({"class": "SearchCV"}, [([0], [1])])
if sys.argv[2] == "killed":
    print(child, flush=True)
    time.sleep(60)
checkpoint.close()
Checkpoint(sys.argv[1]).close()
os.kill(child, signal.SIGKILL)
print("done")
"""


@pytest.mark.whole
@pytest.mark.slow
@pytest.mark.timeout(60)
def test_a_forked_child_does_not_keep_the_lock(tmp_path, start):
    process = start(FORKING, tmp_path, "closed")
    out, _ = process.communicate()
    assert out == "done\n"


@pytest.mark.slow
@pytest.mark.timeout(60)
def test_a_forked_child_does_not_keep_the_lock_of_a_killed_parent(tmp_path, start):
    process = start(FORKING, tmp_path, "killed")
    child = int(process.stdout.readline())
    process.send_signal(signal.SIGKILL)
    process.wait()
    os.kill(child, 0)  # it lives
    with Checkpoint(tmp_path) as checkpoint:
        assert checkpoint.header["class"] == "SearchCV"


FULL = """
import os, resource, sys, warnings
from sksearch.checkpoint._checkpoint import Checkpoint, read_journal

checkpoint = Checkpoint(sys.argv[1])
checkpoint.begin({"class": "SearchCV"}, [([0], [1])])
resource.setrlimit(resource.RLIMIT_FSIZE, (5000, resource.RLIM_INFINITY))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for t in range(60):
        checkpoint.append({"k": "tell", "t": t, "text": "x" * 200})
assert [w.category for w in caught] == [UserWarning], caught
assert "File too large" in str(caught[0].message)
assert not checkpoint.complete
n = len(read_journal(sys.argv[1])[1])
assert 10 < n < 25, n
if sys.argv[2] == "killed":
    print(n)
    sys.stdout.flush()
    os._exit(1)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
checkpoint.close()
assert checkpoint.complete
print(len(read_journal(sys.argv[1])[1]))
"""


@pytest.mark.whole
@pytest.mark.slow
@pytest.mark.timeout(60)
def test_a_full_disk_costs_nothing_once_there_is_room(tmp_path, start):
    process = start(FULL, tmp_path, "closed")
    assert process.communicate()[0] == "60\n"
    with Checkpoint(tmp_path) as checkpoint:
        assert [event["t"] for event in checkpoint.events] == list(range(60))


@pytest.mark.slow
@pytest.mark.timeout(60)
def test_a_process_that_ends_on_a_full_disk_leaves_what_was_acknowledged(tmp_path, start):
    process = start(FULL, tmp_path, "killed")
    n = int(process.communicate()[0])
    with pytest.warns(UserWarning, match="were removed"):
        checkpoint = Checkpoint(tmp_path)
    checkpoint.close()
    assert [event["t"] for event in checkpoint.events] == list(range(n))


WRITER = """
import sys
from sksearch.checkpoint._checkpoint import Checkpoint
with Checkpoint(sys.argv[1]) as checkpoint:
    print("open", flush=True)
    sys.stdin.readline()
    checkpoint.begin({"class": "SearchCV"}, [([0], [1])])
    for t in range(400):
        checkpoint.append({"k": "tell", "t": t, "text": "x" * (t * 997 % 30_000)}, sync=t % 4 == 0)
"""


@pytest.mark.slow
@pytest.mark.timeout(60)
def test_a_journal_is_read_while_it_is_written(tmp_path, start):
    process = start(WRITER, tmp_path)
    assert process.stdout.readline() == "open\n"
    process.stdin.write("go\n")
    process.stdin.flush()
    n, n_reads = 0, 0
    while n < 400:
        _, events, earlier = read_journal(tmp_path)
        assert [event["t"] for event in events] == list(range(len(events)))
        assert earlier == []
        assert len(events) >= n
        n = len(events)
        n_reads += 1
    assert process.wait() == 0
    assert n_reads > 1


READ_ONLY = """
import os, sys
from sksearch.checkpoint._checkpoint import Checkpoint
if os.geteuid() == 0:  # to whom everything is permitted
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
try:
    Checkpoint(sys.argv[1])
except PermissionError as error:
    print(error.errno, *error.__notes__)
"""


@pytest.mark.few(1)
@pytest.mark.slow
@pytest.mark.timeout(60)
@pytest.mark.parametrize("below", ["", "new"])
def test_a_directory_that_cannot_be_written_is_refused(start, below):
    with tempfile.TemporaryDirectory() as parent:  # pytest's own is closed to other users
        Path(parent).chmod(0o755)
        folder = Path(parent, "checkpoint")
        folder.mkdir()
        if os.geteuid() == 0:
            os.chown(folder, 65534, 65534)
        folder.chmod(0o500)
        out, _ = start(READ_ONLY, folder / below).communicate()
        folder.chmod(0o700)
    assert out == "13 Pass a writable directory on a file system that supports locks.\n"
