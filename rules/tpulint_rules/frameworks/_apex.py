"""Training scripts written without Apex: its mixed precision taken out, torch's classes in place of its own."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Mapping

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Scope, Span
from tpulint.semantic.cuda.twin_branches import twin_branches
from tpulint.semantic.functions.passed_arguments import values_given
from tpulint.semantic.syntax.blocks import with_emptied_blocks
from tpulint_rules.frameworks._demands import demand_around, is_demand, is_missed, sets_none

_REASON = "Models compute in bfloat16 and losses are no longer scaled; optimizers and layers are those of torch."
_DATA_PARALLEL = (
    "message_size", "delay_allreduce", "shared_param", "allreduce_trigger_params", "retain_allreduce_buffers",
    "allreduce_always_fp32", "num_allreduce_streams", "allreduce_communicators", "gradient_average",
    "gradient_predivide_factor", "gradient_average_split_factor", "prof",
)  # fmt: skip
_OPTIMIZER = ("bias_correction", "adam_w_mode", "set_grad_none", "materialize_master_grads", "wd_after_momentum")
_CLASSES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "apex.parallel.DistributedDataParallel": ("nn.parallel.DistributedDataParallel", _DATA_PARALLEL),
    "apex.parallel.convert_syncbn_model": ("nn.SyncBatchNorm.convert_sync_batchnorm", ()),
    "apex.parallel.SyncBatchNorm": ("nn.SyncBatchNorm", ("channel_last", "fuse_relu")),
    "apex.normalization.FusedLayerNorm": ("nn.LayerNorm", ("memory_efficient",)),
    "apex.normalization.fused_layer_norm.FusedLayerNorm": ("nn.LayerNorm", ("memory_efficient",)),
    "apex.optimizers.FusedAdam": ("optim.AdamW", _OPTIMIZER),
    "apex.optimizers.FusedSGD": ("optim.SGD", _OPTIMIZER),
}
"""What torch has in their place, below ``torch``, and the arguments that it does not know."""


def without_apex(ctx: FileContext) -> FixBuilder | None:
    """The whole file without Apex; None where something is done with it that nothing stands for."""
    if ctx.portable:
        return None
    fix = ctx.fix("Train without Apex", Applicability.UNSAFE, _REASON, Scope.MODULE)
    port = _Port(ctx, fix)
    imports = [port.take_out_import(node) for node in ctx.index.tree.binders if _imports_apex(node)]
    uses = [port.take_out(node, name) for node, name in ctx.index.references("apex")]
    if not uses or not all((*imports, *uses)):
        return None
    port.write()
    return fix


def _imports_apex(node: ast.AST) -> bool:
    if isinstance(node, ast.ImportFrom):
        return not node.level and (node.module or "").partition(".")[0] == "apex"
    return isinstance(node, ast.Import) and any(alias.name.partition(".")[0] == "apex" for alias in node.names)


class _Port:
    """What becomes of the uses of Apex in one file; every part tells whether it knew what to do."""

    def __init__(self, ctx: FileContext, fix: FixBuilder) -> None:
        self._ctx = ctx
        self._index = ctx.index
        self._fix = fix
        self._becomes: dict[ast.AST, str] = {}
        self._gone: list[ast.stmt] = []
        self._unscaled: list[tuple[ast.With, dict[ast.AST, str]]] = []
        """Blocks with a scaled loss, and what is written for it in them."""

    def write(self) -> None:
        """Write everything, branches that have become the same as one."""
        for block, losses in self._unscaled:
            self._unwrap(block, losses)
        folding = self._fix.fold(twin_branches(self._index, self._becomes, self._gone))
        for node, text in self._becomes.items():
            folding.replace(node, text)
        for statement in with_emptied_blocks(self._index, self._gone):
            folding.delete(statement)
        folding.write()

    # ---------------------------------------------------------------- imports

    def take_out_import(self, node: ast.AST) -> bool:
        """An import, with the ``try`` around it that tells how to install Apex."""
        assert isinstance(node, ast.Import | ast.ImportFrom)
        if not isinstance(node, ast.ImportFrom) and len(node.names) > 1:
            return False
        if any(alias.name == "*" for alias in node.names):
            return False
        if any(map(self._is_bound_otherwise, node.names)):
            return isinstance(node, ast.ImportFrom) and self._write_import(node)
        holder = self._index.parent(node)
        if not isinstance(holder, ast.Try):
            self._gone.append(node)
            return True
        is_passed = is_demand(holder) or is_missed(self._ctx, node)
        if not is_passed or not all(_imports_apex(item) or self._only_sets_up(item) for item in holder.body):
            return False
        self._gone.append(holder)
        return True

    def _only_sets_up(self, statement: ast.stmt) -> bool:
        """``apex.amp.register_half_function(torch, "einsum")``, which goes with all the rest."""
        call = statement.value if isinstance(statement, ast.Expr) else None
        is_call = isinstance(call, ast.Call) and not any(isinstance(item, ast.Call) for item in values_given(call))
        name = self._index.qualified_name(call.func) if isinstance(call, ast.Call) and is_call else None
        return name is not None and name.startswith("apex.amp.")

    def _is_bound_otherwise(self, alias: ast.alias) -> bool:
        """Whether the name may be something else, by an import on the other branch."""
        name, names = alias.asname or alias.name.partition(".")[0], self._index.names
        bindings = names.bindings_in(names.scope_of(alias), name)
        return any(not _imports_apex(one.statement) and not self._is_none_instead(one.statement) for one in bindings)

    def _is_none_instead(self, statement: ast.AST) -> bool:
        """``except ImportError: amp = None``"""
        return sets_none(statement) and isinstance(self._index.parent(statement), ast.ExceptHandler)

    def _write_import(self, node: ast.ImportFrom) -> bool:
        """``from apex.parallel import DistributedDataParallel as DDP``, beside that of torch on another branch."""
        alias = node.names[0]
        known = _CLASSES.get(f"{node.module}.{alias.name}")
        if known is None or len(node.names) > 1:
            return False
        path, unknown = known
        module, _, name = path.rpartition(".")
        bound, names = alias.asname or alias.name, self._index.names
        for use in names.loads(bound, names.scope_of(alias)):
            call = self._index.parent(use)
            if not isinstance(call, ast.Call) or call.func is not use or len(call.args) > 1:
                return False
            if any(item.arg is None or item.arg in unknown for item in call.keywords):
                return False
        self._becomes[node] = f"from torch.{module} import {name}" + (f" as {bound}" if bound != name else "")
        return True

    # ---------------------------------------------------------------- uses

    def take_out(self, node: ast.expr, name: str) -> bool:
        """One use, by its dotted name."""
        call = self._index.parent(node)
        statement = self._index.statement_of(node)
        if name in _CLASSES:
            return self._write_class(node, call, *_CLASSES[name])
        demand = demand_around(self._ctx, node)
        if demand is not None:
            self._gone.append(demand)
            return True
        if isinstance(call, ast.Call) and call.func is node:
            if name == "apex.amp.initialize":
                return self._leave_as_it_is(call, statement)
            if name == "apex.amp.scale_loss":
                return self._leave_unscaled(call, statement)
            if name == "apex.amp.master_params" and len(call.args) == 1:
                self._becomes[call] = self._parameters(call)
                return True
            if name == "apex.amp.state_dict":
                return self._leave_out_state(call, statement)
        is_set = isinstance(statement, ast.Assign) and any(
            self._index.tree.encloses(item, node) for item in statement.targets
        )
        is_alone = isinstance(call, ast.Call) and call.func is node and self._index.parent(call) is statement
        is_alone = is_alone and isinstance(statement, ast.Expr)
        if not name.startswith("apex.amp.") or not (is_set or is_alone):
            return False
        self._gone.append(statement)  # `amp.load_state_dict(...)`, `amp._amp_state.loss_scalers[0] = ...`
        return True

    def _write_class(self, node: ast.expr, call: ast.AST | None, name: str, unknown: tuple[str, ...]) -> bool:
        if not isinstance(call, ast.Call) or call.func is not node:
            self._becomes[node] = self._name(node, name)
            return True
        if len(call.args) > 1 or any(isinstance(item, ast.Starred) for item in call.args):
            return False
        mode = next((item.value for item in call.keywords if item.arg == "adam_w_mode"), None)
        if mode is not None:
            if not isinstance(mode, ast.Constant):
                return False
            name = name if mode.value else "optim.Adam"
        kept = [item for item in call.keywords if item.arg not in unknown]
        if len(kept) == len(call.keywords):
            self._becomes[node] = self._name(node, name)
        else:
            arguments = ", ".join(self._ctx.text(item) for item in (*call.args, *kept))
            self._becomes[call] = f"{self._name(node, name)}({arguments})"
        return True

    def _name(self, node: ast.expr, name: str) -> str:
        """A class of torch as the file would write it: ``nn.LayerNorm``."""
        module, _, rest = name.partition(".")
        torch = self._fix.use("torch", at=node)
        is_bound = module == "nn" and self._index.names.bindings_in(self._index.names.module, "nn")
        return f"{'' if is_bound else f'{torch}.'}{module}.{rest}"

    def _leave_as_it_is(self, call: ast.Call, statement: ast.stmt) -> bool:
        """``model, optimizer = amp.initialize(model, optimizer, ...)``"""
        if not isinstance(statement, ast.Assign) or statement.value is not call or len(statement.targets) > 1:
            return False
        given = self._given(call)
        if not given:
            return False
        target = statement.targets[0]
        targets = target.elts if isinstance(target, ast.Tuple) and len(given) > 1 else [target]
        texts = [self._ctx.text(item) for item in given]
        is_kept = texts == [self._ctx.text(item) for item in targets]
        enabled = self._is_mixed(call)
        if enabled is not None:
            condition = f", {enabled}" if enabled else ""
            texts[0] = f"{self._fix.use('tpulint_runtime', at=call)}.autocast_model({texts[0]}{condition})"
        if not is_kept:
            self._becomes[call] = ", ".join(texts)
        elif enabled is not None:
            self._becomes[statement] = texts[0]
        else:
            self._gone.append(statement)
        return True

    def _is_mixed(self, call: ast.Call) -> str | None:
        """On what mixed precision depends, as an argument; empty where it is always on, None where it is off."""
        given = dict(zip(("enabled", "opt_level"), call.args[2:4], strict=False))
        given |= {item.arg: item.value for item in call.keywords if item.arg is not None}
        enabled, level = given.get("enabled"), given.get("opt_level")
        if (isinstance(enabled, ast.Constant) and not enabled.value) or (
            isinstance(level, ast.Constant) and level.value == "O0"
        ):
            return None
        conditions = []
        if enabled is not None and not isinstance(enabled, ast.Constant):
            conditions.append(self._fix.text(enabled))
        if level is not None and not isinstance(level, ast.Constant):
            conditions.append(f'{self._fix.text(level)} != "O0"')
        if not conditions:
            return ""
        return f"enabled={conditions[0] if len(conditions) == 1 else ' and '.join(f'({one})' for one in conditions)}"

    def _given(self, call: ast.Call) -> list[ast.expr]:
        """The model, and the optimizer, that a call of ``amp.initialize`` is given."""
        keywords = {item.arg: item.value for item in call.keywords}
        found = [*call.args[:2], *(keywords[name] for name in ("models", "optimizers") if name in keywords)]
        return [] if any(isinstance(item, ast.Starred) for item in found) else found[:2]

    def _leave_unscaled(self, call: ast.Call, statement: ast.stmt) -> bool:
        """``with amp.scale_loss(loss, optimizer) as scaled: scaled.backward()``"""
        if not isinstance(statement, ast.With) or len(statement.items) > 1 or not call.args:
            return False
        name = statement.items[0].optional_vars
        if statement.items[0].context_expr is not call or not isinstance(name, ast.Name):
            return False
        uses = sorted(self._uses_of(name), key=self._index.span)
        computes = any(isinstance(item, ast.Call) for item in ast.walk(call.args[0]))
        if not all(self._index.tree.encloses(statement, use) for use in uses) or (computes and len(uses) > 1):
            return False
        if any(item.end_lineno != item.lineno for item in self._index.tree.nodes_in(statement, ast.Constant)):
            return False  # a text of several lines is not indented otherwise
        loss = self._fix.text(call.args[0])
        self._unscaled.append((statement, dict.fromkeys(uses, loss)))
        return True

    def _unwrap(self, block: ast.With, losses: dict[ast.AST, str]) -> None:
        """The statements of a block in its place, with all that becomes of them."""
        source, fix, index = self._ctx.source, self._fix, self._index
        name = block.items[0].optional_vars
        assert name is not None
        if any(index.tree.encloses(block, gone) for gone in self._gone):
            fix.give_up()
        inside = {node: text for node, text in self._becomes.items() if index.tree.encloses(block, node)}
        self._becomes = {node: text for node, text in self._becomes.items() if node not in inside}
        header = source.line_end(index.span(name).end)
        begin, end = index.tree.start(block.body[0]), index.tree.end(block.body[-1])
        if begin > header:  # with the comments above the first statement
            begin = source.past_newline(header)
        text, at = "", begin
        for node, becomes in sorted((losses | inside).items(), key=lambda item: index.span(item[0])):
            span = index.span(node)
            text, at = text + source.text[at : span.start] + becomes, span.end
        text = textwrap.dedent(text + source.text[at:end])
        self._becomes[block] = textwrap.indent(text, fix.indent_of(block)).lstrip(" \t")

    def _uses_of(self, name: ast.Name) -> list[ast.Name]:
        """Where the scaled loss is read, also behind its ``with``."""
        names, flow = self._index.names, self._index.flow
        loads = names.loads(name.id, names.scope_of(name))
        return [use for use in loads if any(binding.node is name for binding in flow.reaching(use))]

    def _parameters(self, call: ast.Call) -> str:
        """The parameters that an optimizer updates: those of the model that it was initialized with."""
        optimizer = self._ctx.text(call.args[0])
        for other in self._index.calls_to("apex.amp.initialize"):
            given = self._given(other)
            is_plain = len(given) == 2 and isinstance(given[0], ast.Name | ast.Attribute)
            is_here = self._index.function_of(other) is self._index.function_of(call)
            if is_plain and is_here and self._ctx.text(given[1]) == optimizer:
                return f"{self._ctx.text(given[0])}.parameters()"
        return f'[p for group in {optimizer}.param_groups for p in group["params"]]'

    def _leave_out_state(self, call: ast.Call, statement: ast.stmt) -> bool:
        """``{"model": ..., "amp": amp.state_dict()}``, ``state["amp"] = amp.state_dict()``"""
        if isinstance(statement, ast.Assign) and statement.value is call:
            is_item = len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Subscript)
            if is_item:
                self._gone.append(statement)
            return is_item
        state = self._index.parent(call)
        if isinstance(state, ast.IfExp) and isinstance(state.orelse, ast.Constant) and state.body is call:
            self._becomes[state] = self._ctx.text(state.orelse)  # `amp.state_dict() if mixed else None`
            return True
        if not isinstance(state, ast.Dict) or len(state.values) < 2:
            return False
        at, keys = state.values.index(call), [key for key in state.keys if key is not None]
        if len(keys) < len(state.keys):
            return False
        if at + 1 < len(keys):
            span = Span(self._index.span(keys[at]).start, self._index.span(keys[at + 1]).start)
        else:
            span = Span(self._index.span(state.values[at - 1]).end, self._index.span(call).end)
        self._fix.replace(span, "")
        return True
