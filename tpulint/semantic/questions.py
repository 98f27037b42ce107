"""Questions for a GPU: whether the answer a TPU machine gives does harm."""

from __future__ import annotations

import ast
import re
from functools import cached_property

from tpulint.semantic.cuda_branches import is_named_question, names_other_backend
from tpulint.semantic.cuda_features import CUDA_ONLY_ARGUMENTS, CudaFeatures, branch_bodies
from tpulint.semantic.cuda_mentions import PRINTING
from tpulint.semantic.gpu_choices import PRODUCTS, is_worse, loads_to_host
from tpulint.semantic.half_options import HalfOptions
from tpulint.semantic.variables import is_configuration, last_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.cuda_kernels import CudaKernels
    from tpulint.semantic.tree import SyntaxTree

_SKIPS = frozenset({"skipUnless", "skipIf", "skipif", "skip", "skipTest", "SkipTest", "xfail", "importorskip"})
_ENDS = frozenset({"exit", "_exit", "quit", "abort"})
_FEATURES = r"(?i)quantiz|kernel|tensorrt|apex|bitsandbytes|triton|flash|megatron"
_ATTENTION = r"(?i)flash_?attn|flash_?attention|xformers|triton"
_CONTAINERS = ("builtins.list", "builtins.dict", "builtins.set")
_LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)

_HAVING_ONE = r"(?i)\byou have a (?:cuda|gpu)\b"
"""What messages say where there is a GPU that is not used."""


