"""The base of all optimizers: parameter groups, their hyper-parameters, and saving the state."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from operator import is_
from typing import Any, ClassVar, Final, TypeAlias, TypeVar, cast

import numpy as np

from clumsygrad.core import Array, Tensor, TensorType, enable_grad

from .hyperparameter import Rule, number, whole
from .record import Record

ParamGroup: TypeAlias = dict[str, Any]
"""A group's ``"params"``, a list of Tensors, and its hyper-parameters by name."""

ParamsLike: TypeAlias = (
    "Iterable[Tensor] | Iterable[tuple[str, Tensor]] | Iterable[Mapping[str, Any]]"  # the three forms of PyTorch
)
"""Parameters, pairs of name and parameter, or groups: mappings with ``"params"`` and hyper-parameters."""

StateDict: TypeAlias = dict[str, Any]
"""``{"state": {index: {name: number or array}}, "param_groups": [{"params": [index, ...], name: value, ...}]}``."""

Loss = TypeVar("Loss")

_PARAMETER: Final = TensorType.PARAMETER


class Optimizer(ABC):
    """Updates parameters from their gradients.

    A subclass lists the rules of its hyper-parameters in ``rules`` and takes the step in ``_take_step``.
    Optimizers that treat every element alike derive from
    :class:`~clumsygrad.optim.elementwise.ElementwiseOptimizer`, where that step is a few lines.

    Args:
        params: what to train, in one of three forms: Tensors; pairs of a name and a Tensor; or groups, each a mapping
            with ``"params"`` and the hyper-parameters that differ from ``defaults``. Tensors that are not of the type
            PARAMETER are left out, frozen ones included: add them with :meth:`add_param_group` once they are thawed.
        defaults: the hyper-parameters of groups that don't set their own.

    Attributes:
        param_groups: a list of dicts with ``"params"`` and the hyper-parameters, which may be changed between steps.
        defaults: the hyper-parameters of groups added later.

    Raises:
        TypeError: for a single Tensor, an entry that is no Tensor, a hyper-parameter of the wrong type.
        ValueError: when no parameter is left, one is given twice, or a hyper-parameter is out of its range.
    """

    rules: ClassVar[Mapping[str, Rule]] = {}
    numbers: ClassVar[tuple[str, ...]] = ()

    param_groups: list[ParamGroup]
    defaults: dict[str, Any]

    _records: list[list[Record]]
    _checked: list[tuple[object, ...]]

    def __init__(self, params: ParamsLike, defaults: Mapping[str, Any]) -> None:
        self.defaults = {name: rule(name, defaults[name]) for name, rule in self.rules.items()}
        self.param_groups = []
        self._records = []
        self._checked = []
        for group in _as_groups(params):
            self._append_group(group)
        if not any(group["params"] for group in self.param_groups):
            raise ValueError(
                f"{type(self).__name__} needs at least one Tensor of the type PARAMETER; received none. "
                "Make what is to be trained with parameter(...), and mind that an iterator can be read only once"
            )

    def add_param_group(self, param_group: Mapping[str, Any]) -> None:
        """Add parameters that are to be trained from now on, with hyper-parameters of their own.

        Args:
            param_group: ``"params"``, a Tensor or an iterable of them, and the hyper-parameters that differ from
                ``defaults``.

        Raises:
            TypeError: for anything else.
            ValueError: when no parameter is left in the group, one is trained already, or a hyper-parameter is out of
                its range.

        Example:
            >>> from clumsygrad.core import parameter
            >>> from clumsygrad.optim import SGD
            >>> optimizer = SGD([parameter([1.0])], lr=0.1)
            >>> optimizer.add_param_group({"params": parameter([2.0]), "lr": 0.01})
            >>> [group["lr"] for group in optimizer.param_groups]
            [0.1, 0.01]
        """
        if not isinstance(cast("object", param_group), Mapping):
            raise TypeError(f"a parameter group is a mapping; received {type(param_group).__name__}")
        self._append_group(param_group)
        if not self.param_groups[-1]["params"]:
            self.param_groups.pop()
            self._records.pop()
            self._checked.pop()
            raise ValueError("a parameter group needs at least one Tensor of the type PARAMETER; received none")

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients: each ``grad`` becomes None, or is filled with zeros for ``set_to_none=False``."""
        for group in self.param_groups:
            for tensor in cast("list[Tensor]", group["params"]):
                grad = tensor.grad
                if set_to_none or grad is None:
                    tensor.grad = None
                elif grad.flags.writeable:
                    grad.fill(0)
                else:
                    tensor.grad = np.zeros_like(grad)

    def step(self, closure: Callable[[], Loss] | None = None) -> Loss | None:
        """Update every parameter that has a gradient; one whose ``grad`` is None, or that is frozen, is left as it is.

        Args:
            closure: computes the loss anew, calls ``backward()`` and returns it.

        Returns:
            What ``closure`` returned; None without one.
        """
        loss: Loss | None = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        self._take_step()
        return loss

    @abstractmethod
    def _take_step(self) -> None:
        """Update the parameters."""

    # State

    @property
    def state(self) -> dict[Tensor, dict[str, Any]]:
        """For each parameter that was updated before, its step count and its live arrays, by PyTorch's names."""
        return {
            record.tensor: state
            for records in self._records
            for record in records
            if (state := self._get_state(record))
        }

    def state_dict(self) -> StateDict:
        """Return a copy of all that is needed to go on from here, to the last bit.

        The form is PyTorch's: ``"state"`` holds the numbers and arrays of each parameter under its position, and
        ``"param_groups"`` the hyper-parameters, with positions in place of parameters. The parameters' values are not
        in it: save them too.

        Example:
            >>> from clumsygrad.core import parameter
            >>> from clumsygrad.optim import SGD
            >>> SGD([parameter([1.0])], lr=0.1, momentum=0.9).state_dict()["param_groups"][0]["params"]
            [0]
        """
        self._sync()
        states: dict[int, dict[str, Any]] = {}
        groups: list[ParamGroup] = []
        position = 0
        for group, records in zip(self.param_groups, self._records, strict=True):
            options = {name: copy.deepcopy(value) for name, value in group.items() if name != "params"}
            groups.append({**options, "params": list(range(position, position + len(records)))})
            for record in records:
                state = self._get_state(record)
                if state:
                    states[position] = copy.deepcopy(state)
                position += 1
        return {"state": states, "param_groups": groups}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Go on from what :meth:`state_dict` returned; it is copied.

        Raises:
            TypeError: when it has not the form of a state.
            ValueError: when it belongs to other parameters or to another kind of optimizer. Nothing is changed then.
        """
        self._sync()
        groups, states = _read_state_dict(state_dict)
        sizes = [len(records) for records in self._records]
        saved_sizes = [len(group["params"]) for group in groups]
        if saved_sizes != sizes:
            raise ValueError(
                f"a state fits an optimizer with as many parameters in each group; this one has {sizes}, the state "
                f"has {saved_sizes}. Build the optimizer as it was built when the state was saved"
            )
        options = [
            {
                **{name: copy.deepcopy(value) for name, value in group.items() if name != "params"},
                "params": own["params"],
            }
            for group, own in zip(groups, self.param_groups, strict=True)
        ]
        for index, group in enumerate(options):
            missing = [name for name in self.rules if name not in group]
            if missing:
                raise ValueError(
                    f"group {index} of the state lacks {', '.join(missing)}: it was not saved by {type(self).__name__}"
                )
            self._check(group)
        # Saved positions may be any numbers; their order is what counts.
        places = [key for group in groups for key in group["params"]]
        unknown = [key for key in states if key not in places]
        if unknown:
            raise ValueError(f"the state holds entries for {unknown}, which no parameter group lists")
        records = [record for group in self._records for record in group]
        owners = [group for group, own in zip(options, self._records, strict=True) for _ in own]
        loaded = [
            self._read_state(record, group, key, states[key]) if key in states else None
            for record, group, key in zip(records, owners, places, strict=True)
        ]
        self.param_groups[:] = options
        self._checked = [self._get_options(group) for group in options]
        self._adopt(list(zip(records, loaded, strict=True)))

    def _get_state(self, record: Record) -> dict[str, Any]:
        """Return what is saved of a parameter: its step count, numbers and arrays; nothing before its first step."""
        if not record.clock.step:
            return {}
        return {"step": record.clock.step, **record.clock.numbers, **record.buffers}

    def _read_state(self, record: Record, group: ParamGroup, key: object, state: Mapping[str, Any]) -> Record:
        """Return a record made of a saved state, or raise when it is not one of this kind of optimizer."""
        result = Record(record.tensor)
        expected = self._get_state_names(group)
        missing, extra = sorted(expected - state.keys()), sorted(state.keys() - expected)
        if missing or extra:
            raise ValueError(
                f"the state of parameter {key} has other entries than {type(self).__name__} keeps: "
                f"{'missing ' + ', '.join(missing) if missing else ''}{' and ' if missing and extra else ''}"
                f"{'unexpected ' + ', '.join(extra) if extra else ''}"
            )
        for name, value in state.items():
            if name == "step":
                result.clock.step = whole(f"step of parameter {key}", _as_whole(value))
            elif name in self.numbers:
                result.clock.numbers[name] = number(f"{name} of parameter {key}", np.asarray(value).item())
            else:
                result.buffers[name] = read_array(f"{name} of parameter {key}", value, record.tensor)
        return result

    def _get_state_names(self, group: ParamGroup) -> set[str]:
        """Return the names of what is kept for a parameter of this group."""
        return {"step"}

    def _adopt(self, loaded: list[tuple[Record, Record | None]]) -> None:
        """Take over the loaded records, each beside the one it replaces; None clears it."""
        for record, source in loaded:
            record.forget()
            if source is not None:
                record.clock = source.clock
                record.buffers = source.buffers

    # Groups

    def _append_group(self, param_group: Mapping[str, Any]) -> None:
        if "params" not in param_group:
            raise ValueError(f"a parameter group has an entry 'params'; received only {sorted(param_group)}")
        tensors, names = _as_tensors(param_group["params"])
        group: ParamGroup = {"params": tensors, **self.defaults}
        for name, value in param_group.items():
            if name == "params":
                continue
            if name not in self.rules and (close := get_close_matches(name, self.rules, 1, 0.85)):
                raise ValueError(f"{type(self).__name__} has no hyper-parameter {name!r}; did you mean {close[0]!r}?")
            group[name] = value
        if names:
            group["param_names"] = names
        self._check(group)
        known = {record.tensor for records in self._records for record in records}
        for index, tensor in enumerate(tensors):
            if tensor in known:
                raise ValueError(
                    f"a parameter is listed once; the one at index {index} of the group, of shape {tensor.shape}, was "
                    "seen before. List a tied weight only at its first place"
                )
            known.add(tensor)
        self.param_groups.append(group)
        self._records.append([Record(tensor) for tensor in tensors])
        self._checked.append(self._get_options(group))

    def _check(self, group: ParamGroup) -> None:
        """Check the hyper-parameters of a group, and turn them into plain Python values."""
        for name, rule in self.rules.items():
            group[name] = rule(name, group[name])

    def _get_options(self, group: ParamGroup) -> tuple[object, ...]:
        return tuple([group[name] for name in self.rules])

    def _sync(self) -> Iterator[tuple[ParamGroup, list[Record]]]:
        """Return each group with its records, having looked at what was changed by hand since the last time."""
        groups = self.param_groups
        # Groups may have been appended to the list itself, or taken out of it.
        appended = groups[len(self._records) :]
        del groups[len(self._records) :]
        for group in appended:
            self._append_group(group)
        del self._records[len(groups) :], self._checked[len(groups) :]
        for index, group in enumerate(groups):
            options = self._get_options(group)
            if options != self._checked[index]:
                self._check(group)
                self._checked[index] = self._get_options(group)
            records, tensors = self._records[index], group["params"]
            if len(records) != len(tensors) or not all(map(is_, [record.tensor for record in records], tensors)):
                known = {record.tensor: record for record in records}
                self._records[index] = [known.get(tensor) or Record(tensor) for tensor in _as_tensors(tensors)[0]]
        return zip(groups, self._records, strict=True)

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__}("]
        for index, group in enumerate(self.param_groups):
            options = ", ".join(f"{name}={group[name]!r}" for name in self.rules)
            lines.append(f"  group {index}: {len(group['params'])} parameters, {options}")
        return "\n".join([*lines, ")"])


def _as_groups(params: object) -> list[Mapping[str, Any]]:
    """Return what a constructor was given as a list of groups."""
    given: object = params
    if isinstance(params, (Tensor, Mapping)) or not isinstance(params, Iterable):
        raise TypeError(
            f"params is an iterable of Tensors or of groups; received {type(given).__name__}. "
            "Put a single one into a list"
        )
    entries = list(cast("Iterable[object]", params))
    if not entries:
        raise ValueError("an optimizer needs parameters; received an empty list")
    if any(isinstance(entry, Mapping) for entry in entries):
        for index, entry in enumerate(entries):
            if not isinstance(entry, Mapping):
                raise TypeError(f"params holds either groups or Tensors; entry {index} is a {type(entry).__name__}")
        return cast("list[Mapping[str, Any]]", entries)
    return [{"params": entries}]


def _as_tensors(params: object) -> tuple[list[Tensor], list[str]]:
    """Return the Tensors of the type PARAMETER, and their names where they were given."""
    given: object = params
    if isinstance(params, Tensor):
        params = [params]
    if isinstance(params, (Mapping, set, frozenset)) or not isinstance(params, Iterable):
        raise TypeError(
            f"parameters come as Tensors in a fixed order; received a {type(given).__name__}. Pass a list of Tensors"
        )
    tensors: list[Tensor] = []
    names: list[str] = []
    for index, entry in enumerate(cast("Iterable[object]", params)):
        tensor, name = entry, None
        if isinstance(entry, tuple) and len(cast("tuple[object, ...]", entry)) == 2:
            name, tensor = cast("tuple[object, object]", entry)
        if not isinstance(tensor, Tensor):
            raise TypeError(f"an optimizer trains Tensors; entry {index} is a {type(tensor).__name__}")
        if tensor.tensor_type is _PARAMETER:
            tensors.append(tensor)
            if isinstance(name, str):
                names.append(name)
    return tensors, names


def _read_state_dict(state_dict: object) -> tuple[list[Mapping[str, Any]], Mapping[object, Mapping[str, Any]]]:
    """Return the groups and states of a state dict, once it is known to have that form."""
    fits = isinstance(state_dict, Mapping) and "state" in state_dict and "param_groups" in state_dict
    if fits:
        content = cast("Mapping[str, Any]", state_dict)
        groups, states = content["param_groups"], content["state"]
        fits = (
            isinstance(groups, Sequence)
            and isinstance(states, Mapping)
            and all(isinstance(group, Mapping) and "params" in group for group in cast("list[object]", groups))
            and all(isinstance(state, Mapping) for state in cast("Mapping[object, object]", states).values())
        )
        if fits:
            return list(cast("Sequence[Mapping[str, Any]]", groups)), cast("Mapping[object, Mapping[str, Any]]", states)
    raise TypeError("a state is a mapping with 'state' and 'param_groups', as state_dict() returns it")


def _as_whole(value: object) -> object:
    """Return a step count saved as a float or a 0-d array as an int, anything else as it is."""
    array = np.asarray(value)
    if array.ndim or array.dtype.kind not in "fiu" or not float(array).is_integer():
        return value
    return int(array)


def read_array(name: str, value: object, tensor: Tensor) -> Array:
    """Return a copy of a saved array, of the shape and precision of its parameter."""
    array = np.asarray(value)
    if array.shape != tensor.shape or array.dtype.kind not in "fiub":
        raise ValueError(
            f"{name} is an array of real numbers of shape {tensor.shape}; received one of shape {array.shape} and "
            f"dtype {array.dtype}"
        )
    return np.array(array, dtype=tensor.dtype, order="C")
