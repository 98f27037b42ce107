"""Videos as folders of frames, of several lengths, and a smaller network in place of one with trained weights."""

from pathlib import Path

import modules
import numpy
from PIL import Image

_chance = numpy.random.default_rng(0)
_names = ("Jump", "Run", "Swim")
Path("made/lists").mkdir(parents=True, exist_ok=True)
Path("made/lists/classInd.txt").write_text("".join(f"{one + 1} {name}\n" for one, name in enumerate(_names)))
for _split, _count in (("train", 18), ("test", 7)):
    _lines = []
    for _number in range(_count):
        _label = _number % len(_names)
        _name = f"{_names[_label]}/v_{_split}{_number}"
        _folder = Path("made/frames") / _name
        _folder.mkdir(parents=True, exist_ok=True)
        for _frame in range(int(_chance.integers(4, 14))):
            Image.fromarray(_chance.integers(0, 255, (48, 64, 3)).astype("uint8")).save(_folder / f"{_frame}.jpg")
        _lines.append(f"{_name}.avi {_label + 1}" if _split == "train" else f"{_name}.avi")
    Path(f"made/lists/{_split}list01.txt").write_text("\n".join(_lines) + "\n")


def _change(module):
    module.resnet152 = lambda *_, **__: module.resnet18()


modules.when_imported("torchvision.models", _change)
