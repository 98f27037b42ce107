"""What the programs of a project do with its configuration files."""

from __future__ import annotations

import re

from tpulint.library import Stamp
from tpulint.project_texts import texts_below
from tpulint.records import NamedTuple

_READS = re.compile(
    rb"\byaml\.(?:\w+_)?load(?:_all)?\(|\bYAML\(|\bOmegaConf\.load\(|\bhydra\.main\(|\bLightningCLI\(|"
    rb"\bmerge_from_file\(|\bparse_yaml(?:_file)?\("
)
_SETTINGS = rb"(?:\b|_)(?:args?|cfg|conf|config|flags|hparams|hps|options?|opts?|params|settings)"
_WANTED = {
    "device": re.compile(
        rb"\[[\"']device[\"']\]|\.(?:get|pop)\([\"']device[\"']|" + _SETTINGS + rb"\.device\b|"
        rb"\btorch\.device\(\w+(?:\.\w+)*\.device\)|\binstantiate\("
    ),
    "device.type": re.compile(_SETTINGS + rb"\.device\.type\b|\[[\"']device[\"']\]\[[\"']type[\"']\]"),
    "accelerator": re.compile(rb"(?:\b|_)lightning\b"),
}
"""What is done with a key, in a file that speaks of torch or of Lightning."""
_OF_TORCH = (b"torch", b"lightning")


class Uses(NamedTuple):
    """Whether programs of a project read configurations and use a key of them."""

    found: bool
    seen: dict[str, Stamp]
    """The files and folders that say so, as they were."""


def uses_below(top: str, key: str) -> Uses:
    """Look through the Python files below a folder until it is known that a key is used."""
    reader = user = ""
    seen: dict[str, Stamp] = {}
    for path, data in texts_below(top, seen):
        if not reader and _READS.search(data):
            reader = path
        if not user and any(word in data for word in _OF_TORCH) and _WANTED[key].search(data):
            user = path
        if reader and user:
            return Uses(True, {path: seen[path] for path in (reader, user)})
    return Uses(False, seen)
