"""Pairs of sentences, a vocabulary, small settings, and a model to start from that holds nothing."""

import json
import random
from pathlib import Path
from typing import Any

import modules

_chance = random.Random(0)
_words = [f"word{number}" for number in range(60)]
Path("s").mkdir(exist_ok=True)
Path("v.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *_words]) + "\n")
_rows = ["label\ta\tb\tone\ttwo"]
for _ in range(70):
    _texts = [" ".join(_chance.choices(_words, k=_chance.randrange(3, 9))) for _ in range(2)]
    _rows.append("\t".join([str(_chance.randrange(2)), "1", "2", *_texts]))
Path("d.tsv").write_text("\n".join(_rows) + "\n")
Path("t.json").write_text(json.dumps({
    "seed": 1, "batch_size": 16, "lr": 1e-4, "n_epochs": 4, "warmup": 0.1, "save_steps": 6, "total_steps": 14,
}))  # fmt: skip
Path("m.json").write_text(json.dumps({
    "dim": 16, "dim_ff": 32, "n_layers": 1, "p_drop_attn": 0.1, "n_heads": 2, "p_drop_hidden": 0.1, "max_len": 32,
    "n_segments": 2, "vocab_size": 65,
}))  # fmt: skip


def _write(torch: Any) -> None:
    # Parameters that the file lacks keep their values.
    strict = torch.nn.Module.load_state_dict
    torch.nn.Module.load_state_dict = lambda self, state, *_: strict(self, state, strict=False)
    torch.save({}, "pre.pt")


modules.when_imported("torch", _write)
