"""Digits in the files that an older torchvision wrote."""

from pathlib import Path

import modules
import pictures
import torch

modules.put("six.moves")

_place = Path("data/processed")
_place.mkdir(parents=True, exist_ok=True)
for _name, _count, _seed in (("training", 700, 1), ("test", 300, 2)):
    _images, _labels = pictures.noise(_count, (28, 28), 10, _seed)
    torch.save((torch.from_numpy(_images), torch.tensor(_labels)), _place / f"{_name}.pt")
