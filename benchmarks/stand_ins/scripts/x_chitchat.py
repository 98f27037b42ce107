"""Talks of several lengths as numbers, a small configuration, and what older libraries had."""

import json
import pickle
from pathlib import Path

import numpy

_chance = numpy.random.default_rng(0)
Path("made").mkdir(exist_ok=True)
Path("made/train.pkl").write_bytes(
    pickle.dumps([[int(one) for one in _chance.integers(5, 60, int(_chance.integers(6, 48)))] for _ in range(53)])
)
Path("made/vocab.txt").write_text("\n".join(f"w{one}" for one in range(60)) + "\n")
Path("made/config.json").write_text(json.dumps({
    "model_type": "gpt2", "vocab_size": 60, "n_embd": 16, "n_head": 2, "n_layer": 2, "n_positions": 64, "n_ctx": 64,
}))  # fmt: skip


class Tokenizer:
    sep_token_id, pad_token_id, cls_token_id, vocab_size = 2, 0, 1, 60

    def __init__(self, **_):
        pass


def _change(module):
    import torch

    type(module).AdamW = torch.optim.AdamW
    type(module).BertTokenizerFast = Tokenizer


import transformers  # noqa: E402

_change(transformers)


def _save(self, folder, **_):  # as older versions kept them
    import torch

    torch.save(self.state_dict(), Path(folder) / "pytorch_model.bin")


from transformers import PreTrainedModel  # noqa: E402

PreTrainedModel.save_pretrained = _save
