"""Pictures of signs whose names begin with their class, and batches of eight."""

import json
from pathlib import Path

import numpy
import pictures
from PIL import Image

for _split, _count in (("train", 60), ("val", 19)):
    _folder = Path(f"data/64x64_SIGNS/{_split}_signs")
    _folder.mkdir(parents=True, exist_ok=True)
    _data, _labels = pictures.noise(_count, (64, 64, 3), 6, 1)
    for _number, (_one, _label) in enumerate(zip(_data, _labels, strict=True)):
        Image.fromarray(numpy.asarray(_one)).save(_folder / f"{_label}_IMG_{_number}.jpg")
_path = Path("experiments/base_model/params.json")
_options = json.loads(_path.read_text())
_options.update(batch_size=8, num_epochs=3, num_channels=4, num_workers=0)
_path.write_text(json.dumps(_options))
