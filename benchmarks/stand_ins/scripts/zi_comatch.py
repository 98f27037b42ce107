"""Pictures as files, and what changes them."""

import pickle
from pathlib import Path

import made_up_data  # noqa: F401
import modules
import numpy

_chance = numpy.random.default_rng(0)
Path("data/cifar-10-batches-py").mkdir(parents=True, exist_ok=True)
for _name, _count in [(f"data_batch_{number}", 10) for number in range(1, 6)] + [("test_batch", 70)]:
    _labels = (numpy.arange(_count) % 10).tolist()
    _data = _chance.integers(0, 256, (_count, 3072)).astype("uint8")
    Path(f"data/cifar-10-batches-py/{_name}").write_bytes(pickle.dumps({"data": _data, "labels": _labels}))
modules.put(
    "cv2", INTER_LINEAR=1, resize=lambda picture, *_: picture, warpAffine=lambda picture, *_, **__: picture,
    filter2D=lambda picture, *_: picture, getRotationMatrix2D=lambda *_: None,
    split=lambda picture: list(picture.transpose(2, 0, 1)), merge=lambda channels: numpy.stack(channels, axis=-1),
    calcHist=lambda channels, *_: numpy.bincount(channels[0].ravel(), minlength=256).astype("float32")[:, None],
)  # fmt: skip


def _change(module):
    """Numbers that do not fit into a byte were cut."""
    module.func_dict["Posterize"] = lambda picture, bits: picture & numpy.uint8((255 << (8 - bits)) & 255)


modules.when_imported("datasets.randaugment", _change)
modules.when_imported("torch", lambda _: modules.put("torch._six", int_classes=int))
