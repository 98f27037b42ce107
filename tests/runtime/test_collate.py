"""Padding: nothing is lost, nothing is invented, and few shapes are left."""

from __future__ import annotations

import pickle
import re
from collections import namedtuple
from dataclasses import dataclass
from typing import Any

import numpy
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.utils.data import DataLoader, default_collate
from tpulint_runtime import Buckets, PadLastBatch, PadToLength, PadToMultiple, unpad

pytestmark = pytest.mark.xla  # where torch is, torch_xla is

DTYPES = [torch.int64, torch.int32, torch.uint8, torch.bool, torch.float32, torch.float64, torch.bfloat16]
Pair = namedtuple("Pair", ["source", "target"])


def tensor(length: int, rest: tuple[int, ...], dtype: torch.dtype, dim: int, seed: int) -> torch.Tensor:
    """A sample of random values whose dimension ``dim`` has ``length``. Never 0 but for bool: padding would hide."""
    shape = (*rest[:dim], length, *rest[dim:])
    generator = torch.Generator().manual_seed(seed)
    high = 2 if dtype == torch.bool else 100
    return torch.randint(1 if high > 2 else 0, high, shape, generator=generator).to(dtype)


@st.composite
def lists_of_samples(draw: st.DrawFn) -> tuple[list[torch.Tensor], int]:
    """Samples that differ in one dimension, and which."""
    rest = tuple(draw(st.lists(st.integers(1, 3), max_size=2)))
    dim = draw(st.integers(0, len(rest)))
    dtype = draw(st.sampled_from(DTYPES))
    lengths = draw(st.lists(st.integers(0, 40), min_size=1, max_size=6))
    return [tensor(length, rest, dtype, dim, seed) for seed, length in enumerate(lengths)], dim


def data_of(batch: torch.Tensor, mask: torch.Tensor, dim: int) -> list[torch.Tensor]:
    """The samples again: of each row, the entries under the mask."""
    rows = [row.movedim(dim, 0)[kept].movedim(0, dim) for row, kept in zip(batch, mask, strict=True)]
    return rows


def fill_of(batch: torch.Tensor, mask: torch.Tensor, dim: int) -> torch.Tensor:
    return batch.movedim(dim + 1, 1)[~mask]


@given(lists_of_samples(), st.integers(1, 17))
def test_samples_come_back_from_a_multiple(made: tuple[list[torch.Tensor], int], multiple: int) -> None:
    samples, dim = made
    batch, mask = PadToMultiple(multiple, dim=dim)(samples)
    longest = max(sample.size(dim) for sample in samples)
    assert batch.dtype == samples[0].dtype and mask.dtype == torch.bool
    assert mask.shape == (len(samples), batch.size(dim + 1))
    assert batch.size(dim + 1) % multiple == 0
    assert max(longest, 1) <= batch.size(dim + 1) < max(longest, 1) + multiple
    assert mask.sum(1).tolist() == [sample.size(dim) for sample in samples]
    assert all(map(torch.equal, data_of(batch, mask, dim), samples))
    assert not fill_of(batch, mask, dim).any()


@given(lists_of_samples(), st.lists(st.integers(1, 60), min_size=1, max_size=4))
def test_samples_come_back_from_buckets(made: tuple[list[torch.Tensor], int], sizes: list[int]) -> None:
    samples, dim = made
    longest = max(sample.size(dim) for sample in samples)
    collate = Buckets(sizes, dim=dim)
    if longest > max(sizes):
        with pytest.raises(ValueError, match=f"length {longest} is longer than {max(sizes)}"):
            collate(samples)
        batch, mask = Buckets(sizes, dim=dim, overflow="truncate")(samples)
        assert batch.size(dim + 1) == max(sizes)
        cut = [sample.narrow(dim, 0, min(sample.size(dim), max(sizes))) for sample in samples]
        assert all(map(torch.equal, data_of(batch, mask, dim), cut))
        return
    batch, mask = collate(samples)
    assert batch.size(dim + 1) == min(size for size in sizes if size >= longest)
    assert all(map(torch.equal, data_of(batch, mask, dim), samples))


