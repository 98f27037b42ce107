"""What is drawn for a comparison of two runs is what torch draws on the host, however it is asked."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.xla


@pytest.mark.parametrize(
    ("name", "given", "named"),
    [
        ("rand_like", (), {}),
        ("randn_like", (), {"dtype": "float64"}),
        ("randint_like", (5,), {}),
        ("randint_like", (2, 5), {"dtype": "int64"}),
        ("randint_like", (), {"high": 2}),
        ("randint_like", (3,), {"high": 9}),
        ("randint_like", (), {"low": 3, "high": 9}),
    ],
)
def test_numbers_of_the_shape_of_a_tensor(name: str, given: tuple[int, ...], named: dict[str, Any]) -> None:
    import torch
    from tpulint_runtime.observation import comparable

    dtypes = {"dtype": getattr(torch, named["dtype"])} if "dtype" in named else {}
    like = torch.zeros(3, 4)
    drawn = comparable.drawn_like(getattr(torch, comparable.LIKE[name]))
    torch.manual_seed(1)
    expected = getattr(torch, name)(like, *given, **named | dtypes)
    torch.manual_seed(1)
    assert torch.equal(drawn(like, *given, **named | dtypes), expected)
    assert drawn(like, *given, **named | dtypes).dtype == expected.dtype


@pytest.mark.parametrize("name", ["rand", "randn"])
def test_a_generator_of_the_host_is_asked_for_numbers_of_the_device(name: str) -> None:
    import torch
    import torch_xla
    from tpulint_runtime.observation import comparable

    drawn = comparable.drawn_on_host(getattr(torch, name))
    expected = getattr(torch, name)(3, generator=torch.Generator().manual_seed(1))
    torch.manual_seed(2)
    seen = drawn(3, generator=torch.Generator().manual_seed(1), device=torch_xla.device())
    assert seen.device.type == "xla"
    assert torch.equal(seen.cpu(), expected)
