"""A plain check is read without click, and means what it means to click."""

from __future__ import annotations

from typing import Any

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tpulint import check_arguments
from tpulint.check_options import OPTIONS, Option
from tpulint.commands import tpulint


def by_click(words: list[str]) -> tuple[tuple[str, ...], dict[str, Any]] | None:
    """Paths and options as click reads them; None for what it refuses, or takes for another command."""
    try:
        with tpulint.make_context("tpulint", list(words)) as context:
            name, command, rest = tpulint.resolve_command(context, [*context._protected_args, *context.args])
            if name != "check" or command is None:
                return None
            with command.make_context("check", rest, parent=context) as of_check:
                options = dict(of_check.params)
                return options.pop("paths"), options
    except (click.ClickException, click.exceptions.Exit):
        return None


def values(option: Option) -> st.SearchStrategy[str]:
    right = st.sampled_from(option.choices) if option.choices else st.sampled_from(["4", "a,b", "x=y", "src/a.py"])
    return right | st.sampled_from(["", "-", "-1", "--fix", "wrong", "a b"])


def written(option: Option) -> st.SearchStrategy[list[str]]:
    """An option as somebody may type it, rightly or wrongly."""
    forms = st.sampled_from([part for form in option.forms for part in form.split("/")])
    alone = forms.map(lambda form: [form])
    joined = st.tuples(forms, values(option)).map(lambda pair: ["=".join(pair)])
    glued = st.tuples(forms, values(option)).map(lambda pair: ["".join(pair)])
    apart = st.tuples(forms, values(option)).map(list)
    return apart | alone if option.is_flag or option.is_pair else apart | joined | alone | glued


WORDS = st.sampled_from(
    [
        "check",
        "rule",
        "rules",
        "version",
        ".",
        "src",
        "a.py",
        "src/a.py",
        "-",
        "--",
        "-h",
        "--help",
        "-V",
        "-qs",
        "--sel",
    ]
)
LINES = st.lists(WORDS.map(lambda word: [word]) | st.sampled_from(OPTIONS).flatmap(written), max_size=5)


@given(LINES)
def test_what_is_read_is_what_click_reads(parts: list[list[str]]) -> None:
    words = [word for part in parts for word in part]
    found = check_arguments.read(words)
    if found is not None:
        assert found == by_click(words)


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["."],
        ["train.py"],
        ["check"],
        ["check", "src"],
        ["--fix", "--unsafe-fixes", "src"],
        ["check", "--no-cache", "--jobs", "1", "--output-format", "concise", "a.py", "b.py"],
        ["check", "--output-format=json", "-o", "out.json", "--select", "TPU1", "--select=TPU2,TPU3", "-q"],
        ["-", "--stdin-filename", "a.py"],
    ],
    ids=" ".join,
)
def test_plain_ones_need_no_click(words: list[str]) -> None:
    found = check_arguments.read(words)
    assert found is not None and found == by_click(words)


@pytest.mark.parametrize(
    "words",
    [
        ["src"],
        ["rule", "TPU001"],
        ["--help"],
        ["check", "-h"],
        ["check", "--selct", "X"],
        ["check", "--output-format", "xml"],
        ["check", "--jobs", "many"],
        ["check", "--select"],
        ["check", "--fix=yes"],
        ["check", "--", "-a.py"],
        ["check", "-qs"],
        ["check", "-j=4"],
    ],
    ids=" ".join,
)
def test_the_others_are_left_to_click(words: list[str]) -> None:
    assert check_arguments.read(words) is None


def test_variables_of_the_environment_are_left_to_click(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TPULINT_OUTPUT_FORMAT", "json")
    assert check_arguments.read(["check", "."]) is None
