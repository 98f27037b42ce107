"""What the rules of this category write where a value stays on the device."""

from __future__ import annotations

import ast

from tpulint.context import FixBuilder
from tpulint.semantic import Kind, LoopNode, Read, SemanticIndex
from tpulint.semantic.devices.device_sites import devices_given
from tpulint.semantic.reads.scalars import MATH_OF_TORCH
from tpulint.semantic.syntax import torch_facts as facts
from tpulint.semantic.values.value import is_none, is_true


def keep_on_device(fix: FixBuilder, index: SemanticIndex, read: Read, tail: str = "") -> None:
    """Write the tensor, and ``tail``, where its value was read; functions of ``math`` and NumPy become torch's."""
    suffix = detaching(index, read)
    is_operand = isinstance(index.parent(read.node), ast.BinOp | ast.UnaryOp | ast.AugAssign)
    for ancestor in index.tree.ancestors(read.node):
        if isinstance(ancestor, ast.Call) and index.qualified_name(ancestor.func) in MATH_OF_TORCH:
            name = (index.qualified_name(ancestor.func) or "").rpartition(".")[2]
            fix.rename_callee(ancestor, f"{torch_text(fix, index, ancestor)}.{name}")
        elif not isinstance(ancestor, ast.BinOp | ast.UnaryOp):
            break
    if not is_operand and index.scalars.may_change(read.tensor):
        suffix += ".clone()"  # `loss /= 4` behind it would change what is kept
    suffix += tail
    if isinstance(read.node, ast.Call) and isinstance(read.node.func, ast.Attribute):
        fix.replace_tail(read.node, read.tensor, suffix)
    else:
        fix.replace(read.node, fix.text(read.tensor) + suffix)


def detaching(index: SemanticIndex, read: Read) -> str:
    """What is written behind a tensor that is kept, so that it keeps nothing for a gradient."""
    free = index.number_types.is_integer(read.tensor) or index.scalars.is_detached(read.tensor)
    return "" if free or not index.regions.records_gradient(read.node) else ".detach()"


def insert_behind_loop(fix: FixBuilder, loop: LoopNode, text: str, block: ast.stmt | None = None) -> None:
    """Read behind a loop what it kept, or behind a block that ends with it.

    The ``else`` of the loop would come first, and may leave or look at what was kept.
    """
    if loop.orelse:
        fix.give_up()
    fix.insert_after(loop if block is None else block, text)


def torch_text(fix: FixBuilder, index: SemanticIndex, at: ast.AST) -> str:
    """How ``torch`` is written; a file that uses the name without binding it is beyond repair.

    `from models import *` may bind it: an import of its own means the same module.
    """
    is_bound = index.names.bindings_in(index.names.module, "torch") or index.names.has_star_import
    if not is_bound and any(name.id == "torch" for name in index.tree.names):
        fix.give_up()
    return fix.use("torch", at=at)


def device_text(fix: FixBuilder, index: SemanticIndex, loop: LoopNode) -> str:
    """How the device is written in front of a loop: as in the loop, where that is possible."""
    if _moves_on_condition(index, loop):
        # `if args.cuda: x = x.cuda()`: without the option all of it stays on the host, this too.
        model = _module_called(index, loop)
        if model is None:
            fix.give_up()
            return "None"
        return f"next({model}.parameters()).device"
    found = _device_in(index, loop)
    if found is None and index.mentions(r"\bFabric\b"):
        fix.give_up()  # where that runs is up to Fabric, which starts the processes as well
    return found or fix.device(loop)


def _moves_on_condition(index: SemanticIndex, loop: LoopNode) -> bool:
    """Whether the loop moves its batches to the device in branches only, of a condition that may not hold."""
    moves = _moves_in(index, loop, "to", "cuda")
    return bool(moves) and all(_is_in_branch(index, loop, call) for call in moves)


def _moves_in(index: SemanticIndex, loop: LoopNode, *methods: str) -> list[ast.Call]:
    """Calls of these methods in a loop: ``index.method_calls`` of one loop, at the cost of that loop alone."""
    return [
        call
        for call in index.tree.inside(loop)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in methods
        and index.qualified_name(call.func) is None
    ]  # fmt: skip


def _is_in_branch(index: SemanticIndex, loop: LoopNode, node: ast.AST) -> bool:
    child = node
    for ancestor in index.tree.ancestors(node):
        if ancestor is loop:
            return False
        if isinstance(ancestor, ast.If) and child is not ancestor.test and not _holds(index, ancestor.test):
            # Moved in both branches: there is a device in either.
            return not ancestor.orelse
        child = ancestor
    return False


def _holds(index: SemanticIndex, test: ast.expr) -> bool:
    """Whether a condition is a variable that is true in the port: `use_cuda = torch.cuda.is_available()`."""
    if not isinstance(test, ast.Name):
        return False
    values = [binding.value for binding in index.names.bindings(test)]
    return bool(values) and all(
        is_true(value)
        or (isinstance(value, ast.Call) and index.qualified_name(value.func) == "torch.cuda.is_available")
        for value in values
    )


