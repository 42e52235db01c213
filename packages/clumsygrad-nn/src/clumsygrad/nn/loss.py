"""Loss functions, and the modules that apply them.

Shapes have to agree: what NumPy would broadcast is an error here, since a loss over all pairs of a batch is hardly
ever what is meant.
"""

from __future__ import annotations

import math
from typing import Any, Literal, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from clumsygrad.core import Array, GradientTuple, Tensor, TensorLike, as_tensor, create_node
from clumsygrad.core import full as full_tensor
from clumsygrad.core import math as _math

from .activation import log_softmax, logsigmoid, relu, softmax
from .distance import pairwise_distance
from .module import Module

# What PyTorch's cosine_embedding_loss adds to squared lengths.
_COSINE_EPS = 1e-12

Reduction: TypeAlias = Literal["none", "mean", "sum"]
"""What becomes of the losses of the elements: nothing, their mean or their sum."""

ClassIndices: TypeAlias = npt.NDArray[np.integer[Any]] | list[Any] | int | np.integer[Any]
"""Class numbers: an integer array, or (nested) lists of ints."""


def check_reduction(reduction: str) -> None:
    """Raise for an unknown reduction."""
    if reduction not in {"none", "mean", "sum"}:
        raise ValueError(f"reduction is 'none', 'mean' or 'sum'; received {reduction!r}")


def _pair(name: str, input: TensorLike, target: TensorLike, reduction: str) -> tuple[Tensor, Tensor]:
    """Return input and target as Tensors, after a look at their shapes and the reduction."""
    x, y = as_tensor(input), as_tensor(target)
    check_same_shape(name, input=x, target=y)
    check_reduction(reduction)
    return x, y


def check_same_shape(name: str, **tensors: Tensor) -> None:
    """Raise for tensors of different shapes."""
    (first, one), *others = tensors.items()
    for second, other in others:
        if one.shape != other.shape:
            raise ValueError(
                f"{name} needs {first} and {second} of the same shape; received {one.shape} and {other.shape}. "
                "Broadcasting them would compare every element with every other: reshape one of them"
            )


def _reduced(losses: Array, reduction: str) -> Array:
    """Return the losses of the elements, their sum or their mean: NaN of none, without a warning."""
    if reduction == "none":
        return losses
    total: Array = np.add.reduce(losses, axis=None)
    if reduction == "sum":
        return total
    return total / losses.size if losses.size else total * np.nan


def reduce_losses(losses: Tensor, reduction: str) -> Tensor:
    """Return the losses of the elements, their sum or their mean, as a Tensor."""
    if reduction == "none":
        return losses
    return losses.sum() if reduction == "sum" else losses.mean()


def _scale(tensor: Tensor, factor: float = 1.0) -> float:
    """Return the factor times the share of each element in the loss."""
    return factor / (math.prod(tensor.parents[0].shape) or 1) if tensor.extra["reduction"] == "mean" else factor


def _both(tensor: Tensor, slope: Array) -> GradientTuple:
    """The gradients of a function of ``input - target``."""
    x, y = tensor.parents
    return slope if x.requires_grad else None, -slope if y.requires_grad else None


def mse_loss(
    input: TensorLike, target: TensorLike, reduction: Reduction = "mean", weight: TensorLike | None = None
) -> Tensor:
    r"""Return the squared error :math:`(x - y)^2`.

    Args:
        input: any shape.
        target: the same shape.
        reduction: ``"none"``, ``"mean"`` or ``"sum"``.
        weight: the weight of each element, of the same shape; the mean is then divided by the sum of the weights.

    Raises:
        ValueError: when the shapes differ.

    Example:
        >>> from clumsygrad.nn.functional import mse_loss
        >>> mse_loss([1.0, 2.0], [1.0, 4.0]).item()
        2.0
    """
    if weight is not None:
        return _weighted(mse_loss(input, target, "none"), weight, "mse_loss", reduction)
    x, y = _pair("mse_loss", input, target, reduction)
    difference = x.data - y.data
    with np.errstate(over="ignore", under="ignore"):
        result = _reduced(difference * difference, reduction)
    return create_node(result, mse_loss_backward, (x, y), {"reduction": reduction})


def mse_loss_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``2 (x - y) grad``, and its negative."""
    x, y = tensor.parents
    return _both(tensor, (x.data - y.data) * (grad * _scale(tensor, 2.0)))


def l1_loss(
    input: TensorLike, target: TensorLike, reduction: Reduction = "mean", weight: TensorLike | None = None
) -> Tensor:
    r"""Return the absolute error :math:`|x - y|`, with a gradient of 0 where they are equal; see :func:`mse_loss`.

    Example:
        >>> from clumsygrad.nn.functional import l1_loss
        >>> l1_loss([1.0, 2.0], [1.0, 4.0]).item()
        1.0
    """
    if weight is not None:
        return _weighted(l1_loss(input, target, "none"), weight, "l1_loss", reduction)
    x, y = _pair("l1_loss", input, target, reduction)
    return create_node(_reduced(np.abs(x.data - y.data), reduction), l1_loss_backward, (x, y), {"reduction": reduction})


def l1_loss_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``sign(x - y) grad``, and its negative."""
    x, y = tensor.parents
    return _both(tensor, np.sign(x.data - y.data) * (grad * _scale(tensor)))


