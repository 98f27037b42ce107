"""A small configuration; pictures are given to every script."""

from pathlib import Path

import made_up_data  # noqa: F401
import modules

Path("made.yaml").write_text("""
inherit_from: configs/default.yaml
data:
  type: cifar10
  train_dir: made
  img_size: 32
  nlabels: 10
generator:
  name: resnet
  kwargs: {nfilter: 8, nfilter_max: 16, embed_size: 8}
discriminator:
  name: resnet
  kwargs: {nfilter: 8, nfilter_max: 16, embed_size: 8}
z_dist:
  type: gauss
  dim: 16
training:
  out_dir: output/made
  batch_size: 8
  nworkers: 0
  sample_every: 7
  sample_nlabels: 2
  backup_every: 9
  monitoring: tensorboard
""")


def _change(module):
    before = module.load
    module.load = lambda stream, Loader=module.SafeLoader: before(stream, Loader)


modules.when_imported("yaml", _change)


def _change_evaluator(module):
    before = module.Evaluator.create_samples

    def create(self, z, y=None):  # on GPUs the parallel module copies what it is given
        return before(self, z, y.to("xla") if hasattr(y, "to") else y)

    module.Evaluator.create_samples = create


modules.when_imported("gan_training.eval", _change_evaluator)
