"""What is searched of an estimator, by what it is made of, by its params and by sizes."""

import copy
import json
import pickle
from importlib import resources

import numpy as np
import pytest
from scipy import stats
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    RegressorMixin,
    TransformerMixin,
    clone,
)
from sklearn.calibration import CalibratedClassifierCV
from sklearn.cluster import DBSCAN
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor, make_column_selector
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import (
    BaggingRegressor,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    StackingClassifier,
    VotingRegressor,
)
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import SelectKBest
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import (
    LinearRegression,
    LogisticRegression,
    Ridge,
    RidgeCV,
    SGDClassifier,
)
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures, StandardScaler
from sklearn.svm import SVC

from sksearch import RandomSearchCV
from sksearch.estimators._default import own_candidate
from sksearch.space import LogRandInt, Outcome, Space, default_space, first_candidates


class Unknown(BaseEstimator, ClassifierMixin):
    def __init__(self, depth=1):
        self.depth = depth

    def fit(self, X, y):
        return self


class Doubled(BaseEstimator, TransformerMixin):
    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return np.c_[X, X]


# ---- what comes back


def test_a_space_is_an_ordinary_dict_whose_print_makes_it_again():
    space = default_space(HistGradientBoostingClassifier(), n_samples=2000)
    assert type(space) is dict
    names = vars(stats) | {"LogRandInt": LogRandInt, "Outcome": Outcome}
    again = eval(repr(space), dict(names))
    assert repr(Space(again).all_dimensions) == repr(Space(space).all_dimensions)
    assert again["max_iter"] == space["max_iter"] == Outcome(1000)


@pytest.mark.parametrize("change", [copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))])
def test_a_space_survives_copies(change):
    space = default_space(make_pipeline(StandardScaler(), SVC()))
    assert repr(change(space)) == repr(space)
    assert Space(change(space)).from_unit([0.3, 0.6]) == Space(space).from_unit([0.3, 0.6])


def test_searches_take_a_space_that_was_edited():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4))
    pipe = make_pipeline(StandardScaler(), SVC())
    space = default_space(pipe, n_samples=60, n_features=4)
    space["svc__class_weight"] = [None, "balanced"]
    for search in (
        RandomizedSearchCV(pipe, space, n_iter=3, cv=2, random_state=0),
        RandomSearchCV(pipe, space, n_iter=3, cv=2, random_state=0),
    ):
        search.fit(X, X[:, 0] > 0)
        assert search.best_params_.keys() == space.keys()


# ---- what the user has chosen


@pytest.mark.parametrize(
    ("estimator", "names"),
    [
        (SVC(kernel="linear"), {"C"}),
        (SVC(kernel="precomputed"), {"C"}),
        (SVC(C=30, gamma=3), {"C", "gamma"}),
        (LogisticRegression(), {"C"}),
        (LogisticRegression(solver="saga"), {"C", "l1_ratio"}),
        (KNeighborsClassifier(metric="cosine"), {"n_neighbors", "weights"}),
        (MLPClassifier(solver="lbfgs"), {"alpha", "hidden_layer_sizes", "activation"}),
        (LinearDiscriminantAnalysis(solver="eigen"), {"shrinkage"}),
        (PCA(svd_solver="randomized"), {"n_components"}),
    ],
)
def test_what_the_user_has_chosen_decides_what_is_searched(estimator, names):
    assert default_space(estimator, n_features=20).keys() == names


@pytest.mark.parametrize(
    ("with_own", "without", "count"),
    [
        (
            HistGradientBoostingClassifier(early_stopping=True),
            HistGradientBoostingClassifier(max_iter=3000),
            "max_iter",
        ),
        (
            GradientBoostingClassifier(n_iter_no_change=5),
            GradientBoostingClassifier(n_estimators=3000),
            "n_estimators",
        ),
        (MLPClassifier(early_stopping=True), MLPClassifier(max_iter=3000), "max_iter"),
    ],
)
def test_the_count_is_left_to_an_estimator_that_stops_by_itself(with_own, without, count):
    assert count not in default_space(with_own)
    assert "early_stopping" not in default_space(with_own)
    assert default_space(without)[count] == Outcome(3000)


def test_a_loss_with_probabilities_is_exchanged_for_such_a_loss_only():
    assert "hinge" in default_space(SGDClassifier())["loss"]
    assert "hinge" not in default_space(SGDClassifier(loss="log_loss"))["loss"]


