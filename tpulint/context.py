"""What a rule may touch: one file's index, the target, and how to make findings and fixes."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from tpulint.emitters import Emitter, PortableEmitter
from tpulint.fixes import FixBuilder
from tpulint.imports import ImportTable
from tpulint.model import Applicability, Certainty, Finding, Fix, Scope, Severity, Span
from tpulint.semantic import SemanticIndex
from tpulint.targets import Target

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.folding import Folding as Folding
    from tpulint.rule import Rule
    from tpulint.source import SourceFile

__all__ = ["FileContext", "FixBuilder"]


class FileContext:
    """The whole rule API for one file and one rule."""

    __slots__ = ("_imports", "index", "options", "portable", "rule", "runtime", "source", "target")

    def __init__(
        self,
        index: SemanticIndex,
        rule: Rule,
        target: Target,
        options: Mapping[str, object],
        *,
        portable: bool = False,
        runtime: str = "auto",
    ) -> None:
        self.index = index
        self.source: SourceFile = index.source
        self.rule = rule
        self.target = target
        self.options = options
        self.portable = portable
        """Whether the written code must still run on CUDA and the CPU."""
        self.runtime = runtime
        """``auto``: fixes may import tpulint_runtime; ``never``: such fixes are only shown."""
        self._imports = ImportTable(index)

    def finding(
        self,
        where: ast.AST | Span,
        message: str,
        fix: Fix | FixBuilder | None = None,
        *,
        severity: Severity | None = None,
        certainty: Certainty = Certainty.CERTAIN,
        help: str = "",
        related: tuple[tuple[Span, str], ...] = (),
        runs: ast.AST | None = None,
    ) -> Finding:
        """One place this rule speaks about. A builder whose fix turned out impossible gives a finding without one.

        For a span, ``runs`` is the node that tells how often what is found runs: a loop for its turns.
        """
        span = where if isinstance(where, Span) else self.index.span(where)
        runs = where if runs is None and isinstance(where, ast.AST) else runs
        pace = None if runs is None else self.index.paces.of(runs)
        if isinstance(fix, FixBuilder):
            fix = fix.build()
        return Finding(
            self.rule.code,
            self.rule.name,
            span,
            " ".join(message.split()) if "\n" in message else message,  # code that it quotes may stand on several lines
            self.rule.severity if severity is None else severity,
            certainty,
            fix,
            help,
            related,
            "" if pace is None else pace.value,
        )

    def fix(self, title: str, applicability: Applicability, reason: str, scope: Scope = Scope.EXPRESSION) -> FixBuilder:
        """A new, empty fix."""
        emitter = PortableEmitter if self.portable else Emitter
        return FixBuilder(self.index, self._imports, title, applicability, reason, scope, emitter)

    def text(self, node: ast.AST) -> str:
        """Source text of a node."""
        return self.index.text(node)


def short(text: str, most: int = 60) -> str:
    """A text in one line of at most so many characters, for a message."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 3]}..."
