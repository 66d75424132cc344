"""Base class for third-party boosters, which continue training from a given model."""

from collections.abc import Collection, Mapping
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from sksearch._utils._seeds import MAX_SEED
from sksearch.base._resource import fit

from ._family import Family

#: Texts of values that leave a parameter unset.
OFF = ("None", "False", "0", "0.0", "[]", "()")
#: Arguments of ``fit`` that mean the same for later trees. Other arguments may stop the
#: training, change it from tree to tree, or pass a user's initial model.
FIT_PARAMS = {
    *("sample_weight", "group", "qid", "group_id", "group_weight", "base_margin", "verbose"),
    *("feature_name", "categorical_feature", "cat_features", "feature_weights"),
}


class Booster(Family):
    """Boosting whose ``fit`` can continue from a model.

    Attributes
    ----------
    argument : str
        Argument of ``fit`` that takes the model to continue from.
    growing : tuple of str
        Names among `counts` by which training can continue.
    plain : mapping of str to tuple of str
        Parameters with which trees depend on more than the predictions of earlier trees, or
        training ends by itself. Maps each to the texts of its harmless values.
    needs : str
        Setting required to continue training, for a message.
    seeds, part_seeds : tuple of str
        Parameters that seed all draws, and those that seed only some, except bins.
    """

    argument: ClassVar[str]
    growing: ClassVar[tuple[str, ...]] = ("n_estimators",)
    plain: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    needs: ClassVar[str] = ""
    seeds: ClassVar[tuple[str, ...]] = ("random_state", "random_seed", "seed")
    part_seeds: ClassVar[tuple[str, ...]] = ()
    lists_params = False

    def can_grow(
        self, model: Any, name: str, names: Collection[str], passed: set[str], n_rows: int
    ) -> bool:
        """Return whether training can continue, given parameters and arguments of ``fit``."""
        params = model.get_params()
        return (
            name in self.growing
            and passed <= FIT_PARAMS
            and all(
                str(params.get(each)) in (*OFF, *harmless) for each, harmless in self.plain.items()
            )
        )

    def model_of(self, model: Any) -> Any:
        """Return the fitted model for ``fit``."""
        raise NotImplementedError

    def grow(
        self, model: Any, name: str, done: int, count: int, X: Any, y: Any, params: dict[str, Any]
    ) -> None:
        """Add the missing trees; afterwards the parameters describe the whole model."""
        if not done:
            self.set_params(model, {name: count})
            fit(model, X, y, params)
        else:
            self.add(model, name, done, count, X, y, params)

    def add(
        self, model: Any, name: str, done: int, count: int, X: Any, y: Any, params: dict[str, Any]
    ) -> None:
        """Add the missing trees to a model that already has some."""
        seeds, after = self.seeds_from(model, done), model.get_params() | {name: count}
        begun = self.model_of(model)
        model.set_params(**{name: count - done}, **seeds)
        fit(model, X, y, params | {self.argument: begun})
        model.set_params(**{each: after[each] for each in (name, *seeds)})

    def seeds_from(self, model: Any, done: int) -> dict[str, int]:
        """Seeds of the trees from `done` on, so that stretches do not repeat the same draws."""
        params = model.get_params()
        names = (*self.seeds, *self.part_seeds)
        own = {each: params[each] for each in names if params.get(each) is not None}
        if own.keys().isdisjoint(self.seeds):
            own["random_state"] = 0
        # Non-integers, such as a RandomState, advance by themselves. Seeds are hashed because
        # linear generators draw in step for neighbouring seeds.
        return {
            each: int(np.random.SeedSequence((abs(int(s)), done)).generate_state(1)[0]) % MAX_SEED
            for each, s in own.items()
            if isinstance(s, Integral)
        }


def names_set_by_user(own: dict, aliases: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """For each of our names, return the alias that the user has set, otherwise our name."""
    return {
        name: next((other for other in others if other in own), name)
        for name, others in aliases.items()
    }
