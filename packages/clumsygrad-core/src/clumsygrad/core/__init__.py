"""A small, strictly typed reverse-mode automatic differentiation engine on NumPy.

Example:
    >>> from clumsygrad.core import math, parameter
    >>> x = parameter([1.0, 2.0, 3.0])
    >>> y = math.sum(math.tanh(x) * x)
    >>> y.backward()
    >>> x.grad.round(4)
    array([1.1816, 1.1053, 1.0247], dtype=float32)
"""

from . import functional as functional
from . import grad as grad
from . import linalg as linalg
from . import math as math
from . import random as random
from .broadcasting import unbroadcast as unbroadcast

# Tensor comes through creation, since 'from .tensor import' would bind that module in place of the function tensor().
from .creation import Tensor as Tensor
from .creation import arange as arange
from .creation import as_tensor as as_tensor
from .creation import create_node as create_node
from .creation import eye as eye
from .creation import from_numpy as from_numpy
from .creation import full as full
from .creation import mark_updated as mark_updated
from .creation import ones as ones
from .creation import parameter as parameter
from .creation import tensor as tensor
from .creation import zeros as zeros
from .engine import gradients as gradients
from .memory import keep_freed_memory as keep_freed_memory
from .methods import attach_methods
from .mode import double_precision as double_precision
from .mode import enable_grad as enable_grad
from .mode import is_grad_enabled as is_grad_enabled
from .mode import no_grad as no_grad
from .registry import OPERATIONS as OPERATIONS
from .registry import Operation as Operation
from .tensor_type import TensorType as TensorType
from .types import Array as Array
from .types import Axis as Axis
from .types import GradFn as GradFn
from .types import GradientTuple as GradientTuple
from .types import Shape as Shape
from .types import TensorLike as TensorLike
from .utils import TensorUtils as TensorUtils

__all__ = [
    "OPERATIONS",
    "Array",
    "Axis",
    "GradFn",
    "GradientTuple",
    "Operation",
    "Shape",
    "Tensor",
    "TensorLike",
    "TensorType",
    "TensorUtils",
    "arange",
    "as_tensor",
    "create_node",
    "double_precision",
    "enable_grad",
    "eye",
    "from_numpy",
    "full",
    "functional",
    "grad",
    "gradients",
    "is_grad_enabled",
    "keep_freed_memory",
    "linalg",
    "mark_updated",
    "math",
    "no_grad",
    "ones",
    "parameter",
    "random",
    "tensor",
    "unbroadcast",
    "zeros",
]

__version__ = "0.3.0"

attach_methods(Tensor)
