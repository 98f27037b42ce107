"""The part of faiss that only its build for CUDA has: indexes that search on a GPU."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tpulint.semantic import SemanticIndex

_OF_GPU = re.compile(r"(?:StandardGpu|Gpu)[A-Z]|index_(?:cpu_to|gpu_to)_|(?:knn|pairwise_distance)_gpu$")
"""Names that faiss-cpu does not have, or has and fails in."""
_COUNTS_GPUS = "faiss.get_num_gpus"
"""What faiss-cpu answers as well: none."""
_BRANCHES = (ast.If, ast.IfExp, ast.Try, ast.Match, ast.While)


def gpu_indexes(index: SemanticIndex) -> Iterator[tuple[ast.expr, str]]:
    """The first such name in each function, where no branch leads past it."""
    if any(True for _ in index.references(_COUNTS_GPUS)):
        return
    seen: set[ast.AST | None] = set()
    for node, name in index.references("faiss"):
        function = index.function_of(node)
        if function in seen or not _OF_GPU.match(name.removeprefix("faiss.")):
            continue
        if not any(isinstance(ancestor, _BRANCHES) for ancestor in index.tree.ancestors(node)):
            seen.add(function)
            yield node, name
