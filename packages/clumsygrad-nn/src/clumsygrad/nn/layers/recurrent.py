"""Recurrent layers: plain, LSTM and GRU, over whole sequences and as single cells."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar, Literal, TypeAlias

import numpy as np
from numpy.random import Generator

from clumsygrad.core import Tensor, TensorLike, as_tensor, zeros
from clumsygrad.core.math import concatenate, stack

from .. import init
from ..module import Module, Parameter
from ..ops.recurrent import gru_sequence, lstm_sequence, rnn_sequence
from .dropout import dropout as drop

Nonlinearity: TypeAlias = Literal["tanh", "relu"]


def _check_nonlinearity(nonlinearity: str) -> None:
    if nonlinearity not in {"tanh", "relu"}:
        raise ValueError(f"nonlinearity is 'tanh' or 'relu'; received {nonlinearity!r}")


class _Recurrent(Module):
    """What the layers share: parameters for each layer and direction, and the walk through them."""

    _gates: ClassVar[int]

    input_size: int
    hidden_size: int
    num_layers: int
    bias: bool
    batch_first: bool
    dropout: float
    bidirectional: bool
    rng: Generator | None

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int,
        bias: bool,
        batch_first: bool,
        dropout: float,
        bidirectional: bool,
        rng: Generator | None,
    ) -> None:
        super().__init__()
        if min(input_size, hidden_size, num_layers) < 1:
            raise ValueError(
                f"input_size, hidden_size and num_layers are at least 1; received {input_size}, {hidden_size} and "
                f"{num_layers}"
            )
        if not 0 <= dropout <= 1:
            raise ValueError(f"dropout is a probability, between 0 and 1; received {dropout}")
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = dropout
        self.bidirectional = bidirectional
        self.rng = rng
        rows = self._gates * hidden_size
        for layer in range(num_layers):
            features = input_size if layer == 0 else hidden_size * self._directions
            for suffix in self._suffixes(layer):
                self.register_parameter(f"weight_ih{suffix}", Parameter(np.empty((rows, features))))
                self.register_parameter(f"weight_hh{suffix}", Parameter(np.empty((rows, hidden_size))))
                if bias:
                    self.register_parameter(f"bias_ih{suffix}", Parameter(np.empty(rows)))
                    self.register_parameter(f"bias_hh{suffix}", Parameter(np.empty(rows)))
        self.reset_parameters(rng=rng)

    def reset_parameters(self, *, rng: Generator | None = None) -> None:
        """Draw the initial values anew, from the uniform distribution on ±1/sqrt(hidden_size)."""
        _draw(self, self.hidden_size, rng)

    @property
    def _directions(self) -> int:
        return 2 if self.bidirectional else 1

    def _suffixes(self, layer: int) -> tuple[str, ...]:
        return (f"_l{layer}", f"_l{layer}_reverse") if self.bidirectional else (f"_l{layer}",)

    def _weights(self, suffix: str) -> list[Tensor]:
        names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh") if self.bias else ("weight_ih", "weight_hh")
        return [getattr(self, name + suffix) for name in names]

    def _steps(self, x: Tensor, states: Sequence[Tensor], weights: list[Tensor]) -> tuple[Tensor, tuple[Tensor, ...]]:
        """Return the outputs of one layer in one direction, (T, N, H), and the states after the last step."""
        raise NotImplementedError

    def _run(self, input_: TensorLike, initial: Sequence[TensorLike | None]) -> tuple[Tensor, tuple[Tensor, ...]]:
        """Return the outputs of the last layer, and the last states of all layers and directions."""
        x = as_tensor(input_)
        name = type(self).__name__
        if x.ndim not in {2, 3} or x.shape[-1] != self.input_size:
            order = "(N, T, I)" if self.batch_first else "(T, N, I)"
            raise ValueError(
                f"{name} takes an input of shape {order}, or (T, I) without a batch, with I = {self.input_size}; "
                f"received {x.shape}"
            )
        single = x.ndim == 2
        if single:
            x = x.reshape(x.shape[0], 1, x.shape[1])
        elif self.batch_first:
            x = x.swapaxes(0, 1)
        if not x.shape[0]:
            raise ValueError(f"{name} takes a sequence of at least one step; received an input of shape {x.shape}")
        count = self.num_layers * self._directions
        shape = (count, x.shape[1], self.hidden_size)
        starts = [self._initial(value, shape, single) for value in initial]
        finals: list[tuple[Tensor, ...]] = []
        for layer in range(self.num_layers):
            outputs: list[Tensor] = []
            for direction, suffix in enumerate(self._suffixes(layer)):
                states = [start[layer * self._directions + direction] for start in starts]
                steps, final = self._steps(x[::-1] if direction else x, states, self._weights(suffix))
                outputs.append(steps[::-1] if direction else steps)
                finals.append(final)
            x = outputs[0] if len(outputs) == 1 else concatenate(outputs, axis=-1)
            if self.training and self.dropout > 0 and layer < self.num_layers - 1:
                x = drop(x, self.dropout, rng=self.rng)
        last = tuple(stack([final[index] for final in finals]) for index in range(len(initial)))
        if single:
            return x.reshape(x.shape[0], x.shape[2]), tuple(state.reshape(count, self.hidden_size) for state in last)
        return (x.swapaxes(0, 1) if self.batch_first else x), last

    def _initial(self, value: TensorLike | None, shape: tuple[int, int, int], single: bool) -> Tensor:
        if value is None:
            return zeros(shape)
        state = as_tensor(value)
        expected = (shape[0], shape[2]) if single else shape
        if state.shape != expected:
            raise ValueError(
                f"{type(self).__name__}'s initial state has shape {expected}, (layers * directions, N, H) with no N "
                f"for an input without a batch; received {state.shape}"
            )
        return state.reshape(shape)

    def extra_repr(self) -> str:
        """Return the settings that differ from the defaults."""
        parts = [
            f"{self.input_size}, {self.hidden_size}",
            f"num_layers={self.num_layers}" if self.num_layers != 1 else "",
            "" if self.bias else "bias=False",
            "batch_first=True" if self.batch_first else "",
            f"dropout={self.dropout}" if self.dropout else "",
            "bidirectional=True" if self.bidirectional else "",
        ]
        return ", ".join(part for part in parts if part)


def _draw(module: Module, hidden_size: int, rng: Generator | None) -> None:
    bound = 1 / math.sqrt(hidden_size)
    for parameter in module.parameters():
        init.uniform_(parameter, -bound, bound, rng=rng)


class RNN(_Recurrent):
    r"""A plain recurrent network: :math:`h_t = f(W_{ih} x_t + b_{ih} + W_{hh} h_{t-1} + b_{hh})`.

    Args:
        input_size: I, the length of each step's input.
        hidden_size: H, the length of the state.
        num_layers: how many layers are stacked, each fed with the outputs of the one before.
        nonlinearity: f, "tanh" or "relu".
        bias: whether there are biases.
        batch_first: whether the batch is the first axis rather than the second.
        dropout: the probability with which outputs of all layers but the last are dropped in training.
        bidirectional: whether a second network reads the sequence backwards.
        rng: what draws the initial values and the dropout; the default generator when None.

    Shapes:
        x (T, N, I), with batch_first (N, T, I), or (T, I); the initial state (num_layers * D, N, H) for D directions;
        the output (T, N, D * H); the last state as the initial one. ``weight_ih_l0`` (H, I), ``weight_hh_l0`` (H, H),
        ``bias_ih_l0`` and ``bias_hh_l0`` (H,), and so on for each layer and, with the ending ``_reverse``, direction.

    References:
        Elman 1990, "Finding Structure in Time".

    Example:
        >>> from clumsygrad.core import zeros
        >>> from clumsygrad.nn import RNN
        >>> output, state = RNN(3, 4)(zeros((5, 2, 3)))
        >>> output.shape, state.shape
        ((5, 2, 4), (1, 2, 4))
    """

    _gates = 1

    nonlinearity: Nonlinearity

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: Nonlinearity = "tanh",
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        *,
        rng: Generator | None = None,
    ) -> None:
        _check_nonlinearity(nonlinearity)
        super().__init__(input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, rng)
        self.nonlinearity = nonlinearity

    def forward(  # type: ignore[override]  # it returns the state, too
        self, x: TensorLike, hx: TensorLike | None = None
    ) -> tuple[Tensor, Tensor]:
        """Return the outputs of all steps, and the last state of each layer and direction."""
        output, (h,) = self._run(x, (hx,))
        return output, h

    def _steps(self, x: Tensor, states: Sequence[Tensor], weights: list[Tensor]) -> tuple[Tensor, tuple[Tensor, ...]]:
        steps = rnn_sequence(x, states[0], weights, nonlinearity=self.nonlinearity)
        return steps, (steps[-1],)


class LSTM(_Recurrent):
    r"""Long short-term memory.

    .. math::
        i, f, o = \sigma(W_{ih} x_t + b_{ih} + W_{hh} h_{t-1} + b_{hh}) \qquad g = \tanh(\ldots)

        c_t = f c_{t-1} + i g \qquad h_t = o \tanh(c_t)

    Args:
        input_size: I, the length of each step's input.
        hidden_size: H, the length of the state and of the cell.
        num_layers: how many layers are stacked, each fed with the outputs of the one before.
        bias: whether there are biases.
        batch_first: whether the batch is the first axis rather than the second.
        dropout: the probability with which outputs of all layers but the last are dropped in training.
        bidirectional: whether a second network reads the sequence backwards.
        rng: what draws the initial values and the dropout; the default generator when None.

    Shapes:
        As :class:`RNN`'s, with a state (h, c), and the weights of the gates i, f, g, o stacked: ``weight_ih_l0``
        (4H, I), ``weight_hh_l0`` (4H, H), ``bias_ih_l0`` and ``bias_hh_l0`` (4H,).

    References:
        Hochreiter, Schmidhuber 1997, "Long Short-Term Memory", with the forget gate of Gers et al. 2000.

    Example:
        >>> from clumsygrad.core import zeros
        >>> from clumsygrad.nn import LSTM
        >>> output, (h, c) = LSTM(3, 4, num_layers=2)(zeros((5, 2, 3)))
        >>> output.shape, h.shape, c.shape
        ((5, 2, 4), (2, 2, 4), (2, 2, 4))
    """

    _gates = 4

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        *,
        rng: Generator | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, rng)

    def forward(  # type: ignore[override]  # it returns the state, too
        self, x: TensorLike, hx: tuple[TensorLike, TensorLike] | None = None
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Return the outputs of all steps, and the last (h, c) of each layer and direction."""
        output, (h, c) = self._run(x, (None, None) if hx is None else hx)
        return output, (h, c)

    def _steps(self, x: Tensor, states: Sequence[Tensor], weights: list[Tensor]) -> tuple[Tensor, tuple[Tensor, ...]]:
        steps = lstm_sequence(x, states[0], states[1], weights)
        return steps[:-1], (steps[-2], steps[-1])


