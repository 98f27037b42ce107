"""Mapping tables: what a row finds, and what its action does to the text."""

from __future__ import annotations

import pytest
from made_rules import fixed, messages, rule_of, run

from tpulint.model import Applicability, Certainty, Severity

RENAME = (
    "- {old: torch.cuda.manual_seed, action: rename, new: torch_xla.manual_seed, since: '2.5', effect: seeds nothing}"
)
DELETE = "- {old: torch.cuda.empty_cache, action: delete}"
REPLACE = "- {old: torch.cuda.synchronize, action: replace, new: torch_xla.sync(wait=True)}"
FLAG = "- {old: [torch.backends.cudnn.benchmark, torch.backends.cudnn.enabled], action: delete, assigned: true}"
LOOP = """\
- old: torch.cuda.synchronize
  action: replace
  new: torch_xla.sync(wait=True)
  in_step_loop: {action: delete, applicability: unsafe, note: Wait at the boundary}
"""
STALE = """\
- old: torch_xla.old
  action: rename
  new: torch_xla.new
  arguments: [n as index]
  deprecated_in: '2.5'
  removed_in: '2.7'
"""
MODULE = "- {old: torch_xla.experimental.xs, action: rename-module, new: torch_xla.distributed.spmd, removed_in: '2.5'}"


# ------------------------------------------------------------------------ names


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "import torch\ntorch.cuda.manual_seed(1)\ntorch\n",
            "import torch\nimport torch_xla\ntorch_xla.manual_seed(1)\ntorch\n",
        ),
        (
            "import torch as t\nt.cuda.manual_seed(1)\nt\n",
            "import torch as t\nimport torch_xla\ntorch_xla.manual_seed(1)\nt\n",
        ),
        ("from torch.cuda import manual_seed\nmanual_seed(1)\n", "import torch_xla\ntorch_xla.manual_seed(1)\n"),
        (
            "import torch_xla as tx\nfrom torch import cuda\ncuda.manual_seed(1)\n",
            "import torch_xla as tx\ntx.manual_seed(1)\n",
        ),
        (
            "import torch_xla\nfrom torch import cuda\ncallbacks = [cuda.manual_seed]\n",
            "import torch_xla\ncallbacks = [torch_xla.manual_seed]\n",
        ),
    ],
)
def test_rename_follows_imports(before: str, after: str) -> None:
    assert fixed(RENAME, before) == after


@pytest.mark.parametrize(
    "text",
    [
        "import torch\n\ndef f(torch):\n    torch.cuda.manual_seed(1)\n",
        "class torch:\n    cuda = None\n\ntorch.cuda.manual_seed(1)\n",
        "from .torch import cuda\ncuda.manual_seed(1)\n",
        "import torch\ntorch.cuda.manual_seeds(1)\n",
        "import torch\ntorch.cuda.manual_seed = print\n",
        "import torch\nprint('torch.cuda.manual_seed(1)')  # torch.cuda.manual_seed(1)\n",
        "from torch.cuda import manual_seed\n\ndef f(x: manual_seed) -> manual_seed:\n    y: manual_seed = x\n",
    ],
)
def test_other_names_are_left_alone(text: str) -> None:
    assert messages(RENAME, text) == []


def test_value_of_an_annotated_assignment_is_no_annotation() -> None:
    assert len(messages(RENAME, "import torch\nseed: object = torch.cuda.manual_seed\n")) == 1


def test_attribute_of_a_name_in_the_table() -> None:
    mapping = "- {old: torch.cuda.Stream, action: unsupported, effect: fails}"
    result = run(rule_of(mapping), "import torch\nprint(torch.cuda.Stream.priority_range())\n")
    assert [finding.message for finding in result.findings] == ["`torch.cuda.Stream` fails"]
    assert result.text[slice(*result.findings[0].span)] == "torch.cuda.Stream"


def test_wildcard_yields_to_an_exact_row() -> None:
    mapping = (
        "- {old: torch.cuda.nccl.*, action: unsupported}\n- {old: torch.cuda.nccl.version, action: replace, new: '0'}"
    )
    text = "import torch\nprint(torch.cuda.nccl.version(), torch.cuda.nccl.unique_id())\n"
    assert messages(mapping, text) == [
        "`torch.cuda.nccl.version` has no meaning on torch_xla; use `0`",
        "`torch.cuda.nccl.unique_id` has no meaning on torch_xla",
    ]
    assert fixed(mapping, text) == "import torch\nprint(0, torch.cuda.nccl.unique_id())\n"


