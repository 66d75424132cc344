"""What every sampler must do, for all of them."""

import pickle

import numpy as np
import pytest
from scipy.stats import loguniform, randint, uniform

from sksearch import samplers
from sksearch.base import Start
from sksearch.history import History, Problem, Result
from sksearch.samplers import (
    DESampler,
    EarlierTask,
    GeneticSampler,
    GPSampler,
    GridSampler,
    ListedSampler,
    NSGA2Sampler,
    PriorSampler,
    PSOSampler,
    QuasiRandomSampler,
    RandomSampler,
    ScalarisedSampler,
    TPESampler,
    WarmStart,
)
from sksearch.schedulers import FullFidelity
from sksearch.space import Space, When
from sksearch.study import Study
from tests.contracts.learners import LEARNERS, name_of

FINITE = {"a": list(range(7)), "b": ["x", "y", "z"], "c": randint(0, 3)}
MIXED = {
    "lr": loguniform(1e-4, 1),
    "n_layers": [1, 2, 3],
    "width_2": When(randint(8, 65), "n_layers", ">=", 2),
    "kind": ["a", "b", (1, 2)],
}
UNION = [{"kernel": ["rbf"], "gamma": loguniform(1e-3, 1)}, {"kernel": ["linear"], "C": [1, 2]}]
SPACES = {"finite": FINITE, "mixed": MIXED, "union": UNION, "one": {"x": uniform(0, 1)}}

EARLIER = [  # of all spaces: a search hears what its own space has
    EarlierTask(
        [space.sample(rng) for space in map(Space, SPACES.values()) for _ in range(9)],
        rng.random(9 * len(SPACES)),
    )
    for rng in map(np.random.default_rng, range(3))
]
INSTANCES = [
    RandomSampler(),
    GridSampler(),
    ListedSampler(({"a": 1, "b": "x", "c": 2}, {"a": 3, "b": "y", "c": 0})),
    *(QuasiRandomSampler(method, 16) for method in ("sobol", "halton", "hammersley", "lhs")),
    NSGA2Sampler(population_size=6),
    ScalarisedSampler(TPESampler()),
    *LEARNERS,
    WarmStart(RandomSampler(), EARLIER),
    WarmStart(TPESampler(), EARLIER),
    PriorSampler(RandomSampler()),
]
CASES = [
    (sampler, name)
    for sampler in INSTANCES
    for name in SPACES
    if name == "finite" or not isinstance(sampler, (GridSampler, ListedSampler))
]


def history_of(name, n_trials, scores):
    """A history of draws with these scores in turn; None: they are running."""
    history = History(Problem(Space(SPACES[name]), 1, 9, seed=3))
    rng = np.random.default_rng(5)
    for i in range(n_trials):
        trial = history.start(history.problem.space.sample(rng), 0, 1)
        if scores is not None and scores[i % len(scores)] is not None:
            history.tell(trial.id, 1, Result(scores[i % len(scores)]))
    return history


def ask(sampler, history):
    return sampler.ask(history, Start(1), np.random.default_rng(7))


def test_every_sampler_is_tested_here():
    assert {type(sampler).__name__ for sampler in INSTANCES} | {"EarlierTask"} == set(
        samplers.__all__
    )


#: Count of trials, and the scores that they have by turns; without any they run.
KNOWN = {
    "empty": (0, None),
    "one": (1, [0.5]),
    "pending": (5, None),
    "failed": (9, [np.nan]),
    "all equal": (9, [1.0]),
    "some failed": (20, [0.1, np.nan, 0.7]),
    "some pending": (20, [0.1, 0.5, None, 0.7, 0.3]),
    "failed or pending": (20, [np.nan, None]),
}


@pytest.mark.parametrize(("sampler", "name"), CASES, ids=name_of)
def test_proposals_are_in_the_space_and_change_nothing(sampler, name):
    for known, (n_trials, scores) in KNOWN.items():
        history = history_of(name, n_trials, scores)
        before = pickle.dumps(history)
        params = ask(sampler, history)
        history.problem.space.check(params, where=known)
        assert pickle.dumps(history) == before, known


@pytest.mark.parametrize(("sampler", "name"), CASES, ids=name_of)
def test_proposals_depend_on_history_and_generator_alone(sampler, name):
    first = ask(sampler, history_of(name, 6, [0.1, 0.2]))
    history = history_of(name, 6, [0.1, 0.2])
    assert ask(sampler, history) == first
    assert ask(sampler, history) == first, "the cache must not matter"
    assert ask(pickle.loads(pickle.dumps(sampler)), pickle.loads(pickle.dumps(history))) == first


@pytest.mark.parametrize(("sampler", "name"), CASES, ids=name_of)
def test_a_study_never_starts_a_candidate_twice(sampler, name):
    n = 11 if sampler.reads.results else 60
    study = Study(Problem(Space(SPACES[name]), seed=1), sampler, FullFidelity(n))
    while (job := study.ask()) is not None:
        study.tell(job, Result(0.0))
    trials = study.history.trials
    assert len(study.history.keys) == len(trials) == n


