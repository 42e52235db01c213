"""Running averages of parameters, which often do better than the last values of a noisy training."""

from __future__ import annotations

import copy
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Generic, Protocol, TypeVar, cast, runtime_checkable

import numpy as np

from clumsygrad.core import Array, Tensor, mark_updated

from .hyperparameter import proportion, whole
from .optimizer import read_array
from .writing import BLOCK, list_tensors, make_writeable, overwrite


class ExponentialMovingAverage:
    r"""Keeps an exponentially weighted average of parameters.

    .. math:: a \leftarrow d\, a + (1 - d)\, \theta, \qquad a_0 = \theta_0

    Args:
        parameters: the parameters.
        decay: d, how much of the average is kept in an update; the average goes back about 1 / (1 - d) updates.

    Attributes:
        decay: d.
        num_updates: how often :meth:`update` was called.
        averages: the averages, one array for each parameter.

    Raises:
        TypeError: for an argument of the wrong type.
        ValueError: for a decay that is not from 0 to 1.

    Example:
        >>> from clumsygrad.core import parameter
        >>> from clumsygrad.optim import ExponentialMovingAverage
        >>> w = parameter([0.0])
        >>> average = ExponentialMovingAverage([w], decay=0.75)
        >>> w.data = [8.0]
        >>> average.update()
        >>> with average.average_parameters():
        ...     w.tolist()
        [2.0]
        >>> w.tolist()
        [8.0]
    """

    decay: float
    num_updates: int
    averages: list[Array]

    _tensors: list[Tensor]

    def __init__(self, parameters: Iterable[Tensor], decay: float) -> None:
        self._tensors = list_tensors(parameters)
        self.decay = proportion("decay", decay)
        self.num_updates = 0
        self.averages = [np.array(tensor.data, order="C") for tensor in self._tensors]

    def update(self) -> None:
        """Move the averages towards the parameters' present values."""
        self.num_updates += 1
        for average, tensor in zip(self.averages, self._tensors, strict=True):
            _blend(average, tensor.data, 1 - self.decay)

    def copy_to(self, parameters: Iterable[Tensor] | None = None) -> None:
        """Set parameters to the averages: those given, in the same order, or those that are averaged."""
        tensors = self._tensors if parameters is None else list_tensors(parameters)
        if [tensor.shape for tensor in tensors] != [average.shape for average in self.averages]:
            raise ValueError("the averages are copied to parameters of the same number and shapes; received others")
        for tensor, average in zip(tensors, self.averages, strict=True):
            overwrite(tensor, average)
        mark_updated(tensors)

    @contextmanager
    def average_parameters(self) -> Generator[None, None, None]:
        """Set the parameters to the averages inside a ``with`` block, and back after it."""
        saved = [tensor.data.copy() for tensor in self._tensors]
        self.copy_to()
        try:
            yield
        finally:
            for tensor, values in zip(self._tensors, saved, strict=True):
                overwrite(tensor, values)
            mark_updated(self._tensors)

    def state_dict(self) -> dict[str, Any]:
        """Return a copy of the averages, the decay and the number of updates."""
        return {
            "decay": self.decay,
            "num_updates": self.num_updates,
            "averages": [average.copy() for average in self.averages],
        }

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Go on from what :meth:`state_dict` returned.

        Raises:
            ValueError: when it belongs to other parameters. Nothing is changed then.
        """
        _check_names(state_dict, ("decay", "num_updates", "averages"))
        decay = proportion("decay", state_dict["decay"])
        number = whole("num_updates", state_dict["num_updates"])
        self.averages = _read_averages(state_dict["averages"], self._tensors)
        self.decay, self.num_updates = decay, number


@runtime_checkable
class HasParameters(Protocol):
    """A model, as far as its average is concerned."""

    def parameters(self) -> Iterable[Tensor]:
        """Return the parameters, always in the same order."""
        ...


Model = TypeVar("Model", bound=HasParameters)


class AveragedModel(Generic[Model]):
    r"""A copy of a model with the average of the parameters that the model had at each update.

    .. math:: a \leftarrow a + \frac{\theta - a}{n + 1}

    The first update copies the parameters. What the model's ``buffers()`` yields, if it has that method, is copied in
    each update. Calling the average calls the copy.

    Args:
        model: has a method ``parameters()``; it is deep-copied.
        avg_fn: computes the new average from the old one, the parameter's value and the number of updates before;
            the equally weighted average by default.
        use_buffers: average the buffers, too, instead of copying them.

    Attributes:
        module: the copy.
        n_averaged: the number of updates.

    Raises:
        TypeError: for a model without ``parameters()``.

    Example:
        >>> from clumsygrad.core import parameter
        >>> from clumsygrad.optim import AveragedModel
        >>> class Line:
        ...     def __init__(self):
        ...         self.slope = parameter(1.0)
        ...     def parameters(self):
        ...         return [self.slope]
        ...     def __call__(self, x):
        ...         return self.slope * x
        >>> model = Line()
        >>> average = AveragedModel(model)
        >>> for slope in (1.0, 2.0, 6.0):
        ...     model.slope.data = slope
        ...     average.update_parameters(model)
        >>> average(10.0).item()
        30.0

    References:
        Izmailov et al., "Averaging Weights Leads to Wider Optima and Better Generalization", 2018.
    """

    module: Model
    n_averaged: int
    use_buffers: bool

    _avg_fn: Callable[[Array, Array, int], Array] | None

    def __init__(
        self,
        model: Model,
        avg_fn: Callable[[Array, Array, int], Array] | None = None,
        use_buffers: bool = False,
    ) -> None:
        if not isinstance(cast("object", model), HasParameters):
            raise TypeError(f"a model has a method parameters(); received a {type(model).__name__}")
        self.module = copy.deepcopy(model)
        self.n_averaged = 0
        self.use_buffers = use_buffers
        self._avg_fn = avg_fn

    def __call__(self, *args: object, **kwargs: object) -> Any:
        """Call the copy."""
        return cast("Callable[..., Any]", self.module)(*args, **kwargs)

    def parameters(self) -> list[Tensor]:
        """Return the averaged parameters."""
        return list_tensors(self.module.parameters())

    def update_parameters(self, model: Model) -> None:
        """Take the present parameters of ``model`` into the average.

        Raises:
            ValueError: when it has parameters of other shapes.
        """
        own, other = self.parameters(), list_tensors(model.parameters())
        if [tensor.shape for tensor in own] != [tensor.shape for tensor in other]:
            raise ValueError("the average is over models of the same parameters; received one with other shapes")
        for average, tensor in zip(own, other, strict=True):
            self._average(make_writeable(average), tensor.data)
        mark_updated(own)
        for target, buffer in zip(_get_buffers(self.module), _get_buffers(model), strict=True):
            if self.use_buffers:
                self._average(target, buffer)
            else:
                np.copyto(target, buffer, casting="same_kind")
        self.n_averaged += 1

    def _average(self, average: Array, values: Array) -> None:
        if not self.n_averaged or average.dtype.kind != "f":
            np.copyto(average, values, casting="same_kind")
        elif self._avg_fn is None:
            _blend(average, values, 1 / (self.n_averaged + 1))
        else:
            np.copyto(average, self._avg_fn(average, values, self.n_averaged), casting="same_kind")

    def state_dict(self) -> dict[str, Any]:
        """Return a copy of the averages and the number of updates."""
        return {
            "n_averaged": self.n_averaged,
            "averages": [tensor.data.copy() for tensor in self.parameters()],
            "buffers": [buffer.copy() for buffer in _get_buffers(self.module)],
        }

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Go on from what :meth:`state_dict` returned.

        Raises:
            ValueError: when it belongs to another model. Nothing is changed then.
        """
        _check_names(state_dict, ("n_averaged", "averages", "buffers"))
        number = whole("n_averaged", state_dict["n_averaged"])
        tensors, own = self.parameters(), _get_buffers(self.module)
        averages = _read_averages(state_dict["averages"], tensors)
        buffers = [np.asarray(buffer) for buffer in state_dict["buffers"]]
        if [buffer.shape for buffer in buffers] != [buffer.shape for buffer in own]:
            raise ValueError("the state has other buffers than the model")
        for tensor, average in zip(tensors, averages, strict=True):
            overwrite(tensor, average)
        mark_updated(tensors)
        for target, buffer in zip(own, buffers, strict=True):
            np.copyto(target, buffer, casting="same_kind")
        self.n_averaged = number


