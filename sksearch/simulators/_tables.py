"""Finite tables of recorded results, and the tuning tasks in the data folder."""

import itertools
import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import loguniform, randint, uniform

from sksearch.datasets import DATA_VARIABLE, _data_folder
from sksearch.simulators._index import Index
from sksearch.simulators._nearest import check_seconds, finite_or_nan, lowest
from sksearch.simulators._problem import CurveProblem
from sksearch.space import LogRandInt, Space
from sksearch.space._conditions import When

SAME = 1e-9  # distance up to which parameters equal a row's, since features have rounding errors

_FILES = {
    "taskset_imdb": "taskset__imdb_patch32_GRU64_avg_bs128",
    "arlbench_dqn": "arlbench__cc_cartpole_dqn",
    "opda_alexnet": "opda__alexnet_imagenet",
    "fcnet_protein": "fcnet__protein_structure",
    "hpobench_vehicle": "hpobench_mlp__vehicle",
    "lcbench_covertype": "lcbench_surrogate__covertype",
    "lcbench_vehicle": "lcbench_surrogate__vehicle",
    "lcbench_fashion": "lcbench_surrogate__fashion_mnist",
}


class TabularProblem(CurveProblem):
    """Problem made of a table, in which each row is a candidate with its recorded losses.

    Parameters
    ----------
    space : dict
        Names of parameters and their choices or distributions. The rows are a sample of this
        space.
    params : sequence of dict
        The n_rows candidates, all distinct, without inactive parameters.
    losses : array-like of shape (n_rows,), (n_rows, n_epochs) or (n_rows, n_epochs, n_repetitions)
        Losses of the rows; non-finite after a failure.
    seconds : array-like of shape (n_rows, n_epochs), default=None
        Training seconds up to the end of each epoch, made non-decreasing. None: one second per
        epoch.
    nearest : bool, default=False
        If True, searches draw candidates from the whole `space`, and a candidate has the losses of
        the nearest row, as in `NearestCurves`. If False, only the rows are candidates.
    noise : bool, default=True
        If True, the curve of a row is one of its repetitions, chosen by the seed. If False, the
        curve is the mean over the repetitions.
    categories : collection of str, default=()
        Names of parameters with unordered numeric choices: the distance of any two choices is 1.

    Attributes
    ----------
    space : dict or list of dict
        Search space: the parameter `space` if `nearest` is True or if the rows are all candidates
        of the space; otherwise a list of dicts with a single candidate each, so that searches draw
        rows without replacement.
    max_resources : int
        Number of epochs; 1 without epochs.
    minimum, best : float or None
        Lowest final loss of the rows. The loss of a row is its mean over the repetitions.
    median : float
        Median of the final losses of the rows. The loss of a row is its mean over the repetitions.
    params : list of dict
        Candidates of the rows.

    Raises
    ------
    TypeError
        If `space` is not a dict.
    ValueError
        If `params` is empty, repeats a candidate or does not fit the space, or an array has the
        wrong shape.

    See Also
    --------
    NearestCurves : Any candidate has the curve of the nearest recorded one.

    Examples
    --------
    >>> from sksearch.simulators import TabularProblem
    >>> space = {"depth": [1, 2, 3], "width": [8, 16, 32]}
    >>> params = [{"depth": 1, "width": 8}, {"depth": 2, "width": 32}, {"depth": 3, "width": 16}]
    >>> problem = TabularProblem(space, params, [0.4, 0.2, 0.0])
    >>> problem.losses([{"depth": 2, "width": 32}])
    array([[0.2]])
    >>> problem.regret(0.4)
    2.0
    """

    def __init__(
        self,
        space: dict[str, Any],
        params: Sequence[dict[str, Any]],
        losses: ArrayLike,
        *,
        seconds: ArrayLike | None = None,
        nearest: bool = False,
        noise: bool = True,
        categories: Collection[str] = (),
    ):
        self.params = list(params)
        self._index = Index(space, self.params, categories)
        self._losses = _with_repetitions(losses, len(self.params))
        self._nearest, self._noise = nearest, noise
        self._means = self._losses.mean(axis=2)
        self.max_resources = self._means.shape[1]
        self.minimum = self.best = lowest(self._means[:, -1])
        self.median: Any = (
            float(np.nanmedian(self._means[:, -1])) if self.best is not None else None
        )
        if self._index.n_distinct < len(self.params):
            raise ValueError(
                f"only {self._index.n_distinct} of {len(self.params)} candidates are distinct: "
                "pass repetitions as the third dimension of losses."
            )
        whole = nearest or Space(space).size == len(self.params)
        self.space = space if whole else [_space_of_one(candidate) for candidate in self.params]
        self._seconds = check_seconds(seconds, *self._means.shape)
        self._repetitions: tuple[Any, Any] = (None, None)  # repetitions chosen by the last seed

    @classmethod
    def read(cls, path: str | Path, *, nearest: bool = False, noise: bool = True) -> Self:
        """Read a table from a file.

        Parameters
        ----------
        path : str or Path
            An ``npz`` file with ``meta``, ``valid``, optionally ``time`` and, unless the table is
            a full grid, ``X``. The README of the data folder describes the format.
        nearest : bool, default=False
            If True, any candidate has the losses of the nearest row. It has no effect on a full
            grid.
        noise : bool, default=True
            If True, a curve is one repetition. If False, a curve is the mean over the repetitions.

        Returns
        -------
        problem : TabularProblem
            The table.
        """
        with np.load(path) as arrays:
            meta = json.loads(str(arrays["meta"]))
            losses = arrays["valid"]
            seconds = arrays.get("time")
            space = space_of(meta["space"])
            if meta["kind"] == "grid":
                grid = itertools.product(*space.values())
                params = [dict(zip(space, values, strict=True)) for values in grid]
                losses, nearest = losses[:, np.newaxis], False
            else:
                params = [_decoded(meta["space"], row) for row in arrays["X"].tolist()]
        categories = [entry["name"] for entry in meta["space"] if entry["type"] == "cat"]
        return cls(
            space,
            params,
            losses,
            seconds=seconds,
            nearest=nearest,
            noise=noise,
            categories=categories,
        )

    def losses(self, params: Sequence[Mapping[str, Any]], seed: int = 0) -> np.ndarray:
        """Return losses; the seed chooses the repetition of each row.

        Parameters
        ----------
        params : sequence of dict
            Candidates: rows of the table, or any candidates of its space with ``nearest=True``.
        seed : int, default=0
            Seed of the choice of one repetition for each row.

        Returns
        -------
        losses : ndarray of shape (len(params), max_resources)
            Column t - 1 is the loss after t epochs; less is better.

        Raises
        ------
        ValueError
            If a candidate is not a row, or does not fit the space.
        """
        rows = self._rows(params)
        if not self._noise or self._losses.shape[2] == 1:
            return self._means[rows]
        known, drawn = self._repetitions
        if known != seed:
            n_rows, _, n_repetitions = self._losses.shape
            drawn = np.random.default_rng(seed).integers(n_repetitions, size=n_rows)
            self._repetitions = (seed, drawn)
        return self._losses[rows, :, drawn[rows]]

    def repetitions(self, params: Sequence[Mapping[str, Any]]) -> np.ndarray:
        """Return the losses of all repetitions.

        Parameters
        ----------
        params : sequence of dict
            Candidates, same as for `losses`.

        Returns
        -------
        losses : ndarray of shape (len(params), max_resources, n_repetitions)
            Losses of all repetitions, NaN after a failure.

        Raises
        ------
        ValueError
            If a candidate is not a row, or does not fit the space.
        """
        return self._losses[self._rows(params)]

    def seconds(self, params: Sequence[Mapping[str, Any]]) -> np.ndarray:
        """Return the seconds of rows."""
        if self._seconds is None:
            return super().seconds(params)
        return self._seconds[self._rows(params)]

    def regret(self, losses: float | np.ndarray) -> float | np.ndarray:
        """Scale losses to 0 for the best row and 1 for the median row.

        Parameters
        ----------
        losses : float or ndarray
            Losses after all epochs.

        Returns
        -------
        regret : float or ndarray
            Scaled losses. A repetition may be below the lowest mean loss, and its regret is then
            negative.

        Raises
        ------
        ValueError
            If the median row is as good as the best, or all rows failed.
        """
        if self.best is None or self.median == self.best:
            raise ValueError(
                f"The best row of the table has the loss {self.best} and the median one "
                f"{self.median}, so losses cannot be scaled."
            )
        return (losses - self.best) / (self.median - self.best)

    def __getstate__(self):
        return vars(self) | {"_repetitions": (None, None)}  # drawn again when needed

    def _rows(self, params: Sequence[Mapping[str, Any]]) -> np.ndarray:
        rows, distances = self._index.nearest(params)
        if not self._nearest and (distances > SAME).any():
            raise ValueError(
                f"{params[int(distances.argmax())]} is not a row of the table: search over "
                "problem.space, or pass nearest=True for the nearest row."
            )
        return rows


