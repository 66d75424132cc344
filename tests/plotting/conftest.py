"""No window is opened, and no figure is left open."""

import matplotlib
import pytest


@pytest.fixture(autouse=True)
def drawn_off_screen():
    import matplotlib.pyplot as plt

    backend = matplotlib.get_backend()
    plt.switch_backend("Agg")
    yield
    plt.close("all")
    plt.switch_backend(backend)
