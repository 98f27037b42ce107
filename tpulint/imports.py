"""Names that fixes bring in: which text to write, one import edit a round, removal of what fixes left unused."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile

from tpulint.model import Edit, ImportNeed, Span
from tpulint.semantic.syntax.module_body import imports_for_certain, imports_torch
from tpulint.semantic.syntax.nodes import FUNCTIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import Scope, SemanticIndex


_IMPORTED_FOR_EFFECT = {
    "torch_xla": "tells torch of the device xla",
    "torch_xla.distributed.xla_backend": "tells torch of the backend xla",
}
"""Modules whose name may well have no use, and what importing them does."""
_SETTINGS = (ast.Expr, ast.Assign, ast.AnnAssign)
"""What may stand between the imports at the top of a file."""


class ImportTable:
    """What a file imports already, and by which names."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index

    def local_name(
        self, module: str, name: str | None, alias: str | None, at: ast.AST | None
    ) -> tuple[str, ImportNeed | None]:
        """Text for ``module`` (or ``module.name``) at a node, and the import it still needs."""
        names = self._index.names
        wanted = f"{module}.{name}" if name else module
        scope = names.module if at is None else names.scope_of(at)
        existing = self._existing(wanted, scope, at) or self._imported_above(wanted, at)
        if existing is not None:
            return existing, None
        if alias is None and name is None and "." in module:
            # `import a.b` binds a: the whole dotted path is written.
            root = module.split(".", 1)[0]
            if not self._taken(root, root, scope):
                return module, ImportNeed(module)
            alias = module.rsplit(".", 1)[1]
        local = alias or name or module
        while self._taken(local, wanted, scope):
            local += "_"
        plain = name or module
        return local, ImportNeed(module, name, None if local == plain else local)

    def _existing(self, wanted: str, scope: Scope, at: ast.AST | None) -> str | None:
        """The local text that already means ``wanted``, seen from a scope; only imports at module level count.

        Of those, none that runs behind a node, as in a cell further down.
        """
        names = self._index.names
        is_placed = isinstance(at, ast.expr | ast.stmt) and scope is names.module
        here = self._index.span(at).start if at is not None and is_placed else len(self._index.source.text)
        for local, binding in self._index.module_body.imported:
            statement = binding.statement
            found = names.find(local, scope)
            if found is None or found[0] is not names.module or self._index.span(statement).start > here:
                continue
            qualified = names.qualified_binding(binding)
            if qualified == wanted:
                imported = binding.node
                assert isinstance(imported, ast.alias)
                if isinstance(statement, ast.Import) and not imported.asname and "." in imported.name:
                    if imported.name == wanted:
                        return wanted
                    continue  # `import a.b` does show `a`, which is what was asked for
                return local
        for node in self._index.module_body.imports:
            for item in node.names if self._index.span(node).start <= here else ():
                if (
                    item.asname is None
                    and item.name == wanted
                    and not self._taken(wanted.split(".", 1)[0], wanted.split(".", 1)[0], scope)
                ):
                    return wanted
                if item.asname is None and item.name.startswith(wanted + ".") and "." not in wanted:
                    return wanted
        return None

    def _imported_above(self, wanted: str, at: ast.AST | None) -> str | None:
        """The local text that means ``wanted`` by an import of the function itself, which runs before a node."""
        child = at
        for ancestor in self._index.tree.ancestors(at) if at is not None else ():
            if isinstance(child, ast.stmt):
                suite = self._index.tree.suite_of(child)
                for statement in suite[: suite.index(child)]:
                    if isinstance(statement, ast.Import | ast.ImportFrom):
                        for item in statement.names:
                            module = statement.module if isinstance(statement, ast.ImportFrom) else None
                            local = item.asname or item.name
                            is_wanted = wanted == (f"{module}.{item.name}" if module else item.name)
                            if is_wanted and self._means_nothing_else(local, statement):
                                return local
            if isinstance(ancestor, FUNCTIONS):
                return None
            child = ancestor
        return None

    def _means_nothing_else(self, local: str, statement: ast.stmt) -> bool:
        """Whether a name that a function imports is bound there by imports only."""
        found = self._index.names.find(local.split(".", 1)[0], self._index.names.scope_of(statement))
        return found is not None and all(binding.kind == "import" for binding in found[1])

    def _taken(self, local: str, wanted: str, scope: Scope) -> bool:
        """Whether a name already means something else in the module or where it is to be written.

        In a function an import binds the name for the whole of it: above the import, or where it is not reached,
        the name means nothing.
        """
        names = self._index.names
        for place in (names.module, scope):
            found = names.find(local, place)
            if found is None:
                continue
            if found[0] is names.module and all(
                b.kind == "import" and names.qualified_binding(b) == wanted for b in found[1]
            ):
                continue
            return True
        return False


