"""Reads behind a boundary that one transfer can serve: arrays of one number, and a boundary in what the loop calls."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from command import tpulint
from marked_files import SETUP as MARKED_SETUP
from marked_files import agree
from test_host_sync_rules import SETUP, check, port

STEP = """
def step(x, y):
    output = model(x.to(device))
    loss, size, count = F.cross_entropy(output, y.to(device)), output.pow(2).mean(), (output > 0).sum()
    (loss + size).backward()
    optimizer.step()
    torch_xla.sync()
    return READS


for x, y in loader:
    kept = step(x, y)
"""
LOOP = """
    def step(x, y):
        output = model(x.to(device))
        loss, size = F.cross_entropy(output, y.to(device)), output.pow(2).mean()
        (loss + size).backward()
        optimizer.step()
        torch_xla.sync()
        return loss, size

    for turn, (x, y) in enumerate(loader):
        loss, size = step(x, y)
        {}
"""


@pytest.mark.parametrize(
    ("reads", "fetched", "returned"),
    [
        (
            "[loss.cpu().data.numpy(), size.detach().cpu().numpy()]",
            "loss_value, size_value = step_values.cpu().numpy()",
            "[loss_value, size_value]",
        ),
        (  # numbers of Python stay what they are
            "[loss.detach().cpu().numpy(), size.item(), int(count)]",
            "loss_value, size_value, count_value = step_values.cpu().numpy()",
            "[loss_value, size_value.item(), int(count_value)]",
        ),
        ("[loss.item(), size.item()]", "loss_value, size_value = step_values.tolist()", "[loss_value, size_value]"),
        (
            "[loss.data.cpu().numpy(), loss.data.cpu().numpy()]",
            "loss_value = loss.data.cpu().numpy()",
            "[loss_value, loss_value]",
        ),
    ],
)
def test_arrays_of_one_number_are_fetched_together(reads: str, fetched: str, returned: str) -> None:
    ported = port(SETUP + STEP.replace("READS", reads), select=("TPU106",))
    assert f"    torch_xla.sync()\n    {fetched}\n    return {returned}\n" in ported.text
    assert not ported.findings


@pytest.mark.parametrize(
    "reads",
    [
        "[loss.detach().cpu().numpy(), output.detach().cpu().numpy()]",  # one of many numbers
        "[loss.detach().cpu().numpy(), count.cpu().numpy()]",  # of whole numbers
        "[torch.from_numpy(loss.detach().cpu().numpy()), torch.from_numpy(size.detach().cpu().numpy())]",
        "[loss.detach().cpu(), size.detach().cpu()]",  # tensors of the host
    ],
)
def test_what_an_array_of_one_number_cannot_stand_for_is_left(reads: str) -> None:
    text = SETUP + STEP.replace("READS", reads)
    assert port(text, select=("TPU106",)).text == text


@pytest.mark.parametrize(
    "shown", ['print("{:.4f} {:.4f}".format(A, B))', 'writer.add_scalar("a", A, 1); writer.add_scalar("b", B, 2)']
)
def test_arrays_that_are_only_shown_are_numbers(shown: str) -> None:
    shown = shown.replace("A", "loss.cpu().detach().numpy()").replace("B", "size.cpu().detach().numpy()")
    ported = port(SETUP + STEP.replace("return READS", shown), select=("TPU106",)).text
    assert "    loss_value, size_value = step_values.tolist()\n" in ported and ".numpy()" not in ported


@pytest.mark.parametrize(
    "turn",
    [
        "print(loss.item()); print(size.item())",
        "print(f'{loss.item()} {size.item()}')",
        "show(loss.detach().cpu().numpy(), float(size))",
    ],
)
def test_reads_behind_a_call_that_comes_to_the_boundary_are_told(turn: str) -> None:
    assert check(LOOP.format(turn)) == [("TPU106", "warning")] * 2


@pytest.mark.parametrize(
    "turn",
    [
        "print(loss.item())",
        "print(loss.item() if turn % 2 else size.item())",  # one of them in every turn
        "print(loss.detach().cpu().numpy(), output.cpu().numpy())",
        "if turn % 100 == 0: print(loss.item(), size.item())",
    ],
)
def test_a_turn_with_one_transfer_behind_such_a_call_is_right(turn: str) -> None:
    assert not [found for found in check(LOOP.format(turn)) if found[0] == "TPU106"]


UPDATED = """
def update():
    optimizer.step()
    optimizer.zero_grad()
    torch_xla.sync()


