"""What the index knows of processes: launches, ranks, process groups, numbers of GPUs, origins of values."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path

import pytest
from marked_files import agree

from tpulint.fixer import apply
from tpulint.fixes import FixBuilder
from tpulint.imports import ImportTable
from tpulint.model import Applicability
from tpulint.semantic import SemanticIndex
from tpulint.semantic.values.origins import origins, written_at
from tpulint.source import SourceFile


def index_of(text: str) -> SemanticIndex:
    text = textwrap.dedent(text)
    return SemanticIndex(SourceFile.from_text(text), ast.parse(text))


def call_of(index: SemanticIndex, callee: str) -> ast.Call:
    return next(call for call in index.calls if index.text(call.func) == callee)


def load_of(index: SemanticIndex, text: str) -> ast.expr:
    """The last expression of this text that is read."""
    nodes: list[ast.expr] = [*index.tree.names, *index.tree.attributes]
    return [node for node in nodes if index.text(node) == text and isinstance(node.ctx, ast.Load)][-1]  # type: ignore[attr-defined]


# -------------------------------------------------------------------- launches

LAUNCH = """
    import torch_xla


    class Trainer:
        def __init__(self, model):
            self.model = model

        def run(self):
            step(self.model)


    def step(model):
        print("step", model)


    def train(index, model):
        Trainer(model).run()


    def unrelated():
        print("unrelated")


    def main():
        prepare()
        if fast:
            print("other branch")
        else:
            torch_xla.launch(train, args=(1,))
        print("after")


    def prepare():
        print("prepared")


    print("module level")
    main()
"""


def printed(index: SemanticIndex, text: str) -> ast.Call:
    return next(call for call in index.calls if call.args and index.text(call.args[0]) == f'"{text}"')


def test_launch_runs_what_its_function_reaches() -> None:
    index = index_of(LAUNCH)
    assert index.launches.launch_of(printed(index, "step")) is index.launches.launches[0]
    for text in ("unrelated", "prepared", "after", "module level"):
        assert index.launches.launch_of(printed(index, text)) is None


def test_before_a_launch_runs_what_stands_above_it() -> None:
    index = index_of(LAUNCH)
    before = index.launches.before(index.launches.launches[0].call)
    assert printed(index, "prepared") in before
    assert printed(index, "module level") in before
    for text in ("after", "other branch", "step", "unrelated"):
        assert printed(index, text) not in before


def test_function_may_come_through_partial_and_parameters() -> None:
    index = index_of(
        """
        from functools import partial
        import torch.multiprocessing as mp


        def first(rank): ...


        def second(rank): ...


        def start(function):
            mp.spawn(function, nprocs=2)


        start(first)
        start(partial(second))
        """
    )
    (launch,) = index.launches.launches
    assert [function.name for function in launch.functions] == ["first", "second"]
    assert not launch.is_xla


@pytest.mark.parametrize(
    ("call", "starts"),
    [
        ("torch_xla.launch(train)", True),
        ("torch_xla.launch(train, debug_single_process=True)", False),
        ("torch_xla.launch(train, debug_single_process=False)", True),
        ("xmp.spawn(train)", True),
        ("xmp.spawn(train, nprocs=1)", False),
        ("xmp.spawn(train, nprocs=None)", True),
        ("mp.spawn(train, nprocs=4)", False),
    ],
)
def test_which_launches_start_xla_processes(call: str, starts: bool) -> None:
    index = index_of(
        f"""
        import torch.multiprocessing as mp
        import torch_xla
        import torch_xla.distributed.xla_multiprocessing as xmp


        def train(index): ...


        {call}
        """
    )
    assert [launch.starts_processes for launch in index.launches.launches] == [starts]


@pytest.mark.parametrize(
    "start",
    [
        "mp.Process(target=run, args=(0,)).start()",
        'mp.get_context("spawn").Process(target=run, args=(0,)).start()',
        'context = mp.get_context("spawn"); context.Process(target=run, args=(0,)).start()',
    ],
)
def test_process_started_by_hand_is_no_launch(start: str) -> None:
    index = index_of(
        f"""
        import torch.multiprocessing as mp


        def inner(): ...


        def run(rank):
            inner()


        {start}
        """
    )
    assert not index.launches
    ((_, functions),) = index.launches.started_by_hand()
    assert {function.name for function in functions} == {"run", "inner"}


def test_a_context_of_something_else_starts_no_process() -> None:
    index = index_of("import mxnet\ncontext = mxnet.get_context('x')\ncontext.Process(target=print, args=(0,))\n")
    assert not list(index.launches.started_by_hand())


POOLED = """
    import torch
    from {module} import {pool}

    device = torch.device("cuda")


    def train(size):
        torch.zeros(size, device=device)


    def prepare(path):
        return len(path)


    {run}
    print("parent")
