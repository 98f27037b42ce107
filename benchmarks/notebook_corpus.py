"""Lint and fix every notebook under some folders in memory, and hold the results against the laws of notebooks.

    python benchmarks/notebook_corpus.py PATH [PATH ...] [--jobs 2] [--show]

A notebook counts as broken when the engine fails, the fixed file is no longer valid for nbformat though the original
was, anything but the code of cells changed (compared byte for byte around the code, and as JSON), a magic is lost that
no rule about shell lines took out, or a second run changes something. Where the original is what nbformat itself
writes, the fixed file must be so as well. Nothing is written to the files; nbformat must be installed.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import warnings
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

_MAGIC = re.compile(r"\s*(?:[!?]|%%?[A-Za-z])")


class Outcome(NamedTuple):
    """What happened to one notebook."""

    path: str
    unreadable: str
    """Why it is not read; empty when it is."""
    cells: int
    broken_cells: tuple[str, ...]
    """What Python says of the cells it cannot read."""
    findings: tuple[str, ...]
    """Codes."""
    changed: tuple[bool, bool]
    """Whether safe and unsafe fixes changed the file."""
    broken: tuple[str, ...]


def judge(path: str) -> Outcome:
    """Lint and fix one notebook in memory."""
    from tpulint.catalog import load
    from tpulint.config import Settings
    from tpulint.linter import lint
    from tpulint.notebooks.source import NotebookSource
    from tpulint.source import SourceFile, UnreadableSource

    warnings.simplefilter("ignore")
    catalogue = load()
    data = Path(path).read_bytes()
    try:
        source = SourceFile.from_bytes(data, path)
    except UnreadableSource as error:
        return Outcome(path, f"row {error.row}: {error.message}", 0, (), (), (False, False), ())
    assert isinstance(source, NotebookSource)
    broken = ["not written back as it was read"] if source.to_bytes() != data else []
    checked = lint(source, Settings(), catalogue)
    if checked.error:
        broken.append(f"check: {checked.error}")
    changed = []
    for unsafe in (False, True):
        settings = Settings(fix=True, unsafe_fixes=unsafe)
        label = "unsafe" if unsafe else "safe"
        result = lint(source, settings, catalogue)
        if result.error:
            broken.append(f"{label}: {result.error}")
        changed.append(result.text != source.text)
        if result.text == source.text:
            continue
        after = source.with_text(result.text, result.cell_starts).to_bytes()
        broken += [f"{label}: {problem}" for problem in differences(data, after, path)]
        again = lint(SourceFile.from_bytes(after, path), settings, catalogue)
        if again.text != result.text:
            broken.append(f"{label}: a second run changes the text")
    codes = tuple(finding.code for finding in checked.findings)
    cells = tuple(finding.message for finding in checked.findings if finding.code == "invalid-syntax")
    return Outcome(path, "", len(source.texts), cells, codes, (changed[0], changed[1]), tuple(broken))


def differences(before: bytes, after: bytes, path: str) -> list[str]:
    """What changed that must not."""
    import nbformat

    from tpulint.notebooks.document import Document

    found = []
    old, new = json.loads(before), json.loads(after)
    if is_valid(old) and not is_valid(new):
        found.append("no longer valid")
    if _without_code(old) != _without_code(new):
        found.append("more than code changed")
    if _around_code(Document.read(before.decode())) != _around_code(Document.read(after.decode())):
        found.append("bytes around the code changed")
    written = [nbformat.writes(nbformat.from_dict(one)).encode() for one in (old, new)]
    if before.rstrip() == written[0].rstrip() and after.rstrip() != written[1].rstrip():
        found.append("not as nbformat writes it")
    lost = Counter(_magics(old)) - Counter(_magics(new))
    if any(not line.lstrip().startswith(("!", "%env", "%set_env", "%pip")) for line in lost):
        found.append(f"a magic is lost: {[*lost]}")
    return found


def is_valid(notebook: dict[str, Any]) -> bool:
    """Whether nbformat takes a notebook for a valid one."""
    import nbformat

    try:
        nbformat.validate(nbformat.from_dict(notebook))
    except (nbformat.ValidationError, nbformat.validator.NotebookValidationError):
        return False
    return True


def _cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    sheets = [notebook, *notebook.get("worksheets", ())]
    return [cell for sheet in sheets for cell in sheet.get("cells", ())]


def _code(cell: dict[str, Any]) -> str:
    return "".join(cell.get("source", cell.get("input", "")))


def _without_code(notebook: dict[str, Any]) -> str:
    stripped = json.loads(json.dumps(notebook))
    for cell in _cells(stripped):
        if cell.get("cell_type") == "code":
            cell.pop("source", None)
            cell.pop("input", None)
    return json.dumps(stripped)


def _around_code(document: Any) -> list[str]:
    bounds = [0, *(offset for cell in document.cells for offset in (cell.start, cell.end)), len(document.text)]
    return [document.text[start:end] for start, end in zip(bounds[::2], bounds[1::2], strict=True)]


def _magics(notebook: dict[str, Any]) -> list[str]:
    code = [_code(cell) for cell in _cells(notebook) if cell.get("cell_type") == "code"]
    return [line for text in code for line in text.split("\n") if _MAGIC.match(line)]


def main() -> int:
    """Judge the notebooks and print what came out."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--show", action="store_true", help="name the cells that Python cannot read")
    args = parser.parse_args()
    files = sorted({str(file) for path in args.paths for file in [*Path(path).rglob("*.ipynb")] or [Path(path)]})
    with ProcessPoolExecutor(args.jobs) as pool:
        outcomes = list(pool.map(judge, files, chunksize=4))
    read = [one for one in outcomes if not one.unreadable]
    with_broken_cells = [one for one in read if one.broken_cells]
    print(f"{len(read)} of {len(outcomes)} notebooks read, {sum(one.cells for one in read)} cells of code")
    found = [one.findings for one in read if one.findings]
    print(f"{sum(map(len, found))} findings in {len(found)} notebooks")
    for number, label in enumerate(("--fix", "--fix --unsafe-fixes")):
        print(f"{sum(one.changed[number] for one in read)} changed by {label}")
    cells = sum(len(one.broken_cells) for one in with_broken_cells)
    print(f"{cells} cells in {len(with_broken_cells)} notebooks are not Python")
    for one in outcomes:
        if one.unreadable:
            print(f"  not read: {one.path}: {one.unreadable}")
        for message in one.broken_cells if args.show else ():
            print(f"  {one.path}: {message}")
    for code, count in Counter(code for one in read for code in one.findings).most_common():
        print(f"  {count:5} {code}")
    broken = [(one.path, problem) for one in read for problem in one.broken]
    print(f"{len(broken)} broken")
    for path, problem in broken:
        print(f"  {path}: {problem}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
