"""``NamedTuple`` as ``typing`` has it, defined in a fifth of the time: one check of one file defines seventy of them.

``typing`` compiles the annotation of every field, to tell types from other values; mypy does that here. ``collections``
compiles what makes instances of each class; here that waits for the first instance, which for most never comes.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import FunctionType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any
    from typing import NamedTuple as NamedTuple
else:
    from collections import _tuplegetter as field_at

    class _Record(tuple):
        """What all of them have in common."""

        __slots__ = ()
        _fields: tuple[str, ...] = ()

        def __new__(cls, /, *values: Any, **named: Any) -> Any:
            defined = next(base for base in cls.__mro__ if "_fields" in base.__dict__)
            defined.__new__ = _maker(defined)
            return defined.__new__(cls, *values, **named)

        @classmethod
        def _make(cls, values: Iterable[Any]) -> Any:
            made = tuple.__new__(cls, values)
            if len(made) != len(cls._fields):
                raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(made)}")
            return made

        def _replace(self, /, **changed: Any) -> Any:
            made = self._make(map(changed.pop, self._fields, self))
            if changed:
                raise ValueError(f"Got unexpected field names: {list(changed)!r}")
            return made

        def _asdict(self) -> dict[str, Any]:
            return dict(zip(self._fields, self, strict=True))

        def __repr__(self) -> str:
            shown = ", ".join(f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True))
            return f"{type(self).__name__}({shown})"

        def __getnewargs__(self) -> tuple[Any, ...]:
            return tuple(self)

    _makers: dict[int, FunctionType] = {}

    def _maker(defined: type) -> FunctionType:
        """What makes instances: compiled once for each number of fields, whatever they are called."""
        fields = defined._fields
        make = _makers.get(len(fields))
        if make is None:
            names = ", ".join(f"_{at}" for at in range(len(fields)))
            source = f"lambda _cls, {names}: _new(_cls, ({names},))"
            make = _makers[len(fields)] = eval(
                source, {"_new": tuple.__new__, "__builtins__": {}, "__name__": __name__}
            )
        code = make.__code__.replace(
            co_name="__new__", co_qualname=f"{defined.__qualname__}.__new__", co_varnames=("_cls", *fields)
        )
        return FunctionType(code, make.__globals__, None, tuple(defined._field_defaults.values()))

    class _Definition(type):
        """Makes a tuple with named fields of what a class body says."""

        def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> type:
            if not bases:
                return super().__new__(cls, name, bases, body)
            fields = tuple(body["__annotations__"])
            body["_field_defaults"] = {field: body[field] for field in fields if field in body}
            body["_fields"] = body["__match_args__"] = fields
            body["__slots__"] = ()
            body.update((field, field_at(at, None)) for at, field in enumerate(fields))
            return type(name, (_Record,), body)

    class NamedTuple(metaclass=_Definition):
        """Base of a class whose annotated names are the fields of a tuple."""
