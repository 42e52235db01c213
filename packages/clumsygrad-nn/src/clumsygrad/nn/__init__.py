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
from .layers.conv import Conv1d as Conv1d
from .layers.conv import Conv2d as Conv2d
from .layers.conv import Conv3d as Conv3d
from .layers.conv import ConvTranspose1d as ConvTranspose1d
from .layers.conv import ConvTranspose2d as ConvTranspose2d
from .layers.linear import Linear as Linear
from .layers.normalization import BatchNorm1d as BatchNorm1d
from .layers.normalization import BatchNorm2d as BatchNorm2d
from .layers.normalization import GroupNorm as GroupNorm
from .layers.normalization import InstanceNorm1d as InstanceNorm1d
from .layers.normalization import InstanceNorm2d as InstanceNorm2d
from .layers.normalization import LayerNorm as LayerNorm
from .layers.normalization import RMSNorm as RMSNorm
from .layers.pooling import AdaptiveAvgPool1d as AdaptiveAvgPool1d
from .layers.pooling import AdaptiveAvgPool2d as AdaptiveAvgPool2d
from .layers.pooling import AdaptiveMaxPool1d as AdaptiveMaxPool1d
from .layers.pooling import AdaptiveMaxPool2d as AdaptiveMaxPool2d
from .layers.pooling import AvgPool1d as AvgPool1d
from .layers.pooling import AvgPool2d as AvgPool2d
from .layers.pooling import MaxPool1d as MaxPool1d
from .layers.pooling import MaxPool2d as MaxPool2d
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
