"""Recurrent layers on padded sequences, which XLA runs where it has no packed ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

State: TypeAlias = tuple[torch.Tensor, ...]
"""What a layer hands from one position to the next: ``h``, or ``h`` and ``c``, ``(N, H)`` each."""
States: TypeAlias = torch.Tensor | tuple[torch.Tensor, torch.Tensor]
"""Those of all layers and directions, ``(L * D, N, H)``, as a layer takes and gives them: for an LSTM two."""
_Cell: TypeAlias = Callable[[torch.Tensor, State], State]


def run_padded(
    layer: nn.RNNBase,
    input: torch.Tensor,
    lengths: torch.Tensor | Sequence[int | torch.Tensor],
    state: States | None = None,
    *,
    batch_first: bool = False,
) -> tuple[torch.Tensor, States]:
    """What a recurrent layer gives for a packed sequence: ``layer(pack_padded_sequence(input, lengths), state)``, with
    its output padded again.

    input
        ``(T, N, M)``, or ``(N, T, M)`` with ``batch_first``, which counts instead of that of the layer, as for packed
        sequences.
    lengths
        Of the N sequences, from 1 to T, on any device, sorted or not, also a list of tensors with one each. They change
        no graph. Those on an XLA device are not read: above T they count as T, and a sequence below 1 is empty and
        keeps its state.

    Returns the output ``(T, N, D * H)``, zeros behind the end of each sequence, and the state at the end of each:
    ``(L * D, N, H)``, for an LSTM two of them, as the layer does; of an LSTM with projections, output and ``h`` have
    their size. ``T`` is that of the input also where no sequence is so long. Dtypes are those of the layer on the same
    device, under autocast too: on XLA an LSTM or GRU on a float32 input gives float32 there, on CUDA and the CPU what
    torch gives for packed sequences.

    The cells are those of the layer, one position after the other, in both directions; dropout between layers draws
    other numbers. Hooks of the layer are given padded tensors in the place of packed ones. Outside of XLA the sequences
    are packed.

    Raises TypeError for other layers, and on XLA for one with a ``forward`` of its own. Raises ValueError for input,
    lengths and states of other sizes, and for lengths on the host that are not from 1 to T."""
    if not isinstance(layer, nn.RNNBase):
        raise TypeError(f"layer is {type(layer).__name__}, not LSTM, GRU or RNN")
    # The class that torch_xla puts in the place of nn.GRU takes no packed sequences, wherever they lie.
    if input.device.type != "xla" and not _origin(layer).startswith("torch_xla."):
        # Host sync, deliberate: where sequences are packed, the host has their lengths. Not on XLA.
        ends = _checked(layer, input, _joined(lengths).cpu(), state, batch_first)
        return _run_packed(layer, input, ends, state, batch_first)
    return run_masked(layer, input, lengths, state, batch_first=batch_first)


def run_masked(
    layer: nn.RNNBase,
    input: torch.Tensor,
    lengths: torch.Tensor | Sequence[int | torch.Tensor],
    state: States | None = None,
    *,
    batch_first: bool = False,
) -> tuple[torch.Tensor, States]:
    """:func:`run_padded` as on XLA, on any device."""
    if not _origin(layer).startswith((nn.LSTM.__module__, "torch_xla.")):
        raise TypeError(f"layer is {type(layer).__name__} with a forward of its own, which takes packed sequences")
    ends = _checked(layer, input, _joined(lengths), state, batch_first).to(input.device)

    def forward(input: torch.Tensor, state: States | None = None) -> tuple[torch.Tensor, States]:
        return _run(layer, input, ends, state, batch_first)

    # Called as the layer, or its hooks, such as those that make its weights, would be left out.
    vars(layer)["forward"] = forward
    try:
        found: tuple[torch.Tensor, States] = layer(input, state)
    finally:
        del vars(layer)["forward"]
    return found


def run_states(
    layer: nn.RNNBase, input: torch.Tensor, lengths: torch.Tensor, state: States | None
) -> tuple[torch.Tensor, States]:
    """:func:`run_masked` of ``(T, N, M)`` without the hooks of the layer, for its own forward pass."""
    ends = _checked(layer, input, lengths, state, batch_first=False).to(input.device)
    return _run(layer, input, ends, state, batch_first=False)


def _joined(lengths: torch.Tensor | Sequence[int | torch.Tensor]) -> torch.Tensor:
    """One tensor of lengths. A list of tensors, ``list(mask.sum(1))``, is stacked: torch would read each of them."""
    if isinstance(lengths, torch.Tensor):
        return lengths
    parts = [one for one in lengths if isinstance(one, torch.Tensor)]
    if parts and len(parts) == len(lengths):
        return torch.stack([part.reshape(()) for part in parts])
    return torch.as_tensor(lengths)


def _origin(layer: nn.RNNBase) -> str:
    """The module that the forward pass of the layer is defined in; none where it was exchanged."""
    return "" if "forward" in vars(layer) else type(layer).forward.__module__


def _checked(
    layer: nn.RNNBase, input: torch.Tensor, lengths: torch.Tensor, state: States | None, batch_first: bool
) -> torch.Tensor:
    """The lengths as whole numbers, cut off as packing does. Of those on a device only the shape is looked at."""
    if input.dim() != 3 or input.size(2) != layer.input_size or not input.numel():
        raise ValueError(
            f"input is {tuple(input.shape)}: give positions, sequences and {layer.input_size} features, none of them 0"
        )
    longest, count = (input.size(1), input.size(0)) if batch_first else (input.size(0), input.size(1))
    if lengths.shape != (count,):
        raise ValueError(f"lengths are {tuple(lengths.shape)}: give one for each of the {count} sequences")
    ends = lengths.to(torch.int64)
    if ends.device.type == "cpu" and not (int(ends.min()) >= 1 and int(ends.max()) <= longest):
        raise ValueError(
            f"lengths are from {int(ends.min())} to {int(ends.max())}: give 1 to {longest}, as the input has"
        )
    if state is not None:
        levels = layer.num_layers * (2 if layer.bidirectional else 1)
        is_pair = layer.mode == "LSTM"
        expected = [(levels, count, layer.proj_size or layer.hidden_size)]
        expected += [(levels, count, layer.hidden_size)] if is_pair else []
        parts = [state] if isinstance(state, torch.Tensor) else [*state]
        if isinstance(state, torch.Tensor) is is_pair or [part.shape for part in parts] != expected:
            shapes = ", ".join(str(tuple(part.shape)) for part in parts)
            wanted = " and ".join(map(str, expected))
            raise ValueError(f"the state of {layer.mode} is {shapes}: give {wanted}")
    return ends


def _run(
    layer: nn.RNNBase, input: torch.Tensor, lengths: torch.Tensor, state: States | None, batch_first: bool
) -> tuple[torch.Tensor, States]:
    x = input.transpose(0, 1) if batch_first else input
    is_inside = torch.arange(x.size(0), device=input.device).reshape(-1, 1, 1) < lengths.reshape(1, -1, 1)
    x = x.masked_fill(~is_inside, 0.0)  # whatever stands there, times 0 it is no gradient
    starts = _starts(layer, x, state)
    directions = 2 if layer.bidirectional else 1
    finals: list[State] = []
    for level in range(layer.num_layers):
        outputs = []
        for direction in range(directions):
            weights = _weights(layer, level, direction)
            number = level * directions + direction
            start = tuple(part[number] for part in starts)
            output, final = _run_direction(layer, x, is_inside, start, weights, bool(direction))
            outputs.append(output)
            finals.append(final)
        x = torch.cat(outputs, 2)
        if layer.dropout and layer.training and level < layer.num_layers - 1:
            x = F.dropout(x, layer.dropout)
    ended = [torch.stack(parts) for parts in zip(*finals, strict=True)]
    output = x.transpose(0, 1) if batch_first else x
    return output, (ended[0], ended[1]) if layer.mode == "LSTM" else ended[0]


def _run_direction(
    layer: nn.RNNBase,
    x: torch.Tensor,
    is_inside: torch.Tensor,
    start: State,
    weights: tuple[torch.Tensor | None, ...],
    is_backward: bool,
) -> tuple[torch.Tensor, State]:
    """The output ``(T, N, H)`` and the last state of one layer in one direction."""
    of_input, of_state, bias_of_input, bias_of_state, projection = weights
    assert of_input is not None and of_state is not None
    cell = _cell(layer, of_state, bias_of_state, projection)
    given = F.linear(x, of_input, bias_of_input)  # of all positions at once
    state = start
    outputs: list[torch.Tensor] = []
    positions = range(x.size(0))
    for position in reversed(positions) if is_backward else positions:
        inside = is_inside[position]
        # Behind its end a sequence keeps its state: backwards it begins at its end.
        new = cell(given[position], state)
        # Of the dtype that the layer goes on with, under autocast too: XLA takes no `where` of two.
        state = tuple(
            torch.where(inside, after, before.to(after.dtype)) for after, before in zip(new, state, strict=True)
        )
        outputs.append(torch.where(inside, new[0], torch.zeros_like(new[0])))
    return torch.stack(outputs[::-1] if is_backward else outputs), state


def _cell(layer: nn.RNNBase, weight: torch.Tensor, bias: torch.Tensor | None, projection: torch.Tensor | None) -> _Cell:
    """From what a position gives, times its weights, and the state before it, the state behind it."""

    def lstm(given: torch.Tensor, state: State) -> State:
        h, c = state
        i, f, g, o = (given + F.linear(h, weight, bias)).chunk(4, 1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        h = o.sigmoid() * c.tanh()
        return h if projection is None else F.linear(h, projection), c

    def gru(given: torch.Tensor, state: State) -> State:
        (h,) = state
        r, z, n = given.chunk(3, 1)
        r_of_state, z_of_state, n_of_state = F.linear(h, weight, bias).chunk(3, 1)
        z = (z + z_of_state).sigmoid()
        n = (n + (r + r_of_state).sigmoid() * n_of_state).tanh()
        return (n + z * (h - n),)

    def rnn(given: torch.Tensor, state: State) -> State:
        new = given + F.linear(state[0], weight, bias)
        return (new.relu() if layer.mode == "RNN_RELU" else new.tanh(),)

    return {"LSTM": lstm, "GRU": gru}.get(layer.mode, rnn)


def _weights(layer: nn.Module, level: int, direction: int) -> tuple[torch.Tensor | None, ...]:
    end = f"_l{level}{'_reverse' * direction}"
    names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr")
    return tuple(getattr(layer, name + end, None) for name in names)


def _starts(
    layer: nn.RNNBase,
    x: torch.Tensor,
    state: States | None,
) -> State:
    """The states before the first position, ``(L * D, N, H)`` each."""
    if state is None:
        levels = layer.num_layers * (2 if layer.bidirectional else 1)
        h = x.new_zeros(levels, x.size(1), layer.proj_size or layer.hidden_size)
        return (h, x.new_zeros(levels, x.size(1), layer.hidden_size)) if layer.mode == "LSTM" else (h,)
    return (state,) if isinstance(state, torch.Tensor) else tuple(state)


def _run_packed(
    layer: nn.RNNBase, input: torch.Tensor, lengths: torch.Tensor, state: States | None, batch_first: bool
) -> tuple[torch.Tensor, States]:
    packed = pack_padded_sequence(input, lengths, batch_first, enforce_sorted=False)
    output, ended = layer(packed, state)
    longest = input.size(1 if batch_first else 0)
    return pad_packed_sequence(output, batch_first, total_length=longest)[0], ended
