"""Guards, and ``try``, left with nothing: ``if device.type == "xla": pass``, after fixes took their statements."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from tpulint.model import Span

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_PURE = (
    ast.Name, ast.Attribute, ast.Constant, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.BinOp, ast.List, ast.Tuple,
    ast.Set, ast.IfExp, ast.JoinedStr, ast.FormattedValue,
)  # fmt: skip
_PURE_CALLS = frozenset({
    "builtins.str", "builtins.bool", "builtins.int", "builtins.len", "builtins.isinstance", "builtins.hasattr",
    "builtins.getattr", "torch.cuda.is_available", "torch.cuda.is_initialized", "torch.cuda.device_count",
    "torch.distributed.get_rank", "torch.distributed.get_world_size", "torch.distributed.is_initialized",
    "torch.distributed.is_available", "torch.cuda.current_device", "os.environ.get", "os.getenv", "torch.device",
    "torch.accelerator.is_available", "torch.accelerator.device_count", "torch.accelerator.current_accelerator",
    "torch_xla.device", "torch_xla.runtime.world_size", "torch_xla.runtime.global_ordinal",
    "torch_xla.runtime.local_ordinal",
})  # fmt: skip
_PURE_METHODS = frozenset({"startswith", "endswith", "lower", "upper", "strip", "get", "format", "is_pinned"})
"""Of texts, dictionaries and tensors."""
_DEPTH = 3


def emptied_guards(before: SemanticIndex, after: SemanticIndex) -> list[ast.If]:
    """Guards whose branches are ``pass`` since the fixes, and whose conditions only look at something."""
    if not after.mentions(r"\bpass\b"):
        return []
    # A line of a notebook that is for a shell is read as `pass`, and does not say so.
    known = Counter(words(guard.test) for guard in _guards_of_nothing(before))
    found: list[ast.If] = []
    for guard in _guards_of_nothing(after):
        text = words(guard.test)
        if known[text]:
            known[text] -= 1  # its author wrote it so
        elif all(only_looks(after, test) for test in _tests(guard)) and not has_comment(after, guard):
            found.append(guard)
    return found


def emptied_ends(before: SemanticIndex, after: SemanticIndex) -> list[Span]:
    """The ends of chains, ``else: pass``, that do nothing since the fixes, from behind what stands above them."""
    if not after.mentions(r"\bpass\b"):
        return []
    known = Counter(words(guard.test) for guard in _ends_of_nothing(before))
    found: list[Span] = []
    for guard in _ends_of_nothing(after):
        text = words(guard.test)
        if known[text]:
            known[text] -= 1  # its author wrote it so
        elif all(only_looks(after, test) for test in _tests(guard)[1:]) and not has_comment(after, guard.orelse[0]):
            span = Span(after.tree.end(guard.body[-1]), after.tree.end(guard))
            if "#" not in after.source.text[span.start : span.end]:
                found.append(span)
    return found


def emptied_tries(before: SemanticIndex, after: SemanticIndex) -> list[ast.Try]:
    """``try: pass`` since the fixes, whose handlers never run.

    A comment on what was tried, or on what became of its failing, goes with it.
    """
    if not after.mentions(r"\btry\b"):
        return []
    known = Counter(map(_handlers, _tries_of_nothing(before)))
    found: list[ast.Try] = []
    for attempt in _tries_of_nothing(after):
        handlers = _handlers(attempt)
        if known[handlers]:
            known[handlers] -= 1  # its author wrote it so
        else:
            found.append(attempt)
    return found


def _tries_of_nothing(index: SemanticIndex) -> Iterator[ast.Try]:
    for node in index.tree.parents:
        if not isinstance(node, ast.Try) or node.orelse or node.finalbody or len(node.body) > 1:
            continue
        if isinstance(node.body[0], ast.Pass) and index.text(node.body[0]) == "pass":  # no line for a shell
            yield node


def _handlers(attempt: ast.Try) -> str:
    return "\n".join(map(ast.dump, attempt.handlers))


def _ends_of_nothing(index: SemanticIndex) -> Iterator[ast.If]:
    """Guards that do something, and nothing otherwise."""
    for node in index.tree.parents:
        if isinstance(node, ast.If) and node.orelse and _ends_in_nothing(node) and not _does_nothing(node):
            yield node


def _guards_of_nothing(index: SemanticIndex) -> Iterator[ast.If]:
    for node in index.tree.parents:
        if isinstance(node, ast.If) and _does_nothing(node) and not index.text(node).startswith("elif"):
            yield node


def _does_nothing(guard: ast.If) -> bool:
    if not isinstance(guard.body[0], ast.Pass) or len(guard.body) > 1:
        return False
    return not guard.orelse or _ends_in_nothing(guard)


def _ends_in_nothing(guard: ast.If) -> bool:
    rest = guard.orelse[0]
    nothing = isinstance(rest, ast.Pass) or (isinstance(rest, ast.If) and _does_nothing(rest))
    return nothing and len(guard.orelse) == 1


def _tests(guard: ast.If) -> list[ast.expr]:
    """The conditions of a guard and of its ``elif``."""
    rest = guard.orelse[0] if guard.orelse else None
    return [guard.test, *(_tests(rest) if isinstance(rest, ast.If) else [])]


def words(test: ast.expr) -> str:
    """A condition as it is known again after the fixes."""
    return ast.dump(test).replace("cuda", "xla")  # the name of the device may have changed


def only_looks(index: SemanticIndex, value: ast.expr, depth: int = 0) -> bool:
    """Whether an expression has no effect: whether it is evaluated makes no difference but for its value."""
    for node in (value, *index.tree.inside(value)):
        if isinstance(node, ast.Call):
            func = node.func
            method = func.attr if isinstance(func, ast.Attribute) and index.qualified_name(func) is None else ""
            is_pure = index.qualified_name(func) in _PURE_CALLS or method in _PURE_METHODS
            if not is_pure and not _answers_a_look(index, node, depth):
                return False
        elif isinstance(node, ast.Subscript):
            if index.qualified_name(node.value) != "os.environ" and not _is_asked_again(index, node):
                return False  # an item may be missing, and may be made by looking
        elif isinstance(node, ast.expr) and not isinstance(node, _PURE):
            return False
    return True


def _answers_a_look(index: SemanticIndex, call: ast.Call, depth: int) -> bool:
    """Whether a function of the file does nothing but look: ``def is_started(): return dist.is_initialized()``."""
    function = index.definitions.function_called(call) if depth < _DEPTH else None
    if function is None or function.decorator_list or isinstance(function, ast.AsyncFunctionDef):
        return False
    first, *rest = function.body
    is_told = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)  # a docstring
    body = rest if is_told and rest else [first, *rest]
    value = body[0].value if isinstance(body[0], ast.Return) and len(body) == 1 else None
    return value is not None and only_looks(index, value, depth + 1)


def _is_asked_again(index: SemanticIndex, item: ast.Subscript) -> bool:
    """Whether other code asks for an item by the same name: ``config["no_cuda"]``."""
    if not isinstance(item.slice, ast.Constant) or not isinstance(item.slice.value, str):
        return False
    text = index.text(item)
    function = index.function_of(item)
    return any(
        isinstance(other, ast.Subscript)
        and other is not item
        and isinstance(other.ctx, ast.Load)
        and index.text(other) == text
        and index.function_of(other) is function
        for other in index.tree.parents
    )


def has_comment(index: SemanticIndex, statement: ast.stmt) -> bool:
    """Whether a comment stands on a line of a statement."""
    from tpulint.comments import comment_spans

    source = index.source
    first, last = source.row(index.span(statement).start), source.row(index.span(statement).end)
    return any(first <= source.row(comment.start) <= last for comment in comment_spans(source.code))
