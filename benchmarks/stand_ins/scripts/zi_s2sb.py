"""Fewer and shorter words, a small configuration, and a distance between texts."""

import json
from pathlib import Path

import made_up_data  # noqa: F401
import modules

Path("experiments/made.json").write_text(json.dumps({
    "decoder": "Bahdanau", "encoder": "RNN", "n_channels": 4, "encoder_hidden": 16, "encoder_layers": 1,
    "encoder_dropout": 0.0, "bidirectional_encoder": False, "decoder_hidden": 16, "decoder_layers": 1,
    "decoder_dropout": 0.1, "bidirectional_decoder": False, "n_classes": 7, "batch_size": 4, "sampling_prob": 0.0,
    "embedding_dim": 16, "attention_score": "bahdanau", "attention_mlp_pre": False, "learning_rate": 0.001,
    "gpu": False, "loss": "cross_entropy",
}))  # fmt: skip


def _change(module):
    before = module.ToyDataset.__init__

    def init(self, *given, **named):
        before(self, 4, 6, **named)
        self.set = self.set[: 130 if named.get("type", "train") == "train" else 65]

    module.ToyDataset.__init__ = init


modules.put("editdistance", eval=lambda one, other: int((one != other).sum()))
modules.when_imported("utils.data_generator", _change)
