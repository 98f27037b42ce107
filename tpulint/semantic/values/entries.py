"""What a dictionary or list holds that is written out, or built for many keys."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.semantic.batches.batch_loops import gone_through
from tpulint.semantic.values.creations import ANY_ELEMENT, Creation
from tpulint.semantic.values.module_lists import source_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_IN_PAIRS = ("builtins.enumerate", "builtins.zip")
_LISTS = (ast.List, ast.Tuple, ast.ListComp, ast.GeneratorExp)


def entries(node: ast.AST) -> list[tuple[ast.expr | None, ast.expr]]:
    """Keys and values of a dictionary; what is built for many keys has none."""
    if isinstance(node, ast.DictComp):
        return [(None, node.value)]
    return list(zip(node.keys, node.values, strict=True)) if isinstance(node, ast.Dict) else []


def entries_named(creation: Creation) -> Iterator[ast.expr]:
    """What an element may be that a constant key names in a dictionary, or any index in a list."""
    if len(creation.path) != 1:
        return
    wanted = creation.path[0]
    if isinstance(creation.node, ast.List | ast.Tuple) and wanted.startswith("["):
        items = enumerate(creation.node.elts)
        yield from (item for at, item in items if wanted == f"[{at}]" or not wanted[1:-1].isdigit())
    if isinstance(creation.node, ast.ListComp | ast.GeneratorExp) and (wanted.startswith("[") or wanted.isdecimal()):
        yield creation.node.elt  # be it unpacked: `train, test = [make(part) for part in parts]`
    for key, value in entries(creation.node) if wanted.startswith("[") else ():
        if key is None or (isinstance(key, ast.Constant) and f"[{key.value!r}]" == wanted):
            yield value


def elements_of_loop(index: SemanticIndex, creation: Creation) -> Iterator[tuple[ast.expr, tuple[str, ...]]]:
    """What the target of a loop may be that goes through lists, by the lists and the part: any element of them.

    ``for i, (x, y) in enumerate(zip(xs, ys))``
    """
    target = creation.node
    bindings = index.names.bindings(target) if isinstance(target, ast.Name) and not creation.path else ()
    for binding in bindings:
        if binding.node is not target or binding.kind != "loop" or binding.value is None:
            continue
        listed = _list_dealt_out(index, binding.value, binding.path)
        if listed is not None:
            source, path = listed
            made = index.moves.creations.of(source)
            if any(isinstance(one.node, _LISTS) or _comes_from_elsewhere(index, one) for one in made):
                yield source, (ANY_ELEMENT, *map(str, path))


def _comes_from_elsewhere(index: SemanticIndex, creation: Creation) -> bool:
    """Whether a list is a part of what a function of another file gives: ``loaders, names = make_loaders()``."""
    is_part = isinstance(creation.node, ast.Call) and bool(creation.path)
    return is_part and isinstance(creation.node, ast.Call) and bool(index.imported.all_called(creation.node))


def _list_dealt_out(
    index: SemanticIndex, node: ast.expr, path: tuple[int, ...]
) -> tuple[ast.expr, tuple[int, ...]] | None:
    """The list of which a loop gives a target the elements, or a part of each."""
    while True:
        node, path = source_of(index.names, node, path)
        if not isinstance(node, ast.Call):
            return (node, path) if all(at >= 0 for at in path) else None
        # `tqdm(loaders)`; of `enumerate` and `zip` only the counter, or whole elements, are left here.
        around = [] if index.qualified_name(node.func) in _IN_PAIRS else gone_through(node)
        if len(around) != 1:
            return None
        node = around[0]
