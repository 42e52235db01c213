"""Windows that slide over the spatial axes of an array: the geometry that convolution and pooling share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

import numpy as np
from numpy.lib.stride_tricks import as_strided

from clumsygrad.core import Array, Shape

Sizes: TypeAlias = int | Sequence[int]
"""One number for all spatial axes, or one for each."""


@dataclass(frozen=True, slots=True)
class Window:
    """Where a kernel is put on an input; every field has one number for each spatial axis."""

    size: Shape
    kernel: Shape
    stride: Shape
    dilation: Shape
    before: Shape
    after: Shape
    output: Shape

    @property
    def padded(self) -> Shape:
        """The input's lengths with the padding."""
        return tuple(
            before + size + after for before, size, after in zip(self.before, self.size, self.after, strict=True)
        )


def expand(name: str, value: Sizes, ndim: int, *, minimum: int) -> Shape:
    """Return ``value`` as one integer for each of ``ndim`` axes; ValueError when it doesn't fit or is too small."""
    if isinstance(value, (int, np.integer)):
        sizes = (int(value),) * ndim
    else:
        sizes = tuple(int(size) for size in value)
        if len(sizes) == 1:
            sizes *= ndim
    if len(sizes) != ndim or min(sizes) < minimum:
        raise ValueError(
            f"{name} is an integer of at least {minimum}, or {ndim} of them, one for each spatial axis; "
            f"received {value!r}"
        )
    return sizes


def slide(
    size: Shape, kernel: Shape, stride: Shape, dilation: Shape, before: Shape, after: Shape, *, ceil_mode: bool = False
) -> Window:
    """Return the window that fits into the padded input as often as it can.

    Args:
        size: the input's lengths.
        kernel: the window's lengths, in elements.
        stride: the steps from one position to the next.
        dilation: the steps from one element of the window to the next.
        before: what is added in front of the input.
        after: what is added behind it.
        ceil_mode: also take a last position that only begins within the input, or in the padding in front.

    Raises:
        ValueError: when the window is larger than the padded input.
    """
    output: list[int] = []
    end: list[int] = []
    for axis in range(len(size)):
        reach = dilation[axis] * (kernel[axis] - 1) + 1
        room = before[axis] + size[axis] + after[axis] - reach
        if room < 0 and not (ceil_mode and room + stride[axis] > 0):
            raise ValueError(
                f"the window is larger than the input: it spans {reach} elements of an axis of {size[axis]} with "
                f"padding {before[axis]} and {after[axis]}. Use a smaller kernel or more padding"
            )
        positions = room // stride[axis] + 1
        if ceil_mode:
            positions = -(-room // stride[axis]) + 1
            if (positions - 1) * stride[axis] >= size[axis] + before[axis]:
                positions -= 1
        output.append(positions)
        needed = (positions - 1) * stride[axis] + reach - before[axis] - size[axis]
        end.append(max(after[axis], needed))
    return Window(size, kernel, stride, dilation, before, tuple(end), tuple(output))


def padded(x: Array, window: Window, value: float = 0.0) -> Array:
    """Return ``x`` with ``value`` around its spatial axes; ``x`` itself when there is no padding."""
    if not any(window.before) and not any(window.after):
        return x
    result = (
        np.full((*x.shape[:2], *window.padded), value, x.dtype)
        if value
        else np.zeros((*x.shape[:2], *window.padded), x.dtype)
    )
    result[inner(window)] = x
    return result


def inner(window: Window) -> tuple[slice, ...]:
    """Return the key of the input within the padded one."""
    return (
        slice(None),
        slice(None),
        *(slice(before, before + size) for before, size in zip(window.before, window.size, strict=True)),
    )


def taps(window: Window) -> Iterator[tuple[slice, ...]]:
    """Yield, for each element of the kernel, the key of what it meets in the padded input at all positions."""
    for offsets in product(*(range(length) for length in window.kernel)):
        yield (
            slice(None),
            slice(None),
            *(
                slice(offset * dilation, offset * dilation + (positions - 1) * stride + 1, stride)
                for offset, dilation, positions, stride in zip(
                    offsets, window.dilation, window.output, window.stride, strict=True
                )
            ),
        )


def patches(padded_input: Array, window: Window) -> Array:
    """Return a view of shape (N, C, *kernel, *output): what every position of the window sees."""
    steps = padded_input.strides[2:]
    return as_strided(
        padded_input,
        (*padded_input.shape[:2], *window.kernel, *window.output),
        (
            *padded_input.strides[:2],
            *(step * dilation for step, dilation in zip(steps, window.dilation, strict=True)),
            *(step * stride for step, stride in zip(steps, window.stride, strict=True)),
        ),
        writeable=False,
    )
