"""A WideResNet of ten layers instead of 28: what is measured is how it is trained."""

import functools

import made_up_data  # noqa: F401
import modules


def _change(wideresnet):
    wideresnet.WideResNet = functools.partial(wideresnet.WideResNet, depth=10, widen_factor=1)


modules.when_imported("models.wideresnet", _change)
