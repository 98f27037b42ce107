"""Code that has to be compiled for GPUs: extensions of their own, what builds them, and functions that launch it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from tpulint.semantic.cuda.cuda_features import CudaFeatures
from tpulint.semantic.cuda.cuda_mentions import CudaMentions
from tpulint.semantic.syntax.nodes import FUNCTIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_MODULE = re.compile(r"(?i)_(?:cuda|gpu)\Z|\A(?:cuda|gpu)_|_cuda_")
_BUILT = ("cuda", "gpu")
"""What packages call the extension in them."""
_SOURCE = re.compile(r"\.cuh?\Z|(?i:cuda)\w*\.(?:c|cc|cpp|h|hpp|o|so)\Z|\AWITH_(?:CUDA|GPU)\Z")
_LAUNCHING = frozenset({"cupy", "triton", "torch.cuda.current_stream", "torch.cuda.default_stream"})
"""What a function launches a kernel with."""


class CudaKernels:
    """Answers about the code and the conditions of one file."""

    def __init__(self, index: SemanticIndex, features: CudaFeatures) -> None:
        self._index = index
        self._tree = index.tree
        self._placement = features.placement

    def are_needed_by(self, statements: Sequence[ast.stmt]) -> bool:
        """Whether one of these statements needs what is compiled for GPUs, and none places anything."""
        needed = any(self._need(statement) for statement in statements)
        return needed and not any(map(self._placement.places, statements))

    def _need(self, statement: ast.stmt) -> bool:
        """Whether a statement imports such an extension, ``import nms_cuda``, or names what one is built from."""
        if isinstance(statement, ast.Import):
            return any(_is_extension(alias.name) for alias in statement.names)
        if isinstance(statement, ast.ImportFrom):
            module = statement.module or ""
            if _is_extension(module) or (not module and any(_is_extension(alias.name) for alias in statement.names)):
                return True
            return module.partition(".")[0] != "torch" and any(map(self._is_built, statement.names))
        texts = (node.value for node in self._tree.nodes_in(statement, ast.Constant) if isinstance(node, ast.Constant))
        return any(isinstance(text, str) and _SOURCE.search(text) is not None for text in texts)

    def _is_built(self, alias: ast.alias) -> bool:
        """``from encoding import gpu``, of which the project has no file: it is built from kernels."""
        imported, name = self._index.imported, alias.asname or alias.name
        if alias.name not in _BUILT:
            return False
        return not imported.knows_others or imported.exported(name, self._index) is None

    def are_chosen_by(self, condition: ast.expr) -> bool:
        """Whether a condition opens functions that launch kernels, or asserts of CUDA, and decides no place.

        ``return Scan.apply(x) if use_cuda else x.cumsum(0)``, ``if use_cuda: assert x.is_cuda``.
        """
        choice = self._tree.parents[condition]
        if not isinstance(choice, ast.If | ast.IfExp) or choice.test is not condition:
            return False
        taken: Sequence[ast.AST] = choice.body if isinstance(choice, ast.If) else [choice.body]
        other: Sequence[ast.AST] = choice.orelse if isinstance(choice, ast.If) else [choice.orelse]
        if any(map(self._placement.places, (*taken, *other))):
            return False
        only_asserts = not other and all(map(_asserts_cuda, taken))
        return only_asserts or any(map(self.run_in, taken)) != any(map(self.run_in, other))

    def run_in(self, code: ast.AST) -> bool:
        """Whether code runs a function that launches kernels: ``Scan.apply(x)``, or the older ``Scan()(x)``."""
        calls = (node for node in (code, *self._tree.nodes_in(code, ast.Call)) if isinstance(node, ast.Call))
        return any(_launches_kernels(file, owner) for call in calls for file, owner in self._classes(call))

    def _classes(self, call: ast.Call) -> Iterator[tuple[SemanticIndex, ast.ClassDef]]:
        """The class that a call makes an object of, or one of whose methods it runs."""
        definitions, imported = self._index.definitions, self._index.imported
        node: ast.AST | None = definitions.class_called(call) or definitions.function_called(call)
        found = imported.called(call) if node is None else None
        file = self._index if found is None else found.file
        node = node if found is None else found.node
        owner = file.tree.class_of(node) if isinstance(node, FUNCTIONS) else node
        if isinstance(owner, ast.ClassDef):
            yield file, owner


def _launches_kernels(index: SemanticIndex, owner: ast.ClassDef) -> bool:
    """Whether a class is a ``torch.autograd.Function`` which computes by kernels that CUDA alone runs."""
    if not index.definitions.has_own_gradient(owner):
        return False
    if CudaMentions(index).are_in(owner, _LAUNCHING):
        return True
    names = (node for node in index.tree.nodes_in(owner, ast.Name) if isinstance(node, ast.Name))
    return any(_is_extension((index.qualified_name(name) or "").partition(".")[0]) for name in names)


def _asserts_cuda(item: ast.AST) -> bool:
    """``assert x.is_cuda and y.is_cuda``"""
    if not isinstance(item, ast.Assert):
        return False
    asked = item.test.values if isinstance(item.test, ast.BoolOp) else [item.test]
    return all(isinstance(one, ast.Attribute) and one.attr == "is_cuda" for one in asked)


def _is_extension(module: str) -> bool:
    return not module.startswith("torch.") and _MODULE.search(module.rpartition(".")[2]) is not None
