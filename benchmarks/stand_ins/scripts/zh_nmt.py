"""Sentences in two languages, and their words as tokens."""

from pathlib import Path

import made_up_data
import modules

for _side in ("src", "trg"):
    Path(f"data/{_side}").mkdir(parents=True, exist_ok=True)
    for _part, _count in (("train", 18), ("valid", 7)):
        _words = made_up_data.words(6 * _count, seed=len(_side + _part))
        Path(f"data/{_side}/{_part}.txt").write_text("".join(
            " ".join(_words[6 * number:6 * number + 3 + number % 4]) + "\n" for number in range(_count)
        ))  # fmt: skip
    Path("data/sp").mkdir(exist_ok=True)
    Path(f"data/sp/{_side}_sp.vocab").write_text("".join(f"t{one}\t0\n" for one in range(44)))


class Pieces:
    def Load(self, _):
        return True

    def EncodeAsIds(self, text):
        return [int(word[1:]) + 4 for word in text.split()]


def _change(module):
    module.seq_len, module.sp_vocab_size, module.batch_size, module.num_epochs = 8, 44, 4, 3
    module.d_model, module.num_heads, module.num_layers, module.d_ff = 16, 2, 2, 24
    module.d_k = 8


modules.put("sentencepiece", SentencePieceProcessor=Pieces)
modules.when_imported("constants", _change)
