"""What a step computes, operation by operation, and the first difference between two such graphs.

``tpulint verify`` compares graphs as XLA compiled them, a guard compares the calls of torch that made them: both are a
:class:`Graph`, and both ask :func:`explain`.
"""

from tpulint_runtime.graphs.causes import Cause, explain, nearest
from tpulint_runtime.graphs.graph import Graph, Operation, Place
from tpulint_runtime.graphs.hlo import parse

__all__ = ["Cause", "Graph", "Operation", "Place", "explain", "nearest", "parse"]
