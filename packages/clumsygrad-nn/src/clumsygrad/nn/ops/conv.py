"""Convolution through matrix products, and the two operations that are its gradients.

A convolution is linear in the input and in the kernel. So are its gradients, and the gradients of those are the same
three operations again: each has a rule in terms of the other two, and derivatives of any order follow.

The windows of a few samples at a time are laid out as the columns of a matrix, small enough to stay in the cache, and
one product with the kernel's matrix makes the output of these samples. Nothing of it is kept for the backward pass.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from clumsygrad.core import Array, GradientTuple, Shape, Tensor, create_node

from .recording import is_recorded, record
from .window import Window, inner, padded, patches, taps

# The columns of so many bytes are made at a time: about what a core's second-level cache holds beside other data.
_BLOCK_BYTES = 1 << 18


def _samples_at_a_time(rows: int, columns: int, itemsize: int) -> int:
    return max(1, _BLOCK_BYTES // max(1, rows * columns * itemsize))


def _as_matrices(kernel: Array, groups: int) -> Array:
    """Return a kernel (O, C/groups, *K) as a stack of matrices (groups, O/groups, C/groups * K)."""
    return kernel.reshape(groups, kernel.shape[0] // groups, math.prod(kernel.shape[1:]))


@dataclass(frozen=True, slots=True)
class _Columns:
    """How the positions of a window become the columns of a matrix.

    With a stride of 1 the padded input counts as one long row of numbers: then what a kernel element meets at all
    positions is one contiguous run of it, which copies far faster than the short rows of an image. The
    positions where the window would wrap around an edge come along, as columns that nothing is read from. They are
    few, unless the kernel is nearly as large as the input; then, and with larger strides, the positions are the columns
    as they are.
    """

    window: Window
    run: int | None
    """The length of the run, None without one."""

    @property
    def shape(self) -> Shape:
        """The shape of the columns' axes."""
        return self.window.output if self.run is None else (self.run,)

    @property
    def count(self) -> int:
        """How many columns there are."""
        return math.prod(self.shape)

    @property
    def grid(self) -> Shape:
        """The shape in which all columns, and the numbers behind a run's end, are laid out."""
        return self.window.output if self.run is None else (self.window.output[0], *self.window.padded[1:])

    def view(self, source: Array) -> Array:
        """Return a view of shape (N, C, *kernel, *columns) of a padded input."""
        if self.run is None:
            return patches(source, self.window)
        source = np.ascontiguousarray(source)
        steps = tuple(step * gap for step, gap in zip(source.strides[2:], self.window.dilation, strict=True))
        return as_strided(
            source,
            (*source.shape[:2], *self.window.kernel, self.run),
            (*source.strides[:2], *steps, source.itemsize),
            writeable=False,
        )

    def valid(self, grid: Array) -> Array:
        """Return the part of an array (N, C, *grid) that stands for positions of the window."""
        if self.run is None:
            return grid
        key: tuple[Any, ...] = (..., *(slice(length) for length in self.window.output))
        result: Array = grid[key]
        return result


def _columns(window: Window) -> _Columns:
    grid = window.output[0] * math.prod(window.padded[1:])
    positions = math.prod(window.output)
    if len(window.output) == 1 or any(step != 1 for step in window.stride) or grid > 1.5 * positions:
        return _Columns(window, None)
    last = int(np.ravel_multi_index([length - 1 for length in window.output], window.padded))
    return _Columns(window, last + 1)


def correlate(x: Array, kernel: Array, window: Window, groups: int) -> Array:
    """Return the sum over each window of ``x`` times ``kernel``: what deep learning calls a convolution.

    Args:
        x: shape (N, C, *window.size).
        kernel: shape (O, C / groups, *window.kernel).
        window: where the kernel is put.
        groups: into how many independent parts the channels are divided.

    Returns:
        Shape (N, O, *window.output).
    """
    if is_recorded(x, kernel):
        return record(correlate, correlate_backward, (x, kernel), {"window": window, "groups": groups})
    return _correlate(x, kernel, None, window, groups)


