"""More stand-ins: files and libraries that some public scripts want, beyond what every script is given.

Importing it lets ``sklearn``, ``pandas`` and other libraries that are not installed be imported; what is imported takes
every call. All data is noise with a fixed seed.
"""

import importlib.abc
import importlib.machinery
import sys
from pathlib import Path
from typing import Any

import modules
import numpy
import pictures

_MISSING = frozenset({
    "apex", "click", "configargparse", "d4rl", "dill", "dotmap", "fire", "imageio", "inflect", "librosa", "lpips",
    "madgrad", "matplotlib", "mpi4py", "nltk", "numba", "pandas", "path", "plyfile", "pretrainedmodels",
    "prettytable", "progress", "pybullet_envs", "pycocotools", "pytorch_metric_learning", "pytorch_msssim",
    "reformer_pytorch", "roboschool", "seaborn", "skimage", "sklearn", "soundfile", "tabulate", "tensorboard",
    "tensorboard_logger", "termcolor", "timm", "torchaudio", "torchdiffeq", "torchinfo", "unidecode", "wget",
})  # fmt: skip


class Bar(modules.Anything):
    """A progress bar that shows nothing: what it is given was made into text already."""

    elapsed_td = eta_td = "0:00:00"


def _attribute(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return modules.Anything if name[0].isupper() else modules.Anything()


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """The last of all finders: what nobody has."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name.partition(".")[0] not in _MISSING:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: Any) -> Any:
        return None

    def exec_module(self, module: Any) -> None:
        module.__path__ = []
        module.__getattr__ = _attribute
        if module.__name__ == "progress.bar":
            module.Bar = Bar


def folder_of_pictures(
    folder: str | Path, count: int, size: int = 32, classes: int = 2, suffix: str = ".png", mode: str = "RGB"
) -> None:
    """``folder/class_0/0000.png`` and so on; without classes ``folder/0000.png``."""
    from PIL import Image

    data, labels = pictures.noise(count, (size, size, 3), max(classes, 1), 3)
    for number, (one, label) in enumerate(zip(data, labels, strict=True)):
        place = Path(folder) / f"class_{label}" if classes else Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        Image.fromarray(one).convert(mode).save(place / f"{number:04d}{suffix}")


def words(count: int, vocabulary: int = 40, seed: int = 0) -> list[str]:
    """Words of a language with few of them, the first ones more often."""
    chance = numpy.random.default_rng(seed)
    return [f"w{int(number)}" for number in (vocabulary * chance.random(count) ** 2)]


sys.meta_path.append(_Finder())


def smaller_batches(size: int) -> None:
    """No data loader of the script has larger ones: for sizes that are written into its text."""

    def change(module: Any) -> None:
        before = module.DataLoader.__init__

        def init(self: Any, dataset: Any, batch_size: int | None = 1, *given: Any, **named: Any) -> None:
            before(self, dataset, batch_size if batch_size is None else min(batch_size, size), *given, **named)

        module.DataLoader.__init__ = init

    modules.when_imported("torch.utils.data.dataloader", change)


def _give_back_next(module: Any) -> None:
    """Iterators of loaders had a method ``next`` in the Python that older scripts were written for."""
    module._BaseDataLoaderIter.next = module._BaseDataLoaderIter.__next__


modules.when_imported("torch.utils.data.dataloader", _give_back_next)
