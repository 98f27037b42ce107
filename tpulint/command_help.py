"""What commands share: help that groups the options by what they are for, and how it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from tpulint.check_options import Option

CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 120}
"""What every command is made with."""
FORMATS = click.Choice(["text", "json"])
_LONGEST_SECONDS = 1e7
_Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


class Seconds(click.FloatRange):
    """A time limit: more than nothing, and less than for ever, which no clock of the system takes."""

    def __init__(self) -> None:
        super().__init__(min=0, max=_LONGEST_SECONDS, min_open=True)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Raises ``BadParameter`` for what is no number, too: it is neither above nor below a limit."""
        number = super().convert(value, param, ctx)
        if number != number:
            self.fail(f"{value!r} is no number of seconds.", param, ctx)
        return number


class SectionedOption(click.Option):
    """An option that knows under which heading of the help it stands."""

    def __init__(self, *args: Any, section: str = "Options", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.section = section


class SectionedCommand(click.Command):
    """A command with its options under headings, in the order of their first use; ``--help`` stands last."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write one section per heading."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if isinstance(parameter, click.Option) and record is not None:
                sections.setdefault(getattr(parameter, "section", "Miscellaneous"), []).append(record)
        for heading, records in sections.items():
            with formatter.section(heading):
                formatter.write_dl(records, col_max=34)


def section(heading: str) -> Callable[..., _Decorator]:
    """``click.option`` for options under one heading."""

    def option(*names: str, **settings: Any) -> _Decorator:
        return click.option(*names, cls=SectionedOption, section=heading, **settings)

    return option


def add_all(options: Sequence[Option]) -> _Decorator:
    """Give a function all of these options."""

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = _clicked(option)(command)
        return command

    return add


def _clicked(option: Option) -> _Decorator:
    settings: dict[str, Any] = {
        name: value for name in ("is_flag", "multiple", "metavar", "envvar", "show_envvar")
        if (value := getattr(option, name))
    }  # fmt: skip
    if option.is_pair or option.default is not None:
        settings["default"] = option.default
    kinds = {"path": click.Path(), "number": click.INT, "text": None}
    settings["type"] = click.Choice(option.choices) if option.choices else kinds[option.takes]
    return section(option.section)(*option.forms, help=option.help, **settings)
