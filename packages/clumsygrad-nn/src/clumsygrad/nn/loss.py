"""Loss functions, and the modules that apply them.

Shapes have to agree: what NumPy would broadcast is an error here, since a loss over all pairs of a batch is hardly
ever what is meant.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from clumsygrad.core import Array, GradientTuple, Tensor, TensorLike, as_tensor, create_node

from .activation import log_softmax, softmax
from .module import Module

Reduction: TypeAlias = Literal["none", "mean", "sum"]
"""What becomes of the losses of the elements: nothing, their mean or their sum."""

ClassIndices: TypeAlias = npt.NDArray[np.integer[Any]] | list[Any] | int | np.integer[Any]
"""Class numbers: an integer array, or (nested) lists of ints."""


def _check_reduction(reduction: Reduction) -> None:
    if reduction not in {"none", "mean", "sum"}:
        raise ValueError(f"reduction is 'none', 'mean' or 'sum'; received {reduction!r}")


def _check_same_shape(name: str, **tensors: Tensor) -> None:
    (first, one), *others = tensors.items()
    for second, other in others:
        if one.shape != other.shape:
            raise ValueError(
                f"{name} needs {first} and {second} of the same shape; received {one.shape} and {other.shape}. "
                "Broadcasting them would compare every element with every other: reshape one of them"
            )


def _reduced(losses: Array, reduction: Reduction) -> Array:
    """Return the losses of the elements, their sum or their mean: NaN of none, without a warning."""
    if reduction == "none":
        return losses
    total: Array = np.add.reduce(losses, axis=None)
    if reduction == "sum":
        return total
    return total / losses.size if losses.size else total * np.nan


def _scale(tensor: Tensor, factor: float = 1.0) -> float:
    """Return the factor times the share of each element in the loss."""
    return factor / (tensor.parents[0].data.size or 1) if tensor.extra["reduction"] == "mean" else factor


def mse_loss(input: TensorLike, target: TensorLike, reduction: Reduction = "mean") -> Tensor:
    r"""Return the squared error :math:`(x - y)^2`.

    Args:
        input: any shape.
        target: the same shape.
        reduction: ``"none"``, ``"mean"`` or ``"sum"``.

    Raises:
        ValueError: when the shapes differ.

    Example:
        >>> from clumsygrad.nn.functional import mse_loss
        >>> mse_loss([1.0, 2.0], [1.0, 4.0]).item()
        2.0
    """
    x, y = as_tensor(input), as_tensor(target)
    _check_same_shape("mse_loss", input=x, target=y)
    _check_reduction(reduction)
    difference = x.data - y.data
    return create_node(
        _reduced(difference * difference, reduction), mse_loss_backward, (x, y), {"reduction": reduction}
    )


def mse_loss_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``2 (x - y) grad``, and its negative."""
    x, y = tensor.parents
    slope = (x.data - y.data) * (grad * _scale(tensor, 2.0))
    return slope if x.requires_grad else None, -slope if y.requires_grad else None


def l1_loss(input: TensorLike, target: TensorLike, reduction: Reduction = "mean") -> Tensor:
    r"""Return the absolute error :math:`|x - y|`, with a gradient of 0 where they are equal; see :func:`mse_loss`.

    Example:
        >>> from clumsygrad.nn.functional import l1_loss
        >>> l1_loss([1.0, 2.0], [1.0, 4.0]).item()
        1.0
    """
    x, y = as_tensor(input), as_tensor(target)
    _check_same_shape("l1_loss", input=x, target=y)
    _check_reduction(reduction)
    return create_node(_reduced(np.abs(x.data - y.data), reduction), l1_loss_backward, (x, y), {"reduction": reduction})


