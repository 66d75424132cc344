"""Importance finds known effects, of ours and of scikit-learn's searches."""

import numpy as np
import pytest
from scipy.stats import loguniform, norm, uniform
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import GridSearchCV, HalvingRandomSearchCV, RandomizedSearchCV

from sksearch import HyperbandSearchCV, RandomSearchCV, When, minimize
from sksearch.history import History, Problem, Result
from sksearch.samplers import RandomSampler
from sksearch.space import Space
from sksearch.stats import importance
from sksearch.stats._candidates import Candidates
from tests.fakes import Curve

X, Y = np.zeros((12, 1)), np.zeros(12)
UNIT = {name: uniform(0, 1) for name in "abc"}


def random_search(function, space, n=200):
    return minimize(function, space, n_iter=n, sampler=RandomSampler(), random_state=0)


def shares(found):
    return dict(zip(found.names, found.shares, strict=True))


def history_of(scores, space):
    history = History(Problem(Space(space), max_resources=max(r for _, by in scores for r in by)))
    for i, (params, by_resource) in enumerate(scores):
        for k, (resource, score) in enumerate(by_resource.items()):
            if k == 0:
                history.start(params, 0, resource)
            else:
                history.resume(i, resource)
            history.tell(i, resource, Result(score))
    return history


def sobol_g(p):
    pairs = zip("abcd", (0, 1, 4.5, 9), strict=True)
    return np.prod([(abs(4 * p[name] - 2) + a) / (1 + a) for name, a in pairs])


def ishigami(p):
    a, b, c = (2 * np.pi * (p[name] - 0.5) for name in "abc")
    return np.sin(a) + 7 * np.sin(b) ** 2 + 0.1 * c**4 * np.sin(a)


def friedman(p):
    wave = 10 * np.sin(np.pi * p["a"] * p["b"])
    return wave + 20 * (p["c"] - 0.5) ** 2 + 10 * p["d"] + 5 * p["e"]


def branches(p):
    return {"u": 0, "v": 1, "w": 3}[p["kind"]] + 4 * (p.get("a", 0.5) - 0.5) + 2 * p["b"]


KNOWN = {
    "linear": (lambda p: 4 * p["a"] + 2 * p["b"] + p["c"], UNIT, [0.76, 0.19, 0.05]),
    "ishigami": (ishigami, UNIT, [0.31, 0.44, 0]),
    "sobol_g": (sobol_g, {n: uniform(0, 1) for n in "abcd"}, [0.72, 0.18, 0.02, 0.01]),
    "friedman": (
        friedman,
        {n: uniform(0, 1) for n in "abcdef"},
        [0.20, 0.20, 0.09, 0.35, 0.09, 0],
    ),
    "branches": (
        branches,
        {"kind": ["u", "v", "w"], "a": When(uniform(0, 1), "kind", "==", "w"), "b": uniform(0, 1)},
        [0.67, 0.19, 0.14],
    ),
}


@pytest.mark.few(3)
@pytest.mark.parametrize("name", KNOWN)
def test_the_order_of_known_effects_is_found(name):
    function, space, truth = KNOWN[name]
    found = shares(importance(random_search(function, space)))
    ours, truth = np.array([found[parameter] for parameter in space]), np.array(truth)
    larger = truth[:, None] > truth + 0.05
    assert (ours[:, None] > ours)[larger].all()
    assert np.abs(ours - truth).max() < 0.12


def test_intervals_are_around_shares_and_narrower_with_more_candidates():
    few, many = (
        importance(random_search(lambda p: p["a"] + p["b"] / 2, UNIT, n)) for n in (20, 300)
    )
    for found in (few, many):
        assert (found.low <= found.shares).all()
        assert (found.shares <= found.high).all()
    assert (many.high - many.low).sum() < (few.high - few.low).sum() / 2


def test_what_only_a_combination_explains_is_not_a_parameters_share():
    found = importance(random_search(lambda p: (p["a"] > 0.5) ^ (p["b"] > 0.5), UNIT, 400))
    assert found.interactions > 0.8
    assert found.explained > 0.6


def test_noise_explains_nothing():
    rng = np.random.default_rng(0)
    found = importance(random_search(lambda p: rng.normal(), UNIT, 100))
    assert found.explained < 0.1


def test_a_logarithmic_scale_is_used_as_such():
    space = {"a": loguniform(1e-6, 1), "b": uniform(0, 1)}
    found = importance(random_search(lambda p: abs(np.log10(p["a"]) + 5) / 5 + p["b"] / 2, space))
    assert found.names == ["a", "b"]
    assert found.explained > 0.9


def test_a_few_scores_far_below_do_not_decide():
    def function(p):
        return 1e9 if p["b"] > 0.98 else p["a"]

    assert importance(random_search(function, UNIT)).names[0] == "a"


