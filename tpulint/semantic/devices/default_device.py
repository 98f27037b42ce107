"""``torch.set_default_tensor_type(torch.cuda.FloatTensor)``: it also decides where ``torch.Tensor(...)`` makes tensors.

``torch.set_default_device``, which takes its place on XLA, does not: ``torch.Tensor([1.0])`` then lies on the host.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator, Sequence

from tpulint.semantic.project.outside import CONSTRUCTOR, NOW_AND_THEN, OutgoingCall, OutsideCall
from tpulint.semantic.values.value import Kind, Side

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.syntax.names import Names
    from tpulint.semantic.syntax.tree import SyntaxTree

_SETTERS = ("torch.set_default_tensor_type", "torch.set_default_device")
_WORD = "set_default_"
_PLACED = frozenset({"to", "cuda", "cpu", "numpy", "tolist", "item", "type", "type_as", "share_memory_", "pin_memory"})
"""Methods that say where a tensor lies, or take it to be on the host."""
_MADE_THERE = frozenset({
    "tensor", "as_tensor", "scalar_tensor", "zeros", "ones", "empty", "full", "eye", "empty_strided", "rand", "randn",
    "randint", "randperm", "arange", "linspace", "logspace", "tril_indices", "triu_indices", "hann_window",
    "hamming_window",
})  # fmt: skip
"""Functions of torch that make what they make on the default device, before a port and after it.

