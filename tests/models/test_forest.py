"""The forest's mean and variance, from its leaves and against scikit-learn's forest."""

import pickle

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor

from sksearch.models._forest import INACTIVE, MIN_VARIANCE, Forest


def rng(seed=0):
    return np.random.default_rng(seed)


def smooth(U):
    return np.sin(4 * U[:, 0]) + U[:, 1] ** 2 + U[:, 0] * U[:, 2]


@pytest.fixture
def data():
    U = rng(1).random((80, 3))
    U[::5, 1] = np.nan
    y = 100 + 7 * smooth(np.nan_to_num(U, nan=0.5)) + rng(2).normal(size=80)
    return U, y


def companions(forest, U, query):
    """For each tree which rows of `U` share the leaf of each query: (n_trees, n_query, n)."""
    encoded, queries = (
        np.where(np.isnan(points), INACTIVE, points).astype(np.float32) for points in (U, query)
    )
    return [
        tree.apply(queries)[:, np.newaxis] == tree.apply(encoded)[np.newaxis]
        for tree in forest.trees
    ]


@pytest.mark.parametrize("min_samples_leaf", [1, 4])
def test_mean_and_sd_match_the_points_in_the_leaves(data, min_samples_leaf):
    U, y = data
    forest = Forest(min_samples_leaf=min_samples_leaf).fit(U, y, rng())
    query = np.vstack([rng(3).random((40, 3)), U[:10]])
    mean, sd = forest.predict(query)
    in_leaf = companions(forest, U, query)
    for i in range(len(query)):
        means = [y[rows[i]].mean() for rows in in_leaf]
        variances = [y[rows[i]].var() for rows in in_leaf]
        variance = np.mean(variances) + np.var(means)
        assert mean[i] == pytest.approx(np.mean(means), rel=1e-9)
        assert sd[i] == pytest.approx(np.sqrt(max(variance, MIN_VARIANCE * y.var())), rel=1e-6)


def test_the_variance_matches_a_draw_from_a_leaf_of_a_random_tree(data):
    U, y = data
    forest = Forest(min_samples_leaf=4).fit(U, y, rng())
    query = rng(3).random((5, 3))
    mean, sd = forest.predict(query)
    in_leaf = companions(forest, U, query)
    for i in range(len(query)):
        weights = np.mean([rows[i] / rows[i].sum() for rows in in_leaf], axis=0)
        assert mean[i] == pytest.approx(weights @ y)
        assert sd[i] ** 2 == pytest.approx(weights @ (y - mean[i]) ** 2)


@pytest.mark.parametrize(("n", "share"), [(5, 1.0), (10, 1.0), (40, 0.25)])
def test_the_deviation_by_distance_is_added_to_that_of_the_trees(n, share):
    U, query = rng().random((n, 3)), rng(1).random((50, 3))
    U[0, 1] = query[0, 1] = np.nan  # inactive, which is -1 to the trees
    y = rng(2).random(n)
    alone, far = (Forest(distance_sd=d).fit(U, y, rng()) for d in (0.0, 2.0))
    (mean, sd), (same_mean, more_sd) = (forest.predict(query) for forest in (alone, far))
    np.testing.assert_array_equal(mean, same_mean)
    gaps = np.nan_to_num(query, nan=-1.0)[:, None] - np.nan_to_num(U, nan=-1.0)
    distance = np.sqrt((gaps**2).mean(axis=2)).min(axis=1)
    added = 2 * share * y.std() * distance
    np.testing.assert_allclose(more_sd, np.sqrt(sd**2 + added**2), rtol=1e-5)
    np.testing.assert_allclose(far.predict(U)[1], alone.predict(U)[1], atol=1e-6)


def test_no_leaf_is_smaller_than_asked_for(data):
    U, y = data
    forest = Forest(min_samples_leaf=4).fit(U, y, rng())
    assert min(rows.sum(axis=1).min() for rows in companions(forest, U, U)) >= 4


def test_it_is_a_function_of_the_generator(data):
    U, y = data
    query = rng(3).random((100, 3))
    first, second, other = (Forest().fit(U, y, rng(seed)).predict(query) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, second)
    assert not np.array_equal(first, other)


def test_it_leaves_its_input_and_the_global_generator_alone(data):
    U, y = data
    before, state = (U.copy(), y.copy()), np.random.get_state()[1].copy()
    Forest().fit(U, y, rng()).predict(U)
    np.testing.assert_array_equal((U, y)[0], before[0])
    np.testing.assert_array_equal(y, before[1])
    np.testing.assert_array_equal(np.random.get_state()[1], state)


def test_a_pickled_forest_predicts_the_same(data):
    U, y = data
    forest = Forest().fit(U, y, rng())
    copy = pickle.loads(pickle.dumps(forest))
    np.testing.assert_array_equal(copy.predict(U), forest.predict(U))


@pytest.mark.parametrize("n_dims", [0, 1, 8])
@pytest.mark.parametrize("n", [1, 2, 5])
def test_few_points_are_enough(n, n_dims):
    U, y = rng().random((n, n_dims)), np.arange(float(n))
    mean, sd = Forest().fit(U, y, rng()).predict(rng(1).random((7, n_dims)))
    assert mean.shape == sd.shape == (7,)
    assert np.all((mean >= 0) & (mean <= n - 1))
    assert np.all((sd > 0) & np.isfinite(sd))


