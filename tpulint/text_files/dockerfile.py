"""Dockerfiles: instructions, the stages they belong to, and the commands and settings in them."""

from __future__ import annotations

import re

from tpulint.model import Span
from tpulint.records import NamedTuple
from tpulint.text_files import shell
from tpulint.text_files.words import Command, Setting, Word

_INSTRUCTION = re.compile(
    r"[ \t]*(?P<name>[A-Za-z]+)(?P<gap>[ \t]+|[ \t]*(?=\\[ \t]*\r?\n))"
    r"(?P<rest>(?:\\[ \t]*(?:\r?\n)(?:[ \t]*(?:#[^\r\n]*)?\r?\n)*|[^\r\n])*)"
)
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)?")
_HEREDOC = re.compile(r"<<-?\s*(['\"]?)(\w+)\1")
_SHEBANG = re.compile(r"\s*#![^\r\n]*")
_OF_SHELL = re.compile(r"\b(?:ba|da|z|k)?sh\b")
_DIRECTIVES = re.compile(r"(?:[ \t]*#[ \t]*\w+[ \t]*=[^\r\n]*(?:\r?\n))+")
_BACKTICK = re.compile(r"(?mi)^[ \t]*#[ \t]*escape[ \t]*=[ \t]*`[ \t]*\r?$")
_CONTINUED = re.compile(r"`(?=[ \t]*\r?\n)")
_FLAGS = re.compile(r"(?:\s|\\\r?\n)*(?:--\w[\w-]*(?:=\S*)?(?:\s|\\\r?\n)+)*")
_JSON_WORD = re.compile(r'"((?:\\.|[^"\\])*)"')
_OLD_ENV = re.compile(r"([A-Za-z_]\w*)[ \t]+(.+)", re.DOTALL)
_PAIR = re.compile(r"[A-Za-z_]\w*=")
_VARIABLE = re.compile(r"\$\{?(\w+)(?::-([^}]*))?\}?")
_FOR_GPUS = re.compile(r"(?i)gpu|cuda|nvidia|rocm")


class Instruction(NamedTuple):
    """One instruction with its continuation lines."""

    name: str
    """In capitals."""
    span: Span
    rest: Span
    """What stands behind the name."""
    documents: tuple[Span, ...] = ()
    """Its here-documents."""


class Image(NamedTuple):
    """What a stage stands on."""

    name: str
    """With the defaults of ``ARG`` put in."""
    span: Span
    instruction: Instruction


class Dockerfile(NamedTuple):
    """What a Dockerfile says."""

    instructions: tuple[Instruction, ...]
    commands: tuple[Command, ...]
    settings: tuple[Setting, ...]
    images: tuple[Image, ...]
    gpu_stages: tuple[Span, ...]
    """Stages whose name says that they are for GPUs, in a file that has others."""


def read(text: str) -> Dockerfile:
    """Read a Dockerfile. Whatever the text holds, there is a result."""
    directives = _DIRECTIVES.match(text)
    if directives is not None and _BACKTICK.search(directives.group()):
        # Read as if it were written with backslashes: what they stand for there is a plain character.
        text = _CONTINUED.sub("\\\\", text.replace("\\", "/"))
    instructions = list(_instructions(text))
    commands: list[Command] = []
    settings: list[Setting] = []
    defaults: dict[str, str] = {}
    images: list[Image] = []
    stages: list[tuple[int, str]] = []
    for one in instructions:
        if one.name in ("RUN", "CMD", "ENTRYPOINT"):
            commands.extend(_commands(text, one))
        elif one.name == "ENV":
            settings.extend(_settings(text, one))
        elif one.name == "ARG":
            for word in _words(text, one):
                name, _, value = word.text.partition("=")
                defaults.setdefault(name, value)
        elif one.name == "FROM":
            words = [word for word in _words(text, one) if not word.text.startswith("--")]
            if words:
                images.append(Image(_filled(words[0].text, defaults), words[0].span, one))
                named = len(words) > 2 and words[1].text.lower() == "as"
                stages.append((one.span.start, words[2].text if named else ""))
    ends = [*(start for start, _ in stages[1:]), len(text)][: len(stages)]
    spans = [(Span(start, end), name) for (start, name), end in zip(stages, ends, strict=True)]
    gpu = tuple(span for span, name in spans if _FOR_GPUS.search(name))
    return Dockerfile(
        tuple(instructions), tuple(commands), tuple(settings), tuple(images), gpu if len(gpu) < len(spans) else ()
    )


