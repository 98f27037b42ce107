"""Sentences with two things in them and what the one is to the other, and vectors of words."""

import json
import pickle
import re
from pathlib import Path

import made_up_data
import numpy

_chance = numpy.random.default_rng(0)
_text = Path("utils/constant.py").read_text()
_given = {}
exec(re.sub(r"^(import|from) .*$", "", _text, flags=re.M), _given)
_pos = [one for one in _given["POS_TO_ID"] if not one.startswith("<")]
_ner = [one for one in _given["NER_TO_ID"] if not one.startswith("<")]
_deprel = [one for one in _given["DEPREL_TO_ID"] if not one.startswith("<")]
_relations = list(_given["LABEL_TO_ID"])
for _name in ("dataset/tacred", "dataset/vocab"):
    Path(_name).mkdir(parents=True, exist_ok=True)
for _split, _count in (("train", 52), ("dev", 21)):
    _kept = []
    for _number in range(_count):
        _length = int(_chance.integers(8, 40))
        _first, _second = (int(one) for one in sorted(_chance.choice(_length, 2, replace=False)))
        _kept.append(
            {
                "token": made_up_data.words(_length, seed=_number + _count),
                "subj_start": _first,
                "subj_end": _first,
                "obj_start": _second,
                "obj_end": _second,
                "subj_type": "PERSON",
                "obj_type": "CITY",
                "stanford_pos": [str(one) for one in _chance.choice(_pos, _length)],
                "stanford_ner": [str(one) for one in _chance.choice(_ner, _length)],
                "stanford_deprel": [str(one) for one in _chance.choice(_deprel, _length)],
                "relation": str(_chance.choice(_relations[:6])),
            }
        )
    Path(f"dataset/tacred/{_split}.json").write_text(json.dumps(_kept))
_words = ["<PAD>", "<UNK>", "SUBJ-PERSON", "OBJ-CITY", *(f"w{one}" for one in range(36))]
Path("dataset/vocab/vocab.pkl").write_bytes(pickle.dumps(_words))
numpy.save("dataset/vocab/embedding.npy", _chance.normal(size=(len(_words), 16)).astype("float32"))
