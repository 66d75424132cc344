"""Spaces of other libraries become dicts of lists and SciPy distributions."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from sksearch import When
from sksearch.space import LogRandInt, Space, from_configspace, from_optuna, from_skopt


def assert_same_distribution(params, expected):
    """Compare dicts by what Space makes of them: frozen distributions have no ==."""
    assert params.keys() == expected.keys()
    for name in expected:
        (ours,) = Space({name: params[name]}).all_dimensions
        (theirs,) = Space({name: expected[name]}).all_dimensions
        assert type(ours) is type(theirs)
        assert ours.log == theirs.log
        if ours.kind == "categorical":
            assert ours.choices == theirs.choices
            assert [type(c) for c in ours.choices] == [type(c) for c in theirs.choices]
        else:
            assert ours.bounds == pytest.approx(theirs.bounds)


# --- scikit-optimize ------------------------------------------------------------------------


def test_skopt_tuples_and_lists_need_no_skopt():
    params = from_skopt(
        {
            "C": (1e-6, 1.0, "log-uniform"),
            "alpha": (0.5, 2.5),
            "tol": (1, 2.5, "uniform"),
            "depth": (1, 10),
            "leaf": (1, 100, "log-uniform", 10),
            "kernel": ["rbf", "linear"],
            "solver": ("a", "b"),
            "power": (1, 2, 3),
            "flag": (True, False),
            "array": np.array([1, 2, 5]),
        }
    )
    expected = {
        "C": stats.loguniform(1e-6, 1),
        "alpha": stats.uniform(0.5, 2),
        "tol": stats.uniform(1, 1.5),
        "depth": stats.randint(1, 11),
        "leaf": LogRandInt(1, 101),
        "kernel": ["rbf", "linear"],
        "solver": ["a", "b"],
        "power": [1, 2, 3],
        "flag": [True, False],
        "array": [1, 2, 5],
    }
    assert_same_distribution(params, expected)


def test_skopt_lists_of_dicts_and_of_pairs_become_unions():
    first, second = {"k": ["rbf"]}, {"k": ["linear"], "d": (1, 3)}
    assert from_skopt([(first, 10), second])[0] == {"k": ["rbf"]}
    assert Space(from_skopt([(first, 10), second])).size == 4
    assert from_skopt((first, 10)) == {"k": ["rbf"]}


def test_skopt_two_numbers_in_a_list_are_choices_with_a_warning():
    with pytest.warns(UserWarning, match="write a tuple"):
        assert from_skopt({"a": [1, 10]}) == {"a": [1, 10]}


def test_skopt_unknown_dimensions_are_refused():
    with pytest.raises(TypeError, match=r"'a' is 3, not a translatable scikit-optimize dimension"):
        from_skopt({"a": 3})


def test_skopt_dimensions_are_translated():
    space = pytest.importorskip("skopt.space")
    params = from_skopt(
        {
            "C": space.Real(1e-6, 1.0, prior="log-uniform"),
            "alpha": space.Real(0.5, 2.5),
            "depth": space.Integer(1, 10),
            "leaf": space.Integer(1, 100, prior="log-uniform"),
            "kernel": space.Categorical(["rbf", "linear"]),
            "even": space.Categorical([1, 2], prior=[0.5, 0.5]),
        }
    )
    expected = {
        "C": stats.loguniform(1e-6, 1),
        "alpha": stats.uniform(0.5, 2),
        "depth": stats.randint(1, 11),
        "leaf": LogRandInt(1, 101),
        "kernel": ["rbf", "linear"],
        "even": [1, 2],
    }
    assert_same_distribution(params, expected)
    with pytest.raises(ValueError, match="'k' have the weights"):
        from_skopt({"k": space.Categorical(["a", "b"], prior=[0.1, 0.9])})


def test_skopt_tuples_mean_what_skopt_makes_of_them():
    space = pytest.importorskip("skopt.space")
    for dimension in [(1, 10), (0.5, 2.0), (1e-3, 1.0, "log-uniform"), (1, 9, "log-uniform")]:
        ours = from_skopt({"x": dimension})
        theirs = from_skopt({"x": space.check_dimension(dimension)})
        assert_same_distribution(ours, theirs)


# --- Optuna ---------------------------------------------------------------------------------


def test_optuna_distributions_are_translated():
    optuna = pytest.importorskip("optuna.distributions")
    params = from_optuna(
        {
            "lr": optuna.FloatDistribution(1e-5, 1e-1, log=True),
            "alpha": optuna.FloatDistribution(0, 2),
            "subsample": optuna.FloatDistribution(0.1, 0.7, step=0.1),
            "fixed": optuna.FloatDistribution(1.5, 1.5),
            "depth": optuna.IntDistribution(1, 10),
            "leaf": optuna.IntDistribution(1, 100, log=True),
            "units": optuna.IntDistribution(16, 64, step=16),
            "one": optuna.IntDistribution(3, 3),
            "kernel": optuna.CategoricalDistribution(["rbf", None, 1]),
        }
    )
    expected = {
        "lr": stats.loguniform(1e-5, 1e-1),
        "alpha": stats.uniform(0, 2),
        "subsample": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7],
        "fixed": [1.5],
        "depth": stats.randint(1, 11),
        "leaf": LogRandInt(1, 101),
        "units": [16, 32, 48, 64],
        "one": stats.randint(3, 4),
        "kernel": ["rbf", None, 1],
    }
    assert_same_distribution(params, expected)


def test_optuna_unknown_distributions_are_refused():
    with pytest.raises(TypeError, match=r"'a' is .*, not a translatable Optuna"):
        from_optuna({"a": stats.uniform()})


# --- ConfigSpace ----------------------------------------------------------------------------


@pytest.fixture
def cs():
    return pytest.importorskip("ConfigSpace")


def test_configspace_hyperparameters_are_translated(cs):
    space = cs.ConfigurationSpace()
    space.add(
        cs.UniformFloatHyperparameter("lr", 1e-5, 1e-1, log=True),
        cs.UniformFloatHyperparameter("alpha", 0, 2),
        cs.UniformIntegerHyperparameter("depth", 1, 10),
        cs.UniformIntegerHyperparameter("leaf", 1, 100, log=True),
        cs.NormalFloatHyperparameter("normal", mu=0, sigma=2, lower=-3, upper=5),
        cs.BetaFloatHyperparameter("beta", alpha=2, beta=3, lower=1, upper=4),
        cs.CategoricalHyperparameter("kernel", ["rbf", "linear"]),
        cs.CategoricalHyperparameter("even", ["a", "b"], weights=[2, 2]),
        cs.OrdinalHyperparameter("size", ["small", "large"]),
        cs.Constant("constant", 7),
    )
    expected = {
        "lr": stats.loguniform(1e-5, 1e-1),
        "alpha": stats.uniform(0, 2),
        "depth": stats.randint(1, 11),
        "leaf": LogRandInt(1, 101),
        "normal": stats.truncnorm(-1.5, 2.5, 0, 2),
        "beta": stats.beta(2, 3, 1, 3),
        "kernel": ["rbf", "linear"],
        "even": ["a", "b"],
        "size": ["small", "large"],
        "constant": [7],
    }
    assert_same_distribution(from_configspace(space), expected)


@pytest.mark.parametrize("distribution", ["normal", "beta"])
def test_configspace_integers_keep_their_distribution(cs, distribution):
    if distribution == "normal":
        parameter = cs.NormalIntegerHyperparameter("k", mu=10, sigma=4, lower=3, upper=20)
    else:
        parameter = cs.BetaIntegerHyperparameter("k", alpha=2, beta=4, lower=3, upper=20)
    space = cs.ConfigurationSpace(seed=0)
    space.add(parameter)
    theirs = np.bincount([c["k"] for c in space.sample_configuration(4000)], minlength=21)
    frozen = from_configspace(space)["k"]
    (dimension,) = Space({"k": frozen}).all_dimensions
    assert dimension.bounds == (3, 20)
    ours = frozen.pmf(np.arange(21))
    assert ours.sum() == pytest.approx(1)
    np.testing.assert_allclose(theirs / 4000, ours, atol=0.03)


def test_configspace_conditions_become_when(cs):
    space = cs.ConfigurationSpace(
        {"kernel": ["linear", "rbf", "poly"], "n": (1, 9), "a": [1, 2], "b": [1, 2], "c": [1, 2]}
    )
    space.add(cs.OrdinalHyperparameter("level", ["low", "mid", "high"]))
    space.add(cs.Constant("d", 1), cs.Constant("e", 1))
    space.add(
        cs.EqualsCondition(space["a"], space["kernel"], "rbf"),
        cs.InCondition(space["b"], space["kernel"], ["rbf", "poly"]),
        cs.AndConjunction(
            cs.GreaterThanCondition(space["c"], space["n"], 3),
            cs.NotEqualsCondition(space["c"], space["kernel"], "linear"),
        ),
        cs.LessThanCondition(space["d"], space["n"], 5),
        cs.GreaterThanCondition(space["e"], space["level"], "low"),
    )
    params = from_configspace(space)
    assert params["a"] == When([1, 2], "kernel", "==", "rbf")
    assert params["b"] == When([1, 2], "kernel", "in", ["rbf", "poly"])
    assert params["d"] == When([1], "n", "<", 5)
    assert params["e"] == When([1], "level", "in", ["mid", "high"])
    inner = When([1, 2], "n", ">", 3)
    assert params["c"] == When(inner, "kernel", "!=", "linear")
    ours = Space(params)
    for configuration in space.sample_configuration(50):
        ours.check(
            {name: getattr(v, "item", lambda v=v: v)() for name, v in configuration.items()}
        )


def test_configspace_refuses_what_has_no_counterpart(cs):
    def space_with(*hyperparameters):
        space = cs.ConfigurationSpace({"kernel": ["linear", "rbf"], "a": [1, 2]})
        space.add(*hyperparameters)
        return space

    space = space_with()
    space.add(cs.ForbiddenEqualsClause(space["kernel"], "rbf"))
    with pytest.raises(ValueError, match=r"forbidden clause .*kernel"):
        from_configspace(space)

    space = space_with(cs.Constant("x", 1))
    equals = cs.EqualsCondition(space["x"], space["kernel"], "rbf")
    space.add(cs.OrConjunction(equals, cs.EqualsCondition(space["x"], space["a"], 1)))
    with pytest.raises(ValueError, match="only be joined by And"):
        from_configspace(space)

    weighted = cs.CategoricalHyperparameter("w", ["a", "b"], weights=[1, 2])
    with pytest.raises(ValueError, match="'w' have the weights"):
        from_configspace(space_with(weighted))

    log = cs.NormalFloatHyperparameter("g", mu=1, sigma=1, lower=0.1, upper=10, log=True)
    with pytest.raises(ValueError, match=r"'g'.*log-scale"):
        from_configspace(space_with(log))


def test_configspace_unknown_hyperparameters_are_refused():
    class Space(dict):
        forbidden_clauses = ()
        conditions = ()

    with pytest.raises(TypeError, match=r"'a' is .*, not a translatable ConfigSpace"):
        from_configspace(Space(a=SimpleNamespace()))
