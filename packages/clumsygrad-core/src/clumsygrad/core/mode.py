"""Two switches, each separate for every thread and asyncio task: recording, and double precision."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Generator
from contextvars import ContextVar
from typing import Final, Generic, ParamSpec, TypeVar, cast, overload

import numpy as np

T = TypeVar("T")
P = ParamSpec("P")
R = TypeVar("R")


class Switch(Generic[T]):
    """Sets a context variable to a value for a block or for the calls of a function.

    It serves as ``with switch():``, ``@switch()`` and bare ``@switch``. What was in force before is kept in
    the context and not on the object, so one object may be entered twice, and from several threads.
    """

    __slots__ = ("_saved", "_value", "_variable")

    _variable: ContextVar[T]
    _value: T
    _saved: ContextVar[tuple[tuple[object, T], ...]]

    def __init__(self, variable: ContextVar[T], value: T, saved: ContextVar[tuple[tuple[object, T], ...]]) -> None:
        self._variable = variable
        self._value = value
        self._saved = saved

    @overload
    def __call__(self, /) -> Switch[T]: ...
    @overload
    def __call__(self, function: Callable[P, R], /) -> Callable[P, R]: ...
    def __call__(self, function: Callable[P, R] | None = None, /) -> Switch[T] | Callable[P, R]:
        """Return a fresh switch for a ``with`` block, or ``function`` wrapped so that its calls run inside one."""
        if function is None:
            return Switch(self._variable, self._value, self._saved)
        if not callable(function):
            raise TypeError(
                f"a mode switch takes no value, or the function that it decorates; received "
                f"{type(function).__name__}. Write 'with no_grad():' or '@no_grad'."
            )
        return _decorate(self, function)

    def __enter__(self) -> None:
        self._saved.set((*self._saved.get(), (self, self._variable.get())))
        self._variable.set(self._value)

    def __exit__(self, *exc_info: object) -> None:
        saved = self._saved.get()
        for index in range(len(saved) - 1, -1, -1):
            entered, before = saved[index]
            if entered is self:
                later = saved[index + 1 :]
                if later:
                    # Left out of turn, as a suspended generator may: what came later will restore what was before.
                    later = ((later[0][0], before), *later[1:])
                else:
                    self._variable.set(before)
                self._saved.set(saved[:index] + later)
                return
        raise RuntimeError("a mode switch was left in a context in which it had not been entered")


def _decorate(switch: Switch[T], function: Callable[P, R]) -> Callable[P, R]:
    """Wrap ``function`` so that its body runs inside ``switch``, whatever kind of function it is."""
    if inspect.isasyncgenfunction(function):
        raise TypeError(
            f"{function.__name__} is an async generator, which a mode decorator can't wrap; "
            "use a 'with' block around the computation in its body"
        )
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def in_coroutine(*args: P.args, **kwargs: P.kwargs) -> object:
            with switch():
                return await function(*args, **kwargs)

        return cast("Callable[P, R]", in_coroutine)
    if inspect.isgeneratorfunction(function):

        @functools.wraps(function)
        def in_generator(*args: P.args, **kwargs: P.kwargs) -> Generator[object, object, object]:
            generator = cast("Generator[object, object, object]", function(*args, **kwargs))
            return _drive(switch, generator)

        return cast("Callable[P, R]", in_generator)

    @functools.wraps(function)
    def in_call(*args: P.args, **kwargs: P.kwargs) -> R:
        with switch():
            return function(*args, **kwargs)

    return in_call


def _drive(switch: Switch[T], generator: Generator[object, object, object]) -> Generator[object, object, object]:
    """Run every step of ``generator`` inside ``switch``, and its consumer outside."""
    try:
        with switch():
            item = next(generator)
        while True:
            try:
                received = yield item
            except GeneratorExit:
                with switch():
                    generator.close()
                raise
            except BaseException as error:  # noqa: BLE001  # handed on to the wrapped generator, which may catch it
                with switch():
                    item = generator.throw(error)
            else:
                with switch():
                    item = generator.send(received)
    except StopIteration as stop:
        return stop.value


grad_mode: ContextVar[bool] = ContextVar("clumsygrad_grad_mode", default=True)
precision: ContextVar[np.dtype[np.floating]] = ContextVar("clumsygrad_precision", default=np.dtype(np.float32))

_saved_modes: ContextVar[tuple[tuple[object, bool], ...]] = ContextVar("clumsygrad_saved_modes", default=())
_saved_precisions: ContextVar[tuple[tuple[object, np.dtype[np.floating]], ...]] = ContextVar(
    "clumsygrad_saved_precisions", default=()
)

no_grad: Final[Switch[bool]] = Switch(grad_mode, False, _saved_modes)
"""Stop recording: results inside are INPUT tensors without parents.

Works as ``with no_grad():``, ``@no_grad()`` and ``@no_grad``, on functions, generators and coroutines.

Example:
    >>> from clumsygrad.core import no_grad, parameter
    >>> w = parameter([1.0, 2.0])
    >>> with no_grad():
    ...     (w * 2).requires_grad
    False
"""

enable_grad: Final[Switch[bool]] = Switch(grad_mode, True, _saved_modes)
"""Record again inside a :data:`no_grad` block.

Example:
    >>> from clumsygrad.core import enable_grad, no_grad, parameter
    >>> w = parameter([1.0, 2.0])
    >>> with no_grad(), enable_grad():
    ...     (w * 2).requires_grad
    True
"""

double_precision: Final[Switch[np.dtype[np.floating]]] = Switch(precision, np.dtype(np.float64), _saved_precisions)
"""Make tensors in float64, for verifying gradients only.

Inside, new tensors are float64 and every operation and backward function keeps them so.

Example:
    >>> from clumsygrad.core import Tensor, double_precision
    >>> with double_precision():
    ...     Tensor([1.0]).dtype
    dtype('float64')
"""


def is_grad_enabled() -> bool:
    """Tell whether operations are recorded, in this thread and task.

    Example:
        >>> from clumsygrad.core import is_grad_enabled, no_grad
        >>> with no_grad():
        ...     is_grad_enabled()
        False
    """
    return grad_mode.get()
