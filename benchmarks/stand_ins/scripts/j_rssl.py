"""Small pictures in files of arrays, and a short training."""

from pathlib import Path
from typing import Any

import modules
import numpy
import pictures

_place = Path("made/cifar10")
_place.mkdir(parents=True, exist_ok=True)
for _name, _count in (("l_train", 60), ("u_train", 90), ("val", 30), ("test", 30)):
    _images, _labels = pictures.noise(_count, (3, 32, 32), 10, _count)
    _set = {"images": (_images / 255.0).astype("float32"), "labels": numpy.asarray(_labels)}
    numpy.save(_place / f"{_name}.npy", _set, allow_pickle=True)


def _change(module: Any) -> None:
    module.shared_config.update(iteration=14, warmup=6, lr_decay_iter=10, batch_size=12)


modules.when_imported("config", _change)
