"""That the table of faults is tested as a whole."""

import re
from pathlib import Path

FILES = "space_and_counts", "scores", "deaths", "data", "checkpoints", "surroundings"


def test_each_row_has_one_test_on_each_engine():
    texts = [Path(__file__).with_name(f"test_{name}.py").read_text() for name in FILES]
    rows = re.findall(r"^def test_\w+\(.*\):  # row (\d+)$", "\n".join(texts), re.MULTILINE)
    assert rows == [str(row) for row in range(1, 55)]
