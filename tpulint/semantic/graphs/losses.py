"""Losses: what a backward pass begins with, the terms they are sums of, and the modules that give them."""

from __future__ import annotations

import ast

from tpulint.semantic.project.other_files import definition_called, returned
from tpulint.semantic.syntax import torch_facts as facts
from tpulint.semantic.syntax.bindings import Binding, part_of
from tpulint.semantic.syntax.nodes import FUNCTIONS
from tpulint.semantic.syntax.variables import itself
from tpulint.semantic.values.kinds import Kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_DEPTH = 8
_FURTHEST_MADE = 6
_SIZED = frozenset(f"torch.{name}" for name in ("zeros", "ones", "empty", "full", "rand", "randn"))
_OF_LIST = frozenset({"torch.tensor", "torch.as_tensor", "torch.Tensor", "torch.FloatTensor", "torch.cuda.FloatTensor"})
_AS_THEY_ARE = frozenset({"to", "cuda", "float", "double", "clone", "detach", "requires_grad_"})
"""Methods that leave a tensor its dimensions."""
_REDUCTIONS = ("mean", "sum", "batchmean")
_WRAPPERS = frozenset({"torch.autograd.Variable", "torch.nn.Parameter"})


class Losses:
    """Answers about one file; what is not known is answered with no."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index
        self._losses: set[tuple[ast.AST | None, str]] | None = None
        self._terms: set[Binding] = set()

    def is_loss(self, node: ast.Name) -> bool:
        """Whether ``name.backward()`` is called in the same function, which only a tensor of one number allows.

        The terms of such a sum hold one number each, too.
        """
        if self._losses is None:
            self._losses, self._terms = set(), set()
            for call, receiver in self._index.method_calls("backward"):
                loss = self._unscaled(receiver)
                if call.args:
                    continue
                if not isinstance(loss, ast.Name):
                    self._note_terms(loss)
                    continue
                self._losses.add((self._index.function_of(call), loss.id))
                for binding in self._index.flow.reaching(loss):
                    # `loss = main`, and `loss += weight * other` in a branch
                    if binding.kind in ("assign", "augment") and not binding.path and binding.value is not None:
                        self._note_terms(binding.value)
        if (self._index.function_of(node), node.id) in self._losses:
            return True
        bindings = self._index.flow.reaching(node) if self._terms else ()
        return bool(bindings) and all(binding in self._terms for binding in bindings)

    def _unscaled(self, loss: ast.expr) -> ast.expr:
        """What a scaler scales in ``scaler.scale(loss)``; any other expression itself."""
        if not isinstance(loss, ast.Call) or not isinstance(loss.func, ast.Attribute) or len(loss.args) != 1:
            return loss
        is_scaled = loss.func.attr == "scale" and self._index.kind(loss.func.value) is Kind.SCALER
        return loss.args[0] if is_scaled else loss

    def _note_terms(self, value: ast.expr) -> None:
        """Note the variables in ``reconstruction + beta * divergence``."""
        if isinstance(value, ast.BinOp) and not isinstance(value.op, ast.MatMult):
            self._note_terms(value.left)
            self._note_terms(value.right)
        elif isinstance(value, ast.UnaryOp):
            self._note_terms(value.operand)
        elif isinstance(value, ast.Name):
            self._terms.update(self._index.flow.reaching(value))

    def is_module(self, node: ast.expr, depth: int = 0) -> bool:
        """Whether an object is one of torch's modules of losses, that give one number."""
        index = self._index
        node = itself(node)
        if isinstance(node, ast.Call):
            name = index.qualified_name(node.func) or ""
            return reduces(node) and name.startswith("torch.nn.") and name.endswith("Loss")
        bindings: tuple[Binding, ...] = ()
        if isinstance(node, ast.Name):
            bindings = index.flow.reaching(node)
        elif isinstance(node, ast.Attribute):
            bindings = index.flow.reaching_attribute(node)
        made: list[ast.expr | None] = []
        for binding in bindings:
            if binding.kind == "parameter" and isinstance(binding.statement, FUNCTIONS):
                made += index.definitions.arguments.of(binding.statement, binding.name) or [None]
            else:
                made.append(None if binding.path or binding.kind != "assign" else binding.value)
        known = [item for item in made if item is not None and depth < _DEPTH]
        return bool(known) and len(known) == len(made) and all(self.is_module(item, depth + 1) for item in known)


