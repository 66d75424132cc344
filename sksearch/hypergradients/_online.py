"""A learning rate that is tuned while it trains, by the gradient of the validation loss."""

from collections.abc import Sequence

import numpy as np

from sksearch.hypergradients._differentiate import BilevelProblem, Rows

MEMORY = 0.99  # share of earlier slopes in what a slope is measured by


def online_rate(
    problem: BilevelProblem,
    theta: np.ndarray,
    w: np.ndarray,
    batches: Sequence[Rows],
    learning_rate: float,
    decay: float = 0.99,
    step: float = 0.01,
) -> tuple[float, np.ndarray, np.ndarray]:
    """Train once, and let the learning rate follow its hypergradient on the way.

    After each step the derivative of the validation loss by the rate of the latest steps, counted
    the less the longer ago they are, moves the logarithm of the rate [1]_.

    Parameters
    ----------
    problem : BilevelProblem
        Training and validation loss.
    theta : ndarray of shape (n_hyper,)
        Hyperparameters, which stay.
    w : ndarray of shape (n_weights,)
        Weights that training begins with.
    batches : sequence of (ndarray or None)
        Rows of each step, None for all rows.
    learning_rate : float
        Size of the first step.
    decay : float, default=0.99
        What a step counts for less with each later one: 0 looks at the last step alone, 1 at all.
    step : float, default=0.01
        How far the logarithm of the rate moves for a slope of the usual size; 0 leaves it.

    Returns
    -------
    loss : float
        Validation loss after the last step.
    w : ndarray of shape (n_weights,)
        The weights then.
    rates : ndarray of shape (n_steps,)
        The rate of each step: a schedule for another training.

    Raises
    ------
    ValueError
        If a number is out of its range, or training diverges.

    References
    ----------
    .. [1] M. Donini, L. Franceschi, O. Majumder, M. Pontil, P. Frasconi, "MARTHE: scheduling the
       learning rate via online hypergradients", IJCAI 2020. https://arxiv.org/abs/1910.08525

    Examples
    --------
    >>> import numpy as np
    >>> from sksearch.hypergradients import LinearProblem, online_rate
    >>> X = np.random.default_rng(0).standard_normal((60, 3))
    >>> problem = LinearProblem(X[:30], X[:30, 0], X[30:], X[30:, 0])
    >>> theta = np.full(3, -9.0)  # hardly any penalty
    >>> loss, w, rates = online_rate(problem, theta, np.zeros(3), [None] * 50, 1e-3)
    >>> bool(rates[-1] > 2e-3)  # that was too slow
    True
    """
    if not learning_rate > 0 or not 0 <= decay <= 1 or step < 0:
        raise ValueError(
            f"learning_rate={learning_rate} must be positive, decay={decay} from 0 to 1, and "
            f"step={step} at least 0."
        )
    rate, size, weight = float(learning_rate), 0.0, 0.0
    by_rate = np.zeros_like(w)  # derivative of the weights
    rates = np.empty(len(batches))
    loss = problem.validation(w, theta)[0]
    for t, rows in enumerate(batches):
        slope = problem.gradient(w, theta, rows)
        carried = by_rate - rate * problem.hessian_product(w, theta, by_rate, rows)
        by_rate = decay * carried - slope
        w, rates[t] = w - rate * slope, rate
        loss, by_w, _ = problem.validation(w, theta)
        if not np.isfinite(loss):
            raise ValueError(f"Training diverged at step {t}: begin with a smaller learning_rate.")
        by_log = rate * float(by_w @ by_rate)
        size, weight = MEMORY * size + (1 - MEMORY) * by_log**2, MEMORY * weight + 1 - MEMORY
        if size > 0:
            rate *= np.exp(-step * by_log / np.sqrt(size / weight))
    return loss, w, rates
