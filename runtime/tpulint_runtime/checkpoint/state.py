"""The state of models, optimizers and the like: taken to the host, and put back into the objects that are there."""

from __future__ import annotations

import inspect
from collections import Counter, OrderedDict
from typing import Any, NamedTuple

import torch

from tpulint_runtime.backend import Backend
from tpulint_runtime.checkpoint.errors import CheckpointError

PLAIN = (type(None), bool, int, float, complex, str, bytes, torch.Size, torch.dtype, torch.device)
CONTAINERS = (list, tuple, set)
MAPPINGS = (dict, OrderedDict, Counter)


class _Place(NamedTuple):
    """Stands where a tensor was."""

    number: int
    """Of the tensor, among all that were found."""


# ---------------------------------------------------------------- out of the objects


def state_of(part: Any, done: int | None = None) -> Any:
    """``part.state_dict()``. A sampler that can be told how many batches of its epoch are ``done`` is: it may have
    handed out more, to loaders that fetch ahead."""
    if done is not None and counts_batches(part):
        return part.state_dict(done=done)
    return part.state_dict()


def counts_batches(part: Any) -> bool:
    """Whether it is a batch sampler whose state can be taken for a number of batches."""
    return hasattr(part, "set_epoch") and "done" in inspect.signature(part.state_dict).parameters


def check_part(name: str, part: Any) -> None:
    """Raises CheckpointError for what has no state to save."""
    if not (hasattr(part, "state_dict") and hasattr(part, "load_state_dict")):
        hint = ""
        if "ampler" in type(part).__name__:
            hint = "; EpochBatchSampler of tpulint_runtime has, and takes its place in a DataLoader"
        elif "Loader" in type(part).__name__:
            hint = "; give its batch sampler in its place, one that has them"
        raise CheckpointError(f"{name} is a {type(part).__name__}, without state_dict and load_state_dict{hint}")


def host_copy(tree: Any, backend: Backend) -> Any:
    """The same values, with all tensors copied to the host: what the training does next does not reach them.

    Tensors of the device come in one transfer, and one that occurs twice is copied once. Raises CheckpointError for
    what ``torch.load(weights_only=True)`` would not read again: anything but tensors and plain values, in mappings,
    lists, tuples and sets."""
    found: list[torch.Tensor] = []
    places: dict[Any, _Place] = {}
    outline = _take_out(tree, "", found, places)
    # Host sync, deliberate: the state is fetched as it is now. It is asked for behind the step boundary, once for all.
    return _put_in(outline, backend.fetch(found))


def _take_out(value: Any, path: str, found: list[torch.Tensor], places: dict[Any, _Place]) -> Any:
    kind = type(value)
    if kind in PLAIN:
        return value
    if kind in (torch.Tensor, torch.nn.Parameter):
        identity = _identity(value)
        if identity not in places:
            places[identity] = _Place(len(found))
            found.append(value.detach())
        return places[identity]
    if kind in MAPPINGS:
        copied: Any = kind()
        for key, child in value.items():
            if type(key) not in (str, int, float, bool, tuple, type(None)):
                raise CheckpointError(f"{path.lstrip('.')} has a key of {_name(type(key))}: {key!r}")
            copied[key] = _take_out(child, f"{path}[{key!r}]" if path else str(key), found, places)
        if (metadata := getattr(value, "_metadata", None)) is not None:  # of a module: versions of its parts
            copied._metadata = _take_out(metadata, f"{path}._metadata", found, places)
        return copied
    if kind in CONTAINERS:
        return kind(_take_out(child, f"{path}[{index}]", found, places) for index, child in enumerate(value))
    if kind.__module__ == "numpy" and getattr(value, "shape", None) == () and hasattr(value, "item"):
        return value.item()  # a number, which numpy has a type of its own for
    raise CheckpointError(
        f"{path} is a {_name(kind)}: a checkpoint holds tensors and plain values only, so that no file can run code "
        "when it is read"
    )


def _put_in(value: Any, tensors: list[torch.Tensor]) -> Any:
    if isinstance(value, _Place):
        return tensors[value.number]
    if type(value) in MAPPINGS:
        for key, child in value.items():
            value[key] = _put_in(child, tensors)
        return value
    if type(value) in CONTAINERS:
        return type(value)(_put_in(child, tensors) for child in value)
    return value


def _identity(tensor: torch.Tensor) -> Any:
    """The same for two tensors on the same memory, such as tied weights in the state of a module."""
    if tensor.layout is torch.strided and tensor.device.type in ("cpu", "cuda") and tensor.numel():
        return tensor.data_ptr(), tensor.dtype, tuple(tensor.shape), tensor.stride(), str(tensor.device)
    return "object", id(tensor)


def _name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


# ---------------------------------------------------------------- into the objects


def put_back(name: str, part: Any, state: Any) -> None:
    """Loads a state into an object, whose parameters stay the tensors they are: those that share weights share them
    still, and optimizers find theirs. Raises CheckpointError where it does not fit."""
    try:
        if isinstance(part, torch.optim.Optimizer):
            _load_optimizer(part, state)
        else:
            part.load_state_dict(state)
    except Exception as error:
        raise CheckpointError(f"the saved {name} does not fit this one: {error}") from error


def _load_optimizer(optimizer: torch.optim.Optimizer, state: dict[str, Any]) -> None:
    """``load_state_dict``, which casts the state to the dtype of the parameters, with the cast undone: moments may be
    float32 and parameters bfloat16. Values of groups that are tensors, such as a learning rate, go where they were."""
    before = [dict(group) for group in optimizer.param_groups]
    optimizer.load_state_dict(state)
    for old, new in zip(before, optimizer.param_groups, strict=True):
        for key, value in new.items():
            if isinstance(value, torch.Tensor) and isinstance(old.get(key), torch.Tensor):
                new[key] = value.to(old[key].device)
    numbers = [number for group in state["param_groups"] for number in group["params"]]
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    for number, parameter in zip(numbers, parameters, strict=True):
        for key, saved in state["state"].get(number, {}).items():
            loaded = optimizer.state[parameter].get(key)
            if isinstance(saved, torch.Tensor) and isinstance(loaded, torch.Tensor) and loaded.dtype != saved.dtype:
                optimizer.state[parameter][key] = saved.to(loaded.device)
