"""NumPy's own functions on Tensors: a lookup in the table of operations, and never a silent detour."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from inspect import CO_VARARGS, signature
from typing import Any, cast

import numpy as np

from .mode import precision
from .registry import OPERATIONS

# Functions of the values alone: they have no derivative, and answer as they do for arrays.
_OF_VALUES: tuple[Callable[..., Any], ...] = (
    np.shape, np.ndim, np.size, np.argmax, np.argmin, np.nanargmax, np.nanargmin, np.argsort, np.lexsort,
    np.argwhere, np.nonzero, np.flatnonzero, np.count_nonzero, np.searchsorted, np.digitize, np.isclose, np.allclose,
    np.array_equal, np.array_equiv, np.any, np.all, np.array2string, np.array_repr, np.array_str, np.result_type,
    np.can_cast, np.min_scalar_type, np.isrealobj, np.iscomplexobj, np.isreal, np.iscomplex, np.isneginf, np.isposinf,
    np.may_share_memory, np.shares_memory, np.broadcast_shapes, np.unravel_index, np.histogram, np.bincount,
    np.unique, np.isin, np.common_type, np.save, np.savez, np.savez_compressed, np.savetxt,
)  # fmt: skip

_UFUNCS_OF_VALUES: frozenset[np.ufunc] = frozenset({
    np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal, np.isfinite, np.isinf, np.isnan,
    np.signbit, np.logical_and, np.logical_or, np.logical_not, np.logical_xor,
})  # fmt: skip

# What has no meaning for an operation on Tensors, whose result is a new float32 tensor; and what says nothing else.
_REFUSED: dict[str, tuple[object, ...]] = {
    "out": (), "where": (True,), "dtype": (), "casting": ("same_kind",), "subok": (True, False), "initial": (),
    "like": (), "signature": (), "order": ("C",), "device": ("cpu",), "copy": (True,),
}  # fmt: skip

# Constants for which a dtype of their own is an array of that type.
_CONSTANTS: tuple[Callable[..., Any], ...] = (np.zeros_like, np.ones_like, np.full_like, np.empty_like)


@cache
def _table() -> dict[object, Callable[..., Any]]:
    """Map each NumPy function, and each (ufunc, method), to the operation that stands in for it."""
    table: dict[object, Callable[..., Any]] = {}
    for operation in OPERATIONS.values():
        for function in operation.numpy:
            table[_key(function)] = operation.forward
    return table


def _key(function: Callable[..., Any]) -> object:
    owner = getattr(function, "__self__", None)
    if isinstance(owner, np.ufunc):
        return owner, function.__name__
    return (function, "__call__") if isinstance(function, np.ufunc) else function


def dispatch_ufunc(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Compute ``ufunc`` (or its ``reduce``, ``accumulate``, ``outer``) on inputs of which one is a Tensor."""
    if ufunc in _UFUNCS_OF_VALUES:
        return getattr(ufunc, method)(*_values(inputs), **{name: _values(value) for name, value in kwargs.items()})
    name = f"np.{ufunc.__name__}" if method == "__call__" else f"np.{ufunc.__name__}.{method}"
    function = _table().get((ufunc, method))
    if function is None:
        raise _no_rule(name)
    if method in ("reduce", "accumulate"):
        # A ufunc runs over its first axis by default, where the function of the same name takes all.
        kwargs.setdefault("axis", 0)
    _refuse(name, kwargs)
    return function(*inputs, **kwargs)


def dispatch_function(func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Compute a NumPy function on arguments among which there is a Tensor."""
    name = f"{func.__module__}.{func.__name__}".replace("numpy.", "np.", 1)
    function = _table().get(func)
    if func in _CONSTANTS and kwargs.get("dtype") is not None:
        return func(*_values(args), **_values(kwargs))
    if function is not None:
        args, kwargs = _as_keywords(func, function, args, kwargs)
        _refuse(name, kwargs)
        return function(*args, **kwargs)
    if func in _OF_VALUES:
        return func(*_values(args), **_values(kwargs))
    raise _no_rule(name)


def _refuse(name: str, kwargs: dict[str, Any]) -> None:
    for refused, meaningless in _REFUSED.items():
        if refused not in kwargs:
            continue
        value = kwargs.pop(refused)
        if value is None or (isinstance(value, (str, bool)) and value in meaningless):
            continue
        if not (refused == "dtype" and precision.get() == cast("object", value)):
            raise TypeError(
                f"{name} on a Tensor takes no {refused}=: the result is a new float32 tensor of the graph. "
                f"Leave {refused}= out, or compute on t.data, which cuts the graph"
            )


@cache
def _signature(func: Callable[..., Any]) -> tuple[str, ...]:
    try:
        return tuple(signature(func).parameters)
    except ValueError:
        return ()


def _as_keywords(
    func: Callable[..., Any], function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Name the arguments that NumPy takes by position and the operation by name, and the other way round."""
    names, code = _signature(func), function.__code__
    limit = code.co_argcount
    if len(args) > limit and not code.co_flags & CO_VARARGS:
        kwargs = {**kwargs, **dict(zip(names[limit:], args[limit:], strict=False))}
        args = args[:limit]
    if not args and names and names[0] in kwargs:
        args = (kwargs[names[0]],)
        kwargs = {name: value for name, value in kwargs.items() if name != names[0]}
    return args, kwargs


def _no_rule(name: str) -> TypeError:
    return TypeError(
        f"{name} has no rule for Tensors, and would lose the gradient. "
        "Call it on t.data for the value alone, or write an operation with create_node"
    )


def _values(item: Any) -> Any:
    """Return ``item`` with every Tensor in it, at any depth, replaced by its array."""
    if isinstance(item, (list, tuple)):
        parts = [_values(part) for part in cast("list[Any]", item)]
        return tuple(parts) if isinstance(item, tuple) else parts
    if isinstance(item, dict):
        named = cast("dict[str, Any]", item)
        return {key: _values(value) for key, value in named.items()}
    return item.data if hasattr(item, "tensor_type") else item
