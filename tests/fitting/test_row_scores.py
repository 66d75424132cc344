"""What rows contribute to scores: formulas, blocks, and that nothing else changes by them."""

import json
import re

import numpy as np
import pytest
from scipy.stats import loguniform, randint
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.cluster import KMeans
from sklearn.datasets import load_diabetes, load_iris, make_classification, make_regression
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression, PoissonRegressor, Ridge
from sklearn.metrics import accuracy_score, get_scorer, make_scorer
from sklearn.model_selection import GroupKFold, KFold, RepeatedKFold, TimeSeriesSplit
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sksearch import HyperbandSearchCV, RandomSearchCV, SearchCV
from sksearch._utils._compat import listening
from sksearch.checkpoint._records import output_of_record, output_to_record
from sksearch.fitting.run._curves import luck_of_counts
from sksearch.fitting.run._row_metrics import contributions
from sksearch.fitting.run._row_scores import blocks_of_rows
from sksearch.fitting.run._tasks import Output
from sksearch.space import Outcome

X, Y = load_iris(return_X_y=True)
TREE = DecisionTreeClassifier(random_state=0)
DEPTHS = {"max_depth": randint(1, 9)}


def two_classes():
    X, y = make_classification(200, 5, flip_y=0.2, weights=[0.7], random_state=0)
    return LogisticRegression().fit(X, y), X, y


def three_classes():
    X, y = make_classification(200, 6, n_informative=4, n_classes=3, flip_y=0.2, random_state=0)
    return LogisticRegression().fit(X, np.array(["a", "b", "c"])[y]), X, np.array([*"abc"])[y]


def positive_numbers():
    X, y = make_regression(200, 3, noise=30, random_state=0)
    return PoissonRegressor().fit(X, np.exp(y / 500)), X, np.exp(y / 500)


def several_outputs():
    X, y = make_regression(200, 3, n_targets=3, noise=30, random_state=0)
    return Ridge().fit(X, y), X, y


METRICS = {
    two_classes: (
        "accuracy", "balanced_accuracy", "f1", "precision", "recall", "jaccard", "f1_micro",
        "roc_auc", "average_precision", "neg_log_loss", "neg_brier_score",
    ),
    three_classes: (
        "accuracy", "balanced_accuracy", "f1_macro", "f1_weighted", "precision_macro",
        "roc_auc_ovr", "neg_log_loss",
    ),
    positive_numbers: (
        "r2", "neg_mean_squared_error", "neg_root_mean_squared_error", "neg_mean_absolute_error",
        "neg_mean_absolute_percentage_error", "neg_mean_squared_log_error",
        "neg_root_mean_squared_log_error", "neg_mean_poisson_deviance",
        "neg_mean_gamma_deviance",
    ),
    several_outputs: ("r2", "neg_mean_squared_error"),
}  # fmt: skip


def heard(scorer, model, X, y):
    """The score, and what was heard of it."""
    calls = []
    score = listening(scorer, None, lambda *call: calls.append(call))(model, X, y)
    return score, calls[0]


@pytest.mark.few(1)
@pytest.mark.parametrize("task", METRICS, ids=lambda task: task.__name__)
def test_contributions_match_the_jackknife(task):
    model, X, y = task()
    for name in METRICS[task]:
        score, (function, sign, (y, predicted), others) = heard(get_scorer(name), model, X, y)
        assert score == get_scorer(name)(model, X, y)
        n = len(y)
        found = contributions(function, sign * score, y, predicted, **others)[::3]
        left_out = [
            function(np.delete(y, i, axis=0), np.delete(predicted, i, axis=0), **others)
            for i in range(0, n, 3)
        ]
        jackknife = (n - 1) * (sign * score - np.array(left_out))
        assert found.std() == pytest.approx(jackknife.std(), rel=0.07), name
        assert np.corrcoef(found, jackknife)[0, 1] > 0.98, name


def test_a_metric_with_other_arguments_than_its_formula_has_no_contributions():
    model, X, y = two_classes()
    scorer = make_scorer(accuracy_score, normalize=False)
    score, (function, _, args, others) = heard(scorer, model, X, y)
    assert contributions(function, score, *args, **others) is None


