"""Effects of one and of two parameters: average prediction of a model over the others."""

from dataclasses import dataclass

import numpy as np

from sksearch.stats._candidates import Candidates
from sksearch.stats._importance import Model, pull_in

N_POINTS = 24  # points of the grid of a number
N_PLANE = 40  # points on each side of the grid of two numbers
N_OTHERS = 200  # draws averaged over
N_MODELS = 10  # models of bootstrap samples, whose spread is drawn


@dataclass(frozen=True)
class Effect:
    """Predicted scores over the values of one parameter.

    Parameters
    ----------
    places : ndarray of shape (n_points,)
        Values, placed between 0 and 1.
    mean, low, high : ndarray of shape (n_points,)
        Mean over models of bootstrap samples, and the second lowest and second highest of ten.
    """

    places: np.ndarray
    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray


class Effects:
    """Models of the scores of candidates, averaged over draws from the space.

    Parameters
    ----------
    candidates : Candidates
        The candidates.
    """

    def __init__(self, candidates: Candidates):
        rng = np.random.default_rng(0)
        self.axes = list(candidates.axes.values())
        U, y = candidates.encode(candidates.params), pull_in(candidates.scores)
        self.draws = candidates.draw(rng)
        samples = [rng.integers(len(y), size=len(y)) for _ in range(N_MODELS)]
        self.models = [Model(self.axes).fit(U[rows], y[rows], rng) for rows in samples]

    def of(self, name: str) -> Effect:
        """Return the effect of a parameter among the candidates with it.

        Numbers are set in draws from the space. The effect of a choice includes the parameters
        that depend on it, so it is the mean over the draws with this choice.
        """
        j = self._index(name)
        active = self.draws[~np.isnan(self.draws[:, j])]
        if self.axes[j].choices:
            places, which = np.unique(active[:, j], return_inverse=True)
            f = np.array([model.predict(active) for model in self.models])
            sizes = np.bincount(which)
            values = np.array([np.bincount(which, row) / sizes for row in f])
        else:
            places, others = np.linspace(0, 1, N_POINTS), active[:N_OTHERS]
            points = np.repeat(others[np.newaxis], len(places), axis=0)
            points[:, :, j] = places[:, np.newaxis]
            values = self._average(points)
        low, high = np.quantile(values, [0.1, 0.9], axis=0)
        return Effect(places, values.mean(axis=0), low, high)

    def plane(self, x: str, y: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the grids of two parameters and the mean prediction, shape (n_y, n_x).

        It is NaN if no candidate can have both values.
        """
        i, j = self._index(x), self._index(y)
        active = self.draws[~np.isnan(self.draws[:, [i, j]]).any(axis=1)]
        if not len(active):
            raise ValueError(
                f"{x!r} and {y!r} are never active together: pass two parameters that are."
            )
        across, up = np.meshgrid(self._grid(i), self._grid(j))
        values = np.full(across.shape, np.nan)
        choices = [k for k in (i, j) if self.axes[k].choices]
        kinds, which = np.unique(active[:, choices], axis=0, return_inverse=True)
        for kind, row in enumerate(kinds):
            others = active[which.ravel() == kind][:N_OTHERS]
            at = np.ones(across.shape, dtype=bool)
            for k, place in zip(choices, row, strict=True):
                at &= np.isclose(across if k == i else up, place)
            points = np.repeat(others[np.newaxis], at.sum(), axis=0)
            points[:, :, i], points[:, :, j] = across[at][:, np.newaxis], up[at][:, np.newaxis]
            values[at] = self._average(points, self.models[:4]).mean(axis=0)
        return across[0], up[:, 0], values

    def _grid(self, j: int) -> np.ndarray:
        return np.linspace(0, 1, len(self.axes[j].choices) or N_PLANE)

    def _average(self, points: np.ndarray, models: list[Model] | None = None) -> np.ndarray:
        """Mean predictions over the others, shape (n_models, n_points)."""
        n, m, d = points.shape
        flat = points.reshape(n * m, d)
        return np.array(
            [model.predict(flat).reshape(n, m).mean(axis=1) for model in models or self.models]
        )

    def _index(self, name: str) -> int:
        names = [axis.name for axis in self.axes]
        if name not in names:
            raise ValueError(
                f"{name!r} is not a parameter with two values: the parameters with two values are "
                f"{names}."
            )
        return names.index(name)
