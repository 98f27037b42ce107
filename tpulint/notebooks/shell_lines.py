"""The shell text of a notebook's cells: ``!pip install``, ``%env``, ``%%bash``."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from tpulint.languages import SHELL
from tpulint.model import Span
from tpulint.notebooks.source import NotebookSource
from tpulint.source import SourceFile
from tpulint.text_files import Command, TextIndex, shell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex


def shell_lines(source: SourceFile) -> ShellLines:
    """The shell text of a notebook."""
    assert isinstance(source, NotebookSource)
    return ShellLines(source)


class ShellLines(TextIndex):
    """What shells read of a notebook, at the offsets it has there. Each stretch is a script of its own."""

    def __init__(self, notebook: NotebookSource) -> None:
        super().__init__(SourceFile(notebook.shell_text, notebook.path))
        self.language = SHELL
        self._notebook = notebook

    @cached_property
    def script(self) -> shell.Script:
        """The commands of all stretches."""
        scripts = [shell.read(self.source.text, *stretch) for stretch in self._notebook.shell_stretches]
        return shell.Script(
            tuple(self._placed(command) for script in scripts for command in script.commands),
            tuple(comment for script in scripts for comment in script.comments),
            tuple(branch for script in scripts for branch in script.hardware_branches),
        )

    def _placed(self, command: Command) -> Command:
        """The command, which a block of Python around its line makes one of a block."""
        line = self.source.line(self.source.row(command.span.start))
        notebook_line = self._notebook.line(self._notebook.row(command.span.start))
        if not notebook_line[:1].isspace() or notebook_line == line:
            return command
        return command._replace(depth=command.depth + 1, tested=True)

    @cached_property
    def comments(self) -> tuple[Span, ...]:
        """Where the comments stand."""
        return self.script.comments

    @cached_property
    def concerns_torch(self) -> bool:
        """Whether the notebook speaks of torch, in any of its cells."""
        return "torch" in self._notebook.text

    def rows_around(self, index: SemanticIndex | TextIndex) -> Callable[[Span], tuple[int, int]]:
        """Tells of a span the first and last row of the shell command or else, by ``index``, the statement around."""
        stretches = self._notebook.shell_stretches

        def rows(span: Span) -> tuple[int, int]:
            in_shell = any(stretch.start <= span.start < stretch.end for stretch in stretches)
            return self.statement_rows(span) if in_shell else index.statement_rows(span)

        return rows
