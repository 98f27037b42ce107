"""Whether a variable holds a tensor in every turn: not None at first, and not only in some turns; or one of both."""

from __future__ import annotations

import ast

from tpulint.semantic.project.other_files import definition_called, returned
from tpulint.semantic.reads.reads import How, Read
from tpulint.semantic.syntax.bindings import Binding, part_of
from tpulint.semantic.values.kinds import Kind
from tpulint.semantic.values.value import is_none

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_DEPTH = 4


def may_be_placeholder(index: SemanticIndex, tensor: ast.expr, boundary: ast.stmt) -> bool:
    """Whether a part of an expression may still be None or a number at the boundary: ``aux = None`` above the loop."""
    for node in (tensor, *index.tree.inside(tensor)):
        if isinstance(node, ast.Name) and not index.qualified_name(node):
            if any(_keeps_place(index, b.value, b.path) for b in _at_boundary(index, node, boundary)):
                return True
        elif isinstance(node, ast.Attribute) and _is_emptied(index, node, boundary):
            return True
    return False


def is_steady(index: SemanticIndex, read: Read, boundary: ast.stmt) -> bool:
    """Whether what is read now and then behind a boundary is a tensor in every turn."""
    tensor, flow = read.tensor, index.flow
    names = [
        node
        for node in (tensor, *index.tree.inside(tensor))
        if isinstance(node, ast.Name) and not index.qualified_name(node)
    ]
    if not all(any(flow.dominates(binding, boundary) for binding in flow.reaching(node)) for node in names):
        return False
    if isinstance(tensor, ast.Name):
        bindings = _at_boundary(index, tensor, boundary)
        if any(index.kinds.binding_value(binding).kind is not Kind.TENSOR for binding in bindings):
            return False
    elements = [node for node in (tensor, *index.tree.inside(tensor)) if isinstance(node, ast.Subscript)]
    # `if not args.baseline:` may have to do with what a call returns; a block that opens every n-th step has not.
    opens_by_turns = index.regions.gate_of(read.node) is not None
    if not all(_is_there(index, element, boundary, opens_by_turns) for element in elements):
        return False
    return not may_be_placeholder(index, tensor, boundary) and not _is_asked_for(index, read, boundary)


def is_optional(index: SemanticIndex, read: Read, boundary: ast.stmt) -> bool:
    """Whether what is read now and then behind a boundary is a variable that each turn gives a tensor or None anew.

    Where it is None nothing reads it: that would raise.
    """
    name = read.tensor
    if not isinstance(name, ast.Name) or not raises_of_none(read):
        return False
    if _bound_in_turn(index, index.flow.reaching(name), boundary) is None:
        return False
    bindings = _at_boundary(index, name, boundary)
    values = [None if b.value is None else part_of(b.value, b.path) if b.path else b.value for b in bindings]
    nothing = [is_none(value) for value in values]
    return any(nothing) and all(
        is_nothing or index.kinds.binding_value(binding).kind is Kind.TENSOR
        for binding, is_nothing in zip(bindings, nothing, strict=True)
    )


def raises_of_none(read: Read) -> bool:
    """``aux.item()``, ``float(aux)``; ``f"{aux}"`` shows None."""
    return read.how in (How.COPY, How.CAST)


def _is_there(index: SemanticIndex, element: ast.Subscript, boundary: ast.stmt, trusts_calls: bool) -> bool:
    """Whether a list or dict holds an element in every turn: ``logs["aux"]`` may be put in by some turns only."""
    container, key = element.value, element.slice
    is_of_dict = isinstance(key, ast.Constant) and isinstance(key.value, str)  # what a module gives may be one
    if index.is_device_tensor(container) and (trusts_calls or (index.value(container).certain and not is_of_dict)):
        return True
    bindings = index.flow.bindings_of(container)
    if bindings and all(_holds(index, binding, key, trusts_calls) for binding in bindings):
        return True
    return isinstance(container, ast.Name | ast.Attribute) and any(
        _is_put_in(index, store, element, boundary) for store in _mentions_of(index, container)
    )


