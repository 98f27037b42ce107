"""What stands in for operations that torch_xla computes on the host: the same values and gradients as torch's.

And that they stay on the device, where torch's do not.
"""

from __future__ import annotations

import copy
import math
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from tpulint_runtime import cdist, divide_norms, grid_sample, weight_norm
from tpulint_runtime.backend import XlaBackend

pytestmark = [pytest.mark.xla, pytest.mark.usefixtures("xla_started")]

DTYPES = st.sampled_from([torch.float32, torch.float64])


def compare(own: Any, of_torch: Any, *inputs: torch.Tensor) -> None:
    """Values, and gradients of every floating input, of a weighted sum of the result."""
    results = []
    for function in (own, of_torch):
        given = [one.clone().requires_grad_(one.is_floating_point()) for one in inputs]
        found = function(*given)
        weights = torch.linspace(0.5, 1.5, found.numel(), dtype=found.dtype).reshape(found.shape)
        finite = torch.where(found.isfinite(), found, torch.zeros_like(found))
        (finite * weights).sum().backward()
        results.append([found.detach(), *(one.grad for one in given)])
    for mine, other in zip(*results, strict=True):
        if other is not None:
            tolerance = 1e-9 if other.dtype == torch.float64 else 2e-4
            torch.testing.assert_close(mine, other, rtol=tolerance, atol=tolerance)


@given(
    st.integers(1, 3),
    st.integers(1, 6),
    st.integers(1, 5),
    st.integers(1, 30),
    st.sampled_from([1.0, 2.0, float("inf")]),
    DTYPES,
    st.integers(0, 99),
)
@settings(max_examples=40)
def test_distances(batch: int, p: int, r: int, m: int, norm: float, dtype: torch.dtype, seed: int) -> None:
    torch.manual_seed(seed)
    first, second = torch.randn(batch, p, m, dtype=dtype), torch.randn(batch, r, m, dtype=dtype)
    if norm == 2.0:
        second[:, 0] = first[:, 0]  # equal rows: a distance without a slope
    compare(
        lambda a, b: cdist(a, b, norm),
        lambda a, b: torch.cdist(a, b, norm, compute_mode="donot_use_mm_for_euclid_dist"),
        first,
        second,
    )


@given(st.data())
@settings(max_examples=60)
def test_samples_of_a_grid(data: Any) -> None:
    size = st.integers(1, 6)
    mode = data.draw(st.sampled_from(["bilinear", "nearest"]))
    options = {
        "mode": mode,
        "padding_mode": data.draw(st.sampled_from(["zeros", "border"])),
        "align_corners": data.draw(st.booleans()),
    }
    dtype = data.draw(DTYPES)
    torch.manual_seed(data.draw(st.integers(0, 99)))
    image = torch.randn(data.draw(st.integers(1, 3)), data.draw(size), data.draw(size), data.draw(size), dtype=dtype)
    grid = torch.rand(image.size(0), data.draw(size), data.draw(size), 2, dtype=dtype) * 3 - 1.5
    compare(lambda x, g: grid_sample(x, g, **options), lambda x, g: F.grid_sample(x, g, **options), image, grid)


def test_the_nearest_pixel_has_no_slope_and_the_grid_a_gradient_of_zeros() -> None:
    image = torch.randn(1, 2, 3, 3)
    for function in (F.grid_sample, grid_sample):
        grid = torch.tensor([[[[0.1, 0.2], [math.inf, 5.0]]]], requires_grad=True)
        samples = function(image, grid, mode="nearest", align_corners=False)
        samples.sum().backward()
        assert torch.equal(grid.grad, torch.zeros_like(grid))
        assert torch.equal(samples[..., 0], image[:, :, 1:2, 1]) and not samples[..., 1].any()


@pytest.mark.parametrize("padding", ["zeros", "border"])
def test_grid_of_the_pixels_themselves(padding: Any) -> None:
    image = torch.randn(2, 3, 4, 5, dtype=torch.float64)
    grid = F.affine_grid(torch.eye(2, 3, dtype=torch.float64).repeat(2, 1, 1), [2, 3, 4, 5], align_corners=True)
    torch.testing.assert_close(grid_sample(image, grid, padding_mode=padding, align_corners=True), image)


