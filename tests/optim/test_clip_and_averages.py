"""Clipping gradients and averaging parameters."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest

from clumsygrad.core import Tensor, parameter
from clumsygrad.optim import AveragedModel, ExponentialMovingAverage, clip_grad_norm_, clip_grad_value_

from .optimizers import get_grad


def make(grad: list[float]) -> Tensor:
    w = parameter(np.zeros(len(grad)))
    w.grad = grad
    return w


def test_a_parameter_listed_twice_counts_once() -> None:
    w = make([3.0, 4.0])
    assert clip_grad_norm_([w, w], 1.0) == 5.0
    np.testing.assert_allclose(get_grad(w), [0.6, 0.8], rtol=1e-5)


def test_one_tensor_or_an_iterator() -> None:
    assert clip_grad_norm_(make([3.0, 4.0]), 1.0) == 5.0
    assert clip_grad_norm_(iter([make([3.0]), make([4.0])]), 1.0) == 5.0
    assert clip_grad_norm_([parameter([1.0])], 1.0) == 0.0


def test_norms_beyond_the_squares_of_float32() -> None:
    assert clip_grad_norm_(make([3e30, 4e30]), math.inf) == pytest.approx(5e30, rel=1e-6)
    assert clip_grad_norm_(make([3e-30, 4e-30]), math.inf) == pytest.approx(5e-30, rel=1e-6)


def test_not_finite() -> None:
    w = make([1.0, math.inf])
    with pytest.raises(RuntimeError, match="norm of the gradients is inf"):
        clip_grad_norm_([w], 1.0, error_if_nonfinite=True)
    assert get_grad(w).tolist() == [1.0, math.inf]
    assert clip_grad_norm_([w], 1.0) == math.inf
    np.testing.assert_array_equal(get_grad(w), [0.0, math.nan])


def test_arguments_of_clipping() -> None:
    with pytest.raises(ValueError, match="max_norm is at least 0"):
        clip_grad_norm_([make([1.0])], -1.0)
    with pytest.raises(ValueError, match="norm_type"):
        clip_grad_norm_([make([1.0])], 1.0, norm_type=0.0)
    with pytest.raises(ValueError, match="clip_value is at least 0"):
        clip_grad_value_([make([1.0])], -1.0)
    with pytest.raises(TypeError, match="entry 0 is a int"):
        clip_grad_norm_([1], 1.0)  # type: ignore[list-item]  # a mistake to be caught  # pyright: ignore[reportArgumentType]


def look_inside(average: ExponentialMovingAverage, weight: Tensor, values: list[float]) -> None:
    with average.average_parameters():
        values += weight.tolist()
        raise ZeroDivisionError


def test_exponential_average() -> None:
    w = parameter([1.0, 2.0])
    average = ExponentialMovingAverage([w], 0.75)
    w.data[...] = [5.0, 6.0]
    average.update()
    assert average.averages[0].tolist() == [2.0, 3.0]
    state = average.state_dict()
    average.update()
    average.load_state_dict(state)
    assert average.averages[0].tolist() == [2.0, 3.0]
    assert average.num_updates == 1
    inside: list[float] = []
    with pytest.raises(ZeroDivisionError):
        look_inside(average, w, inside)
    assert inside == [2.0, 3.0]
    assert w.tolist() == [5.0, 6.0]
    average.copy_to()
    assert w.tolist() == [2.0, 3.0]
    with pytest.raises(ValueError, match="same number and shapes"):
        average.copy_to([parameter([1.0])])
    with pytest.raises(ValueError, match="decay is from 0 to 1"):
        ExponentialMovingAverage([w], 1.5)
    with pytest.raises(ValueError, match="average 0"):
        ExponentialMovingAverage([parameter([1.0])], 0.5).load_state_dict(state)


class Model:
    def __init__(self) -> None:
        self.weight = parameter([1.0, 1.0])
        self.mean = np.zeros(2, np.float32)

    def parameters(self) -> Iterator[Tensor]:
        yield self.weight

    def buffers(self) -> Iterator[np.ndarray[tuple[int, ...], np.dtype[np.float32]]]:
        yield self.mean

    def __call__(self, x: float) -> Tensor:
        return self.weight * x


@pytest.mark.parametrize("use_buffers", [False, True])
def test_averaged_model(use_buffers: bool) -> None:
    model = Model()
    average = AveragedModel(model, use_buffers=use_buffers)
    for value in (1.0, 2.0, 6.0):
        model.weight.data = np.full(2, value, np.float32)
        model.mean[...] = value
        average.update_parameters(model)
    assert average.module.weight.tolist() == [3.0, 3.0]
    assert average.module.mean.tolist() == ([3.0, 3.0] if use_buffers else [6.0, 6.0])
    assert average(2.0).tolist() == [6.0, 6.0]
    other = AveragedModel(model)
    other.load_state_dict(average.state_dict())
    assert other.n_averaged == 3
    assert other.module.weight.tolist() == [3.0, 3.0]
    with pytest.raises(TypeError, match=r"parameters\(\)"):
        AveragedModel(3)  # type: ignore[type-var]  # a mistake to be caught  # pyright: ignore[reportArgumentType]
