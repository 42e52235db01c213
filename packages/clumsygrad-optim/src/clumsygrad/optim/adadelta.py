"""Adadelta."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from clumsygrad.core import Array

from .elementwise import Arrays, Coefficients, ElementwiseOptimizer, penalize
from .hyperparameter import Rule, flag, non_negative, proportion
from .optimizer import ParamGroup, ParamsLike
from .record import Clock


class Adadelta(ElementwiseOptimizer):
    r"""Adadelta: steps in proportion to a running root mean square of the steps before.

    .. math::
        v \leftarrow \rho v + (1 - \rho)\, g^2, \qquad
        \Delta = \frac{\sqrt{u + \epsilon}}{\sqrt{v + \epsilon}}\, g, \qquad
        u \leftarrow \rho u + (1 - \rho)\, \Delta^2, \qquad
        \theta \leftarrow \theta - \eta\, \Delta

    where :math:`g` is the gradient plus ``weight_decay`` times the parameter.

    Args:
        params: the parameters or groups of them.
        lr: a factor η on the step.
        rho: ρ, how much of the running means is kept in a step.
        eps: ε, added under the roots.
        weight_decay: the factor of an L2 penalty.
        maximize: climb instead of descending.

    Raises:
        TypeError: for an argument of the wrong type.
        ValueError: for one out of its range.

    Example:
        >>> from clumsygrad.core import parameter
        >>> from clumsygrad.optim import Adadelta
        >>> w = parameter([1.0, -2.0])
        >>> optimizer = Adadelta([w], lr=1.0)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> w.data.round(4)
        array([ 0.9968, -1.9968], dtype=float32)

    References:
        Zeiler, "ADADELTA: An Adaptive Learning Rate Method", 2012; the learning rate is PyTorch's addition.
    """

    rules: ClassVar[Mapping[str, Rule]] = {
        "lr": non_negative,
        "rho": proportion,
        "eps": non_negative,
        "weight_decay": non_negative,
        "maximize": flag,
    }
    buffers: ClassVar[tuple[str, ...]] = ("square_avg", "acc_delta")
    scratch: ClassVar[int] = 3

    def __init__(
        self,
        params: ParamsLike,
        lr: float = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(
            params,
            {
                "lr": lr,
                "rho": rho,
                "eps": eps,
                "weight_decay": weight_decay,
                "maximize": maximize,
            },
        )

    def _coefficients(self, group: ParamGroup, clock: Clock) -> Coefficients:
        rho = group["rho"]
        return group["lr"], rho, 1 - rho, group["eps"], group["weight_decay"], group["maximize"]

    def _update(self, coefficients: Coefficients, data: Array, grad: Array, buffers: Arrays, scratch: Arrays) -> None:
        lr, keep, take, eps, decay, maximize = coefficients
        square, steps = buffers
        delta, root = scratch[0], scratch[1]
        grad = penalize(grad, data, decay, maximize, scratch[2])
        np.multiply(grad, grad, out=root)
        root *= take
        square *= keep
        square += root
        np.add(steps, eps, out=delta)
        np.sqrt(delta, out=delta)
        np.add(square, eps, out=root)
        np.sqrt(root, out=root)
        delta /= root
        delta *= grad
        np.multiply(delta, delta, out=root)
        root *= take
        steps *= keep
        steps += root
        delta *= lr
        data -= delta
