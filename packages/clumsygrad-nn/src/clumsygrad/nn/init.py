"""Initial values, with PyTorch's functions and rules.

Each function writes into the tensor that it is given, a leaf, and returns it. What is random takes ``rng``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from numpy.random import Generator

from clumsygrad.core import Tensor, TensorLike, mark_updated

from ._random import generator

__all__ = [
    "calculate_gain",
    "constant_",
    "dirac_",
    "eye_",
    "kaiming_normal_",
    "kaiming_uniform_",
    "normal_",
    "ones_",
    "orthogonal_",
    "sparse_",
    "trunc_normal_",
    "uniform_",
    "xavier_normal_",
    "xavier_uniform_",
    "zeros_",
]

FanMode: TypeAlias = Literal["fan_in", "fan_out"]
Nonlinearity: TypeAlias = Literal[
    "linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "sigmoid",
    "tanh", "relu", "leaky_relu", "selu",
]  # fmt: skip

_GAINS: dict[str, float] = {"tanh": 5 / 3, "relu": math.sqrt(2), "selu": 3 / 4}
_LINEAR = (
    "linear",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "sigmoid",
)


def _write(tensor: Tensor, values: TensorLike | npt.NDArray[Any]) -> Tensor:
    if not tensor.is_leaf:
        raise RuntimeError("initial values are for leaves; this tensor was computed. Initialise what it comes from")
    tensor.data[...] = values
    mark_updated((tensor,))
    return tensor


def calculate_gain(nonlinearity: Nonlinearity, param: float | None = None) -> float:
    """Return the gain by which a nonlinearity's inputs are scaled to keep their variance.

    Args:
        nonlinearity: ``"linear"``, ``"sigmoid"``, ``"tanh"``, ``"relu"``, ``"leaky_relu"``, ``"selu"``, or a
            convolution.
        param: the slope of ``leaky_relu``, 0.01 by default.

    Raises:
        ValueError: for another name.

    Example:
        >>> from clumsygrad.nn import init
        >>> round(init.calculate_gain("relu"), 4)
        1.4142
    """
    if nonlinearity in _LINEAR:
        return 1.0
    if nonlinearity == "leaky_relu":
        return math.sqrt(2 / (1 + (0.01 if param is None else param) ** 2))
    if nonlinearity not in _GAINS:
        raise ValueError(
            f"nonlinearity is one of {', '.join((*_LINEAR, 'leaky_relu', *_GAINS))}; received {nonlinearity!r}"
        )
    return _GAINS[nonlinearity]


def _fans(tensor: Tensor) -> tuple[int, int]:
    """Return how many inputs each output has and how many outputs each input has.

    The second axis of a weight is what one group reads, so that grouped convolutions need no word of their own.
    """
    if tensor.ndim < 2:
        raise ValueError(
            f"fan in and fan out need a weight of at least two axes; received shape {tensor.shape}. Use uniform_ or "
            "zeros_ for a bias"
        )
    field = math.prod(tensor.shape[2:])
    return tensor.shape[1] * field, tensor.shape[0] * field


def _fan(tensor: Tensor, mode: FanMode) -> int:
    fan_in, fan_out = _fans(tensor)
    if mode not in {"fan_in", "fan_out"}:
        raise ValueError(f"mode is 'fan_in' or 'fan_out'; received {mode!r}")
    return fan_in if mode == "fan_in" else fan_out


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, *, rng: Generator | None = None) -> Tensor:
    """Fill from the uniform distribution on [a, b).

    Example:
        >>> from clumsygrad.core import zeros
        >>> from clumsygrad.nn import init
        >>> bool((init.uniform_(zeros(100), 2, 3) >= 2).all())
        True
    """
    return _write(tensor, generator(rng).uniform(a, b, tensor.shape))


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, *, rng: Generator | None = None) -> Tensor:
    """Fill from the normal distribution."""
    return _write(tensor, generator(rng).normal(mean, std, tensor.shape))


def trunc_normal_(
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    *,
    rng: Generator | None = None,
) -> Tensor:
    """Fill from the normal distribution within [a, b]: what falls outside is drawn again.

    When the bounds are far in one tail, which drawing again would hardly reach, it is drawn by rejection from the
    distribution that bounds the tail, after Robert (1995), "Simulation of truncated normal variables".
    """
    if not a <= b or std < 0:
        raise ValueError(f"trunc_normal_ needs a <= b and std >= 0; received a={a}, b={b}, std={std}")
    if std == 0:
        return _write(tensor, min(max(mean, a), b))
    low, high = (a - mean) / std, (b - mean) / std
    return _write(tensor, mean + std * _truncated(tensor.shape, low, high, generator(rng)))


def _truncated(shape: tuple[int, ...], low: float, high: float, rng: Generator) -> npt.NDArray[np.float64]:
    """Draw standard normal values within the bounds."""
    if high < 0:
        return -_truncated(shape, -high, -low, rng)
    size = math.prod(shape)
    values = np.empty(size)
    missing = np.arange(size)
    rate = (low + math.sqrt(low * low + 4)) / 2
    draw: Callable[[int], tuple[Any, Any]]
    if low > 0 and (high - low) * rate > 2:
        draw = partial(_draw_tail, rng, low, rate)
    elif high - low < 2:
        draw = partial(_draw_window, rng, low, high)
    else:
        draw = partial(_draw_normal, rng)
    while missing.size:
        drawn, chance = draw(missing.size)
        kept = (drawn >= low) & (drawn <= high) & (rng.random(missing.size) <= chance)
        values[missing[kept]] = drawn[kept]
        missing = missing[~kept]
    return values.reshape(shape)


# Proposals for a truncated normal distribution, each with the chance that it is kept if it lies within the bounds.


def _draw_normal(rng: Generator, count: int) -> tuple[Any, Any]:
    return rng.standard_normal(count), 1.0


def _draw_tail(rng: Generator, low: float, rate: float, count: int) -> tuple[Any, Any]:
    drawn = low + rng.exponential(1 / rate, count)
    return drawn, np.exp(-((drawn - rate) ** 2) / 2)


def _draw_window(rng: Generator, low: float, high: float, count: int) -> tuple[Any, Any]:
    drawn = rng.uniform(low, high, count)
    likeliest = max(low, 0.0)
    return drawn, np.exp((likeliest * likeliest - drawn * drawn) / 2)


def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fill with one value."""
    return _write(tensor, val)


