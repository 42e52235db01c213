"""The operations as methods of Tensor.

At run time the methods are set from the table of operations (:func:`attach_methods`); for type checkers and editors
they stand below, each as the very function it is. A test holds the two against each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .registry import OPERATIONS

if TYPE_CHECKING:
    from . import engine
    from .math import arithmetic, elementwise, indexing, matrix, reduction, shaping


class TensorMethods:
    """The base of Tensor that carries its operations."""

    __slots__ = ()

    if TYPE_CHECKING:
        backward = engine.backward

        __add__ = arithmetic.add
        __radd__ = arithmetic.radd
        __sub__ = arithmetic.subtract
        __rsub__ = arithmetic.rsubtract
        __mul__ = arithmetic.multiply
        __rmul__ = arithmetic.rmultiply
        __truediv__ = arithmetic.divide
        __rtruediv__ = arithmetic.rdivide
        __pow__ = arithmetic.power
        __rpow__ = arithmetic.rpower
        __neg__ = arithmetic.negative
        __matmul__ = matrix.matmul
        __rmatmul__ = matrix.rmatmul
        __getitem__ = indexing.getitem

        exp = elementwise.exp
        log = elementwise.log
        sqrt = elementwise.sqrt
        abs = elementwise.abs
        __abs__ = elementwise.abs
        sin = elementwise.sin
        cos = elementwise.cos
        tan = elementwise.tan
        tanh = elementwise.tanh
        maximum = elementwise.maximum
        minimum = elementwise.minimum
        clip = elementwise.clip

        sum = reduction.sum
        mean = reduction.mean
        max = reduction.max
        min = reduction.min

        reshape = shaping.reshape
        transpose = shaping.transpose
        swapaxes = shaping.swapaxes
        broadcast_to = shaping.broadcast_to


def attach_methods(tensor_class: type) -> None:
    """Give ``tensor_class`` every method that the table of operations names."""
    for operation in OPERATIONS.values():
        for method in operation.methods:
            setattr(tensor_class, method, operation.forward)
