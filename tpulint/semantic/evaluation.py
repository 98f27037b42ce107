"""Evaluation loops: loops that run a model batch by batch and train nothing."""

from __future__ import annotations

import ast

from tpulint.semantic import torch_facts as facts
from tpulint.semantic.events import EventMap
from tpulint.semantic.kinds import Kind, Kinds
from tpulint.semantic.names import Names
from tpulint.semantic.tree import FUNCTIONS, FunctionNode, LoopNode, SyntaxTree

_RUNNING_METHODS = ("generate", "forward", "encode", "decode")


class Evaluation:
    """What is known about code that records no gradient."""

    def __init__(self, tree: SyntaxTree, names: Names, kinds: Kinds, events: EventMap) -> None:
        self._tree = tree
        self._names = names
        self._kinds = kinds
        self._events = events
        self._switches: dict[FunctionNode | None, list[ast.Call]] | None = None

    def loops(self, candidates: list[LoopNode], step_loops: frozenset[LoopNode]) -> list[LoopNode]:
        """The innermost of these loops that evaluate: under ``no_grad`` or behind ``eval()``, no backward pass."""
        if not candidates or self._has_framework():
            return []
        found = [loop for loop in candidates if self._evaluates(loop, step_loops)]
        holders = {outer for loop in found for outer in self._tree.ancestors(loop)}
        return [loop for loop in found if loop not in holders]

    def _evaluates(self, loop: LoopNode, step_loops: frozenset[LoopNode]) -> bool:
        within_step = any(outer in step_loops for outer in self._tree.ancestors(loop))
        if not self._without_gradient(loop) and (within_step or not self._is_behind_eval(loop)):
            return False
        if not self.runs_module(loop) or self._goes_through_modules(loop):
            return False
        events = self._events.of(loop)
        return not events.backwards and not events.updates

    def runs_module(self, holder: ast.AST) -> bool:
        """Whether a module is run at or below a node."""
        for node in (holder, *self._tree.inside(holder, functions=False)):
            if isinstance(node, ast.Call) and not isinstance(node.func, ast.Call):
                if self._kinds.value(node.func).kind is Kind.MODULE:
                    return True
                func = node.func
                runs = isinstance(func, ast.Attribute) and func.attr in _RUNNING_METHODS
                if runs and self._kinds.value(func.value).kind is Kind.MODULE:  # type: ignore[attr-defined]
                    return True
        return False

    def is_under_no_grad(self, node: ast.AST) -> bool:
        """Whether ``torch.no_grad()`` or the like is in force at a node, in the node's function."""
        child = node
        for ancestor in self._tree.ancestors(node):
            within = isinstance(ancestor, ast.With | ast.AsyncWith) and self._tree.in_body(ancestor, child)
            if within and self._switches_off(ancestor):
                return True
            if isinstance(ancestor, FUNCTIONS):
                return any(self._is_no_grad(decorator) for decorator in ancestor.decorator_list)
            child = ancestor
        return False

    def _without_gradient(self, loop: LoopNode) -> bool:
        if self.is_under_no_grad(loop):
            return True
        inside = self._tree.inside(loop, functions=False)
        return any(self._switches_off(node) and self.runs_module(node) for node in inside)

    def _switches_off(self, node: ast.AST) -> bool:
        items = node.items if isinstance(node, ast.With | ast.AsyncWith) else []
        return any(self._is_no_grad(item.context_expr) for item in items)

    def _is_no_grad(self, node: ast.expr) -> bool:
        target = node.func if isinstance(node, ast.Call) else node
        return self._names.qualified(target) in facts.NO_GRAD_CONTEXTS

    def _is_behind_eval(self, loop: LoopNode) -> bool:
        """Whether ``eval()``, not ``train()``, is the last switch of a module in front of a loop, in its function."""
        if self._switches is None:
            self._switches = {}
            for call in self._tree.calls:
                func = call.func
                if not isinstance(func, ast.Attribute) or func.attr not in ("eval", "train"):
                    continue
                if self._kinds.value(func.value).kind is Kind.MODULE:
                    self._switches.setdefault(self._tree.function_of(call), []).append(call)
        begin, function = (loop.lineno, loop.col_offset), self._tree.function_of(loop)
        last = None
        for call in self._switches.get(function, ()):
            if (call.lineno, call.col_offset) < begin:
                last = call
        return last is not None and isinstance(last.func, ast.Attribute) and last.func.attr == "eval"

    def _goes_through_modules(self, loop: LoopNode) -> bool:
        """Whether each turn runs another module: ``for layer in layers: x = layer(x)``."""
        if not isinstance(loop, ast.For | ast.AsyncFor):
            return False
        targets = {node.id for node in ast.walk(loop.target) if isinstance(node, ast.Name)}
        for statement in loop.body:
            if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Subscript):
                continue
            # expert = experts[i]
            if any(isinstance(part, ast.Name) and part.id in targets for part in ast.walk(statement.value.slice)):
                targets |= {target.id for target in statement.targets if isinstance(target, ast.Name)}
        through = False
        for node in self._tree.inside(loop, functions=False):
            if isinstance(node, ast.Call) and self._kinds.value(node.func).kind is Kind.MODULE:
                if not any(isinstance(part, ast.Name) and part.id in targets for part in ast.walk(node.func)):
                    return False
                through = True
        return through

    def _has_framework(self) -> bool:
        """Whether a training framework deals out the batches, and with them the step boundaries."""
        for statement in self._tree.module.body:
            modules: list[str] = []
            if isinstance(statement, ast.ImportFrom):
                modules = [statement.module or ""]
            elif isinstance(statement, ast.Import):
                modules = [alias.name for alias in statement.names]
            if any(module.split(".", 1)[0] == "accelerate" for module in modules):
                return True
        return False
