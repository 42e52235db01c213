"""Convolutions and transposed convolutions over one, two and three spatial axes."""

from __future__ import annotations

import math
from typing import ClassVar, Literal, TypeAlias

import numpy as np
from numpy.random import Generator

from clumsygrad.core import Shape, Tensor, TensorLike, as_tensor

from .. import init
from ..module import Module, Parameter
from ..ops.conv import convolution, transposed_convolution
from ..ops.window import Sizes, Window, expand, slide
from .padding import PaddingMode, pad_spatial

Padding: TypeAlias = Sizes | Literal["same", "valid"]
"""How much is added on both sides of every axis: numbers, ``"valid"`` for nothing, ``"same"`` to keep the lengths."""


def conv1d(
    input: TensorLike,
    weight: TensorLike,
    bias: TensorLike | None = None,
    stride: Sizes = 1,
    padding: Padding = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """Return the convolution of sequences with kernels; see :func:`conv2d`.

    Args:
        input: shape (N, C, L), or (C, L) for a single sample.
        weight: shape (O, C / groups, K).
        bias: shape (O,), or None.
        stride: the steps from one output to the next.
        padding: zeros on both sides, or "same" or "valid".
        dilation: the steps from one element of the kernel to the next.
        groups: into how many independent parts the channels are divided.

    Returns:
        Shape (N, O, L').

    Raises:
        ValueError: when the shapes don't match.

    Example:
        >>> from clumsygrad.nn.functional import conv1d
        >>> conv1d([[[1.0, 2.0, 3.0]]], [[[1.0, -1.0]]]).tolist()
        [[[-1.0, -1.0]]]
    """
    return _conv(1, input, weight, bias, stride, padding, dilation, groups)


def conv2d(
    input: TensorLike,
    weight: TensorLike,
    bias: TensorLike | None = None,
    stride: Sizes = 1,
    padding: Padding = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    r"""Return the convolution of images with kernels, as one node.

    .. math:: y_{n o i j} = b_o + \sum_{c k l} w_{o c k l}\, x_{n c,\, s i + d k - p,\, s j + d l - p}

    Args:
        input: shape (N, C, H, W), or (C, H, W) for a single sample.
        weight: shape (O, C / groups, K, L).
        bias: shape (O,), or None.
        stride: s, one number or one for each axis.
        padding: p zeros on both sides of an axis, or "same" or "valid".
        dilation: d, the steps from one element of the kernel to the next.
        groups: into how many independent parts the channels are divided.

    Returns:
        Shape (N, O, H', W') with ``H' = (H + 2p - d(K - 1) - 1) // s + 1``.

    Raises:
        ValueError: when the shapes don't match.

    Example:
        >>> import numpy as np
        >>> from clumsygrad.nn.functional import conv2d
        >>> conv2d(np.ones((1, 1, 3, 3)), np.ones((1, 1, 2, 2)), stride=1, padding=0).tolist()
        [[[[4.0, 4.0], [4.0, 4.0]]]]
    """
    return _conv(2, input, weight, bias, stride, padding, dilation, groups)


def conv3d(
    input: TensorLike,
    weight: TensorLike,
    bias: TensorLike | None = None,
    stride: Sizes = 1,
    padding: Padding = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """Return the convolution of volumes (N, C, D, H, W) with kernels (O, C / groups, K, L, M); see :func:`conv2d`.

    Example:
        >>> import numpy as np
        >>> from clumsygrad.nn.functional import conv3d
        >>> conv3d(np.ones((1, 1, 3, 3, 3)), np.ones((2, 1, 2, 2, 2))).shape
        (1, 2, 2, 2, 2)
    """
    return _conv(3, input, weight, bias, stride, padding, dilation, groups)


def conv_transpose1d(
    input: TensorLike,
    weight: TensorLike,
    bias: TensorLike | None = None,
    stride: Sizes = 1,
    padding: Sizes = 0,
    output_padding: Sizes = 0,
    groups: int = 1,
    dilation: Sizes = 1,
) -> Tensor:
    """Return the transposed convolution of sequences (N, C, L); see :func:`conv_transpose2d`.

    Example:
        >>> from clumsygrad.nn.functional import conv_transpose1d
        >>> conv_transpose1d([[[1.0, 2.0]]], [[[1.0, 10.0]]], stride=2).tolist()
        [[[1.0, 10.0, 2.0, 20.0]]]
    """
    return _conv_transpose(1, input, weight, bias, stride, padding, output_padding, groups, dilation)


def conv_transpose2d(
    input: TensorLike,
    weight: TensorLike,
    bias: TensorLike | None = None,
    stride: Sizes = 1,
    padding: Sizes = 0,
    output_padding: Sizes = 0,
    groups: int = 1,
    dilation: Sizes = 1,
) -> Tensor:
    """Return the transposed convolution of images: what a convolution of these settings does to a gradient.

    Args:
        input: shape (N, C, H, W), or (C, H, W) for a single sample.
        weight: shape (C, O / groups, K, L).
        bias: shape (O,), or None.
        stride: the steps between the places where neighbouring inputs are put.
        padding: what is cut off on both sides of the result.
        output_padding: what is added to the result's far side, to choose among the sizes that a strided convolution
            would have mapped to the input's.
        groups: into how many independent parts the channels are divided.
        dilation: the steps from one element of the kernel to the next.

    Returns:
        Shape (N, O, H', W') with ``H' = (H - 1)s - 2p + d(K - 1) + output_padding + 1``.

    Raises:
        ValueError: when the shapes don't match, or output_padding is not smaller than the stride or the dilation.

    Example:
        >>> import numpy as np
        >>> from clumsygrad.nn.functional import conv_transpose2d
        >>> conv_transpose2d(np.ones((1, 3, 4, 4)), np.ones((3, 2, 2, 2)), stride=2).shape
        (1, 2, 8, 8)
    """
    return _conv_transpose(2, input, weight, bias, stride, padding, output_padding, groups, dilation)


def _conv(
    ndim: int,
    input_: TensorLike,
    weight: TensorLike,
    bias: TensorLike | None,
    stride: Sizes,
    padding: Padding,
    dilation: Sizes,
    groups: int,
) -> Tensor:
    x, kernel = as_tensor(input_), as_tensor(weight)
    name = f"conv{ndim}d"
    single = _check(name, ndim, x, kernel)
    channels = x.shape[-ndim - 1]
    if groups < 1 or channels != kernel.shape[1] * groups or kernel.shape[0] % groups:
        raise ValueError(
            f"{name}'s weight has shape (O, C / groups, ...), with O and C multiples of groups; received weight "
            f"{kernel.shape} and groups={groups} for an input of C = {channels} channels"
        )
    shift = _check_bias(name, bias, kernel.shape[0])
    strides = expand("stride", stride, ndim, minimum=1)
    dilations = expand("dilation", dilation, ndim, minimum=1)
    before, after = _both_sides(padding, kernel.shape[2:], strides, dilations)
    if single:
        x = x.reshape(1, *x.shape)
    result = convolution(
        x, kernel, shift, slide(x.shape[2:], kernel.shape[2:], strides, dilations, before, after), groups
    )
    return result.reshape(result.shape[1:]) if single else result


def _conv_transpose(
    ndim: int,
    input_: TensorLike,
    weight: TensorLike,
    bias: TensorLike | None,
    stride: Sizes,
    padding: Sizes,
    output_padding: Sizes,
    groups: int,
    dilation: Sizes,
) -> Tensor:
    x, kernel = as_tensor(input_), as_tensor(weight)
    name = f"conv_transpose{ndim}d"
    single = _check(name, ndim, x, kernel)
    channels = x.shape[-ndim - 1]
    if groups < 1 or channels != kernel.shape[0] or channels % groups:
        raise ValueError(
            f"{name}'s weight has shape (C, O / groups, ...), with C a multiple of groups; received weight "
            f"{kernel.shape} and groups={groups} for an input of C = {channels} channels"
        )
    shift = _check_bias(name, bias, kernel.shape[1] * groups)
    strides = expand("stride", stride, ndim, minimum=1)
    paddings = expand("padding", padding, ndim, minimum=0)
    dilations = expand("dilation", dilation, ndim, minimum=1)
    more = expand("output_padding", output_padding, ndim, minimum=0)
    if any(extra >= max(step, gap) for extra, step, gap in zip(more, strides, dilations, strict=True)):
        raise ValueError(
            f"output_padding is smaller than the stride or the dilation; received {output_padding} with stride "
            f"{stride} and dilation {dilation}"
        )
    if single:
        x = x.reshape(1, *x.shape)
    lengths, size = x.shape[2:], kernel.shape[2:]
    whole = tuple((lengths[i] - 1) * strides[i] + dilations[i] * (size[i] - 1) + 1 + more[i] for i in range(ndim))
    cut = tuple(whole[i] - 2 * paddings[i] for i in range(ndim))
    if min(cut) < 1:
        raise ValueError(
            f"{name} would cut off more than there is: an uncut result of {whole} with padding {padding}. "
            "Use less padding"
        )
    window = Window(cut, size, strides, dilations, paddings, paddings, lengths)
    result = transposed_convolution(x, kernel, shift, window, groups)
    return result.reshape(result.shape[1:]) if single else result


def _check(name: str, ndim: int, x: Tensor, kernel: Tensor) -> bool:
    """Raise for wrong ranks; tell whether the input is a single sample."""
    axes = {1: "L", 2: "H, W", 3: "D, H, W"}[ndim]
    if x.ndim not in {ndim + 1, ndim + 2}:
        raise ValueError(f"{name} takes an input of shape (N, C, {axes}) or (C, {axes}); received {x.shape}")
    if kernel.ndim != ndim + 2 or 0 in kernel.shape:
        raise ValueError(
            f"{name} takes a weight of {ndim + 2} axes, channels and then the kernel, none of them empty; "
            f"received {kernel.shape}"
        )
    return x.ndim == ndim + 1


def _check_bias(name: str, bias: TensorLike | None, channels: int) -> Tensor | None:
    if bias is None:
        return None
    shift = as_tensor(bias)
    if shift.shape != (channels,):
        raise ValueError(f"{name}'s bias has one value for each of {channels} output channels; received {shift.shape}")
    return shift


def _both_sides(padding: Padding, kernel: Shape, stride: Shape, dilation: Shape) -> tuple[Shape, Shape]:
    if padding == "valid":
        return (0,) * len(kernel), (0,) * len(kernel)
    if isinstance(padding, str):
        if padding != "same":
            raise ValueError(f"padding is a number for each axis, 'same' or 'valid'; received {padding!r}")
        if any(step != 1 for step in stride):
            raise ValueError(f"padding='same' keeps the lengths, which takes stride 1; received stride {stride}")
        total = tuple(gap * (length - 1) for gap, length in zip(dilation, kernel, strict=True))
        before = tuple(length // 2 for length in total)
        return before, tuple(length - front for length, front in zip(total, before, strict=True))
    sides = expand("padding", padding, len(kernel), minimum=0)
    return sides, sides


class _Convolution(Module):
    """What the convolutions of any number of axes share: settings, parameters and their initial values."""

    _ndim: ClassVar[int]
    _transposed: ClassVar[bool] = False

    in_channels: int
    out_channels: int
    kernel_size: Shape
    stride: Shape
    padding: Shape | Literal["same", "valid"]
    dilation: Shape
    groups: int
    padding_mode: PaddingMode
    weight: Tensor
    bias: Tensor | None

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes,
        padding: Padding,
        dilation: Sizes,
        groups: int,
        bias: bool,
        padding_mode: PaddingMode,
        rng: Generator | None,
    ) -> None:
        super().__init__()
        if groups < 1 or in_channels % groups or out_channels % groups:
            raise ValueError(
                f"in_channels and out_channels are multiples of groups; received {in_channels}, {out_channels} and "
                f"groups={groups}"
            )
        if padding_mode not in {"zeros", "reflect", "replicate", "circular"}:
            raise ValueError(
                f"padding_mode is 'zeros', 'reflect', 'replicate' or 'circular'; received {padding_mode!r}"
            )
        ndim = self._ndim
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = expand("kernel_size", kernel_size, ndim, minimum=1)
        self.stride = expand("stride", stride, ndim, minimum=1)
        self.dilation = expand("dilation", dilation, ndim, minimum=1)
        self.padding = padding if isinstance(padding, str) else expand("padding", padding, ndim, minimum=0)
        self.groups = groups
        self.padding_mode = padding_mode
        if not self._transposed:
            _both_sides(padding, self.kernel_size, self.stride, self.dilation)
        channels = (in_channels, out_channels // groups) if self._transposed else (out_channels, in_channels // groups)
        self.weight = Parameter(np.empty((*channels, *self.kernel_size)))
        self.register_parameter("bias", Parameter(np.empty(out_channels)) if bias else None)
        self.reset_parameters(rng=rng)

    def reset_parameters(self, *, rng: Generator | None = None) -> None:
        """Draw the initial values anew, from the uniform distribution on ±1/sqrt(fan_in)."""
        fan_in = math.prod(self.weight.shape[1:])
        bound = 1 / math.sqrt(fan_in) if fan_in else 0.0
        init.uniform_(self.weight, -bound, bound, rng=rng)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound, rng=rng)

    def _convolve(self, x: TensorLike) -> Tensor:
        if self.padding_mode == "zeros":
            return _conv(self._ndim, x, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups)
        x = as_tensor(x)
        if x.ndim not in {self._ndim + 1, self._ndim + 2}:
            raise ValueError(
                f"{type(self).__name__} takes an input of {self._ndim + 2} axes, or {self._ndim + 1} for a single "
                f"sample; received {x.shape}"
            )
        before, after = _both_sides(self.padding, self.kernel_size, self.stride, self.dilation)
        x = pad_spatial(x, before, after, self.padding_mode)
        return _conv(self._ndim, x, self.weight, self.bias, self.stride, 0, self.dilation, self.groups)

    def extra_repr(self) -> str:
        """Return the settings that differ from the defaults."""
        parts = [
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}",
            f"padding={self.padding!r}" if self.padding != (0,) * self._ndim else "",
            f"dilation={self.dilation}" if self.dilation != (1,) * self._ndim else "",
            f"groups={self.groups}" if self.groups != 1 else "",
            "bias=False" if self.bias is None else "",
            f"padding_mode={self.padding_mode!r}" if self.padding_mode != "zeros" else "",
        ]
        return ", ".join(part for part in parts if part)


class Conv1d(_Convolution):
    """The convolution of sequences with learned kernels: :func:`~clumsygrad.nn.functional.conv1d`.

    Args:
        in_channels: C.
        out_channels: O.
        kernel_size: the kernel's lengths; a single number stands for all axes, here and below.
        stride: the steps from one output to the next.
        padding: what is added on both sides, or "same" or "valid".
        dilation: the steps from one element of the kernel to the next.
        groups: into how many independent parts the channels are divided.
        bias: whether a number is added to each output channel.
        padding_mode: "zeros", "reflect", "replicate" or "circular".
        rng: what draws the initial values; the default generator when None.

    Shapes:
        x (N, C, L) to (N, O, L'); ``weight`` (O, C / groups, *kernel_size), ``bias`` (O,),
        both drawn from the uniform distribution on ±1/sqrt(C / groups * prod(kernel_size)).

    Example:
        >>> from clumsygrad.core import zeros
        >>> from clumsygrad.nn import Conv1d
        >>> Conv1d(3, 4, kernel_size=3)(zeros((2, 3, 9))).shape
        (2, 4, 7)
    """

    _ndim = 1

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Padding = 0,
        dilation: Sizes = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: PaddingMode = "zeros",
        *,
        rng: Generator | None = None,
    ) -> None:
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode, rng
        )

    def forward(self, x: TensorLike) -> Tensor:
        """Return the convolution of ``x``."""
        return self._convolve(x)


