"""Data loaders that hooks of Lightning hand to its loops: ``def train_dataloader(self): return DataLoader(...)``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.semantic.outside import EVALUATION, STEP

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.loaders import Loader

_HOOKS = {"train_dataloader": STEP, "val_dataloader": EVALUATION, "test_dataloader": EVALUATION}
_PACKAGES = ("lightning.", "pytorch_lightning.")
_CLASSES = ("LightningModule", "LightningDataModule")


def loaders_of_hooks(index: SemanticIndex) -> Iterator[tuple[Loader, str]]:
    """Loaders of the file with what the turns are called that take their batches; each once, training first."""
    found: dict[ast.Call, str] = {}
    for owner in index.tree.classes if "_dataloader" in index.source.text and index.loaders.all else ():
        for name, turn in _HOOKS.items() if _is_of_lightning(index, owner) else ():
            hook = index.definitions.method(owner, name)
            values = [] if hook is None else index.definitions.returned_by(hook)
            for call in index.loaders.behind(values):
                found.setdefault(call, turn)
    yield from ((loader, found[loader.call]) for loader in index.loaders.all if loader.call in found)


def _is_of_lightning(index: SemanticIndex, owner: ast.ClassDef) -> bool:
    bases = (index.qualified_name(base) or "" for one in index.names.classes_above(owner) for base in one.bases)
    return any(name.startswith(_PACKAGES) and name.endswith(_CLASSES) for name in bases)
