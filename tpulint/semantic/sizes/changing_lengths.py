"""Tensors, arrays and lists of the host that have another length in every turn of a loop.

Measured on torch_xla 2.9: what is moved has its size in the graph, so that each new length is compiled. Values, places
and the order of elements may change freely.
"""

from __future__ import annotations

import ast

from tpulint.records import NamedTuple
from tpulint.semantic.batches.sample_groups import asks_of_sample, key_of_samples
from tpulint.semantic.project.outside import qualified_in_file
from tpulint.semantic.sizes.grouped_lists import looked_up_list
from tpulint.semantic.sizes.grown_lists import added_in_turn
from tpulint.semantic.sizes.slice_objects import slice_meant
from tpulint.semantic.syntax.bindings import Binding, part_of
from tpulint.semantic.syntax.nodes import FUNCTIONS
from tpulint.semantic.syntax.variables import last_name
from tpulint.semantic.values.kinds import Kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_DEPTH = 12
_MOST_NAMES = 24
_SIZED_IN_TORCH = frozenset(
    f"torch.{name}" for name in ("rand", "randn", "zeros", "ones", "empty", "full", "randint", "randperm", "normal")
)
_SIZED_IN_NUMPY = {
    **{f"numpy.{name}": (0,) for name in ("zeros", "ones", "empty", "full")},
    "numpy.random.rand": (0, 1, 2, 3), "numpy.random.randn": (0, 1, 2, 3), "numpy.random.permutation": (0,),
    "numpy.random.normal": (2,), "numpy.random.uniform": (2,), "numpy.random.randint": (2,),
    "numpy.random.random": (0,), "numpy.random.choice": (1,), "random.sample": (1,), "random.choices": (),
}  # fmt: skip
"""Where the sizes stand that functions of NumPy and Python are given by position."""
_SIZE_WORDS = frozenset({"size", "k", "shape"})
_COUNTED = frozenset({"torch.arange", "numpy.arange", "builtins.range"})
_OF_SAME_LENGTH = frozenset({
    "torch.from_numpy", "torch.tensor", "torch.as_tensor", "torch.Tensor", "torch.FloatTensor", "torch.LongTensor",
    "torch.IntTensor", "torch.stack", "torch.cat", "torch.vstack", "numpy.array", "numpy.asarray", "numpy.stack",
    "numpy.concatenate", "numpy.vstack", "numpy.sort", "builtins.list", "builtins.sorted",
})  # fmt: skip
"""Functions whose result is as long as what they are given; a display, ``cat([x, padding])``, is another matter."""
_METHODS_OF_SAME_LENGTH = frozenset({
    "float", "long", "int", "half", "double", "bool", "astype", "copy", "clone", "detach", "contiguous", "to", "type",
    "pin_memory", "requires_grad_", "unsqueeze", "squeeze", "flatten", "view", "reshape", "numpy", "tolist", "cuda",
    "cpu", "transpose", "permute",
})  # fmt: skip


_PLACES = frozenset({
    "numpy.where", "numpy.nonzero", "numpy.flatnonzero", "numpy.argwhere", "torch.where", "torch.nonzero",
})  # fmt: skip
"""Functions that tell where a mask is true."""
_DRAWS = frozenset({"rand", "randn", "random", "uniform", "normal", "bernoulli", "binomial", "randint", "rand_like"})
_AS_MANY = frozenset({
    "argsort", "sort", "sorted", "randperm", "permutation", "shuffle", "topk", "choice", "sample", "eye", "arange",
    "quantile", "percentile", "median", "kthvalue", "partition", "argpartition",
})  # fmt: skip
"""What is made of them by a comparison is true as often in every turn: ``torch.randperm(n) < kept``."""


_LISTED = (ast.Name, ast.Subscript, ast.List, ast.ListComp)
_NO_LISTS = (Kind.TENSOR, Kind.NUMPY, Kind.MODULE)
_JOINING = ("numpy.r_", "numpy.c_")
_EQUAL = (ast.Eq, ast.NotEq)
_FILLING = frozenset({"append", "extend", "insert", "resize", "resize_"})
_ONE_BEHIND_THE_OTHER = frozenset({"torch.cat", "torch.nn.utils.rnn.pad_sequence", "numpy.concatenate"})
"""Functions whose result is another length where the parts are."""