def _correlate(x: Array, kernel: Array, bias: Array | None, window: Window, groups: int) -> Array:
    """Return the same plus a bias for each channel of the result, added while the sums are still in the cache."""
    columns = _columns(window)
    number, channels = x.shape[:2]
    outputs = kernel.shape[0]
    matrices = _as_matrices(kernel, groups)
    rows = matrices.shape[2]
    result = np.empty((number, outputs, *window.output), x.dtype)
    seen = columns.view(padded(x, window))
    step = min(_samples_at_a_time(groups * rows, columns.count, x.itemsize), max(1, number))
    block = np.empty((step, channels, *window.kernel, *columns.shape), x.dtype)
    stacked = block.reshape(step, groups, rows, columns.count)
    made = np.empty((step, groups, outputs // groups, math.prod(columns.grid)), x.dtype)
    sums = columns.valid(made.reshape(step, outputs, *columns.grid))
    shift = None if bias is None else bias.reshape(outputs, *(1,) * len(window.output))
    for start in range(0, number, step):
        count = min(step, number - start)
        np.copyto(block[:count], seen[start : start + count])
        np.matmul(matrices, stacked[:count], out=made[:count, :, :, : columns.count])
        if shift is None:
            result[start : start + count] = sums[:count]
        else:
            np.add(sums[:count], shift, out=result[start : start + count])
    return result


def correlate_input(grad: Array, kernel: Array, window: Window, groups: int) -> Array:
    """Return the gradient of :func:`correlate` with respect to ``x``, which is the transposed convolution.

    Args:
        grad: shape (N, O, *window.output).
        kernel: shape (O, C / groups, *window.kernel).
        window: as in :func:`correlate`.
        groups: as in :func:`correlate`.

    Returns:
        Shape (N, C, *window.size).
    """
    if is_recorded(grad, kernel):
        return record(correlate_input, correlate_input_backward, (grad, kernel), {"window": window, "groups": groups})
    return _correlate_input(grad, kernel, None, window, groups)


def _correlate_input(grad: Array, kernel: Array, bias: Array | None, window: Window, groups: int) -> Array:
    """Return the same plus a bias for each channel of the result."""
    if (mirrored := _mirrored(window)) is not None:
        # With a stride of 1 it is a correlation again, with the mirrored kernel: copies cost less than sums.
        parts = kernel.reshape(groups, kernel.shape[0] // groups, *kernel.shape[1:]).swapaxes(1, 2)
        parts = np.flip(parts, tuple(range(3, parts.ndim)))
        return _correlate(grad, parts.reshape(-1, *parts.shape[2:]), bias, mirrored, groups)
    number, outputs = grad.shape[:2]
    channels, positions = kernel.shape[1] * groups, math.prod(window.output)
    matrices = _as_matrices(kernel, groups).swapaxes(1, 2)
    rows = matrices.shape[1]
    result = np.zeros((number, channels, *window.padded), grad.dtype)
    grads = grad.reshape(number, groups, outputs // groups, positions)
    keys = list(taps(window))
    step = min(_samples_at_a_time(groups * rows, positions, grad.itemsize), max(1, number))
    block = np.empty((step, groups, rows, positions), grad.dtype)
    stacked = block.reshape(step, channels, len(keys), *window.output)
    for start in range(0, number, step):
        count = min(step, number - start)
        np.matmul(matrices, grads[start : start + count], out=block[:count])
        part = result[start : start + count]
        for index, key in enumerate(keys):
            part[key] += stacked[:count, :, index]
    if bias is not None:
        result += bias.reshape(channels, *(1,) * len(window.size))
    return np.ascontiguousarray(result[inner(window)])


def _mirrored(window: Window) -> Window | None:
    """Return the window by which the gradient at the output sees the input's, when there is one."""
    reach = [gap * (length - 1) for gap, length in zip(window.dilation, window.kernel, strict=True)]
    before = tuple(steps - padding for steps, padding in zip(reach, window.before, strict=True))
    after = tuple(steps - padding for steps, padding in zip(reach, window.after, strict=True))
    if any(step != 1 for step in window.stride) or min(*before, *after) < 0:
        return None
    if any(length != inside - steps for length, inside, steps in zip(window.output, window.padded, reach, strict=True)):
        return None
    return Window(window.output, window.kernel, window.stride, window.dilation, before, after, window.size)


def _on_grid(columns: _Columns, step: int, grad: Array, groups: int) -> tuple[Array, Array]:
    """Return a place for the gradients of some samples, and the same as matrices with zeros where there are none."""
    outputs = grad.shape[1]
    grid = np.zeros((step, outputs, *columns.grid), grad.dtype)
    matrices = grid.reshape(step, groups, outputs // groups, math.prod(columns.grid))[..., : columns.count]
    return columns.valid(grid), matrices


def correlate_kernel(grad: Array, x: Array, window: Window, groups: int) -> Array:
    """Return the gradient of :func:`correlate` with respect to ``kernel``.

    Args:
        grad: shape (N, O, *window.output).
        x: shape (N, C, *window.size).
        window: as in :func:`correlate`.
        groups: as in :func:`correlate`.

    Returns:
        Shape (O, C / groups, *window.kernel).
    """
    if is_recorded(grad, x):
        return record(correlate_kernel, correlate_kernel_backward, (grad, x), {"window": window, "groups": groups})
    columns = _columns(window)
    number, channels = x.shape[:2]
    outputs = grad.shape[1]
    rows = channels // groups * math.prod(window.kernel)
    result = np.zeros((groups, outputs // groups, rows), x.dtype)
    seen = columns.view(padded(x, window))
    step = min(_samples_at_a_time(groups * rows, columns.count, x.itemsize), max(1, number))
    given, grads = _on_grid(columns, step, grad, groups)
    block = np.empty((step, channels, *window.kernel, *columns.shape), x.dtype)
    stacked = block.reshape(step, groups, rows, columns.count).swapaxes(2, 3)
    for start in range(0, number, step):
        count = min(step, number - start)
        given[:count] = grad[start : start + count]
        np.copyto(block[:count], seen[start : start + count])
        result += np.matmul(grads[:count], stacked[:count]).sum(axis=0)
    return result.reshape(outputs, channels // groups, *window.kernel)


def _bias_gradient(bias: Tensor, grad: Array) -> Array | None:
    return grad.sum(axis=(0, *range(2, grad.ndim))) if bias.requires_grad else None


def correlate_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """For the input the transposed convolution; for the kernel the products with what it saw; for the bias a sum."""
    x, kernel, *bias = tensor.parents
    window: Window = tensor.extra["window"]
    groups: int = tensor.extra["groups"]
    return (
        correlate_input(grad, kernel.data, window, groups) if x.requires_grad else None,
        correlate_kernel(grad, x.data, window, groups) if kernel.requires_grad else None,
        *(_bias_gradient(parent, grad) for parent in bias),
    )


def correlate_input_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """The convolution itself, and the kernel's gradient with the two inputs in each other's place."""
    output_grad, kernel, *bias = tensor.parents
    window: Window = tensor.extra["window"]
    groups: int = tensor.extra["groups"]
    return (
        correlate(grad, kernel.data, window, groups) if output_grad.requires_grad else None,
        correlate_kernel(output_grad.data, grad, window, groups) if kernel.requires_grad else None,
        *(_bias_gradient(parent, grad) for parent in bias),
    )


def correlate_kernel_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """The convolution of the input with the gradient, and the transposed one of the output's gradient with it."""
    output_grad, x = tensor.parents
    window: Window = tensor.extra["window"]
    groups: int = tensor.extra["groups"]
    return (
        correlate(x.data, grad, window, groups) if output_grad.requires_grad else None,
        correlate_input(output_grad.data, grad, window, groups) if x.requires_grad else None,
    )


def convolution(x: Tensor, weight: Tensor, bias: Tensor | None, window: Window, groups: int) -> Tensor:
    """Return the convolution of ``x`` with ``weight``, plus a bias for each output channel, as one node."""
    data = _correlate(x.data, weight.data, None if bias is None else bias.data, window, groups)
    parents = (x, weight) if bias is None else (x, weight, bias)
    return create_node(data, correlate_backward, parents, {"window": window, "groups": groups})


def transposed_convolution(x: Tensor, weight: Tensor, bias: Tensor | None, window: Window, groups: int) -> Tensor:
    """Return the transposed convolution of ``x`` with ``weight``, plus a bias for each channel, as one node."""
    data = _correlate_input(x.data, weight.data, None if bias is None else bias.data, window, groups)
    parents = (x, weight) if bias is None else (x, weight, bias)
    return create_node(data, correlate_input_backward, parents, {"window": window, "groups": groups})