class GRU(_Recurrent):
    r"""Gated recurrent units, with the reset gate behind the product, as PyTorch and cuDNN have it.

    .. math::
        r, z = \sigma(W_{ih} x_t + b_{ih} + W_{hh} h_{t-1} + b_{hh})

        n = \tanh(W_{in} x_t + b_{in} + r (W_{hn} h_{t-1} + b_{hn})) \qquad h_t = (1 - z) n + z h_{t-1}

    Args:
        input_size: I, the length of each step's input.
        hidden_size: H, the length of the state.
        num_layers: how many layers are stacked, each fed with the outputs of the one before.
        bias: whether there are biases.
        batch_first: whether the batch is the first axis rather than the second.
        dropout: the probability with which outputs of all layers but the last are dropped in training.
        bidirectional: whether a second network reads the sequence backwards.
        rng: what draws the initial values and the dropout; the default generator when None.

    Shapes:
        As :class:`RNN`'s, with the weights of r, z, n stacked: ``weight_ih_l0`` (3H, I), ``weight_hh_l0`` (3H, H),
        ``bias_ih_l0`` and ``bias_hh_l0`` (3H,).

    References:
        Cho et al. 2014, "Learning Phrase Representations using RNN Encoder-Decoder"; there the reset gate is applied
        to the state, before the product.

    Example:
        >>> from clumsygrad.core import zeros
        >>> from clumsygrad.nn import GRU
        >>> output, state = GRU(3, 4, bidirectional=True)(zeros((5, 2, 3)))
        >>> output.shape, state.shape
        ((5, 2, 8), (2, 2, 4))
    """

    _gates = 3

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        *,
        rng: Generator | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, rng)

    def forward(  # type: ignore[override]  # it returns the state, too
        self, x: TensorLike, hx: TensorLike | None = None
    ) -> tuple[Tensor, Tensor]:
        """Return the outputs of all steps, and the last state of each layer and direction."""
        output, (h,) = self._run(x, (hx,))
        return output, h

    def _steps(self, x: Tensor, states: Sequence[Tensor], weights: list[Tensor]) -> tuple[Tensor, tuple[Tensor, ...]]:
        steps = gru_sequence(x, states[0], weights)
        return steps, (steps[-1],)


