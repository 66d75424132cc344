"""What every sampler must do, for all of them."""

import numpy as np
import pytest
from scipy.stats import uniform

from sksearch import samplers
from sksearch.base import Start
from sksearch.history import History, Problem, Result
from sksearch.samplers import (
    DESampler,
    GeneticSampler,
    GPSampler,
    GridSampler,
    NSGA2Sampler,
    PriorSampler,
    PSOSampler,
    QuasiRandomSampler,
    RandomSampler,
    ScalarisedSampler,
    TPESampler,
    WarmStart,
)
from sksearch.samplers._listed import ListedSampler
from sksearch.samplers._warm_start import EarlierTask
from sksearch.schedulers import FullFidelity
from sksearch.space import Space
from sksearch.study import Study
from sksearch.testing import check_sampler
from sksearch.testing._sampler import SPACES
from tests.contracts.learners import LEARNERS, name_of

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
#: Options of Gaussian processes have their own tests beside this one, in test_learning_samplers.
CASES = [
    pytest.param(sampler, name, marks=pytest.mark.whole)
    if isinstance(sampler, GPSampler) and sampler != GPSampler()
    else (sampler, name)
    for sampler in INSTANCES
    for name in SPACES
    if name == "finite" or not isinstance(sampler, (GridSampler, ListedSampler))
]


def ask(sampler, history):
    return sampler.ask(history, Start(1), np.random.default_rng(7))


def test_every_sampler_is_tested_here():
    assert {type(sampler).__name__ for sampler in INSTANCES} - {"ListedSampler"} == set(
        samplers.__all__
    )


@pytest.mark.parametrize(("sampler", "name"), CASES, ids=name_of)
def test_it_does_what_a_search_relies_on(sampler, name):
    check_sampler(sampler, {name: SPACES[name]})


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
        ask(GridSampler(), History(Problem(Space(SPACES["one"]))))


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