def test_name_in_an_fstring_is_found_and_text_stays_valid() -> None:
    mapping = "- {old: torch.cuda.current_device, action: replace, new: torch_xla.device()}"
    text = 'import torch\nprint(f"""\nüber {torch.cuda.current_device()} {torch.cuda.current_device()!r:>10}\n""")\n'
    assert len(messages(mapping, text)) == 2
    compile(fixed(mapping, text), "fixed", "exec")


def test_half_of_a_device_name_is_not_changed() -> None:
    mapping = "- {old: torch.cuda.current_device, action: replace, new: torch_xla.device()}"
    text = 'import torch\nname = f"cuda:{torch.cuda.current_device()}"\n'
    assert len(messages(mapping, text)) == 1
    assert fixed(mapping, text, unsafe=True) == text


@pytest.mark.parametrize(
    ("body", "is_number"),
    [
        ("print(torch.cuda.current_device() == 0)", True),
        ("print(0 != torch.cuda.current_device())", True),
        ("print(not torch.cuda.current_device())", True),
        ("print(torch.cuda.current_device() < n)", True),
        ("print(torch.cuda.current_device() in gpus)", True),
        ("rank = torch.cuda.current_device()\nif rank == 0:\n    print(rank > 0)", True),
        ("print(torch.cuda.current_device() == x.device)", False),
        ("print(devices in torch.cuda.current_device())", False),
        ("print(torch.cuda.current_device())", False),
        ("rank = torch.cuda.current_device()\nif rank == 0:\n    x.to(rank)", False),
        ("rank = torch.cuda.current_device()", False),
    ],
)
def test_numbers_that_are_compared(body: str, is_number: bool) -> None:
    """What stands for a number becomes one: a device equals none, and what the comparison guards was lost."""
    row = "{old: torch.cuda.current_device, action: replace, new: torch_xla.device(), as_number: torch_xla.ordinal()}"
    ported = fixed(f"- {row}", f"import torch\n{body}\n", unsafe=True)
    assert ("torch_xla.ordinal()" in ported) == is_number
    assert ("torch_xla.device()" in ported) != is_number


# ------------------------------------------------------------------------ delete


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("torch.cuda.empty_cache()\nx = 1\n", "x = 1\n"),
        ("x = 1; torch.cuda.empty_cache(); y = 2\n", "x = 1; y = 2\n"),
        ("if x:\n    torch.cuda.empty_cache()\n", ""),
        (
            'def f():\n    """Cleans up."""\n    torch.cuda.empty_cache();\nf()\n',
            'def f():\n    """Cleans up."""\nf()\n',
        ),
        ("for x in y:\n    torch.cuda.empty_cache()\n    f(x)\n", "for x in y:\n    f(x)\n"),
        ("y = torch.cuda.empty_cache()\n", "y = torch.cuda.empty_cache()\n"),
        ("f(torch.cuda.empty_cache())\n", "f(torch.cuda.empty_cache())\n"),
        ("callbacks = [torch.cuda.empty_cache]\n", "callbacks = [torch.cuda.empty_cache]\n"),
        ("x = lambda: torch.cuda.empty_cache()\n", "x = lambda: torch.cuda.empty_cache()\n"),
    ],
)
def test_delete_takes_out_statements_only(before: str, after: str) -> None:
    head = "import torch\nx = y = f = torch\n"
    assert fixed(DELETE, head + before) == head + after
    assert len(messages(DELETE, head + before)) == 1


@pytest.mark.parametrize(
    ("argument", "applicability"),
    [
        ("3", Applicability.SAFE),
        ("args.rank", Applicability.SAFE),
        ('f"{i}"', Applicability.SAFE),
        ('"{}".format(i)', Applicability.SAFE),
        ('int(os.environ["LOCAL_RANK"])', Applicability.SAFE),
        ("pick()", Applicability.UNSAFE),
        ("i := 3", Applicability.UNSAFE),
    ],
)
def test_delete_is_unsafe_when_arguments_do_something(argument: str, applicability: Applicability) -> None:
    text = f"import os\nimport torch\ntorch.cuda.set_device({argument})\n"
    result = run(rule_of("- {old: torch.cuda.set_device, action: delete}"), text, fix=False)
    assert [finding.fix and finding.fix.applicability for finding in result.findings] == [applicability]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("cudnn.benchmark = True\nx = 1\n", "x = 1\n"),
        ("cudnn.benchmark = cudnn.enabled = True\nx = 1\n", "x = 1\n"),
        ("cudnn.benchmark = x = True\n", "cudnn.benchmark = x = True\n"),
        ("cudnn.benchmark, x = True, 1\n", "cudnn.benchmark, x = True, 1\n"),
    ],
)
def test_assigned_flag_is_deleted(before: str, after: str) -> None:
    head = "from torch.backends import cudnn\nprint(cudnn)\n"
    assert fixed(FLAG, head + before) == head + after


