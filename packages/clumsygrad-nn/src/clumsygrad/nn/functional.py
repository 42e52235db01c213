"""Layers and losses as functions, with PyTorch's names and signatures.

Example:
    >>> from clumsygrad.nn import functional as F
    >>> F.relu([-1.0, 1.0]).tolist()
    [0.0, 1.0]
"""

from .activation import log_softmax as log_softmax
from .activation import relu as relu
from .activation import sigmoid as sigmoid
from .activation import softmax as softmax
from .activation import tanh as tanh
from .layers.linear import linear as linear
from .loss import cross_entropy as cross_entropy
from .loss import l1_loss as l1_loss
from .loss import mae_loss as mae_loss
from .loss import mse_loss as mse_loss
