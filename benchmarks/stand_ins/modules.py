"""Modules that are put in place of missing ones, and changes of modules once they are imported."""

import importlib.abc
import importlib.util
import sys
import types
from collections.abc import Callable
from typing import Any

_WAITING: dict[str, list[Callable[[Any], None]]] = {}


class Anything:
    """Takes every attribute, call and index: for loggers, plots and services."""

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Anything()

    def __call__(self, *_: Any, **__: Any) -> "Anything":
        return Anything()

    def __getitem__(self, _: Any) -> "Anything":
        return Anything()

    def __setitem__(self, _: Any, __: Any) -> None:
        pass

    def __iter__(self) -> Any:
        return iter((Anything(), Anything()))

    def __enter__(self) -> "Anything":
        return self

    def __exit__(self, *_: Any) -> None:
        pass


def put(name: str, **attributes: Any) -> types.ModuleType:
    """Put a made-up module (and its parents) in place; every other attribute of it is ``Anything``."""
    parts = name.split(".")
    for count in range(1, len(parts) + 1):
        path = ".".join(parts[:count])
        if path not in sys.modules:
            module = types.ModuleType(path)
            module.__path__ = []
            module.__spec__ = importlib.util.spec_from_loader(path, loader=None, is_package=True)
            module.__getattr__ = _attribute  # type: ignore[method-assign]
            sys.modules[path] = module
            if count > 1:
                setattr(sys.modules[".".join(parts[: count - 1])], parts[count - 1], module)
    for key, value in attributes.items():
        setattr(sys.modules[name], key, value)
    return sys.modules[name]


def _attribute(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return Anything()


def is_missing(name: str) -> bool:
    """Whether no module of this name can be imported."""
    try:
        return name not in sys.modules and importlib.util.find_spec(name) is None
    except (ImportError, ValueError):
        return True


def when_imported(name: str, change: Callable[[Any], None]) -> None:
    """Change a module as soon as it was imported."""
    if name in sys.modules:
        change(sys.modules[name])
    else:
        _WAITING.setdefault(name, []).append(change)


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self) -> None:
        self._busy: set[str] = set()

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name not in _WAITING or name in self._busy:
            return None
        self._busy.add(name)
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self._busy.discard(name)
        if spec is not None and spec.loader is not None:
            run = spec.loader.exec_module

            def exec_module(module: Any) -> None:
                run(module)
                for change in _WAITING.pop(name, ()):
                    change(module)

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


sys.meta_path.insert(0, _Finder())
