"""The files around a training script: shell scripts, Dockerfiles, lists of packages, configurations."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

from tpulint.languages import COMPOSE, CONDA, CONFIGURATION, DOCKERFILE, REQUIREMENTS, SHELL, language_of
from tpulint.model import Span
from tpulint.source import SourceFile
from tpulint.text_files import configuration, dockerfile, requirements, shell, yaml_lines
from tpulint.text_files.requirements import Installs, PackageIndex, Requirement
from tpulint.text_files.words import Command, Setting, invoked, module_run, python_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic.project.other_files import Library

__all__ = [
    "ONE_CHIP", "Command", "PackageIndex", "Requirement", "Setting", "TextIndex", "invoked", "module_run", "python_at",
]  # fmt: skip

_KNOWS_TPU = re.compile(
    r"(?i)torch[_-]xla|\bPJRT|\bXLA_|\bxla\b|libtpu|(?!(?<=--)tpu(?![\w-]))(?:\b|_)tpus?(?:\b|_|-)|TPU_"
)
"""An option ``--tpu`` alone says nothing of the other lines: a fix may have written it."""
ONE_CHIP = "TPU_VISIBLE_CHIPS={} TPU_PROCESS_BOUNDS=1,1,1 TPU_CHIPS_PER_PROCESS_BOUNDS=1,1,1"
"""Settings by which a process takes one chip."""
_ONE_CHIP = re.compile(ONE_CHIP.format(r"\S*"))
_FOR_GPUS = re.compile(r"(?i)(?:^|[^a-z])(?:multi)?(?:gpus?|cuda|nvidia|rocm|amd|xpu|npu)(?:[^a-z]|$)")
_FOLDER_FOR_GPUS = re.compile(r"(?i)(?:^|[^a-z])(?:multi)?(?:gpus?|cuda|rocm)(?:[^a-z]|$)")
_TORCH = re.compile(r"(?i)\bpytorch|(?:\b|_)torch(?:\b|_|run)")
_OTHER_LIBRARY = re.compile(r"(?i)tensorflow|mxnet|paddle|\bjax\b|\bkeras")
_EXPORTS = ("export", "declare", "typeset", "local", "readonly")
_PRINTERS = ("echo", "printf", "grep", "sed", "awk", "pgrep", "pkill", "logger", "die")
_QUOTED_COMMAND = re.compile(
    r"(?:[A-Za-z_]\w*=)?(?P<quote>[\"'])(?=\s*(?:\w+=\S*\s+|\\\r?\n)*(?:(?:sudo|nohup|srun|uv run|poetry run)\s+)*"
    r"(?:torchrun|deepspeed|horovodrun|accelerate\s+launch|python[23]?\s+-m\s+torch\.distributed|python[23]?\s+\S+\.py)\s)"
)
_OF_TESTS = re.compile(r"(?:^|/)(?:tests?|testdata|fixtures)/")
_ASSIGNED = re.compile(r"(?P<name>[A-Za-z_]\w*)\+?=")


class TextIndex:
    """Everything known about one file that is not Python. Each part is made when first asked for."""

    def __init__(self, source: SourceFile, library: Library | None = None) -> None:
        self.source = source
        self._library = library
        self.language = language_of(source.path, source.text)

    def release(self) -> None:
        """Let go of everything."""
        self.__dict__.clear()

    # ---------------------------------------------------------------- what the file says

    @cached_property
    def script(self) -> shell.Script:
        """The file as a shell script; an empty one for other files."""
        return shell.read(self.source.text) if self.language == SHELL else shell.Script((), (), ())

    @cached_property
    def dockerfile(self) -> dockerfile.Dockerfile:
        """The file as a Dockerfile; an empty one for other files."""
        return dockerfile.read(self.source.text if self.language == DOCKERFILE else "")

    @cached_property
    def yaml_lines(self) -> tuple[yaml_lines.YamlLine, ...]:
        """The lines of a conda environment or a compose file."""
        return tuple(yaml_lines.read(self.source.text)) if self.language in (CONDA, COMPOSE) else ()

    @cached_property
    def tables(self) -> tuple[configuration.Table, ...]:
        """The tables of a configuration; none of other files."""
        return configuration.read(self.source.text) if self.language == CONFIGURATION else ()

    @cached_property
    def commands(self) -> tuple[Command, ...]:
        """The simple commands of a shell script or a Dockerfile, those kept in texts to be run later included."""
        plain = self.script.commands or self.dockerfile.commands
        kept = [inner for command in plain for inner in self._kept_in(command)]
        return tuple(sorted([*plain, *kept], key=lambda command: command.span)) if kept else plain

    def _kept_in(self, command: Command) -> Iterator[Command]:
        """Commands in quotes, such as ``LAUNCHER="torchrun train.py"`` and ``ssh host "python train.py"``."""
        if command.program in _PRINTERS:
            return
        for word in (*command.assignments, *command.words[1:]):
            quoted = _QUOTED_COMMAND.match(self.source.text, *word.span)
            if quoted is not None:
                script = shell.read(self.source.text, quoted.end("quote"), word.span.end - 1)
                for one in script.commands:
                    yield one._replace(depth=command.depth + 1, alone=False, tested=True)

    @cached_property
    def settings(self) -> tuple[Setting, ...]:
        """Environment variables that get a value."""
        found = [setting for command in self.commands for setting in _settings_of(command)]
        if self.language == COMPOSE:
            found.extend(self._composed())
        return tuple(sorted([*found, *self.dockerfile.settings], key=lambda setting: setting.span))

    def _composed(self) -> Iterator[Setting]:
        for line in self.yaml_lines:
            if line.key == "environment" and "environment" not in line.path:
                for name, value, span, value_span in yaml_lines.read_flow(line):
                    # Alone in a command of its own: nothing of it can be taken out by lines.
                    yield Setting(
                        name, value, span, value_span, Command((), (), span, depth=1), False, "$" not in value
                    )
            if "environment" not in line.path:
                continue
            command = Command((), (), line.span, depth=1)
            if line.key and line.value:
                yield Setting(line.key, line.value, line.span, line.value_span, command, False, "$" not in line.value)
            elif not line.key and (match := _ASSIGNED.match(line.value)):
                value = line.value[match.end() :]
                span = Span(line.value_span.start + match.end(), line.value_span.end)
                yield Setting(match["name"], value, line.value_span, span, command, False, "$" not in value)

    @cached_property
    def installs(self) -> Installs:
        """What is installed by the file, or by those who are handed it."""
        text = self.source.text
        if self.language == REQUIREMENTS:
            return requirements.read(text)
        if self.language != CONDA:
            return requirements.of_commands(text, self.commands)
        found: list[Requirement] = []
        indexes: list[PackageIndex] = []
        for line in self.yaml_lines:
            if line.key or line.path[:1] != ("dependencies",):
                continue
            if line.path[-1] == "pip":  # what stands there is a file of requirements
                by_pip = requirements.read(text, *line.value_span)
                found += by_pip.requirements
                indexes += by_pip.indexes
            elif (one := requirements.read_conda(text, *line.value_span)) is not None:
                found.append(one)
        return Installs(tuple(found), tuple(indexes))

    @cached_property
    def is_locked(self) -> bool:
        """Whether a tool wrote the list of packages."""
        return requirements.is_locked(self.source.text)

    # ---------------------------------------------------------------- what the file is for

    @cached_property
    def code(self) -> str:
        """The text without its comments."""
        parts, at, text = [], 0, self.source.text
        for comment in self.comments:
            parts.append(text[at : comment.start])
            at = comment.end
        return "".join([*parts, text[at:]])

    @cached_property
    def knows_tpus(self) -> bool:
        """Whether the file speaks of TPUs or of torch_xla: it serves them already.

        The choice of one chip for one run says nothing of the other lines, either.
        """
        return _KNOWS_TPU.search(_ONE_CHIP.sub("", self.code)) is not None

    @cached_property
    def is_variant_for_gpus(self) -> bool:
        """Whether the name of a file of packages or an image says that it is the one for GPUs, among others."""
        if self.language == SHELL:
            return False
        folder, _, name = self.source.path.replace("\\", "/").rpartition("/")
        return bool(_FOR_GPUS.search(name) or _FOLDER_FOR_GPUS.search(folder.rpartition("/")[2]))

    @cached_property
    def concerns_torch(self) -> bool:
        """Whether the file itself speaks of torch."""
        return _TORCH.search(self.code) is not None

    @cached_property
    def may_train_with_torch(self) -> bool:
        """Whether the file speaks of torch, or runs Python programs and speaks of no other library of this kind."""
        if self.concerns_torch:
            return True
        return _OTHER_LIBRARY.search(self.code) is None and any(python_at(one) is not None for one in self.commands)

    def is_used(self, key: str) -> bool:
        """Whether programs beside a configuration read what its key says; taken for true of a text without a place."""
        if _OF_TESTS.search(self.source.path.replace("\\", "/")):
            return False
        return self._library is None or self._library.uses(self.source.path, key)

    @cached_property
    def comments(self) -> tuple[Span, ...]:
        """Where the comments stand."""
        return tuple(comment_spans(self.source))

    def cuda_only_spans(self) -> list[Span]:
        """Branches that some kind of hardware decides, and stages for GPUs: what stands there is right."""
        return [*self.script.hardware_branches, *self.dockerfile.gpu_stages]

    # ---------------------------------------------------------------- places

    def statement_rows(self, span: Span) -> tuple[int, int]:
        """First and last row of the command or instruction that holds a span, else of the span itself."""
        row = self.source.row
        holders = [command.span for command in self.script.commands]
        holders.extend(one.span for one in self.dockerfile.instructions)
        for holder in holders:
            if holder.start <= span.start < holder.end:
                return row(holder.start), row(max(holder.start, holder.end - 1))
        return row(span.start), row(max(span.start, span.end - 1))


def comment_spans(source: SourceFile) -> list[Span]:
    """Spans of all comments of a file that is not Python, in order."""
    language = language_of(source.path, source.text)
    if "#" not in source.text:
        return []
    if language == SHELL:
        return list(shell.read(source.text).comments)
    if language == DOCKERFILE:
        return shell.docker_comments(source.text)
    return yaml_lines.comments(source.text)


def _settings_of(command: Command) -> Iterator[Setting]:
    """The variables that a command sets, for itself or for what follows."""
    exported = command.program in _EXPORTS
    env_at = invoked(command, "env")
    by_env = env_at is not None
    words = list(command.assignments)
    is_prefix = [bool(command.words)] * len(words)
    if exported or by_env:
        for word in command.words[(env_at or 0) + 1 :]:
            if _ASSIGNED.match(word.text):
                words.append(word)
                is_prefix.append(by_env)
            elif by_env and not word.text.startswith("-"):
                break
    for word, holds_once in zip(words, is_prefix, strict=True):
        match = _ASSIGNED.match(word.text)
        if match is not None:
            value_span = Span(word.span.start + match.end(), word.span.end)
            yield Setting(
                match["name"], word.text[match.end() :], word.span, value_span, command, holds_once, word.literal
            )
