"""Dark and bright pictures; those for evaluation differ in size."""

from pathlib import Path

import made_up_data  # noqa: F401
import numpy
from PIL import Image

_chance = numpy.random.default_rng(0)
for _folder, _sizes in (
    ("made/data/our485/low", [(60, 80)] * 5), ("made/data/our485/high", [(60, 80)] * 5),
    ("made/data/syn/low", [(48, 48)] * 2), ("made/data/syn/high", [(48, 48)] * 2),
    ("made/eval/low", [(40, 56), (48, 40), (40, 48)]),
):  # fmt: skip
    Path(_folder).mkdir(parents=True, exist_ok=True)
    for _number, _size in enumerate(_sizes):
        Image.fromarray(_chance.integers(0, 255, (*_size, 3)).astype("uint8")).save(f"{_folder}/{_number}.png")