Under ``torch.set_default_device``, ``torch.normal(0.0, 1.0, (2,))`` and ``torch.range`` make it on the host (2.9).
"""
_MOST_FILES = 30
"""Of a project that are told of a default."""


def files_told(index: SemanticIndex) -> Iterator[OutgoingCall]:
    """Files that make tensors under the default that this one sets, each as a call of ``torch.Tensor(...)`` there.

    Of a notebook none: the files of a course serve others, too, that set none.
    """
    if index.source.cell_starts:
        return
    if not any(_is_accelerator(call) for setter in _SETTERS for call in index.calls_to(setter)):
        return
    told = (("", Kind.DEVICE.name, Side.DEVICE.name),)
    found, waiting = {os.path.abspath(index.source.path)}, [index]
    while waiting and len(found) < _MOST_FILES:
        for file in waiting.pop().imported.files():
            if (path := os.path.abspath(file.source.path)) not in found:
                found.add(path)
                waiting.append(file)
                if "torch" in file.source.text:
                    caller = os.path.basename(index.source.path)
                    call = OutsideCall(CONSTRUCTOR, NOW_AND_THEN, False, False, told, caller)
                    yield OutgoingCall(file.source.path, call)


def is_default(index: SemanticIndex) -> bool:
    """Whether tensors that are made without a device lie on the accelerator in this file, by it or another."""
    if setter_of(index) or any(_chooses_one(index.names, call) for call in index.calls_to(*_SETTERS)):
        return True
    others = index.imported.files() if index.imported.knows_others else ()
    return any(map(sets_as_it_is_imported, others))


def sets_as_it_is_imported(file: SemanticIndex) -> bool:
    """Whether a file sets the default at its top, which holds for whoever imports it from then on."""
    if _WORD not in file.source.text:
        return False
    setters = (call for call in file.calls_to(*_SETTERS) if file.tree.function_of(call) is None)
    run = (call for call in setters if not file.definitions.is_of_main(call))
    return any(_chooses_one(file.names, call) for call in run)


def _chooses_one(names: Names, setter: ast.Call) -> bool:
    """``torch.set_default_device("cuda")``, or that of a variable which holds nothing but the device of XLA."""
    if _is_accelerator(setter):
        return True
    given = setter.args[0] if setter.args else None
    values = [binding.value for binding in names.bindings(given)] if isinstance(given, ast.Name) else [given]
    made = [names.qualified(value.func) if isinstance(value, ast.Call) else None for value in values]
    return bool(made) and all(name in ("torch_xla.device", "torch_xla.core.xla_model.xla_device") for name in made)


class MadeTensors:
    """Where tensors lie that calls of one file make without a device."""

    def __init__(self, tree: SyntaxTree, names: Names, outside: Sequence[OutsideCall]) -> None:
        self._tree = tree
        self.is_told = any(call.function == CONSTRUCTOR for call in outside)
        """Whether another file sets the default, in front of all that this one runs."""
        self._setters = names.calls_to(*_SETTERS) if _WORD in tree.source.text else []
        self._chosen = [call for call in self._setters if _chooses_one(names, call)]

    def side(self, call: ast.Call, made_by: str) -> Side:
        """``torch.rand(8)`` lies on the default device, ``torch.from_numpy(rows)`` on the host.

        Nobody knows of tensors that are made before a default is set, as the samples of a data set, or under one that
        is changed again.
        """
        if not self.is_told and not self._setters:
            return Side.HOST
        if made_by not in _MADE_THERE or _is_of_samples(self._tree, call):
            return Side.UNKNOWN
        if any(setter not in self._chosen and not self._stands_for_cpu(setter) for setter in self._setters):
            return Side.UNKNOWN
        function = self._tree.function_of(call)
        is_set = self.is_told and function is not None
        return Side.DEVICE if is_set or any(self._runs_before(one, call) for one in self._chosen) else Side.UNKNOWN

    def _runs_before(self, setter: ast.Call, call: ast.Call) -> bool:
        """Whether a program sets the default in front of a call: at its top, or in the function around the call."""
        within, function = self._tree.function_of(setter), self._tree.function_of(call)
        if within is function:
            return self._tree.start(setter) < self._tree.start(call)
        return within is None or (within.name == "main" and function is not None)

    def _stands_for_cpu(self, setter: ast.Call) -> bool:
        """Whether another default is that of machines without an accelerator: ``if use_cuda: ... else: setter``."""
        child: ast.AST = setter
        for ancestor in self._tree.ancestors(setter):
            if isinstance(ancestor, ast.If) and child in ancestor.orelse:
                return any(self._tree.encloses(one, chosen) for one in ancestor.body for chosen in self._chosen)
            child = ancestor
        return False


def setter_of(index: SemanticIndex) -> str:
    """Name of a file that imports this one and sets the default; empty for none."""
    return next((call.caller for call in index.outside if call.function == CONSTRUCTOR), "")


def constructions(index: SemanticIndex, setting: ast.Call | None = None) -> list[ast.Call]:
    """Calls of ``torch.Tensor`` that run behind the ``setting``, whose tensor is not placed at once.

    Without one, another file sets the default: what stands in no function has run before.
    """
    return [
        call
        for call in index.calls_to(CONSTRUCTOR)
        if index.tree.function_of(call) is not None
        or any(isinstance(node, ast.Lambda) for node in index.tree.ancestors(call))
        or (setting is not None and index.tree.function_of(setting) is None and call.lineno > setting.lineno)
        if not call.keywords and not _is_placed(index, call) and not _is_of_samples(index.tree, call)
    ]


def _is_of_samples(tree: SyntaxTree, call: ast.Call) -> bool:
    """Whether a data loader runs the call: samples are made on the host, and moved as a batch."""
    name = getattr(tree.function_of(call), "name", "")
    return name in ("__getitem__", "__iter__") or "collate" in name


def _is_placed(index: SemanticIndex, call: ast.Call) -> bool:
    node: ast.AST = call
    while True:
        parent = index.tree.parents[node]
        if isinstance(parent, ast.Attribute):
            if parent.attr in _PLACED:
                return True
        elif not isinstance(parent, ast.Call) or parent.func is not node:
            return False
        node = parent


def _is_accelerator(call: ast.Call) -> bool:
    """Whether the default is a class of CUDA, a GPU or the XLA device."""
    given = call.args[0] if call.args else None
    if isinstance(given, ast.Constant):
        return str(given.value).startswith(("torch.cuda.", "cuda", "xla"))
    return any(isinstance(node, ast.Attribute) and node.attr == "cuda" for node in ast.walk(given or call))