class Conv2d(_Convolution):
    """The convolution of images with learned kernels: :func:`~clumsygrad.nn.functional.conv2d`.

    Args:
        in_channels: C.
        out_channels: O.
        kernel_size: the kernel's lengths; a single number stands for all axes, here and below.
        stride: the steps from one output to the next.
        padding: what is added on both sides, or "same" or "valid".
        dilation: the steps from one element of the kernel to the next.
        groups: into how many independent parts the channels are divided.
        bias: whether a number is added to each output channel.
        padding_mode: "zeros", "reflect", "replicate" or "circular".
        rng: what draws the initial values; the default generator when None.

    Shapes:
        x (N, C, H, W) to (N, O, H', W'); ``weight`` (O, C / groups, *kernel_size), ``bias`` (O,),
        both drawn from the uniform distribution on ±1/sqrt(C / groups * prod(kernel_size)).

    Example:
        >>> from clumsygrad.core import zeros
        >>> from clumsygrad.nn import Conv2d
        >>> Conv2d(3, 4, kernel_size=3)(zeros((2, 3, 9, 9))).shape
        (2, 4, 7, 7)
    """

    _ndim = 2

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Padding = 0,
        dilation: Sizes = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: PaddingMode = "zeros",
        *,
        rng: Generator | None = None,
    ) -> None:
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode, rng
        )

    def forward(self, x: TensorLike) -> Tensor:
        """Return the convolution of ``x``."""
        return self._convolve(x)


