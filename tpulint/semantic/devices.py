"""Device sites: every place of a file that names a CUDA device, asks for an accelerator or acquires one."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from typing import TYPE_CHECKING

from tpulint.model import Span
from tpulint.records import NamedTuple
from tpulint.semantic.cuda_branches import CudaBranches, is_named_question, names_other_backend
from tpulint.semantic.cuda_features import CudaFeatures
from tpulint.semantic.cuda_features import last as last_word
from tpulint.semantic.device_flow import DeviceFlow
from tpulint.semantic.device_indices import DeviceIndices
from tpulint.semantic.device_numbers import DeviceNumbers
from tpulint.semantic.places import Place
from tpulint.semantic.questions import Questions
from tpulint.semantic.torch_versions import is_for_older_torch
from tpulint.semantic.tree import FUNCTIONS
from tpulint.semantic.variables import last_name

if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_QUESTIONS = frozenset({"torch.cuda.is_available", "torch.accelerator.is_available", "torch.cuda.is_bf16_supported"})
_COUNTS = frozenset({"torch.cuda.device_count", "torch.accelerator.device_count"})
_CUDA_WORD = r"cuda\Z|cuda:|CUDA"
_ROUNDS = 3
_ACCELERATOR = "torch.accelerator.current_accelerator"


class Role(Enum):
    """What a device site is."""

    QUESTION = "asks whether there is a GPU"
    NAME = "names a CUDA device"
    ACQUISITION = "makes a device object"
    COMPARISON = "compares a device with CUDA's name"
    NUMBER = "gives the number of a device as the device"
    GENERATOR = "makes a random generator on the device"


class Site(NamedTuple):
    """One place."""

    node: ast.expr
    """The expression to be rewritten."""
    role: Role
    answer: bool = True
    """Of a question: what it answers on a machine with the accelerator."""
    number: str = ""
    """Of a name: the number behind ``cuda:``; "?" for a computed one."""
    certain: bool = True


class Devices:
    """The device sites of one file, in order of position."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index
        self._tree = index.tree
        self.features = CudaFeatures(index)
        self.questions = Questions(index, self.features)
        parents = index.tree.parents
        self._torch_calls = [
            (parent, name)
            for node, name in index.references("torch")
            if isinstance(parent := parents.get(node), ast.Call) and parent.func is node
        ]
        """Calls of functions of torch, with their qualified names."""
        guards = index.guards
        self._knows_xla = guards.knows_xla()
        self._for_cuda = guards.cuda_only()
        self._named: list[Span] = []
        self._asked_for: list[Span] | None = None
        self.sites: list[Site] = []
        self._look(())
        if not self.sites:  # fewer there cannot be: the branches are looked for when somebody asks
            branches = self.branches
            self._follow(lambda: (*branches.named, *branches.kept))
        for _ in range(_ROUNDS if self.sites else 0):
            # What stands in CUDA's part of the file is no device of it: comparisons with it fall away in turn.
            branches = self.branches
            kept = (*branches.named, *branches.kept)
            if not kept or kept == self.flow.outside:
                break
            self._look(kept)
        if self.sites and not self._places_anything():
            self.sites = []

    def _look(self, outside: tuple[Span, ...]) -> None:
        """Find the sites that stand outside of these spans."""
        self._follow(lambda: outside)
        self.false_comparisons: list[ast.expr] = []
        """Comparisons with CUDA's name above nothing but code for CUDA: false once the device is another."""
        # In a file with several backends the question is what keeps CUDA's branch apart.
        questions = [] if self._knows_xla else self._questions()
        sites = [*questions, *self._names(), *self._acquisitions(), *self._numbers(), *self._generators()]
        unique = {site.node: site for site in sites if self._counts(site.node)}
        self.sites = sorted(unique.values(), key=lambda site: self._index.span(site.node))
        self.branches = CudaBranches(self._index, self.features, unique.keys())
        self._named = self.branches.named

    def _follow(self, outside: Callable[[], tuple[Span, ...]]) -> None:
        self.flow = DeviceFlow(self._index, outside)
        self.indices = DeviceIndices(self._index, self.flow)

    def _places_anything(self) -> bool:
        """Whether the file chooses or uses a device, beyond functions that only ask for a GPU."""
        if any(site.role is not Role.QUESTION or not self.questions.is_alone(site.node) for site in self.sites):
            return True
        return any(self._index.method_calls("cuda")) or any(self._index.references("torch.cuda.FloatTensor"))

    def _counts(self, node: ast.expr) -> bool:
        if self.is_for_cuda(node) or self.flow.is_outside(node) or self.features.is_asked_about(node):
            return False
        if is_for_older_torch(self._tree, node):
            return False
        return self._stands_in_text(node) and not self._is_kept_by_users(node) and not self._is_chosen_for_xla(node)

    def _is_chosen_for_xla(self, node: ast.expr) -> bool:
        """``"cuda" if is_xla_available(check_is_gpu=True) else "cpu"``: XLA runs on GPUs as well."""
        choice = self._tree.parents[node] if self._knows_xla else None
        chosen = isinstance(choice, ast.IfExp) and choice.body is node
        return chosen and isinstance(choice, ast.IfExp) and "xla" in self._tree.text(choice.test).lower()

    def _is_kept_by_users(self, node: ast.expr) -> bool:
        """Whether the device is one parameter of tests, or stands in a function about a product for GPUs."""
        for ancestor in self._tree.ancestors(node):
            if isinstance(ancestor, ast.Call) and last_word(ancestor) in ("param", "parametrize"):
                return True
            if isinstance(ancestor, ast.stmt):
                break
        return self._index.callers.use_for_gpus(node)

    def is_for_cuda(self, node: ast.AST) -> bool:
        """Whether the node stands in a branch that runs on CUDA only, of a file that has a branch for XLA too, or in
        what is CUDA's by its name, such as a method ``cuda``.
        """
        return _stands_in(self._index.span(node), (*self._for_cuda, *self._named))

    def is_guarded(self, node: ast.AST) -> bool:
        """Whether a condition that stays as it is keeps the node from running without a GPU."""
        return _stands_in(self._index.span(node), (*self._for_cuda, *self._named, *self.branches.guarded))

    def is_asked_for(self, node: ast.AST) -> bool:
        """Whether a question for a GPU keeps the node from running without one, until it is answered."""
        if self._asked_for is None:
            self._asked_for = CudaBranches(self._index, self.features, frozenset()).guarded
        return _stands_in(self._index.span(node), self._asked_for)

    def _stands_in_text(self, node: ast.expr) -> bool:
        """Positions inside f-strings differ between Python versions, so nothing is rewritten there."""
        return not any(isinstance(ancestor, ast.JoinedStr) for ancestor in self._tree.ancestors(node))

    # ---------------------------------------------------------------- questions

    def _questions(self) -> Iterator[Site]:
        for call, name in self._torch_calls:
            if name in _QUESTIONS:
                node: ast.expr = call
                answer = True
            elif name in _COUNTS:
                counted = self._counted(call)
                if counted is None:
                    continue
                node, answer = counted
            else:
                continue
            if self.questions.is_worth_folding(node) and not self._names_cuda_beside(node):
                yield Site(node, Role.QUESTION, answer)

    def _counted(self, call: ast.Call) -> tuple[ast.expr, bool] | None:
        """``device_count() > 0`` and its like ask the same question; other comparisons ask for more."""
        parent = self._tree.parents[call]
        if isinstance(parent, ast.Compare) and parent.left is call and len(parent.ops) == 1:
            right = parent.comparators[0]
            if isinstance(right, ast.Constant) and type(right.value) is int:
                at_least_one = (type(parent.ops[0]), right.value) in ((ast.Gt, 0), (ast.GtE, 1), (ast.NotEq, 0))
                none = (type(parent.ops[0]), right.value) in ((ast.Eq, 0), (ast.Lt, 1), (ast.LtE, 0))
                if at_least_one or none:
                    return parent, at_least_one
            elif (
                isinstance(parent.ops[0], ast.Gt | ast.GtE)
                and not isinstance(right, ast.Constant)
                and self._opens_device(parent)
            ):
                return parent, True
            return None
        node: ast.AST = call
        while isinstance(parent, ast.BoolOp):  # `if wanted and device_count():`; `device_count() or 1` is a number
            node, parent = parent, self._tree.parents[parent]
        truth = (isinstance(parent, ast.If | ast.IfExp | ast.While) and parent.test is node) or (
            isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not)
        )
        return (call, True) if truth else None

    def _opens_device(self, comparison: ast.Compare) -> bool:
        """``if torch.cuda.device_count() > i: return torch.device(f"cuda:{i}")``"""
        statement = self._tree.parents[comparison]
        if not isinstance(statement, ast.If) or statement.test is not comparison or len(statement.body) != 1:
            return False
        value = getattr(statement.body[0], "value", None)
        if not isinstance(value, ast.Call) or self._index.qualified_name(value.func) != "torch.device":
            return False
        argument = self.device_argument(value)
        return argument is not None and self.flow.cuda_index(argument) is not None

    def _names_cuda_beside(self, question: ast.expr) -> bool:
        """``device.type == "cuda" and is_available()``: the other half stays false, whatever the question answers."""
        node: ast.AST = question
        while isinstance(node, ast.expr) and not (isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And)):
            node = self._tree.parents[node]
        for operand in node.values if isinstance(node, ast.BoolOp) else ():
            if self._tree.encloses(operand, question):
                continue
            asks = isinstance(operand, ast.Call) and last_word(operand).endswith("available")
            if asks and names_other_backend(self._tree.text(operand)):
                return True  # `torch.backends.mps.is_available() and not torch.cuda.is_available()`
            if isinstance(operand, ast.Compare):
                sides = [operand.left, *operand.comparators]
                texts = [s.value for s in sides if isinstance(s, ast.Constant) and isinstance(s.value, str)]
                equal = isinstance(operand.ops[0], ast.Eq | ast.In)
                if equal and any(names_other_backend(text) for text in texts):
                    return True  # `is_available() and current_accelerator().type == "neuron"`
                if equal and any(re.match(_CUDA_WORD, text) for text in texts):
                    others = [side for side in sides if not isinstance(side, ast.Constant)]
                    if operand.ops[0].__class__ is ast.Eq and not self._index.is_program:
                        return True  # `self.is_cuda = device.type == "cuda" and is_available()`
                    return not any(self.flow.derives(side) for side in others)
        return False

    # ---------------------------------------------------------------- names

    def _names(self) -> Iterator[Site]:
        flow = self.flow
        # What names a CUDA device begins with the word, by itself or as the first part of a longer expression.
        texts = [node for node in self._tree.strings if str(node.value).startswith("cuda")]
        candidates: list[ast.expr] = [*texts, *self._tree.fstrings]
        for candidate in candidates:
            node = self._whole_text(candidate)
            number = flow.cuda_index(node)
            if number is None:
                continue
            place = flow.places.of(node)
            if place.kind == "comparison":
                if self._compares_device(node, place.node) and self._is_worth_renaming(place.node):
                    yield Site(node, Role.COMPARISON, number=number, certain=False)
                elif isinstance(place.node, ast.Compare) and self._guards_dead_code(place.node):
                    self.false_comparisons.append(place.node)
            elif self._is_only_a_word(place):
                continue
            elif flow.is_device_place(place) and not self._is_call_to(place.node, "torch.device", "torch.Generator"):
                certain = place.kind == "device" or self._is_seen_as_device(place)
                yield Site(node, Role.NAME, number=number, certain=certain)

    def _guards_dead_code(self, comparison: ast.Compare) -> bool:
        """``if device == "cuda":`` above nothing but what CUDA alone has, and no comment that would go with it."""
        statement = self._tree.parents[comparison]
        is_part = isinstance(comparison.ops[0], ast.In) and isinstance(comparison.left, ast.Constant)
        name = comparison.left if is_part else comparison.comparators[0]
        return (
            (is_part or isinstance(comparison.ops[0], ast.Eq))
            and isinstance(statement, ast.If)
            and statement.test is comparison
            and self._compares_device(name, comparison)
            and self.features.holds_only_cuda(statement.body)
            and "#" not in self._tree.text(statement)
        )

    def _is_worth_renaming(self, comparison: ast.AST | None) -> bool:
        several = isinstance(comparison, ast.Compare) and names_other_backend(
            self._tree.text(comparison.comparators[0])
        )
        if several and not self._index.is_program:
            return False  # `self.is_gpu = device.type in ("cuda", "xpu")`
        if isinstance(comparison, ast.expr) and not self._index.is_program and self._is_flag_of_cuda(comparison):
            return False
        skips = isinstance(comparison, ast.expr) and self.questions.skips_test(self.features.root(comparison))
        return not skips and not self.features.guards_cuda_only(comparison)

    def _is_flag_of_cuda(self, comparison: ast.expr) -> bool:
        """``self.is_cuda = device.type == "cuda"``, and what is asked for older versions, behind an exception."""
        statement = self._tree.parents[self.features.root(comparison)]
        if isinstance(statement, ast.Assign) and is_named_question(last_name(statement.targets[0])):
            return True
        return any(isinstance(item, ast.ExceptHandler) for item in self._tree.ancestors(comparison))

    def _whole_text(self, node: ast.expr) -> ast.expr:
        """``"cuda:" + str(i)``, ``"cuda:%d" % i`` and ``"cuda:{}".format(i)`` as a whole."""
        parent = self._tree.parents[node]
        if isinstance(parent, ast.BinOp) and parent.left is node:
            return parent
        if isinstance(parent, ast.Attribute) and parent.attr == "format":
            call = self._tree.parents[parent]
            return call if isinstance(call, ast.Call) else node
        return node

    def _compares_device(self, node: ast.expr, comparison: ast.AST | None) -> bool:
        """Whether the other side comes from a device site of this file."""
        if isinstance(comparison, ast.Call):
            func = comparison.func
            return isinstance(func, ast.Attribute) and self.flow.derives(func.value)
        if isinstance(comparison, ast.Match):
            return self._is_whole_pattern(node) and self.flow.derives(comparison.subject)
        if not isinstance(comparison, ast.Compare) or len(comparison.ops) != 1:
            return False
        if not isinstance(comparison.ops[0], ast.Eq | ast.NotEq | ast.In | ast.NotIn):
            return False
        sides = [comparison.left, comparison.comparators[0]]
        other = next((side for side in sides if not self._tree.encloses(side, node)), None)
        return other is not None and self.flow.derives(other)

    def _is_whole_pattern(self, node: ast.expr) -> bool:
        """Whether ``case "cuda":`` compares the subject itself, not a part of it."""
        pattern: ast.AST = self._tree.parents[node]
        while isinstance(outer := self._tree.parents[pattern], ast.MatchOr):
            pattern = outer
        return isinstance(outer, ast.match_case)

    def _is_call_to(self, node: ast.AST | None, *names: str) -> bool:
        return isinstance(node, ast.Call) and self._index.qualified_name(node.func) in names

    def _is_only_a_word(self, place: Place) -> bool:
        """Whether a variable of a file that serves others is only compared, or sets the precision of a class.

        A parameter may also go to an autocast or a scaler: those who call give the device.
        """
        if place.kind != "variable" or self._index.is_program or any(key[0] != "name" for key in place.keys):
            return False
        loads = [load for key in place.keys for load in self.flow.variables.loads(key)]
        given = isinstance(place.node, FUNCTIONS)
        return bool(loads) and all(
            self._is_compared_with_others(load) or self.flow.places.is_of_precision(load, functions=given)
            for load in loads
        )

    def _is_compared_with_others(self, load: ast.expr) -> bool:
        """``torch.device(d).type == expected``; beside ``"cuda"`` both names must change together."""
        comparison = self.flow.places.of(load).node if self.flow.places.of(load).kind == "comparison" else None
        if not isinstance(comparison, ast.Compare):
            return False
        return all(self.flow.cuda_index(side) is None for side in (comparison.left, *comparison.comparators))

    def _is_seen_as_device(self, place: Place) -> bool:
        """Whether the variable a name is put in is seen to be used as a device."""
        loads = [load for key in place.keys for load in self.flow.variables.loads(key)]
        return any(self.flow.is_device_place(self.flow.places.of(load)) for load in loads)

    # ---------------------------------------------------------------- objects

    def _acquisitions(self) -> Iterator[Site]:
        for call, name in self._torch_calls:
            if name == _ACCELERATOR:
                parent = self._tree.parents[call]
                if isinstance(parent, ast.Attribute) and parent.attr == "type":
                    if not self._is_told_apart(parent):
                        yield Site(parent, Role.NAME, certain=True)
                elif not self.is_map_location(call) and not self._is_only_compared(call):
                    yield Site(call, Role.ACQUISITION)
            elif name == "torch.device" and not self.is_map_location(call):
                argument = self.device_argument(call)
                if argument is None:
                    continue
                number = self.flow.cuda_index(argument)
                if number is not None:
                    yield Site(call, Role.ACQUISITION, number=number or self._second(call))
                elif self.indices.is_number(argument):
                    yield Site(call, Role.ACQUISITION, number=_constant(argument))
                else:
                    # only names in branches; they are rewritten one by one
                    for node in _branches(argument):
                        number = self.flow.cuda_index(node)
                        if number is not None:
                            yield Site(node, Role.NAME, number=number)

    def _is_told_apart(self, node: ast.expr) -> bool:
        """``torch.accelerator.current_accelerator().type == "neuron"``"""
        parent = self._tree.parents[node]
        if not isinstance(parent, ast.Compare):
            return False
        sides = (side for side in (parent.left, *parent.comparators) if side is not node)
        return not any(self.flow.cuda_index(side) is not None for side in sides)

    def _is_only_compared(self, call: ast.Call) -> bool:
        """``current = current_accelerator()``, read only by ``current is not None and current.type == device.type``."""
        parent = self._tree.parents[call]
        if (
            not isinstance(parent, ast.Assign)
            or len(parent.targets) != 1
            or not isinstance(parent.targets[0], ast.Name)
        ):
            return False
        loads = self.features.loads(parent.targets[0])
        reads = [p if isinstance(p := self._tree.parents[load], ast.Attribute) else load for load in loads]
        compares = [self._tree.parents[read] for read in reads]
        if not loads or not all(isinstance(item, ast.Compare) for item in compares):
            return False
        sides = (side for item in compares if isinstance(item, ast.Compare) for side in (item.left, *item.comparators))
        return not any(self.flow.cuda_index(side) is not None for side in sides)

    def _generators(self) -> Iterator[Site]:
        for call, name in self._torch_calls:
            if name != "torch.Generator":
                continue
            argument = self.device_argument(call)
            if isinstance(argument, ast.IfExp) and self._index.guards.asks_cuda(argument.test):
                continue
            if argument is not None and (self.flow.derives(argument) or self._index.xla_devices.is_device(argument)):
                yield Site(call, Role.GENERATOR, certain=False)

    def device_argument(self, call: ast.Call) -> ast.expr | None:
        """What ``torch.device(...)`` is given as the device."""
        if call.args:
            return call.args[0] if not isinstance(call.args[0], ast.Starred) else None
        return next((k.value for k in call.keywords if k.arg in ("type", "device")), None)

    def _second(self, call: ast.Call) -> str:
        """Index in ``torch.device("cuda", 1)``."""
        given = [*call.args[1:2], *(k.value for k in call.keywords if k.arg == "index")]
        return _constant(given[0]) if given else ""

    def _numbers(self) -> Iterator[Site]:
        numbers = DeviceNumbers(self._index, self.flow, self.indices, self._torch_calls)
        for node, argument, certain in numbers.found():
            yield Site(node, Role.NUMBER, number=_constant(argument) if certain else "", certain=certain)

    def is_option_default(self, node: ast.expr) -> bool:
        """Whether a name is the default, or one of the choices, of a command line option."""
        place = self.flow.places.of(node)
        return isinstance(place.node, ast.Call) and self.flow.variables.option_name(place.node) is not None

    def is_map_location(self, node: ast.expr) -> bool:
        """``torch.load`` cannot restore to an XLA device; another rule takes care of where it loads to."""
        for ancestor in self._tree.ancestors(node):
            if isinstance(ancestor, ast.keyword) and ancestor.arg == "map_location":
                return True
            if isinstance(ancestor, ast.Call) and self._index.qualified_name(ancestor.func) == "torch.load":
                return True
            if isinstance(ancestor, ast.stmt):
                return False
        return False


def _branches(node: ast.expr) -> Iterator[ast.expr]:
    """Expressions whose value the whole may have."""
    if isinstance(node, ast.IfExp):
        yield from _branches(node.body)
        yield from _branches(node.orelse)
    elif isinstance(node, ast.BoolOp):
        for item in node.values:
            yield from _branches(item)
    else:
        yield node


def _stands_in(span: Span, spans: Iterable[Span]) -> bool:
    return any(outer.start <= span.start and span.end <= outer.end for outer in spans)


def _constant(node: ast.expr) -> str:
    return str(node.value) if isinstance(node, ast.Constant) else "?"
