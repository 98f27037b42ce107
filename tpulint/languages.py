"""The languages of the files that are linted, told by a file's name."""

from __future__ import annotations

import re

PYTHON, SHELL, DOCKERFILE = "python", "shell", "dockerfile"
REQUIREMENTS, CONDA, COMPOSE = "requirements", "conda", "compose"
CONFIGURATION = "configuration"
LANGUAGES = (PYTHON, SHELL, DOCKERFILE, REQUIREMENTS, CONDA, COMPOSE, CONFIGURATION)

# fmt: off
INCLUDE = (
    "*.py", "*.ipynb",
    "*.sh", "*.bash", "*.slurm", "*.sbatch",
    "Dockerfile", "Dockerfile[._-]*", "*.dockerfile", "*.Dockerfile", "Containerfile",
    "*requirements*.txt", "*requirements*.in", "constraints*.txt", "**/requirements/*.txt",
    "*.yml", "*.yaml",
)
# fmt: on
"""Names of the files that are looked for in folders."""

EXAMPLE_NAMES = {
    PYTHON: "example.py",
    SHELL: "example.sh",
    DOCKERFILE: "Dockerfile",
    REQUIREMENTS: "requirements.txt",
    CONDA: "environment.yml",
    COMPOSE: "compose.yaml",
    CONFIGURATION: "config.yaml",
}
"""A name that a file of the language may have."""

MARKDOWN_NAMES = {REQUIREMENTS: "text", CONDA: "yaml", COMPOSE: "yaml", CONFIGURATION: "yaml"}
"""What a language is called in Markdown, where not by its own name."""

_SHELL_SUFFIXES = (".sh", ".bash", ".slurm", ".sbatch", ".zsh", ".ksh")
_SHEBANG = r"#![^\r\n]*\b(?:ba|da|z|k)?sh\b"
_PYTHON_SHEBANG = rb"#![^\r\n]*\bpython(?:(3)(?:\.\d+)?)?(?:[ \t\r\n]|$)"
_FIRST_LINE = 128
_YAML = (".yml", ".yaml")


def is_notebook(path: str) -> bool:
    """Whether a file is a Jupyter notebook: Python in cells of a JSON text."""
    return path.endswith(".ipynb")


def is_python_script(path: str) -> bool:
    """Whether the first line of a file without a suffix has Python 3 run it: ``#!/usr/bin/env python3``.

    One that says ``python`` alone may be of Python 2: then Python 3 does not read it.
    """
    try:
        with open(path, "rb") as stream:
            text = stream.read(_FIRST_LINE)
            found = re.match(_PYTHON_SHEBANG, text) if text.startswith(b"#!") else None
            if found is None or found[1]:
                return found is not None
            text += stream.read()
        import ast
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, path, "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def language_of(path: str, text: str = "") -> str:
    """The language of a file. One whose name says nothing is shell when its first line says so, else Python."""
    folder, _, name = path.replace("\\", "/").rpartition("/")
    if name.endswith(".py"):
        return PYTHON
    name = name.lower()
    if name.endswith(_SHELL_SUFFIXES):
        return SHELL
    if name.endswith((".txt", ".in")) and (
        "requirements" in name or name.startswith("constraints") or folder.endswith("requirements")
    ):
        return REQUIREMENTS
    if name.endswith(_YAML):
        if name.startswith(("docker-compose", "compose.")):
            return COMPOSE
        if name.startswith(("environment", "conda")):
            return CONDA
        return CONFIGURATION
    if name in ("dockerfile", "containerfile") or (
        name.startswith(("dockerfile.", "dockerfile-", "dockerfile_")) or name.endswith(".dockerfile")
    ):
        return DOCKERFILE
    if "." not in name and text.startswith("#!") and re.match(_SHEBANG, text):
        return SHELL
    return PYTHON
