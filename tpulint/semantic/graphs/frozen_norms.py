"""Batch normalisations in evaluation mode that a gradient goes through."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cached_property

from tpulint.semantic.cuda.questions import leaves
from tpulint.semantic.graphs.cut_gradients import is_cut
from tpulint.semantic.loops.lasting_evaluations import LastingEvaluations, is_switched_off
from tpulint.semantic.modules.attacked_models import attacked_models
from tpulint.semantic.modules.normed_classes import have_none
from tpulint.semantic.project.other_files import Definition
from tpulint.semantic.syntax.nodes import LOOPS, FunctionNode
from tpulint.semantic.syntax.variables import last_name
from tpulint.semantic.values.kinds import Kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_NORMS = (
    r"BatchNorm\w*\(|=\s*(?:\w+\.)*BatchNorm\dd\b|batch_norm\("
    r"|\btorchvision\.models\b|\btorchvision import (?:[\w, ]+, )?models\b|\btimm\b"
)
"""What files of networks with batch normalisations say; those of torchvision and timm nearly all have them."""
_NORM_WORDS = ("BatchNorm", "batch_norm(", "torchvision", "timm")
"""One of them stands in all of that."""
_PLAIN = r"\b(?:vgg\d+|alexnet)\b"
_NORMED = r"BatchNorm|batch_norm|_bn\b|(?i:resnet|densenet|mobilenet|efficientnet|inception|googlenet)"
"""Networks of torchvision without batch normalisations, and words for those with."""
_LAST = r"\b(?:fc|head|classifier|linear|logits|last)(?:\b|_)"
"""What last layers are called, which no normalisation stands behind."""
_SUPPORT = "tpulint_runtime.support_frozen_batch_norm"
_GRADIENTS = frozenset({"torch.autograd.grad", "torch.autograd.backward"})
_MODES = ("eval", "train")
_HOPS = 2
"""Files that a network is looked for through."""


class FrozenNorms:
    """Answers about one file."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index

    @property
    def are_supported(self) -> bool:
        """Whether the file lets gradients through them, by the function of the runtime for it."""
        return next(self._index.calls_to(_SUPPORT), None) is not None

    @cached_property
    def frozen(self) -> tuple[ast.Call, ...]:
        """Calls that put single batch normalisations into evaluation mode: ``if isinstance(m, BatchNorm2d): m.eval()``.

        Whoever only evaluates puts the whole model there.
        """
        return tuple(
            call
            for call, receiver in self._index.method_calls(*_MODES)
            if is_switched_off(call) and self._is_norm(receiver)
        )

    @cached_property
    def passed(self) -> tuple[tuple[ast.Call, ast.Call], ...]:
        """Backward passes through a model in evaluation mode that may have batch normalisations, each behind the
        ``eval()`` that put it there."""
        switches = self._switches()
        evaluations = [call for calls in switches.values() for call in calls if is_switched_off(call)]
        if not evaluations or not self._has_norms():
            return ()
        found = ((call, self._eval_before(call, switches)) for call in self._backwards())
        here = {call: switch for call, switch in found if switch is not None}
        attacked = attacked_models(self._index, (call for call in evaluations if not self._has_none(_model_of(call))))
        return (*here.items(), *attacked)

    @cached_property
    def left(self) -> tuple[tuple[ast.Call, ast.Call], ...]:
        """Backward passes in loops whose turns leave a model in evaluation mode that may have batch normalisations;
        each behind the call that does."""
        if not any(self._index.tree.loops) or not self._has_norms():
            return ()
        switches, passed = self._switches(), {call for call, _ in self.passed}
        evaluations = LastingEvaluations(self._index)
        found = []
        for call in self._backwards():
            if call in passed or self._eval_before(call, switches) is not None:
                continue
            for other, name, model in evaluations.around(call):
                if (
                    not self._is_left_alone(name)
                    and not (model and self._has_none(model))
                    and self._trains(name, other)
                ):
                    found.append((call, other))
                    break
        return tuple(found)

    def _trains(self, model: str, evaluation: ast.Call) -> bool:
        """Whether the loop in which a model is evaluated runs it with gradients, too."""
        tree = self._index.tree
        loops = [item for item in tree.ancestors(evaluation) if isinstance(item, LOOPS)]
        return any(
            call is not evaluation and self._index.regions.records_gradient(call) and self._runs(call, model)
            for loop in loops
            for call in tree.nodes_in(loop, ast.Call, functions=False)
        )

    def _switches(self) -> dict[FunctionNode | None, list[ast.Call]]:
        """Calls of ``eval`` and ``train`` on models, by the function in which they stand."""
        result: dict[FunctionNode | None, list[ast.Call]] = {}
        for call, receiver in self._index.method_calls(*_MODES):
            if self._index.kind(receiver) in (Kind.MODULE, Kind.UNKNOWN):
                result.setdefault(self._index.function_of(call), []).append(call)
        return result

    def _backwards(self) -> Iterator[ast.Call]:
        yield from (call for call, _ in self._index.method_calls("backward"))
        yield from self._index.calls_to(*_GRADIENTS)

    def _eval_before(
        self, call: ast.Call, switches: dict[FunctionNode | None, list[ast.Call]], depth: int = 0
    ) -> ast.Call | None:
        """The ``eval()`` that is the last switch in front of a call; in front of a call of its function, where that
        has no switch of its own."""
        function = self._index.function_of(call)
        conditions = self._conditions(call)
        in_branch = self._eval_in_branch(call, switches.get(function, [])) if depth == 0 else None
        if in_branch is not None:
            return in_branch
        before = [other for other in switches.get(function, ()) if self._always_runs_before(other, call)]
        if before:
            switch = self._eval_of(before, call)
            return switch if switch is not None and conditions <= self._conditions(switch) else None
        if function is None or depth == _HOPS or conditions:
            return None
        callers = self._index.definitions.calls_of(function)
        found = (self._eval_before(caller, switches, depth + 1) for caller in callers)
        return next((switch for switch in found if switch is not None), None)

    def _eval_in_branch(self, call: ast.Call, switches: list[ast.Call]) -> ast.Call | None:
        """The ``eval()`` in a branch of the same turn that leads to a call: ``if attacks: model.eval()``.

        Unless something in front of the call may put the model back.
        """
        tree, conditions = self._index.tree, self._conditions(call)
        loop = tree.loop_of(call)
        for switch in switches if loop is not None else ():
            if not is_switched_off(switch) or not tree.start(switch) < tree.start(call) or tree.loop_of(switch) != loop:
                continue
            branches = self._conditions(switch)
            if not conditions < branches or self._is_put_back(switch, call, switches):
                continue
            suites = [suite for branch in branches - conditions for suite in (branch.body, branch.orelse)]
            around = [suite for suite in suites if any(tree.encloses(item, switch) for item in suite)]
            if not any(map(leaves, around)) and self._eval_of([switch], call) is not None:
                return switch
        return None

    def _is_put_back(self, switch: ast.Call, call: ast.Call, switches: list[ast.Call]) -> bool:
        """Whether another switch of the model stands between its ``eval()`` and a call, but where this does not run."""
        tree, name = self._index.tree, self._index.text(_model_of(switch))
        between = (one for one in switches if tree.start(switch) < tree.start(one) < tree.start(call))
        excludes = self._index.moves.exclude_each_other
        return any(self._index.text(_model_of(other)) == name and not excludes(switch, other) for other in between)

    def _conditions(self, call: ast.Call) -> set[ast.If]:
        """Branches of its function that a call stands in: ``if training:`` runs it behind ``eval()`` in no case."""
        tree, function = self._index.tree, self._index.function_of(call)
        around = (item for item in tree.ancestors(call) if isinstance(item, ast.If))
        return {item for item in around if tree.function_of(item) is function}

    def _eval_of(self, before: list[ast.Call], call: ast.Call) -> ast.Call | None:
        """Of switches in front of a call, the ``eval()`` of a model that the gradient goes through."""
        last = {self._index.text(other.func.value): other for other in before if isinstance(other.func, ast.Attribute)}
        for name, switch in last.items():
            if not is_switched_off(switch) or self._is_left_alone(name) or self._has_none(_model_of(switch)):
                continue
            if self._is_run_between(name, switch, call):
                return switch
        return None

    def _is_left_alone(self, model: str) -> bool:
        """Whether the file says that nothing of a model is trained: a teacher, whose inputs are data; or its last layer
        alone, ``if name not in ["fc.weight", "fc.bias"]: parameter.requires_grad = False``."""
        name = re.escape(model)
        off = r"\w+\.(?:requires_grad_\(False\)|requires_grad\s*=\s*False)"
        return self._index.mentions(
            rf"\b{name}\.requires_grad_\(False\)|\bin {name}\.parameters\(\):\s*{off}"
            rf"|\bin {name}\.named_parameters\(\):\s*if (?=[^\n]*\bnot\b)[^\n]*{_LAST}[^\n]*:\s*{off}"
        )

    def _always_runs_before(self, first: ast.Call, second: ast.Call) -> bool:
        """Whether a statement stands in front of another, in a block around it: no branch leads past it."""
        tree = self._index.tree
        statement = tree.statement_of(first)
        if tree.start(first) >= tree.start(second):
            return False
        suite = tree.suite_of(statement)
        return any(item is not statement and tree.encloses(item, second) for item in suite)

    def _is_run_between(self, model: str, switch: ast.Call, call: ast.Call) -> bool:
        """Whether a model is run behind its ``eval()`` and in front of a backward pass, with gradients."""
        tree = self._index.tree
        begin, end = tree.end(switch), tree.end(call)
        for other in tree.calls:
            if not begin < tree.start(other) <= end or tree.function_of(other) is not tree.function_of(switch):
                continue
            if self._runs(other, model) and self._index.regions.records_gradient(other):
                return True
        return False

    def _runs(self, call: ast.Call, model: str, depth: int = 0) -> bool:
        """Whether a call runs a model, itself or in a function of this file that it is given to or that knows it, for
        more than a result that is cut off from its gradient."""
        if self._index.text(call.func) == model:
            return not is_cut(self._index, call)
        function = self._index.definitions.function_called(call)
        if function is None or depth > _HOPS:
            return False
        own = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
        given = self._index.definitions.arguments.of
        names = {item.arg for item in own if any(self._index.text(one) == model for one in given(function, item.arg))}
        if model not in {item.arg for item in own}:
            names.add(model)
        return any(
            isinstance(node, ast.Call)
            and self._index.regions.records_gradient(node)
            and any(self._runs(node, name, depth + 1) for name in names)
            for node in self._index.tree.inside(function, functions=False)
        )

    # ---------------------------------------------------------------- batch normalisations

    def _is_norm(self, receiver: ast.expr) -> bool:
        """Whether a condition around a call says that the receiver is a batch normalisation."""
        if not isinstance(receiver, ast.Name):
            return False
        tests = []
        child: ast.AST = receiver
        for ancestor in self._index.tree.ancestors(receiver):
            if isinstance(ancestor, ast.If) and self._index.tree.in_body(ancestor, child):
                tests.append(ancestor.test)
            child = ancestor
        return any(self._says_norm(part, receiver.id) for test in tests for part in ast.walk(test))

    def _says_norm(self, test: ast.AST, name: str) -> bool:
        if isinstance(test, ast.Call):
            is_about = len(test.args) == 2 and self._index.text(test.args[0]) == name
            if is_about and self._index.qualified_name(test.func) == "builtins.isinstance":
                return _names_norm(self._index, test.args[1], 0)
            return False
        # `m.__class__.__name__.find("BatchNorm") != -1`
        return isinstance(test, ast.Constant) and isinstance(test.value, str) and "BatchNorm" in test.value

    def _has_none(self, model: ast.expr) -> bool:
        """Whether a model is of a class that is known to have none: all of it is in sight, or it is made of a network
        of torchvision without them."""
        if not isinstance(model, ast.Name | ast.Attribute):
            return False
        here = [Definition(self._index, owner) for owner in self._index.definitions.classes.of_variable(model)]
        owners = [*here, *self._index.imported.classes_of(model)]
        texts = [owner.file.text(owner.node) for owner in owners]
        is_plain = all(re.search(_PLAIN, text) and not re.search(_NORMED, text) for text in texts)
        return bool(owners) and (is_plain or have_none(owners))

    def _has_norms(self) -> bool:
        """Whether this file, or one that it takes networks from, speaks of batch normalisations."""
        waiting, reached = [(self._index, 0)], dict[str, int]()
        while waiting:
            index, hops = waiting.pop()
            if index.source.has_any(_NORM_WORDS) and index.mentions(_NORMS):
                return True
            path = index.source.path
            if hops <= _HOPS and hops < reached.get(path, _HOPS + 1):
                reached[path] = hops
                # A package only hands on what its files define.
                further = hops + (not path.endswith("__init__.py"))
                if further <= _HOPS:
                    waiting.extend((other, further) for other in index.imported.files())
        return False


def _model_of(switch: ast.Call) -> ast.expr:
    return switch.func.value if isinstance(switch.func, ast.Attribute) else switch


def _names_norm(index: SemanticIndex, node: ast.expr, depth: int) -> bool:
    """Whether a class, or one of several, is a batch normalisation by its name, or a variable or attribute that is."""
    if depth > _HOPS:
        return False
    if "BatchNorm" in index.text(node):
        return True
    if isinstance(node, ast.Tuple):
        return any(_names_norm(index, item, depth) for item in node.elts)
    if isinstance(node, ast.Attribute):  # `isinstance(m, ConvBlock.NORM)`
        here, other = index.names.class_named(node.value), index.imported.definition(node.value)
        file, owner = (index, here) if other is None else (other.file, other.node)
        body = owner.body if isinstance(owner, ast.ClassDef) else []
        given = [one for one in body if isinstance(one, ast.Assign) and node.attr in map(last_name, one.targets)]
        return any(_names_norm(file, one.value, depth + 1) for one in given)
    bindings = index.names.bindings(node) if isinstance(node, ast.Name) else []
    return any(one.value is not None and not one.path and _names_norm(index, one.value, depth + 1) for one in bindings)