def _holds(index: SemanticIndex, binding: Binding, key: ast.expr, trusts_calls: bool) -> bool:
    """Whether what a variable is given has an element from the start: a dict with this key, what a call returns."""
    value = part_of(binding.value, binding.path) if binding.path else binding.value
    if binding.kind != "assign" or value is None:
        return False
    function = index.definitions.function_called(value) if isinstance(value, ast.Call) else None
    made = index.definitions.returned_by(function) if function is not None else [value] if trusts_calls else []
    if isinstance(value, ast.Call) and isinstance(key, ast.Constant) and isinstance(key.value, int):
        return bool(made) and not any(isinstance(item, ast.List | ast.ListComp | ast.Name) for item in made)
    return bool(made) and all(_displays(item, key) for item in made)


def _displays(value: ast.expr, key: ast.expr) -> bool:
    if isinstance(value, ast.Dict):
        return any(item is not None and ast.dump(item) == ast.dump(key) for item in value.keys)
    if not isinstance(value, ast.Tuple | ast.List) or any(isinstance(item, ast.Starred) for item in value.elts):
        return False
    try:
        at = ast.literal_eval(key)
    except ValueError:
        return False
    return isinstance(at, int) and -len(value.elts) <= at < len(value.elts)


def _mentions_of(index: SemanticIndex, container: ast.Name | ast.Attribute) -> list[ast.expr]:
    if isinstance(container, ast.Attribute):
        return [node for node in index.tree.attributes_called(container.attr) if ast.dump(node) == ast.dump(container)]
    return list(index.names.mentions(container.id, index.names.scope_of(container)))


def _is_put_in(index: SemanticIndex, mention: ast.expr, element: ast.Subscript, boundary: ast.stmt) -> bool:
    """``logs["aux"] = loss`` or ``losses.append(loss)`` in front of the boundary, in every turn that comes to it."""
    parent, statement = index.parent(mention), index.statement_of(mention)
    if isinstance(parent, ast.Subscript):
        is_stored = isinstance(parent.ctx, ast.Store) and ast.dump(parent.slice) == ast.dump(element.slice)
    else:
        is_last = ast.unparse(element.slice) == "-1"
        is_stored = is_last and isinstance(parent, ast.Attribute) and parent.attr == "append"
    if not is_stored or index.span(statement).start > index.span(boundary).start:
        return False
    holder = index.parent(statement)
    child = None if holder is None else index.tree.child_towards(holder, boundary)
    return isinstance(child, ast.stmt) and index.tree.suite_of(child) is index.tree.suite_of(statement)


def _at_boundary(index: SemanticIndex, name: ast.Name, boundary: ast.stmt) -> list[Binding]:
    """The bindings whose value a variable may have there: none in front of one that each turn makes."""
    bindings = index.flow.reaching(name)
    begin = _bound_in_turn(index, bindings, boundary)
    if begin is None:
        return list(bindings)
    end = index.span(boundary).start
    return [binding for binding in bindings if begin <= index.span(binding.node).start < end]


def _bound_in_turn(index: SemanticIndex, bindings: tuple[Binding, ...], boundary: ast.stmt) -> int | None:
    """Where the last of the bindings stands that each turn makes in front of its boundary."""
    loop, function, end = index.tree.loop_of(boundary), index.function_of(boundary), index.span(boundary).start
    return max(
        (
            index.span(binding.node).start
            for binding in bindings
            if index.span(binding.node).start < end
            and (loop is None or index.tree.encloses(loop, binding.node))
            and (binding.kind == "parameter" or index.function_of(binding.node) is function)
            and (index.flow.dominates(binding, boundary) or _is_added_up(index, binding, boundary))
        ),
        default=None,
    )


