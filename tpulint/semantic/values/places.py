"""Where the value of an expression goes: into a device argument, a variable, a comparison."""

from __future__ import annotations

import ast

from tpulint.records import NamedTuple
from tpulint.semantic.devices.device_lists import is_chosen_among, lists_the_host
from tpulint.semantic.devices.devices_given import is_taken_for_device
from tpulint.semantic.syntax.nodes import FunctionNode
from tpulint.semantic.syntax.variables import Key, Variables, last_name, says_device

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_PRECISION_CALLS = ("autocast", "GradScaler", "custom_fwd", "custom_bwd", "is_autocast_enabled")
_DEVICE_FIRST = frozenset({"torch.device", "torch.set_default_device", "torch.Generator"})
LIBRARIES_WITHOUT_XLA = frozenset({
    "spacy", "thinc", "onnxruntime", "onnx", "faiss", "vllm", "xgboost", "lightgbm", "catboost", "cupy", "cuml", "cudf",
    "cuvs", "tensorrt", "jax", "jaxlib", "flax", "tensorflow", "keras", "paddle", "mxnet", "numba", "warp", "taichi",
    "ctranslate2", "faster_whisper", "llama_cpp", "pycuda", "sglang",
    "isaacgym", "isaacgymenvs", "isaaclab", "omni", "genesis", "torchsummary",
})  # fmt: skip
"""Libraries with devices of their own: what they call CUDA is no device of torch."""
_DEVICE_KEYWORDS = frozenset({"device", "dev", "device_type", "device_name", "devices"})
_LOOKUPS = {"get": 1, "pop": 1, "setdefault": 1, "getenv": 1}
"""Methods that answer with a default, and where it stands."""


class Place(NamedTuple):
    """What becomes of the value of an expression."""

    kind: str
    """device: it says where something lives; variable; return; part of what is returned; comparison.

    Empty when it is something else.
    """
    node: ast.AST | None = None
    """The call, comparison or function."""
    keys: tuple[Key, ...] = ()
    at: int = 0
    """Which part of what is returned."""


NOWHERE = Place("")


