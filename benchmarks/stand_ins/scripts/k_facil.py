"""The folder of results, and a package that a library of the same name does not hide."""

from pathlib import Path

Path("../results").mkdir(exist_ok=True)
Path("datasets/__init__.py").touch()
