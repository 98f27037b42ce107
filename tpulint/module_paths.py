"""Where the file may lie that an import of a project reads."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator

_FOLDERS_ABOVE = 4
"""How far above a file the folder may be that absolute imports start from."""
_FOLDERS_ABOVE_CONFIGURATIONS = 8
"""The same for the top of the project: configurations lie deep, one folder for each of what is combined."""
_PUT_ON_PATH = ("lib", "src", "core", "common", "models", "model", "networks", "furnace")
"""Folders beside scripts that these put on ``sys.path`` themselves, often in a module of its own, ``_init_paths``, or
a shell script by ``PYTHONPATH``."""
_PROJECT_MARKS = (".git", "pyproject.toml")
_SETUP = "setup.py"
"""A mark of a project, too, or what builds an extension that lies within one, ``models/ops/setup.py``."""
_NOT_OURS = (sys.stdlib_module_names - {"test", "code", "trace"}) | {
    "torch", "torchvision", "torchaudio", "torchtext", "torch_xla", "numpy", "scipy", "pandas", "tqdm", "matplotlib",
    "transformers", "accelerate", "PIL", "cv2", "wandb", "sklearn", "yaml", "timm", "tensorboardX",
    "einops", "lightning", "pytorch_lightning", "tensorflow", "jax", "gym", "gymnasium", "requests", "click", "rich",
    "tpulint_runtime",
}  # fmt: skip
"""First names of imports that no look at the disk is spent on. ``import test`` reads the file beside a script."""


class ModulePaths:
    """Where to look for modules. The folders that a file's imports start from are looked for once."""

    def __init__(self) -> None:
        self._roots: dict[str, tuple[str, ...]] = {}

    def of(self, importer: str, level: int, name: str, has_folder: Callable[[str], bool]) -> Iterator[str]:
        """Files that ``from {level dots}{name} import ...`` in a file, by absolute path, may read, the first first.

        ``has_folder`` tells of folders that packages may lie in: without one it is not looked for what lies in it.
        """
        parts = [part for part in name.split(".") if part]
        if not level and (not parts or parts[0] in _NOT_OURS):
            return
        folder = os.path.dirname(importer)
        for _ in range(level - 1):
            folder = os.path.dirname(folder)
        below = os.sep.join(parts)
        for root in (os.path.join(folder, ""),) if level else self._roots_above(folder):
            if len(parts) > 1 and not has_folder(root + parts[0]):
                continue
            # `from model import Net` in `utils/model.py` means another `model`, further up.
            if below and f"{root}{below}.py" != importer:
                yield f"{root}{below}.py"
            yield f"{root}{below}{os.sep}__init__.py" if below else f"{root}__init__.py"

    def _roots_above(self, folder: str) -> tuple[str, ...]:
        """Folders that absolute imports of a file may start from: its own, those above it, then ``lib`` in them.

        They end in a separator.
        """
        found = self._roots.get(folder)
        if found is None:
            above = _folders_above(folder, beyond_setups=True)
            beside = (os.path.join(one, name) for one in above for name in _PUT_ON_PATH)
            roots = dict.fromkeys((*above, *filter(os.path.isdir, beside)))
            found = self._roots[folder] = tuple(os.path.join(root, "") for root in roots)
        return found


def project_top(folder: str) -> str:
    """The folder of the project that a folder lies in; the folder itself where no mark of a project is near."""
    above = _folders_above(folder)
    return above[-2] if len(above) > 1 and above[-1] == os.path.join(above[-2], "src") else folder


def scripts_top(folder: str) -> str:
    """The same for a folder that may hold no Python: without a mark near, the nearest one above that does."""
    above = _folders_above(folder, _FOLDERS_ABOVE_CONFIGURATIONS)
    if len(above) > 1 and above[-1] == os.path.join(above[-2], "src"):
        return above[-2]
    return next(filter(_holds_python, above), folder)


def code_top(folder: str) -> str:
    """The top of the project that a folder lies in; without a mark near, the last one above that still holds Python."""
    top = project_top(folder)
    if top == folder and not _has_any(folder, (*_PROJECT_MARKS, _SETUP)):
        for above in _folders_above(folder):
            if not _holds_python(above):
                break
            top = above
    return top


def _holds_python(folder: str) -> bool:
    try:
        return any(name.endswith(".py") for name in os.listdir(folder))
    except OSError:
        return False


def _folders_above(folder: str, most: int = _FOLDERS_ABOVE, beyond_setups: bool = False) -> list[str]:
    """A folder and those above it, up to the top of the project and its ``src``, if that is near.

    A ``setup.py`` within a package, beside ``__init__.py``, is the top only where nothing above is one. Imports may
    start above any, ``beyond_setups``: what lies beside it may be written from the top of the repository.
    """
    above = []
    tops = 0
    current = folder
    for _ in range(most + 1):
        above.append(current)
        is_top, has_setup = _has_any(current, _PROJECT_MARKS), _has_any(current, (_SETUP,))
        if is_top or has_setup:
            tops = len(above)
        if is_top or (has_setup and not beyond_setups and not _has_any(current, ("__init__.py",))):
            break
        if os.path.dirname(current) == current:
            break
        current = os.path.dirname(current)
    return [*above[:tops], os.path.join(above[tops - 1], "src")] if tops else above


def _has_any(folder: str, names: tuple[str, ...]) -> bool:
    return any(os.path.exists(os.path.join(folder, name)) for name in names)
