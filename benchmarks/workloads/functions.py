"""Single functions: a Hessian-vector product, a product of stacks of matrices, reductions over each axis."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from harness import Step, Workload

from .steps import Array, seeded

# The Hessian-vector product of the sum of tanh(A x)**2.


def _hvp_data() -> tuple[Array, Array, Array]:
    matrix, vectors = seeded([(256, 256), (2, 256)])
    return matrix, vectors[0] * 16, vectors[1] * 16


def hvp_clumsygrad() -> Step:
    from clumsygrad.core import Tensor, functional, math

    matrix, x, v = (Tensor(array) for array in _hvp_data())
    return lambda: functional.hvp(lambda x: math.sum(math.tanh(matrix @ x) ** 2), x, v)[1]


def hvp_torch() -> Step:
    import torch

    matrix, x, v = (torch.from_numpy(array) for array in _hvp_data())
    return lambda: torch.autograd.functional.hvp(lambda x: (torch.tanh(matrix @ x) ** 2).sum(), x, v)[1]


def hvp_autograd() -> Step:
    from autograd import hessian_vector_product
    from autograd import numpy as anp

    matrix, x, v = _hvp_data()
    product = hessian_vector_product(lambda x: anp.sum(anp.tanh(anp.dot(matrix, x)) ** 2))
    return lambda: product(x, v)


def hvp_by_hand() -> Step:
    matrix, x, v = _hvp_data()

    def step() -> Array:
        y = np.tanh(matrix @ x)
        square = y * y
        return matrix.T @ (2 * (1 - square) * (1 - 3 * square) * (matrix @ v))

    return step


# Forward and backward of functions of NumPy's name, in any system: f(*parameters) is differentiated by each.


def _differentiated(system: str, function: Callable[..., Any], shapes: list[tuple[int, ...]]) -> Step:
    arrays = seeded(shapes)
    if system == "autograd":
        from autograd import make_vjp
        from autograd import numpy as anp
        from autograd.builtins import tuple as tuple_

        start = tuple_(arrays)

        def functional_step() -> Any:
            vjp, value = make_vjp(lambda values: function(anp, *values))(start)
            return vjp(np.ones_like(value))[0]

        return functional_step
    if system == "torch":
        import torch

        module, ones = torch, torch.ones_like
        parameters = [torch.from_numpy(array).requires_grad_() for array in arrays]
    elif system == "mygrad":
        import mygrad

        module, ones = mygrad, lambda result: np.ones_like(result.data)
        parameters = [mygrad.tensor(array) for array in arrays]
    else:
        from clumsygrad.core import math, parameter

        module, ones = math, lambda result: np.ones_like(result.data)
        parameters = [parameter(array) for array in arrays]

    def step() -> Any:
        if system != "mygrad":
            for leaf in parameters:
                leaf.grad = None
        result = function(module, *parameters)
        result.backward(ones(result))
        return parameters[0].grad

    return step


def _matmul(module: Any, x: Any, y: Any) -> Any:
    return module.matmul(x, y)


def matmul_by_hand() -> Step:
    x, y = seeded([(64, 64, 64)] * 2)

    def step() -> Array:
        grad = np.ones_like(x @ y)
        x_grad = grad @ y.swapaxes(1, 2)
        _ = x.swapaxes(1, 2) @ grad
        return x_grad

    return step


def _reductions(axis: int, module: Any, x: Any) -> Any:
    largest = module.amax if hasattr(module, "amax") and hasattr(module, "nn") else module.max
    return module.sum(x, axis) + largest(x, axis) + module.mean(x, axis)


def reductions_by_hand(axis: int) -> Step:
    (x,) = seeded([(256, 256, 64)])

    def step() -> Array:
        top = x.max(axis, keepdims=True)
        total = x.sum(axis) + top.squeeze(axis) + x.mean(axis)
        grad = (x == top).astype(np.float32)
        grad *= np.expand_dims(np.ones_like(total), axis)
        grad += 1 + 1 / x.shape[axis]
        return grad

    return step


def _differentiable(function: Callable[..., Any], shapes: list[tuple[int, ...]]) -> dict[str, Callable[[], Step]]:
    systems = ("clumsygrad", "torch", "autograd", "mygrad")
    return {system: partial(_differentiated, system, function, shapes) for system in systems}


WORKLOADS = (
    Workload(
        "Hessian-vector product",
        {"clumsygrad": hvp_clumsygrad, "numpy": hvp_by_hand, "torch": hvp_torch, "autograd": hvp_autograd},
    ),
    Workload("matmul of 64 × 64×64", _differentiable(_matmul, [(64, 64, 64)] * 2) | {"numpy": matmul_by_hand}),
    *(
        Workload(
            f"sum, max, mean, axis {axis}",
            _differentiable(partial(_reductions, axis), [(256, 256, 64)])
            | {"numpy": partial(reductions_by_hand, axis)},
        )
        for axis in range(3)
    ),
)
