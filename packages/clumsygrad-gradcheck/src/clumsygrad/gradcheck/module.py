"""Checking a module: its parameters are moved in place, and are afterwards exactly what they were."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from contextvars import Context
from typing import Any, Final, Protocol, cast

import numpy as np
import numpy.typing as npt

from clumsygrad.core import Tensor, double_precision

from .check import conclude
from .options import Progress, make_options
from .report import GradientReport
from .subject import Call, Function, FunctionSubject, Inputs, Values

_FLOAT64: Final = np.dtype(np.float64)


class ModuleLike(Protocol):
    """What a module has to offer: it can be called, and knows its parameters.

    ``named_parameters()`` is used where there is one, for the report, and so is ``named_buffers()``, to put state back.
    """

    # Any and nothing else lets modules of every signature pass.
    def __call__(self, *args: Any, **kwargs: Any) -> object:
        """Compute the output."""
        ...

    def parameters(self) -> Iterable[Tensor]:
        """Return the parameters."""
        ...


def check_module(
    module: ModuleLike,
    *inputs: Tensor | npt.ArrayLike,
    eps: float = 1e-4,
    rtol: float = 1e-7,
    atol: float = 0.0,
    raise_exception: bool = True,
    max_elements: int | None = None,
    rng: np.random.Generator | None = None,
    allow_kinks: bool = False,
    progress: Progress | None = None,
) -> GradientReport:
    """Compare the gradients of a module, by its parameters and its inputs, with finite differences.

    During the check the parameters hold float64 values. Afterwards, also after an error, they hold the very arrays
    that they held before, and buffers such as running statistics their values. Graphs that were computed
    with the parameters before can't be differentiated any more, as after any update. Frozen parameters are constants.

    Args:
        module: any callable with ``parameters()``.
        *inputs: Tensors or arrays, for ``module(*inputs)``; arrays of integers and booleans are handed on as they are.
        eps: the first step, as in :func:`check_gradient`, which explains the other arguments, too.
        rtol: the relative error that is allowed.
        atol: the absolute error that is allowed.
        raise_exception: raise when the check fails; otherwise the report is returned.
        max_elements: check that many elements of each parameter and input, and four random directions.
        rng: what random draws are made with.
        allow_kinks: accept at a kink any value between the two one-sided slopes.
        progress: called after each element with how many are done and how many there are.

    Returns:
        A report, true when the check passed, with an entry for each input and parameter.

    Raises:
        GradientError: an AssertionError with the report's text, when the check failed.

    Example:
        >>> import numpy as np
        >>> from clumsygrad.core import parameter
        >>> from clumsygrad.gradcheck import check_module
        >>> class Scale:
        ...     def __init__(self):
        ...         self.factor = parameter([2.0, 3.0])
        ...
        ...     def parameters(self):
        ...         return [self.factor]
        ...
        ...     def __call__(self, x):
        ...         return x * self.factor
        >>> report = check_module(Scale(), np.ones((4, 2)))
        >>> [item.name for item in report.inputs]
        ['input 0', 'parameter 0']
    """
    __tracebackhide__ = True
    options = make_options(eps, rtol, atol, max_elements, rng, allow_kinks, progress)
    named = [(name, item) for name, item in _named_parameters(module) if item.requires_grad]
    with _restored([item for _, item in named], _buffers(module)):
        return conclude(ModuleSubject(module, inputs, named), options, raise_exception)


class ModuleSubject:
    """A module with its inputs and its parameters."""

    __slots__ = ("_function", "_parameters", "names", "owns_leaves", "values")

    names: tuple[str, ...]
    values: tuple[Values, ...]
    owns_leaves: bool

    def __init__(self, module: ModuleLike, inputs: Inputs, named: Sequence[tuple[str, Tensor]]) -> None:
        self._function = FunctionSubject(cast("Function", module), inputs)
        self._parameters = tuple(item for _, item in named)
        self.names = (*self._function.names, *(name for name, _ in named))
        self.values = (*self._function.values, *(np.array(item.data, _FLOAT64, order="K") for _, item in named))
        self.owns_leaves = False

    def __call__(self, values: Sequence[Values]) -> Call:
        """Call the module with fresh inputs and moved parameters."""
        number = len(self._function.values)
        for item, value in zip(self._parameters, values[number:], strict=True):
            item.data = np.array(value, order="K")
        call = self._function(values[:number])
        return Call((*call.leaves, *self._parameters), call.outputs, call.labels)


def _named_parameters(module: ModuleLike) -> list[tuple[str, Tensor]]:
    named = cast("Callable[[], Iterable[tuple[str, Tensor]]] | None", getattr(module, "named_parameters", None))
    found = (
        [(f"parameter {name}", item) for name, item in named()]
        if callable(named)
        else [(f"parameter {position}", item) for position, item in enumerate(module.parameters())]
    )
    # A parameter that is shared is one value to move.
    once: dict[int, tuple[str, Tensor]] = {}
    for name, item in found:
        once.setdefault(id(item), (name, item))
    return list(once.values())


def _buffers(module: ModuleLike) -> list[Tensor | npt.NDArray[np.generic]]:
    buffers = cast("Callable[[], Iterable[object]] | None", getattr(module, "buffers", None))
    found = buffers() if callable(buffers) else ()
    return [item for item in found if isinstance(item, (Tensor, np.ndarray))]


@contextmanager
def _restored(parameters: Sequence[Tensor], buffers: Sequence[Tensor | npt.NDArray[np.generic]]) -> Generator[None]:
    """Give parameters back the arrays that they had, and buffers their values."""
    arrays = [(item, item.data) for item in (*parameters, *(item for item in buffers if isinstance(item, Tensor)))]
    contents = [item.data if isinstance(item, Tensor) else item for item in buffers]
    copies = [content.copy() for content in contents]
    try:
        yield
    finally:
        for content, copy in zip(contents, copies, strict=True):
            if content.flags.writeable:
                np.copyto(content, copy)
        for item, array in arrays:
            if item.data is not array:
                # Precision is a matter of context, and a tensor adopts an array of the precision in force only.
                Context().run(_put_back, item, array)


def _put_back(item: Tensor, array: npt.NDArray[np.float64]) -> None:
    if array.dtype == _FLOAT64:
        with double_precision():
            item.data = array
    else:
        item.data = array
