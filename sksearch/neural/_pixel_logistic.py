"""Logistic regression on pixels."""

from dataclasses import dataclass
from typing import Any

from scipy.stats import loguniform, uniform

from sksearch.neural._base import ImageClassifier, documented
from sksearch.neural._nets import last_layer
from sksearch.neural._torch import nn
from sksearch.space import LogRandInt


def pixel_logistic_body(channels: int, height: int, width: int, n_classes: int) -> nn.Module:
    """Build one layer from pixels to classes."""
    return nn.Sequential(nn.Flatten(), last_layer(channels * height * width, n_classes))


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class PixelLogisticClassifier(ImageClassifier):
    """Logistic regression on pixels, by gradient descent with momentum.

    This is the smallest net, with four parameters that affect its learning curves. It accepts any
    numeric rows, not only images.

    Parameters
    ----------
    {common}

    Attributes
    ----------
    {attributes}
    ConvNetClassifier : A net for practical use.

    References
    ----------
    .. [1] C. Matache, "Efficient design of machine learning hyperparameter optimizers",
       Imperial College London, 2019, section 8.2.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sksearch.neural import PixelLogisticClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> classifier = PixelLogisticClassifier(max_epochs=5, device="cpu", random_state=0)
    >>> bool(classifier.fit(X[:1500], y[:1500]).score(X[1500:], y[1500:]) > 0.85)
    True
    """

    batch_size: int = 100
    learning_rate: float = 0.01
    _flat_rows = True
    _body = staticmethod(pixel_logistic_body)

    @staticmethod
    def space() -> dict[str, Any]:
        """Return the search space of `PixelLogisticClassifier`: rate, decay, momentum, batch size.

        Returns
        -------
        space : dict
            Distribution of each parameter, to edit as needed.

        Examples
        --------
        >>> from sksearch.neural import PixelLogisticClassifier
        >>> sorted(PixelLogisticClassifier.space())[:3]
        ['batch_size', 'learning_rate', 'momentum']
        """
        return {
            "learning_rate": loguniform(1e-6, 1),
            "weight_decay": loguniform(1e-6, 1e-1),
            "momentum": uniform(0.3, 0.699),  # 0.3 to 0.999
            "batch_size": LogRandInt(20, 2001),
        }
