"""The connectionist temporal classification loss."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from clumsygrad.core import Array, GradientTuple, Tensor, TensorLike, as_tensor, create_node
from clumsygrad.core import math as _math

from .loss import ClassIndices, Reduction, check_reduction, class_indices, reduce_losses
from .module import Module

Integers: TypeAlias = npt.NDArray[np.integer[Any]]
Mask: TypeAlias = npt.NDArray[np.bool_]


def ctc_loss(
    log_probs: TensorLike,
    targets: ClassIndices,
    input_lengths: ClassIndices,
    target_lengths: ClassIndices,
    blank: int = 0,
    reduction: Reduction = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    r"""Return the negative log-likelihood of label sequences under all their alignments with the frames of an input.

    A frame emits a label or the blank; the same label in a row counts once, unless a blank is between.

    Args:
        log_probs: log-probabilities of the classes in each frame, as of log_softmax: shape (T, N, C), or (T, C).
        targets: the labels: shape (N, S), of which the first ``target_lengths`` count, or all in a row, of shape
            (sum(target_lengths),).
        input_lengths: the number of frames of each input, shape (N,) or ().
        target_lengths: the number of labels of each target, shape (N,) or ().
        blank: the class that is the blank.
        reduction: ``"none"``, ``"sum"``, or ``"mean"`` over the batch of the losses divided by the target lengths.
        zero_infinity: count a target that the input is too short for as 0, instead of as infinite.

    Raises:
        ValueError: for shapes that don't match, lengths that are too large, and labels that are no class or the blank.
        TypeError: for labels and lengths that are not integers.

    The gradient is the derivative by ``log_probs`` itself. PyTorch's is another one until it has passed through
    log_softmax.

    References:
        Graves et al. (2006), "Connectionist temporal classification: labelling unsegmented sequence data with recurrent
        neural networks".

    Example:
        >>> import numpy as np
        >>> from clumsygrad.nn.functional import ctc_loss
        >>> even = np.log(np.full((2, 1, 2), 0.5))  # three of the four ways through two frames say "1"
        >>> round(ctc_loss(even, [[1]], [2], [1]).item(), 4)
        0.2877
    """
    x = as_tensor(log_probs)
    check_reduction(reduction)
    if x.ndim not in {2, 3}:
        raise ValueError(f"ctc_loss needs log_probs of shape (T, N, C) or (T, C); received {x.shape}")
    single = x.ndim == 2
    if single:
        x = x.reshape(x.shape[0], 1, x.shape[1])
    frames, lengths = _lengths("input_lengths", input_lengths, x), _lengths("target_lengths", target_lengths, x)
    if x.shape[0] < frames.max(initial=0):
        raise ValueError(f"an input has {frames.max()} frames by input_lengths, but log_probs has {x.shape[0]}")
    labels = _padded(class_indices("ctc_loss", targets), lengths, single)
    _check_labels(labels, lengths, x.shape[2], blank)
    losses = _losses(x, labels, frames, lengths, blank)
    if zero_infinity:
        losses = _math.where(losses == np.inf, 0.0, losses)
    if reduction == "mean":
        losses = losses / np.maximum(lengths, 1)
    if single and reduction == "none":
        return losses.reshape(())
    return reduce_losses(losses, reduction)


def _lengths(name: str, lengths: object, x: Tensor) -> Integers:
    array = class_indices(name, lengths).reshape(-1)
    if array.shape != (x.shape[1],):
        raise ValueError(f"{name} has one entry for each of the {x.shape[1]} inputs; received {array.size}")
    if array.size and array.min() < 0:
        raise ValueError(f"{name} are not negative; received {array.min()}")
    return array


def _padded(targets: Integers, lengths: Integers, single: bool) -> Integers:
    """Return the labels as a matrix with one row for each target."""
    longest = int(lengths.max(initial=0))
    if targets.ndim == 2 or single:
        rows = targets.reshape(1, -1) if single else targets
        if len(rows) != len(lengths) or rows.shape[1] < longest:
            raise ValueError(
                f"targets has a row for each of the {len(lengths)} inputs, of at least {longest} labels; received "
                f"shape {targets.shape}"
            )
        return rows[:, :longest]
    if targets.ndim != 1 or targets.size != lengths.sum():
        raise ValueError(
            f"targets has shape (N, S), or all {lengths.sum()} labels of target_lengths in a row; received shape "
            f"{targets.shape}"
        )
    rows = np.zeros((len(lengths), longest), targets.dtype)
    rows[np.arange(longest) < lengths[:, np.newaxis]] = targets
    return rows


def _check_labels(labels: Integers, lengths: Integers, classes: int, blank: int) -> None:
    if not 0 <= blank < classes:
        raise ValueError(f"blank is one of the {classes} classes; received {blank}")
    used = labels[np.arange(labels.shape[1]) < lengths[:, np.newaxis]]
    if used.size and (used.min() < 0 or used.max() >= classes):
        raise ValueError(f"labels lie between 0 and {classes - 1}; received {used.min()} to {used.max()}")
    if np.any(used == blank):
        raise ValueError(f"a target doesn't contain the blank, {blank}, which is what stands between its labels")


def _losses(x: Tensor, labels: Integers, frames: Integers, lengths: Integers, blank: int) -> Tensor:
    """Return the loss of each input of the batch."""
    batch, longest = len(labels), int(labels.shape[1])
    # The states: a blank, the first label, a blank, the second label, … and a blank.
    states: Integers = np.full((batch, 2 * longest + 1), blank)
    states[:, 1::2] = np.where(np.arange(longest) < lengths[:, np.newaxis], labels, blank)
    # From one label to the next directly, unless they are the same.
    skips = np.zeros(states.shape, bool)
    skips[:, 3::2] = states[:, 3::2] != states[:, 1:-2:2]
    rows: Integers = np.arange(batch)[:, np.newaxis]
    emitted = x[:, rows, states]
    if not x.shape[0]:
        return as_tensor(np.where(lengths == 0, 0.0, np.inf))
    alpha = create_node(_forward(emitted.data, skips), alignment_backward, (emitted,), {"skips": skips})
    # A sequence ends in its last label or in the blank after it; a sequence without labels in its one blank.
    last = 2 * lengths
    ends = np.stack((last, np.maximum(last - 1, 0)), axis=1)
    final = alpha[np.maximum(frames - 1, 0)[:, np.newaxis], rows, ends]
    final = _math.where(np.stack((last >= 0, last > 0), axis=1), final, -np.inf)
    losses = -_math.logsumexp(final, axis=1)
    if np.all(frames > 0):
        return losses
    # No frames are right for no labels, and wrong for any.
    return _math.where(frames > 0, losses, np.where(lengths == 0, 0.0, np.inf))


def _forward(emitted: Array, skips: Mask) -> Array:
    """Return the log-probability of all ways to each state in each frame, that frame's emission included."""
    alpha = np.full(emitted.shape, -np.inf, emitted.dtype)
    alpha[0, :, :2] = emitted[0, :, :2]
    blocked = np.where(skips, 0, -np.inf).astype(emitted.dtype)
    with np.errstate(divide="ignore", under="ignore", invalid="ignore"):
        for time in range(1, len(emitted)):
            stay = alpha[time - 1]
            step, skip = np.full_like(stay, -np.inf), np.full_like(stay, -np.inf)
            step[:, 1:] = stay[:, :-1]
            skip[:, 2:] = stay[:, :-2] + blocked[:, 2:]
            largest = np.maximum(np.maximum(stay, step), skip)
            base = np.where(largest == -np.inf, 0, largest)
            total = np.log(np.exp(stay - base) + np.exp(step - base) + np.exp(skip - base))
            alpha[time] = total + base + emitted[time]
    return alpha