def test_reading_a_flag_is_silent() -> None:
    assert (
        messages(FLAG, "import torch\nif torch.backends.cudnn.benchmark:\n    print(torch.backends.cudnn.enabled)\n")
        == []
    )


def test_flag_set_to_a_called_value_is_unsafe() -> None:
    text = "import torch\ntorch.backends.cudnn.benchmark = choose()\n"
    assert fixed(FLAG, text) == text
    assert fixed(FLAG, text, unsafe=True) == ""


# ------------------------------------------------------------------------ replace, with items, step loops


def test_replace_drops_arguments() -> None:
    text = "import torch\nimport torch_xla\ntorch.cuda.synchronize(device=0)\ntorch\n"
    assert fixed(REPLACE, text) == "import torch\nimport torch_xla\ntorch_xla.sync(wait=True)\ntorch\n"


@pytest.mark.parametrize(
    "use", ["torch.cuda.synchronize.__name__", "hasattr(torch.cuda.synchronize, 'x')", "[torch.cuda.synchronize]"]
)
def test_replace_of_a_name_that_is_not_called_has_no_fix(use: str) -> None:
    text = f"import torch\nwait = {use}\n"
    assert fixed(REPLACE, text, unsafe=True) == text
    assert len(messages(REPLACE, text)) == 1


def test_replace_of_a_function_that_is_kept_for_later() -> None:
    text = "import torch\nwait = torch.cuda.synchronize\n"
    assert fixed(REPLACE, text) == text
    assert "wait = lambda: torch_xla.sync(wait=True)\n" in fixed(REPLACE, text, unsafe=True)


def test_with_item() -> None:
    mapping = "- {old: torch.cuda.device, action: replace, new: contextlib.nullcontext(), with_item: true}"
    text = "import torch\nwith torch.cuda.device(0), open('x') as f:\n    torch\n"
    assert fixed(mapping, text) == (
        "import torch\nimport contextlib\nwith contextlib.nullcontext(), open('x') as f:\n    torch\n"
    )
    text = "import torch\nd = torch.cuda.device(0)\n"
    assert fixed(mapping, text, unsafe=True) == text


STEP_LOOP = """\
import torch
import torch_xla
model = torch.nn.Linear(2, 2)
optimizer = torch.optim.SGD(model.parameters())
torch.cuda.synchronize()
for x in loader:
    loss = model(x).sum()
    loss.backward()
    optimizer.step()
    torch.cuda.synchronize()
"""


def test_action_inside_a_step_loop() -> None:
    assert fixed(LOOP, STEP_LOOP).count("torch.cuda.synchronize()") == 1, "in the loop the fix is unsafe"
    after = fixed(LOOP, STEP_LOOP, unsafe=True)
    assert after == STEP_LOOP.replace("\n    torch.cuda.synchronize()", "").replace(
        "torch.cuda.synchronize()", "torch_xla.sync(wait=True)"
    )
    outside, inside = messages(LOOP, STEP_LOOP)
    assert outside.endswith("; use `torch_xla.sync(wait=True)`")
    assert inside.endswith("; remove it. Wait at the boundary")


def test_fix_that_acquires_the_device_is_unsafe_where_processes_start() -> None:
    mapping = RENAME.replace("}", ", acquires_device: true}")
    text = "import torch\nimport torch_xla\ntorch.cuda.manual_seed(1)\ntorch.multiprocessing.Process(target=main)\n"
    assert fixed(mapping, text) == text
    assert "torch_xla.manual_seed(1)" in fixed(mapping, text, unsafe=True)
    assert "torch_xla.manual_seed(1)" in fixed(mapping, text.replace("Process", "get_context"))


