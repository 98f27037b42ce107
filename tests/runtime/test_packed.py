"""Packed sequences that stay padded: what layers and unpacking give is what packing gives."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn.utils import rnn
from tpulint_runtime import pack_padded_sequence, pad_packed_sequence
from tpulint_runtime.backend import XlaBackend
from tpulint_runtime.packed import keep_padded

pytestmark = [pytest.mark.xla, pytest.mark.usefixtures("xla_started")]

KINDS: dict[str, Any] = {
    "LSTM": nn.LSTM,
    "GRU": nn.modules.rnn.GRU,  # `import torch_xla` puts another class in the place of nn.GRU
    "RNN": nn.RNN,
}
SORTED, MIXED = [6, 4, 4, 1], [2, 5, 1, 4]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("lengths", [SORTED, MIXED], ids=["sorted", "mixed"])
def test_layers_give_what_they_give_for_packed_sequences(kind: str, lengths: list[int]) -> None:
    torch.manual_seed(0)
    layer = KINDS[kind](5, 7, num_layers=2, bidirectional=True)
    other = copy.deepcopy(layer)
    is_sorted = lengths is SORTED
    one, two = (torch.randn(4, 6, 5).requires_grad_() for _ in range(2))
    two.data.copy_(one.data)
    packed = rnn.pack_padded_sequence(one, torch.tensor(lengths), True, is_sorted)
    kept = keep_padded(two, lengths, True, is_sorted)
    assert isinstance(kept, rnn.PackedSequence)
    torch.testing.assert_close(kept.data, packed.data)
    torch.testing.assert_close(kept.batch_sizes, packed.batch_sizes)
    expected, state = layer(packed)
    found, ended = other(kept)
    torch.testing.assert_close(found.data, expected.data)
    torch.testing.assert_close(ended, state)
    wanted, ends = rnn.pad_packed_sequence(expected, True, padding_value=-1.0, total_length=8)
    padded, given = pad_packed_sequence(found, True, padding_value=-1.0, total_length=8)
    torch.testing.assert_close(padded, wanted)
    assert given.tolist() == ends.tolist() == lengths
    wanted.square().sum().backward()
    padded.square().sum().backward()
    torch.testing.assert_close(two.grad, one.grad)
    for a, b in zip(other.parameters(), layer.parameters(), strict=True):
        torch.testing.assert_close(a.grad, b.grad)


def test_padding_is_cut_to_the_longest_sequence() -> None:
    x = torch.randn(6, 2, 3)
    padded, lengths = pad_packed_sequence(keep_padded(x, [4, 2], False, True))
    assert padded.shape == (4, 2, 3)
    assert padded[2:, 1].abs().sum() == 0
    torch.testing.assert_close(padded[:2], x[:2])
    assert lengths.tolist() == [4, 2]


def test_lengths_are_looked_at() -> None:
    x = torch.randn(6, 2, 3)
    with pytest.raises(ValueError, match="from 1 to 6"):
        keep_padded(x, [7, 2], False, True)
    with pytest.raises(RuntimeError, match="sorted"):
        keep_padded(x, [2, 4], False, True)
    with pytest.raises(ValueError, match="total_length"):
        pad_packed_sequence(keep_padded(x, [5, 2], False, True), total_length=4)


def test_one_program_for_all_lengths_on_xla() -> None:
    import torch_xla

    backend = XlaBackend()
    torch.manual_seed(0)
    layer = nn.GRU(3, 4).to("xla")
    before = None
    for turn, lengths in enumerate([[5, 2], [5, 3], [5, 1], [5, 4]]):
        x = torch.ones(5, 2, 3).to("xla").requires_grad_()
        output, state = layer(pack_padded_sequence(x * 2, lengths))
        padded, _ = pad_packed_sequence(output)
        (padded.sum() + state.sum()).backward()
        torch_xla.sync()
        if turn == 1:  # gradients are added up from here on
            before = backend.counts()
    assert before is not None
    done = backend.counts().since(before)
    assert (done.compiles, done.launches, done.reads, done.fallbacks) == (0, 2, 0, {})
    assert x.grad is not None
    assert x.grad.cpu()[4, 1].abs().sum() == 0
    assert x.grad.cpu()[3, 1].abs().sum() > 0


def test_others_are_left_to_torch() -> None:
    packed = pack_padded_sequence(torch.randn(5, 2, 3), [5, 3])
    assert type(packed) is rnn.PackedSequence
    assert pad_packed_sequence(packed)[0].shape == (5, 2, 3)
    assert nn.LSTM(3, 4)(packed)[0].data.shape == (8, 4)
