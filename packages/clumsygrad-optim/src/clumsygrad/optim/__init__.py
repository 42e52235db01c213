"""Optimizers, schedules and gradient clipping for clumsygrad-core, with PyTorch's names and numbers."""

from .adam import Adam as Adam
from .adam import AdamW as AdamW
from .elementwise import ElementwiseOptimizer as ElementwiseOptimizer
from .optimizer import Optimizer as Optimizer
from .optimizer import ParamGroup as ParamGroup
from .optimizer import ParamsLike as ParamsLike
from .optimizer import StateDict as StateDict
from .sgd import SGD as SGD

__version__ = "0.3.0"
