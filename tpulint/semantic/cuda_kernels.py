"""Code that has to be compiled for GPUs: extensions of their own, and what builds them."""

from __future__ import annotations

import ast
import re

from tpulint.semantic.tree import SyntaxTree

_MODULE = re.compile(r"(?i)_(?:cuda|gpu)\Z|\A(?:cuda|gpu)_|_cuda_")
_SOURCE = re.compile(r"\.cuh?\Z|(?i:cuda)\w*\.(?:c|cc|cpp|h|hpp|o|so)\Z|\AWITH_(?:CUDA|GPU)\Z")


def needs_kernels(tree: SyntaxTree, statement: ast.stmt) -> bool:
    """Whether a statement imports such an extension, ``import nms_cuda``, or names what one is built from."""
    if isinstance(statement, ast.Import):
        return any(_is_extension(alias.name) for alias in statement.names)
    if isinstance(statement, ast.ImportFrom):
        module = statement.module or ""
        return _is_extension(module) or (not module and any(_is_extension(alias.name) for alias in statement.names))
    texts = (node.value for node in tree.nodes_in(statement, ast.Constant) if isinstance(node, ast.Constant))
    return any(isinstance(text, str) and _SOURCE.search(text) is not None for text in texts)


def _is_extension(module: str) -> bool:
    return not module.startswith("torch.") and _MODULE.search(module.rpartition(".")[2]) is not None
