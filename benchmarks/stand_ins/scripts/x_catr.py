"""Pictures of several sizes with captions of several lengths, a small configuration, and words as numbers."""

import json
import sys
from pathlib import Path

import made_up_data
import modules
import numpy
from PIL import Image

_chance = numpy.random.default_rng(0)
Path("made/annotations").mkdir(parents=True, exist_ok=True)
for _split, _count in (("train", 18), ("val", 7)):
    _folder = Path(f"made/{_split}2017")
    _folder.mkdir(exist_ok=True)
    _kept = []
    for _number in range(_count):
        _size = (int(_chance.integers(60, 100)), int(_chance.integers(60, 100)), 3)
        Image.fromarray(_chance.integers(0, 255, _size).astype("uint8")).save(_folder / f"{_number:012d}.jpg")
        _said = " ".join(made_up_data.words(int(_chance.integers(3, 12)), seed=_number))
        _kept.append({"image_id": _number, "caption": _said})
    Path(f"made/annotations/captions_{_split}2017.json").write_text(json.dumps({"annotations": _kept}))


class Tokenizer:
    @classmethod
    def from_pretrained(cls, *_, **__):
        return cls()

    def encode_plus(self, text, max_length, **_):
        found = [1, *(int(word[1:]) + 4 for word in text.split()), 2][:max_length]
        rest = [0] * (max_length - len(found))
        return {"input_ids": found + rest, "attention_mask": [1] * len(found) + rest}


def _change_config(module):
    init = module.Config.__init__

    def smaller(self):
        init(self)
        self.epochs, self.backbone, self.dilation, self.batch_size, self.num_workers = 4, "resnet18", False, 4, 0
        self.hidden_dim, self.dim_feedforward, self.nheads, self.enc_layers, self.dec_layers = 32, 64, 2, 2, 2
        self.max_position_embeddings, self.vocab_size, self.dir = 16, 50, "made"
        self.limit, self.device = 18, "xla"  # as the setting would say

    module.Config.__init__ = smaller


def _change_size(module):
    module.MAX_DIM = 96


def _change_models(module):
    before = module.resnet18
    module.resnet18 = lambda pretrained=False, **named: before(**named)


modules.when_imported("configuration", _change_config)
modules.when_imported("datasets.coco", _change_size)
modules.when_imported("datasets.utils", _change_size)
modules.when_imported("torchvision.models", _change_models)

import transformers  # noqa: E402, F401

type(sys.modules["transformers"]).BertTokenizer = Tokenizer
