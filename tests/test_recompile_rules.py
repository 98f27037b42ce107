"""Recompilation: which numbers change from turn to turn, which lengths do not, which shapes are equal."""

from __future__ import annotations

import ast
from textwrap import dedent, indent

import pytest

from tpulint.catalog import load
from tpulint.config import Settings
from tpulint.linter import lint
from tpulint.model import Applicability
from tpulint.semantic import SemanticIndex
from tpulint.semantic.sizes.changing_numbers import ChangingNumbers
from tpulint.semantic.syntax.linear import Linear
from tpulint.source import SourceFile

CATALOGUE = load()
SETUP = """\
import random
import numpy as np
import torch
import torch.nn.functional as F
import torch_xla
device = torch_xla.device()
model = torch.nn.Linear(4, 3).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = torch.utils.data.DataLoader(dataset, batch_size=4)
data = torch.randn(64, 4).to(device)
number = 0
"""
LOOP = """\
for step, (x, y) in enumerate(loader):
{body}
    loss = model(x.to(device)).mean()
    loss.backward()
    optimizer.step()
    torch_xla.sync()
"""


def in_loop(body: str) -> str:
    """Statements in the body of a step loop."""
    return SETUP + LOOP.format(body=indent(dedent(body).strip(), "    "))


def codes(text: str) -> list[str]:
    settings = Settings(select=("TPU20", "TPU212", "TPU135", "TPU320"), preview=True)
    result = lint(SourceFile.from_text(text), settings, CATALOGUE)
    assert result.error == ""
    return [finding.code for finding in result.findings]


def index_of(text: str) -> SemanticIndex:
    return SemanticIndex(SourceFile.from_text(text), ast.parse(text))


# -------------------------------------------------------------------- numbers


@pytest.mark.parametrize(
    "body",
    [
        "row = data[step]",
        "at = step * 4 + 1\nrow = data[at]",
        "row = data[int(step)]",
        "row = data[-step]",
        "number += 1\nrow = data[number]",
        "number = number + 1\nrow = data[number]",
        "row = data[random.randint(0, 3)]",
        "row = data[np.random.randint(4)]",
        "at = torch.randint(4, (1,)).item()\nrow = data[at]",
        "row = data[random.randint(0, 60) // 4]",
        "row = data[min(step, step + 1)]",
        "for k in range(3):\n    row = data[step + k]",
        "at, size = random.randint(0, 3), 4\nrow = data[at]",
        "at = torch.randint(4, (1,)).long().item()\nrow = data[at]",
        "at = torch.randint(60, (1,)).long().item()\nrow = data[at + 1 : at + 1 + 2]",
        "at = int(torch.randint(4, (1,)))\nrow = data[at]",
        "at = int(np.clip(np.random.randint(64) - 2, 0, 60))\nrow = data[at]",
        "number = max(number - 1, -60)\nrow = data[number]",
        "number -= 1\nnumber -= 1\nrow = data[number]",
        "if number >= len(data):\n    number = 0\nrow = data[number]\nnumber += 1",
        "row = data[number]\nnumber += 1\nif number + 1 > 60:\n    number = 0",
        "row = data[int(model(x.to(device)).argmax())]",
        "at = y.to(device).sum().item()\nrow = data[at + 1]",
        "for k in range(4):\n    row = data[k, y.to(device)[k].item()]",
    ],
)
def test_number_changes(body: str) -> None:
    assert codes(in_loop(body)) == ["TPU201"]


@pytest.mark.parametrize(
    "body",
    [
        "row = data[3]",
        "row = data[number]",
        "for k in range(3):\n    row = data[k]",
        "rows = [data[k] for k in range(3)]",
        "number = 0\nnumber += 1\nrow = data[number]",
        "number = 0\nfor k in range(3):\n    number += 1\n    row = data[number]",
        "row = data[step % 2]",
        "row = data[step // 100]",
        "row = data[: min(4, 64 - step)]",
        "row = data[: x.size(0)]",
        "row = data[torch.tensor([step])]",
        "row = data[[step]]",
        "row = x[step]",
        "row = loader.dataset[step]",
        "if step % 100 == 0:\n    row = data[step]",
        "places = np.random.randint(0, 4, size=2)\nrow = data[places]",
        "at, size = 3, random.randint(0, 3)\nrow = data[at]",
        "at = torch.randint(4, (1,)).clamp(3, 3).item()\nrow = data[at]",
        "number -= 1\nnumber = 5\nrow = data[number]",
        "number = min(number, 4)\nrow = data[number]",
        "if x.sum() > 0:\n    number = 0\nrow = data[number]\nnumber += 1",
        "row = data[int(data.argmax())]",
        "row = data[best.item()]",
        "row = data[y.to(device).sum().item() % 2]",
        "row = data[y.to(device)]",
    ],
)
def test_number_is_not_said_to_change(body: str) -> None:
    assert codes(in_loop(body)) == []


def test_number_drawn_once_does_not_change() -> None:
    assert codes(in_loop("row = data[at]").replace("number = 0", "at = random.randint(0, 3)")) == []


def test_counter_of_the_epoch_does_not_change() -> None:
    loop = indent(LOOP.format(body="    row = data[epoch]"), "    ")
    assert codes(f"{SETUP}for epoch in range(3):\n{loop}") == []


def test_number_changes_through_calls_and_attributes() -> None:
    text = dedent("""
        class Trainer:
            def __init__(self):
                self.steps = 0
                self.seen = 0

            def fit(self):
                self.seen = 0
                for x, y in loader:
                    self.steps += 1
                    self.seen = 0
                    self.seen += 1
                    row = self.pick(data, self.steps)
                    kept = self.pick(data, 5) + data[self.seen]
                    loss = model(x.to(device)).mean()
                    loss.backward()
                    optimizer.step()

            def pick(self, source, at):
                return source[at]
    """)
    assert codes(SETUP + text) == ["TPU201"]


CUT_MIX = """
def box(size, kept):
    width, height = size[2], size[3]
    ratio = np.sqrt(1.0 - kept)
    at = np.random.randint(width), np.random.randint(height)
    column = np.random.randint(width)
    left = np.clip(column - int(width * ratio) // 2, 0, width)
    right = np.clip(column + int(width * ratio) // 2, 0, width)
    return left, right, 0, height


for step, (x, y) in enumerate(loader):
    x = x.to(device)
    left, right, top, bottom = box(x.size(), np.random.beta(1.0, 1.0))
    {cut}
    loss = model(x).mean()
    loss.backward()
    optimizer.step()
"""