def alignment_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """The gradient of each state, and of the states after it by the share of the ways through it, frame by frame."""
    emitted, alpha = tensor.parents[0].data, tensor.data
    skips: Mask = tensor.extra["skips"]
    flows: list[Array] = []
    flow: Any = None
    for time in range(len(emitted) - 1, -1, -1):
        reached = np.isfinite(alpha[time])
        flow = np.where(reached, grad[time] if flow is None else grad[time] + flow, 0)
        flows.append(flow)
        if time:
            # What came in, as a logarithm; of states that nothing reaches, anything.
            total = np.where(reached, alpha[time] - emitted[time], 0)
            before = alpha[time - 1]
            one, two = _shifted(total, 1), _shifted(total, 2)
            flow = (
                flow * np.exp(before - total)
                + _shifted(flow, 1) * np.exp(before - one)
                + _shifted(flow, 2) * np.exp(np.where(_shifted(skips, 2), before - two, -np.inf))
            )
    return (np.stack(flows[::-1]),)


def _shifted(x: Any, places: int) -> Any:
    """Return the states ``places`` further on, and 0 beyond the last."""
    return np.concatenate((x[:, places:], np.zeros((len(x), min(places, x.shape[1])), x.dtype)), axis=1)


class CTCLoss(Module):
    """The module of :func:`ctc_loss`."""

    blank: int
    reduction: Reduction
    zero_infinity: bool

    def __init__(self, blank: int = 0, reduction: Reduction = "mean", zero_infinity: bool = False) -> None:
        super().__init__()
        check_reduction(reduction)
        self.blank = blank
        self.reduction = reduction
        self.zero_infinity = zero_infinity

    def forward(
        self,
        log_probs: TensorLike,
        targets: ClassIndices,
        input_lengths: ClassIndices,
        target_lengths: ClassIndices,
    ) -> Tensor:
        """Return the loss."""
        return ctc_loss(
            log_probs, targets, input_lengths, target_lengths, self.blank, self.reduction, self.zero_infinity
        )
