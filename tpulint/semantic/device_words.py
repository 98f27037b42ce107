"""Whether a file has to do with devices at all: by its words, and by what it is given and imports."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tpulint.model import WORDS_OF_LOOPS
from tpulint.semantic.imported import Imported
from tpulint.semantic.outside import CONSTRUCTOR, OutsideCall
from tpulint.semantic.values import Side
from tpulint.source import SourceFile

_DEVICE_WORDS = ("cuda", "device", "torch_xla", "accelerat", "fabric", "lightning")
_MOVE = ".to("
_DTYPES = r"dtype\s*=|\w+\.(?:b?float|double|half|u?int|long|short|bool)\d*\s*[,)]|[\w.]+\.dtype\s*[,)]"
_MOVE_ANYWHERE = rf"\.to\((?!\s*(?:{_DTYPES}))"
"""What is no cast: ``x.to(torch.float32)`` says nothing of a device."""
_SETS_DEFAULT = ("set_default_device", "set_default_tensor_type")
_XLA = r"\bxla(?:\b|_)"
_MOVES = r"\.cuda\(|cuda\.is_available|\.device\(|xla_device|torch_xla\.device"


def speaks_of_devices(source: SourceFile, imported: Imported, outside: Sequence[OutsideCall]) -> bool:
    """Whether a file names a device, is given something on one, or imports what is put on one."""
    given = any(side == Side.DEVICE.name for call in outside for _, _, side in call.arguments)
    return given or _names_device(source) or _imports_device(source, imported)


def may_set_default(source: SourceFile, outside: Sequence[OutsideCall]) -> bool:
    """Whether this file, or one that runs it, may say where tensors are made."""
    return source.has_any(_SETS_DEFAULT) or any(call.function == CONSTRUCTOR for call in outside)


def _names_device(source: SourceFile) -> bool:
    patterns = (("xla", _XLA), (_MOVE, _MOVE_ANYWHERE))
    return source.has_any(_DEVICE_WORDS) or any(
        word in source.text and re.search(pattern, source.text) is not None for word, pattern in patterns
    )


def _imports_device(source: SourceFile, imported: Imported) -> bool:
    """Whether a file that trains, or evaluates, has its models from files that put them on a device."""
    return source.has_any(WORDS_OF_LOOPS) and any(other.mentions(_MOVES) for other in imported.files())
