"""Pictures with boxes, as many as there happen to be, a configuration, and as much of OpenCV as is called."""

from pathlib import Path

import made_up_data  # noqa: F401
import modules
import numpy
from PIL import Image

_chance = numpy.random.default_rng(0)
Path("checkpoint").mkdir(exist_ok=True)
for _split, _count in (("train", 11), ("val", 5)):
    Path(f"made/{_split}").mkdir(parents=True, exist_ok=True)
    _paths = []
    for _number in range(_count):
        _path = f"made/{_split}/{_number}"
        Image.fromarray(_chance.integers(0, 255, (90, 100, 3)).astype("uint8")).save(f"{_path}.jpg")
        _boxes = [
            (int(_chance.integers(3)), *_chance.uniform(0.3, 0.7, 2), *_chance.uniform(0.1, 0.5, 2))
            for _ in range(int(_chance.integers(1, 5)))
        ]
        Path(f"{_path}.txt").write_text("".join(" ".join(str(one) for one in box) + "\n" for box in _boxes))
        _paths.append(f"{_path}.jpg")
    Path(f"made/{_split}.txt").write_text("\n".join(_paths) + "\n")
Path("made/names").write_text("a\nb\nc\n")
Path("made/small.yaml").write_text("""DATASET:
  TRAIN: "made/train.txt"
  VAL: "made/val.txt"
  NAMES: "made/names"
MODEL:
  NC: 3
  INPUT_WIDTH: 96
  INPUT_HEIGHT: 96
TRAIN:
  LR: 0.001
  THRESH: 0.25
  WARMUP: true
  BATCH_SIZE: 4
  END_EPOCH: 11
  MILESTIONES:
    - 4
    - 8
""")
modules.put(
    "cv2", INTER_LINEAR=1, imread=lambda path: numpy.asarray(Image.open(path).convert("RGB")),
    resize=lambda picture, size, **_: numpy.asarray(Image.fromarray(picture).resize(size)),
)  # fmt: skip


class Judge(modules.Anything):
    stats = (0.0, 0.1)


modules.put("pycocotools.cocoeval", COCOeval=Judge)
modules.put("torchsummary", summary=lambda *_, **__: None)

import torch  # noqa: E402

_load = torch.load
torch.load = lambda *given, **named: _load(*given, **{"map_location": "cpu", **named})  # kept on a GPU
