"""Layers and losses as functions, with PyTorch's names and signatures.

Example:
    >>> from clumsygrad.nn import functional as F
    >>> F.relu([-1.0, 1.0]).tolist()
    [0.0, 1.0]
"""

from .activation import celu as celu
from .activation import elu as elu
from .activation import gelu as gelu
from .activation import glu as glu
from .activation import hardsigmoid as hardsigmoid
from .activation import hardswish as hardswish
from .activation import hardtanh as hardtanh
from .activation import leaky_relu as leaky_relu
from .activation import log_softmax as log_softmax
from .activation import logsigmoid as logsigmoid
from .activation import mish as mish
from .activation import prelu as prelu
from .activation import relu as relu
from .activation import relu6 as relu6
from .activation import selu as selu
from .activation import sigmoid as sigmoid
from .activation import silu as silu
from .activation import softmax as softmax
from .activation import softmin as softmin
from .activation import softplus as softplus
from .activation import softsign as softsign
from .activation import tanh as tanh
from .ctc import ctc_loss as ctc_loss
from .distance import cosine_similarity as cosine_similarity
from .distance import normalize as normalize
from .distance import pairwise_distance as pairwise_distance
from .layers.attention import scaled_dot_product_attention as scaled_dot_product_attention
from .layers.conv import conv1d as conv1d
from .layers.conv import conv2d as conv2d
from .layers.conv import conv3d as conv3d
from .layers.conv import conv_transpose1d as conv_transpose1d
from .layers.conv import conv_transpose2d as conv_transpose2d
from .layers.dropout import dropout as dropout
from .layers.dropout import dropout1d as dropout1d
from .layers.dropout import dropout2d as dropout2d
from .layers.dropout import dropout3d as dropout3d
from .layers.embedding import as_ids as as_ids
from .layers.embedding import embedding as embedding
from .layers.embedding import embedding_backward as embedding_backward
from .layers.embedding import embedding_bag as embedding_bag
from .layers.linear import bilinear as bilinear
from .layers.linear import linear as linear
from .layers.normalization import batch_norm as batch_norm
from .layers.normalization import group_norm as group_norm
from .layers.normalization import instance_norm as instance_norm
from .layers.normalization import layer_norm as layer_norm
from .layers.normalization import rms_norm as rms_norm
from .layers.pooling import adaptive_avg_pool1d as adaptive_avg_pool1d
from .layers.pooling import adaptive_avg_pool2d as adaptive_avg_pool2d
from .layers.pooling import adaptive_max_pool1d as adaptive_max_pool1d
from .layers.pooling import adaptive_max_pool2d as adaptive_max_pool2d
from .layers.pooling import avg_pool1d as avg_pool1d
from .layers.pooling import avg_pool2d as avg_pool2d
from .layers.pooling import max_pool1d as max_pool1d
from .layers.pooling import max_pool2d as max_pool2d
from .layers.upsampling import interpolate as interpolate
from .layers.upsampling import pixel_shuffle as pixel_shuffle
from .loss import binary_cross_entropy as binary_cross_entropy
from .loss import binary_cross_entropy_with_logits as binary_cross_entropy_with_logits
from .loss import cosine_embedding_loss as cosine_embedding_loss
from .loss import cross_entropy as cross_entropy
from .loss import gaussian_nll_loss as gaussian_nll_loss
from .loss import hinge_embedding_loss as hinge_embedding_loss
from .loss import huber_loss as huber_loss
from .loss import kl_div as kl_div
from .loss import l1_loss as l1_loss
from .loss import mae_loss as mae_loss
from .loss import margin_ranking_loss as margin_ranking_loss
from .loss import mse_loss as mse_loss
from .loss import multi_margin_loss as multi_margin_loss
from .loss import nll_loss as nll_loss
from .loss import poisson_nll_loss as poisson_nll_loss
from .loss import smooth_l1_loss as smooth_l1_loss
from .loss import triplet_margin_loss as triplet_margin_loss
