"""Sentences of few words."""

from pathlib import Path

import made_up_data
import modules
import numpy


class Tokenizer:
    """Words between blanks."""

    def __init__(self, **_: object) -> None:
        pass

    def tokenize(self, text: str) -> list[str]:
        """The words."""
        return text.split()


modules.put("nltk.tokenize", TweetTokenizer=Tokenizer)
_noise = numpy.random.default_rng(0)
Path("data").mkdir(exist_ok=True)
for _name, _count in (("train", 60), ("valid", 20), ("test", 20)):
    _lines = [" ".join(made_up_data.words(int(_noise.integers(3, 11)), seed=number)) for number in range(_count)]
    Path(f"data/ptb.{_name}.txt").write_text("\n".join(_lines) + "\n")
