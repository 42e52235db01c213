"""The functions that users call."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from clumsygrad.core import Tensor, double_precision, enable_grad

from .check import conclude
from .differences import differentiate
from .options import Progress, make_options, step_for
from .report import GradientReport
from .second import SecondSubject
from .subject import Call, Function, FunctionSubject, Inputs, Values


def check_gradient(
    fn: Function,
    inputs: Inputs,
    *,
    eps: float = 1e-4,
    rtol: float = 1e-7,
    atol: float = 0.0,
    raise_exception: bool = True,
    max_elements: int | None = None,
    rng: np.random.Generator | None = None,
    allow_kinks: bool = False,
    progress: Progress | None = None,
) -> GradientReport:
    """Compare the gradients of ``fn`` with finite differences, at ``inputs``, in double precision.

    Every element of every input is moved, and every output element is watched: up to 64 outputs the whole Jacobian
    is compared, above that random combinations of its rows, in which errors can't cancel.

    Args:
        fn: called as ``fn(*inputs)`` with Tensors; returns a Tensor or a nest of lists, tuples and dicts of them.
        inputs: a Tensor, an array, or a list or tuple of them. They are copied, and neither they nor their
            ``grad`` change. Arrays of integers and booleans are handed on, and not differentiated by.
        eps: the first step, as a fraction of each value, or absolute below 1; others are tried where it doesn't do.
        rtol: the relative error that is allowed.
        atol: the absolute error that is allowed. The rounding of the finite difference itself is estimated for each
            element and allowed besides, so 0 serves functions of any scale.
        raise_exception: raise when the check fails; otherwise the report is returned.
        max_elements: check that many elements of each input, drawn at random, and four random directions through
            all of them; None for every element.
        rng: what random draws are made with; the same ones in every call by default.
        allow_kinks: accept at a kink any value between the two one-sided slopes, where the check fails otherwise.
        progress: called after each element with how many are done and how many there are; by default a check that
            takes long shows this on a terminal.

    Returns:
        A report, true when the check passed.

    Raises:
        GradientError: an AssertionError with the report's text and the report, when the check failed.
        TypeError: when ``fn`` doesn't return Tensors, or an input isn't numeric.

    Example:
        >>> import numpy as np
        >>> from clumsygrad.core import math
        >>> from clumsygrad.gradcheck import check_gradient
        >>> bool(check_gradient(lambda x, y: math.tanh(x) @ y, [np.ones((2, 3)), np.ones(3)]))
        True
    """
    __tracebackhide__ = True
    options = make_options(eps, rtol, atol, max_elements, rng, allow_kinks, progress)
    return conclude(FunctionSubject(fn, inputs), options, raise_exception)


def check_second_gradient(
    fn: Function,
    inputs: Inputs,
    *,
    eps: float = 1e-4,
    rtol: float = 1e-7,
    atol: float = 0.0,
    raise_exception: bool = True,
    max_elements: int | None = None,
    rng: np.random.Generator | None = None,
    allow_kinks: bool = False,
    progress: Progress | None = None,
) -> GradientReport:
    """Check the gradients of ``fn``, and then the gradients of its gradients.

    The gradients are recorded (``create_graph=True``) with random gradients of the outputs, and compared with finite
    differences as functions of both the inputs and the gradients of the outputs. When the first derivatives are
    wrong, the report is about them. The arguments are those of :func:`check_gradient`.

    Returns:
        A report, true when both checks passed; of the second derivatives when the first are right.

    Raises:
        GradientError: an AssertionError with the report's text, when a check failed.

    Example:
        >>> import numpy as np
        >>> from clumsygrad.core import math
        >>> from clumsygrad.gradcheck import check_second_gradient
        >>> bool(check_second_gradient(lambda x: math.sum(x * math.exp(x)), np.array([0.5, 1.0])))
        True
    """
    __tracebackhide__ = True
    options = make_options(eps, rtol, atol, max_elements, rng, allow_kinks, progress)
    subject = FunctionSubject(fn, inputs)
    first = conclude(subject, options, raise_exception)
    if not first:
        return first
    with double_precision(), enable_grad():
        second = SecondSubject(subject, options.rng)
    return conclude(second, options, raise_exception)


def assert_gradient(fn: Function, inputs: Inputs, *, eps: float = 1e-4, rtol: float = 1e-7, atol: float = 0.0) -> None:
    """Raise an ``AssertionError`` that says what is wrong unless the gradients of ``fn`` are right.

    For tests. The arguments are those of :func:`check_gradient`.

    Example:
        >>> import numpy as np
        >>> from clumsygrad.gradcheck import assert_gradient
        >>> assert_gradient(lambda x: x**3, np.array([1.0, -2.0]))
    """
    __tracebackhide__ = True
    check_gradient(fn, inputs, eps=eps, rtol=rtol, atol=atol)


class Derivatives(tuple[Values, ...]):
    """One float64 array for each input, and in ``errors`` an estimate of the absolute error of each entry."""

    errors: tuple[Values, ...]

    @classmethod
    def of(cls, values: Iterator[tuple[Values, Values]]) -> Derivatives:
        """Make it from pairs of an array and its errors."""
        pairs = list(values)
        derivatives = cls(value for value, _ in pairs)
        derivatives.errors = tuple(error for _, error in pairs)
        return derivatives


def numerical_gradient(fn: Function, inputs: Inputs, *, eps: float = 1e-4) -> Derivatives:
    """Return the gradient of a function with one output element, by finite differences.

    Args:
        fn: called as ``fn(*inputs)`` with Tensors; returns a Tensor of one element.
        inputs: a Tensor, an array, or a list or tuple of them.
        eps: the first step, as in :func:`check_gradient`.

    Returns:
        A tuple with one float64 array of the input's shape for each input, and in its ``errors`` the estimated errors.

    Raises:
        ValueError: when the output has more than one element.

    Example:
        >>> import numpy as np
        >>> from clumsygrad.gradcheck import numerical_gradient
        >>> (slope,) = numerical_gradient(lambda x: (x * x).sum(), np.array([1.0, 2.0]))
        >>> slope.round(8)
        array([2., 4.])
    """
    subject = FunctionSubject(fn, inputs)
    with double_precision(), enable_grad():
        base = _single(subject(subject.values))
        if base.size != 1:
            raise ValueError(
                f"a gradient is that of one number; fn returned shape {base.shape}. Use numerical_jacobian, or sum it"
            )
        return Derivatives.of(
            (slope.reshape(value.shape), error.reshape(value.shape))
            for value, (slope, error) in zip(subject.values, _jacobians(subject, eps), strict=True)
        )


def numerical_jacobian(fn: Function, inputs: Inputs, *, eps: float = 1e-4) -> Derivatives:
    """Return the derivatives of every output element by every input element, by finite differences.

    Args:
        fn: called as ``fn(*inputs)`` with Tensors; returns one Tensor.
        inputs: a Tensor, an array, or a list or tuple of them.
        eps: the first step, as in :func:`check_gradient`.

    Returns:
        A tuple with one float64 array, of the output's shape followed by the input's, for each input, and in its
        ``errors`` the estimated errors.

    Example:
        >>> import numpy as np
        >>> from clumsygrad.gradcheck import numerical_jacobian
        >>> (jacobian,) = numerical_jacobian(lambda x: x * x[::-1], np.array([2.0, 3.0]))
        >>> jacobian.round(8)
        array([[3., 2.],
               [3., 2.]])
    """
    subject = FunctionSubject(fn, inputs)
    with double_precision(), enable_grad():
        base = _single(subject(subject.values))
        return Derivatives.of(
            (slope.reshape(base.shape + value.shape), error.reshape(base.shape + value.shape))
            for value, (slope, error) in zip(subject.values, _jacobians(subject, eps), strict=True)
        )


def _single(call: Call) -> Tensor:
    if len(call.outputs) != 1:
        raise ValueError(f"fn returns one Tensor here; received {len(call.outputs)}. Return one of them")
    return call.outputs[0]


def _jacobians(subject: FunctionSubject, eps: float) -> Iterator[tuple[Values, Values]]:
    base = subject(subject.values).flat()
    for position, value in enumerate(subject.values):
        slopes, errors = np.zeros((base.size, value.size)), np.zeros((base.size, value.size))
        for element, index in enumerate(np.ndindex(value.shape)):

            def evaluate(
                distance: float, position: int = position, value: Values = value, index: tuple[int, ...] = index
            ) -> Values:
                moved = np.array(value, order="K")
                moved[index] += distance
                values = (*subject.values[:position], moved, *subject.values[position + 1 :])
                return subject(values).flat()

            size = abs(float(value[index]))
            column = differentiate(evaluate, base, step_for(size, eps), 1e-10, size=size)
            slopes[:, element], errors[:, element] = column.slope, column.error
        yield slopes, errors