def test_number_changes_through_what_a_function_returns() -> None:
    assert codes(SETUP + CUT_MIX.format(cut="x[:, :, left:right] = x.flip(0)[:, :, left:right]")) == ["TPU201"] * 2
    assert codes(SETUP + CUT_MIX.format(cut="x[:, :, top:] = 0")) == []


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("best = out[out.sum(1).argmax()]", 1),
        ("best = out[0, torch.argmin(out)]", 1),
        ("at = out.sum(1).argmax()\nbest = out[at]", 1),
        ("out[out.sum(1).argmax()] = 0", 1),
        ("best = out[out.argmax(1)]", 0),
        ("best = out[out.argmax(dim=1)]", 0),
        ("best = out[out.sum(1).argmax()[None]]", 0),
        ("best = x[x.sum(1).argmax()]", 0),
        ("best = names[out.sum(1).argmax()]", 0),
    ],
)
def test_place_that_is_computed_on_the_device(body: str, said: int) -> None:
    assert codes(in_loop(f"names = ['a', 'b']\nout = model(x.to(device))\n{body}")) == ["TPU201"] * said


# -------------------------------------------------------------------- numbers taken from a batch


@pytest.mark.parametrize(
    "body",
    [
        "part = device_x[:, : lengths.max()]",
        "part = device_x[:, : int(lengths.max())]",
        "part = device_x[:, : lengths.max().item() + 1]",
        "longest = torch.max(lengths).item()\npart = device_x[:, :longest]",
        "count = int((device_x > 0).sum().item())\npart = torch.zeros(count, device=device)",
        "part = device_x.repeat(lengths.sum().item(), 1)",
        "longest = max(lengths)\npart = device_x.narrow(1, 0, longest)",
        "for row in range(4):\n    device_x[row, lengths[row]:] = 0",
        "for row in range(4):\n    device_x[row, : lengths[row] - 1] = 0",
        "for row, length in enumerate(lengths):\n    device_x[row, length:] = 0",
        "for row, length in zip(device_x, lengths):\n    part = row[:length]",
        "parts = [device_x[row, :length] for row, length in enumerate(lengths)]",
        "counts = lengths.tolist()\nfor row, length in enumerate(counts):\n    device_x[row, length:] = 0",
        "counts = lengths.tolist()\nfor row in range(4):\n    device_x[row, counts[row]:] = 0",
        "for row, length in enumerate(model(x.to(device)).argmax(1).cpu().numpy()):\n    device_x[row, length:] = 0",
    ],
)
def test_size_is_taken_from_the_batch(body: str) -> None:
    assert codes(in_loop(f"device_x, lengths = x.to(device), y.long()\n{body}")) == ["TPU212"]


@pytest.mark.parametrize(
    "body",
    [
        "part = x[:, : lengths.max()]",
        "longest = -(-int(lengths.max()) // 64) * 64\npart = device_x[:, :longest]",
        "part = device_x[:, : int(data.max())]",
        "part = device_x[:, : device_x.size(1) - 1]",
        "longest = min(int(lengths.max()), 4)\npart = device_x[:, :longest]",
        "for row in range(4):\n    device_x[row, [1, 2][row % 2]:] = 0",
        "part = device_x[:, : lengths.shape[0]]",
        "part = device_x.clamp(max=lengths.max().item())",
        "for row, length in enumerate([1, 2, 3, 4]):\n    device_x[row, length:] = 0",
        "for row, length in enumerate(torch.arange(4)):\n    device_x[row, length:] = 0",
        "for row, length in enumerate(lengths):\n    device_x[row, row:] = 0",
        "for row, length in enumerate(given):\n    device_x[row, length:] = 0",
        "for row, length in enumerate(lengths):\n    x[row, length:] = 0",
    ],
)
def test_size_is_not_said_to_be_taken_from_the_batch(body: str) -> None:
    assert codes(in_loop(f"device_x, lengths = x.to(device), y.long()\n{body}")) == []


@pytest.mark.parametrize(("given", "said"), [("labels", 2), ("lengths", 2), ("sizes", 0)])
def test_elements_of_what_a_forward_pass_is_given(given: str, said: int) -> None:
    text = f"""
class Rest(torch.nn.Module):
    def forward(self, scores, {given}):
        rows = [torch.cat((scores[k, :y], scores[k, y + 1 :])) for k, y in enumerate({given})]
        return torch.stack(rows).mean()

rest = Rest()
for step, (x, y) in enumerate(loader):
    loss = rest(model(x.to(device)), y.to(device))
    loss.backward()
    optimizer.step()
    torch_xla.sync()
"""
    assert codes(SETUP + text) == ["TPU212"] * said


# -------------------------------------------------------------------- evaluation

GENERALISED_ADVANTAGE = """
with torch.no_grad():
    for t in reversed(range(8)):
        value = model(data[t])
        {read}
"""


