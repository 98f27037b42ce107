"""Functions and classes of the file: which one a call runs, and who calls it."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from functools import cached_property

from tpulint.semantic.functions.callees import Callees
from tpulint.semantic.functions.decorations import Decorations
from tpulint.semantic.functions.passed_arguments import PassedArguments, values_given
from tpulint.semantic.project.imported import Imported
from tpulint.semantic.project.outside import OutsideCall, qualified_in_file
from tpulint.semantic.syntax import torch_facts as facts
from tpulint.semantic.syntax.bindings import Binding, element_at, origin_of
from tpulint.semantic.syntax.flow import Flow
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import FUNCTIONS, FunctionNode, is_of_self, is_super
from tpulint.semantic.syntax.tree import SyntaxTree
from tpulint.semantic.syntax.variables import last_name
from tpulint.semantic.values.own_classes import OwnClasses

_CALL = "__call__"
_APPLY, _FORWARD = "apply", "forward"
_MISSING = ("NotImplementedError", "NotImplemented")


class Definitions:
    """Calls resolved to the definitions of the same file, where it is certain which."""

    def __init__(
        self, tree: SyntaxTree, names: Names, flow: Flow, imported: Imported, outside: Sequence[OutsideCall] = ()
    ) -> None:
        self._tree = tree
        self._names = names
        self._imported = imported
        self.classes = OwnClasses(tree, names, flow, self, outside)
        """Which of its classes a value is an instance of."""
        self.arguments = PassedArguments(tree, names, flow, self)
        """What calls give for parameters."""
        self.decorations = Decorations(tree, names, self)
        """What decorators of the file make of its functions."""
        self._callees = Callees(tree, names, self)
        self._function_names = {function.name for function in tree.functions}
        self._callers: dict[str, list[ast.Call]] | None = None
        self._object_calls: dict[FunctionNode, list[ast.Call]] | None = None
        self._methods: dict[ast.ClassDef, dict[str, FunctionNode]] = {}
        self._properties: dict[str, list[FunctionNode]] | None = None

    def calls_of(self, function: FunctionNode) -> list[ast.Call]:
        """Calls in this file that run the function (for ``__init__``, those that make an instance)."""
        if self._callers is None:
            self._callers = {}
            for call in self._tree.calls:
                if last := last_name(call.func):
                    self._callers.setdefault(last, []).append(call)
        owner = self._tree.class_of(function)
        if function.name == "__init__" and owner is not None:
            return [call for call in self._callers.get(owner.name, ()) if self.class_called(call) is owner]
        if function.name == _CALL:
            return self._calls_of_objects().get(function, [])
        names = self._callees.names_of(function)
        if function.name == _FORWARD and owner is not None and self.has_own_gradient(owner):
            names = {*names, _APPLY, *self._callees.names_applying()}
        found = [call for name in names for call in self._callers.get(name, ()) if self._may_run(call, function)]
        return found if len(names) == 1 else sorted(found, key=self._tree.span)

    def _may_run(self, call: ast.Call, function: FunctionNode) -> bool:
        """Whether a call runs a function, or one without a body that this one replaces: ``self.step(batch)``."""
        called = self.function_called(call)
        if called is None or called is function:
            return called is function
        return called.name == function.name and is_abstract(called) and function in self.overriding(called)

    def _calls_of_objects(self) -> dict[FunctionNode, list[ast.Call]]:
        """Calls of objects, by the method that they run."""
        if self._object_calls is None:
            found = self._object_calls = dict[FunctionNode, list[ast.Call]]()  # what depends on itself adds nothing
            for call in self._tree.calls:
                function = self.function_called(call)
                if function is not None and function.name == _CALL:
                    found.setdefault(function, []).append(call)
        return self._object_calls

    def function_called(self, call: ast.Call) -> FunctionNode | None:
        """The function or method of this file that a call runs, compiled or made by another, where it is sure which."""
        func = call.func
        if isinstance(func, ast.Name):
            bindings = self._names.bindings(func)
            if len(bindings) == 1 and isinstance(bindings[0].node, FUNCTIONS):
                return bindings[0].node
            last = self._defined_last(bindings, func) if len(bindings) > 1 else None
            return last or self._callees.as_given(func) or self._object_called(func) if bindings else None
        if isinstance(func, ast.Attribute):
            own = self.method_named(func) or self._callees.as_given(func) or self._object_called(func)
            return own or self.applied(func)
        if isinstance(func, ast.Subscript):
            return self._object_called(func)
        return self._callees.as_given(func) or self._made_and_called(func) if isinstance(func, ast.Call) else None

    def _made_and_called(self, made: ast.Call) -> FunctionNode | None:
        """What ``Loss()(x, y)`` runs, of a class of this file whose objects are called."""
        owner = self.class_called(made) if _CALL in self._function_names else None
        return None if owner is None else self.method(owner, _CALL)

    def _defined_last(self, bindings: list[Binding], name: ast.Name) -> FunctionNode | None:
        """The function that a name means from its definition on, where all else that it was at the top stands before.

        ``train, test = split(rows)``, and ``def train(model, loader):`` behind it.
        """
        tree = self._tree
        statements = [tree.statement_of(binding.node) for binding in bindings]
        last = max(statements, key=tree.start)
        if not isinstance(last, FUNCTIONS) or last not in (binding.node for binding in bindings):
            return None
        if any(tree.parents[statement] is not tree.module for statement in statements):
            return None
        is_behind = tree.function_of(name) is not None or tree.start(name) > tree.start(last)
        return last if is_behind else None

    def _object_called(self, node: ast.Name | ast.Attribute | ast.Subscript) -> FunctionNode | None:
        """What calling an object runs, where the one class of this file that it is of says so: ``augment(images)``."""
        owners = self.classes.made(node) if _CALL in self._function_names else ()
        return self.method(owners[0], _CALL) if len(owners) == 1 else None

    def applied(self, func: ast.Attribute) -> FunctionNode | None:
        """The ``forward`` that ``Clip.apply(x)`` runs, of a function with a gradient of its own."""
        owner = self._names.class_named(func.value) if func.attr == _APPLY else None
        return None if owner is None else self.forward_applied(owner)

    def forward_applied(self, owner: ast.ClassDef) -> FunctionNode | None:
        """The ``forward`` that ``apply`` of a class runs, where that is a function with a gradient of its own."""
        return self.method(owner, _FORWARD) if self.has_own_gradient(owner) else None

    def has_own_gradient(self, owner: ast.ClassDef) -> bool:
        """Whether a class is a ``torch.autograd.Function``, whose ``backward`` runs in each backward pass."""
        return any(self._names.qualified(base) in facts.GRADIENT_FUNCTIONS for base in owner.bases)

    def takes_context(self, function: FunctionNode) -> bool:
        """Whether a function with a gradient of its own takes a context in front of what ``apply`` is given.

        With a ``setup_context`` beside it, ``forward`` takes none.
        """
        owner = self._tree.class_of(function)
        if owner is None or function.name not in (_FORWARD, "backward") or not self.has_own_gradient(owner):
            return False
        return function.name != _FORWARD or self.method(owner, "setup_context") is None

    def gradient_of(self, forward: FunctionNode) -> FunctionNode | None:
        """The ``backward`` beside the ``forward`` of a function with a gradient of its own."""
        owner = self._tree.class_of(forward) if forward.name == _FORWARD else None
        return None if owner is None or not self.has_own_gradient(owner) else self.method(owner, "backward")

    def function_run(self, call: ast.Call) -> FunctionNode | None:
        """The function that a call runs, its arguments aside: through partials, lambdas and parameters as well."""
        return self.function_called(call) or self._callees.run_by(call.func) or self.applied_to_parts(call)

    def applied_to_parts(self, call: ast.Call) -> FunctionNode | None:
        """What ``net.apply(clip)`` runs with each part of a module: a function, or what calling an object runs."""
        func, given = call.func, call.args[0] if len(call.args) == 1 and not call.keywords else None
        if not isinstance(func, ast.Attribute) or func.attr != _APPLY or given is None:
            return None
        if isinstance(given, ast.Call):
            return self._made_and_called(given)
        if not isinstance(given, ast.Name | ast.Attribute):
            return None
        return self._callees.run_by(given) or self._object_called(given)

    def functions_meant(self, node: ast.expr) -> list[FunctionNode]:
        """The function of this file that an expression stands for, through partials and parameters as well.

        Two of one name that stand in the branches of an ``if`` are both meant.
        """
        one = self._callees.run_by(node)
        several = self._callees.several(node) if one is None and isinstance(node, ast.Name | ast.Attribute) else []
        return several if one is None else [one]

    def is_compiled_for_xla(self, mention: ast.expr) -> bool:
        """Whether a mention of a function compiles it: a decorated name, ``torch_xla.compile(step)``."""
        holder = self._tree.parent(mention)
        return self._callees.is_compiled_for_xla(holder if isinstance(holder, ast.Call) else mention)

    def is_compiled_step(self, call: ast.Call) -> bool:
        """Whether a call runs what ``torch_xla.compile`` made, which ends a step."""
        return self._callees.is_compiled_for_xla(call.func)

    def method_named(self, node: ast.Attribute) -> FunctionNode | None:
        """The method of a class of this file that ``self.method`` or ``variable.method`` is."""
        if node.attr not in self._function_names:
            return None  # most attributes: nobody has to find out what the variable is
        if isinstance(node.value, ast.Name):
            owner, within = self._tree.class_of(node), self._tree.function_of(node)
            arguments = within.args.args if within is not None else []
            if owner is not None and arguments and arguments[0].arg == node.value.id:
                return self.method(owner, node.attr) or self._left_to_derived(owner, node.attr)
        if is_super(node.value):
            owner = self._tree.class_of(node)
            return None if owner is None else self._method_above(owner, node.attr)
        if not isinstance(node.value, ast.Call | ast.Name | ast.Attribute | ast.Subscript):
            return None
        # `Solver(f, y).integrate(end)`; a method that several classes have from one of them is the same for all.
        found = {self.method(owner, node.attr) for owner in self.classes.made(node.value)}
        return found.pop() if len(found) == 1 else None

    def functions_of_several(self, call: ast.Call) -> list[FunctionNode]:
        """The functions of which a call runs one: chosen in branches, or of an object of one of several classes."""
        func = call.func
        if isinstance(func, ast.Name | ast.Subscript | ast.IfExp | ast.Call):
            return self._callees.several(func)
        if not isinstance(func, ast.Attribute) or not isinstance(func.value, ast.Name | ast.Attribute | ast.Subscript):
            return []
        if func.attr in self._function_names:
            owners = self.classes.made(func.value)
            found = (self.method(owner, func.attr) for owner in owners) if len(owners) > 1 else ()
            several = list(dict.fromkeys(method for method in found if method is not None))
            several = several or self._left_to_several(func)
            if several:
                return several
        return self._callees.several(func) if func.attr in self._attributes_kept else []

    @cached_property
    def _attributes_kept(self) -> set[str]:
        """Attributes that are given a function or method of this file by its name: ``self.step = self.long_step``.

        So are those that keep a parameter, where calls give such: ``self.act = act`` and ``Net(relu)``.
        """
        given = (item for call in self._tree.calls for item in values_given(call))
        are_given = any(last_name(item) in self._function_names for item in given)
        found = set()
        for node in self._tree.binders:
            if not isinstance(node, ast.Attribute):
                continue
            kind, _, value, path = origin_of(node, self._tree)
            value = element_at(value, path) if kind == "assign" else None
            value = value.body if isinstance(value, ast.IfExp) else value
            if not isinstance(value, ast.Name | ast.Attribute):
                continue
            if last_name(value) in self._function_names or (are_given and self._is_parameter(value)):
                found.add(node.attr)
        return found

    def _is_parameter(self, node: ast.expr) -> bool:
        bindings = self._names.bindings(node) if isinstance(node, ast.Name) else []
        return any(binding.kind == "parameter" for binding in bindings)

    def class_called(self, call: ast.Call) -> ast.ClassDef | None:
        """The class of this file that a call makes an instance of."""
        if isinstance(call.func, ast.Name):
            bindings = self._names.bindings(call.func)
            if len(bindings) == 1 and isinstance(bindings[0].node, ast.ClassDef):
                return bindings[0].node
        return None

    def wrapped(self, call: ast.Call) -> ast.expr | None:
        """The module of which a call takes the wrapper off: ``net`` of ``unwrap(net)``."""
        return self._imported.unwrapped_models.wrapped(call)

    def made_by(self, call: ast.Call) -> FunctionNode | None:
        """The ``__init__`` that a call runs which makes an instance of a class of this file."""
        made = self.class_called(call)
        return None if made is None else self.method(made, "__init__")

    def named(self, name: str) -> list[FunctionNode]:
        """Functions at the top of the file, or ``Class.method``, by name; more than one where it is defined anew."""
        last = name.rpartition(".")[2]
        found = []
        for function in self._tree.functions:
            if function.name == last and qualified_in_file(self._tree, function) == name:
                found.append(function)
        return found

    def returned_by(self, function: FunctionNode) -> list[ast.expr]:
        """What a function returns; empty when some way through it returns nothing."""
        returns = self._tree.nodes_in(function, ast.Return, functions=False)
        values = [node.value for node in returns if node.value is not None]
        return values if len(values) == len(returns) else []

    def method(self, owner: ast.ClassDef, name: str) -> FunctionNode | None:
        """The method of a class of this file, by name; bases of this file are searched too."""
        own = self._methods.get(owner)
        if own is None:
            # Of two that are called the same the first.
            own = {item.name: item for item in reversed(owner.body) if isinstance(item, FUNCTIONS)}
            self._methods[owner] = own
        return own[name] if name in own else self._method_above(owner, name)

    def _method_above(self, owner: ast.ClassDef, name: str) -> FunctionNode | None:
        """The method that a class has from the first of its bases that is of this file."""
        for base in owner.bases:
            above = self._names.class_named(base)
            found = None if above is None or above is owner else self.method(above, name)
            if found is not None:
                return found
        return None

    def properties(self, name: str) -> list[FunctionNode]:
        """What reading an attribute of this name may run: the properties of this file's classes that are called so."""
        if self._properties is None:
            self._properties = {}
            for owner in self._tree.classes if "property" in self._tree.source.text else ():
                for item in owner.body:
                    if isinstance(item, FUNCTIONS) and is_property(item):
                        self._properties.setdefault(item.name, []).append(item)
        return self._properties.get(name, [])

    def overriding(self, method: FunctionNode) -> list[FunctionNode]:
        """Methods of this file by which classes that are derived from a method's own class replace it."""
        owner = self._tree.class_of(method)
        return [] if owner is None else self._methods_of_derived(owner, method.name)

    def _methods_of_derived(self, owner: ast.ClassDef, name: str) -> list[FunctionNode]:
        owners, found = [owner], list[FunctionNode]()
        for base in owners:
            for other in self._tree.classes:
                if other not in owners and any(isinstance(b, ast.Name) and b.id == base.name for b in other.bases):
                    owners.append(other)
                    found += [item for item in other.body if isinstance(item, FUNCTIONS) and item.name == name]
        return found

    def _left_to_derived(self, owner: ast.ClassDef, name: str) -> FunctionNode | None:
        """The one method by which derived classes have what a class itself only calls: ``self.optimize()``."""
        found = self._methods_of_derived(owner, name)
        return found[0] if len(found) == 1 else None

    def _left_to_several(self, func: ast.Attribute) -> list[FunctionNode]:
        """The methods by which derived classes have what a class only calls, each its own: ``self.prepare(x)``."""
        owner = self._tree.class_of(func) if is_of_self(func) else None
        return [] if owner is None or self.method(owner, func.attr) else self._methods_of_derived(owner, func.attr)

    def is_module_class(self, owner: ast.ClassDef, depth: int = 0) -> bool:
        """Whether a class of this file is an nn.Module."""
        for base in owner.bases:
            name = self._names.qualified(base)
            if name is not None and (
                name in facts.MODULE_BASES
                or (name.startswith("torch.nn.") and name[9:10].isupper())
                or re.fullmatch(facts.MODULE_CLASSES_OF_LIBRARIES, name)
            ):
                return True
            if depth >= 5:
                continue
            if isinstance(base, ast.Name):
                bindings = self._names.bindings(base)
                if len(bindings) == 1 and isinstance(bindings[0].node, ast.ClassDef) and bindings[0].node is not owner:
                    if self.is_module_class(bindings[0].node, depth + 1):
                        return True
                    continue
            other = self._imported.definition(base)
            if other is None or not isinstance(other.node, ast.ClassDef):
                continue
            if other.file.definitions.is_module_class(other.node, depth + 1):
                return True
        return False

    def is_of_main(self, node: ast.AST) -> bool:
        """Whether code runs only where its file is the program: it stands below ``if __name__ == "__main__"``."""
        top = self._tree.child_towards(self._tree.module, node)
        if not isinstance(top, ast.If) or not self._tree.in_body(top, self._tree.child_towards(top, node) or node):
            return False
        return any(isinstance(part, ast.Name) and part.id == "__name__" for part in ast.walk(top.test))


def is_property(function: FunctionNode, kept: bool = True) -> bool:
    """Whether a method is read like an attribute; ``kept`` for those, too, that run once and keep what they give."""
    names = ("property", "cached_property") if kept else ("property",)
    return any(last_name(item) in names for item in function.decorator_list)


def is_abstract(function: FunctionNode) -> bool:
    """Whether a method does nothing, or says that it is not implemented."""
    last = function.body[-1]
    says = isinstance(last, ast.Raise | ast.Return)  # `return NotImplementedError`, too
    said = last.exc if isinstance(last, ast.Raise) else last.value if isinstance(last, ast.Expr | ast.Return) else None
    name = said.func if isinstance(said, ast.Call) else said
    missing = says and isinstance(name, ast.Name) and name.id in _MISSING
    does_nothing = isinstance(last, ast.Pass) or (isinstance(said, ast.Constant) and not isinstance(last, ast.Return))
    return len(function.body) < 3 and (missing or does_nothing)
