"""Nested tuples, lists and dicts of tensors, as the arguments and results of functions that are transformed.

A tuple or list with nothing but numbers in it is no container: it stands for an array, as everywhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from numbers import Real
from typing import Any, TypeVar, cast

T = TypeVar("T")


def _parts(tree: object) -> list[Any] | None:
    """Return what a container holds, and None for a leaf."""
    if tree is None:
        return []
    if isinstance(tree, Mapping):
        return list(cast("Mapping[Any, object]", tree).values())
    if isinstance(tree, (tuple, list)) and not _is_array(cast("list[Any]", tree)):
        return list(cast("list[Any]", tree))
    return None


def _is_array(items: list[Any] | tuple[Any, ...]) -> bool:
    return len(items) > 0 and all(
        _is_array(cast("list[Any]", item)) if isinstance(item, (tuple, list)) else isinstance(item, Real)
        for item in items
    )


def leaves(tree: object) -> list[Any]:
    """Return what the containers of ``tree`` hold, in order; None counts as a container of nothing."""
    parts = _parts(tree)
    return [tree] if parts is None else [leaf for part in parts for leaf in leaves(part)]


def leaves_like(tree: object, pattern: object) -> list[Any] | None:
    """Return the leaves of ``tree``, one for each leaf of ``pattern``; None when their containers differ."""
    inner = _parts(pattern)
    if inner is None:
        return [tree]
    if isinstance(pattern, Mapping):
        if not isinstance(tree, Mapping) or set(cast("Any", tree)) != set(cast("Any", pattern)):
            return None
        named = cast("Mapping[Any, object]", tree)
        outer: list[Any] = [named[key] for key in cast("Mapping[Any, object]", pattern)]
    elif isinstance(tree, (tuple, list)):
        outer = list(cast("Iterable[Any]", tree))
    elif tree is None:
        outer = []
    else:
        return None
    if len(outer) != len(inner):
        return None
    found = [leaves_like(part, own) for part, own in zip(outer, inner, strict=True)]
    if any(part is None for part in found):
        return None
    return [leaf for part in found for leaf in part or ()]


def rebuild(tree: T, values: Iterable[object]) -> T:
    """Return a tree like ``tree`` that holds ``values`` instead of its leaves."""
    return cast("T", _rebuild(tree, iter(values)))


def rebuild_each(trees: Iterable[object], values: Iterable[object]) -> list[Any]:
    """Return trees like ``trees`` that hold ``values``, one after the other, instead of their leaves."""
    following = iter(values)
    return [_rebuild(tree, following) for tree in trees]


def _rebuild(tree: object, values: Iterator[object]) -> object:
    parts = _parts(tree)
    if parts is None:
        return next(values)
    if tree is None:
        return None
    rebuilt = [_rebuild(part, values) for part in parts]
    if isinstance(tree, Mapping):
        return dict(zip(cast("Mapping[Any, object]", tree), rebuilt, strict=True))
    if isinstance(tree, list):
        return rebuilt
    # A named tuple is made of separate values, a tuple of one iterable.
    kind: Callable[..., object] = type(tree)
    return kind(*rebuilt) if hasattr(tree, "_fields") else tuple(rebuilt)


def tree_map(function: Callable[[Any], object], tree: T) -> T:
    """Return a tree like ``tree`` that holds the values of ``function`` at its leaves."""
    return rebuild(tree, [function(leaf) for leaf in leaves(tree)])
