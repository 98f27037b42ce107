"""Skeletons that move, settings, and fewer layers."""

import pickle
from pathlib import Path

import made_up_data  # noqa: F401
import modules
import numpy

_chance = numpy.random.default_rng(0)
Path("made").mkdir(exist_ok=True)
for _part, _count in (("train", 13), ("val", 5)):
    numpy.save(f"made/{_part}.npy", _chance.normal(size=(_count, 3, 12, 25, 2)).astype("float32"))
    _kept = ([f"s{number}" for number in range(_count)], _chance.integers(0, 6, _count).tolist())
    Path(f"made/{_part}.pkl").write_bytes(pickle.dumps(_kept))
Path("made.yaml").write_text("""\
work_dir: made/kept
feeder: feeder.feeder.Feeder
train_feeder_args: {data_path: made/train.npy, label_path: made/train.pkl, random_move: true}
test_feeder_args: {data_path: made/val.npy, label_path: made/val.pkl}
model: net.st_gcn.Model
model_args:
  in_channels: 3
  num_class: 6
  dropout: 0.5
  edge_importance_weighting: true
  graph_args: {layout: ntu-rgb+d, strategy: spatial}
base_lr: 0.1
step: [1]
device: [0]
batch_size: 3
test_batch_size: 3
num_epoch: 3
eval_interval: 1
log_interval: 2
""")


class Demo:
    """A processor that is not asked for."""

    @staticmethod
    def get_parser(add_help=False):
        import argparse

        return argparse.ArgumentParser(add_help=add_help)


def _without_demos(module):
    import sys
    import types

    for name, kind in (("demo_old", "Demo"), ("demo_realtime", "DemoRealtime"), ("demo_offline", "DemoOffline")):
        made = types.ModuleType(f"processor.{name}")
        setattr(made, kind, Demo)
        sys.modules[made.__name__] = made


modules.when_imported("processor", _without_demos)
modules.put("h5py")
