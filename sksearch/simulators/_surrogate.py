"""A regressor that replaces training: its prediction is the loss of any candidate.

==========  ======================================================  ==============================
symbol      meaning                                                 shape
==========  ======================================================  ==============================
n, d        numbers of candidates and of parameters                 scalars
X           rows that the model predicts, candidate after           (n max_resources, d or d + 1)
            candidate, epoch after epoch
==========  ======================================================  ==============================
"""

import numbers
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from sksearch._utils._on_demand import missing
from sksearch.simulators._nearest import check_table, finite_or_nan
from sksearch.simulators._problem import CurveProblem
from sksearch.space import Space
from sksearch.space._conditions import unwrap
from sksearch.space._values import equal

EPOCH = "epoch"  # column of the resource, if the model was fitted to named columns


class SurrogateProblem(CurveProblem):
    """Problem with losses predicted by a model: a fitted regressor or an ONNX network.

    Parameters
    ----------
    space : dict or list of dict
        Names of parameters and their choices or distributions. Searches draw from it.
    model : object, str, Path or bytes
        Model of the losses: an object with ``predict(X)``, such as a fitted scikit-learn regressor
        or pipeline; or an ONNX network, as the path of a file or as bytes, with one input of shape
        (n_rows, n_columns) and one output with a number for each row.
    max_resources : int, default=1
        Number of epochs of a complete fit. If there is more than one, the epoch, from 1, is an
        additional input column of the model.
    encode : callable or None, default=None
        ``encode(params, epochs) -> X`` converts candidates (a list of dicts) and epochs (an
        integer array of the same length) to the input of the model. None: one column per parameter
        in the order of `space`, with numbers and numeric choices unchanged, other choices as
        positions in their list, and NaN for inactive parameters. A model with
        ``feature_names_in_`` gets a DataFrame with the original values, and with the columns of
        the parameters and "epoch".
    seconds : object, str, Path, bytes or None, default=None
        Model of the seconds up to the end of an epoch, with the same input. None: one second per
        epoch.

    Attributes
    ----------
    space : dict or list of dict
        Same as the parameter.
    max_resources : int
        Number of epochs.

    Raises
    ------
    TypeError
        If a model has no ``predict`` and is not a network.
    ValueError
        If a model cannot predict a candidate of the space, or `max_resources` is less than 1.
    ImportError
        If a model is in ONNX, and the package ``onnxruntime`` is not installed.

    See Also
    --------
    NearestCurves : Recorded curves without a model.

    Notes
    -----
    Predictions are smooth, so they contain no noise, and no failures unless the model predicts
    them. Measure the error of the model on results that it was not fitted to. An ONNX network runs
    on one thread, in 32-bit floats.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.stats import uniform
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> from sksearch.simulators import SurrogateProblem
    >>> X = np.linspace(0, 1, 50)[:, np.newaxis]
    >>> model = RandomForestRegressor(random_state=0).fit(X, (X[:, 0] - 0.3) ** 2)
    >>> problem = SurrogateProblem({"x": uniform(0, 1)}, model)
    >>> problem.losses([{"x": 0.3}, {"x": 0.9}]).round(2)
    array([[0.  ],
           [0.36]])
    """

    def __init__(
        self,
        space: dict[str, Any] | list[dict[str, Any]],
        model: Any,
        max_resources: int = 1,
        *,
        encode: Callable[[list[Mapping[str, Any]], np.ndarray], Any] | None = None,
        seconds: Any = None,
    ):
        if not isinstance(max_resources, numbers.Integral) or max_resources < 1:
            raise ValueError(f"max_resources={max_resources!r} must be an integer of at least 1.")
        if encode is not None and not callable(encode):
            raise TypeError(
                f"encode={encode!r} must be callable: encode(params, epochs) -> X, or None."
            )
        self.space, self.max_resources = space, int(max_resources)
        self._parsed: Space = Space(space)
        self._encode: Callable[..., Any] | None = encode
        self._model: Any = _model(model, "model")
        self._seconds: Any = None if seconds is None else _model(seconds, "seconds")
        candidate = self._parsed.sample(np.random.default_rng(0))
        for name, each in (("model", self._model), ("seconds", self._seconds)):
            if each is not None:
                self._probe(each, name, candidate)

    @classmethod
    def from_curves(
        cls,
        space: dict[str, Any] | list[dict[str, Any]],
        params: Sequence[Mapping[str, Any]],
        curves: ArrayLike,
        regressor: Any,
    ) -> Self:
        """Create a problem by fitting a regressor to recorded curves.

        Parameters
        ----------
        space : dict or list of dict
            Names of parameters and their choices or distributions.
        params : sequence of dict
            Recorded candidates, inactive parameters absent; n_curves of them.
        curves : array-like of shape (n_curves, max_resources)
            Losses after each epoch. Non-finite losses are omitted.
        regressor : estimator
            Unfitted regressor with scikit-learn's interface; a clone is fitted. It must support
            NaN if parameters are conditional.

        Returns
        -------
        problem : SurrogateProblem

        Raises
        ------
        ValueError
            If `curves` has the wrong shape, or no finite value.
        """
        losses = check_table(curves, "curves", len(params))
        X = _rows(space, params, losses.shape[1])
        y = finite_or_nan(losses).ravel()
        known = ~np.isnan(y)
        if not known.any():
            raise ValueError("curves has no finite value to fit the model to.")
        return cls(space, clone(regressor).fit(X[known], y[known]), losses.shape[1])

    def losses(self, params: Sequence[Mapping[str, Any]], seed: int = 0) -> np.ndarray:
        """Predict losses; `seed` has no effect."""
        return finite_or_nan(self._predicted(self._model, params))

    def seconds(self, params: Sequence[Mapping[str, Any]]) -> np.ndarray:
        """Predict seconds, made non-decreasing and non-negative."""
        if self._seconds is None:
            return super().seconds(params)
        return np.maximum.accumulate(self._predicted(self._seconds, params).clip(min=0), axis=1)

    def _predicted(self, model: Any, params: Sequence[Mapping[str, Any]]) -> np.ndarray:
        """Return a model's predictions, shape (n_candidates, max_resources)."""
        for i, each in enumerate(params):
            self._parsed.check(dict(each), where=f"params[{i}]")
        if not len(params):
            return np.empty((0, self.max_resources))
        found = np.asarray(model.predict(self._given(model, params)), dtype=float)
        shape = len(params), self.max_resources
        if found.size != shape[0] * shape[1]:
            raise ValueError(
                f"the model returns shape {found.shape} for {shape[0] * shape[1]} rows: it must "
                "return one number for each row."
            )
        return found.reshape(shape)

    def _given(self, model: Any, params: Sequence[Mapping[str, Any]]) -> Any:
        """Return the input rows of a model."""
        if self._encode is not None:
            epochs = np.tile(np.arange(1, self.max_resources + 1), len(params))
            repeated = [each for each in params for _ in range(self.max_resources)]
            return self._encode(repeated, epochs)
        names = getattr(model, "feature_names_in_", None)
        if names is None:
            return _rows(self.space, params, self.max_resources)
        import pandas as pd

        columns: dict[str, Any] = {
            name: [each.get(name) for each in params for _ in range(self.max_resources)]
            for name in self.names
        }
        if self.max_resources > 1:
            columns[EPOCH] = np.tile(np.arange(1, self.max_resources + 1), len(params))
        if unknown := [name for name in names if name not in columns]:
            raise ValueError(
                f"the model was fitted to the column {unknown[0]!r}, but the columns are "
                f"{', '.join(columns)}. Rename it, or pass encode=."
            )
        return pd.DataFrame(columns)[list(names)]

    def _probe(self, model: Any, name: str, candidate: Mapping[str, Any]) -> None:
        """Raise if a model cannot predict a candidate, before any search has begun."""
        try:
            self._predicted(model, [candidate])
        except ImportError:
            raise
        except Exception as error:
            raise ValueError(
                f"{name} cannot predict {dict(candidate)}: {error} Its input has the columns "
                f"{', '.join([*self.names, *[EPOCH] * (self.max_resources > 1)])}; pass encode= "
                "if it needs other columns."
            ) from error


