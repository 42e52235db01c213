"""Module: what layers and models are made of, and Parameter: what they train."""

# ruff: noqa: SLF001  # a module reads the registries of the modules below it

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, ParamSpec, Protocol, Self, TypeAlias, TypeVar, cast

import numpy as np
import numpy.typing as npt

from clumsygrad.core import Array, Tensor, TensorLike, TensorType, mark_updated, parameter

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)

Buffer: TypeAlias = Tensor | npt.NDArray[Any]
"""State that is saved but not trained: a Tensor, or an array of any dtype."""

ForwardHook: TypeAlias = Callable[["Module", tuple[Any, ...], Any], Any]
"""``hook(module, args, output)``; what it returns, unless None, takes the output's place."""

ForwardPreHook: TypeAlias = Callable[["Module", tuple[Any, ...]], Any]
"""``hook(module, args)``; what it returns, unless None, takes the arguments' place."""


_OWN_NAMES = frozenset({
    "training", "_parameter_names", "_buffer_names", "_module_names", "_forward_hooks", "_forward_pre_hooks"
})  # fmt: skip


class HasForward(Protocol[P, R_co]):
    """A module as its call sees it: it is called with ``forward``'s arguments, and gives what ``forward`` returns."""

    def forward(self, *args: P.args, **kwargs: P.kwargs) -> R_co:
        """Compute the output."""
        ...


class StateDictError(ValueError, RuntimeError):
    """A state_dict doesn't fit a module; a RuntimeError too, as PyTorch's is."""


class IncompatibleKeys(NamedTuple):
    """What ``load_state_dict`` found: keys that the module has and the state has not, and the other way round."""

    missing_keys: list[str]
    unexpected_keys: list[str]


