"""Branches for CUDA that need what others give: a name that one of them binds is there wherever another reads it."""

from __future__ import annotations

import ast
from textwrap import dedent, indent

import pytest

from tpulint.catalog import load
from tpulint.config import Settings
from tpulint.linter import lint
from tpulint.source import SourceFile

CATALOGUE = load()
HEAD = """\
import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(8, 3).to(device)
"""
QUESTIONS = ('device.type == "cuda"', "torch.cuda.is_available()")


def port(text: str, portable: bool) -> str:
    settings = Settings(preview=True, fix=True, unsafe_fixes=True, portable=portable)
    result = lint(SourceFile.from_text(HEAD + dedent(text).lstrip("\n")), settings, CATALOGUE)
    assert result.error == ""
    ast.parse(result.text)
    return result.text


def conditions(text: str) -> list[str]:
    """The conditions of a text behind the setup, as they are written."""
    return [ast.unparse(node.test) for node in ast.walk(ast.parse(text)) if isinstance(node, ast.If)]


def pair(first: str, second: str, question: str) -> str:
    return f"if {question}:\n{indent(first, '    ')}\nmodel(x)\nif {question}:\n{indent(second, '    ')}\n"


APART = {
    "events": (
        "start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)\nstart.record()",
        "end.record()\ntorch.cuda.synchronize()\nprint(start.elapsed_time(end))",
    ),
    "stream": ("stream = torch.cuda.Stream()", "stream.synchronize()\ntorch.cuda.synchronize()"),
    "numbers": (
        "total = torch.cuda.get_device_properties(0).total_memory",
        "torch.cuda.synchronize()\nprint(total)",
    ),
}


@pytest.mark.parametrize("portable", [False, True])
@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("case", APART)
def test_what_reads_the_objects_of_cuda_stays_with_them(case: str, question: str, portable: bool) -> None:
    text = port(pair(*APART[case], question), portable)
    asked = conditions(text)
    assert "xla" not in "".join(asked) and "backend" not in "".join(asked)
    assert len(asked) in (0, 2), "both are there, or none"
    assert text.count("torch.cuda.synchronize()") == len(asked) // 2


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_other_answer_stays_as_well(question: str) -> None:
    text = port(
        f"""
        if {question}:
            stream = torch.cuda.Stream()
        if {question}:
            with torch.cuda.stream(stream):
                model(x)
            stream.synchronize()
        else:
            model(x)
        """,
        portable=True,
    )
    assert text.count(f"if {question}:") == 2
    assert "nullcontext" not in text


def test_of_chains_every_link_stays() -> None:
    text = port(
        """
        if torch.cuda.is_available():
            start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            start.record()
        if torch.cuda.is_available():
            end.record()
            torch.cuda.synchronize()
            elapsed = start.elapsed_time(end)
        if torch.cuda.is_available():
            torch.cuda.synchronize()
            print(elapsed)
        """,
        portable=False,
    )
    assert conditions(text) == ["torch.cuda.is_available()"] * 3


def test_attributes_are_bindings() -> None:
    text = port(
        """
        class Timer:
            def __init__(self):
                if torch.cuda.is_available():
                    self.end = torch.cuda.Event()

            def stop(self):
                if torch.cuda.is_available():
                    self.end.record()
                    torch.cuda.synchronize()
        """,
        portable=False,
    )
    assert conditions(text) == ["torch.cuda.is_available()"] * 2


# -------------------------------------------------------------------- needed elsewhere


@pytest.mark.parametrize("portable", [False, True])
@pytest.mark.parametrize("question", QUESTIONS)
def test_events_that_everything_reads_are_clocks(question: str, portable: bool) -> None:
    """The second branch gives what is read behind it: both are taken on a TPU machine, and read the host's clock."""
    text = port(
        pair(
            APART["events"][0],
            "end.record()\ntorch.cuda.synchronize()\nelapsed = start.elapsed_time(end)",
            question,
        )
        + "print(elapsed)\n",
        portable,
    )
    assert "Event" not in text
    assert text.count("perf_counter()") == 2
    assert "elapsed = (end - start) * 1000" in text


def test_a_stream_of_a_branch_that_moves_is_taken_out() -> None:
    text = port(
        """
        if torch.cuda.is_available():
            stream = torch.cuda.Stream()
        if torch.cuda.is_available():
            x = x.cuda(non_blocking=True)
            x.record_stream(stream)
        """,
        portable=False,
    )
    assert "tream" not in text
    assert "x = x.to(device, non_blocking=True)" in text


