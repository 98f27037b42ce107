"""An optimizer around another, and what the repository would say of itself."""

import subprocess

import modules

modules.put("torchlars", LARS=lambda optimizer, **_: optimizer)
_before = subprocess.check_output
subprocess.check_output = lambda command, *given, **named: (
    b"made\n" if command[0] == "git" else _before(command, *given, **named)
)
