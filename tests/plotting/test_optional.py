"""Matplotlib is wanted when something is drawn, and not before."""

import subprocess
import sys

import numpy as np
import pytest

from sksearch.plotting import CriticalDifferenceDisplay, DensityDisplay, ProfileDisplay


@pytest.mark.slow
def test_importing_needs_no_matplotlib():
    code = "import sys, sksearch.plotting, sksearch.stats; sys.exit('matplotlib' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    "draw",
    [
        lambda: ProfileDisplay.from_curves(np.eye(3)),
        lambda: DensityDisplay.from_values([1, 2, 3]),
        lambda: CriticalDifferenceDisplay.from_ranks([[1, 2], [1, 2]], "ab"),
    ],
)
def test_without_matplotlib_the_error_names_the_package_to_install(draw, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r'Display draws .* pip install "\.\[plot\]"'):
        draw()
