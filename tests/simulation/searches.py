"""Small searches, drawn: class, space, scheduler, resource, folds, metrics and failures."""

from dataclasses import dataclass, field, replace

import numpy as np
from scipy.stats import randint, uniform
from sklearn.model_selection import KFold, ShuffleSplit

import sksearch
from sksearch import Bound, When
from sksearch.samplers import RandomSampler, TPESampler
from sksearch.schedulers import FoldRace, FullFidelity, MedianStopping
from sksearch.search import earlier_results
from tests.simulation.chance import happens
from tests.simulation.functions import draw_function
from tests.simulation.learners import Learner, by_both, by_noise, by_score


@dataclass
class Drawn:
    """A search as it can be made again and again."""

    name: str
    kwargs: dict
    estimator: dict
    space: object
    n_workers: int = 1
    generator: bool = False  # random_state is one, and no number
    small: dict = field(default_factory=dict)  # what it has less of at first, until it grows

    def make(self, folder=None, **changes):
        """Make the search, not fitted."""
        kwargs = self.kwargs | changes
        if self.generator:
            kwargs["random_state"] = np.random.RandomState(kwargs["random_state"])
        estimator = Learner(**self.estimator)
        return getattr(sksearch.search, self.name)(
            estimator, self.space, checkpoint_dir=folder, **kwargs
        )

    def another(self, rng):
        """A search that differs; None for the same one."""
        kind = rng.randrange(4)
        kwargs, estimator, space = self.kwargs, self.estimator, self.space
        if kind == 0:
            kwargs = kwargs | {"random_state": kwargs["random_state"] + 1}
        elif kind == 1:
            estimator = estimator | {"fails_above": 1.5}
        elif kind == 2:
            space = space | {"quality": uniform(0, 0.9)}
        else:
            return None
        known = self.kwargs.get("known", {}).keys() & {"results", "params"}
        # Of a larger space there may be more candidates, and so fewer rows than a fold can have.
        if kind == 2 and (known or self.name in GRIDS or self.name.startswith("Halving")):
            return None
        return replace(self, kwargs=kwargs, estimator=estimator, space=space, small={})

    def __str__(self):
        return f"{self.name}({self.estimator}, {self.space}, {self.kwargs})"


#: Each with how often it is drawn. Those with models of a surface are slow, and so rare.
CLASSES = {
    "RandomSearchCV": 12,
    "QuasiRandomSearchCV": 3,
    "RandomizedSearchCV": 3,
    "GridSearchCV": 3,
    "HalvingGridSearchCV": 4,
    "HalvingRandomSearchCV": 4,
    "SearchCV": 10,
    "SuccessiveHalvingSearchCV": 14,
    "HyperbandSearchCV": 14,
    "ASHASearchCV": 8,
    "PASHASearchCV": 6,
    "PBTSearchCV": 10,
    "EvolutionSearchCV": 15,
    "DEHBSearchCV": 5,
    "TPESearchCV": 3,
    "BOHBSearchCV": 3,
    "HalvingSearchCV": 2,
    "IncrementalEvaluationSearchCV": 3,
    "GPBayesSearchCV": 1,
}
BY_FIDELITY = {
    "SuccessiveHalvingSearchCV", "HyperbandSearchCV", "ASHASearchCV", "PASHASearchCV",
    "DEHBSearchCV", "BOHBSearchCV", "HalvingSearchCV", "IncrementalEvaluationSearchCV",
}  # fmt: skip
GRIDS = {"GridSearchCV", "HalvingGridSearchCV"}
LEARNING = {
    "EvolutionSearchCV", "TPESearchCV", "BOHBSearchCV", "HalvingSearchCV", "HyperbandSearchCV",
    "GPBayesSearchCV", "DEHBSearchCV",
}  # fmt: skip
#: Whose candidates do not depend on their count: what a smaller search did is not done again.
GROWING = {"RandomSearchCV", "QuasiRandomSearchCV", "SuccessiveHalvingSearchCV"}
ASYNCHRONOUS = {"ASHASearchCV", "PASHASearchCV", "PBTSearchCV"}