class Places:
    """The places of one file."""

    def __init__(self, index: SemanticIndex, variables: Variables) -> None:
        self._index = index
        self._tree = index.tree
        self._names = index.names
        self._variables = variables

    def of(self, node: ast.expr) -> Place:
        """What becomes of the value of an expression."""
        tree = self._tree
        parent = tree.parents[node]
        while True:
            if (
                (isinstance(parent, ast.IfExp) and parent.test is not node)
                or isinstance(parent, ast.BoolOp)
                or (isinstance(parent, ast.Lambda) and parent.body is node)
                or (isinstance(parent, ast.Call) and self.answers_default(parent, node))
            ):
                node, parent = parent, tree.parents[parent]
            else:
                break
        if (
            isinstance(parent, ast.keyword)
            and parent.arg in ("default", "default_factory")
            and self._is_field(tree.parents[parent])
        ):
            node, parent = parent.value, tree.parents[tree.parents[parent]]  # device: str = field(default="cuda")
        if isinstance(parent, ast.NamedExpr):
            return Place("variable", parent, self._variables.keys_of(parent.target))
        if isinstance(parent, ast.Assign):
            keys = [key for target in parent.targets for key in self._variables.keys_of(target)]
            return Place("variable", parent, tuple(keys)) if keys else NOWHERE
        if isinstance(parent, ast.AnnAssign):
            return Place("variable", parent, self._variables.keys_of(parent.target))
        if isinstance(parent, ast.Return):
            return Place("return", tree.function_of(parent))
        if isinstance(parent, ast.Compare):
            return Place("comparison", parent)
        if isinstance(parent, ast.MatchValue):
            return Place("comparison", next(a for a in tree.ancestors(parent) if isinstance(a, ast.Match)))
        if isinstance(parent, ast.List | ast.Tuple | ast.Set):
            return self._place_in_sequence(parent, node)
        if isinstance(parent, ast.arguments):
            return self._place_of_default(parent, node)
        if isinstance(parent, ast.Dict):
            at = next((i for i, value in enumerate(parent.values) if value is node), None)
            key = parent.keys[at] if at is not None else None
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                if key.value == "device_type" and _has_key(parent, "enabled"):
                    return NOWHERE  # what an autocast is given: nothing moves there
                if self._is_given_to_others(parent):
                    return NOWHERE
                return Place("variable", parent, (("item", None, key.value),))
            return NOWHERE
        if isinstance(parent, ast.keyword):
            call = tree.parents[parent]
            return self._place_of_keyword(call, parent) if isinstance(call, ast.Call) else NOWHERE
        if isinstance(parent, ast.Call) and node in parent.args:
            return self._place_of_argument(parent, node)
        return NOWHERE

    def answers_default(self, call: ast.Call, node: ast.expr) -> bool:
        """Whether the call gives this argument back when it finds nothing: ``getattr(args, "device", "cuda")``."""
        if len(call.args) == 3 and call.args[2] is node:
            return self._names.qualified(call.func) == "builtins.getattr"
        func = call.func
        at = _LOOKUPS.get(func.attr) if isinstance(func, ast.Attribute) else None
        return at is not None and len(call.args) == at + 1 and call.args[at] is node

    def _is_field(self, call: ast.AST) -> bool:
        return isinstance(call, ast.Call) and last_name(call.func) in ("field", "Field")

    def _place_in_sequence(self, sequence: ast.expr, node: ast.expr) -> Place:
        parent = self._tree.parents[sequence]
        if isinstance(parent, ast.Compare) and sequence is not parent.left:
            return Place("comparison", parent)
        if isinstance(parent, ast.keyword) and parent.arg == "choices":
            call = self._tree.parents[parent]
            return self._place_of_keyword(call, parent) if isinstance(call, ast.Call) else NOWHERE
        if (
            isinstance(sequence, ast.Tuple)
            and isinstance(parent, ast.Assign)
            and isinstance(parent.targets[0], ast.Tuple)
        ):
            targets = parent.targets[0].elts  # device, n = "cuda", 3
            if len(targets) == len(sequence.elts) and not any(isinstance(t, ast.Starred) for t in targets):
                keys = self._variables.keys_of(targets[sequence.elts.index(node)])
                return Place("variable", parent, keys) if keys else NOWHERE
        if isinstance(sequence, ast.Tuple) and (part := self._part_returned(sequence, node)) is not None:
            return part
        if self._is_list_of_devices(sequence):
            return Place("device")
        return self.of(parent) if isinstance(parent, ast.expr) and is_chosen_among(self._tree, node) else NOWHERE

    def _part_returned(self, pair: ast.expr, node: ast.expr) -> Place | None:
        """One place of what is returned, ``return "cuda", 3``, with what gets it: ``device, n = choose()``."""
        at, parent = pair.elts.index(node) if isinstance(pair, ast.Tuple) else 0, self._tree.parents[pair]
        while isinstance(parent, ast.IfExp) and parent.test is not pair:
            pair, parent = parent, self._tree.parents[parent]
        function = self._tree.function_of(parent) if isinstance(parent, ast.Return) else None
        if function is None:
            return None
        keys: list[Key] = []
        for call in self._index.definitions.calls_of(function):
            given = self._tree.parents[call]
            targets = given.targets[0] if isinstance(given, ast.Assign) and len(given.targets) == 1 else None
            if isinstance(targets, ast.Tuple) and at < len(targets.elts):
                keys += self._variables.keys_of(targets.elts[at])
        return Place("part", function, tuple(dict.fromkeys(keys)), at)

    def _is_given_to_others(self, options: ast.Dict) -> bool:
        """``params = {"device": "cuda"}``, then ``xgboost.train(params)``"""
        parent = self._tree.parents[options]
        if not isinstance(parent, ast.Assign) or len(parent.targets) != 1:
            return False
        for load in (load for key in self._variables.keys_of(parent.targets[0]) for load in self._variables.loads(key)):
            user = self._tree.parents[load]
            if isinstance(user, ast.keyword):
                user = self._tree.parents[user]
            name = self._names.qualified(user.func) if isinstance(user, ast.Call) and user.func is not load else None
            if (name or "").partition(".")[0] in LIBRARIES_WITHOUT_XLA:
                return True
        return False

    def _is_list_of_devices(self, sequence: ast.expr) -> bool:
        """Whether an element of a list that has a name says where something lives: ``x.to(DEVICES[0])``.

        Or a list of devices is chosen by a question for a GPU, ``["cpu", "cuda"] if cuda.is_available() else ["cpu"]``.
        """
        parent = self._tree.parents[sequence]
        is_chosen = False
        while (isinstance(parent, ast.IfExp) and parent.test is not sequence) or isinstance(parent, ast.BinOp):
            is_chosen = is_chosen or (isinstance(parent, ast.IfExp) and self._index.guards.asks_cuda(parent.test))
            sequence, parent = parent, self._tree.parents[parent]
        if isinstance(parent, ast.Subscript) and parent.value is sequence:  # ["cpu", "cuda"][cuda.is_available()]
            is_chosen = is_chosen or self._index.guards.asks_cuda(parent.slice)
        if is_chosen and lists_the_host(sequence):
            return True
        if isinstance(parent, ast.AugAssign):
            return self._fills_list_of_devices(parent.target)  # DEVICES += ["cuda"]
        if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Attribute) and parent.func.attr == "extend":
            return self._fills_list_of_devices(parent.func.value)
        if (
            not isinstance(parent, ast.Assign)
            or len(parent.targets) != 1
            or not isinstance(parent.targets[0], ast.Name)
        ):
            return False
        return self._has_devices(parent.targets[0])

    def _fills_list_of_devices(self, name: ast.expr) -> bool:
        """Whether a variable is a list of devices, by its name or by what becomes of its elements."""
        bindings = self._names.bindings(name) if isinstance(name, ast.Name) else []
        made = [binding.value for binding in bindings if binding.kind != "augment"]
        if len(made) != 1 or not isinstance(made[0], ast.List):
            return False
        if last_name(name).lower() == "devices" or self._has_devices(name):
            return True
        asked = (around.test for around in self._tree.ancestors(name) if isinstance(around, ast.If))
        return lists_the_host(made[0]) and any(map(self._index.guards.asks_cuda, asked))

    def _has_devices(self, name: ast.expr) -> bool:
        for load in (load for key in self._variables.keys_of(name) for load in self._variables.loads(key)):
            user = self._tree.parents[load]
            element: list[ast.expr] = []
            if isinstance(user, ast.Subscript) and user.value is load and not isinstance(user.slice, ast.Slice):
                element = [user]
            elif isinstance(user, ast.For) and user.iter is load:
                element = [item for key in self._variables.keys_of(user.target) for item in self._variables.loads(key)]
            if any(self.of(item).kind == "device" for item in element):
                return True
        return False

    def _place_of_default(self, arguments: ast.arguments, node: ast.expr) -> Place:
        owner = self._tree.parents[arguments]
        positional = [*arguments.posonlyargs, *arguments.args]
        parameter: ast.arg | None = None
        if node in arguments.defaults:
            parameter = positional[arguments.defaults.index(node) - len(arguments.defaults)]
        elif node in arguments.kw_defaults:
            parameter = arguments.kwonlyargs[arguments.kw_defaults.index(node)]
        return Place("variable", owner, (("name", owner, parameter.arg),)) if parameter is not None else NOWHERE

    def _place_of_keyword(self, call: ast.Call, keyword: ast.keyword) -> Place:
        name = keyword.arg or ""
        if self._sets_precision(call):
            return NOWHERE
        if name in ("default", "choices", "const", "value"):
            option = self._variables.option_name(call)
            if option is not None:
                return Place("variable", call, (("attribute", None, option),))
        owner = self._callee(call)
        if owner is not None and any(a.arg == name for a in (*owner.args.args, *owner.args.kwonlyargs)):
            return Place("variable", call, (("name", owner, name),))
        takes_device = name in _DEVICE_KEYWORDS or name.endswith("_device")
        named = self._names.qualified(call.func) or ""
        if named.partition(".")[0] in LIBRARIES_WITHOUT_XLA:
            return NOWHERE
        if named.startswith("torch.") and name != "device":
            takes_device = False  # `device_type=` and the like ask for a kind of device that torch itself knows
        taken = (takes_device and says_device(name)) or (owner is None and is_taken_for_device(self._index, call, name))
        return Place("device", call) if taken else NOWHERE

    def _place_of_argument(self, call: ast.Call, node: ast.expr) -> Place:
        func = call.func
        name = self._names.qualified(func)
        at = call.args.index(node)
        if self._sets_precision(call) or (name or "").partition(".")[0] in LIBRARIES_WITHOUT_XLA:
            return NOWHERE
        if name in _DEVICE_FIRST:
            return Place("device", call) if at == 0 else NOWHERE
        if (
            isinstance(func, ast.Attribute)
            and func.attr in ("to", "to_empty")
            and at == 0
            and not (name or "").startswith("torch.")
        ):
            return Place("device", call)
        if isinstance(func, ast.Attribute) and func.attr == "startswith" and at == 0:
            return Place("comparison", call)
        if isinstance(func, ast.Attribute) and func.attr == "append" and self._fills_list_of_devices(func.value):
            return Place("device", call)  # DEVICES.append("cuda")
        option = self._variables.option_name(call)
        if option is not None and at > 0 and not (isinstance(node, ast.Constant) and str(node.value).startswith("-")):
            return Place("variable", call, (("attribute", None, option),))  # DEFINE_string("device", "cuda", ...)
        owner = self._callee(call)
        if owner is not None and owner.name.endswith(("_backend", "_module")):
            return NOWHERE  # asks for the functions of a device
        if any(isinstance(item, ast.Starred) for item in call.args[:at]):
            return NOWHERE
        if owner is None:
            return Place("device", call) if is_taken_for_device(self._index, call, at) else NOWHERE
        parameters = [*owner.args.posonlyargs, *owner.args.args]
        at += int(self._tree.takes_object(owner))
        return Place("variable", call, (("name", owner, parameters[at].arg),)) if at < len(parameters) else NOWHERE

    def is_of_precision(self, node: ast.expr, *, functions: bool) -> bool:
        """Whether a value is an argument of a class that sets the precision, or of an autocast or a scaler as well."""
        parent = self._tree.parents[node]
        call = self._tree.parents[parent] if isinstance(parent, ast.keyword) else parent
        if not isinstance(call, ast.Call) or node is call.func:
            return False
        return self._sets_precision(call) if functions else last_name(call.func).endswith("Precision")

    def _sets_precision(self, call: ast.Call) -> bool:
        """Whether the device named is that of an autocast or a scaler: other rules rewrite these."""
        func = call.func
        last = last_name(func)
        if last.endswith(("autocast", "Precision")):  # a wrapper such as `maybe_autocast`
            return True
        return last in _PRECISION_CALLS or (self._names.qualified(func) or "").rpartition(".")[2] in _PRECISION_CALLS

    def _callee(self, call: ast.Call) -> FunctionNode | None:
        definitions = self._index.definitions
        function = definitions.function_called(call)
        if function is None:
            owner = definitions.class_called(call)
            function = definitions.method(owner, "__init__") if owner is not None else None
        return function


def _has_key(node: ast.Dict, name: str) -> bool:
    return any(isinstance(key, ast.Constant) and key.value == name for key in node.keys)
