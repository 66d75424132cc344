"""The contract of a family of estimators."""

import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.model_selection import KFold
from threadpoolctl import threadpool_limits

from sksearch._utils._compat import num_samples, safe_split
from sksearch._utils._typing import Samples, Targets
from sksearch.base._state import State
from sksearch.estimators import Family, Growth
from sksearch.estimators._continuation import can_grow
from sksearch.estimators._epochs import train_calls
from sksearch.estimators._family import class_names, families, family_of, registered_for_now
from sksearch.estimators._growth import growth_of
from sksearch.estimators._mutable_params import change, mutable_params
from sksearch.estimators._parts import Size
from sksearch.fitting.run._states import dump_state, load_state
from sksearch.search import RandomSearchCV
from sksearch.space import Outcome, Space
from sksearch.testing._require import require
from sksearch.testing._space import check_space

MOST = 36  # steps: beyond the first look of a growth, so that it goes back
SOME, MORE = 3, 8  # steps of an interrupted training
LARGE = 100_000  # rows, for which no range is cut


def check_family(
    family: Family, X: Samples, y: Targets | None = None, *, estimator: Any = None
) -> None:
    """Check that the declarations of a family are true for its estimators.

    The requirements: the classes exist and belong to no other family. The space contains the
    current values of the estimator and the first candidates. A model trained step by step, even if
    pickled in between, predicts after each step like a model fitted with this number of steps.
    Changing parameters during training affects only the following steps. Training for one epoch
    twice is the same as training for two epochs. The scores of a search equal the scores of manual
    fits.

    Parameters
    ----------
    family : Family
        Family to check; it need not be registered.
    X : array-like of shape (n_samples, n_features)
        Training data; a hundred rows are enough.
    y : array-like of shape (n_samples,) or None, default=None
        Target.
    estimator : estimator object or None, default=None
        An estimator of the family with repeatable fits: with an integer `random_state`, and
        without subsampling if continued training draws different rows. None: all imported classes
        of the family that can be created without arguments and fitted to the data.

    Raises
    ------
    AssertionError
        If a requirement is violated.

    See Also
    --------
    check_space : Checks the space of an estimator without a family.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sksearch.estimators._family import family_of
    >>> from sksearch.testing import check_family
    >>> check_family(family_of(GaussianNB()), *load_iris(return_X_y=True), estimator=GaussianNB())
    """
    with registered_for_now(family), warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")  # fits with few steps do not converge
        _check_classes(family)
        for each in _estimators_of(family, X, y) if estimator is None else [estimator]:
            _Checked(family, each, X, y).run()


# ---- the classes


def _check_classes(family: Family) -> None:
    """They are named, and do not belong to another family."""
    own, names = type(family).__name__, {*family.classes, *family.spaces}
    require(names, f"{own} has no classes: set classes = ('package.Class',).")
    for other in families():
        both = sorted(names.intersection([*other.classes, *other.spaces]))
        if _place(other) != _place(family):
            require(
                not both,
                f"{own} contains {', '.join(both)}, which belongs to {type(other).__name__}, and "
                "would replace it: use your own class, and set spaces = {} in a family derived "
                "from another.",
            )
    known = {"smaller": family.smaller, "larger": family.larger}
    both = sorted(set(family.smaller) & set(family.larger))
    require(not both, f"{own} has {', '.join(both)} in both of {' and '.join(known)}.")


def _place(family: Family) -> tuple[str, str]:
    """Place of its class definition; a cell that runs twice makes two classes."""
    return type(family).__module__, type(family).__qualname__


def _estimators_of(family: Family, X: Any, y: Any) -> list[Any]:
    """An estimator of each class that is imported and can be fitted on these rows."""
    names = {*family.classes, *family.spaces}
    found, faults = [], []
    for kind in dict.fromkeys(kind for name in sorted(names) for kind in _classes(name)):
        try:
            model = _seeded(kind())
            fitted = clone(model).fit(*_rows(X, y))
            if hasattr(fitted, "score"):  # naive Bayes fits numeric targets, but cannot score them
                fitted.score(*_rows(X, y))
        except Exception as error:  # abstract, with required arguments, or for another kind of y
            faults.append(f"{kind.__name__}: {error}")
            continue
        if family_of(model) is family:
            found.append(model)
    reasons = "; ".join(faults) or (
        "no imported module has one of them (omit the modules in between: 'package.Class')"
    )
    require(
        found,
        f"{type(family).__name__} contains {', '.join(sorted(names))}, but none of them can be "
        f"created and fitted: {reasons:.300}. Pass estimator=.",
    )
    return found


