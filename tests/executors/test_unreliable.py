"""Whatever answers of real worker processes are late, doubled or lost: the results are equal."""

import json
import os

import pytest

from tests import scripts
from tests.executors.engines import ROOT
from tests.executors.unreliable import KINDS

pytestmark = [
    pytest.mark.slow,
    pytest.mark.whole,
    pytest.mark.timeout(300),
    pytest.mark.skipif(os.name == "nt", reason="signals of Unix"),
]


def searched(*args):
    """What is printed by searches whose workers are unreliable; they can be sent Ctrl-C."""
    code = f"from tests.executors.unreliable import main; main(*{args!r})"
    done = scripts.run(["-c", code], cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)})
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout), done.stderr


@pytest.mark.parametrize("way", ["isolated", "workers", "suspects"])
def test_a_hundred_faults_of_processes_and_no_other_result(way, tmp_path):
    found, _ = searched(way, str(tmp_path), 100, 0.4)
    assert found["faults"].keys() == set(KINDS)
    assert found["interrupted"] > 0


@pytest.mark.parametrize("way", ["isolated", "suspects"])
def test_processes_that_start_late_are_waited_for_and_no_result_is_another_one(way, tmp_path):
    found, said = searched(way, str(tmp_path), 4, 0.05, 0.4)
    assert said.count("has not started in 0.04 seconds") >= 1
    assert found["processes"] > 1
