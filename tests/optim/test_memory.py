"""No step makes a temporary as large as a parameter."""

from __future__ import annotations

import gc
import tracemalloc

import numpy as np
import pytest

from clumsygrad.core import Tensor, parameter
from clumsygrad.optim import ExponentialMovingAverage, clip_grad_norm_, clip_grad_value_

from .optimizers import ELEMENTWISE, STEPPED, Make

SIDE = 1000
BYTES = 4 * SIDE * SIDE


def make_large(contiguous: bool = True) -> Tensor:
    tensor = parameter(np.full((SIDE, SIDE), 0.5))
    tensor.grad = np.full((SIDE, SIDE), 0.25)
    if not contiguous:
        tensor.data = np.asfortranarray(tensor.data)
    return tensor


@pytest.mark.parametrize("make", STEPPED.values(), ids=STEPPED)
def test_a_step(make: Make) -> None:
    tensor = make_large()
    optimizer = make([tensor])
    optimizer.step()
    assert measure(optimizer.step) < BYTES / 8


@pytest.mark.parametrize("make", ELEMENTWISE.values(), ids=ELEMENTWISE)
def test_a_step_of_an_array_in_another_order(make: Make) -> None:
    tensor = make_large(contiguous=False)
    optimizer = make([tensor])
    optimizer.step()
    # The iterator has a buffer of a block for each of up to five arrays.
    assert measure(optimizer.step) < BYTES / 2


def test_clipping_and_averaging() -> None:
    tensor = make_large()
    average = ExponentialMovingAverage([tensor], 0.9)
    assert measure(average.update) < BYTES / 8
    assert measure(lambda: clip_grad_norm_([tensor], 1.0)) < BYTES / 4
    assert measure(lambda: clip_grad_value_([tensor], 1.0)) < BYTES / 8


def measure(action: object) -> int:
    """Return by how many bytes the memory in use grew, at its highest, during an action."""
    assert callable(action)
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        action()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
