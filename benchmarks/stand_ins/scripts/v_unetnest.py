"""Cells as noise below a folder of the author's, which stands for one beside the script; an old name of NumPy."""

import os
from pathlib import Path

import made_up_data  # noqa: F401
import modules
import numpy
import PIL.Image

_chance = numpy.random.default_rng(0)
_theirs = "/flush1/bat161/segmentation/New_Trails/venv/DATA/"
for _folder, _count in (("new_3C_I_ori", 24), ("new_3C_L_ori", 24), ("test_new_3C_I_ori", 2), ("test_new_3C_L_ori", 2)):
    Path(f"DATA/{_folder}").mkdir(parents=True, exist_ok=True)
    for _number in range(_count):
        _name = f"0131_{_number + 8:04}.png"
        _picture = _chance.integers(0, 255, (64, 64, 3)).astype("uint8")
        _shown = _picture if "_I_" in _folder else (_picture > 127).astype("uint8") * 255
        PIL.Image.fromarray(_shown).save(f"DATA/{_folder}/{_name}")
_listdir, _open = os.listdir, PIL.Image.open
os.listdir = lambda path=".": _listdir(str(path).replace(_theirs, "DATA/"))
PIL.Image.open = lambda path, *given: _open(str(path).replace(_theirs, "DATA/"), *given)


def _change(module):
    crop = module.CenterCrop
    module.CenterCrop = lambda size: crop(min(size, 48))  # the network halves four times


modules.put("natsort", natsorted=sorted)
modules.put("visdom")
modules.when_imported("torchvision.transforms", _change)