@pytest.mark.parametrize(
    ("written", "becomes"),
    [
        ("kept[step] = model(x.to(device)).sum()", "kept[[step]] = model(x.to(device)).sum().to(kept.dtype)"),
        (
            "kept[step] = max(model(x.to(device)).sum(), 0.5)",
            "kept[[step]] = torch.as_tensor(max(model(x.to(device)).sum(), 0.5), dtype=kept.dtype, device=kept.device)",
        ),
        (
            "kept[step] = model(x.to(device)).sum() if number else 0",
            "kept[[step]] = torch.as_tensor(model(x.to(device)).sum() if number else 0, "
            "dtype=kept.dtype, device=kept.device)",
        ),
        ("kept[step] = 3.5", "kept[[step]] = 3.5"),
        (
            "kept[step] = found(step)",
            "kept[[step]] = torch.as_tensor(found(step), dtype=kept.dtype, device=kept.device)",
        ),
        (
            "kept[step] = last = model(x.to(device)).sum()",
            "kept[[step]] = last = model(x.to(device)).sum().to(kept.dtype)",
        ),
        (
            "kept[step : step + 2] = model(x.to(device)).sum()",
            "kept[torch.arange(step, min(step + 2, len(kept)))] = model(x.to(device)).sum().to(kept.dtype)",
        ),
        ("kept[step].fill_(2.0)", "kept[step].fill_(2.0)"),
        ("kept[step].mul_(2).add_(1)", "kept[step].mul_(2).add_(1)"),
        ("row = kept[step]\nrow[0] = 5.0", "row = kept[step]\n    row[0] = 5.0"),
        ("row = kept[step]\nrow += 1", "row = kept[step]\n    row += 1"),
        ("kept[step][0] = 1.0", "kept[step][0] = 1.0"),
        ("torch.nn.init.normal_(kept[step])", "torch.nn.init.normal_(kept[step])"),
        ("torch.add(x.to(device), 1, out=kept[step])", "torch.add(x.to(device), 1, out=kept[step])"),
        ("row = kept[step]\nprint(row.sum())", "row = kept[[step]][0]\n    print(row.sum())"),
        (
            "row = kept[step]\nprint(row.sum())\nrow = x * 2\nrow[0] = 5.0",
            "row = kept[[step]][0]\n    print(row.sum())",
        ),
        ("row, last = kept[step], x[0]\nprint(row.sum())", "row, last = kept[[step]][0], x[0]\n    print(row.sum())"),
        ("row, last = kept[step], x[0]\nrow += 1", "row, last = kept[step], x[0]\n    row += 1"),
        ("range = 3\nrow = kept[step:]", "range = 3\n    row = kept[step:]"),
        ("kept[step] += x.to(device).mean()", "kept[[step]] += x.to(device).mean()"),
        ("last = x[0]\nlast += kept[step]", "last = x[0]\n    last += kept[[step]][0]"),
        ("kept[0] += kept[step]", "kept[0] += kept[[step]][0]"),
        ("kept[step] += kept[0]", "kept[[step]] += kept[0]"),
        (
            "last = x[0]\nlast -= kept[step : step + 2]",
            "last = x[0]\n    last -= kept[torch.arange(step, min(step + 2, len(kept)))]",
        ),
        (
            "kept[step] = torch.tensor([max(n, 0) for n in found(step)], device=device)",
            "kept[[step]] = torch.tensor([max(n, 0) for n in found(step)], device=device).to(kept.dtype)",
        ),
        (
            "kept[step] = torch.sum(x.to(device)) if max(found(step)) else 0",
            "kept[[step]] = torch.as_tensor(torch.sum(x.to(device)) if max(found(step)) else 0, "
            "dtype=kept.dtype, device=kept.device)",
        ),
        ("kept[step] = last = found(step)", "kept[step] = last = found(step)"),
        ("kept[step], last = x.to(device).mean(), 0", "kept[step], last = x.to(device).mean(), 0"),
    ],
)
def test_what_is_written_at_a_place_gets_the_dtype_of_the_tensor(written: str, becomes: str) -> None:
    """``x[i] = y`` casts, ``x[[i]] = y`` raises where y has another dtype."""
    start = "kept = torch.zeros(100).to(device)\n"
    settings = Settings(select=("TPU201",), fix=True, unsafe_fixes=True)
    text = start + in_loop(f"step = random.randint(0, 99)\n{written}").removeprefix(SETUP)
    result = lint(SourceFile.from_text(SETUP + text), settings, CATALOGUE)
    assert result.error == ""
    assert f"    {becomes}\n" in result.text


@pytest.mark.parametrize(
    ("taken", "becomes"),
    [
        ("kept[step : min(step + 4, 100)]", "kept[torch.arange(step, min(step + 4, 100, len(kept)))]"),
        ("kept[step : min(step + 4, len(kept))]", "kept[torch.arange(step, min(step + 4, len(kept)))]"),
        ("kept[step : min(step + 4, size)]", "kept[torch.arange(step, min(step + 4, size))]"),
        ("kept[step : step + some]", "kept[torch.arange(step, min(step + some, len(kept)))]"),
        ("kept[step : step + 4]", "kept[torch.arange(step, min(step + 4, len(kept)))]"),
        ("kept[step : step + most]", "kept[torch.arange(step, step + most)]"),
        ("kept[step : step + few]", "kept[torch.arange(step, min(step + few, len(kept)))]"),
        ("kept[step : step + 4 : 2]", "kept[step : step + 4 : 2]"),
        ("model(x.to(device))[step : step + 4]", "model(x.to(device))[step : step + 4]"),  # computed twice otherwise
    ],
)
def test_slice_by_a_tensor_ends_where_its_tensor_does(taken: str, becomes: str) -> None:
    """Its end is bounded by the size where nothing else bounds it."""
    start = f"{SETUP}few = 4\nsome = min(few, 100)\nkept = torch.zeros(100).to(device)\n"
    start += "size = kept.shape[0]\nmost = min(few, size)\n"
    settings = Settings(select=("TPU201",), fix=True, unsafe_fixes=True)
    text = start + in_loop(f"step = random.randint(0, 90)\nlast = {taken}.sum()").removeprefix(SETUP)
    result = lint(SourceFile.from_text(text), settings, CATALOGUE)
    assert result.error == ""
    assert f"    last = {becomes}.sum()\n" in result.text


@pytest.mark.parametrize(
    ("asked", "is_asked"),
    [
        ("if len(part) == 0:", True),
        ("if other.shape[0] < 1:", True),
        ("if not part.numel():", True),
        ("if part.size(0) and step:", True),
        ("if len(part) == 4:", False),
        ("if len(kept) == 0:", False),
        ("if len(begun) == 0:", False),
    ],
)
def test_slice_by_a_tensor_may_lie_behind_it_where_it_may_be_empty(asked: str, is_asked: bool) -> None:
    """A slice is empty there, a range that begins behind its end raises."""
    start = f"{SETUP}kept = torch.zeros(100).to(device)\n"
    turn = "step = random.randint(0, 200)\nbegun = kept[step + 1 :]\n"
    turn += "part, other = kept[step : step + 4], kept[step : 100]\n"
    text = start + in_loop(f"{turn}{asked}\n    break\nlast = part.sum()").removeprefix(SETUP)
    settings = Settings(select=("TPU201",), fix=True, unsafe_fixes=True)
    result = lint(SourceFile.from_text(text), settings, CATALOGUE)
    assert result.error == ""
    begin = "min(step, len(kept))" if is_asked else "step"
    assert f"part, other = kept[torch.arange({begin}, min(step + 4, len(kept)))]" in result.text


@pytest.mark.parametrize(
    ("counted", "end", "is_bounded"),
    [
        ("len(data) // 4", "(i + 1) * 4", True),
        ("parts", "(i + 1) * 4", True),
        ("len(data) // 4", "i * 4 + 4", True),
        ("len(data) // 4 + 1", "(i + 1) * 4", False),
        ("len(data) // 2", "(i + 1) * 4", False),
        ("len(data) // 4", "(i + 2) * 4", False),
        ("number // 4", "(i + 1) * 4", False),
    ],
)
def test_whole_parts_of_a_tensor_end_within_it(counted: str, end: str, is_bounded: bool) -> None:
    start = f"{SETUP}data = torch.zeros(100, 4).to(device)\nparts = len(data) // 4\n"
    loop = f"""
for i in range({counted}):
    loss = model(data[i * 4 : {end}]).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    torch_xla.sync()
"""
    settings = Settings(select=("TPU201",), fix=True, unsafe_fixes=True)
    result = lint(SourceFile.from_text(start + loop), settings, CATALOGUE)
    written = end if is_bounded else f"min({end}, len(data))"
    if end != "(i + 2) * 4":
        assert f"model(data[torch.arange(i * 4, {written})])" in result.text
    else:
        assert f"model(data[torch.arange(i * 4, {end})])" not in result.text