def draw_search(rng):
    """Draw a search of five to fifty jobs."""
    drawn = draw_fit(rng) if happens(rng, 0.88) else draw_function(rng, draw_space(rng, False))
    if happens(rng, 0.12) and not drawn.estimator and drawn.kwargs.get("resource") != "folds":
        drawn.kwargs["timeout"] = rng.choice([2.0, 5.0, 20.0, 60.0])
        if isinstance(drawn, Drawn) and happens(rng, 0.3):
            drawn.kwargs.setdefault("stop", {})["overtime"] = rng.choice([0.3, 3.0, 30.0])
        drawn.small = {}
    return drawn


def draw_fit(rng):
    """Draw a search of an estimator."""
    name = rng.choices(list(CLASSES), list(CLASSES.values()))[0]
    kwargs = {
        "random_state": rng.randrange(1000),
        "refit": happens(rng, 0.3),
        "cv": draw_folds(rng),
        "return_train_score": happens(rng, 0.2),
    }
    draw_scoring(rng, kwargs)
    space = draw_space(rng, is_grid=name in GRIDS)
    estimator = {}
    if happens(rng, 0.25):
        estimator["fails_above"] = rng.uniform(0.6, 1.0)
    if happens(rng, 0.15):
        estimator["diverges_below"] = rng.uniform(0.0, 0.4)
    is_async = draw_size(rng, name, kwargs)
    if name in LEARNING:  # otherwise the order of results depends on the workers
        kwargs["workers"] = {"batch_size": rng.randint(1, 4) if happens(rng, 0.5) else 1}
    elif name in ("SearchCV", "IncrementalEvaluationSearchCV"):
        kwargs["workers"] = {"batch_size": 2}
    if happens(rng, 0.15) and kwargs.get("resource") != "folds" and not is_async:
        kwargs["ensemble"] = rng.randint(1, 3)
    if kwargs.get("resource") != "folds":  # whose rows grow while they last
        draw_stops(rng, kwargs)
    draw_knowledge(rng, kwargs, space)
    small = {}
    for size in {"n_iter", "n_candidates"} & kwargs.keys():
        grows = name in GROWING and "stop" not in kwargs
        if grows and "quality" in space and not isinstance(space["quality"], list):
            small = {size: rng.randint(2, kwargs[size])} if happens(rng, 0.3) else {}
    return Drawn(
        name,
        kwargs,
        estimator,
        space,
        n_workers=1 if is_async else rng.randint(1, 4),
        generator=happens(rng, 0.1),
        small=small,
    )


def draw_folds(rng):
    """Draw the folds of a search."""
    kind = rng.randrange(5)
    if kind == 0:
        return KFold(3)
    if kind == 1:
        return ShuffleSplit(2, test_size=0.3, random_state=rng.randrange(9))
    if kind == 2:
        return [(list(range(8)), list(range(8, 12)))]
    return 2


def draw_scoring(rng, kwargs):
    """Draw one metric or several, and which counts."""
    kind = rng.randrange(6)
    if kind == 0:
        kwargs["scoring"] = by_score
    elif kind == 1:
        kwargs["scoring"] = {"score": by_score, "noise": by_noise}
    elif kind == 2:
        kwargs["scoring"] = by_both
    if kind in (1, 2):
        kwargs["refit"] = rng.choice(["score", "noise"])
    if kind in (1, 2) and happens(rng, 0.3):
        kwargs["known"] = {"constraints": Bound("noise", ">=", rng.uniform(-0.8, 0.0))}
    if kind in (1, 2) and happens(rng, 0.3):
        kwargs["objectives"] = ["score", "noise"]


def draw_stops(rng, kwargs):
    """Draw what ends a search before its plan does."""
    if happens(rng, 0.1):
        kwargs["stop"] = {"score": rng.uniform(0.5, 1.0)}
    if happens(rng, 0.1):
        kwargs.setdefault("stop", {})["patience"] = rng.randint(1, 4)