def on_device(name: str, ours: bool) -> tuple[Any, list[torch.Tensor]]:
    """The function, and its inputs on the host."""
    torch.manual_seed(1)
    if name == "cdist":
        return (cdist if ours else torch.cdist), [torch.randn(6, 7), torch.randn(5, 7)]
    function: Any = grid_sample if ours else F.grid_sample
    inputs = [torch.randn(2, 3, 6, 7), torch.rand(2, 4, 5, 2) * 2.4 - 1.2]
    return (lambda x, g: function(x, g, align_corners=False)), inputs


@pytest.mark.parametrize("name", ["cdist", "grid_sample"])
def test_device_keeps_them(name: str) -> None:
    backend = XlaBackend()
    counted = {}
    results: dict[bool, list[torch.Tensor]] = {}
    for ours in (True, False):
        function, inputs = on_device(name, ours)
        given = [one.to(backend.device()).requires_grad_(one.is_floating_point()) for one in inputs]
        backend.sync(wait=True)
        before = backend.counts()
        found = function(*given)
        found.square().mean().backward()
        backend.sync(wait=True)
        counted[ours] = backend.counts().since(before)
        results[ours] = [found.detach().cpu(), *(one.grad.cpu() for one in given if one.grad is not None)]
    assert not counted[True].fallbacks and (counted[True].launches, counted[True].reads) == (1, 0)
    assert counted[False].fallbacks, "torch_xla has it now: what stands in for it is no longer needed"
    for mine, other in zip(results[True], results[False], strict=True):
        torch.testing.assert_close(mine, other, rtol=1e-4, atol=1e-5)


def test_what_does_not_fit_is_named() -> None:
    ones = torch.ones
    with pytest.raises(ValueError, match="p is 3"):
        cdist(ones(2, 2), ones(2, 2), 3.0)
    with pytest.raises(ValueError, match="are not"):
        grid_sample(ones(1, 1, 2, 2), ones(2, 1, 1, 2))
    with pytest.raises(ValueError, match="bicubic with zeros is not here"):
        grid_sample(ones(1, 1, 2, 2), ones(1, 1, 1, 2), mode="bicubic")  # type: ignore[arg-type]


# ---------------------------------------------------------------- normalisations


LAYERS = [
    (lambda: torch.nn.LayerNorm((3, 4)), (5, 2, 3, 4)),
    (lambda: torch.nn.LayerNorm(4, elementwise_affine=False), (5, 4)),
    (lambda: torch.nn.LayerNorm(4, bias=False), (5, 4)),
    (lambda: torch.nn.GroupNorm(2, 4), (5, 4, 3, 3)),
    (lambda: torch.nn.GroupNorm(2, 4, affine=False), (5, 4)),
    (lambda: torch.nn.BatchNorm1d(4), (5, 4)),
    (lambda: torch.nn.BatchNorm1d(4), (5, 4, 3)),
    (lambda: torch.nn.BatchNorm2d(4, momentum=None), (5, 4, 3, 3)),
    (lambda: torch.nn.BatchNorm2d(4, affine=False, track_running_stats=False), (5, 4, 3, 3)),
    (lambda: torch.nn.BatchNorm3d(4), (5, 4, 2, 2, 2)),
]


def test_batch_norm_on_xla_keeps_the_variance_of_the_batch_and_written_out_that_of_torch() -> None:
    """What evaluation divides by: of 4 rows, a quarter less of each batch's share."""
    backend = XlaBackend()
    x = torch.randn(4, 3, generator=torch.Generator().manual_seed(0))
    plain, kept, written = (torch.nn.Sequential(torch.nn.BatchNorm1d(3, momentum=1.0)) for _ in range(3))
    plain(x)
    kept.to(backend.device())
    written.to(backend.device())
    divide_norms(written)
    (sent,) = backend.send([x])
    kept(sent)
    written(sent)
    of_torch, of_xla = plain[0].running_var, kept[0].running_var.cpu()
    torch.testing.assert_close(written[0].running_var.cpu(), of_torch)
    torch.testing.assert_close(of_xla, of_torch * 3 / 4, msg="torch_xla keeps another variance: change the docs")


