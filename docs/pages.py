"""Pages of the site that are made from the cards, the command line and the runtime. Run by mkdocs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click
import mkdocs_gen_files

from tpulint.card import CATEGORIES
from tpulint.catalog import Rule, load
from tpulint.commands import tpulint
from tpulint.rule_docs import explain, introduction

ROOT = Path(__file__).resolve().parents[1]
GUIDES = (
    ("Home", "index.md"), ("From your GPU script to a TPU in an hour", "guide.md"), ("Verify", "verify.md"),
    ("Training loops: the runtime", "runtime.md"), ("Notebooks", "notebooks.md"), ("Plan a run", "planning.md"),
    ("CI and old code bases", "ci.md"), ("Editors", "editors.md"), ("Rules of one's own", "plugins.md"),
)  # fmt: skip
EVIDENCE = (
    ("Beside other tools", "comparison.md"), ("Findings against runs", "measured.md"),
    ("False positives, counted by hand", "false_positives.md"), ("Code that is right already", "right_code.md"),
    ("Public scripts, ported and run", "ported_scripts.md"), ("Time and memory", "performance.md"),
)  # fmt: skip


def write(name: str, text: str, source: str) -> None:
    """One page; ``source`` is the file that a reader may edit."""
    with mkdocs_gen_files.open(name, "w") as page:
        page.write(text)
    mkdocs_gen_files.set_edit_path(name, source)


def write_rules(rules: list[Rule]) -> Iterator[str]:
    """A page for each rule, one with all of them; lines of the navigation."""
    yield "* [Rules](rules/index.md)\n"
    about = (
        "Each page says what is found, what it costs on a TPU as measured, what the fix does and whether it is safe, "
        "and how often the rule was right on scripts that were run.\n"
    )
    lines = ["# Rules\n", about]
    for category in dict.fromkeys(rule.category for rule in rules):
        own = [rule for rule in rules if rule.category == category]
        title, intro = introduction(own[0])
        lines += [f"## {title}\n", f"{intro}\n", "| code | finds | severity | fix | status |", "|---|---|---|---|---|"]
        yield f"    * {title}\n"
        for rule in own:
            fix = "" if rule.fix_availability == "none" else rule.applicability.label
            lines.append(
                f"| [{rule.code}]({rule.code}.md) | {rule.summary} | {rule.severity.label} | {fix} | {rule.status} |"
            )
            yield f"        * [{rule.code} {rule.name}]({'rules/' + rule.code}.md)\n"
            write(
                f"rules/{rule.code}.md",
                explain(rule),
                f"rules/tpulint_rules/{category}/{rule.name.replace('-', '_')}.yaml",
            )
        lines.append("")
    write("rules/index.md", "\n".join(lines), "rules/tpulint_rules")


def write_commands() -> Iterator[str]:
    """The help of every command."""
    parts = ["# Command line\n"]
    context = click.Context(tpulint, info_name="tpulint")
    parts.append(f"```text\n{tpulint.get_help(context)}\n```\n")
    for name, command in sorted(tpulint.commands.items()):
        inner = click.Context(command, info_name=f"tpulint {name}", max_content_width=100, terminal_width=100)
        parts.append(f"## tpulint {name}\n\n```text\n{command.get_help(inner)}\n```\n")
    write("reference/commands.md", "\n".join(parts), "tpulint/cli.py")
    yield "    * [Command line](reference/commands.md)\n"


def write_runtime() -> Iterator[str]:
    """What `tpulint_runtime` offers, by the module that defines it."""
    text = (ROOT / "runtime" / "tpulint_runtime" / "__init__.py").read_text(encoding="utf-8")
    parts = [
        "# Runtime\n",
        "What `tpulint_runtime` offers. How it is used is told in [Training loops](../runtime.md).\n",
    ]
    imports = re.findall(r"^from (tpulint_runtime\.\w+) import (\([^)]*\)|.*)", text, re.MULTILINE)
    for module, names in imports:
        parts.append(f"## {module.partition('.')[2].replace('_', ' ')}\n")
        for name in sorted(filter(None, re.split(r"[\s,()]+", names))):
            parts.append(f"::: {module}.{name}\n    options: {{heading_level: 3}}\n")
    write("reference/runtime.md", "\n".join(parts), "runtime/tpulint_runtime/__init__.py")
    yield "    * [Runtime](reference/runtime.md)\n"


def listed(pages: tuple[tuple[str, str], ...], indent: str) -> Iterator[str]:
    """Lines of the navigation for pages that are there."""
    for title, name in pages:
        if (ROOT / "docs" / name).exists():
            yield f"{indent}* [{title}]({name})\n"


def main() -> None:
    """Write all of it."""
    rules = sorted(load().rules, key=lambda rule: (list(CATEGORIES).index(rule.category), rule.code))
    write("changelog.md", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), "CHANGELOG.md")
    lines = [*listed(GUIDES, ""), *write_rules(rules), "* Reference\n", *write_commands(), *write_runtime(),
             "* How good it is\n", *listed(EVIDENCE, "    "), "* [Changelog](changelog.md)\n"]  # fmt: skip
    with mkdocs_gen_files.open("SUMMARY.md", "w") as summary:
        summary.writelines(lines)


main()
