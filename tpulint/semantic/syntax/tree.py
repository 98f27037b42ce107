"""The one walk over a syntax tree: parents, and the nodes rules ask for, in order of position."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from tpulint.model import Span
from tpulint.semantic.syntax.nodes import (
    BINDERS,
    CHILD_FIELDS,
    COLLECTED,
    EXITS,
    FUNCTIONS,
    LOOPS,
    FunctionNode,
    LoopNode,
    below,
)
from tpulint.source import SourceFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import UnionType
    from typing import Any, TypeVar

    _Node = TypeVar("_Node", bound=ast.AST)

_LEAVING = frozenset(EXITS)


class SyntaxTree:
    """A parsed file with parent links and node lists; the tables every other part of the index reads.

    Raises what ``compile`` raises: ``SyntaxError``, ``ValueError``, ``RecursionError``, ``MemoryError``.
    """

    def __init__(self, source: SourceFile, module: ast.Module) -> None:
        self.source = source
        self.module = module
        self.parents: dict[ast.AST, ast.AST] = {}
        self.calls: list[ast.Call] = []
        self.attributes: list[ast.Attribute] = []
        self.names: list[ast.Name] = []
        self.strings: list[ast.Constant] = []
        """String constants, those inside f-strings left out."""
        self.binders: list[ast.AST] = []
        """Nodes that bind names: imports, definitions, stores, parameters, handlers, global statements."""
        self.functions: list[FunctionNode] = []
        self.classes: list[ast.ClassDef] = []
        self.loops: list[LoopNode] = []
        """Those that may run."""
        self.never_run: list[ast.stmt] = []
        """Statements behind a ``return``, ``raise``, ``break`` or ``continue`` of their block."""
        self.fstrings: list[ast.JoinedStr] = []
        self.conditions: list[ast.If | ast.IfExp | ast.BoolOp] = []
        self.list_comprehensions: list[ast.ListComp] = []
        self.generator_expressions: list[ast.GeneratorExp] = []
        self._names_by_id: dict[str, list[ast.Name]] | None = None
        self._attributes_by_name: dict[str, list[ast.Attribute]] | None = None
        self._suites: dict[ast.AST, list[ast.stmt]] = {}
        self._positions: dict[ast.AST, int] = {}
        self._inside: dict[tuple[ast.AST, bool], list[ast.AST]] = {}
        self._functions_around: dict[ast.AST, FunctionNode | None] = {}
        """The innermost function around what stands right below a node."""
        self._classes_around: dict[ast.AST, ast.ClassDef | None] = {}
        self._walk()

    def _walk(self) -> None:
        # The hottest loop of a run: the four commonest classes are spelt out, the others go by the tables.
        parents, names, calls, attributes, binders = self.parents, self.names, self.calls, self.attributes, self.binders
        name_class, call_class, attribute_class, constant_class = ast.Name, ast.Call, ast.Attribute, ast.Constant
        load, store, fields = ast.Load, ast.Store, CHILD_FIELDS
        stack: list[Any] = [self.module]
        pop, push = stack.pop, stack.append
        item: Any
        child: Any
        while stack:
            node = pop()
            cls = node.__class__
            if cls is name_class:
                names.append(node)
                if node.ctx.__class__ is not load:
                    binders.append(node)
            elif cls is constant_class:
                if node.value.__class__ is str and parents[node].__class__ is not ast.JoinedStr:
                    self.strings.append(node)
            elif cls is attribute_class:
                attributes.append(node)
                if node.ctx.__class__ is store:
                    binders.append(node)
                parents[node.value] = node
                push(node.value)
            elif cls is call_class:
                calls.append(node)
                for item in node.keywords[::-1]:
                    parents[item] = node
                    push(item)
                for item in node.args[::-1]:
                    parents[item] = node
                    push(item)
                parents[node.func] = node
                push(node.func)
            else:
                if cls in COLLECTED:
                    getattr(self, COLLECTED[cls]).append(node)
                if cls in BINDERS:
                    binders.append(node)
                if cls in _LEAVING:
                    self.never_run.extend(self._behind(node))
                for field in fields[cls]:
                    child = getattr(node, field, None)
                    if child.__class__ is list:
                        for item in child[::-1]:
                            if item.__class__ in fields:
                                parents[item] = node
                                push(item)
                    elif child.__class__ in fields:
                        parents[child] = node
                        push(child)
        if self.never_run:
            self.loops = [loop for loop in self.loops if not any(self.encloses(item, loop) for item in self.never_run)]

    def _behind(self, node: ast.stmt) -> list[ast.stmt]:
        """The statements of a block behind one that leaves it; those of a module may be cells of a notebook."""
        holder = self.parents[node]
        suite = getattr(holder, "body", None)
        if isinstance(holder, ast.Module) or (suite and suite[-1] is node):
            return []
        suite = self.suite_of(node)
        return suite[self.position_of(node) + 1 :]

    # ---------------------------------------------------------------- names

    def names_called(self, identifier: str) -> list[ast.Name]:
        """Name nodes of this spelling, in whatever scope and context."""
        if self._names_by_id is None:
            self._names_by_id = {}
            for node in self.names:
                self._names_by_id.setdefault(node.id, []).append(node)
        return self._names_by_id.get(identifier, [])

    def attributes_called(self, attribute: str) -> list[ast.Attribute]:
        """Nodes ``x.attribute``, of whatever receiver and in whatever context."""
        if self._attributes_by_name is None:
            self._attributes_by_name = {}
            for node in self.attributes:
                self._attributes_by_name.setdefault(node.attr, []).append(node)
        return self._attributes_by_name.get(attribute, [])

    # ---------------------------------------------------------------- structure

    def parent(self, node: ast.AST) -> ast.AST | None:
        """The node that holds this one; None for the module."""
        return self.parents.get(node)

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """Parents from the nearest outwards, the module last."""
        parents = self.parents
        current = parents.get(node)
        while current is not None:
            yield current
            current = parents.get(current)

    def statement_of(self, node: ast.AST) -> ast.stmt:
        """The innermost statement that holds the node (the node itself when it is one)."""
        current: ast.AST | None = node
        while current is not None and not isinstance(current, ast.stmt):
            current = self.parents.get(current)
        if current is None:
            raise ValueError("the module has no statement around it")
        return current

    def suite_of(self, statement: ast.stmt) -> list[ast.stmt]:
        """The list of statements that holds this one."""
        found = self._suites.get(statement)
        if found is not None:
            return found
        holder = self.parents[statement]
        for field in ("body", "orelse", "finalbody", "handlers", "cases"):
            block = getattr(holder, field, None)
            if isinstance(block, list):
                for at, item in enumerate(block):
                    self._suites[item] = block
                    self._positions[item] = at
        found = self._suites.get(statement)
        if found is not None:
            return found
        raise ValueError("statement without a suite")

    def position_of(self, statement: ast.stmt) -> int:
        """Which statement of its suite this is, counted from 0."""
        self.suite_of(statement)
        return self._positions[statement]

    def statement_rows(self, span: Span) -> tuple[int, int]:
        """First and last row of the statement that holds a span; of a compound statement only its header."""
        first, last = self.source.row(span.start), self.source.row(max(span.start, span.end - 1))
        suite: list[ast.stmt] = self.module.body
        found: ast.stmt | None = None
        while suite:
            holder = next((s for s in suite if s.lineno <= first <= (s.end_lineno or s.lineno)), None)
            if holder is None:
                break
            found = holder
            suite = []
            for field in ("body", "orelse", "finalbody", "handlers", "cases"):
                for item in getattr(holder, field, None) or ():
                    inner = item if isinstance(item, ast.stmt) else None
                    if inner is None:  # an except handler or a match case: its body holds the statements
                        suite.extend(item.body)
                    else:
                        suite.append(inner)
        if found is None:
            return first, last
        body = getattr(found, "body", None)
        if not isinstance(body, list):
            return found.lineno, found.end_lineno or last
        header_end = max(found.lineno, body[0].lineno - 1) if body else last
        return (found.lineno, header_end) if first <= header_end else (first, last)

    def is_elif(self, statement: ast.AST) -> bool:
        """Whether a statement is an ``if`` that is written as ``elif``."""
        return isinstance(statement, ast.If) and self.source.text.startswith("elif", self.start(statement))

    def head_of(self, node: ast.If) -> ast.If:
        """The ``if`` that the chain of an ``elif`` begins with."""
        holder = self.parents[node]
        return self.head_of(holder) if isinstance(holder, ast.If) and self.is_elif(node) else node

    def stands_before(self, statement: ast.stmt, use: ast.AST) -> bool:
        """Whether a statement stands in a block around a use, as one in front of it does: not in another branch."""
        holder = self.parents.get(statement)
        child = None if holder is None else self.child_towards(holder, use)
        return isinstance(child, ast.stmt) and self.suite_of(child) is self.suite_of(statement)

    def in_body(self, holder: ast.AST, child: ast.AST) -> bool:
        """Whether a direct child of a statement or definition stands in its ``body``, not in its header or ``else``."""
        return isinstance(child, ast.stmt) and self.suite_of(child) is getattr(holder, "body", None)

    def child_towards(self, holder: ast.AST, node: ast.AST) -> ast.AST | None:
        """The direct child of ``holder`` that encloses the node; None when the node lies elsewhere."""
        child = node
        for ancestor in self.ancestors(node):
            if ancestor is holder:
                return child
            child = ancestor
        return None

    def function_of(self, node: ast.AST) -> FunctionNode | None:
        """The innermost function around a node (not the node itself)."""
        return self._nearest(node, FUNCTIONS, self._functions_around)  # type: ignore[no-any-return]

    def lambda_of(self, node: ast.AST) -> ast.Lambda | None:
        """The innermost lambda around a node, not looking out of the node's function."""
        for ancestor in self.ancestors(node):
            if isinstance(ancestor, ast.Lambda):
                return ancestor
            if isinstance(ancestor, FUNCTIONS):
                return None
        return None

    def class_of(self, node: ast.AST) -> ast.ClassDef | None:
        """The innermost class around a node."""
        return self._nearest(node, (ast.ClassDef,), self._classes_around)  # type: ignore[no-any-return]

    def takes_object(self, function: FunctionNode) -> bool:
        """Whether a function is a method whose first parameter is the object, or class, that it is called on."""
        first = [*function.args.posonlyargs, *function.args.args][:1]
        return bool(first) and first[0].arg in ("self", "cls") and self.class_of(function) is not None

    def _nearest(self, node: ast.AST, kinds: tuple[type, ...], known: dict[ast.AST, Any]) -> Any:
        """The innermost node of these classes around one; ``known`` tells it for what stands below other nodes."""
        parents, passed = self.parents, []
        holder = parents.get(node)
        while holder is not None and holder not in known:
            if isinstance(holder, kinds):
                known[holder] = holder
                break
            passed.append(holder)
            holder = parents.get(holder)
        found = None if holder is None else known[holder]
        known.update(dict.fromkeys(passed, found))
        return found

    def loop_of(self, node: ast.AST) -> LoopNode | None:
        """The innermost loop whose body holds the node, not looking out of the node's function."""
        child = node
        for ancestor in self.ancestors(node):
            if isinstance(ancestor, (*FUNCTIONS, ast.Lambda, ast.ClassDef)):
                return None
            if isinstance(ancestor, LOOPS) and self.in_body(ancestor, child):
                return ancestor
            child = ancestor
        return None

    def may_leave(self, statement: ast.stmt) -> bool:
        """Whether a statement may leave the turn or function, so that what stands behind it is not come to."""
        return self._may_leave(statement, ast.Continue | ast.Break)

    def may_go_on(self, statement: ast.stmt) -> bool:
        """Whether a statement may end the turn or function, and not the loop: it may do so every time."""
        return self._may_leave(statement, ast.Continue)

    def _may_leave(self, statement: ast.stmt, exits: type | UnionType) -> bool:
        return any(
            isinstance(node, ast.Return)
            or (isinstance(node, exits) and not self.encloses(statement, self.loop_of(node) or node))
            for node in (statement, *self.inside(statement, functions=False))
        )

    def encloses(self, outer: ast.AST, inner: ast.AST) -> bool:
        """Whether ``inner`` lies inside ``outer`` (a node encloses itself)."""
        return outer is inner or any(ancestor is outer for ancestor in self.ancestors(inner))

    def inside(self, node: ast.AST, *, functions: bool = True) -> Sequence[ast.AST]:
        """All nodes below one, in no promised order; ``functions=False`` stays out of nested functions and classes."""
        found = self._inside.get((node, functions))
        if found is None:
            found = self._inside[node, functions] = list(below(node, functions))
        return found

    def nodes_in(self, node: ast.AST, *kinds: type[_Node], functions: bool = True) -> list[_Node]:
        """Those of the nodes inside one that are of these very classes."""
        return [item for item in self.inside(node, functions=functions) if item.__class__ in kinds]

    # ---------------------------------------------------------------- positions

    def start(self, node: ast.AST) -> int:
        """Offset of the first code point of a node; of the first decorator for a decorated definition."""
        decorators = getattr(node, "decorator_list", None)
        if decorators:
            first = decorators[0]
            at = self.source.text.rfind("@", 0, self.source.byte_offset(first.lineno, first.col_offset))
            return at
        return self.source.byte_offset(node.lineno, node.col_offset)  # type: ignore[attr-defined]

    def end(self, node: ast.AST) -> int:
        """Offset just behind a node."""
        return self.source.byte_offset(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]

    def span(self, node: ast.AST) -> Span:
        """Where a node stands, without the parentheses around it."""
        return Span(self.start(node), self.end(node))

    def text(self, node: ast.AST) -> str:
        """Source text of a node."""
        return self.source.text[self.start(node) : self.end(node)]
