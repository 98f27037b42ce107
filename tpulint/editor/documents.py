"""What an editor has open: files, and notebooks with their cells, each cell a text of its own."""

from __future__ import annotations

import json
import os
from typing import NamedTuple
from urllib.parse import unquote

from lsprotocol import types
from pygls.uris import to_fs_path
from pygls.workspace import TextDocument, Workspace

from tpulint.languages import PYTHON, language_of
from tpulint.notebooks.source import read_notebook
from tpulint.source import SourceFile

_UNSAVED_NAMES = {"python": "untitled.py", "shellscript": "untitled.sh", "dockerfile": "Dockerfile"}
"""By language of the editor: the name under which a text is linted that was never saved."""


class Part(NamedTuple):
    """One text of an editor."""

    uri: str
    """As the editor writes it."""
    text: str
    version: int | None
    is_python: bool = True


class Document(NamedTuple):
    """What is linted as one."""

    uri: str
    path: str
    parts: tuple[Part, ...]
    """The file, unless it is in a language that is not linted; of a notebook the cells of code that the editor tells
    of, in order."""
    is_notebook: bool

    def source(self) -> SourceFile:
        """The text, or the notebook as a file would hold it, whose cells have the numbers of the parts, from 1."""
        if not self.is_notebook:
            return SourceFile.from_text(self.parts[0].text, self.path)
        cells = [
            {"cell_type": "code", "source": part.text,
             "metadata": {} if part.is_python else {"vscode": {"languageId": "other"}}}
            for part in self.parts
        ]  # fmt: skip
        notebook = {"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": cells}
        return read_notebook(json.dumps(notebook).encode(), self.path)

    def part(self, cell: int) -> Part:
        """The part with a number of a cell, 0 in a file."""
        return self.parts[max(0, cell - 1)]

    def cell_at(self, uri: str) -> int | None:
        """The number of the cell that the editor means by an address, 0 for a file."""
        for number, part in enumerate(self.parts, 1):
            if unquote(part.uri) == unquote(uri):
                return number if self.is_notebook else 0
        return None


def document_of(workspace: Workspace, uri: str) -> Document | None:
    """What an address belongs to, be it that of a file, a notebook or a cell; None where there is nothing."""
    notebook = workspace.get_notebook_document(notebook_uri=uri) or workspace.get_notebook_document(cell_uri=uri)
    if notebook is None:
        text = workspace.get_text_document(uri)
        try:
            return _file(uri, text)
        except OSError:  # never opened, and not on disk
            return None
    parts = []
    for cell in notebook.cells:
        if cell.kind == types.NotebookCellKind.Code and unquote(cell.document) in workspace.text_documents:
            text = workspace.get_text_document(cell.document)
            parts.append(Part(cell.document, text.source, text.version, text.language_id in (None, "python")))
    return Document(notebook.uri, path_of(notebook.uri, "untitled.ipynb"), tuple(parts), is_notebook=True)


def _file(uri: str, text: TextDocument) -> Document:
    """One file, saved or not. Raises ``OSError`` for one that is neither open nor on disk."""
    language = text.language_id or "python"
    path = path_of(uri, _UNSAVED_NAMES.get(language, "untitled.txt"))
    part = Part(uri, text.source, text.version)
    is_ours = language == "python" or path.endswith(".py") or language_of(path, part.text) != PYTHON
    return Document(uri, path, (part,) if is_ours else (), is_notebook=False)


def path_of(uri: str, unsaved: str = "untitled.py") -> str:
    """The path of a document; one that was never saved lies in the working directory."""
    path = to_fs_path(uri) if uri.startswith("file:") else None
    return path or os.path.join(os.getcwd(), unsaved)
