"""Calls that reach every backward function: the table of core's operations, and one of nn's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from core.operation_table import CASES

from clumsygrad import nn
from clumsygrad.core import Tensor, gradients, math, parameter
from clumsygrad.core.functional import checkpoint
from clumsygrad.nn import functional as F

Inputs = tuple[npt.NDArray[Any], ...]


@dataclass(frozen=True)
class Example:
    """A function of Tensors, and where to check it."""

    label: str
    function: Callable[..., Any]
    inputs: Inputs

    def size(self) -> int:
        return sum(array.size for array in self.inputs)


def tensors_in(result: object) -> tuple[Tensor, ...]:
    """Return the Tensors in a result."""
    if isinstance(result, Tensor):
        return (result,)
    if isinstance(result, (list, tuple)):
        return tuple(tensor for part in result for tensor in tensors_in(part))
    return ()


def derivative(example: Example) -> Example:
    """Return the gradient of an example as an example: a function of the inputs and of the outputs' gradients."""
    number = len(example.inputs)
    outputs = tensors_in(example.function(*map(parameter, example.inputs)))
    rng = np.random.default_rng(0)
    seeds = tuple(rng.standard_normal(output.shape) for output in outputs if output.requires_grad)

    def function(*arguments: Tensor) -> tuple[Tensor, ...]:
        results = [out for out in tensors_in(example.function(*arguments[:number])) if out.requires_grad]
        if not results:
            return ()
        found = gradients(results, arguments[:number], arguments[number:], create_graph=True, allow_unused=True)
        return tuple(grad for grad in found if grad is not None)

    return Example(f"gradient of {example.label}", function, (*example.inputs, *seeds))


def examples() -> list[Example]:
    """Return all calls."""
    found = [Example(str(case), case.function, case.inputs) for case in CASES]
    found += [Example(label, function, inputs) for label, function, inputs in (*_core(), *_nn())]
    return found


def _values(*shapes: tuple[int, ...], positive: bool = False) -> Inputs:
    rng = np.random.default_rng(len(shapes) + sum(map(sum, shapes)))
    arrays = tuple(rng.uniform(0.3, 1.5, shape) for shape in shapes)
    return arrays if positive else tuple(array * rng.choice([-1.0, 1.0], array.shape) for array in arrays)


Row = tuple[str, Callable[..., Any], Inputs]


def _core() -> Iterator[Row]:
    yield "checkpoint", lambda x, y: checkpoint(lambda a, b: math.tanh(a) * b, x, y), _values((3,), (2, 3))


LABELS = np.array([1, 0, 3])
TARGETS = np.random.default_rng(5).uniform(0.1, 0.9, (3, 4))
SIGNS = np.array([1.0, -1.0, 1.0])

