"""A small configuration."""

from pathlib import Path

import made_up_data  # noqa: F401

Path("made.yml").write_text(
    "{no_cuda: False, checkpoint: results/made, bin_type: xnor, model: lenet5, dataset: mnist, batch_size: 16,"
    " test_batch_size: 16, optimizer: adam, lr: 0.01, gamma: 0.1, steps: [100, 200], epochs: 3}\n"
)
