"""Which bindings of a variable can reach a use: reaching definitions, cheap and a little generous."""

from __future__ import annotations

import ast
from bisect import bisect_left

from tpulint.semantic.syntax.asked_again import AskedAgain
from tpulint.semantic.syntax.bindings import Binding
from tpulint.semantic.syntax.first_runs import FirstRuns
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import LOOPS, FunctionNode, is_of_self, is_super
from tpulint.semantic.syntax.torch_facts import MODULE_SELF_METHODS
from tpulint.semantic.syntax.tree import SyntaxTree

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


_BRANCHING = (ast.If, ast.With, ast.AsyncWith, ast.Try, ast.ExceptHandler)
_NEARBY = 48
"""How many bindings on either side of a use are looked at: a bound on work for generated code."""


class Flow:
    """Reaching definitions of one file, worked out per use, memoised."""

    def __init__(self, tree: SyntaxTree, names: Names) -> None:
        self._tree = tree
        self._names = names
        self._first_runs = FirstRuns(tree)
        self._asked_again = AskedAgain(tree, names)
        self._memo: dict[ast.AST, tuple[Binding, ...]] = {}
        self._made: dict[ast.Name, tuple[Binding, ...]] = {}

    def reaching(self, use: ast.Name) -> tuple[Binding, ...]:
        """Bindings whose value the name may hold where it is read, the nearest first.

        A variable of an outer function may hold any of its bindings, one of the module any but those that are bound
        anew before anything can run the function.
        """
        found = self._memo.get(use)
        if found is None:
            found = self._memo[use] = tuple(self._reaching(use))
        return found

    def made(self, use: ast.Name) -> tuple[Binding, ...]:
        """The same of a module: what has made it, where ``model = model.train()`` only hands it on."""
        found: dict[Binding, None] = {}
        waiting, asked = [use], {use}
        while waiting:
            name = waiting.pop()
            for binding in self._made.get(name) or self.reaching(name):
                handed_on = _handed_on(binding)
                if handed_on is None:
                    found[binding] = None
                elif handed_on not in asked:
                    asked.add(handed_on)
                    waiting.append(handed_on)
        made = tuple(found)
        # Thousands of rows may hand on what one has made: none of them is gone through twice.
        self._made.update(dict.fromkeys(asked if len(made) == 1 else (use,), made))
        return made

    def loads_of(self, target: ast.Name, value: ast.expr) -> list[ast.Name]:
        """Places that may read a value which is given to a variable."""
        loads = self._names.loads_of(target)
        return [use for use in loads if any(binding.value is value for binding in self.reaching(use))]

    def reaching_attribute(self, use: ast.Attribute) -> tuple[Binding, ...]:
        """Bindings of ``self.x``: all in the class, but none below where its function gives it a value above."""
        if not isinstance(use.value, ast.Name):
            return ()
        owner = self._tree.class_of(use)
        function = self._tree.function_of(use)
        if owner is None or function is None or not self._takes(function, use.value):
            return ()
        bindings = self._names.attribute_bindings(owner, use.attr)
        return tuple(self._made_so_far(bindings, use, function))

    def _takes(self, function: FunctionNode, name: ast.Name) -> bool:
        """Whether a name is the first parameter of a method, or in a function within one that of the method."""
        if function.args.args and function.args.args[0].arg == name.id:
            return True
        outer = self._tree.function_of(function)
        if outer is None or self._tree.class_of(outer) is not self._tree.class_of(function):
            return False
        found = self._names.find_name(name)
        home = found[0].node if found is not None else None
        return home is not function and self._takes(outer, name)

    def inherited_attribute(self, use: ast.Attribute) -> tuple[Binding, ...]:
        """Bindings of ``self.x`` that its class has none of: those of the nearest base class that has any.

        Else those of the classes that are derived from it, whose objects run its methods.
        """
        owner = self._tree.class_of(use)
        if owner is None or not is_of_self(use):
            return ()
        for above in self._names.classes_above(owner)[1:]:
            bindings = self._names.attribute_bindings(above, use.attr)
            if bindings:
                return tuple(bindings)
        below = self._names.classes_below(owner)
        return tuple(binding for one in below for binding in self._names.attribute_bindings(one, use.attr))

    def _made_so_far(self, bindings: list[Binding], use: ast.Attribute, function: FunctionNode) -> list[Binding]:
        """Those above a use, where its function has always made one there: all ways to it, or as ``__init__``."""
        here, tree = (use.lineno, use.col_offset), self._tree
        earlier = [
            binding
            for binding in bindings
            if tree.function_of(binding.node) is function
            and _position(binding) < here
            and not tree.encloses(binding.statement, use)
        ]
        is_made = bool(earlier) if function.name == "__init__" else any(self.dominates(item, use) for item in earlier)
        if not is_made or any(isinstance(ancestor, LOOPS) for ancestor in tree.ancestors(use)):
            return bindings
        called = any(
            (call.lineno, call.col_offset) < here and _has_object(call, function.args.args[0].arg)
            for call in tree.nodes_in(function, ast.Call)
        )
        always = function.name != "__init__" or any(self.dominates(item, use) for item in earlier)
        others = (
            binding
            for binding in bindings
            if (made := tree.function_of(binding.node)) is not function and (called or (made is None and not always))
        )
        return [*earlier, *others]

    def bindings_of(self, use: ast.expr) -> tuple[Binding, ...]:
        """Where a variable or ``self.x`` gets the value it has here; empty for any other expression."""
        if isinstance(use, ast.Name):
            return self.reaching(use)
        return self.reaching_attribute(use) if isinstance(use, ast.Attribute) else ()

    def _reaching(self, use: ast.Name) -> list[Binding]:
        found = self._names.find_name(use)
        if found is None:
            return []
        scope = self._names.scope_of(use)
        home, bindings = found
        while isinstance(scope.node, _COMPREHENSIONS) and scope.node is not home.node and scope.parent is not None:
            scope = scope.parent  # a comprehension runs where it stands
        if home.node is scope.node and not isinstance(home.node, _COMPREHENSIONS):
            return self._reaching_place(bindings, use)
        known = [binding for binding in bindings if binding.kind != "delete"]
        if home.node is scope.node:
            return known  # a comprehension stands behind what it is used in
        is_followed = home.is_module and 1 < len(known) <= _NEARBY
        return self._seen_by_function(known, use) if is_followed else known

    def _seen_by_function(self, bindings: list[Binding], use: ast.Name) -> list[Binding]:
        """What a variable of the module may be in a function: none that is bound anew before anything runs that."""
        start = self._first_runs.of(use)
        here = (start.lineno, start.col_offset)
        at_the_top = [binding for binding in bindings if self._tree.function_of(binding.node) is None]
        before = [binding for binding in at_the_top if _position(binding) < here]
        if not before:
            return bindings
        gone = set(before).difference(self._reaching_place(before, start))
        return [binding for binding in bindings if binding not in gone]

    def _reaching_place(self, bindings: list[Binding], use: ast.Name | ast.stmt) -> list[Binding]:
        """Those of the bindings of one scope, in order of position, that reach a place there."""
        here = (use.lineno, use.col_offset)
        # Bindings stand in order of position; only those near the use are looked at.
        middle = bisect_left(bindings, here, key=_position)
        after = [binding for binding in bindings[middle : middle + _NEARBY] if binding.kind != "delete"]
        result: list[Binding] = []
        dominating: Binding | None = None
        above_use = bindings[max(0, middle - _NEARBY) : middle]
        apart = self._branches_apart(use) if above_use else []
        for binding in reversed(above_use):
            if binding.kind == "delete":
                continue
            is_apart = any(begin <= _position(binding) < end for begin, end in apart)
            if is_apart or not self._precedes(binding, use, here):
                after.append(binding)
                continue
            result.append(binding)
            if binding.kind != "augment" and self.dominates(binding, use):
                dominating = binding
                break
        above: ast.AST | None = None if dominating is None else dominating.node
        if result and (dominating is None or len(result) > 1):
            branching = self._bound_on_every_way(result, use)
            if branching is not None:
                above, begin = branching, (branching.lineno, branching.col_offset)
                result = [binding for binding in result if _position(binding) >= begin]
        if len(result) > 1:
            result = self._asked_again.without_bound_anew(result, use)
        if after:
            # What a loop binds below the use reaches it in the next iteration, unless bound anew above it.
            child: ast.AST = use
            for ancestor in self._tree.ancestors(use):
                if isinstance(ancestor, LOOPS) and self._tree.in_body(ancestor, child):
                    if above is not None and self._tree.encloses(ancestor, above):
                        break
                    result.extend(b for b in after if b not in result and self._tree.encloses(ancestor, b.node))
                child = ancestor
        return result

    def _branches_apart(self, use: ast.AST) -> list[tuple[tuple[int, int], tuple[int, int]]]:
        """Where the bodies of conditions begin and end that have not run where a use in their ``else`` does."""
        found: list[tuple[tuple[int, int], tuple[int, int]]] = []
        child: ast.AST = use
        for ancestor in self._tree.ancestors(use):
            if isinstance(ancestor, ast.If) and child is not ancestor.test and not self._tree.in_body(ancestor, child):
                begin = ancestor.body[0]
                found.append(((begin.lineno, begin.col_offset), _end(ancestor.body[-1])))
            child = ancestor
        return found

    def is_bound(self, bindings: list[Binding], use: ast.stmt) -> bool:
        """Whether one of the bindings of a variable, all in front of a statement, has run whenever that runs."""
        is_made = any(binding.kind != "delete" and self.dominates(binding, use) for binding in bindings)
        return is_made or self._bound_on_every_way(bindings, use) is not None

    def _bound_on_every_way(self, bindings: list[Binding], use: ast.AST) -> ast.stmt | None:
        """The last statement in front of a use that binds its variable whatever branch it takes."""
        made = {binding.statement for binding in bindings if binding.kind == "assign"}
        seen: set[ast.AST] = set()
        for binding in bindings:
            top = binding.statement
            holder = self._tree.parents.get(top)
            while isinstance(holder, _BRANCHING) and not self._tree.encloses(holder, use):
                top, holder = holder, self._tree.parents.get(holder)
            if top not in seen and isinstance(top, _BRANCHING):
                seen.add(top)
                if isinstance(top, ast.stmt) and self._tree.stands_before(top, use) and _binds_always(top, made):
                    return top
        return None

    def _precedes(self, binding: Binding, use: ast.AST, here: tuple[int, int]) -> bool:
        statement = binding.statement
        if binding.kind in ("parameter", "variadic", "match"):
            return True
        if binding.kind in ("loop", "with", "handler"):
            if isinstance(statement, ast.comprehension):
                return True
            return self._in_body(statement, use) or _end(statement) <= here
        return _end(statement) <= here

    def dominates(self, binding: Binding, use: ast.AST) -> bool:
        """Whether the binding has run whenever the use runs."""
        statement = binding.statement
        if binding.kind in ("parameter", "variadic"):
            return True
        if isinstance(statement, ast.comprehension):
            return True
        if binding.kind in ("loop", "handler"):
            return self._in_body(statement, use)
        if binding.kind == "match":
            return False
        holder = self._tree.parents.get(statement)
        if holder is None:
            return False
        while isinstance(holder, ast.With | ast.AsyncWith) and not self._tree.encloses(holder, use):
            statement, holder = holder, self._tree.parents[holder]  # its block runs once, whatever the context
        # Same suite, not the other branch of the same statement.
        assert isinstance(statement, ast.stmt)
        child = self._tree.child_towards(holder, use)
        return isinstance(child, ast.stmt) and self._tree.suite_of(child) is self._tree.suite_of(statement)

    def _in_body(self, statement: ast.AST, use: ast.AST) -> bool:
        child = self._tree.child_towards(statement, use)
        return child is not None and self._tree.in_body(statement, child)


