"""A teacher that was never taught."""

import sys
import types
from pathlib import Path
from typing import Any

import modules

Path("checkpoint/teacher").mkdir(parents=True, exist_ok=True)


def _write(torch: Any) -> None:
    # Parameters that the file lacks keep their values.
    strict = torch.nn.Module.load_state_dict
    torch.nn.Module.load_state_dict = lambda self, state, *_: strict(self, state, strict=False)
    torch.save({}, "checkpoint/teacher/mnist-lenet5.pt")


modules.when_imported("torch", _write)
sys.modules["torchvision.models.utils"] = types.ModuleType("torchvision.models.utils")
sys.modules["torchvision.models.utils"].load_state_dict_from_url = None  # type: ignore[attr-defined]
