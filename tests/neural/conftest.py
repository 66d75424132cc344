"""Images for the tests of nets, and nets that train in a blink."""

import numpy as np
import pytest

NAMES = ["blocks", "residual", "tricks", "three layers", "layers", "pixels"]


def tiny_nets():
    """A maker of each of `NAMES`; PyTorch is imported here, since it may not be installed."""
    from sksearch.neural import (
        BlockConvNetClassifier,
        ConvNetClassifier,
        CudaConvNetClassifier,
        LayeredConvNetClassifier,
        PixelLogisticClassifier,
    )

    return {
        "blocks": lambda: BlockConvNetClassifier(
            n_blocks=2, n_filters=4, separable=True, head=(8,)
        ),
        "residual": lambda: ConvNetClassifier(n_filters=4, n_stages=2),
        "tricks": lambda: ConvNetClassifier(
            n_filters=4,
            n_stages=2,
            dropout=0.2,
            label_smoothing=0.1,
            flip=True,
            shift=1,
            cutout=3,
            ema_decay=0.9,
            schedule="cosine",
            horizon=4,
        ),
        "three layers": lambda: CudaConvNetClassifier(n_filters_1=4, n_filters_2=4, n_filters_3=4),
        "layers": lambda: LayeredConvNetClassifier(
            n_filters_1=4,
            n_filters_2=4,
            filter_size_1=4,
            dropout_2=0.3,
            batch_norm_1=False,
            schedule="one_cycle",
            horizon=4,
        ),
        "pixels": PixelLogisticClassifier,
    }


def two_kinds(n, side=8, seed=0):
    """Bytes of noise that is brighter in its upper or lower half, and which of both."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    X = rng.integers(120, size=(n, side, side))
    X[y == 0, : side // 2] += 100
    X[y == 1, side // 2 :] += 100
    return X.astype(np.uint8), np.array(["top", "bottom"])[y]


@pytest.fixture(scope="session")
def images():
    return two_kinds(200)


@pytest.fixture(params=NAMES, scope="session")
def make(request):
    """Makes one of the tiny nets, with settings for the CPU."""

    def make(**params):
        net = tiny_nets()[request.param]().set_params(max_epochs=2, batch_size=50, random_state=0)
        return net.set_params(**{"device": "cpu"} | params)

    return make