def ones_(tensor: Tensor) -> Tensor:
    """Fill with ones."""
    return _write(tensor, 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """Fill with zeros."""
    return _write(tensor, 0.0)


def eye_(tensor: Tensor) -> Tensor:
    """Fill a matrix with the identity."""
    if tensor.ndim != 2:
        raise ValueError(f"eye_ fills a matrix; received shape {tensor.shape}. Use dirac_ for a convolution")
    return _write(tensor, np.eye(tensor.shape[0], tensor.shape[1]))


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """Fill the weight of a convolution so that it hands on its input, as many channels of each group as it can.

    Args:
        tensor: shape (out_channels, in_channels/groups, *kernel), with one to three axes of kernel.
        groups: the groups of the convolution.

    Example:
        >>> from clumsygrad.core import zeros
        >>> from clumsygrad.nn import init
        >>> init.dirac_(zeros((1, 1, 3))).tolist()
        [[[0.0, 1.0, 0.0]]]
    """
    shape = tensor.shape
    if not 3 <= len(shape) <= 5:
        raise ValueError(f"dirac_ fills the weight of a convolution, of three to five axes; received shape {shape}")
    if groups < 1 or shape[0] % groups:
        raise ValueError(f"out_channels has to be a multiple of groups; received {shape[0]} and {groups}")
    values = np.zeros(shape)
    outputs = shape[0] // groups
    centre = tuple(length // 2 for length in shape[2:])
    for group in range(groups):
        for channel in range(min(outputs, shape[1])):
            values[(group * outputs + channel, channel, *centre)] = 1
    return _write(tensor, values)


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, *, rng: Generator | None = None) -> Tensor:
    r"""Fill from the uniform distribution on :math:`\pm gain \sqrt{6 / (fan_{in} + fan_{out})}`.

    References:
        Glorot and Bengio (2010), "Understanding the difficulty of training deep feedforward neural networks".
    """
    bound = gain * math.sqrt(6 / max(sum(_fans(tensor)), 1))
    return uniform_(tensor, -bound, bound, rng=rng)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, *, rng: Generator | None = None) -> Tensor:
    r"""Fill from the normal distribution of standard deviation :math:`gain \sqrt{2 / (fan_{in} + fan_{out})}`.

    References:
        Glorot and Bengio (2010), "Understanding the difficulty of training deep feedforward neural networks".
    """
    return normal_(tensor, 0.0, gain * math.sqrt(2 / max(sum(_fans(tensor)), 1)), rng=rng)


