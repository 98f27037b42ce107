"""Pictures of two kinds, and weights that are noise."""

import made_up_data
import modules


def _save(net):
    import torch

    torch.save(net.vgg.state_dict(), "vgg.pth")


made_up_data.folder_of_pictures("content", 6, 64, 0)
made_up_data.folder_of_pictures("style", 6, 64, 0)
modules.when_imported("net", _save)
