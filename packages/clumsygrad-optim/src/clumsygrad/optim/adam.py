"""Adam and its variant with decoupled weight decay."""

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


class Adam(ElementwiseOptimizer):
    r"""Adam: steps scaled by running estimates of the gradient's mean and uncentred variance.

    .. math::
        m \leftarrow \beta_1 m + (1 - \beta_1)\, g, \qquad
        v \leftarrow \beta_2 v + (1 - \beta_2)\, g^2, \qquad
        \theta \leftarrow \theta - \eta\,
        \frac{m / (1 - \beta_1^t)}{\sqrt{v / (1 - \beta_2^t)} + \epsilon}

    where :math:`g` is the gradient plus ``weight_decay`` times the parameter, and t counts the steps of the parameter.

    Args:
        params: the parameters or groups of them.
        lr: the learning rate η.
        betas: β₁ and β₂, how much of each estimate is kept in a step.
        eps: ε, added to the denominator.
        weight_decay: the factor of an L2 penalty.
        amsgrad: divide by the largest v so far instead of the present one.
        maximize: climb instead of descending.
        decoupled_weight_decay: shrink the parameter by ``lr * weight_decay`` of itself instead of adding a penalty to
            the gradient, which makes it :class:`AdamW`.

    Raises:
        TypeError: for an argument of the wrong type.
        ValueError: for one out of its range.

    Example:
        >>> from clumsygrad.core import parameter
        >>> from clumsygrad.optim import Adam
        >>> w = parameter([1.0, -2.0])
        >>> optimizer = Adam([w], lr=0.1)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> w.data.round(4)
        array([ 0.9, -1.9], dtype=float32)

    References:
        Kingma and Ba, "Adam: A Method for Stochastic Optimization", 2015, Algorithm 1; Reddi et al., "On the
        Convergence of Adam and Beyond", 2018, for amsgrad, with the bias correction that PyTorch adds to it.
    """

    rules: ClassVar[Mapping[str, Rule]] = {
        "lr": non_negative,
        "betas": fractions,
        "eps": non_negative,
        "weight_decay": non_negative,
        "amsgrad": flag,
        "maximize": flag,
        "decoupled_weight_decay": flag,
    }
    scratch: ClassVar[int] = 2

    def __init__(
        self,
        params: ParamsLike,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        decoupled_weight_decay: bool = False,
    ) -> None:
        super().__init__(
            params,
            {
                "lr": lr,
                "betas": betas,
                "eps": eps,
                "weight_decay": weight_decay,
                "amsgrad": amsgrad,
                "maximize": maximize,
                "decoupled_weight_decay": decoupled_weight_decay,
            },
        )

    def _buffer_names(self, group: ParamGroup) -> tuple[str, ...]:
        return ("exp_avg", "exp_avg_sq", "max_exp_avg_sq") if group["amsgrad"] else ("exp_avg", "exp_avg_sq")

    def _coefficients(self, group: ParamGroup, clock: Clock) -> Coefficients:
        beta1, beta2 = group["betas"]
        lr, decay, step = group["lr"], group["weight_decay"], clock.step
        decoupled = group["decoupled_weight_decay"]
        # With r² = 1 - β₂ᵗ the step is lr / (1 - β₁ᵗ) · m / (√v / r + ε) = r · lr / (1 - β₁ᵗ) · m / (√v + r · ε).
        root = math.sqrt(1 - beta2**step)
        return (
            beta1,
            1 - beta1,
            beta2,
            math.sqrt(1 - beta2) / (1 - beta1),
            root * group["eps"],
            root * lr / (1 - beta1**step),
            0.0 if decoupled else decay,
            decoupled,
            1 - lr * decay,
            group["maximize"],
        )

    def _update(self, coefficients: Coefficients, data: Array, grad: Array, buffers: Arrays, scratch: Arrays) -> None:
        keep1, take1, keep2, ratio, eps, size, penalty, shrinks, shrink, maximize = coefficients
        mean, square, *largest = buffers
        change = scratch[0]
        grad = penalize(grad, data, penalty, maximize, scratch[1])
        if shrinks:
            data *= shrink
        np.multiply(grad, take1, out=change)
        mean *= keep1
        mean += change
        # Now change is √(1 - β₂) g, whose square enters v.
        change *= ratio
        change *= change
        square *= keep2
        square += change
        np.sqrt(np.maximum(largest[0], square, out=largest[0]) if largest else square, out=change)
        change += eps
        np.divide(mean, change, out=change)
        change *= size
        data -= change


class AdamW(Adam):
    r"""Adam with decoupled weight decay: the parameter shrinks by ``lr * weight_decay`` of itself in each step.

    The arguments are those of :class:`Adam`, where ``weight_decay`` is that decay.

    Example:
        >>> from clumsygrad.core import parameter
        >>> from clumsygrad.optim import AdamW
        >>> w = parameter([1.0])
        >>> optimizer = AdamW([w], lr=0.1, weight_decay=0.5)
        >>> (w * 0).sum().backward()
        >>> optimizer.step()
        >>> w.data.round(4)
        array([0.95], dtype=float32)

    References:
        Loshchilov and Hutter, "Decoupled Weight Decay Regularization", 2019. As in PyTorch, the decay is multiplied by
        the learning rate.
    """

    def __init__(
        self,
        params: ParamsLike,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize=maximize, decoupled_weight_decay=True)
