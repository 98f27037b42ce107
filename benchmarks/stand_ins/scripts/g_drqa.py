"""Texts with questions."""

import pickle
from pathlib import Path
from typing import Any

import modules
import numpy

_noise = numpy.random.default_rng(0)


def _numbers(high: int, count: int) -> list[int]:
    return [int(one) for one in _noise.integers(2, high, count)]


def _sample(number: int, is_training: bool) -> list[Any]:
    long = int(_noise.integers(6, 16))
    text = " ".join(["word"] * long)
    spans = [(5 * at, 5 * at + 4) for at in range(long)]
    start = int(_noise.integers(0, long - 2))
    sample: list[Any] = [
        f"q{number}", _numbers(40, long), _noise.random((long, 4)).tolist(), _numbers(6, long), _numbers(5, long),
        _numbers(40, int(_noise.integers(3, 7))), text, spans,
    ]  # fmt: skip
    return [*sample, start, start + 1] if is_training else [*sample, ["word word"]]


Path("SQuAD").mkdir(exist_ok=True)
_meta = {"embedding": _noise.normal(size=(60, 8)).tolist(), "vocab_tag": ["t"] * 6, "vocab_ent": ["e"] * 5}
_data = {
    "train": [_sample(number, True) for number in range(33)], "dev": [_sample(number, False) for number in range(8)],
}  # fmt: skip
Path("SQuAD/meta.msgpack").write_bytes(pickle.dumps(_meta))
Path("SQuAD/data.msgpack").write_bytes(pickle.dumps(_data))
modules.put("msgpack", load=lambda file, **_: pickle.load(file))
