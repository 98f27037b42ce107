"""A WideResNet of ten layers instead of 28: what is measured is how it is trained."""

import made_up_data  # noqa: F401
import modules


def _change(wideresnet):
    wideresnet.WideResNet.__init__.__defaults__ = (10, 1, 0.0)


modules.when_imported("models.wideresnet", _change)