def task_names() -> list[str]:
    """Name the recorded tuning tasks that `load_task` supports.

    Returns
    -------
    names : list of str
        All names, including tasks whose files are missing.

    Examples
    --------
    >>> from sksearch.simulators._tables import task_names
    >>> "lcbench_covertype" in task_names()
    True
    """
    return list(_FILES)


def load_task(name: str, *, noise: bool = True) -> TabularProblem:
    """Load a recorded tuning task from the data folder.

    The folder is the same as for `sksearch.datasets.load`: the environment variable
    ``SKSEARCH_DATA``, by default ``shared/data`` next to the repository. Its README describes the
    tasks and their sources.

    Parameters
    ----------
    name : str
        One of `task_names`. "fcnet_protein" and "hpobench_vehicle" are full grids without epochs.
        The other tasks contain a few hundred trained candidates; a new candidate has the curve of
        the nearest one.
    noise : bool, default=True
        If True, a curve is one repetition. If False, a curve is the mean over the repetitions.

    Returns
    -------
    problem : TabularProblem
        The task.

    Raises
    ------
    ValueError
        If the task is unknown.
    FileNotFoundError
        If the data folder lacks the file.

    See Also
    --------
    load_mnist_curves : Recorded curves included in the package.

    Examples
    --------
    >>> from sksearch.simulators import load_task
    >>> problem = load_task("lcbench_covertype")  # doctest: +SKIP
    >>> problem.max_resources  # doctest: +SKIP
    52
    """
    return TabularProblem.read(task_path(name), nearest=True, noise=noise)


