"""Numbers taken from a batch: the longest length in it, how many elements a mask has, a value that is read."""

from __future__ import annotations

import ast

from tpulint.semantic.batches.measures_given import LARGEST, batch_measured
from tpulint.semantic.project.outside import qualified_in_file
from tpulint.semantic.syntax.nodes import FUNCTIONS, FunctionNode
from tpulint.semantic.syntax.variables import last_name
from tpulint.semantic.values.kinds import Kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.syntax.bindings import Binding

_DEPTH = 16
_KEEPING = frozenset({"builtins.int", "builtins.float", "builtins.round", "math.ceil", "math.floor"})
_BATCH_GIVERS = (
    "get_batch", "next_batch", "sample_batch", "random_batch", "load_batch", "make_batch", "generate_batch",
)  # fmt: skip
_LENGTHS = "len"
"""In names of what holds lengths."""
_MASK = "mask"
"""In names of what is true where a sample goes on: as often as it is long."""
_OF_SAMPLES = (_LENGTHS, "label", "target")
"""In names of what holds a number for each sample."""
_LISTING = frozenset({"tolist", "numpy", "cpu", "detach"})
_SUMS = frozenset({"builtins.sum", "numpy.sum"})
"""What gives the sum of the lengths of a batch as a number; of other things the sum may be the same each time."""
_DEALING = frozenset({"builtins.enumerate", "builtins.zip"})
_REDUCTIONS = frozenset({"max", "min", "sum", "amax", "amin", "item"})


def gives_batch(call: ast.Call) -> bool:
    """Whether a call gives another batch each time, by its name: ``get_batch("train")``, ``next(batches)``."""
    name = last_name(call.func)
    return name == "next" or name.startswith(_BATCH_GIVERS)


