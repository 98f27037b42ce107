"""Pictures of noise, and small sizes in a configuration."""

from pathlib import Path

import made_up_data
import yaml

made_up_data.folder_of_pictures("made/train", 11, size=64, classes=0)
made_up_data.folder_of_pictures("made/valid", 6, size=64, classes=0)
_said = yaml.safe_load(Path("configs/train-div2k/train_edsr-baseline-liif.yaml").read_text())
for _part, _folder in (("train", "made/train"), ("val", "made/valid")):
    _set = _said[f"{_part}_dataset"]
    _set["dataset"]["args"] |= {"root_path": _folder, "repeat": 1}
    _set["wrapper"]["args"] |= {"inp_size": 12, "sample_q": 96}
    _set["batch_size"] = 4
_said["model"]["args"]["encoder_spec"]["args"] |= {"n_resblocks": 2, "n_feats": 8}
_said["model"]["args"]["imnet_spec"]["args"]["hidden_list"] = [16, 16]
_said |= {"epoch_max": 4, "epoch_save": 2}
Path("made.yaml").write_text(yaml.safe_dump(_said))
