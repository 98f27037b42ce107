"""A graph of 40 things and 5 relations; ``numpy.in1d``, which is gone."""

import random
from pathlib import Path

import numpy

_chance = random.Random(0)
Path("d").mkdir(exist_ok=True)
Path("d/entities.dict").write_text("".join(f"{number}\te{number}\n" for number in range(40)))
Path("d/relations.dict").write_text("".join(f"{number}\tr{number}\n" for number in range(5)))
for _name, _count in {"train": 180, "valid": 10, "test": 10}.items():
    _rows = [f"e{_chance.randrange(40)}\tr{_chance.randrange(5)}\te{_chance.randrange(40)}\n" for _ in range(_count)]
    Path(f"d/{_name}.txt").write_text("".join(_rows))
numpy.in1d = lambda *given, **named: numpy.isin(*given, **named)