def _is_added_up(index: SemanticIndex, binding: Binding, boundary: ast.stmt) -> bool:
    """Whether a loop in front of the boundary, over the parts of a batch, adds to a total in each of its turns."""
    top, holder = binding.statement, index.parent(binding.statement)
    while isinstance(holder, ast.For) and not index.tree.encloses(holder, boundary):
        top, holder = holder, index.parent(holder)
    child = None if holder is None or binding.kind != "augment" else index.tree.child_towards(holder, boundary)
    if not isinstance(child, ast.stmt) or not isinstance(top, ast.stmt):
        return False
    return index.tree.suite_of(child) is index.tree.suite_of(top)


def _keeps_place(index: SemanticIndex, value: ast.expr | None, path: tuple[int, ...] = (), depth: int = 0) -> bool:
    """Whether a value may be None or a number: ``None``, ``-1.0``, ``None if first else loss``."""
    if isinstance(value, ast.Call):
        return depth < _DEPTH and _returns_place(index, value, path, depth)
    value = part_of(value, path) if path else value
    if isinstance(value, ast.IfExp):
        return any(_keeps_place(index, item, (), depth) for item in (value.body, value.orelse))
    if isinstance(value, ast.UnaryOp):
        return _keeps_place(index, value.operand, (), depth)
    if isinstance(value, ast.Name) and depth < _DEPTH:
        return any(
            binding.kind == "assign" and _keeps_place(index, binding.value, binding.path, depth + 1)
            for binding in index.flow.reaching(value)
        )
    return isinstance(value, ast.Constant)


def _returns_place(index: SemanticIndex, call: ast.Call, path: tuple[int, ...], depth: int) -> bool:
    """Whether a function may return None or a number there: ``penalty = 0.0``, which only a branch computes."""
    function = definition_called(index, call)
    for value in () if function is None else returned(function):
        assert function is not None
        part = part_of(value, path) if path else value
        bindings = function.file.flow.reaching(part) if isinstance(part, ast.Name) else ()
        # `total = 0` that a loop adds to
        is_sum = any(b.kind == "augment" and function.file.tree.loop_of(b.node) is not None for b in bindings)
        if not is_sum and _keeps_place(function.file, part, (), depth + 1):
            return True
    return False


def _is_emptied(index: SemanticIndex, use: ast.Attribute, boundary: ast.stmt) -> bool:
    """Whether the file sets such an attribute to None or a number, and the turn does not set it anew."""
    emptied = any(
        isinstance(statement := index.statement_of(node), ast.Assign | ast.AnnAssign)
        and _keeps_place(index, statement.value)
        for node in index.tree.attributes_called(use.attr)
        if isinstance(node.ctx, ast.Store)
    )
    return emptied and _bound_in_turn(index, index.flow.reaching_attribute(use), boundary) is None


def _is_asked_for(index: SemanticIndex, read: Read, boundary: ast.stmt) -> bool:
    """Whether a condition around a read asks for what is read: ``if aux is not None``."""
    parts = {
        ast.dump(node)
        for node in (read.tensor, *index.tree.inside(read.tensor))
        if isinstance(node, ast.Name | ast.Attribute | ast.Subscript)
        and not (isinstance(node, ast.Name) and (node.id == "self" or index.qualified_name(node)))
    }
    suite, child = index.tree.suite_of(boundary), read.node
    for ancestor in index.tree.ancestors(read.node):
        tests: list[ast.expr] = []
        if isinstance(ancestor, ast.If | ast.IfExp | ast.While) and child is not ancestor.test:
            tests = [ancestor.test]
        elif isinstance(ancestor, ast.BoolOp):
            tests = [value for value in ancestor.values if value is not child]
        if any(_mentions(index, test, parts) for test in tests):
            return True
        if ancestor in suite:
            break
        if isinstance(ancestor, ast.expr):
            child = ancestor
    return False


def _mentions(index: SemanticIndex, test: ast.expr, parts: set[str]) -> bool:
    """Whether a condition has to do with one of these other than by the number it holds."""
    numbers = {
        node
        for read in index.reads.inside(test)
        if read.how is not How.TRUTH or ast.dump(read.tensor) not in parts
        for node in (read.node, *index.tree.inside(read.node))
    }
    return any(ast.dump(node) in parts for node in (test, *index.tree.inside(test)) if node not in numbers)
