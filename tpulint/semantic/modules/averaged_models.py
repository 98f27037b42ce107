"""Averages of models, ``AveragedModel`` and ``EMA``, that share with their model what no training step changes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tpulint.model import Pace
from tpulint.records import NamedTuple
from tpulint.semantic.functions.passed_arguments import values_given
from tpulint.semantic.modules.constant_buffers import constant_buffers, constant_parameters, starting_functions
from tpulint.semantic.modules.frozen_parameters import frozen_by_class, frozen_of_model
from tpulint.semantic.project.other_files import Definition, definition_called, method, with_bases
from tpulint.semantic.syntax.nodes import FUNCTIONS, starts_base
from tpulint.semantic.values.value import is_none

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_RENEWING = "tpulint_runtime.renew_tensors"
_AVERAGED = "torch.optim.swa_utils.AveragedModel"
_MOVING = frozenset({"ema_pytorch.EMA", "ema_pytorch.ema_pytorch.EMA"})
_UPDATES = ("update_parameters", "update")
_PARAMETERS = ("model", "device", "avg_fn", "multi_avg_fn", "use_buffers")
"""Of ``AveragedModel``."""
_LEFT_OUT = frozenset({
    "allow_different_devices", "ignore_names", "ignore_startswith_names", "param_or_buffer_names_no_ema",
})  # fmt: skip
"""Arguments of ``EMA`` by which it keeps what stays as it is elsewhere, or leaves it alone."""
_DEPTH = 2
_PARTS = 200
"""Classes and functions that a model is made of, as far as they are looked at."""
_OF_TORCHVISION = r"torchvision\.models\.(?:swin_transformer\.)?swin_(v2_)?\w+\Z"
"""Models with buffers that stay: where windows lie, in integers, and in the second version in fractions as well."""

_Given = dict[str, "list[tuple[SemanticIndex, ast.expr]]"]


class SharedUpdate(NamedTuple):
    """An update of an average that deletes something of the model by and by."""

    call: ast.Call
    average: ast.expr
    model: str
    """The text of the averaged model at the call."""
    reason: str
    """What of it stays as it is, in words."""
    place: ast.AST | None
    """Where that is seen, if in this file."""


class _Average(NamedTuple):
    """What is known of an average."""

    model: ast.expr | None
    """What it was made of, if that is seen in this file."""
    has_buffers: bool
    """Whether it averages buffers."""
    only_floats: bool


class AveragedModels:
    """Answers about one file."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index
        self.shared = tuple(self._find())

    def _find(self) -> Iterator[SharedUpdate]:
        index = self._index
        if index.is_program and not index.kinds.mentions_device:
            return
        for call, receiver in index.method_calls(*_UPDATES):
            if not self._is_repeated(call) or self._is_renewed(call):
                continue
            averages = self._averages(receiver, call)
            for average in averages:
                model = call.args[0] if call.args else average.model
                found = None if model is None else self._what_stays(model, average, call)
                if found is not None:
                    name = index.text(call.args[0]) if call.args else f"{index.text(receiver)}.model"
                    yield SharedUpdate(call, receiver, name, *found)
                    break

    def _is_repeated(self, call: ast.Call) -> bool:
        """Whether a training makes an update again and again: in its loops, or in a hook of a framework."""
        hooks = [hook.function for hook in self._index.kinds.hooks.all]
        in_hook = self._index.function_of(call) in hooks
        return in_hook or self._index.paces.of(call) in (Pace.STEP, Pace.LOG_INTERVAL, Pace.EPOCH)

    def _is_renewed(self, call: ast.Call) -> bool:
        """Whether the function of an update has the model renewed."""
        function = self._index.function_of(call)
        return any(self._index.function_of(one) is function for one in self._index.calls_to(_RENEWING))

    # ---------------------------------------------------------------- averages

    def _averages(self, receiver: ast.expr, call: ast.Call) -> list[_Average]:
        """What an updated object may be, where it is an average on the device."""
        index = self._index
        method_name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        if index.moves.go_to_host([receiver]):
            return []
        found = []
        calls = [one.node for one in index.moves.creations.of(receiver) if not one.path]
        for made in calls:
            average = self._made(made, method_name) if isinstance(made, ast.Call) else None
            if average is not None:
                found.append(average)
        if not found:
            for owner in index.imported.classes_here(receiver, index):
                average = self._of_class(owner, None) if method_name == _UPDATES[0] else None
                found += [] if average is None else [average]
        return found

    def _made(self, made: ast.Call, method_name: str) -> _Average | None:
        index, name = self._index, self._index.qualified_name(made.func)
        if name in _MOVING and method_name == _UPDATES[1]:
            seen = {keyword.arg for keyword in made.keywords}
            seen |= {name for name, _ in index.call_arguments.unpacked(made, _LEFT_OUT)}
            models = [*made.args[:1], *(item.value for item in made.keywords if item.arg == "model")]
            if not models or isinstance(models[0], ast.Starred) or not seen.isdisjoint(_LEFT_OUT):
                return None
            return _Average(models[0], has_buffers=True, only_floats=True)
        if method_name != _UPDATES[0]:
            return None
        if name == _AVERAGED:
            given = index.call_arguments.of(made, _PARAMETERS)
            return None if given is None else self._as_given(self._here(given))
        called = index.definitions.class_called(made)
        owner = Definition(index, called) if called is not None else definition_called(index, made)
        return self._of_class(owner, made) if owner is not None and owner.is_class else None

    def _of_class(self, owner: Definition, made: ast.Call | None) -> _Average | None:
        """What objects of a class of the project are that is derived from ``AveragedModel``."""
        above = [*with_bases(owner)]
        bases = [one.file.qualified_name(base) for one in above for base in getattr(one.node, "bases", ())]
        if _AVERAGED not in bases or method(owner, _UPDATES[0]) is not None:
            return None
        start = method(owner, "__init__")
        if start is None:
            given = {} if made is None else self._index.call_arguments.of(made, _PARAMETERS)
            return None if given is None else self._as_given(self._here(given))
        assert isinstance(start.node, FUNCTIONS)
        calls = [one for one in start.file.tree.nodes_in(start.node, ast.Call) if starts_base(one)]
        given = start.file.call_arguments.of(calls[0], _PARAMETERS) if len(calls) == 1 else None
        names = [item.arg for item in start.node.args.args[1:]]
        outer = {} if made is None else self._index.call_arguments.of(made, names)
        if given is None or outer is None:
            return None
        seen: _Given = {}
        for name, values in given.items():
            for value in values:
                bindings = start.file.flow.reaching(value) if isinstance(value, ast.Name) else ()
                if len(bindings) == 1 and bindings[0].kind == "parameter":
                    default = bindings[0].value
                    passed = [(self._index, one) for one in outer.get(bindings[0].name, ())]
                    seen.setdefault(name, []).extend(passed or ([] if default is None else [(start.file, default)]))
                else:
                    seen.setdefault(name, []).append((start.file, value))
        return self._as_given(seen)

    def _here(self, given: dict[str, list[ast.expr]]) -> _Given:
        return {name: [(self._index, one) for one in values] for name, values in given.items()}

    def _as_given(self, given: _Given) -> _Average | None:
        """An ``AveragedModel`` by its arguments, each with its file; None where it is kept on the host."""
        devices = given.get("device", ())
        if any(not is_none(one) and file.moves.is_device(one) is None for file, one in devices):
            return None
        buffers = [one for _, one in given.get("use_buffers", ())]
        are_averaged = any(isinstance(one, ast.Constant) and one.value is True for one in buffers)
        models = [one for file, one in given.get("model", ()) if file is self._index]
        return _Average(models[0] if models else None, are_averaged, only_floats=False)

    # ---------------------------------------------------------------- what stays as it is

    def _what_stays(self, model: ast.expr, average: _Average, call: ast.Call) -> tuple[str, ast.AST | None] | None:
        index = self._index
        if index.moves.stay_on_host([model]):
            return None
        for averaged in filter(None, (model, average.model)):
            for freezing in frozen_of_model(index, averaged, call):
                return f"the frozen parameters of `{index.text(freezing.whose)}`", freezing.node
        classes = index.imported.classes_here(model, index)
        seen = [self._kept_by(parts_of([owner]), average) for owner in classes]
        if seen and None not in seen:  # any of several classes that a model may be of
            return seen[0]
        made = [one for one in index.moves.creations.of(model) if not one.path]
        seen = [self._kept_by(parts_of([*_classes_given(index, one.node)]), average) for one in made]
        if seen and None not in seen:
            return seen[0]
        for one in made if average.has_buffers else ():
            name = index.qualified_name(one.node.func) if isinstance(one.node, ast.Call) else None
            known = re.match(_OF_TORCHVISION, name or "")
            if known is not None and (known[1] or not average.only_floats):
                kept = "relative_coords_table" if known[1] else "relative_position_index"
                return f"the buffers `{kept}` of `{index.text(one.node)}`", one.node
        return None

    def _kept_by(self, parts: list[Definition], average: _Average) -> tuple[str, ast.AST | None] | None:
        """What one of the classes keeps as it is that a model and its parts are of."""
        for owner in parts:
            for one in constant_buffers(owner, average.only_floats) if average.has_buffers else ():
                return self._told(owner, f"the buffer `{one.name}`", one.node)
            for one in constant_parameters(owner):
                return self._told(owner, f"the parameter `{one.name}`", one.node, ", which needs no gradient")
            for freezing in frozen_by_class(owner, starting_functions(owner)):
                whose = owner.file.text(freezing.whose)
                return self._told(owner, f"the frozen parameters of `{whose}`", freezing.node)
        return None

    def _told(self, owner: Definition, what: str, node: ast.AST, behind: str = "") -> tuple[str, ast.AST | None]:
        name = getattr(owner.node, "name", "")
        return f"{what} of `{name}`{behind}", node if owner.file is self._index else None


