"""Speech as noise of many lengths, and what reads it."""

import json
from pathlib import Path

import made_up_data  # noqa: F401
import modules
import numpy

_chance = numpy.random.default_rng(0)
Path("made").mkdir(exist_ok=True)
Path("made/dict.txt").write_text("".join(f"{one} {number}\n" for number, one in enumerate(
    ["<unk>", "<sos>", "<eos>", *"abcdefgh"]
)))  # fmt: skip


def _said(frames, letters):
    numbers = _chance.integers(3, 11, letters)
    return {
        "input": [{"shape": [frames, 8], "feat": str(frames)}],
        "output": [{"shape": [letters, 11], "tokenid": " ".join(map(str, numbers))}],
    }


for _name, _count in (("train", 18), ("valid", 6)):
    Path(f"made/{_name}.json").write_text(json.dumps({"utts": {
        f"{_name}{number}": _said(int(_chance.integers(8, 20)), int(_chance.integers(2, 7))) for number in range(_count)
    }}))  # fmt: skip
modules.put("kaldi_io", read_mat=lambda frames: _chance.normal(size=(int(frames), 8)).astype("float32"))
