"""RAdam."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from clumsygrad.core import Array

from .elementwise import Arrays, Coefficients, ElementwiseOptimizer, penalize
from .hyperparameter import Rule, flag, fractions, non_negative
from .optimizer import ParamGroup, ParamsLike
from .record import Clock


class RAdam(ElementwiseOptimizer):
    r"""RAdam: Adam that only divides by the running root mean square once that is a reliable estimate.

    .. math::
        \rho_\infty = \frac{2}{1 - \beta_2} - 1, \qquad
        \rho_t = \rho_\infty - \frac{2 t \beta_2^t}{1 - \beta_2^t}, \qquad
        r_t = \sqrt{\frac{(\rho_t - 4)(\rho_t - 2)\rho_\infty}{(\rho_\infty - 4)(\rho_\infty - 2)\rho_t}}

    While :math:`\rho_t \le 5` the step is :math:`\eta\, m / (1 - \beta_1^t)`; from then on it is that times
    :math:`r_t \sqrt{1 - \beta_2^t} / (\sqrt{v} + \epsilon)`, with :math:`m` and :math:`v` as in :class:`Adam` and t the
    steps of the parameter.

    Args:
        params: the parameters or groups of them.
        lr: the learning rate η.
        betas: β₁ and β₂, how much of each estimate is kept in a step.
        eps: ε, added to the denominator.
        weight_decay: the factor of an L2 penalty.
        decoupled_weight_decay: shrink the parameter by ``lr * weight_decay`` of itself instead of adding a penalty to
            the gradient.
        maximize: climb instead of descending.

    Raises:
        TypeError: for an argument of the wrong type.
        ValueError: for one out of its range.

    Example:
        >>> from clumsygrad.core import parameter
        >>> from clumsygrad.optim import RAdam
        >>> w = parameter([1.0, -2.0])
        >>> optimizer = RAdam([w], lr=0.1)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> w.data.round(4)
        array([ 0.8, -1.6], dtype=float32)

    References:
        Liu et al., "On the Variance of the Adaptive Learning Rate and Beyond", 2020, with PyTorch's threshold of 5.
    """

    rules: ClassVar[Mapping[str, Rule]] = {
        "lr": non_negative,
        "betas": fractions,
        "eps": non_negative,
        "weight_decay": non_negative,
        "decoupled_weight_decay": flag,
        "maximize": flag,
    }
    buffers: ClassVar[tuple[str, ...]] = ("exp_avg", "exp_avg_sq")
    scratch: ClassVar[int] = 2

    def __init__(
        self,
        params: ParamsLike,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(
            params,
            {
                "lr": lr,
                "betas": betas,
                "eps": eps,
                "weight_decay": weight_decay,
                "decoupled_weight_decay": decoupled_weight_decay,
                "maximize": maximize,
            },
        )

    def _coefficients(self, group: ParamGroup, clock: Clock) -> Coefficients:
        beta1, beta2 = group["betas"]
        lr, decay, step = group["lr"], group["weight_decay"], clock.step
        decoupled = group["decoupled_weight_decay"]
        size = lr / (1 - beta1**step)
        left = beta2**step
        limit = 2 / (1 - beta2) - 1
        length = limit - 2 * step * left / (1 - left)
        rectified = length > 5
        if rectified:
            size *= math.sqrt((1 - left) * (length - 4) * (length - 2) * limit / ((limit - 4) * (limit - 2) * length))
        return (
            beta1,
            1 - beta1,
            beta2,
            1 - beta2,
            group["eps"],
            size,
            rectified,
            0.0 if decoupled else decay,
            decoupled,
            1 - lr * decay,
            group["maximize"],
        )

    def _update(self, coefficients: Coefficients, data: Array, grad: Array, buffers: Arrays, scratch: Arrays) -> None:
        keep1, take1, keep2, take2, eps, size, rectified, penalty, shrinks, shrink, maximize = coefficients
        mean, square = buffers
        change = scratch[0]
        grad = penalize(grad, data, penalty, maximize, scratch[1])
        if shrinks:
            data *= shrink
        np.multiply(grad, take1, out=change)
        mean *= keep1
        mean += change
        np.multiply(grad, grad, out=change)
        change *= take2
        square *= keep2
        square += change
        if rectified:
            np.sqrt(square, out=change)
            change += eps
            np.divide(mean, change, out=change)
            change *= size
        else:
            np.multiply(mean, size, out=change)
        data -= change
