"""A check of value, gradient and second derivative in one call, on given or random operands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from clumsygrad.core import Array, Tensor, double_precision

from .finite_difference import assert_first, assert_second, central, parameters


def difference(function: Callable[..., float], arrays: Sequence[Array], place: int, eps: float) -> Array:
    """The gradient of a scalar function of arrays by one of them, by central differences."""
    return central(lambda copies: function(*copies), arrays, eps)[place]


def check_derivatives(
    function: Callable[..., Any],
    *operands: tuple[int, ...] | Array,
    plain: Callable[..., Any] | None = None,
    second: bool = True,
    rtol: float = 1e-6,
) -> None:
    """Check ``function`` at random or given operands.

    Args:
        function: called on Tensors, and on arrays unless ``plain`` is given.
        *operands: arrays, or shapes for random ones.
        plain: the same function for arrays.
        second: whether second derivatives are checked, too.
        rtol: the relative and absolute difference that passes.
    """
    rng = np.random.default_rng(7)
    arrays = [operand if isinstance(operand, np.ndarray) else rng.normal(size=operand) for operand in operands]
    expected = np.asarray((plain or function)(*arrays))
    with double_precision():
        result = function(*parameters(arrays))
    assert isinstance(result, Tensor)
    assert result.shape == expected.shape
    assert np.allclose(result.data, expected, rtol=1e-10, atol=1e-12)
    assert_first(function, arrays, rtol, rtol)
    if second:
        assert_second(function, arrays, rtol, rtol)
