"""Recurrent layers on padded sequences: what packed ones give, and one program for all lengths."""

from __future__ import annotations

import copy
from functools import partial
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from tpulint_runtime import run_padded
from tpulint_runtime.backend import XlaBackend
from tpulint_runtime.recurrent import run_masked

pytestmark = [pytest.mark.xla, pytest.mark.usefixtures("xla_started")]

LAYERS: dict[str, Any] = {
    "LSTM": lambda **given: nn.LSTM(5, 7, **given),
    # `import torch_xla` puts another class in the place of nn.GRU.
    "GRU": lambda **given: nn.modules.rnn.GRU(5, 7, **given),
    "RNN": lambda **given: nn.RNN(5, 7, **given),
    "RNN with relu": lambda **given: nn.RNN(5, 7, nonlinearity="relu", **given),
}
FORMS: dict[str, dict[str, Any]] = {
    "plain": {},
    "two layers, both directions": {"num_layers": 2, "bidirectional": True},
    "without bias, both directions": {"bias": False, "bidirectional": True},
    "dropout, not in training": {"num_layers": 2, "dropout": 0.5},
}
PROJECTED = {
    "projections": {"proj_size": 3},
    "projections, both directions": {"proj_size": 3, "num_layers": 2, "bidirectional": True},
}
CASES = [(kind, form) for kind in LAYERS for form in FORMS] + [("LSTM", form) for form in PROJECTED]


def parts(state: Any) -> tuple[torch.Tensor, ...]:
    return state if isinstance(state, tuple) else (state,)


def packed(layer: Any, x: torch.Tensor, lengths: torch.Tensor, state: Any, batch_first: bool) -> Any:
    given = pack_padded_sequence(x, lengths, batch_first, enforce_sorted=False)
    output, ended = layer(given, state)
    return pad_packed_sequence(output, batch_first)[0], ended


def state_of(layer: nn.RNNBase, rows: int) -> Any:
    levels = layer.num_layers * (2 if layer.bidirectional else 1)
    one, other = torch.randn(2, levels, rows, layer.hidden_size)
    return (one[..., : layer.proj_size or None], other) if layer.mode == "LSTM" else one


def results(function: Any, layer: Any, x: torch.Tensor, *given: Any) -> list[torch.Tensor]:
    """Output, last states, and the gradients of input and weights of a weighted sum of both."""
    layer = copy.deepcopy(layer)
    x = x.clone().requires_grad_()
    output, ended = function(layer, x, *given)
    found = [output, *parts(ended)]
    sum((one * torch.linspace(0.5, 1.5, one.numel()).reshape(one.shape)).sum() for one in found).backward()  # type: ignore[union-attr]
    return [*(one.detach() for one in found), x.grad, *(weight.grad for weight in layer.parameters())]  # type: ignore[list-item]


@pytest.mark.parametrize(("kind", "form"), CASES)
@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize("has_state", [False, True])
def test_output_states_and_gradients_are_those_of_packing(
    kind: str, form: str, batch_first: bool, has_state: bool
) -> None:
    torch.manual_seed(0)
    layer = LAYERS[kind](**{**FORMS, **PROJECTED}[form]).eval()
    x = torch.randn(6, 4, 5)
    x = x.transpose(0, 1) if batch_first else x
    lengths = torch.tensor([3, 6, 1, 5])
    state = state_of(layer, 4) if has_state else None
    expected = results(packed, layer, x, lengths, state, batch_first)
    for function in (run_masked, run_padded):
        found = results(partial(function, batch_first=batch_first), layer, x, lengths, state)
        for mine, other in zip(found, expected, strict=True):
            torch.testing.assert_close(mine, other, rtol=2e-5, atol=2e-5)


def test_output_is_as_long_as_the_input() -> None:
    layer = nn.LSTM(5, 7)
    x = torch.randn(6, 2, 5)
    for function in (run_padded, run_masked):
        output, _ = function(layer, x, [2, 4])
        assert output.shape == (6, 2, 7)
        assert not output[4:].any() and not output[2:, 0].any() and output[:2].all()


