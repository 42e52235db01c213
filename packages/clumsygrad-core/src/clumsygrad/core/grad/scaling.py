"""The product of a gradient and a slope that may be infinite."""

from __future__ import annotations

import numpy as np

from ..types import Array


def scaled(grad: Array, slope: Array) -> Array:
    """Return ``grad * slope``, in which a gradient of zero stays zero whatever the slope.

    The branch that a ``where`` did not take hands on a gradient of zero; it must not become NaN at a point where the
    branch's own slope is infinite or undefined.
    """
    if not np.isfinite(slope).all():
        slope = np.where(grad == 0, 0, slope)
    return grad * slope
