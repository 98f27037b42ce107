"""What gives the function its arguments, and dictionaries with attributes."""

import made_up_data  # noqa: F401
import modules


class Kept(dict):
    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__


def _with_attributes(given):
    return Kept((key, _with_attributes(one)) for key, one in given.items()) if isinstance(given, dict) else given


modules.put("fire", Fire=lambda function: function("made", batch_size=8, n_epochs=3, train_correlation=0.9))
Kept.__module__ = "munch"
modules.put("munch", munchify=_with_attributes, Kept=Kept)
modules.put("adamp")