mae_loss = l1_loss


def _weighted(losses: Tensor, weight: TensorLike, name: str, reduction: str) -> Tensor:
    """Return the weighted losses, or their weighted mean, or their sum."""
    weights = as_tensor(weight)
    check_same_shape(name, input=losses, weight=weights)
    check_reduction(reduction)
    weighted = losses * weights
    return weighted.sum() / weights.sum() if reduction == "mean" else reduce_losses(weighted, reduction)


def smooth_l1_loss(input: TensorLike, target: TensorLike, reduction: Reduction = "mean", beta: float = 1.0) -> Tensor:
    r"""Return :math:`(x - y)^2 / 2 \beta` where :math:`|x - y| < \beta`, else :math:`|x - y| - \beta / 2`.

    Args:
        input: any shape.
        target: the same shape.
        reduction: ``"none"``, ``"mean"`` or ``"sum"``.
        beta: where the square ends; 0 for :func:`l1_loss`.

    Raises:
        ValueError: when the shapes differ, and for a negative beta.

    References:
        Girshick (2015), "Fast R-CNN".

    Example:
        >>> from clumsygrad.nn.functional import smooth_l1_loss
        >>> smooth_l1_loss([1.0, 5.0], [0.0, 0.0], reduction="none").tolist()
        [0.5, 4.5]
    """
    if beta < 0:
        raise ValueError(f"smooth_l1_loss needs beta >= 0; received {beta}")
    if beta == 0:
        return l1_loss(input, target, reduction)
    x, y = _pair("smooth_l1_loss", input, target, reduction)
    return _rounded_l1(x, y, reduction, beta, 1 / beta)


def huber_loss(
    input: TensorLike,
    target: TensorLike,
    reduction: Reduction = "mean",
    delta: float = 1.0,
    weight: TensorLike | None = None,
) -> Tensor:
    r"""Return :math:`(x - y)^2 / 2` where :math:`|x - y| \le \delta`, else :math:`\delta (|x - y| - \delta / 2)`.

    Args:
        input: any shape.
        target: the same shape.
        reduction: ``"none"``, ``"mean"`` or ``"sum"``.
        delta: where the square ends.
        weight: a factor for each element, of the same shape; as in PyTorch, and unlike that of :func:`mse_loss`, the
            mean is still over the elements.

    Raises:
        ValueError: when the shapes differ, and for a delta that is not above 0.

    References:
        Huber (1964), "Robust estimation of a location parameter".

    Example:
        >>> from clumsygrad.nn.functional import huber_loss
        >>> huber_loss([1.0, 5.0], [0.0, 0.0], reduction="none", delta=2.0).tolist()
        [0.5, 8.0]
    """
    if not delta > 0:
        raise ValueError(f"huber_loss needs delta > 0; received {delta}")
    if weight is not None:
        losses, weights = huber_loss(input, target, "none", delta), as_tensor(weight)
        check_same_shape("huber_loss", input=losses, weight=weights)
        check_reduction(reduction)
        return reduce_losses(losses * weights, reduction)
    x, y = _pair("huber_loss", input, target, reduction)
    return _rounded_l1(x, y, reduction, delta, 1.0)


def _rounded_l1(x: Tensor, y: Tensor, reduction: str, bound: float, factor: float) -> Tensor:
    """Return the absolute error rounded off by a square within ``bound``, times ``factor * bound`` at large."""
    size = np.abs(x.data - y.data)
    # With s = min(size, bound): s (size - s / 2), which is a square inside and a line outside.
    inside = np.minimum(size, bound)
    losses = inside * (size - 0.5 * inside) * factor
    extra = {"reduction": reduction, "bound": bound, "factor": factor}
    return create_node(_reduced(losses, reduction), rounded_l1_backward, (x, y), extra)


