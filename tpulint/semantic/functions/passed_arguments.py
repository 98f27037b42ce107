"""What calls in the file give for the parameters of its functions."""

from __future__ import annotations

import ast

from tpulint.semantic.syntax.flow import Flow
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import FunctionNode, is_super
from tpulint.semantic.syntax.tree import SyntaxTree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic.functions.definitions import Definitions

CALLS_LOOKED_AT = 8
_PARTIAL = "functools.partial"


class PassedArguments:
    """Answers about one file, whose ``Definitions`` ask; what other files give is in their ``OutsideCall``."""

    def __init__(self, tree: SyntaxTree, names: Names, flow: Flow, definitions: Definitions) -> None:
        self._tree = tree
        self._names = names
        self._flow = flow
        self._definitions = definitions
        self._chosen: dict[FunctionNode, list[ast.Call]] | None = None
        self._of_objects: dict[ast.ClassDef | None, list[ast.Call]] | None = None
        self._of_partials: dict[FunctionNode, list[tuple[ast.Call, int]]] | None = None
        """Calls of what ``partial`` makes of a function, with how many arguments that has been given before."""

    def of(self, function: FunctionNode, name: str) -> list[ast.expr]:
        """Expressions that module-local calls pass for a parameter, a few calls at most."""
        return self._passed(self._definitions.calls_of(function), function, name)

    def of_call(self, call: ast.Call, function: FunctionNode, name: str) -> list[ast.expr]:
        """Expressions that one call passes for a parameter."""
        return self._passed([call], function, name)

    def of_derived(self, function: FunctionNode, name: str) -> list[ast.expr]:
        """Expressions that classes of this file which are derived from a function's own hand to its ``__init__``."""
        owner = self._tree.class_of(function)
        if function.name != "__init__" or owner is None or "super" not in self._tree.source.text:
            return []
        calls = (node for node in self._tree.attributes_called("__init__") if is_super(node.value))
        starting = [call for node in calls if isinstance(call := self._tree.parents[node], ast.Call)]
        return self._passed([call for call in starting if self._starts(call, owner)], function, name)

    def of_object(self, function: FunctionNode, name: str) -> list[ast.expr]:
        """Expressions that calls of a module pass for a parameter of its forward pass: ``self.cell(x, x.mean())``."""
        return self._passed(self.calls_of_object(function), function, name)

    def through_partials(self, function: FunctionNode, name: str) -> list[ast.expr]:
        """Expressions that calls of a ``partial`` pass: ``back = partial(go_back, scaler)`` and ``back(loss)``."""
        if self._of_partials is None:
            self._of_partials = {}
            for call in self._tree.calls if "partial" in self._tree.source.text else ():
                bindings = self._flow.reaching(call.func) if isinstance(call.func, ast.Name) else ()
                made = bindings[0].value if len(bindings) == 1 and bindings[0].kind == "assign" else None
                if isinstance(made, ast.Call) and made.args and self._names.qualified(made.func) == _PARTIAL:
                    for run in self._definitions.functions_meant(made.args[0]):
                        self._of_partials.setdefault(run, []).append((call, len(made.args) - 1))
        skipped = int(self._tree.takes_object(function))
        names = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)][skipped:]
        calls = self._of_partials.get(function, [])[:CALLS_LOOKED_AT]
        places = [(call, names.index(name) - given if name in names else -1) for call, given in calls]
        found = [call.args[at] for call, at in places if 0 <= at < len(call.args)]
        return found + [item.value for call, _ in calls for item in call.keywords if item.arg == name]

    def _class_called(self, call: ast.Call) -> ast.ClassDef | None:
        """The class of this file that a variable which is called is an object of."""
        func = call.func
        return self._definitions.classes.one_of_variable(func) if isinstance(func, ast.Name | ast.Attribute) else None

    def when_chosen(self, function: FunctionNode, name: str) -> list[ast.expr]:
        """Expressions that calls pass for a parameter which run one of several functions: ``loss_fn(model, x)``."""
        if self._chosen is None:
            self._chosen = {}
            for call in self._tree.calls:
                if self._definitions.function_called(call) is None:
                    several = self._definitions.functions_of_several(call)
                    for one in (item for item in several if fits(call, item, self._tree.takes_object(item))):
                        self._chosen.setdefault(one, []).append(call)
        return self._passed(self._chosen.get(function, []), function, name)

    def unpacked(self, function: FunctionNode, name: str) -> list[tuple[ast.expr, int | None]]:
        """What module-local calls unpack into a parameter, with the place in it, or give behind: ``f(*pair, last)``."""
        is_method = self._tree.takes_object(function)
        calls = self._definitions.calls_of(function)[:CALLS_LOOKED_AT]
        given = [part for call in calls for part in given_around(call, function, is_method)]
        return [(item, at) for parameter, item, at in given if parameter == name]

    def calls_of_object(self, function: FunctionNode) -> list[ast.Call]:
        """Calls of the objects of the class around a forward pass, which they run."""
        if self._of_objects is None:
            self._of_objects = {}
            for call in self._tree.calls:
                owner = self._class_called(call)
                if owner is not None:
                    self._of_objects.setdefault(owner, []).append(call)
        return self._of_objects.get(self._tree.class_of(function), [])

    def _starts(self, call: ast.Call, owner: ast.ClassDef) -> bool:
        """Whether a call is ``super().__init__(...)`` of a class of this file that is derived from another."""
        derived = self._tree.class_of(call)
        return derived is not None and any(self._names.class_named(base) is owner for base in derived.bases[:1])

    def _passed(self, calls: list[ast.Call], function: FunctionNode, name: str) -> list[ast.expr]:
        positions = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
        is_led = self._tree.takes_object(function) or self._definitions.takes_context(function)
        offset = 1 if is_led else 0
        result: list[ast.expr] = []
        for call in calls[:CALLS_LOOKED_AT]:
            for keyword in call.keywords:
                if keyword.arg == name:
                    result.append(keyword.value)
                elif keyword.arg is None and isinstance(keyword.value, ast.Name):
                    result.extend(self._in_dict(keyword.value, name))
            if name in positions:
                at = positions.index(name) - offset
                if 0 <= at < len(call.args) and not any(isinstance(a, ast.Starred) for a in call.args[: at + 1]):
                    result.append(call.args[at])
        return result

    def _in_dict(self, name: ast.Name, key: str) -> list[ast.expr]:
        """What ``**settings`` has under a key, which stands in a dictionary or is given to ``dict``."""
        bindings = self._flow.made(name)
        made = bindings[0].value if len(bindings) == 1 and bindings[0].kind == "assign" else None
        found: list[ast.expr] = []
        if isinstance(made, ast.Dict):
            pairs = zip(made.keys, made.values, strict=True)
            found = [value for at, value in pairs if isinstance(at, ast.Constant) and at.value == key]
        elif isinstance(made, ast.Call) and self._names.qualified(made.func) == "builtins.dict":
            found = [item.value for item in made.keywords if item.arg == key]
        return found[-1:]