class Conv3d(_Convolution):
    """The convolution of volumes with learned kernels: :func:`~clumsygrad.nn.functional.conv3d`.

    Args:
        in_channels: C.
        out_channels: O.
        kernel_size: the kernel's lengths; a single number stands for all axes, here and below.
        stride: the steps from one output to the next.
        padding: what is added on both sides, or "same" or "valid".
        dilation: the steps from one element of the kernel to the next.
        groups: into how many independent parts the channels are divided.
        bias: whether a number is added to each output channel.
        padding_mode: "zeros", "reflect", "replicate" or "circular".
        rng: what draws the initial values; the default generator when None.

    Shapes:
        x (N, C, D, H, W) to (N, O, D', H', W'); ``weight`` (O, C / groups, *kernel_size), ``bias`` (O,),
        both drawn from the uniform distribution on ±1/sqrt(C / groups * prod(kernel_size)).

    Example:
        >>> from clumsygrad.core import zeros
        >>> from clumsygrad.nn import Conv3d
        >>> Conv3d(3, 4, kernel_size=3)(zeros((2, 3, 5, 5, 5))).shape
        (2, 4, 3, 3, 3)
    """

    _ndim = 3

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Padding = 0,
        dilation: Sizes = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: PaddingMode = "zeros",
        *,
        rng: Generator | None = None,
    ) -> None:
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode, rng
        )

    def forward(self, x: TensorLike) -> Tensor:
        """Return the convolution of ``x``."""
        return self._convolve(x)


