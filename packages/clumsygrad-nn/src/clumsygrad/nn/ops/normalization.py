"""Normalisation to mean 0 and variance 1, with the scale and shift that follow, as one node."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from clumsygrad.core import Array, GradientTuple, Shape, Tensor, create_node, unbroadcast


@dataclass(frozen=True, slots=True)
class Layout:
    """How a normalisation looks at its input."""

    stacked: Shape
    """The shape in which the elements that are normalised together have axes of their own."""

    axes: tuple[int, ...]
    """Those axes."""

    affine: Shape
    """The shape in which the scale and the shift are broadcast against the input."""


def standardize(x: Array, axes: tuple[int, ...], eps: float, centered: bool) -> tuple[Array, Array]:
    """Return ``(x - mean) / sqrt(var + eps)`` over ``axes``, and the divisor's reciprocal.

    The variance is that of the centred values, so that a large common offset doesn't cancel its digits. When not
    ``centered`` the mean counts as 0.
    """
    if centered:
        x = x - x.mean(axis=axes, keepdims=True)
    inverse = ((x * x).mean(axis=axes, keepdims=True) + eps) ** -0.5
    return x * inverse, inverse


def normalize(
    x: Tensor, weight: Tensor | None, bias: Tensor | None, layout: Layout, eps: float, *, centered: bool = True
) -> Tensor:
    """Return ``x`` normalised, times ``weight``, plus ``bias``."""
    values = x.data
    result = standardize(values.reshape(layout.stacked), layout.axes, eps, centered)[0].reshape(values.shape)
    parents = [x]
    if weight is not None:
        result *= weight.data.reshape(layout.affine)
        parents.append(weight)
    if bias is not None:
        result += bias.data.reshape(layout.affine)
        parents.append(bias)
    extra = {"layout": layout, "eps": eps, "centered": centered, "scaled": weight is not None}
    return create_node(result, normalize_backward, tuple(parents), extra)


def normalize_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``r * (g - mean(g) - y * mean(g * y))`` for the normalised y, the divisor's reciprocal r and ``g = grad * w``.

    What was normalised is computed again from the input rather than kept.
    """
    x, *affine = tensor.parents
    layout: Layout = tensor.extra["layout"]
    centered: bool = tensor.extra["centered"]
    scaled: bool = tensor.extra["scaled"]
    weight = affine[0] if scaled else None
    grads: list[Array | None] = [None]
    if x.requires_grad or (weight is not None and weight.requires_grad):
        normal, inverse = standardize(x.data.reshape(layout.stacked), layout.axes, tensor.extra["eps"], centered)
        if x.requires_grad:
            inner = (grad if weight is None else grad * weight.data.reshape(layout.affine)).reshape(layout.stacked)
            slope = inner - normal * (inner * normal).mean(axis=layout.axes, keepdims=True)
            if centered:
                slope = slope - inner.mean(axis=layout.axes, keepdims=True)
            grads[0] = (slope * inverse).reshape(x.shape)
        if weight is not None:
            by_weight = grad * normal.reshape(x.shape) if weight.requires_grad else None
            grads.append(None if by_weight is None else unbroadcast(by_weight, layout.affine).reshape(weight.shape))
    elif weight is not None:
        grads.append(None)
    grads.extend(
        unbroadcast(grad, layout.affine).reshape(bias.shape) if bias.requires_grad else None
        for bias in (affine[1:] if scaled else affine)
    )
    return tuple(grads)


def moments(x: Array, axes: tuple[int, ...]) -> tuple[Array, Array]:
    """Return the mean and the variance (with n - 1 as the divisor) over ``axes``."""
    mean = x.mean(axis=axes)
    if x.size == mean.size:
        return mean, np.full_like(mean, np.nan)
    return mean, x.var(axis=axes, ddof=1)
