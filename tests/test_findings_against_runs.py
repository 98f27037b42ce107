"""Findings are held against runs as benchmarks/findings_against_runs.py says."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tpulint.verification.compiles import Compilation
from tpulint.verification.records import Cause, Happening, Line, ProcessRecords, Ran, Work

sys.path.insert(0, str(Path(__file__).parent.parent / "benchmarks"))
from measuring.judging import COMES_BACK, EVALUATION, RECOMPILE, STEP, judge, score
from measuring.layout import Layout, Layouts
from measuring.phases import Phases
from measuring.said import Said
from measuring.scripts import SETS, public_scripts
from measuring.truth import Cost, Loop, Truth, recompilations
from measuring.truth import Ran as RanIn

SCRIPT = """\
def evaluate():
    for x in loader:
        model(x)

for epoch in range(2):
    for x in loader:
        loss = model(x)
        loss.backward()
        for p in parameters:
            norm(p)
        optimizer.step()
        if step % 10 == 0:
            evaluate()
    print(
        epoch
    )
"""


def test_public_scripts_have_names_of_their_own() -> None:
    scripts = public_scripts(Path(__file__).parent.parent / "benchmarks" / "public_scripts.yaml")
    names = [script.name for script in scripts]
    assert len(set(names)) == len(names) > 200
    assert {script.group for script in scripts} <= set(SETS)


def test_rows_know_their_statements_and_loops() -> None:
    layout = Layout(SCRIPT)
    assert [layout.statement(row) for row in (7, 14, 15, 16)] == [7, 14, 14, 14]
    assert layout.loops(10) == (9, 6, 5)
    assert layout.loops(9) == (9, 6, 5), "the head of a loop runs in every turn of it"
    assert layout.loops(3) == (2,), "a function is called from elsewhere"
    assert Layout("x = (").loops(1) == ()


def process(tmp_path: Path) -> ProcessRecords:
    file = str(tmp_path / "train.py")
    Path(file).write_text(SCRIPT)

    def places(*rows: int) -> tuple[tuple[str, int], ...]:
        return tuple((file, row) for row in rows)

    return ProcessRecords(
        1,
        chains=((), places(13)),
        ran=(
            Ran(file, 7, 0, {0: 1, 1: 1, 2: 1}),
            Ran(file, 10, 0, {1: 4, 2: 4}),
            Ran(file, 3, 1, {2: 5}),
            Ran(file, 14, 0, {2: 1}),
        ),
        happenings=(
            Happening("update", places(11)),
            Happening("backward", places(8)),
            Happening("training-forward", places(7)),
            Happening("evaluating-forward", places(3, 13)),
            Happening("evaluating-forward", places(14)),
        ),
    )


def test_loops_are_told_by_what_was_seen_in_them(tmp_path: Path) -> None:
    phases = Phases(process(tmp_path), tmp_path)
    assert phases.loops == [
        Loop("train.py", 6, "step", 3, (0, 1, 2)),
        Loop("train.py", 2, "evaluation", 5, (2,)),
    ], "an evaluation behind the step loop, in the loop of epochs, makes no evaluation loop of that"
    file = str(tmp_path / "train.py")
    assert phases.loop_of(file, 10, 0) == 0, "a loop inside of a step is part of it"
    assert phases.loop_of(file, 3, 1) == 1, "an evaluation in a step is none of its own"
    assert phases.loop_of(file, 14, 0) == -1
    assert next(iter(phases.ran())) == RanIn("train.py", 3, 1, 5, (2,))


def test_turns_of_a_loop_with_a_row_that_runs_many_times_in_each(tmp_path: Path) -> None:
    """A comprehension runs its row once for each element; the head of the loop tells how many turns there were."""
    seen = process(tmp_path)
    file = str(tmp_path / "train.py")
    ran = [one for one in seen.ran if one.row != 10]
    crowded = seen._replace(ran=(*ran, Ran(file, 10, 0, {1: 40, 2: 40}), Ran(file, 6, 0, {0: 1, 1: 1, 2: 2})))
    assert Phases(crowded, tmp_path).loops[0].turns == 3


def test_a_line_of_two_loops_made_the_graph_that_one_of_them_launched(tmp_path: Path) -> None:
    seen = process(tmp_path)
    file, model = str(tmp_path / "train.py"), str(tmp_path / "model.py")
    Path(model).write_text("y = x * 2\n")
    ran = (Ran(model, 1, 2, {2: 5}), Ran(model, 1, 3, {0: 1, 1: 1, 2: 1}))
    called = (((file, 3), (file, 13)), ((file, 7),))
    phases = Phases(seen._replace(chains=(*seen.chains, *called), ran=(*seen.ran, *ran)), tmp_path)

    def loop_of(row: int, chain: int) -> int:
        work = Work(1, Line(file, row, ""), False, 5, 5, 1, 0, 1, 1, 0, (), (1,), chain=chain)
        compiled = Compilation(work, Cause("input", "another shape"), (Line(model, 1, ""),), False)
        [cost] = recompilations([compiled], phases)
        return cost.loop

    assert loop_of(10, 0) == 0, "the step launched it"
    assert loop_of(3, 1) == 1, "the evaluation did"
    assert loop_of(14, 0) == 1, "neither did"


ONCE = """\
for x in loader:
    loss = model(x)
    a = loss.item()
    loss.backward()
    optimizer.step()
    b = loss.item()
    c = norm(loss)