class ChangingLength(NamedTuple):
    """An expression that has another length in every turn, and what makes it so."""

    made: ast.expr
    cause: ast.AST
    by_mask: bool = False
    """Whether the cause is a mask that is true ever so often, and no number."""


class ChangingLengths:
    """Follows what was made on the host back to the number that says how long it is; what may be filled up is none."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index

    def of(self, node: ast.expr, depth: int = 0) -> ChangingLength | None:
        """Where a length comes from that another turn has another one of; None if that is not known."""
        if depth > _DEPTH:
            return None
        if isinstance(node, ast.Name):
            if (added := added_in_turn(self._index, node)) is not None:
                return ChangingLength(node, added)
            bindings = self._index.flow.reaching(node)
            if len(bindings) == 1 and bindings[0].kind == "parameter":
                return self._of_parameter(node, bindings[0], depth)
            value = bindings[0].value if len(bindings) == 1 and bindings[0].kind == "assign" else None
            if value is None or self._index.turn_code.turn_of(bindings[0].statement) is None or self._is_filled(node):
                return None
            path = bindings[0].path
            if path and isinstance(value, ast.Call) and self._asked_for_places(value) is None:
                return self._of_returned(value, path, depth)
            part = value if not path or isinstance(value, ast.Call) else part_of(value, path)
            return None if part is None else self.of(part, depth + 1)
        if isinstance(node, ast.BinOp):  # lists are joined by an operator
            is_array = self._index.kind(node) in (Kind.TENSOR, Kind.NUMPY)
            return self.of(node.left, depth + 1) or self.of(node.right, depth + 1) if is_array else None
        if isinstance(node, ast.Subscript):
            return self._of_chosen(node, depth)
        if isinstance(node, ast.ListComp):
            return self._of_comprehension(node, depth)
        if isinstance(node, ast.List) and len(node.elts) == 1:  # a batch of one
            return self.of(node.elts[0], depth + 1)
        return self._of_call(node, depth) if isinstance(node, ast.Call) else None

    def of_list(self, node: ast.expr) -> ChangingLength | None:
        """The same of a list of the host, no array or tensor."""
        found = self.of(node) if isinstance(node, _LISTED) else None
        is_told = found is not None and isinstance(found.cause, ast.arg)  # what a forward pass is given is no tensor
        return found if found is None or is_told or self._index.kind(found.made) not in _NO_LISTS else None

    def _of_parameter(self, node: ast.Name, binding: Binding, depth: int) -> ChangingLength | None:
        """What calls, in this file or another, give for a parameter: ``model(visits[: i + 1])``."""
        function = binding.statement
        if not isinstance(function, FUNCTIONS) or self._is_filled(node):
            return None
        arguments = self._index.definitions.arguments
        passed = arguments.of(function, binding.name)
        if function.name == "forward":
            passed = [*passed, *arguments.of_object(function, binding.name)]
        found = next(filter(None, (self.of(item, depth + 1) for item in passed)), None)
        if found is not None:
            return found
        named = qualified_in_file(self._index.tree, function)
        is_told = any(call.function == named and binding.name in call.lengths for call in self._index.outside)
        return ChangingLength(node, binding.node) if is_told else None

    def _is_filled(self, name: ast.Name) -> bool:
        """Whether something is added to a list: it may be filled up to one length."""
        uses = self._index.names.loads(name.id, self._index.names.scope_of(name))
        return any(isinstance(p := self._index.parent(use), ast.Attribute) and p.attr in _FILLING for use in uses)

    def of_slice(self, item: ast.Slice) -> ast.AST | None:
        """What makes a slice another number of elements long in every turn."""
        is_whole = isinstance(item.lower, ast.Constant) and item.lower.value == 0
        if item.lower is None or item.upper is None or is_whole:
            ends = [end for end in (None if is_whole else item.lower, item.upper) if end is not None]
            return self._cause(ends[0]) if ends else None
        return self._index.changing_numbers.of_difference(item.upper, item.lower)

    def is_of_turn(self, mask: ast.expr) -> bool:
        """Whether a mask of the host is made of a batch, or of random numbers of a turn: it is true ever so often."""
        from tpulint.semantic.batches.batch_measures import gives_batch

        turns, seen = self._index.turn_code, {mask}
        waiting = [mask]
        found = False
        while waiting:
            node = waiting.pop()
            for part in (node, *self._index.tree.inside(node)):
                if isinstance(part, ast.Call):
                    last = last_name(part.func)
                    if last in _AS_MANY:
                        return False
                    found = found or ((last in _DRAWS or gives_batch(part)) and turns.turn_of(part) is not None)
                for binding in self._index.flow.reaching(part) if isinstance(part, ast.Name) else ():
                    found = found or (binding.kind == "loop" and binding.statement in turns.loops)
                    is_new = binding.value is not None and binding.value not in seen and len(seen) < _MOST_NAMES
                    if is_new and binding.kind == "assign" and turns.turn_of(binding.statement) is not None:
                        assert binding.value is not None
                        seen.add(binding.value)
                        waiting.append(binding.value)
        return found

    def _cause(self, number: ast.expr) -> ast.AST | None:
        return self._index.changing_numbers.cause(number) or self._index.batch_measures.of(number)

    def _of_chosen(self, node: ast.Subscript, depth: int) -> ChangingLength | None:
        if self._index.qualified_name(node.value) in _JOINING:
            return None
        if self._asked_for_places(node.value) is not None:
            return self.of(node.value, depth + 1)
        key = key_of_samples(self._index, node.value) if isinstance(node.value, ast.Name) else None
        if key is not None:
            return ChangingLength(node, key)
        if (key := looked_up_list(self._index, node)) is not None:
            return ChangingLength(node, key)
        for item in node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]:
            if (meant := slice_meant(self._index, item)) is not None:
                cause = self.of_slice(meant)
                if cause is not None:
                    return ChangingLength(node, cause)
            elif (found := self.of(item, depth + 1)) is not None:
                return found
            elif self.is_mask(item):
                return ChangingLength(node, item, by_mask=True)
        return None

    def is_mask(self, item: ast.expr) -> bool:
        """Whether an index is a mask on the host that chooses another number of elements in every turn."""
        return self._is_of_host(item) and self._index.masks.is_boolean(item) and self.is_of_turn(item)

    def _is_of_host(self, node: ast.expr) -> bool:
        return self._index.kind(node) in (Kind.TENSOR, Kind.NUMPY) and not self._index.is_device_tensor(node)

    def _asked_for_places(self, node: ast.expr) -> ast.expr | None:
        """The mask that ``np.where(mask)`` and ``mask.nonzero()`` tell the places of."""
        if not isinstance(node, ast.Call) or node.keywords:
            return None
        if len(node.args) == 1:
            return node.args[0] if self._index.qualified_name(node.func) in _PLACES else None
        is_method = isinstance(node.func, ast.Attribute) and node.func.attr == "nonzero" and not node.args
        return node.func.value if is_method and isinstance(node.func, ast.Attribute) else None

    def _of_comprehension(self, node: ast.ListComp, depth: int) -> ChangingLength | None:
        if len(node.generators) != 1:
            return None
        made = node.generators[0]
        kept = next((test for test in made.ifs if _leaves_out_none(test, made.target)), None)
        if kept is not None and self._is_field_of_samples(made.iter):
            return ChangingLength(node, kept)
        # `[i for i in range(n) if i != left_out]` leaves out as many every time.
        tests = [test for test in made.ifs if not (isinstance(test, ast.Compare) and isinstance(test.ops[0], _EQUAL))]
        draws = (self._index.changing_numbers.draw(test) for test in tests)
        cause: ast.AST | None = next((draw for draw in draws if draw is not None), None)
        if made.ifs:
            cause = cause or next((test for test in made.ifs if asks_of_sample(self._index, test, made)), None)
            return None if cause is None else ChangingLength(node, cause)
        return self.of(made.iter, depth + 1)

    def _is_field_of_samples(self, node: ast.expr, depth: int = 0) -> bool:
        """Whether a turn draws the samples that one field of is gone through: ``batch.next_state``.

        The samples themselves are there, each of them.
        """
        if isinstance(node, ast.Name):
            bindings = self._index.flow.reaching(node) if depth < _DEPTH else ()
            made = bindings[0] if len(bindings) == 1 and bindings[0].kind == "assign" else None
            in_turn = made is not None and self._index.turn_code.turn_of(made.statement) is not None
            if made is None or made.value is None or not in_turn:
                return False
            is_part = bool(made.path)
            return self._is_sampled(made.value, depth) if is_part else self._is_field_of_samples(made.value, depth + 1)
        return isinstance(node, ast.Attribute | ast.Subscript) and self._is_sampled(node.value)

    def _is_sampled(self, node: ast.expr, depth: int = 0) -> bool:
        """``Transition(*zip(*memory.sample(32)))``"""
        if isinstance(node, ast.Attribute | ast.Subscript | ast.Starred):
            return self._is_sampled(node.value, depth)
        if isinstance(node, ast.Name):
            bindings = self._index.flow.reaching(node) if depth < _DEPTH else ()
            made = bindings[0] if len(bindings) == 1 and bindings[0].kind == "assign" else None
            in_turn = made is not None and self._index.turn_code.turn_of(made.statement) is not None
            value = made.value if made is not None and in_turn else None
            return value is not None and self._is_sampled(value, depth + 1)
        if not isinstance(node, ast.Call) or not node.args:
            return False
        return last_name(node.func) == "sample" or any(self._is_sampled(part, depth + 1) for part in node.args)

    def _of_parts(self, node: ast.expr, depth: int) -> ChangingLength | None:
        """What makes each part of a list another length: ``[x[:n] for x, n in zip(rows, lengths)]``."""
        bindings = self._index.flow.reaching(node) if isinstance(node, ast.Name) else ()
        made = bindings[0].value if len(bindings) == 1 and not bindings[0].path else node
        return self.of(made.elt, depth + 1) if isinstance(made, ast.ListComp) else None

    def _of_returned(self, call: ast.Call, path: tuple[int, ...], depth: int) -> ChangingLength | None:
        """What a function of this file returns, or one part of a tuple of it."""
        function = self._index.definitions.function_called(call)
        values = [] if function is None else self._index.definitions.returned_by(function)
        parts = [part_of(value, path) for value in values]
        found = [None if part is None else self.of(part, depth + 1) for part in parts]
        return found[0] if found and all(found) else None

    def _of_call(self, call: ast.Call, depth: int) -> ChangingLength | None:
        mask = self._asked_for_places(call)
        if mask is not None:
            is_other = self._is_of_host(mask) and self.is_of_turn(mask)
            return ChangingLength(call, mask, by_mask=True) if is_other else None
        name = self._index.qualified_name(call.func)
        if name is None:
            if (returned := self._of_returned(call, (), depth)) is not None:
                return returned
            is_same = isinstance(call.func, ast.Attribute) and call.func.attr in _METHODS_OF_SAME_LENGTH
            return self.of(call.func.value, depth + 1) if is_same and isinstance(call.func, ast.Attribute) else None
        if name in _ONE_BEHIND_THE_OTHER and call.args and (found := self._of_parts(call.args[0], depth)) is not None:
            return found
        if name in _OF_SAME_LENGTH:
            return self.of(call.args[0], depth + 1) if len(call.args) == 1 or name == "torch.stack" else None
        cause = next(filter(None, map(self._cause, self._sizes(call, name))), None)
        if name in _COUNTED and call.args:
            ends = call.args[:2]
            numbers = self._index.changing_numbers
            cause = self._cause(ends[0]) if len(ends) == 1 else numbers.of_difference(ends[1], ends[0])
        return None if cause is None else ChangingLength(call, cause)

    def _sizes(self, call: ast.Call, name: str) -> list[ast.expr]:
        if name in _SIZED_IN_TORCH:
            return self._index.graph_numbers.sizes(call)
        if name not in _SIZED_IN_NUMPY:
            return []
        given = [call.args[at] for at in _SIZED_IN_NUMPY[name] if at < len(call.args)]
        given += [keyword.value for keyword in call.keywords if keyword.arg in _SIZE_WORDS]
        return [part for item in given for part in (item.elts if isinstance(item, ast.List | ast.Tuple) else [item])]


def _leaves_out_none(test: ast.expr, target: ast.expr) -> bool:
    """``[s for s in states if s is not None]``"""
    return (
        isinstance(test, ast.Compare)
        and isinstance(test.ops[0], ast.IsNot)
        and isinstance(test.comparators[0], ast.Constant)
        and test.comparators[0].value is None
        and isinstance(test.left, ast.Name)
        and isinstance(target, ast.Name)
        and test.left.id == target.id
    )