def reduces(call: ast.Call) -> bool:
    """Whether a loss, or what makes a module of one, is told nothing but to give one number: ``reduction="sum"``."""
    told = [k.value for k in call.keywords if k.arg == "reduction"]
    are_known = all(isinstance(item, ast.Constant) and item.value in _REDUCTIONS for item in told)
    return are_known and not any(k.arg in ("reduce", None) for k in call.keywords)


# -------------------------------------------------------------------- losses of one element: ``torch.zeros(1).cuda()``


def may_have_dimension(index: SemanticIndex, node: ast.expr, depth: int = 0) -> bool:
    """Whether a loss is made with a dimension, or by a method of an object that nobody sees into.

    So is what a model returns beside others, ``loss, scores = model(x, y)``, and what a function of the project makes
    with a dimension on one of its ways, ``main, other = self.losses(x)`` and ``other = torch.zeros(1)``.
    """
    if depth > _FURTHEST_MADE:
        return False
    if isinstance(node, ast.Name):
        bindings = index.flow.reaching(node)
        values = [part_of(binding.value, binding.path) for binding in bindings]
        given = [(binding.value, binding.path) for binding in bindings if isinstance(binding.value, ast.Call)]
        parts = [(item, path) for item, path in given if path and isinstance(item, ast.Call)]
        return any(
            index.kind(item.func) is Kind.MODULE or _is_returned_so(index, item, path, depth) for item, path in parts
        ) or any(value is not None and may_have_dimension(index, value, depth + 1) for value in values)
    if isinstance(node, ast.BinOp):
        sides = (node.left, node.right)
        return any(may_have_dimension(index, side, depth + 1) or _is_output(index, side) for side in sides)
    if isinstance(node, ast.UnaryOp):
        return may_have_dimension(index, node.operand, depth + 1)
    if isinstance(node, ast.IfExp):
        return any(may_have_dimension(index, one, depth + 1) for one in (node.body, node.orelse))
    return isinstance(node, ast.Call) and _is_made_so(index, node, depth)


def _is_returned_so(index: SemanticIndex, call: ast.Call, path: tuple[int, ...], depth: int) -> bool:
    """Whether a function that is seen returns what is made with a dimension, at a place of a tuple or by itself."""
    found = definition_called(index, call)
    results = [] if found is None else returned(found)
    parts = [part_of(value, path) for value in results]
    return found is not None and any(
        part is not None and may_have_dimension(found.file, part, depth + 1) for part in parts
    )


def _is_output(index: SemanticIndex, node: ast.expr, depth: int = 0) -> bool:
    """Whether a term is what a network gives for its one input, as it is: ``-log_prob * (reward - value_of(state))``.

    Of one state that is one element, which is enough for `backward()`. A loss is given a target as well.
    """
    if depth > _DEPTH:
        return False
    if isinstance(node, ast.UnaryOp):
        return _is_output(index, node.operand, depth)
    if isinstance(node, ast.BinOp):
        return any(_is_output(index, side, depth + 1) for side in (node.left, node.right))
    if isinstance(node, ast.Name):
        made = [binding.value for binding in index.flow.reaching(node) if not binding.path]
        return any(value is not None and _is_output(index, value, depth + 1) for value in made)
    if not isinstance(node, ast.Call) or len(node.args) > 1 or node.keywords:
        return False
    if isinstance(node.func, ast.Attribute) and node.func.attr in _AS_THEY_ARE:
        return _is_output(index, node.func.value, depth + 1)
    return bool(node.args) and index.kind(node.func) is Kind.MODULE and not index.scalars.losses.is_module(node.func)


def _is_made_so(index: SemanticIndex, call: ast.Call, depth: int) -> bool:
    name = index.qualified_name(call.func)
    first = call.args[0] if call.args else None
    if name in _SIZED:
        return first is not None and not (isinstance(first, ast.Tuple | ast.List) and not first.elts)
    if name in _OF_LIST:
        return isinstance(first, ast.List | ast.Tuple)
    if name in _WRAPPERS:
        return first is not None and may_have_dimension(index, first, depth + 1)
    if name is not None or not isinstance(call.func, ast.Attribute):
        return _is_returned_so(index, call, (), depth)
    if call.func.attr in _AS_THEY_ARE:
        return may_have_dimension(index, call.func.value, depth + 1)
    if _is_returned_so(index, call, (), depth):
        return True
    owner = call.func.value
    is_of_object = (
        isinstance(owner, ast.Name) and owner.id != "self" and index.kind(owner) in (Kind.MODULE, Kind.UNKNOWN)
    )
    seen = index.definitions.function_called(call) is not None
    return is_of_object and not seen and call.func.attr not in facts.TENSOR_METHODS
