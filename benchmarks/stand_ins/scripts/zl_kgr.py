"""Questions to a graph of facts, of several shapes, and their answers; an older name of NumPy."""

import pickle
from collections import defaultdict
from pathlib import Path

import numpy

numpy.in1d = numpy.isin
_chance = numpy.random.default_rng(0)
_folder = Path("made")
_folder.mkdir(exist_ok=True)
(_folder / "stats.txt").write_text("numentity: 40\nnumrelations: 6\n")


def _one(structure):
    if isinstance(structure, tuple):
        return tuple(_one(part) for part in structure)
    return int(_chance.integers(0, 40 if structure == "e" else 6))


_SHAPES = (
    ("e", ("r",)), ("e", ("r", "r")), (("e", ("r",)), ("e", ("r",))), ((("e", ("r",)), ("e", ("r",))), ("r",)),
    (("e", ("r",)), ("e", ("r",)), ("u",)),
)  # fmt: skip


def _fill(structure):
    if structure == _SHAPES[-1]:
        return (*_one(structure[:2]), (-1,))
    return _one(structure)


for _split, _count in (("train", 13), ("valid", 3), ("test", 3)):
    _queries, _answers, _easy = defaultdict(set), {}, {}
    for _shape in _SHAPES[: 4 if _split == "train" else 5]:
        for _ in range(_count):
            _query = _fill(_shape)
            _queries[_shape].add(_query)
            _answers[_query] = {int(one) for one in _chance.integers(0, 20, 3)}
            _easy[_query] = {int(one) for one in _chance.integers(20, 40, int(_chance.integers(1, 4)))}
    (_folder / f"{_split}-queries.pkl").write_bytes(pickle.dumps(_queries))
    if _split == "train":
        (_folder / "train-answers.pkl").write_bytes(pickle.dumps(_answers))
    else:
        (_folder / f"{_split}-hard-answers.pkl").write_bytes(pickle.dumps(_answers))
        (_folder / f"{_split}-easy-answers.pkl").write_bytes(pickle.dumps(_easy))
