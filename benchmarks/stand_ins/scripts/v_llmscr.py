"""Tokens in place of a file of them, and a small model: the script's settings are a dictionary."""

from pathlib import Path

import modules
import numpy

for _name in ("train/pile_train.h5", "val/pile_dev.h5"):
    _path = Path("data") / _name
    _path.parent.mkdir(parents=True, exist_ok=True)
    _path.write_text("")


class _File(dict):
    def __init__(self, path, *_):
        chance = numpy.random.default_rng(len(str(path)))
        super().__init__(tokens=chance.integers(0, 96, 700 if "train" in str(path) else 300))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


def _change(module):
    module.default_config.update(
        vocab_size=96, context_length=16, n_embed=16, n_head=2, n_blocks=2, t_batch_size=8, t_train_steps=18,
        t_eval_steps=6, t_eval_iters=3, t_lr_decay_step=9, t_checkpoint_steps=7,
    )  # fmt: skip


modules.put("h5py", File=_File)
modules._WAITING.setdefault("config.config", []).append(_change)
