"""Adamax."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from clumsygrad.core import Array

from .elementwise import Arrays, Coefficients, ElementwiseOptimizer, penalize
from .hyperparameter import Rule, flag, fractions, non_negative
from .optimizer import ParamGroup, ParamsLike
from .record import Clock


class Adamax(ElementwiseOptimizer):
    r"""Adamax: Adam with a decaying maximum of the gradient in place of its running root mean square.

    .. math::
        m \leftarrow \beta_1 m + (1 - \beta_1)\, g, \qquad
        u \leftarrow \max(\beta_2 u,\, |g| + \epsilon), \qquad
        \theta \leftarrow \theta - \frac{\eta}{1 - \beta_1^t}\, \frac{m}{u}

    where :math:`g` is the gradient plus ``weight_decay`` times the parameter, and t counts the steps of the parameter.

    Args:
        params: the parameters or groups of them.
        lr: the learning rate η.
        betas: β₁ and β₂, how much of each estimate is kept in a step.
        eps: ε, added to the gradient's magnitude.
        weight_decay: the factor of an L2 penalty.
        maximize: climb instead of descending.

    Raises:
        TypeError: for an argument of the wrong type.
        ValueError: for one out of its range.

    Example:
        >>> from clumsygrad.core import parameter
        >>> from clumsygrad.optim import Adamax
        >>> w = parameter([1.0, -2.0])
        >>> optimizer = Adamax([w], lr=0.1)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> w.data.round(4)
        array([ 0.9, -1.9], dtype=float32)

    References:
        Kingma and Ba, "Adam: A Method for Stochastic Optimization", 2015, Algorithm 2, with PyTorch's ε.
    """

    rules: ClassVar[Mapping[str, Rule]] = {
        "lr": non_negative,
        "betas": fractions,
        "eps": non_negative,
        "weight_decay": non_negative,
        "maximize": flag,
    }
    buffers: ClassVar[tuple[str, ...]] = ("exp_avg", "exp_inf")
    scratch: ClassVar[int] = 2

    def __init__(
        self,
        params: ParamsLike,
        lr: float = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
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
                "maximize": maximize,
            },
        )

    def _coefficients(self, group: ParamGroup, clock: Clock) -> Coefficients:
        beta1, beta2 = group["betas"]
        size = group["lr"] / (1 - beta1**clock.step)
        return beta1, 1 - beta1, beta2, group["eps"], size, group["weight_decay"], group["maximize"]

    def _update(self, coefficients: Coefficients, data: Array, grad: Array, buffers: Arrays, scratch: Arrays) -> None:
        keep, take, fade, eps, size, decay, maximize = coefficients
        mean, largest = buffers
        change = scratch[0]
        grad = penalize(grad, data, decay, maximize, scratch[1])
        np.multiply(grad, take, out=change)
        mean *= keep
        mean += change
        np.abs(grad, out=change)
        change += eps
        largest *= fade
        np.maximum(largest, change, out=largest)
        np.divide(mean, largest, out=change)
        change *= size
        data -= change
