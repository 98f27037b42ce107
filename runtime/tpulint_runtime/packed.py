"""Packed sequences on XLA: padded batches with their lengths, which recurrent layers take in place of packed ones."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils import rnn

from tpulint_runtime.recurrent import States, run_states


class PaddedSequence(rnn.PackedSequence):  # type: ignore[misc, unused-ignore]
    """A packed sequence that keeps its batch padded, ``(T, N, ...)``, in the order it was given in."""

    padded: torch.Tensor
    lengths: torch.Tensor
    """Of the N sequences, on the host."""

    @classmethod
    def of(cls, padded: torch.Tensor, lengths: torch.Tensor, *, is_sorted: bool) -> PaddedSequence:
        """The sequence of a batch; one that is not sorted says in which order it is packed."""
        order = torch.sort(lengths, descending=True, stable=True).indices
        sizes = (lengths.reshape(1, -1) > torch.arange(int(lengths.max())).reshape(-1, 1)).sum(1)
        indices = None if is_sorted else order.to(padded.device)
        found: PaddedSequence = cls.__new__(cls, padded, sizes, indices)  # type: ignore[call-arg, unused-ignore]
        found.padded, found.lengths = padded, lengths
        return found

    @property
    def data(self) -> torch.Tensor:
        """The elements alone, as packing puts them: of another size for other lengths, and compiled for each."""
        if "padded" not in vars(self):  # of what was packed elsewhere
            return self[0]
        count = self.padded.size(1)
        order = torch.sort(self.lengths, descending=True, stable=True).indices
        places = [time * count + order[:size] for time, size in enumerate(self.batch_sizes.tolist())]
        return self.padded.flatten(0, 1).index_select(0, torch.cat(places).to(self.padded.device))


def pack_padded_sequence(
    input: torch.Tensor,
    lengths: torch.Tensor | Sequence[int],
    batch_first: bool = False,
    enforce_sorted: bool = True,
) -> rnn.PackedSequence:
    """``torch.nn.utils.rnn.pack_padded_sequence``, whose sequences layers take on XLA too.

    There the batch stays padded, ``nn.LSTM``, ``nn.GRU`` and ``nn.RNN`` run as in :func:`run_padded`, and give a
    sequence like it: lengths change no graph. Give those to :func:`pad_packed_sequence`. Lengths are needed on the
    host, and are read from a device.

    Raises RuntimeError for lengths that are not sorted, unless ``enforce_sorted`` is False, and ValueError for lengths
    that are not from 1 to T."""
    if input.device.type != "xla":
        return rnn.pack_padded_sequence(input, torch.as_tensor(lengths), batch_first, enforce_sorted)
    return keep_padded(input, lengths, batch_first, enforce_sorted)


def keep_padded(
    input: torch.Tensor, lengths: torch.Tensor | Sequence[int], batch_first: bool, enforce_sorted: bool
) -> PaddedSequence:
    """:func:`pack_padded_sequence` as on XLA, on any device."""
    _let_layers_take_padded()
    padded = input.transpose(0, 1) if batch_first else input
    # Host sync, deliberate: torch asks for lengths on the host as well.
    ends = torch.as_tensor(lengths).detach().cpu().to(torch.int64)
    if ends.shape != padded.shape[1:2] or int(ends.min()) < 1 or int(ends.max()) > padded.size(0):
        raise ValueError(f"lengths are {ends.tolist()}: give {padded.size(1)} from 1 to {padded.size(0)}")
    if enforce_sorted and bool((ends[1:] > ends[:-1]).any()):
        raise RuntimeError("lengths must be sorted in decreasing order when enforce_sorted is True")
    return PaddedSequence.of(padded, ends, is_sorted=enforce_sorted)


def pad_packed_sequence(
    sequence: rnn.PackedSequence,
    batch_first: bool = False,
    padding_value: float = 0.0,
    total_length: int | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """``torch.nn.utils.rnn.pad_packed_sequence``, also of what :func:`pack_padded_sequence` gives on XLA.

    Returns the batch, as long as its longest sequence or ``total_length``, and the lengths on the host.

    Raises ValueError for a ``total_length`` below the longest sequence."""
    if not isinstance(sequence, PaddedSequence) or "padded" not in vars(sequence):
        batch, ends = rnn.pad_packed_sequence(sequence, batch_first, padding_value, total_length)
        return batch, ends
    padded, lengths = sequence.padded, sequence.lengths
    longest = int(lengths.max())
    if total_length is not None and total_length < longest:
        raise ValueError(f"total_length is {total_length}: the longest sequence has {longest} elements")
    padded = padded[:longest]
    place = torch.arange(longest, device=padded.device).reshape(-1, 1)
    is_inside = (place < lengths.to(padded.device)).reshape(longest, -1, *[1] * (padded.dim() - 2))
    padded = padded.masked_fill(~is_inside, padding_value)
    if total_length is not None:
        padded = F.pad(padded, (*[0] * (2 * padded.dim() - 1), total_length - longest), value=padding_value)
    return padded.transpose(0, 1) if batch_first else padded, lengths.clone()


@functools.cache
def _let_layers_take_padded() -> None:
    """From now on; other input is left to the layers."""
    # torch_xla puts a class of its own in the place of nn.GRU; layers made before are of torch's.
    kinds: set[Any] = {nn.LSTM, nn.RNN, nn.GRU, nn.modules.rnn.GRU}
    for kind in kinds:
        kind.forward = _taking_padded(kind.forward)


def _taking_padded(forward: Any) -> Any:
    @functools.wraps(forward)
    def run(layer: nn.RNNBase, input: Any, hx: States | None = None) -> Any:
        if not isinstance(input, PaddedSequence) or "padded" not in vars(input):
            return forward(layer, input, hx)
        output, state = run_states(layer, input.padded, input.lengths, hx)
        return PaddedSequence.of(output, input.lengths, is_sorted=input.sorted_indices is None), state

    return run
