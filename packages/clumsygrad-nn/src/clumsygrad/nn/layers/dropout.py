"""Layers that leave out a random part of their input while training."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numpy.random import Generator

from clumsygrad.core import Array, GradientTuple, Shape, Tensor, TensorLike, as_tensor, create_node

from .._random import generator
from ..module import Module


def dropout(input: TensorLike, p: float = 0.5, training: bool = True, *, rng: Generator | None = None) -> Tensor:
    r"""Set each element to 0 with probability p, and divide the others by :math:`1 - p`.

    Args:
        input: any shape.
        p: the probability, from 0 to 1.
        training: False returns the input as it is.
        rng: what draws; the default generator when None.

    Raises:
        ValueError: for a p outside of [0, 1].

    References:
        Srivastava et al. (2014), "Dropout: a simple way to prevent neural networks from overfitting". The scaling is
        done while training, so that evaluation changes nothing.

    Example:
        >>> from clumsygrad.nn.functional import dropout
        >>> dropout([1.0, 2.0], 0.5, training=False).tolist()
        [1.0, 2.0]
    """
    x = as_tensor(input)
    return _dropped(x, x.shape, p, training, rng)


def dropout1d(input: TensorLike, p: float = 0.5, training: bool = True, *, rng: Generator | None = None) -> Tensor:
    """Set whole channels of an input of shape (N, C, L) or (C, L) to 0; see :func:`dropout2d`."""
    return _channels_dropped("dropout1d", 1, input, p, training, rng)


def dropout2d(input: TensorLike, p: float = 0.5, training: bool = True, *, rng: Generator | None = None) -> Tensor:
    r"""Set each channel to 0 with probability p, and divide the others by :math:`1 - p`.

    Args:
        input: shape (N, C, H, W) or (C, H, W).
        p: the probability, from 0 to 1.
        training: False returns the input as it is.
        rng: what draws; the default generator when None.

    Raises:
        ValueError: for a p outside of [0, 1], and for an input of another rank.

    References:
        Tompson et al. (2015), "Efficient object localization using convolutional networks".

    Example:
        >>> from clumsygrad.nn.functional import dropout2d
        >>> dropout2d([[[[1.0, 2.0]]]], 1.0).tolist()
        [[[[0.0, 0.0]]]]
    """
    return _channels_dropped("dropout2d", 2, input, p, training, rng)


def dropout3d(input: TensorLike, p: float = 0.5, training: bool = True, *, rng: Generator | None = None) -> Tensor:
    """Set whole channels of an input of shape (N, C, D, H, W) or (C, D, H, W) to 0; see :func:`dropout2d`."""
    return _channels_dropped("dropout3d", 3, input, p, training, rng)


def _channels_dropped(
    name: str, dims: int, input: TensorLike, p: float, training: bool, rng: Generator | None
) -> Tensor:
    x = as_tensor(input)
    if x.ndim not in {dims + 1, dims + 2}:
        raise ValueError(
            f"{name} drops the channels of an input of {dims + 2} axes, or {dims + 1} without a batch; received shape "
            f"{x.shape}. Use dropout for single elements"
        )
    channels = x.shape[: x.ndim - dims]
    return _dropped(x, (*channels, *(1 for _ in range(dims))), p, training, rng)


def _dropped(x: Tensor, shape: Shape, p: float, training: bool, rng: Generator | None) -> Tensor:
    if not 0 <= p <= 1:
        raise ValueError(f"the probability of dropout lies between 0 and 1; received {p}")
    if not training or p == 0:
        return x
    kept = _draw_kept(shape, p, generator(rng))
    factor = 1 / (1 - p) if p < 1 else 0.0
    values = x.data
    # A product, as in PyTorch: what is infinite or NaN shows.
    return create_node(
        values * _factors(kept, factor, values), dropout_backward, (x,), {"kept": kept, "factor": factor}
    )


def _draw_kept(shape: Shape, p: float, rng: Generator) -> npt.NDArray[np.bool_]:
    """Return which elements stay. Float32 random numbers are exact enough, and twice as fast to draw."""
    return rng.random(shape, dtype=np.float32) >= p


def _factors(kept: npt.NDArray[np.bool_], factor: float, like: Array) -> Array:
    return np.multiply(kept, factor, dtype=like.dtype)


def dropout_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """The gradient of what stayed, scaled as it was."""
    return (grad * _factors(tensor.extra["kept"], tensor.extra["factor"], grad),)


class _Dropout(Module):
    """What the kinds of dropout share."""

    p: float
    rng: Generator | None

    def __init__(self, p: float = 0.5, *, rng: Generator | None = None) -> None:
        super().__init__()
        if not 0 <= p <= 1:
            raise ValueError(f"the probability of dropout lies between 0 and 1; received {p}")
        self.p = p
        self.rng = rng

    def extra_repr(self) -> str:
        """Return the probability."""
        return f"p={self.p}"


class Dropout(_Dropout):
    """The module of :func:`dropout`, which does nothing in evaluation mode.

    Args:
        p: the probability that an element is left out.
        rng: what draws; the default generator when None.

    Example:
        >>> from clumsygrad.nn import Dropout
        >>> Dropout(0.5).eval()([1.0, 2.0]).tolist()
        [1.0, 2.0]
    """

    def forward(self, input: TensorLike) -> Tensor:
        """Drop elements while training."""
        return dropout(input, self.p, self.training, rng=self.rng)


class Dropout1d(_Dropout):
    """The module of :func:`dropout1d`."""

    def forward(self, input: TensorLike) -> Tensor:
        """Drop channels while training."""
        return dropout1d(input, self.p, self.training, rng=self.rng)


class Dropout2d(_Dropout):
    """The module of :func:`dropout2d`."""

    def forward(self, input: TensorLike) -> Tensor:
        """Drop channels while training."""
        return dropout2d(input, self.p, self.training, rng=self.rng)


class Dropout3d(_Dropout):
    """The module of :func:`dropout3d`."""

    def forward(self, input: TensorLike) -> Tensor:
        """Drop channels while training."""
        return dropout3d(input, self.p, self.training, rng=self.rng)