def parts_of(owners: list[Definition]) -> list[Definition]:
    """The classes of the project that modules of these and their parts are of, as far as they are seen."""
    found: dict[ast.AST, Definition] = {}
    waiting = [*owners]
    seen: set[ast.AST] = set()
    while waiting and len(seen) < _PARTS:
        one = waiting.pop(0)
        if one.node in seen:
            continue
        seen.add(one.node)
        functions = [one.node] if isinstance(one.node, FUNCTIONS) else []
        if isinstance(one.node, ast.ClassDef):
            if not one.file.definitions.is_module_class(one.node):
                continue
            found[one.node] = one
            waiting += with_bases(one)
            functions = starting_functions(one)
        for function in functions:
            for call in one.file.tree.nodes_in(function, ast.Call):
                waiting += _made_or_run(one.file, call)
    return [*found.values()]


def _classes_given(index: SemanticIndex, made: ast.AST, depth: int = 0) -> Iterator[Definition]:
    """The classes of what something is made of: ``Diffusion(UNet(8))``, ``nn.Sequential(UNet(8), Head())``."""
    for given in values_given(made) if isinstance(made, ast.Call) else ():
        if isinstance(given, ast.Constant | ast.Starred):
            continue
        classes = index.imported.classes_here(given, index)
        if len(classes) == 1:
            yield from classes
        for one in index.moves.creations.of(given) if depth < _DEPTH else ():
            if not one.path:
                yield from _classes_given(index, one.node, depth + 1)


def _made_or_run(file: SemanticIndex, call: ast.Call) -> Iterator[Definition]:
    own = file.definitions.class_called(call) or file.definitions.function_called(call)
    if own is not None:
        yield Definition(file, own)
    else:
        yield from (one for one in file.imported.all_called(call) if not isinstance(one.node, ast.Module))
