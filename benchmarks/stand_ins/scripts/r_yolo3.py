"""30 pictures of 96 by 96 with one to three boxes each, a smaller network, and no augmentation."""

from pathlib import Path

import made_up_data
import modules
import numpy

modules.put("terminaltables", AsciiTable=modules.Anything)
for _name in ("imgaug", "imgaug.augmenters", "imgaug.augmentables.bbs"):
    modules.put(_name)
_chance = numpy.random.default_rng(0)
Path("made/labels").mkdir(parents=True, exist_ok=True)
made_up_data.folder_of_pictures("made/images", 40, 96, 0)
for _number in range(40):
    _boxes = [f"{_chance.integers(0, 3)} 0.5 {_chance.random() * 0.5 + 0.25:.2f} 0.3 0.4"
              for _ in range(int(_chance.integers(1, 4)))]  # fmt: skip
    Path(f"made/labels/{_number:04d}.txt").write_text("\n".join(_boxes) + "\n")
Path("train.txt").write_text("\n".join(f"made/images/{number:04d}.png" for number in range(29)) + "\n")
Path("valid.txt").write_text("\n".join(f"made/images/{number:04d}.png" for number in range(29, 40)) + "\n")
Path("names.txt").write_text("a\nb\nc\n")
Path("made.data").write_text("classes=3\ntrain=train.txt\nvalid=valid.txt\nnames=names.txt\n")
_NET = """[net]
batch=8
subdivisions=2
width=96
height=96
channels=3
momentum=0.9
decay=0.0005
learning_rate=0.001
burn_in=10
max_batches=100
policy=steps
steps=40,60
scales=.1,.1

[convolutional]
batch_normalize=1
filters=4
size=3
stride=4
pad=1
activation=leaky

[convolutional]
batch_normalize=1
filters=8
size=3
stride=4
pad=1
activation=leaky

[convolutional]
size=1
stride=1
pad=1
filters=24
activation=linear

[yolo]
mask=0,1,2
anchors=20,20, 30,40, 40,30
classes=3
num=3
jitter=.3
ignore_thresh=.7
truth_thresh=1
random=1
"""
Path("made.cfg").write_text(_NET)


def _change(module):
    import torch
    from torchvision.transforms import functional

    def augment(data):
        image, boxes = data
        targets = torch.zeros((len(boxes), 6))
        targets[:, 1:] = torch.from_numpy(boxes)
        return functional.to_tensor(image), targets

    for name in ("AUGMENTATION_TRANSFORMS", "DEFAULT_TRANSFORMS"):
        if hasattr(module, name):
            setattr(module, name, augment)


modules.when_imported("pytorchyolo.utils.augmentations", _change)
modules.when_imported("pytorchyolo.utils.transforms", _change)
