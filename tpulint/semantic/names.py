"""Scopes, bindings and qualified names: what a name in the source stands for."""

from __future__ import annotations

import ast
import builtins
import re

from tpulint.semantic.torch_facts import CANONICAL_NAMES
from tpulint.semantic.tree import FUNCTIONS, LOOPS, SCOPES, SyntaxTree

_BUILTINS = frozenset(dir(builtins))
_SCOPE_CLASSES = frozenset(SCOPES)
_STARRED = {"torch": "torch", "nn": "torch.nn", "F": "torch.nn.functional", "optim": "torch.optim", "np": "numpy"}
"""What everybody means by names that a file reads and does not bind, where ``from module import *`` brings names in."""
_ASSIGNMENTS = (ast.Assign, ast.AnnAssign, ast.NamedExpr)
_NAME_FIELDS = {ast.arg: "arg", ast.MatchMapping: "rest"}
_DEFINED_KINDS = {
    ast.alias: "import", ast.FunctionDef: "function", ast.AsyncFunctionDef: "function", ast.ClassDef: "class",
    ast.ExceptHandler: "handler",
}  # fmt: skip


class Binding:
    """One place that gives a name a value."""

    __slots__ = ("kind", "name", "node", "path", "scope", "statement", "value")

    def __init__(
        self,
        name: str,
        kind: str,
        node: ast.AST,
        statement: ast.AST,
        value: ast.expr | None,
        path: tuple[int, ...],
        scope: Scope,
    ) -> None:
        self.name = name
        self.kind = kind
        """assign, augment, annotate, loop, with, import, parameter, function, class, delete, handler, match."""
        self.node = node
        """The node that carries the name: a Name, an alias, an arg, a definition."""
        self.statement = statement
        self.value = value
        """Expression the value is taken from; of a loop the iterable, of a parameter its default."""
        self.path = path
        """How the value is unpacked: ``a, (b, c) = v`` binds c with path (1, 1); -1 stands for a starred part."""
        self.scope = scope


class Scope:
    """One namespace and the bindings made in it, in order of position."""

    __slots__ = ("bindings", "elsewhere", "node", "parent")

    def __init__(self, node: ast.AST, parent: Scope | None) -> None:
        self.node = node
        self.parent = parent
        self.bindings: dict[str, list[Binding]] = {}
        self.elsewhere: dict[str, str] = {}
        """Names declared ``global`` or ``nonlocal`` here."""

    @property
    def is_module(self) -> bool:
        """Whether this is the outermost scope."""
        return self.parent is None


