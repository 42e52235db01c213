"""Averaged stochastic gradient descent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from clumsygrad.core import Array

from .elementwise import Arrays, Coefficients, ElementwiseOptimizer, penalize
from .hyperparameter import Rule, flag, non_negative, number
from .optimizer import ParamGroup, ParamsLike
from .record import Clock


class ASGD(ElementwiseOptimizer):
    r"""Averaged stochastic gradient descent: the average of the parameter over late steps is kept beside it.

    .. math::
        \theta \leftarrow (1 - \lambda \eta_t)\, \theta - \eta_t\, g, \qquad
        \bar\theta \leftarrow \bar\theta + \mu_t\, (\theta - \bar\theta), \qquad
        \eta_{t+1} = \frac{\eta}{(1 + \lambda \eta t)^\alpha}, \qquad
        \mu_{t+1} = \frac{1}{\max(1,\, t - t_0)}

    where :math:`g` is the gradient plus ``weight_decay`` times the parameter, and t counts the steps of the parameter.
    The average is ``optimizer.state[parameter]["ax"]``.

    Args:
        params: the parameters or groups of them.
        lr: the learning rate η.
        lambd: λ, how fast the parameter and the learning rate fall.
        alpha: α, the power of the learning rate's fall.
        t0: t₀, the step at which averaging starts.
        weight_decay: the factor of an L2 penalty.
        maximize: climb instead of descending.

    Raises:
        TypeError: for an argument of the wrong type.
        ValueError: for one out of its range.

    Example:
        >>> from clumsygrad.core import parameter
        >>> from clumsygrad.optim import ASGD
        >>> w = parameter([1.0, -2.0])
        >>> optimizer = ASGD([w], lr=0.25)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> w.data.round(4)
        array([ 0.5, -1. ], dtype=float32)

    References:
        Polyak and Juditsky, "Acceleration of Stochastic Approximation by Averaging", 1992.
    """

    rules: ClassVar[Mapping[str, Rule]] = {
        "lr": non_negative,
        "lambd": number,
        "alpha": number,
        "t0": number,
        "weight_decay": non_negative,
        "maximize": flag,
    }
    buffers: ClassVar[tuple[str, ...]] = ("ax",)
    numbers: ClassVar[tuple[str, ...]] = ("eta", "mu")
    scratch: ClassVar[int] = 2

    def __init__(
        self,
        params: ParamsLike,
        lr: float = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(
            params,
            {
                "lr": lr,
                "lambd": lambd,
                "alpha": alpha,
                "t0": t0,
                "weight_decay": weight_decay,
                "maximize": maximize,
            },
        )

    def _coefficients(self, group: ParamGroup, clock: Clock) -> Coefficients:
        lr: float = group["lr"]
        lambd, numbers = group["lambd"], clock.numbers
        eta, mu = numbers.get("eta", lr), numbers.get("mu", 1.0)
        # These are for the next step.
        numbers["eta"] = lr / (1 + lambd * lr * clock.step) ** group["alpha"]
        numbers["mu"] = 1 / max(1.0, clock.step - group["t0"])
        return eta, 1 - lambd * eta, mu == 1, mu, group["weight_decay"], group["maximize"]

    def _update(self, coefficients: Coefficients, data: Array, grad: Array, buffers: Arrays, scratch: Arrays) -> None:
        eta, shrink, starts, weight, decay, maximize = coefficients
        average, change = buffers[0], scratch[0]
        grad = penalize(grad, data, decay, maximize, scratch[1])
        data *= shrink
        np.multiply(grad, eta, out=change)
        data -= change
        if starts:
            np.copyto(average, data)
        else:
            np.subtract(data, average, out=change)
            change *= weight
            average += change