# ---- sizes


def bounds(space, name):
    return Space({name: space[name]}).dimensions[0].bounds


def test_ranges_depend_on_rows():
    def largest(n, estimator, name):
        return bounds(default_space(estimator, n_samples=n), name)[1]

    trees = HistGradientBoostingClassifier()
    assert [largest(n, trees, "min_samples_leaf") for n in (100, 1000, 10**6)] == [5, 25, 100]
    neighbors = KNeighborsClassifier()
    assert [largest(n, neighbors, "n_neighbors") for n in (100, 2500, 10**6)] == [10, 50, 100]
    assert largest(None, neighbors, "n_neighbors") == 31


@pytest.mark.parametrize("n", [1, 2, 5, 30])
def test_tiny_tables_have_spaces_as_well(n):
    for estimator in (
        HistGradientBoostingClassifier(),
        RandomForestClassifier(),
        KNeighborsClassifier(),
        make_pipeline(PCA(2), MLPClassifier()),
    ):
        space = default_space(estimator, n_samples=n, n_features=1)
        for params in first_candidates(estimator, n_samples=n, n_features=1):
            Space(space).check(params)


def test_the_width_of_a_kernel_is_around_one_over_the_columns():
    low, high = bounds(default_space(SVC(), n_features=50), "gamma")
    assert low == pytest.approx(0.01 / 50)
    assert high == pytest.approx(10 / 50)


@pytest.mark.parametrize(
    ("steps", "unit"),
    [
        ([StandardScaler(), PCA()], 1 / 40),
        ([PCA(5)], 1 / 5),
        ([SelectKBest(k=8)], 1 / 8),
        ([ColumnTransformer([("one", OneHotEncoder(), [0])], remainder="passthrough")], 1 / 40),
        ([ColumnTransformer([("one", OneHotEncoder(), [0, 4]), ("off", "drop", [1])])], 1 / 2),
        ([ColumnTransformer([("one", PCA(), [True] * 4 + [False] * 36)])], 1 / 4),
        ([TfidfVectorizer()], 1),
        ([PolynomialFeatures()], 1 / 10),
        ([Doubled()], 1 / 10),
    ],
)
def test_the_width_follows_the_columns_through_a_pipeline(steps, unit):
    space = default_space(make_pipeline(*steps, SVC()), n_features=40)
    assert bounds(space, "svc__gamma")[1] == pytest.approx(10 * unit, rel=0.1)


# ---- recursion


def test_a_pipeline_has_the_model_first_and_at_most_two_of_a_transformer():
    columns = ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), [0, 1, 2]),
            ("text", TfidfVectorizer(), "words"),
            ("categories", OneHotEncoder(), make_column_selector(dtype_include=object)),
            ("rest", "passthrough", [7]),
        ]
    )
    pipe = Pipeline([("columns", columns), ("model", HistGradientBoostingClassifier())])
    names = list(default_space(pipe, n_samples=1000, n_features=8))
    assert [name.startswith("model__") for name in names] == [True] * 7 + [False] * 4
    assert names[7:] == [
        "columns__numbers__simpleimputer__strategy",
        "columns__text__ngram_range",
        "columns__categories__min_frequency",
        "columns__text__sublinear_tf",
    ]
    assert set(names) <= pipe.get_params().keys()


class OwnTarget(TransformedTargetRegressor):
    def predict(self, X):
        return super().predict(X) + 1


def test_only_a_booster_at_the_end_has_an_outcome():
    booster = HistGradientBoostingRegressor()
    within = TransformedTargetRegressor(booster)
    for whole, name in (
        (make_pipeline(StandardScaler(), booster), "histgradientboostingregressor__max_iter"),
        (within, "regressor__max_iter"),
        (make_pipeline(within), "transformedtargetregressor__regressor__max_iter"),
    ):
        assert default_space(whole)[name] == Outcome(1000)
    for whole, name in (
        (OwnTarget(booster), "regressor__max_iter"),
        (VotingRegressor([("a", booster), ("b", Ridge())]), "a__max_iter"),
        (VotingRegressor([("a", within)]), "a__regressor__max_iter"),
    ):
        space = default_space(whole)
        assert not any(isinstance(values, Outcome) for values in space.values())
        assert isinstance(space[name], LogRandInt)
        assert space[name.replace("max_iter", "early_stopping")] == [False]


