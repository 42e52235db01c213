"""Convolution through matrix products, and the two operations that are its gradients.

A convolution is linear in the input and in the kernel. So are its gradients, and the gradients of those are the same
three operations again: each has a rule in terms of the other two, and derivatives of any order follow.

The windows of a few samples at a time are laid out as the columns of a matrix, small enough to stay in the cache, and
one product with the kernel's matrix makes the output of these samples. Nothing of it is kept for the backward pass.
"""

from __future__ import annotations

import math

import numpy as np

from clumsygrad.core import Array, GradFn, GradientTuple, Tensor, create_node

from .recording import is_recorded, record
from .window import Window, inner, padded, patches, taps

# The columns of so many bytes are made at a time: about what a core's second-level cache holds beside other data.
_BLOCK_BYTES = 1 << 19


def _samples_at_a_time(rows: int, columns: int, itemsize: int) -> int:
    return max(1, _BLOCK_BYTES // max(1, rows * columns * itemsize))


def _as_matrices(kernel: Array, groups: int) -> Array:
    """Return a kernel (O, C/groups, *K) as a stack of matrices (groups, O/groups, C/groups * K)."""
    return kernel.reshape(groups, kernel.shape[0] // groups, math.prod(kernel.shape[1:]))


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
    number, channels = x.shape[:2]
    outputs, positions = kernel.shape[0], math.prod(window.output)
    matrices = _as_matrices(kernel, groups)
    rows = matrices.shape[2]
    result = np.empty((number, groups, outputs // groups, positions), x.dtype)
    seen = patches(padded(x, window), window)
    step = min(_samples_at_a_time(groups * rows, positions, x.itemsize), max(1, number))
    block = np.empty((step, channels, *window.kernel, *window.output), x.dtype)
    columns = block.reshape(step, groups, rows, positions)
    for start in range(0, number, step):
        count = min(step, number - start)
        np.copyto(block[:count], seen[start : start + count])
        np.matmul(matrices, columns[:count], out=result[start : start + count])
    return result.reshape(number, outputs, *window.output)


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
    number, outputs = grad.shape[:2]
    channels, positions = kernel.shape[1] * groups, math.prod(window.output)
    matrices = _as_matrices(kernel, groups).swapaxes(1, 2)
    rows = matrices.shape[1]
    grads = grad.reshape(number, groups, outputs // groups, positions)
    result = np.zeros((number, channels, *window.padded), grad.dtype)
    keys = list(taps(window))
    step = min(_samples_at_a_time(groups * rows, positions, grad.itemsize), max(1, number))
    columns = np.empty((step, groups, rows, positions), grad.dtype)
    block = columns.reshape(step, channels, len(keys), *window.output)
    for start in range(0, number, step):
        count = min(step, number - start)
        np.matmul(matrices, grads[start : start + count], out=columns[:count])
        part = result[start : start + count]
        for index, key in enumerate(keys):
            part[key] += block[:count, :, index]
    return result[inner(window)]


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
    number, channels = x.shape[:2]
    outputs, positions = grad.shape[1], math.prod(window.output)
    grads = grad.reshape(number, groups, outputs // groups, positions)
    rows = channels // groups * math.prod(window.kernel)
    result = np.zeros((groups, outputs // groups, rows), x.dtype)
    seen = patches(padded(x, window), window)
    step = min(_samples_at_a_time(groups * rows, positions, x.itemsize), max(1, number))
    block = np.empty((step, channels, *window.kernel, *window.output), x.dtype)
    columns = block.reshape(step, groups, rows, positions).swapaxes(2, 3)
    for start in range(0, number, step):
        count = min(step, number - start)
        np.copyto(block[:count], seen[start : start + count])
        result += np.matmul(grads[start : start + count], columns[:count]).sum(axis=0)
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
    data = correlate(x.data, weight.data, window, groups)
    return _with_bias(data, correlate_backward, x, weight, bias, window, groups)


def transposed_convolution(x: Tensor, weight: Tensor, bias: Tensor | None, window: Window, groups: int) -> Tensor:
    """Return the transposed convolution of ``x`` with ``weight``, plus a bias for each channel, as one node."""
    data = correlate_input(x.data, weight.data, window, groups)
    return _with_bias(data, correlate_input_backward, x, weight, bias, window, groups)


def _with_bias(
    data: Array, backward: GradFn, x: Tensor, weight: Tensor, bias: Tensor | None, window: Window, groups: int
) -> Tensor:
    parents: tuple[Tensor, ...] = (x, weight)
    if bias is not None:
        data += bias.data.reshape(-1, *(1,) * (data.ndim - 2))
        parents = (x, weight, bias)
    return create_node(data, backward, parents, {"window": window, "groups": groups})
