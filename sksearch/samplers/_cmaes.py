"""CMA-ES on the package ``cmaes``, rebuilt from the history.

==========  ======================================================================
lambda      size of a generation
draw        a point in the optimizer's coordinates, before rounding to a candidate
==========  ======================================================================
"""

import copy
import importlib.util
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from sksearch._utils._on_demand import missing
from sksearch.base import Reads, Sampler, Start
from sksearch.history import History, Params, Problem, Result
from sksearch.samplers._observations import MAX_RESOURCE_RATIO, ResultIndex
from sksearch.space import Space

MIN_SIZE = 4  # least size of a population, half of which is selected
N_DRAWS = 100  # maximum number of draws to find a new candidate
N_RESAMPLED = 50  # maximum number of draws to find an allowed point inside the ranges
MIN_STEP = 1e-6  # least step on the unit cube; with smaller steps the distribution restarts
MAX_DOUBLINGS = 5  # doublings of the population
MAX_STEPS = 15  # maximum number of values of an integer, or ordered choices, for a margin of each
DRAW, RESTART = 0xC3A, 0xC3B  # words of seeds, unique to this module


@dataclass(frozen=True)
class CMAESSampler(Sampler):
    """Draw from a normal distribution that follows the results: CMA-ES with margin.

    Numbers are drawn from a joint normal distribution on the unit cube, and choices from
    probabilities. Mean, step size, covariances and probabilities are updated in each generation.
    Margins ensure a minimum probability for every integer and every choice [1]_. It requires the
    package ``cmaes``: ``pip install ".[cma]"`` in a clone of the repository.

    Parameters
    ----------
    population_size : int or None, default=None
        Number of candidates in a generation, at least 4. None: ``4 + floor(3 log(n_dims))``.
    sigma : float, default=0.2
        Initial standard deviation, as a share of the range of each parameter.

    Raises
    ------
    ImportError
        If ``cmaes`` is not installed.
    ValueError
        If a parameter is out of its range.

    Notes
    -----
    The distribution is a function of the history: it is computed by repeating the draws in the
    order of the log. A generation consists of `population_size` results at the same resource, in
    the order of their arrival, so it never waits for running candidates; their results may enter a
    later generation. Results at less than a fortieth of the largest resource are ignored.

    Only the ranks of scores are used; candidates that violate bounds rank below all others, and
    failed ones last. A generation of equal scores is ignored. If a draw equals a known candidate,
    it gets the known score, and another one is drawn. The initial mean is the first of the user's
    candidates, otherwise the best candidate of an earlier search, otherwise the middle of the
    space. If steps become smaller than a millionth of the space, or one of the other criteria of
    ``cmaes`` is met, it restarts at a random point with twice the population.

    References
    ----------
    .. [1] R. Hamano, S. Saito, M. Nomura, K. Uchida, S. Shirakawa, "CatCMA with margin:
       stochastic optimization for continuous, integer, and categorical variables", GECCO 2025.
       https://arxiv.org/abs/2504.07884
    .. [2] N. Hansen, "The CMA evolution strategy: a tutorial", 2016.
       https://arxiv.org/abs/1604.00772

    Examples
    --------
    >>> from sksearch.samplers import CMAESSampler
    >>> from sksearch.schedulers import FullFidelity
    >>> from sksearch.simulators import Branin, GammaCurves
    >>> from sksearch.simulators import play
    >>> problem = GammaCurves(Branin())
    >>> history = play(CMAESSampler(), FullFidelity(80), problem, random_state=0)
    >>> bool(max(trial.results[81].score for trial in history.trials) > -1)  # at best -0.398
    True
    """

    population_size: int | None = None
    sigma: float = 0.2
    reads = Reads(results=True, bounds=True)

    def __post_init__(self) -> None:
        if self.population_size is not None and self.population_size < MIN_SIZE:
            raise ValueError(
                f"population_size={self.population_size} must be at least {MIN_SIZE}, or None."
            )
        if not 0 < self.sigma <= 1:
            raise ValueError(
                f"sigma={self.sigma} must be greater than 0 and at most 1, as a share of each "
                "parameter's range."
            )
        if importlib.util.find_spec("cmaes") is None:
            raise missing("CMA-ES needs the package cmaes", "cma")

    def ask(self, history: History, start: Start, rng: np.random.Generator) -> Params:
        """Draw a candidate from the distribution learned so far."""
        space = history.problem.space
        if not any(dimension.size > 1 for dimension in space.dimensions):
            return space.sample(rng)
        evolution = history.cache.get(self)
        if evolution is None:
            evolution = history.cache[self] = Evolution(self, history.problem)
        evolution.read(history)
        params = evolution.propose()
        return space.sample(rng) if params is None else params


