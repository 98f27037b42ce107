"""Operations that torch_xla computes on the host, and that have no short form which it does not.

Each has the name and the meaning of torch's own, and the same gradients. On XLA nothing is read, and no shape depends
on data. Outside XLA torch's own are faster. The others that torch_xla does not have are a line of torch each: see the
table in the documentation of the runtime.
"""

from __future__ import annotations

from typing import Literal, TypeVar

import torch
from torch import nn
from torch.nn.utils.weight_norm import WeightNorm

_Layer = TypeVar("_Layer", bound=nn.Module)


def cdist(x1: torch.Tensor, x2: torch.Tensor, p: float = 2.0) -> torch.Tensor:
    """``torch.cdist``: distances between the rows of ``x1`` ``(*, P, M)`` and of ``x2`` ``(*, R, M)``, as
    ``(*, P, R)``; floating, of one dtype. Where two rows are equal, the gradient is 0, as torch has it.

    Computed by differences: exact for close rows, with P x R x M numbers in between for the backward pass.

    Raises ValueError for ``p`` that is not 1, 2 or infinite."""
    difference = x1.unsqueeze(-2) - x2.unsqueeze(-3)
    if p == 1.0:
        return difference.abs().sum(-1)
    if p == float("inf"):
        return difference.abs().amax(-1)
    if p != 2.0:
        raise ValueError(f"p is {p}, not 1, 2 or infinite")
    square = difference.square().sum(-1)
    # The slope of a root is infinite at 0, and times 0 it is NaN: so no root is taken there.
    zero = square == 0
    return square.masked_fill(zero, 1.0).sqrt().masked_fill(zero, 0.0)


def grid_sample(
    input: torch.Tensor,
    grid: torch.Tensor,
    mode: Literal["bilinear", "nearest"] = "bilinear",
    padding_mode: Literal["zeros", "border"] = "zeros",
    align_corners: bool = False,
) -> torch.Tensor:
    """``torch.nn.functional.grid_sample`` of images: ``input`` ``(N, C, H, W)`` at the points of ``grid``
    ``(N, h, w, 2)``, x and y from -1 to 1, gives ``(N, C, h, w)``. Both floating, of one dtype.

    Raises ValueError for other shapes, modes and paddings: volumes, ``bicubic`` and ``reflection`` are not here."""
    if input.dim() != 4 or grid.dim() != 4 or grid.size(-1) != 2 or grid.size(0) != input.size(0):
        raise ValueError(f"input {tuple(input.shape)} and grid {tuple(grid.shape)} are not (N, C, H, W), (N, h, w, 2)")
    if mode not in ("bilinear", "nearest") or padding_mode not in ("zeros", "border"):
        raise ValueError(f"{mode} with {padding_mode} is not here: bilinear or nearest, zeros or border")
    height, width = int(input.size(2)), int(input.size(3))
    x = _pixel(grid[..., 0], width, align_corners)
    y = _pixel(grid[..., 1], height, align_corners)
    if padding_mode == "border":
        x, y = _within(x, width - 1), _within(y, height - 1)
    if mode == "nearest":
        # No slope, but torch gives the grid a gradient, of zeros: so the grid takes part, whatever its numbers.
        nothing = (x + y).masked_fill(torch.ones_like(x, dtype=torch.bool), 0.0).unsqueeze(1)
        return _pixels(input, x.round(), y.round()) + nothing
    left, top = x.detach().floor(), y.detach().floor()
    right, bottom = (x - left).unsqueeze(1), (y - top).unsqueeze(1)
    return (
        _pixels(input, left, top) * (1 - right) * (1 - bottom)
        + _pixels(input, left + 1, top) * right * (1 - bottom)
        + _pixels(input, left, top + 1) * (1 - right) * bottom
        + _pixels(input, left + 1, top + 1) * right * bottom
    )


def _pixel(points: torch.Tensor, size: int, align_corners: bool) -> torch.Tensor:
    """From -1 to 1 to places of pixels, whose centres are whole numbers."""
    if align_corners:
        return (points + 1) / 2 * (size - 1)
    return ((points + 1) * size - 1) / 2


def _within(places: torch.Tensor, last: int) -> torch.Tensor:
    """From 0 to ``last``. Without a gradient at the ends, as in torch."""
    return torch.where((places > 0) & (places < last), places, places.detach().clamp(0, last))


def _pixels(input: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """``input`` at whole places, ``(N, C, h, w)``; 0 outside."""
    height, width = input.shape[2:]
    inside = (x >= 0) & (x <= width - 1) & (y >= 0) & (y <= height - 1)
    place = y.clamp(0, height - 1).long() * width + x.clamp(0, width - 1).long()
    flat = place.flatten(1).unsqueeze(1).expand(-1, input.size(1), -1)
    found = input.flatten(2).gather(2, flat).reshape(*input.shape[:2], *place.shape[1:])
    return found.masked_fill(~inside.unsqueeze(1), 0.0)


def weight_norm(module: _Layer, name: str = "weight", dim: int | None = 0) -> _Layer:
    """``torch.nn.utils.weight_norm``: changes ``module`` and returns it. Parameters and their names are torch's, so
    checkpoints fit, and ``torch.nn.utils.remove_weight_norm`` takes it off: ``weight_v``, of the shape of the weight,
    and ``weight_g``, which has 1 for each dimension but ``dim``, both of its dtype. With ``dim`` None, one norm is
    taken over all of it.

    Raises AttributeError where ``module`` has no parameter ``name``, RuntimeError where ``name`` is normed already."""
    nn.utils.weight_norm(module, name, -1 if dim is None else dim)
    hooks = module._forward_pre_hooks
    for key, hook in hooks.items():
        if isinstance(hook, WeightNorm) and hook.name == name:
            hooks[key] = _WeightNorm(hook.name, hook.dim)
    # Computed anew in every forward pass: until then a graph would only hold on to parameters that are moved.
    setattr(module, name, getattr(module, name).detach())
    return module


class _WeightNorm(WeightNorm):  # type: ignore[misc, unused-ignore]
    """Torch's own, but for the one operation of its forward pass that has no program for XLA."""

    def compute_weight(self, module: nn.Module) -> torch.Tensor:
        length: torch.Tensor = getattr(module, f"{self.name}_g")
        direction: torch.Tensor = getattr(module, f"{self.name}_v")
        return direction * (length / torch.norm_except_dim(direction, 2, self.dim))
