"""The backward function of ``math/einsum.py``, and the contraction that it shares with the forward function."""

from __future__ import annotations

import math
from collections.abc import Sequence
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


def _contract_pair(x: Array, x_letters: str, y: Array, y_letters: str, later: str) -> tuple[Array, str]:
    """Contract two factors to one matrix product; letters in ``later`` are kept."""
    x, x_letters = _drop_broadcast(x, x_letters, dict(zip(y_letters, y.shape, strict=True)))
    y, y_letters = _drop_broadcast(y, y_letters, dict(zip(x_letters, x.shape, strict=True)))
    x, x_letters = _sum_alone(x, x_letters, y_letters + later)
    y, y_letters = _sum_alone(y, y_letters, x_letters + later)
    stack = [letter for letter in x_letters if letter in y_letters and letter in later]
    inner = [letter for letter in x_letters if letter in y_letters and letter not in later]
    rows = [letter for letter in x_letters if letter not in y_letters]
    columns = [letter for letter in y_letters if letter not in x_letters]
    length = dict(zip(x_letters + y_letters, x.shape + y.shape, strict=True))

    def grouped(factor: Array, letters: str, *groups: list[str]) -> Array:
        order = [letters.index(letter) for group in groups for letter in group]
        sizes = [math.prod(length[letter] for letter in group) for group in groups]
        return factor.transpose(order).reshape(sizes)

    if not inner:
        left = grouped(x, x_letters, stack, rows, [])
        product = left * grouped(y, y_letters, stack, [], columns)
    elif stack and not rows and not columns:
        product = np.vecdot(grouped(x, x_letters, stack, inner), grouped(y, y_letters, stack, inner))
    elif stack:
        product = grouped(x, x_letters, stack, rows, inner) @ grouped(y, y_letters, stack, inner, columns)
    else:
        product = grouped(x, x_letters, rows, inner) @ grouped(y, y_letters, inner, columns)
    kept = "".join([*stack, *rows, *columns])
    return product.reshape([length[letter] for letter in kept]), kept


def _drop_broadcast(factor: Array, letters: str, other: dict[str, int]) -> tuple[Array, str]:
    """Leave out the axes of length 1 that the other factor has at another length."""
    stretched = [i for i, letter in enumerate(letters) if factor.shape[i] == 1 and other.get(letter, 1) != 1]
    if not stretched:
        return factor, letters
    return factor.squeeze(tuple(stretched)), "".join(c for i, c in enumerate(letters) if i not in stretched)


def _sum_alone(factor: Array, letters: str, used: str) -> tuple[Array, str]:
    """Sum over the axes that neither the other factor nor the result has."""
    alone = [index for index, letter in enumerate(letters) if letter not in used]
    if not alone:
        return factor, letters
    return factor.sum(axis=tuple(alone)), "".join(letter for letter in letters if letter in used)


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
    unique = "".join(dict.fromkeys(letters))
    length = {letter: operand.shape[letters.index(letter)] for letter in unique}
    known: dict[str, int] = {}
    for factor, factor_letters in zip(factors, labels, strict=True):
        for letter, size in zip(factor_letters, factor.shape, strict=True):
            known[letter] = size if known.get(letter, 1) == 1 else known[letter]
    # A letter that is nowhere else was summed over, so its gradient is constant along it; where the operand was
    # broadcast, from length 1, it is a sum.
    kept = "".join(letter for letter in unique if letter in known and known[letter] == length[letter])
    value = contract(factors, labels, kept)
    if kept != unique:
        value = value.reshape([length[letter] if letter in kept else 1 for letter in unique])
        value = np.broadcast_to(value, tuple(length[letter] for letter in unique))
    if unique == letters:
        return value
    # Only a diagonal of the operand was read: a letter of its own for every axis, and unit matrices between them.
    spare = iter([letter for letter in ascii_letters if letter not in letters])
    own = ""
    units: list[Array] = []
    pairs: list[str] = []
    for letter in letters:
        own += letter if letter not in own else next(spare)
        if own[-1] != letter:
            units.append(np.eye(length[letter], dtype=value.dtype))
            pairs.append(letter + own[-1])
    return contract([value, *units], (unique, *pairs), own)