def rounded_l1_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``x - y``, limited to the bounds of the square, times the factor."""
    x, y = tensor.parents
    bound: float = tensor.extra["bound"]
    slope = np.clip(x.data - y.data, -bound, bound)
    return _both(tensor, slope * (grad * _scale(tensor, tensor.extra["factor"])))


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
    check_reduction(reduction)
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
        losses = _shared(losses, share, counts)
    extra = {"axis": axis, "target": picked, "share": share}
    return create_node(_totalled(losses, share, reduction), cross_entropy_backward, (x,), extra)


def _class_weights(weight: TensorLike, classes: int) -> Array:
    given = as_tensor(weight)
    if given.requires_grad:
        raise ValueError("the weights of classes are constants, which get no gradient; pass weight.detach()")
    weights = given.data
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
    name: str, x: Tensor, indices: npt.NDArray[np.integer[Any]], axis: int, ignore_index: int | None
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
    low, high = int(np.minimum.reduce(indices, axis=None)), int(np.maximum.reduce(indices, axis=None))
    # The usual number to ignore is below all classes, so that the range mostly tells that there is none.
    if ignore_index is not None and low <= ignore_index <= high:
        ignored = indices == ignore_index
        if ignored.any():
            counts = ~ignored
            indices = np.where(ignored, 0, indices)
            low, high = int(indices.min()), int(indices.max())
    if low < 0 or high >= shape[axis]:
        raise ValueError(
            f"class numbers lie between 0 and {shape[axis] - 1}, for {shape[axis]} classes; received "
            f"{low if low < 0 else high}"
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
    """Return the factor of each sample in the loss; of a mean of nothing, 0, which is its gradient's."""
    if weights is None and counts is None:
        return 1 / (target.size or 1) if reduction == "mean" else 1.0
    shares: Array = np.ones(target.shape, dtype) if weights is None else weights[target]
    if counts is not None:
        shares = np.where(counts, shares, 0)
    if reduction == "mean":
        total = np.add.reduce(shares, axis=None)
        shares = shares / total if total else np.zeros_like(shares)
    return shares


def _totalled(losses: Array, share: Array | float, reduction: Reduction) -> Array:
    """Return the losses, which have been multiplied by their shares, or their sum: NaN for a mean of nothing."""
    if reduction == "none":
        return losses
    total: Array = np.add.reduce(losses, axis=None)
    # A share that is the same number for all is never 0.
    if reduction == "mean" and not (losses.size and (isinstance(share, float) or np.any(share))):
        return total * np.nan
    return total


def _shared(losses: Array, share: Array | float, counts: npt.NDArray[np.bool_] | None) -> Array:
    """Return the losses times the share of each sample."""
    # What doesn't count is left out rather than multiplied by 0, which an infinite loss would turn into NaN.
    return losses * share if counts is None else np.where(counts, losses * share, share * 0)


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
    losses = log_softmax(x, axis) * -goal
    if reduction == "none":
        return losses.sum(axis)
    if reduction == "sum":
        return losses.sum()
    total = np.add.reduce(_shares(target, counts, weights, "none", x.data.dtype) * np.ones(target.shape), axis=None)
    # A mean of nothing is NaN, but its gradient is 0.
    return losses.sum() / total if total else losses.sum() + np.nan


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


def nll_loss(
    input: TensorLike,
    target: ClassIndices,
    weight: TensorLike | None = None,
    ignore_index: int = -100,
    reduction: Reduction = "mean",
) -> Tensor:
    r"""Return the negative log-likelihood :math:`-w_t x_t` of class numbers t; the mean is weighted by :math:`w_t`.

    Args:
        input: log-probabilities, shape (C,), (N, C) or (N, C, d1, …).
        target: class numbers, an integer array or lists, of shape (), (N,) or (N, d1, …).
        weight: the weight of each class, shape (C,).
        ignore_index: the class number of samples that don't count.
        reduction: ``"none"``, ``"mean"`` or ``"sum"``.

    Raises:
        ValueError: for shapes that don't match, and class numbers outside of 0 to C - 1.
        TypeError: for class numbers that are not integers.

    Example:
        >>> from clumsygrad.nn.functional import nll_loss
        >>> nll_loss([[-1.0, -2.0], [-3.0, -4.0]], [0, 1]).item()
        2.5
    """
    x = as_tensor(input)
    axis = _class_axis(x)
    check_reduction(reduction)
    weights = None if weight is None else _class_weights(weight, x.shape[axis])
    picked, counts = _checked_indices("nll_loss", x, class_indices("nll_loss", target), axis, ignore_index)
    share = _shares(picked, counts, weights, reduction, x.data.dtype)
    losses = _shared(-x.data[_positions(picked, axis)], share, counts)
    extra = {"axis": axis, "target": picked, "share": share}
    return create_node(_totalled(losses, share, reduction), nll_loss_backward, (x,), extra)


def nll_loss_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """The negative gradient times the share of each sample, at its class; 0 elsewhere."""
    shape, axis = tensor.parents[0].shape, tensor.extra["axis"]
    scale: Any = grad * tensor.extra["share"]
    if np.ndim(scale):
        scale = scale.reshape(*shape[:axis], 1, *shape[axis + 1 :])
    at_class = np.zeros(shape, grad.dtype)
    at_class[_positions(tensor.extra["target"], axis)] = -1
    return (at_class * scale,)


