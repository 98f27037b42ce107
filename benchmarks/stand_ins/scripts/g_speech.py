"""Utterances of noise."""

import json
from pathlib import Path

import modules
import numpy

_noise = numpy.random.default_rng(0)
Path("made").mkdir(exist_ok=True)
_tokens = ["<unk>", "<sos>", "<eos>", "a", "b", "c", "d", "e"]
Path("made/dict.txt").write_text("".join(f"{one} {number}\n" for number, one in enumerate(_tokens)))
for _name, _count in (("train", 33), ("valid", 8)):
    _found = {}
    for _number in range(_count):
        _long, _said = int(_noise.integers(20, 60)), int(_noise.integers(2, 7))
        _spoken = " ".join(str(one) for one in _noise.integers(3, 8, _said))
        _found[f"{_name}{_number}"] = {
            "input": [{"feat": str(_long), "shape": [_long, 10]}],
            "output": [{"tokenid": _spoken, "shape": [_said, 8]}],
        }
    Path(f"made/{_name}.json").write_text(json.dumps({"utts": _found}))
modules.put("kaldi_io", read_mat=lambda name: _noise.normal(size=(int(name), 10)).astype("float32"))
