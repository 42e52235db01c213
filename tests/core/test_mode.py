"""Gradient mode and precision: nesting, exceptions, decorators, generators, threads, tasks."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Generator

import numpy as np
import pytest

from clumsygrad.core import Tensor, double_precision, enable_grad, is_grad_enabled, no_grad, parameter, tensor


def test_blocks_nest_and_restore() -> None:
    assert is_grad_enabled()
    with no_grad():
        assert not is_grad_enabled()
        with enable_grad():
            assert is_grad_enabled()
            with no_grad():
                assert not is_grad_enabled()
            assert is_grad_enabled()
        assert not is_grad_enabled()
    assert is_grad_enabled()


def test_one_object_entered_twice() -> None:
    mode = no_grad()
    with mode:
        with mode:
            assert not is_grad_enabled()
        assert not is_grad_enabled()
    assert is_grad_enabled()
    with no_grad, no_grad:
        assert not is_grad_enabled()
    assert is_grad_enabled()


def test_exceptions_restore() -> None:
    @no_grad()
    def fails() -> None:
        raise KeyError("inside")

    with pytest.raises(KeyError):
        fails()
    assert is_grad_enabled()
    with pytest.raises(KeyError), no_grad():
        raise KeyError("inside")
    assert is_grad_enabled()


def test_decorators_with_and_without_parentheses() -> None:
    @no_grad()
    def called(x: Tensor) -> bool:
        """Keep me."""
        return (x * 2).requires_grad

    @no_grad
    def bare(x: Tensor) -> Tensor:
        return x * 2

    assert is_grad_enabled()
    x = parameter([3.0])
    assert not called(x)
    assert bare(x).item() == 6.0
    assert not bare(x).requires_grad
    assert called.__name__ == "called"
    assert called.__doc__ == "Keep me."
    with no_grad():
        called(x)
        assert not is_grad_enabled()
    assert is_grad_enabled()
    with pytest.raises(TypeError, match="with no_grad"):
        no_grad(False)  # type: ignore[call-overload]  # the error is what is tested


def test_recursive_decorated_function() -> None:
    @no_grad
    def down(n: int) -> bool:
        return down(n - 1) if n else is_grad_enabled()

    assert not down(5)
    assert is_grad_enabled()


def test_generators_are_inside_and_their_consumers_outside() -> None:
    @no_grad
    def produce() -> Generator[bool, str, str]:
        received = yield is_grad_enabled()
        assert received == "sent"
        try:
            yield is_grad_enabled()
        except LookupError:
            yield is_grad_enabled()
        return "done"

    generator = produce()
    assert next(generator) is False
    assert is_grad_enabled()
    assert generator.send("sent") is False
    assert is_grad_enabled()
    assert generator.throw(LookupError()) is False
    with pytest.raises(StopIteration) as stop:
        next(generator)
    assert stop.value.value == "done"
    assert is_grad_enabled()


def test_closing_a_generator_runs_its_cleanup_inside() -> None:
    seen: list[bool] = []

    @no_grad
    def produce() -> Generator[int, None, None]:
        try:
            yield 1
        finally:
            seen.append(is_grad_enabled())

    generator = produce()
    next(generator)
    generator.close()
    assert seen == [False]
    assert is_grad_enabled()


def test_block_inside_a_generator_that_ends_late() -> None:
    def produce() -> Generator[int, None, None]:
        with no_grad():
            yield 1

    generator = produce()
    next(generator)
    with enable_grad():
        assert is_grad_enabled()
        generator.close()
    assert is_grad_enabled()


def test_threads_start_recording() -> None:
    seen: list[bool] = []
    with no_grad():
        thread = threading.Thread(target=lambda: seen.append(is_grad_enabled()))
        thread.start()
        thread.join()
    assert seen == [True]


def test_one_object_in_two_threads() -> None:
    mode = no_grad()
    entered, leave = threading.Event(), threading.Event()
    seen: list[bool] = []

    def work() -> None:
        with mode:
            entered.set()
            leave.wait()
        seen.append(is_grad_enabled())

    thread = threading.Thread(target=work)
    thread.start()
    entered.wait()
    with mode:
        leave.set()
        thread.join()
        assert not is_grad_enabled()
    assert is_grad_enabled()
    assert seen == [True]


def test_tasks_are_separate() -> None:
    async def inside(seen: list[bool]) -> None:
        with no_grad():
            await asyncio.sleep(0)
            seen.append(is_grad_enabled())
            await asyncio.sleep(0)

    async def outside(seen: list[bool]) -> None:
        for _ in range(3):
            seen.append(is_grad_enabled())
            await asyncio.sleep(0)

    async def run() -> tuple[list[bool], list[bool]]:
        first: list[bool] = []
        second: list[bool] = []
        await asyncio.gather(inside(first), outside(second))
        return first, second

    assert asyncio.run(run()) == ([False], [True, True, True])


def test_coroutines_may_be_decorated() -> None:
    @no_grad
    async def work() -> bool:
        await asyncio.sleep(0)
        return is_grad_enabled()

    async def run() -> tuple[bool, bool]:
        return await work(), is_grad_enabled()

    assert asyncio.run(run()) == (False, True)


def test_async_generators_are_refused() -> None:
    async def produce() -> AsyncGenerator[int, None]:
        yield 1

    with pytest.raises(TypeError, match="async generator"):
        no_grad(produce)


def test_leaving_what_was_not_entered() -> None:
    with pytest.raises(RuntimeError, match="had not been entered"):
        no_grad().__exit__(None, None, None)
    assert is_grad_enabled()


def test_precision_is_a_switch_of_the_same_kind() -> None:
    @double_precision
    def inside() -> object:
        return tensor([1.0]).dtype

    assert inside() == np.float64
    with double_precision(), double_precision():
        assert tensor(1).dtype == np.float64
    assert tensor(1).dtype == np.float32