def train(x, y, turn=0):
    output = model(x.to(device))
    loss, size = F.cross_entropy(output, y.to(device)), output.pow(2).mean()
    (loss + size).backward()
    UPDATE
    return READS


for turn, (x, y) in enumerate(loader):
    kept = train(x, y, turn)
"""


@pytest.mark.parametrize("update", ["update()", "if turn % 2: update()"])
@pytest.mark.parametrize(
    ("reads", "told"),
    [
        ("loss.item(), size.item()", True),
        ("[loss.item(), float(size)]", True),
        ("loss.item()", False),
        ("loss.item() if turn % 2 else size.item()", False),
        ("loss, size", False),
    ],
)
def test_reads_in_a_function_behind_what_comes_to_the_boundary_are_told(update: str, reads: str, told: bool) -> None:
    findings = check(UPDATED.replace("UPDATE", update).replace("READS", reads))
    assert [one for one in findings if one[0] == "TPU106"] == [("TPU106", "warning")] * (2 * told)


@pytest.mark.parametrize(
    ("share", "together"),
    [("shape[0]", True), ("size(0)", True), ("numel()", True), ("float()", False), ("T", False)],
)
def test_a_share_of_what_a_loss_is_given_is_one_number(share: str, together: bool) -> None:
    """Nobody says what the forward pass is given: what is divided by its size is a number as before."""
    text = f"""
class Criterion(torch.nn.Module):
    def forward(self, output, given):
        hits = torch.sum(given == output.argmax(1)).float()
        return F.cross_entropy(output, given), hits / given.{share}


criterion = Criterion()
for turn, (x, y) in enumerate(loader):
    loss, hits = criterion(model(x.to(device)), y.to(device))
    loss.backward()
    optimizer.step()
    torch_xla.sync()
    writer.add_scalar("loss", loss.item(), turn)
    writer.add_scalar("hits", hits, turn)
"""
    assert ("loss_value, hits_value = " in port(SETUP + text, select=("TPU106",)).text) is together


def test_the_step_of_another_file_may_come_to_the_boundary(tmp_path: Path) -> None:
    agree(
        tmp_path,
        "TPU106",
        agent="""\
            import torch
            from torch import nn
            import torch_xla


            class Agent:
                def __init__(self):
                    self.device = torch_xla.device()
                    self.net = nn.Linear(4, 2).to(self.device)
                    self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)

                def learn(self, x, y):
                    output = self.net(x.to(self.device))
                    loss, size = nn.functional.cross_entropy(output, y.to(self.device)), output.pow(2).mean()
                    (loss + size).backward()
                    self.optimizer.step()
                    torch_xla.sync()
                    return loss, size
            """,
        main="""\
            import torch_xla
            from agent import Agent


            def train(loader):
                agent = Agent()
                for step, (x, y) in enumerate(loader):
                    loss, size = agent.learn(x, y)
                    print(loss.item())  # TPU106
                    print(size.item())  # TPU106


            def train_quietly(loader):
                agent = Agent()
                for step, (x, y) in enumerate(loader):
                    loss, size = agent.learn(x, y)
                    print(loss.item())
                    if step % 100 == 0:
                        print(size.item())
            """,
    )


SUMMED = """
for turn, (x, y) in enumerate(loader):
    x, y = x.to(device), y.to(device)
    total = 0.0
    for part in x.split(2):
        total += model(part).pow(2).mean()
    BEFORE
    total.backward()
    optimizer.step()
    total = total.item()
    AFTER
    if turn % 100 == 0:
        print("loss %.4f" % total)
    torch_xla.sync()
"""


def test_a_sum_of_the_turn_is_held_as_a_tensor() -> None:
    text = SETUP + SUMMED.replace("BEFORE", "total = total / len(x)").replace("AFTER", "pass")
    ported = port(text, select=("TPU101", "TPU106"))
    assert "    total = total.detach()\n" in ported.text and "% total.item())" in ported.text
    assert not ported.findings


@pytest.mark.parametrize("after", ["total += 1", "for _ in range(2): total *= 0.5"])
def test_a_number_that_is_added_to_is_no_tensor(after: str) -> None:
    text = SETUP + SUMMED.replace("BEFORE", "pass").replace("AFTER", after)
    assert "total = total.item()" in port(text, select=("TPU101", "TPU106")).text


def test_a_number_that_the_next_turn_adds_to_is_no_tensor() -> None:
    text = SETUP + SUMMED.replace("    total = 0.0\n", "").replace("BEFORE", "pass").replace("AFTER", "pass")
    text = text.replace("\nfor turn", "\ntotal = 0.0\nfor turn")
    assert "total = total.item()" in port(text, select=("TPU101", "TPU106")).text


GATED = """
def update():
    optimizer.step()
    optimizer.zero_grad()
    torch_xla.sync()


