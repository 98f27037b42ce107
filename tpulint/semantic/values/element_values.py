"""Parts of what is unpacked, and elements of what is iterated over."""

from __future__ import annotations

import ast
from functools import cached_property

from tpulint.semantic.functions.definitions import Definitions
from tpulint.semantic.functions.function_values import FunctionValues, generator_of
from tpulint.semantic.project.imported import Imported
from tpulint.semantic.project.other_files import Definition, methods, returned
from tpulint.semantic.syntax import torch_facts as facts
from tpulint.semantic.syntax.bindings import Binding, part_of
from tpulint.semantic.syntax.flow import Flow
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import FUNCTIONS, FunctionNode
from tpulint.semantic.syntax.tree import SyntaxTree
from tpulint.semantic.values.mapped_elements import LISTS
from tpulint.semantic.values.value import BATCH, HOST, LARGEST_DEPTH, UNKNOWN, Kind, Path, Side, Value, is_none, join

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic.values.kinds import Kinds

_PARTS = ("modules", "children", "parameters")
"""What goes through the parts of a module; where it says ``named_``, a name comes with every one."""
_NAMED = "named_"
_PACKS = frozenset({
    "torch.nn.utils.rnn.pack_padded_sequence", "torch.nn.utils.rnn.pack_sequence",
    "tpulint_runtime.pack_padded_sequence",
})  # fmt: skip
_NEXT = ("next", "__next__")
"""How Python 2 wrote it, and iterators of data loaders long did."""
SEQUENCES = ("builtins.tuple", "builtins.list")
"""What makes a sequence of the elements of another."""
_MODULE_DICT = "torch.nn.ModuleDict"
WITH_PLACES = frozenset({"topk", "max", "min", "sort", "median", "kthvalue", "mode"})
"""Operations that give tensors of values and of their places."""


