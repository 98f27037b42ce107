"""``torch.full`` gave floating point numbers before PyTorch 1.7."""

from pathlib import Path
from typing import Any

import modules


def _change(torch: Any) -> None:
    full = torch.full

    def full_of_floats(size: Any, value: Any, **named: Any) -> Any:
        return full(size, float(value), **named)

    torch.full = full_of_floats


Path("model").mkdir(exist_ok=True)
modules.when_imported("torch", _change)