def _instructions(text: str) -> list[Instruction]:
    found: list[Instruction] = []
    at = 0
    while at < len(text):
        match = _INSTRUCTION.match(text, at)
        if match is None or text[at : match.start("name")].strip():
            at = _line_end(text, at)
            continue
        end = match.end()
        rest = Span(match.start("rest"), match.start("rest") + len(match["rest"].rstrip()))
        span = Span(match.start("name"), max(rest.end, match.end("name")))
        found.append(Instruction(match["name"].upper(), span, rest))
        at = _line_end(text, end)
        if match["name"].upper() in ("RUN", "COPY", "ADD"):
            documents = []
            for _, delimiter in _HEREDOC.findall(match["rest"]):
                body = at
                while at < len(text):
                    line_end = _line_end(text, at)
                    line_start, line, at = at, text[at:line_end].strip(), line_end
                    if line == delimiter:
                        documents.append(Span(body, line_start))
                        break
            found[-1] = found[-1]._replace(documents=tuple(documents))
    return found


def _line_end(text: str, at: int) -> int:
    match = _LINE.match(text, at)
    return max(match.end() if match else len(text), at + 1)


def _words(text: str, instruction: Instruction) -> list[Word]:
    script = shell.read(text, *instruction.rest, in_dockerfile=True)
    return [word for command in script.commands for word in (*command.assignments, *command.words)]


def _commands(text: str, instruction: Instruction) -> list[Command]:
    start, end = instruction.rest
    flags = _FLAGS.match(text, start, end)
    start = flags.end() if flags else start
    if text.startswith("[", start):
        words = [Word(_unescaped(match[1]), Span(*match.span())) for match in _JSON_WORD.finditer(text, start, end)]
        if words and words[0].text.rpartition("/")[2] in ("sh", "bash") and len(words) == 3 and "c" in words[1].text:
            inner = words[2].span
            return [one._replace(alone=False) for one in shell.read(text, inner.start + 1, inner.end - 1).commands]
        return [Command(tuple(words), (), Span(start, end), alone=False)]
    commands = list(shell.read(text, start, end, in_dockerfile=True).commands)
    if len(instruction.documents) == 1 and (not commands or shell.is_fed_commands(commands[-1])):
        body = instruction.documents[0]
        interpreter = _SHEBANG.match(text, *body)
        if interpreter is None or _OF_SHELL.search(interpreter.group()):
            fed = shell.read(text, *body).commands
            commands += [command._replace(depth=command.depth + 1, tested=True) for command in fed]
    return [command._replace(alone=False) for command in commands]


def _unescaped(text: str) -> str:
    return text.replace('\\"', '"').replace("\\\\", "\\")


def _settings(text: str, instruction: Instruction) -> list[Setting]:
    start, end = instruction.rest
    command = Command((), (), instruction.span)
    if not _PAIR.match(text, start):
        match = _OLD_ENV.match(text, start, end)
        if match is None:
            return []
        value = match[2].strip()
        return [Setting(match[1], value, Span(start, end), Span(*match.span(2)), command, False, "$" not in value)]
    found = []
    for word in _words(text, instruction):
        name, equals, value = word.text.partition("=")
        if equals:
            value_span = Span(word.span.start + len(name) + 1, word.span.end)
            found.append(Setting(name, value, word.span, value_span, command, False, word.literal))
    return found


def _filled(name: str, defaults: dict[str, str]) -> str:
    def fill(match: re.Match[str]) -> str:
        return defaults.get(match[1]) or match[2] or match[0]

    return _VARIABLE.sub(fill, _VARIABLE.sub(fill, name))
