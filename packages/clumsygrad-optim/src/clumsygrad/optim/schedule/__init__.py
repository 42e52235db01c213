"""Learning rate schedules, with PyTorch's names and values.

Call ``schedule.step()`` after the steps of the optimizer that it belongs to, once each epoch or once each batch.

Example:
    >>> from clumsygrad.core import parameter
    >>> from clumsygrad.optim import SGD, schedule
    >>> optimizer = SGD([parameter([1.0])], lr=0.1)
    >>> decay = schedule.StepLR(optimizer, step_size=2, gamma=0.5)
    >>> rates = []
    >>> for epoch in range(6):
    ...     rates.append(optimizer.param_groups[0]["lr"])
    ...     optimizer.step()
    ...     decay.step()
    >>> rates
    [0.1, 0.1, 0.05, 0.05, 0.025, 0.025]
"""

from .base import LRScheduler as LRScheduler
from .composed import ChainedScheduler as ChainedScheduler
from .composed import SequentialLR as SequentialLR
from .cosine import CosineAnnealingLR as CosineAnnealingLR
from .cosine import CosineAnnealingWarmRestarts as CosineAnnealingWarmRestarts
from .cyclic import CyclicLR as CyclicLR
from .cyclic import OneCycleLR as OneCycleLR
from .decay import ConstantLR as ConstantLR
from .decay import ExponentialLR as ExponentialLR
from .decay import LinearLR as LinearLR
from .decay import MultiStepLR as MultiStepLR
from .decay import PolynomialLR as PolynomialLR
from .decay import StepLR as StepLR
from .function import LambdaLR as LambdaLR
from .function import MultiplicativeLR as MultiplicativeLR
from .plateau import ReduceLROnPlateau as ReduceLROnPlateau