def task_path(name: str) -> Path:
    """Return the path of a recorded task's file; raise if it is missing."""
    if name not in _FILES:
        raise ValueError(f"name={name!r} is not a task: use one of {', '.join(_FILES)}.")
    path = _data_folder() / "hpo" / f"{_FILES[name]}.npz"
    if not path.is_file():
        raise FileNotFoundError(
            f"{path} is missing. The recorded tasks are not part of the package. Either put "
            f"hpo/{path.name}, in the format of TabularProblem.read, into a folder and set the "
            f"environment variable {DATA_VARIABLE} to its path; or use load_mnist_curves(), whose "
            "curves are part of the package; or make a problem from your own results with "
            "TabularProblem, NearestCurves or SurrogateProblem."
        )
    return path


def space_of(entries: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the space described by a file's ``meta["space"]``.

    Parameters
    ----------
    entries : list of dict
        ``name``, ``type`` float/int/cat, ``lower``, ``upper`` (included), ``log``, ``choices``,
        and ``parent`` and ``when`` of a conditional parameter.

    Returns
    -------
    space : dict
        Names of parameters and their choices or distributions.
    """
    return {entry["name"]: _values(entry) for entry in entries}


def _values(entry: dict[str, Any]) -> Any:
    """Return the choices or the distribution of one parameter."""
    log = entry.get("log", False)
    if "choices" in entry:
        values: Any = list(entry["choices"])
    elif entry["type"] == "int":
        make = LogRandInt if log else randint
        values = make(int(entry["lower"]), int(entry["upper"]) + 1)
    else:
        low, high = float(entry["lower"]), float(entry["upper"])
        values = loguniform(low, high) if log else uniform(low, high - low)
    return When(values, entry["parent"], "in", entry["when"]) if "parent" in entry else values


def _decoded(entries: list[dict[str, Any]], row: list[float]) -> dict[str, Any]:
    """Return the candidate of a row of ``X``: indices of choices, NaN where inactive."""
    params = {}
    for entry, x in zip(entries, row, strict=True):
        if x == x:
            number = int(x) if entry["type"] == "int" or "choices" in entry else x
            params[entry["name"]] = entry["choices"][number] if "choices" in entry else number
    return params


def _space_of_one(params: dict[str, Any]) -> dict[str, list]:
    """Return the space of one candidate."""
    return {name: [value] for name, value in params.items()}


def _with_repetitions(losses: ArrayLike, n_rows: int) -> np.ndarray:
    """Return losses as an array of shape (n_rows, n_epochs, n_repetitions)."""
    losses = np.asarray(losses, dtype=float)
    if not 1 <= losses.ndim <= 3 or len(losses) != n_rows or losses.size == 0:
        raise ValueError(
            f"losses has shape {losses.shape}, expected ({n_rows},), ({n_rows}, n_epochs) or "
            f"({n_rows}, n_epochs, n_repetitions)."
        )
    return finite_or_nan(losses.reshape(*losses.shape, *[1] * (3 - losses.ndim)))
