"""Keeping gradients small."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Real

import numpy as np

from clumsygrad.core import Array, Tensor

from .hyperparameter import non_negative
from .writing import BLOCK, get_blocks, list_tensors


def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
) -> float:
    r"""Scale all gradients, in place, so that the norm of all of them together is at most ``max_norm``.

    .. math:: g \leftarrow g \cdot \min\Big(1,\, \frac{\text{max\_norm}}{\|g\|_p + 10^{-6}}\Big)

    Parameters without a gradient are passed over. As in PyTorch, an infinite norm makes finite gradients 0 and infinite
    ones NaN, and a norm that is NaN makes all of them NaN.

    Args:
        parameters: a Tensor or an iterable of them; one that is listed twice counts once.
        max_norm: the largest norm allowed; infinite just to measure.
        norm_type: the order p of the norm, which may be infinite.
        error_if_nonfinite: raise when the norm is infinite or NaN, before any gradient is changed.

    Returns:
        The norm before clipping; 0 when there are no gradients.

    Raises:
        TypeError: for an argument of the wrong type.
        ValueError: for a negative ``max_norm``, and a ``norm_type`` that is not positive.
        RuntimeError: for a norm that is not finite, with ``error_if_nonfinite``.

    Example:
        >>> from clumsygrad.core import parameter
        >>> from clumsygrad.optim import clip_grad_norm_
        >>> a, b = parameter(3.0), parameter(4.0)
        >>> ((a * a + b * b) / 2).backward()
        >>> clip_grad_norm_([a, b], max_norm=1.0)
        5.0
        >>> a.grad.round(4), b.grad.round(4)
        (np.float32(0.6), np.float32(0.8))
    """
    limit = math.inf if _is_infinite(max_norm) else non_negative("max_norm", max_norm)
    order = math.inf if _is_infinite(norm_type) else non_negative("norm_type", norm_type)
    if not order:
        raise ValueError("norm_type is greater than 0; received 0")
    grads = [grad for tensor in list_tensors(parameters) if (grad := tensor.grad) is not None]
    with np.errstate(all="ignore"):
        norm = _get_norm(grads, order)
        if error_if_nonfinite and not math.isfinite(norm):
            raise RuntimeError(
                f"the norm of the gradients is {norm}, by which they can't be scaled; look for what made it so, or "
                "pass error_if_nonfinite=False to go on"
            )
        factor = limit / (norm + 1e-6)
        if not factor >= 1:
            for grad in grads:
                np.multiply(grad, factor, out=grad)
    return norm


def clip_grad_value_(parameters: Tensor | Iterable[Tensor], clip_value: float) -> None:
    """Move every element of the gradients, in place, into the range from ``-clip_value`` to ``clip_value``.

    Args:
        parameters: a Tensor or an iterable of them; those without a gradient are passed over.
        clip_value: the largest magnitude allowed.

    Raises:
        TypeError: for an argument of the wrong type.
        ValueError: for a negative ``clip_value``.

    Example:
        >>> from clumsygrad.core import parameter
        >>> from clumsygrad.optim import clip_grad_value_
        >>> w = parameter([0.1, -3.0])
        >>> (w * w).sum().backward()
        >>> clip_grad_value_(w, 1.0)
        >>> w.grad
        array([ 0.2, -1. ], dtype=float32)
    """
    limit = non_negative("clip_value", clip_value)
    for tensor in list_tensors(parameters):
        grad = tensor.grad
        if grad is not None:
            np.clip(grad, -limit, limit, out=grad)


def _is_infinite(value: object) -> bool:
    return value == "inf" or (isinstance(value, Real) and float(value) == math.inf)


def _get_norm(grads: list[Array], order: float) -> float:
    """Return the norm of all elements together, without a temporary as large as a gradient."""
    blocks = [block for grad in grads for block in get_blocks(grad)]
    if order == 2:
        total = sum(float(block.dot(block)) for block in blocks)
        # In between, no square can have left the range of float32, nor lost digits at its lower end.
        if 1e-24 < total < 1e34 or not blocks:
            return math.sqrt(total)
    room = np.empty(BLOCK, np.float64)
    largest = 0.0
    for block in blocks:
        peak = float(np.abs(block, out=room[: block.size]).max())
        # NaN is larger than all.
        largest = peak if not peak <= largest else largest
        if math.isnan(largest):
            return largest
    if order == math.inf or not 0 < largest < math.inf:
        return largest
    total = 0.0
    for block in blocks:
        part = np.abs(block, out=room[: block.size])
        part /= largest
        total += float(np.power(part, order, out=part).sum())
    return largest * math.pow(total, 1 / order)
