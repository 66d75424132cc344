"""A penalty for each feature, as a transformer."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

from sksearch.hypergradients import FeaturePenalties

X, y = load_diabetes(return_X_y=True)


def test_it_is_ridge_regression_with_a_penalty_for_each_feature():
    penalties = np.logspace(-2, 2, 10)
    model = make_pipeline(FeaturePenalties(penalties), Ridge(0.5, fit_intercept=False)).fit(X, y)
    expected = np.linalg.solve(X.T @ X + 0.5 * np.diag(penalties), X.T @ y)
    assert model[-1].coef_ * model[0].scale_ == pytest.approx(expected)


def test_groups_and_sparse_rows():
    step = FeaturePenalties([4, 25], groups=[0] * 5 + [1] * 5).fit(X)
    assert step.transform(X) == pytest.approx(X / ([2] * 5 + [5] * 5))
    assert step.transform(csr_array(X)).toarray() == pytest.approx(step.transform(X))


def test_it_is_a_transformer():
    results = check_estimator(FeaturePenalties(), on_fail=None, on_skip=None)
    assert [r["check_name"] for r in results if r["status"] == "failed"] == []
    assert FeaturePenalties().fit(X).get_feature_names_out(list("abcdefghij"))[0] == "a"


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (FeaturePenalties([1, 2]), "a positive number, or 10 of them: one for each feature"),
        (FeaturePenalties(0), "a positive number"),
        (FeaturePenalties([1, 2], groups=[0] * 10), "or 1 of them: one for each group"),
        (FeaturePenalties(groups=[0, 1]), "groups=.* for each of 10 features"),
        (FeaturePenalties(groups=np.ones(10)), "an integer from 0"),
    ],
)
def test_errors_suggest_a_remedy(step, message):
    with pytest.raises(ValueError, match=message):
        step.fit(X)
