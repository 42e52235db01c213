"""RMSprop."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from clumsygrad.core import Array

from .elementwise import Arrays, Coefficients, ElementwiseOptimizer, penalize
from .hyperparameter import Rule, flag, non_negative, proportion
from .optimizer import ParamGroup, ParamsLike
from .record import Clock


class RMSprop(ElementwiseOptimizer):
    r"""RMSprop: steps divided by a running root mean square of the gradient.

    .. math::
        v \leftarrow \alpha v + (1 - \alpha)\, g^2, \qquad
        \theta \leftarrow \theta - \eta\, \frac{g}{\sqrt{v} + \epsilon}

    where :math:`g` is the gradient plus ``weight_decay`` times the parameter. ``centered`` replaces :math:`v` in the
    root by :math:`v - \bar g^2`, with a running mean :math:`\bar g` of the gradient. With ``momentum`` μ the quotient
    first enters a buffer, :math:`b \leftarrow \mu b + g / (\sqrt{v} + \epsilon)`, which the parameter follows.

    Args:
        params: the parameters or groups of them.
        lr: the learning rate η.
        alpha: α, how much of the running mean is kept in a step.
        eps: ε, added to the root.
        weight_decay: the factor of an L2 penalty.
        momentum: μ.
        centered: whether to divide by the standard deviation instead of the root mean square.
        maximize: climb instead of descending.

    Raises:
        TypeError: for an argument of the wrong type.
        ValueError: for one out of its range.

    Example:
        >>> from clumsygrad.core import parameter
        >>> from clumsygrad.optim import RMSprop
        >>> w = parameter([1.0, -2.0])
        >>> optimizer = RMSprop([w], lr=0.01)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> w.data.round(4)
        array([ 0.9, -1.9], dtype=float32)

    References:
        Tieleman and Hinton, "Lecture 6.5: rmsprop", 2012; Graves, "Generating Sequences With Recurrent Neural
        Networks", 2013, for the centred form. As in PyTorch, ε is added after the root.
    """

    rules: ClassVar[Mapping[str, Rule]] = {
        "lr": non_negative,
        "alpha": proportion,
        "eps": non_negative,
        "weight_decay": non_negative,
        "momentum": non_negative,
        "centered": flag,
        "maximize": flag,
    }
    scratch: ClassVar[int] = 2

    def __init__(
        self,
        params: ParamsLike,
        lr: float = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(
            params,
            {
                "lr": lr,
                "alpha": alpha,
                "eps": eps,
                "weight_decay": weight_decay,
                "momentum": momentum,
                "centered": centered,
                "maximize": maximize,
            },
        )

    def _buffer_names(self, group: ParamGroup) -> tuple[str, ...]:
        return (
            "square_avg",
            *(("momentum_buffer",) if group["momentum"] else ()),
            *(("grad_avg",) if group["centered"] else ()),
        )

    def _coefficients(self, group: ParamGroup, clock: Clock) -> Coefficients:
        alpha = group["alpha"]
        return (
            group["lr"],
            alpha,
            1 - alpha,
            group["eps"],
            group["momentum"],
            group["centered"],
            group["weight_decay"],
            group["maximize"],
        )

    def _update(self, coefficients: Coefficients, data: Array, grad: Array, buffers: Arrays, scratch: Arrays) -> None:
        lr, keep, take, eps, momentum, centered, decay, maximize = coefficients
        square, root = buffers[0], scratch[0]
        grad = penalize(grad, data, decay, maximize, scratch[1])
        np.multiply(grad, grad, out=root)
        root *= take
        square *= keep
        square += root
        if centered:
            mean = buffers[-1]
            np.multiply(grad, take, out=root)
            mean *= keep
            mean += root
            np.multiply(mean, mean, out=root)
            np.subtract(square, root, out=root)
            np.sqrt(root, out=root)
        else:
            np.sqrt(square, out=root)
        root += eps
        np.divide(grad, root, out=root)
        if momentum:
            buffer = buffers[1]
            buffer *= momentum
            buffer += root
            np.multiply(buffer, lr, out=root)
        else:
            root *= lr
        data -= root
