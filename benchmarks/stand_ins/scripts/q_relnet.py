"""Twelve characters, each written twenty times; a picture of one channel is normalized by three equal means."""

import made_up_data
import modules

for _number in range(12):
    made_up_data.folder_of_pictures(f"../datas/omniglot_resized/family/c{_number:02d}", 20, 28, 0, mode="L")


def _change(module):
    whole = module.Normalize.__init__
    module.Normalize.__init__ = lambda self, mean, std, **named: whole(self, mean[:1], std[:1], **named)


modules.when_imported("torchvision.transforms.transforms", _change)