"""


@pytest.mark.parametrize(
    ("module", "pool", "run", "is_parent"),
    [
        ("multiprocessing", "Pool", "with Pool(4) as p: p.map(train, [1, 2])", True),
        ("multiprocessing", "Pool", "p = Pool(); p.apply_async(train, (1,))", True),
        ("torch.multiprocessing", "Pool", "Pool(4).starmap(train, [(1,)])", True),
        ("concurrent.futures", "ProcessPoolExecutor", "ProcessPoolExecutor(2).submit(train, 1)", True),
        ("concurrent.futures", "ThreadPoolExecutor", "ThreadPoolExecutor(2).submit(train, 1)", False),
        ("multiprocessing", "Pool", "with Pool(4) as p: p.map(prepare, ['a'])", False),
        ("multiprocessing", "Pool", "with Pool(1) as p: p.map(train, [1, 2])", False),
        ("multiprocessing", "Pool", "with Pool(4) as p: p.close()", False),
    ],
)
def test_pool_whose_processes_use_a_device_has_a_parent(module: str, pool: str, run: str, is_parent: bool) -> None:
    """Forked from a process in which the XLA runtime runs, they hang; a pool that prepares data does not."""
    index = index_of(POOLED.format(module=module, pool=pool, run=run))
    assert bool(index.parent_process) is is_parent
    assert index.parent_process.runs(printed(index, "parent")) is is_parent


# -------------------------------------------------------------------- numbers of GPUs


@pytest.mark.parametrize(
    ("value", "is_count", "is_zero"),
    [
        ("torch.cuda.device_count()", True, True),
        ("torch.accelerator.device_count()", True, True),
        ("torch.cuda.device_count() if torch.cuda.is_available() else 1", True, False),
        ("max(1, torch.cuda.device_count())", True, False),
        ("args.gpus or torch.cuda.device_count()", True, False),
        ("2 * torch.cuda.device_count()", False, False),
        ("rank % torch.cuda.device_count()", False, False),
        ("8", False, False),
    ],
)
def test_number_of_gpus(value: str, is_count: bool, is_zero: bool) -> None:
    index = index_of(f"import torch\n\nn = {value}\nm = n\nprint(m)\n")
    use = load_of(index, "m")
    assert index.device_counts.is_count(use) is is_count
    assert index.device_counts.is_zero(use) is is_zero


def test_variable_with_two_values_is_not_certainly_zero() -> None:
    index = index_of("import torch\nn = 4\nif fast:\n    n = torch.cuda.device_count()\nprint(n)\n")
    assert index.device_counts.is_count(load_of(index, "n"))
    assert not index.device_counts.is_zero(load_of(index, "n"))


@pytest.mark.parametrize(
    ("test", "answer"),
    [
        ("n > 1", True), ("n >= 2", True), ("1 < n", True), ("n < 2", False), ("2 > n", False), ("n == 0", False),
        ("n != 1", True), ("n", True), ("n == 4", None), ("n > least", None), ("rank > 1", None), ("n > 1 > 0", None),
    ],
)  # fmt: skip
def test_answer_of_a_comparison_where_there_are_several_devices(test: str, answer: bool | None) -> None:
    index = index_of(f"import torch\nn = torch.cuda.device_count()\nif {test}:\n    pass\n")
    condition = next(node for node in index.tree.parents if isinstance(node, ast.If))
    assert index.device_counts.answer(condition.test) is answer


# -------------------------------------------------------------------- origins


def texts(index: SemanticIndex, node: ast.expr) -> list[str]:
    return [index.text(origin.node) for origin in origins(index, node)]


def test_origins_through_variables_options_and_conditions() -> None:
    index = index_of(
        """
        import argparse

        parser = argparse.ArgumentParser()
        parser.add_argument("-b", "--dist-backend", default="nccl")
        args = parser.parse_args()
        backend = args.dist_backend if distributed else "gloo"
        print(backend)
        """
    )
    found = origins(index, load_of(index, "backend"))
    assert [(index.text(origin.node), origin.by_user) for origin in found] == [('"nccl"', True), ('"gloo"', False)]


def test_origins_through_parameters() -> None:
    index = index_of(
        """
        def setup(rank, backend="nccl"):
            print(backend)


        setup(0)
        setup(1, backend="gloo")
        """
    )
    assert sorted(texts(index, load_of(index, "backend"))) == ['"gloo"', '"nccl"']


def test_value_that_depends_on_itself_has_an_end() -> None:
    index = index_of("while True:\n    a = b\n    b = a\nprint(a)\n")
    assert texts(index, load_of(index, "a")) == []


def test_place_where_a_value_is_written() -> None:
    index = index_of("name = 'nccl'\nbackend = name\nprint(backend)\n")
    assert index.text(written_at(index, load_of(index, "backend"))) == "'nccl'"
    index = index_of("backend = 'nccl'\nif cpu:\n    backend = 'gloo'\nprint(backend)\n")
    assert index.text(written_at(index, load_of(index, "backend"))) == "backend"


# -------------------------------------------------------------------- process groups and ranks


@pytest.mark.parametrize(
    ("backend", "on_device"),
    [
        ('"nccl"', True), ('"NCCL"', True), ('"cpu:gloo,cuda:nccl"', True), ('"xla"', True), ('"gloo"', False),
        ("dist.Backend.NCCL", True), ("dist.get_default_backend_for_device(device)", True), ("config.backend", False),
    ],
)  # fmt: skip
def test_process_group_on_the_device(backend: str, on_device: bool) -> None:
    index = index_of(f"import torch.distributed as dist\ndist.init_process_group({backend})\n")
    assert index.process_groups.on_device is on_device


def test_data_for_each_process_is_made_from_the_rank() -> None:
    index = index_of(
        """
        import torch.distributed as dist

        rank = dist.get_rank()
        part = data[rank::8]
        model = wrap(data)
        print(part, model)
        """
    )
    assert index.ranks.is_made_from_rank(load_of(index, "part"))
    assert not index.ranks.is_made_from_rank(load_of(index, "model"))


# -------------------------------------------------------------------- edits


def edited(text: str, edit: str) -> str | None:
    """The text after one operation of the fix builder on its first call or function."""
    index = index_of(text)
    fix = FixBuilder(index, ImportTable(index), "", Applicability.SAFE, "")
    call = index.calls[0] if index.calls else None
    function = index.tree.functions[0] if index.tree.functions else None
    items = [] if call is None else [*call.args, *call.keywords]
    arguments = {index.text(item).split("=")[0]: item for item in items}
    parameters = {} if function is None else {item.arg: item for item in function.args.args}
    eval(edit, {"fix": fix, "call": call, "function": function, "a": arguments, "p": parameters})
    built = fix.build()
    return None if built is None else apply(index, [built])


@pytest.mark.parametrize(
    ("text", "names", "result"),
    [
        ("f(1, x=2, y=3)\n", "['x']", "f(1, y=3)\n"),
        ("f(1, x=2, y=3)\n", "['x', 'y']", "f(1)\n"),
        ("f(1, x=2, y=3)\n", "['1', 'y']", "f(x=2)\n"),
        ("f(1, x=2, y=3)\n", "['1', 'x', 'y']", "f()\n"),
        ("f(\n    1,\n    x=2,\n    y=3,\n)\n", "['x', 'y']", "f(\n    1,\n)\n"),
        ("f(x=2)\n", "[]", None),
    ],
)
def test_delete_arguments(text: str, names: str, result: str | None) -> None:
    assert edited(text, f"fix.delete_arguments(call, [a[name] for name in {names}])") == result


@pytest.mark.parametrize(
    ("text", "name", "result"),
    [
        ("def f(a, b, c): ...\n", "b", "def f(a, c): ...\n"),
        ("def f(a, b: int): ...\n", "b", "def f(a): ...\n"),
        ("def f(a, b): ...\n", "a", "def f(b): ...\n"),
        ("def f(a, b=1): ...\n", "b", None),
        ("def f(a): ...\n", "a", "def f(): ...\n"),
    ],
)
def test_delete_parameter(text: str, name: str, result: str | None) -> None:
    assert edited(text, f"fix.delete_parameter(function, p[{name!r}])") == result


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("def f():\n    pass\n", "def f():\n    n = 1\n    pass\n"),
        ('def f():\n    """Text."""\n    pass\n', 'def f():\n    """Text."""\n    n = 1\n    pass\n'),
        ("def f():\n    global g\n    g = 2\n", "def f():\n    global g\n    n = 1\n    g = 2\n"),
        ("def f(): return 2\n", "def f(): n = 1; return 2\n"),
        ("def f():\n    # why\n    return 2\n", "def f():\n    # why\n    n = 1\n    return 2\n"),
    ],
)
def test_insert_at_start(text: str, result: str) -> None:
    assert edited(text, "fix.insert_at_start(function, 'n = 1')") == result


WORKER = """\
    import torch.distributed as dist

    def join():
        dist.init_process_group("BACKEND")

    def work(rank):
        join()
    """


@pytest.mark.parametrize(("backend", "is_for_gpus"), [("nccl", True), ("gloo", False)])
def test_processes_of_a_group_that_another_file_joins(tmp_path: Path, backend: str, is_for_gpus: bool) -> None:
    start = f"""\
        import torch.multiprocessing as mp
        import worker

        if __name__ == "__main__":
            mp.spawn(worker.work, args=(), nprocs=2){"  # TPU601" if is_for_gpus else ""}
        """
    wait = f"""\
        import torch.distributed as dist
        import worker

        def save():
            dist.barrier(){"  # TPU618" if is_for_gpus else ""}
        """
    agree(tmp_path, select="TPU601,TPU618", worker=WORKER.replace("BACKEND", backend), start=start, wait=wait)


@pytest.mark.parametrize("line", ["from . import joining", "from .joining import *", "from net import joining"])
def test_group_that_a_module_beside_in_the_package_joins(tmp_path: Path, line: str) -> None:
    wait = f"""\
        import torch.distributed as dist
        {line}

        def save():
            dist.barrier()  # TPU618
        """
    (tmp_path / "net").mkdir()
    agree(
        tmp_path,
        select="TPU618",
        **{"net/__init__": "", "net/joining": WORKER.replace("BACKEND", "nccl"), "net/wait": wait},
    )


GATHERING = """\
    import torch.distributed as dist

    def collect(values, objects):
        parts = [None] * dist.get_world_size()
        dist.all_gather_object(parts, values)MARK
        dist.all_gather_object(parts, values, objects)
        return parts
    """
TRAINS = "import gathering\n\n\ndef finish(values):\n    return gathering.collect(values, None)\n"
JOINING = (
    "import torch.distributed as dist\nfrom trains import finish\n\ndist.init_process_group('BACKEND')\nfinish([1])\n"
)


@pytest.mark.parametrize(
    ("main", "other", "is_told"),
    [
        (JOINING.replace("BACKEND", "nccl"), "", True),
        (JOINING.replace("BACKEND", "xla"), "", True),
        (JOINING.replace("BACKEND", "gloo"), "", False),
        (JOINING.replace("BACKEND", "nccl"), JOINING.replace("BACKEND", "gloo"), False),
        (JOINING.replace("BACKEND", "nccl").replace("from trains import finish", "finish = print"), "", False),
    ],
)
def test_objects_sent_in_a_file_that_programs_import_which_join_a_group(
    tmp_path: Path, main: str, other: str, is_told: bool
) -> None:
    gathering = GATHERING.replace("MARK", "  # TPU617" if is_told else "")
    agree(tmp_path, "TPU617", main=main, other=other, gathering=gathering, trains=TRAINS)


@pytest.mark.parametrize(("backend", "is_told"), [("nccl", True), ("gloo", False)])
def test_processes_that_run_a_function_of_another_file(tmp_path: Path, backend: str, is_told: bool) -> None:
    main = f"""\
        import torch
        import groups
        from groups import start

        def train(rank):
            torch.zeros(3).cuda()

        for rank in range(4):
            torch.multiprocessing.Process(target=start, args=(rank, train)).start(){"  # TPU601" * is_told}
            torch.multiprocessing.Process(target=groups.name, args=(rank,)).start()
        """
    joined = f"""\
        import torch

        def start(rank, run):
            torch.distributed.init_process_group("{backend}", rank=rank, world_size=4)
            run(rank)

        def name(rank):
            return f"process {{rank}}"
        """
    agree(tmp_path, "TPU601", main=main, groups=joined)


def test_processes_that_join_a_group_in_another_file(tmp_path: Path) -> None:
    """OpenNMT's way: `run(args, rank)` calls `distributed.start(rank)`, and trains by other files."""
    main = """\
        import torch
        import groups

        def run(rank):
            groups.start(rank)
            torch.zeros(3).cuda()

        def check(rank):
            print(groups.name(rank))

        mp = torch.multiprocessing.get_context("spawn")
        for i in range(4):
            mp.Process(target=run, args=(i,)).start()  # TPU601
            mp.Process(target=check, args=(i,)).start()
        """
    groups = """\
        import torch

        def start(rank):
            torch.distributed.init_process_group("nccl", rank=rank, world_size=4)

        def name(rank):
            return f"process {rank}"
        """
    agree(tmp_path, "TPU601", main=main, groups=groups)