class Evolution:
    """State of CMA-ES after a part of the log."""

    def __init__(self, sampler: CMAESSampler, problem: Problem):
        self.sampler = sampler
        self.problem = problem
        self.code = Encoding(problem.space)
        self.n_read = 0
        self.n_restarts = 0
        self.optimizer = self._make(self._first_mean())
        self.draws: list[Any] = []  # of all trials
        self.trial_ids: dict[tuple, int] = {}  # by key
        self.latest: dict[int, tuple[int, Result]] = {}  # resource and result by trial id
        # Proposal for the next trial, and its position in the log:
        self.proposal: tuple[int, Params, Any] | None = None
        # Draws and results of the current generation, by resource:
        self.generations: dict[int, list[tuple[Any, Result]]] = {}

    def __deepcopy__(self, memo: dict) -> "Evolution":
        # A proposal changes only the distribution and the current generation.
        other = copy.copy(self)
        other.optimizer = copy.deepcopy(self.optimizer)
        other.generations = {r: list(results) for r, results in self.generations.items()}
        return other

    def read(self, history: History) -> None:
        """Process new entries of the log."""
        space, points = self.problem.space, ResultIndex.of(history).points.rows
        for place, (event, trial_id, resource) in enumerate(
            history.log[self.n_read :], self.n_read
        ):
            trial = history.trials[trial_id]
            if event == "tell":
                self.latest[trial_id] = resource, trial.results[resource]
                self._enter(self.draws[trial_id], *self.latest[trial_id])
            elif trial_id == len(self.draws):
                params, draw = self._draw_at(place, trial_id)
                key = space.key(trial.params)
                drawn = params is trial.params or (params and space.key(params) == key)
                if not drawn:  # a user's candidate, or a random draw
                    draw = self.code.encode(points[trial_id], self.optimizer)
                self.draws.append(draw)
                self.trial_ids[key] = trial_id
        self.n_read = len(history.log)

    def propose(self) -> Params | None:
        """Return parameters of the next trial, None if no new ones were drawn; changes nothing."""
        trial_id = len(self.draws)
        if self.proposal is None or self.proposal[0] != self.n_read:
            params, draw = self._sample(self._rng(trial_id))
            if self.problem.space.key(params) in self.trial_ids:
                return copy.deepcopy(self)._draw(trial_id)[0]
            self.proposal = self.n_read, params, draw
        return self.proposal[1]

    def _rng(self, trial_id: int) -> np.random.RandomState:
        words = np.random.SeedSequence((self.problem.seed, DRAW, trial_id))
        return np.random.RandomState(np.random.PCG64(words))  # seeding MT19937 takes long

    def _sample(self, rng: np.random.RandomState) -> tuple[Params, Any]:
        """Return parameters and a draw, if possible inside the ranges and allowed."""
        self.optimizer._rng = rng
        for _ in range(N_RESAMPLED):
            draw = self.optimizer.ask()
            # Clipped draws would be proposed at the end of the range repeatedly.
            if draw.x is not None and (draw.x != draw._v_raw[: len(draw.x)]).any():
                continue
            params = self.problem.space.from_unit(self.code.decode(draw))
            if self.problem.allows is None or self.problem.allows(params):
                return params, draw
        return self.problem.space.from_unit(self.code.decode(draw)), draw

    def _draw_at(self, place: int, trial_id: int) -> tuple[Params | None, Any]:
        """Return parameters and draw of a new trial, the proposed ones if still up to date."""
        if self.proposal is not None and self.proposal[0] == place:
            return self.proposal[1:]
        return self._draw(trial_id)

    def _draw(self, trial_id: int) -> tuple[Params | None, Any]:
        """Return parameters and draw of a new trial, or None; known draws are entered."""
        rng, key_of = self._rng(trial_id), self.problem.space.key
        for _ in range(N_DRAWS):
            params, draw = self._sample(rng)
            known = self.trial_ids.get(key_of(params))
            if known is None:
                return params, draw
            if known in self.latest:
                self._enter(draw, *self.latest[known])
        return None, None

    def _enter(self, draw: Any, resource: int, result: Result) -> None:
        """Add a result to its generation, and update the distribution from a complete one."""
        if resource * MAX_RESOURCE_RATIO < self.problem.max_resources:
            return
        generation = self.generations.setdefault(resource, [])
        generation.append((draw, result))
        if len(generation) < self.optimizer.population_size:
            return
        del self.generations[resource]
        # Failures rank below violated bounds, and those below low scores.
        failed = [math.isnan(result.score) for _, result in generation]
        broken = [result.violation for _, result in generation]
        losses = [0.0 if f else -r.score for f, (_, r) in zip(failed, generation, strict=True)]
        if len(set(zip(failed, broken, losses, strict=True))) == 1:
            return  # nothing to learn
        # The loss of a diverged fit would distort the scale of the others.
        order = np.lexsort((losses, broken, failed))
        self.optimizer.tell([(generation[i][0], float(rank)) for rank, i in enumerate(order)])
        if self.code.n_numbers and self._is_over():
            self.n_restarts += 1
            self.generations.clear()
            rng = np.random.default_rng((self.problem.seed, RESTART, self.n_restarts))
            self.optimizer = self._make(rng.random(self.problem.space.n_dims))

    def _is_over(self) -> bool:
        steps = self.optimizer._sigma * np.sqrt(np.diag(self.optimizer._C))
        return bool(steps.max() < MIN_STEP) or self.optimizer.should_stop()

    def _first_mean(self) -> np.ndarray:
        """Return the mean of the first distribution, a point of the cube."""
        space = self.problem.space
        known = sorted(self.problem.known, key=lambda pair: -pair[1])
        guesses = [params for params in self.problem.initial_params if space.contains(params)]
        guesses += [params for params, _ in known]
        u = space.to_unit(guesses[0]) if guesses else np.full(space.n_dims, np.nan)
        return np.where(np.isnan(u), 0.5, u)

    def _make(self, mean: np.ndarray) -> Any:
        """Return an optimizer that starts at a point of the cube."""
        import cmaes

        code = self.code
        n = code.n_numbers
        size = self.sampler.population_size
        size = size or 4 + math.floor(3 * math.log(n + len(code.choices)))
        return cmaes.CatCMAwM(
            x_space=[[0.0, 1.0]] * len(code.reals) or None,
            z_space=code.places or None,
            c_space=code.n_choices or None,
            population_size=size * 2 ** min(self.n_restarts, MAX_DOUBLINGS),
            mean=mean[code.numbers] if n else None,
            sigma=self.sampler.sigma,
            cov=np.eye(n) if n else None,
        )


