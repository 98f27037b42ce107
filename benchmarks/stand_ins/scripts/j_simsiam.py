"""The configuration of the repository, with a small batch."""

from pathlib import Path

import yaml

Path("made").mkdir(exist_ok=True)
_config = yaml.safe_load(Path("configs/simsiam_cifar.yaml").read_text())
_config["train"].update(batch_size=8, num_epochs=2, stop_at_epoch=2, warmup_epochs=1, knn_k=5)
_config["eval"].update(batch_size=8, num_epochs=1)
Path("made.yaml").write_text(yaml.safe_dump(_config))