def train(x, turn):
    output = model(x.to(device))
    loss, size = output.pow(2).mean(), output.abs().mean()
    loss.backward()
    {step}
    return {returned}


for turn, (x, y) in enumerate(loader):
    values = train(x, turn)
"""


@pytest.mark.parametrize(
    "step",
    [
        "if turn % 4 == 3:\n        update()",
        "if turn % 4 == 3:\n        optimizer.step()\n        torch_xla.sync()",
        "update()",
        "with torch.no_grad():\n        update()",
    ],
)
def test_values_are_stacked_in_front_of_what_comes_to_the_boundary(step: str) -> None:
    ported = port(SETUP + GATED.format(step=step, returned="loss.item(), float(size), output"), select=("TPU106",))
    stacked = f"    step_values = torch.stack((loss, size)).detach()\n    {step}\n"
    fetched = "    loss_value, size_value = step_values.tolist()\n    return loss_value, size_value, output\n"
    assert stacked + fetched in ported.text
    assert not ported.findings


@pytest.mark.parametrize("step", ["if turn % 4 == 3:\n        update()", "update()"])
@pytest.mark.parametrize(
    "returned",
    [
        "loss.item(), size, output",  # one is the price of knowing anything
        "loss.item(), size.item() if turn % 10 == 0 else 0",
        "loss.item(), model.weight.sum().item()",  # which the update changes: a graph of its own, as TPU101 says
    ],
)
def test_what_cannot_be_stacked_in_front_of_the_update_is_left(step: str, returned: str) -> None:
    text = SETUP + GATED.format(step=step, returned=returned)
    ported = port(text, select=("TPU106",))
    assert ported.text == text
    assert not ported.findings


def test_values_of_which_one_changes_behind_the_boundary_are_told() -> None:
    returned = "loss.item(), size.item()"
    text = SETUP + GATED.format(step="update()\n    size.mul_(2)", returned=returned)
    ported = port(text, select=("TPU106",))
    assert ported.text == text
    assert [finding.code for finding in ported.findings] == ["TPU106", "TPU106"]


def test_a_sum_divided_by_a_size_is_one_number() -> None:
    """Whatever the tensor is whose size it is: ``(output.argmax(1) == y).sum() / y.shape[0]``."""
    loop = """
class Criterion(torch.nn.Module):
    def forward(self, output, y):
        hits = (y == output.argmax(1)).sum().float()
        return F.cross_entropy(output, y), hits / {}


criterion = Criterion()
for x, y in loader:
    loss, accuracy = criterion(model(x.to(device)), y.to(device))
    loss.backward()
    optimizer.step()
    torch_xla.sync()
    print(loss.item(), accuracy)
