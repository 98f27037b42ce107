"""Hooks of training frameworks: methods that a loop in Lightning or Transformers calls in every step or batch."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tpulint.records import NamedTuple
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import FunctionNode
from tpulint.semantic.syntax.tree import SyntaxTree

_SOURCES = r"(?m)^\s*(?:from|import)\s+(?:lightning|pytorch_lightning|transformers|trl)\b"
_FRAMEWORKS = ("lightning", "transformers", "trl")
_LIGHTNING = ("lightning.", "pytorch_lightning.")
_TRANSFORMERS = ("transformers.", "trl.")
_MODULE = frozenset({
    "training_step", "on_before_backward", "on_after_backward", "on_before_optimizer_step", "on_before_zero_grad",
    "configure_gradient_clipping", "on_train_batch_end",
})  # fmt: skip
_TRAINER = frozenset({"compute_loss", "training_step"})
_CALLBACK = frozenset({"on_step_end", "on_substep_end", "on_pre_optimizer_step", "on_optimizer_step"})
_BEHIND = "on_train_batch_end"
"""The one hook that runs behind the boundary, which Lightning sets with the update of the parameters."""
_BATCHES = frozenset({"batch", "inputs", "outputs", "loss", "batch_inputs"})
_MODELS = frozenset({"model", "pl_module"})
_DEPTH = 5


class Hook(NamedTuple):
    """One method that a framework calls in every step."""

    function: FunctionNode
    framework: str
    """``Lightning`` or ``Transformers``."""
    is_behind: bool
    """Whether it runs behind the framework's step boundary."""


class Hooks:
    """The hooks of one file."""

    def __init__(self, tree: SyntaxTree, names: Names) -> None:
        self._tree = tree
        self._names = names
        self._hooks: dict[FunctionNode, Hook] | None = None

    @property
    def all(self) -> list[Hook]:
        """In order of position."""
        return list(self._found.values())

    def batch_parameters(self, function: FunctionNode) -> frozenset[str]:
        """Parameters of a hook that hold what is on the device."""
        return _BATCHES if function in self._found else frozenset()

    def model_parameters(self, function: FunctionNode) -> frozenset[str]:
        """Parameters of a hook that are the model."""
        return _MODELS if function in self._found else frozenset()

    @property
    def _found(self) -> dict[FunctionNode, Hook]:
        if self._hooks is None:
            self._hooks = {}
            text = self._tree.source.text
            if any(word in text for word in _FRAMEWORKS) and re.search(_SOURCES, text):
                self._hooks = {hook.function: hook for hook in self._find()}
        return self._hooks

    def _find(self) -> Iterator[Hook]:
        for function in self._tree.functions:
            if function.name not in _MODULE and function.name not in _TRAINER and function.name not in _CALLBACK:
                continue
            owner = self._tree.parents.get(function)
            base = self._base_of(owner, 0) if isinstance(owner, ast.ClassDef) else ""
            last = base.rpartition(".")[2]
            if base.startswith(_LIGHTNING):
                if last in ("LightningModule", "LightningDataModule", "Callback") and function.name in _MODULE:
                    yield Hook(function, "Lightning", function.name == _BEHIND)
                continue
            hooks = _CALLBACK if last.endswith("Callback") else _TRAINER if last.endswith("Trainer") else frozenset()
            if base and function.name in hooks:
                yield Hook(function, "Transformers", False)

    def _base_of(self, owner: ast.ClassDef, depth: int) -> str:
        """The class of a framework that a class of this file is made of; empty when there is none."""
        for base in owner.bases:
            name = self._names.qualified(base)
            if name is not None and name.startswith((*_LIGHTNING, *_TRANSFORMERS)):
                return name
            if isinstance(base, ast.Name) and depth < _DEPTH:
                bindings = self._names.bindings(base)
                made = bindings[0].node if len(bindings) == 1 else None
                if isinstance(made, ast.ClassDef) and made is not owner:
                    found = self._base_of(made, depth + 1)
                    if found:
                        return found
        return ""
