"""The backward function of ``math/einsum.py``, and the contraction that it shares with the forward function."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from string import ascii_letters
from typing import Any, cast

import numpy as np

from ..tensor import Tensor, as_tensor, create_node
from ..tensor_type import TensorType
from ..types import Array, GradientTuple, Shape
from .recording import as_recorded

_INPUT = TensorType.INPUT


def contract(operands: Sequence[Array], labels: tuple[str, ...], target: str) -> Array:
    """Return the sum of products that a letter for each axis of each operand describes.

    An operation itself: given a Tensor among the operands it records a node with the rule of ``einsum``.

    Args:
        operands: the factors.
        labels: for each operand a letter for each of its axes; an axis of length 1 is broadcast.
        target: the letters of the result's axes; what it lacks is summed over.
    """
    if any(as_recorded(operand) is not None for operand in operands):
        parents = tuple(as_tensor(operand) for operand in operands)
        data = contract([parent._data for parent in parents], labels, target)
        node = create_node(data, einsum_backward, parents, {"labels": labels, "target": target})
        return cast("Array", node)
    if len(operands) == 1:
        return cast("Array", np.einsum(f"{labels[0]}->{target}", operands[0]))
    waiting = [_without_repeats(operand, letters) for operand, letters in zip(operands, labels, strict=True)]
    for step in _order(labels, target, tuple(operand.shape for operand in operands)):
        first, *others = [waiting.pop(index) for index in sorted(step, reverse=True)]
        for index, other in enumerate(others):
            later = "".join([target, *(letters for _, letters in (*waiting, *others[index + 1 :]))])
            first = _contract_pair(*first, *other, later)
        waiting.append(first)
    ((result, letters),) = waiting
    return result.transpose([letters.index(letter) for letter in target])


def _without_repeats(operand: Array, letters: str) -> tuple[Array, str]:
    """Take the diagonal over the axes that share a letter."""
    unique = "".join(dict.fromkeys(letters))
    return (operand if unique == letters else np.einsum(f"{letters}->{unique}", operand)), unique


@lru_cache(256)
def _order(labels: tuple[str, ...], target: str, shapes: tuple[Shape, ...]) -> list[tuple[int, ...]]:
    """Return which of the factors that are left to contract, step by step, so that there is little work."""
    if len(shapes) == 2:
        return [(0, 1)]
    # A view of one number has the shape, and needs no memory.
    stand_ins = [np.broadcast_to(np.float64(0), shape) for shape in shapes]
    path: list[Any] = np.einsum_path(f"{','.join(labels)}->{target}", *stand_ins, optimize="greedy")[0]
    return path[1:]


@dataclass(frozen=True, slots=True)
class _Factor:
    """What is done to one factor before it is multiplied."""

    # Axes of length 1 that are broadcast, and axes that only this factor has and that are summed over.
    squeezed: tuple[int, ...]
    summed: tuple[int, ...]
    order: tuple[int, ...]
    shape: Shape

    def __call__(self, factor: Array) -> Array:
        if self.squeezed:
            factor = factor.squeeze(self.squeezed)
        if self.summed:
            factor = factor.sum(axis=self.summed)
        return factor.transpose(self.order).reshape(self.shape)


def _contract_pair(x: Array, x_letters: str, y: Array, y_letters: str, later: str) -> tuple[Array, str]:
    """Contract two factors to one matrix product; letters in ``later`` are kept."""
    left, right, multiply, shape, kept = _plan(x_letters, x.shape, y_letters, y.shape, later)
    return multiply(left(x), right(y)).reshape(shape), kept


@lru_cache(256)
def _plan(
    x_letters: str, x_shape: Shape, y_letters: str, y_shape: Shape, later: str
) -> tuple[_Factor, _Factor, Callable[[Array, Array], Array], Shape, str]:
    """Return what to do to two factors, how to multiply them, and the shape and letters of their product."""
    x_length, y_length = dict(zip(x_letters, x_shape, strict=True)), dict(zip(y_letters, y_shape, strict=True))
    x_squeezed, x_letters = _left_out(x_letters, lambda c: x_length[c] == 1 and y_length.get(c, 1) != 1)
    y_squeezed, y_letters = _left_out(y_letters, lambda c: y_length[c] == 1 and x_length.get(c, 1) != 1)
    used = y_letters + later
    x_summed, x_letters = _left_out(x_letters, lambda c: c not in used)
    y_summed, y_letters = _left_out(y_letters, lambda c: c not in x_letters + later)
    stack = [c for c in x_letters if c in y_letters and c in later]
    inner = [c for c in x_letters if c in y_letters and c not in later]
    rows = [c for c in x_letters if c not in y_letters]
    columns = [c for c in y_letters if c not in x_letters]
    multiply: Callable[[Array, Array], Array]
    if not inner:
        multiply, x_groups, y_groups = np.multiply, [stack, rows, []], [stack, [], columns]
    elif stack and not rows and not columns:
        multiply, x_groups, y_groups = np.vecdot, [stack, inner], [stack, inner]
    else:
        multiply, x_groups, y_groups = np.matmul, [rows, inner], [inner, columns]
        if stack:
            x_groups, y_groups = [stack, *x_groups], [stack, *y_groups]

    def factor(
        letters: str,
        squeezed: tuple[int, ...],
        summed: tuple[int, ...],
        groups: list[list[str]],
        length: dict[str, int],
    ) -> _Factor:
        order = tuple(letters.index(letter) for group in groups for letter in group)
        return _Factor(squeezed, summed, order, tuple(math.prod(length[c] for c in group) for group in groups))

    left = factor(x_letters, x_squeezed, x_summed, x_groups, x_length)
    right = factor(y_letters, y_squeezed, y_summed, y_groups, y_length)
    kept = "".join([*stack, *rows, *columns])
    shape = tuple(x_length[c] if c in x_letters else y_length[c] for c in kept)
    return left, right, multiply, shape, kept


def _left_out(letters: str, unwanted: Callable[[str], bool]) -> tuple[tuple[int, ...], str]:
    """Return the places of the unwanted letters, and the others."""
    places = tuple(index for index, letter in enumerate(letters) if unwanted(letter))
    return places, "".join(letter for index, letter in enumerate(letters) if index not in places)


def einsum_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """For each operand the contraction of the gradient with the others, over the operand's letters."""
    labels, target = cast("tuple[str, ...]", tensor._extra["labels"]), cast("str", tensor._extra["target"])
    operands = [parent._data for parent in tensor._parents]
    return tuple(
        None
        if parent._tensor_type is _INPUT
        else _gradient_of(operands[index], labels[index], [grad, *others], (target, *other_labels))
        for index, parent in enumerate(tensor._parents)
        for others, other_labels in [(operands[:index] + operands[index + 1 :], labels[:index] + labels[index + 1 :])]
    )


