"""The calls of torch that make up a step, with the lines that made them.

torch_xla can tell the line of an operation as well (``XLA_IR_DEBUG``): it then walks the Python stack for every node of
a graph, which takes longer than tracing the step does. Here the stack is walked once for each call of torch's own
functions, up to the first frame of the user's code. Values that Python passes are seen as they were written, before
they are lowered to something else.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from numbers import Number
from types import CodeType, FrameType, MethodWrapperType
from typing import Any, NamedTuple

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook
from torch.overrides import TorchFunctionMode

from tpulint_runtime.backend import Backend, Counts
from tpulint_runtime.ownership import Line, Ownership

_Tensor: Any = torch.Tensor
_QUESTIONS = (
    "size", "dim", "ndimension", "numel", "nelement", "stride", "storage_offset", "is_contiguous", "element_size",
    "data_ptr", "is_floating_point", "is_complex", "is_same_size", "requires_grad_", "register_hook", "retain_grad",
    "backward", "__len__", "__hash__", "__dir__", "__deepcopy__", "__iter__",
)  # fmt: skip
_QUIET = frozenset({torch.is_complex, torch.is_floating_point, *(getattr(_Tensor, name) for name in _QUESTIONS)})
"""Calls that put nothing into a graph themselves."""
_PLAIN = frozenset(
    {int, float, bool, complex, str, type(None), torch.dtype, torch.device, torch.layout, torch.memory_format}
    | {type(...), torch.Size}
)
"""Types of arguments that are kept as they are."""


class Call(NamedTuple):
    """One call. Tensors in it stand as their shape and dtype; what is neither tensor nor number, as its type."""

    function: Any
    code: CodeType | None
    """The user's function that made it, perhaps through a library; None for none."""
    row: int
    arguments: tuple[Any, ...]
    names: tuple[str, ...]
    """Of the last arguments: those passed by name."""
    result: Any


Entry = tuple[Any, CodeType | None, int, tuple[Any, ...], tuple[str, ...], Any]
"""A call as it is noted: a plain tuple, which takes a tenth of the time to make."""


class Charge(NamedTuple):
    """What a call made the device do, although it is no step boundary."""

    function: Any
    line: Line | None
    work: Counts


