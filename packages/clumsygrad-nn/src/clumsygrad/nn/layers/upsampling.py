"""Layers that make images larger."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from clumsygrad.core import Array, Shape, Tensor, TensorLike, as_tensor
from clumsygrad.core.math import matmul

from ..module import Module

UpsampleMode: TypeAlias = Literal["nearest", "linear", "bilinear"]


def pixel_shuffle(input: TensorLike, upscale_factor: int) -> Tensor:
    """Return images r times as high and wide, whose pixels are taken from r² times as many channels.

    Args:
        input: shape (..., C * r², H, W).
        upscale_factor: r.

    Returns:
        Shape (..., C, H * r, W * r).

    Raises:
        ValueError: when the channels are no multiple of r².

    References:
        Shi et al. 2016, "Real-Time Single Image and Video Super-Resolution Using an Efficient Sub-Pixel Convolutional
        Neural Network".

    Example:
        >>> from clumsygrad.nn.functional import pixel_shuffle
        >>> pixel_shuffle([[[1.0]], [[2.0]], [[3.0]], [[4.0]]], 2).tolist()
        [[[1.0, 2.0], [3.0, 4.0]]]
    """
    x = as_tensor(input)
    r = upscale_factor
    if x.ndim < 3 or r < 1 or x.shape[-3] % (r * r):
        raise ValueError(f"pixel_shuffle takes an input (..., C * r * r, H, W), here with r = {r}; received {x.shape}")
    stack, (channels, height, width) = x.shape[:-3], x.shape[-3:]
    first = len(stack)
    x = x.reshape(*stack, channels // (r * r), r, r, height, width)
    x = x.transpose(*range(first), first, first + 3, first + 1, first + 4, first + 2)
    return x.reshape(*stack, channels // (r * r), height * r, width * r)


def interpolate(
    input: TensorLike,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: UpsampleMode = "nearest",
    align_corners: bool | None = None,
) -> Tensor:
    """Return the input resampled to another number of positions.

    Args:
        input: shape (N, C, L) or (N, C, H, W).
        size: the new lengths, one number for all axes or one for each; or
        scale_factor: how many times as many positions there are, likewise.
        mode: "nearest" repeats; "linear", for (N, C, L), and "bilinear", for (N, C, H, W), interpolate.
        align_corners: whether the first and the last position stay where they are, rather than the outer edges of
            their pixels. Not for "nearest".

    Returns:
        Shape (N, C, *size).

    Raises:
        ValueError: when the shapes don't match, or not exactly one of size and scale_factor is given.

    Example:
        >>> from clumsygrad.nn.functional import interpolate
        >>> interpolate([[[1.0, 3.0]]], scale_factor=2).tolist()
        [[[1.0, 1.0, 3.0, 3.0]]]
        >>> interpolate([[[1.0, 3.0]]], size=3, mode="linear", align_corners=True).tolist()
        [[[1.0, 2.0, 3.0]]]
    """
    x = as_tensor(input)
    ranks = {"nearest": {3, 4}, "linear": {3}, "bilinear": {4}}
    if mode not in ranks:
        raise ValueError(f"mode is 'nearest', 'linear' or 'bilinear'; received {mode!r}")
    if x.ndim not in ranks[mode]:
        raise ValueError(
            "interpolate takes (N, C, L) for 'linear', (N, C, H, W) for 'bilinear', either for 'nearest'; received "
            f"{x.shape} with mode={mode!r}"
        )
    if mode == "nearest" and align_corners is not None:
        raise ValueError("align_corners is for 'linear' and 'bilinear'; leave it out for 'nearest'")
    if 0 in x.shape[2:]:
        raise ValueError(f"interpolate takes an input with at least one position; received {x.shape}")
    lengths, scales = _lengths(x.shape[2:], size, scale_factor)
    for number, (length, scale) in enumerate(zip(lengths, scales, strict=True)):
        axis = 2 + number
        if mode == "nearest":
            positions = (np.arange(length) * scale).astype(np.intp)
            x = x[(slice(None),) * axis + (np.minimum(positions, x.shape[axis] - 1),)]
        else:
            matrix = _interpolation(x.shape[axis], length, scale, bool(align_corners), x.dtype)
            # The last axis by a product from the right, the one before it by one from the left.
            x = x @ matrix.T if axis == x.ndim - 1 else matmul(matrix, x)
    return x


def _lengths(
    given: Shape, size: int | Sequence[int] | None, scale_factor: float | Sequence[float] | None
) -> tuple[Shape, tuple[float, ...]]:
    """Return the new lengths, and how far one step of the result goes in the input."""
    if (size is None) == (scale_factor is None):
        raise ValueError(f"interpolate takes either size or scale_factor; received {size} and {scale_factor}")
    if size is not None:
        lengths = (int(size),) * len(given) if isinstance(size, (int, np.integer)) else tuple(int(n) for n in size)
        factors = None
    else:
        wanted = scale_factor
        factors = (
            tuple(float(factor) for factor in wanted)
            if isinstance(wanted, Sequence)
            else (float(wanted if wanted is not None else 1),) * len(given)
        )
        lengths = tuple(int(length * factor) for length, factor in zip(given, factors, strict=False))
    if len(lengths) != len(given) or min(lengths) < 1 or (factors is not None and len(factors) != len(given)):
        raise ValueError(
            f"size and scale_factor are positive numbers, one for all of {len(given)} axes or one for each; received "
            f"size={size} and scale_factor={scale_factor}"
        )
    if factors is not None:
        return lengths, tuple(1 / factor for factor in factors)
    return lengths, tuple(old / new for old, new in zip(given, lengths, strict=True))


def _interpolation(given: int, length: int, scale: float, align_corners: bool, dtype: np.dtype[np.floating]) -> Array:
    """Return the matrix (length, given) that interpolates along an axis."""
    steps: npt.NDArray[np.float64] = np.arange(length, dtype=np.float64)
    if align_corners:
        places = steps * ((given - 1) / (length - 1)) if length > 1 else steps * 0
    else:
        places = np.maximum((steps + 0.5) * scale - 0.5, 0)
    left = np.minimum(places.astype(np.intp), given - 1)
    right = np.minimum(left + 1, given - 1)
    share = np.clip(places - left, 0, 1)
    matrix = np.zeros((length, given))
    rows = np.arange(length)
    np.add.at(matrix, (rows, left), 1 - share)
    np.add.at(matrix, (rows, right), share)
    return matrix.astype(dtype)


class PixelShuffle(Module):
    """Makes images larger by taking pixels from channels: :func:`~clumsygrad.nn.functional.pixel_shuffle`.

    Args:
        upscale_factor: r, how many times as high and wide they become.

    Example:
        >>> from clumsygrad.core import zeros
        >>> from clumsygrad.nn import PixelShuffle
        >>> PixelShuffle(2)(zeros((1, 8, 3, 3))).shape
        (1, 2, 6, 6)
    """

    upscale_factor: int

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, x: TensorLike) -> Tensor:
        """Return the larger images."""
        return pixel_shuffle(x, self.upscale_factor)

    def extra_repr(self) -> str:
        """Return the setting."""
        return f"upscale_factor={self.upscale_factor}"


class Upsample(Module):
    """Resamples its input to more positions: :func:`~clumsygrad.nn.functional.interpolate`.

    Args:
        size: the new lengths; or
        scale_factor: how many times as many positions there are.
        mode: "nearest", "linear" or "bilinear".
        align_corners: whether the first and the last position stay where they are.

    Example:
        >>> from clumsygrad.core import zeros
        >>> from clumsygrad.nn import Upsample
        >>> Upsample(scale_factor=2, mode="bilinear")(zeros((1, 2, 3, 3))).shape
        (1, 2, 6, 6)
    """

    size: int | Sequence[int] | None
    scale_factor: float | Sequence[float] | None
    mode: UpsampleMode
    align_corners: bool | None

    def __init__(
        self,
        size: int | Sequence[int] | None = None,
        scale_factor: float | Sequence[float] | None = None,
        mode: UpsampleMode = "nearest",
        align_corners: bool | None = None,
    ) -> None:
        super().__init__()
        self.size = size
        self.scale_factor = scale_factor
        self.mode = mode
        self.align_corners = align_corners

    def forward(self, x: TensorLike) -> Tensor:
        """Return the input resampled."""
        return interpolate(x, self.size, self.scale_factor, self.mode, self.align_corners)

    def extra_repr(self) -> str:
        """Return the settings."""
        what = f"scale_factor={self.scale_factor}" if self.size is None else f"size={self.size}"
        return f"{what}, mode={self.mode!r}"
