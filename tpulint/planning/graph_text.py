"""A graph out of its text in StableHLO, as ``torch_xla.core.xla_model.get_stablehlo`` prints it.

Read line by line, without MLIR: what is looked for are operations with the types that they take and give. An operation
this does not know is read like any other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from tpulint.planning.locations import Locations
from tpulint.planning.tensors import DYNAMIC, Place, Tensor

_OPERATION = re.compile(
    r'\s*((?:%[\w$.:-]+(?:, )?)* = )?"?((?:stablehlo|chlo|mhlo|vhlo|func|sdy)\.[\w.]+|call|return)\b"?'
)
_VALUE = re.compile(r"%[\w$.-]+(?:#\d+)?")
_TENSOR = re.compile(r"tensor<((?:[\d?]+x)*)(complex<\w+>|[a-zA-Z]\w*)")
_DECLARED = re.compile(r"(%[\w$.-]+): (tensor<[^>]*>)")
_BOUND = re.compile(r"(%iterArg[\w$.-]*) = (%[\w$.-]+(?:#\d+)?)")
_FUNCTION = re.compile(r"\s*func\.func (?:(?:public|private) )?@([\w$.-]+|\"[^\"]*\")\((.*)")
_STANDS_FOR = re.compile(r"\s*@mhlo\.(\w+)")
"""A custom call that is an operation of XLA for which StableHLO has no name: the error function of GELU, top-k."""
_ENDS = ("stablehlo.return", "func.return", "return")


class Operation(NamedTuple):
    """One operation, and where it stands."""

    name: str
    """Without its dialect: ``dot_general``; of a custom call, too, that only writes an operation of XLA's."""
    operands: tuple[Tensor, ...]
    results: tuple[Tensor, ...]
    attributes: str
    """Its line as it is, without its types."""
    row: int
    """Of the text, from 1."""
    place: Place | None
    """Line of Python, where the text says it."""
    function: str
    """That it stands in."""
    values: tuple[str, ...] = ()
    """Names of the operands."""


class Graph(NamedTuple):
    """A whole program."""

    arguments: tuple[Tensor, ...]
    """Of ``main``."""
    argument_places: tuple[Place | None, ...]
    outputs: tuple[Tensor, ...]
    operations: tuple[Operation, ...]
    """Of all functions, those inside of reductions and loops included, in order of the text."""
    runs: dict[str, int]
    """How often a run of the program calls each function; the turns of loops are not known and count once."""

    @property
    def argument_bytes(self) -> int:
        """Of all arguments, without padding."""
        return sum(one.bytes for one in self.arguments)

    @property
    def has_loops(self) -> bool:
        """Whether something runs an unknown number of times."""
        return any(one.name == "while" for one in self.operations)


def parse(text: str) -> Graph:
    """Read a program. What is no StableHLO gives a graph without operations."""
    lines = text.split("\n")
    return _Reader(Locations(lines)).read(lines)


class _Reader:
    def __init__(self, locations: Locations) -> None:
        self._locations = locations
        self._types: dict[str, Tensor] = {}
        self._function = ""
        self._open: list[tuple[int, str]] = []
        """Operations whose types stand behind their regions: row and line."""
        self._operations: list[Operation] = []
        self._main: tuple[tuple[Tensor, ...], tuple[Place | None, ...], tuple[Tensor, ...]] = ((), (), ())
        self._entry = ""
        self._calls: list[tuple[str, str]] = []

    def read(self, lines: list[str]) -> Graph:
        for row, line in enumerate(lines, 1):
            if line.startswith("#"):
                continue
            match = _OPERATION.match(line)
            if match is not None and match[2] == "func.func":
                self._begin(line)
            elif match is not None:
                if line.endswith("({"):
                    self._open.append((row, line))
                elif match[2] not in _ENDS:
                    self._add(row, line, line, match)
            elif self._open and line.lstrip().startswith("})"):
                row, opening = self._open.pop()
                begun = _OPERATION.match(opening)
                assert begun is not None
                self._add(row, opening, line, begun)
            elif ": tensor<" in line:  # arguments of a block
                self._types.update((name, one) for name, type_ in _DECLARED.findall(line) for one in tensors(type_))
        return Graph(*self._main, tuple(self._operations), self._runs())

    def _begin(self, line: str) -> None:
        match = _FUNCTION.match(line)
        if match is None:
            return
        self._function, self._types, self._open = match[1], {}, []
        taken, _, given = match[2].partition(") -> ")
        arguments, places = [], []
        for part in re.split(r", (?=%)", taken):
            found = tensors(part)
            name = part.partition(":")[0]
            if found:
                self._types[name] = found[0]
                arguments.append(found[0])
                places.append(self._locations.place(part.rpartition(">")[2]))
        if match[1] == "main" or not self._entry:
            self._entry = match[1]
            self._main = (tuple(arguments), tuple(places), tuple(tensors(given)))

    def _add(self, row: int, line: str, ending: str, match: re.Match[str]) -> None:
        """An operation that begins with one line, and whose types stand at the end of another or the same."""
        head, _, signature = ending.rpartition(" : ")
        taken, arrow, given = signature.partition(" -> ")
        names = _names(match[1] or "")
        results = tensors(given) if arrow else tensors(taken)[-max(1, len(names)) :]
        body = line[match.end() : len(head)] if ending is line else line[match.end() :]
        values = tuple(_VALUE.findall(body))
        operands = tuple(self._types[value] for value in values if value in self._types)
        name = match[2].rpartition(".")[2]
        if name == "custom_call" and (known := _STANDS_FOR.match(body)) is not None:
            name = known[1]
        location = (
            signature[signature.rfind(">") + 1 :].strip(" ),") if "#loc" in signature or "loc(" in signature else ""
        )
        place = self._locations.place(location) if location else None
        if name == "call" and (called := re.search(r"@([\w$.-]+)", body)) is not None:
            self._calls.append((self._function, called[1]))
        if name == "while":
            for (inner, _), tensor in zip(_BOUND.findall(body), results, strict=False):
                self._types[inner] = tensor
        self._operations.append(Operation(name, operands, tuple(results), body, row, place, self._function, values))
        self._types.update(zip(names, results, strict=False))

    def _runs(self) -> dict[str, int]:
        functions = dict.fromkeys(one.function for one in self._operations)
        runs: dict[str, int] = {}

        def count(name: str, seen: frozenset[str]) -> int:
            if name not in runs:
                callers = [caller for caller, called in self._calls if called == name and caller not in seen]
                runs[name] = (
                    sum(count(caller, seen | {name}) for caller in callers) if callers else int(name == self._entry)
                )
            return runs[name]

        for name in functions:
            count(name, frozenset((name,)))
        return runs


def _names(text: str) -> list[str]:
    """``%0:2, %mean = `` to ``%0#0``, ``%0#1`` and ``%mean``."""
    names = []
    for part in text.removesuffix(" = ").split(", "):
        name, _, number = part.partition(":")
        names += [f"{name}#{at}" for at in range(int(number))] if number.isdigit() else [name]
    return names


def tensors(text: str) -> list[Tensor]:
    """All types of tensors in a text, in order."""
    return [Tensor(dtype, tuple(_sizes(sizes))) for sizes, dtype in _TENSOR.findall(text)]


def _sizes(text: str) -> Iterator[int]:
    return (DYNAMIC if part == "?" else int(part) for part in text.split("x") if part)