class CallLog(TorchFunctionMode):  # type: ignore[misc, unused-ignore]
    """Notes the calls that take or give a tensor on XLA, while it is entered and ``is_on``."""

    def __init__(self, ownership: Ownership, backend: Backend) -> None:
        super().__init__()
        self._ownership = ownership
        self._backend = backend
        self._activity: Callable[[], object] = backend.activity()
        self._seen = self._activity()
        self._counts = backend.counts()
        """Counters when ``_seen`` was seen."""
        self._owned: dict[CodeType, bool] = {}
        self.is_on = False
        self._hooks: list[Any] = []
        self._optimizing: Entry | None = None
        """The step of an optimizer that has begun and not ended."""
        self.calls: list[Entry] = []
        self.charges: list[Charge] = []

    def enter(self) -> None:
        """Watch what is called from now on."""
        self.__enter__()  # type: ignore[no-untyped-call, unused-ignore]
        self._hooks = [
            register_optimizer_step_pre_hook(self._before_optimizer),
            register_optimizer_step_post_hook(self._after_optimizer),
        ]

    def leave(self) -> None:
        """Watch no longer."""
        self.is_on = False
        for hook in self._hooks:
            hook.remove()
        self.__exit__(None, None, None)  # type: ignore[no-untyped-call, unused-ignore]

    def begin(self) -> None:
        """Begin another step."""
        self._optimizing = None
        self.calls = []
        self.charges = []
        self.is_on = True

    def line_of(self, call: Call) -> Line | None:
        """Where a call stands."""
        if call.code is None:
            return None
        return Line(self._ownership.path_of(call.code), call.row, call.code.co_qualname)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        # torch.compile inlines this function into what it compiles.
        if torch.compiler.is_dynamo_compiling() or not self.is_on:
            return func(*args, **(kwargs or {}))
        if type(func) is MethodWrapperType or func in _QUIET:
            return func(*args, **kwargs) if kwargs else func(*args)
        before = self._activity()
        if before != self._seen:  # between two calls, by a step boundary say
            self._seen, self._counts = before, self._backend.counts()
        result = func(*args, **kwargs) if kwargs else func(*args)
        is_on_xla = False
        arguments: list[Any] = []
        for value in args if not kwargs else (*args, *kwargs.values()):
            if isinstance(value, torch.Tensor):
                is_on_xla = is_on_xla or value.is_xla  # type: ignore[attr-defined, unused-ignore]
                arguments.append((value.shape, value.dtype))
            elif type(value) in _PLAIN:
                arguments.append(value)
            else:
                is_on_xla = is_on_xla or _is_on_xla(value)
                arguments.append(_kept(value))
        if is_on_xla or _is_on_xla(result):
            frame = self._own_frame(sys._getframe(1))
            code, row = (None, 0) if frame is None else (frame.f_code, frame.f_lineno)
            entry = func, code, row, tuple(arguments), tuple(kwargs) if kwargs else (), _kept(result)
            self.calls.append(entry)
            if self._activity() != before:
                self._charge(Call(*entry))
        return result

    def _before_optimizer(self, optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
        """An optimizer's step is one call, with its settings for arguments: it has ten calls of torch for each
        parameter."""
        if not self.is_on:
            return
        self.is_on = False
        before = self._activity()
        if before != self._seen:
            self._seen, self._counts = before, self._backend.counts()
        frame = self._own_frame(sys._getframe(1))
        code, row = (None, 0) if frame is None else (frame.f_code, frame.f_lineno)
        names, values = ["parameters"], [_with_gradient(optimizer)]
        for number, group in enumerate(optimizer.param_groups):
            for name, value in group.items():
                if name != "params":
                    names.append(f"param_groups[{number}][{name!r}]" if number else name)
                    values.append(_kept(value))
        self._optimizing = type(optimizer).step, code, row, tuple(values), tuple(names), None

    def _after_optimizer(self, optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
        entry, self._optimizing = self._optimizing, None
        if entry is None:
            return
        self.is_on = True
        self.calls.append(entry)
        if self._activity() != self._seen:
            self._charge(Call(*entry))

    def _own_frame(self, frame: FrameType | None) -> FrameType | None:
        owned = self._owned
        while frame is not None:
            code = frame.f_code
            is_own = owned.get(code)
            if is_own is None:
                is_own = owned[code] = bool(self._ownership.path_of(code))
            if is_own:
                return frame
            frame = frame.f_back
        return None

    def _charge(self, call: Call) -> None:
        counts = self._backend.counts()
        work = counts.since(self._counts)
        self._seen, self._counts = self._activity(), counts
        if work.reads or work.extra_launches:
            self.charges.append(Charge(call.function, self.line_of(call), work))


def _with_gradient(optimizer: torch.optim.Optimizer) -> int:
    return sum(one.grad is not None for group in optimizer.param_groups for one in group["params"])


def _kept(value: Any) -> Any:
    kind = type(value)
    if kind in _PLAIN:
        return value
    if isinstance(value, torch.Tensor):
        return (value.shape, value.dtype)
    if kind is slice:
        return (slice, _kept(value.start), _kept(value.stop), _kept(value.step))
    if isinstance(value, (tuple, list)):
        return tuple([_kept(one) for one in value])
    return value if isinstance(value, Number) else kind


def _is_on_xla(value: Any) -> bool:
    if isinstance(value, torch.Tensor):
        return bool(value.is_xla)  # type: ignore[attr-defined, unused-ignore]
    return isinstance(value, (tuple, list)) and any(map(_is_on_xla, value))
