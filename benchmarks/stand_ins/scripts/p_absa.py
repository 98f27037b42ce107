"""What people say of laptops, in made-up words, and vectors of the words."""

import importlib
import pickle
import sys
from pathlib import Path
from typing import Any

import made_up_data
import modules
import numpy

Path("datasets/semeval14").mkdir(parents=True, exist_ok=True)
Path("state_dict").mkdir(exist_ok=True)
Path("glove.twitter.27B").mkdir(exist_ok=True)
_noise = numpy.random.default_rng(0)
for _name, _count in (("Laptops_Train", 44), ("Laptops_Test_Gold", 20)):
    _lines, _graphs = [], {}
    for _number in range(_count):
        _words = made_up_data.words(6 + _number % 6, seed=_number)
        _lines += [" ".join([*_words[:2], "$T$", *_words[2:]]), "w1 w2", str(_number % 3 - 1)]
        _graphs[3 * _number] = numpy.eye(len(_words) + 2, dtype="float32")
    Path(f"datasets/semeval14/{_name}.xml.seg").write_text("\n".join(_lines) + "\n")
    with open(f"datasets/semeval14/{_name}.xml.seg.graph", "wb") as _file:
        pickle.dump(_graphs, _file)
_vectors = [f"w{number} " + " ".join(f"{value:.3f}" for value in _noise.normal(size=16)) for number in range(40)]
Path("glove.twitter.27B/glove.twitter.27B.16d.txt").write_text("\n".join(_vectors) + "\n")


def _change(_: Any) -> None:
    sys.modules["transformers.modeling_bert"] = importlib.import_module("transformers.models.bert.modeling_bert")


modules.when_imported("transformers", _change)
