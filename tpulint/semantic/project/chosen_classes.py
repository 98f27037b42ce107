"""Classes of other files one of which is chosen when the program runs: by a key, by its name, by a branch."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from tpulint.semantic.project.handed_objects import HandedObjects
from tpulint.semantic.project.other_files import Definition, all_of, returned, unpacked
from tpulint.semantic.project.registries import noted, registered, registered_functions
from tpulint.semantic.syntax import torch_facts as facts
from tpulint.semantic.syntax.bindings import part_of
from tpulint.semantic.syntax.flow import Flow
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import FUNCTIONS, FunctionNode
from tpulint.semantic.syntax.tree import SyntaxTree
from tpulint.semantic.syntax.variables import last_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.project.imported import Imported
    from tpulint.semantic.project.looked_up_classes import LookedUpClasses

    _Option = tuple[Imported, ast.expr, SemanticIndex | None]

_MOST_CHOICES = 48
"""Classes of a dictionary or module, one of which an option chooses."""
_DICT = "__dict__"
_LOOKING_UP = ("import_module(", "issubclass(")
"""What a file calls that looks classes up by their names."""
_IMPORTING = ("__import__(", "import_module(")
"""What every file calls that imports a module by a text."""
_DEPTH = 6


class ChosenClasses:
    """Answers about one file, whose ``Imported`` asks."""

    def __init__(self, tree: SyntaxTree, names: Names, flow: Flow, imported: Imported, handed: HandedObjects) -> None:
        self._tree = tree
        self._names = names
        self._flow = flow
        self._imported = imported
        self._handed = handed

    @cached_property
    def _looked_up(self) -> LookedUpClasses | None:
        if not all(word in self._imported.text for word in _LOOKING_UP):
            return None
        from tpulint.semantic.project.looked_up_classes import LookedUpClasses

        return LookedUpClasses(self._tree, self._names, self._imported)

    def by(self, func: ast.expr, index: SemanticIndex | None = None, depth: int = 0) -> tuple[Definition, ...]:
        """``MODELS[args.model](...)``, ``MODELS[args.model].Model(...)``: any of a dictionary that is written out.

        Also of a variable with such a value, an attribute that options are given so, one that branches set to a class
        each, a class of a chosen module, any module class of a module that is asked by name,
        ``getattr(models, args.model)``, and what a function returns so, be it a class by its name. ``index`` is that
        of the file itself, where it is at hand.
        """
        one_of = self._registered(func) or self._created(func) or self._imported.brought_by_branches(func)
        one_of = one_of or (self._looked_up.of(func) if self._looked_up is not None else [])
        members = [] if one_of or not isinstance(func, ast.Attribute) else self.members(func)
        if members:
            return all_of([_classes_of(item, depth) for item in members])
        if one_of:
            return tuple(item for item in one_of if item.is_class) if len(one_of) <= _MOST_CHOICES else ()
        is_loaded = isinstance(func, ast.Attribute) and func.attr in facts.LOADING_METHODS
        func = func.value if isinstance(func, ast.Attribute) and is_loaded else func
        member = func.attr if isinstance(func, ast.Attribute) and not is_loaded else ""
        chosen = func.value if isinstance(func, ast.Attribute) and not is_loaded else func
        named = self._imported.chosen_modules.members(chosen, member) if member else []
        if named:
            return tuple(item for item in named if item.is_class) if len(named) <= _MOST_CHOICES else ()
        values: list[tuple[ast.expr | None, tuple[int, ...]]] = [(chosen, ())]
        if isinstance(chosen, ast.Name) or is_loaded:
            bindings = self._flow.bindings_of(chosen)
            is_class = all(binding.kind in ("import", "class") for binding in bindings)
            plain = all(binding.kind == "assign" for binding in bindings)
            values = [(binding.value, binding.path) for binding in bindings] if plain else []
            values = [(chosen, ())] if is_class and (is_loaded or depth > 0) else values  # `return Net`
        given = self._given_to_options(func) if member else []
        if given:
            member, values = "", [(value, ()) for value in given]
        found: list[Definition | None] = []
        for value, path in values:
            of_module = self._of_chosen_module(value)
            if not of_module and not member:
                of_module = self._of_named(value, index, depth)
            found += of_module
            options = list(self._options(value, path)) if not of_module else []
            found += [None] if not options and not of_module else []
            several: list[Definition | None] = []
            for others, option, file in options:
                item = others.definition_in(option, index if file is None and others is self._imported else file)
                if file is None and others is self._imported and self._is_of_torch(option):
                    continue  # nothing of the project runs there
                if member and item is not None:
                    is_file = isinstance(item.node, ast.Module)
                    item = item.file.imported.exported(member, item.file) if is_file else None
                several.append(item)
            is_table = isinstance(value, ast.Subscript | ast.Call)
            # An entry that cannot be followed says nothing against the others.
            found += [item for item in several if _classes_of(item, depth)] if is_table else several
            found += [None] if several and not found else []
        return all_of([_classes_of(item, depth) for item in found]) if len(found) <= _MOST_CHOICES else ()

    def members(self, func: ast.Attribute) -> list[Definition]:
        """The functions and classes of a name in the modules of a dictionary: ``METHODS[name].config.get_model(...)``.

        Also by a variable, ``method = METHODS[name]``. A module that has none of the name is left out.
        """
        path: list[str] = []
        node: ast.expr = func
        while isinstance(node, ast.Attribute):
            path.insert(0, node.attr)
            node = node.value
        bindings = self._flow.reaching(node) if isinstance(node, ast.Name) else ()
        if len(bindings) == 1 and bindings[0].kind == "assign" and bindings[0].value is not None:
            node = bindings[0].value if not bindings[0].path else node
        found: dict[Definition, None] = {}
        for others, option, file in self._options(node) if isinstance(node, ast.Subscript) else ():
            item = others.definition_in(option, file)
            for name in path:
                is_file = item is not None and isinstance(item.node, ast.Module)
                item = item.file.imported.exported(name, item.file) if item is not None and is_file else None
            if item is not None and not isinstance(item.node, ast.Module):
                found[item] = None
        return list(found) if len(found) <= _MOST_CHOICES else []

    def _is_of_torch(self, node: ast.expr) -> bool:
        """``nn.GRU``"""
        return (self._names.qualified(node) or "").startswith("torch.nn.")

    def _registered(self, func: ast.expr) -> list[Definition]:
        """The classes of a registry, ``HEADS[name]``, and those of which its functions make an instance."""
        found = registered(self._imported, func) or noted(self._imported, self._names, func)
        parts = ([item] if item.is_class else _made_by(item, 0) for item in found)
        return list(dict.fromkeys(made for part in parts for made in part))

    def _created(self, func: ast.expr) -> list[Definition]:
        """The module classes of which ``create_model(name)`` makes an instance of one."""
        call = self._tree.parents.get(func)
        functions = registered_functions(self._imported, self._names, call) if isinstance(call, ast.Call) else []
        return list(dict.fromkeys(made for item in functions for made in _made_by(item, 0)))

    def _given_to_options(self, func: ast.expr) -> list[ast.expr]:
        """What the file sets an attribute to of an object that it calls so: ``opt.model_class = classes[opt.name]``."""
        if not isinstance(func, ast.Attribute) or last_name(func.value) in ("", "self"):
            return []
        found: list[ast.expr] = []
        for node in self._tree.attributes_called(func.attr):
            statement = self._tree.parents.get(node)
            if isinstance(node.ctx, ast.Store) and last_name(node.value) == last_name(func.value):
                if not isinstance(statement, ast.Assign):
                    return []
                found.append(statement.value)
        return found

    def _of_named(self, node: ast.expr | None, index: SemanticIndex | None, depth: int) -> list[Definition]:
        """The module classes of a module which is asked for one by name, itself or by a function of any file."""
        if isinstance(node, ast.Call) and depth < _DEPTH:
            function = self._imported.definition(node.func)
            if function is not None and isinstance(function.node, FUNCTIONS):
                other = function.file
                parts = [other.imported.classes.chosen.by(value, other, depth + 1) for value in returned(function)]
                return list(all_of(parts)) or self._by_text(other.tree, other.names, function.node)
            here = self._names.bindings(node.func) if isinstance(node.func, ast.Name) else []
            if len(here) == 1 and isinstance(here[0].node, FUNCTIONS):
                returns = self._tree.nodes_in(here[0].node, ast.Return, functions=False)
                values = [item.value for item in returns]
                found = list(all_of([() if one is None else self.by(one, index, depth + 1) for one in values]))
                return found or self._by_text(self._tree, self._names, here[0].node)
        module = self._asked_by_name(node, index)
        return [] if module is None else list(_made_by_module(module, depth, set()))

    def _by_text(self, tree: SyntaxTree, names: Names, function: FunctionNode) -> list[Definition]:
        """``import_class(args.model)``: of the module classes that no code makes an object of."""
        if not tree.source.has_any(_IMPORTING):
            return []
        from tpulint.semantic.project.classes_by_text import looks_up_by_text

        return self._made_by_nobody if looks_up_by_text(tree, names, function) else []

    @cached_property
    def _made_by_nobody(self) -> list[Definition]:
        from tpulint.semantic.project.classes_by_text import modules_nobody_makes

        return modules_nobody_makes(self._imported)

    def _asked_by_name(self, node: ast.expr | None, index: SemanticIndex | None) -> Definition | None:
        """``getattr(models, name)``, ``models.__dict__[name]``, ``vars(models)[name]``, ``globals()[name]``"""
        if isinstance(node, ast.Call):
            if self._names.qualified(node.func) != "builtins.getattr" or len(node.args) != 2:
                return None
            whole, name = node.args
        elif isinstance(node, ast.Subscript):
            whole, name = node.value, node.slice
            if isinstance(whole, ast.Attribute) and whole.attr == _DICT:
                whole = whole.value
            elif isinstance(whole, ast.Call) and self._names.qualified(whole.func) == "builtins.vars" and whole.args:
                whole = whole.args[0]
            elif isinstance(whole, ast.Call) and self._names.qualified(whole.func) == "builtins.globals":
                return None if index is None else Definition(index, index.tree.module)
            else:
                return None
        else:
            return None
        module = None if isinstance(name, ast.Constant) else self._imported.definition(whole)
        return module if module is not None and isinstance(module.node, ast.Module) else None

    def _of_chosen_module(self, node: ast.expr | None) -> list[Definition]:
        """``getattr(importlib.import_module("models." + name), "Model")``: the class of any module of the package.

        Also of what functions of that name make, by ``import_module(...).__getattribute__("Model")``, and of what
        ``eval("models." + name)`` names, or ``eval(name)``.
        """
        if not isinstance(node, ast.Call):
            return []
        evaluated = self._imported.chosen_modules.evaluated(node)
        if evaluated and isinstance(evaluated[0].node, ast.Module):
            return list(_made_by_module(evaluated[0], 0, set()))
        if evaluated:
            return [made for item in evaluated for made in ([item] if item.is_class else _made_by(item, 0))]
        alone = self._imported.chosen_modules.evaluated_alone(node)
        if alone:
            return list(dict.fromkeys(made for item in alone for made in _made_by(item, 0)))
        given = node.args
        if isinstance(node.func, ast.Attribute) and node.func.attr == "__getattribute__":
            given = [node.func.value, *node.args]
        elif self._names.qualified(node.func) != "builtins.getattr":
            return []
        module, name = given if len(given) == 2 else (None, None)
        if module is None or not isinstance(name, ast.Constant):
            return []
        found = self._imported.chosen_modules.members(module, str(name.value))
        return [made for item in found for made in ([item] if item.is_class else _made_by(item, 0))]

    def _options(self, node: ast.expr | None, path: tuple[int, ...] = ()) -> Iterator[_Option]:
        """What an expression chooses from, with who knows its imports: of ``MODELS.get(name)`` all that is in it.

        Of ``MODELS[name][1]``, and where it is unpacked, the part of what is in it, or of what a function returns.
        """
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Subscript) and not path:
            at = node.slice.value if isinstance(node.slice, ast.Constant) else None
            node, path = (node.value, (at,)) if isinstance(at, int) else (node, path)
        is_get = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get"
        if isinstance(node, ast.Subscript) or is_get:
            whole = node.value if isinstance(node, ast.Subscript) else node.func.value  # type: ignore[union-attr]
            for others, values, file in self.dictionaries(whole):
                yield from ((others, part_of(value, path) or value, file) for value in values)
        elif isinstance(node, ast.IfExp):
            yield from ((self._imported, part_of(side, path) or side, None) for side in (node.body, node.orelse))
        elif isinstance(node, ast.Call) and path:
            function = self._imported.definition(node.func)
            for value in unpacked(returned(function)) if function is not None else ():
                part = part_of(value, path)
                if function is not None and part is not None:
                    yield function.file.imported, part, function.file
        elif isinstance(node, ast.Name | ast.Attribute) and not path:
            yield self._imported, node, None

    def dictionaries(self, node: ast.expr) -> Iterator[tuple[Imported, list[ast.expr], SemanticIndex | None]]:
        """What the one dictionary holds that a variable or ``self.x`` stands for, with who knows its imports."""
        if isinstance(node, ast.Dict):
            yield self._imported, node.values, None
        bindings = self._flow.bindings_of(node)
        if isinstance(node, ast.Attribute) and not bindings:
            for file, value in self._handed.kept_by_base(node):
                if isinstance(value, ast.Dict):
                    yield self._imported if file is None else file.imported, value.values, file
        if len(bindings) == 1 and isinstance(bindings[0].value, ast.Dict) and not bindings[0].path:
            yield self._imported, bindings[0].value.values, None
        elsewhere = self._imported.variable(node)
        if elsewhere is not None:
            file, name = elsewhere
            for binding in file.names.bindings_in(file.names.module, name):
                if isinstance(binding.value, ast.Dict):
                    yield file.imported, [*binding.value.values, *_registered(file, name)], file


def _registered(file: SemanticIndex, name: str) -> Iterator[ast.expr]:
    """What a module puts into its dictionary: ``REGISTRY["vdn"] = VDNMixer``."""
    for statement in file.tree.module.body:
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name) and target.value.id == name:
            assert isinstance(statement, ast.Assign)
            yield statement.value


def _classes_of(item: Definition | None, depth: int) -> tuple[Definition, ...]:
    """A class itself, or those of which a function makes an instance."""
    return () if item is None else (item,) if item.is_class else tuple(_made_by(item, depth))


def is_module(made: Definition) -> bool:
    """Whether a definition is a class of modules."""
    return isinstance(made.node, ast.ClassDef) and made.file.definitions.is_module_class(made.node)


def _made_by_module(module: Definition, depth: int, seen: set[ast.AST]) -> Iterator[Definition]:
    """The module classes that a module offers, those that its functions return, and those that a package imports."""
    assert isinstance(module.node, ast.Module)
    file = module.file
    if module.node in seen:
        return
    seen.add(module.node)
    for statement in module.node.body:
        if isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
            yield from _made_by(Definition(file, statement), depth)
        elif isinstance(statement, ast.ImportFrom) and file.source.path.endswith("__init__.py") and depth < _DEPTH:
            for other in file.imported.starred(statement):
                yield from _made_by_module(Definition(other, other.tree.module), depth + 1, seen)
            for alias in statement.names:
                item = file.imported.exported(alias.asname or alias.name, file)
                yield from () if item is None else _made_by(item, depth)


def _made_by(item: Definition, depth: int) -> Iterator[Definition]:
    """A module class, or those of which a function returns an instance: ``def resnet18(): return ResNet(18)``."""
    if isinstance(item.node, ast.Module) or item.node.name.startswith("_"):
        return
    if is_module(item):
        yield item
    for value in returned(item):
        yield from filter(is_module, item.file.imported.classes_here(value, item.file, depth + 2))
