"""What the documentation says to write for operations that torch_xla computes on the host: run as it stands there.

Values and gradients are those of torch's operation, one graph is run, and nothing is read. Where torch's operation has
come to the device, the row is no longer needed, and the test says so.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from tpulint_runtime.backend import XlaBackend

pytestmark = [pytest.mark.xla, pytest.mark.usefixtures("xla_started")]

PAGE = (Path(__file__).parents[2] / "docs" / "runtime.md").read_text(encoding="utf-8")

X = torch.linspace(-2.0, 2.2, 24).reshape(4, 6)
Y = X.flip(0) + 0.3
IMAGES = torch.linspace(-1.0, 1.3, 2 * 3 * 5 * 5).sin().reshape(2, 3, 5, 5)
IDS = torch.tensor([[0, 3, 1], [2, 2, 5]])
GAPS = torch.where(X > 1.8, torch.nan, X)

Operation = Callable[[dict[str, Any]], torch.Tensor]
ROWS: dict[str, tuple[Operation, dict[str, Any]]] = {
    "delta * F.smooth_l1_loss(x, y, beta=delta)": (
        lambda n: F.huber_loss(n["x"], n["y"], delta=n["delta"]),
        {"x": X, "y": Y, "delta": 0.7},
    ),
    "a, b = x.chunk(2, -1); a * b.sigmoid()": (lambda n: F.glu(n["x"]), {"x": X}),
    "F.embedding(ids, weight).sum(1)": (
        lambda n: F.embedding_bag(n["ids"], n["weight"], mode="sum"),
        {"ids": IDS, "weight": X.T.contiguous()},
    ),
    "torch.stack([a, b]).logsumexp(0)": (lambda n: torch.logaddexp(n["a"], n["b"]), {"a": X, "b": Y}),
    "p.log() - (1 - p).log()": (lambda n: torch.logit(n["p"]), {"p": X.sigmoid()}),
    "(0.5 * (v.log() + (x - y) ** 2 / v)).mean()": (
        lambda n: F.gaussian_nll_loss(n["x"], n["y"], n["v"]),
        {"x": X, "y": Y, "v": X.exp()},
    ),
    "x.sort(-1).values[..., (x.size(-1) - 1) // 2]": (lambda n: n["x"].median(-1).values, {"x": X}),
    "F.one_hot(labels, n).sum(0)": (
        lambda n: torch.bincount(n["labels"], minlength=n["n"]),
        {"labels": IDS.flatten(), "n": 7},
    ),
    "(a[..., None] == b).any(-1)": (lambda n: torch.isin(n["a"], n["b"]), {"a": IDS, "b": torch.tensor([1, 5])}),
    "a.roll(-1, -1) * b.roll(1, -1) - a.roll(1, -1) * b.roll(-1, -1)": (
        lambda n: torch.linalg.cross(n["a"], n["b"]),
        {"a": X.reshape(8, 3), "b": Y.reshape(8, 3)},
    ),
    "torch.where(x.isnan(), 0, x).sum(-1) / (~x.isnan()).sum(-1)": (lambda n: n["x"].nanmean(-1), {"x": GAPS}),
    "torch.stack([r * t.cos(), r * t.sin()], -1)": (
        lambda n: torch.view_as_real(torch.polar(n["r"], n["t"])),
        {"r": X.exp(), "t": Y},
    ),
    "z = x.new_zeros(n, x.size(1)); z.index_add(0, i, x) / z.index_add(0, i, torch.ones_like(x)).clamp(min=1)": (
        lambda n: (
            n["x"]
            .new_zeros(n["n"], 6)
            .scatter_reduce(0, n["i"][:, None].expand_as(n["x"]), n["x"], "mean", include_self=False)
        ),
        {"i": torch.tensor([0, 2, 2, 0]), "x": X, "n": 3},
    ),
    "F.conv2d(x, torch.eye(k * k).view(-1, 1, k, k).repeat(x.size(1), 1, 1, 1).to(x), groups=x.size(1)).flatten(2)": (
        lambda n: F.unfold(n["x"], n["k"]),
        {"x": IMAGES, "k": 2},
    ),
    'x @ F.interpolate(torch.eye(x.size(-1))[None], size=m, mode="linear")[0].to(x)': (
        lambda n: F.interpolate(n["x"], size=n["m"], mode="linear"),
        {"x": IMAGES[0], "m": 7},
    ),
    'w = F.interpolate(torch.eye(x.size(-1))[None, :, None], size=(1, m), mode="bicubic")[0, :, 0].to(x); '
    "w.T @ x @ w": (
        lambda n: F.interpolate(n["x"], size=(n["m"], n["m"]), mode="bicubic"),
        {"x": IMAGES, "m": 8},
    ),
}


def written(expression: str, names: dict[str, Any]) -> Any:
    """The value of the last of several statements."""
    *before, last = expression.split("; ")
    scope = {"torch": torch, "F": F, **names}
    for statement in before:
        exec(statement, scope)
    return eval(last, scope)


def trained(compute: Operation, names: dict[str, Any], backend: XlaBackend | None) -> tuple[list[torch.Tensor], Any]:
    """The result and gradients of all floating inputs, on the CPU, and what the device did for them."""
    given = {name: value.clone() if isinstance(value, torch.Tensor) else value for name, value in names.items()}
    if backend is not None:
        given = {name: value.to(backend.device()) if torch.is_tensor(value) else value for name, value in given.items()}
    inputs = [
        value.requires_grad_() for value in given.values() if torch.is_tensor(value) and value.is_floating_point()
    ]
    before = None
    if backend is not None:
        backend.sync(wait=True)
        before = backend.counts()
    found = compute(given)
    if found.requires_grad:
        (found * torch.linspace(0.5, 1.5, found.numel(), device=found.device).reshape(found.shape)).sum().backward()
    work = None
    if backend is not None:
        backend.sync(wait=True)
        work = backend.counts().since(before)
    return [found.detach().cpu(), *(one.grad.cpu() for one in inputs if one.grad is not None)], work


@pytest.mark.parametrize("expression", ROWS)
def test_it_is_the_same_and_stays_on_the_device(expression: str) -> None:
    assert f"`{expression}`" in PAGE
    operation, names = ROWS[expression]
    backend = XlaBackend()
    expected, _ = trained(operation, names, None)
    found, work = trained(lambda given: written(expression, given), names, backend)
    assert len(found) == len(expected)
    for mine, other in zip(found, expected, strict=True):
        torch.testing.assert_close(mine, other, rtol=1e-4, atol=1e-5, equal_nan=True, check_dtype=False)
    assert not work.fallbacks and (work.launches, work.reads) == (1, 0)
    _, of_torch = trained(operation, names, backend)
    assert of_torch.fallbacks, "torch_xla has it now: what stands in for it is no longer needed"


def test_the_older_spectral_norm_stays_on_the_device() -> None:
    backend = XlaBackend()
    fallbacks = []
    for normed in (torch.nn.utils.spectral_norm, torch.nn.utils.parametrizations.spectral_norm):
        torch.manual_seed(0)
        layer = normed(torch.nn.Linear(6, 4)).to(backend.device())
        x = X.to(backend.device())
        backend.sync(wait=True)
        before = backend.counts()
        layer(x).square().sum().backward()
        backend.sync(wait=True)
        fallbacks.append(backend.counts().since(before).fallbacks)
    assert not fallbacks[0] and [*fallbacks[1]] == ["aten::vdot"]
