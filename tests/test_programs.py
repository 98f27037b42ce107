"""The generated programs themselves: they are what they claim to be."""

from __future__ import annotations

import ast
from collections.abc import Callable

import pytest
from hypothesis import Phase, given, seed, settings
from hypothesis import strategies as st
from layouts import CHANGES, encoded, laid_out
from programs import plain_programs, programs, unbound_names

FORMS = (
    'device = "cuda" if torch.cuda.is_available() else "cpu"',
    'torch.device("cuda" if',
    "args.device",
    "config.device",
    "torch.accelerator",
    '["LOCAL_RANK"]',
    ".cuda()",
    ".to(device)",
    "non_blocking=True",
    "torch.cuda.amp.autocast",
    "torch.amp.autocast",
    "GradScaler",
    "scaler.scale(",
    "enumerate(",
    "while ",
    "tqdm(",
    "class Trainer",
    "def train(",
    "def train_step(",
    "critic_optimizer",
    "% 2 == 0",
    ".item()",
    "argmax(1) ==",
    "set_postfix",
    "torch.inference_mode",
    "torch.load(",
    "torch.save(",
    "manual_seed",
    "**options",
    "xm.mark_step()",
    "DataParallel",
    "\t",
    "\r\n",
    "\x0c",
    "größe",
    "\\\n",
    "; ",
    "😀",
)


@given(st.data())
def test_layout_leaves_the_syntax_tree_as_it_is(data: st.DataObject) -> None:
    plain = data.draw(plain_programs())
    compile(plain, "<plain>", "exec", dont_inherit=True)
    assert not unbound_names(plain)
    text = data.draw(laid_out(plain))
    tree = ast.dump(ast.parse(plain))
    assert ast.dump(ast.parse(text)) == tree
    assert ast.dump(ast.parse(data.draw(encoded(text)))) == tree


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_each_change_of_layout_changes_only_the_layout(change: Callable[[str, int, str], str]) -> None:
    plain = (
        "import torch\n"
        "for step in range(3):\n"
        "    loss = model(torch.zeros(1, device='cuda'))\n"
        "    loss.backward()\n"
        "    if step: print(f'{loss.item():.2f}')\n"
        "    else:\n"
        "        torch.cuda.synchronize()\n"
        "        optimizer.step()\n"
    )
    texts = {change(plain, where, "# note") for where in range(60)}
    assert texts and plain not in texts
    assert {ast.dump(ast.parse(text)) for text in texts} == {ast.dump(ast.parse(plain))}


def test_programs_show_every_form() -> None:
    drawn: list[str] = []

    @settings(max_examples=400, database=None, phases=[Phase.generate])
    @given(programs())
    def collect(text: str) -> None:
        drawn.append(text)

    # The rarest form is missing in one of eight runs.
    for start in range(6):
        seed(start)(collect)()
        missing = {form for form in FORMS if not any(form in text for text in drawn)}
        if not missing:
            break
    assert missing == set()
    assert len(set(drawn)) > len(drawn) * 0.6
