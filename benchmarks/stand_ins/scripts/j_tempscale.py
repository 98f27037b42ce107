"""A folder for what is saved, and the command line of a function."""

import sys
from pathlib import Path
from typing import Any

import modules

Path("made").mkdir(exist_ok=True)


def _fire(function: Any) -> None:
    names, values = sys.argv[1::2], sys.argv[2::2]
    function(**{
        name.lstrip("-"): int(value) if value.isdigit() else value for name, value in zip(names, values, strict=True)
    })  # fmt: skip


modules.put("fire", Fire=_fire)
