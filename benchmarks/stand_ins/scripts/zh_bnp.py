"""A dictionary with attributes, and folders of one's own."""

import made_up_data  # noqa: F401
import modules


class Kept(dict):
    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__


def _change(module):
    module.evalsets_path, module.datasets_path, module.results_path = "made/sets", "made/data", "made/results"


modules.put("attrdict", AttrDict=Kept)
modules.when_imported("utils.paths", _change)
