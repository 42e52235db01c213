"""Pooling: maxima and averages over windows, and over a given number of parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from clumsygrad.core import Array, Shape, Tensor, TensorLike, as_tensor
from clumsygrad.core.math import matmul

from ..module import Module
from ..ops.pooling import window_average, window_max
from ..ops.window import Sizes, Window, expand, slide

OutputSizes: TypeAlias = int | Sequence[int | None] | None
"""How many parts an axis is divided into, for all axes or for each; None keeps the input's length."""


def _pooling_window(
    ndim: int,
    x: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None,
    padding: Sizes,
    dilation: Sizes,
    ceil_mode: bool,
) -> Window:
    kernel = expand("kernel_size", kernel_size, ndim, minimum=1)
    strides = kernel if stride is None else expand("stride", stride, ndim, minimum=1)
    paddings = expand("padding", padding, ndim, minimum=0)
    if any(2 * around > length for around, length in zip(paddings, kernel, strict=True)):
        raise ValueError(
            f"padding is at most half the kernel, or a window could lie in the padding alone; received padding="
            f"{padding} with kernel_size={kernel_size}"
        )
    dilations = expand("dilation", dilation, ndim, minimum=1)
    return slide(x.shape[2:], kernel, strides, dilations, paddings, paddings, ceil_mode=ceil_mode)


def _batched(name: str, ndim: int, input_: TensorLike) -> tuple[Tensor, bool]:
    """Return the input with an axis for samples, and whether it had none."""
    x = as_tensor(input_)
    axes = "L" if ndim == 1 else "H, W"
    if x.ndim not in {ndim + 1, ndim + 2}:
        raise ValueError(f"{name} takes an input of shape (N, C, {axes}) or (C, {axes}); received {x.shape}")
    single = x.ndim == ndim + 1
    return (x.reshape(1, *x.shape) if single else x), single


def _unbatched(x: Tensor, single: bool) -> Tensor:
    return x.reshape(x.shape[1:]) if single else x


def _max_pool(
    ndim: int,
    input_: TensorLike,
    kernel_size: Sizes,
    stride: Sizes | None,
    padding: Sizes,
    dilation: Sizes,
    ceil_mode: bool,
) -> Tensor:
    x, single = _batched(f"max_pool{ndim}d", ndim, input_)
    return _unbatched(
        window_max(x, _pooling_window(ndim, x, kernel_size, stride, padding, dilation, ceil_mode)), single
    )