def test_dropout_between_layers_is_for_training_only() -> None:
    torch.manual_seed(0)
    layer = nn.LSTM(5, 7, 2, dropout=0.5)
    x = torch.randn(6, 4, 5)
    one, other = (run_masked(layer, x, [6, 5, 4, 3])[0] for _ in range(2))
    assert not torch.equal(one, other)
    layer.eval()
    one, other = (run_masked(layer, x, [6, 5, 4, 3])[0] for _ in range(2))
    assert torch.equal(one, other)


def test_the_gru_of_torch_xla_is_run_as_well() -> None:
    layer = nn.GRU(5, 7)
    assert type(layer).__module__.startswith("torch_xla."), "torch_xla puts its own in its place no longer"
    of_torch = nn.modules.rnn.GRU(5, 7)
    of_torch.load_state_dict(layer.state_dict())
    x, lengths = torch.randn(6, 4, 5), torch.tensor([3, 6, 1, 5])
    output, ended = run_padded(layer, x, lengths)
    expected, expected_end = packed(of_torch, x, lengths, None, False)
    torch.testing.assert_close(output, expected)
    torch.testing.assert_close(ended, expected_end)


@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
def test_on_xla_lengths_are_not_read_and_change_no_graph(kind: str) -> None:
    backend = XlaBackend()
    torch.manual_seed(0)
    plain = LAYERS[kind](num_layers=2, bidirectional=True, batch_first=True)
    layer = copy.deepcopy(plain).to(backend.device())
    before = None
    for lengths in ([3, 6, 1, 5], [6, 6, 6, 6], [1, 2, 3, 4], torch.tensor([2, 6, 1, 1])):
        x = torch.randn(4, 6, 5)
        (sent,) = backend.send([x])
        output, ended = run_padded(layer, sent, lengths, batch_first=True)
        output.sum().backward()
        layer.zero_grad()
        backend.sync(wait=True)
        if before is not None:
            done = backend.counts().since(before)
            assert (done.compiles, done.launches, done.reads, done.fallbacks) == (0, 1, 0, {})
        found = backend.fetch([output, *parts(ended)])
        expected = run_padded(plain, x, lengths, batch_first=True)
        for mine, other in zip(found, [expected[0], *parts(expected[1])], strict=True):
            torch.testing.assert_close(mine, other, rtol=1e-4, atol=1e-5)
        before = backend.counts()


@pytest.mark.parametrize(("kind", "form"), [*((kind, {}) for kind in LAYERS), ("LSTM", {"proj_size": 3})])
def test_under_autocast_to_bfloat16(kind: str, form: dict[str, int]) -> None:
    backend = XlaBackend()
    torch.manual_seed(0)
    plain = LAYERS[kind](bidirectional=True, **form)
    x, lengths = torch.randn(6, 4, 5), [3, 6, 1, 5]
    layer = copy.deepcopy(plain).to(backend.device())
    (sent,) = backend.send([x])
    with backend.autocast(True, torch.bfloat16, None):
        for given in (sent, sent.bfloat16()):
            dtypes = [
                [one.dtype for one in (found, *parts(ended))]
                for found, ended in (layer(given), run_padded(layer, given, lengths))
            ]
            assert dtypes[0] == dtypes[1], "not those of the layer without lengths"
        output, _ = run_padded(layer, sent, lengths)
    output.float().sum().backward()
    backend.sync(wait=True)
    (found,) = backend.fetch([output])
    torch.testing.assert_close(found.float(), run_padded(plain, x, lengths)[0], rtol=0.05, atol=0.05)


def test_what_stands_in_the_padding_reaches_no_gradient() -> None:
    layer = nn.LSTM(5, 7)
    x = torch.randn(6, 2, 5)
    x[4:, 0] = float("nan")
    run_masked(layer, x, [4, 6])[0].sum().backward()
    assert all(weight.grad is not None and weight.grad.isfinite().all() for weight in layer.parameters())


