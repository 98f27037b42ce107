"""Notebooks for tests, made by nbformat in all the forms it writes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import nbformat
from nbformat import v3, v4

PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


class Form(NamedTuple):
    """How a notebook's file is written."""

    minor: int = 5
    """Of nbformat 4; -1 for nbformat 3."""
    indent: int | None = 1
    ends_in_newline: bool = True
    newline: str = "\n"
    ensure_ascii: bool = False
    as_string: bool = False
    """Whether the code of a cell is one string, not a list of lines."""
    metadata: dict[str, Any] = {}


FORMS = {
    "4.5": Form(),
    "4.4 of four blanks": Form(4, indent=4),
    "4.2 of two blanks, without a last newline": Form(2, indent=2, ends_in_newline=False),
    "4.1 with CRLF": Form(1, newline="\r\n"),
    "4.0 on one line": Form(0, indent=None),
    "4.5 in ASCII": Form(ensure_ascii=True),
    "4.4 of strings": Form(4, as_string=True),
    "4.4 of strings in ASCII on one line": Form(4, indent=None, ensure_ascii=True, as_string=True),
    "3": Form(-1),
    "3 in ASCII": Form(-1, indent=2, ensure_ascii=True),
}


def notebook(cells: Sequence[str], form: Form = FORMS["4.5"]) -> bytes:
    """A valid notebook with these cells of code, between them others, with outputs and attachments."""
    made = _version_3(cells) if form.minor < 0 else _version_4(cells, form.minor)
    made["metadata"].update(form.metadata)
    nbformat.validate(made)
    plain = json.loads(nbformat.writes(made, version=nbformat.NO_CONVERT))
    if form.as_string:
        for cell in plain["cells"]:
            cell["source"] = "".join(cell["source"])
    text = json.dumps(plain, indent=form.indent, ensure_ascii=form.ensure_ascii, sort_keys=True)
    text += "\n" if form.ends_in_newline else ""
    return text.replace("\n", form.newline).encode()


def code_of(data: bytes) -> list[str]:
    """The code of a notebook's cells, read without tpulint."""
    read = json.loads(data)
    sheets = read.get("worksheets", [read])
    cells = [cell for sheet in sheets for cell in sheet["cells"] if cell["cell_type"] == "code"]
    return ["".join(cell.get("source", cell.get("input"))) for cell in cells]


def without_code(data: bytes) -> object:
    """All of a notebook but the code of its cells."""
    read = json.loads(data)
    for sheet in read.get("worksheets", [read]):
        for cell in sheet["cells"]:
            if cell["cell_type"] == "code":
                cell.pop("source", None)
                cell.pop("input", None)
    return read


def is_valid(data: bytes) -> bool:
    """Whether nbformat takes the bytes for a valid notebook."""
    try:
        nbformat.validate(nbformat.reads(data.decode(), as_version=nbformat.NO_CONVERT))
    except (nbformat.ValidationError, nbformat.validator.NotebookValidationError):
        return False
    return True


def _version_4(cells: Sequence[str], minor: int) -> Any:
    made = v4.new_notebook(nbformat_minor=minor)
    title = v4.new_markdown_cell("# Überschrift\n![a](attachment:a.png)")
    if minor >= 1:
        title["attachments"] = {"a.png": {"image/png": PICTURE}}
    made.cells.append(title)
    for number, text in enumerate(cells):
        outputs = [
            v4.new_output("stream", text=f"torch.cuda.is_available()\n\u00e9 <b> {number}\n"),
            v4.new_output("display_data", {"image/png": PICTURE, "text/plain": ["a\\nb", "\u2028"][number % 2]}),
            v4.new_output("error", ename="E", evalue='"', traceback=["\x1b[31mboom\x1b[0m"]),
        ]
        cell = v4.new_code_cell(text, execution_count=number + 1, outputs=outputs)
        cell.metadata["source"] = ["import torch\n"]
        made.cells.append(cell)
        made.cells.append(v4.new_raw_cell("device = 'cuda'"))
    for number, cell in enumerate(made.cells):
        if minor < 5:
            cell.pop("id", None)
        else:
            cell["id"] = f"cell-{number}"
    return made


def _version_3(cells: Sequence[str]) -> Any:
    written = [v3.new_text_cell("markdown", source="# Überschrift")]
    for number, text in enumerate(cells):
        outputs = [v3.new_output(output_type="stream", output_text="torch.cuda\n", stream="stdout")]
        written.append(v3.new_code_cell(input=text, prompt_number=number + 1, outputs=outputs))
    return v3.new_notebook(metadata=v3.new_metadata(name="x"), worksheets=[v3.new_worksheet(cells=written)])
