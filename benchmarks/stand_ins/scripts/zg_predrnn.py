"""Moving numbers as pictures after each other, and how alike two pictures are."""

from pathlib import Path

import made_up_data  # noqa: F401
import modules
import numpy

_chance = numpy.random.default_rng(0)
Path("made").mkdir(exist_ok=True)
for _part, _count in (("train", 11), ("valid", 10)):
    _starts = numpy.arange(_count) * 6
    _clips = numpy.stack([numpy.stack([_starts + more, numpy.full(_count, 3)], 1) for more in (0, 3)])
    numpy.savez(
        f"made/{_part}.npz", clips=_clips, dims=numpy.array([[1, 16, 16]]),
        input_raw_data=_chance.random((6 * _count, 1, 16, 16)).astype("float32"),
    )  # fmt: skip


class Likeness:
    def __init__(self, **_):
        pass

    def __call__(self, one, other):
        return (one - other).abs()


modules.put("lpips", LPIPS=Likeness)
modules.put("skimage.metrics", structural_similarity=lambda *_, **__: (0.5, None))