def test_members_of_an_ensemble_take_turns():
    stack = StackingClassifier(
        [
            ("forest", RandomForestClassifier()),
            ("svc", SVC()),
            ("off", "drop"),
            ("nb", GaussianNB()),
        ],
        final_estimator=LogisticRegression(),
    )
    names = list(default_space(stack))
    assert names[:3] == ["forest__max_features", "svc__C", "nb__var_smoothing"]
    assert names[-1] == "final_estimator__C"
    assert sum(name.startswith("forest__") for name in names) == 3


@pytest.mark.parametrize(
    ("estimator", "names"),
    [
        (OneVsRestClassifier(SVC()), {"estimator__C", "estimator__gamma"}),
        (CalibratedClassifierCV(), {"method"}),
        (
            CalibratedClassifierCV(make_pipeline(StandardScaler(), SVC())),
            {"method", "estimator__svc__C", "estimator__svc__gamma"},
        ),
        (BaggingRegressor(Ridge()), {"max_samples", "max_features", "estimator__alpha"}),
        (FeatureUnion([("a", PCA()), ("b", "drop")]), {"a__n_components"}),
        (make_pipeline(Doubled(), "passthrough", GaussianNB()), {"gaussiannb__var_smoothing"}),
        (make_pipeline(PCA(), Unknown()), {"pca__n_components"}),
        (make_pipeline(SVC(), memory=None), {"svc__C", "svc__gamma"}),
    ],
)
def test_compositions_name_the_parameters_of_their_parts(estimator, names):
    space = default_space(estimator)
    assert space.keys() == names
    assert names <= estimator.get_params().keys()


def test_a_subclass_has_the_space_of_its_base():
    class Mine(SVC):
        pass

    class Narrow(RandomForestClassifier):
        def __init__(self, min_samples_leaf=1):
            super().__init__(min_samples_leaf=min_samples_leaf)

    assert repr(default_space(Mine())) == repr(default_space(SVC()))
    assert default_space(Narrow()).keys() == {"min_samples_leaf"}


def test_a_skorch_net_is_known_by_the_name_of_its_class():
    base = type("NeuralNet", (BaseEstimator,), {"__module__": "skorch.net"})

    class Net(base):
        def __init__(self, optimizer=None, lr=0.01):
            self.optimizer, self.lr = optimizer, lr

        def fit(self, X, y):
            return self

    assert default_space(Net()).keys() == {"lr", "batch_size"}
    slow = bounds(default_space(Net(type("Adam", (), {}))), "lr")
    assert slow[1] < bounds(default_space(Net()), "lr")[1]


@pytest.mark.parametrize("kind", [ClassifierMixin, RegressorMixin])
def test_nets_of_tables_are_known_by_name_and_smooth_labels_only_where_there_are(kind):
    class Net(kind, BaseEstimator):
        def __init__(self, lr=None, p_drop=None, hidden_sizes=None, ls_eps=None):
            self.lr, self.p_drop, self.hidden_sizes, self.ls_eps = lr, p_drop, hidden_sizes, ls_eps

        def fit(self, X, y):
            return self

    Net.__module__ = "pytabkit.models.sklearn.sklearn_interfaces"
    Net.__name__ = f"RealMLP_TD_{kind.__name__.removesuffix('Mixin')}"
    space = default_space(Net())
    assert {"lr", "p_drop", "hidden_sizes"} <= space.keys()
    assert ("ls_eps" in space) == (kind is ClassifierMixin)


def test_nets_for_images_have_rates_around_their_default():
    base = type("ImageClassifier", (BaseEstimator,), {"__module__": "sksearch.neural._base"})

    class Net(base):
        learning_rate = 0.2

        def __init__(self, learning_rate=0.2, weight_decay=0.1):
            self.learning_rate, self.weight_decay = learning_rate, weight_decay

        def fit(self, X, y):
            return self

    space = default_space(Net(learning_rate=0.9))
    assert space.keys() == {"learning_rate", "weight_decay"}
    assert bounds(space, "learning_rate") == pytest.approx((0.2 / 30, 1.0), rel=0.1)


def test_catboost_keeps_the_names_that_its_user_has_set():
    catboost = pytest.importorskip("catboost")
    assert "depth" in default_space(catboost.CatBoostClassifier())
    other = catboost.CatBoostClassifier(max_depth=3, n_estimators=2000, verbose=0)
    space = default_space(other)
    assert {"max_depth", "n_estimators"} <= space.keys()
    assert not {"depth", "iterations"} & space.keys()
    assert space["n_estimators"] == Outcome(2000)
    assert own_candidate(other, space) == {"max_depth": 3}
    assert [c["max_depth"] for c in first_candidates(other)] == [
        c["depth"] for c in first_candidates(catboost.CatBoostClassifier())
    ]