def _blend(average: Array, values: Array, weight: float) -> None:
    """Move an average by a part of its distance to ``values``, block by block."""
    flat, other = average.reshape(-1), values.reshape(-1) if values.flags.c_contiguous else values.flat
    room = np.empty(min(BLOCK, flat.size), average.dtype)
    with np.errstate(all="ignore"):
        for start in range(0, flat.size, BLOCK):
            part = flat[start : start + BLOCK]
            change = room[: part.size]
            np.subtract(other[start : start + BLOCK], part, out=change, casting="same_kind")
            change *= weight
            part += change


def _get_buffers(model: object) -> list[Array]:
    """Return the arrays of a model's buffers, if it has any."""
    listed: object = getattr(model, "buffers", None)
    if not callable(listed):
        return []
    buffers = list(cast("Iterable[Tensor | Array]", listed()))
    return [buffer.data if isinstance(buffer, Tensor) else buffer for buffer in buffers]


def _check_names(state_dict: object, names: Sequence[str]) -> None:
    if not isinstance(state_dict, Mapping) or set(cast("Mapping[str, object]", state_dict)) != set(names):
        raise ValueError(f"a state is a mapping with {', '.join(names)}, as state_dict() returns it")


def _read_averages(averages: Sequence[object], tensors: Sequence[Tensor]) -> list[Array]:
    if len(averages) != len(tensors):
        raise ValueError(f"the state has averages of {len(averages)} parameters; there are {len(tensors)}")
    return [
        read_array(f"average {index}", average, tensor)
        for index, (average, tensor) in enumerate(zip(averages, tensors, strict=True))
    ]