@pytest.mark.parametrize(
    ("moved", "is_found"),
    [
        ("x[at : at + 4]", True),
        ("x[at : at + 4].to(device)", False),
        ("x[at : at + 4].float().cuda()", False),
        ("torch.autograd.Variable(x[at : at + 4]).to(device)", False),
        ("x[at : at + 4].to(torch.float32)", True),
        ("torch.zeros(100).to(device)[at : at + 4].to(device)", True),
    ],
)
def test_slice_that_is_moved_where_it_is_taken_is_one_of_the_host(moved: str, is_found: bool) -> None:
    text = f"""{SETUP}
def right(x):
    with torch.no_grad():
        for at in range(0, 100, 4):
            print(model({moved}).mean())
            torch_xla.sync()

right(torch.zeros(100).to(device))
right(torch.zeros(100))
"""
    assert ("TPU201" in codes(text)) == is_found


@pytest.mark.parametrize(
    ("taken", "becomes"),
    [
        ("model(x.to(device))[:, step]", "model(x.to(device))[:, [step]][:, 0]"),
        ("model(x.to(device))[:, :step]", None),  # it asks how long the tensor is
    ],
)
def test_place_of_what_a_call_gives(taken: str, becomes: str | None) -> None:
    settings = Settings(select=("TPU201",), fix=True, unsafe_fixes=True)
    text = in_loop(f"step = random.randint(0, 3)\nlast = {taken}")
    result = lint(SourceFile.from_text(text), settings, CATALOGUE)
    assert f"last = {becomes or taken}\n" in result.text


@pytest.mark.parametrize(
    ("made", "is_fixed"),
    [("torch.zeros(2, 64, 4)", True), ("nobody_knows()", False), ("[[0.0] * 64, model(x.to(device))]", False)],
)
def test_rows_of_an_element_are_written_where_it_is_known_to_be_a_tensor(made: str, is_fixed: bool) -> None:
    settings = Settings(select=("TPU201",), fix=True, unsafe_fixes=True)
    row = "bank[k][step : step + 2] = 1.0"
    text = in_loop(f"for k in range(2):\n    {row}").replace("for step", f"bank = {made}.to(device)\nfor step", 1)
    text = text if "[[" not in made else text.replace(".to(device)\nfor step", "\nfor step")
    result = lint(SourceFile.from_text(text), settings, CATALOGUE)
    assert result.error == ""
    written = "bank[k][torch.arange(step, min(step + 2, len(bank[k])))] = 1.0"
    assert (written if is_fixed else row) in result.text


@pytest.mark.parametrize("shuffled", ["torch.randperm", "(torch.randperm if number else torch.arange)"])
def test_order_on_the_device_that_one_of_two_functions_makes(shuffled: str) -> None:
    text = in_loop("part = order[step : step + 4]")
    on_device = text.replace("for step", f"order = {shuffled}(64, device=device)\nfor step", 1)
    assert codes(on_device) == ["TPU201"]
    assert codes(on_device.replace(", device=device)", ")")) == []


def test_evaluation_in_one_graph_is_left_alone() -> None:
    """Without reads and boundaries its turns are one graph, in which each number stands once."""
    assert codes(SETUP + GENERALISED_ADVANTAGE.format(read="pass")) == []
    assert codes(SETUP + GENERALISED_ADVANTAGE.format(read="print(value.mean().item())")) == ["TPU201"]


# -------------------------------------------------------------------- lengths


@pytest.mark.parametrize(
    ("upper", "lower", "depends_on"),
    [
        ("i + n", "i", {"n"}),
        ("(i + 1) * n", "i * n", {"n"}),
        ("i + 1 + n", "i + 1", {"n"}),
        ("i", "i - 4", set()),
        ("2 * (i + n)", "i * 2 - n", {"n"}),
        ("len(x) - i", "i", {"i", "len(x)"}),
        ("i * i", "i", {"i"}),
        ("f(i)", "i", {"f(i)", "i"}),
        ("-i", "-(i + k)", {"k"}),
        ("(i + 1) * n / k", "i * n / k", {"n", "k"}),
        ("n / (i + k)", "n / i", {"n", "i + k", "i"}),
    ],
)
def test_difference(upper: str, lower: str, depends_on: set[str]) -> None:
    index = index_of(f"({upper})\n({lower})\n")
    first, second = (statement.value for statement in index.tree.module.body if isinstance(statement, ast.Expr))
    found = Linear(index).difference(first, second)
    assert found is not None
    assert {index.text(node) for node in found} == depends_on


@pytest.mark.parametrize("upper", ["i + 0.5", "2**i", "i // 2", "int(i * 2)"])
def test_difference_of_what_is_no_sum(upper: str) -> None:
    """It is unknown, or depends on the whole expression: never on less."""
    index = index_of(f"({upper})\n(i)\n")
    first, second = (statement.value for statement in index.tree.module.body if isinstance(statement, ast.Expr))
    found = Linear(index).difference(first, second)
    assert found is None or upper in {index.text(node) for node in found}


def test_difference_of_what_is_rounded() -> None:
    index = index_of("(int((i + 1) * n))\n(int(i * n))\n")
    first, second = (statement.value for statement in index.tree.module.body if isinstance(statement, ast.Expr))
    found = Linear(index, roughly=True).difference(first, second)
    assert {index.text(node) for node in found or ()} == {"n"}


def test_changing_length_has_no_fix() -> None:
    for body in ("row = data[:step]", "row = data[step:]", "row = data[step : 2 * step]"):
        result = lint(SourceFile.from_text(in_loop(body)), Settings(select=("TPU201",)), CATALOGUE)
        (finding,) = result.findings
        assert finding.fix is None
        assert "a new length" in finding.message


def test_message_that_quotes_code_of_several_lines_is_one_line() -> None:
    text = in_loop("row = data[\n        step : 2 * step\n    ]")
    (finding,) = lint(SourceFile.from_text(text), Settings(select=("TPU201",)), CATALOGUE).findings
    assert "`data[ step : 2 * step ]` takes a new length" in finding.message


# -------------------------------------------------------------------- shapes


@pytest.mark.parametrize(
    ("tensor", "mask", "same"),
    [
        ("x", "x > 0", True),
        ("x", "(x > 0) & (x.abs() < 3)", True),
        ("x", "torch.isnan(x.float())", True),
        ("x * 2", "~(x > 0)", True),
        ("z", "x > 0", True),
        ("x", "x.sum(1) > 0", False),
        ("x", "y > 0", False),
        ("x", "x > y", False),
        ("x", "x[0] > 0", False),
        ("x @ w", "x > 0", False),
    ],
)
def test_one_shape(tensor: str, mask: str, same: bool) -> None:
    index = index_of(f"import torch\ndef f(x, y, w):\n    z = x.exp() + 1\n    ({tensor})\n    ({mask})\n")
    function = index.tree.functions[0]
    left, right = (statement.value for statement in function.body if isinstance(statement, ast.Expr))
    assert index.masks.have_one_shape(left, right) is same


