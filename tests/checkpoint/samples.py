"""What searches write."""

import json
import math

import numpy as np

HEADER = {"class": "HyperbandSearchCV", "seed": 7, "parts": {"space": {"sha": "é", "text": "C"}}}
SPLITS = [(np.arange(3), np.array([3])), (np.arange(1, 4), np.array([0]))]


def records(n):
    """What a search of `n` trials writes, with all that is hard for JSON."""
    out = []
    for trial in range(n):
        out.append({"k": "ask", "t": trial, "r": 1, "b": 0, "p": {"C": 0.1 * trial, "$x": "ö"}})
        score = [0.1 + 0.2, math.nan, -math.inf][trial % 3]
        result = {"test_scores": {"score": score}, "fit_time": 1e-7, "error": None}
        out.append({"k": "tell", "t": trial, "r": 1, "o": [result]})
    return out


def text(record):
    """A record so that equal text is an equal record: NaN is unequal to itself."""
    return json.dumps(record)
