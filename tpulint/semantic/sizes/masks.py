"""Boolean tensors, and tensors that are known to have the shape of another."""

from __future__ import annotations

import ast

from tpulint.semantic.project.other_files import definition_called, returned
from tpulint.semantic.project.outside import qualified_in_file
from tpulint.semantic.syntax.bindings import Binding, element_of, part_of
from tpulint.semantic.values.contents import Key, key_of
from tpulint.semantic.values.graph_parts import MASKS
from tpulint.semantic.values.kinds import Kind
from tpulint.semantic.values.laid_out import LAYING_OUT, given_to_function, given_to_lambda

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_DEPTH = 12
_TESTS = frozenset({
    "eq", "ne", "lt", "gt", "le", "ge", "isnan", "isinf", "isfinite", "isneginf", "isposinf", "isclose", "isin",
    "logical_and", "logical_or", "logical_not", "logical_xor", "signbit", "greater", "greater_equal", "less",
    "less_equal", "not_equal",
})  # fmt: skip
"""Functions, and methods, whose result is boolean."""
KEEPING = frozenset({*LAYING_OUT, "to", "cuda", "cpu"})
"""Methods of a tensor whose result has its elements, and is of its type where no other is named."""
_TYPED = frozenset({
    "scatter", "scatter_", "masked_fill", "masked_fill_", "index_fill", "index_fill_", "index_copy", "index_copy_",
    "fill_", "index_select", "gather", "take_along_dim", "flip", "roll", "narrow", "select", "movedim", "swapaxes",
    "triu", "tril", "diagonal", "fill_diagonal_",
})  # fmt: skip
"""Methods, and functions of torch, whose result is of the type of their tensor, whatever is written into it."""
_TURNED = ("T", "mT")
_OF_NUMBERS = frozenset({"torch.tensor", "torch.as_tensor", "torch.from_numpy", "numpy.array", "numpy.asarray"})
"""Functions whose result has the type of what they are given, where no other is named."""
_TRUTH_VALUES = frozenset({"torch.bool", "builtins.bool", "numpy.bool_", "numpy.bool", "numpy.bool8"})
_BOOLEAN_CLASSES = ("torch.BoolTensor", "torch.cuda.BoolTensor")
_JOINING = ("torch.stack", "torch.cat")
_ALIKE = ("torch.ones_like", "torch.zeros_like")
_ELEMENTWISE = frozenset({
    *_TESTS, "abs", "exp", "log", "neg", "sqrt", "square", "float", "long", "int", "bool", "half", "double", "detach",
    "clone", "contiguous", "sigmoid", "tanh", "relu", "cuda", "cpu", "clamp", "round", "floor", "ceil", "sign",
    "bfloat16", "to", "type", "pow", "mul", "add", "sub", "div", "log1p", "logical_not", "zeros_like", "ones_like",
    "rand_like", "randn_like", "full_like", "empty_like",
})  # fmt: skip
"""Functions, and methods, whose result has the shape of their tensor arguments."""

Shape = tuple[object, ...]