class _Cell(Module):
    """What the cells share: the parameters, and the look at the input and the state."""

    _gates: ClassVar[int]

    input_size: int
    hidden_size: int
    weight_ih: Tensor
    weight_hh: Tensor
    bias_ih: Tensor | None
    bias_hh: Tensor | None

    def __init__(self, input_size: int, hidden_size: int, bias: bool, rng: Generator | None) -> None:
        super().__init__()
        if min(input_size, hidden_size) < 1:
            raise ValueError(f"input_size and hidden_size are at least 1; received {input_size} and {hidden_size}")
        self.input_size = input_size
        self.hidden_size = hidden_size
        rows = self._gates * hidden_size
        self.weight_ih = Parameter(np.empty((rows, input_size)))
        self.weight_hh = Parameter(np.empty((rows, hidden_size)))
        self.register_parameter("bias_ih", Parameter(np.empty(rows)) if bias else None)
        self.register_parameter("bias_hh", Parameter(np.empty(rows)) if bias else None)
        self.reset_parameters(rng=rng)

    def reset_parameters(self, *, rng: Generator | None = None) -> None:
        """Draw the initial values anew, from the uniform distribution on ±1/sqrt(hidden_size)."""
        _draw(self, self.hidden_size, rng)

    def _weights(self) -> list[Tensor]:
        if self.bias_ih is None or self.bias_hh is None:
            return [self.weight_ih, self.weight_hh]
        return [self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh]

    def _operands(self, input_: TensorLike, initial: Sequence[TensorLike | None]) -> tuple[Tensor, list[Tensor], bool]:
        """Return the input as one step of a sequence, the states, and whether there was no batch."""
        x = as_tensor(input_)
        if x.ndim not in {1, 2} or x.shape[-1] != self.input_size:
            raise ValueError(
                f"{type(self).__name__} takes an input of shape (N, {self.input_size}) or ({self.input_size},); "
                f"received {x.shape}"
            )
        single = x.ndim == 1
        number = 1 if single else x.shape[0]
        expected = (self.hidden_size,) if single else (number, self.hidden_size)
        states: list[Tensor] = []
        for value in initial:
            state = zeros(expected) if value is None else as_tensor(value)
            if state.shape != expected:
                raise ValueError(f"{type(self).__name__}'s state has shape {expected}; received {state.shape}")
            states.append(state.reshape(number, self.hidden_size))
        return x.reshape(1, number, self.input_size), states, single

    def _result(self, state: Tensor, single: bool) -> Tensor:
        return state.reshape(self.hidden_size) if single else state

    def extra_repr(self) -> str:
        """Return the sizes."""
        return f"{self.input_size}, {self.hidden_size}" + ("" if self.bias_ih is not None else ", bias=False")


