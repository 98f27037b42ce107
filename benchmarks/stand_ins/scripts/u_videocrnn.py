"""Films of three small pictures, of four kinds."""

import pickle
from pathlib import Path

import made_up_data
import modules
import pictures

Path("CRNN_ckpt").mkdir(exist_ok=True)
Path("UCF101actions.pkl").write_bytes(pickle.dumps([f"Act{one}" for one in range(4)]))


def _films():
    from PIL import Image

    data, _ = pictures.noise(40 * 3, (40, 40, 3), 4, 1)
    for number in range(40):
        folder = Path(f"jpegs_256/v_Act{number % 4}_g{number:02d}")
        folder.mkdir(parents=True, exist_ok=True)
        for frame in range(3):
            Image.fromarray(data[number * 3 + frame]).save(folder / f"frame{frame + 1:06d}.jpg")


_films()


def _change(module):
    encoder, films = module.EncoderCNN.__init__, module.Dataset_CRNN.__init__

    def encode(self, img_x, img_y, **named):
        encoder(self, img_x=64, img_y=64, **named)

    def show(self, path, names, labels, frames, **named):
        films(self, path, names, labels, frames[:3], **named)

    module.EncoderCNN.__init__, module.Dataset_CRNN.__init__ = encode, show


def _change_transforms(module):
    resize = module.Resize
    module.Resize = lambda size: resize([64, 64])


made_up_data.smaller_batches(4)
modules.when_imported("functions", _change)
modules.when_imported("torchvision.transforms", _change_transforms)
