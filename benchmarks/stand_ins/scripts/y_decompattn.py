"""Pairs of questions, of several lengths, with vectors of their words, and smaller batches."""

import random
from pathlib import Path

import made_up_data
import modules
import numpy

_chance = random.Random(0)
Path("../data").mkdir(exist_ok=True)
_words = [chr(0x4E00 + one) for one in range(40)]
Path("../data/vocab.txt").write_text("\n".join(_words) + "\n", encoding="utf-8")
_say = lambda: "".join(_chance.choices(_words, k=_chance.randrange(4, 30)))  # noqa: E731
for _split, _count in (("train", 53), ("dev", 21)):
    _rows = [f"{_say()},{_say()},{one % 2}" for one in range(_count)]
    Path(f"../data/LCQMC_{_split}.csv").write_text("sentence1,sentence2,label\n" + "\n".join(_rows) + "\n", "utf-8")
made_up_data.smaller_batches(16)


class Vectors(dict):
    index2word, vector_size = _words, 300


_vectors = Vectors(zip(_words, numpy.random.default_rng(0).normal(size=(40, 300)), strict=True))


class KeyedVectors:
    load_word2vec_format = staticmethod(lambda *_, **__: _vectors)


modules.put("gensim.models", KeyedVectors=KeyedVectors)


class HanziConv:
    toSimplified = staticmethod(lambda text: text)


modules.put("hanziconv", HanziConv=HanziConv)
