"""Arithmetic on copies of device tensors that torch can do where they are: ``np.mean(pred == target)``."""

from __future__ import annotations

import ast
import re

from tpulint.records import NamedTuple
from tpulint.semantic.loops.regions import Pace
from tpulint.semantic.reads.reads import CASTS, How, Read
from tpulint.semantic.syntax.bindings import Binding
from tpulint.semantic.syntax.nodes import LoopNode
from tpulint.semantic.values.kinds import Kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_COPYING = re.compile(r"\.cpu\(\)|\.numpy\(\)|\.to\(['\"]cpu['\"]\)|\.type\(['\"]?\w+\.(Float|Int|Long)Tensor['\"]?\)")
"""What makes an array of a tensor, in the text behind it, or a tensor of the host."""
_KEPT_BEHIND = r"(?:\.detach\(\)|\.data|\.flatten\(\)|\.squeeze\(\)|\.float\(\))*"
FUNCTIONS_OF_TORCH = {
    "numpy.concatenate": "cat", "numpy.stack": "stack", "numpy.argmax": "argmax", "numpy.argmin": "argmin",
    "numpy.mean": "mean", "numpy.sum": "sum", "numpy.abs": "abs", "numpy.sqrt": "sqrt", "numpy.square": "square",
    "numpy.exp": "exp", "numpy.log": "log", "numpy.equal": "eq", "numpy.max": "max", "numpy.min": "min",
}  # fmt: skip
"""Functions that torch has too, up to the spelling of ``axis``."""
_OF_TENSORS = ("torch.mean", "torch.sum")
"""What torch computes of a tensor of the host, and of one on the device alike."""
_REDUCTIONS = ("mean", "sum", "max", "min")
"""Of all elements, where no axis is given."""
_METHODS = frozenset({"argmax", "argmin", "mean", "sum", "max", "min", "flatten", "squeeze", "reshape", "astype"})
TYPES = {
    "builtins.int": "long", "builtins.float": "float", "numpy.int64": "long", "numpy.int32": "int",
    "numpy.float32": "float",
}  # fmt: skip
"""What ``astype`` is given, and the tensor's method for it."""


class HostArrays(NamedTuple):
    """Arithmetic of one loop that can be done by torch instead."""

    loop: LoopNode
    copies: tuple[Read, ...]
    calls: tuple[ast.Call, ...]
    """Calls of NumPy's functions, and of methods of arrays, in order of position."""
    numbers: tuple[ast.expr, ...]
    """Whole expressions, or variables, that stand for one number which is needed on the host."""


