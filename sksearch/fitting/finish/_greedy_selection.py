"""Members and weights of an average: greedy selection with replacement.

An average begins with the best candidate. Repeatedly the candidate joins that gives the average of
test predictions the best score; a candidate may join several times (Caruana et al., Ensemble
selection from libraries of models, ICML 2004). The score is the metric of the search. Classifiers
are selected a second time by log loss, and the weights are the mean of both selections: on a few
hundred rows accuracy hardly distinguishes averages, but log loss does.

The best of that many averages has an optimistic score on its own rows, so the gain is measured on
each fold by the choice made on the others.
"""

import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sksearch._utils._compat import to_numpy
from sksearch._utils._seeds import seeded
from sksearch._utils._typing import Predictor
from sksearch.fitting.finish._fixed_predictors import (
    NotOfPredictionsError,
    ScoredRows,
    known_model,
)
from sksearch.fitting.run._known_rows import ALL_ROWS
from sksearch.fitting.run._metric_calls import Call, Heard
from sksearch.fitting.run._predictions import as_classes, split_columns, weights_of
from sksearch.fitting.run._tasks import Context

N_STEPS = 25  # steps of the choice; weights are multiples of 1 / N_STEPS
N_IN_VAIN = 4  # steps without a better average, after which it ends
# Standard errors by which an average must be worse for one candidate to be used alone
N_ERRORS = 2
ROUNDING = 1e-9  # relative
LEAST = 1e-6  # probability that counts instead of a lower one
N_PIECES = 5  # parts of the rows, if there is a single fold

#: Predictions for each part of the rows, arrays of shape (n_rows, n_columns).
Predictions = Sequence[np.ndarray]


class AverageScores:
    """Scores averages of predictions, part by part of the rows that these are of.

    Parameters
    ----------
    context : Context
        Context of the search, with the rows of the kept predictions.
    n_folds : int
        Number of the folds on which all candidates have been.
    """

    def __init__(self, context: Context, n_folds: int) -> None:
        self._context = context
        pieces = range(N_PIECES) if n_folds == 1 else [None]
        self._parts = [(fold, piece) for fold in range(n_folds) for piece in pieces]
        kept: Any = context.kept
        self._rows = [
            ScoredRows(context, fold, kept[fold] if piece is None else kept[fold][piece::N_PIECES])
            for fold, piece in self._parts
        ]
        self._formulas: dict[int, Callable[[Any], float] | None] = {}
        self._classes = as_classes(context.classes)
        self._codes: dict[int, list[np.ndarray]] = {}  # columns of the true classes, by part
        self._weights: list[np.ndarray] = []  # for log losses
        if self._classes:
            self._weights = [weights_of(context, rows.indices) for rows in self._rows]

    def __len__(self) -> int:
        return len(self._parts)

    def divide(self, by_fold: Predictions) -> Predictions:
        """Return predictions by part, of those by fold."""
        return [by_fold[fold][piece::N_PIECES] if piece is not None else by_fold[fold]
                for fold, piece in self._parts]  # fmt: skip

    def ways(self) -> list[Callable[[int, np.ndarray], float]]:
        """Return the functions by which averages are selected."""
        return [self.score, self.log_likelihood] if self._classes else [self.score]

    def log_likelihood(self, part: int, predictions: np.ndarray) -> float:
        """Return the mean logarithm of the probability of the true class."""
        if part not in self._codes:
            y = to_numpy(self._rows[part].y)
            columns = zip(self._classes, y.reshape(len(y), -1).T, strict=True)
            self._codes[part] = [np.searchsorted(*each)[:, np.newaxis] for each in columns]
        shares = split_columns(predictions, self._classes)
        return mean_log_probability(shares, self._codes[part], self._weights[part])

    def score(self, part: int, predictions: np.ndarray) -> float:
        """Return the score of the deciding metric; -inf if undefined.

        Raises
        ------
        NotOfPredictionsError
            If the scorer needs more than the known predictions.
        """
        rows = self._rows[part]
        model = known_model(self._context, rows.known, predictions)
        formula = self._formulas.get(part)
        if formula is not None:
            value = formula(model)
        else:
            value, call = self._scored(rows, model)
            found = [] if call is None else ways_to(call.predicted, model)
            # If both match, decide by the next model
            if part not in self._formulas and len(found) < 2:
                self._formulas[part] = quick(call, *found) if call is not None and found else None
        return value if np.isfinite(value) else -np.inf

    def _scored(self, rows: ScoredRows, model: Predictor) -> tuple[float, Call | None]:
        """Return the score of a model by the scorer, and the call of its metric."""
        heard = Heard(rows.y)
        try:
            with seeded(self._context.seed):  # scorers may draw rows: the same for all averages
                value = rows.score(self._context, model, heard.scorer(self._context))
        except NotOfPredictionsError:
            raise
        except Exception:  # a part of the rows may have no score, such as an AUC of one class
            return np.nan, None
        return value, heard.call(value)