@pytest.mark.parametrize(("make", "shape"), LAYERS)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_norms_written_out_are_those_of_torch(make: Any, shape: tuple[int, ...], dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    own, other = torch.nn.Sequential(make()), torch.nn.Sequential(make())
    for parameter in own.parameters():
        torch.nn.init.uniform_(parameter, 0.5, 1.5)
    other.load_state_dict(own.state_dict())
    if dtype == torch.float64:
        own, other = own.double(), other.double()
    kind = type(own[0])
    assert divide_norms(own) == 1 and divide_norms(own) == 0
    assert isinstance(own[0], kind) and list(own.state_dict()) == list(other.state_dict())
    tolerance = {torch.float64: 1e-9, torch.float32: 1e-4, torch.bfloat16: 3e-2}[dtype]

    def close(mine: torch.Tensor | None, theirs: torch.Tensor | None) -> None:
        assert (mine is None) == (theirs is None)
        if mine is not None and theirs is not None:
            torch.testing.assert_close(mine, theirs, rtol=tolerance, atol=tolerance)

    for step in range(3):
        if step == 2:
            own.eval(), other.eval()
        x = (2 * torch.randn(shape, dtype=torch.float64) + 1).to(dtype)
        inputs = [x.clone().requires_grad_() for _ in range(2)]
        found = [model(one) for model, one in zip((own, other), inputs, strict=True)]
        assert found[0].dtype == found[1].dtype == dtype
        close(*found)
        for one in found:
            one.square().mul(torch.linspace(0, 1, one.numel(), dtype=dtype).reshape(shape)).sum().backward()
        if dtype != torch.bfloat16:  # torch rounds in between, so that gradients near 0 are noise
            close(inputs[0].grad, inputs[1].grad)
        for mine, theirs in zip(own.parameters(), other.parameters(), strict=True):
            if dtype != torch.bfloat16:
                close(mine.grad, theirs.grad)
        for mine_b, theirs_b in zip(own.buffers(), other.buffers(), strict=True):
            close(mine_b, theirs_b)


def test_norms_of_derived_classes_are_left_alone() -> None:
    class Own(torch.nn.LayerNorm):
        pass

    model = torch.nn.Sequential(Own(2), torch.nn.LayerNorm(2), torch.nn.Linear(2, 2))
    assert divide_norms(model) == 1
    assert type(model[0]) is Own and type(model[2]) is torch.nn.Linear


def test_batch_norm_of_one_value_is_refused() -> None:
    model = torch.nn.Sequential(torch.nn.BatchNorm1d(3))
    divide_norms(model)
    with pytest.raises(ValueError, match="1 value per channel"):
        model(torch.ones(1, 3))


@pytest.mark.parametrize("dim", [0, 1, None])
def test_weight_norm(dim: int | None) -> None:
    torch.manual_seed(3)
    layer = torch.nn.Conv1d(3, 4, 2)
    mine, other = (normed(copy.deepcopy(layer), dim=dim) for normed in (weight_norm, torch.nn.utils.weight_norm))
    assert mine.state_dict().keys() == other.state_dict().keys()
    x = torch.randn(2, 3, 8)
    for one in (mine, other):
        one(x).square().sum().backward()
    torch.testing.assert_close(mine(x), other(x))
    for own, of_torch in zip(mine.parameters(), other.parameters(), strict=True):
        torch.testing.assert_close(own.grad, of_torch.grad)
    plain = torch.nn.utils.remove_weight_norm(mine)
    torch.testing.assert_close(plain(x), other(x))
    with pytest.raises(RuntimeError, match="two weight_norm"):
        weight_norm(weight_norm(torch.nn.Linear(2, 2)))


def test_weight_norm_stays_on_the_device() -> None:
    backend = XlaBackend()
    counted = {}
    for ours, normed in ((True, weight_norm), (False, torch.nn.utils.weight_norm)):
        layer = normed(torch.nn.Linear(4, 4)).to(backend.device())
        x = torch.randn(2, 4).to(backend.device())
        backend.sync(wait=True)
        before = backend.counts()
        layer(x).sum().backward()
        backend.sync(wait=True)
        counted[ours] = backend.counts().since(before)
    assert not counted[True].fallbacks and (counted[True].launches, counted[True].reads) == (1, 0)
    assert counted[False].fallbacks, "torch_xla has it now: what stands in for it is no longer needed"


def test_weight_norm_is_moved_by_swapping() -> None:
    """Models with tied weights are moved so; torch's own holds on to its parameters, and fails."""
    torch.__future__.set_swap_module_params_on_conversion(True)
    try:
        layer = weight_norm(torch.nn.Linear(4, 4))
        kept = layer.weight_v
        layer.to(XlaBackend().device())
        assert layer.weight_v is kept and kept.device.type == "xla"
        with pytest.raises(RuntimeError, match="swap"):
            torch.nn.utils.weight_norm(torch.nn.Linear(4, 4)).to(XlaBackend().device())
    finally:
        torch.__future__.set_swap_module_params_on_conversion(False)
