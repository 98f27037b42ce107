"""Inputs of a module that are moved to where it is, as ``torch.nn.DataParallel`` does for GPUs."""

from __future__ import annotations

from typing import Any

import torch

from tpulint_runtime.nested import is_leaf, items, rebuild


def move_inputs(module: torch.nn.Module) -> None:
    """Lets a module move what it is called with: tensors of any shape, in lists, tuples and mappings as well.

    They go to the device of its first parameter at the time of the call, and stay there where they are on it; a module
    without parameters takes them as they come. Call it once, with the module in place of the wrapper that moved its
    inputs before; again does no harm."""
    hooks = module._forward_pre_hooks.values()
    if _move not in hooks:
        module.register_forward_pre_hook(_move, prepend=True, with_kwargs=True)


def _move(module: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    parameter = next(module.parameters(), None)
    if parameter is None:
        return args, kwargs
    return _moved(args, parameter.device), _moved(kwargs, parameter.device)


def _moved(value: Any, device: torch.device) -> Any:
    """A tensor, or the tensors in a container, on a device; a container without one is the one that was given."""
    if isinstance(value, torch.Tensor):
        return value.to(device)
    if is_leaf(value) or not isinstance(value, (tuple, list, dict)):
        return value
    before = [item for _, item in items(value)]
    after = [_moved(item, device) for item in before]
    return value if all(map(_is_same, before, after)) else rebuild(value, after)


def _is_same(before: object, after: object) -> bool:
    return before is after
