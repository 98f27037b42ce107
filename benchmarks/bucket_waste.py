"""How much of the batches is padding, by strategy, on a real distribution of lengths.

    python benchmarks/bucket_waste.py

The samples are the docstrings of the standard library of the Python that runs this, cut into words and signs: nothing
is downloaded. What is longer than 512 tokens is cut. Every batch goes through the collate functions themselves, and the
masks are counted; rows that fill up a batch count as padding.
"""

from __future__ import annotations

import ast
import re
import sys
import sysconfig
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from torch.utils.data import BatchSampler, DataLoader, RandomSampler
from tpulint_runtime import (
    BucketBatchSampler,
    Buckets,
    PackedDataset,
    PackedStream,
    PadLastBatch,
    PadToLength,
    PadToMultiple,
    plan_buckets,
)

LONGEST = 512
BATCH = 32
ENTRIES = 16_384
"""Of a batch with rows by length: 32 of the longest samples."""


def docstrings() -> Iterator[str]:
    """All of the standard library, without its tests."""
    root = Path(sysconfig.get_paths()["stdlib"])
    for path in sorted(root.rglob("*.py")):
        if {"site-packages", "test", "tests", "idle_test", "lib2to3"} & set(path.relative_to(root).parts):
            continue
        try:
            tree = ast.parse(path.read_bytes())
        except (SyntaxError, ValueError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                text = ast.get_docstring(node)
                if text:
                    yield text


def count(batches: Any) -> tuple[Counter[tuple[int, ...]], int, int]:
    """Batches by shape, real entries, and all entries."""
    shapes: Counter[tuple[int, ...]] = Counter()
    real = total = 0
    for batch, _rows in batches:
        mask = batch["segment_ids"] != 0 if isinstance(batch, dict) else batch[1]
        shapes[tuple(mask.shape)] += 1
        real += int(mask.sum())
        total += mask.numel()
    return shapes, real, total


def random_batches(data: Sequence[torch.Tensor], collate: Any) -> Any:
    sampler = BatchSampler(RandomSampler(data, generator=torch.Generator().manual_seed(0)), BATCH, drop_last=False)
    return DataLoader(data, batch_sampler=sampler, collate_fn=PadLastBatch(BATCH, collate=collate))


def bucket_batches(data: Sequence[torch.Tensor], sizes: Sequence[int], rows: Any = BATCH) -> Any:
    sampler = BucketBatchSampler([len(sample) for sample in data], sizes, rows)
    collate = PadLastBatch(sampler.rows, collate=Buckets(sizes))
    return DataLoader(data, batch_sampler=sampler, collate_fn=collate)


def packed_batches(rows: Any) -> Any:
    return DataLoader(rows, batch_size=BATCH, collate_fn=PadLastBatch(BATCH, values={"segment_ids": 0}))


def strategies(data: Sequence[torch.Tensor]) -> Iterator[tuple[str, Any]]:
    lengths = [len(sample) for sample in data]
    yield f"random batches, to {LONGEST}", random_batches(data, PadToLength(LONGEST))
    yield "random batches, to their longest sample", random_batches(data, PadToMultiple(1))
    yield "random batches, to a multiple of 64", random_batches(data, PadToMultiple(64))
    yield "by bucket, multiples of 64", bucket_batches(data, range(64, LONGEST + 1, 64))
    yield "by bucket, powers of two from 64", bucket_batches(data, [64, 128, 256, 512])
    for shapes in (2, 4, 8):
        plan = plan_buckets(lengths, shapes, multiple=8)
        yield f"by bucket, best {shapes}: {', '.join(map(str, plan.sizes))}", bucket_batches(data, plan.sizes)
    yield "random batches, best 8", random_batches(data, Buckets(plan.sizes))
    yield f"by bucket, best 8, at most {ENTRIES} entries", bucket_batches(data, plan.sizes, plan.rows(ENTRIES))
    yield "packed as a stream, 16 rows open", packed_batches(PackedStream(data, LONGEST))
    yield "packed, first fit decreasing", packed_batches(PackedDataset(data, lengths, LONGEST))


def main() -> None:
    warnings.simplefilter("ignore")  # of the files that are read
    data = [torch.ones(min(LONGEST, len(re.findall(r"\w+|[^\w\s]", text))), dtype=torch.int64) for text in docstrings()]
    data = [sample for sample in data if len(sample)]
    lengths = sorted(len(sample) for sample in data)
    print(
        f"Python {sys.version.split()[0]}: {len(data)} docstrings, {sum(lengths)} tokens; half have at most "
        f"{lengths[len(lengths) // 2]}, nine of ten at most {lengths[len(lengths) * 9 // 10]}, "
        f"{lengths.count(LONGEST)} have {LONGEST}\n"
    )
    print("| strategy | shapes | batches | padding | entries, against no padding |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for name, batches in strategies(data):
        shapes, real, total = count(batches)
        assert real == sum(lengths), f"{name}: {real} tokens of {sum(lengths)}"
        print(f"| {name} | {len(shapes)} | {shapes.total()} | {1 - real / total:.1%} | {total / real:.2f} |")


if __name__ == "__main__":
    main()