class BatchMeasures:
    """Tells where such a number is taken. Each batch has its own."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index

    def of(self, node: ast.expr, depth: int = 0) -> ast.expr | None:
        """The expression that takes the number, for one that is made of it by arithmetic; None if unknown."""
        if depth > _DEPTH:
            return None
        if isinstance(node, ast.Name):
            bindings = self._index.kinds.parameters.without_none(self._index.flow.reaching(node))
            if len(bindings) == 1 and bindings[0].kind == "loop":
                return node if self._is_dealt_by_loop(bindings[0]) else None
            if len(bindings) != 1 or bindings[0].kind != "assign" or bindings[0].value is None:
                return None
            if self._index.turn_code.turn_of(bindings[0].statement) is None:
                return None
            is_given = isinstance(bindings[0].value, ast.Call) and self._is_measured_by(bindings[0].value, bindings[0])
            return node if is_given else None if bindings[0].path else self.of(bindings[0].value, depth + 1)
        if isinstance(node, ast.BinOp):
            if isinstance(node.op, ast.FloorDiv | ast.Mod):
                return None  # rounded to a few sizes
            return self.of(node.left, depth + 1) or self.of(node.right, depth + 1)
        if isinstance(node, ast.UnaryOp):
            return self.of(node.operand, depth + 1)
        if isinstance(node, ast.Subscript):
            is_element = self._is_element(node) and self._holds_numbers(node.value)
            return node if is_element and self._is_of_batch(node.value) else None
        return self._of_call(node, depth) if isinstance(node, ast.Call) else None

    def read(self, node: ast.expr, depth: int = 0) -> ast.expr | None:
        """The expression that makes a Python number of a value of the batch: ``labels[i].item()``, ``int(x.argmax())``.

        Unlike a length, a place may be a tensor of many places: only what is read is known for a number.
        """
        if depth > _DEPTH:
            return None
        if isinstance(node, ast.Name):
            bindings = self._index.kinds.parameters.without_none(self._index.flow.reaching(node))
            made = bindings[0] if len(bindings) == 1 and bindings[0].kind == "assign" else None
            if made is None or made.path or made.value is None:
                return None
            return self.read(made.value, depth + 1) if self._index.turn_code.turn_of(made.statement) else None
        if isinstance(node, ast.BinOp):
            if isinstance(node.op, ast.FloorDiv | ast.Mod):
                return None
            return self.read(node.left, depth + 1) or self.read(node.right, depth + 1)
        if not isinstance(node, ast.Call) or self._index.turn_code.turn_of(node) is None:
            return None
        name, given = self._index.qualified_name(node.func), node.func
        if name == "builtins.int" and len(node.args) == 1:
            return node if self._is_tensor_of_batch(node.args[0]) else self.read(node.args[0], depth + 1)
        is_read = isinstance(given, ast.Attribute) and given.attr == "item" and not node.args
        return node if is_read and isinstance(given, ast.Attribute) and self._is_tensor_of_batch(given.value) else None

    def _of_call(self, call: ast.Call, depth: int) -> ast.expr | None:
        index = self._index
        name = index.qualified_name(call.func)
        if name in _KEEPING and len(call.args) == 1:
            if self._is_number_of_batch(call.args[0]):
                return call
            return self.of(call.args[0], depth + 1)
        if name in LARGEST and len(call.args) == 1 and not call.keywords:
            return call if self._is_of_batch(call.args[0]) else None
        if name in _SUMS and len(call.args) == 1 and not call.keywords:
            return call if _are_called_lengths(call.args[0]) and self._is_of_batch(call.args[0]) else None
        return call if self._is_number_of_batch(call) else None

    def _is_measured_by(self, call: ast.Call, binding: Binding) -> bool:
        """Whether a function gives such a number of the batch that it is given, or one part of what it gives is one."""
        batch = batch_measured(self._index, call, binding.path)
        return batch is not None and self._is_of_batch(batch)

    def _is_dealt_by_loop(self, binding: Binding) -> bool:
        """Whether a loop within a turn deals out the elements of a tensor: ``for i, n in enumerate(lengths)``."""
        index, source, path = self._index, binding.value, binding.path
        while isinstance(source, ast.Call) and source.args:
            name = index.qualified_name(source.func)
            if name in _DEALING and path:
                at = path[0] - 1 if name == "builtins.enumerate" else path[0]
                source, path = source.args[at] if 0 <= at < len(source.args) else None, path[1:]
            elif name == "tqdm.tqdm":
                source = source.args[0]
            else:
                break
        if source is None or path or binding.statement in index.turn_code.loops:
            return False
        if index.turn_code.turn_of(binding.node) is None or not self._holds_numbers(source):
            return False
        return self._is_of_batch(source) or self._are_of_samples(source)

    def _holds_numbers(self, node: ast.expr) -> bool:
        """Whether an element may stand for a number: of a tensor, of a list made of one, of what is called lengths."""
        if isinstance(node, ast.Name) and self._index.kind(node) is not Kind.TENSOR:
            bindings = self._index.flow.reaching(node)
            value = bindings[0].value if len(bindings) == 1 and bindings[0].kind == "assign" else None
            if value is None or bindings[0].path:
                return _LENGTHS in node.id and self._index.kind(node) is Kind.UNKNOWN
            node = value
        while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _LISTING:
            node = node.func.value
        return self._index.kind(node) is Kind.TENSOR

    def _are_of_samples(self, node: ast.expr) -> bool:
        """Whether each step gives a forward pass such a tensor, with a number for each sample."""
        bindings = self._index.flow.reaching(node) if isinstance(node, ast.Name) else ()
        given = [binding.statement for binding in bindings if binding.kind == "parameter"]
        if not isinstance(node, ast.Name) or not given or not any(word in node.id for word in _OF_SAMPLES):
            return False
        return all(isinstance(function, FUNCTIONS) and function.name == "forward" for function in given)

    def _is_element(self, node: ast.Subscript) -> bool:
        """``lengths[i]``, which stands for a number."""
        return self._index.kind(node.slice) is Kind.HOST and not isinstance(
            node.slice, ast.Slice | ast.Tuple | ast.List
        )

    def _is_number_of_batch(self, node: ast.expr) -> bool:
        """``lengths.max()``, ``lengths.max().item()``, ``mask.sum().cpu()``."""
        reduced = False
        while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if self._index.qualified_name(node.func) in ("torch.max", "torch.sum") and len(node.args) == 1:
                return not node.keywords and self._is_tensor_of_batch(node.args[0])
            if node.args or node.keywords:
                if node.func.attr not in ("sum", "to"):
                    return False
            elif node.func.attr in _REDUCTIONS:
                reduced = True
            node = node.func.value
        # What has such a method is a tensor, or an array.
        is_array = self._index.kind(node) in (Kind.TENSOR, Kind.NUMPY, Kind.UNKNOWN)
        return reduced and is_array and self._is_of_batch(node)

    def _is_tensor_of_batch(self, node: ast.expr) -> bool:
        return self._index.kind(node) is Kind.TENSOR and self._is_of_batch(node)

    def _is_of_batch(self, node: ast.expr) -> bool:
        """Whether a value is another one for each batch: the loop gives it, or the turn computes it from such."""
        root: ast.expr = node
        while isinstance(root, ast.Attribute | ast.Subscript | ast.Call):
            if isinstance(root, ast.Call):
                if not isinstance(root.func, ast.Attribute):
                    return any(self._is_of_batch(item) for item in root.args[:1])
                root = root.func
            root = root.value
        if isinstance(root, ast.Compare):
            return self._is_of_batch(root.left)
        if not isinstance(root, ast.Name):
            return False
        return any(self._is_bound_in_turn(binding) for binding in self._index.flow.reaching(root))

    def _is_bound_in_turn(self, binding: Binding) -> bool:
        index = self._index
        if binding.kind == "loop":
            return binding.statement in index.turn_code.loops
        if binding.kind == "parameter":
            function = binding.statement
            if not isinstance(function, FUNCTIONS) or binding.name in ("self", "cls"):
                return False
            owner = index.tree.class_of(function)
            if owner is not None and function.name == "forward" and index.definitions.is_module_class(owner):
                # Nobody calls it by its name; what it is given may be options, but not under such a name.
                is_called_so = _LENGTHS in binding.name or _MASK in binding.name
                return is_called_so and index.turn_code.turn_of(function.body[0]) is not None
            parameters = index.kinds.parameters
            is_given = parameters.is_given_device_tensor(function, binding.name) or self._are_given(function, binding)
            if _LENGTHS in binding.name and is_given:
                return index.turn_code.turn_of(function.body[0]) is not None
            passed = index.definitions.arguments.of(function, binding.name)
            return any(self._is_of_batch(item) for item in passed[:2])
        if binding.kind != "assign" or binding.value is None or index.turn_code.turn_of(binding.statement) is None:
            return False
        return self._is_of_batch_value(binding.value)

    def are_lengths(self, node: ast.expr) -> bool:
        """Whether a loop deals out a tensor that is called after lengths, ``for x, lengths in loader:``."""
        is_called_so = isinstance(node, ast.Name) and _LENGTHS in node.id
        if not is_called_so or not isinstance(node, ast.Name) or self._index.kind(node) is not Kind.TENSOR:
            return False
        bindings = self._index.flow.reaching(node)
        return any(one.kind == "loop" and one.statement in self._index.turn_code.loops for one in bindings)

    def _are_given(self, function: FunctionNode, parameter: Binding) -> bool:
        """Whether loops of other files give such a tensor for a parameter."""
        name = qualified_in_file(self._index.tree, function)
        is_tensor = self._index.kinds.binding_value(parameter).kind is Kind.TENSOR
        return is_tensor and any(
            call.function == name and parameter.name in call.changing for call in self._index.outside
        )

    def _is_of_batch_value(self, value: ast.expr) -> bool:
        calls = [part for part in (value, *self._index.tree.inside(value)) if isinstance(part, ast.Call)]
        if any(map(gives_batch, calls)):
            return True
        names = [part for part in (value, *self._index.tree.inside(value)) if isinstance(part, ast.Name)]
        seen: set[ast.AST] = set()
        while names:
            name = names.pop()
            for binding in self._index.flow.reaching(name):
                if binding.node in seen or len(seen) > _DEPTH:
                    continue
                seen.add(binding.node)
                if binding.kind == "loop" and binding.statement in self._index.turn_code.loops:
                    return True
                if binding.kind == "parameter" and self._is_bound_in_turn(binding):
                    return True
                if binding.kind == "assign" and binding.value is not None:
                    within = (binding.value, *self._index.tree.inside(binding.value))
                    in_turn = self._index.turn_code.turn_of(binding.statement) is not None
                    if in_turn and any(isinstance(part, ast.Call) and gives_batch(part) for part in within):
                        return True
                    names.extend(part for part in within if isinstance(part, ast.Name))
        return False


def _are_called_lengths(node: ast.expr) -> bool:
    return isinstance(node, ast.Name | ast.Attribute) and _LENGTHS in last_name(node).lower()
