"""Data sets of torchvision by their shapes: a few pictures of noise, as many as the environment says."""

import os
from pathlib import Path
from typing import Any

import modules

_SHAPES = {
    "MNIST": ("MNIST", (28, 28), 10), "FashionMNIST": ("MNIST", (28, 28), 10), "KMNIST": ("MNIST", (28, 28), 10),
    "EMNIST": ("MNIST", (28, 28), 10), "CIFAR10": ("CIFAR", (32, 32, 3), 10), "CIFAR100": ("CIFAR", (32, 32, 3), 100),
    "SVHN": ("CIFAR", (32, 32, 3), 10), "STL10": ("CIFAR", (96, 96, 3), 10),
}  # fmt: skip
_COUNTS = {"MNIST": "640,64", "CIFAR": "160,32", "FOLDER": "80,24"}


def count_of(kind: str) -> tuple[int, int]:
    """Pictures for training and for testing, of the environment variable ``PORTRUN_N_KIND``."""
    training, testing = os.environ.get(f"PORTRUN_N_{kind}", _COUNTS[kind]).split(",")
    return int(training), int(testing)


def noise(count: int, shape: tuple[int, ...], classes: int, seed: int) -> tuple[Any, list[int]]:
    """Pictures of bytes that tell their class, so that something can be learned, and the classes."""
    import numpy

    chance = numpy.random.default_rng(seed)
    means = numpy.random.default_rng(0).integers(40, 216, (classes, *shape))
    targets = chance.integers(0, classes, count)
    pictures = means[targets] + chance.normal(0, 30, (count, *shape))
    return pictures.clip(0, 255).astype("uint8"), [int(one) for one in targets]


def segmented(counts: dict[str, int], size: tuple[int, int], grain: int) -> None:
    """Pictures of noise with segments of 21 classes, laid out as those of Pascal VOC below ``made``.

    ``counts`` says how many each split has, ``size`` is height and width, ``grain`` the side of a segment in pixels.
    """
    import numpy
    from PIL import Image

    root = Path("made/VOCdevkit/VOC2012")
    for name in ("JPEGImages", "SegmentationClass", "ImageSets/Segmentation"):
        (root / name).mkdir(parents=True, exist_ok=True)
    chance = numpy.random.default_rng(0)
    for split, count in counts.items():
        names = [f"{split}{number}" for number in range(count)]
        (root / f"ImageSets/Segmentation/{split}.txt").write_text("\n".join(names) + "\n")
        for one in names:
            Image.fromarray(chance.integers(0, 255, (*size, 3)).astype("uint8")).save(root / f"JPEGImages/{one}.jpg")
            segments = chance.integers(0, 21, (size[0] // grain, size[1] // grain))
            mask = numpy.kron(segments, numpy.ones((grain, grain))).astype("uint8")
            Image.fromarray(mask).save(root / f"SegmentationClass/{one}.png")


def install() -> None:
    """Put them in place."""
    modules.when_imported("torchvision.datasets", _change_datasets)
    modules.when_imported("torchvision.utils", _change_drawing)


def _change_drawing(module: Any) -> None:
    module.save_image = lambda tensor, *_, **__: tensor.detach().cpu() if hasattr(tensor, "detach") else None


def _change_datasets(module: Any) -> None:
    for name, (kind, shape, classes) in _SHAPES.items():
        setattr(module, name, _data_set(name, kind, shape, classes))
    module.ImageFolder = _data_set("ImageFolder", "FOLDER", (64, 64, 3), 4)


def _data_set(name: str, kind: str, shape: tuple[int, ...], classes: int) -> type:
    import torch
    from PIL import Image

    class Pictures(torch.utils.data.Dataset):
        def __init__(
            self, root: Any = None, train: Any = True, transform: Any = None, target_transform: Any = None,
            download: bool = False, split: str | None = None, **_: Any,
        ) -> None:  # fmt: skip
            if callable(train):  # the second argument of a folder is the transform
                train, transform = True, train
            if split is not None:
                train = split.startswith(("train", "unlabeled"))
            if kind == "FOLDER" and any(word in str(root) for word in ("val", "test")):
                train = False
            self.root, self.train, self.transform, self.target_transform = root, train, transform, target_transform
            data, self.targets = noise(count_of(kind)[0 if train else 1], shape, classes, 1 if train else 2)
            self.data = torch.from_numpy(data) if kind == "MNIST" else data
            if kind == "MNIST":
                self.targets = torch.tensor(self.targets)
            self.labels = self.targets
            self.classes = [f"c{number}" for number in range(classes)]
            self.class_to_idx = {text: number for number, text in enumerate(self.classes)}
            self.samples = self.imgs = [(f"{number}.png", int(one)) for number, one in enumerate(self.targets)]

        def __len__(self) -> int:
            return len(self.data)

        def __getitem__(self, index: int) -> Any:
            import numpy

            picture = Image.fromarray(numpy.asarray(self.data[index]))
            target = int(self.targets[index])
            picture = picture if self.transform is None else self.transform(picture)
            return picture, target if self.target_transform is None else self.target_transform(target)

    Pictures.__name__ = Pictures.__qualname__ = name
    return Pictures
