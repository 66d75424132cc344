"""Use of the user's prior by samplers without a model."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sksearch.base import Reads, Sampler, Start
from sksearch.history import History, Params, Prediction, Problem
from sksearch.space import Beliefs

MOST = 0.5  # share of the draws from the prior at first
ENOUGH = 10.0  # the share of the prior is ENOUGH / n, but at most one half


@dataclass(frozen=True)
class PriorSampler(Sampler):
    """Draw some candidates from the user's prior, and take the others from any sampler.

    The prior is the parameter `prior` of the search. It is not needed around samplers with a
    Gaussian process, densities or a forest, which use the prior themselves.

    Parameters
    ----------
    sampler : Sampler
        Sampler of the other candidates.

    Notes
    -----
    The n-th candidate is drawn from the prior with a probability of 1 / 2 or 10 / n, whichever is
    smaller. The mixture of the prior and the uniform distribution follows [1]_; the decay of the
    prior follows [2]_. Among n > 20 candidates, about 10 + 10 log(n / 20) are drawn from the
    prior, such as 26 of 100. A misleading prior costs no more than these candidates.

    References
    ----------
    .. [1] N. Mallik et al., "PriorBand: practical hyperparameter optimization in the age of deep
       learning", NeurIPS 2023. https://arxiv.org/abs/2306.12370
    .. [2] C. Hvarfner et al., "piBO: Augmenting acquisition functions with user beliefs for
       Bayesian optimization", ICLR 2022. https://arxiv.org/abs/2204.11051

    Examples
    --------
    >>> from scipy.stats import loguniform, lognorm
    >>> from sksearch.history import Problem
    >>> from sksearch.samplers import PriorSampler, RandomSampler
    >>> from sksearch.schedulers import FullFidelity
    >>> from sksearch.space import Beliefs, Space
    >>> from sksearch.study import Study
    >>> space = Space({"C": loguniform(1e-6, 1e6)})
    >>> problem = Problem(space, prior=Beliefs(space, {"C": lognorm(0.5, scale=10)}))
    >>> study = Study(problem, PriorSampler(RandomSampler()), FullFidelity(20))
    >>> sum(3 < study.ask().params["C"] < 30 for _ in range(20))  # of 12 decades this is one
    10
    """

    sampler: Sampler

    def __post_init__(self) -> None:
        if not isinstance(self.sampler, Sampler):
            raise TypeError(
                f"sampler={self.sampler!r} must be a Sampler, such as RandomSampler()."
            )

    @property
    def reads(self) -> Reads:
        """Declarations of the sampler, with the prior added."""
        return replace(self.sampler.reads, prior=True)

    def ask(self, history: History, start: Start, rng: np.random.Generator) -> Params:
        """Draw from the prior, or ask the sampler."""
        problem = history.problem
        n = max(1, len(history.trials) - len(problem.initial_params) + 1)
        if problem.prior is not None and rng.random() < min(MOST, ENOUGH / n):
            return problem.prior.sample(rng)
        return self.sampler.ask(history, start, rng)

    def predict(self, history: History, start: Start, params: Params) -> Prediction | None:
        """Return the prediction of the model of the sampler, for any candidate."""
        return self.sampler.predict(history, start, params)


def with_prior(problem: Problem, sampler: Sampler, prior: Any) -> tuple[Problem, Sampler]:
    """Add the user's beliefs to a problem, and make its sampler follow them.

    Parameters
    ----------
    problem : Problem
        Problem of the search.
    sampler : Sampler
        Any sampler.
    prior : dict or None
        As for `sksearch.space.Beliefs`; None leaves both unchanged.

    Returns
    -------
    problem : Problem
        Problem with the prior.
    sampler : Sampler
        The same if it weights its proposals by the prior, otherwise mixed with draws from it.

    Raises
    ------
    TypeError, ValueError
        If the beliefs do not fit the space, see `Beliefs`.
    """
    if prior is None:
        return problem, sampler
    problem = replace(problem, prior=Beliefs(problem.space, prior))
    return problem, sampler if sampler.reads.prior else PriorSampler(sampler)
