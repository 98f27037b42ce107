"""What a name of torch stands for that ``from helper import *`` brings in, by the imports of the file that it reads."""

from __future__ import annotations

import ast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.project.other_files import Library

_MODULES = frozenset({"torch.utils.data", "torch.utils.data.dataloader"})


def starred_name(index: SemanticIndex, library: Library | None, name: str) -> str | None:
    """The qualified name; None where no file in sight says it, or one defines something of its own under it."""
    seen: set[str] = set()
    waiting = [index]
    while waiting:
        file = waiting.pop()
        if file.source.path in seen:
            continue
        seen.add(file.source.path)
        bindings = file.names.bindings_in(file.names.module, name)
        if bindings:
            return file.names.qualified_binding(bindings[0]) if len(bindings) == 1 else None
        for statement in file.tree.module.body:  # the last one is looked at first
            if not isinstance(statement, ast.ImportFrom) or statement.names[0].name != "*":
                continue
            module = statement.module or ""
            if module in _MODULES and not statement.level:
                return f"torch.utils.data.{name}"
            found = None if library is None else library.module(file.source.path, statement.level, module)
            waiting += [] if found is None else [found]
    return None
