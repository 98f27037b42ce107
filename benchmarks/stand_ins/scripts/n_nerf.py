"""Views of a thing from around it, as Blender wrote them."""

import argparse
import json
from pathlib import Path

import made_up_data
import modules
import numpy


class Parser(argparse.ArgumentParser):
    """Without a file of options."""

    def add_argument(self, *names, is_config_file=False, **named):
        return super().add_argument(*names, **named)


def _read(path):
    from PIL import Image

    return numpy.asarray(Image.open(path).convert("RGBA"))


modules.put("configargparse", ArgumentParser=Parser, ArgParser=Parser)
modules.put("imageio", imread=_read)
for part, count in (("train", 6), ("val", 2), ("test", 2)):
    made_up_data.folder_of_pictures(f"thing/{part}", count, 24, 0)
    pose = numpy.eye(4)
    pose[2, 3] = 4.0
    frames = [
        {"file_path": f"./{part}/{number:04d}", "transform_matrix": (pose + 0.01 * number).tolist()}
        for number in range(count)
    ]
    text = json.dumps({"camera_angle_x": 0.7, "frames": frames})
    Path(f"thing/transforms_{part}.json").write_text(text, encoding="utf-8")
