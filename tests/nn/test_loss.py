"""Losses: their derivatives, their composed forms, their reductions and their errors."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from nn.finite_difference import check_derivatives, grad_of

from clumsygrad import nn
from clumsygrad.core import Tensor, double_precision, gradients, math, parameter
from clumsygrad.nn import functional as F
from clumsygrad.nn.loss import Reduction

RNG = np.random.default_rng(0)
X, Y = RNG.normal(scale=2, size=(3, 4)), RNG.normal(scale=2, size=(3, 4))
P, Q = RNG.uniform(0.1, 0.9, (3, 4)), RNG.uniform(0.1, 0.9, (3, 4))
SIGNS = np.array([[1.0, -1.0, 1.0, 1.0], [-1.0, 1.0, -1.0, -1.0], [1.0, 1.0, -1.0, 1.0]])
CLASSES = np.array([0, 3, 1])
WEIGHT = np.array([0.5, 2.0, 1.0, 1.5])
REDUCTIONS: list[Reduction] = ["none", "mean", "sum"]

# A loss, and the arrays to differentiate it by.
LOSSES: dict[str, tuple[Callable[..., Tensor], list[Any]]] = {
    "mse": (F.mse_loss, [X, Y]),
    "l1": (F.l1_loss, [X, Y]),
    "smooth_l1": (F.smooth_l1_loss, [X, Y]),
    "huber": (lambda x, y, **k: F.huber_loss(x, y, delta=0.7, **k), [X, Y]),
    "cross_entropy": (lambda x, **k: F.cross_entropy(x, CLASSES, **k), [X]),
    "cross_entropy_weighted": (lambda x, **k: F.cross_entropy(x, CLASSES, WEIGHT, ignore_index=1, **k), [X]),
    "cross_entropy_smoothed": (lambda x, **k: F.cross_entropy(x, CLASSES, label_smoothing=0.1, **k), [X]),
    "cross_entropy_soft": (F.cross_entropy, [X, P]),
    "nll": (lambda x, **k: F.nll_loss(x * x, CLASSES, WEIGHT, **k), [X]),
    "bce": (F.binary_cross_entropy, [P, Q]),
    "bce_with_logits": (F.binary_cross_entropy_with_logits, [X, P]),
    "bce_with_logits_weighted": (
        lambda x, y, **k: F.binary_cross_entropy_with_logits(x, y, WEIGHT, pos_weight=WEIGHT, **k),
        [X, P],
    ),
    "kl_div": (F.kl_div, [X, P]),
    "kl_div_log": (lambda x, y, **k: F.kl_div(x, y, log_target=True, **k), [X, Y]),
    "poisson": (F.poisson_nll_loss, [X, Y]),
    "gaussian": (F.gaussian_nll_loss, [X, Y, P]),
    "hinge": (lambda x, **k: F.hinge_embedding_loss(x, SIGNS, **k), [P]),
    "margin_ranking": (lambda x, y, **k: F.margin_ranking_loss(x, y, SIGNS, 0.1, **k), [X, Y]),
    "cosine": (lambda x, y, **k: F.cosine_embedding_loss(x, y, [1, -1, 1], **k), [X, Y]),
    "triplet": (lambda x, y, z, **k: F.triplet_margin_loss(x, y, z, margin=5.0, swap=True, **k), [X, Y, P]),
    "multi_margin": (lambda x, **k: F.multi_margin_loss(x, CLASSES, p=2, **k), [X]),
    "ctc": (
        lambda x, **k: F.ctc_loss(F.log_softmax(x.reshape(4, 1, 3)), [[1, 1]], [4], [2], **k),
        [X],
    ),
}


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("name", LOSSES)
def test_first_and_second_derivatives(name: str, reduction: Reduction) -> None:
    loss, arrays = LOSSES[name]
    check_derivatives(lambda *tensors: loss(*tensors, reduction=reduction), *arrays, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", LOSSES)
def test_sum_is_that_of_the_elements(name: str) -> None:
    loss, arrays = LOSSES[name]
    total = loss(*map(Tensor, arrays), reduction="sum").item()
    np.testing.assert_allclose(loss(*map(Tensor, arrays), reduction="none").sum().item(), total, rtol=1e-5)


@pytest.mark.parametrize("name", LOSSES)
def test_unknown_reduction(name: str) -> None:
    loss, arrays = LOSSES[name]
    with pytest.raises(ValueError, match="reduction"):
        loss(*map(Tensor, arrays), reduction="average")


@pytest.mark.parametrize("name", LOSSES)
def test_everything_is_float32(name: str) -> None:
    loss, arrays = LOSSES[name]
    leaves = [parameter(array) for array in arrays]
    result = loss(*leaves)
    result.backward()
    assert result.dtype == np.float32
    assert all(grad_of(leaf).dtype == np.float32 for leaf in leaves)


PAIRS: dict[str, Callable[..., Tensor]] = {
    "mse_loss": F.mse_loss,
    "l1_loss": F.l1_loss,
    "smooth_l1_loss": F.smooth_l1_loss,
    "huber_loss": F.huber_loss,
    "binary_cross_entropy": F.binary_cross_entropy,
    "binary_cross_entropy_with_logits": F.binary_cross_entropy_with_logits,
    "kl_div": F.kl_div,
    "poisson_nll_loss": F.poisson_nll_loss,
    "gaussian_nll_loss": lambda x, y: F.gaussian_nll_loss(x, y, 1.0),
    "hinge_embedding_loss": F.hinge_embedding_loss,
    "margin_ranking_loss": lambda x, y: F.margin_ranking_loss(x, y, x),
    "triplet_margin_loss": lambda x, y: F.triplet_margin_loss(x, x, y),
}


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize(
    ("first", "second"), [((3, 1), (3,)), ((3,), (3, 1)), ((2, 3), (3,)), ((1,), (3,)), ((3,), ())]
)
def test_shapes_that_would_be_broadcast_are_an_error_that_shows_both(
    name: str, first: tuple[int, ...], second: tuple[int, ...]
) -> None:
    with pytest.raises(ValueError, match="same shape") as caught:
        PAIRS[name](np.ones(first), np.ones(second))
    assert str(first) in str(caught.value)
    assert str(second) in str(caught.value)


def test_mse_of_a_column_and_a_row() -> None:
    with pytest.raises(ValueError, match="same shape"):
        F.mse_loss([[0.0], [2.0], [5.0]], [0.0, 2.0, 5.0])
    assert F.mse_loss(np.array([[0.0], [2.0], [5.0]]).reshape(3), [0.0, 2.0, 5.0]).item() == 0.0


def test_label_smoothing_leaves_ignored_samples_out() -> None:
    logits = [[2.0, 0.0, -1.0], [0.0, 1.0, 3.0], [1.0, 1.0, 1.0]]
    x = parameter(logits)
    loss = F.cross_entropy(x, [0, -100, 2], label_smoothing=0.2)
    loss.backward()
    np.testing.assert_allclose(loss.item(), 0.80089587, rtol=1e-6)
    expected = [[-0.0114359856, 0.0237642638, -0.0123283025], [0.0, 0.0, 0.0], [0.133333325, 0.133333325, -0.266666681]]
    np.testing.assert_allclose(grad_of(x), expected, rtol=1e-5, atol=1e-7)
    total = F.cross_entropy(logits, [0, -100, 2], label_smoothing=0.2, reduction="sum")
    np.testing.assert_allclose(total.item(), 1.60179164, rtol=1e-6)
    without = F.cross_entropy([logits[0], logits[2]], [0, 2], label_smoothing=0.2)
    np.testing.assert_allclose(without.item(), loss.item(), rtol=1e-6)


def test_gradient_of_bce_with_logits_at_zero() -> None:
    x = parameter([0.0, 0.0])
    loss = F.binary_cross_entropy_with_logits(x, [0.0, 1.0], reduction="sum")
    loss.backward()
    np.testing.assert_allclose(loss.item(), 1.38629436, rtol=1e-6)
    assert grad_of(x).tolist() == [0.5, -0.5]


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("weight", [None, WEIGHT])
@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_cross_entropy_is_nll_of_log_softmax(
    reduction: Reduction, weight: np.ndarray[Any, Any] | None, smoothing: float
) -> None:
    with double_precision():
        x, y = parameter(X), parameter(X)
        fused = F.cross_entropy(x, CLASSES, weight, 1, reduction, smoothing)
        logs = F.log_softmax(y)
        composed = F.nll_loss(logs, CLASSES, weight, 1, reduction) * (1 - smoothing)
        if smoothing:
            scale = np.ones(4) if weight is None else weight
            rows = -(logs * scale).sum(1)[np.flatnonzero(CLASSES != 1)]
            counted = scale[CLASSES[CLASSES != 1]].sum() if reduction == "mean" else 1.0
            composed = composed + rows.sum() * (smoothing / 4 / counted)
        np.testing.assert_allclose(fused.item(), composed.item(), rtol=1e-12)
        (first,) = gradients(fused, x, create_graph=True)
        (second,) = gradients(composed, y, create_graph=True)
        np.testing.assert_allclose(first.data, second.data, rtol=1e-9, atol=1e-15)
        (third,), (fourth,) = gradients((first * Y).sum(), x), gradients((second * Y).sum(), y)
        np.testing.assert_allclose(third.data, fourth.data, rtol=1e-9, atol=1e-15)


def test_cross_entropy_of_large_logits() -> None:
    x = parameter([[1e4, 0.0, -1e4], [0.0, 1e4, 0.0]])
    loss = F.cross_entropy(x, [2, 1], reduction="none")
    assert loss.tolist() == [20000.0, 0.0]
    loss.sum().backward()
    assert grad_of(x).tolist() == [[1.0, 0.0, -1.0], [0.0, 0.0, 0.0]]


def test_cross_entropy_of_classes_that_are_ruled_out() -> None:
    x = parameter([[0.0, -np.inf, 0.0]])
    F.cross_entropy(x, [0]).backward()
    assert grad_of(x).tolist() == [[-0.5, 0.0, 0.5]]
    assert F.cross_entropy(x, [1]).item() == np.inf


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_mean_of_no_samples_is_nan_and_its_gradient_is_empty(smoothing: float) -> None:
    x = parameter(np.zeros((0, 3)))
    loss = F.cross_entropy(x, np.zeros(0, int), label_smoothing=smoothing)
    assert np.isnan(loss.item())
    loss.backward()
    assert grad_of(x).shape == (0, 3)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_mean_of_ignored_samples_alone_is_nan_and_its_gradient_zero(smoothing: float) -> None:
    x = parameter([[1.0, 2.0]])
    loss = F.cross_entropy(x, [-100], label_smoothing=smoothing)
    assert np.isnan(loss.item())
    loss.backward()
    assert not grad_of(x).any()
    assert F.cross_entropy([[1.0, 2.0]], [-100], reduction="sum").item() == 0.0


@pytest.mark.parametrize("loss", [F.cross_entropy, F.nll_loss])
@pytest.mark.parametrize(
    ("target", "error", "message"),
    [
        ([0, 4, 1], ValueError, "between 0 and 3"),
        ([0, -1, 1], ValueError, "between 0 and 3"),
        ([0, 1], ValueError, r"\(3,\)"),
        ([[0], [1], [2]], ValueError, r"\(3, 1\)"),
        (np.array([0.0, 1.0, 2.0]), TypeError, "integer"),
        ([0.5, 1.0, 2.0], TypeError, "integer"),
    ],
)
def test_class_numbers_that_are_none(
    loss: Callable[..., Tensor], target: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        loss(X, target)


def test_class_numbers_in_a_tensor_are_refused() -> None:
    with pytest.raises(TypeError, match="integer array"):
        F.cross_entropy(X, Tensor([0, 1, 2]))


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int32, np.int64, list])
def test_class_numbers_of_every_integer_type(kind: Any) -> None:
    target = CLASSES.tolist() if kind is list else CLASSES.astype(kind)
    assert F.cross_entropy(X, target).item() == F.cross_entropy(X, CLASSES).item()


@pytest.mark.parametrize("loss", [F.cross_entropy, F.nll_loss, F.multi_margin_loss])
def test_class_weights_are_one_for_each_class_and_constant(loss: Callable[..., Tensor]) -> None:
    with pytest.raises(ValueError, match="each of the 4 classes"):
        loss(X, CLASSES, weight=np.ones(3))
    with pytest.raises(ValueError, match="constants"):
        loss(X, CLASSES, weight=parameter(WEIGHT))


def test_mse_weight_of_another_shape() -> None:
    with pytest.raises(ValueError, match="same shape"):
        F.mse_loss(X, Y, weight=np.ones(4))


def test_bce_weight_broadcasts_to_the_input_only() -> None:
    with pytest.raises(ValueError, match="broadcasts"):
        F.binary_cross_entropy(P[0], Q[0], np.ones((3, 4)))
    with pytest.raises(ValueError, match="broadcasts"):
        F.binary_cross_entropy(P, Q, np.ones(3))


@pytest.mark.parametrize("value", [-0.1, 1.1, np.nan])
def test_bce_takes_probabilities(value: float) -> None:
    with pytest.raises(ValueError, match="with_logits"):
        F.binary_cross_entropy([value], [1.0])


def test_bce_at_the_ends_is_finite() -> None:
    x = parameter([0.0, 1.0, 0.0, 1.0])
    loss = F.binary_cross_entropy(x, [0.0, 1.0, 1.0, 0.0], reduction="none")
    assert loss.tolist() == [0.0, 0.0, 100.0, 100.0]
    loss.sum().backward()
    assert np.isfinite(grad_of(x)).all()


def test_kl_div_of_impossible_events_is_zero() -> None:
    x, y = parameter([-np.inf, 0.0]), parameter([0.0, 1.0])
    loss = F.kl_div(x, y, reduction="sum")
    assert loss.item() == 0.0
    loss.backward()
    assert grad_of(x).tolist() == [0.0, -1.0]
    assert np.isfinite(grad_of(y)).all()


def test_kl_div_batchmean_is_the_sum_over_the_rows() -> None:
    total = F.kl_div(X, P, reduction="sum").item()
    np.testing.assert_allclose(F.kl_div(X, P, reduction="batchmean").item(), total / 3, rtol=1e-6)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: F.smooth_l1_loss(X, Y, beta=-1.0), "beta"),
        (lambda: F.huber_loss(X, Y, delta=0.0), "delta"),
        (lambda: F.cross_entropy(X, CLASSES, label_smoothing=1.5), "label_smoothing"),
        (lambda: F.cross_entropy(1.0, 0), "axis of classes"),
        (lambda: F.gaussian_nll_loss(X, Y, -P), "not negative"),
        (lambda: F.gaussian_nll_loss(X, Y, P[:2]), "last axis"),
        (lambda: F.hinge_embedding_loss(X, X), "1 or -1"),
        (lambda: F.cosine_embedding_loss(X, Y, [1, 0, 1]), "1 or -1"),
        (lambda: F.cosine_embedding_loss(X, Y, [1, 1]), r"\(N, D\)"),
        (lambda: F.triplet_margin_loss(X, X, Y, margin=0.0), "margin"),
        (lambda: F.triplet_margin_loss(X, X, Y, p=0.0), "order"),
        (lambda: F.multi_margin_loss(X, CLASSES, p=3), "p of 1 or 2"),
        (lambda: F.multi_margin_loss(X[np.newaxis], [[0] * 4]), r"\(N, C\)"),
        (lambda: F.ctc_loss(X, [1], 3, 4), "labels"),
        (lambda: F.ctc_loss(X, [1], 9, 1), "frames"),
        (lambda: F.ctc_loss(X, [0], 3, 1), "blank"),
        (lambda: F.ctc_loss(X, [7], 3, 1), "labels lie"),
        (lambda: F.ctc_loss(X, [1], 3, 1, blank=4), "one of the 4 classes"),
        (lambda: F.ctc_loss(X[0], [1], 3, 1), r"\(T, N, C\)"),
        (lambda: F.ctc_loss(X[np.newaxis], [1, 2, 3], [1, 1], [1, 1, 1]), "each of the 3"),
        (lambda: F.ctc_loss(X, [1], 3, -1), "negative"),
        (lambda: F.ctc_loss(X[np.newaxis], [1, 2], [1] * 3, [1] * 3), "in a row"),
    ],
)
def test_errors(call: Callable[[], Tensor], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def alignments(labels: list[int], frames: int, classes: int) -> list[tuple[int, ...]]:
    """Return all sequences of classes that read as the labels: repetitions joined, then blanks (0) left out."""
    ways = itertools.product(range(classes), repeat=frames)
    return [way for way in ways if [label for label, _ in itertools.groupby(way) if label] == labels]


@pytest.mark.parametrize("labels", [[], [1], [1, 1], [1, 2], [2, 2, 1]])
def test_ctc_is_the_sum_over_all_alignments(labels: list[int]) -> None:
    logs = F.log_softmax(np.random.default_rng(5).normal(size=(4, 3))).data
    total = sum(np.exp(sum(logs[time, label] for time, label in enumerate(way))) for way in alignments(labels, 4, 3))
    expected = -np.log(total) if total else np.inf
    np.testing.assert_allclose(F.ctc_loss(logs, labels, 4, len(labels), reduction="sum").item(), expected, rtol=1e-5)


def test_ctc_of_an_input_without_frames() -> None:
    logs = np.zeros((2, 2, 3))
    loss = F.ctc_loss(logs, [[1], [1]], [0, 0], [0, 1], reduction="none")
    assert loss.tolist() == [0.0, np.inf]


def test_ctc_gradient_of_what_does_not_fit_is_zero() -> None:
    x = parameter(np.zeros((2, 1, 3)))
    F.ctc_loss(F.log_softmax(x), [[1, 1]], [2], [2], zero_infinity=True).backward()
    assert not grad_of(x).any()


@pytest.mark.parametrize("order", [0.5, 1.0, 2.0, 3.0, np.inf])
def test_distance_to_itself_has_a_finite_gradient(order: float) -> None:
    x, y = parameter(X), parameter(X)
    F.pairwise_distance(x, y, order, eps=0.0).sum().backward()
    assert np.isfinite(grad_of(x)).all()


def test_norms_do_not_overflow() -> None:
    assert F.pairwise_distance([1e15], [0.0], 3.0).item() == pytest.approx(1e15)


def test_cosine_similarity_of_nothing_is_zero() -> None:
    x = parameter([[0.0, 0.0]])
    y = F.cosine_similarity(x, [[1.0, 0.0]])
    y.sum().backward()
    assert y.tolist() == [0.0]
    assert np.isfinite(grad_of(x)).all()


MODULES: list[tuple[nn.Module, list[Any], Callable[..., Tensor]]] = [
    (nn.MSELoss("sum"), [X, Y], lambda x, y: F.mse_loss(x, y, "sum")),
    (nn.L1Loss(), [X, Y], F.l1_loss),
    (nn.MAELoss(), [X, Y], F.mae_loss),
    (nn.SmoothL1Loss(beta=0.3), [X, Y], lambda x, y: F.smooth_l1_loss(x, y, beta=0.3)),
    (nn.HuberLoss(delta=0.3), [X, Y], lambda x, y: F.huber_loss(x, y, delta=0.3)),
    (
        nn.CrossEntropyLoss(WEIGHT, 1, "sum", 0.1),
        [X, CLASSES],
        lambda x, t: F.cross_entropy(x, t, WEIGHT, 1, "sum", 0.1),
    ),
    (nn.NLLLoss(WEIGHT, 1), [X, CLASSES], lambda x, t: F.nll_loss(x, t, WEIGHT, 1)),
    (nn.BCELoss(WEIGHT), [P, Q], lambda x, y: F.binary_cross_entropy(x, y, WEIGHT)),
    (
        nn.BCEWithLogitsLoss(WEIGHT, "sum", WEIGHT),
        [X, Q],
        lambda x, y: F.binary_cross_entropy_with_logits(x, y, WEIGHT, "sum", WEIGHT),
    ),
    (nn.KLDivLoss("batchmean", True), [X, Y], lambda x, y: F.kl_div(x, y, "batchmean", True)),
    (nn.PoissonNLLLoss(full=True), [X, P], lambda x, y: F.poisson_nll_loss(x, y, full=True)),
    (nn.GaussianNLLLoss(full=True), [X, Y, P], lambda x, y, v: F.gaussian_nll_loss(x, y, v, full=True)),
    (nn.HingeEmbeddingLoss(2.0), [P, SIGNS], lambda x, y: F.hinge_embedding_loss(x, y, 2.0)),
    (nn.MarginRankingLoss(2.0), [X, Y, SIGNS], lambda x, y, s: F.margin_ranking_loss(x, y, s, 2.0)),
    (nn.CosineEmbeddingLoss(0.2), [X, Y, [1, -1, 1]], lambda x, y, s: F.cosine_embedding_loss(x, y, s, 0.2)),
    (nn.TripletMarginLoss(3.0, 1.0), [X, Y, P], lambda x, y, z: F.triplet_margin_loss(x, y, z, 3.0, 1.0)),
    (nn.MultiMarginLoss(2, 0.5, WEIGHT), [X, CLASSES], lambda x, t: F.multi_margin_loss(x, t, 2, 0.5, WEIGHT)),
    (
        nn.CTCLoss(zero_infinity=True),
        [X.reshape(4, 1, 3), [[1, 1]], [4], [2]],
        lambda x, t, frames, lengths: F.ctc_loss(x, t, frames, lengths, zero_infinity=True),
    ),
]


@pytest.mark.parametrize(("module", "arguments", "function"), MODULES, ids=lambda value: type(value).__name__)
def test_module_is_its_function(module: nn.Module, arguments: list[Any], function: Callable[..., Tensor]) -> None:
    assert module(*arguments).item() == function(*arguments).item()


def test_module_checks_its_reduction_when_it_is_made() -> None:
    for kind in (nn.MSELoss, nn.KLDivLoss, nn.CTCLoss):
        with pytest.raises(ValueError, match="reduction"):
            kind(reduction="average")  # type: ignore[arg-type]  # the error is tested


def test_losses_train() -> None:
    w = parameter(np.zeros((2, 1)))
    x = np.random.default_rng(0).normal(size=(64, 2))
    y = x @ np.array([[1.0], [-2.0]])
    for _ in range(200):
        w.zero_grad()
        F.mse_loss(math.matmul(x, w), y).backward()
        w.data -= 0.1 * grad_of(w)
    np.testing.assert_allclose(w.data, [[1.0], [-2.0]], atol=1e-3)
