"""Rooms of noise in several sizes, with segments of five kinds, and a reader of settings."""

import json
from pathlib import Path

import made_up_data  # noqa: F401
import modules
import numpy
from PIL import Image

_chance = numpy.random.default_rng(0)
Path("made").mkdir(exist_ok=True)
_lines = []
for _number in range(24):
    _height, _width = (int(one) for one in _chance.integers(40, 80, 2))
    Image.fromarray(_chance.integers(0, 255, (_height, _width, 3)).astype("uint8")).save(f"made/{_number}.jpg")
    Image.fromarray(_chance.integers(0, 6, (_height, _width)).astype("uint8")).save(f"made/{_number}.png")
    _lines.append(json.dumps({
        "fpath_img": f"made/{_number}.jpg", "fpath_segm": f"made/{_number}.png", "width": _width, "height": _height,
    }))  # fmt: skip
Path("made/train.odgt").write_text("\n".join(_lines) + "\n")
Path("made/made.yaml").write_text("""
DATASET:
  root_dataset: "."
  list_train: made/train.odgt
  num_class: 5
  imgSizes: [48, 64]
  imgMaxSize: 80
  padding_constant: 16
  segm_downsampling_rate: 8
MODEL:
  arch_encoder: resnet18dilated
  arch_decoder: ppm_deepsup
  fc_dim: 512
TRAIN:
  batch_size_per_gpu: 2
  num_epoch: 3
  start_epoch: 0
  epoch_iters: 6
  workers: 0
  disp_iter: 2
DIR: kept
""")


class _Node(dict):
    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__

    def merge_from_file(self, path):
        import yaml

        self._merge(yaml.safe_load(Path(path).read_text()))

    def _merge(self, given):
        for key, value in given.items():
            if isinstance(value, dict):
                self[key]._merge(value)
            else:
                self[key] = tuple(value) if isinstance(value, list) else value

    def merge_from_list(self, given):
        pass


def _change_resnet(module):
    before = module.resnet18
    module.resnet18 = lambda pretrained=False: before(pretrained=False)


modules.put("yacs.config", CfgNode=_Node)
modules.when_imported("mit_semseg.models.resnet", _change_resnet)


def _change_nn(module):  # on several GPUs the parallel module unpacks a batch and copies it to them
    module.user_scattered_collate = lambda batch: {
        key: value.to("xla") if hasattr(value, "to") else value for key, value in batch[0].items()
    }


modules.when_imported("mit_semseg.lib.nn", _change_nn)