class ElementValues:
    """Asked by :class:`Kinds` for targets of assignments and loops."""

    def __init__(
        self,
        kinds: Kinds,
        tree: SyntaxTree,
        names: Names,
        flow: Flow,
        definitions: Definitions,
        imported: Imported,
    ) -> None:
        self._kinds = kinds
        self._tree = tree
        self._names = names
        self._flow = flow
        self._definitions = definitions
        self._imported = imported

    def part(self, node: ast.expr, path: Path, depth: int = 0) -> Value:
        """Value of one part of an expression that is unpacked, or asked for an element."""
        if not path:
            return self._kinds.value(node, depth)
        placed = self._kinds.placed(node, path[0], depth) if len(path) == 1 else UNKNOWN
        if placed.kind is not Kind.UNKNOWN:
            return placed
        if isinstance(node, ast.Tuple | ast.List):
            if not isinstance(path[0], int):
                return UNKNOWN if path[0] else join(self.part(item, path[1:], depth) for item in node.elts)
            if -len(node.elts) <= path[0] < len(node.elts) and not any(isinstance(e, ast.Starred) for e in node.elts):
                return self.part(node.elts[path[0]], path[1:], depth)
            return UNKNOWN
        if isinstance(node, ast.IfExp):
            parts = [self.part(way, path, depth + 2) for way in (node.body, node.orelse) if not is_none(way)]
            return self._kinds.branches.chosen(node, parts)
        if isinstance(node, ast.Call):
            function = self._definitions.function_called(node)
            if function is not None:
                return self._kinds.functions.given_here(function, node, path, depth)
            elsewhere = self._kinds.functions.by_import(node, path, depth)
            if elsewhere.kind is not Kind.UNKNOWN:
                return elsewhere
            several = self._kinds.functions.given_by_any(node, path, depth)
            if several.kind is not Kind.UNKNOWN:
                return several
            moved = self._mapped(node, depth)
            if moved is not None:
                return moved
            prepared = self._kinds.methods.prepared(node, path, depth)
            if prepared is not None:
                return prepared
            name = self._names.qualified(node.func)
            drawn = self.drawn_from(node, depth)
            if drawn is not None:
                return self.element(drawn, path, depth)
            if name in _PACKS:
                return self._packed_part(node, path, depth)
            if name in facts.PARSERS:
                return HOST._replace(certain=False)
            if name in SEQUENCES and len(node.args) == 1:
                taken = node.args[0]
                return UNKNOWN if self._is_dict(taken) else self.part(taken, path, depth + 2)
            if name == "builtins.dict":
                return join(self.part(item, path[1:], depth + 2) for item in self._kinds.contents.of(node, path[0]))
            value = self._kinds.value(node, depth)
            if value.kind is Kind.TENSOR:
                part, is_own = self.run_part(node, path, depth)
                if part.kind is Kind.TENSOR and (not is_own or part.side is Side.UNKNOWN):
                    return part._replace(side=value.side)
                if part.kind is not Kind.UNKNOWN:
                    return part
                is_operation = isinstance(node.func, ast.Attribute) and node.func.attr in WITH_PLACES
                return value if is_operation and len(path) == 1 else value._replace(certain=False)
            return UNKNOWN
        if self._kinds.attributes.is_saved(node):
            return self._kinds.parameter_tensor()
        value = self._kinds.value(node, depth)
        if value.kind in (Kind.TENSOR, Kind.NUMPY):
            beside = self._part_of_run(node, path, depth)
            return beside if beside.kind is Kind.HOST else value._replace(certain=False)
        if len(path) == 1:
            return self._kinds.content(node, path[0], depth)
        return join(self.part(item, path[1:], depth + 2) for item in self._kinds.contents.of(node, path[0]))

    def run_part(self, call: ast.Call, path: Path, depth: int = 0) -> tuple[Value, bool]:
        """Part of what the forward pass returns that a call of a module runs, and whether that is of this file.

        UNKNOWN where no forward pass is seen.
        """
        owner = self._module_class(call.func, depth)
        forward = self._definitions.method(owner, "forward") if owner is not None else None
        part = UNKNOWN if forward is None else self._kinds.functions.returned(forward, path, depth)
        if part.kind is not Kind.UNKNOWN:
            return part, True
        runs = methods(self._imported.classes_of(call.func), "forward")
        parts = [self._kinds.functions.given_by(run, call, path, depth) for run in runs]
        fetched = [run for run, one in zip(runs, parts, strict=True) if one.side is Side.HOST]
        if len(parts) > 1 and any(not _gives_tuple(run, path) for run in fetched):
            return HOST._replace(certain=False), False  # one of several modules has fetched it already
        joined = join(parts)
        if joined.kind is Kind.UNKNOWN and self._kinds.shape_numbers.are_given(call, path):
            joined = HOST._replace(certain=False)  # `x, H, W = self.patches(x)`
        return joined, False

    def _part_of_run(self, node: ast.expr, path: Path, depth: int) -> Value:
        """Part of what a variable holds, ``outs = net(x)``: sizes stand beside tensors in what a module returns."""
        bindings = self._flow.reaching(node) if isinstance(node, ast.Name) and depth < LARGEST_DEPTH - 2 else ()
        made = bindings[0].value if len(bindings) == 1 and bindings[0].kind == "assign" else None
        if not isinstance(made, ast.Call) or bindings[0].path:
            return UNKNOWN
        return self.run_part(made, path, depth + 2)[0]

    def drawn_from(self, call: ast.Call, depth: int) -> ast.expr | None:
        """What a call takes the next element of: ``next(batches)``, or ``batches.next()`` of an iterator of batches."""
        if self._names.qualified(call.func) == "builtins.next":
            return call.args[0] if call.args else None
        if not isinstance(call.func, ast.Attribute) or call.func.attr not in _NEXT or call.args:
            return None
        holder = call.func.value
        return holder if self._kinds.value(holder, depth).kind is Kind.LOADER else None

    def _packed_part(self, pack: ast.Call, path: Path, depth: int) -> Value:
        """Value of a part of a packed sequence: its elements, where they were packed, and on the host their numbers."""
        if path[0] != 0:
            return Value(Kind.TENSOR, Side.HOST) if path[0] == 1 else UNKNOWN
        given = [*pack.args[:1], *(k.value for k in pack.keywords if k.arg in ("input", "sequences"))]
        value = self._kinds.value(given[0], depth) if given else UNKNOWN
        return value._replace(certain=False) if value.kind is Kind.TENSOR else UNKNOWN

    def of_packed(self, node: ast.Attribute, depth: int) -> Value:
        """Value of ``packed.data``, of what packing gives or a variable with it."""
        made = [node.value] if isinstance(node.value, ast.Call) else []
        if isinstance(node.value, ast.Name):
            bindings = self._flow.reaching(node.value)
            made = [b.value for b in bindings if isinstance(b.value, ast.Call) and b.kind == "assign" and not b.path]
            made = made if len(made) == len(bindings) else []
        are_packed = bool(made) and all(self._names.qualified(call.func) in _PACKS for call in made)
        return join(self._packed_part(call, (0,), depth + 1) for call in made) if are_packed else UNKNOWN

    def _mapped(self, node: ast.Call, depth: int) -> Value | None:
        """One of the tensors that ``map(lambda x: x.to(device), batch)`` moves."""
        mapper = node.args[0] if node.args and self._names.qualified(node.func) == "builtins.map" else None
        moved = mapper.body if isinstance(mapper, ast.Lambda) else None
        if not isinstance(moved, ast.Call) or not isinstance(moved.func, ast.Attribute):
            return None
        if moved.func.attr not in ("to", "cuda"):
            return None
        return self._kinds.methods.of_tensor(Value(Kind.TENSOR, certain=False), moved.func.attr, moved, depth)

    def element(self, node: ast.expr, path: Path, depth: int) -> Value:
        """Value of (part of) one element of an iterable."""
        if self._is_dict(node):
            return UNKNOWN  # a key
        is_part = isinstance(node, ast.Subscript | ast.Attribute) and not path
        if is_part and self._kinds.own_optimizers.are_parameters(node):
            return self._kinds.parameter_tensor()
        if isinstance(node, ast.Call):
            name = self._names.qualified(node.func)
            if name == "builtins.enumerate" and node.args:
                if not path:
                    return UNKNOWN
                return HOST if path[0] == 0 else self.element(node.args[0], path[1:], depth)
            if name == "builtins.zip" and path:
                at = path[0]
                if not isinstance(at, int) or not 0 <= at < len(node.args):
                    return UNKNOWN
                return self.element(node.args[at], path[1:], depth)
            if name in ("builtins.range",):
                return HOST
            if (name in facts.ITERABLE_WRAPPERS or name == "builtins.sorted") and node.args:
                return self.element(node.args[0], path, depth)
            if name == "builtins.filter" and len(node.args) == 2:
                return self.element(node.args[1], path, depth)
            if name in LISTS and len(node.args) == 1 and depth < LARGEST_DEPTH - 2:
                listed = self.element(node.args[0], path, depth + 1)  # `list(model.parameters())`
                if listed.kind is not Kind.UNKNOWN:
                    return listed
            if isinstance(node.func, ast.Attribute):
                is_named = node.func.attr.startswith(_NAMED)
                part = node.func.attr.removeprefix(_NAMED)
                if node.func.attr == "keys" and not node.args:
                    return HOST  # the names in a dict
                if is_named and path == (0,):
                    return HOST  # `for name, layer in model.named_children()`
                if part in _PARTS and self._is_asked_for_parts(node, node.func, depth):
                    if path != ((1,) if is_named else ()):
                        return UNKNOWN
                    is_parameter = part == "parameters"
                    return self._kinds.parameter_tensor() if is_parameter else Value(Kind.MODULE, certain=False)
                if node.func.attr == "log_every" and node.args:
                    return self.element(node.args[0], path, depth)  # the MetricLogger of torchvision's references
            generator = self._kinds.functions.generator_called(node) or self._generator_run(node, depth)
            if generator is not None:
                owner, function = generator
                return owner.yielded(function, path, depth + 2)
        if isinstance(node, ast.Name):
            alone = self._put_in_list(node)
            if alone is not None and depth < LARGEST_DEPTH - 2:
                return self.element(alone, path, depth + 1)
        if isinstance(node, ast.Name | ast.Attribute):
            for binding in self._flow.bindings_of(node):  # `self.weights = list(model.parameters())`
                if binding.kind in ("assign", "with") and not binding.path and isinstance(binding.value, ast.Call):
                    name = self._names.qualified(binding.value.func)
                    if (
                        name in facts.ITERABLE_WRAPPERS
                        or name in LISTS
                        or self._kinds.functions.generator_called(binding.value) is not None
                    ):
                        return self.element(binding.value, path, depth + 1) if depth < LARGEST_DEPTH else UNKNOWN
        if isinstance(node, ast.List | ast.Tuple):
            return join(self.part(item, path, depth) for item in node.elts)
        value = self._kinds.value(node, depth)
        if value.kind is Kind.UNKNOWN and isinstance(node, ast.Name) and depth < LARGEST_DEPTH - 2:
            handed = self._handed_in(node, path, depth)
            if handed.kind is not Kind.UNKNOWN:
                return handed
        iterated = self._kinds.functions.iterated(node) if value.kind is Kind.UNKNOWN else None
        if iterated is not None:
            return iterated[0].yielded(iterated[1], path, depth + 2)
        if value.kind in (Kind.UNKNOWN, Kind.HOST) and not path:
            given = self._given_element(node, depth)
            value = value if given.kind is Kind.UNKNOWN else given
        if value.kind is Kind.LOADER:
            return BATCH if value.side is Side.UNKNOWN else BATCH._replace(side=value.side)
        call = node if isinstance(node, ast.Call) else None
        is_items = call is not None and isinstance(call.func, ast.Attribute) and call.func.attr == "items"
        if is_items and path[:1] == (0,):
            return UNKNOWN  # a key
        if value.kind in (Kind.TENSOR, Kind.NUMPY):
            return value
        if value.kind is Kind.MODULE:
            # Of modules only lists of modules can be unpacked: `for norm, layer in self.layers`.
            are_places = all(isinstance(at, int) for at in path)
            return Value(Kind.MODULE, certain=False) if are_places and not self._is_module_dict(node) else UNKNOWN
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "items":
            if path != (1,):
                return UNKNOWN
            return self._kinds.placed_or_held(node.func.value, None, depth)
        if not path or depth > LARGEST_DEPTH - 2:
            return self._kinds.content(node, None, depth) if not path else UNKNOWN
        return join(self.part(item, path, depth + 2) for item in self._kinds.contents.of(node))

    def _is_asked_for_parts(self, call: ast.Call, method: ast.Attribute, depth: int) -> bool:
        """Whether what is asked for its parts is a module: PyTorch has some of these methods for nothing else."""
        value = self._kinds.value(method.value, depth)
        if value.kind is not Kind.UNKNOWN:
            return value.kind is Kind.MODULE
        is_own = self._definitions.function_called(call) is not None or bool(self._imported.all_called(call))
        return method.attr in ("modules", "named_modules", "named_parameters") and not call.args and not is_own

    def _is_dict(self, node: ast.expr) -> bool:
        """Whether a loop over this gives keys: a dict that is written out, itself or by a variable.

        Also what is asked for its entries elsewhere: ``losses.values()``.
        """
        if isinstance(node, ast.Dict | ast.DictComp):
            return True
        bindings = self._flow.reaching(node) if isinstance(node, ast.Name) else ()
        if not self._asked_for_entries.isdisjoint(bindings):
            return True
        return bool(bindings) and all(
            binding.kind == "assign" and not binding.path and isinstance(binding.value, ast.Dict | ast.DictComp)
            for binding in bindings
        )

    @cached_property
    def _asked_for_entries(self) -> set[Binding]:
        """Variables of which the entries of a dictionary are asked, wherever they are looked at."""
        views = (view for name in ("items", "keys", "values") for view in self._tree.attributes_called(name))
        asked = (view.value for view in views if isinstance(view.value, ast.Name))
        return {binding for name in asked for binding in self._flow.reaching(name)}

    def _put_in_list(self, name: ast.Name) -> ast.Name | None:
        """The variable as it is where something alone becomes a list: ``if isinstance(x, Tensor): x = [x]``.

        What is in the list afterwards is that tensor, or what was in the list before.
        """
        bindings = self._flow.reaching(name)
        for binding in bindings if len(bindings) > 1 else ():
            row = binding.value.elts if isinstance(binding.value, ast.List) and not binding.path else []
            if len(row) == 1 and isinstance(row[0], ast.Name) and row[0].id == name.id:
                return row[0]
        return None

    def _is_module_dict(self, node: ast.expr) -> bool:
        """Whether a loop over a module gives keys."""
        made = [binding.value for binding in self._flow.bindings_of(node)]
        return any(isinstance(one, ast.Call) and self._names.qualified(one.func) == _MODULE_DICT for one in made)

    def _handed_in(self, name: ast.Name, path: Path, depth: int) -> Value:
        """Value of an element of what calls in this file give for a parameter: ``train(model, batches(rows))``."""
        bindings = self._flow.reaching(name)
        function = bindings[0].statement if len(bindings) == 1 and bindings[0].kind == "parameter" else None
        if not isinstance(function, FUNCTIONS):
            return UNKNOWN
        given = self._definitions.arguments.of(function, bindings[0].name)

        def find(depth: int) -> Value:
            return join(self.element(item, path, depth + 3) for item in given)._replace(certain=False)

        return self._kinds.functions.answer((f"elements of {name.id}", function, path), find, depth)

    def _given_element(self, node: ast.expr, depth: int) -> Value:
        """Value of an element of the list that a function of another file makes of what it is given."""
        calls = [node] if isinstance(node, ast.Call) else []
        if isinstance(node, ast.Name):
            bound = (b.value for b in self._flow.reaching(node) if b.kind == "assign" and not b.path)
            calls = [value for value in bound if isinstance(value, ast.Call)]
        called = self._imported.called(calls[0]) if len(calls) == 1 and depth < LARGEST_DEPTH - 3 else None
        if called is None or not isinstance(called.node, FUNCTIONS):
            return UNKNOWN
        other = called.file.kinds
        made = called.file.definitions.returned_by(called.node)
        items = [item for value in made for item in other.contents.of(value)]
        element = join(other.value(item, depth + 2) for item in items)
        return (
            self._kinds.functions.beside(element, calls[0], called, depth) if element.kind is Kind.TENSOR else UNKNOWN
        )

    def _generator_run(self, call: ast.Call, depth: int) -> tuple[FunctionValues, FunctionNode] | None:
        """The forward pass that a call of a module runs, where that is a generator, with what is known of its file."""
        owner = self._module_class(call.func, depth)
        here = None if owner is None else self._definitions.method(owner, "forward")
        if here is not None:
            return (self._kinds.functions, here) if self._kinds.functions.yields(here) else None
        runs = methods(self._imported.classes_of(call.func), "forward")
        return next(filter(None, map(generator_of, runs)), None)

    def _module_class(self, callee: ast.expr, depth: int) -> ast.ClassDef | None:
        if isinstance(callee, ast.Name):
            direct = self._definitions.classes.one_of_variable(callee)
            if direct is not None:
                return direct
            for binding in self._flow.reaching(callee):
                if binding.kind == "parameter" and isinstance(binding.statement, FUNCTIONS) and depth < LARGEST_DEPTH:
                    for argument in self._definitions.arguments.of(binding.statement, binding.name):
                        if isinstance(argument, ast.Name):
                            return self._module_class(argument, depth + 3)
        return None


def _gives_tuple(function: Definition, path: Path) -> bool:
    """Whether a part of what a function returns is a tuple again: ``return value, (mean, deviation)``."""
    places = tuple(at for at in path if isinstance(at, int))
    parts = [part_of(value, places) for value in returned(function)]
    made = [part for part in parts if part is not None]
    for name in [part for part in made if isinstance(part, ast.Name)]:
        made += [binding.value for binding in function.file.flow.reaching(name) if binding.value is not None]
    return any(isinstance(part, ast.Tuple | ast.List) for part in made)
