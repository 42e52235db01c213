from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from nn.finite_difference import check_derivatives

from clumsygrad.nn import PixelShuffle, Upsample
from clumsygrad.nn import functional as F


@pytest.mark.parametrize(
    ("shape", "settings"),
    [
        ((1, 2, 3), {"scale_factor": 2}),
        ((1, 1, 2, 3), {"size": (3, 2)}),
        ((1, 2, 3), {"size": 5, "mode": "linear"}),
        ((1, 1, 2, 3), {"scale_factor": 1.5, "mode": "bilinear"}),
        ((1, 1, 2, 3), {"size": (4, 1), "mode": "bilinear", "align_corners": True}),
    ],
)
def test_derivatives(shape: tuple[int, ...], settings: dict[str, Any]) -> None:
    x = np.random.default_rng(0).standard_normal(shape)
    check_derivatives(lambda values: Upsample(**settings)(values * values), x)


def test_nearest_repeats_and_linear_interpolates() -> None:
    x = np.array([[[[1.0, 2.0], [3.0, 4.0]]]])
    np.testing.assert_array_equal(Upsample(scale_factor=2)(x).data, x.repeat(2, axis=2).repeat(2, axis=3))
    corners = F.interpolate(x, size=3, mode="bilinear", align_corners=True).data
    np.testing.assert_allclose(corners, [[[[1, 1.5, 2], [2, 2.5, 3], [3, 3.5, 4]]]])
    np.testing.assert_allclose(
        F.interpolate(np.array([[[0.0, 4.0]]]), scale_factor=2, mode="linear").data, [[[0, 1, 3, 4]]]
    )


def test_pixels_come_from_channels() -> None:
    y = PixelShuffle(2)(np.arange(16.0).reshape(1, 4, 2, 2)).data
    np.testing.assert_array_equal(y, [[[[0, 4, 1, 5], [8, 12, 9, 13], [2, 6, 3, 7], [10, 14, 11, 15]]]])
    check_derivatives(lambda x: F.pixel_shuffle(x * x, 2), np.arange(8.0).reshape(8, 1, 1) / 8 + 0.5)


WRONG: list[tuple[Callable[[], object], str]] = [
    (lambda: F.pixel_shuffle(np.zeros((3, 2, 2)), 2), "pixel_shuffle"),
    (lambda: F.interpolate(np.zeros((1, 1, 2))), "either size or scale_factor"),
    (lambda: F.interpolate(np.zeros((1, 1, 2)), 2, 2), "either size or scale_factor"),
    (lambda: F.interpolate(np.zeros((1, 1, 2)), (2, 2)), "positive"),
    (lambda: F.interpolate(np.zeros((1, 1, 2)), 2, mode="bilinear"), "bilinear"),
    (lambda: F.interpolate(np.zeros((1, 1, 2)), 2, align_corners=True), "align_corners"),
    (lambda: F.interpolate(np.zeros((1, 1, 0)), 2), "at least one position"),
    (lambda: F.interpolate(np.zeros((1, 1, 2)), 2, mode="cubic"), "mode"),  # type: ignore[arg-type]  # a wrong value
]


@pytest.mark.parametrize(("call", "words"), WRONG)
def test_what_does_not_fit_is_refused(call: Callable[[], object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()
