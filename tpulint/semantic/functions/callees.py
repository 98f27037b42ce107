"""Which function of the file an expression stands for: its own name, a compiled one, a parameter."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from tpulint.semantic.functions.methods_by_name import methods_by_name
from tpulint.semantic.functions.passed_arguments import CALLS_LOOKED_AT
from tpulint.semantic.syntax.bindings import Binding, element_of
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import FUNCTIONS, FunctionNode, is_of_self
from tpulint.semantic.syntax.tree import SyntaxTree
from tpulint.semantic.syntax.variables import last_name
from tpulint.semantic.values.module_lists import container_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic.functions.definitions import Definitions

XLA_COMPILE = "torch_xla.compile"
_COMPILERS = ("torch.compile", XLA_COMPILE)
_PARTIAL = "functools.partial"
_DEPTH = 5


class Callees:
    """Follows names to functions, where all that a name may stand for comes down to one function."""

    def __init__(self, tree: SyntaxTree, names: Names, definitions: Definitions) -> None:
        self._tree = tree
        self._names = names
        self._definitions = definitions
        text = tree.source.text
        self._has_compiled = "compile" in text
        """Whether anything may be compiled: most files are spared the search."""
        self._has_compiled_for_xla = self._has_compiled and "torch_xla" in text
        self._has_applied = ".apply" in text and "Function" in text
        """Whether a variable may hold what applies a function with a gradient of its own."""
        self._aliases: dict[str, set[str]] | None = None
        self._asked_for: set[ast.Call] = set()
        """Calls whose function is being looked for: one that depends on itself has none."""

    @cached_property
    def _makers(self) -> set[str]:
        """Names of functions of this file that return one which is defined in them: few files have any."""
        inner = ((function, self._tree.function_of(function)) for function in self._tree.functions)
        return {
            outer.name
            for function, outer in inner
            if outer is not None
            and any(
                isinstance(node, ast.Return) and isinstance(node.value, ast.Name) and node.value.id == function.name
                for node in self._tree.nodes_in(outer, ast.Return, functions=False)
            )
        }

    def as_given(self, node: ast.expr) -> FunctionNode | None:
        """The function that an expression stands for, compiled or made: it is called with its own arguments."""
        may_be_other = self._has_compiled or self._has_applied or self._makers
        return self._follow(node, (), loosely=False) if may_be_other and self._may_name(node) else None

    def run_by(self, node: ast.expr) -> FunctionNode | None:
        """The function that a call of the expression runs, through partials, lambdas and parameters as well."""
        return self._follow(node, (), loosely=True) if self._may_name(node) else None

    def several(self, node: ast.expr) -> list[FunctionNode]:
        """The functions of which an expression is one: set in branches, given by calls, or chosen by a name.

        None where it may be another.
        """
        return list(dict.fromkeys(self._any_of(node, ())))

    def is_compiled_for_xla(self, node: ast.expr) -> bool:
        """Whether an expression is what ``torch_xla.compile`` makes of something, or ``torch.compile`` of a step.

        Each call of it ends a step.
        """
        if not self._has_compiled_for_xla:
            return False
        if isinstance(node, ast.Call):
            return self._compiler(node) == XLA_COMPILE
        for binding in self._bindings(node):
            if isinstance(binding.node, FUNCTIONS):
                for decorator in binding.node.decorator_list:
                    target = decorator.func if isinstance(decorator, ast.Call) else decorator
                    if self._names.qualified(target) == XLA_COMPILE:
                        return True
            elif binding.kind == "assign" and not binding.path and isinstance(binding.value, ast.Call):
                found = self._compiler(binding.value)
                if found == XLA_COMPILE or (found is not None and self._is_step_for_xla(binding.value)):
                    return True
        return False

    def _is_step_for_xla(self, compiled: ast.Call) -> bool:
        """Whether ``torch.compile(fn, backend="openxla")`` makes a whole step, whose parts run as graphs of their own.

        A model alone, compiled so, leaves the update to the next step.
        """
        backend = next((item.value for item in compiled.keywords if item.arg == "backend"), None)
        if backend is None or (isinstance(backend, ast.Constant) and backend.value != "openxla"):
            return False
        given = self._given(compiled)
        function = None if given is None else self._follow(given, (), loosely=False)
        return function is not None and any(
            isinstance(node, ast.Attribute) and node.attr == "backward" for node in self._tree.inside(function)
        )

    def names_of(self, function: FunctionNode) -> set[str]:
        """Last parts of the names under which a function is called: of compiled and of made ones, too."""
        if not (self._has_compiled or self._makers):
            return {function.name}
        if self._aliases is None:
            self._aliases = {}
            for call in self._tree.calls:
                parent = self._tree.parents.get(call)
                if not isinstance(parent, ast.Assign):
                    continue
                for name in self._names_wrapped(call):
                    self._aliases.setdefault(name, set()).update(filter(None, map(last_name, parent.targets)))
        return {function.name, *self._aliases.get(function.name, ())}

    def names_applying(self) -> set[str]:
        """Last parts of the names that are given the ``apply`` of a class: ``self.act = Binary.apply``."""
        taken = self._tree.attributes_called("apply") if self._has_applied else ()
        statements = [(node, self._tree.parents.get(node)) for node in taken]
        given = [one.targets for node, one in statements if isinstance(one, ast.Assign) and one.value is node]
        return {name for targets in given for target in targets if (name := last_name(target))}

    def _names_wrapped(self, call: ast.Call) -> Iterator[str]:
        """Last parts of the names of functions of which a call may make one to be called with the same arguments."""
        given = self._given(call) if self._compiler(call) is not None else None
        if given is not None:
            yield last_name(given)
        elif last_name(call.func) in self._makers and (maker := self._definitions.function_called(call)) is not None:
            yield from map(last_name, self._definitions.returned_by(maker))

    # ---------------------------------------------------------------- following

    def _may_name(self, node: ast.expr) -> bool:
        """Whether there is anything to follow: of attributes, those of ``self`` can be given a function."""
        return not isinstance(node, ast.Attribute) or is_of_self(node)

    def _follow(self, node: ast.expr, seen: tuple[ast.AST, ...], *, loosely: bool) -> FunctionNode | None:
        if len(seen) > _DEPTH:
            return None
        if isinstance(node, ast.Name | ast.Attribute):
            method = self._definitions.method_named(node) if isinstance(node, ast.Attribute) else None
            if method is None and self._has_applied and isinstance(node, ast.Attribute):
                method = self._definitions.applied(node)  # `clip = Clip.apply`
            return method or self._bound(self._bindings(node), seen, loosely)
        if isinstance(node, ast.Call):
            wraps = self._compiler(node) is not None or (loosely and self._names.qualified(node.func) == _PARTIAL)
            given = self._given(node) if wraps else None
            if given is None:
                return None if wraps else self._made(node, (*seen, node), loosely)
            return self._follow(given, (*seen, node), loosely=loosely)
        if loosely and isinstance(node, ast.Lambda) and isinstance(node.body, ast.Call):
            return self._follow(node.body.func, (*seen, node), loosely=True)
        return None

    def _made(self, call: ast.Call, seen: tuple[ast.AST, ...], loosely: bool) -> FunctionNode | None:
        """The function that a call of a function of this file makes: ``step = make_step(model)``."""
        if call in self._asked_for:
            return None  # `model = model(config)`
        self._asked_for.add(call)
        try:
            maker = self._definitions.function_called(call)
        finally:
            self._asked_for.discard(call)
        if maker is None:
            return None
        found = {self._follow(value, seen, loosely=loosely) for value in self._definitions.returned_by(maker)}
        return found.pop() if len(found) == 1 else None

    def _bound(self, bindings: list[Binding], seen: tuple[ast.AST, ...], loosely: bool) -> FunctionNode | None:
        """The one function that all of these bindings give."""
        found: FunctionNode | None = None
        for binding in bindings:
            if binding.node in seen:
                continue  # step = torch.compile(step)
            function: FunctionNode | None = None
            within = (*seen, binding.node)
            if isinstance(binding.node, FUNCTIONS):
                function = binding.node
            elif binding.kind == "assign" and (assigned := element_of(binding)) is not None:
                function = self._follow(assigned, within, loosely=loosely)
            elif binding.kind == "parameter" and loosely:
                function = self._passed(binding, within)
            if function is None or found not in (None, function):
                return None
            found = function
        return found

    def _passed(self, binding: Binding, seen: tuple[ast.AST, ...]) -> FunctionNode | None:
        """The one function that every call in the file passes for a parameter, or has by leaving it out."""
        owner = self._tree.function_of(binding.node)
        if owner is None:
            return None
        decorated = self._definitions.decorations.given_for(binding.node)
        if decorated:
            return decorated[0] if len(decorated) == 1 else None
        calls, passed = self._definitions.calls_of(owner), self._definitions.arguments.of(owner, binding.name)
        default = self._left_out(binding, owner)
        if default is None and len(passed) != len(calls):
            return None
        found = {self._follow(value, seen, loosely=True) for value in (*passed, *([default] if default else []))}
        return found.pop() if len(found) == 1 else None

    def _left_out(self, binding: Binding, owner: FunctionNode) -> ast.expr | None:
        """The default of a parameter, where a call in the file leaves it, or there is no call that could give it."""
        calls, passed = self._definitions.calls_of(owner), self._definitions.arguments.of(owner, binding.name)
        is_left = len(passed) < min(len(calls), CALLS_LOOKED_AT) or not calls
        hides = any(isinstance(item, ast.Starred) for call in calls for item in call.args) or any(
            keyword.arg is None for call in calls for keyword in call.keywords
        )
        return binding.value if is_left and not hides else None

    def _any_of(self, node: ast.expr, seen: tuple[ast.AST, ...]) -> list[FunctionNode]:
        """Every function that an expression may stand for; empty where one of the ways to it gives something else."""
        if len(seen) > _DEPTH:
            return []
        if isinstance(node, ast.Call):
            given = self._given(node) if self._names.qualified(node.func) == _PARTIAL and len(node.args) == 1 else None
            if given is None:
                return methods_by_name(self._tree, self._names, node)
            return self._any_of(given, (*seen, node))  # it is called with its own arguments
        if isinstance(node, ast.Subscript):
            return self._any_entry(node, (*seen, node))
        if not isinstance(node, ast.Name | ast.Attribute | ast.IfExp):
            return []
        method = self._definitions.method_named(node) if isinstance(node, ast.Attribute) else None
        if method is not None:
            return [method]
        if isinstance(node, ast.IfExp):
            parts = [self._any_of(part, (*seen, node)) for part in (node.body, node.orelse)]
        else:
            parts = [self._any_bound(binding, seen) for binding in self._bindings(node)]
        return [function for part in parts for function in part] if all(parts) else []

    def _any_bound(self, binding: Binding, seen: tuple[ast.AST, ...]) -> list[FunctionNode]:
        if isinstance(binding.node, FUNCTIONS):
            return [binding.node]
        within = (*seen, binding.node)
        if binding.kind == "assign" and (assigned := element_of(binding)) is not None:
            return self._any_of(assigned, within)
        if binding.kind == "loop" and binding.value is not None:
            listed = container_of(self._names, binding.value, binding.path)
            return [] if listed is None else self._any_in(listed, within)
        owner = self._tree.function_of(binding.node) if binding.kind == "parameter" else None
        decorated = self._definitions.decorations.given_for(binding.node) if owner is not None else []
        given = [] if owner is None else self._definitions.arguments.of(owner, binding.name)
        if decorated and not given:
            return decorated
        parts = [self._any_of(value, within) for value in given]
        default = None if owner is None else self._left_out(binding, owner)
        left = [] if default is None else self._any_of(default, within)
        return [*(function for part in parts for function in part), *left] if all(parts) else []

    def _any_entry(self, node: ast.Subscript, seen: tuple[ast.AST, ...]) -> list[FunctionNode]:
        """Every function in a dictionary that is written out, ``LOSSES[name]``, here or in a variable."""
        whole: ast.expr | None = node.value
        if isinstance(whole, ast.Name | ast.Attribute):
            bindings = self._bindings(whole)
            whole = bindings[0].value if len(bindings) == 1 and not bindings[0].path else None
        if not isinstance(whole, ast.Dict) or isinstance(node.slice, ast.Constant):
            return []
        parts = [self._any_of(value, seen) for value in whole.values]
        return [function for part in parts for function in part] if all(parts) else []

    def _any_in(self, node: ast.expr, seen: tuple[ast.AST, ...]) -> list[FunctionNode]:
        """Every function in a list that is written out, ``[self.plain] * count + [self.hard]``, or in a variable."""
        if len(seen) > _DEPTH:
            return []
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            return self._any_in(node.left, seen)
        parts: list[list[FunctionNode]] = []
        if isinstance(node, ast.List | ast.Tuple):
            parts = [self._any_of(item, seen) for item in node.elts]
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            parts = [self._any_in(side, seen) for side in (node.left, node.right)]
        elif isinstance(node, ast.Name):
            bindings = self._names.bindings(node)
            plain = [one.value for one in bindings if one.kind == "assign" and not one.path and one.value is not None]
            if len(plain) == len(bindings):
                parts = [self._any_in(value, (*seen, value)) for value in plain]
        return [function for part in parts for function in part] if all(parts) else []

    def _bindings(self, node: ast.expr) -> list[Binding]:
        if isinstance(node, ast.Name):
            return self._names.bindings(node)
        if is_of_self(node):
            owner = self._tree.class_of(node)
            return [] if owner is None else self._names.attribute_bindings(owner, node.attr)
        return list(self._definitions.classes.bindings_of_part(node)) if isinstance(node, ast.Attribute) else []

    def _compiler(self, call: ast.Call) -> str | None:
        """``torch.compile(f)``, ``torch.compile(backend="openxla")(f)``: the compiler's name."""
        func = call.func.func if isinstance(call.func, ast.Call) and not call.func.args else call.func
        name = self._names.qualified(func)
        return name if name in _COMPILERS else None

    def _given(self, call: ast.Call) -> ast.expr | None:
        """What a call wraps."""
        if call.args:
            return None if isinstance(call.args[0], ast.Starred) else call.args[0]
        return next((keyword.value for keyword in call.keywords if keyword.arg in ("model", "f", "func")), None)