class Names:
    """Name resolution of one file. Built once, queried lazily, memoised."""

    def __init__(self, tree: SyntaxTree) -> None:
        self._tree = tree
        self._scopes: dict[ast.AST, Scope] = {}
        self._around: dict[ast.AST, Scope] = {}
        """Scope of what stands in a statement, where the statement makes none itself."""
        self._mentions: dict[str, dict[Scope, list[ast.Name]]] = {}
        self._qualified: dict[ast.AST, str | None] = {}
        self._variables: dict[tuple[ast.AST, str], str | None] = {}
        self._calls: dict[str, list[tuple[int, ast.Call]]] | None = None
        self.module = self._make_scope(tree.module, None)
        self.has_star_import = False
        self.nameable: set[str] = set()
        """Names that some binding could make a qualified name: imports, and plain aliases of what begins with these."""
        self._attributes: dict[ast.ClassDef, dict[str, list[Binding]]] = {}
        # Most names of a file are never asked about: their bindings wait, by name, until they are.
        self._waiting: dict[str, list[ast.AST]] = {}
        self._waiting_attributes: dict[str, list[ast.Attribute]] = {}
        self._homes: dict[str, Scope | None] = {}
        """The scope that a name is bound in; None where it is bound in several."""
        self._sort_binders()
        self._rooting = self.nameable | _BUILTINS
        """What a qualified name begins with."""

    # ---------------------------------------------------------------- scopes

    def _make_scope(self, node: ast.AST, parent: Scope | None) -> Scope:
        scope = Scope(node, parent)
        self._scopes[node] = scope
        return scope

    def scope_of(self, node: ast.AST) -> Scope:
        """The scope in which code at this node runs. A definition belongs to the scope around it."""
        parents, known = self._tree.parents, self._around
        child, ancestor = node, parents.get(node)
        passed: list[ast.AST] = []
        scope = self.module
        while ancestor is not None:
            if ancestor in known:
                scope = known[ancestor]
                break
            if ancestor.__class__ in _SCOPE_CLASSES:
                if self._runs_in(ancestor, child, node):
                    scope = self._scope_at(ancestor)
                    break
            elif isinstance(ancestor, ast.stmt):
                passed.append(ancestor)
            child, ancestor = ancestor, parents.get(ancestor)
        if node.__class__ is not ast.arg:
            for statement in passed:
                known[statement] = scope
        return scope

    def _runs_in(self, holder: ast.AST, child: ast.AST, node: ast.AST) -> bool:
        """Whether a node below ``child`` runs in the scope of ``holder``, not in the one around: headers do not."""
        if isinstance(holder, ast.Lambda):
            return child is not holder.args or isinstance(node, ast.arg)
        if isinstance(holder, FUNCTIONS):
            return isinstance(node, ast.arg) or self._tree.in_body(holder, child)
        return not isinstance(holder, ast.ClassDef) or self._tree.in_body(holder, child)

    def _scope_at(self, node: ast.AST) -> Scope:
        scope = self._scopes.get(node)
        if scope is None:
            scope = self._make_scope(node, self.scope_of(node))
        return scope

    # ---------------------------------------------------------------- bindings

    def _sort_binders(self) -> None:
        parents, waiting, nameable = self._tree.parents, self._waiting, self.nameable
        aliases: dict[str, list[str]] = {}
        """Names by those that the values given to them begin with."""
        for node in self._tree.binders:
            if isinstance(node, ast.Name):
                waiting.setdefault(node.id, []).append(node)
                statement = parents[node]
                root = statement.value if isinstance(statement, _ASSIGNMENTS) else None
                while isinstance(root, ast.Attribute):
                    root = root.value
                if isinstance(root, ast.Name):
                    aliases.setdefault(root.id, []).append(node.id)
            elif isinstance(node, ast.Attribute):
                self._waiting_attributes.setdefault(node.attr, []).append(node)
            elif isinstance(node, ast.Import | ast.ImportFrom):
                for alias in node.names:
                    if alias.name == "*":
                        self.has_star_import = True
                        nameable.update(_STARRED)
                    else:
                        name = alias.asname or (alias.name if isinstance(node, ast.ImportFrom) else _root(alias.name))
                        waiting.setdefault(name, []).append(alias)
                        nameable.add(name)
            elif isinstance(node, ast.Global | ast.Nonlocal):
                where = "global" if isinstance(node, ast.Global) else "nonlocal"
                self.scope_of(node).elsewhere.update(dict.fromkeys(node.names, where))
            else:
                field = _NAME_FIELDS.get(node.__class__, "name")
                if (name := getattr(node, field)) is not None:
                    waiting.setdefault(name, []).append(node)
        followed = [*nameable, *_BUILTINS.intersection(aliases)]
        while followed:
            for name in aliases.pop(followed.pop(), ()):
                if name not in nameable:
                    nameable.add(name)
                    followed.append(name)

    def _bind(self, node: ast.AST) -> None:
        tree = self._tree
        if isinstance(node, ast.Name):
            self._bind_store(node)
        elif isinstance(node, ast.arg):
            self._bind_parameter(node)
        else:
            scope = self.scope_of(node)
            kind = _DEFINED_KINDS.get(node.__class__, "match")
            name = getattr(node, _NAME_FIELDS.get(node.__class__, "name"))
            statement = node
            if isinstance(node, ast.alias):
                statement = tree.parents[node]
                name = node.asname or (node.name if isinstance(statement, ast.ImportFrom) else _root(node.name))
            elif kind == "match":
                statement = tree.statement_of(node)
            self._add(scope, Binding(name, kind, node, statement, None, (), scope))

    def _add(self, scope: Scope, binding: Binding) -> None:
        where = scope.elsewhere.get(binding.name)
        if where == "global":
            scope = self.module
        elif where == "nonlocal" and scope.parent is not None:
            scope = scope.parent
        scope.bindings.setdefault(binding.name, []).append(binding)
        if self._homes.setdefault(binding.name, scope) is not scope:
            self._homes[binding.name] = None

    def _bind_parameter(self, node: ast.arg) -> None:
        arguments = self._tree.parents[node]
        owner = self._tree.parents[arguments]
        scope = self._scope_at(owner)
        assert isinstance(arguments, ast.arguments)
        default: ast.expr | None = None
        positional = [*arguments.posonlyargs, *arguments.args]
        if node in positional:
            at = positional.index(node) - len(positional) + len(arguments.defaults)
            default = arguments.defaults[at] if at >= 0 else None
        elif node in arguments.kwonlyargs:
            default = arguments.kw_defaults[arguments.kwonlyargs.index(node)]
        kind = "parameter" if node in positional or node in arguments.kwonlyargs else "variadic"
        self._add(scope, Binding(node.arg, kind, node, owner, default, (), scope))

    def _origin(self, node: ast.AST) -> tuple[str, ast.AST, ast.expr | None, tuple[int, ...]]:
        """Kind, statement, value and unpacking path of a stored name or attribute."""
        tree = self._tree
        path: list[int] = []
        child: ast.AST = node
        parent = tree.parents[child]
        while isinstance(parent, ast.Tuple | ast.List | ast.Starred):
            if isinstance(parent, ast.Starred):
                path.append(-1)
            else:
                starred = [i for i, item in enumerate(parent.elts) if isinstance(item, ast.Starred)]
                index = next(i for i, item in enumerate(parent.elts) if item is child)
                path.append(index if not starred or index <= starred[0] else index - len(parent.elts))
            child, parent = parent, tree.parents[parent]
        path.reverse()
        if isinstance(parent, ast.Assign):
            return "assign", parent, parent.value, tuple(path)
        if isinstance(parent, ast.AnnAssign):
            return ("assign" if parent.value is not None else "annotate"), parent, parent.value, ()
        if isinstance(parent, ast.AugAssign):
            return "augment", parent, parent.value, ()
        if isinstance(parent, ast.For | ast.AsyncFor | ast.comprehension):
            return "loop", parent, parent.iter, tuple(path)
        if isinstance(parent, ast.withitem):
            return "with", tree.parents[parent], parent.context_expr, tuple(path)
        if isinstance(parent, ast.NamedExpr):
            return "assign", tree.statement_of(parent), parent.value, ()
        if isinstance(parent, ast.Delete):
            return "delete", parent, None, ()
        return "match", tree.statement_of(node), None, ()

    def _bind_store(self, node: ast.Name) -> None:
        kind, statement, value, path = self._origin(node)
        scope = self.scope_of(node)
        if isinstance(self._tree.parents[node], ast.NamedExpr):
            while isinstance(scope.node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) and scope.parent:
                scope = scope.parent
        self._add(scope, Binding(node.id, kind, node, statement, value, path, scope))

    def _bind_attribute(self, node: ast.Attribute) -> None:
        if not isinstance(node.value, ast.Name):
            return
        owner = self._tree.class_of(node)
        function = self._tree.function_of(node)
        if owner is None or function is None or not function.args.args or function.args.args[0].arg != node.value.id:
            return
        kind, statement, value, path = self._origin(node)
        binding = Binding(node.attr, kind, node, statement, value, path, self._scope_at(function))
        self._attributes.setdefault(owner, {}).setdefault(node.attr, []).append(binding)

    def release(self) -> None:
        """Let go of the bindings, which know their scopes as the scopes know them."""
        for scope in self._scopes.values():
            scope.bindings.clear()
        self._attributes.clear()

    # ---------------------------------------------------------------- queries

    def bindings_in(self, scope: Scope, name: str) -> list[Binding]:
        """Bindings of a name made in one scope, in order of position."""
        waiting = self._waiting.pop(name, None)
        if waiting is not None:
            for node in waiting:
                self._bind(node)
        return scope.bindings.get(name, [])

    def variables_of(self, scope: Scope) -> dict[str, list[Binding]]:
        """Every name bound in a scope, with its bindings."""
        for name in list(self._waiting):
            self.bindings_in(scope, name)
        return scope.bindings

    def attribute_bindings(self, owner: ast.ClassDef, name: str) -> list[Binding]:
        """Values given to ``self.<name>`` in the methods of a class."""
        for node in self._waiting_attributes.pop(name, ()):
            self._bind_attribute(node)
        return self._attributes.get(owner, {}).get(name, [])

    @property
    def attributes(self) -> dict[ast.ClassDef, dict[str, list[Binding]]]:
        """Values given to ``self.x`` in the methods of every class."""
        for name in list(self._waiting_attributes):
            for node in self._waiting_attributes.pop(name):
                self._bind_attribute(node)
        return self._attributes

    def find(self, name: str, scope: Scope) -> tuple[Scope, list[Binding]] | None:
        """The scope that a name read in ``scope`` belongs to, and all bindings of it there."""
        if name in self._waiting:
            self.bindings_in(scope, name)
        current: Scope | None = scope
        if scope.elsewhere.get(name) == "global":
            current = self.module
        first = True
        while current is not None:
            found = current.bindings.get(name)
            # A class body is no enclosing scope for the functions in it.
            if found and (first or not isinstance(current.node, ast.ClassDef)):
                return current, found
            current = current.parent
            first = False
        return None

    def find_name(self, node: ast.Name) -> tuple[Scope, list[Binding]] | None:
        """The same for a name where it stands. Most names are bound in the module alone, or nowhere: these are the
        same in all scopes, so that nobody has to look for the scope around the name."""
        name = node.id
        if name in self._waiting:
            self.bindings_in(self.module, name)
        home = self._homes.get(name, self.module)
        if home is not self.module:
            return self.find(name, self.scope_of(node))
        found = home.bindings.get(name)
        return (home, found) if found else None

    def mentions(self, name: str, scope: Scope) -> list[ast.Name]:
        """Places that read, give or delete a variable of a scope, from wherever they do."""
        homes = self._mentions.get(name)
        if homes is None:
            homes = self._mentions[name] = {}
            for node in self._tree.names_called(name):
                found = self.find_name(node)
                if found is not None:
                    homes.setdefault(found[0], []).append(node)
        return homes.get(scope, [])

    def loads(self, name: str, scope: Scope) -> list[ast.Name]:
        """Places that read a variable of a scope, from wherever they do."""
        return [node for node in self.mentions(name, scope) if isinstance(node.ctx, ast.Load)]

    def words_of_hints(self) -> set[str]:
        """Words of annotations that are written as texts: ``model: "DeepSpeedEngine"``."""
        hints: list[ast.expr | None] = []
        for function in self._tree.functions:
            given = function.args
            named = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
            hints += [function.returns, *(argument.annotation for argument in named if argument is not None)]
        hints += [node.annotation for node in self._tree.inside(self._tree.module) if isinstance(node, ast.AnnAssign)]
        parts = (part for hint in hints if hint is not None for part in ast.walk(hint))
        texts = (part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str))
        return {word for text in texts for word in re.findall(r"[^\W\d]\w*", text)}

    def mentions_of(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.expr]:
        """Names and attributes that are written like a function of the file."""
        return [*self._tree.names_called(function.name), *self._tree.attributes_called(function.name)]

    def fresh(self, wanted: str, node: ast.AST) -> str:
        """A name like ``wanted`` that nothing is called yet, in the scope of a node or any other."""
        taken = (self.variables_of(self.module), self.variables_of(self.scope_of(node)), _BUILTINS)
        name, number = wanted, 2
        while self._tree.names_called(name) or any(name in names for names in taken):
            name, number = f"{wanted}_{number}", number + 1
        return name

    def bindings(self, node: ast.Name) -> list[Binding]:
        """All bindings of the variable that a name node means; empty for a builtin or unknown name."""
        found = self.find_name(node)
        return found[1] if found else []

    def binding_at(self, node: ast.AST) -> Binding | None:
        """The binding that a name (or ``self.x``) makes where it is given a value."""
        if isinstance(node, ast.Name):
            return next((binding for binding in self.bindings(node) if binding.node is node), None)
        if isinstance(node, ast.Attribute):
            owner = self._tree.class_of(node)
            found = self.attributes.get(owner, {}).get(node.attr, ()) if owner is not None else ()
            return next((binding for binding in found if binding.node is node), None)
        return None

    def qualified(self, node: ast.AST) -> str | None:
        """Dotted name through imports and plain aliases: ``torch.cuda.amp.autocast``; None when it cannot be known.

        Builtins are ``builtins.print``. A name that is rebound, shadowed by a parameter or assigned anything but
        another dotted name is unknown.
        """
        root = node
        while root.__class__ is ast.Attribute:
            root = root.value
        if root.__class__ is not ast.Name or root.id not in self._rooting:
            return None  # most names of a file: nobody has to look for their scope
        memo = self._qualified
        if node in memo:
            return memo[node]
        memo[node] = None  # a cycle of aliases is unknown
        memo[node] = result = self._qualify(node)
        return result

    def _qualify(self, node: ast.AST) -> str | None:
        if isinstance(node, ast.Attribute):
            base = self.qualified(node.value)
            if base is None or base.startswith("builtins."):
                return None
            name = f"{base}.{node.attr}"
            return CANONICAL_NAMES.get(name, name)
        if not isinstance(node, ast.Name):
            return None
        found = self.find_name(node)
        if found is None:
            if node.id in _BUILTINS:
                return f"builtins.{node.id}"
            return _STARRED.get(node.id) if self.has_star_import else None
        variable = (found[0].node, node.id)
        if variable not in self._variables:
            self._variables[variable] = None  # a cycle of aliases is unknown
            names = {self.qualified_binding(binding) for binding in found[1]} - {""}
            self._variables[variable] = names.pop() if len(names) == 1 else None
        return self._variables[variable] or self._imported_before(node, found)

    def _imported_before(self, node: ast.Name, found: tuple[Scope, list[Binding]]) -> str | None:
        """What a name stands for in a script that gives it another value later on.

        ``data.DataLoader(...)`` of ``from torch.utils import data``, in front of ``for data in loader:``.
        """
        scope, bindings = found
        if (
            len(bindings) < 2  # then it has no other value
            or not scope.is_module
            or not any(item.kind == "import" for item in bindings)
            or self.scope_of(node) is not scope
        ):
            return None
        if any(isinstance(ancestor, LOOPS) for ancestor in self._tree.ancestors(node)):
            return None  # what stands behind it comes before it in the next turn
        if any(self._tree.function_of(item.node) is not None for item in bindings):
            return None  # declared global there: who calls it when is not known
        place = self._tree.span(node)
        before = [item for item in bindings if self._tree.span(item.node) < place]
        names = {self.qualified_binding(item) for item in before} - {""}
        return names.pop() if len(names) == 1 else None

    def outermost(self, root: ast.Name) -> tuple[ast.expr, str] | None:
        """The longest dotted name that begins with a name and has a qualified one, and that; None where it has none."""
        parents, memo = self._tree.parents, self._qualified
        node: ast.expr = root
        name = self.qualified(root)
        if name is None:
            return None
        while isinstance(parent := parents[node], ast.Attribute) and not name.startswith("builtins."):
            name = f"{name}.{parent.attr}"
            memo[parent] = name = CANONICAL_NAMES.get(name, name)
            node = parent
        return node, name

    def calls_to(self, *names: str) -> list[ast.Call]:
        """Calls whose callee is one of these qualified names, in order of position."""
        if self._calls is None:
            self._calls = {}
            for at, call in enumerate(self._tree.calls):
                if (name := self.qualified(call.func)) is not None:
                    self._calls.setdefault(name, []).append((at, call))
        # The places in the list of all calls keep the order where several names are asked for.
        found = [item for name in dict.fromkeys(names) for item in self._calls.get(name, ())]
        return [call for _, call in sorted(found, key=_place)]

    def qualified_binding(self, binding: Binding) -> str | None:
        """Dotted name a binding gives; "" when it says nothing (``x = None`` beside an import in try/except)."""
        if binding.kind == "import":
            alias, statement = binding.node, binding.statement
            assert isinstance(alias, ast.alias)
            if isinstance(statement, ast.ImportFrom):
                if statement.level:
                    return None
                name = f"{statement.module}.{alias.name}"
            else:
                name = alias.name if alias.asname else _root(alias.name)
            return CANONICAL_NAMES.get(name, name)
        if binding.kind == "assign" and not binding.path and binding.value is not None:
            if isinstance(binding.value, ast.Name | ast.Attribute):
                return self.qualified(binding.value)
            if isinstance(binding.value, ast.Constant) and binding.value.value is None:
                return ""
        return None


def _place(item: tuple[int, ast.Call]) -> int:
    return item[0]


def _root(name: str) -> str:
    return name.split(".", 1)[0]
