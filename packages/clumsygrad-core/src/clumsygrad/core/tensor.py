"""The Tensor: a value, and where it came from. The graph is nothing but tensors and their parents."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import count
from types import MappingProxyType
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from .dispatch import dispatch_function, dispatch_ufunc
from .methods import TensorMethods
from .mode import grad_mode, precision
from .tensor_type import TensorType
from .types import Array, GradFn, Shape, TensorLike

_INPUT = TensorType.INPUT
_PARAMETER = TensorType.PARAMETER
_INTERMEDIATE = TensorType.INTERMEDIATE

_FLOAT32 = np.dtype(np.float32)
_NO_EXTRA: dict[str, Any] = {}

# Looked up once, for the factory: these are its cost for every node.
_recording = grad_mode.get
_next_id = count(1).__next__
_new = object.__new__
_ndarray = np.ndarray


def create_node(
    data: Array,
    grad_fn: GradFn,
    parents: tuple[Tensor, ...],
    extra: dict[str, Any] | None = None,
) -> Tensor:
    """Make the result of an operation; every operation ends here.

    Args:
        data: the value, adopted without a copy.
        grad_fn: the backward function, called as ``grad_fn(tensor, grad)``.
        parents: the Tensors it was computed from, in the order of ``grad_fn``'s results.
        extra: what the backward function needs and can't reach through the parents or the result.

    Returns:
        An INTERMEDIATE tensor when gradients are being recorded and any parent needs one; else an INPUT
        tensor that remembers nothing.

    Raises:
        TypeError: for a value that is not real and numeric.

    Example:
        >>> import numpy as np
        >>> from clumsygrad.core import as_tensor, create_node, parameter
        >>> def double_backward(tensor, grad):
        ...     return (grad * 2,)
        >>> x = parameter([1.0, 2.0])
        >>> create_node(x.data * 2, double_backward, (x,)).sum().backward()
        >>> x.grad
        array([2., 2.], dtype=float32)
    """
    if data.__class__ is not _ndarray or data.dtype is not _FLOAT32:
        data = _conform(data)
    node = _new(Tensor)
    node._data = data
    node._shape = data.shape
    node._grad = None
    node._stamp = 0
    node._id = _next_id()
    if _recording():
        for parent in parents:
            if parent._tensor_type is not _INPUT:
                node._tensor_type = _INTERMEDIATE
                node._grad_fn = grad_fn
                node._parents = parents
                node._extra = _NO_EXTRA if extra is None else extra
                return node
    node._tensor_type = _INPUT
    node._grad_fn = None
    node._parents = ()
    node._extra = _NO_EXTRA
    return node


class Tensor(TensorMethods):
    """A node of the graph: a float32 array, and the operation and parents it was made from.

    Args:
        data: anything NumPy makes a real numeric array of; it is copied into float32.
        tensor_type: ``INPUT`` for data, ``PARAMETER`` for a leaf to train.

    Raises:
        TypeError: for complex, string or object data, and for a list that holds Tensors.
        ValueError: for ``TensorType.INTERMEDIATE``, which only operations make.

    Example:
        >>> from clumsygrad.core import Tensor, TensorType
        >>> w = Tensor([1.0, 2.0], TensorType.PARAMETER)
        >>> (w * w).sum().backward()
        >>> w.grad
        array([2., 4.], dtype=float32)
    """

    __slots__ = (
        "__weakref__",
        "_data",
        "_extra",
        "_grad",
        "_grad_fn",
        "_id",
        "_parents",
        "_shape",
        "_stamp",
        "_tensor_type",
    )

    _data: Array
    # That of the value, which never changes: asking the array makes a new tuple every time.
    _shape: Shape
    _grad: Array | None
    _grad_fn: GradFn | None
    _parents: tuple[Tensor, ...]
    _extra: dict[str, Any]
    _tensor_type: TensorType
    _id: int
    # The id that was next when the value was last changed in place; a node older than that is stale.
    _stamp: int

    def __init__(self, data: TensorLike, tensor_type: TensorType = TensorType.INPUT) -> None:
        check_leaf_type(tensor_type)
        self._become_leaf(as_array(data, copy=True), tensor_type)

    def _become_leaf(self, data: Array, tensor_type: TensorType) -> None:
        self._data = data
        self._shape = data.shape
        self._grad = None
        self._grad_fn = None
        self._parents = ()
        self._extra = _NO_EXTRA
        self._tensor_type = tensor_type
        self._stamp = 0
        self._id = _next_id()

    # The one factory: every operation makes its result here.
    _create_node = staticmethod(create_node)

    def _cleanup_references(self) -> None:
        """Let go of the parents, once the gradient has been passed on to them."""
        self._parents = ()
        self._extra = _NO_EXTRA

    # What a node holds

    @property
    def data(self) -> Array:
        """The value, as the live array.

        Assigning replaces it by an array of the same shape, adopted without a copy when it is float32. The value of
        another tensor is copied.
        Writing into the array itself (``t.data[0] = 1``) can't be seen by the graph; write ``t[0] = 1``, or call
        :func:`mark_updated` afterwards.
        """
        return self._data

    @data.setter
    def data(self, value: TensorLike) -> None:
        if self._tensor_type is _INTERMEDIATE:
            raise RuntimeError(
                f"the value of a computed tensor can't be replaced; this one was made by {operation_name(self)}. "
                "Use .detach() for a constant copy that can be changed"
            )
        array = as_array(value, copy=isinstance(value, Tensor))
        if array.shape != self._data.shape:
            raise ValueError(
                f"a tensor's data keeps its shape {self._data.shape}; received an array of shape {array.shape}. "
                "Make a new tensor for a value of another shape"
            )
        self._data = array
        self._stamp = _next_id()

    @property
    def grad(self) -> Array | None:
        """The accumulated gradient: an array of the tensor's shape shared with nothing, or None."""
        return self._grad

    @grad.setter
    def grad(self, value: TensorLike | None) -> None:
        if value is None or value is self._grad:
            self._grad = None if value is None else self._grad
            return
        array = as_array(value, copy=True)
        if array.shape != self._data.shape:
            raise ValueError(
                f"a gradient has its tensor's shape {self._data.shape}; received an array of shape {array.shape}"
            )
        self._grad = array

    @property
    def grad_fn(self) -> GradFn | None:
        """The backward function of the operation that made this tensor, None on a leaf."""
        return self._grad_fn

    @property
    def parents(self) -> tuple[Tensor, ...]:
        """The tensors this one was computed from; empty on a leaf and after the graph was freed."""
        return self._parents

    @property
    def extra(self) -> Mapping[str, Any]:
        """What the backward function needs beyond the parents and the result (read-only)."""
        return MappingProxyType(self._extra)

    @property
    def tensor_type(self) -> TensorType:
        """INPUT, PARAMETER or INTERMEDIATE."""
        return self._tensor_type

    @property
    def id(self) -> int:
        """A number that grows with every tensor made: parents have smaller ones than their children."""
        return self._id

    @property
    def requires_grad(self) -> bool:
        """Whether gradients flow to this tensor: it is not an INPUT."""
        return self._tensor_type is not _INPUT

    @property
    def is_leaf(self) -> bool:
        """Whether the tensor was made by hand rather than by a recorded operation."""
        return self._tensor_type is not _INTERMEDIATE

    @property
    def shape(self) -> Shape:
        """The length of each axis."""
        return self._shape

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self._data.ndim

    @property
    def size(self) -> int:
        """The number of elements."""
        return self._data.size

    @property
    def dtype(self) -> np.dtype[np.floating]:
        """float32, or float64 for a tensor made inside ``double_precision()``."""
        return self._data.dtype

    @property
    def T(self) -> Tensor:  # noqa: N802  # NumPy's name
        """The tensor with its axes reversed."""
        return self.transpose()

    @property
    def mT(self) -> Tensor:  # noqa: N802  # NumPy's name
        """The tensor with its last two axes swapped: a stack of matrices, each transposed."""
        if self._data.ndim < 2:
            raise ValueError(f"mT needs at least two axes; received a tensor of shape {self._data.shape}")
        return self.swapaxes(-1, -2)

    # Out of the graph

    def item(self) -> float:
        """Return the only element as a Python float; ValueError when there isn't exactly one."""
        if self._data.size != 1:
            raise ValueError(
                f"only a tensor of one element is a Python number; this one has shape {self._data.shape}. "
                "Reduce it first, or use .tolist()"
            )
        return float(self._data.item())

    def numpy(self) -> Array:
        """Return the value as a read-only view; ``.data`` is the array itself, ``.numpy().copy()`` a copy."""
        view = self._data.view()
        view.flags.writeable = False
        return view

    def tolist(self) -> Any:
        """Return the value as a float or nested lists of floats."""
        return self._data.tolist()

    def detach(self) -> Tensor:
        """Return a constant copy of the value: an INPUT tensor that shares nothing with this one."""
        return wrap(self._data.copy())

    def zero_grad(self) -> None:
        """Forget the gradient: ``grad`` becomes None."""
        self._grad = None

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Make this leaf a PARAMETER, or with False an INPUT, and return it: to thaw or freeze what is trained.

        Raises:
            RuntimeError: for a computed tensor, which requires gradients because its parents do.

        Example:
            >>> from clumsygrad.core import parameter
            >>> w = parameter([1.0]).requires_grad_(False)
            >>> (w * 2).requires_grad
            False
        """
        if self._tensor_type is _INTERMEDIATE:
            raise RuntimeError(
                f"only a leaf can be frozen or thawed; this tensor was made by {operation_name(self)}. "
                "Use .detach() for a constant copy"
            )
        self._tensor_type = _PARAMETER if requires_grad else _INPUT
        return self

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        if copy:
            return np.array(self._data, dtype=dtype)
        view = self.numpy()
        if dtype is None or view.dtype == dtype:
            return view
        if copy is False:
            raise ValueError(f"a tensor of {view.dtype} can't be seen as {np.dtype(dtype)} without a copy")
        return view.astype(dtype)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return dispatch_ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(
        self, func: Callable[..., Any], types: Iterable[type], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        return dispatch_function(func, args, kwargs)

    # Python's protocols

    def __len__(self) -> int:
        if not self._data.ndim:
            raise TypeError("a 0-d tensor has no length; use .item() for its value")
        return len(self._data)

    def __iter__(self) -> Iterator[Tensor]:
        if not self._data.ndim:
            raise TypeError("a 0-d tensor can't be iterated over; use .item() for its value")
        return (self[index] for index in range(len(self._data)))

    def __contains__(self, value: TensorLike) -> bool:
        return bool(np.any(self._data == as_array(value, copy=False)))

    def __bool__(self) -> bool:
        return bool(self.item())

    def __float__(self) -> float:
        return self.item()

    def __int__(self) -> int:
        return int(self.item())

    def __setitem__(self, key: object, value: TensorLike) -> None:
        if self._tensor_type is _INTERMEDIATE:
            raise RuntimeError(
                f"a computed tensor can't be assigned to; this one was made by {operation_name(self)}. "
                "Use .detach() for a constant copy, or where() for a differentiable choice"
            )
        if _recording():
            if self._tensor_type is _PARAMETER:
                raise RuntimeError(
                    "assigning to a parameter is not an operation of the graph; do it inside 'with no_grad():'"
                )
            if isinstance(value, Tensor) and value._tensor_type is not _INPUT:
                raise RuntimeError(
                    "assigning a tensor that requires gradients would cut it from the graph; use where(), "
                    "concatenate() or stack(), or assign value.detach()"
                )
        if not self._data.flags.writeable:
            raise ValueError(
                "this tensor shares read-only memory, as a view of another tensor does; assign to the tensor it "
                "was taken from (x[0, 1] = v rather than x[0][1] = v), or to a .detach() copy"
            )
        self._data[plain_key(key)] = as_array(value, copy=False)
        self._stamp = _next_id()

    def __eq__(self, other: object) -> npt.NDArray[np.bool_]:  # type: ignore[override]  # elementwise, as NumPy's
        return self._compare(operator.eq, other)

    def __ne__(self, other: object) -> npt.NDArray[np.bool_]:  # type: ignore[override]  # elementwise, as NumPy's
        return self._compare(operator.ne, other)

    def __lt__(self, other: TensorLike) -> npt.NDArray[np.bool_]:
        return self._compare(operator.lt, other)

    def __le__(self, other: TensorLike) -> npt.NDArray[np.bool_]:
        return self._compare(operator.le, other)

    def __gt__(self, other: TensorLike) -> npt.NDArray[np.bool_]:
        return self._compare(operator.gt, other)

    def __ge__(self, other: TensorLike) -> npt.NDArray[np.bool_]:
        return self._compare(operator.ge, other)

    def _compare(self, compare: Callable[[Any, Any], Any], other: object) -> npt.NDArray[np.bool_]:
        if isinstance(other, Tensor):
            other = other._data
        result: Any = compare(self._data, other)
        return result if result is NotImplemented else np.asarray(result)

    def __hash__(self) -> int:
        # Elementwise == makes hashing by value meaningless: a tensor is itself and no other.
        return id(self)

    def __repr__(self) -> str:
        values = np.array2string(self._data, separator=", ", prefix="Tensor(")
        origin = f", grad_fn={operation_name(self)}" if self._grad_fn else ""
        return f"Tensor({values}, type={self._tensor_type.name}{origin})"

    def __format__(self, spec: str) -> str:
        if not spec:
            return str(self)
        if self._data.ndim:
            raise TypeError(
                f"a format such as {spec!r} is for a 0-d tensor; this one has shape {self._data.shape}. "
                "Format its elements, or use np.array2string(t.data)"
            )
        return format(self.item(), spec)

    def __reduce__(self) -> tuple[Callable[..., Tensor], tuple[Array, TensorType, Array | None]]:
        tensor_type = _INPUT if self._tensor_type is _INTERMEDIATE else self._tensor_type
        return _rebuild, (self._data, tensor_type, self._grad)


def _rebuild(data: Array, tensor_type: TensorType, grad: Array | None) -> Tensor:
    """Unpickle or copy a tensor: the same value under a new id."""
    tensor = wrap(np.array(data), tensor_type)
    tensor._grad = None if grad is None else np.array(grad)
    return tensor


def wrap(data: npt.NDArray[Any], tensor_type: TensorType = TensorType.INPUT) -> Tensor:
    """Make a leaf around an array without copying it."""
    tensor = _new(Tensor)
    tensor._become_leaf(data, tensor_type)
    return tensor


def as_tensor(value: TensorLike) -> Tensor:
    """Return ``value`` itself when it is a Tensor, else a constant made of it.

    Example:
        >>> from clumsygrad.core import as_tensor
        >>> as_tensor([1, 2]).shape
        (2,)
    """
    return value if isinstance(value, Tensor) else wrap(as_array(value, copy=True))


def mark_updated(tensors: Iterable[Tensor]) -> None:
    """Tell the graph that the arrays of these leaves were written into.

    A backward pass through anything computed from them before raises then, instead of using the wrong values.
    For code that writes into ``.data`` arrays, as optimizers do; one call serves any number of tensors.

    Example:
        >>> from clumsygrad.core import mark_updated, parameter
        >>> w = parameter([1.0])
        >>> w.data[0] = 5.0
        >>> mark_updated([w])
    """
    stamp = _next_id()
    for tensor in tensors:
        tensor._stamp = stamp


def as_array(value: TensorLike, *, copy: bool) -> Array:
    """Return ``value`` as an array of the precision in force; without a copy when it is one and ``copy`` is False."""
    if isinstance(value, Tensor):
        value = value._data
    elif isinstance(value, (list, tuple)):
        _refuse_tensors(cast("list[Any]", value))
    array = np.asarray(value)
    if array.dtype.kind not in "fiub":
        raise TypeError(
            f"a tensor holds real numbers; received {_describe(cast('object', value))} of dtype {array.dtype}. "
            "Convert it to a real numeric array first"
        )
    # A float64 value that is too large for float32 becomes infinite, as in NumPy; it needs no warning here.
    with np.errstate(over="ignore", invalid="ignore"):
        return np.array(array, dtype=precision.get(), copy=True if copy else None)


def _refuse_tensors(values: list[Any] | tuple[Any, ...]) -> None:
    for value in values:
        if isinstance(value, (list, tuple)):
            _refuse_tensors(cast("list[Any]", value))
        elif isinstance(value, Tensor) and value._tensor_type is not _INPUT:
            raise TypeError(
                "a list of tensors that require gradients would lose its graph as an array; join them with stack() "
                "or concatenate(), or pass their .data"
            )


def _describe(value: object) -> str:
    return (
        f"an array of shape {np.shape(cast('Array', value))}" if isinstance(value, np.ndarray) else type(value).__name__
    )


def _conform(data: npt.NDArray[Any] | np.generic) -> Array:
    """Turn the scalar, or the array of another precision, that a NumPy call left into a tensor's value."""
    array = np.asarray(data)
    if array.dtype == _FLOAT32 or array.dtype == precision.get():
        return array
    if array.dtype.kind not in "fiub":
        raise TypeError(f"a tensor holds real numbers; an operation made an array of dtype {array.dtype}")
    with np.errstate(over="ignore"):
        return array.astype(precision.get())


def check_leaf_type(tensor_type: TensorType) -> None:
    """Raise for a role that a leaf can't have."""
    if tensor_type is _INTERMEDIATE:
        raise ValueError(
            "an INTERMEDIATE tensor is made by an operation, never by hand; "
            "use TensorType.INPUT or TensorType.PARAMETER"
        )
    if tensor_type is not _INPUT and tensor_type is not _PARAMETER:
        raise TypeError(f"tensor_type is a TensorType; received {tensor_type!r}. Use TensorType.PARAMETER to train it")


def plain_key(key: object) -> Any:
    """Return an index with the Tensors in it replaced by integer arrays, which is what NumPy takes."""
    if isinstance(key, tuple):
        return tuple(plain_key(part) for part in cast("tuple[object, ...]", key))
    if not isinstance(key, Tensor):
        return key
    integers = key._data.astype(np.intp)
    if not np.array_equal(integers, key._data):
        raise IndexError(f"a tensor used as an index holds whole numbers; received {key._data}")
    return integers


def operation_name(tensor: Tensor) -> str:
    """Return the name of the operation that made a tensor: that of its backward function, without the ending."""
    return tensor._grad_fn.__name__.removesuffix("_backward") if tensor._grad_fn else "no operation"