def mean_log_probability(
    shares: Sequence[np.ndarray], codes: Sequence[np.ndarray], weights: np.ndarray
) -> float:
    """Weighted mean logarithm of the probabilities in these columns, by column of the target."""
    pairs = zip(shares, codes, strict=True)
    given = [np.take_along_axis(share, columns, axis=1) for share, columns in pairs]
    logs = np.log(np.maximum(given, LEAST)) * weights[:, np.newaxis]
    return float(logs.sum() / (len(given) * (weights.sum() or 1.0)))


#: Predictions that scorers request, for all rows at once.
READINGS: tuple[Callable[[Any], Any], ...] = (
    lambda model: model.predict(ALL_ROWS),
    lambda model: model.predict_proba(ALL_ROWS),
    lambda model: model.predict_proba(ALL_ROWS)[:, 1],
    lambda model: model.decision_function(ALL_ROWS),
)


def ways_to(predicted: np.ndarray, model: Predictor) -> list[Callable[[Any], Any]]:
    """Return possible outputs of a model: probabilities of 0 and 1 are equal to the labels."""
    found = []
    for read in READINGS:
        with suppress(Exception):
            if np.array_equal(np.ravel(read(model)), predicted.ravel()):
                found.append(read)
    return found


def quick(call: Call, read: Callable[[Any], Any]) -> Callable[[Any], float]:
    """Return a quick way from a model to its score: scorers check for longer than they compute."""
    return lambda each: call.value(read(each))


@dataclass(frozen=True)
class Average:
    """An average of candidates.

    Parameters
    ----------
    weights : dict of int to float
        Weights by candidate; they sum to 1.
    score : float
        Score of averages, each chosen on the other folds.
    alone : float
        Score of the best candidates, each chosen on the other folds.
    """

    weights: dict[int, float]
    score: float
    alone: float


def choose_average(
    scores: AverageScores,
    candidates: Sequence[Predictions],
    seconds: Sequence[float],
    limit: float,
    most: int,
    without: Collection[int] = (),
    own: Mapping[int, Sequence[float]] | None = None,
) -> Average:
    """Choose candidates, and how much each counts.

    Parameters
    ----------
    scores : AverageScores
        Scores averages.
    candidates : list of list of ndarray
        Predictions of each candidate, by part; the first is used alone if an average brings
        nothing.
    seconds : list of float
        Seconds until the model of each is there.
    limit : float
        Seconds for all models together.
    most : int
        Largest number of models.
    without : collection of int, default=()
        Candidates to exclude.
    own : dict of int to list of float or None, default=None
        Scores of candidates used alone, by part, if the search has them: a model may predict
        another class than the one it gives the largest probability.

    Returns
    -------
    average : Average
        The first candidate alone, if an average would not be better.
    """
    may_be = [i for i in range(len(candidates)) if i not in without]
    alone: dict[tuple[int, tuple[int, ...]], float]
    alone = {(part, (i,)): s for i, each in (own or {}).items() for part, s in enumerate(each)}
    rest = candidates, seconds, limit, most, may_be
    choices = [_Choice(way, *rest, alone if way == scores.score else {}) for way in scores.ways()]
    choice, parts = choices[0], range(len(scores))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings of metrics for averages that are not used
        found, singles = [], []
        for k in parts:
            others = [part for part in parts if part != k]
            average = tuple(mean_of_choices(choices, others).elements())
            found.append(choice.mean_score(average, [k]))
            best = max(may_be, key=lambda i: choice.mean_score((i,), others))
            singles.append(choice.mean_score((best,), [k]))
        counts = mean_of_choices(choices, parts)
        if len(counts) == 1 or _is_worse(found, singles):
            counts = Counter({0: 1})
    total = counts.total()
    weights = {i: n / total for i, n in counts.items()}
    return Average(weights, float(np.mean(found)), float(np.mean(singles)))


