"""Clouds of points of noise, in place of files of a format; smaller batches."""

from pathlib import Path

import made_up_data
import modules
import numpy

_chance = numpy.random.default_rng(0)
Path("models").mkdir(exist_ok=True)


def _clouds(module):
    def init(self, dataset_path, labels, is_training=False):
        self.is_training, self.paths = is_training, list(range(69 if is_training else 3))

    module.PointClouds.__init__ = init
    module.load_ply = lambda _: _chance.normal(size=(2048, 3)).astype("float32")


modules.when_imported("input_pipeline", _clouds)
modules.put("plyfile")
made_up_data.smaller_batches(2)
