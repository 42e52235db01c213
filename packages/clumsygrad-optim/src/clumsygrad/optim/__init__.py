"""Optimizers, schedules and gradient clipping for clumsygrad-core, with PyTorch's names and numbers."""

from . import schedule as schedule
from .adadelta import Adadelta as Adadelta
from .adagrad import Adagrad as Adagrad
from .adam import Adam as Adam
from .adam import AdamW as AdamW
from .adamax import Adamax as Adamax
from .asgd import ASGD as ASGD
from .averaging import AveragedModel as AveragedModel
from .averaging import ExponentialMovingAverage as ExponentialMovingAverage
from .clip import clip_grad_norm_ as clip_grad_norm_
from .clip import clip_grad_value_ as clip_grad_value_
from .elementwise import ElementwiseOptimizer as ElementwiseOptimizer
from .lbfgs import LBFGS as LBFGS
from .lion import Lion as Lion
from .muon import Muon as Muon
from .nadam import NAdam as NAdam
from .optimizer import Optimizer as Optimizer
from .optimizer import ParamGroup as ParamGroup
from .optimizer import ParamsLike as ParamsLike
from .optimizer import StateDict as StateDict
from .radam import RAdam as RAdam
from .rmsprop import RMSprop as RMSprop
from .rprop import Rprop as Rprop
from .sgd import SGD as SGD

__all__ = [
    "ASGD",
    "LBFGS",
    "SGD",
    "Adadelta",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "AveragedModel",
    "ElementwiseOptimizer",
    "ExponentialMovingAverage",
    "Lion",
    "Muon",
    "NAdam",
    "Optimizer",
    "ParamGroup",
    "ParamsLike",
    "RAdam",
    "RMSprop",
    "Rprop",
    "StateDict",
    "clip_grad_norm_",
    "clip_grad_value_",
    "schedule",
]

__version__ = "0.3.0"
