"""Pairs of short sentences, and as much of the library `datasets` as gives them."""

import random
from typing import Any

import modules

_chance = random.Random(0)
_words = ["red", "blue", "tree", "house", "runs"]


def _sentence() -> str:
    return " ".join(_chance.choice(_words) for _ in range(_chance.randrange(4, 10)))


def _load(*_: Any, **__: Any) -> list[Any]:
    return [{"translation": {"en": _sentence(), "it": _sentence()}} for _ in range(54)]


modules.put("datasets", load_dataset=_load)
for _name in ("torchtext.datasets", "matplotlib.axes", "matplotlib.figure", "matplotlib.colors"):
    modules.put(_name)