def _binds_always(statement: ast.stmt, made: set[ast.AST]) -> bool:
    """Whether running a statement runs one of these bindings, or leaves the block, on every way."""
    if statement in made or isinstance(statement, ast.Return | ast.Raise | ast.Continue | ast.Break):
        return True
    if isinstance(statement, ast.If):
        return all(any(_binds_always(item, made) for item in branch) for branch in (statement.body, statement.orelse))
    if isinstance(statement, ast.Try):
        ways = [statement.body, *(handler.body for handler in statement.handlers)]
        return all(any(_binds_always(item, made) for item in way) for way in ways)
    if isinstance(statement, ast.With | ast.AsyncWith):
        return any(_binds_always(item, made) for item in statement.body)
    return False


def _handed_on(binding: Binding) -> ast.Name | None:
    """``model`` of ``model = model.train()``."""
    value = binding.value if binding.kind == "assign" and not binding.path else None
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        if value.func.attr not in MODULE_SELF_METHODS:
            return None
        value = value.func.value
    is_handed_on = isinstance(value, ast.Name) and value is not binding.value and value.id == binding.name
    return value if isinstance(value, ast.Name) and is_handed_on else None


def _has_object(call: ast.Call, name: str) -> bool:
    """Whether a call may run methods of an object: its own, those of a base class, or it is given the object."""
    func = call.func
    owner = func.value if isinstance(func, ast.Attribute) else None
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    if owner is not None and is_super(owner):
        return True
    return any(isinstance(node, ast.Name) and node.id == name for node in (owner, *given))


def _end(node: ast.AST) -> tuple[int, int]:
    return node.end_lineno, node.end_col_offset  # type: ignore[attr-defined]


def _position(binding: Binding) -> tuple[int, int]:
    node = binding.node
    return node.lineno, node.col_offset  # type: ignore[attr-defined]
