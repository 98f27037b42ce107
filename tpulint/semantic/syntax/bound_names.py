"""Which variable a name in the source means: the scopes of a file, and what is bound in them."""

from __future__ import annotations

import ast
import builtins
from functools import cached_property

from tpulint.semantic.syntax.bindings import NAME_FIELDS, Binding, attribute_binding, binding_of, name_imported
from tpulint.semantic.syntax.nodes import FUNCTIONS
from tpulint.semantic.syntax.scopes import Scope, Scopes
from tpulint.semantic.syntax.tree import SyntaxTree

BUILTINS = frozenset(dir(builtins))
STARRED = {"torch": "torch", "nn": "torch.nn", "F": "torch.nn.functional", "optim": "torch.optim", "np": "numpy"}
"""What everybody means by names that a file reads and does not bind, where ``from module import *`` brings names in."""
STARRED_CLASSES = frozenset({"DataLoader"})
"""Names that bring in a class of torch where the file that is read so imports it, and its own where it has one."""
_ASSIGNMENTS = (ast.Assign, ast.AnnAssign, ast.NamedExpr)


class BoundNames:
    """The bindings of one file. Most names are never asked about: theirs are made when they are."""

    def __init__(self, tree: SyntaxTree) -> None:
        self._tree = tree
        self._scopes = Scopes(tree)
        self.module = self._scopes.module
        self.scope_of = self._scopes.around
        """Gives the scope in which code at a node runs."""
        self._mentions: dict[str, dict[Scope, list[ast.Name]]] = {}
        self.has_star_import = False
        self.nameable: set[str] = set()
        """Names that some binding could make a qualified name: imports, and plain aliases of what begins with these."""
        self._attributes: dict[ast.ClassDef, dict[str, list[Binding]]] = {}
        # Bindings wait, by name, until they are asked for.
        self._waiting: dict[str, list[ast.AST]] = {}
        self._waiting_attributes: dict[str, list[ast.Attribute]] = {}
        self._homes: dict[str, Scope | None] = {}
        """The scope that a name is bound in; None where it is bound in several."""
        self._sort_binders()

    # ---------------------------------------------------------------- making

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
                        nameable.update(STARRED, STARRED_CLASSES)
                    else:
                        name = name_imported(alias, node)
                        waiting.setdefault(name, []).append(alias)
                        nameable.add(name)
            elif isinstance(node, ast.Global | ast.Nonlocal):
                where = "global" if isinstance(node, ast.Global) else "nonlocal"
                self.scope_of(node).elsewhere.update(dict.fromkeys(node.names, where))
            else:
                field = NAME_FIELDS.get(node.__class__, "name")
                if (name := getattr(node, field)) is not None:
                    waiting.setdefault(name, []).append(node)
        followed = [*nameable, *BUILTINS.intersection(aliases)]
        while followed:
            for name in aliases.pop(followed.pop(), ()):
                if name not in nameable:
                    nameable.add(name)
                    followed.append(name)

    def _bind(self, node: ast.AST) -> None:
        binding = binding_of(node, self._tree, self._scopes)
        scope = binding.scope
        where = scope.elsewhere.get(binding.name)
        if where == "global":
            scope = self.module
        elif where == "nonlocal" and scope.parent is not None:
            scope = scope.parent
        _add(scope.bindings.setdefault(binding.name, []), binding)
        if self._homes.setdefault(binding.name, scope) is not scope:
            self._homes[binding.name] = None

    def _bind_attributes(self, name: str) -> None:
        for node in self._waiting_attributes.pop(name, ()):
            found = attribute_binding(node, self._tree, self._scopes)
            if found is not None:
                owner, binding = found
                _add(self._attributes.setdefault(owner, {}).setdefault(name, []), binding)

    def release(self) -> None:
        """Let go of the bindings, which know their scopes as the scopes know them."""
        self._scopes.release()
        self._attributes.clear()

    # ---------------------------------------------------------------- variables

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
        self._bind_attributes(name)
        return self._attributes.get(owner, {}).get(name, [])

    @property
    def attributes(self) -> dict[ast.ClassDef, dict[str, list[Binding]]]:
        """Values given to ``self.x`` in the methods of every class."""
        for name in list(self._waiting_attributes):
            self._bind_attributes(name)
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

    def loads_of(self, name: ast.Name) -> list[ast.Name]:
        """Places that read the variable which a name stands for, where it reads or gives it."""
        found = self.find_name(name)
        return [] if found is None else self.loads(name.id, found[0])

    def mentions_of(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.expr]:
        """Names and attributes that are written like a function of the file."""
        return [*self._tree.names_called(function.name), *self._tree.attributes_called(function.name)]

    def fresh(self, wanted: str, node: ast.AST) -> str:
        """A name like ``wanted`` that nothing is called yet in the scope of a node, around it or within it.

        A variable of another function is another.
        """
        scope = self.scope_of(node)
        taken = (self.variables_of(self.module), self.variables_of(scope), BUILTINS)
        name, number = wanted, 2
        while any(not self._is_apart(use, scope) for use in self._tree.names_called(name)) or any(
            name in names for names in taken
        ):
            name, number = f"{wanted}_{number}", number + 1
        return name

    def _is_apart(self, use: ast.Name, scope: Scope) -> bool:
        """Whether a name is a variable of a function that neither holds a scope, a function too, nor is held by it."""
        found = self.find_name(use) if isinstance(scope.node, FUNCTIONS) else None
        home = None if found is None else found[0].node
        return isinstance(home, FUNCTIONS) and not any(
            self._tree.encloses(one, other) for one, other in ((home, scope.node), (scope.node, home))
        )

    def bindings(self, node: ast.Name) -> list[Binding]:
        """All bindings of the variable that a name node means; empty for a builtin or unknown name."""
        found = self.find_name(node)
        return found[1] if found else []

    # ---------------------------------------------------------------- classes

    def class_named(self, node: ast.AST | None) -> ast.ClassDef | None:
        """The class of this file that a name alone stands for, where it stands for nothing else."""
        bindings = self.bindings(node) if isinstance(node, ast.Name) else []
        owner = bindings[0].node if len(bindings) == 1 else None
        return owner if isinstance(owner, ast.ClassDef) else None

    def classes_above(self, owner: ast.ClassDef) -> list[ast.ClassDef]:
        """A class and the classes of this file that it is derived from, the nearest first."""
        found = [owner]
        for one in found:  # grows while it is walked
            for base in one.bases:
                above = self.class_named(base)
                if above is not None and above not in found:
                    found.append(above)
        return found

    def classes_below(self, owner: ast.ClassDef) -> list[ast.ClassDef]:
        """The classes of this file that are derived from one, those derived from these included."""
        return self._derived.get(owner, [])

    @cached_property
    def _derived(self) -> dict[ast.ClassDef, list[ast.ClassDef]]:
        found: dict[ast.ClassDef, list[ast.ClassDef]] = {}
        for one in self._tree.classes:
            for above in self.classes_above(one)[1:] if one.bases else ():
                found.setdefault(above, []).append(one)
        return found

    def binding_at(self, node: ast.AST) -> Binding | None:
        """The binding that a name (or ``self.x``) makes where it is given a value, or a parameter in its function."""
        if isinstance(node, ast.arg):
            function = self._tree.parents[self._tree.parents[node]]
            bound = self.bindings_in(self._scopes.within(function), node.arg)
            return next((binding for binding in bound if binding.node is node), None)
        if isinstance(node, ast.Name):
            return next((binding for binding in self.bindings(node) if binding.node is node), None)
        if isinstance(node, ast.Attribute):
            owner = self._tree.class_of(node)
            found = self.attributes.get(owner, {}).get(node.attr, ()) if owner is not None else ()
            return next((binding for binding in found if binding.node is node), None)
        return None


def _add(bindings: list[Binding], binding: Binding) -> None:
    """``images: Tensor`` alone says what a name is, and gives it no value: it counts where nothing else does."""
    if binding.kind == "annotate" and bindings:
        return
    if len(bindings) == 1 and bindings[0].kind == "annotate":
        bindings.clear()
    bindings.append(binding)
