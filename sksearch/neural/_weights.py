"""Weights of rows and of classes, checked."""

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array


def checked_weights(sample_weight: Any, y: np.ndarray) -> np.ndarray:
    """Return one weight for each label."""
    if isinstance(sample_weight, Real):
        sample_weight = np.full(len(y), sample_weight)
    weights = check_array(
        sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight"
    )
    if weights.shape != (len(y),):
        raise ValueError(
            f"sample_weight has shape {weights.shape}, but y has {len(y)} labels: pass one weight "
            "for each."
        )
    if (weights < 0).any():
        raise ValueError(
            f"sample_weight contains the negative weight {weights.min():g}: pass weights of at "
            "least 0."
        )
    if not weights.any():
        raise ValueError(
            "sample_weight is zero everywhere: leave it out, or pass some positive weights."
        )
    return weights


def check_class_weight(factors: dict, classes: np.ndarray) -> None:
    """Raise ValueError for weights of missing labels, and for negative weights."""
    unknown = [label for label in factors if label not in classes.tolist()]
    if unknown:
        raise ValueError(
            f"class_weight has the labels {unknown}, but the classes are {classes.tolist()}: use "
            "these as keys."
        )
    for label, factor in factors.items():
        if not (isinstance(factor, Real) and 0 <= float(factor) < np.inf):
            raise ValueError(
                f"class_weight[{label!r}]={factor!r} must be a finite number of at least 0."
            )
