from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from nn.finite_difference import check_derivatives, grad_of

from clumsygrad.core import Tensor, parameter
from clumsygrad.nn import (
    AdaptiveAvgPool1d,
    AdaptiveAvgPool2d,
    AdaptiveMaxPool1d,
    AdaptiveMaxPool2d,
    AvgPool1d,
    AvgPool2d,
    MaxPool1d,
    MaxPool2d,
    Module,
)
from clumsygrad.nn import functional as F

POOLS: list[tuple[Callable[..., Tensor], tuple[int, ...]]] = [
    (MaxPool1d(2), (2, 2, 5)),
    (MaxPool1d(3, stride=1, padding=1, dilation=2), (1, 2, 6)),
    (MaxPool2d(2), (2, 1, 4, 5)),
    (MaxPool2d((3, 2), stride=(2, 1), padding=1, ceil_mode=True), (1, 2, 5, 4)),
    (MaxPool2d(2), (3, 5, 4)),
    (AvgPool1d(2, stride=1), (2, 5)),
    (AvgPool2d(3, stride=2, padding=1, ceil_mode=True), (1, 2, 5, 6)),
    (AvgPool2d(3, stride=2, padding=1, ceil_mode=True, count_include_pad=False), (1, 1, 5, 6)),
    (AvgPool2d(2, divisor_override=3), (1, 2, 4, 4)),
    (AdaptiveMaxPool1d(3), (1, 2, 7)),
    (AdaptiveMaxPool2d((2, 3)), (1, 2, 5, 4)),
    (AdaptiveMaxPool2d(2), (1, 1, 4, 4)),
    (AdaptiveAvgPool1d(3), (2, 7)),
    (AdaptiveAvgPool2d((3, None)), (1, 2, 4, 3)),
    (AdaptiveAvgPool2d(2), (1, 2, 4, 6)),
]


@pytest.mark.parametrize(("pool", "shape"), POOLS)
def test_first_and_second_derivatives(pool: Callable[..., Tensor], shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(0).permutation(int(np.prod(shape))).reshape(shape) / 10
    # The square gives the second derivative something to see: pooling itself is linear wherever it is smooth.
    check_derivatives(lambda values: pool(values * values + values), x)


@pytest.mark.parametrize(
    ("size", "settings", "expected"),
    [
        ((8, 9), {"kernel_size": 1, "stride": 2, "ceil_mode": True}, (4, 5)),
        ((12, 14), {"kernel_size": 3, "stride": 4, "ceil_mode": True}, (3, 4)),
        ((5, 5), {"kernel_size": 2, "stride": 2, "ceil_mode": True}, (3, 3)),
        ((5, 5), {"kernel_size": 2, "stride": 2}, (2, 2)),
    ],
)
def test_no_window_lies_wholly_outside_the_input(
    size: tuple[int, int], settings: dict[str, Any], expected: tuple[int, int]
) -> None:
    y = F.max_pool2d(np.zeros((1, 1, *size)), **settings)
    assert y.shape == (1, 1, *expected)
    np.testing.assert_array_equal(y.data, 0)
    assert F.avg_pool2d(np.zeros((1, 1, *size)), **settings).shape == (1, 1, *expected)


def test_the_gradient_of_a_tie_goes_to_the_first_of_the_equal_values() -> None:
    x = parameter(np.zeros((1, 1, 3, 3)))
    F.max_pool2d(x, 2, stride=1).sum().backward()
    np.testing.assert_array_equal(grad_of(x), [[[[1, 1, 0], [1, 1, 0], [0, 0, 0]]]])


@pytest.mark.parametrize("size", [2, 3])
def test_a_tie_within_an_adaptive_part_goes_to_the_first(size: int) -> None:
    x = parameter(np.zeros((1, 1, 4)))
    F.adaptive_max_pool1d(x, size).sum().backward()
    np.testing.assert_array_equal(grad_of(x), [[[1, 0, 1, 0]]] if size == 2 else [[[1, 1, 1, 0]]])


def test_nan_is_a_maximum_and_takes_the_gradient() -> None:
    x = parameter([[[1.0, np.nan, 2.0, 3.0]]])
    y = F.max_pool1d(x, 2)
    np.testing.assert_array_equal(y.data, [[[np.nan, 3]]])
    y.backward(np.ones((1, 1, 2)))
    np.testing.assert_array_equal(grad_of(x), [[[0, 1, 0, 1]]])


def test_padding_is_never_the_maximum() -> None:
    y = F.max_pool2d(np.full((1, 1, 2, 2), -5.0), 2, stride=2, padding=1)
    np.testing.assert_array_equal(y.data, np.full((1, 1, 2, 2), -5))


def test_averages_with_and_without_the_padding() -> None:
    x = np.ones((1, 1, 2))
    np.testing.assert_allclose(F.avg_pool1d(x, 2, stride=1, padding=1).data, np.array([[[0.5, 1, 0.5]]]))
    np.testing.assert_allclose(F.avg_pool1d(x, 2, stride=1, padding=1, count_include_pad=False).data, [[[1, 1, 1]]])


def test_adaptive_parts_overlap_when_the_lengths_do_not_divide() -> None:
    x = [[[1.0, 2, 3, 4, 5]]]
    np.testing.assert_allclose(F.adaptive_avg_pool1d(x, 3).data, np.array([[[1.5, 3, 4.5]]]))
    np.testing.assert_allclose(F.adaptive_max_pool1d(x, 3).data, [[[2, 4, 5]]])


@pytest.mark.parametrize("pool", [MaxPool2d(2), AvgPool2d(2), AdaptiveMaxPool2d(3), AdaptiveAvgPool2d(3)])
def test_an_empty_batch(pool: Module) -> None:
    x = parameter(np.zeros((0, 2, 5, 5)))
    y: Tensor = pool(x)
    assert y.shape[:2] == (0, 2)
    y.sum().backward()
    assert grad_of(x).shape == x.shape


WRONG: list[tuple[Callable[[], object], str]] = [
    (lambda: F.max_pool2d(np.ones((2, 2)), 2), "shape"),
    (lambda: F.max_pool2d(np.ones((1, 1, 2, 2)), 3), "larger"),
    (lambda: F.max_pool2d(np.ones((1, 1, 4, 4)), 2, padding=2), "half"),
    (lambda: F.avg_pool1d(np.ones((1, 1, 4)), 0), "kernel_size"),
    (lambda: F.avg_pool2d(np.ones((1, 1, 4, 4)), 2, divisor_override=0), "divisor_override"),
    (lambda: F.adaptive_avg_pool2d(np.ones((1, 1, 4, 4)), (0, 1)), "output_size"),
    (lambda: F.adaptive_max_pool1d(np.ones((1, 1, 0)), 1), "position"),
]


@pytest.mark.parametrize(("call", "words"), WRONG)
def test_what_does_not_fit_is_refused(call: Callable[[], object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()


def test_repr_names_the_settings() -> None:
    assert repr(MaxPool2d(2)) == "MaxPool2d(kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=False)"
    assert repr(AdaptiveAvgPool1d(3)) == "AdaptiveAvgPool1d(output_size=3)"