class Network:
    """An ONNX network as a regressor; its session is recreated in each process.

    Parameters
    ----------
    content : bytes
        Content of the file.
    """

    def __init__(self, content: bytes):
        self.content = content
        self._session: Any = None

    def predict(self, X: Any) -> np.ndarray:
        """Return the output, shape (n_rows,) or (n_rows, 1)."""
        if self._session is None:
            self._session = _session(self.content)
        inputs = self._session.get_inputs()
        if len(inputs) != 1:
            raise ValueError(f"the network has {len(inputs)} inputs, expected one.")
        return self._session.run(None, {inputs[0].name: np.asarray(X, dtype=np.float32)})[0]

    def __getstate__(self):
        return {"content": self.content, "_session": None}


def _session(content: bytes) -> Any:
    """Return a single-threaded onnxruntime session."""
    try:
        import onnxruntime
    except ImportError as error:
        raise missing("A network in ONNX needs onnxruntime", "onnx") from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])


def _model(model: Any, name: str) -> Any:
    """Return an object with `predict`; a network for a path or bytes."""
    if isinstance(model, str | os.PathLike):
        return Network(Path(model).read_bytes())
    if isinstance(model, bytes):
        return Network(model)
    if not callable(getattr(model, "predict", None)) or isinstance(model, type):
        raise TypeError(
            f"{name}={model!r} must have predict(X), like a fitted regressor, or be the path or "
            "the bytes of a network in ONNX."
        )
    return model


def _rows(
    space: dict[str, Any] | list[dict[str, Any]],
    params: Sequence[Mapping[str, Any]],
    n_epochs: int,
) -> np.ndarray:
    """Numbers of candidates and, if there are several epochs, the epoch as the last column."""
    dicts = [space] if isinstance(space, dict) else space
    columns = []
    for name in dict.fromkeys(name for each in dicts for name in each):
        choices = _choices([each[name] for each in dicts if name in each])
        columns.append([_number(each, name, choices) for each in params])
    X = np.repeat(np.array(columns, dtype=float).T.reshape(len(params), -1), n_epochs, axis=0)
    if n_epochs == 1:
        return X
    return np.column_stack([X, np.tile(np.arange(1.0, n_epochs + 1), len(params))])


def _choices(values: list[Any]) -> list[Any] | None:
    """Choices of a parameter if not all are numbers, otherwise None."""
    lists = [list(each) for each, _ in map(unwrap, values) if not hasattr(each, "rvs")]
    choices = [choice for each in lists for choice in each]
    if all(isinstance(choice, numbers.Real) for choice in choices):
        return None
    return choices


def _number(params: Mapping[str, Any], name: str, choices: list[Any] | None) -> float:
    """Return a value as a number, NaN if the parameter is inactive."""
    if name not in params:
        return np.nan
    value = params[name]
    if choices is not None:
        return float(next(i for i, choice in enumerate(choices) if equal(choice, value)))
    if not isinstance(value, numbers.Real):
        raise ValueError(f"{name}={value!r} is not a number: pass encode= to convert it.")
    return float(value)
