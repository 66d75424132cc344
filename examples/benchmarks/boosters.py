"""What rungs of trees cost if boosters go on from the last rung, and if they do not.

Successive halving over ``n_estimators`` from 9 to 243 with LightGBM, XGBoost and CatBoost, on rows
of one table. "Anew" fits each candidate from its first tree at each rung. The candidates are the
same, and they draw nothing, so the scores are, too: this is asserted. Times are seconds of the
processor, the shortest of the repeats.

    python examples/benchmarks/boosters.py [--rows 15000] [--table magic] [--repeats 3]
"""

import argparse
import time
from dataclasses import dataclass

import numpy as np
from catboost import CatBoostClassifier
from lightgbm import LGBMClassifier
from scipy.stats import loguniform, randint
from threadpoolctl import threadpool_limits
from xgboost import XGBClassifier

from sksearch import SuccessiveHalvingSearchCV
from sksearch.base import Resource
from sksearch.base._resource import fit
from sksearch.datasets import load

N_TREES = 243
BOOSTERS = {
    "LightGBM": (LGBMClassifier(verbose=-1, n_jobs=1), {"num_leaves": randint(4, 64)}),
    "XGBoost": (XGBClassifier(n_jobs=1), {"max_depth": randint(2, 8)}),
    "CatBoost": (
        CatBoostClassifier(
            verbose=0, allow_writing_files=False, thread_count=1, bootstrap_type="No",
            random_strength=0, leaf_estimation_iterations=1,
        ),
        {"depth": randint(2, 8)},
    ),
}  # fmt: skip


@dataclass(frozen=True)
class FittedAnew(Resource):
    """Trees, all of them made again at each rung."""

    unit = "n_estimators"
    comparable = True

    def limits(self, estimator, n_samples, n_splits, n_classes):
        """One tree, and all."""
        return 1, N_TREES

    def params(self, params, amount):
        """The params, with the count of trees."""
        return {**params, "n_estimators": amount}

    def train(self, state, X, y, amount, spent, classes, fit_params):
        """Fit with so many trees."""
        state.estimator.set_params(n_estimators=amount)
        fit(state.estimator, X, y, fit_params)
        return state


def search(estimator, space, resource, data):
    """Seconds, trees for each fold, and the scores of all rows."""
    space = {"learning_rate": loguniform(0.01, 0.3), **space}
    found = SuccessiveHalvingSearchCV(
        estimator, space, resource=resource, min_resources=9, max_resources=N_TREES,
        n_candidates=27, cv=3, random_state=0, refit=False, scoring="neg_log_loss",
    )  # fmt: skip
    start = time.process_time()
    found.fit(data.data, data.target)
    seconds = time.process_time() - start
    return seconds, found.plan_.total_resources, found.cv_results_["mean_test_score"]


def main():
    """Search in turn, print the shortest times."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=15_000)
    parser.add_argument("--table", default="magic")
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    data = load(args.table, args.rows)
    with threadpool_limits(1):
        for name, booster in BOOSTERS.items():
            pairs = [
                [search(*booster, resource, data) for resource in ("n_estimators", FittedAnew())]
                for _ in range(args.repeats)
            ]
            (_, made, scores), (_, all_made, others) = pairs[0]
            np.testing.assert_allclose(scores, others, rtol=1e-9)
            going_on, anew = (min(found[0] for found in way) for way in zip(*pairs, strict=True))
            print(
                f"{name:8} goes on {going_on:5.1f} s, anew {anew:5.1f} s: "
                f"{going_on / anew:.2f} of the time, {made / all_made:.2f} of the trees",
                flush=True,
            )


if __name__ == "__main__":
    main()