def test_mask_of_another_value_of_the_name() -> None:
    """``x`` is another tensor where it is written than where the mask was made."""
    body = """
        x = x.to(device)
        negative = x < 0
        x = x[:2]
        x[negative[:2]] = 0
    """
    result = lint(SourceFile.from_text(in_loop(body)), Settings(select=("TPU204",)), CATALOGUE)
    (finding,) = result.findings
    assert finding.fix is not None  # what is known is only that the mask chooses rows
    assert any("mask.view(mask.shape + " in edit.text for edit in finding.fix.edits)


@pytest.mark.parametrize(
    "mask",
    ["y", "y.long()", "torch.tensor([True, False])", "[0, 1]", "y is None", "places", "(x > 0).long()"],
)
def test_what_is_no_mask(mask: str) -> None:
    body = f"""
        places = torch.randperm(4)
        x, y = x.to(device), y.to(device)
        part = x[{mask}]
        x[{mask}] = 0
    """
    assert codes(in_loop(body)) == []


@pytest.mark.parametrize(
    ("made", "said"),
    [
        ("torch.BoolTensor([s is not None for s in y])", ["TPU204"]),
        ("torch.tensor([s is not None for s in y])", ["TPU204"]),
        ("torch.tensor(tuple(map(lambda s: s is not None, y)))", ["TPU204"]),
        ("torch.as_tensor(list(s is not None and not s.done for s in y))", ["TPU204"]),
        ("torch.ByteTensor([s is not None for s in y])", ["TPU204"]),
        ("torch.tensor([s is not None for s in y], dtype=torch.uint8)", ["TPU204"]),
        ("torch.tensor([0, 1], dtype=torch.uint8)", []),  # written out: no number of them changes
        ("torch.tensor([s is not None for s in y], dtype=torch.int64)", []),  # indices
        ("torch.tensor([s.place for s in y])", []),
        ("torch.tensor(list(map(int, y)))", []),
        ("torch.tensor([0, 1])", []),
        ("torch.ByteTensor([0, 1]).long()", []),
    ],
)
def test_masks_made_of_truth_values(made: str, said: list[str]) -> None:
    """Truth values of Python make a tensor of truth values, whether its type is named or not."""
    body = f"""
        values = torch.zeros(4, device=device)
        chosen = {made}.to(device)
        values[chosen] = model(x.to(device)).max(1).values
    """
    assert codes(in_loop(body)) == said


@pytest.mark.parametrize(
    ("made", "said"),
    [
        ("torch.zeros_like(values, dtype=torch.bool).scatter_(0, y.to(device), 1)", ["TPU203", "TPU204"]),
        ("torch.scatter(values > 0, 0, y.to(device), True).flip(0)", ["TPU203", "TPU204"]),
        ("(values > 0).masked_fill(values > 2, False)", ["TPU203", "TPU204"]),
        ("torch.zeros_like(values, dtype=torch.long).scatter_(0, y.to(device), 1)", []),  # indices
        ("torch.zeros_like(y.to(device)).masked_fill(values > 2, 1)", []),
    ],
)
def test_what_is_written_into_masks_leaves_them_masks(made: str, said: list[str]) -> None:
    body = f"""
        values = torch.zeros(4, device=device)
        chosen = {made}
        values[chosen] -= values[chosen] * 2
        loss = model(x.to(device)).sum() + values.sum()
    """
    assert sorted(set(codes(in_loop(body)))) == said


@pytest.mark.parametrize(
    ("made", "said"),
    [
        ("(values > 0).byte()", ["TPU203", "TPU204"]),
        ("torch.zeros_like(values).scatter_(0, y.to(device), 1).byte()", ["TPU203", "TPU204"]),
        ("(values > 0).to(torch.uint8)", ["TPU203", "TPU204"]),
        ("1 - (values > 0).type(torch.uint8)", ["TPU203", "TPU204"]),
        ("torch.cuda.ByteTensor(4).fill_(0)", ["TPU203", "TPU204"]),
        ("(values > 0).byte().long()", []),  # indices
        ("(values > 0).to(torch.int64)", []),
    ],
)
def test_bytes_are_masks(made: str, said: list[str]) -> None:
    """PyTorch takes an index of bytes for a mask: measured with 2.9, each such index is fetched and compiled anew."""
    body = f"""
        values = torch.zeros(4, device=device)
        chosen = {made}
        values[chosen] -= values[chosen] * 2
        loss = model(x.to(device)).sum() + values.sum()
    """
    assert sorted(set(codes(in_loop(body)))) == said


@pytest.mark.parametrize("mask", ["(x > 0) * (y > 0)", "(x > 0) + (y > 0)", "(x > 0) * (y > 0) & (x == y)"])
def test_products_of_masks(mask: str) -> None:
    body = f"""
        x, y = x.to(device), y.to(device)
        x[{mask}] -= 1
    """
    assert codes(in_loop(body)) == ["TPU204"]
    assert codes(in_loop(body.replace("> 0", "+ 0").replace("== y", "+ y"))) == []


@pytest.mark.parametrize(
    ("made", "joined", "said"),
    [
        ("mask = x > 0", "mask &= y > 0", ["TPU204"]),
        ("mask = kind", "mask &= y > 0", ["TPU204"]),
        ("mask = kind if x is None else None", "mask = mask & (y > 0)", []),
        ("mask = torch.randperm(4).to(device)", "mask &= y > 0", []),
        ("mask = x > 0", "if number:\n    mask &= y > 0", ["TPU204"]),
        ("mask = kind", "if number:\n    mask &= y > 0", []),
        ("mask = x > 0", "mask += y > 0", ["TPU204"]),
        ("mask = kind", "mask += y > 0", []),
    ],
)
def test_masks_joined_with_others(made: str, joined: str, said: list[str]) -> None:
    """`mask &= other` is a mask whatever name of a mask the variable held on another way; `+=` is no such operator."""
    body = f"x, y = x.to(device), y.to(device)\nkind = {{}}.get(number)\n{made}\n{joined}\nx[mask] = 0"
    assert codes(in_loop(body)) == said


# -------------------------------------------------------------------- masks made of numbers