def test_a_stream_that_contexts_alone_are_given_stays() -> None:
    text = port(
        """
        if torch.cuda.is_available():
            stream = torch.cuda.Stream()
        if torch.cuda.is_available():
            with torch.cuda.stream(stream):
                x = x.cuda()
        """,
        portable=True,
    )
    assert "if torch.cuda.is_available():\n    stream = torch.cuda.Stream()" in text
    assert "with torch.cuda.stream(stream) if torch.cuda.is_available() else contextlib.nullcontext():" in text


# -------------------------------------------------------------------- near misses


def test_a_value_for_every_device_ties_nothing_together() -> None:
    """What seeds and waits is done on a TPU machine too: the number is there either way."""
    text = port(
        """
        if torch.cuda.is_available():
            count = torch.cuda.device_count()
        else:
            count = 1
        if torch.cuda.is_available():
            torch.cuda.synchronize()
            print(count)
        """,
        portable=True,
    )
    assert "if backend.is_available():\n    backend.sync(wait=True)\n    print(count)" in text


def test_branches_without_objects_of_cuda_are_opened_as_before() -> None:
    text = port(
        """
        if torch.cuda.is_available():
            start = time.time()
        if torch.cuda.is_available():
            torch.cuda.synchronize()
            print(time.time() - start)
        """,
        portable=False,
    )
    assert conditions(text) == []


# -------------------------------------------------------------------- flags


PLACED = "model = model.to('cuda' if use_cuda else 'cpu')\n"


@pytest.mark.parametrize("portable", [False, True])
def test_a_flag_that_opens_what_only_cuda_can_tell_asks_for_cuda(portable: bool) -> None:
    text = port(
        "use_cuda = torch.cuda.is_available()\n"
        + PLACED
        + dedent(
            """
            total = torch.cuda.get_device_properties(0).total_memory if use_cuda else 0
            if use_cuda:
                free = torch.cuda.mem_get_info()[0]
            if use_cuda and total:
                torch.cuda.synchronize()
                print(free)
            if use_cuda:
                print("on the device")
            """
        ),
        portable,
    )
    assert "total = torch.cuda.get_device_properties(0).total_memory if torch.cuda.is_available() else 0" in text
    asked = "torch.cuda.is_available()"
    assert conditions(text) == [asked, f"{asked} and total", "use_cuda"]
    assert f"use_cuda = {'backend.is_available()' if portable else 'True'}\n" in text


@pytest.mark.parametrize("portable", [False, True])
def test_a_flag_that_the_user_sets_is_asked_as_well(portable: bool) -> None:
    text = port(
        "use_cuda = not args.cpu and torch.cuda.is_available()\n"
        + PLACED
        + "total = torch.cuda.mem_get_info() if use_cuda else None\n",
        portable,
    )
    assert "total = torch.cuda.mem_get_info() if use_cuda and torch.cuda.is_available() else None" in text


@pytest.mark.parametrize("portable", [False, True])
@pytest.mark.parametrize("opened", ["torch.cuda.synchronize()", "print(torch.cuda.get_device_name(0))", "x = x.cuda()"])
def test_a_flag_that_opens_what_any_device_does_asks_for_nothing_else(opened: str, portable: bool) -> None:
    text = port("use_cuda = torch.cuda.is_available()\n" + PLACED + f"if use_cuda:\n    {opened}\n", portable)
    assert "if torch.cuda.is_available():\n    " not in text.partition("if use_cuda:\n")[0]


@pytest.mark.parametrize("portable", [False, True])
@pytest.mark.parametrize("question", QUESTIONS)
def test_expressions_that_read_the_objects_of_cuda_stay_with_them(question: str, portable: bool) -> None:
    text = port(
        f"""
        if {question}:
            start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            major = torch.cuda.get_device_properties(0).major
        model(x)
        print(start.elapsed_time(end) if {question} else 0)
        half = {question} and major >= 8
        """,
        portable,
    )
    assert f"print(start.elapsed_time(end) if {question} else 0)" in text or "start" not in text
    assert f"half = {question} and major >= 8" in text


@pytest.mark.parametrize("portable", [False, True])
def test_a_flag_is_asked_with_what_only_cuda_gives(portable: bool) -> None:
    text = port(
        "use_cuda = torch.cuda.is_available()\n"
        + PLACED
        + dedent(
            """
            facts = torch.cuda.get_device_properties(0) if use_cuda else None
            half = use_cuda and facts.major >= 8
            name = facts.name if use_cuda else "host"
            """
        ),
        portable,
    )
    assert text.count("torch.cuda.is_available()") == 3