def test_fix_acquires_no_device_before_a_launch() -> None:
    mapping = RENAME.replace("}", ", acquires_device: true}")
    text = "import torch\nimport torch_xla\ntorch.cuda.manual_seed(1)\ntorch.multiprocessing.spawn(main)\n"
    assert fixed(mapping, text, unsafe=True) == text
    behind = "import torch\nimport torch_xla\ntorch.multiprocessing.spawn(main)\ntorch.cuda.manual_seed(1)\n"
    assert "torch_xla.manual_seed(1)" in fixed(mapping, behind, unsafe=True)


# ------------------------------------------------------------------------ versions


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ((2, 4), []),
        ((2, 5), [("`torch_xla.old` is deprecated since torch_xla 2.5; use `torch_xla.new`", Severity.WARNING)]),
        ((2, 6), [("`torch_xla.old` is deprecated since torch_xla 2.5; use `torch_xla.new`", Severity.WARNING)]),
        ((2, 7), [("`torch_xla.old` is gone since torch_xla 2.7; use `torch_xla.new`", Severity.ERROR)]),
    ],
)
def test_versions_decide_whether_a_row_speaks(version: tuple[int, int], expected: list[tuple[str, Severity]]) -> None:
    result = run(rule_of(STALE), "import torch_xla\ntorch_xla.old()\n", fix=False, version=version)
    assert [(finding.message, finding.severity) for finding in result.findings] == expected


@pytest.mark.parametrize("severity", ["info", "warning", "error"])
def test_severity_of_a_row_comes_first(severity: str) -> None:
    for mapping in (DELETE, STALE.replace("old\n", "old\n  severity: info\n", 1)):
        row = mapping.replace("delete}", f"delete, severity: {severity}}}").replace(
            "severity: info", f"severity: {severity}"
        )
        text = "import torch\nimport torch_xla\ntorch.cuda.empty_cache()\ntorch_xla.old()\n"
        assert [finding.severity.label for finding in run(rule_of(row), text, fix=False).findings] == [severity]


def test_no_fix_before_the_new_name_exists() -> None:
    text = "import torch\nimport torch_xla\ntorch.cuda.manual_seed(1)\n"
    assert fixed(RENAME, text, version=(2, 4)) == text
    assert messages(RENAME, text, version=(2, 4)) == [
        "`torch.cuda.manual_seed` seeds nothing; use `torch_xla.manual_seed`"
    ]
    assert fixed(RENAME, text, version=(2, 5)) == text.replace("torch.cuda.manual", "torch_xla.manual").replace(
        "import torch\n", ""
    )


# ------------------------------------------------------------------------ arguments


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("()", "()"),
        ("(1)", "(1)"),
        ("(n=1)", "(index=1)"),
        ("(1, 'TPU')", "(1)"),
        ("(n=1, devkind='TPU')", "(index=1)"),
        ("(devkind='TPU', n=1)", "(index=1)"),
        ("(devkind='TPU')", "()"),
        ("(\n    devkind='TPU',\n)", "()"),
    ],
)
def test_only_listed_parameters_are_kept(before: str, after: str) -> None:
    assert fixed(STALE, f"import torch_xla\ntorch_xla.old{before}\n") == f"import torch_xla\ntorch_xla.new{after}\n"


@pytest.mark.parametrize(
    "call", ["torch_xla.old(*given)", "torch_xla.old(**given)", "(torch_xla.old)(devkind=1)", "torch_xla.old(1, 2, 3)"]
)
def test_arguments_that_cannot_be_sorted_out_have_no_fix(call: str) -> None:
    text = f"import torch_xla\n{call}\n"
    assert fixed(STALE, text, unsafe=True) == text
    assert len(messages(STALE, text)) == 1


def test_uncalled_name_with_a_changed_signature_is_unsafe() -> None:
    text = "import torch_xla\nf = torch_xla.old\n"
    assert fixed(STALE, text) == text
    assert fixed(STALE, text, unsafe=True) == "import torch_xla\nf = torch_xla.new\n"


