"""Adagrad."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from clumsygrad.core import Array

from .elementwise import Arrays, Coefficients, ElementwiseOptimizer, penalize
from .hyperparameter import Rule, flag, non_negative
from .optimizer import ParamGroup, ParamsLike
from .record import Clock


class Adagrad(ElementwiseOptimizer):
    r"""Adagrad: steps divided by the root of the sum of all squared gradients so far.

    .. math::
        s \leftarrow s + g^2, \qquad
        \theta \leftarrow \theta - \frac{\eta}{1 + (t - 1)\, \gamma}\, \frac{g}{\sqrt{s} + \epsilon}

    where :math:`g` is the gradient plus ``weight_decay`` times the parameter, and t counts the steps of the parameter.

    Args:
        params: the parameters or groups of them.
        lr: the learning rate η.
        lr_decay: γ, how fast the learning rate falls.
        weight_decay: the factor of an L2 penalty.
        initial_accumulator_value: what s starts from.
        eps: ε, added to the root.
        maximize: climb instead of descending.

    Raises:
        TypeError: for an argument of the wrong type.
        ValueError: for one out of its range.

    Example:
        >>> from clumsygrad.core import parameter
        >>> from clumsygrad.optim import Adagrad
        >>> w = parameter([1.0, -2.0])
        >>> optimizer = Adagrad([w], lr=0.1)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> w.data.round(4)
        array([ 0.9, -1.9], dtype=float32)

    References:
        Duchi et al., "Adaptive Subgradient Methods for Online Learning and Stochastic Optimization", 2011, the diagonal
        form.
    """

    rules: ClassVar[Mapping[str, Rule]] = {
        "lr": non_negative,
        "lr_decay": non_negative,
        "weight_decay": non_negative,
        "initial_accumulator_value": non_negative,
        "eps": non_negative,
        "maximize": flag,
    }
    buffers: ClassVar[tuple[str, ...]] = ("sum",)
    scratch: ClassVar[int] = 2

    def __init__(
        self,
        params: ParamsLike,
        lr: float = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(
            params,
            {
                "lr": lr,
                "lr_decay": lr_decay,
                "weight_decay": weight_decay,
                "initial_accumulator_value": initial_accumulator_value,
                "eps": eps,
                "maximize": maximize,
            },
        )

    def _initial_value(self, name: str, group: ParamGroup) -> float:
        return float(group["initial_accumulator_value"])

    def _coefficients(self, group: ParamGroup, clock: Clock) -> Coefficients:
        lr = group["lr"] / (1 + (clock.step - 1) * group["lr_decay"])
        return lr, group["eps"], group["weight_decay"], group["maximize"]

    def _update(self, coefficients: Coefficients, data: Array, grad: Array, buffers: Arrays, scratch: Arrays) -> None:
        lr, eps, decay, maximize = coefficients
        total, root = buffers[0], scratch[0]
        grad = penalize(grad, data, decay, maximize, scratch[1])
        np.multiply(grad, grad, out=root)
        total += root
        np.sqrt(total, out=root)
        root += eps
        np.divide(grad, root, out=root)
        root *= lr
        data -= root