# ---- blocks


def splits(cv, n, groups=None):
    return list(cv.split(np.zeros((n, 1)), groups=groups))


def test_few_rows_are_blocks_of_their_own():
    assert sorted(blocks_of_rows(splits(KFold(3), 90), 90)) == [*range(90)]


@pytest.mark.parametrize("cv", [KFold(5), RepeatedKFold(n_splits=5, n_repeats=10)])
def test_of_many_rows_a_few_numbers_are_kept(cv):
    folds = splits(cv, 10_000)
    blocks = blocks_of_rows(folds, 10_000)
    assert sum(len(np.unique(blocks[test])) for _, test in folds) <= 1_500
    sizes = np.bincount(blocks)
    assert sizes.max() - sizes.min() <= 1


def test_rows_of_a_group_are_in_one_block():
    groups = np.array([*"abcdefghijklmnopqrst"]).repeat(30)
    blocks = blocks_of_rows(splits(GroupKFold(4), 600, groups), 600, groups)
    assert all(len(np.unique(blocks[groups == group])) == 1 for group in groups)


def test_rows_in_an_order_have_no_blocks():
    assert blocks_of_rows(splits(TimeSeriesSplit(4), 100), 100) is None


# ---- searches


def words_of(search):
    """The report in one line, as lines may be broken anywhere, without the time of the fit."""
    return re.sub(r"fitted \S+ \S+ in \S+ \w+", "fitted", " ".join(str(search.report()).split()))


class CountsCalls(ClassifierMixin, BaseEstimator):
    """Counts how often it is asked for predictions."""

    calls = 0

    def __init__(self, k=1):
        self.k = k

    def fit(self, X, y):
        self.tree_ = DecisionTreeClassifier(max_depth=self.k).fit(X, y)
        self.classes_ = self.tree_.classes_
        return self

    def predict(self, X):
        CountsCalls.calls += 1
        return self.tree_.predict(X)


@pytest.mark.parametrize("scoring", [None, "accuracy", ["accuracy", "f1_macro"]])
def test_rows_cost_no_second_prediction(scoring):
    CountsCalls.calls = 0
    refit = "accuracy" if isinstance(scoring, list) else True
    search = RandomSearchCV(
        CountsCalls(), {"k": [1, 2, 3]}, n_iter=3, cv=4, scoring=scoring, refit=refit,
        known={"params": None},
    ).fit(X, Y)  # fmt: skip
    assert CountsCalls.calls == 12
    assert np.isfinite(search._row_scores.contributions).all()


SEARCHES = {
    "pipeline": lambda: RandomSearchCV(
        make_pipeline(StandardScaler(), SVC()), {"svc__C": loguniform(0.1, 10)}, n_iter=3
    ),
    "neighbours": lambda: RandomSearchCV(
        KNeighborsClassifier(), {"n_neighbors": [1, 9]}, n_iter=2
    ),
    "area": lambda: RandomSearchCV(
        LogisticRegression(), {"C": [1, 2]}, n_iter=2, scoring="roc_auc_ovr"
    ),
    "race": lambda: SearchCV(TREE, DEPTHS, n_iter=4, random_state=0),
    "rungs": lambda: HyperbandSearchCV(
        LogisticRegression(), {"C": loguniform(0.1, 10)}, resource="max_iter", max_resources=9,
        random_state=0,
    ),
}  # fmt: skip


@pytest.mark.few(3)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", SEARCHES)
def test_contributions_add_up_to_nothing_and_report_names_the_rows(kind):
    search = SEARCHES[kind]().fit(X, Y)
    found = search._row_scores.contributions
    assert len(found) == len(search.cv_results_["params"])
    np.testing.assert_allclose(found.sum(axis=1), 0, atol=1e-6)
    assert "(150 rows)" in words_of(search)


def test_where_training_finds_the_count_rows_are_known():
    space = {"learning_rate": [0.1, 0.3], "n_estimators": Outcome(9)}
    model = GradientBoostingClassifier(random_state=0)
    search = SearchCV(model, space, n_iter=2, cv=3, random_state=0)
    search.fit(X[::2], Y[::2])
    assert search._outcome_luck >= 0
    assert "(75 rows)" in words_of(search)