def test_failures_are_left_out_and_counted():
    def function(p):
        return np.nan if p["b"] > 0.8 else p["a"]

    with pytest.warns(UserWarning, match="evaluations failed"):
        history = random_search(function, UNIT, 100)
    found = importance(history)
    assert found.n_candidates + found.n_failed == 100
    assert 10 < found.n_failed < 30
    assert found.names[0] == "a"


def test_results_at_the_largest_resource_with_enough_of_them_count():
    rng = np.random.default_rng(0)
    points = [{"a": rng.random(), "b": rng.random()} for _ in range(60)]
    scores = [
        (p, {1: p["a"]} | ({3: p["b"]} if i < 30 else {}) | ({9: 0.0} if i < 3 else {}))
        for i, p in enumerate(points)
    ]
    found = importance(history_of(scores, {"a": uniform(0, 1), "b": uniform(0, 1)}))
    assert (found.resource, found.n_candidates, found.names[0]) == (3, 30, "b")


def test_a_parameter_of_one_value_is_not_rated():
    found = importance(random_search(lambda p: p["a"], {"a": uniform(0, 1), "b": [3]}, 30))
    assert found.names == ["a"]


def test_equal_scores_have_no_shares():
    found = importance(random_search(lambda p: 1.0, UNIT, 30))
    assert found.shares.tolist() == [0, 0, 0]
    assert (found.interactions, found.explained) == (0, 0)


def test_the_same_seed_gives_the_same_shares():
    found = random_search(lambda p: p["a"], UNIT, 30)
    assert importance(found).shares.tolist() == importance(found).shares.tolist()
    assert importance(found).shares.tolist() != importance(found, random_state=1).shares.tolist()


SPACE = {"quality": uniform(0, 1), "n_steps": [0, 1]}


@pytest.mark.parametrize(
    "search",
    [
        RandomizedSearchCV(Curve(), {"quality": uniform(0, 1)}, n_iter=40, cv=2, random_state=0),
        GridSearchCV(Curve(), {"quality": np.linspace(0, 1, 20).tolist()}, cv=2),
        RandomSearchCV(Curve(), {"quality": uniform(0, 1)}, n_iter=40, cv=2, random_state=0),
        HyperbandSearchCV(
            Curve(), {"quality": uniform(0, 1)}, resource="epochs", max_resources=27, cv=2,
            random_state=0,
        ),
    ],
    ids=lambda search: type(search).__name__,
)  # fmt: skip
def test_searches_of_both_libraries_are_read(search):
    found = importance(search.fit(X, Y))
    assert found.names == ["quality"]
    assert found.shares[0] > 0.5


def test_dicts_of_a_grid_share_their_parameters():
    history = random_search(
        lambda p: {"x": 0, "y": 1}[p["kind"]] + p.get("a", 0),
        [{"kind": ["x"]}, {"kind": ["y"], "a": norm()}],
    )
    found = shares(importance(history))
    assert set(found) == {"kind", "a"}
    assert sum(found.values()) == pytest.approx(1, abs=0.1)


def test_none_among_numbers_is_a_choice():
    space = {"depth": [2, 5, None], "a": uniform(0, 1)}
    found = importance(random_search(lambda p: p["depth"] is None, space, 60))
    assert found.names[0] == "depth"


def test_a_space_that_is_not_known_is_drawn_from_what_was_tried():
    search = RandomSearchCV(Curve(), {"quality": uniform(0, 1)}, n_iter=30, cv=2, random_state=0)
    known = Candidates.of(search.fit(X, Y))
    unknown = Candidates(known.params, known.scores)
    drawn = unknown.draw(np.random.default_rng(0), 500)
    assert set(drawn.ravel()) <= set(unknown.encode(unknown.params).ravel())


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="not fitted"):
        importance(RandomSearchCV(Curve(), SPACE))
    with pytest.raises(TypeError, match="a int is not a fitted search"):
        importance(3)
    with pytest.raises(ValueError, match="only 3 candidates have a score"):
        importance(random_search(lambda p: p["a"], UNIT, 3))
    with pytest.raises(ValueError, match="no parameter has two values"):
        importance(history_of([({"a": 1}, {1: 0.5})] * 6, {"a": [1]}))
    with pytest.raises(ValueError, match="No candidate"):
        importance(history_of([({"a": 1}, {1: np.nan})], {"a": [1, 2]}))
    with pytest.raises(ValueError, match="confidence"):
        importance(random_search(lambda p: p["a"], UNIT, 10), confidence=1.5)


def test_printed_it_is_a_table():
    lines = str(importance(random_search(lambda p: p["a"], UNIT, 100))).splitlines()
    assert lines[0].startswith("a ")
    assert lines[3].startswith("interactions")
    assert lines[4].startswith("100 candidates")


def test_halving_of_scikit_learn_has_rungs():
    search = HalvingRandomSearchCV(
        Curve(), {"quality": uniform(0, 1)}, n_candidates=30, cv=2, random_state=0,
        resource="n_samples", min_resources=4, max_resources=12,
    )  # fmt: skip
    found = importance(search.fit(X, Y))
    assert (found.resource, found.n_candidates) == (12, 10) or found.resource == 4
