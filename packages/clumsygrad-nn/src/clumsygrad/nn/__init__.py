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
from .activation import CELU as CELU
from .activation import ELU as ELU
from .activation import GELU as GELU
from .activation import GLU as GLU
from .activation import SELU as SELU
from .activation import Hardsigmoid as Hardsigmoid
from .activation import Hardswish as Hardswish
from .activation import Hardtanh as Hardtanh
from .activation import LeakyReLU as LeakyReLU
from .activation import LogSigmoid as LogSigmoid
from .activation import LogSoftmax as LogSoftmax
from .activation import Mish as Mish
from .activation import PReLU as PReLU
from .activation import ReLU as ReLU
from .activation import ReLU6 as ReLU6
from .activation import Sigmoid as Sigmoid
from .activation import SiLU as SiLU
from .activation import Softmax as Softmax
from .activation import Softmin as Softmin
from .activation import Softplus as Softplus
from .activation import Softsign as Softsign
from .activation import Tanh as Tanh
from .containers import ModuleDict as ModuleDict
from .containers import ModuleList as ModuleList
from .containers import Sequential as Sequential
from .ctc import CTCLoss as CTCLoss
from .data import Batches as Batches
from .data import batches as batches
from .layers.attention import MultiheadAttention as MultiheadAttention
from .layers.conv import Conv1d as Conv1d
from .layers.conv import Conv2d as Conv2d
from .layers.conv import Conv3d as Conv3d
from .layers.conv import ConvTranspose1d as ConvTranspose1d
from .layers.conv import ConvTranspose2d as ConvTranspose2d
from .layers.dropout import Dropout as Dropout
from .layers.dropout import Dropout1d as Dropout1d
from .layers.dropout import Dropout2d as Dropout2d
from .layers.dropout import Dropout3d as Dropout3d
from .layers.embedding import Embedding as Embedding
from .layers.embedding import EmbeddingBag as EmbeddingBag
from .layers.linear import Bilinear as Bilinear
from .layers.linear import Flatten as Flatten
from .layers.linear import Identity as Identity
from .layers.linear import Linear as Linear
from .layers.linear import Unflatten as Unflatten
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
from .layers.recurrent import GRU as GRU
from .layers.recurrent import LSTM as LSTM
from .layers.recurrent import RNN as RNN
from .layers.recurrent import GRUCell as GRUCell
from .layers.recurrent import LSTMCell as LSTMCell
from .layers.recurrent import RNNCell as RNNCell
from .layers.transformer import TransformerDecoderLayer as TransformerDecoderLayer
from .layers.transformer import TransformerEncoder as TransformerEncoder
from .layers.transformer import TransformerEncoderLayer as TransformerEncoderLayer
from .layers.upsampling import PixelShuffle as PixelShuffle
from .layers.upsampling import Upsample as Upsample
from .loss import BCELoss as BCELoss
from .loss import BCEWithLogitsLoss as BCEWithLogitsLoss
from .loss import CosineEmbeddingLoss as CosineEmbeddingLoss
from .loss import CrossEntropyLoss as CrossEntropyLoss
from .loss import GaussianNLLLoss as GaussianNLLLoss
from .loss import HingeEmbeddingLoss as HingeEmbeddingLoss
from .loss import HuberLoss as HuberLoss
from .loss import KLDivLoss as KLDivLoss
from .loss import L1Loss as L1Loss
from .loss import MAELoss as MAELoss
from .loss import MarginRankingLoss as MarginRankingLoss
from .loss import MSELoss as MSELoss
from .loss import MultiMarginLoss as MultiMarginLoss
from .loss import NLLLoss as NLLLoss
from .loss import PoissonNLLLoss as PoissonNLLLoss
from .loss import SmoothL1Loss as SmoothL1Loss
from .loss import TripletMarginLoss as TripletMarginLoss
from .module import HookHandle as HookHandle
from .module import IncompatibleKeys as IncompatibleKeys
from .module import Module as Module
from .module import Parameter as Parameter
from .module import StateDictError as StateDictError
from .saving import SavedStateError as SavedStateError
from .saving import load as load
from .saving import save as save
from .summary import Summary as Summary
from .summary import summary as summary

__all__ = [
    "CELU",
    "ELU",
    "GELU",
    "GLU",
    "GRU",
    "LSTM",
    "RNN",
    "SELU",
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AvgPool1d",
    "AvgPool2d",
    "BCELoss",
    "BCEWithLogitsLoss",
    "BatchNorm1d",
    "BatchNorm2d",
    "Batches",
    "Bilinear",
    "CTCLoss",
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "CosineEmbeddingLoss",
    "CrossEntropyLoss",
    "Dropout",
    "Dropout1d",
    "Dropout2d",
    "Dropout3d",
    "Embedding",
    "EmbeddingBag",
    "Flatten",
    "GRUCell",
    "GaussianNLLLoss",
    "GroupNorm",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "HingeEmbeddingLoss",
    "HookHandle",
    "HuberLoss",
    "Identity",
    "IncompatibleKeys",
    "InstanceNorm1d",
    "InstanceNorm2d",
    "KLDivLoss",
    "L1Loss",
    "LSTMCell",
    "LayerNorm",
    "LeakyReLU",
    "Linear",
    "LogSigmoid",
    "LogSoftmax",
    "MAELoss",
    "MSELoss",
    "MarginRankingLoss",
    "MaxPool1d",
    "MaxPool2d",
    "Mish",
    "Module",
    "ModuleDict",
    "ModuleList",
    "MultiMarginLoss",
    "MultiheadAttention",
    "NLLLoss",
    "PReLU",
    "Parameter",
    "PixelShuffle",
    "PoissonNLLLoss",
    "RMSNorm",
    "RNNCell",
    "ReLU",
    "ReLU6",
    "SavedStateError",
    "Sequential",
    "SiLU",
    "Sigmoid",
    "SmoothL1Loss",
    "Softmax",
    "Softmin",
    "Softplus",
    "Softsign",
    "StateDictError",
    "Summary",
    "Tanh",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
    "TripletMarginLoss",
    "Unflatten",
    "Upsample",
    "batches",
    "functional",
    "init",
    "load",
    "save",
    "summary",
]

__version__ = "0.3.0"
