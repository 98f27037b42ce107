"""22 pictures for training and 7 for validation with their segments; no weights that were trained before."""

import made_up_data  # noqa: F401
import modules
import pictures

pictures.segmented({"train": 22, "val": 7}, (80, 90), 10)


def _change(module):
    make = module.mobilenet_v2
    module.mobilenet_v2 = lambda pretrained=False, **named: make(pretrained=False, **named)


modules.when_imported("network.backbone.mobilenetv2", _change)
