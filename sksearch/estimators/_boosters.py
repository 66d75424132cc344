"""What boosters of other libraries have in common: they are given the model that there is."""

from collections.abc import Collection, Mapping
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from sksearch._utils._seeds import MAX_SEED
from sksearch.base._resource import fit

from ._family import Family

#: Texts of values that leave a parameter out.
OFF = ("None", "False", "0", "0.0", "[]", "()")
#: Arguments of ``fit`` that mean the same for trees that are made later. Others may stop the
#: training, change it from tree to tree, or are a model of the user's to begin with.
FIT_PARAMS = {
    *("sample_weight", "group", "qid", "group_id", "group_weight", "base_margin", "verbose"),
    *("feature_name", "categorical_feature", "cat_features", "feature_weights"),
}


class Booster(Family):
    """Boosting whose ``fit`` goes on from a model.

    Attributes
    ----------
    argument : str
        Of ``fit``: the model to go on from.
    growing : tuple of str
        Those of `counts` by which it goes on.
    plain : mapping of str to tuple of str
        Params with which trees depend on more than on the predictions of those before, or
        training ends by itself: each with the texts of values that do no harm.
    needs : str
        Setting with which training goes on, for a message.
    seeds, part_seeds : tuple of str
        Params that seed all that is drawn, and those that seed a part, but for bins.
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
        """Whether it may, with its params, the `names` of searched ones, and what is passed."""
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
        """Make the trees that are missing; the params are those of the whole afterwards."""
        if not done:
            self.set_params(model, {name: count})
            fit(model, X, y, params)
        else:
            self.add(model, name, done, count, X, y, params)

    def add(
        self, model: Any, name: str, done: int, count: int, X: Any, y: Any, params: dict[str, Any]
    ) -> None:
        """Make the trees that are missing of a model that has some."""
        seeds, after = self.seeds_from(model, done), model.get_params() | {name: count}
        begun = self.model_of(model)
        model.set_params(**{name: count - done}, **seeds)
        fit(model, X, y, params | {self.argument: begun})
        model.set_params(**{each: after[each] for each in (name, *seeds)})

    def seeds_from(self, model: Any, done: int) -> dict[str, int]:
        """Seeds of the trees from `done` on; without, each stretch would draw the same again."""
        params = model.get_params()
        names = (*self.seeds, *self.part_seeds)
        own = {each: params[each] for each in names if params.get(each) is not None}
        if own.keys().isdisjoint(self.seeds):
            own["random_state"] = 0
        # What is no number, such as a RandomState, goes on by itself. Draws of neighbouring seeds
        # are in step where a generator is linear, hence a hash.
        return {
            each: int(np.random.SeedSequence((abs(int(s)), done)).generate_state(1)[0]) % MAX_SEED
            for each, s in own.items()
            if isinstance(s, Integral)
        }


def names_set_by_user(own: dict, aliases: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """For each of our names the one that the user has set, ours if there is none."""
    return {
        name: next((other for other in others if other in own), name)
        for name, others in aliases.items()
    }