class Questions:
    """Answers about the questions of one file."""

    def __init__(self, index: SemanticIndex, features: CudaFeatures) -> None:
        self._index = index
        self._tree = index.tree
        self._features = features
        self._mentions = features.mentions
        self._placement = features.placement
        self.half_options = HalfOptions(index)

    def is_worth_folding(self, question: ast.expr) -> bool:
        """Whether a false answer on a TPU machine does harm.

        It does none where the answer is only shown or reported, where it switches on a feature that only CUDA has,
        where all it guards are calls that would raise, and where a test is left out.
        """
        root = self._placement.root(question)
        parent = self._tree.parents[root]
        if self._mentions.asks_cuda_only(root) or self._calls_cuda_only(root):
            return False  # another part of the condition asks what only CUDA can tell
        if self._mentions.is_reported(root) or self.skips_test(root) or self.half_options.take(root):
            return False
        if isinstance(parent, ast.keyword):
            return self._is_wanted_argument(parent)
        if isinstance(parent, ast.Call) and root in parent.args:
            return self._belongs_to_project(parent)
        if isinstance(parent, ast.FormattedValue | ast.List | ast.Tuple | ast.Set):
            return False
        if isinstance(parent, ast.Return) and root is question:
            return not self._is_named_answer(parent)
        if isinstance(parent, ast.Return) and isinstance(root, ast.BoolOp) and self._names_state_of_cuda(root):
            return False
        if "PYTEST" in self._tree.text(root) or self._decides_nothing(root, parent, question):
            return False
        if isinstance(parent, ast.If | ast.Assert) and self._is_for_feature(parent, question):
            return False
        if isinstance(parent, ast.If) and parent.test is root and all(map(_adds_test_parameter, parent.body)):
            return False
        if isinstance(parent, ast.If) and parent.test is root:
            taken, other = self._branches(parent, question)
            if self._only_tells(parent, question) and names_other_backend(self._tree.text(root)):
                return False
            if taken is parent.body and not other and all(map(self._says_there_is_one, taken)):
                return False
            if self._feeds_kept_branch(parent) or self._chooses_kernels(taken, other) or self._keeps_of_cuda(taken):
                return False
            if self._kernels.are_chosen_by(root) or self._kernels.are_needed_by(taken):
                return False
            if self._speaks_of_feature(parent, question):
                return False
            if loads_to_host(self._index, taken, other) and not any(map(self._placement.places, taken)):
                return False
            harmed = any(self._placement.places(item) for item in branch_bodies(other))
            return harmed or not self._is_cuda_part(parent, taken, other)
        if isinstance(parent, ast.IfExp) and parent.test is root:
            asks = self._mentions.asks_cuda(parent.body) or self._kernels.are_chosen_by(root)
            return not asks and not is_worse(self._index, parent) and not self._is_report(parent)
        if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
            loads = self._index.names.loads_of(parent.targets[0])
            # `cuda = cuda and is_available()` reads what the variable was before
            later = [load for load in loads if not self._tree.encloses(parent, load)]
            return not later or not all(map(self._is_harmless, later))
        return True

    def _is_harmless(self, answer: ast.Name) -> bool:
        """Whether a variable with the answer is only shown there, or opens what CUDA alone has."""
        if self._mentions.is_shown(answer) or self._features.opens_only_cuda(answer):
            return True
        if self.half_options.take(answer) or self._kernels.are_chosen_by(self._placement.root(answer)):
            return True
        choice = self._tree.parents[answer]  # `{"GPU": name(0) if cuda else None}`
        if not isinstance(choice, ast.IfExp) or choice.test is not answer or self._placement.places(choice):
            return False
        return self._mentions.is_reported(choice) or re.search(PRODUCTS, self._tree.text(choice)) is not None

    def opens_runtime_calls(self, question: ast.expr) -> bool:
        """Whether a question opens nothing but calls into the CUDA runtime, such as seeding or emptying its cache."""
        root = self._placement.root(question)
        parent = self._tree.parents[root]
        if not isinstance(parent, ast.If) or parent.test is not root or parent.orelse:
            return False
        return all(
            isinstance(item, ast.Expr) and isinstance(item.value, ast.Call)
            and (self._index.qualified_name(item.value.func) or "").startswith(("torch.cuda.", "torch.accelerator."))
            for item in parent.body
        )  # fmt: skip

    def opens_cuda_statements(self, question: ast.expr) -> bool:
        """Whether a condition opens nothing but calls and flags of CUDA, all of which do nothing on another device."""
        root = self._placement.root(question)
        parent = self._tree.parents[root]
        if not isinstance(parent, ast.If) or parent.test is not root or parent.orelse or root is not question:
            return False
        return all(self._is_cuda_statement(item) for item in parent.body)

    def _is_cuda_statement(self, statement: ast.stmt) -> bool:
        if isinstance(statement, ast.Assign):
            names = [self._index.qualified_name(target) or "" for target in statement.targets]
        elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            names = [self._index.qualified_name(statement.value.func) or ""]
            if last_name(statement.value.func) in PRINTING:
                return self._mentions.is_report(statement)
        else:
            return False
        return all(name.startswith(("torch.cuda.", "torch.backends.cud", "torch.accelerator.")) for name in names)

    def ends_program(self, question: ast.expr) -> bool:
        """Whether the program ends where the answer is no: ``if not is_available(): raise``."""
        root = self._placement.root(question)
        parent = self._tree.parents[root]
        if isinstance(parent, ast.Assert):
            return True
        return isinstance(parent, ast.If) and parent.test is root and any(_leaves_program(item) for item in parent.body)

    def guards_cuda(self, question: ast.expr) -> bool:
        """Whether a function is left without a GPU because what follows asks for what only CUDA can tell.

        ``if not is_available(): return "cpu"`` in front of ``free, _ = torch.cuda.mem_get_info()``, which raises.
        """
        root = self._placement.root(question)
        parent = self._tree.parents[root]
        if not isinstance(parent, ast.If) or parent.test is not root or self._tree.function_of(question) is None:
            return False
        taken, other = self._branches(parent, question)
        if other is not parent.body or taken is parent.orelse or not isinstance(other[-1], ast.Return | ast.Raise):
            return False
        told = set(self._mentions.cuda_reports(taken))  # messages go
        return any(self._mentions.reads_cuda(item) for item in taken if item not in told)

    def is_alone(self, question: ast.expr) -> bool:
        """Whether a question only ends or tells something in a function that places nothing and is called elsewhere.

        Such a function speaks about a feature of GPUs, unless something else of the file chooses the device.
        """
        root = self._placement.root(question)
        parent = self._tree.parents[root]
        function = self._tree.function_of(question)
        if not isinstance(parent, ast.If | ast.Assert) or parent.test is not root:
            return False
        if isinstance(parent, ast.If) and self._only_tells(parent, question):
            return True
        if function is None or self._index.definitions.calls_of(function):
            return False
        if any(function in launch.functions for launch in self._index.launches.launches):
            return False  # a process runs it
        if isinstance(parent, ast.If) and not self.ends_program(question):
            _, other = self._branches(parent, question)
            if not other or not all(_only_tells(item) for item in other):
                return False
        return not self._placement.places(function)

    # ---------------------------------------------------------------- what is harmless

    def _only_tells(self, statement: ast.If, question: ast.expr) -> bool:
        """``if torch.cuda.is_available(): print("a GPU")``"""
        taken, other = self._branches(statement, question)
        return taken is statement.body and not other and all(_only_tells(item) for item in taken)

    def _says_there_is_one(self, statement: ast.stmt) -> bool:
        """``if not args.cuda: print("WARNING: You have a CUDA device, ...")``, which is untrue of any other device."""
        if isinstance(statement, ast.If):
            return not statement.orelse and all(map(self._says_there_is_one, statement.body))
        return _only_tells(statement) and re.search(_HAVING_ONE, self._tree.text(statement)) is not None

    def _speaks_of_feature(self, statement: ast.If, question: ast.expr) -> bool:
        """``if not is_available(): raise RuntimeError("quantization needs a GPU")``, asked from another file."""
        if not self.ends_program(question) or not re.search(_FEATURES, self._tree.text(statement.body[-1])):
            return False
        return self.is_alone(question)

    def _decides_nothing(self, root: ast.expr, parent: ast.AST, question: ast.expr) -> bool:
        """Whether the answer places nothing in a file that serves others, and ends nothing: options of a profiler."""
        if self._index.is_program or self._tree.function_of(question) is None:
            return False
        if self.ends_program(question) or self.opens_runtime_calls(question):
            return False
        if isinstance(parent, ast.If) and parent.test is root:
            if _raises_for_feature(self._tree, parent):
                return True  # `else: raise RuntimeError("quantization needs a GPU")`
            if any(map(_sends_settings_to_host, parent.body)):
                return False
            return not self._placement.is_decided_by(root) and not parent.orelse and not _leaves(parent.body)
        if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
            loads = self._index.names.loads_of(parent.targets[0])
            tests = [self._tree.parents[self._placement.root(load)] for load in loads]
            return all(isinstance(test, ast.If) for test in tests) and not self._placement.is_decided_by(root)
        return False

    def _is_for_feature(self, statement: ast.If | ast.Assert, question: ast.expr) -> bool:
        """``if name.startswith("apex."): assert torch.cuda.is_available()``: who wants the feature needs a GPU."""
        if not self.ends_program(question):
            return False
        said = statement.msg if isinstance(statement, ast.Assert) else None
        if said is not None and not self._index.is_program and re.search(_FEATURES, self._tree.text(said)):
            return True
        child: ast.AST = statement
        for ancestor in self._tree.ancestors(statement):
            holds = isinstance(ancestor, ast.If) and child in ancestor.body
            if holds and isinstance(ancestor, ast.If) and re.search(_FEATURES, self._tree.text(ancestor.test)):
                return True
            child = ancestor
        return False

    def _branches(self, statement: ast.If, question: ast.expr) -> tuple[list[ast.stmt], list[ast.stmt]]:
        """What runs where the answer is yes, and where it is no."""
        negated = False
        node: ast.AST = question
        while node is not statement.test:
            node = self._tree.parents[node]
            negated ^= isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
        if not negated:
            return statement.body, statement.orelse
        if statement.orelse or not isinstance(statement.body[-1], _LEAVES):
            return statement.orelse, statement.body
        suite = self._tree.suite_of(statement)
        return suite[suite.index(statement) + 1 :], statement.body

    def _is_cuda_part(self, statement: ast.If, taken: list[ast.stmt], other: list[ast.stmt]) -> bool:
        if self._features.holds_only_cuda(taken):
            return True
        # `elif torch.xpu.is_available(): torch.xpu.empty_cache()`: each backend has its own branch
        if taken is not statement.body or len(other) != 1 or not isinstance(other[0], ast.If):
            return False
        return self._calls_runtime(taken) and names_other_backend(self._tree.text(other[0].test))

    def _names_state_of_cuda(self, condition: ast.BoolOp) -> bool:
        """``is_available() and self._cuda_timers is not None``: whether something of CUDA is in use."""
        others = [
            value.left
            for value in condition.values
            if isinstance(value, ast.Compare)
            and isinstance(value.ops[0], ast.Is | ast.IsNot)
            and isinstance(value.comparators[0], ast.Constant)
            and value.comparators[0].value is None
        ]
        return any("cuda" in last_name(other).lower() for other in others)

    def _keeps_of_cuda(self, taken: list[ast.stmt]) -> bool:
        """Whether a GPU only gets containers named after CUDA: ``self._cuda_timers = deque()``, for events of CUDA.

        A flag, ``cuda = True``, may choose the device.
        """
        given = [item for item in taken if isinstance(item, ast.Assign) and self._is_container(item.value)]
        named = all("cuda" in last_name(target).lower() for item in given for target in item.targets)
        return 0 < len(taken) == len(given) and named and not any(map(self._placement.places, taken))

    def _is_container(self, value: ast.expr) -> bool:
        made = (self._index.qualified_name(value.func) or "") if isinstance(value, ast.Call) else ""
        return isinstance(value, ast.List | ast.Dict) or made.startswith("collections.") or made in _CONTAINERS

    def _chooses_kernels(self, taken: list[ast.stmt], other: list[ast.stmt]) -> bool:
        """Whether a GPU gets kernels of its own for what operations of torch compute elsewhere: flash attention."""
        if not other or any(map(self._placement.places, (*branch_bodies(taken), *branch_bodies(other)))):
            return False
        return any(re.search(_ATTENTION, self._tree.text(item)) for item in taken)

    def _feeds_kept_branch(self, statement: ast.If) -> bool:
        """Whether both branches give a variable a value that goes with the same question further on, which stays.

        ``form = "{memory}"`` under one question, ``print(form.format(memory=max_memory_allocated()))`` under the other.
        """
        if not statement.orelse or any(map(self._placement.places, (*statement.body, *statement.orelse))):
            return False
        asked = self._tree.text(statement.test)
        given, otherwise = _variables(statement.body), _variables(statement.orelse)
        loads = [load for name in given.keys() & otherwise.keys() for load in self._index.names.loads_of(given[name])]
        return any(
            isinstance(ancestor, ast.If)
            and ancestor is not statement
            and self._tree.text(ancestor.test) == asked
            and self._features.holds_only_cuda(ancestor.body)
            for load in loads
            for ancestor in self._tree.ancestors(load)
        )

    def _calls_runtime(self, body: list[ast.stmt]) -> bool:
        for item in body:
            value = item.value if isinstance(item, ast.Expr | ast.Assign | ast.Return) else None
            name = self._index.qualified_name(value.func) if isinstance(value, ast.Call) else None
            if name is None or not name.startswith("torch.cuda."):
                return False
        return True

    def _calls_cuda_only(self, root: ast.expr) -> bool:
        """Whether the condition calls a function of this file that asks what only CUDA can tell."""
        for node in self._tree.inside(root):
            function = self._index.definitions.function_called(node) if isinstance(node, ast.Call) else None
            if function is not None and self._mentions.are_in(function):
                return True
        return False

    def _is_named_answer(self, statement: ast.Return) -> bool:
        """``def is_cuda_available(): return torch.cuda.is_available()``, which nothing in this file asks."""
        function = self._tree.function_of(statement)
        return (
            function is not None and is_named_question(function.name) and not self._index.definitions.calls_of(function)
        )

    def _is_report(self, choice: ast.IfExp) -> bool:
        """``info["gpu"] = name(0) if torch.cuda.is_available() else None``"""
        return self._mentions.is_reported(choice) and not self._placement.is_decided_by(choice.test)

    def skips_test(self, root: ast.expr) -> bool:
        """Whether a condition leaves a test out: ``@unittest.skipUnless(...)``."""
        child: ast.AST = root
        for ancestor in self._tree.ancestors(root):
            if isinstance(ancestor, ast.Call) and last_name(ancestor.func) in _SKIPS:
                return True
            if isinstance(ancestor, ast.If) and ancestor.test is child:
                return any(_skips(item) for item in ancestor.body)
            if isinstance(ancestor, ast.stmt):
                return False
            child = ancestor
        return False

    @cached_property
    def _kernels(self) -> CudaKernels:
        from tpulint.semantic.cuda_kernels import CudaKernels

        return CudaKernels(self._index, self._features)

    def _is_wanted_argument(self, keyword: ast.keyword) -> bool:
        call = self._tree.parents[keyword]
        if not isinstance(call, ast.Call) or keyword.arg in CUDA_ONLY_ARGUMENTS or keyword.arg is None:
            return False
        name = last_name(call.func)
        if name == "GradScaler" or name in PRINTING:
            return False
        return name in ("autocast", "add_argument", "option", "Option", "dict") or self._belongs_to_project(call)

    def _belongs_to_project(self, call: ast.Call) -> bool:
        definitions = self._index.definitions
        is_here = definitions.function_called(call) is not None or definitions.class_called(call) is not None
        return is_here or bool(self._index.imported.all_called(call))


