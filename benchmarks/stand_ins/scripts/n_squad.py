"""Questions about paragraphs, as indices of words."""

import json
from pathlib import Path

import modules
import numpy

chance = numpy.random.default_rng(0)
modules.put("ujson", load=json.load, loads=json.loads, dump=json.dump, dumps=json.dumps)
folder = Path("data")
folder.mkdir(exist_ok=True)
(folder / "word_emb.json").write_text(json.dumps(chance.normal(size=(60, 12)).round(3).tolist()))


def _padded(count, length):
    indices = chance.integers(2, 60, (count, length))
    for row in indices:
        row[chance.integers(length // 2, length + 1) :] = 0
    return indices


for part, count in (("train", 36), ("dev", 12)):
    starts = chance.integers(0, 6, count)
    numpy.savez(
        folder / f"{part}.npz", context_idxs=_padded(count, 24), context_char_idxs=numpy.ones((count, 24, 4), int),
        ques_idxs=_padded(count, 8), ques_char_idxs=numpy.ones((count, 8, 4), int), y1s=starts,
        y2s=starts + chance.integers(0, 4, count), ids=numpy.arange(1, count + 1),
    )  # fmt: skip
    text = " ".join(f"word{number}" for number in range(24))
    spans = [[7 * number, 7 * number + 5] for number in range(24)]
    answers = {
        str(number): {"context": text, "question": "which", "spans": spans, "answers": ["word3"], "uuid": str(number)}
        for number in range(1, count + 1)
    }
    (folder / f"{part}_eval.json").write_text(json.dumps(answers))
