"""Loads the runtime from where it lies and calls a function of the observer. To be run by its path.

The import path of the script that will be observed is left alone: the runtime may lie in the site packages of another
Python, of which nothing else must be found.
"""

from __future__ import annotations

import importlib.util
import os
import sys


def start(function: str, module_name: str = "observer") -> None:
    """Call ``observe`` or ``observe_spawned``; of ``capturer``, ``capture`` or ``capture_spawned``."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    name = os.path.basename(package)
    init = os.path.join(package, "__init__.py")
    spec = importlib.util.spec_from_file_location(name, init, submodule_search_locations=[package])
    assert spec is not None and spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    getattr(importlib.import_module(f"{name}.observation.{module_name}"), function)()
