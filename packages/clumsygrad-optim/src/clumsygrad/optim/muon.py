"""Muon: momentum with orthogonal steps, for matrices."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np

from clumsygrad.core import Array, Tensor, mark_updated

from .hyperparameter import Rule, choice, flag, non_negative, proportion, triple, whole
from .optimizer import Optimizer, ParamGroup, ParamsLike
from .record import Record
from .writing import get_gradient, make_writeable


class _Room(NamedTuple):
    """Scratch for the parameters of one shape, as wide matrices (n, m) with n ≤ m."""

    update: Array
    """The matrix to be made orthogonal, of the parameter's shape."""
    wide: Array
    next: Array
    gram: Array
    polynomial: Array


class Muon(Optimizer):
    r"""Muon: descends along the momentum with all its singular values brought close to 1.

    .. math::
        b \leftarrow \mu b + (1 - \mu)\, g, \qquad
        u = (1 - \mu)\, g + \mu b \;\text{(Nesterov)} \;\text{or}\; b, \qquad
        \theta \leftarrow (1 - \eta \lambda)\, \theta - \eta\, c\, \operatorname{orthogonal}(u)

    The orthogonal factor comes from a few Newton–Schulz iterations
    :math:`X \leftarrow a X + (b A + c A^2) X` with :math:`A = X X^\top`, from :math:`X = u / \|u\|`.

    It is for the weight matrices of hidden layers, of shape (n, m); train biases, embeddings and output layers with
    another optimizer, such as :class:`AdamW`.

    Args:
        params: the matrices or groups of them.
        lr: the learning rate η.
        weight_decay: λ, the decoupled weight decay.
        momentum: μ.
        nesterov: whether to look ahead.
        ns_coefficients: a, b and c of the iteration.
        eps: the smallest norm that u is divided by.
        ns_steps: the number of iterations.
        adjust_lr_fn: the factor c of the step for a matrix (n, m): ``"original"``, or None, for
            :math:`\sqrt{\max(1, n / m)}`; ``"match_rms_adamw"`` for :math:`0.2 \sqrt{\max(n, m)}`.

    Raises:
        TypeError: for an argument of the wrong type.
        ValueError: for one out of its range, and for a parameter that is no matrix.

    Example:
        >>> from clumsygrad.core import parameter
        >>> from clumsygrad.optim import Muon
        >>> w = parameter([[3.0, 0.0], [0.0, 1.0]])
        >>> optimizer = Muon([w], lr=0.1, weight_decay=0)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> (w.data < [[3, 1], [1, 1]]).tolist()
        [[True, True], [True, True]]

    References:
        Jordan et al., "Muon: An optimizer for hidden layers in neural networks", 2024; Liu et al., "Muon is Scalable
        for LLM Training", 2025, for ``match_rms_adamw``. PyTorch iterates in bfloat16; here the precision is the
        parameter's.
    """

    rules: ClassVar[Mapping[str, Rule]] = {
        "lr": non_negative,
        "weight_decay": non_negative,
        "momentum": proportion,
        "nesterov": flag,
        "ns_coefficients": triple,
        "eps": non_negative,
        "ns_steps": whole,
        "adjust_lr_fn": choice(None, "original", "match_rms_adamw"),
    }

    _rooms: dict[tuple[tuple[int, ...], np.dtype[Any]], _Room]

    def __init__(
        self,
        params: ParamsLike,
        lr: float = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.775, 2.0315),
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        self._rooms = {}
        super().__init__(
            params,
            {
                "lr": lr,
                "weight_decay": weight_decay,
                "momentum": momentum,
                "nesterov": nesterov,
                "ns_coefficients": ns_coefficients,
                "eps": eps,
                "ns_steps": ns_steps,
                "adjust_lr_fn": adjust_lr_fn,
            },
        )

    def _check(self, group: ParamGroup) -> None:
        super()._check(group)
        for tensor in group["params"]:
            if tensor.ndim != 2:
                raise ValueError(
                    f"Muon trains matrices; received a parameter of shape {tensor.shape}. "
                    "Train it with another optimizer, such as AdamW"
                )

    def _take_step(self) -> None:
        updated: list[Tensor] = []
        try:
            with np.errstate(all="ignore"):
                for group, records in self._sync():
                    for record in records:
                        grad = get_gradient(record.tensor)
                        if grad is not None:
                            updated.append(record.tensor)
                            self._update(record, grad, group)
        finally:
            mark_updated(updated)

    def _update(self, record: Record, grad: Array, group: ParamGroup) -> None:
        tensor, momentum, lr = record.tensor, group["momentum"], group["lr"]
        data = make_writeable(tensor)
        room = self._get_room(tensor)
        buffer = record.buffers.get("momentum_buffer")
        if buffer is None or buffer.dtype != tensor.dtype:
            buffer = np.zeros(tensor.shape, tensor.dtype) if buffer is None else buffer.astype(tensor.dtype)
            record.buffers["momentum_buffer"] = buffer
        record.clock.step += 1
        update = room.update
        np.multiply(grad, 1 - momentum, out=update, casting="same_kind")
        buffer *= momentum
        buffer += update
        if group["nesterov"]:
            scaled = room.next if room.next.shape == tensor.shape else room.next.reshape(tensor.shape)
            np.multiply(buffer, momentum, out=scaled)
            update += scaled
        else:
            np.copyto(update, buffer)
        step = _orthogonalize(room, group["ns_coefficients"], group["ns_steps"], group["eps"])
        step *= lr * _get_factor(group["adjust_lr_fn"], tensor.shape)
        data *= 1 - lr * group["weight_decay"]
        data -= step

    def _get_room(self, tensor: Tensor) -> _Room:
        key = (tensor.shape, tensor.dtype)
        if key not in self._rooms:
            small, large = sorted(tensor.shape)
            shapes = [tensor.shape, (small, large), (small, large), (small, small), (small, small)]
            self._rooms[key] = _Room(*(np.empty(shape, tensor.dtype) for shape in shapes))
        return self._rooms[key]

    def _get_state(self, record: Record) -> dict[str, Any]:
        return dict(record.buffers)

    def _get_state_names(self, group: ParamGroup) -> set[str]:
        return {"momentum_buffer"}


def _orthogonalize(room: _Room, coefficients: tuple[float, float, float], steps: int, eps: float) -> Array:
    """Return ``room.update`` with singular values close to 1, in one of the scratch matrices, in its own shape."""
    first, second, third = coefficients
    tall = room.update.shape[0] > room.update.shape[1]
    current, following, gram, polynomial = room.wide, room.next, room.gram, room.polynomial
    np.copyto(current, room.update.T if tall else room.update)
    norm = math.sqrt(float(np.vdot(current, current)))
    np.divide(current, max(norm, eps) or 1.0, out=current)
    for _ in range(steps):
        np.matmul(current, current.T, out=gram)
        np.matmul(gram, gram, out=polynomial)
        polynomial *= third
        gram *= second
        polynomial += gram
        np.matmul(polynomial, current, out=following)
        current *= first
        following += current
        current, following = following, current
    return current.T if tall else current


def _get_factor(name: str | None, shape: tuple[int, ...]) -> float:
    rows, columns = shape
    if name == "match_rms_adamw":
        return 0.2 * math.sqrt(max(rows, columns))
    return math.sqrt(max(1.0, rows / columns)) if columns else 1.0