@pytest.mark.parametrize("sampler", INSTANCES, ids=name_of)
def test_a_finite_space_is_gone_through_to_its_end(sampler):
    space = Space(FINITE)
    study = Study(Problem(space, seed=1), sampler, FullFidelity(1000))
    while (job := study.ask()) is not None:
        study.tell(job, Result(0.0))
    assert study.history.keys == {space.key(space.candidate(i)) for i in range(space.size)}


@pytest.mark.parametrize("method", ["sobol", "halton", "hammersley", "lhs"])
def test_designs_cover_each_coordinate_more_evenly_than_draws(method):
    history = History(Problem(Space({f"x{i}": uniform(0, 1) for i in range(3)}), seed=0))
    sampler = QuasiRandomSampler(method, 64)
    for _ in range(64):
        history.start(ask(sampler, history), 0, 1)
    points = np.array([list(trial.params.values()) for trial in history.trials])
    for column in np.sort(points, axis=0).T:
        gap = np.abs(column - (np.arange(64) + 0.5) / 64).max()
        assert gap < 0.06, "64 independent draws are at about 0.11"


def test_the_hammersley_grid_is_shuffled():
    history = History(Problem(Space({"x": uniform(0, 1), "y": uniform(0, 1)}), seed=0))
    for _ in range(32):
        history.start(ask(QuasiRandomSampler("hammersley", 32), history), 0, 1)
    x = np.array([trial.params["x"] for trial in history.trials])
    assert np.diff(x).min() < 0 < np.diff(x).max()
    np.testing.assert_allclose(np.diff(np.sort(x)), 1 / 32, atol=1e-12)


def test_a_grid_of_a_continuous_space_is_refused():
    with pytest.raises(ValueError, match="continuous"):
        ask(GridSampler(), history_of("one", 0, None))


@pytest.mark.parametrize("kwargs", [{"method": "fibonacci"}, {"n_points": 0}])
def test_bad_designs_are_refused(kwargs):
    with pytest.raises(ValueError, match=next(iter(kwargs))):
        QuasiRandomSampler(**kwargs)


GOLDEN = [
    (RandomSampler(), [("a", 0.2984911434141233), ("c", 0.8549855028524541)]),
    (QuasiRandomSampler("sobol"), [("a", 0.5298733506351709), ("c", 0.12071502022445202)]),
    (QuasiRandomSampler("halton"), [("c", 0.37879699646432), ("a", 0.7121303297976536)]),
    (
        QuasiRandomSampler("hammersley", 16),
        [("b", 0.9198911606198797), ("b", 0.35739116061987974)],
    ),
    (QuasiRandomSampler("lhs", 16), [("b", 0.11583413322690744), ("a", 0.9624096384760229)]),
]


@pytest.mark.parametrize(("sampler", "expected"), GOLDEN, ids=name_of)
def test_proposals_of_a_seed_do_not_change_from_version_to_version(sampler, expected):
    space = Space({"x": uniform(0, 1), "k": ["a", "b", "c"]})
    study = Study(Problem(space, seed=2), sampler, FullFidelity(2))
    found = [study.ask().params for _ in range(2)]
    assert [params["k"] for params in found] == [k for k, _ in expected]
    np.testing.assert_allclose([params["x"] for params in found], [x for _, x in expected])


LEARNT = [
    (
        TPESampler(n_initial=4),
        "abbb",
        [0.007124385932, 0.509515206477, 0.538290630186, 0.907648634025],
    ),
    (
        TPESampler(n_initial=4, multivariate=False),
        "bbbb",
        [0.007141191605, 0.018433636104, 0.570806434716, 0.691537439074],
    ),
    (
        DESampler(4),
        "acaa",
        [0.112946455806, 0.372353648171, 0.870848729275, 0.81105169697],
    ),
    (
        GeneticSampler(4),
        "ccbb",
        [0.289220258151, 0.641517219321, 0.277739828492, 0.062312901462],
    ),
    (
        PSOSampler(4),
        "acca",
        [0.329873350635, 0.16314153003, 0.801888155314, 0.757067392316],
    ),
    (GPSampler(n_initial=4), "abbb", [0.1390313, 0.3022363, 0.1899048, 0.3563593]),
]


@pytest.mark.parametrize(("sampler", "choices", "places"), LEARNT, ids=name_of)
def test_proposals_that_learn_do_not_change_from_version_to_version(sampler, choices, places):
    space = Space({"x": uniform(0, 1), "k": ["a", "b", "c"]})
    study = Study(Problem(space, seed=2), sampler, FullFidelity(8))
    found = []
    while (job := study.ask()) is not None:
        found.append(job.params)
        study.tell(job, Result(-((job.params["x"] - 0.3) ** 2) - 0.1 * (job.params["k"] != "b")))
    assert "".join(params["k"] for params in found[4:]) == choices
    # A gradient search ends where rounding lets it.
    atol = 1e-3 if isinstance(sampler, GPSampler) else 1e-9
    np.testing.assert_allclose([params["x"] for params in found[4:]], places, atol=atol)
