"""A small configuration, and PyYAML as it was before version 6."""

import re
from pathlib import Path
from typing import Any

import yaml

Path("small").mkdir(exist_ok=True)
_text = Path("experiments/cifar10/lenet/config.yaml").read_text()
for _name, _number in (("epochs", 3), ("batch_size", 8), ("test_batch", 8), ("workers", 0), ("eval_freq", 1)):
    _text = re.sub(rf"\n{_name}: \d+", f"\n{_name}: {_number}", _text)
Path("small/config.yaml").write_text(_text)

_load = yaml.load


def _load_safely(stream: Any, Loader: Any = yaml.SafeLoader) -> Any:  #
    return _load(stream, Loader)


yaml.load = _load_safely
