"""The average of the best candidates: its members and its gain."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Ensemble:
    """Candidates averaged by a search, with their weights.

    Parameters
    ----------
    weights : dict of int to float
        Weights by row of ``cv_results_``; they sum to 1.
    params : list of dict
        Parameters of each candidate.
    score : float or None
        Score of the average, as a mean over the folds. Each fold is scored by an average chosen on
        the other folds, so the score is not biased by the selection. None if there was only one
        candidate.
    alone : float or None
        Score, computed in the same way, of the best candidate alone.

    Attributes
    ----------
    gain : float
        Difference between both scores; 0 if one candidate is used alone. The average is used
        unless it is worse by more than two standard errors of the difference.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from sksearch import RandomSearchCV
    >>> search = RandomSearchCV(
    ...     DecisionTreeClassifier(random_state=0), {"max_features": [1, 2, 3, 5, 8, 13]},
    ...     n_iter=6, scoring="neg_log_loss", ensemble=True, random_state=0,
    ... ).fit(*load_wine(return_X_y=True))
    >>> bool(search.ensemble_.gain > 0.5)
    True
    >>> round(sum(search.ensemble_.weights.values()), 6)
    1.0
    """

    weights: Mapping[int, float]
    params: Sequence[dict[str, Any]]
    score: float | None
    alone: float | None

    @property
    def gain(self) -> float:
        """Difference between the scores of the average and of the best candidate alone."""
        if self.score is None or self.alone is None or len(self) == 1:
            return 0.0
        return self.score - self.alone

    def to_frame(self) -> Any:
        """Return a pandas DataFrame of weights and parameters, sorted by decreasing weight."""
        import pandas as pd

        frame = pd.DataFrame(list(self.params), index=list(self.weights))
        frame.insert(0, "weight", list(self.weights.values()))
        return frame.sort_values("weight", ascending=False, kind="stable")

    def __len__(self) -> int:
        return len(self.weights)

    def __str__(self) -> str:
        if self.score is None:
            return "One candidate is used alone: no other candidate can be averaged with it."
        found = f"chosen on the other folds, the best candidate scores {self.alone:.4g}"
        if len(self) == 1:
            return f"One candidate is used alone: {found}, an average {self.score:.4g}."
        pairs = zip(self.weights.items(), self.params, strict=True)
        lines = [(weight, f"  {weight:>4.0%}  row {i}: {params}") for (i, weight), params in pairs]
        lines.sort(key=lambda line: -line[0])
        head = f"{len(self)} candidates are averaged: {found}, the average {self.score:.4g}."
        return "\n".join([head, *(line for _, line in lines)])
