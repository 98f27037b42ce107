"""The language server, asked by a real client over standard input and output."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from command import CONFIG, FIXED, SCRIPT, environment, write
from lsprotocol import types
from pytest_lsp import LanguageClient, client_capabilities, make_test_lsp_client

from tpulint.fixer import apply_edits
from tpulint.model import Edit, Span
from tpulint.source import SourceFile

Asking = Callable[[LanguageClient], Coroutine[Any, Any, None]]
ENCODING: dict[LanguageClient, str] = {}
"""What client and server agreed to count columns in."""
ENCODINGS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}
"""What Python calls them, and the bytes of a unit."""
WAIT = 60
"""Seconds until an answer is given up."""


def converse(folder: Path, ask: Asking, editor: str = "visual_studio_code") -> str:
    """Start a server in a folder, ask it, shut it down; what it wrote to standard error."""

    async def run() -> str:
        client: LanguageClient = make_test_lsp_client()
        env = environment(folder.parent / "user-cache")
        await client.start_io(sys.executable, "-P", "-m", "tpulint", "server", cwd=str(folder), env=env)
        capabilities = client_capabilities(editor)
        capabilities.notebook_document = types.NotebookDocumentClientCapabilities(
            types.NotebookDocumentSyncClientCapabilities()
        )
        params = types.InitializeParams(
            capabilities=capabilities, root_uri=folder.as_uri(), process_id=os.getpid(),
            workspace_folders=[types.WorkspaceFolder(uri=folder.as_uri(), name="project")],
        )  # fmt: skip
        answer = await asyncio.wait_for(client.initialize_session(params), WAIT)
        ENCODING[client] = str(answer.capabilities.position_encoding or "utf-16")
        try:
            await asyncio.wait_for(ask(client), WAIT)
        finally:
            await asyncio.wait_for(client.shutdown_session(), WAIT)
            await client.stop()
        return ""

    return asyncio.run(run())


async def until(holds: Callable[[], bool], told: Callable[[], object] = str) -> None:
    """Wait for what the server is to send."""
    for _ in range(WAIT * 10):
        if holds():
            return
        await asyncio.sleep(0.05)
    raise AssertionError(told())


async def opened(client: LanguageClient, path: Path, text: str) -> list[types.Diagnostic]:
    """Open a document, saved or not, and wait for its diagnostics."""
    open_as(client, path.as_uri(), "python", text)
    return await diagnosed(client, path)


def open_as(client: LanguageClient, uri: str, language: str, text: str) -> None:
    """Open a document in a language."""
    document = types.TextDocumentItem(uri=uri, language_id=language, version=1, text=text)
    client.text_document_did_open(types.DidOpenTextDocumentParams(text_document=document))


async def diagnosed(client: LanguageClient, path: Path) -> list[types.Diagnostic]:
    await client.wait_for_notification(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    return list(client.diagnostics[path.as_uri()])


async def actions(
    client: LanguageClient, path: Path, where: types.Range, only: list[types.CodeActionKind | str] | None = None
) -> dict[str, types.CodeAction]:
    """Code actions by title."""
    context = types.CodeActionContext(diagnostics=[], only=only)
    document = types.TextDocumentIdentifier(uri=path.as_uri())
    found = await client.text_document_code_action_async(types.CodeActionParams(document, where, context))
    return {one.title: one for one in found or [] if isinstance(one, types.CodeAction)}


def applied(client: LanguageClient, text: str, action: types.CodeAction) -> str:
    """The text after the edits of an action, as the editor applies them."""
    assert action.edit is not None
    if action.edit.document_changes:
        (change,) = action.edit.document_changes
        assert isinstance(change, types.TextDocumentEdit)
        edits = list(change.edits)
    else:
        (edits,) = map(list, (action.edit.changes or {}).values())
    source = SourceFile.from_text(text)

    def offset(position: types.Position) -> int:
        start = source.line_starts[position.line]
        encoding, size = ENCODINGS[ENCODING[client]]
        units = text[start:].encode(encoding)[: position.character * size]
        return start + len(units.decode(encoding))

    return apply_edits(
        text, [Edit(Span(offset(one.range.start), offset(one.range.end)), one.new_text)  # type: ignore[union-attr]
               for one in edits]
    )  # fmt: skip


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    write(folder / "tpulint.toml", CONFIG)
    write(folder / "train.py", SCRIPT)
    return folder


def test_diagnostics_follow_what_is_typed(project: Path) -> None:
    path = project / "train.py"

    async def ask(client: LanguageClient) -> None:
        found = await opened(client, path, SCRIPT)
        assert [one.code for one in found] == ["ACM001", "ACM002", "ACM003"]
        assert {one.source for one in found} == {"tpulint"}
        assert found[0].range == types.Range(types.Position(3, 4), types.Position(3, 13))
        client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(version=2, uri=path.as_uri()),
                [types.TextDocumentContentChangePartial(
                    range=types.Range(types.Position(3, 0), types.Position(4, 0)), text="")],
            )
        )  # fmt: skip
        assert [one.code for one in await diagnosed(client, path)] == ["ACM002", "ACM003"]
        client.text_document_did_close(
            types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri=path.as_uri()))
        )
        assert await diagnosed(client, path) == []

    converse(project, ask)
    assert path.read_text() == SCRIPT


@pytest.mark.parametrize("editor", ["visual_studio_code", "neovim", "emacs"])
def test_quick_fixes_say_whether_they_are_safe(project: Path, editor: str) -> None:
    path = project / "träin 1.py"
    text = "# \U0001f9e0 ü\n" + SCRIPT.replace("    acme.old(x)", "    '\U0001f9e0'; acme.old(x)  # \U0001f9e0")

    async def ask(client: LanguageClient) -> None:
        found = await opened(client, path, text)
        assert len(found) == 3
        safe, unsafe, none = [await actions(client, path, one.range) for one in found]
        titles = [title for title in (*safe, *unsafe, *none) if "silence" not in title and "apply all" not in title]
        assert len(titles) == 2 and titles[0].endswith("(safe)") and "(unsafe: " in titles[1]
        assert safe[titles[0]].is_preferred and not unsafe[titles[1]].is_preferred
        assert applied(client, text, safe[titles[0]]) == text.replace("    acme.drop()\n", "")
        assert applied(client, text, unsafe[titles[1]]) == text.replace("acme.old", "acme.new")
        silenced = applied(client, text, none["tpulint: silence ACM003 on this line"])
        assert silenced == text.replace("print(acme.keep())", "print(acme.keep())  # noqa: ACM003")
        everything = await actions(client, path, types.Range(types.Position(0, 0), types.Position(0, 0)),
                                   [types.CodeActionKind.SourceFixAll])  # fmt: skip
        (fix_all,) = everything.values()
        assert applied(client, text, fix_all) == text.replace("    acme.drop()\n", "")

    converse(project, ask, editor)


def test_hover_explains_the_rule(project: Path) -> None:
    path = project / "train.py"

    async def ask(client: LanguageClient) -> None:
        await opened(client, path, SCRIPT)
        document = types.TextDocumentIdentifier(uri=path.as_uri())
        hover = await client.text_document_hover_async(types.HoverParams(document, types.Position(3, 6)))
        assert hover is not None and isinstance(hover.contents, types.MarkupContent)
        assert "### ACM001 acme-leftover" in hover.contents.value and "Fix safety" in hover.contents.value
        assert await client.text_document_hover_async(types.HoverParams(document, types.Position(0, 0))) is None

    converse(project, ask)


def test_a_configuration_that_breaks_takes_no_diagnostics_away(project: Path) -> None:
    path, config = project / "train.py", project / "tpulint.toml"

    def save_config(client: LanguageClient, text: str) -> None:
        write(config, text)
        client.workspace_did_change_watched_files(
            types.DidChangeWatchedFilesParams([types.FileEvent(config.as_uri(), types.FileChangeType.Changed)])
        )

    async def ask(client: LanguageClient) -> None:
        assert len(await opened(client, path, SCRIPT)) == 3
        save_config(client, "select = [")
        assert len(await diagnosed(client, path)) == 3
        # What is typed in the meantime is linted as the configuration was.
        client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(version=2, uri=path.as_uri()),
                [types.TextDocumentContentChangeWholeDocument(FIXED)],
            )
        )
        assert [one.code for one in await diagnosed(client, path)] == ["ACM002", "ACM003"]
        (message,) = client.messages
        assert message.type == types.MessageType.Error and "tpulint.toml" in message.message
        save_config(client, CONFIG + 'ignore = ["ACM002"]\n')
        assert [one.code for one in await diagnosed(client, path)] == ["ACM003"]
        save_config(client, "select = [")
        assert [one.code for one in await diagnosed(client, path)] == ["ACM003"]
        assert len(client.messages) == 2

    converse(project, ask)


# ---------------------------------------------------------------- notebooks


class Notebook:
    """A notebook that is open in an editor, with what the editor shows of each cell."""

    def __init__(self, client: LanguageClient, path: Path, cells: list[str]) -> None:
        self.client = client
        self.uri = path.as_uri()
        self.path = path
        self.version = 1
        self.cells = [self.address(number) for number in range(len(cells))]
        items = [types.TextDocumentItem(uri, "python", 1, text) for uri, text in zip(self.cells, cells, strict=True)]
        document = types.NotebookDocument(self.uri, "jupyter-notebook", 1, [self.cell(uri) for uri in self.cells])
        client.notebook_document_did_open(types.DidOpenNotebookDocumentParams(document, items))

    def address(self, name: object) -> str:
        return f"vscode-notebook-cell:{self.uri.removeprefix('file://')}#W{name}sZmlsZQ%3D%3D"

    @staticmethod
    def cell(uri: str) -> types.NotebookCell:
        return types.NotebookCell(types.NotebookCellKind.Code, uri)

    def change(self, change: types.NotebookDocumentCellChanges) -> None:
        self.version += 1
        self.client.notebook_document_did_change(
            types.DidChangeNotebookDocumentParams(
                types.VersionedNotebookDocumentIdentifier(self.version, self.uri),
                types.NotebookDocumentChangeEvent(cells=change),
            )
        )

    def type_in(self, number: int, text: str) -> None:
        document = types.VersionedTextDocumentIdentifier(2, self.cells[number])
        whole = types.TextDocumentContentChangeWholeDocument(text)
        content = types.NotebookDocumentCellContentChanges(document, [whole])
        self.change(types.NotebookDocumentCellChanges(text_content=[content]))

    def insert(self, at: int, text: str) -> None:
        uri = self.address(f"new{self.version}")
        self.cells.insert(at, uri)
        array = types.NotebookCellArrayChange(at, 0, [self.cell(uri)])
        item = types.TextDocumentItem(uri, "python", 1, text)
        structure = types.NotebookDocumentCellChangeStructure(array, did_open=[item])
        self.change(types.NotebookDocumentCellChanges(structure=structure))

    def remove(self, at: int) -> str:
        uri = self.cells.pop(at)
        array = types.NotebookCellArrayChange(at, 1)
        structure = types.NotebookDocumentCellChangeStructure(array, did_close=[types.TextDocumentIdentifier(uri)])
        self.change(types.NotebookDocumentCellChanges(structure=structure))
        return uri

    def close(self) -> None:
        cells = [types.TextDocumentIdentifier(uri) for uri in self.cells]
        notebook = types.NotebookDocumentIdentifier(self.uri)
        self.client.notebook_document_did_close(types.DidCloseNotebookDocumentParams(notebook, cells))

    def shown(self) -> list[list[str]]:
        """By cell, row and code of the diagnostics that the editor has now."""
        return [
            [f"{one.range.start.line}:{one.code}" for one in self.client.diagnostics.get(uri, ())] for uri in self.cells
        ]

    async def shows(self, wanted: list[list[str]]) -> None:
        """Wait until these are the diagnostics."""
        await until(lambda: self.shown() == wanted, self.shown)

    async def actions(self, number: int, row: int) -> dict[str, types.CodeAction]:
        document = types.TextDocumentIdentifier(self.cells[number])
        where = types.Range(types.Position(row, 0), types.Position(row, 100))
        context = types.CodeActionContext(diagnostics=[])
        found = await self.client.text_document_code_action_async(types.CodeActionParams(document, where, context))
        return {one.title: one for one in found or [] if isinstance(one, types.CodeAction)}

    def applied(self, action: types.CodeAction, cells: list[str]) -> list[str]:
        """The cells after the edits of an action."""
        assert action.edit is not None and action.edit.document_changes
        texts = list(cells)
        for change in action.edit.document_changes:
            assert isinstance(change, types.TextDocumentEdit)
            one = types.WorkspaceEdit(document_changes=[change])
            number = self.cells.index(change.text_document.uri)
            texts[number] = applied(self.client, texts[number], types.CodeAction("", edit=one))
        return texts


CELLS = [
    "%matplotlib inline\nimport torch",
    "'\U0001f9e0'; device = torch.device('cuda')\ntorch.cuda.empty_cache()",
    "def f():\n    return (",
    "x = torch.ones(1).to(device)\n!pip install torch==2.1.0+cu118",
]
CONFIG_OF_NOTEBOOK = 'select = ["TPU001", "TPU010", "TPU918"]\n'


def test_a_notebook_is_one_program(project: Path) -> None:
    path = project / "träin 1.ipynb"
    write(project / "tpulint.toml", CONFIG_OF_NOTEBOOK)

    async def ask(client: LanguageClient) -> None:
        notebook = Notebook(client, path, CELLS)
        await notebook.shows([[], ["0:TPU001", "1:TPU010"], ["1:invalid-syntax"], ["1:TPU918"]])
        first = client.diagnostics[notebook.cells[1]][0]
        assert first.range.start.character == {"utf-8": 17, "utf-16": 15, "utf-32": 14}[ENCODING[client]]
        # Without the import of the first cell nothing is known of torch below it.
        notebook.type_in(0, "%matplotlib inline")
        await notebook.shows([[], [], ["1:invalid-syntax"], ["1:TPU918"]])
        notebook.insert(1, "import torch")
        await notebook.shows([[], [], ["0:TPU001", "1:TPU010"], ["1:invalid-syntax"], ["1:TPU918"]])
        gone = notebook.remove(3)
        await notebook.shows([[], [], ["0:TPU001", "1:TPU010"], ["1:TPU918"]])
        await until(lambda: not client.diagnostics[gone])
        # A cell that moves below what needs it.
        notebook.remove(1)
        await notebook.shows([[], [], ["1:TPU918"]])
        notebook.close()
        await notebook.shows([[], [], []])
        assert client.messages == []

    converse(project, ask)
    assert not path.exists()


def test_fixes_of_a_notebook_are_those_of_its_cells(project: Path) -> None:
    cells = [CELLS[0], CELLS[1], "x = torch.ones(1).to(device)\ntorch.cuda.empty_cache()", "torch.cuda.empty_cache()"]
    write(project / "tpulint.toml", CONFIG_OF_NOTEBOOK)

    async def ask(client: LanguageClient) -> None:
        notebook = Notebook(client, project / "nb.ipynb", cells)
        await notebook.shows([[], ["0:TPU001", "1:TPU010"], ["1:TPU010"], ["0:TPU010"]])
        (safe,) = [one for title, one in (await notebook.actions(2, 1)).items() if title.endswith("(safe)")]
        assert notebook.applied(safe, cells) == [*cells[:2], "x = torch.ones(1).to(device)", cells[3]]
        (only,) = [one for title, one in (await notebook.actions(3, 0)).items() if title.endswith("(safe)")]
        assert notebook.applied(only, cells) == [*cells[:3], ""]
        offered = await notebook.actions(1, 0)
        (device,) = [one for title, one in offered.items() if "TPU010" not in title and "device" in title]
        changed = notebook.applied(device, cells)
        assert changed[0] == f"{cells[0]}\nimport torch_xla" and "torch_xla.device()" in changed[1]
        assert changed[2:] == cells[2:]
        silenced = notebook.applied(offered["tpulint: silence TPU001 on this line"], cells)
        assert silenced == [cells[0], cells[1].replace("\n", "  # noqa: TPU001\n"), *cells[2:]]
        everything = notebook.applied(offered["tpulint: apply all safe fixes"], cells)
        assert "empty_cache" not in "".join(everything) and everything[0].startswith("%matplotlib inline\n")
        document = types.TextDocumentIdentifier(notebook.cells[2])
        hover = await client.text_document_hover_async(types.HoverParams(document, types.Position(1, 3)))
        assert hover is not None and isinstance(hover.contents, types.MarkupContent)
        assert "### TPU010" in hover.contents.value and hover.range and hover.range.start.line == 1
        assert list(await notebook.actions(0, 0)) == ["tpulint: apply all safe fixes"]

    converse(project, ask)


def test_what_cannot_be_linted_is_told_once_and_can_be_mended(project: Path) -> None:
    path, config = project / "train.py", project / "tpulint.toml"
    write(config, "select = [")

    async def ask(client: LanguageClient) -> None:
        assert await opened(client, path, SCRIPT) == []
        (message,) = client.messages
        assert message.type == types.MessageType.Error and "tpulint.toml" in message.message
        write(config, CONFIG)
        client.workspace_did_change_watched_files(
            types.DidChangeWatchedFilesParams([types.FileEvent(config.as_uri(), types.FileChangeType.Changed)])
        )
        assert len(await diagnosed(client, path)) == 3
        broken = await opened(client, project / "broken.py", "import acme\ndef f(:\n")
        assert [one.code for one in broken] == ["invalid-syntax"]
        excluded = await opened(client, project / ".venv" / "x.py", SCRIPT)
        assert excluded == []

    converse(project, ask)


def test_what_is_not_python_is_not_read_as_python(project: Path) -> None:
    write(project / "tpulint.toml", "")

    async def ask(client: LanguageClient) -> None:
        for name, language in (("pyproject.toml", "toml"), ("nb.ipynb", "json"), ("README.md", "markdown")):
            open_as(client, (project / name).as_uri(), language, "it's 1 [\n")
        open_as(client, "untitled:Untitled-1", "plaintext", "it's 1 [\n")
        open_as(client, "untitled:Untitled-2", "shellscript", "nvidia-smi\npython train.py --device cuda\n")
        last = (project / "train.py").as_uri()
        open_as(client, last, "python", "import torch\n")
        await until(lambda: last in client.diagnostics)
        assert set(client.diagnostics) == {last, "untitled:Untitled-2"}
        assert [one.code for one in client.diagnostics["untitled:Untitled-2"]] == ["TPU926"]

    converse(project, ask)


def test_half_a_surrogate_pair_is_no_python(project: Path) -> None:
    async def ask(client: LanguageClient) -> None:
        (found,) = await opened(client, project / "train.py", "import acme\nx = '\ud83d'\n")
        assert found.code == "invalid-syntax" and not client.messages

    converse(project, ask)


def test_without_the_extra_it_says_what_to_install(project: Path) -> None:
    hidden = (
        "import sys; sys.modules['pygls'] = None; sys.modules['lsprotocol'] = None; sys.argv = ['tpulint', 'server']"
    )
    command = [sys.executable, "-P", "-c", f"{hidden}; import tpulint.cli; tpulint.cli.main()"]
    done = subprocess.run(command, cwd=project, env=environment(project.parent / "c"), capture_output=True, text=True)
    assert done.returncode == 2 and "tpulint[server]" in done.stderr and done.stderr.count("\n") == 1