class Encoding:
    """Encoding of a space's coordinates for ``cmaes``: reals, steps and choices.

    Parameters with two values are choices, as its authors advise; constants are left out.
    """

    def __init__(self, space: Space):
        sizes = np.array([d.size for d in space.dimensions])
        choices = (sizes == 2) | (space.categorical & (sizes > 1))
        steps = ~choices & (sizes > 2) & (sizes <= MAX_STEPS)
        self.n_dims = space.n_dims
        self.reals = np.flatnonzero(~choices & ~steps & (sizes > 1))
        self.steps = np.flatnonzero(steps)
        self.choices = np.flatnonzero(choices)
        self.numbers = np.r_[self.reals, self.steps]
        self.n_numbers = len(self.numbers)
        self.n_choices = [int(n) for n in sizes[self.choices]]
        ladders: list[Any] = [space.dimensions[j] for j in self.steps]
        self.places = [[d.to_unit(d.value(i)) for i in range(int(d.size))] for d in ladders]

    def decode(self, draw: Any) -> np.ndarray:
        """Return the point of the unit cube."""
        u = np.full(self.n_dims, 0.5)
        if draw.x is not None:
            u[self.reals] = draw.x
        if draw.z is not None:
            u[self.steps] = draw.z
        if draw.c is not None:
            u[self.choices] = (draw.c.argmax(axis=1) + 0.5) / self.n_choices
        return u

    def encode(self, u: np.ndarray, optimizer: Any) -> Any:
        """Return a draw for a point; NaN becomes the mean, without effect."""
        v = z = c = None
        if self.n_numbers:
            v = np.where(np.isnan(u[self.numbers]), optimizer._mean, u[self.numbers])
            z = v[len(self.reals) :]
        if self.n_choices:
            which = np.floor(np.nan_to_num(u[self.choices]) * self.n_choices).astype(int)
            likely = optimizer._q.argmax(axis=1)
            which = np.where(np.isnan(u[self.choices]), likely, which)
            c = np.arange(max(self.n_choices)) == which[:, np.newaxis]
        return type(optimizer).Solution(None if v is None else v[: len(self.reals)], z, c, v)
