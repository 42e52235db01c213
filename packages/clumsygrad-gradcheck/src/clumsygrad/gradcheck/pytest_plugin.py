"""The pytest plugin: a fixture that checks gradients, and failures that show the report and nothing else."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import pytest

from .api import check_gradient, check_second_gradient
from .report import GradientReport
from .subject import Function, Inputs


class GradCheck(Protocol):
    """What the fixture ``gradcheck`` is."""

    def __call__(
        self,
        fn: Function,
        inputs: Inputs,
        *,
        second: bool = False,
        eps: float = 1e-4,
        rtol: float = 1e-7,
        atol: float = 0.0,
        max_elements: int | None = None,
        rng: np.random.Generator | None = None,
        allow_kinks: bool = False,
    ) -> GradientReport:
        """Fail the test unless the gradients of ``fn`` are right; with ``second``, those of its gradients, too."""
        ...


@pytest.fixture
def gradcheck() -> GradCheck:
    """Check gradients: ``gradcheck(fn, inputs)``, with ``second=True`` for second derivatives as well.

    The other arguments are those of :func:`clumsygrad.gradcheck.check_gradient`. A failure is the report; the steps
    of the check are left out of the traceback.
    """

    def check(
        fn: Function,
        inputs: Inputs,
        *,
        second: bool = False,
        eps: float = 1e-4,
        rtol: float = 1e-7,
        atol: float = 0.0,
        max_elements: int | None = None,
        rng: np.random.Generator | None = None,
        allow_kinks: bool = False,
    ) -> GradientReport:
        __tracebackhide__ = True
        function = check_second_gradient if second else check_gradient
        return function(
            fn,
            inputs,
            eps=eps,
            rtol=rtol,
            atol=atol,
            max_elements=max_elements,
            rng=rng,
            allow_kinks=allow_kinks,
        )

    return check
