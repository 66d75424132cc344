"""A learning rate tuned during training, by the gradient of the validation loss."""

from collections.abc import Sequence

import numpy as np

from sksearch.hypergradients._differentiate import BilevelProblem, Rows

MEMORY = 0.99  # share of earlier slopes in the scale of a slope


def online_rate(
    problem: BilevelProblem,
    theta: np.ndarray,
    w: np.ndarray,
    batches: Sequence[Rows],
    learning_rate: float,
    decay: float = 0.99,
    step: float = 0.01,
) -> tuple[float, np.ndarray, np.ndarray]:
    """Train once, and adapt the learning rate during training by its hypergradient.

    After each step, the logarithm of the rate is updated by the derivative of the validation loss
    with respect to the rates of the latest steps, weighted by age [1]_.

    Parameters
    ----------
    problem : BilevelProblem
        Training and validation loss.
    theta : ndarray of shape (n_hyper,)
        Hyperparameters, kept constant.
    w : ndarray of shape (n_weights,)
        Initial weights of training.
    batches : sequence of (ndarray or None)
        Rows of each step, None for all rows.
    learning_rate : float
        Learning rate of the first step.
    decay : float, default=0.99
        Weight of a step relative to the next step: 0 uses only the last step, 1 all steps equally.
    step : float, default=0.01
        Change of the logarithm of the rate for a derivative of typical size; 0 keeps the rate
        constant.

    Returns
    -------
    loss : float
        Validation loss after the last step.
    w : ndarray of shape (n_weights,)
        Weights after the last step.
    rates : ndarray of shape (n_steps,)
        Learning rate of each step, usable as a schedule for other fits.

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
            f"learning_rate={learning_rate} must be positive, decay={decay} between 0 and 1, and "
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
            raise ValueError(f"Training diverged at step {t}: start with a smaller learning_rate.")
        by_log = rate * float(by_w @ by_rate)
        size, weight = MEMORY * size + (1 - MEMORY) * by_log**2, MEMORY * weight + 1 - MEMORY
        if size > 0:
            rate *= np.exp(-step * by_log / np.sqrt(size / weight))
    return loss, w, rates
