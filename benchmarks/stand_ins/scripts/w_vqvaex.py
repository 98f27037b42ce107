"""Digits as pictures in folders, a smaller configuration, and as much of OpenCV as is called. Needs einops."""

import sys
from pathlib import Path

import modules
import numpy
from PIL import Image

_chance = numpy.random.default_rng(0)
for _digit in range(10):
    _folder = Path(f"data/train/images/{_digit}")
    _folder.mkdir(parents=True, exist_ok=True)
    for _number in range(5 - _digit % 2):
        Image.fromarray(_chance.integers(0, 255, (28, 28)).astype("uint8")).save(_folder / f"{_number}.png")
_config = Path("config/vqvae_colored_mnist.yaml")
_config.write_text(_config.read_text().replace("batch_size: 64", "batch_size: 16").replace("epochs: 20", "epochs: 4"))
modules.put(
    "cv2",
    imread=lambda path, *_: numpy.asarray(Image.open(path).convert("L")).astype("float64"),
    imwrite=lambda path, picture: numpy.asarray(picture),
)
for _name in [one for one in sys.modules if one.partition(".")[0] == "tensorflow"]:
    del sys.modules[_name]  # libraries ask whether tensors are of theirs
