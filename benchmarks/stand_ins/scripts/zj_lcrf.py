"""Sentences with tags, the longest first, and a smaller network."""

from pathlib import Path

import made_up_data  # noqa: F401
import modules
import numpy

_chance = numpy.random.default_rng(0)
_tags = ["B", "I", "E", "S"]
Path("made").mkdir(exist_ok=True)
_first = ["<PAD>", "<SOS>", "<EOS>", "<UNK>"]
_words = ["".join(_chance.choice(list("abcdef"), int(_chance.integers(1, 5)))) for _ in range(30)]
Path("made/chars").write_text("".join(f"{one}\n" for one in [*_first, *"abcdef"]))
Path("made/words").write_text("".join(f"{one}\n" for one in [*_first, *dict.fromkeys(_words)]))
Path("made/tags").write_text("".join(f"{one}\n" for one in [*_first[:3], *_tags]))
_place = {one: number for number, one in enumerate([*_first, *dict.fromkeys(_words)])}


def _sentence(length):
    return [(_words[int(_chance.integers(30))], int(_chance.integers(4))) for _ in range(length)]


def _numbers(word):
    return "+".join(str(4 + "abcdef".index(letter)) for letter in word) + f":{_place[word]}"


_lengths = sorted(_chance.integers(3, 8, 14).tolist(), reverse=True)
Path("made/train.csv").write_text("".join(
    " ".join(_numbers(word) for word, _ in one) + "\t" + " ".join(str(3 + tag) for _, tag in one) + "\n"
    for one in map(_sentence, _lengths)
))  # fmt: skip
Path("made/valid").write_text("".join(
    " ".join(f"{word}/{_tags[tag]}" for word, tag in _sentence(length)) + "\n" for length in (3, 5, 4, 6, 3)
))  # fmt: skip


def _change(module):
    module.BATCH_SIZE, module.EMBED, module.HIDDEN_SIZE, module.NUM_LAYERS = 4, {"lookup": 12}, 12, 1
    module.EVAL_EVERY = module.SAVE_EVERY = 2


modules.when_imported("parameters", _change)
