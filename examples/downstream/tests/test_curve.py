"""The fit finds what the measurements were made from."""

from __future__ import annotations

import numpy as np
import pytest
from gradfit import fit

from clumsygrad.core import Tensor


def test_a_decay_is_found_within_its_errors() -> None:
    """The true values lie within four standard errors."""

    def decay(x: Tensor, amplitude: Tensor, rate: Tensor) -> Tensor:
        return amplitude * np.exp(-rate * x)

    rng = np.random.default_rng(0)
    x = np.linspace(0, 5, 60)
    y = 3 * np.exp(-0.7 * x) + rng.normal(scale=0.05, size=x.shape)
    found = fit(decay, x, y, start=(1.0, 1.0))
    assert np.all(np.abs(found.values - (3, 0.7)) < 4 * found.errors)
    assert 0.03 < found.spread < 0.07


def test_too_few_measurements_are_refused() -> None:
    """As many coefficients as measurements leave no spread to estimate."""
    with pytest.raises(ValueError, match="more measurements"):
        fit(lambda x, a: a * x, [1.0], [1.0], start=(1.0,))