class HostArithmetic:
    """Finds it in the turns of step loops and evaluation loops."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index
        self._memo: dict[LoopNode, HostArrays | None] = {}

    def of(self, loop: LoopNode) -> HostArrays | None:
        """What a turn of a loop computes with NumPy and could compute on the device."""
        if loop not in self._memo:
            self._memo[loop] = self._find(loop) if self._index.mentions(r"\.numpy\(|cpu|\.type\(") else None
        return self._memo[loop]

    def _find(self, loop: LoopNode) -> HostArrays | None:
        index = self._index
        pace = Pace.EVALUATION if loop in index.regions.evaluation_loops else Pace.STEP
        copies = {
            read.node: read
            for read in index.reads.inside(loop)
            if read.how is How.COPY and index.tree.loop_of(read.node) is loop and index.pace_of(read.node) is pace
            if self._is_copy(read)
        }
        variables = self._variables(loop) if copies else {}
        while copies:
            arrays = _Arrays(index, copies, variables)
            kept = {binding: value for binding, value in variables.items() if arrays.can_hold(binding)}
            if len(kept) == len(variables):
                return arrays.result(loop)
            variables = kept
        return None

    def _is_copy(self, read: Read) -> bool:
        """Whether a read makes an array of a tensor, without anything that torch would spell otherwise."""
        tail = copying_tail(self._index, read)
        if re.fullmatch(_KEPT_BEHIND, _COPYING.sub("", tail)) is None:
            return False
        return ".numpy()" in tail or self._is_summed(read)

    def _is_summed(self, read: Read) -> bool:
        """Whether all that is done with a copied tensor is to take its sum or mean, for a number or a total."""
        index = self._index
        user = index.parent(read.node)
        call = index.parent(user) if isinstance(user, ast.Attribute) and user.attr in ("sum", "mean") else user
        if not isinstance(call, ast.Call) or call.keywords:
            return False
        is_method = call.func is user and not call.args
        if not is_method and (index.qualified_name(call.func) not in _OF_TENSORS or len(call.args) != 1):
            return False
        number = end_of_chain(index, call)
        if is_item(number):
            return True
        statement = index.statement_of(number)
        if isinstance(statement, ast.Assign) and statement.value is call:
            return self._names_number(statement)
        return isinstance(statement, ast.AugAssign) and self._is_plain_total(statement)

    def _is_plain_total(self, statement: ast.AugAssign) -> bool:
        """Whether a total is asked for nothing that tensors have and numbers do not."""
        if not isinstance(statement.target, ast.Name):
            return False
        found = self._index.names.find(statement.target.id, self._index.names.scope_of(statement.target))
        uses = [] if found is None else self._index.names.loads(statement.target.id, found[0])
        return not any(map(self._index.tensor_needs.may_follow, uses))

    def _names_number(self, statement: ast.Assign) -> bool:
        """Whether a tensor that a statement names is only read, shown or added up, as a number would be."""
        target = statement.targets[0]
        if len(statement.targets) > 1 or not isinstance(target, ast.Name):
            return False
        uses = self._index.held_values.uses_of(statement, target)
        return bool(uses) and all(self._is_taken_as_number(use) for use in uses or ())

    def _is_taken_as_number(self, use: ast.Name) -> bool:
        child, reads = end_of_chain(self._index, use), self._index.reads
        if is_item(child):
            return True
        for ancestor in self._index.tree.ancestors(child):
            if isinstance(ancestor, ast.AugAssign):
                return self._is_plain_total(ancestor)
            if isinstance(ancestor, ast.FormattedValue):
                return True
            if isinstance(ancestor, ast.Call):
                is_cast = self._index.qualified_name(ancestor.func) in CASTS
                return child is not ancestor.func and (is_cast or reads.is_output(ancestor) or reads.is_text(ancestor))
            if isinstance(ancestor, ast.BinOp) and reads.is_text(ancestor):
                return True
            if not isinstance(ancestor, ast.BinOp | ast.UnaryOp | ast.Tuple):
                return False
            child = ancestor
        return False

    def _variables(self, loop: LoopNode) -> dict[Binding, ast.expr]:
        """Variables that statements of a loop give a value."""
        found: dict[Binding, ast.expr] = {}
        for node in self._index.tree.nodes_in(loop, ast.Assign, functions=False):
            if len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                binding = self._index.names.binding_at(node.targets[0])
                if binding is not None and self._index.tree.loop_of(node) is loop:
                    found[binding] = node.value
        return found


class _Arrays:
    """What stays on the device if these copies are not made and these variables hold tensors."""

    def __init__(self, index: SemanticIndex, copies: dict[ast.expr, Read], variables: dict[Binding, ast.expr]) -> None:
        self._index = index
        self._copies = copies
        self._variables = variables
        self._memo: dict[ast.expr, bool | None] = {}

    # ---------------------------------------------------------------- expressions

    def _is_array(self, node: ast.expr) -> bool | None:
        """True for an array that can stay on the device, False for one number there; None for anything else."""
        if node not in self._memo:
            self._memo[node] = None
            self._memo[node] = self._look_at(node)
        return self._memo[node]

    def _look_at(self, node: ast.expr) -> bool | None:
        if node in self._copies:
            return not self._index.scalars.is_scalar(self._copies[node].tensor)
        if isinstance(node, ast.Name):
            reaching = self._index.flow.reaching(node)
            value = self._variables.get(reaching[0]) if len(reaching) == 1 else None
            return None if value is None else self._is_array(value)
        if isinstance(node, ast.BinOp):
            return self._combined([node.left, node.right])
        if isinstance(node, ast.Compare):
            plain = len(node.ops) == 1 and not isinstance(node.ops[0], ast.In | ast.NotIn | ast.Is | ast.IsNot)
            return self._combined([node.left, *node.comparators]) if plain else None
        if isinstance(node, ast.UnaryOp):
            return None if isinstance(node.op, ast.Not) else self._is_array(node.operand) or None
        return self._computed(node) if isinstance(node, ast.Call) else None

    def _combined(self, sides: list[ast.expr]) -> bool | None:
        """An array and another one, or a number. Numbers alone are as well computed with on the host."""
        known = [self._is_array(side) for side in sides]
        rest = [side for side, is_array in zip(sides, known, strict=True) if is_array is None]
        return True if True in known and all(self._is_host_number(side) for side in rest) else None

    def _is_host_number(self, node: ast.expr) -> bool:
        return self._index.kind(node) is Kind.HOST and not self._index.reads.inside(node)

    def _computed(self, call: ast.Call) -> bool | None:
        """What a function of NumPy, or a method of an array, gives."""
        func, name = call.func, self._index.qualified_name(call.func)
        arguments = list(call.args)
        axis = [item.value for item in call.keywords if item.arg == "axis"]
        if len(axis) < len(call.keywords):
            return None
        if name in FUNCTIONS_OF_TORCH:
            what = FUNCTIONS_OF_TORCH[name]
            count = 2 if what == "eq" else 1
            items, axis = arguments[:count], arguments[count:] + axis
            if items and isinstance(items[0], ast.List | ast.Tuple):
                items = items[0].elts if what in ("cat", "stack") else []
        elif name in _OF_TENSORS and len(arguments) == 1 and not axis:
            what, items = name.removeprefix("torch."), arguments
        elif name is None and isinstance(func, ast.Attribute) and func.attr in _METHODS:
            what, items, axis = func.attr, [func.value], arguments + axis
            if what == "astype":
                known = len(axis) == 1 and self._index.qualified_name(axis[0]) in TYPES
                return self._is_array(func.value) if known else None
            if what in ("flatten", "squeeze", "reshape"):
                return self._is_array(func.value)
        else:
            return None
        plain = len(axis) <= (0 if what in ("max", "min") else 1) and all(self._is_host_number(item) for item in axis)
        if not items or not plain or not all(self._is_array(item) for item in items):
            return None
        return bool(axis) or what not in (*_REDUCTIONS, "argmax", "argmin")

    # ---------------------------------------------------------------- what becomes of them

    def can_hold(self, binding: Binding) -> bool:
        """Whether a variable can hold the tensor: nothing but such arithmetic is done with it, or it is one number."""
        index = self._index
        is_array = self._is_array(self._variables[binding])
        if is_array is None:
            return False
        used = False
        is_copy = self._variables[binding] in self._copies and not is_array
        for use in index.names.loads(binding.name, binding.scope):
            reaching = index.flow.reaching(use)
            if binding not in reaching:
                continue
            used = True
            if is_copy and self._whole(use) is use and not index.held_values.is_rare(use):
                return False
            if len(reaching) > 1 or index.function_of(use) is not index.function_of(binding.node):
                return False
            if index.tree.lambda_of(use) is not None or (is_array and not self._ends_well(self._whole(use))):
                return False
        return used

    def _whole(self, node: ast.expr) -> ast.expr:
        """The largest expression around a node that can be computed on the device."""
        whole, parent = node, self._index.parent(node)
        while isinstance(parent, ast.expr | ast.keyword) and self._is_array(whole):
            if isinstance(parent, ast.expr):
                if self._is_array(parent) is not None:
                    whole = parent
                elif not isinstance(parent, ast.List | ast.Tuple | ast.Attribute):
                    break
            parent = self._index.parent(parent)
        return whole

    def _is_spared(self, copy: ast.expr) -> bool:
        """Whether a copy need not be made. One number that is only copied is a read like any other, unless added up."""
        whole = self._whole(copy)
        if whole is copy and not self._is_held(whole):
            is_taken_up = self._index.totals.accepts(copy) or self._index.filled_lists.accepts(copy)
            return is_taken_up and self._ends_well(copy)
        return self._ends_well(whole)

    def _ends_well(self, whole: ast.expr) -> bool:
        """Whether an expression gives one number, or is given to a variable that can hold a tensor."""
        return self._is_array(whole) is False or self._is_held(whole)

    def _is_held(self, whole: ast.expr) -> bool:
        statement = self._index.parent(whole)
        if not isinstance(statement, ast.Assign) or statement.value is not whole or len(statement.targets) > 1:
            return False
        return self._index.names.binding_at(statement.targets[0]) in self._variables

    def result(self, loop: LoopNode) -> HostArrays | None:
        """All that changes; None when no copy is spared."""
        index = self._index
        copies = [node for node in self._copies if self._is_spared(node)]
        if not copies:
            return None
        uses = [
            use
            for binding in self._variables
            for use in index.names.loads(binding.name, binding.scope)
            if binding in index.flow.reaching(use)
        ]
        wholes = list(dict.fromkeys(self._whole(node) for node in (*copies, *uses)))
        nodes = {node for whole in wholes for node in (whole, *index.tree.inside(whole))}
        calls = [node for node in nodes if isinstance(node, ast.Call) and self._is_array(node) is not None]
        numbers = [
            end_of_chain(index, whole)
            for whole in wholes
            if self._is_array(whole) is False and not self._is_held(whole)
        ]
        numbers = [number for number in numbers if not is_item(number)]
        if any(isinstance(index.parent(number), ast.Attribute) for number in numbers):
            return None  # `values.sum().round(3)`: a number of Python has no methods of NumPy's
        torch_calls = [
            node
            for node in calls
            if index.qualified_name(node.func) in _OF_TENSORS
            or (isinstance(node.func, ast.Attribute) and self._is_tensor(node.func.value))
        ]
        return HostArrays(
            loop,
            tuple(self._copies[node] for node in sorted(copies, key=index.span)),
            tuple(sorted((node for node in calls if node not in (*self._copies, *torch_calls)), key=index.span)),
            tuple(sorted(numbers, key=index.span)),
        )

    def _is_tensor(self, node: ast.expr) -> bool:
        """Whether a copy is a tensor on the host, no array."""
        return node in self._copies and ".numpy()" not in self._index.text(node)


def without_copying(tail: str) -> str:
    """What follows a tensor without the copying, and with the dtype that was asked for."""
    return _COPYING.sub(lambda found: f".{found[1].lower()}()" if found[1] else "", tail)


def copying_tail(index: SemanticIndex, read: Read) -> str:
    """What follows the tensor in a read, and the parentheses around it: ``.cpu().numpy()``."""
    tail = index.source.text[index.span(read.tensor).end : index.span(read.node).end]
    return tail.lstrip(") \t\r\n\\")


def end_of_chain(index: SemanticIndex, node: ast.expr) -> ast.expr:
    """A number with the conversions behind it: ``.float()``, ``.item()``."""
    while True:
        method = index.parent(node)
        call = None if method is None else index.parent(method)
        if not isinstance(method, ast.Attribute) or method.attr not in ("float", "double", "int", "long", "item"):
            return node
        if not isinstance(call, ast.Call) or call.func is not method:
            return node
        node = call


def is_item(node: ast.expr) -> bool:
    """Whether an expression ends with ``.item()``."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "item"