"""
    for size in ("y.shape[0]", "y.size(0)"):
        ported = port(SETUP + loop.format(size), select=("TPU106",))
        assert "    print(loss_value, accuracy_value)\n" in ported.text
    text = SETUP + loop.format("output[:, 0]")  # of which it is one for each sample
    assert port(text, select=("TPU106",)).text == text


METERS = """\
    import torch


    class Meters:
        def __init__(self, meters):
            self.meters = meters

        def update(self, {takes}):
            for name, value in values.items():
                {read}
                self.meters[name].update(value)
    """
READ = "if isinstance(value, torch.Tensor):\n                    value = value.item()  # TPU106"
TRAINS = """
    from meters import Meters

    metrics = Meters(meters)
    for x, y in loader:
        optimizer.zero_grad()
        losses = {{"all": F.mse_loss(model(x.to(device)), y.to(device)), "other": model.weight.pow(2).mean()}}
        losses["all"].backward()
        optimizer.step()
        torch_xla.sync()
        metrics.update({})
    """


@pytest.mark.parametrize(
    ("given", "takes", "is_told"),
    [
        ("**losses", "**values", True),
        ('all=losses["all"], other=losses["other"]', "**values", True),
        ("losses", "values", True),
        ('all=losses["all"]', "**values", False),  # one is the price of knowing anything
        ('all=losses["all"].item(), rate=0.1', "**values", False),
    ],
)
def test_what_meters_of_another_file_are_given_is_fetched_one_by_one(
    tmp_path: Path, given: str, takes: str, is_told: bool
) -> None:
    read = READ if is_told else READ.replace("  # TPU106", "")
    agree(
        tmp_path,
        "TPU106",
        meters=METERS.format(takes=takes, read=read),
        main="    import torch_xla\n" + MARKED_SETUP + TRAINS.format(given),
    )


@pytest.mark.parametrize(
    "read",
    [
        "value = value if step % 10 else value.item()",
        "if self.shows(name):\n                    value = value.item()",
        "value = value.detach()",
    ],
)
def test_what_meters_read_now_and_then_is_left(tmp_path: Path, read: str) -> None:
    agree(
        tmp_path,
        "TPU106",
        meters=METERS.format(takes="**values", read=read),
        main="    import torch_xla\n" + MARKED_SETUP + TRAINS.format("**losses"),
    )


def test_a_value_that_is_fetched_beside_others_is_told_as_that(tmp_path: Path) -> None:
    """What a branch binds anew behind the place of the others cannot be fetched there."""
    program = """
    kept = []
    for turn, (x, y) in enumerate(loader):
        output = model(x.to(device))
        loss, hits = F.mse_loss(output, y.to(device)), (output > 0).sum()
        size = output.pow(2).mean()
        loss.backward()
        if turn % 3 == 2:
            optimizer.step()
            optimizer.zero_grad()
            hits = hits + 1
        kept.append((loss.item(), hits.item(), size.item()))
    """
    (tmp_path / "main.py").write_text(dedent(MARKED_SETUP) + dedent(program))
    answer = tpulint("--fix", "--unsafe-fixes", "--output-format=concise", "main.py", cwd=tmp_path)
    assert "`hits` is fetched by itself in every step, beside others that are fetched together" in answer.out


@pytest.mark.parametrize(("condition", "together"), [("turn % 10 == 0", True), ("not args.plain", False)])
def test_elements_of_what_a_call_returns_may_be_missing(condition: str, together: bool) -> None:
    """An option may have the model return None in their place."""
    text = SETUP + dedent(
        f"""
        for turn, (x, y) in enumerate(loader):
            (output, parts), _ = model(x.to(device))
            F.cross_entropy(output, y.to(device)).backward()
            optimizer.step()
            torch_xla.sync()
            if {condition}:
                print(parts[0].mean().item(), parts[-1].mean().item())
        """
    )
    assert ("torch.stack((parts[0].mean(), parts[-1].mean()))" in port(text).text) is together


@pytest.mark.parametrize(("condition", "together"), [("turn % 10 == 0", True), ("args.both", False)])
@pytest.mark.parametrize("made", ["model(x.to(device), args.both)", "wrapped(x.to(device))"])
def test_keys_of_what_a_model_gives_may_be_missing(condition: str, together: bool, made: str) -> None:
    """`out["aux"]` is in the dict only where an option asks for it: the port raised KeyError."""
    text = SETUP + dedent(
        f"""
        wrapped = torch.nn.DataParallel(model)
        for turn, (x, y) in enumerate(loader):
            out = {made}
            loss = out["loss"].mean()
            loss.backward()
            optimizer.step()
            torch_xla.sync()
            if {condition}:
                print(out["main"].mean().item(), out["aux"].mean().item())
        """
    )
    assert ("step_values" in port(text).text) is together


NESTED = """
for turn, (x, y) in enumerate(loader):
    output = model(x.to(device))
    loss, size = F.cross_entropy(output, y.to(device)), output.pow(2).mean()
    (loss + size).backward()
    optimizer.step()
    torch_xla.sync()
    if turn % 10 == 0:
        FIRST
        if log is not None:
            log.write(INNER)
    OTHER
