"""Pictures of several kinds and which belong to a split, a configuration, and its parser."""

import argparse
from pathlib import Path

import made_up_data  # noqa: F401
import modules
import numpy
from PIL import Image

_chance = numpy.random.default_rng(0)
Path("made/pictures").mkdir(parents=True, exist_ok=True)
Path("made/split").mkdir(exist_ok=True)
for _split, _kinds, _each in (("train", 5, 9), ("val", 5, 8), ("test", 5, 8)):
    _lines = ["filename,label"]
    for _kind in range(_kinds):
        for _number in range(_each):
            _name = f"{_split}{_kind}_{_number}.jpg"
            Image.fromarray(_chance.integers(0, 255, (84, 84, 3)).astype("uint8")).save(f"made/pictures/{_name}")
            _lines.append(f"{_name},{_split}{_kind}")
    Path(f"made/split/{_split}.csv").write_text("\n".join(_lines) + "\n")
Path("made/small.config").write_text("")


class Parser(argparse.ArgumentParser):
    def add(self, *names, is_config_file=False, **named):
        return self.add_argument(*names, **named)


modules.put("configargparse", ArgParser=Parser)