@given(lists_of_samples(), st.integers(0, 5))
def test_rows_come_back_from_a_full_batch(made: tuple[list[torch.Tensor], int], missing: int) -> None:
    samples, dim = made
    size = len(samples) + missing
    (batch, mask), rows = PadLastBatch(size, collate=PadToMultiple(8, dim=dim))(samples)
    assert batch.size(0) == mask.size(0) == size
    assert rows.tolist() == [True] * len(samples) + [False] * missing
    assert all(map(torch.equal, data_of(batch[rows], mask[rows], dim), samples))
    assert not mask[~rows].any(), "a filled row counts as data"
    for row in batch[~rows]:
        assert torch.equal(row, batch[len(samples) - 1]), "a filled row is not the last sample"


nested_samples = st.lists(st.integers(1, 20), min_size=1, max_size=5).map(
    lambda lengths: [
        {
            "ids": torch.arange(1, length + 1),
            "pair": Pair(torch.full((2 * length, 3), 1.5), (torch.ones(length, dtype=torch.bool), length)),
            "name": f"sample {length}",
            "label": torch.tensor(length),
            "nothing": None,
        }
        for length in lengths
    ]
)


@given(nested_samples)
def test_nested_samples_come_back(samples: list[dict[str, Any]]) -> None:
    batch, mask = PadToMultiple(4, values={"ids": -100})(samples)
    lengths = [int(sample["label"]) for sample in samples]
    assert isinstance(batch["pair"], Pair) and isinstance(mask["pair"], Pair)
    for get in (lambda it: it["ids"], lambda it: it["pair"].source, lambda it: it["pair"].target[0]):
        assert all(map(torch.equal, data_of(get(batch), get(mask), 0), map(get, samples)))
    assert (fill_of(batch["ids"], mask["ids"], 0) == -100).all()
    assert not fill_of(batch["pair"].source, mask["pair"].source, 0).any()
    assert batch["label"].tolist() == batch["pair"].target[1].tolist() == lengths
    assert list(batch["name"]) == [sample["name"] for sample in samples]
    assert batch["nothing"] is mask["nothing"] is mask["label"] is mask["name"] is mask["pair"].target[1] is None


@given(st.lists(st.integers(1, 30), min_size=1, max_size=5), st.integers(1, 9))
def test_batch_of_another_collate_function_comes_back(lengths: list[int], multiple: int) -> None:
    samples = [{"ids": torch.arange(1, length + 1), "label": length} for length in lengths]

    def longest(samples: list[dict[str, Any]]) -> dict[str, torch.Tensor]:
        ids = torch.nn.utils.rnn.pad_sequence([sample["ids"] for sample in samples], batch_first=True)
        return {"ids": ids, "label": torch.tensor([sample["label"] for sample in samples])}

    theirs = longest(samples)
    batch, mask = PadToMultiple(multiple, value=7, collate=longest)(samples)
    assert batch["ids"].size(1) % multiple == 0 and mask["ids"].shape == batch["ids"].shape
    assert torch.equal(batch["ids"][mask["ids"]].view(len(samples), -1), theirs["ids"])
    assert (batch["ids"][~mask["ids"]] == 7).all()
    assert torch.equal(batch["label"], theirs["label"]) and mask["label"] is None


@given(st.integers(1, 6), st.integers(0, 4))
def test_pair_without_padding_is_filled_up(count: int, missing: int) -> None:
    samples = [(torch.full((2, 3), float(row)), row) for row in range(count)]
    (images, labels), rows = PadLastBatch(count + missing, values={1: -100})(samples)
    plain_images, plain_labels = default_collate(samples)
    assert torch.equal(images[rows], plain_images) and torch.equal(labels[rows], plain_labels)
    assert labels[~rows].tolist() == [-100] * missing
    assert rows.sum() == count and rows.shape == (count + missing,)


def same(got: Any, sample: Any) -> bool:
    """Whether two samples are alike in structure, types and values; a number came back as a tensor."""
    if isinstance(sample, dict):
        return type(got) is dict and got.keys() == sample.keys() and all(same(got[key], sample[key]) for key in sample)
    if isinstance(sample, tuple):
        return type(got) is type(sample) and all(map(same, got, sample))
    if isinstance(sample, torch.Tensor):
        return got.dtype == sample.dtype and torch.equal(got, sample)
    return bool(got == sample)


