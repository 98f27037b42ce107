"""A WideResNet of ten layers instead of 28: what is measured is how it is trained."""

import made_up_data  # noqa: F401
import modules


def _change(wideresnet):
    build = wideresnet.build_wideresnet
    wideresnet.build_wideresnet = lambda **named: build(**(named | {"depth": 10, "widen_factor": 1}))


modules.when_imported("models.wideresnet", _change)
