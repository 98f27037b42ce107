"""Coloured digits: a folder of pictures and a list of what they show."""

from pathlib import Path

import pictures
from PIL import Image

_place = Path("../dataset/mnist_m")
for _name, _count in (("train", 650), ("test", 140)):
    _folder = _place / f"mnist_m_{_name}"
    _folder.mkdir(parents=True, exist_ok=True)
    _images, _labels = pictures.noise(_count, (28, 28, 3), 10, _count)
    for _number, _image in enumerate(_images):
        Image.fromarray(_image).save(_folder / f"{_number:05}.png")
    _lines = (f"{number:05}.png {label}\n" for number, label in enumerate(_labels))
    (_place / f"mnist_m_{_name}_labels.txt").write_text("".join(_lines))
Path("../models").mkdir(exist_ok=True)
