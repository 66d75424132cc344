"""Functions with known minima, for comparisons of optimizers.

==========  ===============================  ===================
symbol      meaning                          shape
==========  ===============================  ===================
``X``       points                           ``(n, n_dims)``
``x``       one coordinate of all points     ``(n,)``
``bounds``  lowest and highest coordinate    ``(n_dims, 2)``
``argmin``  all global minimisers            ``(m, n_dims)``
==========  ===============================  ===================

Definitions follow Jamil & Yang, https://doi.org/10.1504/IJMMNO.2013.055204, and
https://www.sfu.ca/~ssurjano/optimization.html; digits of minima without a closed form were
computed by Newton's method.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from numbers import Integral
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike


class Function(ABC):
    """A function on a box whose global minimum is known.

    Called with X of shape (n, n_dims) it returns the values, of shape (n,).

    Attributes
    ----------
    n_dims : int
        Number of coordinates.
    bounds : ndarray of shape (n_dims, 2)
        The box: lowest and highest value of each coordinate.
    minimum : float
        The lowest value in the box.
    argmin : ndarray of shape (m, n_dims)
        All points of the box with the lowest value.

    References
    ----------
    .. [1] M. Jamil, X.-S. Yang, "A literature survey of benchmark functions for global
       optimisation problems", International Journal of Mathematical Modelling and Numerical
       Optimisation 4(2):150-194, 2013. https://doi.org/10.1504/IJMMNO.2013.055204

    Examples
    --------
    >>> from sksearch.simulators import Branin
    >>> branin = Branin()
    >>> branin(branin.argmin).round(6).tolist(), round(branin.minimum, 6)
    ([0.397887, 0.397887, 0.397887], 0.397887)
    """

    n_dims: int
    bounds: np.ndarray
    minimum: float
    argmin: np.ndarray

    def __call__(self, X: ArrayLike) -> np.ndarray:
        """Return the values at X."""
        X = np.asarray(X, dtype=float)
        if X.ndim != 2 or X.shape[1] != self.n_dims:
            raise ValueError(
                f"X has shape {X.shape}: {self!r} expects (n, {self.n_dims}), a row for each "
                "point."
            )
        return self._values(np.ascontiguousarray(X))

    @abstractmethod
    def _values(self, X: np.ndarray) -> np.ndarray:
        """Return the values at points of the right shape, X in C order.

        NumPy's transcendental functions get contiguous arrays: they may round strided arrays
        differently, and then a point's value would depend on the other points.
        """


@dataclass(frozen=True)
class _CubeFunction(Function):
    """A function of any number of coordinates, with equal bounds and minimisers in all of them."""

    n_dims: int = 2

    _ends: ClassVar[tuple[float, float]]
    _minimiser: ClassVar[float] = 0.0
    _least_dims: ClassVar[int] = 1

    def __post_init__(self) -> None:
        if not isinstance(self.n_dims, Integral) or self.n_dims < self._least_dims:
            raise ValueError(
                f"n_dims={self.n_dims!r} must be an integer of at least {self._least_dims} in "
                f"{type(self).__name__}."
            )

    @property
    def bounds(self) -> np.ndarray:
        return np.tile(self._ends, (self.n_dims, 1))

    @property
    def minimum(self) -> float:
        return 0.0

    @property
    def argmin(self) -> np.ndarray:
        return np.full((1, self.n_dims), self._minimiser)


@dataclass(frozen=True)
class Branin(Function):
    """A smooth valley with three global minima.

    Notes
    -----
    ``(x1 - b x0^2 + c x0 - 6)^2 + 10 (1 - t) cos(x0) + 10`` with b = 5.1 / (4 pi^2), c = 5 / pi
    and t = 1 / (8 pi), on [-5, 10] x [0, 15]; its minimum is 10 t = 0.397887.

    Examples
    --------
    >>> from sksearch.simulators import Branin
    >>> Branin()([[9.42478, 2.475], [0.0, 0.0]]).round(4).tolist()
    [0.3979, 55.6021]
    """

    n_dims = 2
    bounds = np.array([[-5.0, 10.0], [0.0, 15.0]])
    minimum = 10 / (8 * np.pi)
    argmin = np.array([[-np.pi, 12.275], [np.pi, 2.275], [3 * np.pi, 2.475]])

    def _values(self, X: np.ndarray) -> np.ndarray:
        x0, x1 = np.ascontiguousarray(X.T)
        valley = x1 - 5.1 / (4 * np.pi**2) * x0**2 + 5 / np.pi * x0 - 6
        return valley**2 + 10 * (1 - 1 / (8 * np.pi)) * np.cos(x0) + 10


@dataclass(frozen=True)
class Rastrigin(_CubeFunction):
    """A bowl full of regular dents.

    Parameters
    ----------
    n_dims : int, default=2
        Number of coordinates, each in [-5.12, 5.12].

    Notes
    -----
    ``10 d + sum(x_i^2 - 10 cos(2 pi x_i))``; 0 at 0.

    Examples
    --------
    >>> from sksearch.simulators._functions import Rastrigin
    >>> Rastrigin(n_dims=3)([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]]).tolist()
    [0.0, 3.0]
    """

    _ends = (-5.12, 5.12)

    def _values(self, X: np.ndarray) -> np.ndarray:
        return (X**2 + 10 * (1 - np.cos(2 * np.pi * X))).sum(axis=1)


@dataclass(frozen=True)
class DropWave(Function):
    """Rings around a narrow hole.

    Notes
    -----
    ``-(1 + cos(12 r)) / (r^2 / 2 + 2)`` with r the distance from 0, on [-5.12, 5.12]^2; -1 at 0.

    Examples
    --------
    >>> from sksearch.simulators._functions import DropWave
    >>> DropWave()([[0.0, 0.0]]).tolist()
    [-1.0]
    """

    n_dims = 2
    bounds = np.array([[-5.12, 5.12], [-5.12, 5.12]])
    minimum = -1.0
    argmin = np.zeros((1, 2))

    def _values(self, X: np.ndarray) -> np.ndarray:
        squared = (X**2).sum(axis=1)
        return -(1 + np.cos(12 * np.sqrt(squared))) / (squared / 2 + 2)


@dataclass(frozen=True)
class Hartmann3(Function):
    """Four Gaussian wells in three dimensions.

    Notes
    -----
    ``-sum_i a_i exp(-sum_j A_ij (x_j - P_ij)^2)`` on [0, 1]^3; -3.86278 at (.11, .56, .85).

    Examples
    --------
    >>> from sksearch.simulators._functions import Hartmann3
    >>> Hartmann3()([[0.114614, 0.555649, 0.852547]]).round(5).tolist()
    [-3.86278]
    """

    n_dims = 3
    bounds = np.tile([0.0, 1.0], (3, 1))
    minimum = -3.8627797873327
    argmin = np.array([[0.11458889, 0.55564889, 0.85254698]])

    def _values(self, X: np.ndarray) -> np.ndarray:
        return _hartmann(X, _A3, _P3)


@dataclass(frozen=True)
class Hartmann6(Function):
    """Four Gaussian wells in six dimensions.

    Notes
    -----
    ``-sum_i a_i exp(-sum_j A_ij (x_j - P_ij)^2)`` on [0, 1]^6; -3.32237 at
    (.20, .15, .48, .28, .31, .66).

    Examples
    --------
    >>> from sksearch.simulators._functions import Hartmann6
    >>> Hartmann6()([[0.20169, 0.150011, 0.476874, 0.275332, 0.311652, 0.6573]]).round(5).tolist()
    [-3.32237]
    """

    n_dims = 6
    bounds = np.tile([0.0, 1.0], (6, 1))
    minimum = -3.3223680114155
    argmin = np.array([[0.20168951, 0.15001069, 0.47687397, 0.27533243, 0.31165162, 0.65730053]])

    def _values(self, X: np.ndarray) -> np.ndarray:
        return _hartmann(X, _A6, _P6)


_DEPTHS = np.array([1.0, 1.2, 3.0, 3.2])
_A3 = np.array([[3.0, 10, 30], [0.1, 10, 35], [3, 10, 30], [0.1, 10, 35]])
_P3 = 1e-4 * np.array(
    [[3689, 1170, 2673], [4699, 4387, 7470], [1091, 8732, 5547], [381, 5743, 8828]]
)
_A6 = np.array(
    [
        [10, 3, 17, 3.5, 1.7, 8],
        [0.05, 10, 17, 0.1, 8, 14],
        [3, 3.5, 1.7, 10, 17, 8],
        [17, 8, 0.05, 10, 0.1, 14],
    ]
)
_P6 = 1e-4 * np.array(
    [
        [1312, 1696, 5569, 124, 8283, 5886],
        [2329, 4135, 8307, 3736, 1004, 9991],
        [2348, 1451, 3522, 2883, 3047, 6650],
        [4047, 8828, 8732, 5743, 1091, 381],
    ]
)


def _hartmann(X: np.ndarray, A: np.ndarray, P: np.ndarray) -> np.ndarray:
    squared = (A * (X[:, None, :] - P) ** 2).sum(axis=2)
    return -(_DEPTHS * np.exp(-squared)).sum(axis=1)


@dataclass(frozen=True)
class Ackley(_CubeFunction):
    """A nearly flat plain full of dents, with a deep hole.

    Parameters
    ----------
    n_dims : int, default=2
        Number of coordinates, each in [-32.768, 32.768].

    Notes
    -----
    ``20 (1 - exp(-r / 5)) + e - exp(mean(cos(2 pi x_i)))`` with r the root of the mean of x_i^2;
    0 at 0.

    Examples
    --------
    >>> from sksearch.simulators._functions import Ackley
    >>> Ackley(n_dims=4)([[0.0, 0.0, 0.0, 0.0]]).tolist()
    [0.0]
    """

    _ends = (-32.768, 32.768)

    def _values(self, X: np.ndarray) -> np.ndarray:
        hole = -20 * np.expm1(-np.sqrt((X**2).mean(axis=1)) / 5)
        return hole + np.exp(1.0) - np.exp(np.cos(2 * np.pi * X).mean(axis=1))


@dataclass(frozen=True)
class Levy(_CubeFunction):
    """Waves across a bowl, steeper in the first coordinates than in the last.

    Parameters
    ----------
    n_dims : int, default=2
        Number of coordinates, each in [-10, 10].

    Notes
    -----
    With w_i = 1 + (x_i - 1) / 4: ``sin(pi w_1)^2 + sum_{i<d} (w_i - 1)^2 (1 + 10 sin(pi w_i +
    1)^2) + (w_d - 1)^2 (1 + sin(2 pi w_d)^2)``; 0 if all x_i are 1.

    Examples
    --------
    >>> from sksearch.simulators._functions import Levy
    >>> Levy()([[1.0, 1.0]]).round(12).tolist()
    [0.0]
    """

    _ends = (-10.0, 10.0)
    _minimiser = 1.0

    def _values(self, X: np.ndarray) -> np.ndarray:
        w = 1 + (X - 1) / 4
        bowl = (w - 1) ** 2
        waves = 1 + 10 * np.sin(np.pi * w[:, :-1] + 1) ** 2
        last = bowl[:, -1] * (1 + np.sin(2 * np.pi * w[:, -1]) ** 2)
        return np.sin(np.pi * w[:, 0]) ** 2 + (bowl[:, :-1] * waves).sum(axis=1) + last


@dataclass(frozen=True)
class Rosenbrock(_CubeFunction):
    """A long bent valley, easy to find and hard to follow.

    Parameters
    ----------
    n_dims : int, default=2
        Number of coordinates, each in [-5, 10]; at least 2.

    Notes
    -----
    ``sum_{i<d} 100 (x_{i+1} - x_i^2)^2 + (1 - x_i)^2``; 0 if all x_i are 1.

    Examples
    --------
    >>> from sksearch.simulators._functions import Rosenbrock
    >>> Rosenbrock(n_dims=3)([[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]]).tolist()
    [0.0, 2.0]
    """

    _ends = (-5.0, 10.0)
    _minimiser = 1.0
    _least_dims = 2

    def _values(self, X: np.ndarray) -> np.ndarray:
        x, following = X[:, :-1], X[:, 1:]
        return (100 * (following - x**2) ** 2 + (1 - x) ** 2).sum(axis=1)


@dataclass(frozen=True)
class StyblinskiTang(_CubeFunction):
    """Two wells in each coordinate, one a little deeper.

    Parameters
    ----------
    n_dims : int, default=2
        Number of coordinates, each in [-5, 5].

    Notes
    -----
    ``sum(x_i^4 - 16 x_i^2 + 5 x_i) / 2``; -39.16617 d if all x_i are -2.903534.

    Examples
    --------
    >>> from sksearch.simulators._functions import StyblinskiTang
    >>> StyblinskiTang()([[-2.903534, -2.903534]]).round(4).tolist()
    [-78.3323]
    """

    _ends = (-5.0, 5.0)
    _minimiser = -2.903534027771177

    @property
    def minimum(self) -> float:
        return -39.16616570377142 * self.n_dims

    def _values(self, X: np.ndarray) -> np.ndarray:
        return (X**4 - 16 * X**2 + 5 * X).sum(axis=1) / 2


@dataclass(frozen=True)
class SixHumpCamel(Function):
    """Six wells, the two deepest ones opposite to each other.

    Notes
    -----
    ``(4 - 2.1 x0^2 + x0^4 / 3) x0^2 + x0 x1 + (4 x1^2 - 4) x1^2`` on [-3, 3] x [-2, 2]; -1.0316 at
    (.0898, -.7127) and (-.0898, .7127).

    Examples
    --------
    >>> from sksearch.simulators._functions import SixHumpCamel
    >>> SixHumpCamel()([[0.0898, -0.7127], [0.0, 0.0]]).round(4).tolist()
    [-1.0316, 0.0]
    """

    n_dims = 2
    bounds = np.array([[-3.0, 3.0], [-2.0, 2.0]])
    minimum = -1.0316284534898774
    argmin = np.array(
        [[0.08984201310031, -0.71265640302074], [-0.08984201310031, 0.71265640302074]]
    )

    def _values(self, X: np.ndarray) -> np.ndarray:
        x0, x1 = np.ascontiguousarray(X.T)
        return (4 - 2.1 * x0**2 + x0**4 / 3) * x0**2 + x0 * x1 + (4 * x1**2 - 4) * x1**2


@dataclass(frozen=True)
class EggHolder(Function):
    """Many deep wells, the deepest at the edge of the box.

    Notes
    -----
    ``-(x1 + 47) sin(sqrt|x0 / 2 + x1 + 47|) - x0 sin(sqrt|x0 - x1 - 47|)`` on [-512, 512]^2;
    -959.6407 at (512, 404.2319).

    Examples
    --------
    >>> from sksearch.simulators._functions import EggHolder
    >>> EggHolder()([[512.0, 404.2319]]).round(4).tolist()
    [-959.6407]
    """

    n_dims = 2
    bounds = np.array([[-512.0, 512.0], [-512.0, 512.0]])
    minimum = -959.6406627208508
    argmin = np.array([[512.0, 404.2318051137578]])

    def _values(self, X: np.ndarray) -> np.ndarray:
        x0, x1 = np.ascontiguousarray(X.T)
        y = x1 + 47
        return -y * np.sin(np.sqrt(abs(x0 / 2 + y))) - x0 * np.sin(np.sqrt(abs(x0 - y)))


#: Test functions by name.
FUNCTIONS = {
    function.__name__: function
    for function in (
        *(Ackley, Branin, DropWave, EggHolder, Hartmann3, Hartmann6, Levy),
        *(Rastrigin, Rosenbrock, SixHumpCamel, StyblinskiTang),
    )
}
