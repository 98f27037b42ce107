"""Questions about pictures, and a smaller network in place of one with trained weights."""

from pathlib import Path

import made_up_data
import modules
import numpy
from PIL import Image

_chance = numpy.random.default_rng(0)
Path("made/pictures").mkdir(parents=True, exist_ok=True)
_answers = ["<unk>", *(f"a{one}" for one in range(11))]
Path("made/vocab_answers.txt").write_text("\n".join(_answers) + "\n")
Path("made/vocab_questions.txt").write_text("\n".join(["<pad>", "<unk>", *(f"w{one}" for one in range(40))]) + "\n")
for _split, _count in (("train", 19), ("valid", 7)):
    _kept = []
    for _number in range(_count):
        _path = f"made/pictures/{_split}{_number}.jpg"
        Image.fromarray(_chance.integers(0, 255, (224, 224, 3)).astype("uint8")).save(_path)
        _kept.append({
            "image_path": _path,
            "question_tokens": made_up_data.words(int(_chance.integers(3, 12)), seed=_number),
            "valid_answers": [str(one) for one in _chance.choice(_answers, int(_chance.integers(1, 10)))],
        })  # fmt: skip
    numpy.save(f"made/{_split}.npy", numpy.array(_kept, dtype=object), allow_pickle=True)
_load = numpy.load
numpy.load = lambda *given, **named: _load(*given, **{"allow_pickle": True, **named})


def _change(module):
    import torch

    def vgg19(*_, **__):
        model = module.vgg11(num_classes=2, init_weights=False)
        model.classifier = torch.nn.Sequential(
            torch.nn.Linear(25088, 64), torch.nn.ReLU(), torch.nn.Dropout(), torch.nn.Linear(64, 64),
            torch.nn.ReLU(), torch.nn.Dropout(), torch.nn.Linear(64, 1000),
        )  # fmt: skip
        return model

    module.vgg19 = vgg19


modules.when_imported("torchvision.models", _change)