CONTRASTIVE = """
class Trainer:
    def __init__(self, options, model, optimizer):
        self.options, self.optimizer = options, optimizer
        self.model = model.to(options.device)

    def compare(self, features):
        labels = torch.cat([torch.arange(self.options.pairs) for _ in range(2)])
        labels = (labels[None] == labels[:, None]).float()
        labels = labels.to(self.options.device)
        similarity = features @ features.T
        own = torch.eye(len(labels), dtype=torch.bool).to(self.options.device)
        labels = labels[~own].view(len(labels), -1)
        similarity = similarity[~own].view(similarity.shape[0], -1)
        positive = similarity[labels.bool()].view(len(labels), -1)
        negative = similarity[~labels.bool()].view(len(labels), -1)
        return torch.cat([positive, negative], dim=1)

    def train(self, loader):
        for x, _ in loader:
            loss = self.compare(F.normalize(self.model(x.to(self.options.device)))).logsumexp(1).mean()
            loss.backward()
            self.optimizer.step()
            torch_xla.sync()
"""


def keep_masks(text: str) -> tuple[str, list[str]]:
    settings = Settings(select=("TPU203",), preview=True, fix=True, unsafe_fixes=True)
    result = lint(SourceFile.from_text(SETUP + text), settings, CATALOGUE)
    assert result.error == ""
    return result.text.removeprefix(SETUP), [finding.code for finding in result.findings]


def test_masks_made_of_numbers_stay_on_the_host() -> None:
    assert codes(SETUP + CONTRASTIVE) == ["TPU203"] * 4
    after, left = keep_masks(CONTRASTIVE)
    expected = CONTRASTIVE.replace("        labels = labels.to(self.options.device)\n", "")
    expected = expected.replace("torch.bool).to(self.options.device)", "torch.bool)")
    assert (after, left) == (expected, [])


def test_device_of_a_factory_goes_with_the_mask() -> None:
    by_keyword = CONTRASTIVE.replace("dtype=torch.bool).to(self.options.device)", "dtype=torch.bool, device=device)")
    after, left = keep_masks(by_keyword)
    assert "own = torch.eye(len(labels), dtype=torch.bool)\n" in after
    assert left == []


@pytest.mark.parametrize(
    ("old", "new", "left"),
    [
        ("return torch.cat", "similarity = similarity.masked_fill(own[:, 1:], 0)\n        return torch.cat", 4),
        ("return torch.cat", "self.own = own\n        return torch.cat", 4),
        ("torch.eye(len(labels), dtype=torch.bool)", "torch.rand(8, 8).bool()", 4),
        ("labels = labels[~own]", "labels = labels[~own] * self.weight", 2),
    ],
    ids=["used on the device", "kept", "random", "multiplied"],
)
def test_masks_that_do_not_stay(old: str, new: str, left: int) -> None:
    assert old in CONTRASTIVE
    text = CONTRASTIVE.replace(old, new)
    after, codes_left = keep_masks(text)
    assert len(codes_left) == left
    assert "labels = labels.to(self.options.device)" in after
    assert (after == text) is (left == 4)


# -------------------------------------------------------------------- numbers that are 0 or 1


@pytest.mark.parametrize(
    "weight, expected",
    [
        ("0.0 if step < 100 else 0.5", True),
        ("0.5 if step < 100 else 1", True),
        ("-1.0 if step % 2 else 2.0", True),
        ("min(1.0, step / 100)", True),
        ("max((100 - step) / 100, 0)", True),
        ("3.0 * (0.0 if step < 100 else 0.5)", True),
        ("3.0 * (1.0 if step < 100 else 0.5)", False),  # 3.0 and 1.5
        ("0.0 if number else 0.5", False),  # the same in all steps
        ("0.0 if step < 100 else 1.0", True),  # another constant
        ("0.0 if step < 100 else 0", False),
        ("0.1 if step < 100 else 0.5", False),
        ("True if step < 100 else 0.5", False),
        ("min(0.9, step / 100)", False),
        ("min(1.0, number / 100)", False),
        ("min(1.0, step)", False),
        ("step / 100", False),
    ],
)
@pytest.mark.parametrize("form", ["loss = model(x.to(device)).mean() * ({})", "w = {}\nloss = w * model(x.to(device))"])
def test_factors_that_are_special_in_some_steps(weight: str, expected: bool, form: str) -> None:
    settings = Settings(select=("TPU222",), preview=True)
    result = lint(SourceFile.from_text(in_loop(form.format(weight))), settings, CATALOGUE)
    assert [finding.code for finding in result.findings] == ["TPU222"] * expected


# -------------------------------------------------------------------- places that the host knows


@pytest.mark.parametrize(
    "body",
    [
        "state = model(x.to(device))\nplaces = y.numpy()\nif len(places) != 0:\n    state[places] = 0",
        "state = model(x.to(device))\nplaces = y.numpy()\nif len(places) > 0:\n    state[:, places] = 0",
        "state = model(x.to(device))\nplaces = y.numpy()\nif len(places):\n    part = state[places]",
        "places = np.where(y.numpy() != 0)[0]\npart = model(x.to(device))[:, places]",
        "part = model(x.to(device))[np.flatnonzero(y.numpy())]",
    ],
)
def test_a_number_of_places_that_changes_makes_new_graphs(body: str) -> None:
    assert codes(in_loop(body)) == ["TPU203"]


@pytest.mark.parametrize(
    "body",
    [
        "state = model(x.to(device))\nplaces = y.numpy()\nif len(places) == 4:\n    state[places] = 0",
        "state = model(x.to(device))\nplaces = y.numpy()\nstate[places] = 0",
        "state = model(x.to(device))\nif len(names) > 0:\n    state[names] = 0",  # the same in all steps
        "state = torch.zeros(4)\nplaces = y.numpy()\nif len(places) > 0:\n    state[places] = 0",  # on the host
        "state = model(x.to(device))\nplaces = y.numpy()\nif len(x) > 0:\n    state[places] = 0",
    ],
)
def test_places_of_which_there_are_as_many_in_every_step_are_left_alone(body: str) -> None:
    assert codes(in_loop(body)) == []


# -------------------------------------------------------------------- modules of libraries


@pytest.mark.parametrize(
    ("line", "base", "is_module"),
    [
        ("from transformers import BertPreTrainedModel", "BertPreTrainedModel", True),
        (
            "from pytorch_transformers.modeling_bert import BertForTokenClassification",
            "BertForTokenClassification",
            True,
        ),
        ("from torchvision import models", "models.resnet.ResNet", True),
        ("from timm.models.vision_transformer import VisionTransformer", "VisionTransformer", True),
        ("from transformers import BertConfig", "BertConfig", False),
        ("from transformers import Trainer", "Trainer", False),
        ("from torchvision import models", "models.ResNet18_Weights", False),
        ("from mine import BertPreTrainedModel", "BertPreTrainedModel", False),
    ],
)
def test_forward_pass_of_a_class_that_a_library_derives_from_module(line: str, base: str, is_module: bool) -> None:
    forward = "    def forward(self, x):\n        h = torch.relu(x)\n        return h[h > 1]\n\n"
    own = f"{line}\n\nclass Own({base}):\n{forward}"
    step = "model = Own().to(device)\n" + LOOP.format(body="    pass")
    assert (codes(SETUP + own + step) == ["TPU203"]) is is_module