class Masks:
    """Questions about expressions; what is not known is answered with no."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index

    def is_mask(self, node: ast.expr) -> bool:
        """Whether an expression is a boolean tensor on the device."""
        return self._index.is_device_tensor(node) and self.is_boolean(node)

    def is_boolean(self, node: ast.expr, depth: int = 0) -> bool:
        """Whether a tensor is known to hold truth values."""
        if depth > _DEPTH:
            return False
        if isinstance(node, ast.Compare):
            return not any(isinstance(op, ast.Is | ast.IsNot | ast.In | ast.NotIn) for op in node.ops)
        if isinstance(node, ast.BinOp):
            # A product of truth values is one, and so is their sum: measured with PyTorch 2.9.
            plain = isinstance(node.op, ast.BitAnd | ast.BitOr | ast.BitXor | ast.Mult | ast.Add)
            return plain and self.is_boolean(node.left, depth + 1) and self.is_boolean(node.right, depth + 1)
        if isinstance(node, ast.UnaryOp):
            return isinstance(node.op, ast.Invert) and self.is_boolean(node.operand, depth + 1)
        if isinstance(node, ast.Subscript):
            return self.is_boolean(node.value, depth + 1) or self._are_boolean(node.value, key_of(node), depth)
        if isinstance(node, ast.Attribute):
            if node.attr in _TURNED:
                return self.is_boolean(node.value, depth + 1)
            if node.attr in MASKS and self._index.kinds.graph_parts.has(node):
                return True
            buffer = self._index.kinds.module_tensors.made_of(node)
            if buffer is not None:
                return self.is_boolean(buffer, depth + 1)
            # What a module keeps beside its parameters need not move with them: only arrays are asked about, and
            # what is known to have been moved.
            known = self._index.kind(node) is Kind.NUMPY or self._index.is_device_tensor(node)
            kept = self._index.flow.bindings_of(node) if known else ()
            return bool(kept) and all(self._binds_boolean(binding, depth + 1) for binding in kept)
        if isinstance(node, ast.Name):
            bindings = self._index.flow.reaching(node)
            if self._is_joined(node, bindings):
                # `mask &= other` takes no text and no None, though the name of a mask may have been there before.
                made = (b for b in bindings if b.kind != "parameter" and self._is_tensor(b))
                return all(self._binds_boolean(binding, depth + 1) for binding in made)
            return bool(bindings) and all(self._binds_boolean(binding, depth + 1) for binding in bindings)
        return isinstance(node, ast.Call) and self._gives_boolean(node, depth)

    def _are_boolean(self, container: ast.expr, key: Key, depth: int) -> bool:
        """Whether what a list or dict is has is boolean, ``masks["train"]``, ``for mask in masks.values()``."""
        elements = self._index.kinds.contents.of(container, key)
        return bool(elements) and all(self.is_boolean(element, depth + 1) for element in elements)

    def _is_tensor(self, binding: Binding) -> bool:
        return self._index.kinds.binding_value(binding).kind is Kind.TENSOR

    def _is_joined(self, node: ast.Name, bindings: tuple[Binding, ...]) -> bool:
        """Whether a variable has been joined with another by an operator of masks, wherever it is used."""
        return any(
            binding.kind == "augment"
            and isinstance(binding.statement, ast.AugAssign)
            and isinstance(binding.statement.op, ast.BitAnd | ast.BitOr | ast.BitXor)
            and self._index.flow.dominates(binding, node)
            for binding in bindings
        )

    def _binds_boolean(self, binding: Binding, depth: int) -> bool:
        value = binding.value
        if binding.kind == "parameter" and isinstance(binding.statement, ast.FunctionDef):
            function, name = binding.statement, binding.name
            run = self._index.module_calls.given_for(function, name) if function.name == "forward" else []
            passed = [*self._index.definitions.arguments.of(function, name), *run]
            told = self._told_of(function, name)
            return bool(passed or told) and all(told) and all(self.is_boolean(item, depth + 1) for item in passed)
        if value is None or len(binding.path) > 1:
            return False
        if binding.path and isinstance(value, ast.Call):
            return binding.kind == "assign" and self._gives_boolean_part(value, binding.path, depth)
        part = element_of(binding) if binding.path and binding.kind == "assign" else None
        if part is not None:  # `first, second = x > 0, x < 0`
            return self.is_boolean(part, depth + 1)
        if binding.path:  # `rows, columns = mask.T`
            return binding.kind == "assign" and isinstance(value, ast.Attribute) and self.is_boolean(value, depth)
        if binding.kind == "augment":
            return self.is_boolean(value, depth)  # `mask &= other` of a mask, with its other bindings
        if binding.kind == "loop":
            return self._are_boolean(value, None, depth)
        return binding.kind == "assign" and self.is_boolean(value, depth)

    def _told_of(self, function: ast.FunctionDef, name: str) -> list[bool]:
        """Whether calls in other files that give something for a parameter give it truth values."""
        called = qualified_in_file(self._index.tree, function)
        calls = [call for call in self._index.outside if call.function == called]
        return [name in call.masks for call in calls if any(given == name for given, *_ in call.arguments)]

    def _gives_boolean(self, call: ast.Call, depth: int) -> bool:
        name = self._index.qualified_name(call.func)
        types = [self._index.qualified_name(k.value) for k in call.keywords if k.arg == "dtype"]
        if types:
            return types[0] in _TRUTH_VALUES
        if name in _BOOLEAN_CLASSES:
            return True
        if name in _OF_NUMBERS and len(call.args) == 1:
            return self._holds_truths(call.args[0], depth + 1) or self.is_boolean(call.args[0], depth + 1)
        if name == "torch.autograd.Variable" and call.args:
            return self.is_boolean(call.args[0], depth + 1)
        if name in _JOINING and call.args:
            joined = call.args[0]  # written out, or a list that others are put into: `masks.append(x > 0)`
            is_shown = isinstance(joined, ast.Tuple | ast.List)
            parts = joined.elts if is_shown else self._index.kinds.contents.of(joined)  # type: ignore[attr-defined]
            return bool(parts) and all(self.is_boolean(part, depth + 1) for part in parts)
        if name in _ALIKE and len(call.args) == 1 and not any(keyword.arg == "dtype" for keyword in call.keywords):
            return self.is_boolean(call.args[0], depth + 1)
        if name is not None and name.startswith("torch."):
            is_typed = name[6:] in _TYPED and bool(call.args)
            return name[6:] in _TESTS or (is_typed and self.is_boolean(call.args[0], depth + 1))
        if name is not None or not isinstance(call.func, ast.Attribute):
            return self._gives_boolean_part(call, (), depth)
        method = call.func.attr
        if method in ("bool", "all", "any") or method in _TESTS:
            return self._index.kind(call.func.value) is Kind.TENSOR
        names = {self._index.qualified_name(item) or "" for item in call.args}
        if method in ("to", "type", "astype") and names & {*_TRUTH_VALUES, "torch.BoolTensor"}:
            return True
        if method in ("to", "type") and any(n.startswith("torch.") and n != "torch.device" for n in names):
            return False
        if method in KEEPING or method in _TYPED:
            return self.is_boolean(call.func.value, depth + 1)
        return self._gives_boolean_part(call, (), depth)

    def _holds_truths(self, node: ast.expr, depth: int) -> bool:
        """Whether a list, or what becomes one, has only truth values of Python: ``[s is not None for s in states]``."""
        if depth > _DEPTH:
            return False
        if isinstance(node, ast.List | ast.Tuple):
            return bool(node.elts) and all(self._is_truth(item, depth + 1) for item in node.elts)
        if isinstance(node, ast.ListComp):
            return self._is_truth(node.elt, depth + 1)
        if isinstance(node, ast.Name):
            bindings = self._index.flow.reaching(node)
            values = [b.value if b.kind == "assign" and not b.path else None for b in bindings]
            return bool(values) and all(v is not None and self._holds_truths(v, depth + 1) for v in values)
        if not isinstance(node, ast.Call) or node.keywords or not node.args:
            return False
        name, first = self._index.qualified_name(node.func), node.args[0]
        if name in ("builtins.list", "builtins.tuple"):
            if isinstance(first, ast.GeneratorExp):
                return self._is_truth(first.elt, depth + 1)
            return self._holds_truths(first, depth + 1)
        return name == "builtins.map" and isinstance(first, ast.Lambda) and self._is_truth(first.body, depth + 1)

    def _is_truth(self, node: ast.expr, depth: int) -> bool:
        if isinstance(node, ast.Constant):
            return isinstance(node.value, bool)
        if isinstance(node, ast.UnaryOp):
            return isinstance(node.op, ast.Not)
        if isinstance(node, ast.BoolOp):
            return all(self._is_truth(value, depth + 1) for value in node.values)
        return isinstance(node, ast.Compare) or self._holds_truths(node, depth)

    def _gives_boolean_part(self, call: ast.Call, path: tuple[int, ...], depth: int) -> bool:
        """Whether what a function gives, of this file or another, or a part of the tuple, holds truth values."""
        called = definition_called(self._index, call)
        if called is None:
            given = given_to_lambda(self._index.flow, call) if not path else None
            return given is not None and self.is_boolean(given, depth + 1)
        parts = [part_of(value, path) for value in returned(called)]
        # What the function only lays out anew is of the type of what this call gives it.
        laid_out = [None if part is None else given_to_function(called, call, part) for part in parts]
        return bool(parts) and all(
            self.is_boolean(given, depth + 1)
            if given is not None
            else part is not None and called.file.masks.is_boolean(part, depth + 1)
            for part, given in zip(parts, laid_out, strict=True)
        )

    # ---------------------------------------------------------------- shapes

    def have_one_shape(self, left: ast.expr, right: ast.expr) -> bool:
        """Whether two tensors certainly have the same shape."""
        shape = self._shape(left, 0)
        return shape is not None and shape == self._shape(right, 0)

    def is_mask_of(self, tensor: ast.expr, mask: ast.expr) -> bool:
        """Whether a mask that a tensor is indexed by has its shape.

        What is compared with the tensor makes it no smaller, and indexing would raise were it larger.
        """
        shape = self._shape(tensor, 0)
        return bool(shape) and self._holds_shape(mask, shape, 0)

    def _holds_shape(self, node: ast.expr, shape: Shape | None, depth: int) -> bool:
        if depth > _DEPTH or self._shape(node, depth) == shape:
            return depth <= _DEPTH
        parts: list[ast.expr] = []
        if isinstance(node, ast.Compare):
            parts = [node.left, *node.comparators]
        elif isinstance(node, ast.BinOp) and not isinstance(node.op, ast.MatMult):
            parts = [node.left, node.right]
        elif isinstance(node, ast.UnaryOp):
            parts = [node.operand]
        elif isinstance(node, ast.Name):
            bindings = self._index.flow.reaching(node)
            value = bindings[0].value if len(bindings) == 1 and bindings[0].kind == "assign" else None
            parts = [] if value is None or bindings[0].path else [value]
        return any(self._holds_shape(part, shape, depth + 1) for part in parts)

    def _shape(self, node: ast.expr, depth: int) -> Shape | None:
        """What a shape depends on: a variable with its bindings; None when it is not known. () is a number."""
        index = self._index
        if depth > _DEPTH:
            return None
        if isinstance(node, ast.Constant) or index.kind(node) is Kind.HOST or index.scalars.is_scalar(node):
            return ()
        if isinstance(node, ast.Name):
            bindings = index.flow.reaching(node)
            if len(bindings) == 1 and bindings[0].kind == "assign" and not bindings[0].path:
                value = bindings[0].value
                found = None if value is None else self._shape(value, depth + 1)
                if found:
                    return found
            # In-place writes keep shapes; a name bound anew in between has other bindings.
            return (node.id, bindings) if bindings else None
        if isinstance(node, ast.Attribute):
            if node.attr in ("data", "grad"):
                return self._shape(node.value, depth + 1)
            return (index.text(node), index.function_of(node)) if self._is_steady(node) else None
        if isinstance(node, ast.Compare):
            return self._broadcast([node.left, *node.comparators], depth)
        if isinstance(node, ast.BinOp):
            return None if isinstance(node.op, ast.MatMult) else self._broadcast([node.left, node.right], depth)
        if isinstance(node, ast.UnaryOp):
            return self._shape(node.operand, depth + 1)
        return self._result(node, depth) if isinstance(node, ast.Call) else None

    def _is_steady(self, node: ast.Attribute) -> bool:
        """Whether an attribute of a plain variable is not bound anew in its function."""
        text, function = self._index.text(node), self._index.function_of(node)
        return isinstance(node.value, ast.Name) and not any(
            isinstance(other.ctx, ast.Store)
            and self._index.function_of(other) is function
            and self._index.text(other) == text
            for other in self._index.tree.attributes_called(node.attr)
        )

    def _broadcast(self, nodes: list[ast.expr], depth: int) -> Shape | None:
        shapes: list[Shape | None] = [self._shape(node, depth + 1) for node in nodes]
        large = [shape for shape in shapes if shape != ()]
        if not large:
            return ()
        return large[0] if all(shape is not None and shape == large[0] for shape in large) else None

    def _result(self, call: ast.Call, depth: int) -> Shape | None:
        name = self._index.qualified_name(call.func)
        if name is not None and name.startswith("torch."):
            last = name.rpartition(".")[2]
            return self._broadcast(call.args, depth) if last in _ELEMENTWISE and call.args else None
        if name is None and isinstance(call.func, ast.Attribute) and call.func.attr in _ELEMENTWISE:
            if call.func.attr in ("to", "type", "cuda", "cpu"):
                return self._shape(call.func.value, depth + 1)
            return self._broadcast([call.func.value, *call.args], depth)
        return None
