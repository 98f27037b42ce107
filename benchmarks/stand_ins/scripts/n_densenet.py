"""What gives the function its arguments is not installed."""

import modules


def _call(function):
    return function(
        data="data", save=".", depth=10, growth_rate=4, valid_size=12, n_epochs=2, batch_size=16, efficient=False
    )


modules.put("fire", Fire=_call)