def import_edit(index: SemanticIndex, needs: Iterable[ImportNeed], edits: Iterable[Edit] = ()) -> Edit | None:
    """One insertion that imports everything needed and not imported yet, for the sake of these edits.

    The place is below the last import of torch at the top, else below the last import, else below the docstring.
    Settings may stand between the imports of the top: those of the environment must, which torch reads when it is
    imported. In a notebook it is below the first import of torch in any cell, when no edit stands above it. Where the
    program does without torch when there is none, it is beside the import that may fail.
    """
    lines = []
    for need in sorted(set(needs), key=_order):
        if need.name is None:
            lines.append(f"import {need.module}" + (f" as {need.alias}" if need.alias else ""))
        else:
            lines.append(f"from {need.module} import {need.name}" + (f" as {need.alias}" if need.alias else ""))
    if not lines:
        return None
    source = index.source
    body = index.tree.module.body
    edits = list(edits)
    first_use = min((edit.span.start for edit in edits), default=len(source.text))
    if index.module_body.optional_torch is not None:
        from tpulint.optional_imports import beside_torch

        found = beside_torch(index, index.module_body.optional_torch, lines, first_use)
        if found is not None:
            return found
    above = takewhile(lambda statement: index.tree.end(statement) <= first_use, body)
    anchor = _below(_first_cell_of_torch(index, edits)) or _below(above) or _below(body)
    newline = source.newline
    if anchor is None:
        at = index.tree.start(body[0]) if body else 0
        at = source.line_start(at)
        # What the edits themselves put there stands between the imports and a definition.
        is_next = bool(body) and isinstance(body[0], (*FUNCTIONS, ast.ClassDef))
        set_off = newline * 2 if is_next and all(edit.span.start != at for edit in edits) else ""
        return Edit(Span(at, at), "".join(line + newline for line in lines) + set_off)
    end = index.tree.end(anchor)
    at = source.line_end(end)
    if source.text[end:at].lstrip().startswith(";"):
        return Edit(Span(end, end), "".join("; " + line for line in lines))
    gap = newline if isinstance(anchor, ast.Expr) else ""
    return Edit(Span(at, at), gap + "".join(newline + line for line in lines))


def _order(need: ImportNeed) -> tuple[bool, str, str, str]:
    return need.name is not None, need.module, need.name or "", need.alias or ""


def _below(body: Iterable[ast.stmt]) -> ast.stmt | None:
    """What stands above new imports, of the imports and the docstring that some statements begin with."""
    anchor: ast.stmt | None = None
    torch_import: ast.stmt | None = None
    torch_from: ast.stmt | None = None
    starred: ast.stmt | None = None
    is_top = True
    for number, statement in enumerate(body):
        if imports_for_certain(statement):
            anchor = statement if is_top else anchor
            if imports_torch(statement):
                if isinstance(statement, ast.ImportFrom):
                    torch_from = statement
                else:
                    torch_import = statement
            elif not is_top and isinstance(statement, ast.ImportFrom) and statement.names[0].name == "*":
                starred = statement  # torch may come by it, from where `sys.path` leads by now
        elif number == 0 and isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            anchor = statement
        elif torch_import or torch_from or isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
            break
        elif anchor is not None or number > 0 or not isinstance(statement, _SETTINGS):
            is_top = False
    return torch_import or torch_from or starred or anchor