def test_lightgbm_keeps_extra_trees_when_it_is_cloned():
    lightgbm = pytest.importorskip("lightgbm")
    space = default_space(lightgbm.LGBMClassifier())
    assert space["extra_trees"] == [False, True]
    model = clone(lightgbm.LGBMClassifier().set_params(extra_trees=True))
    assert model.get_params()["extra_trees"] is True


# ---- first candidates and the own one


def test_first_candidates_go_through_pipelines_and_wrappers():
    plain = first_candidates(SVC(), n_features=10)
    piped = first_candidates(make_pipeline(StandardScaler(), PCA(), SVC()), n_features=10)
    assert [{k[5:]: v for k, v in c.items() if k.startswith("svc__")} for c in piped] == plain
    assert {c["pca__n_components"] for c in piped} == {0.999}  # all components, as the own one
    wrapped = first_candidates(OneVsRestClassifier(SVC()), n_features=10)
    assert [{k[11:]: v for k, v in c.items()} for c in wrapped] == plain


def test_transformers_keep_their_own_values_in_first_candidates():
    pipe = make_pipeline(SimpleImputer(strategy="median"), SVC())
    assert {c["simpleimputer__strategy"] for c in first_candidates(pipe)} == {"median"}


def test_other_estimators_have_no_first_candidates():
    assert first_candidates(GaussianNB()) == []
    assert first_candidates(Unknown()) == []
    assert first_candidates(LinearRegression()) == []
    assert first_candidates(StackingClassifier([("a", SVC())])) == []


def test_the_own_candidate_may_lie_outside():
    pipe = make_pipeline(StandardScaler(), HistGradientBoostingClassifier(learning_rate=1.0))
    own = own_candidate(pipe, default_space(pipe))
    assert own["histgradientboostingclassifier__learning_rate"] == 1.0
    assert own["histgradientboostingclassifier__early_stopping"] == "auto"
    assert "histgradientboostingclassifier__max_iter" not in own
    assert own_candidate(SVC(), [{"C": [1]}, {"gamma": [1], "C": [2]}]) == {
        "C": 1.0,
        "gamma": "scale",
    }


def test_the_data_file_can_be_read_a_line_a_candidate():
    text = resources.files("sksearch.estimators").joinpath("portfolios.json").read_text()
    portfolios = json.loads(text)
    assert len(text.splitlines()) == sum(2 + len(entries) for entries in portfolios.values()) + 2
    assert all(3 <= len(entries) <= 10 for entries in portfolios.values())


# ---- errors


@pytest.mark.parametrize("estimator", [Unknown(), DBSCAN(), make_pipeline(Unknown())])
def test_an_unknown_estimator_has_an_error_with_a_remedy(estimator):
    with pytest.raises(
        ValueError, match=r"(does not have a default space|is empty).*Pass a space"
    ):
        default_space(estimator)


@pytest.mark.parametrize(
    "estimator",
    [
        GaussianProcessClassifier(),
        LinearRegression(),
        RidgeCV(),
        StandardScaler(),
        make_pipeline(StandardScaler(), LinearRegression()),
        GridSearchCV(SVC(), {"C": [1]}),
        SelectKBest(),
    ],
)
def test_nothing_to_search_is_reported(estimator):
    with pytest.raises(ValueError, match=r"worth searching.*Pass a space"):
        default_space(estimator)


@pytest.mark.parametrize("function", [default_space, first_candidates])
@pytest.mark.parametrize(
    ("args", "kwargs", "error", "text"),
    [
        ((SVC,), {}, TypeError, "class SVC: pass an instance"),
        (("svc",), {}, TypeError, "must have get_params and fit"),
        ((SVC(),), {"n_samples": 0}, ValueError, "n_samples=0 must be at least 1"),
        ((SVC(),), {"n_features": 2.0}, TypeError, "n_features=2.0 must be an integer"),
        ((SVC(),), {"n_features": True}, TypeError, "n_features=True must be an integer"),
    ],
)
def test_bad_arguments_are_refused(function, args, kwargs, error, text):
    with pytest.raises(error, match=text):
        function(*args, **kwargs)
