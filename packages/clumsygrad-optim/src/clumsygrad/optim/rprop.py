"""Resilient backpropagation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from clumsygrad.core import Array

from .elementwise import Arrays, Coefficients, ElementwiseOptimizer
from .hyperparameter import Rule, flag, non_negative, pair
from .optimizer import ParamGroup, ParamsLike
from .record import Clock


class Rprop(ElementwiseOptimizer):
    r"""Rprop: every element has a step size of its own, which grows while its gradient keeps its sign.

    .. math::
        s \leftarrow \begin{cases}
        \min(\eta_+ s,\, s_{\max}) & g\, g' > 0 \\
        \max(\eta_- s,\, s_{\min}) & g\, g' < 0 \\
        s & \text{else} \end{cases}
        \qquad
        \theta \leftarrow \theta - \operatorname{sign}(g)\, s

    where :math:`g'` is the gradient of the step before. After a change of sign the element rests for one step, and
    :math:`g' = 0` in the next. It is meant for full batches: the size of the gradient plays no part.

    Args:
        params: the parameters or groups of them.
        lr: the first step size.
        etas: η₋ and η₊.
        step_sizes: s_min and s_max.
        maximize: climb instead of descending.

    Raises:
        TypeError: for an argument of the wrong type.
        ValueError: for one out of its range.

    Example:
        >>> from clumsygrad.core import parameter
        >>> from clumsygrad.optim import Rprop
        >>> w = parameter([1.0, -2.0])
        >>> optimizer = Rprop([w], lr=0.1)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> w.data.round(4)
        array([ 0.9, -1.9], dtype=float32)

    References:
        Riedmiller and Braun, "A direct adaptive method for faster backpropagation learning: the RPROP algorithm", 1993,
        the form without weight backtracking.
    """

    rules: ClassVar[Mapping[str, Rule]] = {
        "lr": non_negative,
        "etas": pair,
        "step_sizes": pair,
        "maximize": flag,
    }
    buffers: ClassVar[tuple[str, ...]] = ("prev", "step_size")
    scratch: ClassVar[int] = 2

    def __init__(
        self,
        params: ParamsLike,
        lr: float = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(
            params,
            {
                "lr": lr,
                "etas": etas,
                "step_sizes": step_sizes,
                "maximize": maximize,
            },
        )

    def _check(self, group: ParamGroup) -> None:
        super()._check(group)
        shrink, grow = group["etas"]
        if not 0 < shrink < 1 < grow:
            raise ValueError(f"etas are one between 0 and 1 and one above 1; received {group['etas']}")
        smallest, largest = group["step_sizes"]
        if not 0 <= smallest <= largest:
            raise ValueError(f"step_sizes are a lower and an upper bound; received {group['step_sizes']}")

    def _initial_value(self, name: str, group: ParamGroup) -> float:
        return float(group["lr"]) if name == "step_size" else 0.0

    def _coefficients(self, group: ParamGroup, clock: Clock) -> Coefficients:
        # The factor for the sign s in {-1, 0, 1} is 1 + s (grow - shrink) / 2 + s² ((grow + shrink) / 2 - 1).
        shrink, grow = group["etas"]
        return (grow - shrink) / 2, (grow + shrink) / 2 - 1, *group["step_sizes"], group["maximize"]

    def _update(self, coefficients: Coefficients, data: Array, grad: Array, buffers: Arrays, scratch: Arrays) -> None:
        odd, even, smallest, largest, maximize = coefficients
        previous, size = buffers
        turn, factor = scratch[0], scratch[1]
        np.multiply(grad, previous, out=turn)
        if maximize:
            # The previous gradient was stored negated.
            np.negative(turn, out=turn)
            np.negative(grad, out=previous)
        else:
            np.copyto(previous, grad)
        np.sign(turn, out=turn)
        np.multiply(turn, even, out=factor)
        factor += odd
        factor *= turn
        factor += 1
        size *= factor
        np.clip(size, smallest, largest, out=size)
        np.minimum(turn, 0, out=turn)
        turn += 1
        previous *= turn
        np.sign(previous, out=turn)
        turn *= size
        data -= turn