def l1_loss_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``sign(x - y) grad``, and its negative."""
    x, y = tensor.parents
    slope = np.sign(x.data - y.data) * (grad * _scale(tensor))
    return slope if x.requires_grad else None, -slope if y.requires_grad else None


mae_loss = l1_loss


def _class_axis(x: Tensor) -> int:
    if not x.ndim:
        raise ValueError("class scores need an axis of classes: shape (C,), (N, C) or (N, C, ...); received a scalar")
    return 0 if x.ndim == 1 else 1


def class_indices(name: str, target: object) -> npt.NDArray[np.integer[Any]]:
    """Return class numbers as an integer array; TypeError for floating-point ones."""
    array: npt.NDArray[Any] = np.asarray(target)
    if array.size == 0 and not isinstance(target, np.ndarray):
        return array.astype(np.intp)
    if array.dtype.kind not in "iu":
        raise TypeError(
            f"{name} takes class numbers as an integer array or a list of ints; received dtype {array.dtype}. "
            "Use target.astype(int), or probabilities of the input's shape"
        )
    return array


def cross_entropy(
    input: TensorLike,
    target: TensorLike | ClassIndices,
    weight: TensorLike | None = None,
    ignore_index: int = -100,
    reduction: Reduction = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    r"""Return the cross-entropy of class scores (logits) and the true classes.

    For a class number t it is :math:`-w_t \ln \mathrm{softmax}(x)_t`, and the mean is weighted by :math:`w_t`. For
    probabilities q it is :math:`-\sum_c w_c q_c \ln \mathrm{softmax}(x)_c`, and the mean is over the samples.

    Args:
        input: the logits, shape (C,), (N, C) or (N, C, d1, …).
        target: class numbers, an integer array or lists, of shape (), (N,) or (N, d1, …); or probabilities of the
            input's shape.
        weight: the weight of each class, shape (C,).
        ignore_index: the class number of samples that don't count.
        reduction: ``"none"``, ``"mean"`` or ``"sum"``.
        label_smoothing: the share of the target that is spread evenly over all classes.

    Raises:
        ValueError: for shapes that don't match, and class numbers outside of 0 to C - 1.
        TypeError: for class numbers that are not integers.

    Example:
        >>> from clumsygrad.nn.functional import cross_entropy
        >>> round(cross_entropy([[2.0, 0.0], [0.0, 2.0]], [0, 1]).item(), 4)
        0.1269
    """
    x = as_tensor(input)
    axis = _class_axis(x)
    _check_reduction(reduction)
    if not 0 <= label_smoothing <= 1:
        raise ValueError(f"label_smoothing lies between 0 and 1; received {label_smoothing}")
    weights = None if weight is None else _class_weights(weight, x.shape[axis])
    if _are_probabilities(x, target):
        return _soft_cross_entropy(x, as_tensor(cast("TensorLike", target)), weights, reduction, label_smoothing)
    indices = class_indices("cross_entropy", target)
    picked, counts = _checked_indices("cross_entropy", x, indices, axis, ignore_index)
    if label_smoothing:
        return _smoothed_cross_entropy(x, picked, counts, weights, reduction, label_smoothing)
    share = _shares(picked, counts, weights, reduction, x.data.dtype)
    with np.errstate(under="ignore", invalid="ignore", divide="ignore", over="ignore"):
        shifted = x.data - np.maximum.reduce(x.data, axis=axis, keepdims=True)
        chosen = shifted[_positions(picked, axis)]
        losses = np.log(np.add.reduce(np.exp(shifted, out=shifted), axis=axis)) - chosen
        # What doesn't count is left out rather than multiplied by 0, which an infinite loss would survive as NaN.
        losses = losses * share if counts is None else np.where(counts, losses * share, 0 * share)
    result = losses if reduction == "none" else np.add.reduce(losses, axis=None)
    extra = {"axis": axis, "target": picked, "share": share}
    return create_node(result, cross_entropy_backward, (x,), extra)


def _class_weights(weight: TensorLike, classes: int) -> Array:
    weights = as_tensor(weight).data
    if weights.shape != (classes,):
        raise ValueError(
            f"weight has one entry for each of the {classes} classes, shape ({classes},); received {weights.shape}"
        )
    return weights


def _are_probabilities(x: Tensor, target: object) -> bool:
    if isinstance(target, Tensor):
        if target.shape == x.shape:
            return True
        raise TypeError(
            f"a Tensor as target holds probabilities of the input's shape {x.shape}; received shape {target.shape}. "
            "Class numbers are an integer array: target.data.astype(int)"
        )
    return np.shape(cast("npt.ArrayLike", target)) == x.shape


def _checked_indices(
    name: str, x: Tensor, indices: npt.NDArray[np.integer[Any]], axis: int, ignore_index: int
) -> tuple[npt.NDArray[np.integer[Any]], npt.NDArray[np.bool_] | None]:
    """Return class numbers that are all valid, and which of them count: None for all."""
    shape = x.shape
    expected = shape[:axis] + shape[axis + 1 :]
    if indices.shape != expected:
        raise ValueError(
            f"{name} needs one class number for each sample: target of shape {expected} for input of shape {shape}; "
            f"received {indices.shape}"
        )
    if not indices.size:
        return indices, None
    counts = None
    ignored = indices == ignore_index
    if ignored.any():
        counts = ~ignored
        indices = np.where(ignored, 0, indices)
    low, high = int(indices.min()), int(indices.max())
    if low < 0 or high >= shape[axis]:
        raise ValueError(
            f"class numbers lie between 0 and {shape[axis] - 1}, for {shape[axis]} classes; received "
            f"{low if low < 0 else high}. ignore_index={ignore_index} is what may stand for no class"
        )
    return indices, counts


def _positions(target: npt.NDArray[np.integer[Any]], axis: int) -> tuple[Any, ...]:
    """Return the index that reads one class for each sample."""
    if target.ndim == 1:
        return np.arange(len(target)), target
    grid = list(np.ogrid[tuple(slice(length) for length in target.shape)])
    return (*grid[:axis], target, *grid[axis:])


def _shares(
    target: npt.NDArray[np.integer[Any]],
    counts: npt.NDArray[np.bool_] | None,
    weights: Array | None,
    reduction: Reduction,
    dtype: np.dtype[np.floating[Any]],
) -> Array | float:
    """Return the factor of each sample in the loss: NaN for a mean of nothing."""
    if weights is None and counts is None:
        if reduction != "mean":
            return 1.0
        return 1 / target.size if target.size else np.nan
    shares: Array = np.ones(target.shape, dtype) if weights is None else weights[target]
    if counts is not None:
        shares = np.where(counts, shares, 0)
    if reduction != "mean":
        return shares
    with np.errstate(invalid="ignore", divide="ignore"):
        shares /= np.add.reduce(shares, axis=None)
    return shares


def cross_entropy_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``softmax(x) - onehot(target)``, times the gradient and the share of each sample."""
    x, axis = tensor.parents[0].data, tensor.extra["axis"]
    scale: Any = grad * tensor.extra["share"]
    if np.ndim(scale):
        scale = scale.reshape(*x.shape[:axis], 1, *x.shape[axis + 1 :])
    position = _positions(tensor.extra["target"], axis)
    if isinstance(cast("object", x), Tensor):
        one_hot = np.zeros(x.shape, x.dtype)
        one_hot[position] = 1
        return ((cast("Array", softmax(x, axis)) - one_hot) * scale,)
    # The same in fewer passes over memory.
    result = np.exp(x - np.maximum.reduce(x, axis=axis, keepdims=True))
    result *= scale / np.add.reduce(result, axis=axis, keepdims=True)
    result[position] -= scale if not np.ndim(scale) else scale.reshape(tensor.extra["target"].shape)
    return (result,)