def test_nothing_to_predict_is_not_an_error(data):
    U, y = data
    mean, sd = Forest().fit(U, y, rng()).predict(np.empty((0, 3)))
    assert mean.shape == sd.shape == (0,)


def test_duplicates_give_their_mean_and_spread():
    U, y = np.full((4, 2), 0.3), np.array([1.0, 2.0, 3.0, 4.0])
    mean, sd = Forest().fit(U, y, rng()).predict(U[:1])
    assert mean[0] == pytest.approx(2.5)
    assert sd[0] == pytest.approx(y.std())


@pytest.mark.parametrize("value", [0.0, -3.7, 1e9, 0.1])
def test_equal_values_are_predicted_everywhere_with_a_small_positive_sd(value):
    U = rng().random((30, 2))
    mean, sd = Forest().fit(U, np.full(30, value), rng()).predict(rng(1).random((50, 2)))
    np.testing.assert_allclose(mean, value, rtol=1e-12)
    np.testing.assert_allclose(sd, np.sqrt(MIN_VARIANCE))


@pytest.mark.parametrize("scale", [2.0**-60, 2.0**60])
def test_the_units_of_the_values_do_not_matter(scale):
    U, query = rng().random((40, 3)), rng(1).random((60, 3))
    plain = Forest().fit(U, smooth(U), rng()).predict(query)
    scaled = Forest().fit(U, scale * smooth(U), rng()).predict(query)
    np.testing.assert_array_equal(np.array(scaled) / scale, plain)


def test_small_differences_of_large_values_are_seen():
    U = rng().random((40, 3))
    y = 1e3 + 1e-6 * smooth(U)
    mean, sd = Forest().fit(U, y, rng()).predict(U)
    np.testing.assert_allclose(mean - 1e3, y - 1e3, rtol=1e-3)
    assert np.all(sd < 1e-8)


def test_inactive_coordinates_are_told_from_all_active_ones():
    U = np.column_stack([np.r_[np.full(20, np.nan), np.linspace(0, 1, 20)]])
    y = np.r_[np.full(20, 5.0), np.zeros(20)]
    mean, _ = Forest().fit(U, y, rng()).predict(np.array([[np.nan], [0.4], [0.9]]))
    np.testing.assert_allclose(mean, [5, 0, 0], atol=1e-9)


def test_all_inactive_coordinates_are_ignored():
    U = rng().random((30, 2))
    wider = np.column_stack([U, np.full(30, np.nan)])
    mean, _ = Forest(n_trees=300).fit(wider, smooth(np.c_[U, U[:, 0]]), rng()).predict(wider)
    np.testing.assert_allclose(mean, smooth(np.c_[U, U[:, 0]]), atol=1e-9)


@pytest.mark.parametrize("y", [[1.0, np.nan], [np.inf, 1.0], []])
def test_values_that_are_none_are_refused(y):
    with pytest.raises(ValueError, match="not finite"):
        Forest().fit(np.zeros((len(y), 1)), np.array(y), rng())


def test_it_interpolates_a_smooth_function_better_than_a_random_forest():
    U, query = rng(5).random((100, 3)), rng(6).random((1000, 3))
    theirs = RandomForestRegressor(100, random_state=0).fit(U, smooth(U)).predict(query)
    ours, sd = Forest().fit(U, smooth(U), rng()).predict(query)
    error = np.mean((ours - smooth(query)) ** 2)
    assert error < np.mean((theirs - smooth(query)) ** 2)
    assert error < 0.15 * smooth(query).var()
    z = (ours - smooth(query)) / sd
    assert 0.5 < np.sqrt(np.mean(z**2)) < 1.5, "sd says how wrong it is"


def test_it_knows_what_it_was_told():
    U = rng(5).random((100, 3))
    mean, sd = Forest().fit(U, smooth(U), rng()).predict(U)
    np.testing.assert_allclose(mean, smooth(U), atol=1e-9)
    np.testing.assert_allclose(sd, np.sqrt(MIN_VARIANCE) * smooth(U).std())


def test_sd_is_larger_where_nothing_was_observed():
    u = np.r_[np.linspace(0, 0.3, 30), np.linspace(0.7, 1, 30)][:, np.newaxis]
    forest = Forest().fit(u, np.sin(6 * u[:, 0]), rng())
    _, near = forest.predict(np.linspace(0, 0.3, 99)[:, np.newaxis])
    _, far = forest.predict(np.linspace(0.4, 0.6, 99)[:, np.newaxis])
    assert far.min() > 3 * np.median(near)


def test_sd_is_larger_where_values_are_noisy():
    u = rng().random((300, 1))
    noise = np.where(u[:, 0] > 0.5, 1.0, 0.05)
    forest = Forest(min_samples_leaf=5).fit(u, noise * rng(1).normal(size=300), rng())
    _, quiet = forest.predict(np.linspace(0.05, 0.45, 50)[:, np.newaxis])
    _, noisy = forest.predict(np.linspace(0.55, 0.95, 50)[:, np.newaxis])
    assert noisy.min() > 2 * quiet.max()
    assert noisy.mean() == pytest.approx(1.0, rel=0.3)
