"""Parameters of searches: their types, their constraints and their texts, each written once.

A parameter is a field of a dataclass; what it may be stands in its annotation, and is what
scikit-learn validates before ``fit``.
"""

import functools
import inspect
import operator
import re
import sys
from dataclasses import Field, dataclass, fields
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin
from weakref import WeakKeyDictionary

from sksearch._utils._compat import Interval, StrOptions
from sksearch.base import Resource

T = TypeVar("T")
NUMBERS = {int: Integral, float: Real}  # as scikit-learn understands them
Count = Annotated[int, Interval(Integral, 1, None, closed="left")]
CountOrAuto = Count | Literal["auto"]
# Each is a list of brackets, which is made before the search begins.
Iterations = Annotated[int, Interval(Integral, 1, 10_000, closed="both")]
Select = Literal["auto", "best", "top"]
Score = Annotated[float, Interval(Real, None, None, closed="neither")]  # and so not NaN
Seconds = Annotated[float, Interval(Real, 0, None, closed="neither")]


# ---- parameters that several searches share, in the base of those that have them


@dataclass(kw_only=True, eq=False, repr=False)
class ModelParameters:
    """Parameters of searches whose proposals learn.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import SGDClassifier
    >>> from sksearch.samplers import TPESampler
    >>> from sksearch.schedulers import FullFidelity
    >>> from sksearch.search import BaseSearch, ModelParameters
    >>> @dataclass(kw_only=True, eq=False, repr=False)
    ... class MySearchCV(ModelParameters, BaseSearch):
    ...     def _compose(self, space, rng):
    ...         return TPESampler(n_initial=self.n_initial), FullFidelity(3)
    >>> X, y = load_iris(return_X_y=True)
    >>> space = {"alpha": [1e-4, 1e-3, 1e-2]}
    >>> search = MySearchCV(SGDClassifier(), space, n_initial=2)
    >>> len(search.fit(X, y).history_.trials)
    3
    """

    n_initial: Count | None = None
    batch_size: CountOrAuto = 1


@dataclass(kw_only=True, eq=False, repr=False)
class PopulationParameters:
    """Parameters of searches whose candidates are made of others.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import RidgeClassifier
    >>> from sksearch.samplers import GeneticSampler
    >>> from sksearch.schedulers import FullFidelity
    >>> from sksearch.search import BaseSearch, PopulationParameters
    >>> @dataclass(kw_only=True, eq=False, repr=False)
    ... class MySearchCV(PopulationParameters, BaseSearch):
    ...     def _compose(self, space, rng):
    ...         return GeneticSampler(self.population_size), FullFidelity(6)
    >>> X, y = load_iris(return_X_y=True)
    >>> search = MySearchCV(RidgeClassifier(), {"alpha": list(range(1, 20))}, population_size=4)
    >>> len(search.fit(X, y).cv_results_["params"])
    6
    """

    population_size: Annotated[int, Interval(Integral, 4, 10**6, closed="both")] | None = None
    batch_size: CountOrAuto = 1


@dataclass(kw_only=True, eq=False, repr=False)
class ResourceParameters:
    """Parameters of searches that spend a resource step by step.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import SGDClassifier
    >>> from sksearch.samplers import RandomSampler
    >>> from sksearch.schedulers import MedianStopping
    >>> from sksearch.search import BaseSearch, ResourceParameters
    >>> @dataclass(kw_only=True, eq=False, repr=False)
    ... class MySearchCV(ResourceParameters, BaseSearch):
    ...     def _compose(self, space, rng):
    ...         return RandomSampler(), MedianStopping(3)
    >>> X, y = load_iris(return_X_y=True)
    >>> space = {"alpha": [1e-4, 1e-3, 1e-2]}
    >>> search = MySearchCV(SGDClassifier(), space, resource="epochs", max_resources=4)
    >>> len(search.fit(X, y).history_.trials)
    3
    """

    resource: str | Resource = "n_samples"
    min_resources: CountOrAuto = "auto"
    max_resources: CountOrAuto = "auto"
    select: Select = "auto"
    audit: Annotated[float, Interval(Real, 0, 1, closed="both")] = 0.0


