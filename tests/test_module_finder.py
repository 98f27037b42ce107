"""Modules of tpulint that are found by their names alone."""

from __future__ import annotations

import os
import py_compile
import subprocess
import sys
from importlib.util import cache_from_source, module_from_spec
from pathlib import Path
from types import ModuleType

import pytest

from tpulint.module_finder import ModuleFinder


def compiled(folder: Path, text: str = "ANSWER = 42\n") -> Path:
    """A module with its compiled file."""
    source = folder / "thing.py"
    source.write_text(text)
    py_compile.compile(str(source), cache_from_source(str(source)), doraise=True)
    return source


def found(folder: Path, name: str = "tpulint.thing") -> ModuleType | None:
    spec = ModuleFinder.find_spec(name, [str(folder)])
    if spec is None:
        return None
    module = module_from_spec(spec)
    assert spec.loader is not None
    spec.loader.exec_module(module)
    return module


def test_module_is_as_python_would_have_loaded_it(tmp_path: Path) -> None:
    source = compiled(tmp_path)
    module = found(tmp_path)
    assert module is not None and module.ANSWER == 42
    assert module.__file__ == str(source)
    assert module.__spec__ is not None and module.__spec__.cached == module.__cached__ == cache_from_source(str(source))
    assert module.__package__ == "tpulint" and module.__loader__ is module.__spec__.loader
    assert module.__spec__.loader.get_source("tpulint.thing") == source.read_text()  # type: ignore[union-attr]


def test_package_has_its_folder(tmp_path: Path) -> None:
    (tmp_path / "thing").mkdir()
    source = tmp_path / "thing" / "__init__.py"
    source.write_text("ANSWER = 42\n")
    assert found(tmp_path) is None, "not compiled"
    py_compile.compile(str(source), cache_from_source(str(source)), doraise=True)
    module = found(tmp_path)
    assert module is not None and module.ANSWER == 42
    assert module.__file__ == str(source) and module.__path__ == [str(tmp_path / "thing")]
    assert module.__package__ == "tpulint.thing"


def test_text_that_changed_is_left_to_python(tmp_path: Path) -> None:
    source = compiled(tmp_path)
    state = source.stat()
    source.write_text("ANSWER = 43\n")
    os.utime(source, ns=(state.st_atime_ns, state.st_mtime_ns + 2_000_000_000))
    assert found(tmp_path) is None
    source.write_text("ANSWER = 420\n")
    os.utime(source, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert found(tmp_path) is None, "the size is another"


@pytest.mark.parametrize("content", [b"", b"\0" * 16, b"no code"])
def test_damaged_file_is_left_to_python(tmp_path: Path, content: bytes) -> None:
    Path(cache_from_source(str(compiled(tmp_path)))).write_bytes(content)
    assert found(tmp_path) is None


def test_file_that_is_checked_by_its_digest_is_left_to_python(tmp_path: Path) -> None:
    source = compiled(tmp_path)
    py_compile.compile(str(source), invalidation_mode=py_compile.PycInvalidationMode.CHECKED_HASH)
    assert found(tmp_path) is None


def test_modules_of_others_and_what_is_not_compiled(tmp_path: Path) -> None:
    source = compiled(tmp_path)
    assert found(tmp_path, "other.thing") is None
    assert found(tmp_path, "tpulint_thing") is None
    Path(cache_from_source(str(source))).unlink()
    assert found(tmp_path) is None
    source.unlink()
    assert found(tmp_path) is None


@pytest.mark.parametrize("options", [["-O"], ["-X", "pycache_prefix=elsewhere"]], ids=" ".join)
def test_python_told_otherwise_finds_modules_itself(options: list[str], tmp_path: Path) -> None:
    code = (
        "import sys; from tpulint import module_finder; module_finder.install(); module_finder.install()\n"
        "print(sys.meta_path.count(module_finder.ModuleFinder))"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    for given, times in ([], "1"), (options, "0"):
        run = subprocess.run(
            [sys.executable, *given, "-c", code],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        assert run.stdout.strip() == times