class ConvTranspose1d(_Convolution):
    """The transposed convolution of sequences: :func:`~clumsygrad.nn.functional.conv_transpose1d`.

    Args:
        in_channels: C.
        out_channels: O.
        kernel_size: the kernel's lengths; a single number stands for all axes, here and below.
        stride: the steps between the places where neighbouring inputs are put.
        padding: what is cut off on both sides of the result.
        output_padding: what is added to the result's far side.
        groups: into how many independent parts the channels are divided.
        bias: whether a number is added to each output channel.
        dilation: the steps from one element of the kernel to the next.
        rng: what draws the initial values; the default generator when None.

    Shapes:
        x (N, C, L) to (N, O, L'); ``weight`` (C, O / groups, *kernel_size), ``bias`` (O,).

    Example:
        >>> from clumsygrad.core import zeros
        >>> from clumsygrad.nn import ConvTranspose1d
        >>> ConvTranspose1d(4, 3, kernel_size=3)(zeros((2, 4, 7))).shape
        (2, 3, 9)
    """

    _ndim = 1
    _transposed = True

    output_padding: Shape

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Sizes = 0,
        output_padding: Sizes = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Sizes = 1,
        *,
        rng: Generator | None = None,
    ) -> None:
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, "zeros", rng)
        self.output_padding = expand("output_padding", output_padding, self._ndim, minimum=0)

    def forward(self, x: TensorLike) -> Tensor:
        """Return the transposed convolution of ``x``."""
        padding = self.padding
        if isinstance(padding, str):
            raise ValueError(f"a transposed convolution takes numbers for its padding; received {padding!r}")
        return conv_transpose1d(
            x, self.weight, self.bias, self.stride, padding, self.output_padding, self.groups, self.dilation
        )