def _gradient_of(operand: Array, letters: str, factors: list[Array], labels: tuple[str, ...]) -> Array:
    """Return the gradient of one operand: ``factors`` are the gradient of the result and the other operands."""
    unique, kept, shape, kept_shape = _kept(letters, operand.shape, labels, tuple(factor.shape for factor in factors))
    value = contract(factors, labels, kept)
    if kept != unique:
        value = np.broadcast_to(value.reshape(kept_shape), shape)
    if unique == letters:
        return value
    # Only a diagonal of the operand was read: a letter of its own for every axis, and unit matrices between them.
    spare = iter([letter for letter in ascii_letters if letter not in letters])
    own = ""
    length = dict(zip(unique, shape, strict=True))
    units: list[Array] = []
    pairs: list[str] = []
    for letter in letters:
        own += letter if letter not in own else next(spare)
        if own[-1] != letter:
            units.append(np.eye(length[letter], dtype=value.dtype))
            pairs.append(letter + own[-1])
    return contract([value, *units], (unique, *pairs), own)


@lru_cache(256)
def _kept(
    letters: str, shape: Shape, labels: tuple[str, ...], shapes: tuple[Shape, ...]
) -> tuple[str, str, Shape, Shape]:
    """Return an operand's letters once each, those of them that its gradient varies along, and the shapes for both."""
    unique = "".join(dict.fromkeys(letters))
    length = {letter: shape[letters.index(letter)] for letter in unique}
    known: dict[str, int] = {}
    for factor_letters, sizes in zip(labels, shapes, strict=True):
        for letter, size in zip(factor_letters, sizes, strict=True):
            known[letter] = size if known.get(letter, 1) == 1 else known[letter]
    # A letter that is nowhere else was summed over, so its gradient is constant along it; where the operand was
    # broadcast, from length 1, it is a sum.
    kept = "".join(letter for letter in unique if known.get(letter) == length[letter])
    return unique, kept, tuple(length.values()), tuple(length[c] if c in kept else 1 for c in unique)
