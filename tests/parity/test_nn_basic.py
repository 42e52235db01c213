"""Linear layers, containers, losses as modules, initial values and files: interchangeable with PyTorch's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.torch
import torch
from parity.nn_comparison import compare

from clumsygrad import nn
from clumsygrad.core import double_precision, parameter, random, zeros
from clumsygrad.nn import functional as F

RNG = np.random.default_rng(0)


def to_arrays(module: torch.nn.Module) -> dict[str, np.ndarray[Any, Any]]:
    return {name: value.detach().numpy() for name, value in module.state_dict().items()}


# What makes a model from either library.
MODELS: list[tuple[Callable[[Any], Any], tuple[int, ...]]] = [
    (lambda lib: lib.Linear(4, 3), (5, 4)),
    (lambda lib: lib.Linear(4, 3, bias=False), (5, 4)),
    (lambda lib: lib.Linear(4, 3), (4,)),
    (lambda lib: lib.Linear(4, 3), (2, 3, 4)),
    (lambda lib: lib.Sequential(lib.Linear(4, 8), lib.GELU(), lib.Linear(8, 2)), (6, 4)),
    (lambda lib: lib.Sequential(lib.Flatten(), lib.Linear(12, 4), lib.Unflatten(1, (2, 2)), lib.PReLU(2)), (3, 3, 4)),
    (lambda lib: lib.Sequential(lib.Identity(), lib.Dropout(0.5), lib.Linear(4, 2)).eval(), (3, 4)),
]


@pytest.mark.parametrize("precise", [False, True])
@pytest.mark.parametrize(("make", "shape"), MODELS)
def test_model(make: Callable[[Any], Any], shape: tuple[int, ...], precise: bool) -> None:
    values = RNG.normal(size=shape)
    dtype, rtol, atol = (torch.float64, 1e-9, 1e-12) if precise else (torch.float32, 1e-5, 1e-6)
    other = make(torch.nn).to(dtype)
    y = torch.tensor(values, dtype=dtype, requires_grad=True)
    right = other(y)
    (right * right).sum().backward()
    if precise:
        with double_precision():
            mine, x = make(nn), parameter(values)
            mine.load_state_dict(to_arrays(other))
            left = mine(x)
            (left * left).sum().backward()
    else:
        mine, x = make(nn), parameter(values)
        mine.load_state_dict(to_arrays(other))
        left = mine(x)
        (left * left).sum().backward()
    assert repr(mine) == repr(other).replace(", inplace=False", "")
    np.testing.assert_allclose(left.data, right.detach().numpy(), rtol=rtol, atol=atol)
    np.testing.assert_allclose(x.grad, y.grad.numpy(), rtol=rtol, atol=atol)
    theirs = dict(other.named_parameters())
    for name, param in mine.named_parameters():
        np.testing.assert_allclose(param.grad, theirs[name].grad.numpy(), rtol=rtol, atol=atol)
    other.load_state_dict({name: torch.tensor(value) for name, value in mine.state_dict().items()})
    np.testing.assert_allclose(other(y).detach().numpy(), left.data, rtol=rtol, atol=atol)


@pytest.mark.parametrize("shape", [(5,), (2, 5), ()])
def test_bilinear(shape: tuple[int, ...]) -> None:
    arrays = [
        RNG.normal(size=(*shape, 3)), RNG.normal(size=(*shape, 2)), RNG.normal(size=(4, 3, 2)), RNG.normal(size=4)
    ]  # fmt: skip
    compare(F.bilinear, torch.nn.functional.bilinear, arrays)
    assert repr(nn.Bilinear(3, 2, 4)) == "Bilinear(in1_features=3, in2_features=2, out_features=4, bias=True)"


LOSSES: list[Callable[[Any, Callable[[Any], Any]], Any]] = [
    lambda lib, t: (
        lib.CrossEntropyLoss(t([1.0, 2.0, 3.0]), 1, reduction="sum", label_smoothing=0.1)
        if lib is nn
        else lib.CrossEntropyLoss(t([1.0, 2.0, 3.0]), ignore_index=1, reduction="sum", label_smoothing=0.1)
    ),
    lambda lib, t: lib.NLLLoss(t([1.0, 2.0, 3.0])),
    lambda lib, t: lib.BCELoss(t([1.0, 2.0])),
    lambda lib, t: lib.BCEWithLogitsLoss(t([1.0, 2.0]), pos_weight=t([2.0, 3.0])),
    lambda lib, t: lib.MultiMarginLoss(weight=t([1.0, 2.0])),
    lambda lib, t: lib.MSELoss(),
    lambda lib, t: lib.CTCLoss(),
]


@pytest.mark.parametrize("make", LOSSES)
def test_losses_have_the_same_state(make: Callable[[Any, Callable[[Any], Any]], Any]) -> None:
    mine, other = make(nn, np.array), make(torch.nn, torch.tensor)
    assert repr(mine) == repr(other)
    state = to_arrays(other)
    assert list(mine.state_dict()) == list(state)
    for name, value in mine.state_dict().items():
        np.testing.assert_array_equal(value, state[name])


# Functions of a tensor and settings, whose values should be distributed as PyTorch's.
INITS: list[tuple[str, tuple[int, ...], dict[str, Any]]] = [
    ("uniform_", (300, 100), {"a": -1.0, "b": 3.0}),
    ("normal_", (300, 100), {"mean": 1.0, "std": 3.0}),
    ("trunc_normal_", (300, 100), {"mean": 1.0, "std": 2.0, "a": -1.0, "b": 2.0}),
    ("xavier_uniform_", (300, 100), {"gain": 2.0}),
    ("xavier_normal_", (30, 20, 7, 7), {}),
    ("kaiming_uniform_", (30, 20, 7, 7), {"a": 0.3}),
    ("kaiming_uniform_", (300, 100), {"mode": "fan_out", "nonlinearity": "tanh"}),
    ("kaiming_normal_", (300, 100), {"nonlinearity": "relu"}),
    ("orthogonal_", (100, 200), {"gain": 3.0}),
    ("sparse_", (100, 200), {"sparsity": 0.3, "std": 1.0}),
    ("dirac_", (8, 2, 3, 3), {"groups": 4}),
    ("dirac_", (2, 8, 3), {}),
    ("eye_", (3, 5), {}),
    ("constant_", (3, 5), {"val": 2.0}),
]


@pytest.mark.parametrize(("name", "shape", "settings"), INITS)
def test_initial_values(name: str, shape: tuple[int, ...], settings: dict[str, Any]) -> None:
    torch.manual_seed(0)
    random.seed(0)
    mine = getattr(nn.init, name)(zeros(shape), **settings).data
    other = getattr(torch.nn.init, name)(torch.zeros(shape), **settings).numpy()
    if name in {"dirac_", "eye_", "constant_"}:
        np.testing.assert_array_equal(mine, other)
        return
    points = np.linspace(0.02, 0.98, 13)
    spread = other.std()
    np.testing.assert_allclose(np.quantile(mine, points), np.quantile(other, points), atol=0.1 * spread)
    if name.endswith("uniform_") or name == "trunc_normal_":
        np.testing.assert_allclose([mine.min(), mine.max()], [other.min(), other.max()], atol=0.02 * spread)


@pytest.mark.parametrize("name", ["linear", "conv2d", "sigmoid", "tanh", "relu", "leaky_relu", "selu"])
def test_gain(name: Any) -> None:
    assert nn.init.calculate_gain(name) == pytest.approx(torch.nn.init.calculate_gain(name))


@pytest.mark.parametrize(
    "make",
    [
        lambda lib: lib.Linear(50, 400),
        lambda lib: lib.Bilinear(50, 4, 60),
    ],
)
def test_default_initial_values(make: Callable[[Any], Any]) -> None:
    for (name, mine), (_, other) in zip(make(nn).named_parameters(), make(torch.nn).named_parameters(), strict=True):
        np.testing.assert_allclose(mine.data.std(), other.detach().numpy().std(), rtol=0.15, err_msg=name)
        np.testing.assert_allclose(np.abs(mine.data).max(), other.detach().abs().max().item(), rtol=0.1)


def test_safetensors_are_read_by_pytorch_and_written_by_it(tmp_path: Path) -> None:
    mine, other = (lib.Sequential(lib.Linear(3, 4), lib.Linear(4, 2)) for lib in (nn, torch.nn))
    nn.save(mine.state_dict(), tmp_path / "mine.safetensors")
    other.load_state_dict(safetensors.torch.load_file(tmp_path / "mine.safetensors"))
    for name, value in to_arrays(other).items():
        np.testing.assert_array_equal(value, mine.state_dict()[name])
    other = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Linear(4, 2))
    safetensors.torch.save_file(other.state_dict(), tmp_path / "other.safetensors")
    mine.load_state_dict(nn.load(tmp_path / "other.safetensors"))
    for name, value in to_arrays(other).items():
        np.testing.assert_array_equal(value, mine.state_dict()[name])


def test_bfloat16_files_become_float32(tmp_path: Path) -> None:
    values = torch.randn(3, 4).to(torch.bfloat16)
    safetensors.torch.save_file({"x": values}, tmp_path / "half.safetensors")
    loaded = nn.load(tmp_path / "half.safetensors")["x"]
    assert loaded.dtype == np.float32
    np.testing.assert_array_equal(loaded, values.float().numpy())


def test_types_that_numpy_lacks_are_named(tmp_path: Path) -> None:
    safetensors.torch.save_file({"x": torch.zeros(2).to(torch.float8_e4m3fn)}, tmp_path / "quarter.safetensors")
    with pytest.raises(nn.SavedStateError, match="F8"):
        nn.load(tmp_path / "quarter.safetensors")
