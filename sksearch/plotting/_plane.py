"""Base class of displays of two parameters."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from sksearch._utils._terminal import counted
from sksearch.history import Params
from sksearch.plotting._display import Display
from sksearch.plotting._slices import names_to_draw, pair_to_draw
from sksearch.plotting._style import place_ticks, score_name, short, star_style
from sksearch.reader._read import read
from sksearch.reader._sources import FinishedSearch
from sksearch.stats._candidates import Axis, Candidates

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZE = (6.2, 4.6)  # inches of a new figure


class PlaneDisplay(Display):
    """Candidates on the plane of two parameters."""

    def __init__(self, *, candidates: Candidates, x: str, y: str, score_name: str = "Score"):
        self.candidates = candidates
        self.x, self.y = x, y
        self.score_name = score_name

    @classmethod
    def from_search(
        cls,
        search: FinishedSearch,
        *,
        params: tuple[str, str] | None = None,
        ax: "Axes | None" = None,
    ) -> Self:
        """Draw a fitted search.

        Parameters
        ----------
        search : object
            A fitted search of this library or scikit-learn, or any other input that
            `sksearch.stats.importance` accepts.
        params : tuple (str, str) or None, default=None
            Names of the two parameters. None: the two most important ones active together.
        ax : matplotlib Axes or None, default=None
            Axes to draw on. None: a new figure.

        Returns
        -------
        display : Display
            The display, drawn.

        Raises
        ------
        ValueError
            If the search is not fitted, no candidate has a score, a name is unknown, or no
            candidate has both parameters.
        """
        search = read(search)
        candidates = Candidates.of(search)
        names = names_to_draw(search, candidates, params, None)
        if params is None:
            names = pair_to_draw(candidates, names)
        elif len(set(names)) != 2:
            raise ValueError(
                f"params={params!r} must name two parameters of {[*candidates.axes]}."
            )
        if not names or not candidates.n_with(*names):
            which = " and ".join(map(repr, names)) or "two parameters that vary"
            raise ValueError(f"No candidate has {which}: see SliceDisplay for one parameter.")
        x, y = names
        score = score_name(search, candidates.n_folds)
        return cls(candidates=candidates, x=x, y=y, score_name=score).plot(ax)

    @property
    def _axes(self) -> tuple[Axis, Axis]:
        """The two parameters, from 0 to 1."""
        return self.candidates.axes[self.x], self.candidates.axes[self.y]

    def _places(self, params: list[Params]) -> tuple[np.ndarray, np.ndarray]:
        """Coordinates of candidates, spread out within a choice; NaN if a parameter is missing."""
        rng = np.random.default_rng(0)
        x, y = (_spread(axis.encode(params), bool(axis.choices), rng) for axis in self._axes)
        return x, y

    def _draw_star(self, ax: "Axes", places: tuple[np.ndarray, np.ndarray]) -> None:
        """Mark the winner; `places` are the candidates' coordinates."""
        found = self.candidates
        if found.star is not None:
            params, _ = found.star
            at = found.at
            place = [
                axis.encode([params])[0] if at is None else of_axis[at]
                for axis, of_axis in zip(self._axes, places, strict=True)
            ]
            ax.plot(*place, ms=15, **star_style(at is None))

    def _label(self, ax: "Axes", bar: Any) -> None:
        """Write the title and the ticks; remove lines."""
        found, axes = self.candidates, self._axes
        n, n_drawn = len(found.scores), found.n_with(self.x, self.y)
        title = f"{n_drawn:,} of " * (n_drawn < n) + counted(n, "candidate") + found.where
        if found.winner is not None and not {self.x, self.y} <= {*found.winner.params}:
            title += "\n(the winner does not have both parameters)"
        else:
            title += found.about_star and f"\n{found.about_star}"
        ax.set_title(title, loc="left", fontsize=11)
        for axis, side in zip(axes, (ax.xaxis, ax.yaxis), strict=True):
            place_ticks(side, axis, 18)
        ax.set_xlabel(short(self.x, 44, [self.y]))
        ax.set_ylabel(short(self.y, 36, [self.x]))
        ax.tick_params(length=0, pad=6)
        for spines in (ax.spines, bar.ax.spines):
            spines[:].set_visible(False)


def _spread(places: np.ndarray, is_choice: bool, rng: np.random.Generator) -> np.ndarray:
    """Move the candidates of one choice apart."""
    if not is_choice:
        return places
    n = len(np.unique(places[~np.isnan(places)]))
    width = 0.25 / max(1, n - 1)
    return places + rng.uniform(-width, width, len(places))
