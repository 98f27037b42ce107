"""Pictures, smaller batches, and a network for features without its weights."""

from pathlib import Path

import made_up_data
import modules

made_up_data.smaller_batches(4)
made_up_data.folder_of_pictures("data/DIV2K_train_HR", 26, size=40, classes=0)
made_up_data.folder_of_pictures("data/DIV2K_valid_HR", 5, size=32, classes=0)
for _name in ("training_results", "statistics", "epochs"):
    Path(_name).mkdir(exist_ok=True)


def _change(module):
    make = module.vgg16
    module.vgg16 = lambda pretrained=False, **named: make(**named)


modules.when_imported("torchvision.models.vgg", _change)