DROP = "- {old: torch.spawn, action: drop-argument, argument: nprocs, position: 2, allowed: [null, 1], effect: raises}"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("(f)", None),
        ("(f, nprocs=None)", None),
        ("(f, nprocs=1)", None),
        ("(f, **given)", None),
        ("(f, *given)", None),
        ("(f, nprocs=8)", "(f)"),
        ("(f, nprocs=True)", "(f)"),
        ("(f, nprocs=8, join=True)", "(f, join=True)"),
        ("(f, (), 8)", "(f, ())"),
        ("(f, (), 8, True)", "(f, (), 8, True)"),
    ],
)
def test_drop_argument(before: str, after: str | None) -> None:
    text = f"import torch\ntorch.spawn{before}\n"
    assert messages(DROP, text) == ([] if after is None else ["`nprocs` of `torch.spawn` raises; leave it out"])
    assert fixed(DROP, text) == f"import torch\ntorch.spawn{after or before}\n"


def test_argument_with_an_unknown_value_is_likely() -> None:
    (finding,) = run(rule_of(DROP), "import torch\ntorch.spawn(f, nprocs=n)\n", fix=False).findings
    assert finding.certainty is Certainty.LIKELY
    assert finding.fix is not None and finding.fix.applicability is Applicability.UNSAFE


SET = "- {old: torch.normal, action: set-argument, argument: validate, new: 'False', position: 1, allowed: [false]}"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("(m)", "(m, validate=False)"),
        ("()", "(validate=False)"),
        ("(m, validate=True)", "(m, validate=False)"),
        ("(m, True)", "(m, False)"),
        ("(m, validate=False)", None),
        ("(m, False)", None),
        ("(m, **given)", None),
    ],
)
def test_set_argument(before: str, after: str | None) -> None:
    text = f"import torch\ntorch.normal{before}\n"
    assert len(messages(SET, text)) == (after is not None)
    assert fixed(SET, text) == f"import torch\ntorch.normal{after or before}\n"


RENAME_ARGUMENT = "- {old: torch.compile, action: rename-argument, argument: old, new: young, removed_in: '2.8'}"


@pytest.mark.parametrize(
    ("before", "after"),
    [("(f, old=3)", "(f, young=3)"), ("(f)", None), ("(old = 3, young=1)", "(old = 3, young=1)")],
)
def test_rename_argument(before: str, after: str | None) -> None:
    text = f"import torch\ntorch.compile{before}\n"
    assert len(messages(RENAME_ARGUMENT, text)) == (after is not None)
    assert fixed(RENAME_ARGUMENT, text) == f"import torch\ntorch.compile{after or before}\n"
    assert messages(RENAME_ARGUMENT, text, version=(2, 7)) == []


# ------------------------------------------------------------------------ modules


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import torch_xla.experimental.xs as xs\nxs.Mesh()\n", "import torch_xla.distributed.spmd as xs\nxs.Mesh()\n"),
        (
            "from torch_xla.experimental import xs\nxs.Mesh()\n",
            "from torch_xla.distributed import spmd as xs\nxs.Mesh()\n",
        ),
        (
            "from torch_xla.experimental import xs as spmd\nspmd.Mesh()\n",
            "from torch_xla.distributed import spmd\nspmd.Mesh()\n",
        ),
        (
            "from torch_xla.experimental.xs import Mesh, mark\nMesh()\n",
            "from torch_xla.distributed.spmd import Mesh, mark\nMesh()\n",
        ),
        (
            "import torch_xla.experimental.xs\ntorch_xla.experimental.xs.Mesh()\n",
            "import torch_xla.distributed.spmd\ntorch_xla.distributed.spmd.Mesh()\n",
        ),
        (
            "from torch_xla.experimental import xs, eager\nxs.Mesh()\n",
            "from torch_xla.experimental import xs, eager\nxs.Mesh()\n",
        ),
        ("import torch_xla as tx\ntx.experimental.xs.Mesh()\n", "import torch_xla as tx\ntx.experimental.xs.Mesh()\n"),
    ],
)
def test_moved_module(before: str, after: str) -> None:
    assert (
        messages(MODULE, before)[0]
        == "`torch_xla.experimental.xs` is gone since torch_xla 2.5; use `torch_xla.distributed.spmd`"
    )
    assert fixed(MODULE, before) == after
    if after != before:
        assert messages(MODULE, after) == []
    assert messages(MODULE, before, version=(2, 4)) == []


def test_module_that_is_not_there_yet_has_no_fix() -> None:
    text = "import torch_xla.experimental.xs as xs\nxs.Mesh()\n"
    late = MODULE.replace("}", ", since: '2.6'}")
    assert fixed(late, text, version=(2, 5)) == text
    assert len(messages(late, text, version=(2, 5))) == 1
    assert fixed(late, text, version=(2, 6)) != text


