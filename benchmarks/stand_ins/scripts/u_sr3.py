"""Pictures in two sizes, and a small network."""

import json
from pathlib import Path

import made_up_data
import modules

for _split, _count in (("train", 15), ("val", 3)):
    made_up_data.folder_of_pictures(f"dataset/{_split}/hr_16", _count, 16, 0)
    made_up_data.folder_of_pictures(f"dataset/{_split}/sr_8_16", _count, 16, 0)
    made_up_data.folder_of_pictures(f"dataset/{_split}/lr_8", _count, 8, 0)


def _data(name, mode, **more):
    return {
        "name": name, "mode": mode, "dataroot": f"dataset/{name}", "datatype": "img", "l_resolution": 8,
        "r_resolution": 16, "data_len": -1, **more,
    }  # fmt: skip


_schedule = {"schedule": "linear", "n_timestep": 6, "linear_start": 1e-6, "linear_end": 1e-2}
Path("made.json").write_text(json.dumps({
    "name": "made", "phase": "train", "gpu_ids": [0],
    "path": {"log": "logs", "tb_logger": "tb", "results": "results", "checkpoint": "kept", "resume_state": None},
    "datasets": {
        "train": _data("train", "HR", batch_size=4, num_workers=0, use_shuffle=True), "val": _data("val", "LRHR"),
    },
    "model": {
        "which_model_G": "sr3", "finetune_norm": False,
        "unet": {
            "in_channel": 6, "out_channel": 3, "inner_channel": 8, "norm_groups": 4, "channel_multiplier": [1, 2],
            "attn_res": [8], "res_blocks": 1, "dropout": 0.2,
        },
        "beta_schedule": {"train": _schedule, "val": _schedule},
        "diffusion": {"image_size": 16, "channels": 3, "conditional": True},
    },
    "train": {
        "n_iter": 16, "val_freq": 8, "save_checkpoint_freq": 8, "print_freq": 3,
        "optimizer": {"type": "adam", "lr": 1e-4},
    },
    "wandb": {"project": "made"},
}, indent=1))  # fmt: skip
modules.put("lmdb")
