"""The Gamma process against its definition, a step at a time, and against its distribution."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.signal import savgol_filter
from scipy.stats import chisquare, gamma, kstest, norm, pearsonr

from sksearch.simulators import FAMILIES, Branin, GammaCurves, _gamma_process
from sksearch.simulators._counter import make_keys, uniforms
from sksearch.simulators._families import CurveFamily
from sksearch.simulators._functions import Rastrigin, Rosenbrock
from sksearch.simulators._gamma_process import gamma_curves, gamma_parameters
from tests import scripts

ALL_FAMILIES = sorted({f for families in FAMILIES.values() for f in families}, key=repr)
OTHERS = [
    CurveFamily(1.5, 0, 15, False, 3, 20),
    CurveFamily(30, 2.5, 100, False, -50, -7),
    CurveFamily(0, 1),
]
EPOCHS = [2, 3, 7, 8, 81, 243]


def some_keys(n, seed=0):
    return make_keys(np.arange(n, dtype=float)[:, None], seed)


def some_params(n, n_dims=2, seed=0):
    X = np.random.default_rng(seed).uniform(-5, 5, (n, n_dims))
    return [{f"x{j}": x for j, x in enumerate(row)} for row in X.tolist()]


def levels(keys, n_epochs):
    return _gamma_process._levels(keys, slice(0, n_epochs - 1), n_epochs)


# ---- the distribution


@pytest.mark.parametrize("n_epochs", [*EPOCHS, 15_000])
def test_every_distribution_has_mode_2_and_the_time_that_is_left_as_its_variance(n_epochs):
    alpha, beta = gamma_parameters(n_epochs)
    t = np.arange(1, n_epochs)
    np.testing.assert_allclose((alpha - 1) / beta, 2, rtol=1e-12)
    np.testing.assert_allclose(gamma.var(alpha, scale=1 / beta), n_epochs + 1 - t, rtol=1e-12)


def test_the_density_is_highest_at_2():
    x = np.linspace(0, 60, 60_001)
    for alpha, beta in zip(*gamma_parameters(81), strict=True):
        assert x[gamma.pdf(x, alpha, scale=1 / beta).argmax()] == pytest.approx(2)


@pytest.mark.few(1)
@pytest.mark.slow
@pytest.mark.parametrize("n_epochs", [2, 81, 1000])
def test_levels_are_gamma_distributed_at_every_time(n_epochs):
    alpha, beta = gamma_parameters(n_epochs)
    lam = levels(some_keys(100_000 if n_epochs < 100 else 5_000), n_epochs)
    for t in {0, 1, 39, n_epochs // 2, n_epochs - 2} & set(range(n_epochs - 1)):
        assert kstest(lam[t], gamma(alpha[t], scale=1 / beta[t]).cdf).pvalue > 1e-3
    assert lam.min() > 0


def test_levels_have_the_variance_of_their_time():
    lam = levels(some_keys(20_000), 81)
    np.testing.assert_allclose(lam.var(axis=1), np.arange(81, 1, -1), rtol=0.1)


def test_levels_of_different_times_and_curves_are_independent():
    lam = levels(some_keys(20_000), 81)
    for a, b in ((lam[0], lam[1]), (lam[40], lam[79]), (lam[5, :-1], lam[5, 1:])):
        assert pearsonr(a, b).pvalue > 1e-3
    assert len(np.unique(lam)) == lam.size


# ---- random numbers from counters


def test_numbers_are_uniform_in_both_directions():
    keys = some_keys(300)
    u = uniforms(keys, np.arange(300)[:, None])
    assert kstest(u.ravel(), "uniform").pvalue > 1e-3
    for rows in (u, u.T):
        assert min(kstest(row, "uniform").pvalue for row in rows) > 1e-6
    assert 0 < u.min() < u.max() < 1


def test_keys_are_the_same_for_equal_numbers_of_any_type():
    points = np.array([[0.5, -1.0], [2.0, 0.0]])
    same = [[[0.5, -1], [2, -0.0]], points.astype(np.float32), points.astype(object).tolist()]
    for other in same:
        np.testing.assert_array_equal(make_keys(other, 7), make_keys(points, np.int32(7)))


def test_keys_tell_places_and_seeds_apart():
    points = np.random.default_rng(0).integers(-3, 4, (500, 3)).astype(float)
    points = np.unique(points, axis=0)
    keys = [key for seed in (0, 1, 2, -1, 2**40) for key in make_keys(points, seed)]
    assert len(set(keys)) == 5 * len(points)


@pytest.mark.slow
def test_a_curve_is_the_same_in_another_process_and_on_another_day():
    code = (
        "from sksearch.simulators import FAMILIES, FUNCTIONS, GammaCurves;"
        "Rastrigin = FUNCTIONS['Rastrigin'];"
        "problem = GammaCurves(Rastrigin(2), FAMILIES['rastrigin-2'], noise=10);"
        "print(problem.losses([{'x0': 0.25, 'x1': -3}], seed=5)[0].tobytes().hex())"
    )
    output = scripts.run(["-c", code], check=True).stdout
    problem = GammaCurves(Rastrigin(2), FAMILIES["rastrigin-2"], noise=10)
    losses = problem.losses([{"x1": np.float64(-3.0), "x0": np.float32(0.25)}], seed=5)[0]
    assert output.strip() == losses.tobytes().hex()
    assert int(make_keys([[0.25, -3.0]], 5)[0]) == GOLDEN_KEY
    np.testing.assert_allclose(losses[[0, 1, 40, 79, 80]], GOLDEN_LOSSES, rtol=1e-9)


GOLDEN_KEY = 1576563452459226683
GOLDEN_LOSSES = [
    -185.30473076452228,
    -199.3196171603664,
    -355.6410506935588,
    -380.92132365862665,
    -380.9375,
]


# ---- the steps


def document(u, lam, noise, family, n):
    """Section 7.3.3 word by word, with the errata: one curve, before smoothing."""
    k = 2
    f = [math.nan] * (n + 1)  # f[t], t from 1
    f[1] = u + noise - family.start_shift
    f_n = u - family.end_shift
    m, nu, rho = family.ml_aggressiveness, family.necessary_aggressiveness, family.up_spikiness
    for t in range(1, n):
        level = lam[t - 1]
        if level > k:
            ml_agg = f[t] + m * (level - k) * (f_n - f[t]) / 100
            nec_agg = (f_n - ml_agg) * (t / (n - 1)) ** nu
            f[t + 1] = ml_agg + nec_agg
        else:
            up_spike = f[t] + rho / (1 + level)
            nec_agg = (f_n - up_spike) * (t / (n - 1)) ** (1.1 * nu)
            f[t + 1] = up_spike + nec_agg
    return f[1:]


@pytest.mark.parametrize("n_epochs", EPOCHS)
@pytest.mark.parametrize("family", ALL_FAMILIES + OTHERS, ids=repr)
def test_curves_follow_the_document_step_by_step(family, n_epochs):
    family = replace(family, smooth=False)
    keys, values = some_keys(30), np.linspace(-3, 90, 30)
    lam = levels(keys, n_epochs)
    if n_epochs == 81:
        assert 0.2 < (lam > 2).mean() < 0.9, "both rules are at work"
    noise = 10 * norm.ppf(uniforms(keys, _gamma_process.NOISE))
    expected = [
        document(u, lam[:, i], noise[i], family, n_epochs) for i, u in enumerate(values.tolist())
    ]
    losses = gamma_curves(values, keys, family, n_epochs, noise=10)
    np.testing.assert_allclose(losses, expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("n_epochs", [7, 8, 81, 243])
@pytest.mark.parametrize("family", ALL_FAMILIES, ids=repr)
def test_both_ends_are_exact_smooth_or_not(family, n_epochs):
    values = np.linspace(-3, 90, 40) / 7
    losses = gamma_curves(values, some_keys(40), family, n_epochs)
    np.testing.assert_array_equal(losses[:, 0], values - family.start_shift)
    np.testing.assert_array_equal(losses[:, -1], values - family.end_shift)
    assert np.isfinite(losses).all()


@pytest.mark.parametrize(("n_epochs", "window"), [(7, 7), (12, 9), (30, 11), (81, 19), (400, 75)])
def test_smoothing_is_scipys_filter_with_the_documents_window(n_epochs, window):
    assert window in (math.floor(0.17 * n_epochs + 6), math.floor(0.17 * n_epochs + 6) + 1)
    smooth = FAMILIES["rastrigin-1"][2]
    values, keys = np.linspace(0, 90, 20), some_keys(20)
    rough = gamma_curves(values, keys, replace(smooth, smooth=False), n_epochs, noise=10)
    losses = gamma_curves(values, keys, smooth, n_epochs, noise=10)
    expected = savgol_filter(rough, window, 3, axis=1)
    np.testing.assert_allclose(losses[:, 1:-1], expected[:, 1:-1], rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(losses[:, [0, -1]], rough[:, [0, -1]])


def test_a_curve_that_is_at_its_end_at_once_is_smoothed_as_any_other():
    family = CurveFamily(1, 0, 1, smooth=True, end_shift=30)
    rough = gamma_curves([1.0], [5], replace(family, smooth=False), 81)
    expected = savgol_filter(rough, 19, 3, axis=1)
    losses = gamma_curves([1.0], [5], family, 81)
    np.testing.assert_allclose(losses[:, 1:-1], expected[:, 1:-1], atol=1e-9)


def test_noise_is_normal_and_only_in_the_first_value():
    keys, values = some_keys(5_000), np.full(5_000, 3.0)
    quiet, noisy = (gamma_curves(values, keys, CurveFamily(), 5, noise) for noise in (0, 10))
    np.testing.assert_array_equal(quiet, 3.0)
    assert kstest(noisy[:, 0], norm(3, 10).cdf).pvalue > 1e-3
    np.testing.assert_array_equal(noisy[:, 1:], 3.0)


def test_noise_and_levels_are_independent():
    keys = some_keys(20_000)
    assert pearsonr(uniforms(keys, _gamma_process.NOISE), levels(keys, 81)[0]).pvalue > 1e-3


# ---- a curve does not depend on the others


@pytest.mark.parametrize("family", FAMILIES["rastrigin-1"], ids=repr)
def test_a_curve_has_the_same_bits_alone_and_in_any_batch(family, monkeypatch):
    n = _gamma_process.N_CURVES + 37
    keys, values = some_keys(n), np.linspace(-3, 90, n)
    whole = gamma_curves(values, keys, family, 81, 10)
    for i in (0, 1, 100, _gamma_process.N_CURVES - 1, _gamma_process.N_CURVES, n - 1):
        alone = gamma_curves(values[i : i + 1], keys[i : i + 1], family, 81, 10)
        np.testing.assert_array_equal(alone[0], whole[i])
    order = np.random.default_rng(0).permutation(n)[:50]
    np.testing.assert_array_equal(
        gamma_curves(values[order], keys[order], family, 81, 10), whole[order]
    )
    monkeypatch.setattr(
        _gamma_process, "N_ELEMENTS", 7 * _gamma_process.N_CURVES
    )  # seven epochs at a time
    np.testing.assert_array_equal(gamma_curves(values, keys, family, 81, 10), whole)


@pytest.mark.parametrize("function", [Rastrigin(2), Rastrigin(9), Branin()], ids=repr)
def test_losses_are_a_function_of_seed_and_params_alone(function):
    problem = GammaCurves(function, FAMILIES["rastrigin-2"], noise=10)
    params = some_params(40, function.n_dims)
    whole = problem.losses(params, seed=3)
    np.testing.assert_array_equal(problem.losses(params[::-1], seed=3), whole[::-1])
    np.testing.assert_array_equal(np.vstack([problem.losses([p], seed=3) for p in params]), whole)
    assert (problem.losses(params, seed=4)[:, 1:-1] != whole[:, 1:-1]).all()


# ---- families


def test_the_documents_families():
    def rows(name):
        return [
            (f.ml_aggressiveness, f.necessary_aggressiveness, f.up_spikiness, f.smooth,
             f.start_shift, f.end_shift)
            for f in FAMILIES[name]
        ]  # fmt: skip

    assert rows("branin") == [
        (1.5, 10, 5, False, 0, 200), (0.5, 7, 3, False, 0, 200), (0.2, 4, 1, True, 0, 200)
    ]  # fmt: skip
    assert rows("rastrigin-1") == [
        (1.5, 10, 15, False, 0, 200), (0.5, 7, 10, False, 0, 200), (0.2, 4, 7, True, 0, 200)
    ]  # fmt: skip
    assert rows("rastrigin-2")[:3] == rows("rastrigin-1")
    assert rows("rastrigin-2")[3:] == [
        (1.5, 10, 15, False, 200, 400), (0.5, 7, 10, False, 200, 400), (0.2, 4, 7, True, 200, 400)
    ]  # fmt: skip


STEPS = [CurveFamily(end_shift=shift) for shift in (0, 10, 20)]  # the last value tells the family


def family_of(problem, params, **kwargs):
    losses = problem.losses(params, **kwargs)
    values = problem.function([[p["x0"], p["x1"]] for p in params])
    return np.round((values - losses[:, -1]) / 10).astype(int)


def test_families_are_drawn_with_the_same_probability():
    problem = GammaCurves(Rastrigin(2), STEPS)
    params = some_params(3_000)
    families = family_of(problem, params, seed=1)
    assert chisquare(np.bincount(families, minlength=3)).pvalue > 1e-3
    again = family_of(problem, params, seed=2)
    assert 0.5 < (families != again).mean() < 0.8


def test_families_go_in_turn_by_the_number_of_the_candidate():
    problem = GammaCurves(Rastrigin(2), STEPS, schedule="round_robin")
    families = family_of(problem, some_params(5), trials=[0, 1, 2, 3, 7])
    assert families.tolist() == [0, 1, 2, 0, 1]
    assert problem.needs_trials
    assert not GammaCurves(Rastrigin(2), STEPS).needs_trials


@pytest.mark.parametrize("trials", [None, [0, 1]])
def test_dealing_in_turn_needs_a_number_for_each_candidate(trials):
    problem = GammaCurves(Rastrigin(2), STEPS, schedule="round_robin")
    with pytest.raises(ValueError, match="pass trials="):
        problem.losses(some_params(1), trials=trials)


# ---- the problem


def test_without_families_curves_are_flat():
    problem = GammaCurves(Branin())
    params = [{"x0": -math.pi, "x1": 12.275}, {"x0": 0, "x1": 0}]
    expected = Branin()([[-math.pi, 12.275], [0, 0]])[:, None]
    np.testing.assert_array_equal(problem.losses(params), np.tile(expected, 81))
    assert problem.minimum == Branin().minimum


@pytest.mark.parametrize("name", FAMILIES)
def test_the_minimum_matches_the_best_family(name):
    problem = GammaCurves(Rastrigin(3), FAMILIES[name], noise=10)
    best = [{"x0": 0.0, "x1": 0.0, "x2": 0.0}]
    finals = [problem.losses(best, seed)[0, -1] for seed in range(40)]
    assert min(finals) == problem.minimum
    assert problem.losses(some_params(2_000, 3))[:, -1].min() > problem.minimum


def test_the_space_is_the_functions_box():
    space = GammaCurves(Rosenbrock(3)).space
    assert list(space) == ["x0", "x1", "x2"]
    assert all(distribution.support() == (-5, 10) for distribution in space.values())


def test_a_users_own_function_will_do():
    function = SimpleNamespace(bounds=[(0, 1)])
    with pytest.raises(TypeError, match="must be callable"):
        GammaCurves(function)
    with pytest.raises(TypeError, match="bounds"):
        GammaCurves(lambda X: X[:, 0])

    def own(X):
        return X[:, 0]

    own.bounds = [(0, 1)]
    problem = GammaCurves(own, n_epochs=4)
    assert problem.losses([{"x0": 0.25}]).tolist() == [[0.25] * 4]
    assert problem.minimum is None


def test_an_epoch_takes_a_second():
    seconds = GammaCurves(Branin(), n_epochs=3).seconds([{}, {}])
    assert seconds.tolist() == [[1, 2, 3], [1, 2, 3]]


def test_no_candidates_have_no_curves():
    problem = GammaCurves(Branin(), FAMILIES["branin"], noise=10)
    assert problem.losses([]).shape == (0, 81)
    assert problem.seconds([]).shape == (0, 81)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"x0": 1.0}, r"lacks 'x1': the parameters are \['x0', 'x1'\]"),
        ({"x0": 1.0, "x1": 1.0, "y": 0}, r"contains \['y'\]"),
        ({"x0": 1.0, "z": 1.0}, "lacks 'x1'"),
        ({"x0": 1.0, "x1": math.nan}, "x1=nan must be a finite number"),
        ({"x0": None, "x1": 1.0}, "x0=None must be a finite number"),
    ],
)
def test_params_that_are_not_the_problems_are_refused(params, message):
    with pytest.raises(ValueError, match=message):
        GammaCurves(Branin()).losses([params])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_epochs": 1}, "n_epochs=1 must be an integer of at least 2"),
        ({"n_epochs": 81.0}, "n_epochs=81.0 must be an integer"),
        (
            {"n_epochs": 6, "families": FAMILIES["branin"]},
            "n_epochs=6 .* at least 7",
        ),
        ({"noise": -1}, "noise=-1"),
        ({"noise": math.nan}, "noise=nan"),
        ({"families": []}, "must be a sequence of CurveFamily"),
        ({"families": "branin"}, "must be a sequence of CurveFamily"),
        ({"families": CurveFamily(1, 2, 3)}, "must be a sequence of CurveFamily"),
        ({"schedule": "sometimes"}, "schedule='sometimes'"),
    ],
)
def test_bad_arguments_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        GammaCurves(Branin(), **arguments)


def test_a_curve_needs_a_value_and_a_key():
    for values, keys in (([1.0], [1, 2]), ([1.0, 2.0], [1]), (1.0, 1)):
        with pytest.raises(ValueError, match=r"expected \(n_curves,\)"):
            gamma_curves(values, keys, CurveFamily(1, 2, 3))


@pytest.mark.parametrize("number", [math.nan, math.inf])
def test_a_family_has_finite_numbers(number):
    with pytest.raises(ValueError, match="must be finite"):
        CurveFamily(1, 2, number)


def test_a_family_that_leaves_its_end_is_refused():
    with pytest.raises(ValueError, match="necessary_aggressiveness=-1"):
        CurveFamily(1, -1, 1)