def _smoothed_cross_entropy(
    x: Tensor,
    target: npt.NDArray[np.integer[Any]],
    counts: npt.NDArray[np.bool_] | None,
    weights: Array | None,
    reduction: Reduction,
    smoothing: float,
) -> Tensor:
    axis = _class_axis(x)
    classes = x.shape[axis]
    goal = np.full(x.shape, smoothing / classes, x.data.dtype)
    goal[_positions(target, axis)] += 1 - smoothing
    if weights is not None:
        goal *= weights.reshape(-1, *(1 for _ in x.shape[axis + 1 :]))
    if counts is not None:
        goal = np.where(np.expand_dims(counts, axis), goal, 0)
    if reduction == "mean":
        total = np.add.reduce(_shares(target, counts, weights, "none", x.data.dtype) * np.ones(target.shape), axis=None)
        with np.errstate(invalid="ignore", divide="ignore"):
            goal /= total
    losses = log_softmax(x, axis) * -goal
    return losses.sum(axis) if reduction == "none" else losses.sum()


def _soft_cross_entropy(
    x: Tensor, target: Tensor, weights: Array | None, reduction: Reduction, smoothing: float
) -> Tensor:
    axis = _class_axis(x)
    classes = x.shape[axis]
    if smoothing:
        target = target * (1 - smoothing) + smoothing / classes
    if weights is not None:
        target = target * weights.reshape(-1, *(1 for _ in x.shape[axis + 1 :]))
    losses = -(log_softmax(x, axis) * target).sum(axis)
    if reduction == "none":
        return losses
    return losses.mean() if reduction == "mean" else losses.sum()


class _Loss(Module):
    """What the losses share: their reduction."""

    reduction: Reduction

    def __init__(self, reduction: Reduction = "mean") -> None:
        super().__init__()
        _check_reduction(reduction)
        self.reduction = reduction


class MSELoss(_Loss):
    """The squared error; see :func:`mse_loss`."""

    def forward(self, input: TensorLike, target: TensorLike) -> Tensor:
        """Return the loss."""
        return mse_loss(input, target, self.reduction)


class L1Loss(_Loss):
    """The absolute error; see :func:`l1_loss`."""

    def forward(self, input: TensorLike, target: TensorLike) -> Tensor:
        """Return the loss."""
        return l1_loss(input, target, self.reduction)


MAELoss = L1Loss


class CrossEntropyLoss(_Loss):
    """The cross-entropy of class scores and true classes; see :func:`cross_entropy`."""

    weight: Tensor | None
    ignore_index: int
    label_smoothing: float

    def __init__(
        self,
        weight: TensorLike | None = None,
        ignore_index: int = -100,
        reduction: Reduction = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(reduction)
        self.register_buffer("weight", None if weight is None else as_tensor(weight))
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing

    def forward(self, input: TensorLike, target: TensorLike | ClassIndices) -> Tensor:
        """Return the loss."""
        return cross_entropy(input, target, self.weight, self.ignore_index, self.reduction, self.label_smoothing)
