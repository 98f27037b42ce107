"""What the loops of Lightning take their batches from: what hooks give them, and what its trainer is given.

``def train_dataloader(self): return DataLoader(...)`` and ``trainer.fit(model, DataLoader(...))``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.semantic.project.other_files import Definition, with_bases
from tpulint.semantic.project.outside import EVALUATION, STEP

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

    _Source = tuple[ast.expr, str]

_HOOKS = {"train_dataloader": STEP, "val_dataloader": EVALUATION, "test_dataloader": EVALUATION}
_PACKAGES = ("lightning.", "pytorch_lightning.")
_CLASSES = ("LightningModule", "LightningDataModule")
_TRAINERS = ("Trainer", "Trainer.from_argparse_args")
_HOSTS = ("cpu", "mps")
_FITTED = {
    "train_dataloaders": STEP,
    "train_dataloader": STEP,  # its name until Lightning 1.4
    "val_dataloaders": EVALUATION,
}
_TESTED = {"dataloaders": EVALUATION, "test_dataloaders": EVALUATION, "val_dataloaders": EVALUATION}
_METHODS = {
    "fit": (("model", "train_dataloaders", "val_dataloaders"), _FITTED),
    "validate": (("model", "dataloaders"), _TESTED),
    "test": (("model", "dataloaders"), _TESTED),
}
"""Methods of the trainer that loop: what they are given by position, and what the turns are called that take it."""


def sources_of_lightning(index: SemanticIndex) -> Iterator[_Source]:
    """What loops of Lightning run over that this file gives them, with what the turns are called."""
    text = index.source.text
    trainers = [call for call in index.calls if _makes_trainer(index, call)] if "lightning" in text else []
    if trainers and all(map(_stays_on_host, trainers)):
        return
    for owner in index.tree.classes if "_dataloader" in text else ():
        for name, turn in _HOOKS.items() if _is_of_lightning(index, owner) else ():
            hook = index.definitions.method(owner, name)
            for value in index.definitions.returned_by(hook) if hook is not None else ():
                yield from ((part, turn) for part in _each(index, value))
    for call in index.tree.calls if "lightning" in text and "oader" in text else ():
        yield from _given_to_trainer(index, call)


def _is_of_lightning(index: SemanticIndex, owner: ast.ClassDef) -> bool:
    return any(
        name.startswith(_PACKAGES) and name.endswith(_CLASSES)
        for one in with_bases(Definition(index, owner))
        if isinstance(one.node, ast.ClassDef)
        for name in (one.file.qualified_name(base) or "" for base in one.node.bases)
    )


def _given_to_trainer(index: SemanticIndex, call: ast.Call) -> Iterator[_Source]:
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in _METHODS:
        return
    parameters, turns = _METHODS[call.func.attr]
    given = index.call_arguments.of(call, parameters) or {}
    found = [(value, turn) for name, turn in turns.items() for value in given.get(name, ())]
    if found and _is_trainer(index, call.func.value):
        yield from ((part, turn) for value, turn in found for part in _each(index, value))


def _each(index: SemanticIndex, value: ast.expr) -> Iterator[ast.expr]:
    """Each loader of several that are given in a list or a dictionary."""
    yield value
    for made in index.moves.creations.of(value):
        node = made.node if not made.path else None
        yield from node.elts if isinstance(node, ast.List | ast.Tuple) else ()
        yield from node.values if isinstance(node, ast.Dict) else ()


def _is_trainer(index: SemanticIndex, node: ast.expr) -> bool:
    """Whether an object is a trainer of Lightning that is not told to stay on the host."""
    made = [one.node for one in index.moves.creations.of(node) if isinstance(one.node, ast.Call) and not one.path]
    trainers = [call for call in made if _makes_trainer(index, call)]
    return bool(trainers) and not any(map(_stays_on_host, trainers))


def _makes_trainer(index: SemanticIndex, call: ast.Call) -> bool:
    name = index.qualified_name(call.func) or ""
    return name.startswith(_PACKAGES) and name.endswith(_TRAINERS)


def _stays_on_host(trainer: ast.Call) -> bool:
    """``Trainer(accelerator="cpu")``"""
    return any(
        keyword.arg == "accelerator" and isinstance(keyword.value, ast.Constant) and keyword.value.value in _HOSTS
        for keyword in trainer.keywords
    )