class ConvTranspose2d(_Convolution):
    """The transposed convolution of images: :func:`~clumsygrad.nn.functional.conv_transpose2d`.

    Args:
        in_channels: C.
        out_channels: O.
        kernel_size: the kernel's lengths; a single number stands for all axes, here and below.
        stride: the steps between the places where neighbouring inputs are put.
        padding: what is cut off on both sides of the result.
        output_padding: what is added to the result's far side.
        groups: into how many independent parts the channels are divided.
        bias: whether a number is added to each output channel.
        dilation: the steps from one element of the kernel to the next.
        rng: what draws the initial values; the default generator when None.

    Shapes:
        x (N, C, H, W) to (N, O, H', W'); ``weight`` (C, O / groups, *kernel_size), ``bias`` (O,).

    Example:
        >>> from clumsygrad.core import zeros
        >>> from clumsygrad.nn import ConvTranspose2d
        >>> ConvTranspose2d(4, 3, kernel_size=3)(zeros((2, 4, 7, 7))).shape
        (2, 3, 9, 9)
    """

    _ndim = 2
    _transposed = True

    output_padding: Shape

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Sizes = 0,
        output_padding: Sizes = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Sizes = 1,
        *,
        rng: Generator | None = None,
    ) -> None:
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, "zeros", rng)
        self.output_padding = expand("output_padding", output_padding, self._ndim, minimum=0)

    def forward(self, x: TensorLike) -> Tensor:
        """Return the transposed convolution of ``x``."""
        padding = self.padding
        if isinstance(padding, str):
            raise ValueError(f"a transposed convolution takes numbers for its padding; received {padding!r}")
        return conv_transpose2d(
            x, self.weight, self.bias, self.stride, padding, self.output_padding, self.groups, self.dilation
        )