class HookHandle:
    """What takes a hook away again: call ``remove()``, or use it as a context manager."""

    def __init__(self, hooks: dict[int, Any], key: int) -> None:
        self._hooks = hooks
        self._key = key

    def remove(self) -> None:
        """Take the hook away; once it is gone this does nothing."""
        self._hooks.pop(self._key, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()


def Parameter(data: TensorLike, requires_grad: bool = True) -> Tensor:  # noqa: N802  # PyTorch's name
    """Return a tensor to train, which a module registers when it is assigned to an attribute.

    It is a plain :class:`~clumsygrad.core.Tensor` of type PARAMETER, holding a copy of ``data``.

    Args:
        data: the initial value.
        requires_grad: False for a frozen one, an INPUT: register it with :meth:`Module.register_parameter`.

    Example:
        >>> from clumsygrad.nn import Parameter
        >>> Parameter([1.0, 2.0]).tensor_type.name
        'PARAMETER'
    """
    return parameter(data) if requires_grad else Tensor(data)


class Module:
    """The base of all layers and models.

    Assign parameters, buffers and other modules to attributes, and write ``forward``; call the module itself. Declare
    the attributes in the class body for type checkers; a call has the types of ``forward``.

    Example:
        >>> import numpy as np
        >>> from clumsygrad.core import Tensor
        >>> from clumsygrad.nn import Linear, Module, Parameter
        >>> class Scaled(Module):
        ...     linear: Linear
        ...     scale: Tensor
        ...
        ...     def __init__(self, features: int) -> None:
        ...         super().__init__()
        ...         self.linear = Linear(features, features)
        ...         self.scale = Parameter(1.0)
        ...
        ...     def forward(self, x: Tensor) -> Tensor:
        ...         return self.linear(x) * self.scale
        >>> model = Scaled(3)
        >>> [name for name, _ in model.named_parameters()]
        ['scale', 'linear.weight', 'linear.bias']
        >>> model(Tensor(np.zeros((2, 3)))).shape
        (2, 3)
    """

    training: bool
    # The attributes themselves are in __dict__, as any others; these know which of them are what.
    _parameter_names: dict[str, None]
    _buffer_names: dict[str, bool]
    _module_names: dict[str, None]
    _forward_hooks: dict[int, ForwardHook]
    _forward_pre_hooks: dict[int, ForwardPreHook]

    # A type checker is to see __init__ alone, of which __new__ would be a second, contradicting signature.
    if not TYPE_CHECKING:

        def __new__(cls, *args: object, **kwargs: object) -> Self:  # noqa: ARG004  # for __init__
            """Make an empty module, so that one whose ``__init__`` forgets ``super().__init__()`` works too."""
            module = super().__new__(cls)
            module.__dict__.update(
                training=True,
                _parameter_names={},
                _buffer_names={},
                _module_names={},
                _forward_hooks={},
                _forward_pre_hooks={},
            )
            return module

    def __init__(self) -> None:
        pass

    def forward(self, *args: Any, **kwargs: Any) -> Tensor:
        """Compute the output; every module writes its own."""
        raise NotImplementedError(f"{type(self).__name__} has to define forward()")

    def __call__(self: HasForward[P, R_co], *args: P.args, **kwargs: P.kwargs) -> R_co:
        """Compute the output: ``forward`` between its hooks."""
        module = cast("Module", self)
        if module._forward_hooks or module._forward_pre_hooks:
            return cast("R_co", module._call_with_hooks(args, kwargs))
        return self.forward(*args, **kwargs)

    def _call_with_hooks(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> object:
        for pre_hook in tuple(self._forward_pre_hooks.values()):
            changed = pre_hook(self, args)
            if changed is not None:
                args = _as_tuple(changed)
        output: object = self.forward(*args, **kwargs)
        for hook in tuple(self._forward_hooks.values()):
            changed = hook(self, args, output)
            if changed is not None:
                output = changed
        return output

    def register_forward_hook(self, hook: ForwardHook) -> HookHandle:
        """Call ``hook(module, args, output)`` after every forward; what it returns, unless None, is the output.

        Example:
            >>> from clumsygrad.core import zeros
            >>> from clumsygrad.nn import ReLU
            >>> layer = ReLU()
            >>> with layer.register_forward_hook(lambda module, args, output: print(output.shape)):
            ...     _ = layer(zeros((2, 3)))
            (2, 3)
        """
        return _add_hook(self._forward_hooks, hook)

    def register_forward_pre_hook(self, hook: ForwardPreHook) -> HookHandle:
        """Call ``hook(module, args)`` before every forward; what it returns, unless None, is passed instead."""
        return _add_hook(self._forward_pre_hooks, hook)

    # Registration

    def _set_attribute(self, name: str, value: object) -> None:
        self._check_kind(name, value)
        if isinstance(value, Tensor):
            if value.tensor_type is TensorType.PARAMETER:
                self.register_parameter(name, value)
                return
            if name in self._parameter_names and not value.is_leaf:
                raise TypeError(
                    f"{name!r} is a parameter of {type(self).__name__}; a computed tensor would cut it off from its "
                    f"training. Assign a Parameter(...), or write into {name}.data"
                )
        elif isinstance(value, Module):
            self.register_module(name, value)
            return
        elif isinstance(value, dict):
            self._refuse_hidden(name, cast("dict[object, object]", value).values())
        elif isinstance(value, (list, tuple)):
            self._refuse_hidden(name, cast("list[object]", value))
        if value is not None:
            self._module_names.pop(name, None)
        object.__setattr__(self, name, value)

    # Hidden from type checkers, to which it would say that there is any attribute, misspelt ones included.
    if not TYPE_CHECKING:
        __setattr__ = _set_attribute

    def _check_kind(self, name: str, value: object) -> None:
        """Raise for a value that can't be the parameter or buffer that bears its name."""
        if value is None or isinstance(value, (Tensor, Module, np.ndarray)):
            return
        if name in self._parameter_names or name in self._buffer_names:
            kind = "parameter" if name in self._parameter_names else "buffer"
            raise TypeError(
                f"{name!r} is a {kind} of {type(self).__name__}; it can't become a {type(value).__name__}. Delete "
                "the attribute first to use its name for something else"
            )

    def __delattr__(self, name: str) -> None:
        object.__delattr__(self, name)
        for names in (self._parameter_names, self._buffer_names, self._module_names):
            names.pop(name, None)

    def _refuse_hidden(self, name: str, values: Iterable[object]) -> None:
        """Raise for a collection of modules or parameters that nothing would register."""
        hidden = [
            value
            for value in values
            if isinstance(value, Module) or (isinstance(value, Tensor) and value.tensor_type is TensorType.PARAMETER)
        ]
        if not hidden:
            return
        known = {id(module) for module in self.modules()} | {id(parameter) for parameter in self.parameters()}
        if any(id(value) not in known for value in hidden):
            raise TypeError(
                f"{name!r} would hide its modules and parameters in a plain collection, where parameters(), "
                "state_dict() and train() can't find them; use ModuleList, ModuleDict or Sequential, or "
                "object.__setattr__ when that is what you want"
            )

    def register_parameter(self, name: str, param: Tensor | None) -> None:
        """Add a parameter under a name; None reserves the name, as for a bias that is switched off.

        A frozen parameter, an INPUT tensor, may be registered too.

        Raises:
            TypeError: for a computed tensor, or what is no Tensor.
        """
        given = cast("object", param)
        if not (given is None or (isinstance(given, Tensor) and given.is_leaf)):
            raise TypeError(
                f"parameter {name!r} has to be a Parameter(...); received {_kind_of(param)}. Compute with parameters "
                "in forward()"
            )
        self._check_name(name, self._parameter_names)
        self._parameter_names[name] = None
        object.__setattr__(self, name, param)

    def register_buffer(self, name: str, value: Buffer | None, persistent: bool = True) -> None:
        """Add state that is saved with the module but not trained, such as running statistics.

        Args:
            name: the attribute under which it is reached, and its key in the state_dict.
            value: a Tensor; or an array, of any dtype; or None.
            persistent: whether state_dict() contains it.

        Raises:
            TypeError: for anything else, or a tensor that requires gradients.

        Example:
            >>> from clumsygrad.core import zeros
            >>> from clumsygrad.nn import Module
            >>> module = Module()
            >>> module.register_buffer("mean", zeros(2))
            >>> module.state_dict()
            {'mean': array([0., 0.], dtype=float32)}
        """
        given = cast("object", value)
        if not (given is None or isinstance(given, np.ndarray) or (isinstance(given, Tensor) and given.is_leaf)):
            raise TypeError(f"buffer {name!r} is a leaf Tensor, a NumPy array or None; received {_kind_of(given)}")
        self._check_name(name, self._buffer_names)
        self._buffer_names[name] = persistent
        object.__setattr__(self, name, value)

    def register_module(self, name: str, module: Module | None) -> None:
        """Add a submodule under a name, as assigning it to an attribute does; None reserves the name."""
        if module is not None and not isinstance(cast("object", module), Module):
            raise TypeError(f"submodule {name!r} has to be a Module; received {_kind_of(module)}")
        self._check_name(name, self._module_names)
        self._module_names[name] = None
        object.__setattr__(self, name, module)

    add_module = register_module

    def _check_name(self, name: str, names: Mapping[str, object]) -> None:
        if not name or "." in name:
            raise ValueError(
                f"the name of a parameter, buffer or submodule is part of state_dict's keys; it can't be empty or hold "
                f"a dot: received {name!r}"
            )
        if name not in names:
            if hasattr(type(self), name) or name in _OWN_NAMES:
                raise ValueError(f"{name!r} is an attribute of every {type(self).__name__}; choose another name")
            for other in (self._parameter_names, self._buffer_names, self._module_names):
                other.pop(name, None)

    # What is in the module

    def named_parameters(self, prefix: str = "", recurse: bool = True) -> Iterator[tuple[str, Tensor]]:
        """Yield each parameter with its name; one that is shared, once, under its first name."""
        seen: set[int] = set()
        for path, module in self.named_modules(prefix) if recurse else [(prefix, self)]:
            for name in module._parameter_names:
                value: Tensor | None = module.__dict__[name]
                if value is not None and id(value) not in seen:
                    seen.add(id(value))
                    yield _join(path, name), value

    def parameters(self, recurse: bool = True) -> Iterator[Tensor]:
        """Yield each parameter, a shared one once: what an optimizer takes."""
        return (value for _, value in self.named_parameters(recurse=recurse))

    def named_buffers(self, prefix: str = "", recurse: bool = True) -> Iterator[tuple[str, Buffer]]:
        """Yield each buffer with its name."""
        seen: set[int] = set()
        for path, module in self.named_modules(prefix) if recurse else [(prefix, self)]:
            for name in module._buffer_names:
                value: Buffer | None = module.__dict__[name]
                if value is not None and id(value) not in seen:
                    seen.add(id(value))
                    yield _join(path, name), value

    def buffers(self, recurse: bool = True) -> Iterator[Buffer]:
        """Yield each buffer."""
        return (value for _, value in self.named_buffers(recurse=recurse))

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """Yield the modules directly below this one, with their names; a shared one once."""
        seen: set[int] = set()
        for name in self._module_names:
            module: Module | None = self.__dict__[name]
            if module is not None and id(module) not in seen:
                seen.add(id(module))
                yield name, module

    def children(self) -> Iterator[Module]:
        """Yield the modules directly below this one."""
        return (module for _, module in self.named_children())

    def named_modules(self, prefix: str = "") -> Iterator[tuple[str, Module]]:
        """Yield this module and all below it, each with its path; a shared one once."""
        seen: set[int] = set()
        # A stack instead of recursion: the nesting has no limit, and each module is yielded by one generator.
        waiting: list[tuple[str, Module]] = [(prefix, self)]
        while waiting:
            path, module = waiting.pop()
            if id(module) in seen:
                continue
            seen.add(id(module))
            yield path, module
            waiting.extend((_join(path, name), child) for name, child in reversed(list(module.named_children())))

    def modules(self) -> Iterator[Module]:
        """Yield this module and all below it, a shared one once."""
        return (module for _, module in self.named_modules())

    def get_submodule(self, target: str) -> Module:
        """Return the module at a path such as ``"encoder.layers.0"``; AttributeError when there is none."""
        module = self
        for name in target.split(".") if target else ():
            if name not in module._module_names or module.__dict__[name] is None:
                raise AttributeError(f"{type(module).__name__} has no submodule {name!r}, of the path {target!r}")
            module = module.__dict__[name]
        return module

    # What is done to all of it

    def apply(self, fn: Callable[[Module], object]) -> Self:
        """Call ``fn`` on every module, those below first, and return this one: for initialisation."""
        for module in reversed(list(self.modules())):
            fn(module)
        return self

    def train(self, mode: bool = True) -> Self:
        """Put this module and all below it into training mode, and return it."""
        for module in self.modules():
            object.__setattr__(module, "training", mode)
        return self

    def eval(self) -> Self:
        """Put this module and all below it into evaluation mode, and return it."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Freeze (False) or thaw all parameters, and return this module.

        A frozen parameter is a constant to the computations that follow: they record nothing for it. It stays in
        ``parameters()`` and in the state_dict.

        Example:
            >>> from clumsygrad.core import zeros
            >>> from clumsygrad.nn import Linear
            >>> layer = Linear(2, 2).requires_grad_(False)
            >>> layer(zeros((1, 2))).requires_grad
            False
        """
        for param in self.parameters():
            param.requires_grad_(requires_grad)
        return self

    def zero_grad(self) -> None:
        """Forget the gradients of all parameters."""
        for param in self.parameters():
            param.zero_grad()

    # Saving

    def state_dict(self, prefix: str = "") -> dict[str, Array]:
        """Return a copy of every parameter and persistent buffer, as arrays by their names."""
        state: dict[str, Array] = {}
        for name, value in self._state(prefix):
            state[name] = np.array(value.data if isinstance(value, Tensor) else value)
        return state

    def _state(self, prefix: str = "") -> Iterator[tuple[str, Buffer]]:
        """Yield what a state_dict contains: what is shared under each of its names, each module's parameters first."""
        waiting: list[tuple[str, Module]] = [(prefix, self)]
        while waiting:
            path, module = waiting.pop()
            persistent = [name for name, kept in module._buffer_names.items() if kept]
            for name in (*module._parameter_names, *persistent):
                value: Buffer | None = module.__dict__[name]
                if value is not None:
                    yield path + name, value
            below = [(f"{path}{name}.", module.__dict__[name]) for name in module._module_names]
            waiting.extend((path, child) for path, child in reversed(below) if child is not None)

    def load_state_dict(self, state_dict: Mapping[str, TensorLike], strict: bool = True) -> IncompatibleKeys:
        """Copy the values of a state_dict into the parameters and buffers of the same names.

        Args:
            state_dict: arrays or Tensors by name.
            strict: whether the names have to be exactly the module's own.

        Returns:
            The missing and the unexpected keys, both empty when ``strict``.

        Raises:
            StateDictError: for a wrong key when ``strict``, and for a wrong shape always. It names every one of
                them, and nothing has been loaded.

        Example:
            >>> from clumsygrad.nn import Linear
            >>> first, second = Linear(2, 3), Linear(2, 3)
            >>> second.load_state_dict(first.state_dict())
            IncompatibleKeys(missing_keys=[], unexpected_keys=[])
            >>> bool((first.weight == second.weight).all())
            True
        """
        own = dict(self._state())
        result = IncompatibleKeys(
            [name for name in own if name not in state_dict], [name for name in state_dict if name not in own]
        )
        problems: list[str] = []
        if strict:
            problems += [f"missing key: {name!r}" for name in result.missing_keys]
            problems += [f"unexpected key: {name!r}" for name in result.unexpected_keys]
        new: dict[str, npt.NDArray[Any]] = {}
        for name, target in own.items():
            if name not in state_dict:
                continue
            value = _as_state(state_dict[name])
            if value.dtype.kind not in "fiub":
                problems.append(f"{name!r} holds real numbers; the state_dict has {_kind_of(state_dict[name])}")
            elif value.shape != target.shape:
                problems.append(f"{name!r} has shape {target.shape}; the state_dict has shape {value.shape}")
            else:
                new[name] = value
        if problems:
            lines = "\n  ".join(problems)
            raise StateDictError(f"the state_dict doesn't fit {type(self).__name__}; nothing was loaded:\n  {lines}")
        _overwrite((own[name], value) for name, value in new.items())
        return result

    # The picture of it

    def extra_repr(self) -> str:
        """Return what ``repr`` shows of this module between the parentheses; layers show their settings."""
        return ""

    def __repr__(self) -> str:
        settings = self.extra_repr()
        children = [(name, self.__dict__[name]) for name in self._module_names]
        if not children:
            return f"{type(self).__name__}({settings})"
        lines = [settings] if settings else []
        lines += [f"({name}): {child!r}".replace("\n", "\n  ") for name, child in children]
        return "\n  ".join([f"{type(self).__name__}(", *lines]) + "\n)"


def _add_hook(hooks: dict[int, Any], hook: Any) -> HookHandle:
    key = max(hooks, default=-1) + 1
    hooks[key] = hook
    return HookHandle(hooks, key)


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return tuple(cast("Iterable[Any]", value)) if isinstance(value, tuple) else (value,)


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _kind_of(value: object) -> str:
    if isinstance(value, Tensor):
        return f"a {value.tensor_type.name} tensor of shape {value.shape}"
    if isinstance(value, np.ndarray):
        array = cast("npt.NDArray[Any]", value)
        return f"an array of dtype {array.dtype} and shape {array.shape}"
    return f"a {type(value).__name__}"


def _as_state(value: TensorLike) -> npt.NDArray[Any]:
    return value.data if isinstance(value, Tensor) else np.asarray(value)


def _overwrite(pairs: Iterable[tuple[Buffer, npt.NDArray[Any]]]) -> None:
    """Write values into tensors and arrays of their shapes, in place, as other holders of their memory expect."""
    written: list[Tensor] = []
    for target, value in pairs:
        if not isinstance(target, Tensor):
            np.copyto(target, value, casting="unsafe")
            continue
        converted = Tensor(value).data
        if target.data.flags.writeable and target.data.dtype == converted.dtype:
            np.copyto(target.data, converted)
            written.append(target)
        else:
            target.data = converted
    mark_updated(written)