# For each function of nn.functional its calls, each with the inputs to differentiate by.
FUNCTIONAL: dict[str, list[tuple[Callable[..., Any], Inputs]]] = {
    **{
        name: [(lambda x, name=name: getattr(F, name)(x), _values((3, 4)))]
        for name in (
            "celu", "elu", "glu", "hardsigmoid", "hardswish", "hardtanh", "leaky_relu", "log_softmax",
            "logsigmoid", "mish", "relu", "relu6", "selu", "sigmoid", "silu", "softmax", "softmin", "softplus",
            "softsign", "tanh",
        )
    },
    "gelu": [
        (lambda x: F.gelu(x), _values((3, 4))),
        (lambda x: F.gelu(x, approximate="tanh"), _values((3, 4))),
    ],
    "dropout": [(lambda x: F.dropout(x, 0.4, rng=np.random.default_rng(3)), _values((3, 4)))],
    "dropout1d": [(lambda x: F.dropout1d(x, 0.4, rng=np.random.default_rng(3)), _values((2, 3, 2)))],
    "dropout2d": [(lambda x: F.dropout2d(x, 0.4, rng=np.random.default_rng(3)), _values((2, 3, 2, 1)))],
    "dropout3d": [(lambda x: F.dropout3d(x, 0.4, rng=np.random.default_rng(3)), _values((2, 3, 2, 1, 1)))],
    "bilinear": [(lambda x, y, w, b: F.bilinear(x, y, w, b), _values((2, 2), (2, 3), (2, 2, 3), (2,)))],
    "scaled_dot_product_attention": [
        (lambda q, k, v: F.scaled_dot_product_attention(q, k, v), _values((1, 3, 2), (1, 3, 2), (1, 3, 2))),
        (
            lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
            _values((2, 2, 2), (2, 2, 2), (2, 2, 2)),
        ),
    ],
    "prelu": [(lambda x, w: F.prelu(x, w), _values((2, 3, 2), (3,)))],
    "cosine_similarity": [(lambda x, y: F.cosine_similarity(x, y), _values((3, 4), (3, 4)))],
    "normalize": [(lambda x: F.normalize(x), _values((3, 4)))],
    "pairwise_distance": [(lambda x, y: F.pairwise_distance(x, y), _values((3, 4), (3, 4)))],
    "linear": [
        (lambda x, w, b: F.linear(x, w, b), _values((3, 3), (3, 3), (3,))),
        (lambda x, w: F.linear(x, w), _values((2, 3), (4, 3))),
    ],
    "conv1d": [(lambda x, w, b: F.conv1d(x, w, b, padding=1), _values((1, 2, 4), (2, 2, 3), (2,)))],
    "conv2d": [
        (lambda x, w, b: F.conv2d(x, w, b, padding=1), _values((1, 2, 3, 3), (2, 2, 3, 3), (2,))),
        (lambda x, w: F.conv2d(x, w, stride=2, groups=2), _values((1, 2, 4, 4), (2, 1, 2, 2))),
    ],
    "conv3d": [(lambda x, w: F.conv3d(x, w), _values((1, 1, 2, 3, 2), (2, 1, 1, 2, 2)))],
    "conv_transpose1d": [(lambda x, w, b: F.conv_transpose1d(x, w, b, stride=2), _values((1, 2, 3), (2, 1, 2), (1,)))],
    "conv_transpose2d": [(lambda x, w: F.conv_transpose2d(x, w), _values((1, 2, 2, 2), (2, 1, 2, 2)))],
    "batch_norm": [
        (lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True), _values((4, 3), (3,), (3,))),
    ],
    "group_norm": [(lambda x, w, b: F.group_norm(x, 2, w, b), _values((2, 4, 2), (4,), (4,)))],
    "instance_norm": [(lambda x, w, b: F.instance_norm(x, None, None, w, b), _values((2, 2, 3), (2,), (2,)))],
    "layer_norm": [
        (lambda x, w, b: F.layer_norm(x, (3,), w, b), _values((3, 3), (3,), (3,))),
        (lambda x: F.layer_norm(x, (3,)), _values((2, 3))),
    ],
    "rms_norm": [(lambda x, w: F.rms_norm(x, (3,), w), _values((3, 3), (3,)))],
    "avg_pool1d": [(lambda x: F.avg_pool1d(x, 2), _values((1, 2, 4)))],
    "avg_pool2d": [(lambda x: F.avg_pool2d(x, 2, 1), _values((1, 1, 3, 3)))],
    "max_pool1d": [(lambda x: F.max_pool1d(x, 2, 1), _values((1, 2, 4)))],
    "max_pool2d": [(lambda x: F.max_pool2d(x, 2, 1), _values((1, 1, 3, 3)))],
    "adaptive_avg_pool1d": [(lambda x: F.adaptive_avg_pool1d(x, 3), _values((1, 2, 4)))],
    "adaptive_avg_pool2d": [(lambda x: F.adaptive_avg_pool2d(x, 2), _values((1, 1, 3, 3)))],
    "adaptive_max_pool1d": [(lambda x: F.adaptive_max_pool1d(x, 3), _values((1, 2, 4)))],
    "adaptive_max_pool2d": [(lambda x: F.adaptive_max_pool2d(x, 2), _values((1, 1, 3, 3)))],
    "mse_loss": [
        (lambda x, y: F.mse_loss(x, y), _values((3, 4), (3, 4))),
        (lambda x, y: F.mse_loss(x, y, reduction="none"), _values((2, 2), (2, 2))),
    ],
    "l1_loss": [(lambda x, y: F.l1_loss(x, y), _values((3, 4), (3, 4)))],
    "mae_loss": [(lambda x, y: F.mae_loss(x, y), _values((3, 4), (3, 4)))],
    "smooth_l1_loss": [(lambda x, y: F.smooth_l1_loss(x, y), _values((3, 4), (3, 4)))],
    "huber_loss": [(lambda x, y: F.huber_loss(x, y), _values((3, 4), (3, 4)))],
    "cross_entropy": [
        (lambda x: F.cross_entropy(x, LABELS), _values((3, 4))),
        (lambda x: F.cross_entropy(x, LABELS, reduction="none", label_smoothing=0.1), _values((3, 4))),
        (lambda x, y: F.cross_entropy(x, y), (*_values((3, 4)), TARGETS)),
    ],
    "nll_loss": [(lambda x: F.nll_loss(x, LABELS), _values((3, 4)))],
    "binary_cross_entropy": [(lambda x, y: F.binary_cross_entropy(x, y), (TARGETS, TARGETS[::-1].copy()))],
    "binary_cross_entropy_with_logits": [
        (lambda x, y: F.binary_cross_entropy_with_logits(x, y), (*_values((3, 4)), TARGETS)),
    ],
    "kl_div": [(lambda x, y: F.kl_div(x, y, reduction="sum"), (*_values((3, 4)), TARGETS))],
    "poisson_nll_loss": [(lambda x, y: F.poisson_nll_loss(x, y), (*_values((3, 4)), TARGETS))],
    "gaussian_nll_loss": [
        (lambda x, y, v: F.gaussian_nll_loss(x, y, v), (*_values((3, 4), (3, 4)), TARGETS)),
    ],
    "hinge_embedding_loss": [(lambda x: F.hinge_embedding_loss(x, SIGNS), _values((3,)))],
    "margin_ranking_loss": [(lambda x, y: F.margin_ranking_loss(x, y, SIGNS), _values((3,), (3,)))],
    "cosine_embedding_loss": [(lambda x, y: F.cosine_embedding_loss(x, y, SIGNS), _values((3, 4), (3, 4)))],
    "triplet_margin_loss": [(lambda x, y, z: F.triplet_margin_loss(x, y, z), _values((3, 4), (3, 4), (3, 4)))],
    "multi_margin_loss": [(lambda x: F.multi_margin_loss(x, LABELS), _values((3, 4)))],
    "pixel_shuffle": [(lambda x: F.pixel_shuffle(x, 2), _values((4, 1, 2)))],
    "interpolate": [
        (lambda x: F.interpolate(x, size=3), _values((1, 2, 2))),
        (lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"), _values((1, 1, 2, 2))),
    ],
    "ctc_loss": [
        (
            lambda x: F.ctc_loss(F.log_softmax(x), np.array([[1, 2]]), np.array([4]), np.array([2])),
            _values((4, 1, 3)),
        ),
    ],
    "embedding": [(lambda w: F.embedding([[0, 3], [3, 1]], w), _values((4, 3)))],
    "embedding_bag": [(lambda w: F.embedding_bag([[0, 3], [3, 1]], w), _values((4, 3)))],
}  # fmt: skip


