"""The threshold as an outcome of one training, beside `TunedThresholdClassifierCV` and 0.5.

The same candidates of a model, by random search with three folds: with `Threshold()` in the space
of a `FixedThresholdClassifier`, with a `TunedThresholdClassifierCV` around the model, which trains
it six times for each fold and candidate, and with the threshold 0.5. Scores are on rows that no
search has seen. Real tables are taken where ``SKSEARCH_DATA`` names a folder with them.

    python examples/benchmarks/thresholds.py [--seeds 3]
"""

import argparse
import warnings

import numpy as np
from scipy.stats import loguniform, randint, wilcoxon
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    FixedThresholdClassifier,
    StratifiedKFold,
    TunedThresholdClassifierCV,
    train_test_split,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from sksearch import RandomSearchCV
from sksearch.datasets import load
from sksearch.space import Threshold

METRICS = ("f1", "balanced_accuracy")
N_CANDIDATES = 10
MODELS = {
    "linear": (
        make_pipeline(StandardScaler(), LogisticRegression(max_iter=500)),
        {"logisticregression__C": loguniform(1e-3, 100)},
    ),
    "tree": (
        DecisionTreeClassifier(random_state=0),
        {"max_depth": randint(2, 12), "min_samples_leaf": randint(5, 60)},
    ),
}


def tables(seed):
    """Pairs of name and (X, y), with a rare class."""
    for weight in (0.8, 0.9, 0.95):
        yield f"made, {1 - weight:.0%} rare", make_classification(
            3_000, weights=[weight], flip_y=0.05, n_informative=5, class_sep=0.7,
            random_state=seed,
        )  # fmt: skip
    X, y = load_breast_cancer(return_X_y=True)
    yield "breast cancer", (X[:, :4], 1 - y)
    for name in ("churn", "adult"):
        data = load(name, n_samples=4_000, random_state=seed)
        if name in data.source:  # and not a bundled table in its place
            numbers = data.data.select_dtypes("number") if hasattr(data.data, "dtypes") else None
            X = np.asarray(data.data if numbers is None else numbers, dtype=float)
            _, codes = np.unique(np.asarray(data.target), return_inverse=True)
            rare = int(np.bincount(codes).argmin())
            yield name, (np.nan_to_num(X), (codes == rare).astype(int))


def search(how, model, space, metric, seed):
    """Return a search of one of three kinds, and how many trainings it has for each."""
    inner = {f"estimator__{name}": values for name, values in space.items()}
    if how == "outcome":
        model, space = FixedThresholdClassifier(model), inner | {"threshold": Threshold()}
    elif how == "nested":
        model = TunedThresholdClassifierCV(model, scoring=metric, random_state=seed)
        space = inner
    cv = StratifiedKFold(3, shuffle=True, random_state=seed)
    args = {"n_iter": N_CANDIDATES, "scoring": metric, "cv": cv, "random_state": seed}
    found = RandomSearchCV(model, space, **args)
    per_fit = 6 if how == "nested" else 1  # five folds, and once on all rows
    return found, per_fit * (3 * N_CANDIDATES + 1)


def main():
    """Print scores on new rows, and what they cost."""
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=3)
    args = parser.parse_args()
    hows, scores, fits = ("0.5", "nested", "outcome"), {}, {}
    print(f"{'':38}" + "".join(f"{how:>10}" for how in hows))
    for metric in METRICS:
        for kind, (model, space) in MODELS.items():
            for seed in range(args.seeds):
                for name, (X, y) in tables(seed):
                    parts = train_test_split(X, y, test_size=0.5, stratify=y, random_state=seed)
                    for how in hows:
                        found, fits[how] = search(how, model, space, metric, seed)
                        found.fit(parts[0], parts[2])
                        score = found.score(parts[1], parts[3])
                        scores.setdefault((metric, kind, name), {}).setdefault(how, []).append(
                            score
                        )
            for key in [key for key in scores if key[:2] == (metric, kind)]:
                means = "".join(f"{np.mean(scores[key][how]):>10.4f}" for how in hows)
                print(f"{', '.join(key):38}{means}", flush=True)
    print(f"{'trainings':38}" + "".join(f"{fits[how]:>10}" for how in hows))
    for other in ("nested", "0.5"):
        gaps = np.array([np.mean(s["outcome"]) - np.mean(s[other]) for s in scores.values()])
        print(
            f"outcome - {other}: mean {gaps.mean():+.4f}, {(gaps > 0).sum()} better, "
            f"{(gaps < 0).sum()} worse, p {wilcoxon(gaps).pvalue:.2g}; "
            f"{fits['outcome'] / fits[other]:.2f} of the trainings"
        )


if __name__ == "__main__":
    main()
