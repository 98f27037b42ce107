"""Division among devices: planned, on one device where nothing is divided, and on four devices of XLA:CPU.

What is executed there is XLA's partitioned program, with its collectives, on the host. How a TPU's compiler divides the
same marks, and what it costs, is not shown.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import Any

import pytest
import torch
import tpulint_runtime
from hypothesis import given
from hypothesis import strategies as st
from tpulint_runtime import Mesh, backend, plan_shards

pytestmark = pytest.mark.xla

SCRIPT = Path(__file__).parent / "divided.py"
WHOLE = "{replicated}"
LAYERS = ["0.weight", "0.bias", "2.weight", "2.bias"]


# ---------------------------------------------------------------- planned


@given(
    st.dictionaries(st.text(max_size=3), st.lists(st.integers(0, 40), max_size=4), max_size=6),
    st.integers(1, 8),
    st.integers(0, 500),
)
def test_plan_divides_the_longest_dimension_that_can_be(shapes: dict[str, list[int]], parts: int, least: int) -> None:
    plan = plan_shards(shapes, parts, least)
    assert list(plan) == list(shapes)
    for name, shape in shapes.items():
        dim = plan[name]
        divisible = [size for size in shape if size and size % parts == 0]
        if parts == 1 or prod(shape) < least or not divisible:
            assert dim is None
        else:
            assert dim is not None and shape[dim] == max(divisible) and shape.index(shape[dim]) <= dim


def test_plan_of_a_model() -> None:
    shapes = {"embedding": (50257, 768), "square": (64, 64), "odd": (63, 65), "bias": (768,), "number": ()}
    assert plan_shards(shapes, 4) == {"embedding": 1, "square": 0, "odd": None, "bias": None, "number": None}
    assert plan_shards(shapes, 4, smallest=0)["bias"] == 0


# ---------------------------------------------------------------- one device


@pytest.fixture
def on_cpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(backend, "_is_installed", lambda package: False)
    backend.own.cache_clear()
    yield
    backend.own.cache_clear()


@pytest.mark.usefixtures("on_cpu")
def test_nothing_is_divided_on_the_cpu() -> None:
    for mesh in (Mesh(), Mesh(fsdp=-1)):
        assert mesh.sizes == {"data": 1, "fsdp": 1} and mesh.devices == 1
        model = torch.nn.Linear(64, 64)
        assert mesh.shard_model(model) == {"weight": None, "bias": None}
        assert not model._forward_hooks
        optimizer = torch.optim.AdamW(model.parameters())
        mesh.shard_optimizer(optimizer)
        model(torch.ones(1, 64)).sum().backward()
        optimizer.step()
        assert mesh.input_sharding() is None and mesh.divided(model.weight) == ""
        batch = {"x": [torch.ones(3, 2), "name"], "n": 3}
        sent = mesh.send(batch)
        assert sent["x"][0].tolist() == batch["x"][0].tolist() and sent["x"][1] == "name" and sent["n"] == 3  # type: ignore[index]
    with pytest.raises(ValueError, match="fsdp has to divide"):
        Mesh(fsdp=2)


@pytest.mark.usefixtures("on_cpu")
def test_an_optimizer_that_has_nothing_of_the_model_is_refused() -> None:
    mesh, model = Mesh(), torch.nn.Linear(4, 4)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    with pytest.raises(ValueError, match="the optimizer has no parameter of a model that was divided: make it of"):
        mesh.shard_optimizer(optimizer)
    mesh.shard_model(model)
    mesh.shard_optimizer(optimizer)
    with pytest.raises(ValueError, match="the optimizer has no parameter of a model that was divided"):
        mesh.shard_optimizer(torch.optim.SGD(torch.nn.Linear(4, 4).parameters(), 0.1))
    with pytest.raises(TypeError, match=r"optimizer is a Linear: give a torch\.optim\.Optimizer"):
        mesh.shard_optimizer(model)  # type: ignore[arg-type]


# ---------------------------------------------------------------- four devices of XLA:CPU


@pytest.fixture(scope="module")
def divided(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Trainings with 1, 2 and 4 devices for one copy of the parameters."""
    file = tmp_path_factory.mktemp("divided") / "results.json"
    environment = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(tpulint_runtime.__file__))}
    environment.pop("XLA_USE_SPMD", None)
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(file)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=400,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found: dict[str, Any] = json.loads(file.read_text())
    return found


