"""Crystals of several sizes, as much of pymatgen as is called, and the table of what is to be learned."""

import types
from pathlib import Path

import modules
import numpy

_chance = numpy.random.default_rng(0)
Path("made").mkdir(exist_ok=True)
_elements = (1, 6, 8, 14, 26, 29)
Path("made/atom_init.json").write_text(Path("data/sample-regression/atom_init.json").read_text())
Path("made/id_prop.csv").write_text("".join(f"{one},{_chance.normal():.3f}\n" for one in range(62)))


class Structure:
    def __init__(self, number):
        self._chance = numpy.random.default_rng(number)
        count = int(self._chance.integers(2, 11))
        self._atoms = [
            types.SimpleNamespace(specie=types.SimpleNamespace(number=int(one)))
            for one in self._chance.choice(_elements, count)
        ]

    @classmethod
    def from_file(cls, path):
        return cls(int(Path(path).stem))

    def __len__(self):
        return len(self._atoms)

    def __getitem__(self, place):
        return self._atoms[place]

    def get_all_neighbors(self, radius, include_index=False):
        draw = self._chance
        return [
            [
                (None, float(draw.uniform(1, radius)), int(draw.integers(0, len(self))))
                for _ in range(draw.integers(9, 20))
            ]
            for _ in self._atoms
        ]


modules.put("pymatgen.core.structure", Structure=Structure)
