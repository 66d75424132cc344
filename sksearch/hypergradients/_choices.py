"""Discrete choices by gradients: choices are drawn, and their probabilities are tuned.

==========  ==========================================================================
theta       logits, shape (n_choices, n_options); -inf if a choice has fewer options
z           choices: one-hot rows, or points between them
f           loss of z
tau         temperature: distance of a relaxed choice from a drawn one
==========  ==========================================================================

The mean of f over choices drawn with probabilities softmax(theta) has its minimum where f does
[1]_, but is a smooth function of theta. A draw is the largest of theta + G, where G is Gumbel
noise. If it is replaced by softmax((theta + G) / tau), f is differentiable along the draw [2]_,
[3]_.
"""

from collections.abc import Callable

import numpy as np
from scipy.special import softmax
from sklearn.utils import check_random_state

Loss = Callable[[np.ndarray], tuple[float, np.ndarray]]


def relaxed_choices(
    function: Loss,
    theta: np.ndarray,
    n_draws: int = 16,
    temperature: float = 0.5,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[float, np.ndarray]:
    """Return the mean loss over relaxed draws, and its gradient with respect to the logits.

    With an integer as `random_state`, the draws are the same in each call. The mean is then a
    smooth function, which `scipy.optimize.minimize` can minimise with ``jac=True``.

    Parameters
    ----------
    function : callable
        ``function(z) -> (loss, gradient)``, in which `z` and `gradient` are ndarrays of shape
        (n_choices, n_options). The rows of `z` sum to 1. The gradient may be a hypergradient, such
        as the result of `implicit`.
    theta : ndarray of shape (n_choices, n_options)
        Logits, which are ``-inf`` for the missing options of choices with fewer options.
    n_draws : int, default=16
        Number of draws.
    temperature : float, default=0.5
        Temperature of the relaxation. Near 0 the draws are almost discrete, and the gradient is
        very noisy.
    random_state : int, RandomState or None, default=None
        Source of the draws.

    Returns
    -------
    loss : float
        Mean over the draws.
    gradient : ndarray of shape (n_choices, n_options)
        Exact gradient of this mean with respect to `theta`.

    Raises
    ------
    ValueError
        If `theta` is not two-dimensional, or a number is out of its range.

    See Also
    --------
    implicit : Gradients with respect to numeric hyperparameters.

    References
    ----------
    .. [1] L. Franceschi, M. Niepert, M. Pontil, X. He, "Learning discrete structures for graph
       neural networks", ICML 2019. https://arxiv.org/abs/1903.11960
    .. [2] E. Jang, S. Gu, B. Poole, "Categorical reparameterization with Gumbel-softmax", ICLR
       2017. https://arxiv.org/abs/1611.01144
    .. [3] C. Maddison, A. Mnih, Y. W. Teh, "The concrete distribution: a continuous relaxation of
       discrete random variables", ICLR 2017. https://arxiv.org/abs/1611.00712

    Examples
    --------
    Find the number nearest to 2 among three, for each of two choices:

    >>> import numpy as np
    >>> from scipy.optimize import minimize
    >>> from sksearch.hypergradients import relaxed_choices
    >>> options = np.array([0.0, 2.5, 7.0])
    >>> def distance(z):
    ...     gap = z @ options - 2
    ...     return float(gap @ gap), 2 * gap[:, np.newaxis] * options
    >>> def mean(theta):
    ...     loss, slope = relaxed_choices(distance, theta.reshape(2, 3), random_state=0)
    ...     return loss, slope.ravel()
    >>> found = minimize(mean, np.zeros(6), jac=True, bounds=[(-4, 4)] * 6).x
    >>> found.reshape(2, 3).argmax(axis=1)
    array([1, 1])
    """
    theta = np.asarray(theta, dtype=float)
    if theta.ndim != 2 or n_draws < 1 or not temperature > 0:
        raise ValueError(
            f"theta has shape {theta.shape}, expected (n_choices, n_options); n_draws={n_draws} "
            f"must be at least 1, and temperature={temperature} positive."
        )
    rng = check_random_state(random_state)
    loss, gradient = 0.0, np.zeros_like(theta)
    for noise in rng.gumbel(size=(n_draws, *theta.shape)):
        z = softmax((theta + noise) / temperature, axis=1)
        value, slope = function(z)
        loss += value / n_draws
        along = (slope * z).sum(axis=1, keepdims=True)
        gradient += z * (slope - along) / (temperature * n_draws)
    return loss, gradient
