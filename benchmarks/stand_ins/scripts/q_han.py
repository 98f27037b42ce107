"""Documents of some sentences of some words, where the script looks for them, and vectors of words."""

import builtins
import json
from pathlib import Path

import made_up_data
import modules
import numpy

_chance = numpy.random.default_rng(0)
_MEDIA = "/media/ssd/han data"
Path("han").mkdir(exist_ok=True)
Path("han/word_map.json").write_text(json.dumps({"<pad>": 0, **{f"w{number}": number + 1 for number in range(30)}}))
_open = builtins.open
builtins.open = lambda file, *given, **named: _open(
    file.replace(_MEDIA, "han") if isinstance(file, str) else file, *given, **named
)


class _Vectors:
    vector_size, vocab = 6, {f"w{number}" for number in range(30)}

    def __getitem__(self, _):
        return [0.1] * 6


_documents = []
for _ in range(150):
    _sentences = int(_chance.integers(1, 4))
    _lengths = [int(_chance.integers(1, 6)) for _ in range(_sentences)] + [0] * (3 - _sentences)
    _documents.append((_sentences, _lengths))
_data = {
    "docs": [[[int(_chance.integers(1, 30)) if place < length else 0 for place in range(5)] for length in lengths]
             for _, lengths in _documents],
    "sentences_per_document": [count for count, _ in _documents],
    "words_per_sentence": [lengths for _, lengths in _documents],
    "labels": _chance.integers(0, 10, 150).tolist(),
}  # fmt: skip


def _change(torch):
    load = torch.load
    torch.load = lambda path, *given, **named: (
        _data if str(path).endswith("_data.pth.tar") else load(path, *given, **named)
    )


modules.when_imported("torch", _change)
modules.put("gensim.models", KeyedVectors=type("KeyedVectors", (), {"load": staticmethod(lambda *_, **__: _Vectors())}))
made_up_data.smaller_batches(16)
