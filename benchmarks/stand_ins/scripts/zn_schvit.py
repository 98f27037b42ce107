"""Schedules of the rate took ``verbose`` when the script was written."""

import functools

import made_up_data  # noqa: F401
import modules


def _quiet(make):
    @functools.wraps(make)
    def init(self, *given, verbose=None, **named):
        make(self, *given, **named)

    return init


def _change(module):
    for name in ("LinearLR", "CosineAnnealingLR"):
        kind = getattr(module, name)
        kind.__init__ = _quiet(kind.__init__)


modules.when_imported("torch.optim.lr_scheduler", _change)
