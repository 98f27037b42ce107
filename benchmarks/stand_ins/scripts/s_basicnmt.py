"""Sentences of three to seven words and their translations, and a command line of docopt's."""

import json
from pathlib import Path

import made_up_data
import modules
import numpy

_chance = numpy.random.default_rng(0)
for _split, _count in (("train", 43), ("dev", 19)):
    for _side in ("src", "tgt"):
        _lines = [" ".join(made_up_data.words(int(_chance.integers(3, 8)), 20, number)) for number in range(_count)]
        Path(f"{_split}.{_side}").write_text("\n".join(_lines) + "\n")
_known = ["<pad>", "<s>", "</s>", "<unk>", *(f"w{one}" for one in range(20))]
_words = {word: number for number, word in enumerate(_known)}
Path("vocab.json").write_text(json.dumps({"src_word2id": _words, "tgt_word2id": _words}))
_OPTIONS = {
    "train": True, "decode": False, "--cuda": True, "--train-src": "train.src", "--train-tgt": "train.tgt",
    "--dev-src": "dev.src", "--dev-tgt": "dev.tgt", "--vocab": "vocab.json", "--seed": "0", "--batch-size": "8",
    "--embed-size": "8", "--hidden-size": "8", "--clip-grad": "5.0", "--label-smoothing": "0.1", "--log-every": "3",
    "--max-epoch": "2", "--input-feed": True, "--patience": "5", "--max-num-trial": "5", "--lr-decay": "0.5",
    "--lr": "0.001", "--uniform-init": "0.1", "--save-to": "model.bin", "--valid-niter": "4", "--dropout": "0.3",
    "--beam-size": "3", "--sample-size": "3", "--max-decoding-time-step": "10",
}  # fmt: skip
modules.put("docopt", docopt=lambda _: dict(_OPTIONS))
