"""What files know of each other is found out once, and let go of when it is done."""

from __future__ import annotations

import ast
import gc
import os
import weakref
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tpulint import library, session
from tpulint.catalog import load
from tpulint.config import Configuration, RunSettings, Settings
from tpulint.examination import Examination
from tpulint.library import Library
from tpulint.linter import Surroundings, lint
from tpulint.model import OutsideCall
from tpulint.semantic import Kind, SemanticIndex
from tpulint.semantic.loops.regions import Regions
from tpulint.semantic.syntax.tree import SyntaxTree
from tpulint.semantic.values.element_values import ElementValues
from tpulint.source import SourceFile

SETTINGS = Settings()
CATALOGUE = load(SETTINGS.packages)
FILES = {
    "pyproject.toml": "",
    "lib/__init__.py": "",
    "lib/names.py": "import torch\n\n\ndef title(epoch):\n    return f'{epoch} of {torch.__version__}'\n",
    "lib/measures.py": """\
import torch
from lib.names import title


def accuracy(output, target):
    return (output.argmax(1) == target).float().mean().item(), title(1)
""",
    "lib/training.py": """\
import torch
from lib.measures import accuracy


def train(model, loader, optimizer, device):
    for x, y in loader:
        x, y = x.to(device), y.to(device)
        loss = torch.nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        accuracy(model(x), y)
""",
    "train.py": """\
import torch
from lib.training import train

if __name__ == "__main__":
    model = torch.nn.Linear(8, 2).cuda()
    loader = torch.utils.data.DataLoader([1], batch_size=2)
    train(model, loader, torch.optim.SGD(model.parameters(), lr=0.1), torch.device("cuda"))
""",
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def trees(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[weakref.ref[SyntaxTree]]]:
    """The trees made within the test. Garbage is not collected in the meantime."""
    made: list[weakref.ref[SyntaxTree]] = []
    walk = SyntaxTree._walk

    def noting(tree: SyntaxTree) -> None:
        made.append(weakref.ref(tree))
        walk(tree)

    monkeypatch.setattr(SyntaxTree, "_walk", noting)
    was_enabled = gc.isenabled()
    gc.disable()
    yield made
    if was_enabled:
        gc.enable()


def run(**wishes: object) -> session.Outcome:
    run_settings = RunSettings(paths=(".",), root=os.getcwd(), no_cache=True, jobs=1)._replace(**wishes)  # type: ignore[arg-type]
    return session.run(Configuration(SETTINGS, run_settings), CATALOGUE)


def found(outcome: session.Outcome) -> set[str]:
    return {f"{report.path}:{entry.place.row} {entry.code}" for report in outcome.reports for entry in report.entries}


def test_each_file_is_examined_once_where_imports_tell_who_calls(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    examined: Counter[str] = Counter()
    examine = Examination.__call__

    def counting(self: Examination, path: str) -> object:
        examined[os.path.basename(path)] += 1
        return examine(self, path)

    monkeypatch.setattr(Examination, "__call__", counting)
    assert "lib/measures.py:6 TPU101" in {line.removeprefix("./") for line in found(run())}
    assert set(examined.values()) == {1} and len(examined) == 5


def test_what_one_file_reads_of_another_serves_that_one_too(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    taken: list[str] = []
    indexed, known = Library._indexed, Library.known

    def noting_read(self: Library, path: str) -> object:
        read.append(os.path.relpath(path))
        return indexed(self, path)

    def noting_taken(self: Library, source: SourceFile) -> object:
        index = known(self, source)
        if index is not None:
            taken.append(os.path.normpath(source.path))
        return index

    monkeypatch.setattr(Library, "_indexed", noting_read)
    monkeypatch.setattr(Library, "known", noting_taken)
    run()
    assert read and sorted(read) == sorted(set(read)), "no file is read for others twice"
    assert set(read) <= set(taken)


def test_an_index_that_is_done_needs_no_garbage_collection(project: Path, trees: list[weakref.ref[SyntaxTree]]) -> None:
    path = "lib/training.py"
    (project / "lib" / "measures.py").unlink()
    lint(SourceFile.from_text((project / path).read_text(), path), SETTINGS, CATALOGUE, Surroundings(Library()))
    assert trees and [tree() for tree in trees] == [None] * len(trees)


def test_a_full_library_lets_go_of_all_its_files(
    project: Path, trees: list[weakref.ref[SyntaxTree]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library, "_KEPT", 0)
    shelf = Library()
    index = shelf.module(str(project / "train.py"), 0, "lib.training")
    assert index is not None and index.has_turn_loops
    assert index.imported.called(index.calls[-1]) is None and any(map(index.imported.called, index.calls))
    del index
    shelf.open(changed=False)
    assert len(trees) > 1 and [tree() for tree in trees] == [None] * len(trees)


def linted(shelf: Library, path: Path, *outside: OutsideCall) -> set[str]:
    result = lint(SourceFile.from_text(path.read_text(), str(path)), SETTINGS, CATALOGUE, Surroundings(shelf, outside))
    return {finding.code for finding in result.findings}


def test_a_shared_index_does_not_know_what_was_known_when_its_file_was_linted(project: Path) -> None:
    shelf, path = Library(), project / "lib" / "measures.py"
    index = shelf.module(str(project / "train.py"), 0, "lib.measures")
    assert index is not None
    call = OutsideCall("accuracy", "step", False, True, (("output", "TENSOR", "DEVICE"),), "train.py")
    assert "TPU101" in linted(shelf, path, call)
    output = next(node for node in index.tree.names if node.id == "output")
    assert index.kind(output) is Kind.UNKNOWN and not index.outside
    assert "TPU101" not in linted(shelf, path)


def test_a_shared_index_outlives_the_file_it_is_of(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf, path = Library(), project / "lib" / "training.py"
    index = shelf.module(str(project / "train.py"), 0, "lib.training")
    assert index is not None
    used: list[SemanticIndex] = []
    calls = SemanticIndex.outgoing_calls.func  # type: ignore[attr-defined]
    monkeypatch.setattr(SemanticIndex, "outgoing_calls", property(lambda self: used.append(self) or calls(self)))
    linted(shelf, path)
    assert used == [index], "nothing is known that it does not know itself: it serves as it is"
    assert index.step_loops and index.imported.calls
    linted(shelf, path, OutsideCall("train", "", False, False, (("model", "MODULE", "DEVICE"),), "train.py"))
    assert used[1] is not index and index.step_loops
    assert used[1].__dict__ == {}, "what was made for one look is let go of"


def test_a_changed_text_is_not_taken_from_the_library(project: Path) -> None:
    shelf = Library()
    path = project / "lib" / "measures.py"
    assert shelf.module(str(project / "train.py"), 0, "lib.measures") is not None
    assert shelf.known(SourceFile.from_text(path.read_text(), str(path))) is not None
    assert shelf.known(SourceFile.from_text(path.read_text() + "\n", str(path))) is None


GENERATOR = """\
import torch

def walk(tree):
    yield torch.ones(2)
    yield from walk(tree.left)
    yield from walk(tree.right)

for leaf in walk(tree):
    print(leaf)
"""


def test_what_a_generator_gives_that_runs_itself_is_found_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    element = ElementValues.element

    def counting(self: ElementValues, node: ast.expr, path: tuple[int, ...], depth: int) -> object:
        asked.append(node)
        return element(self, node, path, depth)

    monkeypatch.setattr(ElementValues, "element", counting)
    index = SemanticIndex(SourceFile.from_text(GENERATOR), ast.parse(GENERATOR))
    (leaf,) = (node for node in index.tree.names_called("leaf") if isinstance(node.ctx, ast.Load))
    assert index.kind(leaf) is Kind.TENSOR
    assert len(asked) == 3  # by the loop, and by each of both ways on


def test_a_file_without_loops_is_asked_for_them_by_no_other(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    look = Regions.__init__

    def noting(self: Regions, tree: SyntaxTree, *others: Any) -> None:
        asked.append(os.path.basename(tree.source.path))
        look(self, tree, *others)

    monkeypatch.setattr(Regions, "__init__", noting)
    run()
    assert asked.count("measures.py") == 1  # for its own sake, when it is known who calls it


def test_a_text_is_looked_through_once_for_the_same_words() -> None:
    class Text(str):
        looked = 0

        def __contains__(self, word: object) -> bool:
            Text.looked += 1
            return super().__contains__(word)  # type: ignore[operator]

    source = SourceFile.from_text(Text("loss.backward()\n"))
    Text.looked = 0
    assert [source.has_any(("eval", "backward")) for _ in range(3)] == [True] * 3
    assert Text.looked == 2