for x in loader:
    d = model(x).item()
"""


def truth(*costs: Cost, ending: str = "finished", uneven: tuple[tuple[str, int], ...] = ()) -> Truth:
    steps = (1, 2, 3, 4)
    head = RanIn("a.py", 1, 0, 5 if ending == "finished" else 4, steps)
    return Truth(
        "one", 4, ending, "", {}, (Loop("a.py", 1, "step", 4, steps), Loop("a.py", 8, "evaluation", 4, (4,))),
        (head, *(RanIn("a.py", row, 0, 4, steps) for row in (2, 3, 4, 5, 6, 7)), RanIn("a.py", 9, 1, 4, (4,))),
        costs, uneven, (),
    )  # fmt: skip


def cost(row: int, kind: str = "sync", loop: int = 0, times: int = 4, steps: tuple[int, ...] = (1, 2, 3, 4),
         **fields: object) -> Cost:  # fmt: skip
    return Cost("a.py", row, kind, loop, times, steps, **{"callers": (), **fields})  # type: ignore[arg-type]


def said(row: int, category: str = "host_sync", name: str = "tensor-read-in-step-loop", *rows: int) -> Said:
    return Said("TPU101", name, category, "a.py", row, frozenset((row, *rows)), "")


@pytest.fixture
def layouts(tmp_path: Path) -> Layouts:
    (tmp_path / "a.py").write_text(ONCE)
    return Layouts(tmp_path)


def outcomes(seen: Truth, layouts: Layouts, *findings: Said) -> list[tuple[str, str]]:
    return [(one.question, one.outcome) for one in judge(seen, findings, layouts).judgements]


def test_a_script_is_usable_that_trained_on_the_device() -> None:
    seen = truth()
    assert seen.is_usable, "on which device is not known of scripts that ran before it was noted"
    assert seen._replace(backwards=(("cpu", 1), ("xla", 4))).is_usable
    assert not seen._replace(backwards=(("cpu", 4),)).is_usable
    assert not seen._replace(backwards=(("cpu", 1), ("xla", 3))).is_usable, "too few to judge by"
    assert not seen._replace(steps=20, backwards=(("cpu", 16), ("xla", 4))).is_usable, "most of it ran on the host"
    assert not seen._replace(steps=3, backwards=(("xla", 3),)).is_usable


def test_a_finding_is_right_where_something_was_read(layouts: Layouts) -> None:
    seen = truth(cost(3), cost(9, "transfer", loop=1, steps=(4,)))
    assert outcomes(seen, layouts, said(3), said(9)) == [(STEP, "right"), (EVALUATION, "right")]


def test_a_finding_is_wrong_where_nothing_was_read_in_a_loop(layouts: Layouts) -> None:
    assert outcomes(truth(), layouts, said(3), said(9)) == [(STEP, "wrong"), (EVALUATION, "wrong")]


def test_nothing_is_said_of_what_did_not_run(layouts: Layouts) -> None:
    assert outcomes(truth(), layouts, said(20)) == [(STEP, "not seen")]


def test_a_related_place_and_a_caller_count(layouts: Layouts) -> None:
    elsewhere = Cost("b.py", 7, "sync", 0, 4, (1, 2, 3, 4), (("a.py", 7),))
    assert outcomes(truth(elsewhere), layouts, said(7)) == [(STEP, "right")]
    assert outcomes(truth(cost(6)), layouts, said(3, "host_sync", "several-reads-per-step", 6)) == [(STEP, "right")]


def test_a_line_that_waits_is_missed_unless_something_is_said_of_it(layouts: Layouts) -> None:
    seen = truth(cost(3), cost(6, "transfer"), cost(7, times=1, steps=(2,)))
    verdict = judge(seen, [said(9)], layouts)
    assert [one.cost.row for one in verdict.misses] == [3], "reads behind the boundary, or now and then, are none"
    assert [one.cost.row for one in judge(seen, [said(3)], layouts).hits] == [3]
    assert score([verdict], STEP) == {
        "findings": 0, "right": 0, "wrong": 0, "not seen": 0, "lines": 1, "hits": 0, "misses": 1, "elsewhere": 0,
    }  # fmt: skip
    assert score([verdict], EVALUATION)["wrong"] == 1
    other = judge(truth(Cost("b.py", 3, "sync", 0, 4, (1, 2, 3, 4), ())), [], layouts)
    assert score([other], STEP)["elsewhere"] == 1


def test_recompilations_are_matched_by_line_or_by_what_changed(layouts: Layouts) -> None:
    changed = cost(2, "compile", steps=(4,), causes=("input",))
    loader = said(1, "data", "partial-last-batch")
    assert not judge(truth(changed), [loader], layouts).misses
    assert [one.question for one in judge(truth(changed), [said(3)], layouts).misses] == [RECOMPILE]
    assert outcomes(truth(changed), layouts, loader) == [(RECOMPILE, "right")]
    assert outcomes(truth(), layouts, loader) == [(RECOMPILE, "not seen")], "batches of one size tell nothing"
    assert outcomes(truth(uneven=(("a.py", 1),)), layouts, loader) == [(RECOMPILE, "wrong")]
    assert outcomes(truth(), layouts, said(2, "recompile", "changing-index")) == [(RECOMPILE, "wrong")]


def test_a_loader_counts_for_the_loops_that_it_feeds(layouts: Layouts) -> None:
    trained = cost(2, "compile", steps=(4,), causes=("input",))
    evaluated = cost(9, "compile", loop=1, steps=(4,), causes=("input",))
    training, evaluation = said(1, "data", "partial-last-batch"), said(8, "data", "partial-evaluation-batch")
    assert [one.cost.row for one in judge(truth(trained, evaluated), [training], layouts).misses] == [9]
    assert [one.cost.row for one in judge(truth(trained, evaluated), [evaluation], layouts).misses] == [2]
    assert not judge(truth(trained, evaluated), [training, evaluation], layouts).misses
    only_trained = truth(trained, uneven=(("a.py", 1), ("a.py", 8)))
    assert outcomes(only_trained, layouts, training, evaluation) == [(RECOMPILE, "right"), (RECOMPILE, "wrong")]
    even = truth(trained)._replace(even_loaders=(("a.py", 1),))
    assert outcomes(even, layouts, training) == [(RECOMPILE, "not seen")], "another loader made the graph change"


def test_a_dataset_on_the_device_is_judged_by_the_loops_that_draw_from_it(layouts: Layouts) -> None:
    drawn = cost(8, "compile", loop=1, steps=(4,), causes=("setting",))
    masked = cost(9, "compile", loop=1, steps=(4,), causes=("setting",))
    dataset = said(2, "device", "dataset-on-device")
    verdict = judge(truth(drawn, masked), [dataset], layouts)
    assert [one.cost.row for one in verdict.misses] == [9], "the samples are cut out at the head of a loop"
    assert [(one.question, one.outcome) for one in verdict.judgements] == [(RECOMPILE, "right")]
    assert outcomes(truth(), layouts, dataset) == [(RECOMPILE, "not seen")], "in order, a second epoch draws the same"
    assert outcomes(truth(), layouts, said(2, "device", "cuda-device")) == []
    two = outcomes(truth(drawn), layouts, dataset, said(3, "device", "dataset-on-device"))
    assert two == [(RECOMPILE, "not seen")] * 2, "which of them feeds the loop is not known"


def test_an_evaluation_that_another_call_begins_is_expected_to_compile(layouts: Layouts) -> None:
    """Every graph of the first pass that a call makes is new: of a smaller batch in it nothing can be seen."""
    seen = truth(cost(9, loop=1, steps=(4,), callers=(("a.py", 5), ("b.py", 3))), uneven=(("a.py", 8),))
    twice = seen._replace(loops=(seen.loops[0], seen.loops[1]._replace(steps=(4, 5))))
    evaluation = said(8, "data", "partial-evaluation-batch")
    assert outcomes(twice, layouts, evaluation) == [(RECOMPILE, "wrong")]
    once = twice._replace(ran=(*twice.ran, RanIn("b.py", 3, -1, 1, (5,))))
    assert outcomes(once, layouts, evaluation) == [(RECOMPILE, "not seen")]


def test_batches_cut_by_hand_are_judged_by_their_loop(layouts: Layouts) -> None:
    trained = cost(3, "compile", steps=(4,), causes=("input",))
    evaluated = cost(9, "compile", loop=1, steps=(4,), causes=("input",))
    cut = said(1, "data", "sliced-partial-batch", 2)
    assert not judge(truth(trained), [cut], layouts).misses
    assert judge(truth(evaluated), [cut], layouts).misses
    assert outcomes(truth(trained), layouts, cut) == [(RECOMPILE, "right")]
    assert outcomes(truth(evaluated), layouts, cut) == [(RECOMPILE, "wrong")]
    assert outcomes(truth(ending="stopped"), layouts, cut) == [(RECOMPILE, "not seen")], "no last batch was seen"


def test_batches_that_a_function_makes_are_judged_by_the_loops_that_take_them(layouts: Layouts) -> None:
    trained = cost(3, "compile", steps=(4,), causes=("input",), times=1)
    evaluated = cost(9, "compile", loop=1, steps=(4,), causes=("input",), times=1)
    made = said(4, "data", "sliced-partial-batch")  # at no head of a loop
    assert outcomes(truth(trained), layouts, made) == [(RECOMPILE, "right")]
    assert outcomes(truth(evaluated), layouts, made) == [(RECOMPILE, "wrong")]
    other = said(40, "data", "sliced-partial-batch")
    assert outcomes(truth(trained), layouts, other) == [(RECOMPILE, "not seen")], "another way to cut them was taken"
    again = cost(3, "compile", steps=(2, 3, 4), causes=("setting",))
    assert outcomes(truth(again), layouts, made) == [(RECOMPILE, "not seen")], "the graph changes in every step"
    filled = said(4, "data", "padded-by-hand")
    assert outcomes(truth(evaluated), layouts, filled) == [(RECOMPILE, "right")], "for the evaluation, too"
    assert outcomes(truth(), layouts, filled) == [(RECOMPILE, "wrong")]


def test_a_loop_that_runs_its_step_in_a_function_is_where_the_graph_changed(layouts: Layouts) -> None:
    head = said(1, "data", "sliced-partial-batch")
    within = cost(6, "compile", steps=(4,), causes=("input",), times=1)._replace(path="b.py")
    assert outcomes(truth(within), layouts, head) == [(RECOMPILE, "right")]
    assert outcomes(truth(within._replace(loop=1)), layouts, head) == [(RECOMPILE, "wrong")]


def test_a_last_batch_counts_when_the_first_one_came_after_warm_up(layouts: Layouts) -> None:
    both = (("a.py", 1), ("a.py", 8))
    training, evaluation = said(1, "data", "partial-last-batch"), said(8, "data", "partial-evaluation-batch")
    seen = truth(uneven=both)
    assert outcomes(seen, layouts, training, evaluation) == [(RECOMPILE, "wrong")] * 2

    def ran(heads: int, evaluated: tuple[int, ...], error: str = "") -> Truth:
        loops = (seen.loops[0], seen.loops[1]._replace(steps=evaluated))
        return seen._replace(loops=loops, error=error, ran=(seen.ran[0]._replace(times=heads), *seen.ran[1:]))

    unseen = [(RECOMPILE, "not seen")] * 2
    assert outcomes(ran(6, (2, 4)), layouts, training, evaluation) == unseen, "two passes of two turns: known by step 2"
    cut_short = ran(4, (4,), "took too long")
    assert outcomes(cut_short, layouts, training, evaluation) == unseen, "no loop came to its end"
    stopped = ran(5, (4,))._replace(ending="stopped")
    assert outcomes(stopped, layouts, training) == unseen[:1], "the turn that began was not another pass"
    assert outcomes(ran(6, (4,))._replace(ending="stopped"), layouts, training) == [(RECOMPILE, "wrong")]


def test_a_loop_whose_lines_were_lost_may_be_the_one_that_changed(layouts: Layouts) -> None:
    evaluated = cost(9, "compile", loop=-1, steps=(4,), causes=("input",), callers=(("a.py", 9),))
    seen = truth(evaluated, uneven=(("a.py", 8),))
    lost = seen._replace(loops=(seen.loops[0], seen.loops[1]._replace(steps=())), ran=seen.ran[:-1])
    evaluation = said(8, "data", "partial-evaluation-batch")
    assert outcomes(lost, layouts, evaluation) == [(RECOMPILE, "right")]


def test_a_line_of_a_model_belongs_to_the_loop_that_launched_its_graph(layouts: Layouts) -> None:
    trained = Cost("b.py", 7, "compile", -1, 1, (4,), (("a.py", 5),), ("input",))
    evaluated = Cost("b.py", 7, "compile", -1, 1, (4,), (("a.py", 9),), ("input",))
    loader = said(1, "data", "partial-last-batch")
    assert not judge(truth(trained), [loader], layouts).misses
    assert judge(truth(evaluated), [loader], layouts).misses


def test_a_mask_in_a_step_changes_no_batch_of_an_evaluation(layouts: Layouts) -> None:
    mask = said(2, "recompile", "data-dependent-shape")
    assert not judge(truth(cost(3, "compile", steps=(4,), causes=("input",))), [mask], layouts).misses
    assert judge(truth(cost(9, "compile", loop=1, steps=(4,), causes=("input",))), [mask], layouts).misses


def test_who_is_told_of_a_read_is_not_told_of_a_graph(layouts: Layouts) -> None:
    changed = truth(cost(3, "compile", steps=(4,), causes=("setting",)))
    assert judge(changed, [said(3)], layouts).misses
    assert not judge(changed, [said(3, "recompile", "changing-index")], layouts).misses


def test_lines_that_recompile_again_and_again_are_counted_once_more(layouts: Layouts) -> None:
    once, often = cost(2, "compile", steps=(4,)), cost(3, "compile", steps=(4, 5, 6))
    verdict = judge(truth(once, often), [said(2, "recompile", "changing-index")], layouts)
    assert [score([verdict], RECOMPILE)[name] for name in ("lines", "hits")] == [2, 1]
    assert [score([verdict], COMES_BACK)[name] for name in ("lines", "hits")] == [1, 0]


def test_settings_are_not_judged_by_lines(layouts: Layouts) -> None:
    assert not outcomes(truth(), layouts, said(2, "host_sync", "anomaly-detection"))
