"""Devices that a file of settings names for others: ``DEVICE = "cuda"``, used as ``torch.device(config.DEVICE)``.

In a dict, ``{"device": "cuda"}``, they are used as ``torch.device(config["device"])``; the default of an option that a
function of the file parses, ``--device``, as ``torch.device(args.device)``; an attribute of a configuration, or a
field of a class, ``cfg.TRAIN.WHERE = "cuda"``, as ``x.to(cfg.TRAIN.WHERE)``, whatever it is called. What a function
of the file returns is used so as well: ``device = hardware.choose()``, then ``x.to(device)``.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator

from tpulint.semantic.project.outside import NOW_AND_THEN, OutgoingCall, OutsideCall, qualified_in_file
from tpulint.semantic.syntax.nodes import FUNCTIONS
from tpulint.semantic.syntax.variables import is_configuration, says_device
from tpulint.semantic.values.value import Kind, Side

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

GPU_NAMES = ("cuda", "gpu")
"""Words in the names of members that a class gives devices: one of several, whoever chooses it."""
_AS_DEVICE = Kind.DEVICE.name


def settings_used(index: SemanticIndex) -> Iterator[OutgoingCall]:
    """Variables of other files that this one takes for devices, each as a call that is given a device."""
    caller = os.path.basename(index.source.path)
    for path, name in _settings(index) if index.imported.knows_others else ():
        told = ((name, _AS_DEVICE, Side.UNKNOWN.name),)
        yield OutgoingCall(path, OutsideCall(name, NOW_AND_THEN, False, False, told, caller))


def _settings(index: SemanticIndex) -> Iterator[tuple[str, str]]:
    """The file of each such variable, and what it is called there."""
    from tpulint.semantic.project.unpacked_options import device_options_unpacked

    for call in index.calls:
        for given in _devices_given(index, call):
            found = _variable(index, given)
            options = [] if found is not None else list(_options(index, given))
            yield from options
            found = found if found is not None or options else _function(index, given)
            if found is not None:
                yield found
            yield from _parts(index, given)
    yield from ((path, option(name)) for path, name in device_options_unpacked(index))


def _variable(index: SemanticIndex, given: ast.expr) -> tuple[str, str] | None:
    """The file whose variable is given, or an attribute of a variable or class of it, and its name there."""
    found = index.imported.variable(given)
    if found is not None:
        return found[0].source.path, found[1]
    if not isinstance(given, ast.Attribute):
        return None
    holder = given.value
    while isinstance(holder, ast.Attribute) and index.imported.variable(holder) is None:
        holder = holder.value
    kept = index.imported.variable(holder)
    if kept is not None:
        return kept[0].source.path, attribute(given.attr)  # `cfg.TRAIN.WHERE`, `config.cfg.TRAIN.WHERE`
    named = index.imported.definition(given.value)
    owners = index.imported.classes_of(given.value) if named is None else (named,)
    if any(word in given.attr.lower() for word in GPU_NAMES):
        return None  # `Device.CUDA`: one of several, whoever chooses it
    paths = {owner.file.source.path for owner in owners if owner.is_class}
    return (paths.pop(), attribute(given.attr)) if len(paths) == 1 else None


def _options(index: SemanticIndex, given: ast.expr) -> Iterator[tuple[str, str]]:
    """The files that parse the option whose value is given, ``args.device``, and the name of the option."""
    if isinstance(given, ast.Attribute):
        from tpulint.semantic.project.parsed_options import files_of_options

        yield from ((path, option(given.attr)) for path in sorted(files_of_options(index, given.value)))


def _function(index: SemanticIndex, given: ast.expr) -> tuple[str, str] | None:
    """The file whose function returns what is given, and what the function is called there."""
    found = index.imported.called(given) if isinstance(given, ast.Call) else None
    if found is None or not isinstance(found.node, FUNCTIONS):
        return None
    return found.file.source.path, returned_by(qualified_in_file(found.file.tree, found.node))


def _parts(index: SemanticIndex, given: ast.expr) -> Iterator[tuple[str, str]]:
    """The files whose functions return what is given in one place of several, ``device, n = hardware.choose()``."""
    bindings = index.flow.made(given) if isinstance(given, ast.Name) else ()
    for binding in bindings:
        made = binding.value if len(binding.path) == 1 and binding.path[0] >= 0 else None
        found = index.imported.called(made) if isinstance(made, ast.Call) else None
        if found is not None and isinstance(found.node, FUNCTIONS):
            name = qualified_in_file(found.file.tree, found.node)
            yield found.file.source.path, part_returned_by(name, binding.path[0])


def device_options(index: SemanticIndex, path: str) -> str:
    """The options that a file parses of which this one knows that they name a device, one behind the other."""
    if path == os.path.abspath(index.source.path):
        start = option("")
        used = (call.function for call in index.outside if call.function.startswith(start))
        known = {name.removeprefix(start) for name in used if is_used_as_device(index, name)}
    else:
        told = (names for call in index.outside for _, place, names in call.options if place == path)
        known = {name for names in told for name in names.split()}
    return " ".join(sorted(known))


def sets_device_option(index: SemanticIndex, target: ast.expr) -> bool:
    """Whether a target is an option that another file parses, and that names a device: ``args.device = "cuda"``."""
    if not isinstance(target, ast.Attribute):
        return False
    from tpulint.semantic.project.parsed_options import file_of_options

    path = file_of_options(index, target.value)
    if path is None or path == os.path.abspath(index.source.path):
        return False
    return target.attr in device_options(index, path).split()


def option(name: str) -> str:
    """What an option is called among the variables that other files use."""
    return f"--{name}"


def attribute(name: str) -> str:
    """What an attribute of a configuration is called among the variables that other files use."""
    return f".{name}"


def returned_by(function: str) -> str:
    """What the result of a function is called among the variables that other files use."""
    return f"{function}()"


def part_returned_by(function: str, at: int) -> str:
    """What one place of several that a function returns is called among the variables that other files use."""
    return f"{function}()[{at}]"


def is_used_as_device(index: SemanticIndex, name: str) -> bool:
    """Whether another file takes a variable of this one for a device."""
    return any(call.function == name and _names_device(call, name) for call in index.outside)


def _names_device(call: OutsideCall, name: str) -> bool:
    return any(kind == _AS_DEVICE for given, kind, _ in call.arguments if given == name)


def is_item_used_as_device(index: SemanticIndex, key: str) -> bool:
    """Whether a file that this one imports takes an item of a dict for a device: ``torch.device(config["device"])``."""
    return any(
        isinstance(given, ast.Subscript) and isinstance(given.slice, ast.Constant) and given.slice.value == key
        for file in index.imported.files()
        for call in file.calls
        for given in _given_as_device(file, call)
    )


def is_asked_of_settings(index: SemanticIndex, name: str) -> bool:
    """Whether another file of the project takes an attribute of what it calls settings for a device.

    ``torch.device(cfg.device)``, ``x.to(self.config.device)``, ``Camera(image, data_device=args.data_device)``: whoever
    made these, and handed them on through others.
    """
    given = re.compile(rf"(?:\btorch\.device\(|\.to\(|\b(?:\w+_)?device=)\s*([\w.]+)\.{re.escape(name)}\s*[,)]")
    files = index.imported.others_mentioning(f".{name}") if says_device(name) else ()
    return any(
        any(map(is_configuration, holder.split(".")))
        for file in files
        if "torch" in file.source.text
        for holder in given.findall(file.source.text)
    )


def _devices_given(index: SemanticIndex, call: ast.Call) -> Iterator[ast.expr]:
    """What is given for a device, by its name as well, and what stands for it: ``self.device = args.device``."""
    for item in _given_as_device(index, call):
        if isinstance(item, ast.Call):
            yield item
        elif isinstance(item, ast.Name | ast.Attribute):
            yield item
            bindings = index.flow.reaching_attribute(item) if isinstance(item, ast.Attribute) else index.flow.made(item)
            made = (binding.value for binding in bindings if not binding.path)
            yield from (value for value in made if isinstance(value, ast.Attribute | ast.Call))


def _given_as_device(index: SemanticIndex, call: ast.Call) -> Iterator[ast.expr]:
    """What ``torch.device(x)``, ``y.to(x)`` and ``f(device=x)`` take for a device."""
    moves = isinstance(call.func, ast.Attribute) and call.func.attr == "to"
    yield from call.args[:1] if moves or index.qualified_name(call.func) == "torch.device" else []
    yield from (keyword.value for keyword in call.keywords if keyword.arg in ("device", "map_location"))
