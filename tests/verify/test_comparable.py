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


@pytest.mark.parametrize(("count", "again"), [(1, False), (5, True)])
def test_classes_are_chosen_by_numbers_of_the_host(count: int, again: bool) -> None:
    """The same on both devices, and each as often as its probability says."""
    import torch
    import torch_xla
    from tpulint_runtime.observation import comparable

    choose = comparable.chosen_on_host(torch.multinomial)
    rates = torch.tensor([[0.1, 0.0, 0.6, 0.3]]).repeat(4000, 1)
    torch.manual_seed(1)
    seen = choose(rates, count, again)
    torch.manual_seed(1)
    there = choose(rates.to(torch_xla.device()), count, again)
    assert there.device.type == "xla"
    assert torch.equal(there.cpu(), seen)
    assert seen.shape == torch.multinomial(rates, count, again).shape
    assert torch.allclose(torch.bincount(seen.flatten(), minlength=4) / seen.numel(), rates[0], atol=0.03)


def test_several_classes_each_at_most_once_are_left_to_torch() -> None:
    import torch
    from tpulint_runtime.observation import comparable

    assert sorted(comparable.chosen_on_host(torch.multinomial)(torch.ones(4), 4).tolist()) == [0, 1, 2, 3]


def test_dropout_that_drops_nothing_gives_another_tensor() -> None:
    import torch
    from tpulint_runtime.observation import comparable

    given = torch.ones(3)
    assert comparable.keep_all(given, 0.5, True).data_ptr() != given.data_ptr()
    assert comparable.keep_all(given, 0.5, False) is comparable.keep_all(given, inplace=True) is given
