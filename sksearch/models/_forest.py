"""Forest of extremely randomised trees, with a variance.

==========  ======================================================================
U, y        points (n, d) in the unit cube, nan where inactive, and values (n,)
t, T        a tree and the number of trees
m_t(u)      mean of the values in the leaf of tree t that contains u
v_t(u)      their variance
D(u)        distance to the nearest point: the root of the mean square over coordinates
==========  ======================================================================
"""

from typing import Any, Self

import numpy as np
import sklearn
from scipy.spatial.distance import cdist

MAX_FEATURES = 5 / 6  # share of the coordinates considered for each split
INACTIVE = -1.0  # outside the cube, so that one split separates inactive from active
MIN_VARIANCE = 1e-8  # relative to the values; at 0, log-EI at an observed point is undefined
MAX_SEED = 2**31 - 1  # largest seed of a RandomState, as used by scikit-learn's trees
N_DECIMALS = 6  # standardised values are rounded, because further digits differ between machines
FADES_FROM = 10  # points; from this number on, the sd by distance decreases as 1 / n


class Forest:
    """Random forest similar to SMAC: means and variances by trees.

    Parameters
    ----------
    n_trees : int, default=20
        Number of trees.
    min_samples_leaf : int, default=1
        Minimum number of points in a leaf; with 1 the forest interpolates.
    distance_sd : float, default=0.0
        Standard deviation at a distance of 1 from the nearest point, in standard deviations of the
        values, added to the trees' own. From ten points on it decreases as 10 / n.

    Attributes
    ----------
    trees : list of sklearn.tree._tree.Tree
        Trees grown by scikit-learn on standardised values.
    leaf_means, leaf_variances : ndarray of shape (n_nodes,)
        Mean and variance of the values in each node, tree after tree, in units of `scale`;
        `center` is subtracted from the means.
    offsets : ndarray of shape (n_trees, 1)
        Index of the first node of each tree.
    points : ndarray of shape (n, n_dims)
        Training points, -1 if inactive.
    center, scale : float
        Mean and standard deviation of the values; the scale is 1 if all are equal.

    Notes
    -----
    The variance is the variance of the mixture of all leaves, by the law of total variance [1]_::

        mean(u) = mean over t of m_t(u)
        variance(u) = mean over t of v_t(u) + variance over t of m_t(u)

    with a floor of 1e-8 of the values' variance. Categories are split like numbers.

    Trees ignore distance: beyond the outermost point all of them agree, so a forest of few points
    is overconfident far from them. `distance_sd` corrects this: ``(distance_sd min(1, 10 / n)
    D(u))^2`` is added to the variance.

    SMAC [2]_ draws a bootstrap sample for each tree and searches for the best threshold. Here all
    points grow each tree, and the thresholds are random [3]_: the trees then disagree between
    observed points, as a surrogate requires. After 60 candidates of log-EI, on 8 recorded tuning
    tasks with 12 runs each and 10 trees, the mean regret (0 the best, 1 the median candidate) was
    0.015; with bootstrapped random thresholds 0.033, with bootstrapped best thresholds 0.031
    (0.026 with 3 points in each leaf), which take twice as long to fit. With 20 trees it was
    0.013, with 30 trees 0.011 (20 runs each).

    References
    ----------
    .. [1] F. Hutter, L. Xu, H. H. Hoos, K. Leyton-Brown, "Algorithm runtime prediction: methods
       and evaluation", Artificial Intelligence 206, 2014.
       https://doi.org/10.1016/j.artint.2013.10.003
    .. [2] F. Hutter, H. H. Hoos, K. Leyton-Brown, "Sequential model-based optimization for
       general algorithm configuration", LION 5, 2011.
       https://doi.org/10.1007/978-3-642-25566-3_40
    .. [3] P. Geurts, D. Ernst, L. Wehenkel, "Extremely randomized trees", Machine Learning 63,
       2006. https://doi.org/10.1007/s10994-006-6226-1

    Examples
    --------
    >>> import numpy as np
    >>> from sksearch.models._forest import Forest
    >>> U = np.array([[0.1], [0.5], [0.9]])
    >>> forest = Forest().fit(U, np.array([1.0, 2.0, 4.0]), np.random.default_rng(0))
    >>> mean, sd = forest.predict(np.array([[0.5], [0.7]]))
    >>> mean.round(1), sd.round(1)
    (array([2. , 2.9]), array([0., 1.]))
    """

    def __init__(
        self,
        n_trees: int = 20,
        min_samples_leaf: int = 1,
        distance_sd: float = 0.0,
    ):
        self.n_trees, self.min_samples_leaf = n_trees, min_samples_leaf
        self.distance_sd = distance_sd

    def fit(self, U: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> Self:
        """Grow the trees.

        Parameters
        ----------
        U : ndarray of shape (n, n_dims)
            At least one point.
        y : ndarray of shape (n,)
            Values.
        rng : numpy.random.Generator
            Source of randomness.

        Returns
        -------
        self : Forest
            Fitted.

        Raises
        ------
        ValueError
            If a value is not finite, or `y` is empty.
        """
        y = np.asarray(y, dtype=float)
        if not (len(y) and np.isfinite(y).all()):
            raise ValueError(
                f"y has {len(y)} values, of which {np.count_nonzero(~np.isfinite(y))} are not "
                "finite: pass at least one value, without failed trials."
            )
        # scikit-learn's trees stop at an absolute variance of 1e-16, so standardise the values.
        self.center, self.scale = y.mean(), y.std()
        if not self.scale > 1e-12 * np.abs(y).max():
            self.scale = 1.0
        z, X = (y - self.center) / self.scale, _encode(U)
        # For thresholds with equal splits, the last bits of the values would choose one.
        rounded = np.round(z, N_DECIMALS)
        self.points = X
        random_state = np.random.RandomState(rng.integers(MAX_SEED))
        with sklearn.config_context(skip_parameter_validation=True):  # takes longer than a tree
            self.trees = [self._grow(X, rounded, random_state) for _ in range(self.n_trees)]
        n_nodes = [tree.node_count for tree in self.trees]
        self.offsets = (np.cumsum(n_nodes) - n_nodes)[:, np.newaxis]
        leaves = (np.array([tree.apply(X) for tree in self.trees]) + self.offsets).ravel()
        count, every = np.bincount(leaves, minlength=sum(n_nodes)), np.tile(z, self.n_trees)
        mean = np.bincount(leaves, every, len(count)) / np.maximum(count, 1)
        gaps = np.bincount(leaves, (every - mean[leaves]) ** 2, len(count))
        self.leaf_means, self.leaf_variances = mean, gaps / np.maximum(count, 1)
        return self

    def predict(self, U: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the mean and the standard deviation at points.

        Parameters
        ----------
        U : ndarray of shape (n, n_dims)
            Points.

        Returns
        -------
        mean, sd : ndarray of shape (n,)
            In units of the values.
        """
        X = _encode(U)
        leaves = np.array([tree.apply(X) for tree in self.trees]) + self.offsets
        means = self.leaf_means[leaves]
        variance = self.leaf_variances[leaves].mean(axis=0) + means.var(axis=0)
        if self.distance_sd:
            distance = cdist(X, self.points).min(axis=1) / np.sqrt(X.shape[1])
            share = min(1.0, FADES_FROM / len(self.points))
            variance = variance + (self.distance_sd * share * distance) ** 2
        sd = np.sqrt(np.maximum(variance, MIN_VARIANCE))
        return self.center + self.scale * means.mean(axis=0), self.scale * sd

    def _grow(self, X: np.ndarray, z: np.ndarray, random_state: np.random.RandomState) -> Any:
        """Return one tree grown on all points."""
        from sklearn.tree import ExtraTreeRegressor  # takes a third of the package's import time

        # A single tree without input checks: an ensemble's joblib takes longer than its trees.
        tree = ExtraTreeRegressor(
            min_samples_leaf=self.min_samples_leaf,
            max_features=MAX_FEATURES,
            random_state=random_state,
        )
        return tree.fit(X, z, check_input=False).tree_


def _encode(U: np.ndarray) -> np.ndarray:
    """Encode points for the trees, shape (n, max(n_dims, 1))."""
    X = np.where(np.isnan(U), INACTIVE, U).astype(np.float32)
    # A tree needs a coordinate, even if a space of constants has none.
    return np.ascontiguousarray(X) if X.shape[1] else np.zeros((len(X), 1), dtype=np.float32)
