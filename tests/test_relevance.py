"""What a text is about: files that have nothing to do with PyTorch are not examined."""

from __future__ import annotations

import re

import pytest

from tpulint.catalog import load
from tpulint.config import Settings
from tpulint.linter import lint
from tpulint.relevance import applicable, uses_imports
from tpulint.semantic import SemanticIndex
from tpulint.source import SourceFile

CATALOGUE = load()
EVERY = Settings(select=("ALL",), preview=True)


def codes(text: str) -> list[str]:
    return [finding.code for finding in lint(SourceFile.from_text(text, "a.py"), EVERY, CATALOGUE).findings]


OTHER = "def domain_matrix(items, domain):\n    return DM(items, domain).to_sparse()\n"


def test_methods_of_other_libraries_are_not_torchs() -> None:
    assert codes(OTHER) == []


def test_words_that_any_program_may_hold_wait_for_pytorch() -> None:
    text = "rows = [concatenate(x) for x in batches]\nprint(len(rows), max(rows))\n"
    assert applicable(text, "python", EVERY, CATALOGUE, called=False) == ()
    assert applicable(f"import torch\n{text}", "python", EVERY, CATALOGUE, called=False)


TRAINING = """\
for x, y in loader:
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
    total += loss.item()
    optimizer.zero_grad()
"""


@pytest.mark.parametrize("framework", ["import paddle", "from jittor import nn", "import mindspore as ms"])
def test_programs_of_other_frameworks_are_none_of_pytorch(framework: str) -> None:
    """Be it that they take a model from a file of the project that has the name of one of PyTorch."""
    text = f"{framework}\nfrom model import model, criterion\n\n{TRAINING}"
    for called in (False, True):
        assert applicable(text, "python", EVERY, CATALOGUE, called=called) == ()
        both = f"import torch\n{text}"
        assert "TPU301" in {rule.code for rule in applicable(both, "python", EVERY, CATALOGUE, called=called)}
    assert applicable(f"# as in {framework}\nimport torch\n{TRAINING}", "python", EVERY, CATALOGUE, called=False)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("model.load_state_dict(t.load(path))", "TPU701"),
        ("t.save(model.state_dict(), path)", "TPU703"),
        ("x = t.zeros(4, dtype=t.double)", "TPU403"),
        ("x = t.zeros(4, dtype=t.half)", "TPU402"),
        ("run = t.compile", "TPU210"),
        ("x = t.normal(mean, deviation)", "TPU225"),
        ("x = t.device(0)", "TPU001"),
        ("x = t.utils.checkpoint.checkpoint(model, x)", "TPU311"),
        ("x = t.distributions.Gamma(a, b).sample()", "TPU135"),
    ],
)
def test_torch_may_have_another_name(line: str, code: str) -> None:
    for text in (f"import torch as t\n{line}\n", "import torch\n" + re.sub(r"\bt\.", "torch.", line)):
        assert code in {rule.code for rule in applicable(text, "python", EVERY, CATALOGUE, called=False)}


def test_what_loops_of_other_files_call_is_examined_whatever_it_names() -> None:
    text = "def accuracy(out, y):\n    return (out.argmax(1) == y).sum().item()\n"
    assert "TPU101" in {rule.code for rule in applicable(text, "python", EVERY, CATALOGUE, called=True)}


@pytest.mark.parametrize(
    ("call", "is_examined"),
    [
        ("update(self.optim, loss)", True),
        ("update(critic_loss, self.critic_optimizer)", True),
        ("update(loss)", False),
        ("print(loss); update(self.optim)", False),
    ],
)
def test_what_gives_away_a_loss_with_an_optimizer_may_train(call: str, is_examined: bool) -> None:
    text = f"import torch\nfrom parts import update\ndef learn(self, loss):\n    {call}\n"
    found = {rule.code for rule in applicable(text, "python", EVERY, CATALOGUE, called=False)}
    assert ("TPU301" in found) == is_examined


@pytest.mark.parametrize(
    "text",
    ["import bitsandbytes as bnb\n", "import os\nos.environ['XRT_TPU_CONFIG'] = 'localservice;0;localhost:51011'\n"],
)
def test_libraries_and_variables_have_names_of_their_own(text: str) -> None:
    assert codes(text)


def test_a_file_about_something_else_is_still_checked_for_syntax() -> None:
    assert codes(OTHER + "def f(:\n") == ["invalid-syntax"]
    nested = "x = " + "[" * 150 + "]" * 150 + "\n"
    assert codes(OTHER + nested) == codes("import torch\n" + nested) == []


def test_what_the_parser_takes_is_no_syntax_error() -> None:
    text = "def f(x):\n    global x\n"
    assert codes(text) == codes(f"import torch\n{text}") == []


@pytest.mark.parametrize(
    ("comment", "indexed", "found"),
    [
        ("# noqa: E501", False, []),
        ("# noqa: TPU007", True, ["unused-suppression"]),
        ("# tpulint: ignore", True, ["unused-suppression"]),
    ],
)
def test_comments_for_other_tools_are_not_looked_into(
    monkeypatch: pytest.MonkeyPatch, comment: str, indexed: bool, found: list[str]
) -> None:
    made: list[SourceFile] = []
    make = SemanticIndex.__init__

    def note(index: SemanticIndex, source: SourceFile, *others: object) -> None:
        made.append(source)
        make(index, source, *others)  # type: ignore[arg-type]

    monkeypatch.setattr(SemanticIndex, "__init__", note)
    assert codes(f"import os  {comment}\n") == found
    assert bool(made) == indexed


@pytest.mark.parametrize("device", ["cuda", "xla", "cuda:0"])
def test_a_file_that_names_a_device_is_read_with_the_others_before_and_after_a_port(device: str) -> None:
    assert uses_imports(SourceFile.from_text(f"from models import Net\n\nnet = Net('{device}')\n", "a.py"))
    assert not uses_imports(SourceFile.from_text("from models import Net\n\nnet = Net('cpu')\n", "a.py"))


@pytest.mark.parametrize("step", ["optimizer.step()", "xm.optimizer_step(optimizer)"])
def test_a_file_without_a_backward_pass_trains_before_and_after_a_port(step: str) -> None:
    work = f"    optimizer.zero_grad()\n    descend(x)\n    {step}\n"
    text = f"import torch\nfrom losses import descend\ndef learn(x):\n{work}"
    found = {rule.code for rule in applicable(text, "python", EVERY, CATALOGUE, called=False)}
    assert "TPU301" in found


@pytest.mark.parametrize(
    ("text", "is_told"),
    [
        ("def overlap(a, b):\n    return (a < b).type(a.type())\n", True),
        ("def overlap(a, b):\n    return (a < b).type(a.dtype)\n", False),
        ("a = torch.ones(3)\nb = (a > 0).type(a.type())\nprint(b.sum())\n", False),  # of a program, on the host
    ],
)
def test_a_library_says_nothing_of_devices_and_is_given_what_lies_there(text: str, is_told: bool) -> None:
    assert codes(f"import torch\n\n{text}") == ["TPU003"] * is_told
