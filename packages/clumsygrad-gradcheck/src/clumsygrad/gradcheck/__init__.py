"""A finite-difference gradient checker for clumsygrad-core.

Example:
    >>> import numpy as np
    >>> from clumsygrad.core import math
    >>> from clumsygrad.gradcheck import check_gradient
    >>> print(check_gradient(lambda x: math.sum(math.exp(x)), np.array([0.5, -1.0])))
    Gradient check passed: 2 elements of 1 input against 1 output.
"""

from .api import assert_gradient as assert_gradient
from .api import check_gradient as check_gradient
from .api import check_second_gradient as check_second_gradient
from .api import numerical_gradient as numerical_gradient
from .api import numerical_jacobian as numerical_jacobian
from .module import check_module as check_module
from .report import GradientError as GradientError
from .report import GradientReport as GradientReport
from .report import InputReport as InputReport
from .report import Problem as Problem

__all__ = [
    "GradientError",
    "GradientReport",
    "InputReport",
    "Problem",
    "assert_gradient",
    "check_gradient",
    "check_module",
    "check_second_gradient",
    "numerical_gradient",
    "numerical_jacobian",
]

__version__ = "0.3.0"