def through(module: nn.Module, states: int = 0) -> Callable[..., Any]:
    """Return the call of a module as a function of its input, of so many states, and of its parameters."""
    places = [name.rpartition(".") for name, _ in module.named_parameters()]

    def function(x: Tensor, *others: Tensor) -> Any:
        for (path, _, name), value in zip(places, others[states:], strict=True):
            object.__setattr__(module.get_submodule(path), name, value)
        return module(x, others[:states] if states > 1 else others[0]) if states else module(x)

    return function


def _modules() -> Iterator[tuple[str, nn.Module, list[tuple[int, ...]]]]:
    rng = np.random.default_rng(4)
    step, state = (2, 1, 2), (1, 1, 2)
    yield "RNN", nn.RNN(2, 2, rng=rng), [step, state]
    yield "RNN relu", nn.RNN(2, 2, nonlinearity="relu", bias=False, rng=rng), [step]
    yield "LSTM", nn.LSTM(2, 2, rng=rng), [step, state, state]
    yield "LSTM both ways", nn.LSTM(1, 1, bidirectional=True, rng=rng), [(2, 1, 1)]
    yield "GRU", nn.GRU(2, 2, rng=rng), [step, state]


def _nn() -> Iterator[Row]:
    for label, module, shapes in _modules():
        inputs = (*_values(*shapes), *(np.array(item.data, float) for item in module.parameters()))
        yield label, through(module, len(shapes) - 1), inputs
    for name, calls in FUNCTIONAL.items():
        if hasattr(F, name):
            for position, (function, inputs) in enumerate(calls):
                yield f"{name} {position}", function, inputs
