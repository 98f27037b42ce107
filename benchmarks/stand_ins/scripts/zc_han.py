"""Documents of some sentences in four kinds, vectors of words, and what libraries would give."""

from pathlib import Path

import made_up_data
import modules
import numpy

_chance = numpy.random.default_rng(0)
for _folder in ("data", "trained_models"):
    Path(_folder).mkdir(exist_ok=True)
for _part, _count in (("train", 44), ("test", 20)):
    _lines = []
    for _one in range(_count):
        _said = [" ".join(made_up_data.words(int(_chance.integers(3, 6)), seed=_one * 9 + place)) for place in range(3)]
        _lines.append(f'"{_one % 4 + 1}","{". ".join(_said)}"')
    Path(f"data/{_part}.csv").write_text("\n".join(_lines) + "\n")
_words = sorted(set(made_up_data.words(400)))
_vectors = numpy.array([[word, *_chance.normal(size=8)] for word in _words], dtype=object)
Path("data/glove.txt").write_text("")


class Table:
    def __init__(self, values):
        self.values = values


modules.put("pandas", read_csv=lambda usecols=None, **_: Table(_vectors[:, :1] if usecols else _vectors))
modules.put(
    "nltk.tokenize",
    sent_tokenize=lambda text: [one for one in text.split(". ") if one.strip()],
    word_tokenize=lambda text: text.split(),
)
modules.put(
    "sklearn.metrics",
    accuracy_score=lambda true, told: float((numpy.asarray(true) == numpy.asarray(told)).mean()),
    confusion_matrix=lambda *_: "",
)
