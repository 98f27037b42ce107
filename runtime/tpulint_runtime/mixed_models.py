"""Models that compute in bfloat16 wherever they are called, as Apex makes it of float16 on GPUs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

import torch

from tpulint_runtime.nested import is_leaf, items, rebuild

Models = TypeVar("Models", bound="torch.nn.Module | Iterable[torch.nn.Module]")


def autocast_model(models: Models, enabled: bool = True) -> Models:
    """Runs a module, or each of several, under ``torch.autocast`` in bfloat16 from now on, and returns what was given.

    Parameters stay in float32, and what the module returns is handed out in float32, so that losses are computed in
    it. The device is that of the first parameter at the time of the call. What runs of the module other than by calling
    it, a method of its own, is left as it is. ``enabled=False`` does nothing.

    .. code-block:: python

        autocast_model(model)           # as apex.amp.initialize(model, optimizer, opt_level="O1")
    """
    if enabled:
        for model in [models] if isinstance(models, torch.nn.Module) else models:
            entered = _Autocast()
            model.register_forward_pre_hook(entered.begin)
            model.register_forward_hook(entered.end, always_call=True)
    return models


class _Autocast:
    """What is entered of one module: more than one when it calls itself."""

    def __init__(self) -> None:
        self._entered: list[Any] = []

    def begin(self, module: torch.nn.Module, args: Any) -> None:
        parameter = next(module.parameters(), None)
        device = "xla" if parameter is None else parameter.device.type
        context: Any = torch.autocast(device, dtype=torch.bfloat16)
        context.__enter__()
        self._entered.append(context)

    def end(self, module: torch.nn.Module, args: Any, output: Any) -> Any:
        if self._entered:
            self._entered.pop().__exit__(None, None, None)
        return _wide(output)


def _wide(value: Any) -> Any:
    """Half precision as float32; a container without any is the one that was given."""
    if isinstance(value, torch.Tensor):
        return value.float() if value.dtype in (torch.bfloat16, torch.float16) else value
    if is_leaf(value) or not isinstance(value, (tuple, list, dict)):
        return value
    before = [item for _, item in items(value)]
    after = [_wide(item) for item in before]
    is_same = all(one is other for one, other in zip(before, after, strict=True))
    return value if is_same else rebuild(value, after)
