"""One table of operations and the inputs they are checked on: a row an operation, a case each form of it."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from clumsygrad.core import linalg, math

from .finite_difference import Array, Function

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Case:
    """An operation on certain inputs."""

    operation: str
    label: str
    function: Function
    inputs: tuple[Array, ...]

    def __str__(self) -> str:
        return f"{self.operation}-{self.label}"


def draw(shape: Shape, low: float, high: float, *, seed: str, signed: bool = False) -> Array:
    """Return numbers between two bounds, with random signs when ``signed``: a way around 0."""
    rng = np.random.default_rng(zlib.crc32(seed.encode()))
    values = np.asarray(rng.uniform(low, high, shape))
    return values * rng.choice([-1.0, 1.0], shape) if signed else values


def spread(shape: Shape, seed: str) -> Array:
    """Return numbers of both signs that are at least 0.2 apart from each other and 0.1 from 0."""
    rng = np.random.default_rng(zlib.crc32(seed.encode()))
    size = int(np.prod(shape))
    values = (np.arange(size) + 0.75) * 0.25 * np.where(np.arange(size) % 2, 1, -1)
    return (rng.permutation(values) * rng.uniform(1, 1.01, size)).reshape(shape)


def rows(*items: Any) -> tuple[Any, ...]:
    """Return items of different types, for a loop over them."""
    return items


SHAPES: tuple[Shape, ...] = ((), (3,), (1, 3), (2, 3), (0, 3), (2, 1, 3))

UNARY: dict[str, tuple[float, float]] = {
    "exp": (-2, 2), "expm1": (-2, 2), "log": (0.5, 3), "log1p": (-0.5, 2), "log2": (0.5, 3), "log10": (0.5, 3),
    "sqrt": (0.5, 3), "square": (-2, 2), "reciprocal": (0.5, 2), "sin": (-3, 3), "cos": (-3, 3), "tan": (-1, 1),
    "arcsin": (-0.8, 0.8), "arccos": (-0.8, 0.8), "arctan": (-3, 3), "sinh": (-2, 2), "cosh": (-2, 2),
    "tanh": (-2, 2), "erf": (-2, 2), "negative": (-2, 2), "positive": (-2, 2), "exp2": (-2, 2), "cbrt": (0.5, 3),
    "arcsinh": (-2, 2), "arccosh": (1.2, 3), "arctanh": (-0.8, 0.8), "degrees": (-3, 3), "radians": (-180, 180),
    "sinc": (-2, 2), "nan_to_num": (-2, 2),
}  # fmt: skip

PAIRS: tuple[tuple[Shape, Shape], ...] = (
    ((), ()), ((3,), (3,)), ((2, 1), (3,)), ((3,), (2, 1)), ((1, 3), (2, 3)), ((0, 3), (3,)), ((), (2, 3)),
    ((2, 3), ()), ((2, 3), (2, 3)), ((2, 1, 3), (2, 1)),
)  # fmt: skip

BINARY = (
    "add", "subtract", "multiply", "divide", "power", "arctan2", "hypot", "maximum", "minimum", "fmax", "fmin",
    "logaddexp", "remainder",
)  # fmt: skip


def elementwise(math: Any) -> Iterator[Case]:
    for name, (low, high) in UNARY.items():
        function = getattr(math, name)
        for shape in SHAPES:
            yield Case(name, f"{shape}", function, (draw(shape, low, high, seed=f"{name}{shape}"),))
    for name in ("abs", "sign", "floor", "ceil", "trunc", "round"):
        for shape in SHAPES:
            yield Case(name, f"{shape}", getattr(math, name), (spread(shape, f"{name}{shape}"),))
    for shape in SHAPES:
        values = spread(shape, f"clip{shape}")
        yield Case("clip", f"{shape}", lambda x: math.clip(x, -0.3, 0.6), (values,))
        yield Case("clip", f"{shape}-low", lambda x: math.clip(x, -0.3, None), (values,))
        yield Case("clip", f"{shape}-high", lambda x: math.clip(x, None, 0.3), (values,))
        bound = np.full(shape, -0.3)
        yield Case("clip", f"{shape}-tensor", lambda x, low: math.clip(x, low, 0.6), (values, bound))
    yield from binary(math)


def binary(math: Any) -> Iterator[Case]:
    for name in BINARY:
        function = getattr(math, name)
        for left, right in PAIRS:
            pair = draw(left, 0.5, 2, seed=f"{name}{left}"), draw(right, 2.1, 3, seed=f"{name}{right}r")
            yield Case(name, f"{left}{right}", function, pair)
            yield Case(name, f"{left}{right}-swapped", function, (pair[1], pair[0]))
        x = draw((2, 3), 0.5, 2, seed=f"{name}scalar")
        yield Case(name, "scalar right", lambda x, f=function: f(x, 2.5), (x,))
        yield Case(name, "integer right", lambda x, f=function: f(x, 3), (x,))
        yield Case(name, "array right", lambda x, f=function: f(x, np.array([1, 2, 3])), (x - 0.123,))
        yield Case(name, "scalar left", lambda x, f=function: f(2.5, x), (x,))
        yield Case(name, "array left", lambda x, f=function: f([[3], [4]], x), (x,))
        if name not in ("maximum", "minimum", "fmax", "fmin", "remainder"):
            yield Case(name, "itself", lambda x, f=function: f(x, x), (x,))
    for name in ("subtract", "divide", "power", "remainder"):
        function = getattr(math, name)
        yield Case(f"r{name}", "scalar", lambda x, f=function: f(2.5, x), (draw((3,), 0.5, 2, seed=name),))
    for exponent in (0, 1, 2, 3, -1, 0.5, -0.5):
        x = draw((2, 3), 0.5, 2, seed=f"power{exponent}")
        yield Case("power", f"exponent {exponent}", lambda x, exponent=exponent: x**exponent, (x,))
    for left, right in PAIRS:
        mask = np.arange(6).reshape(2, 3) % 2 == 0
        if 0 in (*left, *right):
            mask = mask[:1]
        elif len(left) == 3:
            mask = mask[:, None]
        pair = draw(left, -2, 2, seed=f"where{left}"), draw(right, -2, 2, seed=f"where{right}r")
        yield Case("where", f"{left}{right}", lambda x, y, mask=mask: math.where(mask, x, y), pair)
        yield Case("where", f"{left}{right} and scalar", lambda x, mask=mask: math.where(mask, x, 1.5), (pair[0],))
        yield Case("where", f"{left}{right} after scalar", lambda x, mask=mask: math.where(mask, 1.5, x), (pair[1],))


AXES: tuple[tuple[Shape, Any], ...] = (
    ((), None), ((), ()), ((3,), None), ((3,), 0), ((3,), -1), ((1, 3), 0), ((1, 3), -1), ((1, 3), None),
    ((2, 3), 0), ((2, 3), 1), ((2, 3), (0, 1)), ((2, 3), (-1, 0)), ((2, 3), ()), ((2, 3, 2), None), ((2, 3, 2), 1),
    ((2, 3, 2), -2), ((2, 3, 2), (0, 2)), ((2, 3, 2), (-1, 0)), ((2, 3, 2), (1, -1)), ((2, 3, 2), (-1, -3, 1)),
    ((0, 3), 1), ((2, 0, 3), 2), ((2, 0, 3), (0, -1)),
)  # fmt: skip
# These reduce nothing to something, which some reductions can't.
EMPTY: tuple[tuple[Shape, Any], ...] = (((0,), None), ((0, 3), 0), ((2, 0, 3), (1, 2)))


def reductions(math: Any) -> Iterator[Case]:
    for name in ("sum", "mean", "prod", "max", "min", "var", "std", "logsumexp"):
        function = getattr(math, name)
        for shape, axis in AXES if name in ("max", "min", "var", "std", "mean") else AXES + EMPTY:
            for keepdims in (False, True):
                yield Case(
                    name,
                    f"{shape}-{axis}{'-kept' * keepdims}",
                    lambda x, f=function, axis=axis, keepdims=keepdims: f(x, axis, keepdims=keepdims),
                    (spread(shape, f"{name}{shape}"),),
                )
    for name in ("var", "std"):
        for axis in (None, 1, (-1, 0)):
            function = getattr(math, name)
            x = spread((2, 3), f"{name}ddof")
            yield Case(name, f"ddof-{axis}", lambda x, f=function, axis=axis: f(x, axis=axis, ddof=1), (x,))
    for zeros in (1, 2, 3):
        x = spread((3,), "zeros")
        x[:zeros] = 0
        yield Case("prod", f"{zeros} zeros", math.prod, (x,))
    yield from norms(math)


def norms(math: Any) -> Iterator[Case]:
    orders: tuple[Any, ...] = (None, 1, 2, 3, 2.5, 0.5, -1, -2, 0, np.inf, -np.inf)
    vectors: tuple[tuple[Shape, Any], ...] = (((3,), None), ((3,), -1), ((1, 3), 0), ((2, 3), 0), ((2, 3, 2), -2))
    matrices: tuple[tuple[Shape, Any], ...] = (
        ((2, 3), None), ((2, 3), (-1, 0)), ((2, 3, 2), (0, 2)), ((2, 3, 2), (-1, 1)),
    )  # fmt: skip
    forms = [(shape, axis, order) for shape, axis in vectors for order in orders]
    forms += [(shape, axis, order) for shape, axis in matrices for order in (None, "fro", 1, -1, np.inf, -np.inf)]
    forms += [(shape, None, None) for shape in SHAPES if shape not in ((3,), (2, 3))]
    for shape, axis, order in forms:
        for keepdims in (False, True):
            yield Case(
                "norm",
                f"{shape}-{axis}-{order}{'-kept' * keepdims}",
                lambda x, order=order, axis=axis, keepdims=keepdims: math.norm(x, order, axis, keepdims),
                (spread(shape, f"norm{shape}"),),
            )


def running(math: Any) -> Iterator[Case]:
    for name in ("cumsum", "cumprod"):
        function = getattr(math, name)
        for shape, axis in AXES + EMPTY:
            if axis is None or isinstance(axis, int):
                x = spread(shape, f"{name}{shape}")
                yield Case(name, f"{shape}-{axis}", lambda x, f=function, axis=axis: f(x, axis), (x,))
    for length in range(1, 10):
        x = spread((length,), f"cumprod{length}")
        x[1::3] = 0
        yield Case("cumprod", f"{length} with zeros", math.cumprod, (x,))


def shaping(math: Any) -> Iterator[Case]:
    def case(name: str, label: str, function: Function, *shapes: Shape) -> Case:
        inputs = tuple(spread(shape, f"{name}{label}{place}") for place, shape in enumerate(shapes))
        return Case(name, label, function, inputs)

    for shape, new in rows(((2, 3), (3, 2)), ((2, 3), (-1,)), ((2, 3), -1), ((), (1, 1)), ((0, 3), (3, 0)), ((1,), ())):
        yield case("reshape", f"{shape}-{new}", lambda x, new=new: math.reshape(x, new), shape)
    for axes in rows(None, (0, 1, 2), (2, 0, 1), (-1, 0, -2), (1, -1, 0)):
        yield case("transpose", f"{axes}", lambda x, axes=axes: math.transpose(x, axes), (2, 3, 2))
    for shape in SHAPES:
        yield case("transpose", f"{shape}", math.transpose, shape)
        yield case("flatten", f"{shape}", math.flatten, shape)
        yield case("squeeze", f"{shape}", math.squeeze, shape)
        yield case("flip", f"{shape}", math.flip, shape)
        yield case("expand_dims", f"{shape}", lambda x: math.expand_dims(x, (0, -1)), shape)
        yield case("broadcast_to", f"{shape}", lambda x, shape=shape: math.broadcast_to(x, (2, *shape)), shape)
        yield case("tile", f"{shape}", lambda x: math.tile(x, (2, 1, 2)), shape)
        yield case("pad", f"{shape}", lambda x: math.pad(x, 1, constant_values=2.5), shape)
        yield case("repeat", f"{shape}", lambda x: math.repeat(x, 2), shape)
        yield case("roll", f"{shape}", lambda x: math.roll(x, 2), shape)
        yield case("stack", f"{shape}", lambda x, y: math.stack([x, y, x], -1), shape, shape)
    for one, other in rows((0, 1), (-1, 0), (1, -1), (-2, -2)):
        yield case("swapaxes", f"{one},{other}", lambda x, a=one, b=other: math.swapaxes(x, a, b), (2, 3, 2))
        yield case("moveaxis", f"{one},{other}", lambda x, a=one, b=other: math.moveaxis(x, a, b), (2, 3, 2))
    yield case("moveaxis", "two", lambda x: math.moveaxis(x, (0, -1), (-1, 1)), (2, 3, 2))
    for axis in rows(0, -2, (0, 2), (-1, 0)):
        yield case(
            "squeeze", f"{axis}", lambda x, axis=axis: math.squeeze(x, axis), (1, 1, 1, 2)[: 3 if axis != 0 else 4]
        )
    for shape, wide in rows(((1, 3), (2, 3)), ((2, 1), (2, 3)), ((3,), (2, 2, 3)), ((1, 1), (0, 3))):
        yield case("broadcast_to", f"{shape}-{wide}", lambda x, wide=wide: math.broadcast_to(x, wide), shape)
    for axis in rows(0, 1, -1, None):
        yield case(
            "concatenate",
            f"{axis}",
            lambda x, y, z, axis=axis: math.concatenate([x, y, z], axis),
            (2, 3),
            (2, 3),
            (2, 3),
        )
        yield case("repeat", f"axis {axis}", lambda x, axis=axis: math.repeat(x, 3, axis), (2, 3))
    yield case("concatenate", "lengths", lambda x, y: math.concatenate([x, [[1.0], [2.0]], y, x], -1), (2, 3), (2, 1))
    yield case("concatenate", "empty", lambda x, y: math.concatenate([x, y]), (0, 3), (2, 3))
    for axis in rows(0, 1, 2, -1, -2):
        yield case("stack", f"axis {axis}", lambda x, y, axis=axis: math.stack((x, y), axis), (2, 3), (2, 3))
    for name in ("split", "array_split"):
        cut = getattr(math, name)
        for form, axis in rows((2, 0), (3, 1), (3, -1), ([1], 0), ([1, 1, 2], 1), ([2, 1], 1), ([-1], 1), ([5], -1)):
            yield case(
                name,
                f"{form}-{axis}",
                lambda x, cut=cut, form=form, axis=axis: math.concatenate(
                    [part * (place + 1.0) for place, part in enumerate(cut(x, form, axis))], axis
                ),
                (2, 3),
            )
    yield case("array_split", "unequal", lambda x: math.concatenate([p**2 for p in math.array_split(x, 2)]), (3, 2))
    for reps in rows(2, 0, (2, 1), (1, 3), (2, 1, 2), (2, 2)):
        yield case("tile", f"reps {reps}", lambda x, reps=reps: math.tile(x, reps), (2, 3))
    for repeats, axis in rows(
        ([1, 2], 0), ([0, 3, 1], 1), ([2, 0, 0], -1), ([2], 0), (0, 1), ([1, 0, 2, 1, 0, 3], None)
    ):
        yield case("repeat", f"{repeats}-{axis}", lambda x, r=repeats, axis=axis: math.repeat(x, r, axis), (2, 3))
    for width in rows(1, (1, 2), ((1, 0), (0, 2)), ((0, 0), (3, 1))):
        for mode in rows("constant", "edge", "reflect", "symmetric", "wrap"):
            yield case("pad", f"{width}-{mode}", lambda x, w=width, m=mode: math.pad(x, w, m), (2, 3))
    for axis in rows(0, 1, -1, (0, 1), (-1, 0), ()):
        yield case("flip", f"axis {axis}", lambda x, axis=axis: math.flip(x, axis), (2, 3))
    for shift, axis in rows((1, 0), (-2, 1), ((1, 2), (0, -1)), (7, -1), (1, (0, 1)), ((1, 2), 1), ((1, 2), None)):
        yield case("roll", f"{shift}-{axis}", lambda x, s=shift, axis=axis: math.roll(x, s, axis), (2, 3))
    for name in ("tril", "triu"):
        function = getattr(math, name)
        for shape in rows((3,), (1, 3), (3, 2), (2, 3, 3), (0, 3)):
            for k in rows(0, -1, 1):
                yield case(name, f"{shape}-{k}", lambda x, f=function, k=k: f(x, k), shape)
    for name in ("diagonal", "trace"):
        function = getattr(math, name)
        for shape, arguments in (
            ((3, 3), ()), ((2, 3), ()), ((3, 2), (1,)), ((3, 2), (-1,)), ((3, 2), (5,)), ((2, 3, 2), (0, 1, 2)),
            ((2, 3, 2), (0, -1, 0)), ((2, 3, 2), (1, -1, -2)), ((2, 0), ()), ((2, 3, 2, 2), (-1, 1, 3)),
        ):  # fmt: skip
            yield case(name, f"{shape}-{arguments}", lambda x, f=function, a=arguments: f(x, *a), shape)


KEYS: tuple[tuple[Shape, Any], ...] = (
    ((), ()), ((), ...), ((), None), ((3,), 1), ((3,), -1), ((3,), slice(None)), ((3,), slice(None, None, -1)),
    ((3,), slice(2, 0, -1)), ((3,), slice(5, 9)), ((3,), [2, 0, 2, 2]), ((3,), []),
    ((3,), np.array([[0, -1], [1, 1]])), ((3,), np.array([True, False, True])), ((3,), [False, True, True]),
    ((3,), np.array(2)), ((3,), True), ((2, 3), 0), ((2, 3), (0, 1)), ((2, 3), (slice(None), [2])),
    ((2, 3), (slice(None, None, -1), slice(None, None, -2))), ((2, 3), (..., 1)), ((2, 3), (None, ..., None, 0)),
    ((2, 3), ([0, 1, 0], [2, 2, 2])), ((2, 3), ([[0], [1]], [0, 2])), ((2, 3), (1, [0, 0, 2])),
    ((2, 3), ([0, 0], slice(1, None))), ((2, 3), np.array([[True, False, True], [False] * 3])),
    ((2, 3), (np.array([True, False]), slice(None))), ((2, 3), (np.array([True, True]), [0, 2])),
    ((2, 3), (slice(None), np.array([True, False, True]))), ((2, 3), np.array([1, 1, 0])),
    ((2, 3), ([], slice(None))), ((2, 3, 2), (..., None, 1)), ((2, 3, 2), (slice(None), [0, 0, 2], [1, 1, 0])),
    ((2, 3, 2), ([1, 1], slice(None), [0, 0])), ((2, 3, 2), (0, slice(None), [0, 1, 1])), ((2, 3, 2), ([0, 1, 1],)),
    ((2, 3, 2), (None, [1, 1], ..., -1)), ((0, 3), slice(None)), ((0, 3), (slice(None), [0, 0])),
    ((1, 3), ([0, 0, 0], [1, 1, 2])),
)  # fmt: skip


def indexing(math: Any) -> Iterator[Case]:
    for shape, key in KEYS:
        yield Case("getitem", f"{shape}-{key!r}", lambda x, key=key: x[key], (spread(shape, f"{shape}"),))
    for indices, axis in (
        ([1, 1, 0], 0), ([1, 1, 0], 1), ([[2, 0], [-1, 2]], -1), (1, 0), (-1, 1), ([], 1), ([5, 0, 5], None), (3, None),
    ):  # fmt: skip
        x = spread((2, 3), "take")
        yield Case("take", f"{indices}-{axis}", lambda x, i=indices, axis=axis: math.take(x, i, axis), (x,))
    for mode in rows("wrap", "clip"):
        x = spread((2, 3), mode)
        yield Case("take", mode, lambda x, mode=mode: math.take(x, [-1, 7, 1, 4], 1, mode=mode), (x,))
    for indices, axis in (
        ([[2, 0, 0], [1, 1, 1]], 1), ([[0, 1, 1]], 0), ([[2, 2], [0, -1]], -1), ([[1]], 1), ([0, 5, 5], None),
    ):  # fmt: skip
        x = spread((2, 3), "along")
        yield Case(
            "take_along_axis",
            f"{indices}-{axis}",
            lambda x, i=indices, axis=axis: math.take_along_axis(x, np.array(i), axis),
            (x,),
        )
    for shape, axis in AXES:
        if shape and (axis is None or isinstance(axis, int)):
            yield Case("sort", f"{shape}-{axis}", lambda x, axis=axis: math.sort(x, axis), (spread(shape, f"{shape}"),))


def matrix(math: Any) -> Iterator[Case]:
    def case(name: str, label: str, function: Function, *shapes: Shape) -> Case:
        inputs = tuple(draw(shape, -2, 2, seed=f"{name}{label}{place}") for place, shape in enumerate(shapes))
        return Case(name, label, function, inputs)

    for left, right in rows(
        ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 2)), ((2, 2, 3), (3, 2)), ((2, 1, 2, 3), (3, 3, 1)),
        ((3,), (2, 3, 2)), ((2, 2, 3), (3,)), ((0, 3), (3, 2)), ((2, 0), (0, 3)), ((1, 3), (3, 1)),
    ):  # fmt: skip
        yield case("matmul", f"{left}{right}", math.matmul, left, right)
        if len(left) < 4:
            yield case("dot", f"{left}{right}", math.dot, left, right)
    yield case("matmul", "itself", lambda x: math.matmul(x, x), (3, 3))
    for left, right in rows(((), (3,)), ((2, 3), ()), ((), ())):
        yield case("dot", f"{left}{right}", math.dot, left, right)
    for left, right in rows(((3,), (2,)), ((), (3,)), ((2, 3), (2,)), ((0,), (3,))):
        yield case("outer", f"{left}{right}", math.outer, left, right)
    for axes in rows(1, ([-1], [0]), ((1, 0), (0, -1))):
        yield case("tensordot", f"{axes}", lambda x, y, axes=axes: math.tensordot(x, y, axes), (2, 3), (3, 2))
    yield case("tensordot", "outer", lambda x, y: math.tensordot(x, y, 0), (2, 3), (2,))
    yield case("tensordot", "stacks", lambda x, y: math.tensordot(x, y, ((-1, 0), (1, 2))), (2, 3, 2), (3, 2, 2))
    for name in ("inner", "vecdot"):
        for left, right in (((3,), (3,)), ((2, 3), (3,)), ((2, 2, 3), (2, 3))):
            yield case(name, f"{left}{right}", getattr(math, name), left, right)
    yield case("inner", "scalar", math.inner, (), (2, 3))
    yield case("vecdot", "axis", lambda x, y: math.vecdot(x, y, axis=0), (3, 2), (3, 1))
    yield case("vdot", "shapes", math.vdot, (2, 3), (3, 2))
    for left, right in (((2,), (3,)), ((2, 3), (3, 2)), ((2,), (2, 3)), ((), (3,)), ((2, 2), (3, 1, 2)), ((0,), (2,))):
        yield case("kron", f"{left}{right}", math.kron, left, right)
    for left, right in (((3,), (3,)), ((2, 3), (3,)), ((2, 1, 3), (4, 3))):
        yield case("cross", f"{left}{right}", math.cross, left, right)
    yield case("cross", "axes", lambda x, y: math.cross(x, y, 0, 1, 0), (3, 2), (2, 3))
    yield case("cross", "axis", lambda x, y: math.cross(x, y, axis=0), (3, 2), (3, 1))
    for form, shapes in rows(
        ("ij,jk->ik", ((2, 3), (3, 2))),
        ("i,i->", ((2,), (1,))),
        ("ii->i", ((3, 3),)),
        ("...i,i", ((2, 2, 3), (3,))),
    ):
        yield case("einsum", form, lambda *operands, form=form: math.einsum(form, *operands), *shapes)


def linear(math: Any) -> Iterator[Case]:
    la: Any = np.linalg if isinstance(math, NumPy) else linalg

    def case(name: str, label: str, function: Any, *shapes: Shape) -> Case:
        arrays = [draw(shape, -1, 1, seed=f"{name}{label}{index}") for index, shape in enumerate(shapes)]
        return Case(name, label, function, tuple(arrays))

    def symmetric(x: Any) -> Any:
        return x @ x.swapaxes(-1, -2) + 2 * np.eye(x.shape[-1])

    def regular(x: Any) -> Any:
        return x + 3 * np.eye(x.shape[-1])

    for shape in ((3, 3), (1, 1), (2, 3, 3), (2, 1, 2, 2), (0, 0), (0, 2, 2)):
        yield case("inv", f"{shape}", lambda x: la.inv(regular(x)), shape)
        yield case("det", f"{shape}", la.det, shape)
        yield case("slogdet", f"{shape}", lambda x: la.slogdet(regular(x))[1], shape)
        yield case("cholesky", f"{shape}", lambda x: la.cholesky(symmetric(x)), shape)
        yield case("cholesky", f"{shape}-upper", lambda x: la.cholesky(symmetric(x), upper=True), shape)
        yield case("eigh", f"{shape}-values", lambda x: la.eigh(symmetric(x))[0], shape)
        yield case("eigh", f"{shape}-vectors", lambda x: la.eigh(symmetric(x), "U")[1], shape)
        yield case("eigvalsh", f"{shape}", lambda x: la.eigvalsh(symmetric(x)), shape)
        for power in (-2, -1, 0, 1, 2, 5):
            label = f"{shape}-{power}"
            yield case("matrix_power", label, lambda x, n=power: la.matrix_power(regular(x), n), shape)
    for left, right in (((3, 3), (3,)), ((3, 3), (3, 2)), ((2, 3, 3), (3,)), ((2, 3, 3), (3, 2)), ((3, 3), (2, 3, 1))):
        yield case("solve", f"{left}{right}", lambda a, b: la.solve(regular(a), b), left, right)
    for shape in ((3, 3), (4, 2), (2, 4), (2, 4, 3), (2, 3, 4), (1, 1), (3, 1), (1, 3)):
        yield case("svdvals", f"{shape}", la.svdvals, shape)
        yield case("svd", f"{shape}-alone", lambda x: la.svd(x, compute_uv=False), shape)
        yield case("svd", f"{shape}-full", lambda x: la.svd(x)[1], shape)
        for index in range(3):
            yield case("svd", f"{shape}-{index}", lambda x, i=index: la.svd(x, full_matrices=False)[i], shape)
        for index in range(2):
            yield case("qr", f"{shape}-{index}", lambda x, i=index: la.qr(x)[i], shape)
        yield case("qr", f"{shape}-r", lambda x: la.qr(x, "r"), shape)
        yield case("pinv", f"{shape}", la.pinv, shape)
        for order in ("nuc", 2, -2):
            for kept in (False, True):
                label = f"{shape}-{order}{'-kept' * kept}"
                yield case("norm", label, lambda x, o=order, k=kept: la.norm(x, o, (-2, -1), keepdims=k), shape)
    yield case("norm", "nuc-swapped", lambda x: la.norm(x, "nuc", axis=(0, -1)), (2, 3, 4))
    for shapes in (((2, 3), (3, 2)), ((3,), (3, 2), (2, 4), (4,)), ((2, 3), (3, 4), (4, 1)), ((3,), (3, 2), (2, 2))):
        yield case("multi_dot", f"{shapes}", lambda *factors: la.multi_dot(list(factors)), *shapes)


def everyday(math: Any) -> Iterator[Case]:
    def case(name: str, label: str, function: Function, *shapes: Shape) -> Case:
        inputs = tuple(spread(shape, f"{name}{label}{place}") for place, shape in enumerate(shapes))
        return Case(name, label, function, inputs)

    def joined(parts: Sequence[Any]) -> Any:
        return math.concatenate([math.flatten(part) * (place + 1.0) for place, part in enumerate(parts)])

    yield Case("sinc", "at zero", math.sinc, (np.array([0.0, 0.1, -0.15, 0.2]),))
    yield Case("cbrt", "negative", math.cbrt, (np.array([-2.0, -0.5]),))
    yield case("round", "decimals", lambda x: math.round(x, 1), (2, 3))
    for shape, axis in AXES:
        for keepdims in (False, True):
            label = f"{shape}-{axis}{'-kept' * keepdims}"
            options = {"axis": axis, "keepdims": keepdims}
            for name in ("ptp", "nansum", "nanmean"):
                function = getattr(math, name)
                yield case(name, label, lambda x, f=function, options=options: f(x, **options), shape)
            if 0 not in shape and axis != ():
                yield case("median", label, lambda x, options=options: math.median(x, **options), shape)
                yield case("average", label, lambda x, options=options: math.average(x, **options), shape)
    for axis in (0, 1, -1):
        length = (2, 3)[axis]
        weights = draw((length,), 0.5, 1.5, seed=f"weights{axis}")
        x = spread((2, 3), f"average{axis}")
        yield Case("average", f"vector {axis}", lambda x, w, a=axis: math.average(x, a, weights=w), (x, weights))
        yield Case(
            "average",
            f"matrix {axis}",
            lambda x, w, a=axis: math.average(x, axis=a, weights=w),
            (x, draw((2, 3), 0.5, 1.5, seed="weights")),
        )
    for n, axis in ((0, 0), (1, -1), (1, 0), (2, 1), (1, -2), (3, 0)):
        yield case("diff", f"{n}-{axis}", lambda x, n=n, axis=axis: math.diff(x, n, axis), (3, 4))
    for axis in (0, -1):
        yield case("trapezoid", f"{axis}", lambda y, axis=axis: math.trapezoid(y, dx=0.5, axis=axis), (3, 3))
        yield case("trapezoid", f"places {axis}", lambda y, x, axis=axis: math.trapezoid(y, x, axis=axis), (3, 3), (3,))
        yield case("trapezoid", f"grid {axis}", lambda y, x, axis=axis: math.trapezoid(y, x, axis=axis), (3, 3), (3, 3))
    for shape in SHAPES:
        for name in ("atleast_1d", "atleast_2d", "atleast_3d"):
            yield case(name, f"{shape}", getattr(math, name), shape)
        for name in ("hstack", "vstack", "dstack", "column_stack"):
            function = getattr(math, name)
            if len(shape) > (name == "column_stack"):
                yield case(name, f"{shape}", lambda x, y, f=function: f([x, y, x]), shape, shape)
    yield case("hstack", "lengths", lambda x, y: math.hstack([x, y]), (2, 1), (2, 3))
    yield case("column_stack", "vectors", lambda x, y: math.column_stack([x, y]), (3,), (3,))
    for axis in (None, 0, 1):
        yield case("append", f"{axis}", lambda x, y, axis=axis: math.append(x, y, axis), (2, 3), (2, 3))
    for name in ("hsplit", "vsplit"):
        function = getattr(math, name)
        for form in rows(2, [1], [1, 1]):
            yield case(name, f"{form}", lambda x, f=function, form=form: joined(f(x, form)), (4, 4))
    yield case("hsplit", "vector", lambda x: joined(math.hsplit(x, [1])), (3,))
    yield case("fliplr", "matrix", math.fliplr, (2, 3))
    for shape in ((3,), (2, 3)):
        yield case("flipud", f"{shape}", math.flipud, shape)
    for k in range(-1, 5):
        yield case("rot90", f"{k}", lambda x, k=k: math.rot90(x, k), (2, 3))
        yield case("rot90", f"{k} axes", lambda x, k=k: math.rot90(x, k, (-1, 0)), (2, 2, 3))
    for shape in ((3,), (1,), (0,), (3, 2), (2, 3)):
        for k in (0, 1, -2):
            yield case("diag", f"{shape}-{k}", lambda x, k=k: math.diag(x, k), shape)
    for indexing in ("xy", "ij"):
        yield case("meshgrid", indexing, lambda *v, i=indexing: joined(math.meshgrid(*v, indexing=i)), (3,), (2,), (2,))
    yield case("meshgrid", "one", lambda x: joined(math.meshgrid(x)), (3,))


LAYOUTS: dict[str, Callable[[Array], Array]] = {}


def layout(change: Callable[[Array], Array]) -> Callable[[Array], Array]:
    LAYOUTS[change.__name__] = change
    return change


@layout
def transposed(array: Array) -> Array:
    return np.ascontiguousarray(array.T).T


@layout
def strided(array: Array) -> Array:
    wide = np.full((*array.shape, 2), np.nan)
    wide[..., 0] = array
    return wide[..., 0]


@layout
def reversed_view(array: Array) -> Array:
    return np.flip(np.flip(array).copy())


@layout
def read_only(array: Array) -> Array:
    copy = array.copy()
    copy.setflags(write=False)
    return copy


def layouts(cases: Sequence[Case]) -> Iterator[Case]:
    """Yield, for each operation, its first case with a matrix once more in every memory layout."""
    done: set[str] = set()
    for case in cases:
        if case.operation not in done and case.inputs[0].ndim > 1 and case.inputs[0].size:
            done.add(case.operation)
            for name, change in LAYOUTS.items():
                inputs = tuple(change(array) for array in case.inputs)
                yield Case(case.operation, f"{case.label}-{name}", case.function, inputs)


class NumPy:
    """NumPy's functions under the names of ours."""

    # What NumPy doesn't have, or under another name.
    LACKS = ("erf", "logsumexp", "getitem", "einsum")

    def __getattr__(self, name: str) -> Any:
        if name in self.LACKS:
            return None
        if name == "flatten":
            return np.ravel
        return getattr(np.linalg if name == "norm" else np, name)


def every_case(namespace: Any) -> list[Case]:
    """Return the table, with the functions of a namespace: ours, or NumPy."""
    tables = (elementwise, reductions, running, shaping, indexing, matrix, linear, everyday)
    cases = [case for table in tables for case in table(namespace)]
    cases.extend(layouts(cases))
    labels = Counter(map(str, cases))
    if twice := [label for label, number in labels.items() if number > 1]:
        raise ValueError(f"two cases have one label: {twice}")
    return cases


CASES = every_case(math)
NUMPY_CASES = [case for case in every_case(NumPy()) if case.operation not in NumPy.LACKS]
