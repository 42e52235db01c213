"""Modules that hold modules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast, overload

from clumsygrad.core import Tensor

from .module import Module


class Sequential(Module):
    """Modules one after the other, each called with what the one before returned.

    Args:
        modules: the modules in order, named ``"0"``, ``"1"``, …; or one dict of named modules.

    Example:
        >>> from clumsygrad.core import zeros
        >>> from clumsygrad.nn import Linear, ReLU, Sequential
        >>> model = Sequential(Linear(4, 8), ReLU(), Linear(8, 2))
        >>> model(zeros((5, 4))).shape
        (5, 2)
        >>> model[0]
        Linear(in_features=4, out_features=8, bias=True)
    """

    def __init__(self, *modules: Module | Mapping[str, Module]) -> None:
        super().__init__()
        for index, module in enumerate(modules):
            if isinstance(module, Module):
                self.register_module(str(index), module)
            elif len(modules) == 1:
                for name, named in module.items():
                    self.register_module(name, named)
            else:
                raise TypeError("Sequential takes modules, or a single dict of them")

    def forward(self, x: Any, /) -> Tensor:
        """Return the output of the last module; ``x`` itself when there is none."""
        for name in self._module_names:
            x = self.__dict__[name](x)
        return cast("Tensor", x)

    def append(self, module: Module) -> Sequential:
        """Add a module at the end, and return this one."""
        self.register_module(str(len(self._module_names)), module)
        return self

    def extend(self, modules: Iterable[Module]) -> Sequential:
        """Add several modules at the end, and return this one."""
        for module in modules:
            self.append(module)
        return self

    def __len__(self) -> int:
        return len(self._module_names)

    def __iter__(self) -> Iterator[Module]:
        return iter([self.__dict__[name] for name in self._module_names])

    @overload
    def __getitem__(self, index: int) -> Module: ...
    @overload
    def __getitem__(self, index: slice) -> Sequential: ...
    def __getitem__(self, index: int | slice) -> Module | Sequential:
        """Return one module; or, for a slice, a Sequential of some, under the names that they have."""
        names = list(self._module_names)
        if isinstance(index, slice):
            return Sequential({name: self.__dict__[name] for name in names[index]})
        return cast("Module", self.__dict__[_at(names, index, self)])

    def __setitem__(self, index: int, module: Module) -> None:
        self.register_module(_at(list(self._module_names), index, self), module)


def _at(names: list[str], index: int, module: Module) -> str:
    if not -len(names) <= index < len(names):
        raise IndexError(f"{type(module).__name__} has {len(names)} modules; there is none at {index}")
    return names[index]


class ModuleList(Module):
    """A list of modules that are found by ``parameters()``, ``state_dict()`` and all the others.

    Example:
        >>> from clumsygrad.nn import Linear, ModuleList
        >>> layers = ModuleList(Linear(2, 2, bias=False) for _ in range(2))
        >>> [name for name, _ in layers.named_parameters()]
        ['0.weight', '1.weight']
    """

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        self.extend(modules or ())

    def append(self, module: Module) -> ModuleList:
        """Add a module at the end, and return this list."""
        self.register_module(str(len(self)), module)
        return self

    def extend(self, modules: Iterable[Module]) -> ModuleList:
        """Add several modules at the end, and return this list."""
        for module in modules:
            self.append(module)
        return self

    def insert(self, index: int, module: Module) -> None:
        """Put a module before the one at an index."""
        modules = list(self)
        modules.insert(index, module)
        self._replace(modules)

    def _replace(self, modules: list[Module]) -> None:
        for name in list(self._module_names):
            delattr(self, name)
        self.extend(modules)

    def __len__(self) -> int:
        return len(self._module_names)

    def __iter__(self) -> Iterator[Module]:
        return iter([self.__dict__[name] for name in self._module_names])

    def __contains__(self, module: object) -> bool:
        return any(own is module for own in self)

    @overload
    def __getitem__(self, index: int) -> Module: ...
    @overload
    def __getitem__(self, index: slice) -> ModuleList: ...
    def __getitem__(self, index: int | slice) -> Module | ModuleList:
        """Return one module; or, for a slice, a list of some."""
        if isinstance(index, slice):
            return ModuleList(list(self)[index])
        return cast("Module", self.__dict__[_at(list(self._module_names), index, self)])

    def __setitem__(self, index: int, module: Module) -> None:
        self.register_module(_at(list(self._module_names), index, self), module)

    def __delitem__(self, index: int | slice) -> None:
        modules = list(self)
        del modules[index]
        self._replace(modules)


class ModuleDict(Module):
    """A dict of modules that are found by ``parameters()``, ``state_dict()`` and all the others.

    Example:
        >>> from clumsygrad.nn import Linear, ModuleDict
        >>> heads = ModuleDict({"mean": Linear(2, 1, bias=False)})
        >>> list(heads.state_dict())
        ['mean.weight']
    """

    def __init__(self, modules: Mapping[str, Module] | None = None) -> None:
        super().__init__()
        self.update(modules or {})

    def update(self, modules: Mapping[str, Module]) -> None:
        """Add or replace several modules."""
        for name, module in modules.items():
            self[name] = module

    def pop(self, key: str) -> Module:
        """Take a module out, and return it."""
        module = self[key]
        del self[key]
        return module

    def keys(self) -> Iterable[str]:
        """Return the names."""
        return list(self._module_names)

    def values(self) -> Iterable[Module]:
        """Return the modules."""
        return [self[key] for key in self._module_names]

    def items(self) -> Iterable[tuple[str, Module]]:
        """Return the names with their modules."""
        return [(key, self[key]) for key in self._module_names]

    def __len__(self) -> int:
        return len(self._module_names)

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._module_names))

    def __contains__(self, key: object) -> bool:
        return key in self._module_names

    def __getitem__(self, key: str) -> Module:
        if key not in self._module_names:
            raise KeyError(key)
        return cast("Module", self.__dict__[key])

    def __setitem__(self, key: str, module: Module) -> None:
        self.register_module(key, module)

    def __delitem__(self, key: str) -> None:
        delattr(self, self._check_key(key))

    def _check_key(self, key: str) -> str:
        if key not in self._module_names:
            raise KeyError(key)
        return key