class RNNCell(_Cell):
    """One step of a plain recurrent network: see :class:`RNN`.

    Args:
        input_size: I, the length of the input.
        hidden_size: H, the length of the state.
        bias: whether there are biases.
        nonlinearity: "tanh" or "relu".
        rng: what draws the initial values; the default generator when None.

    Shapes:
        x (N, I) or (I,), state (N, H) or (H,), to the next state.

    Example:
        >>> from clumsygrad.core import zeros
        >>> from clumsygrad.nn import RNNCell
        >>> RNNCell(3, 4)(zeros((2, 3))).shape
        (2, 4)
    """

    _gates = 1

    nonlinearity: Nonlinearity

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: Nonlinearity = "tanh",
        *,
        rng: Generator | None = None,
    ) -> None:
        _check_nonlinearity(nonlinearity)
        super().__init__(input_size, hidden_size, bias, rng)
        self.nonlinearity = nonlinearity

    def forward(self, x: TensorLike, hx: TensorLike | None = None) -> Tensor:
        """Return the next state."""
        step, (h,), single = self._operands(x, (hx,))
        return self._result(rnn_sequence(step, h, self._weights(), nonlinearity=self.nonlinearity)[0], single)


class LSTMCell(_Cell):
    """One step of an LSTM: see :class:`LSTM`.

    Args:
        input_size: I, the length of the input.
        hidden_size: H, the length of the state and of the cell.
        bias: whether there are biases.
        rng: what draws the initial values; the default generator when None.

    Shapes:
        x (N, I) or (I,), and (h, c), each (N, H) or (H,), to the next (h, c).

    Example:
        >>> from clumsygrad.core import zeros
        >>> from clumsygrad.nn import LSTMCell
        >>> h, c = LSTMCell(3, 4)(zeros((2, 3)))
        >>> h.shape, c.shape
        ((2, 4), (2, 4))
    """

    _gates = 4

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, *, rng: Generator | None = None) -> None:
        super().__init__(input_size, hidden_size, bias, rng)

    def forward(  # type: ignore[override]  # it returns the state, too
        self, x: TensorLike, hx: tuple[TensorLike, TensorLike] | None = None
    ) -> tuple[Tensor, Tensor]:
        """Return the next state and the next cell."""
        step, (h, c), single = self._operands(x, (None, None) if hx is None else hx)
        result = lstm_sequence(step, h, c, self._weights())
        return self._result(result[0], single), self._result(result[1], single)


class GRUCell(_Cell):
    """One step of gated recurrent units: see :class:`GRU`.

    Args:
        input_size: I, the length of the input.
        hidden_size: H, the length of the state.
        bias: whether there are biases.
        rng: what draws the initial values; the default generator when None.

    Shapes:
        x (N, I) or (I,), state (N, H) or (H,), to the next state.

    Example:
        >>> from clumsygrad.core import zeros
        >>> from clumsygrad.nn import GRUCell
        >>> GRUCell(3, 4)(zeros((2, 3))).shape
        (2, 4)
    """

    _gates = 3

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, *, rng: Generator | None = None) -> None:
        super().__init__(input_size, hidden_size, bias, rng)

    def forward(self, x: TensorLike, hx: TensorLike | None = None) -> Tensor:
        """Return the next state."""
        step, (h,), single = self._operands(x, (hx,))
        return self._result(gru_sequence(step, h, self._weights())[0], single)
