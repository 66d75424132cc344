"""Round numbers of axes, places of marks, and texts that cannot become markup."""

import numpy as np
import pytest

from sksearch.reporting._charts import Chart, figure, span, ticks


@pytest.mark.parametrize(
    ("ends", "found"),
    [
        ((0, 10), [0, 5, 10]), ((0, 16), [0, 5, 10, 15]),
        ((0.98, 0.996), [0.98, 0.985, 0.99, 0.995]),
        ((-1, 1), [-1, -0.5, 0, 0.5, 1]), ((-2e150, 2e150), [-2e150, -1e150, 0, 1e150, 2e150]),
        ((0, 4e-20), [0, 1e-20, 2e-20, 3e-20, 4e-20]), ((-8, -3.5), [-8, -7, -6, -5, -4]),
    ],
)  # fmt: skip
def test_ticks_are_round_and_inside(ends, found):
    assert ticks(*ends) == pytest.approx(found)


@pytest.mark.parametrize(
    "values",
    [[0.0], [1.0, 1.0], [-3.0, 5.0], [1e300, -1e300], [1e-30, 2e-30], [0.97, 0.97 + 1e-16]],
)
def test_axes_are_wider_than_their_values(values):
    low, high = span(np.array(values))
    assert -np.inf < low < high < np.inf
    assert low < np.clip(min(values), -1e150, 1e150)
    assert 2 <= len(ticks(low, high)) <= 10


def test_marks_stay_inside_and_their_texts_are_escaped():
    chart = Chart((0, 1), (0, 1), 100, 100, 10)
    for value in (-5, 0.5, 1e200):
        chart.dot(value, value, "dot", '"><script>', '"><b>')
        assert 10 <= chart.px(value) <= 100
        assert 0 <= chart.py(value) <= 100
    chart.label_x([0.5], ["<i>"])
    made = figure("<u>", "<s>", chart.svg('"><em>'))
    assert not any(tag in made for tag in ("<script>", "<i>", "<u>", "<s>", "<em>", '"><b>'))
