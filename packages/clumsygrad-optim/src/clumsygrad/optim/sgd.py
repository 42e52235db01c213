"""Stochastic gradient descent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from clumsygrad.core import Array

from .elementwise import Arrays, Coefficients, ElementwiseOptimizer, penalize
from .hyperparameter import Rule, flag, non_negative, number
from .optimizer import ParamGroup, ParamsLike
from .record import Clock


class SGD(ElementwiseOptimizer):
    r"""Stochastic gradient descent, with momentum.

    .. math::
        b \leftarrow \mu b + (1 - d)\, g, \qquad
        \theta \leftarrow \theta - \eta\, b
        \quad\text{(Nesterov: } \theta - \eta\,(g + \mu b)\text{)}

    where :math:`g` is the gradient plus ``weight_decay`` times the parameter, and the first :math:`b` is the first
    :math:`g`, whatever the dampening.

    Args:
        params: the parameters or groups of them.
        lr: the learning rate η.
        momentum: μ.
        dampening: d.
        weight_decay: the factor of an L2 penalty.
        nesterov: whether to look ahead; this needs a momentum and no dampening.
        maximize: climb instead of descending.

    Raises:
        TypeError: for an argument of the wrong type.
        ValueError: for one out of its range.

    Example:
        >>> from clumsygrad.core import parameter
        >>> from clumsygrad.optim import SGD
        >>> w = parameter([1.0, -2.0])
        >>> optimizer = SGD([w], lr=0.25)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> w.tolist()
        [0.5, -1.0]

    References:
        Sutskever et al., "On the importance of initialization and momentum in deep learning", 2013. As in PyTorch, the
        learning rate multiplies the momentum buffer instead of what enters it.
    """

    rules: ClassVar[Mapping[str, Rule]] = {
        "lr": non_negative,
        "momentum": non_negative,
        "dampening": number,
        "weight_decay": non_negative,
        "nesterov": flag,
        "maximize": flag,
    }
    scratch: ClassVar[int] = 2
    saves_step: ClassVar[bool] = False

    def __init__(
        self,
        params: ParamsLike,
        lr: float = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(
            params,
            {
                "lr": lr,
                "momentum": momentum,
                "dampening": dampening,
                "weight_decay": weight_decay,
                "nesterov": nesterov,
                "maximize": maximize,
            },
        )

    def _check(self, group: ParamGroup) -> None:
        super()._check(group)
        if group["nesterov"] and (not group["momentum"] or group["dampening"]):
            raise ValueError(
                "nesterov needs a momentum above 0 and a dampening of 0; "
                f"received momentum={group['momentum']}, dampening={group['dampening']}"
            )

    def _buffer_names(self, group: ParamGroup) -> tuple[str, ...]:
        return ("momentum_buffer",) if group["momentum"] else ()

    def _coefficients(self, group: ParamGroup, clock: Clock) -> Coefficients:
        # The first buffer is the whole gradient.
        weight = 1 - group["dampening"]
        whole = clock.step == 1 or weight == 1
        return (
            group["lr"],
            group["momentum"],
            whole,
            weight,
            group["weight_decay"],
            group["nesterov"],
            group["maximize"],
        )

    def _update(self, coefficients: Coefficients, data: Array, grad: Array, buffers: Arrays, scratch: Arrays) -> None:
        lr, momentum, whole, weight, decay, nesterov, maximize = coefficients
        change = scratch[0]
        grad = penalize(grad, data, decay, maximize, scratch[1])
        if not momentum:
            np.multiply(grad, lr, out=change)
        else:
            buffer = buffers[0]
            buffer *= momentum
            buffer += grad if whole else np.multiply(grad, weight, out=change)
            if nesterov:
                np.multiply(buffer, momentum, out=change)
                change += grad
                change *= lr
            else:
                np.multiply(buffer, lr, out=change)
        data -= change