def _first_cell_of_torch(index: SemanticIndex, edits: Iterable[Edit]) -> Sequence[ast.stmt]:
    """The statements of a notebook's first cell that imports torch, from that import on.

    None when an edit that needs the new imports stands above it.
    """
    cell = index.module_body.cell_of_torch
    first_use = min((edit.span.start for edit in edits), default=len(index.source.text))
    return cell if cell and index.tree.end(cell[0]) <= first_use else ()


def unused_imports(
    before: SemanticIndex, after: SemanticIndex
) -> list[tuple[ast.Import | ast.ImportFrom, list[ast.alias]]]:
    """Imports in ``after`` that have no use: they lost the last one through our edits, or are by us.

    Never in ``__init__.py``, never names in ``__all__``, never inside try or an if of the module: those imports may be
    there for others.
    """
    if before.source.path.replace("\\", "/").endswith("__init__.py"):
        return []
    from tpulint.semantic.syntax.hints import words_of_hints

    used_before = _used_names(before)
    used_after = _used_names(after) | after.source.other_words | words_of_hints(after.tree)
    exported = _exported(after)
    imported_before = names_imported(before)
    result = []
    for statement in _imports(after):
        gone = []
        for alias in statement.names:
            local = alias.asname or alias.name.split(".", 1)[0]
            if alias.name == "*" or local in used_after or local in exported:
                continue
            if local not in used_before and ast.dump(alias) in imported_before:
                continue  # it had no use before
            if alias.name in _IMPORTED_FOR_EFFECT and isinstance(statement, ast.Import):
                continue
            gone.append(alias)
        if gone and not (isinstance(statement, ast.ImportFrom) and statement.module == "__future__"):
            result.append((statement, gone))
    return result


def names_imported(index: SemanticIndex) -> set[str]:
    """What the module and its functions import, each name as it is written."""
    return {ast.dump(alias) for statement in _imports(index) for alias in statement.names}


def comments_on_effect(before: SemanticIndex, after: SemanticIndex) -> list[Edit]:
    """Tell other linters of imports by us whose name has no use; no longer, once it has one."""
    imported_before = {ast.dump(statement) for statement in _imports(before)}
    used, text = _used_names(after), after.source.text
    edits = []
    for statement in after.tree.module.body:
        if not isinstance(statement, ast.Import) or len(statement.names) > 1:
            continue
        alias, end = statement.names[0], after.tree.end(statement)
        comment = f"  # noqa: F401 - {_IMPORTED_FOR_EFFECT.get(alias.name)}"
        is_used = (alias.asname or alias.name.split(".", 1)[0]) in used
        is_ours = alias.name in _IMPORTED_FOR_EFFECT and ast.dump(statement) not in imported_before
        if is_used and text.startswith(comment, end):
            edits.append(Edit(Span(end, end + len(comment)), ""))
        elif is_ours and not is_used and text[end : end + 1] in ("", "\r", "\n"):
            edits.append(Edit(Span(end, end), comment))
    return edits


def _imports(index: SemanticIndex) -> list[ast.Import | ast.ImportFrom]:
    """Import statements of the module, those inside of try, if and classes left out, and of functions but for try."""
    bodies = [index.tree.module.body]
    for function in index.tree.functions:
        bodies.extend(_plain_blocks(function.body))
    return [item for body in bodies for item in body if isinstance(item, ast.Import | ast.ImportFrom)]


def _plain_blocks(body: list[ast.stmt]) -> Iterator[list[ast.stmt]]:
    """The statements of a function, and of its branches and loops: what they import nobody else sees."""
    yield body
    for statement in body:
        if isinstance(statement, ast.If | ast.For | ast.While | ast.With):
            yield from _plain_blocks(statement.body)
            yield from _plain_blocks(getattr(statement, "orelse", []))


def _used_names(index: SemanticIndex) -> set[str]:
    return {node.id for node in index.tree.names if isinstance(node.ctx, ast.Load)}


def _exported(index: SemanticIndex) -> set[str]:
    names: set[str] = set()
    for statement in index.tree.module.body:
        if isinstance(statement, ast.Assign) and any(
            isinstance(t, ast.Name) and t.id == "__all__" for t in statement.targets
        ):
            names.update(
                n.value for n in ast.walk(statement.value) if isinstance(n, ast.Constant) and isinstance(n.value, str)
            )
    return names
