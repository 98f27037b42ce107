"""Drawings of cells that nobody looks at."""

import modules

modules.put("graphviz")
