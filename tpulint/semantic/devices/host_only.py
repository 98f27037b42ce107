"""Whether a file has to do with devices beside the CPU: it speaks of none, or of the CPU alone, if not."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Sequence

from tpulint.model import WORDS_OF_LOOPS
from tpulint.semantic.devices.default_device import sets_as_it_is_imported
from tpulint.semantic.devices.shown_devices import only_shows_device
from tpulint.semantic.functions.definitions import Definitions
from tpulint.semantic.functions.passed_arguments import values_given
from tpulint.semantic.project.chosen_classes import is_module
from tpulint.semantic.project.imported import Imported
from tpulint.semantic.project.other_files import Definition, bases_above
from tpulint.semantic.project.outside import CONSTRUCTOR, OutsideCall
from tpulint.semantic.syntax.flow import Flow
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.tree import SyntaxTree
from tpulint.semantic.values.value import Side
from tpulint.source import SourceFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_DEVICE_WORDS = ("cuda", "device", "torch_xla", "accelerat", "fabric", "lightning")
_SEEDS = (
    r"torch\.cuda\.(?:manual_seed(?:_all)?|is_available)\(|(?<![\"'])(?<!torch\.)(?:\b|_)cuda\b(?![.(]|:\d)"
    r"|\bimport torch_xla\b(?!\.)|\btorch_xla\.manual_seed\("
)
"""What seeds a GPU or an XLA device, and flags that ask for a GPU: a file that says no more puts nothing there."""
_LOADS = r"\bmap_location\s*=\s*torch\.device\(\s*[\"']cpu[\"']\s*\)"
_MOVE = ".to("
_DTYPES = r"dtype\s*=|\w+\.(?:b?float|double|half|u?int|long|short|bool)\d*\s*[,)]|[\w.]+\.dtype\s*[,)]"
_MOVE_ANYWHERE = rf"\.to\((?!\s*(?:{_DTYPES}))"
"""What is no cast: ``x.to(torch.float32)`` says nothing of a device."""
_OF_TORCH = r"\b(?:import|from)\s+torch"
"""A file of another framework has devices as well."""
_MOST_FILES = 40
"""Files that a program imports, itself or through others, which are looked through."""
_SETS_DEFAULT = ("set_default_device", "set_default_tensor_type")
_XLA = r"\bxla(?:\b|_)"
_MOVES = r"\.cuda\(|cuda\.is_available|\.device\((?!\s*[\"']cpu[\"']\s*\))|xla_device|torch_xla\.device"
_NAMED = r"\.to\(\s*[\"']cuda|\bdevice(?:\s*:\s*[\w. |]+)?\s*=\s*[\"']cuda"
"""A device by its name: ``x.to("cuda")``, ``def to_gpu(x, device="cuda"):``."""
_OF_OTHERS = r"\b(?:import|from)\s+(?:paddle|mxnet|tensorflow|jax|cupy|chainer|mindspore|oneflow)"
_OF_OTHER_DEVICES = (
    "cuda", "gpu", "xla", "accelerat", "fabric", "lightning", "nccl",
)  # fmt: skip
_OTHER_DEVICES = r"(?i)\bmps\b|\bxpu\b|\bhpu\b|\bnpu\b|(?<![a-z])tpu"
_PROCESSES = ("_rank", "launch", "distributed")
_RANKS = r"(?i)\brank"
_OF_HOSTS = ("'gloo'", '"gloo"')
"""What processes of hosts talk by: a program that names it, and nothing else, may have many of them."""
_AUTOCAST = r"\b(?:torch\.)?cuda\.amp\b"
_GENERATORS = r"torch\.cuda\.(?:manual_seed(?:_all)?|is_available)\("
"""Seeds of GPUs, and the question for one in front of them; what chooses a device says more of CUDA."""
_CUDA_IN_CODE = r"(?m)^[^#\n]*cuda"
_COMMENT = r"""(?m)^([^"'#\n]*(?:"[^"\n]*"[^"'#\n]*|'[^'\n]*'[^"'#\n]*)*)#.*$"""
"""A comment, and in front of it the code of its line, with texts that end there."""
_DTYPE = r"dtype|float|double|half|long|int|bool|short"
_DEPTH = 4


class HostOnly:
    """Asks whether everything in a file that speaks of devices speaks of the CPU."""

    def __init__(
        self,
        tree: SyntaxTree,
        names: Names,
        flow: Flow,
        definitions: Definitions,
        imported: Imported,
        outside: Sequence[OutsideCall],
    ) -> None:
        self._tree = tree
        self._names = names
        self._flow = flow
        self._definitions = definitions
        self._imported = imported
        self._is_alone = not outside and not imported.knows_others

    @property
    def is_certain(self) -> bool:
        """Whether a model of the file goes to the CPU, or tensors are made there, and nothing goes elsewhere."""
        text = self._tree.source.text
        if self._is_alone and only_shows_device(self._tree, self._names):
            return True
        if "cpu" not in text:
            return False
        text = re.sub(_GENERATORS, "", self._without_branches_for_cuda())
        if re.search(_CUDA_IN_CODE, text):
            return False
        # `# device = torch.device("cuda")`: what a reader may switch to does not run
        text = re.sub(_COMMENT, r"\1", text)
        if "cuda" in text:
            return False
        if not self._moves:
            return self._is_made_on_cpu and not _speaks_of_others(text) and self._names_only_cpu()
        return self._moves_to_cpu(text) and any(map(self._places_model, self._moves))

    def _without_branches_for_cuda(self) -> str:
        """The text without what runs where a device that is the CPU is CUDA's: ``if device == "cuda": ...``."""
        text, end = list[str](), 0
        conditions = self._tree.conditions if "cuda" in self._tree.source.text else ()
        branches = [node for node in conditions if isinstance(node, ast.If)]
        for node in sorted(branches, key=self._tree.start):
            if not self._asks_whether_cpu_is_cuda(node.test):
                continue
            span, after = self._tree.span(node), [self._tree.span(item).start for item in node.orelse]
            if span.start >= end:  # else within one that is left out
                text.append(self._tree.source.text[end : span.start])
                end = min((*after, span.end))
        return "".join([*text, self._tree.source.text[end:]])

    def _asks_whether_cpu_is_cuda(self, test: ast.expr) -> bool:
        if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.Eq) or len(test.ops) > 1:
            return False
        asked, name = test.left, test.comparators[0]
        asked = asked.value if isinstance(asked, ast.Attribute) and asked.attr == "type" else asked
        return isinstance(name, ast.Constant) and str(name.value).startswith("cuda") and self._is_cpu(asked)

    @property
    def _is_made_on_cpu(self) -> bool:
        """Whether torch makes a tensor with ``device=`` the CPU."""
        return any(
            keyword.arg == "device"
            and self._is_cpu(keyword.value)
            and (self._names.qualified(call.func) or "").startswith("torch.")
            for call in self._tree.calls
            for keyword in call.keywords
        )

    @property
    def is_likely_under_autocast(self) -> bool:
        """Whether everything that is moved goes to the CPU, where autocast of CUDA does nothing, whoever makes it."""
        text = re.sub(_AUTOCAST, "", self._tree.source.text)
        return "cpu" in text and self._moves_to_cpu(text)

    @property
    def _moves(self) -> list[ast.Call]:
        return [call for call in self._tree.calls if isinstance(call.func, ast.Attribute) and call.func.attr == "to"]

    def _moves_to_cpu(self, text: str) -> bool:
        """Whether there are moves, and all of them go to the one device that the text speaks of."""
        moves = self._moves
        if not moves or _speaks_of_others(text):
            return False
        to_cpu = [move for move in moves if any(map(self._is_cpu, values_given(move)))]
        return bool(to_cpu) and all(map(self._is_plain_move, moves)) and self._names_only_cpu()

    def _names_only_cpu(self) -> bool:
        for node in self._tree.inside(self._tree.module):
            if isinstance(node, ast.Name):
                known = "device" not in node.id.lower() or isinstance(node.ctx, ast.Store) or self._is_cpu(node)
            elif isinstance(node, ast.Attribute):
                known = "device" not in node.attr.lower() or self._names.qualified(node) == "torch.device"
                known = known or (node.attr == "device" and isinstance(node.value, ast.Call))  # where something is
            elif isinstance(node, ast.keyword):
                known = "device" not in (node.arg or "").lower() or self._is_cpu(node.value)
            elif isinstance(node, ast.arg):
                known = "device" not in node.arg.lower()
            elif isinstance(node, ast.Constant):
                known = not isinstance(node.value, str) or "device" not in node.value.lower()
            elif isinstance(node, ast.alias | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                known = "device" not in node.name.lower()
            else:
                continue
            if not known:
                return False
        return True

    def _is_cpu(self, node: ast.expr, depth: int = 0) -> bool:
        if depth > _DEPTH:
            return False
        if isinstance(node, ast.Constant):
            return node.value == "cpu"
        if isinstance(node, ast.Call) and self._names.qualified(node.func) == "torch.device":
            return len(node.args) == 1 and not node.keywords and self._is_cpu(node.args[0], depth + 1)
        if not isinstance(node, ast.Name):
            return False
        bindings = self._flow.reaching(node)
        return bool(bindings) and all(
            binding.kind == "assign"
            and not binding.path
            and binding.value is not None
            and self._is_cpu(binding.value, depth + 1)
            for binding in bindings
        )

    def _is_plain_move(self, move: ast.Call) -> bool:
        """Whether a call moves to the CPU, or only changes the type of the numbers."""
        return bool(move.args or move.keywords) and all(
            self._is_cpu(item) or self._is_dtype(item)
            for item in (*move.args, *(keyword.value for keyword in move.keywords if keyword.arg in (None, "device")))
        )

    def _is_dtype(self, node: ast.expr) -> bool:
        name = self._names.qualified(node) or ""
        return name.startswith("torch.") and re.search(_DTYPE, name) is not None

    def _places_model(self, move: ast.Call) -> bool:
        """Whether the receiver of a move to the CPU is a module that the file makes, of whatever file's class."""
        if not any(map(self._is_cpu, values_given(move))):
            return False
        assert isinstance(move.func, ast.Attribute)
        receiver = move.func.value
        if isinstance(receiver, ast.Name):
            bindings = self._flow.reaching(receiver)
            return bool(bindings) and all(
                binding.kind == "assign" and binding.value is not None and self._makes_module(binding.value)
                for binding in bindings
            )
        return self._makes_module(receiver)

    def _makes_module(self, node: ast.expr, depth: int = 0) -> bool:
        if not isinstance(node, ast.Call) or depth > _DEPTH:
            return False
        function = self._definitions.function_called(node)
        if function is not None:
            made = self._definitions.returned_by(function)
            return bool(made) and all(self._makes_module(value, depth + 1) for value in made)
        owner = self._definitions.class_called(node)
        if owner is not None:
            return self._definitions.is_module_class(owner)
        other = self._imported.definition(node.func)
        if other is not None:  # one that speaks of a device may put its parts, or what it is given, there
            return is_module(other) and not other.file.source.has_any(_DEVICE_WORDS)
        name = self._names.qualified(node.func) or ""
        return name.startswith("torch.nn.") and name.rpartition(".")[2][:1].isupper()


def _speaks_of_others(text: str) -> bool:
    lowered = text.lower()
    if any(word in lowered for word in _OF_OTHER_DEVICES) or re.search(_OTHER_DEVICES, text):
        return True
    if any(word in text for word in _OF_HOSTS):
        return False
    return any(word in lowered for word in _PROCESSES) or re.search(_RANKS, text) is not None


def speaks_of_devices(tree: SyntaxTree, imported: Imported, outside: Sequence[OutsideCall]) -> bool:
    """Whether a file names a device, is given what is on one, trains for another that does, or imports such things."""
    source = tree.source
    given = any(side == Side.DEVICE.name for call in outside for _, _, side in call.arguments)
    return (
        given
        or any(call.trains_on_device for call in outside)
        or _is_given_device(source, imported, outside)
        or _names_device(source)
        or _imports_device(tree, imported)
    )


def may_set_default(source: SourceFile, outside: Sequence[OutsideCall]) -> bool:
    """Whether this file, or one that runs it, may say where tensors are made."""
    return source.has_any(_SETS_DEFAULT) or any(call.function == CONSTRUCTOR for call in outside)


def _names_device(source: SourceFile) -> bool:
    patterns = (("xla", _XLA), (_MOVE, _MOVE_ANYWHERE))
    return (source.has_any(_DEVICE_WORDS) and not _only_seeds_or_loads(source.text)) or any(
        word in source.text and re.search(pattern, source.text) is not None for word, pattern in patterns
    )


def _only_seeds_or_loads(text: str) -> bool:
    """Whether all that a file does with a device is to seed it: ``if args.cuda: torch.cuda.manual_seed(args.seed)``.

    Or to load what lay on one to the host: ``torch.load(path, map_location=torch.device("cpu"))``.
    """
    rest = re.sub(_LOADS, "", text) if "map_location" in text else text
    if "cuda.manual_seed" in text or "torch_xla.manual_seed" in text:
        if any(word in rest for word in _DEVICE_WORDS if word not in ("cuda", "torch_xla")):
            return False
        rest = re.sub(_SEEDS, "", rest)
    return not any(word in rest for word in _DEVICE_WORDS)


def _puts_on_device(file: SemanticIndex) -> bool:
    """Whether a file of PyTorch puts things on a device; one of a few functions need not import it: ``x.cuda()``."""
    if file.mentions(_OF_TORCH):
        return file.mentions(_MOVES) or (file.source.has_any((_MOVE,)) and file.mentions(_NAMED, "cuda"))
    is_moving = file.mentions(r"\.cuda\(", ".cuda(") or (
        file.source.has_any((_MOVE,)) and file.mentions(_NAMED, "cuda")
    )
    return is_moving and not file.mentions(_OF_OTHERS)


def _is_given_device(source: SourceFile, imported: Imported, outside: Sequence[OutsideCall]) -> bool:
    """Whether a file that trains is given objects of classes that put them, or what they are given, on a device.

    ``Algo(Agent())``, where ``Agent`` or a base class of it has ``x.to(self.device)``.
    """
    if not source.has_any(WORDS_OF_LOOPS):
        return False
    places = dict.fromkeys((path, name) for call in outside for _, path, name in call.classes)
    for path, name in places:
        file = imported.file(path)
        made = [Definition(file, one) for one in file.tree.classes if one.name == name] if file is not None else []
        if any(_puts_on_device(one.file) for owner in made for one in (owner, *bases_above(owner))):
            return True
    return False


def _imports_device(tree: SyntaxTree, imported: Imported) -> bool:
    """Whether a file that trains, or evaluates, has its models from files that put them on a device.

    A program may have them through several files that lie beside it, or in folders there, and a class by its bases.
    """
    source = tree.source
    if not source.has_any((*WORDS_OF_LOOPS, ".eval(")) and not imported.imports_steps:
        return False
    files = list(imported.files())
    above = [one.file for owner in tree.classes for base in imported.bases_of(owner) for one in bases_above(base)]
    files += [one for one in dict.fromkeys(above) if one not in files]
    beside = os.path.join(os.path.dirname(os.path.abspath(source.path)), "") if "__main__" in source.text else None
    for other in files:  # grows while it is walked
        if _puts_on_device(other) or sets_as_it_is_imported(other):
            return True
        if beside is not None and len(files) < _MOST_FILES:
            further = (one for one in other.imported.files() if os.path.abspath(one.source.path).startswith(beside))
            files += [one for one in further if one not in files]
    return False
