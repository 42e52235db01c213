"""Lion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from clumsygrad.core import Array

from .elementwise import Arrays, Coefficients, ElementwiseOptimizer
from .hyperparameter import Rule, flag, fractions, non_negative
from .optimizer import ParamGroup, ParamsLike
from .record import Clock


class Lion(ElementwiseOptimizer):
    r"""Lion: steps of one size, in the direction of the sign of a momentum.

    .. math::
        \theta \leftarrow \theta - \eta\, \big(\operatorname{sign}(\beta_1 m + (1 - \beta_1)\, g) + \lambda \theta\big),
        \qquad
        m \leftarrow \beta_2 m + (1 - \beta_2)\, g

    It wants a learning rate three to ten times smaller than Adam's, and a weight decay as much larger.

    Args:
        params: the parameters or groups of them.
        lr: the learning rate η.
        betas: β₁, for the direction, and β₂, for the momentum.
        weight_decay: λ, the decoupled weight decay.
        maximize: climb instead of descending.

    Raises:
        TypeError: for an argument of the wrong type.
        ValueError: for one out of its range.

    Example:
        >>> from clumsygrad.core import parameter
        >>> from clumsygrad.optim import Lion
        >>> w = parameter([1.0, -2.0])
        >>> optimizer = Lion([w], lr=0.1)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> w.data.round(4)
        array([ 0.9, -1.9], dtype=float32)

    References:
        Chen et al., "Symbolic Discovery of Optimization Algorithms", 2023, Algorithm 2.
    """

    rules: ClassVar[Mapping[str, Rule]] = {
        "lr": non_negative,
        "betas": fractions,
        "weight_decay": non_negative,
        "maximize": flag,
    }
    buffers: ClassVar[tuple[str, ...]] = ("exp_avg",)
    scratch: ClassVar[int] = 2

    def __init__(
        self,
        params: ParamsLike,
        lr: float = 1e-4,
        betas: tuple[float, float] = (0.9, 0.99),
        weight_decay: float = 0,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(
            params,
            {
                "lr": lr,
                "betas": betas,
                "weight_decay": weight_decay,
                "maximize": maximize,
            },
        )

    def _coefficients(self, group: ParamGroup, clock: Clock) -> Coefficients:
        beta1, beta2 = group["betas"]
        lr = group["lr"]
        return lr, beta1, 1 - beta1, beta2, 1 - beta2, 1 - lr * group["weight_decay"], group["maximize"]

    def _update(self, coefficients: Coefficients, data: Array, grad: Array, buffers: Arrays, scratch: Arrays) -> None:
        lr, lean1, take1, keep2, take2, shrink, maximize = coefficients
        mean, change, other = buffers[0], scratch[0], scratch[1]
        if maximize:
            take1, take2 = -take1, -take2
        np.multiply(mean, lean1, out=change)
        np.multiply(grad, take1, out=other)
        change += other
        np.sign(change, out=change)
        change *= lr
        data *= shrink
        data -= change
        np.multiply(grad, take2, out=other)
        mean *= keep2
        mean += other
