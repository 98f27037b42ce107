"""Commands about rules: what they say, those of one's own."""

from __future__ import annotations

import os
import sys

import click

from tpulint.command_help import CONTEXT, FORMATS
from tpulint.config import ConfigError, Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.catalog import Catalogue

_SHOWN_IN_FULL = 5
"""More rows than this are listed, one line each."""


@click.command(context_settings=CONTEXT)
@click.argument("code", required=False)
@click.option("--all", "all_rules", is_flag=True, help="Explain every rule.")
@click.option("--output-format", type=FORMATS, default="text", help="How to print.  [default: text]")
def rule(code: str | None, all_rules: bool, output_format: str) -> None:
    """Explain a rule, by its code or name."""
    from tpulint.explanations import rule_data
    from tpulint.rule_docs import explain as explain_rule
    from tpulint.selectors import nearest

    _, catalogue = _project()
    if all_rules == bool(code):
        raise click.UsageError("name one rule, or ask for --all")
    if all_rules:
        chosen = list(catalogue.rules)
    else:
        found = catalogue.get(code or "") or catalogue.get((code or "").upper())
        if found is None:
            known = [word for one in catalogue.rules for word in (one.code, one.name)]
            raise ConfigError(f"unknown rule `{code}`{nearest(code or '', known)}")
        chosen = [found]
    if output_format == "json":
        data = [rule_data(one) for one in chosen]
        _print_json(data if all_rules else data[0])
    else:
        click.echo("\n".join(explain_rule(one) for one in chosen), nl=False)


@click.command(context_settings=CONTEXT)
@click.option("--output-format", type=FORMATS, default="text", help="How to print.  [default: text]")
@click.option(
    "--write", "path", type=click.Path(), metavar="FILE", help="Write the documentation of all rules to a file instead."
)
def rules(output_format: str, path: str | None) -> None:
    """List all rules."""
    from tpulint.explanations import list_rules, rule_data

    _, catalogue = _project()
    if path:
        from tpulint.rule_docs import write

        try:
            write(path, catalogue)
        except OSError as error:
            raise ConfigError(f"cannot write {path}: {error.strerror or error}") from None
    elif output_format == "json":
        _print_json([rule_data(one) for one in catalogue.rules])
    else:
        for line in list_rules(catalogue.rules):
            click.echo(line)


@click.command(context_settings=CONTEXT)
@click.argument("name")
@click.option("--output-format", type=FORMATS, default="text", help="How to print.  [default: text]")
def explain(name: str, output_format: str) -> None:
    """Tell what becomes of an API, and why.

    NAME is a dotted name, such as torch.cuda.synchronize; its last parts will do. A module, such as torch.cuda, stands
    for everything below it.
    """
    from tpulint.explanations import (
        describe_match,
        describe_rule,
        list_matches,
        match_data,
        matches_of,
        rules_about,
        suggestion,
    )

    settings, catalogue = _project()
    matches = matches_of(catalogue, name)
    rules = [] if matches else rules_about(catalogue, name)
    if output_format == "json" and rules:
        _print_json([{"rule": rule.code, "name": rule.name, "why": rule.why} for rule in rules])
    elif rules:
        click.echo("\n\n".join("\n".join(describe_rule(rule)) for rule in rules))
    elif output_format == "json":
        _print_json([match_data(match) for match in matches])
    elif len(matches) > _SHOWN_IN_FULL:
        click.echo("\n".join(list_matches(matches, settings.target)))
    else:
        click.echo(
            "\n\n".join("\n".join(describe_match(match, settings.target)) for match in matches), nl=bool(matches)
        )
    if not matches and not rules:
        rule = catalogue.get(name) or catalogue.get(name.upper())
        if rule is not None:
            raise ConfigError(f"`{name}` is a rule, not a name of an API: `tpulint rule {rule.code}` explains it")
        raise ConfigError(f"no rule has a row for `{name}`{suggestion(catalogue, name)}")


@click.command("new-rule", context_settings=CONTEXT)
@click.argument("name", metavar="CATEGORY/NAME")
@click.option("--python", is_flag=True, help="Also write a Python file for logic that a mapping table cannot express.")
@click.option(
    "--package", type=click.Path(), metavar="FOLDER", default="", help="Folder of a package with rules of your own."
)
@click.option("--code", default="", help="Code of its first rule, such as ACM001; later ones go on from there.")
def new_rule(name: str, python: bool, package: str, code: str) -> None:
    """Start a new rule.

    Writes its card, with the next free code of the category: in a checkout of tpulint, or in a package of your own.
    """
    from tpulint.scaffold import ScaffoldError, create

    if code and not package:
        raise click.UsageError("--code goes with --package; tpulint's own rules are numbered by their category")
    try:
        for path in create(name, python=python, package=package, code=code):
            click.echo(path)
    except ScaffoldError as error:
        raise ConfigError(str(error)) from None
    except OSError as error:
        raise ConfigError(f"cannot write {error.filename}: {error.strerror or error}") from None


@click.command("test-rules", context_settings=CONTEXT)
@click.argument("package")
def test_rules(package: str) -> None:
    """Try the examples of a package of rules.

    What is bad must be found and become what is good, what is ok must be left alone. Exit status 1 when it is not so.
    """
    from tpulint.catalog import CardError
    from tpulint.catalog import load as load_rules
    from tpulint.rule_examples import failures

    package = package.rstrip("/" + os.sep).removeprefix("./").replace("/", ".").replace(os.sep, ".")
    sys.path.insert(0, os.getcwd())
    try:
        catalogue = load_rules(Settings(plugins=(package,)).packages)
    except CardError as error:
        raise ConfigError(f"bad rule: {error}") from None
    except (ImportError, TypeError, ValueError) as error:
        raise ConfigError(f"{package!r} is no package that can be imported: {error}") from None
    if not catalogue.holds(package):
        raise ConfigError(f"there are no rules in {package!r}")
    own = [rule for rule in catalogue.rules if rule.place.package == package and rule.status != "removed"]
    failed = 0
    for rule in own:
        for failure in failures(rule, catalogue):
            failed += 1
            click.echo(f"{rule.code} {rule.name}: {failure}")
    click.echo(f"{len(own)} rule{'s' * (len(own) != 1)} tried, {failed} failure{'s' * (failed != 1)}.")
    click.get_current_context().exit(1 if failed else 0)


COMMANDS: tuple[click.Command, ...] = (rule, rules, explain, new_rule, test_rules)


def _project() -> tuple[Settings, Catalogue]:
    """Settings and rules of the project in the working directory, its plugins included."""
    from tpulint.check_command import load_catalogue
    from tpulint.config_file import load

    configuration = load()
    return configuration.settings, load_catalogue(configuration)


def _print_json(data: object) -> None:
    from tpulint.json_output import serialize

    click.echo(serialize(data))
