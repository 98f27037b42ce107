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


@pytest.mark.parametrize("lengths", [SORTED, MIXED], ids=["sorted", "mixed"])
def test_its_parts_are_those_of_packing(lengths: list[int]) -> None:
    x = torch.randn(6, 4, 3)
    packed = rnn.pack_padded_sequence(x, torch.tensor(lengths), False, lengths is SORTED)
    kept = keep_padded(x, lengths, False, lengths is SORTED)
    for given in (list(kept), kept[:], [kept[0], kept[1], kept[-2], kept[-1]], copy.deepcopy(kept)):
        for found, expected in zip(given, packed, strict=True):
            assert (found is None) is (expected is None)
            if expected is not None:
                torch.testing.assert_close(found, expected)
    doubled = kept._replace(data=kept.data * 2)
    torch.testing.assert_close(pad_packed_sequence(doubled)[0], rnn.pad_packed_sequence(packed)[0] * 2)


def test_equal_lengths_are_in_the_order_of_torch() -> None:
    lengths = torch.randint(1, 5, (500,), generator=torch.Generator().manual_seed(0))
    x = torch.arange(2000).reshape(4, 500)
    packed = rnn.pack_padded_sequence(x, lengths, enforce_sorted=False)
    kept = keep_padded(x, lengths, False, False)
    assert torch.equal(kept.data, packed.data)
    assert torch.equal(kept.unsorted_indices, packed.unsorted_indices)


def test_moved_sequences_stay_padded() -> None:
    kept = keep_padded(torch.randn(6, 4, 3), MIXED, False, False)
    assert kept.to("cpu") is kept
    moved = kept.double()
    assert moved.padded.dtype is torch.float64
    torch.testing.assert_close(moved.data, kept.data.double())


def test_layers_can_still_be_scripted() -> None:
    keep_padded(torch.randn(6, 4, 3), MIXED, False, False)
    x = torch.randn(6, 4, 3)
    for kind in KINDS.values():
        layers = nn.Sequential(kind(3, 4))  # a layer alone loses its overloaded forward to TorchScript anyway
        torch.testing.assert_close(torch.jit.script(layers)(x)[0], layers(x)[0])


def test_lengths_are_on_the_host_whatever_the_default_device() -> None:
    x = torch.randn(6, 4, 3)
    with torch.device("meta"):
        assert pack_padded_sequence(x, MIXED, enforce_sorted=False).data.shape == (12, 3)
        assert keep_padded(x, MIXED, False, False).lengths.tolist() == MIXED


def test_one_program_for_one_total_length_on_xla() -> None:
    import torch_xla

    backend = XlaBackend()
    shapes, compiles = set(), []
    for lengths in [[5, 2], [3, 1], [4, 4]]:
        kept = keep_padded(torch.ones(5, 2, 3).to("xla"), lengths, False, True)
        before = backend.counts()
        parts = [pad_packed_sequence(kept, total_length=total)[0] for total in (5, 7)]
        torch_xla.sync()
        compiles.append(backend.counts().since(before).compiles)
        shapes.update(part.shape for part in parts)
        assert [part.sum().item() for part in parts] == [3 * sum(lengths)] * 2
    assert shapes == {(5, 2, 3), (7, 2, 3)}
    assert compiles[1:] == [0, 0]


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
