"""The settings of the script, smaller ones."""

from pathlib import Path

import made_up_data  # noqa: F401

Path("made.yaml").write_text(
    "system: {num_client: 3, num_local_class: 2, dataset: MNIST, model: LeNet, i_seed: 1, num_round: 3,"
    " res_root: results}\nclient: {fed_algo: FedAvg, lr: 0.01, batch_size: 64, num_local_epoch: 2, momentum: 0.9}\n"
)
