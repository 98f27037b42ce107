"""The statements of the module itself: its imports, and whether it is a script. Worked out once, asked per finding."""

from __future__ import annotations

import ast
from functools import cached_property

from tpulint.semantic.syntax.nodes import FUNCTIONS
from tpulint.semantic.syntax.variables import last_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.syntax.bindings import Binding

_SETTINGS = (
    "builtins.", "collections.", "dataclasses.", "enum.", "functools.", "logging.", "os.", "packaging.", "pathlib.",
    "re.", "sys.", "typing.", "warnings.", "torch.__version__", "torch.version.", "torch.device", "torch.cuda.",
    "torch.accelerator.", "torch.backends.", "torch_xla.", "tpulint_runtime.", "matplotlib.use", "matplotlib.rc",
    "numpy.set_printoptions", "numpy.random.seed", "random.seed", "torch.manual_seed", "torch.set_printoptions",
)  # fmt: skip
"""Beginnings of the names a module may well call when it is imported."""
_ENDS = frozenset({"exit", "_exit", "quit", "abort"})
_DEFINITIONS = (*FUNCTIONS, ast.ClassDef)


def imports_torch(statement: ast.stmt) -> bool:
    """Whether a statement imports torch or torch_xla, or something of them."""
    if isinstance(statement, ast.Import):
        return any(_is_torch(alias.name) for alias in statement.names)
    if isinstance(statement, ast.Try):
        return imports_for_certain(statement) and any(map(imports_torch, statement.body))
    return isinstance(statement, ast.ImportFrom) and _is_torch(statement.module or "")


def imports_for_certain(statement: ast.AST) -> bool:
    """Whether what stands behind a statement can count on its imports: ``try: import a`` may end the program."""
    if not isinstance(statement, ast.Try) or statement.orelse or statement.finalbody:
        return isinstance(statement, ast.Import | ast.ImportFrom)
    is_import = all(isinstance(item, ast.Import | ast.ImportFrom) for item in statement.body)
    return is_import and all(isinstance(handler.body[-1], ast.Raise) for handler in statement.handlers)


def _may_do_without(statement: ast.stmt) -> bool:
    """Whether a ``try`` imports torch, and the program goes on where there is none: ``except: torch = None``."""
    if not isinstance(statement, ast.Try) or not any(map(imports_torch, statement.body)):
        return False
    return any(not _ends_program(handler.body[-1]) for handler in statement.handlers)


def _ends_program(statement: ast.stmt) -> bool:
    """``raise``, or ``sys.exit("torch is needed")``"""
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(statement, ast.Raise) or (isinstance(call, ast.Call) and last_name(call.func) in _ENDS)


def _is_plain(statement: ast.stmt) -> bool:
    """Whether a statement may stand between imports."""
    return isinstance(statement, ast.Import | ast.ImportFrom | ast.Expr | ast.Assign | ast.AnnAssign | ast.Try | ast.If)


def _is_given_name(call: ast.Call) -> bool:
    """``log.get_logger(__name__)``: what a module asks for in its own name."""
    return any(isinstance(item, ast.Name) and item.id == "__name__" for item in call.args)


def _is_torch(module: str) -> bool:
    return module.split(".", 1)[0] in ("torch", "torch_xla")


class ModuleBody:
    """Answers about the module's own statements. Lazy, memoised."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index

    @cached_property
    def is_script(self) -> bool:
        """Whether the file is run, not imported: a module must not start the runtime when it is imported."""
        if self._index.source.cell_starts:
            return True  # nobody imports a notebook
        if self._index.mentions(r"__main__"):
            return True
        return any(map(self._does_work, self._index.tree.module.body)) and not self._index.imported.has_importers

    def _does_work(self, statement: ast.stmt) -> bool:
        """Whether a statement of the module computes something, beyond names, settings and the choice of a device."""
        if isinstance(statement, (*FUNCTIONS, ast.ClassDef, ast.Import, ast.ImportFrom)):
            return False
        if isinstance(statement, ast.For | ast.While | ast.With):
            return True
        calls = (node for node in self._index.tree.inside(statement, functions=False) if isinstance(node, ast.Call))
        return any(
            not (self._index.qualified_name(call.func) or "").startswith(_SETTINGS) and not _is_given_name(call)
            for call in calls
        )

    @cached_property
    def last_import(self) -> ast.stmt | None:
        """The last import in front of all definitions and loops, and of what may want the device already."""
        if self.optional_torch is not None:
            return None  # the device is there where torch is
        found: ast.stmt | None = None
        # Nothing can want the device, or name it, before torch is there.
        body = self.cell_of_torch or self._index.tree.module.body
        torch = next((item for item in body if imports_torch(item) or isinstance(item, _DEFINITIONS)), None)
        for statement in body:
            if imports_for_certain(statement):
                found = statement
                continue
            is_early = torch is not None and imports_torch(torch) and statement.lineno < torch.lineno
            if not is_early and (not _is_plain(statement) or (found and self._does_work(statement))):
                break
        return found

    @cached_property
    def optional_torch(self) -> ast.Try | None:
        """The ``try`` that imports torch for a program which runs without it, too; None where torch has to be there."""
        body = self._index.tree.module.body
        if self._index.source.cell_starts or any(map(imports_torch, body)):
            return None
        return next((one for one in body if isinstance(one, ast.Try) and _may_do_without(one)), None)

    @cached_property
    def cell_of_torch(self) -> list[ast.stmt]:
        """The statements of the first cell of a notebook that imports torch, from there on."""
        source, body = self._index.source, self._index.tree.module.body
        at = next((at for at, one in enumerate(body) if imports_torch(one)), None) if source.cell_starts else None
        if at is None:
            return []
        lower = source.cell_rows(body[at].lineno)[1]
        return [one for one in body[at:] if one.lineno <= lower]

    @cached_property
    def imports(self) -> list[ast.Import]:
        """The ``import ...`` statements, in order."""
        body = self._index.tree.module.body
        certain = [item for node in body if imports_for_certain(node) for item in getattr(node, "body", [node])]
        certain += [*self.optional_torch.body, *self.optional_torch.orelse] if self.optional_torch is not None else []
        return [node for node in certain if isinstance(node, ast.Import)]

    @cached_property
    def imported(self) -> list[tuple[str, Binding]]:
        """Names of the module that only one import statement of its own binds."""
        names, tree = self._index.names, self._index.tree
        found = []
        for local, bindings in names.variables_of(names.module).items():
            if len(bindings) == 1 and bindings[0].kind == "import":
                around = tree.parents[bindings[0].statement]
                is_certain = tree.parents.get(around) is tree.module and imports_for_certain(around)
                if around is tree.module or is_certain or around is self.optional_torch:
                    found.append((local, bindings[0]))
        return found