"""
FETCH = "loss_value, size_value = step_values.tolist()"


@pytest.mark.parametrize(
    ("first", "inner", "other", "count"),
    [
        ("print(loss.item(), size.item())", "loss.item(), size.item()", "pass", 1),
        ("print(loss.item(), size.item())", "size.item()", "pass", 1),
        ("pass", "loss.item(), size.item()", "pass", 1),
        ("print(turn)", "loss.item(), size.item()", "if turn > 9: print(loss.item(), size.item())", 2),
    ],
)
def test_what_a_block_around_fetches_is_not_fetched_again(first: str, inner: str, other: str, count: int) -> None:
    text = NESTED.replace("FIRST", first).replace("INNER", inner).replace("OTHER", other)
    ported = port(SETUP + text, select=("TPU106",)).text
    assert ported.count(FETCH) == count
    assert ported.count("tolist()") == count and ".item()" not in ported
    if "loss" in first:
        assert f"    if turn % 10 == 0:\n        {FETCH}\n        print(loss_value, size_value)\n" in ported


def test_what_two_blocks_fetch_one_in_the_other() -> None:
    """The outer one reads a part of it: that is fetched for both, and the rest by itself."""
    text = NESTED.replace("FIRST", "print(loss.item())").replace("INNER", "loss.item(), size.item()")
    ported = port(SETUP + text.replace("OTHER", "pass"), select=("TPU106",)).text
    assert "        loss_value = loss.item()\n        print(loss_value)\n" in ported
    assert "log.write(loss_value, size.item())" in ported


CHOSEN = """
def step(x, y=None):
    output = model(x.to(device))
    loss, size = output.pow(2).mean(), output.abs().mean()
    loss.backward()
    optimizer.step()
    torch_xla.sync()
    return READS


for turn, (x, y) in enumerate(loader):
    kept = step(x, y)
"""


@pytest.mark.parametrize(
    ("reads", "kept"),
    [
        (
            '{"loss": loss.item(), "size": size.item() if y is not None else 0}',
            '{"loss": loss_value, "size": size_value if y is not None else 0}',
        ),
        ("loss.item(), None if y is None else size.item()", "loss_value, None if y is None else size_value"),
    ],
)
def test_a_number_that_is_left_out_on_a_condition_is_fetched_with_others(reads: str, kept: str) -> None:
    ported = port(SETUP + CHOSEN.replace("READS", reads), select=("TPU106",))
    stacked = "    step_values = torch.stack((loss, size)).detach()\n    torch_xla.sync()\n"
    assert f"{stacked}    loss_value, size_value = step_values.tolist()\n    return {kept}\n" in ported.text
    assert not ported.findings


@pytest.mark.parametrize(
    ("reads", "told"),
    [
        ("loss, size.item() if y is not None else 0", 0),  # one is the price of knowing anything
        ("loss.item() if y is None else size.item()", 0),
        ("loss.item(), size.item() if size is not None else 0", 2),  # stacking None would raise
        ("loss.item() if y is None else 0, size.item() if y is None else 0", 2),  # none, maybe, in any turn
        ("[size.item() if part else 0 for part in parts]", 0),
    ],
)
def test_a_number_that_is_left_out_on_a_condition_is_not_read_for_nothing(reads: str, told: int) -> None:
    text = SETUP + CHOSEN.replace("READS", reads)
    ported = port(text, select=("TPU106",))
    assert ported.text == text
    assert [finding.code for finding in ported.findings] == ["TPU106"] * told


def test_a_number_that_is_left_out_in_most_turns_is_not_fetched_with_others() -> None:
    text = SETUP + CHOSEN.replace("y=None", "turn").replace("step(x, y)", "step(x, turn)")
    text = text.replace("READS", "loss.item(), size.item() if turn % 100 == 0 else 0")
    ported = port(text, select=("TPU106",))
    assert (ported.text, ported.findings) == (text, ())


@pytest.mark.parametrize(
    ("penalty", "is_tensor"),
    [
        ("penalty = 0.0\n    if scale:\n        penalty = x.square().mean()", False),
        ("penalty = x.square().mean() if scale else None", False),
        ("penalty = 0.0\n    for part in x:\n        penalty += part.square().mean()", True),
        ("penalty = x.square().mean() if scale else x.mean()", True),
    ],
)
def test_what_a_function_may_return_as_a_number_is_not_stacked(penalty: str, is_tensor: bool) -> None:
    """``torch.stack((loss, 0.0))`` raises."""
    function = f"def losses(x, scale):\n    {penalty}\n    return x.mean(), penalty\n\n\n"
    body = """
        for x, y in loader:
            first, penalty = losses(model(x.to(device)), args.scale)
            loss = first + penalty
            loss.backward()
            optimizer.step()
            torch_xla.sync()
            print(float(first), float(loss), float(penalty))
        """
    stack = "torch.stack((first, loss, penalty))" if is_tensor else "torch.stack((first, loss))"
    assert stack in port(SETUP + function + dedent(body)).text