@dataclass(kw_only=True, eq=False, repr=False)
class HalvingParameters(ResourceParameters):
    """Parameters of searches that promote one candidate in `factor`.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import SGDClassifier
    >>> from sksearch.samplers import RandomSampler
    >>> from sksearch.schedulers import SuccessiveHalving
    >>> from sksearch.search import BaseSearch, HalvingParameters
    >>> @dataclass(kw_only=True, eq=False, repr=False)
    ... class MySearchCV(HalvingParameters, BaseSearch):
    ...     def _compose(self, space, rng):
    ...         return RandomSampler(), SuccessiveHalving(3, self.factor)
    >>> X, y = load_iris(return_X_y=True)
    >>> space = {"alpha": [1e-4, 1e-3, 1e-2]}
    >>> search = MySearchCV(SGDClassifier(), space, resource="epochs", max_resources=3)
    >>> len(search.fit(X, y).history_.trials)
    3
    """

    factor: Annotated[float, Interval(Real, 1, None, closed="neither")] = 3


def constraints_of(annotation: Any) -> list:
    """Translate an annotation into scikit-learn's constraints of a parameter; none for ``Any``.

    It is a class, None, a ``Literal`` of strings, ``Annotated`` with constraints, or a union.
    """
    if get_origin(annotation) is Annotated:
        return list(annotation.__metadata__)
    if get_origin(annotation) in (Union, UnionType):
        return [each for arg in get_args(annotation) for each in constraints_of(arg)]
    if get_origin(annotation) is Literal:
        return [StrOptions(set(get_args(annotation)))]
    if annotation in (None, NoneType):
        return [None]
    kind = NUMBERS.get(annotation, get_origin(annotation) or annotation)
    return [kind] if isinstance(kind, type) and kind is not Any else []


class FieldConstraints:
    """Constraints of all parameters of a search, made from its fields once for each class.

    A class that writes a dict ``_parameter_constraints`` itself has that dict.
    """

    def __init__(self, inherited: dict) -> None:
        self._inherited = inherited
        self._known: WeakKeyDictionary[type, dict] = WeakKeyDictionary()

    def __get__(self, search: object, cls: type) -> dict:
        if cls not in self._known:
            found = {field.name: constraints_of(_evaluated(cls, field)) for field in fields(cls)}
            own = {name: constraints for name, constraints in found.items() if constraints}
            free = dict.fromkeys(found, "no_validation")  # ``fit`` looks at these itself
            self._known[cls] = free | self._inherited | own
        return self._known[cls]


def _evaluated(cls: type, field: Field) -> Any:
    """The annotation of a field; ``Any`` for one whose text names what is not there."""
    if not isinstance(field.type, str):
        return field.type
    owner = next(base for base in cls.__mro__ if field.name in inspect.get_annotations(base))
    try:
        return eval(field.type, vars(sys.modules[owner.__module__]))
    except Exception:  # a name that only type checkers see
        return Any


# ---- texts

ESTIMATOR = """
estimator : estimator object, or list of such or of pairs (str, estimator)
    What to tune: anything with scikit-learn's interface, Pipelines included. Of a list the best
    model is found, too: see `sksearch.estimators.OneOf`.
"""

HEAD = f"""{ESTIMATOR.rstrip()}
param_distributions : dict, list of dict or None, default=None
    As for ``RandomizedSearchCV``: lists of choices, or distributions with an ``rvs`` method,
    such as ``scipy.stats.loguniform(1e-4, 1)``. A list of dicts is a union: each candidate
    comes from one of them. `sksearch.space.When` makes a parameter active only under a
    condition on another one. None: `sksearch.space.default_space` of the estimator. Of several
    models a dict may have spaces by their names.
"""

