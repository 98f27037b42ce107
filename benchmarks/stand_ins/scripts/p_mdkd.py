"""A teacher that was never taught."""

from typing import Any

import made_up_data  # noqa: F401
import modules


def _write(torch: Any) -> None:
    strict = torch.nn.Module.load_state_dict
    torch.nn.Module.load_state_dict = lambda self, state, *_: strict(self, state, strict=False)


def _change(module: Any) -> None:
    module.load_checkpoint = lambda _: {"model": {}}


modules.when_imported("torch", _write)
modules.when_imported("mdistiller.engine.utils", _change)


def _give_itself(base: Any) -> None:
    base.Distiller.module = property(lambda self: self)  # the port takes the wrapper away that had it


modules.when_imported("mdistiller.distillers._base", _give_itself)