def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0.0,
    mode: FanMode = "fan_in",
    nonlinearity: Nonlinearity = "leaky_relu",
    *,
    rng: Generator | None = None,
) -> Tensor:
    r"""Fill from the uniform distribution on :math:`\pm gain \sqrt{3 / fan}`.

    Args:
        tensor: the weight.
        a: the slope of the leaky ReLU that follows.
        mode: ``"fan_in"`` keeps the variance in the forward pass, ``"fan_out"`` in the backward pass.
        nonlinearity: what follows; see :func:`calculate_gain`.
        rng: what draws.

    References:
        He et al. (2015), "Delving deep into rectifiers".
    """
    bound = calculate_gain(nonlinearity, a) * math.sqrt(3 / max(_fan(tensor, mode), 1))
    return uniform_(tensor, -bound, bound, rng=rng)


def kaiming_normal_(
    tensor: Tensor,
    a: float = 0.0,
    mode: FanMode = "fan_in",
    nonlinearity: Nonlinearity = "leaky_relu",
    *,
    rng: Generator | None = None,
) -> Tensor:
    r"""Fill from the normal distribution of standard deviation :math:`gain / \sqrt{fan}`; see kaiming_uniform_.

    References:
        He et al. (2015), "Delving deep into rectifiers".
    """
    return normal_(tensor, 0.0, calculate_gain(nonlinearity, a) / math.sqrt(max(_fan(tensor, mode), 1)), rng=rng)


def orthogonal_(tensor: Tensor, gain: float = 1.0, *, rng: Generator | None = None) -> Tensor:
    """Fill with ``gain`` times a random matrix of orthonormal rows, or columns if those are fewer.

    Axes after the first count as one. The matrix is uniformly distributed over all such matrices.

    References:
        Saxe et al. (2014), "Exact solutions to the nonlinear dynamics of learning in deep linear neural networks".
    """
    if tensor.ndim < 2:
        raise ValueError(f"orthogonal_ needs at least two axes; received shape {tensor.shape}")
    rows, columns = tensor.shape[0], math.prod(tensor.shape[1:])
    drawn = generator(rng).standard_normal((max(rows, columns), min(rows, columns)))
    q, r = np.linalg.qr(drawn)
    # Without the signs of r's diagonal the distribution would depend on the algorithm of qr.
    q *= np.where(np.diagonal(r) < 0, -1.0, 1.0)
    return _write(tensor, gain * (q.T if rows < columns else q).reshape(tensor.shape))


def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, *, rng: Generator | None = None) -> Tensor:
    """Fill a matrix from the normal distribution, but for a share of zeros in each column.

    Args:
        tensor: the weight.
        sparsity: the share of zeros, rounded up.
        std: the standard deviation of the others.
        rng: what draws.

    References:
        Martens (2010), "Deep learning via Hessian-free optimization".
    """
    if tensor.ndim != 2:
        raise ValueError(f"sparse_ fills a matrix; received shape {tensor.shape}")
    draw = generator(rng)
    values = draw.normal(0.0, std, tensor.shape)
    zeros = math.ceil(sparsity * tensor.shape[0])
    order = draw.permuted(np.broadcast_to(np.arange(tensor.shape[0])[:, np.newaxis], tensor.shape), axis=0)
    np.put_along_axis(values, order[:zeros], 0.0, axis=0)
    return _write(tensor, values)
