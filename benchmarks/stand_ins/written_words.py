"""Words as pictures, in place of a database, and old names of the standard library."""

import io
import itertools
from pathlib import Path

import made_up_data  # noqa: F401
import modules
import numpy
from PIL import Image


class _Database:
    def __init__(self, root):
        chance = numpy.random.default_rng(len(root))
        count = 24 if "t/" in root else 3
        self._kept = {b"num-samples": str(count).encode()}
        for number in range(1, count + 1):
            word = "".join(chance.choice(list("abcdef0123"), int(chance.integers(2, 8))))
            buffer = io.BytesIO()
            Image.fromarray(chance.integers(0, 255, (32, 100)).astype("uint8")).save(buffer, "PNG")
            self._kept[b"label-%09d" % number] = word.encode()
            self._kept[b"image-%09d" % number] = buffer.getvalue()

    def begin(self, write=False):
        return self

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def get(self, key):
        return self._kept[key]


def _change(module):
    module._accumulate = itertools.accumulate


def install():
    for name in ("made/t/MJ", "made/t/ST", "made/v"):
        Path(name).mkdir(parents=True, exist_ok=True)
    modules.put("lmdb", open=lambda root, **_: _Database(str(root)))
    modules.put("natsort", natsorted=sorted)
    modules.put("six", BytesIO=io.BytesIO)
    modules.put("nltk.metrics.distance", edit_distance=lambda one, other: abs(len(one) - len(other)))
    modules.when_imported("torch._utils", _change)
