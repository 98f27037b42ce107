"""Spectra of speech, a small configuration, and what an older library had."""

import json
import pickle
from pathlib import Path

import made_up_data  # noqa: F401
import modules
import numpy
import yaml

modules.put("editdistance")
_load = yaml.load
yaml.load = lambda given, Loader=yaml.SafeLoader: _load(given, Loader)
_chance = numpy.random.default_rng(0)
Path("made").mkdir(exist_ok=True)
_said = {f"u{one}": _chance.normal(size=(30 + one, 16)).astype("float32") for one in range(7)}
Path("made/train.pkl").write_bytes(pickle.dumps(_said))
Path("made/train.json").write_text(json.dumps([[f"u{one % 7}", one % 5] for one in range(15)]))
_shared = {"kernel_size": 5, "bank_size": 4, "bank_scale": 1, "act": "relu", "dropout_rate": 0}
Path("made.yaml").write_text(yaml.safe_dump({
    "SpeakerEncoder": {
        "c_in": 16, "c_h": 8, "c_out": 8, "c_bank": 8, "n_conv_blocks": 2, "n_dense_blocks": 2, "subsample": [1, 2],
        **_shared,
    },
    "ContentEncoder": {
        "c_in": 16, "c_h": 8, "c_out": 8, "c_bank": 8, "n_conv_blocks": 2, "subsample": [1, 2], **_shared,
    },
    "Decoder": {
        "c_in": 8, "c_cond": 8, "c_h": 8, "c_out": 16, "kernel_size": 5, "n_conv_blocks": 2, "upsample": [2, 1],
        "act": "relu", "sn": False, "dropout_rate": 0,
    },
    "data_loader": {"segment_size": 24, "frame_size": 1, "batch_size": 4, "shuffle": True},
    "optimizer": {
        "lr": 0.0005, "beta1": 0.9, "beta2": 0.999, "amsgrad": True, "weight_decay": 0.0001, "grad_norm": 5,
    },
    "lambda": {"lambda_rec": 10, "lambda_kl": 1}, "annealing_iters": 8,
}))  # fmt: skip
