"""Layers against PyTorch's: its state loaded into ours gives its outputs, gradients and running statistics."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch

from clumsygrad import nn
from clumsygrad.core import Tensor, double_precision, gradients, parameter
from clumsygrad.nn import functional as F

torch.set_num_threads(1)

# Name, arguments, settings, shapes of the inputs.
LAYERS: list[tuple[str, tuple[Any, ...], dict[str, Any], list[tuple[int, ...]]]] = [
    ("Conv1d", (4, 6, 3), {}, [(2, 4, 9)]),
    ("Conv1d", (4, 6, 3), {"padding": 2, "stride": 2, "dilation": 3, "padding_mode": "circular"}, [(2, 4, 9)]),
    ("Conv1d", (4, 6, 4), {"padding": "same", "padding_mode": "reflect"}, [(4, 9)]),
    ("Conv2d", (4, 6, 3), {}, [(2, 4, 8, 9)]),
    ("Conv2d", (1, 8, 3), {"padding": 1, "bias": False}, [(40, 1, 28, 28)]),
    ("Conv2d", (4, 6, (3, 2)), {"stride": (2, 1), "padding": (1, 0), "dilation": (1, 2), "groups": 2}, [(2, 4, 8, 9)]),
    ("Conv2d", (4, 6, (3, 4)), {"padding": "same", "dilation": 2}, [(2, 4, 8, 9)]),
    ("Conv2d", (4, 6, 3), {"padding": "valid", "stride": 3}, [(4, 8, 9)]),
    ("Conv2d", (4, 4, 3), {"padding": 2, "padding_mode": "reflect", "groups": 4}, [(2, 4, 8, 9)]),
    ("Conv3d", (2, 3, 2), {"padding": 1, "stride": 2, "padding_mode": "replicate"}, [(2, 2, 5, 4, 6)]),
    ("Conv3d", (2, 4, (1, 2, 3)), {"groups": 2}, [(2, 2, 5, 4, 6)]),
    ("ConvTranspose1d", (4, 6, 3), {"stride": 3, "output_padding": 2}, [(2, 4, 5)]),
    ("ConvTranspose2d", (4, 6, 3), {"stride": 2, "padding": 1, "output_padding": 1, "groups": 2, "dilation": 2},
        [(2, 4, 5, 6)]),
    ("ConvTranspose2d", (4, 6, 3), {"output_padding": 1, "dilation": 2, "bias": False}, [(4, 5, 6)]),
    ("MaxPool1d", (3, 2, 1, 2), {}, [(3, 12)]),
    ("MaxPool2d", (2,), {}, [(2, 3, 9, 9)]),
    ("MaxPool2d", (3, 2, 1), {"ceil_mode": True}, [(2, 3, 8, 9)]),
    ("MaxPool2d", (3, 4), {"ceil_mode": True}, [(2, 3, 12, 14)]),
    ("AvgPool1d", (2,), {}, [(2, 3, 7)]),
    ("AvgPool1d", (3, 2, 1), {"ceil_mode": True, "count_include_pad": False}, [(2, 3, 8)]),
    ("AvgPool2d", (3, 2, 1), {"ceil_mode": True}, [(2, 3, 8, 9)]),
    ("AvgPool2d", (3, 2, 1), {"ceil_mode": True, "count_include_pad": False}, [(2, 3, 8, 9)]),
    ("AvgPool2d", (2,), {"divisor_override": 3}, [(3, 7, 8)]),
    ("AdaptiveAvgPool1d", (3,), {}, [(3, 7)]),
    ("AdaptiveAvgPool2d", ((3, None),), {}, [(2, 3, 7, 5)]),
    ("AdaptiveAvgPool2d", (2,), {}, [(2, 3, 8, 6)]),
    ("AdaptiveMaxPool1d", (3,), {}, [(2, 3, 7)]),
    ("AdaptiveMaxPool2d", ((3, 4),), {}, [(2, 3, 7, 5)]),
    ("AdaptiveMaxPool2d", (1,), {}, [(2, 3, 7, 5)]),
    ("BatchNorm1d", (3,), {}, [(5, 3)]),
    ("BatchNorm1d", (3,), {"momentum": None}, [(5, 3, 4)]),
    ("BatchNorm1d", (3,), {"track_running_stats": False}, [(5, 3, 4)]),
    ("BatchNorm2d", (3,), {"affine": False, "eps": 0.1, "momentum": 0.3}, [(5, 3, 4, 2)]),
    ("LayerNorm", ((3, 4),), {}, [(5, 3, 4)]),
    ("LayerNorm", (4,), {"bias": False}, [(5, 3, 4)]),
    ("LayerNorm", (4,), {"elementwise_affine": False}, [(4,)]),
    ("GroupNorm", (2, 4), {}, [(5, 4, 3)]),
    ("GroupNorm", (4, 4), {"affine": False}, [(5, 4, 3, 2)]),
    ("InstanceNorm1d", (3,), {"affine": True, "track_running_stats": True}, [(5, 3, 4)]),
    ("InstanceNorm2d", (3,), {}, [(3, 4, 5)]),
    ("RMSNorm", (4,), {}, [(5, 4)]),
    ("RMSNorm", ((2, 4),), {"eps": 0.1}, [(5, 2, 4)]),
    ("RNN", (3, 4), {}, [(5, 2, 3)]),
    ("RNN", (3, 4), {"nonlinearity": "relu", "bias": False, "num_layers": 2}, [(5, 2, 3), (2, 2, 4)]),
    ("LSTM", (3, 4), {"num_layers": 2, "bidirectional": True, "batch_first": True}, [(2, 5, 3), (4, 2, 4), (4, 2, 4)]),
    ("LSTM", (3, 4), {"bias": False}, [(5, 3)]),
    ("GRU", (3, 4), {"num_layers": 2, "bidirectional": True}, [(5, 2, 3), (4, 2, 4)]),
    ("GRU", (3, 4), {"bias": False}, [(5, 2, 3)]),
    ("RNNCell", (3, 4), {}, [(2, 3), (2, 4)]),
    ("LSTMCell", (3, 4), {}, [(2, 3), (2, 4), (2, 4)]),
    ("GRUCell", (3, 4), {}, [(2, 3), (2, 4)]),
    ("GRUCell", (3, 4), {"bias": False}, [(3,)]),
    ("TransformerEncoderLayer", (8, 2, 16, 0.0), {"batch_first": True}, [(2, 5, 8)]),
    ("TransformerEncoderLayer", (8, 2, 16, 0.0), {"norm_first": True, "activation": "gelu", "bias": False},
        [(5, 2, 8)]),
    ("TransformerDecoderLayer", (8, 2, 16, 0.0), {}, [(3, 2, 8), (5, 2, 8)]),
    ("TransformerDecoderLayer", (8, 2, 16, 0.0), {"norm_first": True, "batch_first": True}, [(2, 3, 8), (2, 5, 8)]),
    ("PixelShuffle", (2,), {}, [(2, 8, 3, 4)]),
    ("Upsample", (), {"scale_factor": 2}, [(2, 3, 4, 5)]),
    ("Upsample", ((7, 3),), {}, [(2, 3, 4, 5)]),
    ("Upsample", (), {"scale_factor": 2.5}, [(2, 3, 5)]),
    ("Upsample", (3,), {"mode": "linear"}, [(2, 3, 5)]),
    ("Upsample", (), {"scale_factor": 1.7, "mode": "bilinear"}, [(2, 3, 4, 5)]),
    ("Upsample", (), {"scale_factor": (2, 0.5), "mode": "bilinear", "align_corners": False}, [(2, 3, 4, 5)]),
    ("Upsample", ((6, 9),), {"mode": "bilinear", "align_corners": True}, [(2, 3, 4, 5)]),
]  # fmt: skip

CLOSED = ~np.tri(5, dtype=np.bool_)
ADDED = np.random.default_rng(3).standard_normal((5, 5))
PADDED = np.array([[0, 0, 0, 1, 1], [0, 0, 0, 0, 1]], np.bool_)

# Settings of the layer and of the call, shapes of query, key and value (one for self-attention).
ATTENTION: list[tuple[dict[str, Any], dict[str, Any], list[tuple[int, ...]]]] = [
    ({}, {}, [(5, 2, 8)]),
    ({"batch_first": True, "bias": False}, {"attn_mask": CLOSED, "average_attn_weights": False}, [(2, 5, 8)]),
    ({"batch_first": True}, {"attn_mask": np.stack([CLOSED] * 4), "need_weights": False}, [(2, 5, 8)]),
    (
        {"batch_first": True, "kdim": 3, "vdim": 4, "add_bias_kv": True, "add_zero_attn": True},
        {"key_padding_mask": PADDED},
        [(2, 5, 8), (2, 5, 3), (2, 5, 4)],
    ),
    ({}, {"attn_mask": ADDED}, [(5, 8)]),
    ({"batch_first": True}, {"attn_mask": ADDED, "key_padding_mask": np.where(PADDED, -np.inf, 0.0)}, [(2, 5, 8)]),
    ({"batch_first": True}, {"need_weights": False}, [(2, 4, 8), (2, 5, 8), (2, 5, 8)]),
]


@pytest.fixture(params=[False, True], ids=["float32", "double"])
def double(request: pytest.FixtureRequest) -> Iterator[bool]:
    """Run a test in float32, and in double precision."""
    if request.param:
        with double_precision():
            yield True
    else:
        yield False


def _flat(value: Any) -> list[Any]:
    if isinstance(value, (tuple, list)):
        return [part for item in value for part in _flat(item)]
    return [] if value is None else [value]


def _close(ours: Any, theirs: Any, double: bool, what: str) -> None:
    expected = theirs.detach().numpy() if isinstance(theirs, torch.Tensor) else np.asarray(theirs)
    actual = ours.data if isinstance(ours, Tensor) else np.asarray(ours)
    assert actual.shape == expected.shape, what
    # Sums of float32 numbers cancel: what counts is the error beside the largest of them.
    scale = float(np.abs(expected).max(initial=1.0))
    tolerances = {"rtol": 1e-9, "atol": 1e-10 * scale} if double else {"rtol": 1e-5, "atol": 4e-6 * scale}
    np.testing.assert_allclose(actual, expected, **tolerances, err_msg=what)


def _compare(
    ours: nn.Module,
    theirs: torch.nn.Module,
    shapes: list[tuple[int, ...]],
    double: bool,
    call: Callable[..., Any],
    steps: int = 2,
) -> None:
    assert list(ours.state_dict()) == list(theirs.state_dict())
    ours.load_state_dict({name: value.numpy() for name, value in theirs.state_dict().items()})
    rng = np.random.default_rng(0)
    dtype = torch.float64 if double else torch.float32
    for _ in range(steps):
        arrays = [rng.standard_normal(shape) for shape in shapes]
        inputs = [parameter(array) for array in arrays]
        torch_inputs = [torch.tensor(array, dtype=dtype, requires_grad=True) for array in arrays]
        results, expected = _flat(call(ours, *inputs)), _flat(call(theirs, *torch_inputs))
        assert len(results) == len(expected)
        loss, torch_loss = Tensor(0.0), torch.zeros((), dtype=dtype)
        for result, wanted in zip(results, expected, strict=True):
            _close(result, wanted, double, "output")
            weights = rng.standard_normal(result.shape)
            loss = loss + (result * weights).sum()
            torch_loss = torch_loss + (wanted * torch.tensor(weights, dtype=dtype)).sum()
        ours.zero_grad()
        theirs.zero_grad()
        loss.backward()
        torch_loss.backward()
        for tensor, torch_tensor in zip(inputs, torch_inputs, strict=True):
            _close(tensor.grad, torch_tensor.grad, double, "gradient of an input")
        by_name = dict(theirs.named_parameters())
        for name, value in ours.named_parameters():
            _close(value.grad, by_name[name].grad, double, f"gradient of {name}")
    for name, value in theirs.state_dict().items():
        _close(ours.state_dict()[name], value, double, name)
    ours.eval()
    theirs.eval()
    # Gradients on: without them PyTorch takes other paths through its transformer layers.
    arrays = [rng.standard_normal(shape) for shape in shapes]
    results = _flat(call(ours, *(Tensor(array) for array in arrays)))
    expected = _flat(call(theirs, *(torch.tensor(array, dtype=dtype, requires_grad=True) for array in arrays)))
    for result, wanted in zip(results, expected, strict=True):
        _close(result, wanted, double, "output in evaluation mode")


def _call(layer: Any, *inputs: Any) -> Any:
    if len(inputs) == 3 and "LSTM" in type(layer).__name__:
        return layer(inputs[0], (inputs[1], inputs[2]))
    return layer(*inputs)


@pytest.mark.parametrize(("name", "arguments", "settings", "shapes"), LAYERS)
def test_layer(
    name: str, arguments: tuple[Any, ...], settings: dict[str, Any], shapes: list[tuple[int, ...]], double: bool
) -> None:
    torch.manual_seed(0)
    theirs = getattr(torch.nn, name)(*arguments, **settings).to(torch.float64 if double else torch.float32)
    _compare(getattr(nn, name)(*arguments, **settings), theirs, shapes, double, _call)


@pytest.mark.parametrize(("settings", "options", "shapes"), ATTENTION)
def test_multihead_attention(
    settings: dict[str, Any], options: dict[str, Any], shapes: list[tuple[int, ...]], double: bool
) -> None:
    torch.manual_seed(0)
    dtype = torch.float64 if double else torch.float32
    theirs = torch.nn.MultiheadAttention(8, 2, **settings).to(dtype)

    def call(layer: Any, *inputs: Any) -> Any:
        given = options
        if isinstance(layer, torch.nn.Module):
            given = {
                name: torch.tensor(value, dtype=None if value.dtype == np.bool_ else dtype)
                if isinstance(value, np.ndarray)
                else value
                for name, value in options.items()
            }
        return layer(*(inputs if len(inputs) == 3 else inputs * 3), **given)

    _compare(nn.MultiheadAttention(8, 2, **settings), theirs, shapes, double, call)


def test_a_stack_of_encoder_layers(double: bool) -> None:
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True)
    theirs = torch.nn.TransformerEncoder(layer, 2, torch.nn.LayerNorm(8), enable_nested_tensor=False)
    own = nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True)
    ours = nn.TransformerEncoder(own, 2, nn.LayerNorm(8))
    _compare(ours, copy.deepcopy(theirs).to(torch.float64 if double else torch.float32), [(2, 5, 8)], double, _call)


@pytest.mark.parametrize("padding_idx", [None, 2])
def test_embedding(padding_idx: int | None, double: bool) -> None:
    theirs = torch.nn.Embedding(7, 3, padding_idx=padding_idx).to(torch.float64 if double else torch.float32)
    ids = np.array([[0, 2, 2], [6, 0, 0]])
    _compare(
        nn.Embedding(7, 3, padding_idx=padding_idx), theirs, [], double,
        lambda layer: layer(torch.tensor(ids) if isinstance(layer, torch.nn.Module) else ids),
    )  # fmt: skip


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
@pytest.mark.parametrize("padding_idx", [None, 2])
@pytest.mark.parametrize("offsets", [None, [0, 2, 2, 5]])
def test_embedding_bag(mode: Any, padding_idx: int | None, offsets: list[int] | None, double: bool) -> None:
    theirs = torch.nn.EmbeddingBag(7, 3, mode=mode, padding_idx=padding_idx)
    ids = np.array([0, 2, 6, 0, 1, 5])
    ids = ids if offsets else ids.reshape(2, 3)

    def call(layer: Any) -> Any:
        if isinstance(layer, torch.nn.Module):
            return layer(torch.tensor(ids), torch.tensor(offsets) if offsets else None)
        return layer(ids, offsets)

    _compare(
        nn.EmbeddingBag(7, 3, mode=mode, padding_idx=padding_idx),
        theirs.to(torch.float64 if double else torch.float32), [], double, call,
    )  # fmt: skip


SETTINGS: list[dict[str, Any]] = [
    {},
    {"is_causal": True},
    {"scale": 0.3},
    {"attn_mask": np.array([[1, 0, 1, 1], [1, 1, 0, 0], [0, 0, 0, 1]], np.bool_)},
    {"attn_mask": np.random.default_rng(5).standard_normal((2, 1, 3, 4))},
]


@pytest.mark.parametrize("settings", SETTINGS)
def test_scaled_dot_product_attention(settings: dict[str, Any], double: bool) -> None:
    dtype = torch.float64 if double else torch.float32
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal(shape) for shape in ((2, 2, 3, 4), (2, 2, 4, 4), (2, 2, 4, 5))]
    inputs = [parameter(array) for array in arrays]
    torch_inputs = [torch.tensor(array, dtype=dtype, requires_grad=True) for array in arrays]
    theirs = {
        name: torch.tensor(value, dtype=None if value.dtype == np.bool_ else dtype)
        if isinstance(value, np.ndarray)
        else value
        for name, value in settings.items()
    }
    y = F.scaled_dot_product_attention(*inputs, **settings)
    expected = torch.nn.functional.scaled_dot_product_attention(*torch_inputs, **theirs)
    _close(y, expected, double, "output")
    weights = rng.standard_normal(y.shape)
    y.backward(weights)
    expected.backward(torch.tensor(weights, dtype=dtype))
    for tensor, torch_tensor in zip(inputs, torch_inputs, strict=True):
        _close(tensor.grad, torch_tensor.grad, double, "gradient")


@pytest.mark.parametrize("kind", ["max", "adaptive_max"])
def test_ties_go_where_pytorch_lets_them_go(kind: str) -> None:
    x = np.random.default_rng(1).integers(0, 2, (2, 3, 6, 7)).astype(np.float32)
    tensor, torch_tensor = parameter(x), torch.tensor(x, requires_grad=True)
    if kind == "max":
        y, expected = F.max_pool2d(tensor, 3, 2, 1), torch.nn.functional.max_pool2d(torch_tensor, 3, 2, 1)
    else:
        y, expected = F.adaptive_max_pool2d(tensor, 4), torch.nn.functional.adaptive_max_pool2d(torch_tensor, 4)
    y.sum().backward()
    expected.sum().backward()
    _close(tensor.grad, torch_tensor.grad, False, "gradient")


def test_second_derivatives_of_a_convolution_and_an_lstm() -> None:
    for name, arguments, shape in (("Conv2d", (2, 3, 2), (2, 2, 4, 4)), ("LSTM", (3, 4), (3, 2, 3))):
        with double_precision():
            theirs = getattr(torch.nn, name)(*arguments).double()
            ours = getattr(nn, name)(*arguments)
            ours.load_state_dict({key: value.numpy() for key, value in theirs.state_dict().items()})
            x = np.random.default_rng(2).standard_normal(shape)
            tensor, torch_tensor = parameter(x), torch.tensor(x, requires_grad=True)
            y, expected = _flat(ours(tensor))[0], _flat(theirs(torch_tensor))[0]
            (first,) = gradients((y**3).sum(), tensor, create_graph=True)
            (torch_first,) = torch.autograd.grad((expected**3).sum(), torch_tensor, create_graph=True)
            (first * first).sum().backward()
            (torch_first * torch_first).sum().backward()
            _close(tensor.grad, torch_tensor.grad, True, "second derivative")
            by_name = dict(theirs.named_parameters())
            for key, value in ours.named_parameters():
                _close(value.grad, by_name[key].grad, True, key)
