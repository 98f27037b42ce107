"""Reviews whose words say nothing, with what they are about, and vectors of the words."""

import pickle
from pathlib import Path

import modules
import numpy

modules.put("transformers.modeling_bert", BertPooler=object, BertSelfAttention=object)

_noise = numpy.random.default_rng(0)
_words = [f"w{number}" for number in range(40)]
_place = Path("datasets/semeval14")
_place.mkdir(parents=True, exist_ok=True)
for _name, _count in (("Train", 76), ("Test_Gold", 20)):
    _lines = []
    for _ in range(_count):
        _text = [str(one) for one in _noise.choice(_words, _noise.integers(4, 14))]
        _text[_noise.integers(0, len(_text))] = "$T$"
        _lines += [" ".join(_text), str(_noise.choice(_words)), str(_noise.integers(-1, 2))]
    (_place / f"Laptops_{_name}.xml.seg").write_text("\n".join(_lines) + "\n")
    _graphs = {at: numpy.eye(len(_lines[at].split()) + 1, dtype="float32") for at in range(0, len(_lines), 3)}
    (_place / f"Laptops_{_name}.xml.seg.graph").write_bytes(pickle.dumps(_graphs))
Path("glove.twitter.27B").mkdir(exist_ok=True)
_vectors = (f"{word} " + " ".join(f"{one:.3f}" for one in _noise.normal(size=8)) for word in _words)
Path("glove.twitter.27B/glove.twitter.27B.8d.txt").write_text("\n".join(_vectors) + "\n")
for _name in ("log", "state_dict"):
    Path(_name).mkdir(exist_ok=True)