def binary_cross_entropy(
    input: TensorLike, target: TensorLike, weight: TensorLike | None = None, reduction: Reduction = "mean"
) -> Tensor:
    r"""Return :math:`-(y \ln x + (1 - y) \ln(1 - x))`, with logarithms of at least -100.

    Args:
        input: probabilities, any shape.
        target: the same shape, usually of zeros and ones.
        weight: a factor for each element, of a shape that broadcasts to the input's.
        reduction: ``"none"``, ``"mean"`` or ``"sum"``.

    Raises:
        ValueError: when the shapes differ, and for probabilities outside of [0, 1].

    Example:
        >>> from clumsygrad.nn.functional import binary_cross_entropy
        >>> binary_cross_entropy([0.0, 1.0], [0.0, 0.0], reduction="none").tolist()
        [0.0, 100.0]
    """
    if weight is not None:
        return _elementwise_weighted(binary_cross_entropy(input, target, None, "none"), weight, reduction)
    x, y = _pair("binary_cross_entropy", input, target, reduction)
    values, goal = x.data, y.data
    if values.size and not (values.min() >= 0 and values.max() <= 1):
        raise ValueError(
            f"binary_cross_entropy takes probabilities between 0 and 1; received values from {values.min()} to "
            f"{values.max()}. For logits use binary_cross_entropy_with_logits"
        )
    with np.errstate(divide="ignore"):
        yes, no = np.maximum(np.log(values), -100), np.maximum(np.log1p(-values), -100)
    losses = (goal - 1) * no - goal * yes
    return create_node(_reduced(losses, reduction), binary_cross_entropy_backward, (x, y), {"reduction": reduction})