TREES = """
from torch import nn

class Cell(nn.Module):
    def forward(self, tree, x):
        for part in range(tree.count):
            self.forward(tree.children[part], x)
        tree.state = x[tree.place]
        return tree.state

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = Cell()
        self.root = build()

    def forward(self, given, x):
        return {run}

    def walk(self, node, x):
        if node.left:
            self.walk(node.left, x)
        return x[node.place]

net = Net().to(device)
for tree, x in samples:
    net(tree, x.to(device)).mean().backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("run", "found"),
    [
        ("self.cell(given, x)", 1),
        ("self.cell(given, x) + self.cell(given, x)", 1),
        ("self.cell(self.root, x)", 0),  # the same tree for all samples
        ("self.walk(given, x)", 1),
        ("self.walk(self.root, x)", 0),
    ],
)
def test_places_of_the_nodes_of_trees_that_samples_bring(run: str, found: int) -> None:
    text = TREES.format(run=run)
    unused = "Cell" if "walk" in run else "walk"
    text = text.replace("x[node.place]", "x[0]") if unused == "walk" else text.replace("x[tree.place]", "x[0]")
    result = lint(SourceFile.from_text(SETUP + text), Settings(select=("TPU201",)), CATALOGUE)
    assert [one.code for one in result.findings] == ["TPU201"] * found
    assert all(one.fix is None for one in result.findings)


TREE_OF_SUMS = (
    SETUP
    + """\
class Sums:
    def __init__(self, size):
        self.sums = [0.0] * size
    def find(self, place, number):
        left = 2 * place + 1
        if left >= len(self.sums):
            return place
        if number <= self.sums[left]:
            return self.find(left, number)
        return self.find(left + 1, number - self.sums[left])
sums = Sums(64)
for step, (x, y) in enumerate(loader):
    place = sums.find(0, step * 0.5)
    loss = model(x.to(device))[place].mean()
    loss.backward()
    optimizer.step()
    torch_xla.sync()
"""
)


def test_function_that_calls_itself_twice_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sum tree goes left or right; following both at every level would take hours."""
    asked = 0
    cause = ChangingNumbers.cause

    def counted(self: ChangingNumbers, node: ast.expr, depth: int = 0) -> ast.AST | None:
        nonlocal asked
        asked += 1
        assert asked < 200, "each level doubles the work"
        return cause(self, node, depth)

    monkeypatch.setattr(ChangingNumbers, "cause", counted)
    lint(SourceFile.from_text(TREE_OF_SUMS), Settings(select=("TPU2",), preview=True), CATALOGUE)
    assert 0 < asked < 200


@pytest.mark.parametrize(
    "made",
    [
        "torch.randint(0, 4, (16, k))",
        "torch.randn(k, 4) * 2",
        "rows[:k]",
        "rows[:, k:]",
        "rows[torch.randperm(64)[:k]].float()",
        "rows[np.random.choice(64, size=k, replace=False)]",
        "rows[random.sample(range(64), k)]",
        "torch.from_numpy(np.zeros((k, 4)))",
        "torch.tensor(np.random.normal(0, 1, (k, 4)))",
        "torch.stack([rows[i] for i in range(k)])",
        "rows[: max(2, random.randint(1, 9))]",
        "torch.arange(3, 3 + k)",
        "rows[torch.rand(64) > 0.5]",
        "rows[(torch.rand(64) > 0.5).nonzero().squeeze(1)]",
        "rows[np.where(np.random.rand(64) > 0.5)[0]]",
        "rows[[i for i in range(64) if random.random() < 0.5]]",
        "torch.stack([rows[i] for i in range(9) if i < k])",
        "torch.zeros(4, max([random.randint(1, 9) for _ in range(4)]))",
        "torch.cat([torch.randn(random.randint(1, 9), 4) for _ in range(4)])",
        "torch.nn.utils.rnn.pad_sequence([torch.randn(random.randint(1, 9), 4) for _ in range(4)])",
        "x[:, : y.max()]",
        "x[y != 0]",
    ],
)
def test_length_of_what_is_moved(made: str) -> None:
    body = f"rows = torch.randn(64, 4)\nk = random.randint(2, 9)\nmade = {made}\nz = model(made.to(device))"
    assert codes(in_loop(body)) == ["TPU202"]
    assert codes(in_loop(body.replace("model(made.to(device))", "torch.tensor(made, device=device)"))) == ["TPU202"]


@pytest.mark.parametrize(
    "made",
    [
        "rows[k : k + 16]",
        "rows[16 * step : min(16 * step + 16, 64)]",
        "rows[k]",
        "rows[:k].sum(0)",
        "torch.cat([rows[:k], rows[k:16]])",
        "torch.nn.functional.pad(rows[:k], (0, 0, 0, 16 - k))",
        "torch.randint(0, k, (16,))",
        "torch.full((16, 4), k)",
        "torch.from_numpy(np.random.normal(0, k, (16, 4)))",
        "rows[np.random.choice(k, 16)]",
        "torch.arange(k, k + 3)",
        "rows[torch.randperm(64) < 16]",
        "rows[torch.eye(64)[0] > 0]",
        "torch.stack([row for row in rows if row is not None])",
        "torch.nn.utils.rnn.pad_sequence([torch.randn(9, 4) for _ in range(4)])",
        "x[:, : rows.size(1)]",
        "torch.tensor(list(range(9))[:k] + [0] * (9 - k))",
        "rows[start:end]",
        "rows[first:last]",
        "rows[top - 16 : top]",
        "rows[torch.rand(64) < torch.rand(64).median()]",
        "rows[[i for i in range(64) if i != k]]",
        "torch.from_numpy(np.r_[rows.numpy()[:k], rows.numpy()[k:]])",
    ],
)
def test_length_that_is_not_known_to_change(made: str) -> None:
    bounds = "start, end = k * 16, (k + 1) * 16\nfirst, last = bounds(k)\ntop = min(k + 16, 64)"
    body = f"rows = torch.randn(64, 4)\nk = random.randint(2, 9)\n{bounds}\nmade = {made}\nz = model(made.to(device))"
    assert codes(in_loop(body)) == []


