"""Sentences with names in them, of several lengths, and a small network as an older library had it."""

import json
from pathlib import Path

import made_up_data
import modules
import numpy
import torch

_chance = numpy.random.default_rng(0)
Path("made/run").mkdir(parents=True, exist_ok=True)
_tags = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]
Path("made/tags.txt").write_text("\n".join(_tags) + "\n")
for _split, _count in (("train", 27), ("val", 11)):
    Path(f"made/{_split}").mkdir(exist_ok=True)
    _said, _named = [], []
    for _number in range(_count):
        _words = made_up_data.words(int(_chance.integers(4, 22)), seed=_number + _count)
        _said.append(" ".join(_words))
        _named.append(" ".join("B-PER" if one == "w1" else "B-LOC" if one == "w3" else "O" for one in _words))
    Path(f"made/{_split}/sentences.txt").write_text("\n".join(_said) + "\n")
    Path(f"made/{_split}/tags.txt").write_text("\n".join(_named) + "\n")
Path("made/run/params.json").write_text(json.dumps({
    "full_finetuning": True, "max_len": 180, "learning_rate": 3e-4, "weight_decay": 0.01, "clip_grad": 2,
    "batch_size": 4, "epoch_num": 4, "min_epoch_num": 2, "patience": 0.02, "patience_num": 3,
}))  # fmt: skip


class Tokenizer:
    @classmethod
    def from_pretrained(cls, *_, **__):
        return cls()

    def tokenize(self, text):
        return text.split()

    def convert_tokens_to_ids(self, tokens):
        return [int(one[1:]) + 1 for one in tokens]


class Network(torch.nn.Module):
    """What is read of the mask is what the library reads."""

    def __init__(self, labels):
        from transformers import BertConfig, BertModel

        super().__init__()
        config = BertConfig(
            vocab_size=50, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32,
            max_position_embeddings=64, attn_implementation="eager",
        )  # fmt: skip
        self.bert, self.dropout = BertModel(config), torch.nn.Dropout(0.1)
        self.classifier, self._labels = torch.nn.Linear(16, labels), labels

    @classmethod
    def from_pretrained(cls, _, num_labels):
        return cls(num_labels)

    def forward(self, input_ids, token_type_ids=None, attention_mask=None, labels=None):
        found = self.bert(input_ids, token_type_ids=token_type_ids, attention_mask=attention_mask.long())
        logits = self.classifier(self.dropout(found.last_hidden_state))
        if labels is None:
            return logits
        active = attention_mask.view(-1) == 1
        return torch.nn.functional.cross_entropy(logits.view(-1, self._labels)[active], labels.view(-1)[active])


modules.put("pytorch_pretrained_bert", BertForTokenClassification=Network, BertTokenizer=Tokenizer)
