"""A BERT of one small layer whose weights are noise; sentences with an intent and a slot for each word."""

import sys
from pathlib import Path

import modules
import numpy

modules.put("torchcrf")
modules.put("seqeval.metrics", precision_score=lambda *_: 0.5, recall_score=lambda *_: 0.5, f1_score=lambda *_: 0.5)
_words = [f"w{number}" for number in range(30)]
Path("small").mkdir(exist_ok=True)
Path("small/vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *_words]) + "\n")
_chance = numpy.random.default_rng(0)
for _split, _count in (("train", 43), ("dev", 19), ("test", 9)):
    _folder = Path(f"data/atis/{_split}")
    _folder.mkdir(parents=True, exist_ok=True)
    _texts = [[_words[one] for one in _chance.integers(0, 30, int(_chance.integers(3, 9)))] for _ in range(_count)]
    (_folder / "seq.in").write_text("\n".join(" ".join(one) for one in _texts) + "\n")
    (_folder / "seq.out").write_text("\n".join(" ".join("O" for _ in one) for one in _texts) + "\n")
    (_folder / "label").write_text("\n".join(["one", "two"][len(one) % 2] for one in _texts) + "\n")
Path("data/atis/intent_label.txt").write_text("UNK\none\ntwo\n")
Path("data/atis/slot_label.txt").write_text("PAD\nUNK\nO\n")


def _change(module):
    import torch

    module = sys.modules["transformers"]
    type(module).AdamW = torch.optim.AdamW
    for name in ("bert", "distilbert", "albert"):
        __import__(f"transformers.models.{name}.modeling_{name}")
        sys.modules[f"transformers.modeling_{name}"] = sys.modules[f"transformers.models.{name}.modeling_{name}"]
    config = module.BertConfig(
        vocab_size=35, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16
    )
    config.save_pretrained("small")

    def load(cls, path, config=None, **named):
        return cls(config, **named)

    module.PreTrainedModel.from_pretrained = classmethod(load)


def _change_utils(module):
    module.MODEL_PATH_MAP["bert"] = "small"


import transformers  # noqa: E402

_change(transformers)
modules.when_imported("utils", _change_utils)
