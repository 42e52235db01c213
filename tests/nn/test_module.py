"""Modules: registration, names, modes, hooks and state_dicts."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref
from typing import Any

import numpy as np
import pytest
from nn.finite_difference import grad_of

from clumsygrad.core import Tensor, TensorType, no_grad, ones, parameter, tensor, zeros
from clumsygrad.nn import (
    Linear,
    Module,
    ModuleDict,
    ModuleList,
    Parameter,
    ReLU,
    Sequential,
    StateDictError,
)


class Block(Module):
    linear: Linear
    scale: Tensor
    offset: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.linear = Linear(2, 2)
        self.scale = Parameter([1.0, 2.0])
        self.register_buffer("offset", ones(2))
        self.register_buffer("count", np.array(3))
        self.register_buffer("scratch", zeros(1), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.linear(x) * self.scale + self.offset


class Net(Module):
    first: Block
    second: Block

    def __init__(self) -> None:
        super().__init__()
        self.first = Block()
        self.second = Block()

    def forward(self, x: Tensor) -> Tensor:
        return self.second(self.first(x))


BLOCK_NAMES = ["scale", "offset", "count", "linear.weight", "linear.bias"]


def test_names_and_their_order() -> None:
    net = Net()
    assert [name for name, _ in net.named_parameters()] == [
        f"{block}.{name}" for block in ("first", "second") for name in ("scale", "linear.weight", "linear.bias")
    ]
    assert list(net.state_dict()) == [f"{block}.{name}" for block in ("first", "second") for name in BLOCK_NAMES]
    assert [name for name, _ in net.named_buffers()] == [
        f"{block}.{name}" for block in ("first", "second") for name in ("offset", "count", "scratch")
    ]
    assert [name for name, _ in net.named_modules()] == ["", "first", "first.linear", "second", "second.linear"]
    assert [name for name, _ in net.named_children()] == ["first", "second"]
    assert [type(module) for module in net.first.modules()] == [Block, Linear]
    assert list(net.named_parameters(recurse=False)) == []
    assert [name for name, _ in net.first.named_parameters("x", recurse=False)] == ["x.scale"]
    assert len(list(net.parameters())) == 6
    assert len(list(net.buffers())) == 6
    assert len(list(net.children())) == 2


def test_assignment_registers_and_replaces() -> None:
    module = Module()
    module.a = Parameter([1.0])  # type: ignore[attr-defined]  # an attribute of this test
    module.b = Linear(1, 1)  # type: ignore[attr-defined]  # an attribute of this test
    assert list(dict(module.named_parameters())) == ["a", "b.weight", "b.bias"]
    module.a = Linear(1, 1, bias=False)  # type: ignore[attr-defined]  # an attribute of this test
    assert list(dict(module.named_parameters())) == ["b.weight", "b.bias", "a.weight"]
    module.b = Parameter([2.0])  # type: ignore[attr-defined]  # an attribute of this test
    assert list(dict(module.named_parameters())) == ["b", "a.weight"]
    del module.b  # type: ignore[attr-defined]  # an attribute of this test
    assert list(dict(module.named_parameters())) == ["a.weight"]
    assert not hasattr(module, "b")


def test_what_is_no_parameter_is_a_plain_attribute() -> None:
    module = Module()
    module.x = tensor([1.0])  # type: ignore[attr-defined]  # an attribute of this test
    module.y = parameter([1.0]) * 2  # type: ignore[attr-defined]  # an attribute of this test
    module.z = "text"  # type: ignore[attr-defined]  # an attribute of this test
    assert not module.state_dict()


def test_a_parameter_can_be_switched_off_and_stays_registered() -> None:
    layer = Linear(2, 3)
    layer.bias = None
    assert list(layer.state_dict()) == ["weight"]
    assert layer(zeros((1, 2))).shape == (1, 3)
    layer.bias = Parameter(np.zeros(3))
    assert list(layer.state_dict()) == ["weight", "bias"]


def test_a_parameter_does_not_become_a_computed_tensor() -> None:
    layer = Linear(2, 3)
    with pytest.raises(TypeError, match="computed"):
        layer.weight = layer.weight * 2
    with pytest.raises(TypeError, match="parameter"):
        layer.weight = "text"  # type: ignore[assignment]  # the error is tested
    block = Block()
    with pytest.raises(TypeError, match="buffer"):
        block.offset = 3  # type: ignore[assignment]  # the error is tested


@pytest.mark.parametrize("hidden", [[Linear(1, 1)], (Linear(1, 1),), {"a": Linear(1, 1)}, [parameter(1.0)]])
def test_plain_collections_do_not_hide_modules(hidden: Any) -> None:
    module = Module()
    with pytest.raises(TypeError, match="ModuleList"):
        module.layers = hidden  # type: ignore[attr-defined]  # the error is tested


def test_a_plain_list_of_what_is_registered_already_is_fine() -> None:
    net = Net()
    net.order = [net.second, net.first]  # type: ignore[attr-defined]  # an attribute of this test
    assert len(list(net.parameters())) == 6


@pytest.mark.parametrize("name", ["", "a.b", "forward", "training", "_module_names"])
def test_names_that_can_not_be(name: str) -> None:
    for register in (Module().register_parameter, Module().register_buffer):
        with pytest.raises(ValueError, match="name"):
            register(name, parameter(1.0))
    with pytest.raises(ValueError, match="name"):
        Module().add_module(name, ReLU())


def test_only_leaves_are_registered() -> None:
    computed = parameter([1.0]) * 2
    with pytest.raises(TypeError, match="INTERMEDIATE"):
        Module().register_parameter("a", computed)
    with pytest.raises(TypeError, match="INTERMEDIATE"):
        Module().register_buffer("a", computed)
    with pytest.raises(TypeError, match="str"):
        Module().register_buffer("a", "text")  # type: ignore[arg-type]  # the error is tested
    with pytest.raises(TypeError, match="Module"):
        Module().register_module("a", "text")  # type: ignore[arg-type]  # the error is tested


def test_super_init_may_be_forgotten() -> None:
    class Careless(Module):
        def __init__(self) -> None:
            self.weight = Parameter([1.0])

        def forward(self, x: Tensor) -> Tensor:
            return x * self.weight

    module = Careless()
    assert list(module.state_dict()) == ["weight"]
    assert module(tensor([2.0])).tolist() == [2.0]


def test_forward_has_to_be_written() -> None:
    class Empty(Module):
        pass

    with pytest.raises(NotImplementedError, match="Empty"):
        Empty()(1)


def test_a_shared_parameter_is_yielded_once_and_gets_the_summed_gradient() -> None:
    first, second = Linear(1, 1, bias=False), Linear(1, 1, bias=False)
    first.weight = Parameter([[3.0]])
    second.weight = first.weight
    model = Sequential(first, second)
    assert len(list(model.parameters())) == 1
    y = model(tensor([[2.0]]))
    y.backward()
    assert y.item() == 18.0
    assert grad_of(first.weight).tolist() == [[12.0]]
    assert list(model.state_dict()) == ["0.weight", "1.weight"]
    assert not model.load_state_dict(model.state_dict()).missing_keys


def test_a_shared_module_is_visited_once() -> None:
    layer = Linear(1, 1)
    model = Sequential(layer, layer)
    assert len(list(model.modules())) == 2
    assert len(list(model.parameters())) == 2
    assert list(model.state_dict()) == ["0.weight", "0.bias", "1.weight", "1.bias"]


def test_modes() -> None:
    net = Net()
    assert net.training
    assert net.eval() is net
    assert not any(module.training for module in net.modules())
    assert net.first.train() is net.first
    assert net.first.linear.training
    assert not net.second.training


def test_zero_grad() -> None:
    net = Net()
    net(ones((1, 2))).sum().backward()
    assert all(param.grad is not None for param in net.parameters())
    net.zero_grad()
    assert all(param.grad is None for param in net.parameters())


def test_apply_visits_what_is_below_first() -> None:
    seen: list[str] = []
    net = Net()
    assert net.apply(lambda module: seen.append(type(module).__name__)) is net
    assert seen == ["Linear", "Block", "Linear", "Block", "Net"]


def test_freezing_and_thawing() -> None:
    net = Net()
    x = ones((1, 2))
    assert net.requires_grad_(False) is net
    assert not net(x).requires_grad
    assert len(list(net.parameters())) == 6
    assert len(net.state_dict()) == 10
    net.second.requires_grad_()
    net(x).sum().backward()
    assert all(param.grad is None for param in net.first.parameters())
    assert all(param.grad is not None for param in net.second.parameters())


def test_a_frozen_parameter_can_be_shared_and_registered() -> None:
    layer = Linear(2, 2)
    layer.weight = Parameter(np.eye(2), requires_grad=False)
    assert list(layer.state_dict()) == ["weight", "bias"]
    assert layer.weight.tensor_type is TensorType.INPUT


def test_hooks() -> None:
    layer = Linear(2, 1)
    seen: list[Any] = []
    before = layer.register_forward_pre_hook(lambda module, args: seen.append((module, args[0].shape)))
    after = layer.register_forward_hook(lambda module, args, output: output * 0)
    assert layer(ones((3, 2))).tolist() == [[0.0]] * 3
    assert seen == [(layer, (3, 2))]
    before.remove()
    after.remove()
    after.remove()
    assert layer(ones((3, 2))).data.any() or layer.bias is None
    assert len(seen) == 1


def test_a_pre_hook_replaces_the_arguments() -> None:
    layer = Linear(1, 1, bias=False)
    layer.weight = Parameter([[1.0]])
    with layer.register_forward_pre_hook(lambda module, args: args[0] * 2):
        assert layer(ones((1, 1))).item() == 2.0
    with layer.register_forward_pre_hook(lambda module, args: (args[0] * 3,)):
        assert layer(ones((1, 1))).item() == 3.0
    assert layer(ones((1, 1))).item() == 1.0


def test_a_hook_may_remove_itself() -> None:
    layer = ReLU()
    calls: list[int] = []

    def once(module: Module, args: tuple[Any, ...], output: Any) -> None:
        calls.append(1)
        handle.remove()

    handle = layer.register_forward_hook(once)
    layer(ones(1))
    layer(ones(1))
    assert calls == [1]


def test_get_submodule() -> None:
    net = Net()
    assert net.get_submodule("second.linear") is net.second.linear
    assert net.get_submodule("") is net
    with pytest.raises(AttributeError, match="third"):
        net.get_submodule("first.third")


def test_repr_is_a_tree() -> None:
    model = Sequential(Linear(2, 3), Sequential(ReLU(), Linear(3, 1, bias=False)))
    assert repr(model) == (
        "Sequential(\n"
        "  (0): Linear(in_features=2, out_features=3, bias=True)\n"
        "  (1): Sequential(\n"
        "    (0): ReLU()\n"
        "    (1): Linear(in_features=3, out_features=1, bias=False)\n"
        "  )\n"
        ")"
    )
    assert repr(Module()) == "Module()"


def test_state_dict_is_a_copy() -> None:
    block = Block()
    state = block.state_dict()
    state["scale"][:] = 9
    state["count"][...] = 9
    assert block.scale.tolist() == [1.0, 2.0]
    assert block.state_dict()["count"] == 3


def test_state_dict_round_trip() -> None:
    source, target = Net(), Net()
    source.first.register_buffer("count", np.array(7))
    result = target.load_state_dict(source.state_dict())
    assert result == ([], [])
    x = ones((4, 2))
    np.testing.assert_array_equal(source(x).data, target(x).data)
    assert target.state_dict()["first.count"] == 7
    assert target.state_dict()["first.count"].dtype == np.array(7).dtype


def test_tensors_load_too_and_nothing_is_shared() -> None:
    layer = Linear(1, 1, bias=False)
    value = tensor([[5.0]])
    layer.load_state_dict({"weight": value})
    value[0, 0] = 6.0
    assert layer.weight.item() == 5.0


def test_loading_writes_into_the_arrays_that_are_there() -> None:
    layer = Linear(1, 1, bias=False)
    memory = layer.weight.data
    layer.load_state_dict({"weight": [[5.0]]})
    assert memory.tolist() == [[5.0]]


def test_loading_is_seen_by_the_graph() -> None:
    layer = Linear(1, 1, bias=False)
    y = layer(Parameter([[1.0]])).sum()
    layer.load_state_dict({"weight": [[5.0]]})
    with pytest.raises(RuntimeError, match="in place"):
        y.backward()


def test_loading_into_what_is_read_only() -> None:
    layer = Linear(1, 1, bias=False)
    layer.weight.data.flags.writeable = False
    layer.load_state_dict({"weight": [[5.0]]})
    assert layer.weight.item() == 5.0


def test_every_problem_is_named_and_nothing_is_loaded() -> None:
    net = Net()
    before = net.state_dict()
    state: dict[str, Any] = net.state_dict()
    del state["first.scale"], state["second.linear.bias"]
    state["extra"] = np.zeros(1)
    state["first.linear.weight"] = np.zeros((1, 2))
    state["second.scale"] = 5.0
    state["second.offset"] = np.array(["a", "b"])
    state["first.linear.bias"] = np.full(2, 77.0)
    with pytest.raises(StateDictError) as caught:
        net.load_state_dict(state)
    for part in ("first.scale", "second.linear.bias", "extra", "(1, 2)", "(2, 2)", "second.scale", "second.offset"):
        assert part in str(caught.value)
    for name, value in net.state_dict().items():
        np.testing.assert_array_equal(value, before[name])
    assert isinstance(caught.value, (ValueError, RuntimeError))


def test_not_strict_reports_the_keys() -> None:
    layer = Linear(2, 1)
    result = layer.load_state_dict({"weight": np.ones((1, 2)), "other": np.zeros(1)}, strict=False)
    assert result.missing_keys == ["bias"]
    assert result.unexpected_keys == ["other"]
    assert layer.weight.tolist() == [[1.0, 1.0]]


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("value", [np.zeros((1, 4)), np.zeros(4), np.float32(1.0), np.zeros((4, 3))])
def test_what_would_be_broadcast_is_not_loaded(value: Any, strict: bool) -> None:
    layer = Linear(4, 3)
    with pytest.raises(StateDictError, match="shape"):
        layer.load_state_dict({"weight": value, "bias": np.zeros(3)}, strict=strict)
    with pytest.raises(StateDictError, match="shape"):
        layer.load_state_dict({"bias": 1.0}, strict=False)


def test_deepcopy_is_independent_and_keeps_what_is_shared() -> None:
    first = Linear(1, 1, bias=False)
    second = Linear(1, 1, bias=False)
    second.weight = first.weight
    model = Sequential(first, second)
    other = copy.deepcopy(model)
    assert len(list(other.parameters())) == 1
    with no_grad():
        next(other.parameters())[0, 0] = 9.0
    assert first.weight.item() != 9.0
    y = other(ones((1, 1)))
    assert y.item() == 81.0


def test_pickle_round_trip() -> None:
    block = Block().eval()
    other = pickle.loads(pickle.dumps(block))  # noqa: S301  # our own bytes
    assert not other.training
    assert [name for name, _ in other.named_parameters()] == [name for name, _ in block.named_parameters()]
    x = ones((1, 2))
    np.testing.assert_array_equal(other(x).data, block(x).data)


def test_a_module_that_keeps_a_computed_tensor_can_be_copied() -> None:
    layer = Linear(2, 2)
    y = layer(ones((1, 2)))
    for _ in range(3000):
        y = y * 1.0
    layer.last = y  # type: ignore[attr-defined]  # an attribute of this test
    other: Any = copy.deepcopy(layer)
    assert not other.last.requires_grad
    np.testing.assert_array_equal(other.last.data, y.data)


def test_modules_make_no_cycles() -> None:
    net = Net()
    net(ones((1, 2))).sum().backward()
    gone = weakref.ref(net)
    gc.disable()
    try:
        del net
        assert gone() is None
    finally:
        gc.enable()


def test_many_levels() -> None:
    model: Module = Linear(1, 1, bias=False)
    for _ in range(3000):
        model = Sequential(model)
    assert len(list(model.parameters())) == 1
    model.eval()
    (name,) = model.state_dict()
    assert name.endswith("weight")
    # Taken apart from outside in, since Python frees nested objects recursively.
    while isinstance(model, Sequential):
        model = model[0]


class TestModuleList:
    def test_is_a_list(self) -> None:
        a, b, c = ReLU(), Linear(1, 1), Linear(1, 1, bias=False)
        layers = ModuleList([a])
        layers.append(c).insert(1, b)
        assert list(layers) == [a, b, c]
        assert list(layers.state_dict()) == ["1.weight", "1.bias", "2.weight"]
        assert layers[-1] is c
        assert list(layers[1:]) == [b, c]
        assert b in layers
        del layers[0]
        assert list(layers.state_dict()) == ["0.weight", "0.bias", "1.weight"]
        layers[0] = a
        assert list(layers) == [a, c]
        assert len(layers.extend([b])) == 3
        with pytest.raises(IndexError, match="3 modules"):
            layers[3]

    def test_takes_modules_only(self) -> None:
        with pytest.raises(TypeError, match="Module"):
            ModuleList([1])  # type: ignore[list-item]  # the error is tested


class TestModuleDict:
    def test_is_a_dict(self) -> None:
        a, b = ReLU(), Linear(1, 1)
        heads = ModuleDict({"a": a})
        heads["b"] = b
        assert list(heads) == ["a", "b"] == list(heads.keys())
        assert list(heads.values()) == [a, b]
        assert list(heads.items()) == [("a", a), ("b", b)]
        assert list(heads.state_dict()) == ["b.weight", "b.bias"]
        assert "b" in heads
        assert len(heads) == 2
        assert heads.pop("a") is a
        for call in (heads.pop, heads.__getitem__, heads.__delitem__):
            with pytest.raises(KeyError):
                call("a")

    def test_does_not_shadow_its_own_attributes(self) -> None:
        with pytest.raises(ValueError, match="keys"):
            ModuleDict({"keys": ReLU()})


class TestSequential:
    def test_of_names(self) -> None:
        model = Sequential({"first": Linear(2, 3), "second": ReLU()})
        assert list(model.state_dict()) == ["first.weight", "first.bias"]
        assert model(ones((1, 2))).shape == (1, 3)

    def test_is_a_sequence(self) -> None:
        a, b, c = Linear(2, 3), ReLU(), Linear(3, 1)
        model = Sequential(a, b)
        assert list(model.append(c)) == [a, b, c]
        assert len(model) == 3
        assert model[-1] is c
        assert list(model[:2]) == [a, b]
        model[1] = ReLU()
        assert model[1] is not b
        assert len(model.extend([ReLU()])) == 4
        with pytest.raises(IndexError, match="4 modules"):
            model[4]

    def test_of_nothing_returns_its_input(self) -> None:
        x = ones(2)
        assert Sequential()(x) is x

    def test_takes_modules_or_one_dict(self) -> None:
        with pytest.raises(TypeError, match="dict"):
            Sequential({"a": ReLU()}, ReLU())