@pytest.mark.parametrize("fsdp", ["1", "2", "4"])
def test_divided_training_is_that_of_one_device(divided: dict[str, Any], fsdp: str) -> None:
    found, alone = divided[fsdp], divided["one_device"]
    assert found["losses"] == pytest.approx(alone["losses"], rel=1e-4)
    for weights, expected in zip(found["weights"], alone["weights"], strict=True):
        torch.testing.assert_close(torch.tensor(weights), torch.tensor(expected), rtol=1e-3, atol=1e-4)
    assert found["compiled"] == 2, "the first step, and those in which the optimizer has its state"


def test_rows_are_divided_among_all_devices(divided: dict[str, Any]) -> None:
    for fsdp in ("1", "2", "4"):
        rows = divided[fsdp]["rows"]
        assert rows == {
            "x": "{devices=[4,1]0,1,2,3}",
            "y": "{devices=[4,1]0,1,2,3}",
            "weight": "{devices=[4]0,1,2,3}",
        }


def test_without_fsdp_each_device_has_all_parameters(divided: dict[str, Any]) -> None:
    found = divided["1"]
    assert found["sizes"] == {"data": 4, "fsdp": 1}
    assert set(found["plan"].values()) == {None}
    assert set(found["parameters"].values()) == {WHOLE} == set(found["state"])
    # One for each of four gradients, and one for the loss.
    assert found["collectives"] == {"all-reduce": 5}


@pytest.mark.parametrize(("fsdp", "share"), [("2", 32), ("4", 16)])
def test_parameters_and_state_are_divided_and_small_ones_are_not(
    divided: dict[str, Any], fsdp: str, share: int
) -> None:
    found = divided[fsdp]
    assert found["plan"] == {"0.weight": 0, "0.bias": None, "2.weight": 1, "2.bias": None}
    assert found["shares"] == [[share, 16], [64], [16, share], [16]]
    marks = found["parameters"]
    assert [marks[name] == WHOLE for name in LAYERS] == [False, True, False, True]
    assert found["state"] == [marks[name] for name in LAYERS]


def test_weights_are_gathered_and_activations_are_not_exchanged(divided: dict[str, Any]) -> None:
    """Each weight before its use: the first forwards, the second forwards and backwards. An all-to-all would be an
    activation that changes from rows to columns."""
    found = divided["4"]["collectives"]
    assert found["all-gather"] == 3 and "all-to-all" not in found and "collective-permute" not in found
    assert found.get("all-reduce", 0) + found.get("reduce-scatter", 0) == 5


@pytest.mark.parametrize("layer", ["LayerNorm", "GroupNorm", "BatchNorm2d"])
def test_norms_send_no_activations(divided: dict[str, Any], layer: str) -> None:
    found = divided["norms"][layer]
    assert any(sent.startswith("all-gather") for sent in found["torch"]), "then torch's own may stay"
    assert found["divided"] and not any(sent.startswith("all-gather") for sent in found["divided"])
    entries = [prod(int(size) for size in sent.split("[")[1][:-1].split(",") if size) for sent in found["divided"]]
    assert max(entries) <= 16, "gradients of a weight and a bias, and numbers for each channel"


@pytest.mark.parametrize("fsdp", ["1", "2", "4"])
def test_checkpoint_is_divided_again(divided: dict[str, Any], fsdp: str) -> None:
    found = divided[fsdp]
    assert found["resumed"] == found["parameters"] and found["resumed_state"] == found["state"]
    assert found["resumed_weights"] == found["weights"]


def test_what_cannot_be_divided_is_told(divided: dict[str, Any]) -> None:
    told = divided["refused"]
    assert told["columns"].startswith("ValueError: 4 devices cannot be put into columns of 3")
    for name in ("send", "loader"):
        assert told[name].startswith("ValueError: a batch of shape (6, 2) cannot be divided among 4 devices")
    assert told["host"].startswith("ValueError: 0.weight is on cpu")
    assert told["launch"].startswith("NotImplementedError")
    assert told["sent"] == "{devices=[4,1]0,1,2,3} a {replicated}"
