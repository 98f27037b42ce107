"""Pictures of content and style, weights for the encoder, and smaller crops."""

from pathlib import Path

import made_up_data
import modules

made_up_data.folder_of_pictures("content", 12, 40, 0)
made_up_data.folder_of_pictures("style", 9, 40, 0)


def _change(module):
    import torch

    if not Path("vgg.pth").exists():
        torch.save(module.vgg.state_dict(), "vgg.pth")


def _change_transforms(module):
    crop, resize = module.RandomCrop, module.Resize
    module.RandomCrop = lambda _: crop(32)
    module.Resize = lambda size: resize((40, 40))


modules.when_imported("net", _change)
modules.when_imported("torchvision.transforms", _change_transforms)