def test_list_that_is_filled_up() -> None:
    body = """
    words = list(range(random.randint(2, 9)))
    {more}
    z = model(torch.tensor(words).to(device))
    """
    assert codes(in_loop(body.format(more="words.sort()"))) == ["TPU202"]
    assert codes(in_loop(body.format(more="words.extend([0] * (9 - len(words)))"))) == []


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ("random.sample(range(64), k)", ["TPU201"]),
        ("torch.randint(0, 64, (k,))", ["TPU201"]),
        ("np.random.permutation(64)[:k]", ["TPU201"]),
        ("torch.randint(0, k, (16,))", []),
    ],
)
def test_as_many_rows_of_a_device_tensor_as_a_list_is_long(rows: str, told: list[str]) -> None:
    assert codes(in_loop(f"k = random.randint(2, 9)\nrows = {rows}\nz = model(data[rows])")) == told


@pytest.mark.parametrize(
    ("count", "told"),
    [
        ("sum(lengths)", ["TPU212"]),
        ("sum([len(part) for part in y])", []),
        ("sum(sizes)", []),
        ("sum(fixed_lengths)", []),
    ],
)
def test_sums_of_lengths(count: str, told: list[str]) -> None:
    body = f"lengths = [len(part) for part in y]\nz = torch.zeros({count}, 4, device=device)"
    assert codes(in_loop(body)) == told


@pytest.mark.parametrize(("made", "told"), [("get_batch(16)", ["TPU212"]), ("read_settings()", [])])
def test_longest_of_a_batch_that_a_function_gives(made: str, told: list[str]) -> None:
    body = f"words, lengths = {made}\nz = torch.zeros(16, int(lengths.max()), device=device)"
    assert codes(in_loop(body)) == told


# -------------------------------------------------------------------- gradients of zeros

CLEARED = """\
import torch
import torch_xla

device = torch_xla.device()
model, head = torch.nn.Linear(4, 3).to(device), torch.nn.Linear(3, 3).to(device)
{optimizer}
for x in loader:
    {cleared}.zero_grad(set_to_none=False)
    model(x.to(device)).sum().backward()
    optimizer.step()
"""
PLAIN = "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)"


def clearing_of_zeros(optimizer: str, cleared: str) -> Applicability:
    text = CLEARED.format(optimizer=optimizer, cleared=cleared)
    result = lint(SourceFile.from_text(text), Settings(select=("TPU211",)), CATALOGUE)
    (finding,) = result.findings
    assert finding.fix is not None
    return finding.fix.applicability


@pytest.mark.parametrize("cleared", ["optimizer", "model"])
@pytest.mark.parametrize(
    "optimizer",
    [
        PLAIN,
        "optimizer = torch.optim.SGD(list(model.parameters()) + list(head.parameters()), 0.1)",
        "optimizer = torch.optim.SGD(params=model.parameters(), lr=0.1, momentum=0.0, weight_decay=0)",
        f"{PLAIN}\nschedule = torch.optim.lr_scheduler.StepLR(optimizer, 3)",
    ],
)
def test_zeros_that_move_nothing_may_be_none(optimizer: str, cleared: str) -> None:
    assert clearing_of_zeros(optimizer, cleared) is Applicability.SAFE


@pytest.mark.parametrize("cleared", ["optimizer", "model"])
@pytest.mark.parametrize(
    "optimizer",
    [
        "optimizer = torch.optim.Adam(model.parameters(), lr=0.1)",
        "optimizer = torch.optim.RMSprop(model.parameters(), lr=0.1)",
        "optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)",
        "optimizer = torch.optim.SGD(model.parameters(), lr=0.1, weight_decay=decay)",
        "optimizer = torch.optim.SGD(model.parameters(), 0.1, 0.9)",
        "optimizer = torch.optim.SGD(model.parameters(), lr=0.1, **options)",
        "optimizer = torch.optim.SGD(*given)",
        "optimizer = torch.optim.SGD(groups_of(model), lr=0.1)",
        "optimizer = torch.optim.SGD([dict(params=model.parameters(), weight_decay=0.1)], lr=0.1)",
        f'{PLAIN}\noptimizer.param_groups[0]["weight_decay"] = 0.1',
        f"{PLAIN}\noptimizer.add_param_group(group)",
        f"{PLAIN}\nschedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, 30)",
        f"{PLAIN}\nif big:\n    optimizer = torch.optim.AdamW(model.parameters())",
    ],
)
def test_zeros_that_move_parameters_are_not_taken_for_none(optimizer: str, cleared: str) -> None:
    assert clearing_of_zeros(optimizer, cleared) is Applicability.UNSAFE


def test_gradients_of_a_module_that_another_optimizer_may_train_stay_zeros() -> None:
    other = "other = torch.optim.SGD(head.parameters(), lr=0.1, momentum=0.9)\nother.step()"
    assert clearing_of_zeros(f"{PLAIN}\n{other}", "model") is Applicability.UNSAFE
    assert clearing_of_zeros(f"{PLAIN}\n{other}", "optimizer") is Applicability.SAFE


@pytest.mark.parametrize(
    ("drawn", "kept", "is_found"),
    [
        ("batch = Batch(*zip(*memory.sample(32)))", "[s for s in batch.after if s is not None]", True),
        (
            "drawn = random.sample(memory, 32)\nbatch = Batch(*zip(*drawn))",
            "[s for s in batch.after if s is not None]",
            True,
        ),
        ("before, after = zip(*memory.sample(32))", "[s for s in after if s is not None]", True),
        ("after = memory.sample(32).after", "[s for s in after if s is not None]", True),
        ("drawn = memory.sample(32)", "[s.after for s in drawn if s is not None]", False),  # it is there
        ("drawn = memory.sample(32)", "[s for s in drawn if s is not None]", False),
        ("batch = memory.sample(32)", "[s for s in batch.after]", False),
        ("batch = memory.sample(32)", "[s if s is not None else zeros for s in batch.after]", False),
        ("batch = Batch(*zip(*memory.all))", "[s for s in batch.after if s is not None]", False),
        ("batch = options", "[s for s in batch.parts if s is not None]", False),
    ],
)
def test_samples_without_the_last_ones(drawn: str, kept: str, is_found: bool) -> None:
    """How many of the samples drawn are the last of an episode is another number in every step."""
    for used in ("model(others).sum()", "model(others.to(device)).sum()", "others.to(device).sum()"):
        text = in_loop(f"{drawn}\nothers = torch.cat({kept})\nlast = {used}")
        assert codes(text) == (["TPU202"] if is_found else [])


def test_samples_that_nothing_on_the_device_takes() -> None:
    kept = "others = torch.cat([s for s in memory.sample(32).after if s is not None])"
    assert codes(in_loop(f"{kept}\nprint(others.mean())")) == []
