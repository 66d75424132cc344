"""What should `SearchCV` spend on larger tables: folds, as it does, or rows as well?

12,000 rows to search with, 8,000 others to test on, three folds, 60 processor seconds on one core:
the race over folds that `SearchCV` chooses, beside short brackets of halving on rows, with the
same space, first candidates and sampler.

    OMP_NUM_THREADS=1 python examples/benchmarks/rows.py [--rows 12000] [--seconds 60]
"""

import argparse
import time
import warnings

import _tables_cases as cases
from _tables_clock import Clock
from sklearn.base import clone

from sksearch import SearchCV
from sksearch.samplers import GPSampler
from sksearch.schedulers import IteratedHalving

PAIRS = (
    ("adult", "forest"),
    ("letter", "svm"),
    ("magic", "mlp"),
    ("letter", "histgb"),
    ("california_housing", "lightgbm"),
)
WAYS = {
    "race over folds": {},
    "brackets on rows": {
        "scheduler": IteratedHalving(),
        "resource": "n_samples",
        "sampler": GPSampler("ei_per_second"),
        "initial_params": "auto",
    },
}


def main():
    """Run all pairs and print them."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=12_000)
    parser.add_argument("--seconds", type=float, default=60)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    cases.N_SEARCH, cases.N_TEST = args.rows, 8_000
    Clock(1.0).install("sksearch")
    for table, name in PAIRS:
        case = cases.make_case(table, name, 0)
        start = time.process_time()
        score = clone(case.model).fit(case.X, case.y).score(case.X_test, case.y_test)
        seconds = time.process_time() - start
        print(f"{table} {name}, {len(case.y)} rows: as it is {score:.4f}, {seconds:.1f} s a fit")
        for way, kwargs in WAYS.items():
            search = SearchCV(
                clone(case.model), timeout=args.seconds, cv=case.folds, random_state=0, **kwargs
            ).fit(case.X, case.y)
            trials = search.history_.trials
            top = search.max_resources_
            n_top = sum(top in trial.results for trial in trials)
            test = search.score(case.X_test, case.y_test)
            print(
                f"  {way:17s} CV {search.best_score_:.4f}, test {test:.4f}; {len(trials)} "
                f"candidates, {n_top} at the top",
                flush=True,
            )


if __name__ == "__main__":
    main()
