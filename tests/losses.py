"""Functions that tests minimize, their space, and what is compared of two results."""

from dataclasses import replace

from scipy.stats import uniform

SPACE = {"x": uniform(-1, 2), "y": uniform(-1, 2)}


def bowl(params):
    return (params["x"] - 0.3) ** 2 + (params["y"] + 0.2) ** 2


def curve(params, n_resources):
    return bowl(params) + 1 / n_resources


def measured(params):
    return {"loss": bowl(params), "memory": abs(params["x"])}


def two(params):
    return params["x"] ** 2, (params["x"] - 1) ** 2 + params["y"] ** 2


def trials(result):
    """All that a search has found, but for times."""
    return [
        (t.params, [(r, repr(replace(found, cost=0.0))) for r, found in t.results.items()])
        for t in result.history.trials
    ]
