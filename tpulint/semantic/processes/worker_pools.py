"""Pools of processes, and the functions that they are given to run."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.tree import SyntaxTree

_POOLS = (
    "multiprocessing.Pool", "multiprocessing.pool.Pool", "torch.multiprocessing.Pool",
    "concurrent.futures.ProcessPoolExecutor",
)  # fmt: skip
_RUNNING = frozenset({
    "map", "map_async", "imap", "imap_unordered", "starmap", "starmap_async", "apply", "apply_async", "submit",
})  # fmt: skip
_SIZES = ("processes", "max_workers")


def runs_in_pools(tree: SyntaxTree, names: Names) -> Iterator[tuple[ast.Call, ast.expr]]:
    """Calls that have the processes of a pool run something, ``pool.map(train, sizes)``, each with what they run.

    A pool of one process is left out: it has the machine to itself as any program has.
    """
    for pool in names.calls_to(*_POOLS):
        size = pool.args[0] if pool.args else next((k.value for k in pool.keywords if k.arg in _SIZES), None)
        if isinstance(size, ast.Constant) and size.value == 1:
            continue
        for held in (pool, *_loads_of(tree, names, pool)):
            method = tree.parents[held]
            call = tree.parents[method] if isinstance(method, ast.Attribute) and method.attr in _RUNNING else None
            if isinstance(call, ast.Call) and call.func is method and call.args:
                yield call, call.args[0]


def _loads_of(tree: SyntaxTree, names: Names, pool: ast.Call) -> list[ast.expr]:
    """Where the variable is read that a pool is kept in: ``with Pool(4) as pool:``, ``pool = Pool(4)``."""
    holder = tree.parents[pool]
    target: ast.expr | None = None
    if isinstance(holder, ast.withitem):
        target = holder.optional_vars
    elif isinstance(holder, ast.Assign) and len(holder.targets) == 1:
        target = holder.targets[0]
    return list(names.loads_of(target)) if isinstance(target, ast.Name) else []
