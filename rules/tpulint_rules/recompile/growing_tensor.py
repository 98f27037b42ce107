"""A device tensor that is longer in every turn: `history = torch.cat([history, new])`."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from tpulint.context import FileContext
from tpulint.model import Certainty, Finding
from tpulint.semantic import LOOPS
from tpulint.semantic.syntax.bindings import Binding
from tpulint.semantic.syntax.nodes import is_of_self
from tpulint.semantic.values.value import is_none
from tpulint_rules.recompile._joined_behind import joined_behind
from tpulint_rules.recompile._rows_chosen import copied, kept_length

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeGuard

_JOINS = ("torch.cat", "torch.concat", "torch.concatenate", "torch.vstack", "torch.hstack", "torch.stack")
_SUM = "builtins.sum"
_LISTING = ("builtins.list", "builtins.tuple")
_SHORT = 16
"""So many values a queue is soon full of."""


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    if not index.turn_code.exists:
        return
    told: dict[ast.AST | None, list[tuple[ast.Call, str]]] = {}
    for call in index.turn_code.nodes(ast.Call):
        name = index.qualified_name(call.func)
        if not call.args or (name not in _JOINS and name != _SUM):
            continue
        turn = index.turn_code.turn_of(call)
        if turn is None or not ((name != _SUM and _joins_itself(ctx, call)) or _joins_history(ctx, call)):
            continue
        told.setdefault(index.tree.loop_of(call), []).append((call, turn))
    for loop, calls in told.items():
        built = joined_behind(ctx, loop, [call for call, _ in calls]) if isinstance(loop, LOOPS) else None
        fix = None if built is None else built.build()
        for call, turn in calls:
            yield ctx.finding(
                call,
                f"`{ctx.text(call)}` is longer in every {turn}, and compiled anew for each length",
                fix,
                certainty=Certainty.CERTAIN if index.value(call).certain else Certainty.LIKELY,
            )


def _turn_loop(ctx: FileContext, node: ast.AST) -> ast.AST | None:
    """The loop whose turn a statement stands in, where each turn is a graph of its own."""
    loop = ctx.index.tree.loop_of(node)
    if loop not in ctx.index.turn_code.loops or not ctx.index.changing_numbers.separates_turns(loop):
        return None
    return loop


def _joins_itself(ctx: FileContext, call: ast.Call) -> bool:
    """``x = torch.cat([x, new])``, of what the turn before left."""
    index, choice, items = ctx.index, ctx.index.parent(call), call.args[0]
    is_chosen = isinstance(choice, ast.IfExp) and choice.orelse is call and _asks_for_none(choice.test, items)
    value = choice if is_chosen else call  # `kept = new if kept is None else torch.cat([kept, new])`
    statement = None if value is None else index.statement_of(value)
    if isinstance(statement, ast.Assign) and copied(statement.value) is not value:
        return False
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return False
    target = statement.targets[0]
    if not isinstance(items, ast.List | ast.Tuple) or len(items.elts) < 2:
        return False
    if isinstance(target, ast.Attribute):
        return _joins_attribute(ctx, statement, target, items.elts)
    if not isinstance(target, ast.Name):
        return False
    kept = {item: kept_length(ctx, item, call) for item in items.elts}
    own = [value for value in kept.values() if _is_named(value, target.id)]
    others = [item for item, value in kept.items() if value not in own]
    loop = _turn_loop(ctx, statement)
    if len(own) != 1 or not others or loop is None:
        return False
    within = [b for b in index.names.bindings(target) if index.tree.encloses(loop, b.node)]
    longer = [statement, *(b.statement for b in within if _keeps_length(ctx, b, target.id, call))]
    comes_back = any(binding.statement in longer for binding in index.flow.reaching(own[0]))
    changes = [binding.node for binding in within if binding.statement not in longer]
    if not all(_comes_last(ctx, node, loop) or _begins(ctx, node, statement, loop) for node in changes):
        return False  # begun anew, or cut to a length
    return comes_back and all(index.is_device_tensor(item) for item in others)


def _is_named(node: ast.expr, name: str) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and node.id == name


def _keeps_length(ctx: FileContext, binding: Binding, name: str, join: ast.Call) -> bool:
    """``seqs = seqs[order]`` of what is joined by columns."""
    value = None if binding.kind != "assign" or binding.path else binding.value
    return value is not None and _is_named(kept_length(ctx, value, join), name)


def _asks_for_none(test: ast.expr, items: ast.expr) -> bool:
    """``kept is None`` of one of what is joined."""
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.Is) or not is_none(test.comparators[0]):
        return False
    joined = items.elts if isinstance(items, ast.List | ast.Tuple) else []
    return any(ast.dump(item) == ast.dump(test.left) for item in joined)


def _comes_last(ctx: FileContext, node: ast.AST, loop: ast.AST) -> bool:
    """Whether a block ends the loop: what it changes in front of its ``break`` no later turn joins."""
    last = ctx.index.tree.suite_of(ctx.index.statement_of(node))[-1]
    return isinstance(last, ast.Return) or (isinstance(last, ast.Break) and ctx.index.tree.loop_of(last) is loop)


def _begins(ctx: FileContext, node: ast.AST, joined: ast.Assign, loop: ast.AST) -> bool:
    """Whether only the first turn sets what others join: ``if kept is None: kept = new``, ``else: kept = cat(...)``."""
    encloses = ctx.index.tree.encloses
    for branch in ctx.index.tree.ancestors(node):
        if isinstance(branch, ast.If) and any(encloses(part, joined) for part in branch.orelse):
            is_set = any(encloses(part, node) for part in branch.body)
            return is_set and _is_of_first_turn(ctx, branch, loop)
    return False


def _is_of_first_turn(ctx: FileContext, branch: ast.If, loop: ast.AST) -> bool:
    """``if kept is None`` of what is set there, ``if step == 0``."""
    test = branch.test
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.left, ast.Name):
        return False
    if isinstance(test.ops[0], ast.Is):
        sets = [binding.node for binding in ctx.index.names.bindings(test.left)]
        is_set = any(ctx.index.tree.encloses(part, node) for part in branch.body for node in sets)
        return is_none(test.comparators[0]) and is_set
    first = test.comparators[0]
    is_first = isinstance(test.ops[0], ast.Eq) and isinstance(first, ast.Constant) and first.value == 0
    return is_first and isinstance(loop, LOOPS) and ctx.index.counters.of(loop) == test.left.id


def _joins_attribute(ctx: FileContext, statement: ast.Assign, target: ast.Attribute, items: list[ast.expr]) -> bool:
    """``self.keys = torch.cat([self.keys, new])`` in a module that every turn runs, never cut to a length."""
    index, name = ctx.index, ctx.text(target)
    function, owner = index.function_of(statement), index.tree.class_of(statement)
    if function is None or owner is None or function.name == "__init__" or not function.args.args:
        return False
    if not isinstance(target.value, ast.Name) or target.value.id != function.args.args[0].arg:
        return False  # of a batch, which is new in every turn
    others = [item for item in items if ctx.text(item) != name]
    if len(others) != len(items) - 1 or not all(index.is_device_tensor(item) for item in others):
        return False
    for binding in index.names.attribute_bindings(owner, target.attr):
        if binding.statement is statement or binding.value is None:
            continue
        if index.tree.encloses(function, binding.node) and isinstance(binding.value, ast.Subscript):
            return False
    return _has_turns_apart(ctx)


def _joins_history(ctx: FileContext, call: ast.Call) -> bool:
    """``torch.stack(history)`` of a list that every turn appends to, and no turn empties."""
    index, items = ctx.index, call.args[0]
    if isinstance(items, ast.Call) and index.qualified_name(items.func) in _LISTING and len(items.args) == 1:
        items = items.args[0]
    if isinstance(items, ast.Attribute):
        return _joins_kept(ctx, items)
    loop = _turn_loop(ctx, call)
    if not isinstance(items, ast.Name) or loop is None:
        return False
    bindings = index.flow.reaching(items)
    if len(bindings) != 1 or bindings[0].path or not _begins_empty(ctx, bindings[0].value):
        return False
    if index.tree.encloses(loop, bindings[0].statement):
        return False
    appended = _appended(ctx, index.names.loads(items.id, bindings[0].scope))
    return any(
        index.tree.loop_of(change) is loop
        and index.turn_code.turn_of(change) is not None
        and index.is_device_tensor(change.args[0])
        for change in appended
    )


def _joins_kept(ctx: FileContext, items: ast.Attribute) -> bool:
    """``torch.cat(self.history)`` of a list that an object keeps and a method appends to in every turn."""
    index, owner = ctx.index, ctx.index.tree.class_of(items)
    if owner is None or not is_of_self(items) or not _has_turns_apart(ctx):
        return False
    bindings = index.names.attribute_bindings(owner, items.attr)
    made = [call for call in index.tree.calls if index.definitions.class_called(call) is owner]
    if not made or any(index.turn_code.turn_of(call) is not None for call in made):
        return False  # an object of one turn
    if len(bindings) != 1 or bindings[0].path or not _begins_empty(ctx, bindings[0].value):
        return False
    function = index.function_of(bindings[0].node)
    if function is None or function.name != "__init__" or index.turn_code.turn_of(bindings[0].node) is not None:
        return False
    appended = _appended(ctx, index.tree.attributes_called(items.attr))
    return any(
        index.tree.class_of(change) is owner
        and index.turn_code.turn_of(change) is not None
        and index.turn_code.loop_within(change) is None
        and index.is_device_tensor(change.args[0])
        for change in appended
    )


def _has_turns_apart(ctx: FileContext) -> bool:
    return any(map(ctx.index.changing_numbers.separates_turns, ctx.index.turn_code.loops))


def _begins_empty(ctx: FileContext, made: ast.expr | None) -> bool:
    """``[]``, or a queue that is long before it is full: ``deque(maxlen=100)``."""
    if not isinstance(made, ast.Call):
        return isinstance(made, ast.List) and not made.elts
    most = [item.value for item in made.keywords if item.arg == "maxlen"] + made.args[1:2]
    filled = [item for item in made.args[:1] if not isinstance(item, ast.List | ast.Tuple) or item.elts]
    if ctx.index.qualified_name(made.func) != "collections.deque" or filled:
        return False
    return all(isinstance(n, ast.Constant) and isinstance(n.value, int) and n.value > _SHORT for n in most)


def _appended(ctx: FileContext, uses: Iterable[ast.expr]) -> list[ast.Call]:
    """What is appended to a list; nothing where it may stay short: ``clear()``, ``del kept[0]``, ``kept[:] = []``."""
    found: list[ast.Call] = []
    for use in uses:
        attribute = ctx.index.parent(use)
        is_set = isinstance(use, ast.Attribute) and isinstance(use.ctx, ast.Store) and not is_of_self(use)
        is_cut = isinstance(attribute, ast.Subscript) and (
            isinstance(attribute.ctx, ast.Del)
            or (isinstance(attribute.ctx, ast.Store) and isinstance(attribute.slice, ast.Slice))
        )
        if is_set or is_cut:
            return []
        if not isinstance(attribute, ast.Attribute):
            continue
        change = ctx.index.parent(attribute)
        if attribute.attr != "append" or not isinstance(change, ast.Call) or len(change.args) != 1:
            return []
        found.append(change)
    return found
