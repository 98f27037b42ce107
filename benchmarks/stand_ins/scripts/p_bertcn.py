"""Headlines with their kind, a vocabulary, small settings, and a model to start from that holds nothing."""

import json
import random
from pathlib import Path
from typing import Any

import modules

_chance = random.Random(0)
_letters = [chr(0x4E00 + number) for number in range(60)]
for _folder in ("THUCNews/data", "THUCNews/saved_dict", "bert_pretrain"):
    Path(_folder).mkdir(parents=True, exist_ok=True)
Path("THUCNews/data/class.txt").write_text("\n".join("abcde") + "\n", encoding="utf-8")
for _part, _count in (("train", 44), ("dev", 20), ("test", 20)):
    Path(f"THUCNews/data/{_part}.txt").write_text("".join(
        f"{''.join(_chance.choices(_letters, k=_chance.randrange(8, 20)))}\t{_chance.randrange(5)}\n"
        for _ in range(_count)
    ), encoding="utf-8")  # fmt: skip
Path("bert_pretrain/vocab.txt").write_text(
    "\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *_letters]) + "\n", encoding="utf-8"
)
Path("bert_pretrain/bert_config.json").write_text(json.dumps({
    "vocab_size": 65, "hidden_size": 768, "num_hidden_layers": 1, "num_attention_heads": 12, "intermediate_size": 64,
    "hidden_act": "gelu", "hidden_dropout_prob": 0.1, "attention_probs_dropout_prob": 0.1,
    "max_position_embeddings": 64, "type_vocab_size": 2, "initializer_range": 0.02,
}))  # fmt: skip


def _write(torch: Any) -> None:
    torch.save({}, "bert_pretrain/pytorch_model.bin")


def _change(module: Any) -> None:
    before = module.Config.__init__

    def init(self: Any, dataset: str) -> None:
        before(self, dataset)
        self.batch_size, self.pad_size = 8, 16

    module.Config.__init__ = init


modules.when_imported("torch", _write)
modules.when_imported("models.bert", _change)
modules.put("boto3")
modules.put("botocore.exceptions", ClientError=OSError)
