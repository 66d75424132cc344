"""Averages selected by the metric, by log loss, or by both, compared with the winner alone.

A list of default models is searched on each frame and table of `systems.py`, up to 4,000 rows of a
frame and 1,000 of a table. The best candidates, at most 14, are trained on all rows. From their
predictions for the test folds averages are selected as `ensemble=True` does, but

- ``winner``: only the best candidate by the metric (accuracy or R2);
- ``metric``, ``log loss``: the average selected by one of them;
- ``both``: the mean of these two, as in the library.

They are compared on up to 3,000 other rows: error (1 - accuracy, 1 - R2), and log loss.

    OMP_NUM_THREADS=1 python examples/benchmarks/averages.py [--frames ...] [--seconds 25]
        [--seeds 2] [--record FILE]

With a record, a line of JSON for each run, only runs not in the record are run.
"""

import argparse
import warnings
from itertools import product
from pathlib import Path

import numpy as np
import systems
from _report import print_rows, recorded
from sklearn.model_selection import train_test_split
from systems import FRAMES, MOST_TRAIN, TABLES, load, of_classes, of_numbers

from sksearch import SearchCV, default_models
from sksearch.estimators._model_choice import model_of
from sksearch.fitting.finish import _members, _outcome
from sksearch.fitting.finish._greedy_selection import (
    _Choice,
    mean_log_probability,
    mean_of_choices,
)

MOST_CANDIDATES, MOST_MEMBERS, ROWS_OF_TABLES, MOST_TEST = 14, 10, 1_000, 3_000


class Kept(_members.Members):
    """Trains all candidates on all rows, and keeps what a selection needs."""

    last = None

    def average(self, winner):
        """Use the winner alone."""
        context, rows = self.setup.context, [*self.rows.values()][:MOST_CANDIDATES]
        wanted = dict(enumerate([*self.trainings.values()][1 : len(rows)], start=1))
        models = {0: winner} | {i: model_of(m) for i, m in self._trained(wanted).items()}
        models = {i: _members.with_probabilities(context, rows[i], models[i]) for i in models}
        Kept.last = {
            "models": [models[i] for i in sorted(models)],
            "predictions": [_members.predictions_of(context, rows[i]) for i in sorted(models)],
            "y": _members.labels_of_kept(context, len(rows[0].outputs)),
            "seconds": [0.0, *(self.seconds[i] for i in sorted(models)[1:])],
            "limit": self.setup.time.of_members(self.seconds),
        }
        return None, winner


def run(frame, seed, seconds):
    """Search, and return the errors and losses of each way."""
    has_classes = (FRAMES | TABLES)[frame]
    X, y = load(frame)
    strata = np.asarray(y).astype(str) if has_classes else None
    n_test = min(MOST_TEST, len(X) // 3)
    train, test = train_test_split(
        np.arange(len(X)), test_size=n_test, random_state=seed + 100, stratify=strata
    )
    train = train[: MOST_TRAIN if frame in FRAMES else ROWS_OF_TABLES]
    X_train, y_train, X_test, truth = X.iloc[train], y.iloc[train], X.iloc[test], y.iloc[test]
    task = "classification" if has_classes else "regression"
    search = SearchCV(default_models(X_train, y_train, task=task), timeout=seconds,
                      ensemble=True, random_state=seed)  # fmt: skip
    search.fit(X_train, y_train)
    kept = Kept.last
    predict = "predict_proba" if has_classes else "predict"
    kept["tested"] = [getattr(model, predict)(X_test) for model in kept.pop("models")]
    known = np.unique(np.asarray(y_train)) if has_classes else None
    return compared(kept, np.asarray(truth), known)


def compared(kept, truth, known):
    """Return error, log loss and number of members of each way.

    Parameters
    ----------
    kept : dict
        For each candidate, the winner first: ``predictions`` for each fold, those for the test
        rows in ``tested``, and ``seconds`` of its training. ``y`` is the target of each fold, and
        ``limit`` the seconds for all members.
    truth : ndarray of shape (n_test,)
        The target of the test rows.
    known : ndarray or None
        The classes, None for numbers.
    """

    def score(part, predictions):
        if known is None:
            return -of_numbers(lambda _: predictions.ravel(), None, None, None, y[part], None)[
                "error"
            ]
        return float(np.mean(known[predictions.argmax(axis=1)] == y[part]))

    def log_likelihood(part, predictions):
        codes = np.searchsorted(known, y[part])[:, np.newaxis]
        return mean_log_probability([predictions], [codes], np.ones(len(codes)))

    y, n = kept["y"], len(kept["tested"])
    rest = kept["predictions"], kept["seconds"], kept["limit"], MOST_MEMBERS, range(n)
    ways = [score] if known is None else [score, log_likelihood]
    one = [_Choice(way, *rest) for way in ways]
    choices = {"metric": one[:1], "log loss": one[1:], "both": one}
    parts = range(len(y))
    counts = {name: mean_of_choices(each, parts) for name, each in choices.items() if each}
    found = {}
    for name, members in ({"winner": {0: 1}} | counts).items():
        weights = [members.get(i, 0) for i in range(n)]
        mixed = np.average(kept["tested"], axis=0, weights=weights)
        if known is None:
            figures = of_numbers(lambda _, p=mixed: p.ravel(), None, None, None, truth, None)
        else:
            labels = known[mixed.argmax(axis=1)]
            figures = of_classes(
                lambda _, p=labels: p, lambda _, p=mixed: p, None, None, truth, known
            )
        found[name] = {key: figures[key] for key in ("error", "loss")} | {"members": len(members)}
    return found


def table(lines):
    """Return the rows of the page: each way relative to the winner, and both to the metric."""
    rows = [["average", "relative to", "error", "at most", "lower", "higher", "p",
             "log loss", "at most", "lower", "higher", "p", "members"]]  # fmt: skip
    lines = list(lines)
    for way, other in [("metric", "winner"), ("log loss", "winner"), ("both", "winner"),
                       ("log loss", "metric"), ("both", "metric")]:  # fmt: skip
        members = np.mean([line[way]["members"] for line in lines if way in line])
        cells = [*cells_of(lines, way, other, "error"), *cells_of(lines, way, other, "loss")]
        rows.append([way, other, *cells, f"{members:.1f}"])
    return rows


def cells_of(lines, way, other, field):
    """Geometric mean and largest ratio, numbers of lower and higher figures, and Wilcoxon's p."""
    pairs = [(line[way][field], line[other][field]) for line in lines if way in line]
    each = np.array([a / b for a, b in pairs if a and b])
    *cells, p = systems.cells_of(each)
    return [*cells, str((each > 1).sum()), p]


def main():
    """Run what is missing, and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    frames = [*FRAMES, *TABLES]
    parser.add_argument("--frames", nargs="+", choices=frames, default=frames)
    parser.add_argument("--seconds", type=float, default=25)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--record", type=Path)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    _outcome.Members = Kept
    pairs = product(args.frames, range(args.seeds))
    keys = [{"frame": frame, "seed": seed, "seconds": args.seconds} for frame, seed in pairs]
    print_rows(table(recorded(args.record, keys, run)))


if __name__ == "__main__":
    main()
