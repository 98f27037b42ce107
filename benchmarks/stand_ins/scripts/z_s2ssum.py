"""Texts with summaries, of several lengths, vectors of words, and what the program that compares texts would say."""

import gzip
import subprocess
from pathlib import Path

import made_up_data
import numpy

_chance = numpy.random.default_rng(0)
Path("made").mkdir(exist_ok=True)
Path("data").mkdir(exist_ok=True)
for _split, _count in (("train", 26), ("val", 10)):
    with gzip.open(f"made/{_split}.gz", "wt") as _file:
        for _number in range(_count):
            _text = made_up_data.words(int(_chance.integers(6, 12)), vocabulary=60, seed=_number)
            _short = made_up_data.words(int(_chance.integers(3, 6)), vocabulary=60, seed=_number + 99)
            _file.write(f"{' '.join(_text)}\t{' '.join(_short)}\n")
Path("made/vectors.txt").write_text(
    "".join(f"w{one} {' '.join(f'{value:.3f}' for value in _chance.normal(size=16))}\n" for one in range(60))
)
_check = subprocess.check_output


def _compared(command, *given, **named):
    if "ROUGE" not in str(command):
        return _check(command, *given, **named)
    lines = [
        f"{system} ROUGE-{kind} Average_{what}: 0.30000 (95%-conf.int. 0.20000 - 0.40000)"
        for system in range(4) for kind in ("1", "2", "L", "SU4") for what in "RPF"
    ]  # fmt: skip
    return "\n".join(lines).encode()


subprocess.check_output = _compared
