"""Groups, hyper-parameters, and states that fit or don't."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from clumsygrad.core import Tensor, parameter, tensor
from clumsygrad.optim import ASGD, LBFGS, SGD, Adam, Lion, Muon, Optimizer, Rprop

from .optimizers import ALL, STEPPED, Make, assert_same, copy_values, get_grad, make_closure, make_parameters, train


@pytest.mark.parametrize("make", ALL.values(), ids=ALL)
def test_what_is_no_list_of_parameters(make: Make) -> None:
    with pytest.raises(ValueError, match="empty"):
        make([])
    with pytest.raises(ValueError, match="at least one"):
        make([tensor([[1.0]])])
    with pytest.raises(TypeError, match="entry 1 is a ndarray"):
        make([parameter([[1.0]]), np.ones((1, 1))])
    with pytest.raises(TypeError, match="iterable of Tensors"):
        make(parameter([[1.0]]))
    twice = parameter([[1.0]])
    with pytest.raises(ValueError, match="listed once"):
        make([twice, twice])


@pytest.mark.parametrize("make", ALL.values(), ids=ALL)
def test_only_parameters_are_trained(make: Make) -> None:
    w = parameter([[1.0]])
    assert make([tensor([[1.0]]), w, tensor([[2.0]])]).param_groups[0]["params"] == [w]


@pytest.mark.parametrize("make", ALL.values(), ids=ALL)
@pytest.mark.parametrize("value", [np.nan, np.inf, -1.0])
def test_a_rate_out_of_range_names_itself_when_it_is_set_later(make: Make, value: float) -> None:
    parameters = make_parameters()
    optimizer = make(parameters)
    optimizer.param_groups[0]["lr"] = value
    with pytest.raises(ValueError, match="lr is"):
        optimizer.step(make_closure(optimizer, parameters))


BAD: list[tuple[Callable[..., Optimizer], dict[str, Any], type[Exception], str]] = [
    (SGD, {"lr": "0.1"}, TypeError, "lr is a number"),
    (SGD, {"lr": None}, TypeError, "lr is a number"),
    (SGD, {"lr": True}, TypeError, "lr is a number"),
    (SGD, {"lr": np.nan}, ValueError, "lr is a finite number"),
    (SGD, {"momentum": -0.1}, ValueError, "momentum is at least 0"),
    (SGD, {"nesterov": True}, ValueError, "nesterov needs a momentum"),
    (SGD, {"nesterov": 1}, TypeError, "nesterov is True or False"),
    (SGD, {"momentum": 0.9, "dampening": 0.1, "nesterov": True}, ValueError, "dampening of 0"),
    (Adam, {"betas": (0.9, 1.0)}, ValueError, r"betas\[1\] is at least 0 and less than 1"),
    (Adam, {"betas": (0.9,)}, ValueError, "betas is a tuple of 2"),
    (Adam, {"betas": 0.9}, TypeError, "betas is a tuple of 2"),
    (Adam, {"eps": np.inf}, ValueError, "eps is a finite number"),
    (Adam, {"weight_decay": -1}, ValueError, "weight_decay is at least 0"),
    (Lion, {"betas": (1.5, 0.9)}, ValueError, r"betas\[0\]"),
    (Rprop, {"etas": (1.2, 0.5)}, ValueError, "etas"),
    (Rprop, {"step_sizes": (2.0, 1.0)}, ValueError, "step_sizes"),
    (ASGD, {"t0": "late"}, TypeError, "t0 is a number"),
    (LBFGS, {"max_iter": 0}, ValueError, "max_iter is at least 1"),
    (LBFGS, {"max_iter": 2.5}, TypeError, "max_iter is a whole number"),
    (LBFGS, {"line_search_fn": "armijo"}, ValueError, "line_search_fn is one of"),
    (Muon, {"adjust_lr_fn": "more"}, ValueError, "adjust_lr_fn is one of"),
    (Muon, {"ns_coefficients": (1.0, 2.0)}, ValueError, "ns_coefficients is a tuple of 3"),
]


@pytest.mark.parametrize(("make", "options", "error", "message"), BAD)
def test_hyper_parameters_are_checked_by_name(
    make: Callable[..., Optimizer], options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        make([parameter([[1.0]])], **options)


def test_muon_takes_matrices() -> None:
    with pytest.raises(ValueError, match=r"matrices; received a parameter of shape \(3,\)"):
        Muon([parameter([1.0, 2.0, 3.0])])


def test_lbfgs_takes_one_group_and_a_closure() -> None:
    with pytest.raises(ValueError, match="single group"):
        LBFGS([{"params": [parameter([1.0])]}, {"params": [parameter([1.0])]}])
    optimizer = LBFGS([parameter([1.0])])
    with pytest.raises(ValueError, match="single group"):
        optimizer.add_param_group({"params": [parameter([1.0])]})
    with pytest.raises(TypeError, match=r"step\(closure\)"):
        optimizer.step()


def test_a_failing_closure_of_a_line_search_leaves_the_parameters_where_they_were() -> None:
    w = parameter([3.0])
    optimizer = LBFGS([w], line_search_fn="strong_wolfe")
    calls: list[float] = []

    def closure() -> Tensor:
        calls.append(w.tolist()[0])
        if len(calls) == 3:
            raise ArithmeticError("stop")
        optimizer.zero_grad()
        loss = (w**4).sum()
        loss.backward()
        return loss

    with pytest.raises(ArithmeticError):
        optimizer.step(closure)
    assert calls[2] != w.tolist()[0]
    assert w.tolist()[0] in calls[:2]


def test_groups_have_their_own_options() -> None:
    a, b = parameter([1.0]), parameter([1.0])
    groups: list[dict[str, Any]] = [{"params": [a]}, {"params": b, "lr": 0.5, "name": "second"}]
    optimizer = SGD(groups, lr=0.1)
    a.grad, b.grad = [1.0], [1.0]
    optimizer.step()
    np.testing.assert_allclose([a.item(), b.item()], [0.9, 0.5])
    assert optimizer.param_groups[1]["name"] == "second"
    assert "lr=0.5" in repr(optimizer)


def test_names_may_come_with_the_parameters() -> None:
    w = parameter([1.0])
    optimizer = SGD([("weight", w)])
    assert optimizer.param_groups[0]["params"] == [w]
    assert optimizer.param_groups[0]["param_names"] == ["weight"]


def test_bad_groups_change_nothing() -> None:
    w = parameter([1.0])
    optimizer = Adam([w])
    with pytest.raises(ValueError, match="did you mean 'weight_decay'"):
        optimizer.add_param_group({"params": [parameter([1.0])], "weigth_decay": 0.1})
    with pytest.raises(ValueError, match="listed once"):
        optimizer.add_param_group({"params": [parameter([1.0]), w]})
    with pytest.raises(ValueError, match="at least one"):
        optimizer.add_param_group({"params": [tensor([1.0])]})
    with pytest.raises(ValueError, match="'params'"):
        optimizer.add_param_group({"lr": 0.1})
    with pytest.raises(TypeError, match="fixed order"):
        optimizer.add_param_group({"params": {parameter([1.0])}})
    assert len(optimizer.param_groups) == 1
    w.grad = [1.0]
    optimizer.step()


@pytest.mark.parametrize("set_to_none", [True, False])
def test_zero_grad(set_to_none: bool) -> None:
    w, unused = parameter([1.0]), parameter([1.0])
    optimizer = SGD([w, unused])
    w.grad = [2.0]
    optimizer.zero_grad(set_to_none)
    if set_to_none:
        assert w.grad is None
    else:
        assert get_grad(w).tolist() == [0.0]
    assert unused.grad is None


def test_step_returns_what_the_closure_returned() -> None:
    parameters = make_parameters()
    optimizer = Adam(parameters)
    loss = optimizer.step(make_closure(optimizer, parameters))
    assert loss is not None
    assert loss.item() > 0
    assert optimizer.step() is None


def spoil(name: str, state: dict[str, Any]) -> dict[str, Any]:
    """Return a saved state with something wrong in it."""
    entries = state["state"]
    if name == "group missing":
        return {**state, "param_groups": []}
    if name == "parameter missing":
        group = state["param_groups"][0]
        return {**state, "param_groups": [{**group, "params": group["params"][:-1]}]}
    if name == "option missing":
        return {**state, "param_groups": [{"params": state["param_groups"][0]["params"]}]}
    if name == "bad option":
        return {**state, "param_groups": [{**state["param_groups"][0], "lr": -1.0}]}
    if name == "unknown parameter":
        return {**state, "state": {**entries, 17: entries[0]}}
    if name == "entry missing":
        return {**state, "state": {**entries, 0: dict(list(entries[0].items())[:-1])}}
    return {**state, "state": {**entries, 3: {key: np.ones(7) for key in entries[0]}}}


SPOILT = [
    "group missing",
    "parameter missing",
    "option missing",
    "bad option",
    "unknown parameter",
    "entry missing",
    "bad shape",
]


@pytest.mark.parametrize("spoilt", SPOILT)
@pytest.mark.parametrize("name", ["SGD-momentum", "Adam", "NAdam", "Rprop", "Muon", "LBFGS"])
def test_a_state_that_does_not_fit_changes_nothing(name: str, spoilt: str) -> None:
    make = ALL[name]
    parameters, others = make_parameters(), make_parameters()
    optimizer, reference = make(parameters), make(others)
    train(optimizer, make_closure(optimizer, parameters), 2)
    train(reference, make_closure(reference, others), 2)
    with pytest.raises((ValueError, TypeError)):
        optimizer.load_state_dict(spoil(spoilt, optimizer.state_dict()))
    train(optimizer, make_closure(optimizer, parameters), 2)
    train(reference, make_closure(reference, others), 2)
    assert_same(copy_values(parameters), copy_values(others))


@pytest.mark.parametrize("state", [None, 3, {}, {"state": {}}, {"state": 1, "param_groups": []}])
def test_what_is_no_state(state: Any) -> None:
    with pytest.raises(TypeError, match="'state' and 'param_groups'"):
        Adam([parameter([1.0])]).load_state_dict(state)


def test_the_form_of_a_state() -> None:
    parameters = make_parameters()
    optimizer = Adam(parameters, lr=0.05)
    assert optimizer.state_dict()["state"] == {}
    train(optimizer, make_closure(optimizer, parameters), 1)
    state = optimizer.state_dict()
    assert list(state["state"]) == [0, 1, 2, 3]
    assert list(state["state"][0]) == ["step", "exp_avg", "exp_avg_sq"]
    assert state["state"][0]["step"] == 1
    assert state["state"][0]["exp_avg"].shape == parameters[0].shape
    assert state["param_groups"][0]["params"] == [0, 1, 2, 3]
    assert state["param_groups"][0]["lr"] == 0.05


@pytest.mark.parametrize("make", STEPPED.values(), ids=STEPPED)
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_gradient_that_is_not_finite_warns_of_nothing(make: Make, value: float) -> None:
    parameters = make_parameters()
    optimizer = make(parameters)
    for weight in parameters:
        weight.grad = np.full(weight.shape, value)
    optimizer.step()
    optimizer.step()
