"""Normalisation layers: over the batch, over features, over groups of channels, over each instance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from clumsygrad.core import Array, Shape, Tensor, TensorLike, as_tensor, mark_updated, ones, zeros

from ..module import Module, Parameter
from ..ops.normalization import Layout, moments, normalize


def layer_norm(
    input: TensorLike,
    normalized_shape: int | Sequence[int],
    weight: TensorLike | None = None,
    bias: TensorLike | None = None,
    eps: float = 1e-5,
) -> Tensor:
    r"""Return each vector over the last axes, normalised to mean 0 and variance 1, as one node.

    .. math:: y = \frac{x - \mathrm{mean}(x)}{\sqrt{\mathrm{var}(x) + \epsilon}} w + b

    Args:
        input: shape (..., *normalized_shape).
        normalized_shape: the lengths of the last axes, over which the mean and the variance are taken.
        weight: shape normalized_shape, or None.
        bias: shape normalized_shape, or None.
        eps: what keeps the divisor from 0.

    Raises:
        ValueError: when the shapes don't match.

    References:
        Ba, Kiros, Hinton 2016, "Layer Normalization".

    Example:
        >>> from clumsygrad.nn.functional import layer_norm
        >>> layer_norm([1.0, 3.0], 2).data.round(3).tolist()
        [-1.0, 1.0]
    """
    x, shape = _last_axes("layer_norm", input, normalized_shape)
    layout = Layout(x.shape, tuple(range(x.ndim - len(shape), x.ndim)), shape)
    return normalize(
        x, _affine("layer_norm's weight", weight, shape), _affine("layer_norm's bias", bias, shape), layout, eps
    )


def rms_norm(
    input: TensorLike,
    normalized_shape: int | Sequence[int],
    weight: TensorLike | None = None,
    eps: float | None = None,
) -> Tensor:
    r"""Return each vector over the last axes divided by its root mean square, as one node.

    .. math:: y = \frac{x}{\sqrt{\mathrm{mean}(x^2) + \epsilon}} w

    Args:
        input: shape (..., *normalized_shape).
        normalized_shape: the lengths of the last axes, over which the mean is taken.
        weight: shape normalized_shape, or None.
        eps: what keeps the divisor from 0; the spacing of the numbers at 1 when None.

    References:
        Zhang, Sennrich 2019, "Root Mean Square Layer Normalization".

    Example:
        >>> from clumsygrad.nn.functional import rms_norm
        >>> rms_norm([3.0, 3.0], 2).data.round(3).tolist()
        [1.0, 1.0]
    """
    x, shape = _last_axes("rms_norm", input, normalized_shape)
    layout = Layout(x.shape, tuple(range(x.ndim - len(shape), x.ndim)), shape)
    eps = float(np.finfo(x.dtype).eps) if eps is None else eps
    return normalize(x, _affine("rms_norm's weight", weight, shape), None, layout, eps, centered=False)


def group_norm(
    input: TensorLike,
    num_groups: int,
    weight: TensorLike | None = None,
    bias: TensorLike | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Return each sample's groups of channels normalised to mean 0 and variance 1, as one node.

    Args:
        input: shape (N, C, ...).
        num_groups: into how many groups the C channels are divided, each with all its positions.
        weight: shape (C,), or None.
        bias: shape (C,), or None.
        eps: what keeps the divisor from 0.

    Raises:
        ValueError: when the shapes don't match, or C is no multiple of num_groups.

    References:
        Wu, He 2018, "Group Normalization".

    Example:
        >>> import numpy as np
        >>> from clumsygrad.nn.functional import group_norm
        >>> group_norm(np.arange(4.0).reshape(1, 4), 2).data.round(3).tolist()
        [[-1.0, 1.0, -1.0, 1.0]]
    """
    x = as_tensor(input)
    if x.ndim < 2 or num_groups < 1 or x.shape[1] % num_groups:
        raise ValueError(
            "group_norm takes an input of shape (N, C, ...), with C a multiple of num_groups; received "
            f"{x.shape} and num_groups={num_groups}"
        )
    channels = (x.shape[1],)
    within = (x.shape[1] // num_groups, *x.shape[2:])
    layout = Layout(
        (x.shape[0], num_groups, *within), tuple(range(2, 2 + len(within))), (*channels, *(1,) * (x.ndim - 2))
    )
    return normalize(
        x, _affine("group_norm's weight", weight, channels), _affine("group_norm's bias", bias, channels), layout, eps
    )


def batch_norm(
    input: TensorLike,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: TensorLike | None = None,
    bias: TensorLike | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    r"""Return each channel normalised by the mean and variance of the batch, or by the running ones.

    In training the statistics are those of the batch, the variance with n as its divisor, and the running ones, when
    there are any, are updated in place: ``running = (1 - momentum) * running + momentum * new``, the new variance with
    n - 1 as its divisor. A batch without elements leaves them alone.

    Args:
        input: shape (N, C, ...).
        running_mean: shape (C,); None when none is kept.
        running_var: shape (C,); None when none is kept.
        weight: shape (C,), or None.
        bias: shape (C,), or None.
        training: whether to use, and to keep account of, the batch's own statistics.
        momentum: the weight of the new statistics in the running ones.
        eps: what keeps the divisor from 0.

    Raises:
        ValueError: when the shapes don't match; in training, for a single value per channel; otherwise when there are
            no running statistics.

    References:
        Ioffe, Szegedy 2015, "Batch Normalization".

    Example:
        >>> from clumsygrad.nn.functional import batch_norm
        >>> batch_norm([[1.0], [3.0]], None, None, training=True).data.round(3).tolist()
        [[-1.0], [1.0]]
    """
    x = as_tensor(input)
    if x.ndim < 2:
        raise ValueError(f"batch_norm takes an input of shape (N, C, ...); received {x.shape}")
    channels = (x.shape[1],)
    scale, shift = _affine("batch_norm's weight", weight, channels), _affine("batch_norm's bias", bias, channels)
    spread = (*channels, *(1,) * (x.ndim - 2))
    if training:
        if not x.size:
            return _plain_affine(x, scale, shift, spread)
        if x.size == x.shape[1]:
            raise ValueError(
                f"a batch's variance takes more than one value for each channel; received {x.shape}. Use a larger "
                "batch, or evaluation mode"
            )
        axes = (0, *range(2, x.ndim))
        if running_mean is not None and running_var is not None:
            mean, variance = moments(x.data, axes)
            _update(running_mean, mean, momentum)
            _update(running_var, variance, momentum)
        return normalize(x, scale, shift, Layout(x.shape, axes, spread), eps)
    if running_mean is None or running_var is None:
        raise ValueError("batch_norm outside training needs running_mean and running_var; received None")
    if running_mean.shape != channels or running_var.shape != channels:
        raise ValueError(
            f"running statistics have one value for each of {channels[0]} channels; received {running_mean.shape} and "
            f"{running_var.shape}"
        )
    centered = x - running_mean.data.reshape(spread)
    return _plain_affine(centered * ((running_var.data + eps) ** -0.5).reshape(spread), scale, shift, spread)


def instance_norm(
    input: TensorLike,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: TensorLike | None = None,
    bias: TensorLike | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Return each channel of each sample normalised over its positions, as one node.

    Args:
        input: shape (N, C, L) or (N, C, H, W).
        running_mean: shape (C,), updated with the mean over the batch; None when none is kept.
        running_var: shape (C,), updated likewise; None when none is kept.
        weight: shape (C,), or None.
        bias: shape (C,), or None.
        use_input_stats: False to normalise by the running statistics, as :func:`batch_norm` does.
        momentum: the weight of the new statistics in the running ones.
        eps: what keeps the divisor from 0.

    Raises:
        ValueError: when the shapes don't match, or a channel has a single position.

    References:
        Ulyanov, Vedaldi, Lempitsky 2016, "Instance Normalization".

    Example:
        >>> from clumsygrad.nn.functional import instance_norm
        >>> instance_norm([[[1.0, 3.0]]]).data.round(3).tolist()
        [[[-1.0, 1.0]]]
    """
    if not use_input_stats:
        return batch_norm(input, running_mean, running_var, weight, bias, False, momentum, eps)
    x = as_tensor(input)
    if x.ndim < 3:
        raise ValueError(f"instance_norm takes an input of shape (N, C, ...) with positions; received {x.shape}")
    channels = (x.shape[1],)
    axes = tuple(range(2, x.ndim))
    if x.size and x.size == x.shape[0] * x.shape[1]:
        raise ValueError(f"an instance's variance takes more than one position; received {x.shape}")
    if running_mean is not None and running_var is not None and x.size:
        mean, variance = moments(x.data, axes)
        _update(running_mean, mean.mean(axis=0), momentum)
        _update(running_var, variance.mean(axis=0), momentum)
    layout = Layout(x.shape, axes, (*channels, *(1,) * len(axes)))
    scale, shift = _affine("instance_norm's weight", weight, channels), _affine("instance_norm's bias", bias, channels)
    return normalize(x, scale, shift, layout, eps)


def _last_axes(name: str, input_: TensorLike, normalized_shape: int | Sequence[int]) -> tuple[Tensor, Shape]:
    x, shape = as_tensor(input_), _as_shape(normalized_shape)
    if not shape or x.shape[-len(shape) :] != shape:
        raise ValueError(
            f"{name} normalises over the last axes, of shape {shape} here; received an input of shape {x.shape}"
        )
    return x, shape


def _as_shape(normalized_shape: int | Sequence[int]) -> Shape:
    if isinstance(normalized_shape, (int, np.integer)):
        return (int(normalized_shape),)
    return tuple(int(length) for length in normalized_shape)


def _affine(name: str, value: TensorLike | None, shape: Shape) -> Tensor | None:
    if value is None:
        return None
    result = as_tensor(value)
    if result.shape != shape:
        raise ValueError(f"{name} has shape {shape}; received {result.shape}")
    return result


def _plain_affine(x: Tensor, weight: Tensor | None, bias: Tensor | None, shape: Shape) -> Tensor:
    if weight is not None:
        x = x * weight.reshape(shape)
    return x if bias is None else x + bias.reshape(shape)


def _update(running: Tensor, new: Array, momentum: float) -> None:
    if running.shape != new.shape:
        raise ValueError(f"running statistics have one value for each of {new.size} channels; received {running.shape}")
    running.data *= 1 - momentum
    running.data += momentum * new
    mark_updated((running,))


class LayerNorm(Module):
    """Normalises each vector over the last axes: :func:`~clumsygrad.nn.functional.layer_norm`.

    Args:
        normalized_shape: the lengths of the last axes.
        eps: what keeps the divisor from 0.
        elementwise_affine: whether there are a weight and a bias, of shape normalized_shape, from 1 and 0.
        bias: whether there is a bias beside the weight.

    Example:
        >>> from clumsygrad.core import zeros
        >>> from clumsygrad.nn import LayerNorm
        >>> LayerNorm(4)(zeros((2, 3, 4))).shape
        (2, 3, 4)
    """

    normalized_shape: Shape
    eps: float
    elementwise_affine: bool
    weight: Tensor | None
    bias: Tensor | None

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.normalized_shape = _as_shape(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        shape = self.normalized_shape
        self.register_parameter("weight", Parameter(np.ones(shape)) if elementwise_affine else None)
        self.register_parameter("bias", Parameter(np.zeros(shape)) if elementwise_affine and bias else None)

    def forward(self, x: TensorLike) -> Tensor:
        """Return ``x`` normalised over its last axes."""
        return layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """Return the settings."""
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class RMSNorm(Module):
    """Divides each vector over the last axes by its root mean square: :func:`~clumsygrad.nn.functional.rms_norm`.

    Args:
        normalized_shape: the lengths of the last axes.
        eps: what keeps the divisor from 0; the spacing of the numbers at 1 when None.
        elementwise_affine: whether there is a weight, of shape normalized_shape, from 1.

    Example:
        >>> from clumsygrad.core import zeros
        >>> from clumsygrad.nn import RMSNorm
        >>> RMSNorm(4)(zeros((2, 4))).shape
        (2, 4)
    """

    normalized_shape: Shape
    eps: float | None
    elementwise_affine: bool
    weight: Tensor | None

    def __init__(
        self, normalized_shape: int | Sequence[int], eps: float | None = None, elementwise_affine: bool = True
    ) -> None:
        super().__init__()
        self.normalized_shape = _as_shape(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        self.register_parameter("weight", Parameter(np.ones(self.normalized_shape)) if elementwise_affine else None)

    def forward(self, x: TensorLike) -> Tensor:
        """Return ``x`` divided by its root mean square."""
        return rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        """Return the settings."""
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class GroupNorm(Module):
    """Normalises groups of channels of each sample: :func:`~clumsygrad.nn.functional.group_norm`.

    Args:
        num_groups: into how many groups the channels are divided.
        num_channels: the length of the input's second axis.
        eps: what keeps the divisor from 0.
        affine: whether there are a weight and a bias for each channel, from 1 and 0.

    Raises:
        ValueError: when num_channels is no multiple of num_groups.

    Example:
        >>> from clumsygrad.core import zeros
        >>> from clumsygrad.nn import GroupNorm
        >>> GroupNorm(2, 6)(zeros((1, 6, 5))).shape
        (1, 6, 5)
    """

    num_groups: int
    num_channels: int
    eps: float
    affine: bool
    weight: Tensor | None
    bias: Tensor | None

    def __init__(self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True) -> None:
        super().__init__()
        if num_groups < 1 or num_channels % num_groups:
            raise ValueError(f"num_channels is a multiple of num_groups; received {num_channels} and {num_groups}")
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self.affine = affine
        self.register_parameter("weight", Parameter(np.ones(num_channels)) if affine else None)
        self.register_parameter("bias", Parameter(np.zeros(num_channels)) if affine else None)

    def forward(self, x: TensorLike) -> Tensor:
        """Return ``x`` with each group of its channels normalised."""
        x = as_tensor(x)
        _check_channels(self, x, self.num_channels, None)
        return group_norm(x, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """Return the settings."""
        return f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}"


def _check_channels(module: Module, x: Tensor, channels: int, ranks: tuple[int, ...] | None) -> None:
    if (x.ndim < 2 if ranks is None else x.ndim not in ranks) or x.shape[1] != channels:
        allowed = "at least 2" if ranks is None else " or ".join(str(rank) for rank in ranks)
        raise ValueError(
            f"{type(module).__name__} takes an input of {allowed} axes, of which the second has its {channels} "
            f"channels; received {x.shape}"
        )


class _RunningNorm(Module):
    """What the layers with running statistics share: settings, parameters and buffers."""

    _ranks: ClassVar[tuple[int, ...]]

    num_features: int
    eps: float
    momentum: float | None
    affine: bool
    track_running_stats: bool
    weight: Tensor | None
    bias: Tensor | None
    running_mean: Tensor | None
    running_var: Tensor | None
    num_batches_tracked: Array | None

    def __init__(
        self, num_features: int, eps: float, momentum: float | None, affine: bool, track_running_stats: bool
    ) -> None:
        super().__init__()
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        self.register_parameter("weight", Parameter(np.ones(num_features)) if affine else None)
        self.register_parameter("bias", Parameter(np.zeros(num_features)) if affine else None)
        self.register_buffer("running_mean", zeros(num_features) if track_running_stats else None)
        self.register_buffer("running_var", ones(num_features) if track_running_stats else None)
        self.register_buffer("num_batches_tracked", np.array(0, np.int64) if track_running_stats else None)

    def reset_running_stats(self) -> None:
        """Set the running mean to 0, the running variance to 1, and forget how many batches there were."""
        if self.running_mean is None or self.running_var is None or self.num_batches_tracked is None:
            return
        self.running_mean.data.fill(0)
        self.running_var.data.fill(1)
        self.num_batches_tracked.fill(0)
        mark_updated((self.running_mean, self.running_var))

    def _count_batch(self) -> float:
        """Count one more batch, and return the weight of its statistics; None for momentum makes a plain average."""
        if self.num_batches_tracked is None:
            return 0.0 if self.momentum is None else self.momentum
        self.num_batches_tracked += 1
        return 1 / float(self.num_batches_tracked) if self.momentum is None else self.momentum

    def extra_repr(self) -> str:
        """Return the settings."""
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"track_running_stats={self.track_running_stats}"
        )


class _BatchNorm(_RunningNorm):
    """What batch normalisation of any rank shares."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats)

    def forward(self, x: TensorLike) -> Tensor:
        """Return ``x`` with each channel normalised."""
        x = as_tensor(x)
        _check_channels(self, x, self.num_features, self._ranks)
        batch_statistics = self.training or self.running_mean is None
        momentum = self._count_batch() if self.training and x.size else 0.0
        return batch_norm(
            x, self.running_mean, self.running_var, self.weight, self.bias, batch_statistics, momentum, self.eps
        )


class BatchNorm1d(_BatchNorm):
    """Normalises each channel by the batch's mean and variance: :func:`~clumsygrad.nn.functional.batch_norm`.

    In evaluation mode the running statistics are used instead, which start at mean 0 and variance 1.

    Args:
        num_features: the number of channels C.
        eps: what keeps the divisor from 0.
        momentum: the weight of a batch's statistics in the running ones; None for a plain average of all batches.
        affine: whether there are a weight and a bias for each channel, from 1 and 0.
        track_running_stats: whether there are running statistics.

    Shapes:
        x (N, C) or (N, C, L); ``weight``, ``bias``, ``running_mean`` and ``running_var`` (C,).

    Example:
        >>> from clumsygrad.nn import BatchNorm1d
        >>> BatchNorm1d(1)([[1.0], [3.0]]).data.round(3).tolist()
        [[-1.0], [1.0]]
    """

    _ranks = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Normalises each channel of images (N, C, H, W) by the batch's statistics: see :class:`BatchNorm1d`.

    Example:
        >>> from clumsygrad.core import zeros
        >>> from clumsygrad.nn import BatchNorm2d
        >>> BatchNorm2d(3)(zeros((2, 3, 4, 4))).shape
        (2, 3, 4, 4)
    """

    _ranks = (4,)


class _InstanceNorm(_RunningNorm):
    """What instance normalisation of any rank shares."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats)

    def forward(self, x: TensorLike) -> Tensor:
        """Return ``x`` with each channel of each sample normalised."""
        x = as_tensor(x)
        single = x.ndim == self._ranks[0] - 1
        if single:
            x = x.reshape(1, *x.shape)
        _check_channels(self, x, self.num_features, self._ranks)
        own_statistics = self.training or self.running_mean is None
        momentum = 0.1 if self.momentum is None else self.momentum
        result = instance_norm(
            x, self.running_mean, self.running_var, self.weight, self.bias, own_statistics, momentum, self.eps
        )
        return result.reshape(result.shape[1:]) if single else result


class InstanceNorm1d(_InstanceNorm):
    """Normalises each channel of each sequence: :func:`~clumsygrad.nn.functional.instance_norm`.

    Args:
        num_features: the number of channels C.
        eps: what keeps the divisor from 0.
        momentum: the weight of new statistics in the running ones.
        affine: whether there are a weight and a bias for each channel, from 1 and 0.
        track_running_stats: whether there are running statistics, which evaluation mode uses.

    Shapes:
        x (N, C, L), or (C, L) for a single sample.

    Example:
        >>> from clumsygrad.nn import InstanceNorm1d
        >>> InstanceNorm1d(1)([[[1.0, 3.0]]]).data.round(3).tolist()
        [[[-1.0, 1.0]]]
    """

    _ranks = (3,)


class InstanceNorm2d(_InstanceNorm):
    """Normalises each channel of each image (N, C, H, W): see :class:`InstanceNorm1d`.

    Example:
        >>> from clumsygrad.core import zeros
        >>> from clumsygrad.nn import InstanceNorm2d
        >>> InstanceNorm2d(3)(zeros((2, 3, 4, 4))).shape
        (2, 3, 4, 4)
    """

    _ranks = (4,)
