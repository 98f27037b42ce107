"""Packed rows: every token comes once, sequences stay whole, and none knows of another."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch.utils.data import DataLoader, IterableDataset
from tpulint_runtime import (
    PackedDataset,
    PackedStream,
    next_token_labels,
    plan_rows,
    segment_mask,
    segment_starts,
    shifted_labels,
)

pytestmark = pytest.mark.xla  # where torch is, torch_xla is

LENGTH = 16
lengths_of_samples = st.lists(st.integers(1, LENGTH), min_size=1, max_size=40)


def sequence(number: int, length: int) -> dict[str, torch.Tensor]:
    """Tokens that tell the sample and the place."""
    ids = 100 * (number + 1) + torch.arange(length)
    return {"input_ids": ids, "labels": ids + 1, "frames": torch.full((length, 2), number + 0.5)}


def sequences_of(row: dict[str, torch.Tensor]) -> list[dict[str, torch.Tensor]]:
    """The samples again: of each segment, its entries."""
    segments = row["segment_ids"]
    return [
        {name: tensor[segments == number] for name, tensor in row.items()}
        for number in range(1, int(segments.max()) + 1)
    ]


def check_rows(rows: list[dict[str, torch.Tensor]], samples: list[dict[str, torch.Tensor]]) -> None:
    found = []
    for row in rows:
        assert {name: (len(tensor), tensor.dtype) for name, tensor in row.items()} == {
            "input_ids": (LENGTH, torch.int64),
            "labels": (LENGTH, torch.int64),
            "frames": (LENGTH, torch.float32),
            "segment_ids": (LENGTH, torch.int64),
            "position_ids": (LENGTH, torch.int64),
        }
        padding = row["segment_ids"] == 0
        assert (row["labels"][padding] == -100).all() and (row["input_ids"][padding] == 7).all()
        assert not row["frames"][padding].any() and not row["position_ids"][padding].any()
        found += sequences_of(row)
    found.sort(key=lambda sample: int(sample["input_ids"][0]))
    assert len(found) == len(samples)
    for got, sample in zip(found, samples, strict=True):
        assert all(torch.equal(got[name], tensor) for name, tensor in sample.items())
        assert got["position_ids"].tolist() == [*range(len(sample["labels"]))]


VALUES = {"labels": -100, "input_ids": 7}


@given(lengths_of_samples)
def test_samples_come_back_from_planned_rows(lengths: list[int]) -> None:
    samples = [sequence(number, length) for number, length in enumerate(lengths)]
    packed = PackedDataset(samples, lengths, LENGTH, values=VALUES)
    rows = [packed[row] for row in range(len(packed))]
    check_rows(rows, samples)
    assert packed.waste == pytest.approx(1 - sum(lengths) / (LENGTH * len(rows)))


@given(lengths_of_samples, st.integers(1, 6))
def test_samples_come_back_from_a_stream(lengths: list[int], open_rows: int) -> None:
    samples = [sequence(number, length) for number, length in enumerate(lengths)]
    stream = PackedStream(samples, LENGTH, open_rows=open_rows, values=VALUES)
    rows = list(stream)
    check_rows(rows, samples)
    assert [row["input_ids"].tolist() for row in stream] == [row["input_ids"].tolist() for row in rows]


@given(st.lists(st.integers(1, 12), min_size=1, max_size=60))
def test_plan_is_first_fit_decreasing(lengths: list[int]) -> None:
    rows: list[list[int]] = []
    for index in sorted(range(len(lengths)), key=lambda index: -lengths[index]):
        for row in rows:
            if sum(lengths[other] for other in row) + lengths[index] <= 12:
                row.append(index)
                break
        else:
            rows.append([index])
    assert plan_rows(lengths, 12) == rows


def test_more_open_rows_waste_less() -> None:
    samples = [torch.ones(1 + 7 * number % 13, dtype=torch.int64) for number in range(300)]
    counts = [len(list(PackedStream(samples, LENGTH, open_rows=rows))) for rows in (1, 4, 300)]
    planned = len(PackedDataset(samples, [len(sample) for sample in samples], LENGTH))
    assert counts[0] > counts[1] > planned and counts[2] <= planned + 2


class Numbers(IterableDataset[torch.Tensor]):  # type: ignore[misc, unused-ignore]
    def __iter__(self) -> Any:
        return (torch.full((1 + number % 5,), number) for number in range(1, 60))


@pytest.mark.parametrize("workers", [0, 2])
def test_workers_share_a_stream(workers: int) -> None:
    loader = DataLoader(PackedStream(Numbers(), 8), batch_size=4, num_workers=workers, drop_last=False)
    ids = torch.cat([batch["input_ids"].flatten() for batch in loader])
    assert sorted(ids[ids != 0].tolist()) == sorted(itertools.chain(*(sample.tolist() for sample in Numbers())))


def packed_rows(lengths: list[list[int]]) -> torch.Tensor:
    """Segment ids of rows with sequences of these lengths."""
    rows = [torch.cat([torch.full((n,), k) for k, n in enumerate(row, start=1)]) for row in lengths]
    return torch.stack([F.pad(row, (0, LENGTH - len(row))) for row in rows])


rows_of_lengths = st.lists(st.lists(st.integers(1, 5), min_size=1, max_size=3), min_size=1, max_size=3)


@given(rows_of_lengths)
def test_labels_stay_in_their_sequence(lengths: list[list[int]]) -> None:
    segments = packed_rows(lengths)
    ids = torch.arange(1, segments.numel() + 1).view(segments.shape)
    following, shifted = next_token_labels(ids, segments), shifted_labels(ids, segments)
    starts = segment_starts(segments)
    for row, sequences in enumerate(lengths):
        place = 0
        for length in sequences:
            own = slice(place, place + length)
            assert following[row, own].tolist() == [*ids[row, place + 1 : place + length].tolist(), -100]
            assert shifted[row, own].tolist() == [-100, *ids[row, place + 1 : place + length].tolist()]
            assert starts[row, own].tolist() == [True] + [False] * (length - 1)
            place += length
        assert set(following[row, place:].tolist()) | set(shifted[row, place:].tolist()) <= {-100}
        assert not starts[row, place:].any()
    assert torch.equal(next_token_labels(ids[0], segments[0]), following[0]), "a single row has no dimension of rows"
    assert next_token_labels(ids.int(), segments, ignore_index=-1).dtype == torch.int32


def test_segments_at_the_edges_of_a_row() -> None:
    """The last token of a row has no follower, not the first of the row."""
    full = torch.ones(1, 4, dtype=torch.int64)
    assert next_token_labels(torch.tensor([[5, 6, 7, 8]]), full).tolist() == [[6, 7, 8, -100]]
    assert shifted_labels(torch.tensor([[5, 6, 7, 8]]), full).tolist() == [[-100, 6, 7, 8]]


@given(rows_of_lengths, st.booleans())
def test_attention_in_a_packed_row_is_that_of_each_sequence(lengths: list[list[int]], causal: bool) -> None:
    segments = packed_rows(lengths)
    torch.manual_seed(0)
    q, k, v = torch.randn(3, len(lengths), 2, LENGTH, 4)
    mask = segment_mask(segments, causal=causal)
    assert mask.shape == (len(lengths), 1, LENGTH, LENGTH) and mask.dtype == torch.bool
    attended = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    by_hand = (q @ k.mT / 2).masked_fill(~mask, -float("inf")).softmax(-1) @ v
    assert by_hand.isfinite().all(), "padding attends to nothing"
    torch.testing.assert_close(by_hand, attended)
    for row, sequences in enumerate(lengths):
        place = 0
        for length in sequences:
            own = (row, slice(None), slice(place, place + length))
            alone = F.scaled_dot_product_attention(q[own], k[own], v[own], is_causal=causal)
            torch.testing.assert_close(attended[own], alone)
            place += length
        mask_of_row = mask[row, 0].clone().fill_diagonal_(False)
        assert not mask_of_row[place:].any() and not mask_of_row[:, place:].any()
    assert torch.equal(segment_mask(segments[0], causal=causal), mask[0])


X = torch.ones(3)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: plan_rows([3, 17], LENGTH), "sample 1 has length 17: rows take 1 to 16"),
        (lambda: plan_rows([0], LENGTH), "sample 0 has length 0"),
        (lambda: list(PackedStream([torch.ones(17)], LENGTH)), "sample 0 has length 17"),
        (lambda: list(PackedStream([X], LENGTH, open_rows=0)), "at least 1"),
        (lambda: list(PackedStream([{"x": X, "y": torch.ones(2)}], LENGTH)), "must have one length"),
        (lambda: list(PackedStream([{"x": X, "label": torch.tensor(1)}], LENGTH)), "must have one length"),
        (lambda: list(PackedStream([{"x": X}, {"y": X}], LENGTH)), "differ in what they hold"),
        (lambda: list(PackedStream([{"x": X, "position_ids": X}], LENGTH)), "position_ids'. of their own"),
        (lambda: list(PackedStream([X], LENGTH, values={"labels": -100})), "no batch..labels"),
        (lambda: PackedDataset([torch.ones(12), torch.ones(12)], [8, 8], LENGTH)[0], "not what was planned for"),
    ],
)
def test_what_cannot_be_packed_is_refused(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_nothing_makes_no_rows() -> None:
    packed = PackedDataset([], [], LENGTH)
    assert len(packed) == 0 and packed.waste == 0 and list(PackedStream([], LENGTH)) == []
