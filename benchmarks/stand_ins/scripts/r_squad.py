"""Questions about texts of different lengths, as indices."""

import json
from pathlib import Path

import modules
import numpy

modules.put("ujson", load=json.load, dumps=json.dumps, dump=json.dump)
Path("data").mkdir(exist_ok=True)
_chance = numpy.random.default_rng(0)


def _texts(count, length):
    data = numpy.zeros((count, length), "int64")
    for row in data:
        size = int(_chance.integers(length // 2, length + 1))
        row[:size] = _chance.integers(2, 50, size)
    return data


for _name, _count in (("train", 60), ("dev", 19)):
    _starts = _chance.integers(0, 5, _count)
    numpy.savez(
        f"data/{_name}.npz", context_idxs=_texts(_count, 20), ques_idxs=_texts(_count, 8),
        context_char_idxs=_chance.integers(1, 20, (_count, 20, 4)),
        ques_char_idxs=_chance.integers(1, 20, (_count, 8, 4)),
        y1s=_starts, y2s=_starts + 2, ids=numpy.arange(1, _count + 1),
    )  # fmt: skip
    Path(f"data/{_name}_eval.json").write_text(json.dumps({
        str(number): {"context": "some words " * 10, "spans": [[place * 3, place * 3 + 3] for place in range(25)],
                      "uuid": str(number), "question": "what", "answers": ["some words"]}
        for number in range(1, _count + 1)
    }))  # fmt: skip
Path("data/word_emb.json").write_text(json.dumps(_chance.normal(size=(50, 6)).tolist()))