@pytest.mark.parametrize("function", [run_padded, run_masked])
def test_lengths_are_whole_numbers_as_packing_makes_them(function: Any) -> None:
    """Of floats, what stands before the point; one length is no length of another sequence."""
    layer, x = nn.LSTM(5, 7), torch.randn(6, 2, 5)
    expected = function(layer, x, [2, 4])[0]
    for lengths in (torch.tensor([2.9, 4.0]), [2.5, 4.5], (2, 4), torch.tensor([2, 4], dtype=torch.int32)):
        assert torch.equal(function(layer, x, lengths)[0], expected)


def test_sequences_in_the_order_of_their_lengths() -> None:
    """Packing without ``enforce_sorted=False`` asks for it."""
    layer, x, lengths = nn.GRU(5, 7), torch.randn(6, 3, 5), torch.tensor([6, 4, 4])
    of_torch = nn.modules.rnn.GRU(5, 7)
    of_torch.load_state_dict(layer.state_dict())
    state = torch.randn(1, 3, 7)
    output, ended = of_torch(pack_padded_sequence(x, lengths), state)
    found, end = run_masked(layer, x, lengths, state)
    torch.testing.assert_close(found, pad_packed_sequence(output)[0])
    torch.testing.assert_close(end, ended)


@pytest.mark.parametrize("function", [run_padded, run_masked])
def test_hooks_of_the_layer_are_called(function: Any) -> None:
    layer, x = nn.LSTM(5, 7), torch.randn(6, 2, 5)
    seen = []
    layer.register_forward_pre_hook(lambda layer, given: seen.append("before"))
    layer.register_forward_hook(lambda layer, given, found: seen.append("behind"))
    expected = function(layer, x, [2, 4])[0]
    assert seen == ["before", "behind"]
    assert "forward" not in vars(layer)
    assert torch.equal(function(layer, x, [2, 4])[0], expected)


def test_what_a_hook_returns_is_the_result() -> None:
    layer, x = nn.LSTM(5, 7), torch.randn(6, 2, 5)
    expected = run_masked(layer, x, [2, 4])[0]
    layer.register_forward_hook(lambda layer, given, found: (2 * found[0], found[1]))
    assert torch.equal(run_masked(layer, x, [2, 4])[0], 2 * expected)


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_weights_that_a_hook_makes_are_trained() -> None:
    """The older ``weight_norm`` computes the weight before each forward pass."""

    def trained(function: Any) -> list[torch.Tensor]:
        torch.manual_seed(0)
        layer = nn.utils.weight_norm(nn.LSTM(5, 7), "weight_hh_l0")
        optimizer = torch.optim.SGD(layer.parameters(), 0.5)
        for step in range(3):
            output, _ = function(layer, torch.randn(6, 2, 5, generator=torch.Generator().manual_seed(step)), [6, 4])
            output.square().sum().backward()
            optimizer.step()
            optimizer.zero_grad()
        return [*layer.parameters()]

    for mine, other in zip(trained(run_masked), trained(run_padded), strict=True):
        torch.testing.assert_close(mine, other, rtol=2e-5, atol=2e-5)


def test_the_layer_is_as_before_where_a_hook_fails() -> None:
    def fail(*given: Any) -> None:
        raise KeyError("hook")

    layer = nn.LSTM(5, 7)
    handle = layer.register_forward_hook(fail)
    with pytest.raises(KeyError, match="hook"):
        run_masked(layer, torch.randn(6, 2, 5), [2, 4])
    handle.remove()
    assert layer(torch.randn(6, 2, 5))[0].shape == (6, 2, 7)