def _variables(body: list[ast.stmt]) -> dict[str, ast.Name]:
    """Variables that the statements of a branch give a value, by name."""
    targets = [target for item in body if isinstance(item, ast.Assign) for target in item.targets]
    return {target.id: target for target in targets if isinstance(target, ast.Name)}


def _leaves_program(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        return last_name(statement.value.func) in _ENDS
    return isinstance(statement, ast.Raise)


def _only_tells(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Return):
        return statement.value is None
    value = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(value, ast.Call):
        return False
    return last_name(value.func) in PRINTING or last_name(value.func).startswith(("warn", "print", "log"))


def _raises_for_feature(tree: SyntaxTree, statement: ast.If) -> bool:
    """Whether the last branch of a chain raises because a feature of GPUs is wanted."""
    orelse = statement.orelse
    while len(orelse) == 1 and isinstance(orelse[0], ast.If):
        orelse = orelse[0].orelse
    return (
        bool(orelse) and isinstance(orelse[-1], ast.Raise) and re.search(_FEATURES, tree.text(orelse[-1])) is not None
    )


def _sends_settings_to_host(statement: ast.stmt) -> bool:
    """``cfg.device = "cpu"``, which other files read."""
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    value = statement.value if isinstance(statement, ast.Assign) else None
    is_host = isinstance(value, ast.Constant) and value.value == "cpu"
    return (
        is_host
        and isinstance(target, ast.Attribute)
        and target.attr == "device"
        and is_configuration(last_name(target.value))
    )


def _leaves(body: list[ast.stmt]) -> bool:
    return isinstance(body[-1], _LEAVES)


def _adds_test_parameter(statement: ast.stmt) -> bool:
    """``devices.append(pytest.param("cuda:0"))``"""
    value = statement.value if isinstance(statement, ast.Expr) else None
    given = value.args if isinstance(value, ast.Call) else []
    return bool(given) and all(isinstance(item, ast.Call) and last_name(item.func) == "param" for item in given)


def _skips(statement: ast.stmt) -> bool:
    value: ast.AST | None = None
    if isinstance(statement, ast.Raise):
        value = statement.exc
    elif isinstance(statement, ast.Expr | ast.Return):
        value = statement.value
    if isinstance(value, ast.Name | ast.Attribute):
        return last_name(value) == "SkipTest"
    while isinstance(value, ast.Call):  # `unittest.skip("no GPU")(test)`
        if last_name(value.func) in _SKIPS:
            return True
        value = value.func
    return False
