"""Reviews of made-up words with their stars, and vectors of the words."""

from pathlib import Path

import made_up_data
import modules
import numpy

chance = numpy.random.default_rng(0)
modules.put("nltk.tokenize", sent_tokenize=lambda text: text.split(" . "), word_tokenize=lambda text: text.split())
Path("data").mkdir(exist_ok=True)
Path("trained_models").mkdir(exist_ok=True)
for part, count in (("train", 52), ("test", 20)):
    lines = []
    for number in range(count):
        words = made_up_data.words(int(chance.integers(12, 30)), seed=number)
        lines.append(f'"{1 + number % 3}","{" ".join(words[:6])} . {" ".join(words[6:])}"')
    Path(f"data/{part}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
vectors = [f"w{number} " + " ".join(f"{value:.3f}" for value in chance.normal(size=50)) for number in range(40)]
Path("data/glove.6B.50d.txt").write_text("\n".join(vectors) + "\n", encoding="utf-8")
