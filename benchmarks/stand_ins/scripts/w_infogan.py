"""A smaller configuration, a folder, and old behaviour of ``full``: floats, also of a whole number."""

from pathlib import Path

import modules

Path("checkpoint").mkdir(exist_ok=True)


def _change(module):
    module.params.update(batch_size=16, num_epochs=3, save_epoch=2)


def _change_torch(torch):
    full = torch.full

    def floats(size, value, *given, **named):
        return full(size, float(value), *given, **named)

    torch.full = floats


modules.when_imported("config", _change)
modules.when_imported("torch", _change_torch)