def draw_knowledge(rng, kwargs, space):
    """Draw what is known before: first candidates, earlier results."""
    quality = space["quality"]
    values = [
        rng.choice(quality) if isinstance(quality, list) else round(rng.uniform(0, 1), 3)
        for _ in range(4)
    ]
    rest = {name: 0 for name in ("other",) if not isinstance(space.get(name, 0), int)}
    rest = {"kind": "b"} | rest if "kind" in space else rest
    known = kwargs.setdefault("known", {})
    if happens(rng, 0.15):
        known["params"] = [{"quality": value} | rest for value in values[:2]]
    if happens(rng, 0.15):
        table = {"params": [{"quality": v} | rest for v in values], "mean_test_score": values}
        aims = "objectives" in kwargs or "constraints" in known
        same = happens(rng, 0.5) and not aims
        known["results"] = earlier_results(table, same_task=same)


def draw_space(rng, is_grid):
    """Draw a space: of one parameter or several, finite or not, with a condition or none."""
    if is_grid or happens(rng, 0.15):
        values = [round(rng.uniform(0, 1), 3) for _ in range(rng.randint(2, 4))]
        return {"quality": values, "other": list(range(rng.randint(1, 3)))}
    space = {"quality": uniform(0, 1)}
    if happens(rng, 0.5):
        space["other"] = randint(0, 6)
    if happens(rng, 0.4):
        space["kind"] = ["a", "b"]
        if "other" in space and happens(rng, 0.5):
            space["other"] = When(randint(0, 6), "kind", "==", "b")
    return space


def draw_size(rng, name, kwargs):
    """Draw how much is spent, and on what; return whether results count as they come."""
    if name in BY_FIDELITY:
        resource = rng.choice(["epochs", "epochs", "n_samples", "folds"])
        kwargs["resource"] = resource
        if resource == "epochs":
            kwargs["min_resources"], kwargs["max_resources"] = 1, rng.choice([3, 4, 9])
        elif resource == "folds":
            kwargs["cv"] = KFold(4)
            kwargs["min_resources"] = 1
        else:
            kwargs["min_resources"] = 2
        kwargs["factor" if name != "IncrementalEvaluationSearchCV" else "keep"] = (
            rng.choice([2, 3]) if name != "IncrementalEvaluationSearchCV" else 0.34
        )
        if name in ("SuccessiveHalvingSearchCV", "ASHASearchCV", "PASHASearchCV"):
            kwargs["n_candidates"] = rng.randint(4, 16)
    elif name in ("HalvingGridSearchCV", "HalvingRandomSearchCV"):
        kwargs["resource"] = rng.choice(["n_samples", "n_samples", "epochs"])
        kwargs["factor"], kwargs["min_resources"] = rng.choice([1.5, 2, 3]), rng.randint(1, 3)
        kwargs["max_resources"] = rng.choice([6, 9])
        kwargs["aggressive_elimination"] = happens(rng, 0.3)
        if name == "HalvingRandomSearchCV":
            kwargs["n_candidates"] = rng.randint(3, 8)
    elif name == "PBTSearchCV":
        kwargs["population_size"] = rng.randint(3, 6)
        kwargs["resource"], kwargs["max_resources"] = "epochs", rng.choice([3, 5])
        kwargs["step"] = 1
    elif name == "SearchCV":
        kwargs["sampler"] = rng.choice([RandomSampler(), RandomSampler(), TPESampler()])
        kwargs["scheduler"] = rng.choice(
            [FullFidelity(rng.randint(4, 12)), FoldRace(rng.randint(4, 10)), MedianStopping(8)]
        )
        if isinstance(kwargs["scheduler"], MedianStopping):
            kwargs["resource"], kwargs["max_resources"] = "epochs", 4
        elif isinstance(kwargs["scheduler"], FoldRace):
            kwargs["resource"], kwargs["cv"] = "folds", KFold(4)
        return isinstance(kwargs["scheduler"], MedianStopping)
    elif name not in GRIDS:
        kwargs["n_iter"] = rng.randint(4, 20)
    return name in ASYNCHRONOUS