def _avg_pool(
    ndim: int,
    input_: TensorLike,
    kernel_size: Sizes,
    stride: Sizes | None,
    padding: Sizes,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Tensor:
    x, single = _batched(f"avg_pool{ndim}d", ndim, input_)
    window = _pooling_window(ndim, x, kernel_size, stride, padding, 1, ceil_mode)
    divisor: npt.NDArray[np.float64] | float
    if divisor_override is not None:
        if divisor_override == 0:
            raise ValueError("divisor_override must not be 0")
        divisor = float(divisor_override)
    else:
        divisor = _counts(window, expand("padding", padding, ndim, minimum=0), count_include_pad)
    return _unbatched(window_average(x, window, divisor), single)


def _counts(window: Window, padding: Shape, count_include_pad: bool) -> npt.NDArray[np.float64] | float:
    """Return how many elements each window has, of the input or of the padding too; one number if all have as many.

    What ceil_mode adds behind the padding never counts.
    """
    product: npt.NDArray[np.float64] = np.ones(())
    for axis, positions in enumerate(window.output):
        start = np.arange(positions) * window.stride[axis] - padding[axis]
        beyond = window.size[axis] + padding[axis]
        stop = np.minimum(start + window.kernel[axis], beyond)
        if not count_include_pad:
            start, stop = np.maximum(start, 0), np.minimum(stop, window.size[axis])
        product = product[..., np.newaxis] * (stop - start)
    if product.size and (product == product.flat[0]).all():
        return float(product.flat[0])
    return product


def _parts(length: int, number: int) -> list[tuple[int, int]]:
    """Return where each of ``number`` parts of an axis begins and ends; parts may overlap by one element."""
    return [(i * length // number, -(-(i + 1) * length // number)) for i in range(number)]


def _output_sizes(output_size: OutputSizes, size: Shape) -> Shape:
    wanted: Sequence[int | None]
    wanted = (
        [output_size] * len(size)
        if isinstance(output_size, (int, np.integer)) or output_size is None
        else (output_size)
    )
    if len(wanted) == 1:
        wanted = [wanted[0]] * len(size)
    if len(wanted) != len(size) or any(number is not None and number < 1 for number in wanted):
        raise ValueError(f"output_size is a positive integer or None, or {len(size)} of them; received {output_size!r}")
    return tuple(length if number is None else int(number) for number, length in zip(wanted, size, strict=True))


def _even_window(size: Shape, output: Shape) -> Window | None:
    """Return the window that makes the parts, when all of them are equally long and none overlap."""
    if any(length % number for length, number in zip(size, output, strict=True)):
        return None
    kernel = tuple(length // number for length, number in zip(size, output, strict=True))
    none = (0,) * len(size)
    return slide(size, kernel, kernel, (1,) * len(size), none, none)


def _adaptive_max_pool(ndim: int, input_: TensorLike, output_size: OutputSizes) -> Tensor:
    x, single = _batched(f"adaptive_max_pool{ndim}d", ndim, input_)
    size = x.shape[2:]
    _refuse_empty(f"adaptive_max_pool{ndim}d", size)
    output = _output_sizes(output_size, size)
    if (window := _even_window(size, output)) is not None:
        return _unbatched(window_max(x, window), single)
    rows, width = (1, size[0]) if ndim == 1 else size
    values = x.data.reshape(*x.shape[:2], rows, width)
    found: list[npt.NDArray[np.intp]] = []
    for top, bottom in _parts(rows, output[0] if ndim == 2 else 1):
        for left, right in _parts(width, output[-1]):
            part = values[:, :, top:bottom, left:right]
            row, column = np.divmod(
                part.reshape(*x.shape[:2], (bottom - top) * (right - left)).argmax(axis=2), right - left
            )
            found.append((row + top) * width + column + left)
    samples, channels = np.arange(x.shape[0])[:, None, None], np.arange(x.shape[1])[:, None]
    chosen = x.reshape(*x.shape[:2], rows * width)[samples, channels, np.stack(found, axis=-1)]
    return _unbatched(chosen.reshape(*x.shape[:2], *output), single)


def _adaptive_avg_pool(ndim: int, input_: TensorLike, output_size: OutputSizes) -> Tensor:
    x, single = _batched(f"adaptive_avg_pool{ndim}d", ndim, input_)
    size = x.shape[2:]
    _refuse_empty(f"adaptive_avg_pool{ndim}d", size)
    output = _output_sizes(output_size, size)
    if (window := _even_window(size, output)) is not None:
        return _unbatched(window_average(x, window, float(np.prod(window.kernel))), single)
    # The mean over a box is the product of the means along each axis, and each of these is a matrix product.
    x = x @ _averaging_matrix(size[-1], output[-1], x.data.dtype).T
    if ndim == 2:
        x = matmul(_averaging_matrix(size[0], output[0], x.data.dtype), x)
    return _unbatched(x, single)


def _refuse_empty(name: str, size: Shape) -> None:
    if 0 in size:
        raise ValueError(f"{name} takes an input with at least one position; received spatial axes of {size}")


def _averaging_matrix(length: int, number: int, dtype: np.dtype[np.floating]) -> Array:
    matrix = np.zeros((number, length), dtype)
    for row, (start, stop) in enumerate(_parts(length, number)):
        matrix[row, start:stop] = 1 / (stop - start)
    return matrix


def max_pool1d(
    input: TensorLike,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    *,
    ceil_mode: bool = False,
) -> Tensor:
    """Return the maximum of each window of sequences; its gradient goes to the window's first maximum.

    Args:
        input: shape (N, C, L), or (C, L) for a single sample.
        kernel_size: the window's lengths.
        stride: the steps from one window to the next; the kernel's lengths when None.
        padding: how far windows reach over the edge, where nothing is ever the maximum.
        dilation: the steps from one element of a window to the next.
        ceil_mode: also take a last window that only begins within the input.

    Raises:
        ValueError: for wrong ranks, padding of more than half the kernel, or a window larger than the input.

    Example:
        >>> from clumsygrad.core import zeros
        >>> from clumsygrad.nn.functional import max_pool1d
        >>> max_pool1d(zeros((1, 2, 6)), 2).shape
        (1, 2, 3)
    """
    return _max_pool(1, input, kernel_size, stride, padding, dilation, ceil_mode)


def avg_pool1d(
    input: TensorLike,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """Return the mean of each window of sequences.

    Args:
        input: shape (N, C, L), or (C, L) for a single sample.
        kernel_size: the window's lengths.
        stride: the steps from one window to the next; the kernel's lengths when None.
        padding: zeros on both sides of every axis.
        ceil_mode: also take a last window that only begins within the input.
        count_include_pad: whether these zeros count in the divisor.

    Raises:
        ValueError: for wrong ranks, padding of more than half the kernel, or a window larger than the input.

    Example:
        >>> from clumsygrad.core import zeros
        >>> from clumsygrad.nn.functional import avg_pool1d
        >>> avg_pool1d(zeros((1, 2, 6)), 2).shape
        (1, 2, 3)
    """
    return _avg_pool(1, input, kernel_size, stride, padding, ceil_mode, count_include_pad, None)


def adaptive_max_pool1d(input: TensorLike, output_size: OutputSizes) -> Tensor:
    """Return the maxima of sequences over a given number of parts of each axis.

    Part i of n of an axis of L elements goes from ``floor(i L / n)`` to ``ceil((i + 1) L / n)``.

    Args:
        input: shape (N, C, L), or (C, L) for a single sample.
        output_size: the number of parts; None for as many as there are elements.

    Raises:
        ValueError: for wrong ranks, or a number that is not positive.

    Example:
        >>> from clumsygrad.core import zeros
        >>> from clumsygrad.nn.functional import adaptive_max_pool1d
        >>> adaptive_max_pool1d(zeros((1, 2, 6)), 3).shape
        (1, 2, 3)
    """
    return _adaptive_max_pool(1, input, output_size)


def adaptive_avg_pool1d(input: TensorLike, output_size: OutputSizes) -> Tensor:
    """Return the means of sequences over a given number of parts; see :func:`adaptive_max_pool1d`.

    Example:
        >>> from clumsygrad.core import zeros
        >>> from clumsygrad.nn.functional import adaptive_avg_pool1d
        >>> adaptive_avg_pool1d(zeros((1, 2, 6)), 3).shape
        (1, 2, 3)
    """
    return _adaptive_avg_pool(1, input, output_size)


def max_pool2d(
    input: TensorLike,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    *,
    ceil_mode: bool = False,
) -> Tensor:
    """Return the maximum of each window of images; its gradient goes to the window's first maximum.

    Args:
        input: shape (N, C, H, W), or (C, H, W) for a single sample.
        kernel_size: the window's lengths.
        stride: the steps from one window to the next; the kernel's lengths when None.
        padding: how far windows reach over the edge, where nothing is ever the maximum.
        dilation: the steps from one element of a window to the next.
        ceil_mode: also take a last window that only begins within the input.

    Raises:
        ValueError: for wrong ranks, padding of more than half the kernel, or a window larger than the input.

    Example:
        >>> from clumsygrad.core import zeros
        >>> from clumsygrad.nn.functional import max_pool2d
        >>> max_pool2d(zeros((1, 2, 6, 6)), 2).shape
        (1, 2, 3, 3)
    """
    return _max_pool(2, input, kernel_size, stride, padding, dilation, ceil_mode)


def avg_pool2d(
    input: TensorLike,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """Return the mean of each window of images.

    Args:
        input: shape (N, C, H, W), or (C, H, W) for a single sample.
        kernel_size: the window's lengths.
        stride: the steps from one window to the next; the kernel's lengths when None.
        padding: zeros on both sides of every axis.
        ceil_mode: also take a last window that only begins within the input.
        count_include_pad: whether these zeros count in the divisor.
        divisor_override: the divisor of all windows, instead of how many elements they have.

    Raises:
        ValueError: for wrong ranks, padding of more than half the kernel, or a window larger than the input.

    Example:
        >>> from clumsygrad.core import zeros
        >>> from clumsygrad.nn.functional import avg_pool2d
        >>> avg_pool2d(zeros((1, 2, 6, 6)), 2).shape
        (1, 2, 3, 3)
    """
    return _avg_pool(2, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


def adaptive_max_pool2d(input: TensorLike, output_size: OutputSizes) -> Tensor:
    """Return the maxima of images over a given number of parts of each axis.

    Part i of n of an axis of L elements goes from ``floor(i L / n)`` to ``ceil((i + 1) L / n)``.

    Args:
        input: shape (N, C, H, W), or (C, H, W) for a single sample.
        output_size: the number of parts; None for as many as there are elements.

    Raises:
        ValueError: for wrong ranks, or a number that is not positive.

    Example:
        >>> from clumsygrad.core import zeros
        >>> from clumsygrad.nn.functional import adaptive_max_pool2d
        >>> adaptive_max_pool2d(zeros((1, 2, 6, 6)), 3).shape
        (1, 2, 3, 3)
    """
    return _adaptive_max_pool(2, input, output_size)


def adaptive_avg_pool2d(input: TensorLike, output_size: OutputSizes) -> Tensor:
    """Return the means of images over a given number of parts; see :func:`adaptive_max_pool2d`.

    Example:
        >>> from clumsygrad.core import zeros
        >>> from clumsygrad.nn.functional import adaptive_avg_pool2d
        >>> adaptive_avg_pool2d(zeros((1, 2, 6, 6)), 3).shape
        (1, 2, 3, 3)
    """
    return _adaptive_avg_pool(2, input, output_size)


class _Pool(Module):
    """The settings that pooling over windows has."""

    kernel_size: Sizes
    stride: Sizes
    padding: Sizes
    ceil_mode: bool

    def __init__(self, kernel_size: Sizes, stride: Sizes | None, padding: Sizes, ceil_mode: bool) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.ceil_mode = ceil_mode

    def extra_repr(self) -> str:
        """Return the settings."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class _AdaptivePool(Module):
    """The setting that pooling over a given number of parts has."""

    output_size: OutputSizes

    def __init__(self, output_size: OutputSizes) -> None:
        super().__init__()
        self.output_size = output_size

    def extra_repr(self) -> str:
        """Return the setting."""
        return f"output_size={self.output_size}"


class MaxPool1d(_Pool):
    """The maximum of each window of sequences: :func:`~clumsygrad.nn.functional.max_pool1d`.

    Args:
        kernel_size: the window's lengths.
        stride: the steps from one window to the next; the kernel's lengths when None.
        padding: how far windows reach over the edge.
        dilation: the steps from one element of a window to the next.
        ceil_mode: also take a last window that only begins within the input.

    Example:
        >>> from clumsygrad.core import zeros
        >>> from clumsygrad.nn import MaxPool1d
        >>> MaxPool1d(2)(zeros((1, 2, 6))).shape
        (1, 2, 3)
    """

    dilation: Sizes

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        dilation: Sizes = 1,
        *,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__(kernel_size, stride, padding, ceil_mode)
        self.dilation = dilation

    def forward(self, x: TensorLike) -> Tensor:
        """Return the maximum of each window."""
        return max_pool1d(x, self.kernel_size, self.stride, self.padding, self.dilation, ceil_mode=self.ceil_mode)

    def extra_repr(self) -> str:
        """Return the settings."""
        return f"{super().extra_repr()}, dilation={self.dilation}, ceil_mode={self.ceil_mode}"


class AvgPool1d(_Pool):
    """The mean of each window of sequences: :func:`~clumsygrad.nn.functional.avg_pool1d`.

    Args:
        kernel_size: the window's lengths.
        stride: the steps from one window to the next; the kernel's lengths when None.
        padding: zeros on both sides of every axis.
        ceil_mode: also take a last window that only begins within the input.
        count_include_pad: whether these zeros count in the divisor.

    Example:
        >>> from clumsygrad.core import zeros
        >>> from clumsygrad.nn import AvgPool1d
        >>> AvgPool1d(2)(zeros((1, 2, 6))).shape
        (1, 2, 3)
    """

    count_include_pad: bool

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__(kernel_size, stride, padding, ceil_mode)
        self.count_include_pad = count_include_pad

    def forward(self, x: TensorLike) -> Tensor:
        """Return the mean of each window."""
        return avg_pool1d(
            x,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
        )


class AdaptiveMaxPool1d(_AdaptivePool):
    """The maxima of sequences over a given number of parts: :func:`~clumsygrad.nn.functional.adaptive_max_pool1d`.

    Args:
        output_size: the number of parts of each axis; None for as many as there are elements.

    Example:
        >>> from clumsygrad.core import zeros
        >>> from clumsygrad.nn import AdaptiveMaxPool1d
        >>> AdaptiveMaxPool1d(3)(zeros((1, 2, 6))).shape
        (1, 2, 3)
    """

    def forward(self, x: TensorLike) -> Tensor:
        """Return the maximum of each part."""
        return adaptive_max_pool1d(x, self.output_size)


class AdaptiveAvgPool1d(_AdaptivePool):
    """The means of sequences over a given number of parts: :func:`~clumsygrad.nn.functional.adaptive_avg_pool1d`.

    Args:
        output_size: the number of parts of each axis; None for as many as there are elements.

    Example:
        >>> from clumsygrad.core import zeros
        >>> from clumsygrad.nn import AdaptiveAvgPool1d
        >>> AdaptiveAvgPool1d(3)(zeros((1, 2, 6))).shape
        (1, 2, 3)
    """

    def forward(self, x: TensorLike) -> Tensor:
        """Return the mean of each part."""
        return adaptive_avg_pool1d(x, self.output_size)


class MaxPool2d(_Pool):
    """The maximum of each window of images: :func:`~clumsygrad.nn.functional.max_pool2d`.

    Args:
        kernel_size: the window's lengths.
        stride: the steps from one window to the next; the kernel's lengths when None.
        padding: how far windows reach over the edge.
        dilation: the steps from one element of a window to the next.
        ceil_mode: also take a last window that only begins within the input.

    Example:
        >>> from clumsygrad.core import zeros
        >>> from clumsygrad.nn import MaxPool2d
        >>> MaxPool2d(2)(zeros((1, 2, 6, 6))).shape
        (1, 2, 3, 3)
    """

    dilation: Sizes

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        dilation: Sizes = 1,
        *,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__(kernel_size, stride, padding, ceil_mode)
        self.dilation = dilation

    def forward(self, x: TensorLike) -> Tensor:
        """Return the maximum of each window."""
        return max_pool2d(x, self.kernel_size, self.stride, self.padding, self.dilation, ceil_mode=self.ceil_mode)

    def extra_repr(self) -> str:
        """Return the settings."""
        return f"{super().extra_repr()}, dilation={self.dilation}, ceil_mode={self.ceil_mode}"


class AvgPool2d(_Pool):
    """The mean of each window of images: :func:`~clumsygrad.nn.functional.avg_pool2d`.

    Args:
        kernel_size: the window's lengths.
        stride: the steps from one window to the next; the kernel's lengths when None.
        padding: zeros on both sides of every axis.
        ceil_mode: also take a last window that only begins within the input.
        count_include_pad: whether these zeros count in the divisor.
        divisor_override: the divisor of all windows, instead of how many elements they have.

    Example:
        >>> from clumsygrad.core import zeros
        >>> from clumsygrad.nn import AvgPool2d
        >>> AvgPool2d(2)(zeros((1, 2, 6, 6))).shape
        (1, 2, 3, 3)
    """

    count_include_pad: bool
    divisor_override: int | None

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__(kernel_size, stride, padding, ceil_mode)
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override

    def forward(self, x: TensorLike) -> Tensor:
        """Return the mean of each window."""
        return avg_pool2d(
            x,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )


class AdaptiveMaxPool2d(_AdaptivePool):
    """The maxima of images over a given number of parts: :func:`~clumsygrad.nn.functional.adaptive_max_pool2d`.

    Args:
        output_size: the number of parts of each axis; None for as many as there are elements.

    Example:
        >>> from clumsygrad.core import zeros
        >>> from clumsygrad.nn import AdaptiveMaxPool2d
        >>> AdaptiveMaxPool2d(3)(zeros((1, 2, 6, 6))).shape
        (1, 2, 3, 3)
    """

    def forward(self, x: TensorLike) -> Tensor:
        """Return the maximum of each part."""
        return adaptive_max_pool2d(x, self.output_size)


class AdaptiveAvgPool2d(_AdaptivePool):
    """The means of images over a given number of parts: :func:`~clumsygrad.nn.functional.adaptive_avg_pool2d`.

    Args:
        output_size: the number of parts of each axis; None for as many as there are elements.

    Example:
        >>> from clumsygrad.core import zeros
        >>> from clumsygrad.nn import AdaptiveAvgPool2d
        >>> AdaptiveAvgPool2d(3)(zeros((1, 2, 6, 6))).shape
        (1, 2, 3, 3)
    """

    def forward(self, x: TensorLike) -> Tensor:
        """Return the mean of each part."""
        return adaptive_avg_pool2d(x, self.output_size)
