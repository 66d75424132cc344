"""Normal distribution, for models and acquisition functions."""

import numpy as np
from scipy.special import erfcx

LOG_SQRT_2PI = 0.5 * np.log(2 * np.pi)


def slope_of_log_cdf(z: np.ndarray) -> np.ndarray:
    """Return phi(z) / Phi(z), the derivative of log Phi, of the shape of `z`.

    With ``erfcx`` no cancellation occurs when both are tiny: the relative error is below 1e-12 for
    any finite z, unless the ratio underflows to 0.
    """
    return np.sqrt(2 / np.pi) / erfcx(-z / np.sqrt(2))
