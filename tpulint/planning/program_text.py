"""The text of a program: what goes in and out, what is computed, and what of it a compiler sees."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from tpulint.planning.compiled import Argument
from tpulint.planning.graph_text import tensors
from tpulint.planning.tensors import Tensor

_MAIN = re.compile(r"func\.func (?:public )?@main\((.*)\)\s*(?:->\s*(.*?))?\s*(?:attributes\s*\{.*\})?\s*\{")
_RETURN = re.compile(r"^\s*return ([^:\n]*)", re.MULTILINE)
_ARGUMENT = re.compile(r"%arg(\d+)\b")
_OF_NO_MEANING = re.compile(
    r"^(?:#loc| at #loc).*\n|(?: \"[^\"\n]*\")?\(#loc\d*\)| #loc\d+| \[unknown\]| \"[^\"\n]*\"$|(?<=^module @)[\w.]+",
    re.MULTILINE,
)
"""Source lines, names under which torch traced operations, and the name of the module, which counts operations."""


def signature_of(text: str) -> tuple[list[Tensor], list[Tensor]]:
    """Arguments and results of the main function of a module."""
    match = next((found for line in text.splitlines() if (found := _MAIN.search(line))), None)
    if match is None:
        return [], []
    # The list of results begins at the last arrow of the line.
    head = match[0]
    given, _, results = head.rpartition("->")
    return (tensors(given), tensors(results)) if given else (tensors(head), [])


def what_is_computed(text: str) -> tuple[set[int], list[bool]]:
    """Arguments of the main function that something reads, and of each result whether it is none of them."""
    body = text.partition("func.func @main(")[2].partition("{\n")[2].partition("func.func ")[0]
    match = _RETURN.search(body)
    names = [name.strip() for name in match[1].split(",")] if match else []
    operations = body[: match.start()] if match else body
    return {int(number) for number in _ARGUMENT.findall(operations)}, [not name.startswith("%arg") for name in names]


def with_roles(arguments: list[Tensor], roles: list[list[Any]]) -> tuple[Argument, ...]:
    """Roles by position. Where shapes do not agree, nothing is said to be kept: then nothing is donated."""
    if [list(one.shape) for one in arguments] != [shape for shape, _ in roles]:
        return tuple(Argument(one, "input") for one in arguments)
    return tuple(Argument(one, role) for one, (_, role) in zip(arguments, roles, strict=True))


def content_of(text: str, arguments: Sequence[Argument]) -> str:
    """What is compiled, the same for all programs that differ only in source lines, and in values that wait."""
    before, _, after = text.partition("func.func @main(")
    body, separator, functions = after.partition("{\n")[2].partition("func.func ")
    read = [number for number, one in enumerate(arguments) if one.role != "unread"]
    # Arguments of loops and reductions are counted on behind those of the function.
    names = {f"%arg{number}": f"%arg{position}" for position, number in enumerate(read)}
    more = len(read) - len(arguments)

    def renamed(found: re.Match[str]) -> str:
        number = int(found[1])
        return f"%arg{number + more}" if number >= len(arguments) else names.get(found[0], "")

    returned = _RETURN.search(body)
    if returned:
        results = [name.strip() for name in returned[1].split(",")]
        kept = ", ".join(name for name in results if not name.startswith("%arg"))
        body = f"{body[: returned.start()]}    return {kept}\n"
    head = ", ".join(str(arguments[number].tensor) for number in read)
    return _OF_NO_MEANING.sub("", f"{before}{head}\n{_ARGUMENT.sub(renamed, body)}{separator}{functions}")