def values_given(call: ast.Call) -> list[ast.expr]:
    """What a call gives, whatever the parameters are called."""
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def fits(call: ast.Call, function: FunctionNode, is_method: bool) -> bool:
    """Whether a function can be called so.

    Not so ``self.model.train()``, where the step that is called ``train`` has to be given a batch.
    """
    if any(isinstance(item, ast.Starred) for item in call.args) or any(k.arg is None for k in call.keywords):
        return True
    parameters = [*function.args.posonlyargs, *function.args.args][int(is_method) :]
    given = len(call.args) + len(call.keywords)
    if function.args.vararg is None and len(call.args) > len(parameters):
        return False
    names = {one.arg for one in (*parameters, *function.args.kwonlyargs)}
    if function.args.kwarg is None and any(k.arg not in names for k in call.keywords):
        return False
    twice = {one.arg for one in parameters[: len(call.args)]}.intersection(k.arg for k in call.keywords)
    return not twice and given >= len(parameters) - len(function.args.defaults)


def arguments_given(call: ast.Call, function: FunctionNode, is_method: bool) -> list[tuple[str, ast.expr]]:
    """Parameters of a function with what a call gives for them, as far as that can be told."""
    names = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)][int(is_method) :]
    given: list[tuple[str, ast.expr]] = []
    for name, item in zip(names, call.args, strict=False):
        if isinstance(item, ast.Starred):
            break
        given.append((name, item))
    given.extend((keyword.arg, keyword.value) for keyword in call.keywords if keyword.arg is not None)
    return given


def given_around(call: ast.Call, function: FunctionNode, is_method: bool) -> list[tuple[str, ast.expr, int | None]]:
    """Parameters with what a call unpacks into them, and with what stands behind it: ``f(first, *pair, last)``.

    With the place in what is unpacked. What stands behind is taken by the last parameters, as many as there are.
    """
    starred = [(at, item.value) for at, item in enumerate(call.args) if isinstance(item, ast.Starred)]
    names = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)][int(is_method) :]
    if len(starred) != 1 or call.keywords:
        return []
    first, whole = starred[0]
    behind = call.args[first + 1 :]
    end = len(names) - len(behind)
    found: list[tuple[str, ast.expr, int | None]] = [
        (name, whole, at) for at, name in enumerate(names[first : max(end, 0)])
    ]
    if end >= 0 and function.args.vararg is None:
        found += [(name, item, None) for name, item in zip(names[end:], behind, strict=True)]
    return found


def named_beside(call: ast.Call, function: FunctionNode) -> list[tuple[ast.expr, str | None]]:
    """What a call gives by names that are no parameters of a function, and the name; None for a dictionary of such."""
    own = parameters_of(function)
    return [(item.value, item.arg) for item in call.keywords if item.arg not in own]


def parameters_of(function: FunctionNode) -> set[str]:
    """The names of the parameters of a function, ``*args`` and ``**kwargs`` left out."""
    arguments = (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
    return {argument.arg for argument in arguments}


def defaults_of(function: FunctionNode) -> dict[str, ast.expr]:
    """What parameters are that a call leaves out, by their names."""
    names = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
    values = function.args.defaults
    found = dict(zip(names[len(names) - len(values) :], values, strict=True))
    for argument, value in zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True):
        if value is not None:
            found[argument.arg] = value
    return found
