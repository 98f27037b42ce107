"""Faces of eight people as noise, lists of pairs of them, and as much of OpenCV as is called."""

import itertools
from pathlib import Path

import made_up_data  # noqa: F401
import modules
import numpy
from PIL import Image

_chance = numpy.random.default_rng(0)
Path("result").mkdir(exist_ok=True)
_people = [f"p{one}" for one in range(8)]
_train = []
for _label, _person in enumerate(_people):
    Path(f"made/{_person}").mkdir(parents=True, exist_ok=True)
    for _number in range(1, 6):
        _picture = _chance.integers(0, 120, (112, 112, 3)) + 15 * _label
        Image.fromarray(_picture.clip(0, 255).astype("uint8")).save(f"made/{_person}/{_person}_{_number:04}.jpg")
        if _number < 5:
            _train.append(f"{_person}/{_person}_{_number:04}.jpg {_label}")
Path("made/train.list").write_text("\n".join(_train[:30]) + "\n")
_same = [(one, 1, one, 2) for one in _people[:6]]
_other = [(one, 3, two, 4) for one, two in itertools.pairwise(_people[:7])]
_pairs = [pair for both in zip(_same, _other, strict=False) for pair in both]
_path = "{0}/{0}_{1:04}.jpg".format
Path("made/pairs.txt").write_text("10\t300\n" + "".join(
    f"{a}\t{i}\t{j}\n" if a == b else f"{a}\t{i}\t{b}\t{j}\n" for a, i, b, j in _pairs
))  # fmt: skip
Path("made/others.txt").write_text("".join(
    f"{_path(a, i)} {_path(b, j)} {1 if a == b else -1}\n" for a, i, b, j in _pairs
))  # fmt: skip
modules.put(
    "cv2", imread=lambda path: numpy.asarray(Image.open(path).convert("RGB"))[..., ::-1].copy(),
    flip=lambda picture, _: picture[:, ::-1].copy(),
)  # fmt: skip


def _change_lists(module):  # ten folds of few pairs, where the script counts to 600 or 700
    for name in ("LFW", "AgeDB30", "CFP_FP"):
        if hasattr(module, name):
            kind = getattr(module, name)
            before = kind.__init__

            def init(self, *given, before=before, **named):
                before(self, *given, **named)
                self.folds = [one % 10 for one in range(len(self.folds))]

            kind.__init__ = init


for _name in ("lfw", "agedb", "cfp"):
    modules._WAITING.setdefault(f"dataset.{_name}", []).append(_change_lists)
