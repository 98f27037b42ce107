"""The script takes torchvision 0.24 for 0.2 by the first characters of its version."""

from typing import Any

import modules


def _change(module: Any) -> None:
    module.__version__ = "1.0"


modules.when_imported("torchvision", _change)