COMMON = """
scoring : str, callable, list, tuple, dict or None, default=None
    As for ``GridSearchCV``. The metric that `refit` names is optimised, or the first of several
    where it names none.
n_jobs : int or None, default=None
    Count of candidates and folds that are trained at the same time, by the active joblib
    backend. Never changes the result, except where measured seconds count, with `timeout`,
    ``resource="seconds"``, ``acquisition="ei_per_second"`` and ``cost="seconds"``, and, outside
    the main thread, for estimators with ``random_state=None``, which share the global generators.
refit : bool, str, callable, Bound or dict, default=True
    As for ``GridSearchCV``: whether, or by which metric, to train the best candidate on all
    rows. "1se", "simplest" and "fastest" choose among candidates as good as the best but for
    noise, see `sksearch.reporting.one_standard_error`, `sksearch.reporting.simplest` and
    `sksearch.reporting.fastest`; they are for a single metric. Of several `objectives`: True or
    "knee", the candidate of the front where all are good; a metric, the best in it; a `Bound`, the
    best in the first that keeps it; a dict of weights by objective.
cv : int, cross-validation generator, iterable or None, default=None
    As for ``GridSearchCV``. Folds are made once for each ``fit``, so all candidates are
    compared on the same ones.
verbose : int, default=0
    0 prints nothing, 1 shows a status line on standard error, or below the cell of a notebook,
    and 2 adds a line for each rung with its scores. From 3 on there is a line for each training
    instead, as in ``GridSearchCV``. The logger "sksearch" of Python's ``logging`` tells the same,
    whatever the number: INFO begin, rungs and end, WARNING failures, DEBUG each score.
pre_dispatch : int or str, default="2*n_jobs"
    Count of trainings that are handed out to workers in advance.
random_state : int, RandomState instance or None, default=None
    Seed of the candidates, of the subsets of rows, and, for the time of each training, of the
    global generators.
error_score : "raise" or numeric, default=np.nan
    What a failed training is scored in ``cv_results_``. Whatever the number, it ranks last and
    is never promoted. "raise" raises the error at once.
return_train_score : bool, default={return_train_score}
    Whether ``cv_results_`` has the scores on the training rows, too.
objectives : list of str or None, default=None
    Two objectives or more: metrics of `scoring`, greater is better, or with a minus in front
    smaller; "fit_time", "predict_time" (seconds for a row) and "model_size" (bytes), smaller is
    better. Then there is a front of candidates, `pareto_`, `refit` chooses one of them, and a
    sampler that learns from one score learns from weighted objectives, see
    `sksearch.samplers.ScalarisedSampler`; of `patience`, `target_score` and the like the first
    metric is meant. Measured seconds are not the same from run to run; what a checkpoint has is
    replayed.
constraints : callable, Bound, list of them or None, default=None
    What a candidate has to keep. A function ``f(params) -> bool`` is asked before anything is
    spent, and a candidate that it refuses is never trained. A `sksearch.Bound` is on what is
    measured, such as ``Bound("predict_time", "<=", 1e-5)``; a candidate that violates it ranks
    below every one that satisfies it, and is not looked for again. Measured seconds are not the
    same from run to run.
initial_params : dict, list of dict, "auto" or None, default="auto"
    First guesses, evaluated before anything else; ValueError for one outside of the space.
    "auto": where no space is given, the untuned estimator and
    `sksearch.space.first_candidates`. Where one is given, nothing outside of it is ever tried:
    `SearchCV` begins with those of them that lie in it, other searches with none.
prior_results : object, list of objects or None, default=None
    What earlier searches have found: fitted searches of this library or of scikit-learn, their
    ``cv_results_`` as dicts or DataFrames, a `checkpoint_dir`, Optuna studies, or what
    `sksearch.earlier_results` returns. Unless the latter says that the task is the same, they are
    of other tasks or data: proposals follow them as far as results agree, see
    `sksearch.samplers.WarmStart`; with objectives or bounds, as far as a weighted score agrees. A
    clone of this search, as ``cross_val_score`` makes, needs the latter, too: clones of fitted
    searches are not fitted.
prior : dict or None, default=None
    Where good values are expected, by name of the parameter: a distribution of a number's values,
    such as ``{"C": scipy.stats.lognorm(1, scale=10)}``, or a dict of weights of a list's choices.
    Proposals follow it at first, and less with each result, so that a wrong one is forgotten, see
    `sksearch.samplers.PriorSampler` and `sksearch.space.Beliefs`.
timeout : float or None, default=None
    Seconds that the search may take, the refit included, as far as the time that candidates took
    on the folds foretells it. Then no further candidate begins; those that run are waited for,
    and at least one is evaluated. With a `checkpoint_dir` the seconds of earlier starts count, and
    a search whose time was up returns what it found. In a race over folds the untuned estimator,
    which comes first, gets as many folds as fit.
overtime : float or None, default=None
    Seconds that candidates which run when `timeout` is up may go on. Then they are stopped, and
    have no result, so that a candidate that hangs does not keep the search; with a
    `checkpoint_dir` a ``fit`` with more time goes on. Candidates are trained in worker processes
    then, also for ``n_jobs=1``. None: they are waited for, however long that takes.
target_score : float or None, default=None
    Stop when a candidate has reached this score, at full resource or, where it may win there, at
    any rung.
patience : int or None, default=None
    Stop when so many candidates in a row, of those that got the full resource, were no better
    than the best before them.
stop : "converged" or None, default=None
    "converged": stop when as much time again is not expected to bring more than the standard
    error of a difference between the best candidates over the folds, as far as a Gaussian process
    of the scores and one of the seconds can tell. It needs two folds or more.
candidate_timeout : float or None, default=None
    Seconds that the training and scoring of a candidate may take on one fold, from one rung to
    the next. A training that takes longer is stopped and fails, with the status "timeout".
memory_limit : int or None, default=None
    Bytes that a candidate may allocate on one fold, beside the data, a mebibyte at least. A
    candidate that asks for more gets a ``MemoryError`` and fails, with the status "memory". Linux
    only.
max_retries : int, default=1
    How often the training of a candidate on one fold is tried again when its worker process died,
    before it counts as failed, with the status "crash".
devices : list of (int or str) or None, default=None
    CUDA devices, by number or UUID, that the worker processes share in turn: each sees only its
    own. ``n_jobs=4, devices=[0]`` trains four candidates at a time on the first GPU. Where
    devices are named, candidates are trained in worker processes also for ``n_jobs=1``. None:
    workers share in turn all devices that this process sees. Only for workers of this machine.
checkpoint_dir : str, path-like or None, default=None
    Directory in which the search keeps all that it has done. If it ends before its time, whatever
    the reason, the same ``fit`` goes on from there. A search that is the same but for a larger
    `n_iter`, `n_candidates`, `n_iterations` or `max_resources` takes over what it has in common
    with the smaller one. `sksearch.load_history` reads the directory without the data. ``{data}``
    in it stands for what tells X and y apart: so each outer fold of ``cross_val_score`` has a
    directory of its own, as in ``"runs/digits-{data}"``.
ensemble : bool or int, default=False
    Whether the best candidates are averaged, or how many of them at most. `best_estimator_` is
    then their average: candidates and weights are chosen greedily by the score of averages of
    their predictions for the test folds, and each is trained on all rows, in the time that
    `timeout` leaves for it. Where that brings nothing, it is the best candidate alone. See
    `ensemble_`.
"""

