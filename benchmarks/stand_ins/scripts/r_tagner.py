"""Sentences of three to nine words with a tag for each."""

import json
from pathlib import Path

import made_up_data
import numpy

_chance = numpy.random.default_rng(0)
_root = Path("data/small")
_sizes = {"train": 43, "val": 17, "test": 5}
for _split, _count in _sizes.items():
    (_root / _split).mkdir(parents=True, exist_ok=True)
    _lines = [made_up_data.words(int(_chance.integers(3, 10)), seed=number) for number in range(_count)]
    (_root / _split / "sentences.txt").write_text("\n".join(" ".join(one) for one in _lines) + "\n")
    _tags = [" ".join("O" if int(word[1:]) % 3 else "B-per" for word in one) for one in _lines]
    (_root / _split / "labels.txt").write_text("\n".join(_tags) + "\n")
_words = [f"w{number}" for number in range(40)] + ["<pad>", "UNK"]
(_root / "words.txt").write_text("\n".join(_words) + "\n")
(_root / "tags.txt").write_text("O\nB-per\n")
(_root / "dataset_params.json").write_text(json.dumps({
    "train_size": 43, "dev_size": 17, "test_size": 5, "vocab_size": len(_words), "number_of_tags": 2,
    "pad_word": "<pad>", "pad_tag": "O", "unk_word": "UNK",
}))  # fmt: skip
