"""Plans of large searches, which draw and train nothing."""

import numpy as np
from scipy.stats import uniform
from sklearn.datasets import load_iris
from sklearn.model_selection import ParameterSampler

from sksearch import RandomSearchCV
from tests.fakes import Curve

X, y = load_iris(return_X_y=True)


class Counted:
    """A distribution that counts its draws."""

    def __init__(self):
        self.n_draws = 0

    def rvs(self, random_state=None):
        self.n_draws += 1
        return uniform.rvs(random_state=random_state)


def test_a_plan_of_100_000_candidates_does_not_draw_them():
    search = RandomSearchCV(Curve(), {"quality": Counted()}, n_iter=100_000, cv=2)
    plans = [search.plan(X, y).n_candidates for _ in range(2)]
    assert plans == [100_000] * 2
    table = 1024  # draws by which the space knows the distribution
    assert search.param_distributions["quality"].n_draws <= 2 * (table + 1)


def test_candidates_drawn_one_by_one_match_scikit_learn():
    space = {"quality": uniform(), "other": [1, 2, 3]}
    search = RandomSearchCV(Curve(), space, n_iter=7, cv=2, refit=False, random_state=3)
    drawn = list(ParameterSampler(space, 7, random_state=np.random.RandomState(3)))
    assert search.fit(X, y).cv_results_["params"] == drawn
