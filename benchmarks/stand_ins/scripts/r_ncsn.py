"""A smaller network, and files in YAML that need no loader to be named."""

from pathlib import Path

import modules
import yaml

_load = yaml.load
yaml.load = lambda stream, Loader=yaml.UnsafeLoader: _load(stream, Loader=Loader)
_options = yaml.safe_load(Path("configs/anneal.yml").read_text())
_options["training"].update(batch_size=8, n_epochs=3, snapshot_freq=6)
_options["model"]["ngf"] = 4
_options["data"]["image_size"] = 16
Path("configs/made.yml").write_text(yaml.safe_dump(_options))
modules.put("lmdb")