def _module_called(index: SemanticIndex, loop: LoopNode) -> str | None:
    """A module with parameters that the loop runs, where its name can be read in front of the loop."""
    scope, runs = index.names.scope_of(loop), index.regions.evaluation.runs
    calls = [node for node in index.tree.inside(loop, functions=False) if isinstance(node, ast.Call)]
    for call in sorted(calls, key=index.span):
        func = call.func if runs.is_run(call) or runs.computes(call) else None
        # `model.loss(x)` and `model.encoder(x)` run the model, or a part of it.
        while isinstance(func, ast.Attribute) and not _is_kept(index, func, loop):
            func = func.value if index.kind(func.value) is Kind.MODULE else None
        if func is None or index.kind(func) is not Kind.MODULE:
            continue
        if not isinstance(func, ast.Name):
            return index.text(func)
        module = _made_of(index, func, loop)
        found = index.names.find(module.id, scope)
        inside = found is None or any(index.tree.encloses(loop, binding.node) for binding in found[1])
        is_there = not _may_be_passed_by(index, call, loop) or _is_used_anyway(index, module.id, loop)
        if not inside and is_there and not _is_loss(index, module):
            return module.id
    return None


def _is_used_anyway(index: SemanticIndex, module: str, loop: LoopNode) -> bool:
    """Whether a module is used on every way that comes to a loop or through it: it is not None."""
    scope = index.tree.function_of(loop) or index.tree.module
    uses = (node for node in index.tree.nodes_in(scope, ast.Name, functions=False) if node.id == module)
    return any(_asks(index, use) and not _may_be_passed_by(index, use, loop) for use in uses)


def _asks(index: SemanticIndex, use: ast.Name) -> bool:
    """``model(x)``, ``model.eval()``, ``DataParallel(model)``: none of them takes None."""
    parent = index.parent(use)
    if isinstance(parent, ast.Call):
        return parent.func is use or _wraps(index, parent)
    return isinstance(parent, ast.Attribute)


def _may_be_passed_by(index: SemanticIndex, node: ast.AST, loop: LoopNode) -> bool:
    """Whether a node stands in a branch that does not hold the loop as well."""
    child = node
    for ancestor in index.tree.ancestors(node):
        if index.tree.encloses(ancestor, loop) and ancestor is not loop:
            return False
        is_branch = isinstance(ancestor, ast.If | ast.IfExp) and child is not ancestor.test
        if is_branch or isinstance(ancestor, ast.BoolOp | ast.ExceptHandler | ast.Lambda):
            return True
        child = ancestor
    return False


def _made_of(index: SemanticIndex, name: ast.Name, loop: LoopNode) -> ast.Name:
    """``model`` for ``net = DataParallel(model) if size > 10 else model`` in the loop, or the variable itself."""
    bindings = index.flow.reaching(name)
    made = bindings[0].value if len(bindings) == 1 and bindings[0].kind == "assign" and not bindings[0].path else None
    if made is None or not index.tree.encloses(loop, made):
        return name
    ways = [made.body, made.orelse] if isinstance(made, ast.IfExp) else [made]
    wrapped = [way.args[0] if _wraps(index, way) and isinstance(way, ast.Call) else way for way in ways]
    found = [way for way in wrapped if isinstance(way, ast.Name)]
    is_one = len(found) == len(ways) and len({way.id for way in found}) == 1
    return found[0] if is_one else name


def _wraps(index: SemanticIndex, node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and bool(node.args) and index.qualified_name(node.func) in facts.MODULE_WRAPPERS


def _is_kept(index: SemanticIndex, node: ast.expr, loop: LoopNode) -> bool:
    """``self.model`` of the object whose method holds the loop, which does not set it."""
    owner, function = index.tree.class_of(node), index.tree.function_of(loop)
    if owner is None or function is None or not isinstance(node, ast.Attribute) or not function.args.args:
        return False
    if not isinstance(node.value, ast.Name) or node.value.id != function.args.args[0].arg:
        return False
    bindings = index.names.attribute_bindings(owner, node.attr)
    inside = any(index.tree.encloses(loop, binding.node) for binding in bindings)
    made = (index.text(binding.value.func) for binding in bindings if isinstance(binding.value, ast.Call))
    may_be_none = any(is_none(binding.value) for binding in bindings) and _may_be_passed_by(index, node, loop)
    return bool(bindings) and not inside and not may_be_none and not any(map(_says_loss, (node.attr, *made)))


def _is_loss(index: SemanticIndex, name: ast.Name) -> bool:
    """Whether a module may have no parameters, as those of losses have none."""
    if _says_loss(name.id):
        return True
    values = [binding.value for binding in index.names.bindings(name)]
    made = [index.qualified_name(value.func) or "" for value in values if isinstance(value, ast.Call)]
    return any(callee.rpartition(".")[2].endswith("Loss") for callee in made)


def _says_loss(name: str) -> bool:
    return "crit" in name.lower() or "loss" in name.lower()


def _device_in(index: SemanticIndex, loop: LoopNode) -> str | None:
    """How the device is written where the loop moves its batches, if that can be written in front of the loop too."""
    begin = index.span(loop).start
    for call in sorted(_moves_in(index, loop, "to"), key=index.span):
        devices = devices_given(call)
        if not devices:
            continue
        root = device = devices[-1]
        while isinstance(root, ast.Attribute):
            root = root.value
        is_device = index.kind(device) is Kind.DEVICE or "device" in index.text(device).lower()
        if not isinstance(root, ast.Name) or not is_device or index.function_of(call) is not index.function_of(loop):
            continue
        found = index.names.find(root.id, index.names.scope_of(loop))
        if found is None or found[1] != index.names.bindings(root):
            continue
        if found[0] is not index.names.scope_of(loop) or all(
            binding.kind == "parameter" or index.span(binding.node).start < begin for binding in found[1]
        ):
            return index.text(device)
    return None