def own_metric(estimator, X, y):
    return float(np.mean(estimator.predict(X) == y))


@pytest.mark.parametrize(
    ("search", "y"),
    [
        (RandomSearchCV(TREE, DEPTHS, n_iter=3, scoring=own_metric), Y),
        (RandomSearchCV(TREE, DEPTHS, n_iter=3, scoring="matthews_corrcoef"), Y),
        (RandomSearchCV(TREE, DEPTHS, n_iter=3, cv=TimeSeriesSplit(5)), np.arange(150) % 3),
        (RandomSearchCV(KMeans(3), {"init": ["random", "k-means++"]}, n_iter=2), None),
    ],
    ids=["function", "unknown metric", "time series", "clusters"],
)
def test_where_rows_are_not_known_the_interval_is_of_the_folds(search, y):
    assert "(5 folds)" in words_of(search.fit(X, y))


@pytest.mark.parametrize("args", [{"n_jobs": 2}, {"n_jobs": 2, "pre_dispatch": 2}])
def test_workers_keep_the_same_contributions(args):
    make = {"param_distributions": DEPTHS, "n_iter": 4, "random_state": 0}
    alone = RandomSearchCV(TREE, **make).fit(X, Y)._row_scores.contributions
    np.testing.assert_array_equal(
        RandomSearchCV(TREE, **make, **args).fit(X, Y)._row_scores.contributions, alone
    )


def test_a_checkpoint_gives_the_same_report_and_stays_small(tmp_path):
    def fit():
        search = RandomSearchCV(TREE, DEPTHS, n_iter=4, random_state=0, checkpoint_dir=tmp_path)
        return words_of(search.fit(X, Y))

    first = fit()
    assert "(150 rows)" in first
    assert fit() == first
    journal = tmp_path / "journal.jsonl"
    assert len(journal.read_bytes()) < 4 * 5_000


def test_contributions_in_a_journal_must_be_numbers():
    numbers = np.array([0.5, -0.5], dtype="<f4").tobytes()
    record = json.loads(json.dumps(output_to_record(Output(test_scores=0.5, rows=numbers))))
    assert output_of_record(record).rows == numbers
    for forged in ("abc", "AAA=", "ö", 3, ["AAAA"]):
        with pytest.raises(ValueError, match="rows"):
            output_of_record(record | {"rows": forged})


# ---- counts


def curves(scores):
    """Curves of folds of a candidate; `scores` has shape (n_counts, n_folds)."""
    return [[[n + 1, float(s), None] for n, s in enumerate(column)] for column in scores.T]


def test_a_count_chosen_by_noise_is_lucky():
    rng = np.random.default_rng(0)
    noise = [curves(0.5 + 0.05 * rng.standard_normal((20, 4))) for _ in range(50)]
    # The largest of 20 means of 4 draws is 1.87 of their standard deviations too large.
    assert luck_of_counts(noise, None) == pytest.approx(1.87 * 0.05 / 2, rel=0.15)


@pytest.mark.parametrize(
    "scores", [np.tile([[0.1], [0.9], [0.3]], 3), np.array([[0.3], [0.5]]), np.empty((0, 3))]
)
def test_a_count_that_all_folds_agree_on_is_no_luck(scores):
    assert luck_of_counts([curves(scores)], None) == 0


def test_scores_match_scikit_learn_to_the_last_bit():
    data, tree = load_diabetes(return_X_y=True), DecisionTreeRegressor(random_state=0)
    for scoring in (None, "r2", "neg_root_mean_squared_error"):
        search = RandomSearchCV(tree, DEPTHS, n_iter=3, scoring=scoring).fit(*data)
        scorer = get_scorer(scoring or "r2")
        for params, *scores in zip(
            search.cv_results_["params"],
            *(search.cv_results_[f"split{i}_test_score"] for i in range(5)),
            strict=True,
        ):
            for (train, test), score in zip(KFold(5).split(data[0]), scores, strict=True):
                tree.set_params(**params).fit(data[0][train], data[1][train])
                assert scorer(tree, data[0][test], data[1][test]) == score