@given(
    nested_samples, st.sampled_from([PadToMultiple(4), PadToLength(40, value=1), Buckets([16, 40])]), st.integers(0, 3)
)
def test_any_batch_comes_back(samples: list[dict[str, Any]], collate: Any, missing: int) -> None:
    assert all(map(same, unpad(*collate(samples)), samples))
    (batch, mask), rows = PadLastBatch(len(samples) + missing, only=["ids", "label"], collate=collate)(
        [{"ids": sample["ids"], "label": sample["label"]} for sample in samples]
    )
    back = unpad(batch, mask, rows)
    assert len(back) == len(samples)
    assert all(torch.equal(got["ids"], sample["ids"]) for got, sample in zip(back, samples, strict=True))
    assert [int(got["label"]) for got in back] == [int(sample["label"]) for sample in samples]


@given(lists_of_samples(), st.integers(1, 9))
def test_any_dimension_comes_back(made: tuple[list[torch.Tensor], int], multiple: int) -> None:
    samples, dim = made
    assert all(map(torch.equal, unpad(*PadToMultiple(multiple, dim=dim)(samples), dim=dim), samples))


def test_what_is_no_batch_of_its_mask_is_refused() -> None:
    mask = torch.ones(2, 4, dtype=torch.bool)
    with pytest.raises(ValueError, match=r"batch\['x'\] is \(2, 5\), its mask \(2, 4\)"):
        unpad({"x": torch.ones(2, 5)}, {"x": mask})
    with pytest.raises(ValueError, match="one number is needed"):
        unpad({"x": torch.ones(2, 4)}, {"x": None})
    with pytest.raises(ValueError, match=r"masks have \[2, 3\] rows"):
        unpad({"x": torch.ones(2, 4)}, {"x": mask}, torch.ones(3, dtype=torch.bool))


@dataclass(frozen=True)
class Utterance:
    frames: torch.Tensor
    words: dict[str, torch.Tensor]
    speaker: int = 0

    def __post_init__(self) -> None:
        assert isinstance(self.speaker, int), "batches and masks are not made by the constructor"


@given(st.lists(st.integers(1, 20), min_size=1, max_size=5), st.integers(0, 3))
def test_dataclasses_come_back(lengths: list[int], missing: int) -> None:
    samples = [
        Utterance(torch.full((3, 2 * length), 1.5), {"ids": torch.arange(1, length + 1)}, length) for length in lengths
    ]
    collate = PadToMultiple(8, dim=1, only=["frames"])
    (batch, mask), rows = PadLastBatch(len(lengths) + missing, collate=collate)([samples[0]] * len(samples))
    assert isinstance(batch, Utterance) and isinstance(mask, Utterance)
    assert all(torch.equal(row, samples[0].frames) for row in data_of(batch.frames[rows], mask.frames[rows], 1))
    assert mask.words == {"ids": None} and mask.speaker is None
    batch, mask = PadToMultiple(8, only=[("words", "ids")], values={("words", "ids"): -1})(
        [Utterance(torch.ones(3, 2), sample.words, sample.speaker) for sample in samples]
    )
    assert all(map(torch.equal, data_of(batch.words["ids"], mask.words["ids"], 0), (s.words["ids"] for s in samples)))
    assert (fill_of(batch.words["ids"], mask.words["ids"], 0) == -1).all()
    assert batch.speaker.tolist() == lengths and mask.frames is None
    back = unpad(batch, mask)
    assert [type(sample) for sample in back] == [Utterance] * len(lengths)
    assert [(int(sample.speaker), len(sample.words["ids"])) for sample in back] == [(n, n) for n in lengths]


def test_last_batch_of_dataclasses_is_filled_up() -> None:
    samples = [Utterance(torch.full((2,), float(number)), {"ids": torch.tensor([number])}, number) for number in (1, 2)]
    batch, rows = PadLastBatch(3, values={"speaker": -100})(samples)
    assert batch.frames.tolist() == [[1, 1], [2, 2], [2, 2]] and batch.words["ids"].tolist() == [[1], [2], [2]]
    assert batch.speaker.tolist() == [1, 2, -100] and rows.tolist() == [True, True, False]


