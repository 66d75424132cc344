"""Bayesian optimisation with a Gaussian process."""

import numbers
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from sksearch._utils._numerics import one_blas_thread
from sksearch.acquisition._functions import Acquisition
from sksearch.acquisition._maximise import all_points, draw
from sksearch.base import Start
from sksearch.history import History, Params, Prediction
from sksearch.models import GaussianProcess, MixedKernel
from sksearch.models._kernels import FAMILIES
from sksearch.models._learning import prior
from sksearch.samplers._calibration import inflation, widest
from sksearch.samplers._gp_models import GUARDS, Models
from sksearch.samplers._gp_proposal import ACQUISITIONS, PENDING, Proposal
from sksearch.samplers._observations import TRANSFERS, Observations
from sksearch.samplers._subsample import Extract
from sksearch.samplers._surrogate import LearningSampler, first_new

CHOICES = tuple(ACQUISITIONS)
Z_95 = 1.959964  # standard deviations around the mean that contain 95 %


@dataclass(frozen=True)
class GPSampler(LearningSampler):
    """Model scores with a Gaussian process, and propose candidates with high expected improvement.

    Parameters
    ----------
    acquisition : str or Acquisition, default="log_ei"
        "log_ei", the logarithm of the expected improvement; "log_pi", the logarithm of the
        probability of improvement; "lcb", the confidence bound; "ei_per_second", the expected
        improvement divided by the predicted seconds; "thompson", the maximum of a sampled
        function; "entropy", the information about the greatest score, which may explore regions
        without expected improvement [8]_; "portfolio", one of the first three for each proposal,
        chosen with probabilities that increase with the scores of its earlier proposals, similar
        to [5]_; "ei_distribution", a draw from the expected improvement, normalised to a density
        [3]_. The first three are short forms of `acquisition.LogEI`, `acquisition.LogPI` and
        `acquisition.UCB`; pass such an object to set its parameters.
    pending : {"believer", "fantasies", "penalisation", "thompson"}, default="believer"
        Treatment of candidates still running. "believer": they are assigned their predicted means
        [2]_; "fantasies": their scores are sampled several times, and the acquisition function is
        averaged over the samples [1]_; "penalisation": balls around them are excluded; "thompson":
        each proposal is the maximum of a newly sampled function. "believer" and "fantasies" also
        update the best score.
    n_initial : int or None, default=None
        Number of quasi-random candidates before the first model. None: between 4 and 10.
    kernel : {"matern52", "matern32", "matern12", "squared_exponential"}, default="matern52"
        Kernel on the numbers, which determines the smoothness of the score.
    warp : bool, default=False
        Whether a warping of each number is learned.
    marginalise : bool, default=False
        Whether to average the acquisition function over ten samples of the hyperparameters,
        instead of using their most probable values. This takes more time.
    transfer : {"rung", "none", "all", "survivors", "same", "joint"}, default="rung"
        Results to learn from in a search with several rungs. "rung": results at the largest
        resource with enough results; "joint": all results, with the resource as an additional
        coordinate. Both ignore results at less than a fortieth of the largest resource. The other
        values use the results of the current bracket at its lowest rung, and results of earlier
        brackets at the same resource: no results ("none"), all results ("all"), only results of
        candidates that reached the last rung ("survivors", SURV in [6]_), or only results of
        candidates stopped there ("same").
    n_restarts : int, default=0
        Number of random starting points of the optimisation of hyperparameters, in addition to the
        mode of the prior.
    guards : collection of str, default=("interior", "outliers", "prior", "second_opinion", "ties")
        Safeguards against errors of the model, see Notes. ``()`` gives plain Bayesian optimisation
        as in the literature: "log_ei" then has the same maximum as the expected improvement [7]_.

    Notes
    -----
    The score of failed candidates is not imputed. A second process models the probability that a
    candidate does not fail, and the acquisition function is multiplied by it. Measured bounds are
    treated in the same way: a process models the distance to each bound, and the acquisition
    function is multiplied by the probability that the bound is satisfied. The best score is then
    the best among candidates that satisfy all bounds. Before the first such candidate, only the
    probability is maximised.

    To disable a guard, list only the others in `guards`:

    - "interior": the acquisition function is multiplied by a prior belief that the maximum is not
      at the bounds of the ranges, with an influence that decreases with the number of results
      [4]_. Otherwise proposals are often at the bounds, because a Gaussian process is most
      uncertain there. Not used for sampled proposals ("thompson", "ei_distribution").
    - "outliers": very low scores are clipped, and all scores are transformed towards normality.
      Otherwise scores are only standardised, which may be better in a curved valley.
    - "prior": the hyperparameters of the process of scores have a prior. Otherwise they maximise
      the marginal likelihood, as in most papers; this is unreliable with few results.
    - "second_opinion": after five results without an improvement, every second proposal comes from
      `TPESampler`, until the best score improves. A wrong model may otherwise remain wrong,
      because only its own proposals are evaluated.
    - "ties": each candidate with exactly the best score, common for accuracies, raises the minimum
      improvement by 0.3 standard deviations.

    The guards "second_opinion" and "ties" apply only to "log_ei", "log_pi", "lcb", "ei_per_second"
    and `Acquisition` objects, and not with ``transfer="joint"``.

    With more than 500 results and failures, the processes use the 25 best results, a sample of 500
    as in `TPESampler`, and all results since the sample was drawn; a new sample is drawn after
    every 50 results. The time of a proposal therefore does not grow with the number of results,
    except if `TPESampler` uses all results.

    References
    ----------
    .. [1] J. Snoek, H. Larochelle, R. P. Adams, "Practical Bayesian optimization of machine
       learning algorithms", NeurIPS 2012. https://arxiv.org/abs/1206.2944
    .. [2] D. Ginsbourger, R. Le Riche, L. Carraro, "Kriging is well-suited to parallelize
       optimization", 2010. https://doi.org/10.1007/978-3-642-10701-6_6
    .. [3] H. Bertrand, R. Ardon, M. Perrot, I. Bloch, "Hyperparameter optimization of deep
       neural networks: combining Hyperband with Bayesian model selection", CAp 2017.
    .. [4] C. Hvarfner et al., "piBO: Augmenting acquisition functions with user beliefs for
       Bayesian optimization", ICLR 2022. https://arxiv.org/abs/2204.11051
    .. [5] M. Hoffman, E. Brochu, N. de Freitas, "Portfolio allocation for Bayesian
       optimization", UAI 2011. https://arxiv.org/abs/1009.5419
    .. [6] C. Matache, "Efficient design of machine learning hyperparameter optimizers", 2019.
    .. [7] D. R. Jones, M. Schonlau, W. J. Welch, "Efficient global optimization of expensive
       black-box functions", J. Global Optimization 13, 1998.
       https://doi.org/10.1023/A:1008306431147
    .. [8] Z. Wang, S. Jegelka, "Max-value entropy search for efficient Bayesian optimization",
       ICML 2017. https://arxiv.org/abs/1703.01968

    Examples
    --------
    >>> from sksearch.acquisition import UCB
    >>> from sksearch.samplers import GPSampler
    >>> GPSampler(acquisition=UCB(kappa=1.0)).acquisition
    UCB(kappa=1.0)

    Plain expected improvement, without guards:

    >>> GPSampler(guards=()).guards
    ()
    """

    acquisition: str | Acquisition = "log_ei"
    pending: str = "believer"
    n_initial: int | None = None
    kernel: str = "matern52"
    warp: bool = False
    marginalise: bool = False
    transfer: str = "rung"
    n_restarts: int = 0
    guards: Collection[str] = GUARDS
    extract = Extract(25, 500, above=500, renewed=50)

    def __post_init__(self):
        if not isinstance(self.acquisition, (str, Acquisition)):
            raise TypeError(
                f"acquisition={self.acquisition!r} must be a string or an Acquisition, such as "
                "LogEI()."
            )
        if isinstance(self.acquisition, str):
            self._check(acquisition=CHOICES)
        self._check(pending=tuple(PENDING), kernel=tuple(FAMILIES), transfer=TRANSFERS)
        if not isinstance(self.n_restarts, numbers.Integral) or self.n_restarts < 0:
            raise ValueError(f"n_restarts={self.n_restarts!r} must be an integer of at least 0.")
        self._check_guards()

    def _check_guards(self) -> None:
        """Sort the guards into a tuple, so that equal samplers compare equal."""
        if isinstance(self.guards, str) or not isinstance(self.guards, Collection):
            raise TypeError(
                f"guards={self.guards!r} must be a collection of names, such as {GUARDS[:1]!r}, "
                "or ()."
            )
        if unknown := [name for name in self.guards if name not in GUARDS]:
            raise ValueError(f"guards contains {unknown[0]!r}: the names are {', '.join(GUARDS)}.")
        object.__setattr__(self, "guards", tuple(g for g in GUARDS if g in self.guards))

    def _propose(self, history: History, data: Observations, rng: np.random.Generator) -> Params:
        with one_blas_thread():
            return Proposal(self, history, data, rng).params()

    def predict(self, history: History, start: Start, params: Params) -> Prediction | None:
        """Return median and interval of the score, according to the model used for proposals.

        Candidates still running are ignored. For several processes, mean and variance of their
        mixture are used. The interval is widened according to the errors of earlier predictions,
        but is never wider than the interval of earlier scores.

        Parameters
        ----------
        history : History
            History of the search at the time of the proposal.
        start : Start
            Resource and bracket of the candidate.
        params : dict
            Candidate, whether proposed by this sampler or not.

        Returns
        -------
        prediction : Prediction or None
            Prediction; None before the first model is fitted.
        """
        problem = history.problem
        data = self._observe(history, start)
        if not self._is_enough(history, data):
            return None
        U = problem.point(params)[np.newaxis]
        with one_blas_thread():
            models = Models(self, history, data)
            processes = models.scores()
            means, spreads = np.hstack([process.predict(U) for process in processes])
            noises = np.array([process.noise for process in processes])
        mean = means.mean()
        spread = np.sqrt(np.mean(spreads**2 + noises + (means - mean) ** 2))
        at = data.resource[0] if np.ptp(data.resource) == 0 else start.resource
        at = int(problem.max_resources if models.joint else at)
        factor = inflation(history, at)
        z = mean + factor * Z_95 * spread * np.array([-1.0, 0.0, 1.0])
        low, score, high = map(float, models.as_scores(z))
        share = min(1.0, widest(history, at) / (high - low)) if high > low else 1.0
        low, high = score - share * (score - low), score + share * (high - score)
        return Prediction(score, low, high, at, factor * share)

    def _without_model(
        self, history: History, data: Observations, start: Start, rng: np.random.Generator
    ) -> Params:
        if len(data.failed) and not data.ok.any():
            with one_blas_thread():
                return self._avoid_failures(history, data, rng)
        return super()._without_model(history, data, start, rng)

    def _avoid_failures(
        self, history: History, data: Observations, rng: np.random.Generator
    ) -> Params:
        """Before any success, maximise the probability of success, far from failures."""
        kernel = MixedKernel(history.problem.space.categorical)
        gp = GaussianProcess(kernel, prior(kernel)[0])
        gp.fit(data.failed, -np.ones(len(data.failed)))
        points = all_points(history)
        points = draw(history.problem.space, rng, 200) if points is None else points
        mean, sd = gp.predict(points)
        return first_new(history, points[np.argsort(-(mean + sd), kind="stable")])
