"""Means that are kept of numbers read of the device, in the program itself and in meters that are asked for them."""

from __future__ import annotations

import pytest

from tpulint.catalog import load
from tpulint.config import Settings
from tpulint.linter import lint
from tpulint.source import SourceFile

CATALOGUE = load()
SETTINGS = Settings(select=("TPU101", "TPU104", "TPU106", "TPU301"), preview=True, fix=True, unsafe_fixes=True)
PROGRAM = """\
import torch
import torch_xla
device = torch_xla.device()
model = torch.nn.Linear(4, 2).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
{before}
for i, (x, y) in enumerate(loader):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(x.to(device)), y.to(device))
    loss.backward()
    optimizer.step()
    {inside}
{behind}
"""


def ported(before: str, inside: str, behind: str) -> str:
    text = PROGRAM.format(before=before, inside=inside.replace("\n", "\n    "), behind=behind)
    result = lint(SourceFile.from_text(text), SETTINGS, CATALOGUE)
    assert result.error == ""
    assert lint(SourceFile.from_text(result.text), SETTINGS, CATALOGUE).text == result.text
    return result.text


@pytest.mark.parametrize("held", ["state.mean", 'state["mean"]'])
@pytest.mark.parametrize(
    "added", ["(loss.item() - {held}) / (i + 1)", "0.1 * (loss.item() - {held})", "loss.item() / max({held}, 1)"]
)
def test_a_mean_that_the_sum_itself_goes_into_is_no_total(held: str, added: str) -> None:
    """Summed in a variable of its own, each turn would take the mean of before the loop."""
    line = f"{held} += {added.format(held=held)}"
    assert line in ported("state = load()", line, f"print({held})")


def test_a_sum_of_an_object_moves_behind_the_loop() -> None:
    text = ported("state = load()", "state.mean += loss.item() / len(loader)", "print(state.mean)")
    assert "device_mean += loss.detach() / len(loader)\n" in text


def test_a_mean_in_a_variable_is_kept_on_the_device() -> None:
    text = ported("mean = 0.0", "mean += (loss.item() - mean) / (i + 1)", "print(mean)")
    assert "    mean += (loss.detach() - mean) / (i + 1)\n" in text and "\nmean = mean.item()\nprint(mean)\n" in text


METER = """\
class Mean:
    def __init__(self):
        self.mean = 0.0
        self.n = 0

    def update(self, value, n=1):
        self.n += n
        self.mean += (value - self.mean) * n / self.n

    METHOD
        RETURNS

MORE
mean = Mean()
other = Mean()
"""


def metered(behind: str, method: str = "def value(self):", returns: str = "return self.mean", more: str = "") -> str:
    before = METER.replace("METHOD", method).replace("RETURNS", returns).replace("MORE", more)
    return ported(before, "mean.update(loss.item(), len(x))", behind)


@pytest.mark.parametrize(
    ("method", "before", "after"),
    [
        ("def value(self):", "print(mean.value())", "print(float(mean.value()))"),
        ("def __call__(self):", "print(mean())", "print(float(mean()))"),
        ("def value(self):", "print(other.value())", "print(other.value())"),
        ("def value(self):", 'print(f"{mean.value():.3f}")', 'print(f"{mean.value():.3f}")'),
        ("def value(self):", "mean.value()", "mean.value()"),
        ("@property\n    def value(self):", "print(mean.value)", "print(float(mean.value))"),
    ],
    ids=["method", "called", "of another meter", "in a text", "for nothing", "property"],
)
def test_what_a_method_of_a_meter_returns_is_a_number(method: str, before: str, after: str) -> None:
    text = metered(before, method)
    assert "mean.update(loss.detach(), len(x))" in text
    assert text.endswith(f"\n{after}\n")


def test_what_a_method_rounds_is_taken_by_a_meter_that_waits() -> None:
    text = metered("print(mean.value())", returns="return round(self.mean, 3)")
    assert "tpulint_runtime.defer_updates(" in text and text.endswith("\nprint(mean.value())\n")


def test_a_meter_that_asks_itself_is_given_its_numbers_later() -> None:
    method = "def value(self):\n        return self.mean\n\n    def summary(self):"
    text = metered("print(mean.summary())", method, "return [self.value()]")
    assert "mean.update(loss.detach(), len(x))" in text and "tpulint_runtime.defer_updates(" in text