def test_containers_of_a_last_batch_keep_their_type() -> None:
    batch, _ = PadLastBatch(2)([Pair(torch.ones(1), ("a", {"x": 1}))])
    assert isinstance(batch, Pair) and isinstance(batch.target, tuple)
    assert batch.target[1]["x"].tolist() == [1, 1] and batch.target[0] == ["a", "a"]


def test_texts_of_a_last_batch_are_as_many_as_its_rows() -> None:
    samples = [{"name": name, "x": X, "kind": ("a", "b")} for name in ("one", "two")]
    batch, rows = PadLastBatch(4)(samples)
    assert batch["name"] == ["one", "two", "two", "two"] and len(batch["x"]) == len(rows) == 4
    assert batch["kind"] == (["a"] * 4, ["b"] * 4)
    batch, _ = PadLastBatch(4, values={"name": "", ("kind", 0): "z"})(samples)
    assert batch["name"] == ["one", "two", "", ""] and batch["kind"] == (["a", "a", "z", "z"], ["b"] * 4)
    batch, _ = PadLastBatch(4, only=["x", "name"])(samples)
    assert batch["kind"] == (["a", "a"], ["b", "b"]) and len(batch["name"]) == len(batch["x"]) == 4


def test_texts_of_another_collate_function_come_back_from_a_last_batch() -> None:
    def stacked(samples: list[Any]) -> Any:
        names, numbers, rows = zip(*samples, strict=True)
        return names, [*numbers], torch.stack(rows), (None,) * len(samples)

    samples = [("one", 1, X), ("two", 2, X)]
    (batch, mask), rows = PadLastBatch(3, values={1: -100}, collate=PadToMultiple(4, collate=stacked))(samples)
    names, numbers, x, nothing = batch
    assert names == ("one", "two", "two") and numbers == [1, 2, -100] and x.shape == (3, 4)
    assert nothing == (None, None), "what holds nothing is no column"
    back = unpad((names, numbers, x), mask[:3], rows)
    assert [sample[:2] for sample in back] == [("one", 1), ("two", 2)] and all(same(s[2], X) for s in back)


def test_rows_by_length() -> None:
    collate = PadLastBatch({4: 8, 16: 2}, collate=Buckets([4, 16], only=["long", "short"]))

    def shape(*lengths: int) -> tuple[torch.Size, torch.Size]:
        samples = [{"long": torch.ones(length), "short": torch.ones(1), "label": 0} for length in lengths]
        (batch, mask), rows = collate(samples)
        assert rows.sum() == len(lengths) and len(rows) == len(batch["long"]) == len(mask["short"])
        return batch["long"].shape, batch["short"].shape

    assert shape(3, 4) == ((8, 4), (8, 4)) and shape(5) == ((2, 16), (2, 4))
    with pytest.raises(ValueError, match="3 samples for a batch of 2"):
        shape(1, 1, 5)
    with pytest.raises(ValueError, match="no rows for length 8"):
        PadLastBatch({4: 8}, collate=PadToMultiple(4))([torch.ones(5)])


def test_only_named_tensors_are_padded() -> None:
    samples = [{"ids": torch.ones(length), "pixels": torch.ones(3, 5)} for length in (2, 3)]
    batch, mask = PadToMultiple(4, only=["ids"])(samples)
    assert batch["ids"].shape == (2, 4) and batch["pixels"].shape == (2, 3, 5) and mask["pixels"] is None


def test_length_of_every_batch_is_the_same() -> None:
    collate = PadToLength(12)
    assert {collate([torch.ones(length)])[0].shape for length in range(13)} == {(1, 12)}


def one_shape(batch: tuple[Any, ...]) -> tuple[torch.Size, torch.Size]:
    (ids, mask), rows = batch
    assert mask.shape == ids.shape
    return ids.shape, rows.shape


@pytest.mark.parametrize("workers", [0, 1])
def test_loader_makes_few_shapes(workers: int) -> None:
    data = [torch.arange(1, 2 + index % 9) for index in range(22)]
    collate = PadLastBatch(8, collate=Buckets([16]))
    loader = DataLoader(data, batch_size=8, collate_fn=collate, num_workers=workers)  # type: ignore[arg-type]
    batches = list(loader)
    assert {one_shape(batch) for batch in batches} == {((8, 16), (8,))}
    seen = [row for (ids, mask), rows in batches for row in data_of(ids[rows], mask[rows], 0)]
    assert len(seen) == len(data) and all(map(torch.equal, seen, data))