# ------------------------------------------------------------------------ portable code


def test_portable_code_keeps_what_cuda_needs() -> None:
    guarded = "import torch\nif torch.cuda.is_available():\n    torch.cuda.empty_cache()\n"
    assert messages(DELETE, guarded, portable=True) == []
    assert len(messages(DELETE, guarded)) == 1
    assert len(messages(DELETE, guarded.replace(":\n", ":\n    pass\nelse:\n"), portable=True)) == 1
    bare = "import torch\ntorch.cuda.empty_cache()\n"
    assert len(messages(DELETE, bare, portable=True)) == 1
    assert fixed(DELETE, bare, portable=True) == guarded
    kept = DELETE.replace("action: delete", "action: delete, portable: keep")
    assert kept != DELETE
    assert messages(kept, bare, portable=True) == []
    used = "import torch\nx = torch.cuda.empty_cache()\n"
    assert len(messages(DELETE, used, portable=True)) == 1
    assert fixed(DELETE, used, unsafe=True, portable=True) == used
    stale = "import torch_xla\ntorch_xla.old()\n"
    assert fixed(STALE, stale, portable=True) == "import torch_xla\ntorch_xla.new()\n"


def test_name_kept_for_older_versions_is_no_finding() -> None:
    """A test for a newer version in front of it says that its author knows."""
    table = """
    - {old: torch_xla.core.xla_model.get_ordinal, action: rename, new: torch_xla.runtime.global_ordinal,
       removed_in: "2.7"}
    """
    text = "import torch_xla.core.xla_model as xm\n\n\ndef rank():\n{}    return xm.get_ordinal()\n"
    assert messages(table, text.format(""))
    assert not messages(table, text.format("    if _XLA_GREATER_EQUAL_2_1:\n        return 0\n"))
    assert messages(table, text.format("    if _XLA_IN_USE:\n        return 0\n"))


# ------------------------------------------------------------------------ arguments given by `**`

GIVEN = "- {old: torch.make, action: set-argument, argument: half, new: 'False', given: [true], effect: fails}"
ABSENT = "- {old: torch.make, action: set-argument, argument: half, new: 'False', given: [], effect: fails}"
UNLESS = (
    "- {old: torch.make, action: drop-argument, argument: half, given: [true], unless: {mode: ['off']}, effect: fails}"
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("options = {'half': True}\ntorch.make(**options)\n", 1),
        ("options = dict(half=True)\ntorch.make(1, **options)\n", 1),
        ("options = {}\noptions['half'] = True\ntorch.make(**options)\n", 1),
        ("base = {'half': True}\noptions = {**base, 'other': 1}\ntorch.make(**options)\n", 1),
        ("options = {'half': True}\nif fast:\n    options['half'] = False\ntorch.make(**options)\n", 0),
        ("options = {'half': True}\nif fast:\n    options.update(read())\ntorch.make(**options)\n", 0),
        ("options = {'half': True}\noptions.pop('half')\ntorch.make(**options)\n", 0),
        ("options = {key: True}\ntorch.make(**options)\n", 0),
        ("def build(options):\n    return torch.make(**options)\n", 0),
        ("options = {'half': True, 'other': 1}\ntorch.make(*items, **options)\n", 0),
    ],
)
def test_argument_in_a_visible_dictionary(text: str, found: int) -> None:
    text = "import torch\n" + text
    assert len(messages(GIVEN, text)) == found
    assert fixed(GIVEN, text) == text


def test_dictionary_without_the_argument_lacks_it() -> None:
    text = "import torch\noptions = {'other': 1}\ntorch.make(**options)\n"
    assert fixed(ABSENT, text) == text.replace("**options", "**options, half=False")
    assert not messages(ABSENT, text.replace("'other'", "key"))
    assert not messages(ABSENT, text.replace("'other'", "'half'"))


@pytest.mark.parametrize(
    ("others", "found"),
    [("", 1), (", mode='on'", 1), (", mode='off'", 0), (", mode=mode", 0), (", **rest", 0), (", **{'mode': 'off'}", 0)],
)
def test_row_does_not_matter_beside_other_values(others: str, found: int) -> None:
    assert len(messages(UNLESS, f"import torch\ntorch.make(half=True{others})\n")) == found
