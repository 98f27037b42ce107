"""Roads of six sensors in a ring, and a small configuration."""

import pickle
from pathlib import Path

import modules
import numpy

_chance = numpy.random.default_rng(0)
Path("made").mkdir(exist_ok=True)
for _split, _count in (("train", 27), ("val", 12), ("test", 9)):
    numpy.savez(
        f"made/{_split}.npz", x=_chance.normal(1, 1, (_count, 4, 6, 2)), y=_chance.normal(1, 1, (_count, 4, 6, 2))
    )
_ring = numpy.eye(6) + numpy.roll(numpy.eye(6), 1, 1) + 0.5 * numpy.roll(numpy.eye(6), 2, 0)
Path("made/adj.pkl").write_bytes(pickle.dumps(([str(one) for one in range(6)], {}, _ring.astype("float32"))))
Path("made/made.yaml").write_text("""
base_dir: kept
log_level: INFO
data:
  batch_size: 4
  dataset_dir: made
  test_batch_size: 4
  val_batch_size: 4
  graph_pkl_filename: made/adj.pkl
model:
  cl_decay_steps: 20
  filter_type: dual_random_walk
  horizon: 4
  input_dim: 2
  l1_decay: 0
  max_diffusion_step: 2
  num_nodes: 6
  num_rnn_layers: 2
  output_dim: 1
  rnn_units: 8
  seq_len: 4
  use_curriculum_learning: true
train:
  base_lr: 0.01
  dropout: 0
  epoch: 0
  epochs: 3
  epsilon: 0.001
  global_step: 0
  lr_decay_ratio: 0.1
  max_grad_norm: 5
  max_to_keep: 100
  min_learning_rate: 0.000002
  optimizer: adam
  patience: 50
  steps: [2, 3]
  test_every_n_epochs: 2
""")


def _change(module):
    before = module.load
    module.load = lambda stream, Loader=module.SafeLoader: before(stream, Loader)


modules.when_imported("yaml", _change)


def _change_cell(module):
    import torch

    module.DCGRUCell._build_sparse_matrix = staticmethod(
        lambda given: torch.tensor(given.toarray(), dtype=torch.float32).to(module.device)
    )
    module.torch.sparse.mm = torch.mm  # there are no sparse tensors there


modules.when_imported("model.pytorch.dcrnn_cell", _change_cell)
