"""What variables must be because of how they are used: the receiver of ``backward`` is a tensor."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tpulint.semantic.functions.definitions import Definitions
from tpulint.semantic.functions.passed_arguments import values_given
from tpulint.semantic.modules.called_models import is_given, models_called
from tpulint.semantic.project.other_files import unpacked
from tpulint.semantic.syntax import torch_facts as facts
from tpulint.semantic.syntax.bindings import Binding
from tpulint.semantic.syntax.flow import Flow
from tpulint.semantic.syntax.nodes import FUNCTIONS, is_of_self
from tpulint.semantic.syntax.tree import SyntaxTree
from tpulint.semantic.syntax.variables import last_name
from tpulint.semantic.values.summands import summands
from tpulint.semantic.values.value import Kind, Side, Value

Inherited = tuple[ast.ClassDef | Binding, str]
"""An attribute that no statement of this file sets: of objects of a class, or of what a variable holds."""
ASKING = frozenset({"item", "detach", "cpu"})
"""Methods that tell of a tensor."""

_MODE = r"(?:^|_)(?:is|was)?(?:train(?:ing)?(?:_?(?:mode|state|flag))?|mode)$"
"""Names of what ``train()`` of a module is given, not of data: ``was_training``, ``isTrain``, ``mode``."""
_DEPTH = 3
"""Sums within sums that a loss is followed through."""
_SUMMED = ("assign", "augment")
"""Kinds of bindings whose value is part of a sum: ``loss = main``, ``loss += weight * other``."""
_LOSSES = frozenset({
    "cross_entropy", "nll_loss", "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
})  # fmt: skip
_CRITERION = r"(?i)^crit|^cri_|^cri$|loss"
_GIVEN = 2
"""What a criterion is given at least: what a model says, and what would be right."""
_OF_TRAINED = frozenset({"zero_grad", "step", "load_state_dict", "state_dict", "parameters", "train", "eval"})


class Roles:
    """Collected in one go over the calls of a file. Nothing is inferred here: what is found is a hint."""

    def __init__(self, tree: SyntaxTree, flow: Flow, definitions: Definitions, side: Side) -> None:
        self._tree = tree
        self._flow = flow
        self._definitions = definitions
        self._side = side
        self.values: dict[Binding, Value] = {}
        self.attributes: dict[Inherited, Value] = {}
        """Of attributes that another file sets: a base class, or the class of an object that is handed over."""
        self.asked: set[Binding] = set()
        """Variables asked for a number, as tensors are: ``accuracy.item()``, ``parts["mask"].mean().item()``."""
        summed: set[Binding] = set()
        steppers: dict[Binding | Inherited, set[str]] = {}
        for call in tree.calls:
            func = call.func
            if not isinstance(func, ast.Attribute):
                continue
            if func.attr == "backward":
                self._backpropagated(call, func)
                for name in self._terms(call, func):
                    self._add_terms(summed, flow.reaching(name), 0)
            elif func.attr in _OF_TRAINED and not _is_given_work(call):
                for binding in self._receivers(func.value):
                    steppers.setdefault(binding, set()).add(func.attr)
            elif func.attr in ASKING:
                root = _root(func.value)
                if root is not None:
                    self.asked.update(flow.reaching(root))
        for model in models_called(tree, flow):
            self._note(model, Value(Kind.MODULE, certain=False))
        self._ask_what_they_are_made_of()
        for term in summed:
            if term in self.asked or self._is_of_criterion(term):
                self._note(term, Value(Kind.TENSOR, self._side, certain=False))
        for binding, methods in steppers.items():
            if {"step", "zero_grad"} <= methods:
                self._note(binding, Value(Kind.OPTIMIZER, certain=False))
            elif methods & _of_modules(binding) and "step" not in methods:
                self._note(binding, Value(Kind.MODULE, certain=False))

    def _is_of_criterion(self, term: Binding) -> bool:
        """``pixels = self.criterion(output, y)`` or ``total += criterion(part, y)`` of a criterion that is not seen."""
        made = None if term.path or term.kind not in _SUMMED else _only_call(term.value)
        if made is None or len(made.args) < _GIVEN or re.search(_CRITERION, last_name(made.func)) is None:
            return False
        return self._definitions.function_called(made) is None

    def _ask_what_they_are_made_of(self) -> None:
        """``loss = loss.sum()`` in front of ``loss.item()``: the loss it is made of is a tensor, too."""
        waiting = list(self.asked)
        while waiting:
            binding = waiting.pop()
            is_plain = binding.kind == "assign" and not binding.path and isinstance(binding.value, ast.Call)
            root = _root(binding.value) if is_plain and binding.value is not None else None
            for source in self._flow.reaching(root) if root is not None else ():
                if source not in self.asked:
                    self.asked.add(source)
                    waiting.append(source)

    def of_attribute(self, node: ast.Attribute) -> Value | None:
        """What an attribute of ``self``, or of a variable, must be that no statement of this file sets."""
        found = (self.attributes.get(one) for one in self._inherited(node)) if self.attributes else ()
        return next((value for value in found if value is not None), None)

    def _note(self, variable: Binding | Inherited, value: Value) -> None:
        if isinstance(variable, Binding):
            self.values.setdefault(variable, value)
        else:
            self.attributes.setdefault(variable, value)

    def _backpropagated(self, call: ast.Call, func: ast.Attribute) -> None:
        target = call.args[0] if call.args and not isinstance(call.args[0], ast.Starred) else func.value
        if not call.args:
            target = _scaled(target)
        if call.args and (len(call.args) > 1 or not isinstance(target, ast.Name | ast.Attribute)):
            return
        self._note_loss(target, 0)

    def _note_loss(self, target: ast.expr, depth: int) -> None:
        """Note what a backward pass begins with, be it in a function that is given it: ``def back(loss): ...``."""
        for binding in self._receivers(target):
            self._note(binding, Value(Kind.TENSOR, self._side, certain=False))
            if not isinstance(binding, Binding):
                continue
            if binding.kind == "parameter" and isinstance(binding.statement, FUNCTIONS) and depth < _DEPTH:
                arguments, function = self._definitions.arguments, binding.statement
                passed = arguments.of(function, binding.name) + arguments.through_partials(function, binding.name)
                for item in passed:
                    self._note_loss(_scaled(item), depth + 1)
            made = None if binding.path or binding.kind != "assign" else _only_call(binding.value)
            if made is not None and made.args:
                self._note_output(made, is_of_torch=last_name(made.func) in _LOSSES)
                # What computes a loss is a loss function, such as an object of a class that is not seen.
                for callee in self._receivers(made.func):
                    is_kept = callee.kind in ("assign", "parameter") if isinstance(callee, Binding) else True
                    if is_kept and not _is_part(callee):
                        self._note(callee, Value(Kind.MODULE, certain=False))
                        self._note_output(made, is_of_torch=False)

    def _note_output(self, loss: ast.Call, *, is_of_torch: bool) -> None:
        """What a loss of torch is computed of lies where the loss does: ``F.cross_entropy(logits, y)``.

        So does what a loss function that is given, or kept, is given of what such a model computes: ``model(x)``.
        """
        output = _root(loss.args[0])
        if output is None or any(map(self._is_part_of_record, ast.walk(loss.args[0]))):
            return
        for binding in self._flow.reaching(output):
            made = binding.value if binding.kind == "assign" and not binding.path else None
            if isinstance(made, ast.Call) and (is_of_torch or self._is_of_given(made)):
                self._note(binding, Value(Kind.TENSOR, self._side, certain=False))

    def _is_part_of_record(self, node: ast.AST) -> bool:
        """``outputs["logits"]`` of a dictionary, ``outputs[0]`` of a tuple, ``packed.data``."""
        if isinstance(node, ast.Attribute):
            user = self._tree.parents[node]
            return not isinstance(user, ast.Call) or user.func is not node
        return isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant)

    def _is_of_given(self, call: ast.Call) -> bool:
        """Whether a call runs a parameter, or what an object keeps of one: ``self.model = model.cuda()``."""
        callees = self._receivers(call.func) if call.args else ()
        return any(isinstance(callee, Binding) and is_given(callee, self._flow) for callee in callees)

    def _terms(self, call: ast.Call, func: ast.Attribute) -> Iterator[ast.Name]:
        """Variables that a loss is summed of: ``(value_loss - 0.1 * entropy).backward()``, or by a name of the sum.

        So are those that a step adds to it, ``loss += weight * penalty``.
        """
        loss = call.args[0] if call.args else func.value
        if isinstance(loss, ast.Call) and isinstance(loss.func, ast.Attribute) and loss.func.attr == "scale":
            loss = loss.args[0] if loss.args else loss
        yield from summands(loss, self._flow)
        for binding in self._receivers(loss):
            if not isinstance(binding, Binding) or binding.kind not in _SUMMED:
                continue
            if not binding.path:
                yield from summands(binding.value, self._flow)
            for returned in self._returned_to(binding):
                yield from summands(returned, self._flow)

    def _returned_to(self, binding: Binding) -> list[ast.expr]:
        """What functions of this file return for a variable: ``loss, parts = compute_loss(nets, x)``."""
        call = binding.value
        function = self._definitions.function_called(call) if isinstance(call, ast.Call) else None
        given = [] if function is None else self._definitions.returned_by(function)
        if not binding.path:
            return given
        place = binding.path[0] if len(binding.path) == 1 else None
        tuples = [value for value in unpacked(given) if isinstance(value, ast.Tuple)]
        return [value.elts[place] for value in tuples if isinstance(place, int) and place < len(value.elts)]

    def _add_terms(self, summed: set[Binding], terms: tuple[Binding, ...], depth: int) -> None:
        """Take up variables, and those they are summed of in turn: ``mean = total / len(parts)``."""
        for term in terms:
            summed.add(term)
            if depth < _DEPTH and term.kind in _SUMMED and not term.path:
                for name in summands(term.value, self._flow):
                    self._add_terms(summed, self._flow.reaching(name), depth + 1)

    def _receivers(self, node: ast.expr) -> tuple[Binding | Inherited, ...]:
        if isinstance(node, ast.Name):
            return self._flow.reaching(node)
        if isinstance(node, ast.Attribute):
            return self._flow.reaching_attribute(node) or self._inherited(node)
        return ()

    def _inherited(self, node: ast.Attribute) -> tuple[Inherited, ...]:
        """The class and the name, for ``self.name``; the variable for ``dataset.model``.

        A class beside others may have what these set: ``class Trainer(Iterations, Models)``. Also the variable of a
        list, with the place in it, for ``results[-1].loss``.
        """
        if isinstance(node.value, ast.Subscript) and isinstance(node.value.value, ast.Name):
            at = node.value.slice
            if not isinstance(at.operand if isinstance(at, ast.UnaryOp) else at, ast.Constant):
                return ()
            name = f"[{self._tree.text(at)}].{node.attr}"
            return tuple((binding, name) for binding in self._flow.reaching(node.value.value))
        if is_of_self(node.value):  # `self.data.loss`, of an object that another file gives the class
            owner = self._tree.class_of(node)
            return () if owner is None else ((owner, f"{node.value.attr}.{node.attr}"),)
        if not isinstance(node.value, ast.Name):
            return ()
        if node.value.id != "self":
            return tuple((binding, node.attr) for binding in self._flow.reaching(node.value))
        owner = self._tree.class_of(node)
        if owner is None or (not owner.bases and self._definitions.method(owner, node.attr) is not None):
            return ()
        return ((owner, node.attr),)


def _of_modules(variable: Binding | Inherited) -> frozenset[str]:
    """Methods that tell of a module; many an object of a program has one called ``train``."""
    found = frozenset({"parameters", "train", "eval"})
    return found - {"train"} if _is_part(variable) else found


def _is_part(variable: Binding | Inherited) -> bool:
    """Whether it is an attribute of what a variable, or an attribute, holds."""
    return not isinstance(variable, Binding) and (isinstance(variable[0], Binding) or "." in variable[1])


def _is_given_work(call: ast.Call) -> bool:
    """``experiment.train(loader)``: that of a module takes a truth value at most, such as ``was_training``.

    ``evaluator.eval(results)``: that of a module takes nothing.
    """
    func = call.func
    given = values_given(call)
    if isinstance(func, ast.Attribute) and func.attr == "eval":
        return bool(given)
    if not isinstance(func, ast.Attribute) or func.attr != "train" or not given:
        return False
    mode = given[0]
    if isinstance(mode, ast.Name | ast.Attribute):
        name = mode.id if isinstance(mode, ast.Name) else mode.attr
        return len(given) > 1 or re.search(_MODE, name, re.IGNORECASE) is None
    if isinstance(mode, ast.Constant):
        return len(given) > 1 or not isinstance(mode.value, bool)
    return len(given) > 1 or not isinstance(mode, ast.Compare | ast.UnaryOp | ast.BoolOp)


def _only_call(node: ast.expr | None) -> ast.Call | None:
    """The call in ``criterion(output, target) / 4``."""
    while isinstance(node, ast.BinOp):
        if isinstance(node.right, ast.Constant | ast.Name | ast.Attribute):
            node = node.left
        elif isinstance(node.left, ast.Constant | ast.Name | ast.Attribute):
            node = node.right
        else:
            return None
    return node if isinstance(node, ast.Call) else None


def _scaled(node: ast.expr) -> ast.expr:
    """The variable in ``(loss / 4).backward()`` and ``loss.mean().backward()``."""
    while True:
        if isinstance(node, ast.BinOp):
            node = node.right if isinstance(node.left, ast.Constant) else node.left
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr not in facts.TENSOR_METHODS:
                return node
            node = node.func.value
        else:
            return node


def _root(node: ast.expr) -> ast.Name | None:
    """The variable that a chain of tensor methods and elements begins with."""
    while True:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr not in facts.TENSOR_METHODS and node.func.attr not in ASKING:
                return None
            node = node.func.value
        elif isinstance(node, ast.Subscript) or (isinstance(node, ast.Attribute) and node.attr == "data"):
            node = node.value
        else:
            return node if isinstance(node, ast.Name) else None
