"""Sentences and their translations in the form that the preparation of the data writes."""

from pathlib import Path

import numpy

_chance = numpy.random.default_rng(0)
_folder = Path("data/example/processed")
_folder.mkdir(parents=True, exist_ok=True)
_words = ["<PAD>", "<UNK>", "<StartSent>", "<EndSent>", *(f"w{one}" for one in range(30))]
for _side in ("source", "target"):
    _folder.joinpath(f"vocabulary-{_side}.txt").write_text(
        "".join(f"{number}\t{word}\t{number % 7}\n" for number, word in enumerate(_words))
    )
for _phase, _count in (("train", 43), ("val", 19)):
    _lines = []
    for _ in range(_count):
        _source = [str(one) for one in _chance.integers(4, 34, int(_chance.integers(4, 9)))]
        _target = [str(one) for one in _chance.integers(4, 34, int(_chance.integers(4, 9)))]
        _lines.append("\t".join(map(" ".join, (_source, ["2", *_target], [*_target, "3"]))))
    _folder.joinpath(f"indexed-{_phase}.txt").write_text("\n".join(_lines) + "\n")
Path("checkpoints").mkdir(exist_ok=True)