@pytest.mark.parametrize("function", [run_padded, run_masked])
@pytest.mark.parametrize(
    ("lengths", "error"),
    [
        ([0, 3], r"lengths are from 0 to 3: give 1 to 6"),
        ([-1, 3], r"lengths are from -1 to 3"),
        ([2, 7], r"lengths are from 2 to 7: give 1 to 6"),
        ([2], r"lengths are \(1,\): give one for each of the 2 sequences"),
        ([1, 2, 3], r"lengths are \(3,\)"),
        (torch.tensor(2), r"lengths are \(\)"),
        ([[2, 3]], r"lengths are \(1, 2\)"),
    ],
)
def test_lengths_that_cannot_be_are_told(function: Any, lengths: Any, error: str) -> None:
    with pytest.raises(ValueError, match=error):
        function(nn.LSTM(5, 7), torch.randn(6, 2, 5), lengths)
    with pytest.raises(ValueError, match=error):
        function(nn.LSTM(5, 7), torch.randn(2, 6, 5), lengths, batch_first=True)


@pytest.mark.parametrize("function", [run_padded, run_masked])
def test_states_that_cannot_be_are_told(function: Any) -> None:
    x, (one, two) = torch.randn(6, 2, 5), torch.zeros(2, 1, 2, 7)
    wrong: list[tuple[str, Any]] = [
        ("LSTM", one),
        ("LSTM", (one, two, one)),
        ("LSTM", (one[:, :1], two[:, :1])),
        ("LSTM", (one[0], two[0])),
        ("LSTM", (one, two[..., :6])),
        ("GRU", (one,)),
        ("RNN", one.expand(2, 2, 7)),
    ]
    for kind, state in wrong:
        with pytest.raises(ValueError, match=r"the state of \w+ is \(.*: give \(1, 2, 7\)"):
            function(LAYERS[kind](), x, [2, 4], state)
    function(LAYERS["LSTM"](), x, [2, 4], [one, two])


@pytest.mark.parametrize("take", [lambda lengths: lengths, list])
def test_lengths_on_the_device_are_not_read(take: Any) -> None:
    """Nor where each is a tensor of its own, as ``list(mask.sum(1))`` gives."""
    backend = XlaBackend()
    torch.manual_seed(0)
    layer = nn.LSTM(5, 7).to(backend.device())
    x, lengths, state = backend.send([torch.randn(6, 3, 5), torch.tensor([9, 0, 2]), torch.randn(1, 3, 7)])
    backend.sync(wait=True)
    before = backend.counts()
    output, (h, _) = run_padded(layer, x, take(lengths), (state, state))
    assert backend.counts().since(before).reads == 0
    expected, _ = run_padded(layer, x, [6, 1, 2], (state, state))
    found, expected, h, state = backend.fetch([output, expected, h, state])
    assert torch.equal(found[:, [0, 2]], expected[:, [0, 2]]) and not found[:, 1].any()
    assert torch.equal(h[:, 1], state[:, 1])


class Reversed(nn.LSTM):
    def forward(self, *given: Any) -> Any:
        return super().forward(*given)


def test_what_cannot_be_run_is_told() -> None:
    x = torch.randn(6, 4, 5)
    with pytest.raises(TypeError, match="layer is Linear, not LSTM, GRU or RNN"):
        run_padded(nn.Linear(5, 7), x, [1, 2, 3, 4])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="layer is Reversed with a forward of its own"):
        run_masked(Reversed(5, 7), x, [1, 2, 3, 4])
    for function in (run_padded, run_masked):
        for given in (x[:, 0], x[..., :4], x[:0], x[:, :0]):
            with pytest.raises(ValueError, match=r"input is \(.*: give positions, sequences and 5 features"):
                function(nn.LSTM(5, 7), given, [6])


def test_a_subclass_without_a_forward_of_its_own_is_run() -> None:
    class Named(nn.GRU):  # of torch_xla's
        pass

    x = torch.randn(6, 4, 5)
    assert run_padded(Named(5, 7), x, [1, 2, 3, 4])[0].shape == (6, 4, 7)
