"""Questions of six kinds, of several lengths, and what two libraries would give."""

from pathlib import Path

import made_up_data
import modules
import numpy

_chance = numpy.random.default_rng(0)
Path("data/TREC").mkdir(parents=True, exist_ok=True)
_kinds = ["ABBR:exp", "DESC:def", "ENTY:food", "HUM:ind", "LOC:city", "NUM:date"]
for _part, _count in (("train", 190), ("test", 30)):
    _lines = [
        f"{_kinds[one % 6]} {' '.join(made_up_data.words(int(_chance.integers(6, 11)), seed=one))}"
        for one in range(_count)
    ]
    Path(f"data/TREC/TREC_{_part}.txt").write_text("\n".join(_lines) + "\n")


def shuffle(*lists):
    order = _chance.permutation(len(lists[0]))
    return [[one[place] for place in order] for one in lists]


modules.put("sklearn.utils", shuffle=shuffle)
modules.put("gensim.models.keyedvectors")
