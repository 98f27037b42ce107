"""Pictures of a scene, where they were taken from, and options that may come from a file."""

import argparse
import json
from pathlib import Path

import modules
import numpy
from PIL import Image


class _Parser(argparse.ArgumentParser):
    def add_argument(self, *given, is_config_file=False, **named):
        return super().add_argument(*given, **named)


modules.put("configargparse", ArgumentParser=_Parser)
modules.put(
    "imageio", imread=lambda path: numpy.asarray(Image.open(path)), imwrite=lambda *_, **__: None,
    mimwrite=lambda *_, **__: None,
)  # fmt: skip
_noise = numpy.random.default_rng(0)
for _name, _count in (("train", 4), ("val", 2), ("test", 2)):
    Path(f"made/{_name}").mkdir(parents=True)
    _frames = []
    for _number in range(_count):
        _picture = _noise.integers(0, 255, (16, 16, 4)).astype("uint8")
        Image.fromarray(_picture, "RGBA").save(f"made/{_name}/r_{_number}.png")
        _place = numpy.eye(4)
        _place[:3, 3] = _noise.normal(size=3)
        _frames.append({"file_path": f"./{_name}/r_{_number}", "transform_matrix": _place.tolist()})
    Path(f"made/transforms_{_name}.json").write_text(json.dumps({"camera_angle_x": 0.7, "frames": _frames}))
