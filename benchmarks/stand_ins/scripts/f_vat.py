"""Pictures by the names of an older torchvision; no library for logs."""

from typing import Any

import modules


def _name_as_before(module: Any) -> None:
    for part, attribute in (("data", "data"), ("labels", "targets")):
        for when in ("train", "test"):
            shown = property(lambda self, attribute=attribute: getattr(self, attribute))
            setattr(module.CIFAR10, f"{when}_{part}", shown)


modules.put("logzero")
modules.when_imported("torchvision.datasets", _name_as_before)
