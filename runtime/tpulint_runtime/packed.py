"""Packed sequences on XLA: padded batches with their lengths, which recurrent layers take in place of packed ones."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from types import FunctionType
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
    order: torch.Tensor
    """The places of the sequences in the batch as they are packed, on the host: among equal lengths as torch has it."""

    @classmethod
    def of(cls, padded: torch.Tensor, lengths: torch.Tensor, *, is_sorted: bool) -> PaddedSequence:
        """The sequence of a batch; one that is not sorted says in which order it is packed."""
        places = torch.arange(int(lengths.max()), device=lengths.device)
        sizes = (lengths.reshape(1, -1) > places.reshape(-1, 1)).sum(1)
        # Sorted by the call that torch packs by: an order of its own would not fit targets that torch has packed.
        order = (
            torch.arange(len(lengths), device=lengths.device) if is_sorted else lengths.sort(descending=True).indices
        )
        indices = None if is_sorted else order.to(padded.device)
        found: PaddedSequence = cls.__new__(cls, padded, sizes, indices)  # type: ignore[call-arg, unused-ignore]
        found.padded, found.lengths, found.order = padded, lengths, order
        return found

    @property
    def data(self) -> torch.Tensor:
        """The elements alone, as packing puts them: of another size for other lengths, and compiled for each."""
        if "padded" not in vars(self):  # of what was packed elsewhere
            elements: torch.Tensor = super().__getitem__(0)
            return elements
        count = self.padded.size(1)
        places = [time * count + self.order[:size] for time, size in enumerate(self.batch_sizes.tolist())]
        return self.padded.flatten(0, 1).index_select(0, torch.cat(places).to(self.padded.device))

    def __getitem__(self, index: Any) -> Any:
        """Of the four parts; the first is :attr:`data`."""
        return (self.data, *super().__getitem__(slice(1, None)))[index]

    def __iter__(self) -> Iterator[Any]:
        return iter(self[:])

    def to(self, *args: Any, **kwargs: Any) -> Any:
        """As a packed sequence; what is moved stays padded."""
        if "padded" not in vars(self):
            return super().to(*args, **kwargs)
        moved = self.padded.to(*args, **kwargs)
        if moved is self.padded:
            return self
        return PaddedSequence.of(moved, self.lengths, is_sorted=self.sorted_indices is None)


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
    that are not from 1 to T.
    """
    if input.device.type != "xla":
        # On the host, whatever the default device is, as torch does it.
        given = lengths if isinstance(lengths, torch.Tensor) else torch.as_tensor(lengths, device="cpu")
        return rnn.pack_padded_sequence(input, given, batch_first, enforce_sorted)
    return keep_padded(input, lengths, batch_first, enforce_sorted)


def keep_padded(
    input: torch.Tensor, lengths: torch.Tensor | Sequence[int], batch_first: bool, enforce_sorted: bool
) -> PaddedSequence:
    """:func:`pack_padded_sequence` as on XLA, on any device."""
    _let_layers_take_padded()
    padded = input.transpose(0, 1) if batch_first else input
    # Host sync, deliberate: torch asks for lengths on the host as well.
    ends = torch.as_tensor(lengths, device="cpu").detach().to(torch.int64)
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

    Returns the batch, as long as its longest sequence or ``total_length``, and the lengths on the host. On XLA each
    longest length is a shape of its own, and compiled; with one ``total_length`` lengths change no graph.

    Raises ValueError for a ``total_length`` below the longest sequence.
    """
    if not isinstance(sequence, PaddedSequence) or "padded" not in vars(sequence):
        batch, ends = rnn.pad_packed_sequence(sequence, batch_first, padding_value, total_length)
        return batch, ends
    padded, lengths = sequence.padded, sequence.lengths
    longest = int(lengths.max())
    if total_length is not None and total_length < longest:
        raise ValueError(f"total_length is {total_length}: the longest sequence has {longest} elements")
    # Of the longest sequence only where its length is asked for: what is cut there would be compiled for each.
    steps = longest if total_length is None else total_length
    padded = padded[:steps]
    place = torch.arange(len(padded), device=padded.device).reshape(-1, 1)
    is_inside = (place < lengths.to(padded.device)).reshape(*padded.shape[:2], *[1] * (padded.dim() - 2))
    padded = padded.masked_fill(~is_inside, padding_value)
    if steps > len(padded):
        padded = F.pad(padded, (*[0] * (2 * padded.dim() - 1), steps - len(padded)), value=padding_value)
    return padded.transpose(0, 1) if batch_first else padded, lengths.clone()


@functools.cache
def _let_layers_take_padded() -> None:
    """From now on; other input is left to the layers."""
    # torch_xla puts a class of its own in the place of nn.GRU; layers made before are of torch's.
    kinds: set[Any] = {nn.LSTM, nn.RNN, nn.GRU, nn.modules.rnn.GRU}
    for kind in kinds:
        kind.forward = _taking_padded(kind.forward)


def _taking_padded(forward: Any) -> Any:
    give, run_torch = _run_kept, forward

    def run(layer: nn.RNNBase, input: Any, hx: States | None = None) -> Any:
        found = give(layer, input, hx)
        return run_torch(layer, input, hx) if found is None else found

    # TorchScript compiles the text of torch's own function, with the names that this one sees: those of torch's module.
    moved = FunctionType(run.__code__, forward.__globals__, forward.__name__, run.__defaults__, run.__closure__)
    return functools.wraps(forward)(moved)


def _run_kept(layer: nn.RNNBase, input: Any, hx: States | None) -> tuple[PaddedSequence, States] | None:
    """What a layer gives for a batch that is kept padded; None for other input."""
    if not isinstance(input, PaddedSequence) or "padded" not in vars(input):
        return None
    output, state = run_states(layer, input.padded, input.lengths, hx)
    return PaddedSequence.of(output, input.lengths, is_sorted=input.sorted_indices is None), state
