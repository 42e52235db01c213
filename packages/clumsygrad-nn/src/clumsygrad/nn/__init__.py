"""Neural-network layers, losses and saving for clumsygrad-core, with PyTorch's names and numbers.

Example:
    >>> import numpy as np
    >>> from clumsygrad.nn import CrossEntropyLoss, Linear, ReLU, Sequential
    >>> rng = np.random.default_rng(0)
    >>> model = Sequential(Linear(4, 16, rng=rng), ReLU(), Linear(16, 3, rng=rng))
    >>> loss = CrossEntropyLoss()(model(rng.random((8, 4))), rng.integers(0, 3, 8))
    >>> loss.backward()
    >>> model[0].weight.grad.shape
    (16, 4)
"""

from . import functional as functional
from . import init as init
from .activation import LogSoftmax as LogSoftmax
from .activation import ReLU as ReLU
from .activation import Sigmoid as Sigmoid
from .activation import Softmax as Softmax
from .activation import Tanh as Tanh
from .containers import Sequential as Sequential
from .layers.linear import Linear as Linear
from .loss import CrossEntropyLoss as CrossEntropyLoss
from .loss import L1Loss as L1Loss
from .loss import MAELoss as MAELoss
from .loss import MSELoss as MSELoss
from .module import HookHandle as HookHandle
from .module import IncompatibleKeys as IncompatibleKeys
from .module import Module as Module
from .module import Parameter as Parameter
from .module import StateDictError as StateDictError

__version__ = "0.3.0"
