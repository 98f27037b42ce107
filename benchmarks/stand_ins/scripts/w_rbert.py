"""Sentences with two marked things, a small BERT of random weights, and what older libraries had."""

import json
import sys
import types
from pathlib import Path

import numpy

_chance = numpy.random.default_rng(0)


def _words(count, seed):
    return [f"w{int(one)}" for one in 40 * numpy.random.default_rng(seed).random(count) ** 2]


Path("data").mkdir(exist_ok=True)
Path("made").mkdir(exist_ok=True)
_labels = [one.strip() for one in Path("data/label.txt").read_text().split("\n") if one.strip()]
for _split, _count in (("train", 42), ("test", 19)):
    _lines = []
    for _number in range(_count):
        _said = _words(int(_chance.integers(6, 20)), _number + _count)
        _lines.append(f"{_labels[_number % 5]}\t<e1> w1 w2 </e1> {' '.join(_said)} <e2> w3 </e2> .")
    Path(f"data/{_split}.tsv").write_text("\n".join(_lines) + "\n")
_vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "$", "#", ".", *(f"w{one}" for one in range(40))]
Path("made/vocab.txt").write_text("\n".join(_vocabulary) + "\n")
Path("made/config.json").write_text(
    json.dumps(
        {
            "model_type": "bert",
            "vocab_size": len(_vocabulary),
            "hidden_size": 16,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "intermediate_size": 32,
            "max_position_embeddings": 64,
        }
    )
)


def _change(module):
    import torch

    type(module).AdamW = torch.optim.AdamW  # of the class: the module may be made anew

    class Tokenizer:
        def __init__(self):
            self.known = {one: number for number, one in enumerate(_vocabulary)}
            self.cls_token, self.sep_token, self.pad_token_id = "[CLS]", "[SEP]", 0

        @classmethod
        def from_pretrained(cls, *_, **__):
            return cls()

        def add_special_tokens(self, _):
            pass

        def tokenize(self, text):
            return text.split()

        def convert_tokens_to_ids(self, tokens):
            return [self.known.get(one, 1) for one in tokens]

    type(module).BertTokenizer = Tokenizer

    def from_pretrained(cls, path, *given, config=None, args=None, **named):
        return cls(config, args)

    module.BertPreTrainedModel.from_pretrained = classmethod(from_pretrained)


_official = types.ModuleType("official_eval")
_official.official_f1 = lambda: 0.5  # the real one runs a script in Perl
sys.modules["official_eval"] = _official

_change(sys.modules["transformers"])