def test_collate_functions_can_be_sent_to_workers() -> None:
    collate = PadLastBatch(4, values={"a": 1}, collate=PadToMultiple(4, values={"a": 2}, only=["a"]))
    (batch, _), rows = pickle.loads(pickle.dumps(collate))([{"a": torch.zeros(3)}])
    assert batch["a"].tolist() == [[0, 0, 0, 2], [1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1]]
    assert rows.tolist() == [True, False, False, False]


X = torch.ones(2)


@pytest.mark.parametrize(
    ("collate", "samples", "message"),
    [
        (PadToMultiple(4, values={"lables": -100}), [{"labels": X}], r"no batch\['lables'\]; it has batch\['labels'\]"),
        (PadToMultiple(4, only=["b"], collate=default_collate), [{"a": X}], r"no batch\['b'\]"),
        (PadLastBatch(4, values={2: 0}), [(X, X)], r"no batch\[2\]"),
        (PadToMultiple(4, value=-100), [X.bool()], "torch.bool and cannot hold -100"),
        (PadToMultiple(4, value=-1), [X.to(torch.uint8)], "torch.uint8 and cannot hold -1"),
        (PadToMultiple(4, value=0.5), [X.long()], "torch.int64 and cannot hold 0.5"),
        (PadToMultiple(4, value=1e9), [X.half()], "torch.float16 and cannot hold"),
        (PadToMultiple(4), [{"a": X}, {"b": X}], "differ in what they hold"),
        (PadToMultiple(4), [[1, 2], [1]], "make a list of numbers a tensor"),
        (PadToMultiple(4), [torch.ones(2, 3), torch.ones(2, 4)], "differ in more than dimension 0"),
        (PadToMultiple(4), [X, X.long()], "differ in more than dimension 0"),
        (PadToMultiple(4), [], "no samples"),
        (PadToMultiple(4), [X, None], r"^sample 1 is None: leave it out of the data set$"),
        (PadToMultiple(4), [None, None], r"^sample 0 is None \(and 1 more of 2\): leave it out"),
        (PadToMultiple(4), [{"a": X}, {"a": None}], r"^sample 1, \['a'\], is None: give what the others have there"),
        (PadToMultiple(4), [(X, {"b": None}), (X, {"b": {"c": X}})], r"^sample 0, \[1\]\['b'\], is None"),
        (PadLastBatch(4), [(X, 1), (X, None), (X, None)], r"^sample 1, \[1\], is None \(and 1 more of 3\)"),
        (PadToMultiple(4), [{"a": 1}, {"a": "x"}], r"cannot be put together at batch\['a'\]: "),
        (PadToMultiple(4, only=["b"]), [{"a": X, "b": X}, {"a": X[:1], "b": X}], r"together at batch\['a'\]: stack"),
        (
            PadLastBatch(4, collate=lambda samples: {"a": X.numpy()}),
            [X, X],
            r"batch\['a'\] is a ndarray: make it a ten",
        ),
        (PadLastBatch(4, values={"a": ""}), [{"a": X}], "torch.float32 and cannot hold"),
        (PadLastBatch(2), [X, X, X], "3 samples for a batch of 2"),
        (PadLastBatch(4, collate=torch.cat), [X], "2 rows for 1 samples"),
    ],
)
def test_what_cannot_be_padded_is_refused(collate: Any, samples: list[Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        collate(samples)


@pytest.mark.parametrize("frames", [3, 4, 7])
def test_a_batch_with_time_first_is_refused(frames: int) -> None:
    """Padded where its samples stand, it would be another batch, and a longer one."""
    samples = [torch.ones(frames, 5)] * 2

    def time_first(samples: list[Any]) -> dict[str, Any]:
        return {"x": torch.stack(samples, 1), "weights": torch.ones(3, 5)}

    with pytest.raises(ValueError, match=rf"batch\['x'\] is \({frames}, 2, 5\) of 2 samples, which come second"):
        Buckets([8], only=["x"], collate=time_first)(samples)
    batch, mask = Buckets([8], only=["x"], collate=lambda samples: {"x": torch.stack([*samples, *samples])})(samples)
    assert batch["x"].shape == (4, 8, 5) and mask["x"].sum() == 4 * frames, "two rows of a sample are no time"


@pytest.mark.parametrize(
    ("make", "given", "message"),
    [
        (lambda given: PadToMultiple(given), 0, "multiple is 0: give at least 1"),
        (lambda given: PadToMultiple(given), -4, "multiple is -4: give at least 1"),
        (lambda given: PadToMultiple(given), 4.5, "multiple is 4.5: give a whole number"),
        (lambda given: PadToMultiple(given), True, "multiple is True: give a whole number"),
        (lambda given: PadToMultiple(4, dim=given), -1, "dim is -1: count the dimensions of a sample from 0"),
        (lambda given: PadToMultiple(4, dim=given), 0.0, "dim is 0.0: give a whole number"),
        (lambda given: PadToMultiple(4, value=given), "0", "value is '0': give a number"),
        (lambda given: PadToMultiple(4, values=given), [0], "values is [0]: give values by name"),
        (lambda given: PadToMultiple(4, values={"a": given}), None, "values['a'] is None: give a number"),
        (lambda given: PadToMultiple(4, values={"a": given}), "", "values['a'] is '': give a number"),
        (lambda given: PadToMultiple(4, only=given), "ids", "only is 'ids': give a list of names"),
        (lambda given: PadToMultiple(4, collate=given), [X], "collate is a list: give a function of a list of samples"),
        (lambda given: Buckets(given), [], "sizes are (): give at least one"),
        (lambda given: Buckets(given), [0, 4], "sizes are (0, 4): give at least one, none less than 1"),
        (lambda given: Buckets(given), [4.0], "a size is 4.0: give a whole number"),
        (lambda given: Buckets(given), [8, True], "a size is True: give a whole number"),
        (lambda given: Buckets(given), 4, "sizes is 4: give a list of whole numbers"),
        (lambda given: Buckets([4], overflow=given), "cut", "overflow is 'cut', not error or truncate"),
        (lambda given: PadToLength(given), 4.5, "length is 4.5: give a whole number"),
        (lambda given: PadToLength(given), 0, "length is 0: give at least 1"),
        (lambda given: PadLastBatch(given), 0, "batch_size is 0: give at least 1"),
        (lambda given: PadLastBatch(given), 4.0, "batch_size is 4.0: give a whole number"),
        (lambda given: PadLastBatch(4, value=given), "x", "value is 'x': give a number"),
        (lambda given: PadLastBatch(4, only=given), "ids", "only is 'ids': give a list of names"),
        (lambda given: PadLastBatch(4, collate=given), 3, "collate is a int: give a function of a list of samples"),
        (lambda given: PadLastBatch(given), {4: 1}, "rows by length need a padding"),
        (lambda given: PadLastBatch(given, collate=PadToMultiple(4)), {}, "batch_size has no rows for any length"),
        (lambda given: PadLastBatch(given, collate=Buckets([4])), {4: 0}, "batch_size[4] is 0: give at least 1"),
        (lambda given: PadLastBatch(given, collate=Buckets([4])), {4: 1.5}, "batch_size[4] is 1.5: give a whole"),
        (lambda given: PadLastBatch(given, collate=Buckets([4, 8])), {4: 2}, "batch_size has no rows for length 8"),
    ],
)
def test_wrong_settings_are_refused(make: Any, given: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=re.escape(message)):
        make(given)


def test_whole_numbers_of_numpy_and_tensors_are_taken() -> None:
    made = [
        PadToMultiple(numpy.int64(4)),
        Buckets(numpy.array([8, 4])),
        Buckets(torch.tensor([4])),
        PadToLength(numpy.int32(4)),
    ]
    for collate in made:
        assert collate([X])[0].shape == (1, 4)
    assert type(made[0].multiple) is int and made[1].sizes == (4, 8)
    rows = {numpy.int64(4): numpy.int64(3)}
    for last in (PadLastBatch(numpy.int64(3)), PadLastBatch(rows, collate=PadToLength(4))):
        assert len(last([X])[1]) == 3