N_INITIAL = """
n_initial : int or None, default=None
    Count of quasi-random candidates before the first model. None: between 4 and 10 by the
    number of parameters, fewer in a short search.
"""

POPULATION_SIZE = """
population_size : int or None, default=None
    Count of candidates from which new ones are made, at least 4. None: by the number of
    parameters, see the sampler.
"""

BATCH_SIZE = """
batch_size : int or "auto", default={default}
    Count of candidates that are under way at a time. With 1 only the folds of one candidate are
    trained in parallel; with more, more jobs can run, but each proposal knows less. "auto" is as
    many as keep `n_jobs` workers busy. Then the result depends on `n_jobs`, else not. In a race
    over folds each job is a single fold.
"""

SELECT = """
select : {"auto", "best", "top"}, default="auto"
    The winner: the candidate with the best score at any rung, then trained that far on all
    rows ("best"), or the best of those with the largest resource ("top"). "auto" is "best" where
    rungs can be compared, with epochs, seconds and integer parameters, and "top" with rows and
    folds, where rungs differ in what they are trained or scored on.
""".strip()

RESOURCES = """
resource : str or Resource, default="n_samples"
    What is spent on a candidate step by step: "epochs" (calls of ``partial_fit``, also of the
    last step of a Pipeline), the name of an integer parameter such as ``"n_estimators"``
    (ensembles go on where that is exact but for draws, others are fitted again), "n_samples"
    (rows of the training folds), "folds" (cross-validation folds), or "seconds" of training.
    Epochs, trees and folds are paid for once.
min_resources : int or "auto", default="auto"
    Smallest count of units worth a look. "auto" is 1; for rows, four of each class, but at
    least 1/81 of all. Where not even two rungs fit in, ten candidates get all units.
max_resources : int or "auto", default="auto"
    Count of units that the best candidates get. "auto" is 81 epochs, the estimator's own value
    of a parameter, all rows, all folds; seconds must be given.
{select}
audit : float, default=0.0
    Share of the candidates stopped early that are brought to the last rung nevertheless, when all
    else is done, so that `report` can say what early stopping has cost; `plan` has the units. Only
    where rungs are known beforehand, and so not in asynchronous searches.
""".replace("{select}", SELECT)