def mean_of_choices(choices: "Sequence[_Choice]", parts: Collection[int]) -> Counter[int]:
    """Return the weights of candidates, the mean over choices, as multiples of a common unit."""
    total = Counter[int]()
    for choice in choices:
        found = choice.made_on(parts, total)
        n, n_found = total.total() or 1, found.total()
        total = Counter({i: total[i] * n_found + found[i] * n for i in total | found})
    return total


def _is_worse(found: Sequence[float], singles: Sequence[float]) -> bool:
    """True if averages are worse than single candidates, beyond noise.

    On other rows they rarely are, even if a few folds suggest it: ten of 63 searches of real
    tables had a mean difference below 0, and seven of their averages were better on other rows.
    The standard error of a few folds may be large by chance, so that a difference of the standard
    deviation of a candidate's scores also counts.
    """
    differences = np.subtract(found, singles)
    error = differences.std(ddof=1) / np.sqrt(len(differences))
    tolerated = np.minimum(N_ERRORS * error, np.std(singles, ddof=1))
    return not differences.mean() >= -tolerated - ROUNDING * abs(np.mean(singles))


@dataclass(frozen=True)
class _Choice:
    """Chooses averages by their scores on some parts of the rows."""

    score: Callable[[int, np.ndarray], float]
    candidates: Sequence[Predictions]
    seconds: Sequence[float]
    limit: float
    most: int
    may_be: Sequence[int]
    _known: dict[tuple[int, tuple[int, ...]], float] = field(default_factory=dict)

    def made_on(self, parts: Collection[int], members: Collection[int] = ()) -> Counter[int]:
        """Return how often each candidate is in the best average.

        `members` are trained in any case.
        """
        joined: tuple[int, ...] = ()
        best, n_best = -np.inf, 0
        while len(joined) < N_STEPS and len(joined) - n_best < N_IN_VAIN:
            values = {
                i: self.mean_score((*joined, i), parts)
                for i in self._may_join({*joined, *members})
            }
            i = max(values, key=values.__getitem__)  # the first of equal ones
            joined = (*joined, i)
            if values[i] > best:
                best, n_best = values[i], len(joined)
        return Counter(joined[: max(1, n_best)])

    def mean_score(self, joined: tuple[int, ...], parts: Iterable[int]) -> float:
        """Return the mean over parts of the score of the average of candidates.

        Choices on other parts ask for most of the same averages again.
        """
        key, found = tuple(sorted(joined)), []
        key = key[:1] if key[0] == key[-1] else key  # of one candidate alone
        for part in parts:
            if (part, key) not in self._known:
                self._known[part, key] = self._score(part, key)
            found.append(self._known[part, key])
        return float(np.mean(found))

    def _score(self, part: int, joined: tuple[int, ...]) -> float:
        counts = Counter(joined)
        predictions = [self.candidates[i][part] for i in counts]
        return self.score(part, np.average(predictions, axis=0, weights=[*counts.values()]))

    def _may_join(self, known: Collection[int]) -> list[int]:
        """Candidates already trained, or for which there is time and room."""
        left = self.limit - sum(self.seconds[i] for i in known)
        has_room = len(known) < self.most
        return [i for i in self.may_be if i in known or (has_room and self.seconds[i] <= left)]
