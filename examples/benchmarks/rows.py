"""What `SearchCV` does with larger tables in a short time, where one training is dear.

12,000 rows to search with, 8,000 others to test on, three folds, 20 processor seconds on one core.
`SearchCV` as it is, which trains the folds on as many rows as leave time for some trainings;
beside the same race on all rows of the folds, and brackets of halving on rows. All have the same
space, first candidates and model of the scores.

    OMP_NUM_THREADS=1 python examples/benchmarks/rows.py [--rows 12000] [--seconds 20] [--brackets]
"""

import argparse
import time
import warnings

import _tables_cases as cases
import numpy as np
from _tables_clock import Clock
from sklearn.base import clone

from sksearch import SearchCV
from sksearch.samplers import GPSampler
from sksearch.schedulers._iterated_halving import IteratedHalving

#: The size at which rows are left out was chosen on these.
DEVELOPMENT = (
    ("letter", "svm"),
    ("magic", "mlp"),
    ("house_16h", "svm"),
    ("california_housing", "mlp"),
    ("adult", "forest"),
    ("california_housing", "lightgbm"),
)
REPORTED = (
    ("pol", "svm"),
    ("nursery", "svm"),
    ("diamonds", "svm"),
    ("diamonds", "mlp"),
    ("pol", "mlp"),
    ("letter", "mlp"),
    ("adult", "svm"),
    ("diamonds", "forest"),
    ("pol", "histgb"),
)
WAYS = {"as it chooses": {}, "all rows": {"resource": "folds"}}
BRACKETS = {
    "brackets on rows": {
        "scheduler": IteratedHalving(),
        "resource": "n_samples",
        "sampler": GPSampler("ei_per_second"),
        "known": {"params": "auto"},
    },
}


def run(case, kwargs, seconds):
    """Search, and print and return the score on the test rows.

    Parameters
    ----------
    case : Case
        Data and estimator.
    kwargs : dict of str to object
        Of `SearchCV`.
    seconds : float
        Of processor time.

    Returns
    -------
    score : float
        On the test rows.
    """
    start = time.process_time()
    search = SearchCV(
        clone(case.model), timeout=seconds, cv=case.folds, random_state=0, **kwargs
    ).fit(case.X, case.y)
    seconds = time.process_time() - start
    trials, top = search.history_.trials, search.max_resources_
    n_top = sum(top in trial.results for trial in trials)
    test = search.score(case.X_test, case.y_test)
    rows = next((note for note in search.plan_.notes if note.startswith("rows: ")), "rows: all")
    print(
        f"test {test:.4f}; {len(trials)} candidates, {n_top} at the top, {seconds:.0f} s, "
        f"{rows.split(' in ')[0]}",
        flush=True,
    )
    return test


def main():
    """Run all pairs and print them."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=12_000)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--brackets", action="store_true")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    cases.N_SEARCH, cases.N_TEST = args.rows, 8_000
    Clock(1.0).install("sksearch")
    for title, pairs in (("chosen on", DEVELOPMENT), ("others", REPORTED)):
        print(f"== {title}")
        errors = []
        for table, name in pairs:
            case = cases.make_case(table, name, 0)
            start = time.process_time()
            score = clone(case.model).fit(case.X, case.y).score(case.X_test, case.y_test)
            seconds = time.process_time() - start
            print(
                f"{table} {name}, {len(case.y)} rows: untuned {score:.4f}, {seconds:.1f} s a fit"
            )
            found = []
            for way, kwargs in (WAYS | (BRACKETS if args.brackets else {})).items():
                print(f"  {way:16s}", end=" ")
                found.append(1 - run(case, kwargs, args.seconds))
            errors.append([1 - score, *found])
        untuned, chosen, all_rows = np.maximum(errors, 1e-4).T[:3]
        for other, what in ((all_rows, "on all rows"), (untuned, "of the untuned estimator")):
            ratio = np.exp(np.log(chosen / other).mean())
            better, worse = (chosen < other - 1e-4).sum(), (chosen > other + 1e-4).sum()
            print(f"error over that {what}: {ratio:.3f}, lower {better}, higher {worse}")


if __name__ == "__main__":
    main()
