"""``NamedTuple`` as ``typing`` has it, defined in a third of the time: one check of one file defines seventy of them.

``typing`` compiles the annotation of every field, to tell types from other values. mypy does that here.
"""

from __future__ import annotations

from collections import namedtuple
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:

    class _Definition(type):
        """Makes a tuple with named fields of what a class body says."""

        def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> type:
            if not bases:
                return super().__new__(cls, name, bases, body)
            fields = body["__annotations__"]
            defaults = [body.pop(field) for field in fields if field in body]
            record = namedtuple(name, fields, defaults=defaults, module=body.pop("__module__"))
            for key, value in body.items():
                setattr(record, key, value)
            return record

    class NamedTuple(metaclass=_Definition):
        """Base of a class whose annotated names are the fields of a tuple."""
