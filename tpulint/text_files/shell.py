"""Shell: commands with their words and spans, comments, and branches that a kind of hardware decides."""

from __future__ import annotations

import re

from tpulint.model import Span
from tpulint.records import NamedTuple
from tpulint.text_files.shell_words import Scanner, Token
from tpulint.text_files.words import Command, Word, invoked

_DOCKER_COMMENT = re.compile(r"^[ \t]*(#[^\r\n]*)", re.MULTILINE)
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
_COMMENT_LINES = re.compile(r"^[ \t]*#.*", re.MULTILINE)
"""Between the patterns of a ``case``; what they say decides nothing."""
_HARDWARE = re.compile(r"(?i)nvidia|cuda|gpu|tpu|xla|pjrt|rocm|accelerator|device|hardware|platform|backend|cpu")
_OPENING = {"if": "fi", "while": "done", "until": "done", "for": "done", "select": "done", "case": "esac", "{": "}"}
_IN_BETWEEN = ("then", "do", "else", "elif", "!")
_SHELLS = ("bash", "sh", "dash", "zsh", "ksh")
_SCRIPTS = (".sh", ".bash", ".slurm", ".sbatch")
_DEEPEST = 3


class Script(NamedTuple):
    """What a shell script says."""

    commands: tuple[Command, ...]
    comments: tuple[Span, ...]
    hardware_branches: tuple[Span, ...]
    """Blocks whose condition, pattern or name speaks of a kind of hardware."""


def read(
    text: str, start: int = 0, end: int | None = None, *, in_dockerfile: bool = False, depth: int = _DEEPEST
) -> Script:
    """Read a script, or the stretch of a Dockerfile that is one. Whatever the text holds, there is a result.

    ``depth`` is how far here-documents for a shell are followed into each other.
    """
    scanner = Scanner(text, start, len(text) if end is None else end, in_dockerfile)
    scanner.run()
    parser = _Parser(text, scanner.tokens)
    parser.run()
    script = Script(tuple(parser.commands), tuple(scanner.comments), tuple(parser.branches))
    for place, body in scanner.documents if depth else ():
        above = [command for command in script.commands if command.span.start <= place]
        if above and is_fed_commands(above[-1]):
            script = _joined(script, above[-1], read(text, *body, depth=depth - 1))
    return script


def is_fed_commands(command: Command) -> bool:
    """Whether a program runs what it reads from standard input, here or elsewhere, as commands of a shell."""
    shell = invoked(command, *_SHELLS)
    if shell is not None:
        behind = [word.text for word in command.words[shell + 1 :]]
        return all(word.startswith(("-", "+")) for word in behind) or "-s" in behind
    texts = [word.text for word in command.words]
    if command.program == "ssh":
        # With options it cannot be told whether the last word is the host or a command.
        return (len(texts) == 2 and not texts[1].startswith("-")) or (len(texts) > 2 and texts[-1] in _SHELLS)
    if command.program == "sbatch":
        return not any(text.endswith(_SCRIPTS) for text in texts[1:])
    return False


def _joined(script: Script, command: Command, document: Script) -> Script:
    """A script with what one of its commands is fed."""
    fed = [one._replace(depth=one.depth + command.depth + 1, alone=False, tested=True) for one in document.commands]
    return Script(
        tuple(sorted([*script.commands, *fed], key=lambda one: one.span)),
        tuple(sorted([*script.comments, *document.comments])),
        (*script.hardware_branches, *document.hardware_branches),
    )


class _Block:
    __slots__ = ("closing", "in_condition", "is_hardware", "joined", "kind", "start", "told")

    def __init__(self, kind: str, closing: str, start: int) -> None:
        self.kind = kind
        self.closing = closing
        self.start = start
        self.told = start
        """Where the condition begins that is being read."""
        self.in_condition = kind in ("if", "while", "until", "case")
        self.is_hardware = False
        self.joined = 0
        """Number of the first command of the list, ``a | (b; c)``, that the block is a part of."""


