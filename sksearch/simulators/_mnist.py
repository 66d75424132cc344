"""The recorded curves included in the package."""

import json
from importlib.resources import files

import numpy as np

from sksearch.simulators._nearest import NearestCurves
from sksearch.simulators._tables import space_of

LOSSES = ("error", "log_loss")


def load_mnist_curves(loss: str = "error") -> NearestCurves:
    """Load loss curves of logistic regression on MNIST, trained by stochastic gradient descent.

    The data are 1,024 fits of 81 epochs on 10,000 images, with different learning rates (1e-6 to
    1, logarithmic), weight decays (1e-6 to 0.1, logarithmic), momenta (0.3 to 0.999) and batch
    sizes (20 to 2,000). The losses are measured on 5,000 other images.

    Parameters
    ----------
    loss : {"error", "log_loss"}, default="error"
        Loss of the curves: share of wrong predictions, or cross-entropy in nats.

    Returns
    -------
    problem : NearestCurves
        Problem with these curves and the four parameters ``learning_rate``, ``weight_decay``,
        ``momentum`` and ``batch_size``.

    Raises
    ------
    ValueError
        If `loss` is neither "error" nor "log_loss".

    Notes
    -----
    The experiment follows [1]_, and the curves were recorded by ``examples/make_mnist_curves.py``.
    The first 512 candidates are a scrambled Sobol sequence, and the others were proposed by TPE,
    so that good regions contain many curves. No fit diverged. The root mean square error between a
    curve and its nearest neighbour has a median of 0.013 and a mean of 0.041; see
    `NearestCurves.approximation_error`.

    References
    ----------
    .. [1] C. Matache, "Efficient design of machine learning hyperparameter optimizers", 2019,
       chapters 8 and 9.5.

    Examples
    --------
    >>> from sksearch.simulators import load_mnist_curves
    >>> problem = load_mnist_curves()
    >>> problem.curves.shape
    (1024, 81)
    """
    if loss not in LOSSES:
        raise ValueError(f"loss={loss!r} must be one of {', '.join(LOSSES)}.")
    path = files("sksearch.simulators") / "data" / "mnist_sgd.npz"
    with path.open("rb") as file, np.load(file) as arrays:
        space = space_of(json.loads(str(arrays["meta"]))["space"])
        return NearestCurves.from_arrays(space, arrays["X"], arrays[loss])