ATTRIBUTES = """
cv_results_ : dict of numpy arrays
    As for ``GridSearchCV``.{fidelity} With a `Bound` in `constraints` the column ``violation``
    says by how much bounds are broken, in units of each bound, and columns like
    ``mean_predict_time`` what was measured.
best_estimator_ : estimator object
    The best candidate trained on all rows, if `refit` is not False; with `ensemble` an average.
best_score_ : float
    Mean score over folds of the best candidate. Not set if `refit` is callable.
best_params_ : dict
    Params of the best candidate.
best_index_ : int
    Its row in ``cv_results_``.
scorer_ : callable or dict
    The scorer, a dict of them for several metrics.
n_splits_ : int
    Count of folds.
ensemble_ : sksearch.reporting.Ensemble
    The candidates that `best_estimator_` averages, with their weights and what it brings, if
    `ensemble` is set.
refit_time_ : float
    Seconds that the refit took, that of other candidates in an ensemble included.
multimetric_ : bool
    Whether there are several metrics.
statuses_, errors_ : list of str
    For each row of ``cv_results_`` "ok" or what went wrong ("error", "nan", "timeout", "memory",
    "crash"), and the first line of its error.
history_ : History
    Every trial with status, error and cost of each of its results.
pareto_ : sksearch.reporting.ParetoFront
    With several `objectives`, the candidates that nobody dominates.
metric_ : str
    With several `objectives`, the metric that `best_score_` is of.
plan_ : SearchPlan
    What was planned before anything was spent.
progress_ : Progress
    How far the search is; can be read from another thread while ``fit`` runs.
interrupted_ : bool
    Whether Ctrl-C, SIGTERM or an error ended the search; what was known by then is kept.
classes_ : ndarray of shape (n_classes,)
    Class labels, if the best estimator is a classifier.
n_features_in_ : int
    Count of features, if the best estimator knows it.
feature_names_in_ : ndarray of shape (`n_features_in_`,)
    Names of the features, if the best estimator knows them.
"""

FIDELITY_COLUMNS = """ One row for each candidate and resource
    that it was brought up to, with the columns ``iter`` (index of the rung), ``n_resources``,
    ``bracket`` and ``trial_id``. Ranks put rows of a larger resource first, unless `select` lets
    the best score win at any rung; of equal scores that of the larger resource is first. Where
    the resource is folds, a candidate has one row: one that was dropped has the scores of its
    first folds, and NaN as its mean."""

FIDELITY_ATTRIBUTES = """
audited_ : list of int
    Trials that were stopped and brought to the last rung by `audit`, if that is not 0.
best_n_resources_ : int
    Count of units that the best candidate was brought up to, and trained with on all rows.
min_resources_, max_resources_ : int
    Smallest and largest count of units.
n_resources_, n_candidates_ : list of int
    Units and candidates of each planned rung, bracket by bracket.
n_iterations_ : int
    Count of planned rungs.
"""


def plain(annotation: object) -> Any:
    """Return an annotation without constraints, as one wants to read it in a signature."""
    if get_origin(annotation) is Annotated:
        return get_args(annotation)[0]
    if get_origin(annotation) in (Union, UnionType):
        return functools.reduce(operator.or_, map(plain, get_args(annotation)))
    return annotation


def documented(search: type[T]) -> type[T]:
    """Fill ``{head}``, ``{common}`` and the like in a docstring, and make the signature readable.

    Fields of a dataclass come in the order of its bases; a reader of a signature, a repr or a page
    wants a search's own parameters first, and types without their constraints.

    Parameters
    ----------
    search : type
        The class; its docstring names all of its parameters.

    Returns
    -------
    search : type
        The same class.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from sksearch.search import BaseSearch, documented
    >>> @documented
    ... @dataclass(kw_only=True, eq=False, repr=False)
    ... class MySearchCV(BaseSearch):
    ...     '''A search.
    ...
    ...     Parameters
    ...     ----------
    ...     {head}
    ...     {common}
    ...     '''
    >>> "param_distributions : dict" in MySearchCV.__doc__
    True
    """
    if search.__doc__ is None:  # python -OO
        return search
    fidelity = "{fidelity_attributes}" in search.__doc__
    parts = {
        "estimator": ESTIMATOR,
        "head": HEAD,
        "common": COMMON,
        "return_train_score": str(getattr(search, "return_train_score", False)),
        "n_initial": N_INITIAL,
        "population_size": POPULATION_SIZE,
        "batch_size": BATCH_SIZE.format(default=repr(vars(search).get("batch_size", 1))),
        "resources": RESOURCES,
        "select": SELECT,
        "attributes": ATTRIBUTES.format(fidelity=FIDELITY_COLUMNS if fidelity else ""),
        "fidelity_attributes": FIDELITY_ATTRIBUTES,
    } | getattr(search, "_texts", {})
    doc = inspect.cleandoc(search.__doc__)
    for name, text in parts.items():
        doc = doc.replace("{" + name + "}", text.strip())
    search.__doc__ = doc
    signature = inspect.signature(search.__init__)
    names = re.findall(r"^(\w+) : ", doc.partition("\nAttributes\n")[0], flags=re.MULTILINE)
    first, *others = signature.parameters.values()
    others.sort(key=lambda p: names.index(p.name) if p.name in names else len(names))
    others = [p.replace(annotation=plain(p.annotation)) for p in others]
    vars(search)["__init__"].__signature__ = signature.replace(parameters=[first, *others])
    return search