class _Parser:
    """Words and operators to commands in their blocks."""

    def __init__(self, text: str, tokens: list[Token]) -> None:
        self._text = text
        self._tokens = tokens
        self._blocks: list[_Block] = []
        self._words: list[Word] = []
        self._negated = False
        self._begins_line = True
        self._joined = 0
        """Number of the first command of the list, ``a | b && c``, that is being read."""
        self.commands: list[Command] = []
        self.branches: list[Span] = []

    def run(self) -> None:
        """Fill ``commands`` and ``branches``."""
        joined = ""
        for number, token in enumerate(self._tokens):
            if token.word is not None:
                if len(self._words) == 2 and self._words[0].text == "function" and token.word.text == "{":
                    self._words.clear()
                if not self._words:
                    self._begins_line = joined in ("", "\n")
                if self._words or not self._keyword(token, number):
                    self._words.append(token.word)
                continue
            operator = token.operator
            in_pattern = self._is_in("case") and self._blocks[-1].in_condition
            if in_pattern and operator in ("|", "(", "\n"):
                if operator == "\n":
                    self._words.clear()
                continue
            is_function = operator == "(" and len(self._words) == 1 and self._operator(number + 1) == ")"
            if is_function:
                self._function(self._words.pop().text, token.start)
            elif operator == ")" and not self._is_in("("):
                self._pattern(token)
            else:
                self._finish(operator, tested=joined in ("&&", "||") or operator in ("&&", "||"))
                if operator == "(":
                    self._open(_Block("(", ")", token.start))
                elif operator == ")":
                    self._close(token.end)
                elif operator in (";;", ";&", ";;&") and self._is_in("case"):
                    self._blocks[-1].in_condition, self._blocks[-1].told = True, token.end
                self._end_list(operator)
            joined = operator
        self._finish("\n", tested=joined in ("&&", "||"))
        while self._blocks:
            self._close(len(self._text))

    def _end_list(self, operator: str) -> None:
        if operator == "&":
            self.commands[self._joined :] = [one._replace(beside=True) for one in self.commands[self._joined :]]
        if operator not in ("|", "&&", "||", "(", ")"):
            self._joined = len(self.commands)

    def _open(self, block: _Block) -> None:
        block.joined, self._joined = self._joined, len(self.commands)
        self._blocks.append(block)

    def _operator(self, number: int) -> str:
        return self._tokens[number].operator if number < len(self._tokens) else ""

    def _is_in(self, kind: str) -> bool:
        return bool(self._blocks) and self._blocks[-1].kind == kind

    def _keyword(self, token: Token, number: int) -> bool:
        """Whether a word at the place of a command is one of the shell's own; opens and closes blocks."""
        assert token.word is not None
        text = token.word.text
        if token.end - token.start != len(text):
            return False  # in quotes
        if text in _OPENING:
            pending = self._blocks[-1] if self._blocks else None
            if text == "{" and pending is not None and pending.kind == "function":
                pending.closing = "}"
                return True
            self._open(_Block(text, _OPENING[text], token.start))
            # The head of these holds no command: its words are dropped with the rest of the line.
            return text not in ("for", "select", "case")
        if text in _IN_BETWEEN:
            if self._blocks:
                self._turn(text, token)
            self._negated = text == "!"
            return True
        if text == "function":
            following = self._tokens[number + 1].word if number + 1 < len(self._tokens) else None
            self._function(following.text if following else "", token.start)
            return False
        if self._blocks and text == self._blocks[-1].closing:
            self._close(token.end)
            return True
        return False

    def _turn(self, keyword: str, token: Token) -> None:
        block = self._blocks[-1]
        if keyword in ("then", "do"):
            self._judge(block, token.start)
            block.in_condition = False
        elif keyword == "elif":
            block.in_condition, block.told = True, token.start

    def _judge(self, block: _Block, end: int) -> None:
        if block.kind in ("if", "while", "until", "case"):
            said = _COMMENT_LINES.sub("", self._text[block.told : end])
            block.is_hardware = block.is_hardware or bool(_HARDWARE.search(said))

    def _pattern(self, token: Token) -> None:
        """The end of a pattern of ``case``; its words are no command."""
        if self._is_in("case"):
            block = self._blocks[-1]
            self._judge(block, token.end)
            block.in_condition, block.told = False, token.end
        self._words.clear()

    def _function(self, name: str, start: int) -> None:
        block = _Block("function", "", start)
        block.is_hardware = bool(_HARDWARE.search(name))
        self._open(block)

    def _close(self, end: int) -> None:
        block = self._blocks.pop()
        self._joined = block.joined
        if block.is_hardware:
            self.branches.append(Span(block.start, end))
        if self._is_in("function") and not self._blocks[-1].closing:
            self._close(end)  # a function whose body is another kind of block

    def _finish(self, operator: str, *, tested: bool) -> None:
        words, self._words = self._words, []
        negated, self._negated = self._negated, False
        if not words or words[0].text in ("for", "select", "case", "function"):
            return
        at = 0
        while at < len(words) and _ASSIGNMENT.match(self._text, words[at].span.start):
            at += 1
        condition = negated or any(block.in_condition for block in self._blocks)
        span = Span(words[0].span.start, words[-1].span.end)
        alone = self._begins_line and operator == "\n"
        self.commands.append(
            Command(tuple(words[at:]), tuple(words[:at]), span, len(self._blocks), tested or condition, alone)
        )


def docker_comments(text: str) -> list[Span]:
    """The comments of a Dockerfile: they have lines of their own, also between the lines of an instruction."""
    return [Span(*match.span(1)) for match in _DOCKER_COMMENT.finditer(text)]