def binary_cross_entropy_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``(x - y) / (x (1 - x))``, where the denominator is at least 1e-12; and ``ln(1 - x) - ln x``."""
    x, y = tensor.parents
    p, scale = x.data, grad * _scale(tensor)
    x_grad = y_grad = None
    if x.requires_grad:
        x_grad = scale * ((p - y.data) / np.maximum((1 - p) * p, 1e-12))
    if y.requires_grad:
        y_grad = scale * (np.maximum(np.log1p(-p), -100) - np.maximum(np.log(p), -100))
    return x_grad, y_grad


def _elementwise_weighted(losses: Tensor, weight: TensorLike, reduction: str) -> Tensor:
    """Return the losses times weights of a shape that broadcasts to theirs; the mean is over all elements."""
    weights = as_tensor(weight)
    check_reduction(reduction)
    try:
        shape = np.broadcast_shapes(weights.shape, losses.shape)
    except ValueError:
        shape = None
    if shape != losses.shape:
        raise ValueError(f"weight has a shape that broadcasts to the input's, {losses.shape}; received {weights.shape}")
    return reduce_losses(losses * weights, reduction)


def binary_cross_entropy_with_logits(
    input: TensorLike,
    target: TensorLike,
    weight: TensorLike | None = None,
    reduction: Reduction = "mean",
    pos_weight: TensorLike | None = None,
) -> Tensor:
    r"""Return :math:`-(p y \ln \sigma(x) + (1 - y) \ln(1 - \sigma(x)))`, for scores of any size.

    Args:
        input: the logits, any shape.
        target: the same shape, usually of zeros and ones.
        weight: a factor for each element, of a shape that broadcasts to the input's.
        reduction: ``"none"``, ``"mean"`` or ``"sum"``.
        pos_weight: p, the factor of positive targets, of a shape that broadcasts to the input's.

    Raises:
        ValueError: for shapes that don't match.

    Example:
        >>> from clumsygrad.nn.functional import binary_cross_entropy_with_logits
        >>> binary_cross_entropy_with_logits([-1e4, 1e4], [0.0, 0.0], reduction="none").tolist()
        [0.0, 10000.0]
    """
    if weight is not None:
        losses = binary_cross_entropy_with_logits(input, target, None, "none", pos_weight)
        return _elementwise_weighted(losses, weight, reduction)
    x, y = _pair("binary_cross_entropy_with_logits", input, target, reduction)
    if pos_weight is not None:
        return reduce_losses(
            (y - 1) * logsigmoid(-x) - _elementwise_weighted(y * logsigmoid(x), pos_weight, "none"), reduction
        )
    values = x.data
    with np.errstate(under="ignore"):
        losses = np.maximum(values, 0) - values * y.data + np.log1p(np.exp(-np.abs(values)))
    return create_node(
        _reduced(losses, reduction), binary_cross_entropy_with_logits_backward, (x, y), {"reduction": reduction}
    )


def binary_cross_entropy_with_logits_backward(tensor: Tensor, grad: Array) -> GradientTuple:
    """``sigmoid(x) - y``, and ``-x``."""
    x, y = tensor.parents
    scale = grad * _scale(tensor)
    return (
        scale * (1 / (1 + np.exp(-x.data)) - y.data) if x.requires_grad else None,
        -scale * x.data if y.requires_grad else None,
    )


def kl_div(
    input: TensorLike,
    target: TensorLike,
    reduction: Reduction | Literal["batchmean"] = "mean",
    log_target: bool = False,
) -> Tensor:
    r"""Return the elements :math:`q (\ln q - x)` of the Kullback-Leibler divergence of :math:`e^x` from q.

    Args:
        input: x, log-probabilities, any shape.
        target: q, probabilities of the same shape; an element of 0 contributes 0.
        reduction: ``"none"``, ``"mean"`` over all elements, ``"sum"``, or ``"batchmean"``: the sum divided by the
            length of the first axis, which is the divergence itself.
        log_target: whether ``target`` holds the logarithms of the probabilities.

    Raises:
        ValueError: when the shapes differ.

    Example:
        >>> from clumsygrad.nn.functional import kl_div
        >>> kl_div([0.0, 0.0], [1.0, 0.0]).item()
        0.0
    """
    x, y = as_tensor(input), as_tensor(target)
    check_same_shape("kl_div", input=x, target=y)
    if reduction != "batchmean":
        check_reduction(reduction)
    if log_target:
        losses = _math.exp(y) * (y - x)
    else:
        # Where there is nothing to compare, 0 takes the place of 0 times infinity, in the gradient too.
        empty = y.data <= 0
        losses = _math.where(empty, 0.0, y * (_math.log(_math.where(empty, 1.0, y)) - _math.where(empty, 0.0, x)))
    if reduction == "batchmean":
        return losses.sum() / (x.shape[0] if x.ndim else 1)
    return reduce_losses(losses, reduction)


def poisson_nll_loss(
    input: TensorLike,
    target: TensorLike,
    log_input: bool = True,
    full: bool = False,
    eps: float = 1e-8,
    reduction: Reduction = "mean",
) -> Tensor:
    r"""Return the negative log-likelihood :math:`e^x - y x` of counts y, without the term in y alone.

    Args:
        input: x, the logarithm of the rate; or with ``log_input=False`` the rate, for :math:`x - y \ln(x + \epsilon)`.
        target: y, the same shape.
        log_input: what ``input`` is.
        full: add Stirling's approximation of :math:`\ln y!` for y above 1.
        eps: what keeps the logarithm from 0.
        reduction: ``"none"``, ``"mean"`` or ``"sum"``.

    Raises:
        ValueError: when the shapes differ.

    Example:
        >>> from clumsygrad.nn.functional import poisson_nll_loss
        >>> poisson_nll_loss([0.0], [3.0]).item()
        1.0
    """
    x, y = _pair("poisson_nll_loss", input, target, reduction)
    losses = _math.exp(x) - y * x if log_input else x - y * _math.log(x + eps)
    if full:
        counts = y.data > 1
        safe = _math.where(counts, y, 2.0)
        stirling = safe * _math.log(safe) - safe + 0.5 * _math.log(2 * math.pi * safe)
        losses = losses + _math.where(counts, stirling, 0.0)
    return reduce_losses(losses, reduction)


def gaussian_nll_loss(
    input: TensorLike,
    target: TensorLike,
    var: TensorLike | float,
    full: bool = False,
    eps: float = 1e-6,
    reduction: Reduction = "mean",
) -> Tensor:
    r"""Return :math:`\frac12 (\ln v + (x - y)^2 / v)`, the negative log-likelihood under a normal distribution.

    Args:
        input: x, the expectation, any shape.
        target: y, the same shape.
        var: v, the variance: of the same shape, or without the last axis or with a last axis of 1; or one number.
        full: add the constant :math:`\frac12 \ln 2 \pi`.
        eps: the least variance; what is below counts as it, but passes its gradient.
        reduction: ``"none"``, ``"mean"`` or ``"sum"``.

    Raises:
        ValueError: for shapes that don't match, and negative variances.

    References:
        Nix and Weigend (1994), "Estimating the mean and variance of the target probability distribution".

    Example:
        >>> from clumsygrad.nn.functional import gaussian_nll_loss
        >>> gaussian_nll_loss([1.0], [3.0], [1.0]).item()
        2.0
    """
    x, y = _pair("gaussian_nll_loss", input, target, reduction)
    v = full_tensor(x.shape, var) if isinstance(var, (int, float)) else as_tensor(var)
    if v.shape != x.shape:
        if v.shape == x.shape[:-1]:
            v = v.reshape(*v.shape, 1)
        elif v.shape != (*x.shape[:-1], 1):
            raise ValueError(
                f"var has the input's shape {x.shape}, or its shape without the last axis; received {v.shape}"
            )
    if np.any(v.data < 0):
        raise ValueError(f"var holds variances, which are not negative; received {v.data.min()}")
    # Raised by a constant, through which the gradient passes.
    v = v + np.maximum(eps - v.data, 0)
    difference = x - y
    losses = 0.5 * (_math.log(v) + difference * difference / v)
    return reduce_losses(losses + 0.5 * math.log(2 * math.pi) if full else losses, reduction)


def hinge_embedding_loss(
    input: TensorLike, target: TensorLike, margin: float = 1.0, reduction: Reduction = "mean"
) -> Tensor:
    r"""Return x for a target of 1 and :math:`\max(0, margin - x)` for a target of -1, for x a distance of two inputs.

    Args:
        input: any shape.
        target: 1 and -1, the same shape.
        margin: the distance beyond which a pair that differs costs nothing.
        reduction: ``"none"``, ``"mean"`` or ``"sum"``.

    Raises:
        ValueError: when the shapes differ.

    Example:
        >>> from clumsygrad.nn.functional import hinge_embedding_loss
        >>> hinge_embedding_loss([0.5, 0.25], [1, -1], reduction="none").tolist()
        [0.5, 0.75]
    """
    x, y = _pair("hinge_embedding_loss", input, target, reduction)
    _check_signs("hinge_embedding_loss", y)
    return reduce_losses(_math.where(y.data > 0, x, _at_least_zero(margin - x)), reduction)


def _check_signs(name: str, target: Tensor) -> None:
    if not np.all(np.abs(target.data) == 1):
        raise ValueError(f"{name}'s target says 1 or -1; received other values")


def _at_least_zero(x: Tensor) -> Tensor:
    """Return ``max(x, 0)``, with a gradient of 1 at 0, where these losses have one and relu has none."""
    return _math.clip(x, 0.0, None)


def margin_ranking_loss(
    input1: TensorLike, input2: TensorLike, target: TensorLike, margin: float = 0.0, reduction: Reduction = "mean"
) -> Tensor:
    r"""Return :math:`\max(0, -y (x_1 - x_2) + margin)`: for y = 1 the first should rank above the second.

    Args:
        input1: any shape.
        input2: the same shape.
        target: 1 and -1, the same shape.
        margin: by how much.
        reduction: ``"none"``, ``"mean"`` or ``"sum"``.

    Raises:
        ValueError: when the shapes differ.

    Example:
        >>> from clumsygrad.nn.functional import margin_ranking_loss
        >>> margin_ranking_loss([1.0], [3.0], [1.0]).item()
        2.0
    """
    first, second, y = as_tensor(input1), as_tensor(input2), as_tensor(target)
    check_same_shape("margin_ranking_loss", input1=first, input2=second, target=y)
    check_reduction(reduction)
    return reduce_losses(_at_least_zero(y * (second - first) + margin), reduction)


def cosine_embedding_loss(
    input1: TensorLike, input2: TensorLike, target: TensorLike, margin: float = 0.0, reduction: Reduction = "mean"
) -> Tensor:
    r"""Return :math:`1 - \cos(x_1, x_2)` for a target of 1, and :math:`\max(0, \cos(x_1, x_2) - margin)` for -1.

    Args:
        input1: shape (N, D) or (D,).
        input2: the same shape.
        target: 1 and -1, shape (N,) or ().
        margin: between -1 and 1.
        reduction: ``"none"``, ``"mean"`` or ``"sum"``.

    Raises:
        ValueError: when the shapes don't match.

    Example:
        >>> from clumsygrad.nn.functional import cosine_embedding_loss
        >>> round(cosine_embedding_loss([[1.0, 0.0]], [[0.0, 1.0]], [1]).item(), 4)
        1.0
    """
    first, second, y = as_tensor(input1), as_tensor(input2), as_tensor(target)
    check_same_shape("cosine_embedding_loss", input1=first, input2=second)
    check_reduction(reduction)
    if first.ndim not in {1, 2} or y.shape != first.shape[:-1]:
        raise ValueError(
            "cosine_embedding_loss needs inputs of shape (N, D) and target of shape (N,), or (D,) and (); received "
            f"{first.shape} and {y.shape}"
        )
    _check_signs("cosine_embedding_loss", y)
    lengths = ((first * first).sum(-1) + _COSINE_EPS) * ((second * second).sum(-1) + _COSINE_EPS)
    cosine = (first * second).sum(-1) / _math.sqrt(lengths)
    return reduce_losses(_math.where(y.data > 0, 1 - cosine, _at_least_zero(cosine - margin)), reduction)


def triplet_margin_loss(
    anchor: TensorLike,
    positive: TensorLike,
    negative: TensorLike,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: Reduction = "mean",
) -> Tensor:
    r"""Return :math:`\max(0, d(a, p) - d(a, n) + margin)`, with :func:`pairwise_distance` as d.

    Args:
        anchor: a, shape (N, D) or (D,).
        positive: p, the same shape.
        negative: n, the same shape.
        margin: by how much the negative should be farther than the positive.
        p: the order of the norm.
        eps: what is added to differences.
        swap: take the distance from positive to negative where that is the smaller one.
        reduction: ``"none"``, ``"mean"`` or ``"sum"``.

    Raises:
        ValueError: when the shapes differ, and for a margin that is not above 0.

    References:
        Balntas et al. (2016), "Learning local feature descriptors with triplets and shallow convolutional neural
        networks".

    Example:
        >>> from clumsygrad.nn.functional import triplet_margin_loss
        >>> triplet_margin_loss([[0.0]], [[0.0]], [[9.0]]).item()
        0.0
    """
    a, near, far = as_tensor(anchor), as_tensor(positive), as_tensor(negative)
    check_same_shape("triplet_margin_loss", anchor=a, positive=near, negative=far)
    check_reduction(reduction)
    if not margin > 0:
        raise ValueError(f"triplet_margin_loss needs margin > 0; received {margin}")
    distance = pairwise_distance(a, far, p, eps)
    if swap:
        distance = _math.minimum(distance, pairwise_distance(near, far, p, eps))
    return reduce_losses(_at_least_zero(pairwise_distance(a, near, p, eps) - distance + margin), reduction)


def multi_margin_loss(
    input: TensorLike,
    target: ClassIndices,
    p: int = 1,
    margin: float = 1.0,
    weight: TensorLike | None = None,
    reduction: Reduction = "mean",
) -> Tensor:
    r"""Return :math:`\frac1C \sum_{c \ne t} w_t \max(0, margin - x_t + x_c)^p` for class numbers t.

    Args:
        input: class scores, shape (N, C) or (C,).
        target: class numbers, an integer array or a list, shape (N,) or ().
        p: 1 or 2.
        margin: by how much the true class should lead.
        weight: the weight of each class, shape (C,).
        reduction: ``"none"``, ``"mean"`` or ``"sum"``.

    Raises:
        ValueError: for shapes that don't match, class numbers outside of 0 to C - 1, and another p.

    Example:
        >>> from clumsygrad.nn.functional import multi_margin_loss
        >>> multi_margin_loss([[0.0, 2.0]], [0]).item()
        1.5
    """
    x = as_tensor(input)
    axis = _class_axis(x)
    check_reduction(reduction)
    if p not in {1, 2}:
        raise ValueError(f"multi_margin_loss needs p of 1 or 2; received {p}")
    if x.ndim > 2:
        raise ValueError(f"multi_margin_loss takes scores of shape (N, C) or (C,); received {x.shape}")
    classes = x.shape[axis]
    picked, _ = _checked_indices("multi_margin_loss", x, class_indices("multi_margin_loss", target), axis, None)
    others = np.ones(x.shape, x.data.dtype)
    position = _positions(picked, axis)
    others[position] = 0
    if weight is not None:
        others *= _class_weights(weight, classes)[picked].reshape(*picked.shape, 1)
    violation = relu(margin - x[position].reshape(*picked.shape, 1) + x)
    losses = (violation * violation if p == 2 else violation) * (others / classes)
    return reduce_losses(losses.sum(-1), reduction)


class _Loss(Module):
    """What the losses share: their reduction."""

    reduction: Reduction

    def __init__(self, reduction: Reduction = "mean") -> None:
        super().__init__()
        check_reduction(reduction)
        self.reduction = reduction


class MSELoss(_Loss):
    """The module of :func:`mse_loss`."""

    def forward(self, input: TensorLike, target: TensorLike) -> Tensor:
        """Return the loss."""
        return mse_loss(input, target, self.reduction)


class L1Loss(_Loss):
    """The module of :func:`l1_loss`."""

    def forward(self, input: TensorLike, target: TensorLike) -> Tensor:
        """Return the loss."""
        return l1_loss(input, target, self.reduction)


MAELoss = L1Loss


class SmoothL1Loss(_Loss):
    """The module of :func:`smooth_l1_loss`."""

    beta: float

    def __init__(self, reduction: Reduction = "mean", beta: float = 1.0) -> None:
        super().__init__(reduction)
        self.beta = beta

    def forward(self, input: TensorLike, target: TensorLike) -> Tensor:
        """Return the loss."""
        return smooth_l1_loss(input, target, self.reduction, self.beta)


class HuberLoss(_Loss):
    """The module of :func:`huber_loss`."""

    delta: float

    def __init__(self, reduction: Reduction = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction)
        self.delta = delta

    def forward(self, input: TensorLike, target: TensorLike) -> Tensor:
        """Return the loss."""
        return huber_loss(input, target, self.reduction, self.delta)


class _WeightedLoss(_Loss):
    """What the losses with weights share: a buffer of them."""

    weight: Tensor | None

    def __init__(self, weight: TensorLike | None = None, reduction: Reduction = "mean") -> None:
        super().__init__(reduction)
        self.register_buffer("weight", None if weight is None else as_tensor(weight))


class CrossEntropyLoss(_WeightedLoss):
    """The module of :func:`cross_entropy`, with the class weights as the buffer ``weight``."""

    ignore_index: int
    label_smoothing: float

    def __init__(
        self,
        weight: TensorLike | None = None,
        ignore_index: int = -100,
        reduction: Reduction = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(weight, reduction)
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing

    def forward(self, input: TensorLike, target: TensorLike | ClassIndices) -> Tensor:
        """Return the loss."""
        return cross_entropy(input, target, self.weight, self.ignore_index, self.reduction, self.label_smoothing)


class NLLLoss(_WeightedLoss):
    """The module of :func:`nll_loss`, with the class weights as the buffer ``weight``."""

    ignore_index: int

    def __init__(
        self, weight: TensorLike | None = None, ignore_index: int = -100, reduction: Reduction = "mean"
    ) -> None:
        super().__init__(weight, reduction)
        self.ignore_index = ignore_index

    def forward(self, input: TensorLike, target: ClassIndices) -> Tensor:
        """Return the loss."""
        return nll_loss(input, target, self.weight, self.ignore_index, self.reduction)


class BCELoss(_WeightedLoss):
    """The module of :func:`binary_cross_entropy`, with the weights as the buffer ``weight``."""

    def forward(self, input: TensorLike, target: TensorLike) -> Tensor:
        """Return the loss."""
        return binary_cross_entropy(input, target, self.weight, self.reduction)


class BCEWithLogitsLoss(_WeightedLoss):
    """The module of :func:`binary_cross_entropy_with_logits`, with the buffers ``weight`` and ``pos_weight``."""

    pos_weight: Tensor | None

    def __init__(
        self,
        weight: TensorLike | None = None,
        reduction: Reduction = "mean",
        pos_weight: TensorLike | None = None,
    ) -> None:
        super().__init__(weight, reduction)
        self.register_buffer("pos_weight", None if pos_weight is None else as_tensor(pos_weight))

    def forward(self, input: TensorLike, target: TensorLike) -> Tensor:
        """Return the loss."""
        return binary_cross_entropy_with_logits(input, target, self.weight, self.reduction, self.pos_weight)


class KLDivLoss(Module):
    """The module of :func:`kl_div`."""

    reduction: Reduction | Literal["batchmean"]
    log_target: bool

    def __init__(self, reduction: Reduction | Literal["batchmean"] = "mean", log_target: bool = False) -> None:
        super().__init__()
        if reduction != "batchmean":
            check_reduction(reduction)
        self.reduction = reduction
        self.log_target = log_target

    def forward(self, input: TensorLike, target: TensorLike) -> Tensor:
        """Return the loss."""
        return kl_div(input, target, self.reduction, self.log_target)


class PoissonNLLLoss(_Loss):
    """The module of :func:`poisson_nll_loss`."""

    log_input: bool
    full: bool
    eps: float

    def __init__(
        self, log_input: bool = True, full: bool = False, eps: float = 1e-8, reduction: Reduction = "mean"
    ) -> None:
        super().__init__(reduction)
        self.log_input = log_input
        self.full = full
        self.eps = eps

    def forward(self, input: TensorLike, target: TensorLike) -> Tensor:
        """Return the loss."""
        return poisson_nll_loss(input, target, self.log_input, self.full, self.eps, self.reduction)


class GaussianNLLLoss(_Loss):
    """The module of :func:`gaussian_nll_loss`."""

    full: bool
    eps: float

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: Reduction = "mean") -> None:
        super().__init__(reduction)
        self.full = full
        self.eps = eps

    def forward(self, input: TensorLike, target: TensorLike, var: TensorLike | float) -> Tensor:
        """Return the loss."""
        return gaussian_nll_loss(input, target, var, self.full, self.eps, self.reduction)


class HingeEmbeddingLoss(_Loss):
    """The module of :func:`hinge_embedding_loss`."""

    margin: float

    def __init__(self, margin: float = 1.0, reduction: Reduction = "mean") -> None:
        super().__init__(reduction)
        self.margin = margin

    def forward(self, input: TensorLike, target: TensorLike) -> Tensor:
        """Return the loss."""
        return hinge_embedding_loss(input, target, self.margin, self.reduction)


class MarginRankingLoss(_Loss):
    """The module of :func:`margin_ranking_loss`."""

    margin: float

    def __init__(self, margin: float = 0.0, reduction: Reduction = "mean") -> None:
        super().__init__(reduction)
        self.margin = margin

    def forward(self, input1: TensorLike, input2: TensorLike, target: TensorLike) -> Tensor:
        """Return the loss."""
        return margin_ranking_loss(input1, input2, target, self.margin, self.reduction)


class CosineEmbeddingLoss(_Loss):
    """The module of :func:`cosine_embedding_loss`."""

    margin: float

    def __init__(self, margin: float = 0.0, reduction: Reduction = "mean") -> None:
        super().__init__(reduction)
        self.margin = margin

    def forward(self, input1: TensorLike, input2: TensorLike, target: TensorLike) -> Tensor:
        """Return the loss."""
        return cosine_embedding_loss(input1, input2, target, self.margin, self.reduction)


class TripletMarginLoss(_Loss):
    """The module of :func:`triplet_margin_loss`."""

    margin: float
    p: float
    eps: float
    swap: bool

    def __init__(
        self,
        margin: float = 1.0,
        p: float = 2.0,
        eps: float = 1e-6,
        swap: bool = False,
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__(reduction)
        self.margin = margin
        self.p = p
        self.eps = eps
        self.swap = swap

    def forward(self, anchor: TensorLike, positive: TensorLike, negative: TensorLike) -> Tensor:
        """Return the loss."""
        return triplet_margin_loss(anchor, positive, negative, self.margin, self.p, self.eps, self.swap, self.reduction)


class MultiMarginLoss(_WeightedLoss):
    """The module of :func:`multi_margin_loss`, with the class weights as the buffer ``weight``."""

    p: int
    margin: float

    def __init__(
        self,
        p: int = 1,
        margin: float = 1.0,
        weight: TensorLike | None = None,
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__(weight, reduction)
        self.p = p
        self.margin = margin

    def forward(self, input: TensorLike, target: ClassIndices) -> Tensor:
        """Return the loss."""
        return multi_margin_loss(input, target, self.p, self.margin, self.weight, self.reduction)
