"""Lion against its paper's Algorithm 2, written out one value at a time: PyTorch has no Lion to compare with."""

from __future__ import annotations

import numpy as np
import pytest

from clumsygrad.core import double_precision, parameter
from clumsygrad.optim import Lion

STEPS = 50


@pytest.mark.parametrize("maximize", [False, True])
@pytest.mark.parametrize("weight_decay", [0.0, 0.3])
@pytest.mark.parametrize("betas", [(0.9, 0.99), (0.5, 0.8), (0.0, 0.0)])
def test_trajectory_is_that_of_the_paper(betas: tuple[float, float], weight_decay: float, maximize: bool) -> None:
    rng = np.random.default_rng(3)
    lr = 0.02
    grads = rng.normal(size=(STEPS, 5))
    # An exact zero in the direction has no sign, and must not move the parameter.
    grads[:, 4] = 0
    with double_precision():
        w = parameter(rng.normal(size=5))
        expected = w.tolist()
        momentum = [0.0] * 5
        optimizer = Lion([w], lr=lr, betas=betas, weight_decay=weight_decay, maximize=maximize)
        for step in range(STEPS):
            w.grad = grads[step]
            optimizer.step()
            for index in range(5):
                grad = float(-grads[step, index] if maximize else grads[step, index])
                direction = betas[0] * momentum[index] + (1 - betas[0]) * grad
                sign = (direction > 0) - (direction < 0)
                expected[index] -= lr * (sign + weight_decay * expected[index])
                momentum[index] = betas[1] * momentum[index] + (1 - betas[1]) * grad
            np.testing.assert_allclose(w.data, np.array(expected), rtol=1e-12, atol=1e-14, err_msg=f"step {step}")
