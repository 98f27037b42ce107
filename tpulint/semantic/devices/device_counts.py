"""Values that count the GPUs of the machine, or the processes started for them."""

from __future__ import annotations

import ast

from tpulint.semantic.functions.definitions import Definitions
from tpulint.semantic.syntax.bindings import part_of
from tpulint.semantic.syntax.flow import Flow
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import FUNCTIONS
from tpulint.semantic.syntax.tree import SyntaxTree

COUNTERS = frozenset({"torch.cuda.device_count", "torch.accelerator.device_count"})
_WRAPPERS = frozenset({"builtins.int", "builtins.max", "builtins.min"})
_SEQUENCES = frozenset({"builtins.list", "builtins.tuple", "builtins.sorted"})
_DEPTH = 8
_MIRRORED: dict[type[ast.cmpop], type[ast.cmpop]] = {ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE}


class DeviceCounts:
    """Which expressions of one file hold the number of GPUs."""

    def __init__(
        self, tree: SyntaxTree, names: Names, flow: Flow, definitions: Definitions, seed: ast.expr | None = None
    ) -> None:
        self._tree = tree
        self._names = names
        self._flow = flow
        self._definitions = definitions
        self._memo: dict[ast.expr, bool] = {}
        self._stores: dict[tuple[str, str], list[ast.Assign]] | None = None
        self._seed = seed if isinstance(seed, ast.Name | ast.Attribute) else None
        """A variable that counts, wherever its value comes from."""
        self.calls = names.calls_to(*COUNTERS)
        """Calls that ask for the number."""

    def with_seed(self, seed: ast.expr | None) -> DeviceCounts:
        """The same, with one more variable that is known to hold the number."""
        return DeviceCounts(self._tree, self._names, self._flow, self._definitions, seed)

    def is_count(self, node: ast.expr, depth: int = 0) -> bool:
        """Whether the expression may hold the number."""
        if not (self.calls or self._seed) or depth > _DEPTH:
            return False
        found = self._memo.get(node)
        if found is None:
            self._memo[node] = False  # a number that depends on itself adds nothing
            found = self._memo[node] = self._is_seed(node) or self._is_count(node, depth + 1)
        return found

    def is_multiple(self, node: ast.expr, depth: int = 0) -> bool:
        """Whether the expression is the number times something else, such as the number of machines."""
        if depth > _DEPTH:
            return False  # `args.lr = args.lr * 0.5` depends on itself
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            return any(self.is_count(side) or self.is_multiple(side, depth + 1) for side in (node.left, node.right))
        if isinstance(node, ast.Attribute):
            return any(self.is_multiple(store.value, depth + 1) for store in self.attribute_stores(node))
        return False

    def _is_seed(self, node: ast.expr) -> bool:
        seed = self._seed
        if isinstance(seed, ast.Name) and isinstance(node, ast.Name):
            return seed.id == node.id and bool(set(self._flow.reaching(seed)) & set(self._names.bindings(node)))
        if isinstance(seed, ast.Attribute) and isinstance(node, ast.Attribute):
            return ast.dump(seed.value) == ast.dump(node.value) and seed.attr == node.attr
        return False

    def _is_count(self, node: ast.expr, depth: int) -> bool:
        if isinstance(node, ast.Call):
            if node in self.calls:
                return True
            if self._names.qualified(node.func) == "builtins.len" and len(node.args) == 1:
                return self._holds_numbers(node.args[0], depth)
            wrapper = self._names.qualified(node.func) in _WRAPPERS
            return wrapper and any(self.is_count(item, depth) for item in node.args)
        if isinstance(node, ast.Name):
            return any(self.is_count(value, depth) for value in self._values(node))
        if isinstance(node, ast.Attribute):
            return any(self.is_count(store.value, depth) for store in self.attribute_stores(node))
        if isinstance(node, ast.IfExp):
            return self.is_count(node.body, depth) or self.is_count(node.orelse, depth)
        if isinstance(node, ast.BoolOp):
            return any(self.is_count(item, depth) for item in node.values)
        return False

    def _holds_numbers(self, node: ast.expr, depth: int) -> bool:
        """Whether an expression holds the numbers of all GPUs: ``list(range(torch.cuda.device_count()))``."""
        if depth > _DEPTH:
            return False
        if isinstance(node, ast.Name):
            return any(self._holds_numbers(value, depth + 1) for value in self._values(node))
        if isinstance(node, ast.ListComp) and len(node.generators) == 1 and not node.generators[0].ifs:
            return self._holds_numbers(node.generators[0].iter, depth + 1)
        if not isinstance(node, ast.Call) or len(node.args) != 1:
            return False
        name = self._names.qualified(node.func)
        if name == "builtins.range":
            return self.is_count(node.args[0], depth)
        return name in _SEQUENCES and self._holds_numbers(node.args[0], depth + 1)

    def _values(self, node: ast.Name) -> list[ast.expr]:
        values: list[ast.expr] = []
        for binding in self._flow.reaching(node):
            given = part_of(binding.value, binding.path)  # `rank, count = get_rank(), torch.cuda.device_count()`
            if binding.kind == "assign" and given is not None:
                values.append(given)
            elif binding.kind == "parameter" and isinstance(binding.statement, FUNCTIONS):
                values.extend(self._definitions.arguments.of(binding.statement, binding.name))
        return values

    def is_zero(self, node: ast.expr, depth: int = 0) -> bool:
        """Whether the expression is certainly the number of GPUs itself: 0 on a TPU machine."""
        if node in self.calls:
            return True
        if depth > _DEPTH or not self.is_count(node):
            return False
        if isinstance(node, ast.Name):
            values = self._values(node) if len(self._flow.reaching(node)) == 1 else []
            return bool(values) and all(self.is_zero(value, depth + 1) for value in values)
        if isinstance(node, ast.Attribute):
            stores = self.attribute_stores(node)
            function = self._tree.function_of(node)
            if len(stores) > 1:  # what the started processes count is another number
                stores = [store for store in stores if self._tree.function_of(store) is function]
            return len(stores) == 1 and self.is_zero(stores[0].value, depth + 1)
        return False

    def is_zero_product(self, node: ast.expr) -> bool:
        """Whether a variable was multiplied by the number in every case: ``args.size = count * args.size``."""
        value: ast.expr | None = None
        if isinstance(node, ast.Name):
            bindings = self._flow.reaching(node)
            only = bindings[0] if len(bindings) == 1 else None
            value = only.value if only is not None and only.kind == "assign" and not only.path else None
        elif isinstance(node, ast.Attribute):
            function = self._tree.function_of(node)
            stores = [one for one in self.attribute_stores(node) if self._tree.function_of(one) is function]
            value = stores[0].value if len(stores) == 1 and self._runs_before(stores[0], node) else None
        if not isinstance(value, ast.BinOp) or not isinstance(value.op, ast.Mult):
            return False
        return self.is_zero(value.left) or self.is_zero(value.right)

    def _runs_before(self, statement: ast.stmt, node: ast.expr) -> bool:
        """Whether a statement has run whenever an expression behind it is reached."""
        suite = self._tree.suite_of(statement)
        behind = suite[suite.index(statement) + 1 :]
        return any(self._tree.encloses(later, node) for later in behind)

    def answer(self, test: ast.expr) -> bool | None:
        """What a comparison of the number says where there are several devices; None for anything else."""
        if self.is_count(test) and not isinstance(test, ast.BoolOp | ast.IfExp):
            return True
        compared = self._compared(test)
        if compared is None:
            return None
        operator, number = compared
        if operator in (ast.Gt, ast.GtE):
            return True
        if operator in (ast.Lt, ast.LtE):
            return False
        if number < 2 and operator in (ast.Eq, ast.NotEq):
            return operator is ast.NotEq
        return None

    def holds_for_one(self, test: ast.expr) -> bool:
        """Whether what holds for several devices holds for a single one, too: ``if count:``, ``count > 0``."""
        operator, number = self._compared(test) or (ast.Gt, 0)
        if operator is ast.NotEq:
            return number != 1
        return number < (1 if operator is ast.Gt else 2)

    def _compared(self, test: ast.expr) -> tuple[type[ast.cmpop], int] | None:
        """The operator and the number that a number of devices is compared with, read from left to right."""
        if not isinstance(test, ast.Compare) or len(test.ops) != 1:
            return None
        left, right, operator = test.left, test.comparators[0], type(test.ops[0])
        if self.is_count(right):
            left, right, operator = right, left, _MIRRORED.get(operator, operator)
        if not self.is_count(left) or not isinstance(right, ast.Constant) or not isinstance(right.value, int):
            return None
        return operator, right.value

    def attribute_stores(self, node: ast.Attribute) -> list[ast.Assign]:
        """Assignments in the file to the same attribute of a variable of the same name: ``args.world_size = ...``."""
        if self._stores is None:
            self._stores = {}
            for other in self._tree.attributes:
                statement = self._tree.parents.get(other)
                if not isinstance(statement, ast.Assign) or not isinstance(other.value, ast.Name):
                    continue
                if len(statement.targets) == 1 and statement.targets[0] is other:
                    self._stores.setdefault((other.value.id, other.attr), []).append(statement)
        return self._stores.get((node.value.id, node.attr), []) if isinstance(node.value, ast.Name) else []
