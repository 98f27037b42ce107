"""What the TPU compiler says when it gives up, taken apart: memory, operator, source line."""

from __future__ import annotations

import os
import re
import signal

from tpulint.planning.compiled import CompileFailure
from tpulint.planning.tensors import Place

_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_AMOUNT = r"([\d.]+)([KMGT]?)i?B?"
_MEMORY = (
    re.compile(rf"\({_AMOUNT}\) exceeds available HBM \({_AMOUNT}\)"),
    re.compile(rf"[Uu]sed {_AMOUNT} of {_AMOUNT} hbm"),
)
_OPERATIONS = (
    re.compile(r"%[\w.-]+ = \S+ ([a-z][\w-]*)\("),
    re.compile(r"custom_call_target=\"([^\"]+)\""),
    re.compile(r"operand type for (\w+)"),
    re.compile(r"Custom emitter for (\S+) not found"),
    re.compile(r"'((?:stablehlo|mhlo|chlo)\.\w+)' op"),
    re.compile(r"custom call (?:target )?['\"]?([\w:.]+)", re.IGNORECASE),
)
_ORIGIN = re.compile(r"op_name=\"([^\"]+)\"|\[((?:[^\]\s]*/)?aten__\w+)\]")
"""In the operation itself, else behind the line of Python."""
_PLACES = (
    re.compile(r"source_file=\"([^\"]+)\" source_line=(\d+)"),
    re.compile(r"^\s*(/[^\s:]+\.py):(\d+)", re.MULTILINE),
)
_LONGEST = 600


def failure_of(error: str, stage: str, script: str) -> CompileFailure:
    """The failure behind an error of the compile process."""
    message = " ".join(error.split())
    message = message if len(message) <= _LONGEST else message[:_LONGEST] + " ..."
    if stage == "topology":
        return CompileFailure("topology", message)
    if "RESOURCE_EXHAUSTED" in error or "Ran out of memory" in error:
        used, limit = _memory(error)
        return CompileFailure("out-of-memory", message, used=used, limit=limit)
    operator = next((found[1] for pattern in _OPERATIONS if (found := pattern.search(error))), "")
    origin = _ORIGIN.search(error)
    traced = (origin[1] or origin[2]) if origin else ""
    if "aten__" in traced:
        # The name under which torch traced it says more than that of XLA.
        operator = f"{traced.rpartition('/')[2].replace('aten__', 'aten::')} ({operator})"
    return CompileFailure("operator" if operator else "compiler", message, operator, _place(error, script))


def crash(status: int, said: str, script: str) -> CompileFailure:
    """The compile process ended without an answer."""
    if status < 0:
        try:
            how = f"was killed by {signal.Signals(-status).name}"
        except ValueError:
            how = f"was killed by signal {-status}"
    else:
        how = f"ended with exit status {status}"
    last = " ".join(said.split())[-_LONGEST:]
    return CompileFailure("crash", f"the compiler {how} and gave no answer" + (f": {last}" if last else ""),
                          place=_place(said, script))  # fmt: skip


def timeout(seconds: float) -> CompileFailure:
    """The compile process was ended."""
    return CompileFailure("timeout", f"the compiler was still working after {seconds:.0f} s, and was ended")


def _memory(error: str) -> tuple[float | None, float | None]:
    for pattern in _MEMORY:
        if found := pattern.search(error):
            used, used_unit, limit, limit_unit = found.groups()
            return float(used) * _UNITS[used_unit], float(limit) * _UNITS[limit_unit]
    return None, None


def _place(error: str, script: str) -> Place | None:
    """The first line told of that lies beside the script; libraries tell of their own lines first."""
    folder = os.path.join(os.path.dirname(os.path.abspath(script)), "")
    for pattern in _PLACES:
        for path, row in pattern.findall(error):
            if path.startswith(folder) and "site-packages" not in path:
                return Place(path, int(row))
    return None