def _classes(name: str) -> Iterator[type]:
    """Yield the imported classes of a name, and derived classes in their package."""
    package, _, short = name.partition(".")
    for module in list(sys.modules.values()):
        if getattr(module, "__name__", "").partition(".")[0] == package:
            kind = vars(module).get(short)
            if isinstance(kind, type):
                yield kind
                yield from _derived(kind, package)


def _derived(kind: Any, package: str) -> Iterator[type]:
    for each in kind.__subclasses__():
        if each.__module__.partition(".")[0] == package and not each.__name__.startswith("_"):
            yield each
            yield from _derived(each, package)


def _seeded(model: Any) -> Any:
    """Return a clone with the same draws in each fit, in one thread."""
    own = model.get_params(deep=False)
    fixed = {"random_state": 0, "n_jobs": 1}
    return model.set_params(**{k: v for k, v in fixed.items() if k in own and own[k] is None})


def _rows(X: Any, y: Any) -> tuple:
    return (X,) if y is None else (X, y)


# ---- one estimator


class _Checked:
    """An estimator whose family is checked."""

    def __init__(self, family: Family, estimator: Any, X: Any, y: Any) -> None:
        self.family, self.estimator, self.X, self.y = family, estimator, X, y
        self.name = f"{type(family).__name__}, {type(estimator).__name__}"
        kind = class_names(estimator)[0]
        known = family_of(estimator) is family
        require(known, f"{type(family).__name__} is not the family of {kind}.")
        self.own = estimator.get_params()
        self.classes = np.unique(y) if is_classifier(estimator) else None
        n_features = getattr(X, "shape", (0, None))[1]
        self.size = Size(LARGE, n_features)
        self.space = self._space(Size(num_samples(X), n_features))

    def run(self) -> None:
        """Run all applicable checks."""
        check_space(self.estimator, self.X, self.y, space=self._searched(), n_candidates=1)
        self._check_set_params()
        self._check_own_values()
        self._check_upper_bounds()
        self._check_first()
        outcomes = {k: v for k, v in self.space.items() if isinstance(v, Outcome)}
        if self.family.growth and not outcomes:  # a user may name it
            outcomes = {k: Outcome(MOST) for k in self._counts()[:1] if k in self.family.counts}
        for name, outcome in outcomes.items():
            self._check_growth(name, outcome, growth_of(self.estimator, name))
        grown = [
            name for name in self._counts() if can_grow(self.estimator, name, self.n_rows, {})
        ]
        for name in grown:
            self._check_steps(f"{name} steps", self._grower(name), self._by_hand(name))
        if self._has_epochs():
            self._check_steps("epochs", self._train_epochs, None)
        if grown or self._has_epochs():
            self._check_changes(self._grower(grown[0]) if grown else self._train_epochs)
        if hasattr(self.estimator, "predict") and hasattr(self.estimator, "score") and self.space:
            self._check_search()

    @property
    def n_rows(self) -> int:
        return num_samples(self.X)

    def _require(self, holds: Any, otherwise: str) -> None:
        require(holds, f"{self.name}: {otherwise}")

    # ---- search space

    def _space(self, size: Size) -> dict[str, Any]:
        """Return its space, {} if it has none."""
        space = self.family.space(self.estimator, size)
        is_space = space is None or isinstance(space, dict)
        self._require(is_space, f"space returned {space!r:.80}, expected a dict or None.")
        unknown = sorted(set(space or ()) - set(self.own)) if self.family.lists_params else []
        self._require(
            not unknown,
            (f"space contains {', '.join(unknown)}: not parameters of the estimator."),
        )
        return space or {}

    def _searched(self) -> dict[str, Any]:
        return {k: v for k, v in self.space.items() if not isinstance(v, Outcome)} or {}

    def _check_set_params(self) -> None:
        """A model with parameters set equals one created with them, as a clone is."""
        space = Space(self._searched())
        for u in (0.0, 1.0):
            model = clone(self.estimator).set_params(**space.from_unit(np.full(space.n_dims, u)))
            made, was_set = (each.fit(*_rows(self.X, self.y)) for each in (clone(model), model))
            same = _same(self._answers(made), self._answers(was_set))
            names = ", ".join(space.names)
            self._require(
                same, f"set_params of {names} does not give the same model as the constructor."
            )

    def _check_own_values(self) -> None:
        """Numbers are in their range; 0 and None may mean that a part is switched off."""
        for name, values in self._space(self.size).items():
            own = self.own.get(name)
            if isinstance(values, Outcome):
                fits = not isinstance(own, int) or isinstance(own, bool) or own <= values.high
                fits = fits or type(values) is not Outcome
            elif isinstance(own, bool | str) or not own or not isinstance(own, int | float):
                continue
            else:
                (dimension,) = Space({name: values}).all_dimensions
                fits = dimension.contains(own)
            self._require(
                fits,
                f"the estimator's value {name}={own!r} is not in its space, {values!r:.80}, so "
                "the search would have no candidate equal to the untuned estimator.",
            )

    def _check_upper_bounds(self) -> None:
        """No range exceeds the largest value that a fitted estimator accepts."""
        model = self._fresh({}) if self._searched() else None
        for dimension in Space(self._searched()).all_dimensions if model else []:
            if dimension.kind != "categorical":
                most, bound = dimension.bounds[1], self.family.upper_bound(model, dimension.name)
                self._require(
                    most <= bound,
                    f"{dimension.name} is at most {bound}, but searched up to {most}.",
                )

    def _check_first(self) -> None:
        """First candidates lie in the space: others would be changed or omitted."""
        space = self._space(self.size)
        names = {other: name for name, others in self.family.aliases.items() for other in others}
        # Classes of a family share the recorded candidates.
        is_recorded = type(self.family).first is Family.first
        for entry in self.family.first(self.estimator):
            for key, value in entry.items():
                name = names.get(key, key)
                values = space.get(name, space.get(key))
                if values is None or isinstance(values, Outcome):
                    known = is_recorded or name in self.own or key in self.own
                    self._require(
                        known,
                        (
                            f"a first candidate contains {key}, which is not a parameter of the "
                            "estimator."
                        ),
                    )
                    continue
                (dimension,) = Space({name: values}).all_dimensions
                self._require(
                    dimension.contains(value),
                    f"a first candidate contains {key}={value!r}, which is not in {values!r:.80}.",
                )

    # ---- training

    def _counts(self) -> list[str]:
        """Names of its parameters for the number of steps."""
        named = [*self.family.counts, "n_estimators", "max_iter"]
        return [name for name in dict.fromkeys(named) if name in self.own]

    def _fresh(self, params: dict[str, Any]) -> Any:
        return clone(self.estimator).set_params(**params).fit(*_rows(self.X, self.y))

    def _by_hand(self, name: str) -> Callable[[int], Any]:
        return lambda count: self._fresh({name: count})

    def _answers(self, model: Any) -> list[np.ndarray]:
        """Return a model's predictions for the rows, and its score."""
        names = [name for name in ("predict", "predict_proba") if hasattr(model, name)]
        found = [np.asarray(getattr(model, name)(self.X)) for name in names]
        if names and hasattr(model, "score") and self.y is not None:
            found.append(np.asarray(model.score(self.X, self.y)))
        return found

    def _check_growth(self, name: str, outcome: Outcome, growth: Growth) -> None:
        """At each count the model equals a fresh fit, also on the way back."""
        seen = {}

        def look(model: Any, count: int) -> float:
            seen[count] = self._answers(model)
            return count  # prevents an early end of training

        def fresh(count: int) -> Any:
            fixed = {k: v for k, v in growth.endless.items() if k in self.own}
            return self._fresh(fixed | {name: outcome.value(count)})

        high = min(MOST if type(outcome) is Outcome else MORE, outcome.high)
        rows, state = (self.X, self.y), State(clone(self.estimator))
        growth.curve(state, rows, high, self.classes, {}, look)
        by_hand = {count: self._answers(fresh(count)) for count in seen}
        self._require(seen, f"growth passed no model on the way to {high} {name}.")
        for count, answers in seen.items():
            self._require(
                _same(answers, by_hand[count]),
                f"at {count} {name} growth passes a model whose predictions differ from a fresh "
                f"fit with {name}={outcome.value(count)}: check that truncated returns a model "
                "with that number of steps, and that grow continues like fit.",
            )
        if growth.can_truncate:
            whole = self._answers(state.estimator)
            for count in sorted(seen, reverse=True):
                with growth.truncated(state.estimator, count) as model:
                    answers = self._answers(model)
                back = _same(answers, by_hand[count])
                self._require(
                    back, f"truncated does not return the earlier model of {count} {name}."
                )
            left = _same(self._answers(state.estimator), whole)
            self._require(left, "truncated does not restore the model.")
        value, state = outcome.value(min(seen)), State(clone(self.estimator))
        refitted = growth.refit(state, rows, value, self.classes, {}).estimator
        same = _same(self._answers(refitted), by_hand[min(seen)])
        self._require(same, f"refit does not give the same model as a fit with {name}={value}.")

    def _grower(self, name: str) -> Callable[[State, int], None]:
        """Return training by `Family.grow`."""

        def grow(state: State, count: int) -> None:
            self.family.grow(state.estimator, name, state.n_steps, count, self.X, self.y, {})
            state.n_steps = count
            told = state.estimator.get_params()[name]
            self._require(told == count, f"after grow to {count} steps {name} is {told}.")

        return grow

    def _has_epochs(self) -> bool:
        """Return whether it can be trained by epochs, and its family allows it."""
        if not all(hasattr(self.estimator, name) for name in ("partial_fit", "predict")):
            return False
        try:
            self.family.epochs.check(self.estimator, "epochs")
        except ValueError:
            return False
        return True

    def _train_epochs(self, state: State, count: int) -> None:
        train_calls(state, self.X, self.y, count, self.classes, {})

    def _check_steps(
        self, unit: str, train: Callable[[State, int], None], fresh: Callable | None
    ) -> None:
        """Interrupted and pickled training ends at the same model."""
        at_once = State(clone(self.estimator))
        train(at_once, MORE)
        wanted = self._answers(at_once.estimator)
        if fresh is not None:
            same = _same(wanted, self._answers(fresh(MORE)))
            self._require(same, f"{MORE} {unit} do not give the model of a fresh fit.")
        for is_pickled in (False, True):
            state = State(clone(self.estimator))
            train(state, SOME)
            if is_pickled:
                before = self._answers(state.estimator)
                self.family.epochs.before_store(state.estimator)
                state = load_state(dump_state(state))
                same = _same(self._answers(state.estimator), before)
                self._require(same, f"a pickled model of {SOME} {unit} has other predictions.")
            train(state, MORE)
            how = ", pickled in between," if is_pickled else ""
            same = _same(self._answers(state.estimator), wanted)
            self._require(
                same, f"{SOME} {unit} and {MORE - SOME} more{how} do not give the model of {MORE}."
            )

    def _check_changes(self, train: Callable[[State, int], None]) -> None:
        """A parameter change during training acts on the following steps, and on none before."""
        space = Space(self._searched() or {"_": [0]})
        ends = [space.from_unit(np.full(space.n_dims, u)) for u in (0.0, 1.0)]
        for name in mutable_params(self.estimator, space.names):
            acts = ends[0][name] == ends[1][name]
            for before, after in (ends, ends[::-1]):
                kept, changed = (State(clone(self.estimator)) for _ in range(2))
                for state in (kept, changed):
                    state.estimator.set_params(**{name: before[name]})
                    train(state, SOME)
                change(changed.estimator, {name: after[name]})
                told = changed.estimator.get_params()[name]
                self._require(told == after[name], f"{name} set to {after[name]!r} is {told!r}.")
                same = _same(self._answers(changed.estimator), self._answers(kept.estimator))
                self._require(
                    same,
                    f"{name} is in mutable_params, but a change to {after[name]!r} alters the "
                    "predictions without a further step.",
                )
                for state in (kept, changed):
                    train(state, MORE)
                acts |= not _same(self._answers(changed.estimator), self._answers(kept.estimator))
            self._require(
                acts,
                f"{name} is in mutable_params, but on these rows training ignores a change from "
                f"{ends[0][name]!r} to {ends[1][name]!r} or back.",
            )

    def _check_search(self) -> None:
        """Its scores equal the scores of manual fits."""
        space = {
            name: Outcome(min(MOST, values.high)) if type(values) is Outcome else values
            for name, values in self.space.items()
        }
        folds = KFold(2, shuffle=True, random_state=0)
        search = RandomSearchCV(
            self.estimator, space, n_iter=2, cv=folds, error_score="raise", random_state=0
        ).fit(self.X, self.y)
        for i, params in enumerate(search.cv_results_["params"]):
            for fold, (train, test) in enumerate(folds.split(self.X)):
                model = clone(self.estimator).set_params(**params)
                model.fit(*_rows(*safe_split(model, self.X, self.y, train)))
                by_hand = model.score(*_rows(*safe_split(model, self.X, self.y, test, train)))
                told = search.cv_results_[f"split{fold}_test_score"][i]
                self._require(
                    np.isclose(told, by_hand, equal_nan=True),
                    f"a search has the score {told:.6g} for {params}, but a manual fit has "
                    f"{by_hand:.6g}.",
                )
        again = self._fresh(search.best_params_)
        same = _same(self._answers(search.best_estimator_), self._answers(again))
        self._require(same, "best_estimator_ differs from a manual fit with best_params_.")


def _same(one: list[np.ndarray], other: list[np.ndarray]) -> bool:
    """Return whether answers are equal up to rounding."""
    return all(
        np.allclose(a, b, rtol=1e-5, atol=1e-6, equal_nan=True)
        if a.dtype.kind == "f"
        else np.array_equal(a, b)
        for a, b in zip(one, other, strict=True)
    )
