"""News of four kinds, of several lengths, and its vocabulary."""

import importlib.util
import pickle
import sys
from pathlib import Path

import made_up_data
import modules
import numpy

_chance = numpy.random.default_rng(0)
Path("made").mkdir(exist_ok=True)
_all = []
for _split, _count in (("train", 90), ("valid", 38)):
    _lines = []
    for _number in range(_count):
        _words = made_up_data.words(int(_chance.integers(4, 22)), seed=_number + _count)
        _all += _words
        _lines.append(f"kind{_number % 4}\t{' '.join(_words)}")
    Path(f"made/{_split}.txt").write_text("\n".join(_lines) + "\n")
_spec = importlib.util.spec_from_file_location("tokenization", "tokenization.py")
_module = importlib.util.module_from_spec(_spec)
sys.modules["tokenization"] = _module
_spec.loader.exec_module(_module)
_vocab = _module.Vocab(_all, unk_token="[unk]", bos_token="[bos]", eos_token="[eos]", pad_token="[pad]")
_vocab.build()
Path("made/vocab.pkl").write_bytes(pickle.dumps(_vocab))
del sys.modules["tokenization"]
modules.put("nltk.tokenize", word_tokenize=str.split)
