"""Lines are followed again once a library has been imported, and tracebacks tell nothing of it."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

pytestmark = pytest.mark.xla


@pytest.fixture
def seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Functions and modules that were followed. Modules whose names begin with ``own`` are the script's."""
    from tpulint_runtime.observation import imports

    monkeypatch.syspath_prepend(tmp_path)
    for name in list(sys.modules):
        if name.startswith(("own_", "library_")):
            monkeypatch.delitem(sys.modules, name)
    names: list[str] = []

    def enter(frame: FrameType, event: str, arg: Any) -> Any:
        if str(tmp_path) in frame.f_code.co_filename:
            names.append(f"{Path(frame.f_code.co_filename).stem}.{frame.f_code.co_name}")
        return None

    before = sys.gettrace()
    imports.pause(lambda path: "own_" in path, lambda: sys.settrace(enter))
    sys.settrace(enter)
    yield names
    sys.settrace(before)
    imports.restore()


def write(folder: Path, **modules: str) -> None:
    for name, text in modules.items():
        (folder / f"{name}.py").write_text(text)


def test_a_library_is_left_out_and_what_comes_after_it_is_not(tmp_path: Path, seen: list[str]) -> None:
    write(
        tmp_path,
        own_first="import library_first\nlibrary_first.f()\n",
        library_first="import library_second\ndef f(): pass\nf()\n",
        library_second="def g(): pass\ng()\n",
    )
    import_module("own_first")
    assert seen == ["own_first.<module>", "library_first.f"]


def test_a_library_that_fails_is_left_as_well(tmp_path: Path, seen: list[str]) -> None:
    write(tmp_path, own_second="import library_third\n", library_third="def f(): 1 / 0\nf()\n")
    with pytest.raises(ZeroDivisionError) as failure:
        import_module("own_second")
    assert seen == ["own_second.<module>"] and sys.gettrace() is not None
    rows = [Path(row.filename).name for row in traceback.extract_tb(failure.value.__traceback__)]
    assert [row for row in rows if row in ("own_second.py", "library_third.py", "imports.py")] == [
        "own_second.py", "library_third.py", "library_third.py",
    ]  # fmt: skip


def test_python_imports_as_before_in_the_end(tmp_path: Path, seen: list[str]) -> None:
    from tpulint_runtime.observation import imports

    imports.restore()
    write(tmp_path, library_fourth="def f(): pass\nf()\n")
    import_module("library_fourth")
    assert seen == ["library_fourth.<module>", "library_fourth.f"]
