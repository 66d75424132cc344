"""That the table of faults is tested as a whole."""

import re
from pathlib import Path


def test_each_row_has_a_test():
    texts = [path.read_text() for path in Path(__file__).parent.glob("test_*.py")]
    comments = re.findall(r"^def test_\w+\(.*\):  # rows? (.+)$", "\n".join(texts), re.MULTILINE)
    rows = {int(row) for comment in comments for row in re.findall(r"\d+", comment)}
    assert rows == set(range(1, 55))
