"""Sums of products in the index notation; the backward function stands in ``grad/einsum.py``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from string import ascii_letters
from types import EllipsisType
from typing import SupportsIndex, cast

import numpy as np

from ..grad.einsum import contract, einsum_backward
from ..registry import register
from ..tensor import Tensor, as_tensor, create_node
from ..types import Shape, TensorLike
from .shaping import view

_Sublist = Sequence[SupportsIndex | EllipsisType]


def einsum(
    subscripts: str | TensorLike,
    *operands: TensorLike | _Sublist,
    optimize: bool | str | Sequence[object] = True,  # noqa: ARG001  # NumPy's argument, of no influence here
) -> Tensor:
    r"""Return the sum of products that ``subscripts`` describes, as NumPy's ``einsum``.

    ``"ij,jk->ik"`` is :math:`C_{ik} = \sum_j A_{ij} B_{jk}`. Without ``->`` the result has the letters that occur once,
    in alphabetical order. ``...`` stands for axes that are broadcast; a letter that an operand has twice takes its
    diagonal; an axis of length 1 is broadcast. Contractions are matrix products where they can be, in an order that
    needs little work.

    Args:
        subscripts: the letters of each operand, separated by commas, and of the result after ``->``.
        *operands: one for each comma-separated part. In NumPy's other form, ``einsum(x, [0, 1], y, [1, 2], [0, 2])``,
            every operand is followed by the list of its axes' numbers, and at the end may stand the result's.
        optimize: accepted as NumPy's, and of no influence: the order is always chosen.

    Raises:
        ValueError: when the subscripts don't fit the operands, or an axis has two lengths.

    Example:
        >>> from clumsygrad.core import math
        >>> math.einsum("ij,j->i", [[1.0, 2.0], [3.0, 4.0]], [1.0, -1.0]).tolist()
        [-1.0, -1.0]
        >>> math.einsum("ii", [[1.0, 2.0], [3.0, 4.0]]).item()
        5.0
    """
    if not isinstance(subscripts, str):
        subscripts, operands = _from_lists((subscripts, *operands))
    parents = tuple(as_tensor(cast("TensorLike", operand)) for operand in operands)
    labels, target = _letters(subscripts, tuple(parent._data.shape for parent in parents))
    data = contract([parent._data for parent in parents], labels, target)
    if getattr(data, "base", None) is not None:
        view(data)
    return create_node(data, einsum_backward, parents, {"labels": labels, "target": target})


def _from_lists(arguments: tuple[object, ...]) -> tuple[str, tuple[TensorLike, ...]]:
    """Turn operands that alternate with lists of axis numbers into subscripts and operands."""
    pairs = len(arguments) // 2

    def letters(sublist: object) -> str:
        if not isinstance(sublist, (list, tuple)):
            raise TypeError(
                f"each operand of einsum is followed by the list of its axes; received {type(sublist).__name__}. "
                "Or begin with the subscripts as a string"
            )
        numbers = cast("_Sublist", sublist)
        try:
            return "".join("..." if isinstance(n, EllipsisType) else ascii_letters[n] for n in numbers)
        except IndexError:
            raise ValueError(f"axis numbers of einsum are less than 52; received {sublist}") from None

    subscripts = ",".join(letters(arguments[2 * index + 1]) for index in range(pairs))
    if len(arguments) % 2:
        subscripts += "->" + letters(arguments[-1])
    return subscripts, cast("tuple[TensorLike, ...]", arguments[: 2 * pairs : 2])


@lru_cache(256)
def _letters(subscripts: str, shapes: tuple[Shape, ...]) -> tuple[tuple[str, ...], str]:
    """Return a letter for each axis of each operand and of the result, with the ellipses spelled out."""
    text = "".join(subscripts.split())
    before, arrow, after = text.partition("->")
    terms = before.split(",")
    for term in (*terms, after):
        rest = term.replace("...", "", 1)
        if wrong := [sign for sign in rest if sign not in ascii_letters]:
            raise ValueError(
                f"subscripts are letters, commas, one '...' for each operand and one '->'; received {wrong[0]!r} in "
                f"{subscripts!r}"
            )
    if len(terms) != len(shapes):
        raise ValueError(f"{subscripts!r} is for {len(terms)} operands; received {len(shapes)}")
    spare = [letter for letter in ascii_letters if letter not in text]
    extra = [0 if "..." not in term else len(shape) - len(term) + 3 for term, shape in zip(terms, shapes, strict=True)]
    most = max(0, *extra)
    labels: list[str] = []
    for term, number, shape in zip(terms, extra, shapes, strict=True):
        if number < 0 or len(term) - (3 if "..." in term else 0) + number != len(shape):
            raise ValueError(f"{term!r} in {subscripts!r} doesn't fit an operand of shape {shape}")
        labels.append(term.replace("...", "".join(spare[most - number : most])))
    dots = "".join(spare[:most])
    if arrow:
        if dots and "..." not in after:
            raise ValueError(
                f"an operand of {subscripts!r} has axes under '...' that the result leaves out; write '...' in the "
                "result, or a letter for each axis to sum over"
            )
        target = after.replace("...", dots)
    else:
        counts = Counter(before)
        target = dots + "".join(sorted(letter for letter in counts if letter in ascii_letters and counts[letter] == 1))
    _check(subscripts, labels, target, shapes)
    return tuple(labels), target


def _check(subscripts: str, labels: list[str], target: str, shapes: tuple[Shape, ...]) -> None:
    lengths: dict[str, int] = {}
    for letters, shape in zip(labels, shapes, strict=True):
        own: dict[str, int] = {}
        for letter, length in zip(letters, shape, strict=True):
            known = lengths.get(letter, 1)
            if own.setdefault(letter, length) != length or (1 not in (known, length) and known != length):
                received = ", ".join(map(str, shapes))
                raise ValueError(f"index {letter!r} of {subscripts!r} has several lengths; received shapes {received}")
            lengths[letter] = length if known == 1 else known
    if len(set(target)) != len(target) or any(letter not in lengths for letter in target):
        raise ValueError(f"the result of {subscripts!r} names letters of the operands, each once")


register(einsum, einsum_backward, numpy=(np.einsum,))
