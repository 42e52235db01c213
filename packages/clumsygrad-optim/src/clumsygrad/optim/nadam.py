"""NAdam."""

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


class NAdam(ElementwiseOptimizer):
    r"""NAdam: Adam with Nesterov's look-ahead.

    .. math::
        \mu_t = \beta_1 (1 - \tfrac12\, 0.96^{t \psi}), \qquad
        m \leftarrow \beta_1 m + (1 - \beta_1)\, g, \qquad
        v \leftarrow \beta_2 v + (1 - \beta_2)\, g^2,

    .. math::
        \theta \leftarrow \theta - \eta\, \Big(
        \frac{\mu_{t+1}\, m}{1 - \prod_{i \le t+1} \mu_i} + \frac{(1 - \mu_t)\, g}{1 - \prod_{i \le t} \mu_i}
        \Big) \Big/ \Big(\sqrt{v / (1 - \beta_2^t)} + \epsilon\Big)

    where :math:`g` is the gradient plus ``weight_decay`` times the parameter, and t counts the steps of the parameter.

    Args:
        params: the parameters or groups of them.
        lr: the learning rate η.
        betas: β₁ and β₂, how much of each estimate is kept in a step.
        eps: ε, added to the denominator.
        weight_decay: the factor of an L2 penalty.
        momentum_decay: ψ.
        decoupled_weight_decay: shrink the parameter by ``lr * weight_decay`` of itself instead of adding a penalty to
            the gradient.
        maximize: climb instead of descending.

    Raises:
        TypeError: for an argument of the wrong type.
        ValueError: for one out of its range.

    Example:
        >>> from clumsygrad.core import parameter
        >>> from clumsygrad.optim import NAdam
        >>> w = parameter([1.0, -2.0])
        >>> optimizer = NAdam([w], lr=0.1)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> w.data.round(4)
        array([ 0.8944, -1.8944], dtype=float32)

    References:
        Dozat, "Incorporating Nesterov Momentum into Adam", 2016.
    """

    rules: ClassVar[Mapping[str, Rule]] = {
        "lr": non_negative,
        "betas": fractions,
        "eps": non_negative,
        "weight_decay": non_negative,
        "momentum_decay": non_negative,
        "decoupled_weight_decay": flag,
        "maximize": flag,
    }
    buffers: ClassVar[tuple[str, ...]] = ("exp_avg", "exp_avg_sq")
    numbers: ClassVar[tuple[str, ...]] = ("mu_product",)
    scratch: ClassVar[int] = 3

    def __init__(
        self,
        params: ParamsLike,
        lr: float = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
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
                "momentum_decay": momentum_decay,
                "decoupled_weight_decay": decoupled_weight_decay,
                "maximize": maximize,
            },
        )

    def _coefficients(self, group: ParamGroup, clock: Clock) -> Coefficients:
        beta1, beta2 = group["betas"]
        lr, decay, step = group["lr"], group["weight_decay"], clock.step
        decoupled = group["decoupled_weight_decay"]
        momentum, ahead = (beta1 * (1 - 0.5 * 0.96 ** (t * group["momentum_decay"])) for t in (step, step + 1))
        product = clock.numbers.get("mu_product", 1.0) * momentum
        clock.numbers["mu_product"] = product
        # As in Adam, the bias correction of v is moved out of the denominator.
        root = math.sqrt(1 - beta2**step)
        return (
            beta1,
            1 - beta1,
            beta2,
            1 - beta2,
            root * group["eps"],
            root * lr * (1 - momentum) / (1 - product),
            root * lr * ahead / (1 - product * ahead),
            0.0 if decoupled else decay,
            decoupled,
            1 - lr * decay,
            group["maximize"],
        )

    def _update(self, coefficients: Coefficients, data: Array, grad: Array, buffers: Arrays, scratch: Arrays) -> None:
        keep1, take1, keep2, take2, eps, of_grad, of_mean, penalty, shrinks, shrink, maximize = coefficients
        mean, square = buffers
        change, other = scratch[0], scratch[1]
        grad = penalize(grad, data, penalty, maximize, scratch[2])
        if shrinks:
            data *= shrink
        np.multiply(grad, take1, out=change)
        mean *= keep1
        mean += change
        np.multiply(grad, grad, out=change)
        change *= take2
        square *= keep2
        square += change
        np.multiply(grad, of_grad, out=change)
        np.multiply(mean, of_mean, out=other)
        change += other
        np.sqrt(square, out=other)
        other += eps
        change /= other
        data -= change
