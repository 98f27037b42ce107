"""``tpulint tpus`` and ``tpulint plan``: the table of TPUs, the arithmetic, the commands, and what is printed."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from command import tpulint
from hypothesis import given, settings
from hypothesis import strategies as st

from tpulint.card import CardError
from tpulint.config import ConfigError
from tpulint.planning import commands as commands_module
from tpulint.planning.commands import commands
from tpulint.planning.data import FIGURES, load_hardware, load_prices, parse_hardware, parse_prices
from tpulint.planning.estimate import DATA_PARALLEL, FSDP, STRATEGIES, Workload, estimate, shape_of
from tpulint.planning.generations import Generation, Slice
from tpulint.planning.numbers import parse_count, show_bytes, show_count, show_money, show_seconds
from tpulint.planning.plan import TITLE, make
from tpulint.planning.slices import scale
from tpulint.planning.text_report import render_prices

ROOT = Path(__file__).parent.parent
HARDWARE = load_hardware()
GENERATIONS = list(HARDWARE.generations.values())
TPUS = [one for one in GENERATIONS if one.kind == "tpu"]
TEXT = (ROOT / "tpulint" / "planning" / "tpus.yaml").read_text(encoding="utf-8")

UNITS = {
    "hbm": {"GB", "GiB"}, "hbm_bandwidth": {"GB/s"}, "ici": {"GB/s"}, "peak_bf16": {"TFLOPS"}, "peak_int8": {"TOPS"},
    "peak_fp8": {"TFLOPS"}, "pod": {"chips"}, "mxus": {"per core"},
}  # fmt: skip

LLAMA = Workload(7_000_000_000, 2048, 8, 32, 4096)


def names(one: Generation) -> str:
    return one.name


@pytest.mark.parametrize(
    "command",
    [("plan", "a.py", "--timeout"), ("plan", "a.py", "--compile-timeout"), ("verify", "a.py", "--timeout")],
    ids=" ".join,
)
@pytest.mark.parametrize("value", ["nan", "inf", "0", "-1"])
def test_time_limits_are_numbers(tmp_path: Path, command: tuple[str, ...], value: str) -> None:
    done = tpulint(*command, value, cwd=tmp_path)
    assert done.status == 2 and f"Invalid value for '{command[-1]}'" in done.err


# ------------------------------------------------------------------------ the table


def test_all_generations_are_there() -> None:
    assert [one.name for one in TPUS] == ["v2", "v3", "v4", "v5e", "v5p", "v6e", "tpu7x"]


@pytest.mark.parametrize("one", GENERATIONS, ids=names)
def test_figures_have_units_and_sources(one: Generation) -> None:
    assert set(one.figures) <= set(FIGURES)
    assert {"devices", "hbm", "hbm_bandwidth", "peak_bf16"} <= set(one.figures)
    for name, figure in one.figures.items():
        assert HARDWARE.pages[figure.page].startswith("https://"), name
        assert figure.unit in UNITS.get(name, {""}), name
        if name in UNITS or name in ("tensor_cores", "devices"):
            assert figure.number > 0
        else:
            assert isinstance(figure.value, str) and figure.value
        assert figure.verified or figure.note


@pytest.mark.parametrize("one", TPUS, ids=names)
def test_tpus_are_whole(one: Generation) -> None:
    assert {"tensor_cores", "mxu", "tile", "pod", "network"} <= set(one.figures)
    assert one.figures["tile"].value == "8x128"
    assert re.fullmatch(r"(128|256)x\1", str(one.figures["mxu"].value))
    assert one.devices in (1, one.figures["tensor_cores"].number)
    assert one.figures["pod"].number >= max(piece.chips for piece in one.slices)


@pytest.mark.parametrize("one", GENERATIONS, ids=names)
def test_slices_are_what_they_are_called(one: Generation) -> None:
    chips = [piece.chips for piece in one.slices]
    assert chips == sorted(set(chips))
    for piece in one.slices:
        if piece.type:
            prefix, _, count = piece.type.rpartition("-")
            assert prefix == {"v5e": "v5litepod"}.get(one.name, one.name)
            # Up to v5p the name counts cores, v5e and v6e count chips, which have one core.
            assert int(count) == piece.chips * one.figures["tensor_cores"].number
        if piece.topology:
            assert len(piece.sides) == int(str(one.figures["network"].value)[0])


@pytest.mark.parametrize("one", TPUS, ids=names)
def test_units_times_clock_are_the_peak(one: Generation) -> None:
    """Each place of a matrix unit multiplies and adds once a cycle; TPUs up to v6e run at 0.7 to 1.75 GHz."""
    units = one.figures.get("mxus")
    if units is None:
        return
    side = int(str(one.figures["mxu"].value).partition("x")[0])
    each_cycle = 2 * side * side * units.number * one.figures["tensor_cores"].number
    assert 0.7e9 <= (one.peak or 0) / each_cycle <= 1.8e9 or not units.verified


def test_examples_of_zones_have_a_price() -> None:
    """The commands ask for chips where the price that chose them holds."""
    rates = load_prices().chip_hours
    for one in TPUS:
        zone = one.figures.get("zone")
        assert zone is None or str(zone.value).rpartition("-")[0] == rates[one.name].region, one.name


def test_prices_are_for_what_is_known_and_spot_is_cheaper() -> None:
    for name, price in load_prices().chip_hours.items():
        assert name in HARDWARE.generations and price.region
        assert price.on_demand is not None and price.spot is not None and price.spot < price.on_demand


def test_vendor_pages_only() -> None:
    """What another page says is not verified, save for papers and data sheets."""
    for one in GENERATIONS:
        for name, figure in one.figures.items():
            address = HARDWARE.pages[figure.page]
            vendor = re.match(r"https://(docs\.)?cloud\.google\.com/|https://www\.nvidia\.com/", address)
            assert vendor or not figure.verified, f"{one.name} {name}"


def test_every_page_is_used() -> None:
    used = {figure.page for one in GENERATIONS for figure in one.figures.values()}
    assert used | {one.slices_page for one in GENERATIONS} == set(HARDWARE.pages)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("value: 197,", "value: -197,", "above zero"),
        ("{value: 197, unit: TFLOPS, page: v5e}", "{value: 197, unit: TFLOPS, page: v9}", "must be one of"),
        ("{value: 197, unit: TFLOPS, page: v5e}", "{value: 197, unit: TFLOPS}", "lacks the key 'page'"),
        ("{value: 197, unit: TFLOPS, page: v5e}", "{value: 197, page: v5e, verified: false}", "needs a note"),
        ("chips: 32, topology: 4x8", "chips: 33, topology: 4x8", "does not have 33 chips"),
        ("peak_bf16: {value: 197", "peek_bf16: {value: 197", "unknown key 'peek_bf16'"),
    ],
)
def test_table_with_a_mistake_is_refused(old: str, new: str, message: str) -> None:
    assert old in TEXT
    with pytest.raises(CardError, match=message):
        parse_hardware(TEXT.replace(old, new), "tpus.yaml")


# ------------------------------------------------------------------------ prices


def test_prices_are_of_known_chips_and_spot_is_cheaper() -> None:
    prices = load_prices()
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", prices.date) and prices.source.startswith("https://")
    for name, price in prices.chip_hours.items():
        assert name in HARDWARE.generations
        assert price.on_demand is not None and price.spot is not None
        assert 0 < price.spot < price.on_demand
        assert price.region


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{on_demand: 1.2,", "{on_demand: cheap,", "above zero"),
        ("{on_demand: 1.2,", "{on_demand: true,", "above zero"),
        ("{on_demand: 1.2,", "{on_demand: .nan,", "above zero"),
        ("{on_demand: 1.2,", "{ondemand: 1.2,", "unknown key 'ondemand'"),
        ('date: "2026-11-21"', "date: 2026-11-21", "put it in quotes"),
        ("currency: USD\n", "", "lacks the key 'currency'"),
    ],
)
def test_price_file_with_a_mistake_is_refused(old: str, new: str, message: str) -> None:
    text = (ROOT / "tpulint" / "planning" / "prices.yaml").read_text(encoding="utf-8")
    assert old in text
    with pytest.raises(CardError, match=message):
        parse_prices(text.replace(old, new), "prices.yaml")


def test_price_of_an_unknown_chip_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text('date: "2030-01-01"\ncurrency: EUR\nsource: a bill\nchip_hours: {v7x: {on_demand: 1}}\n')
    with pytest.raises(ConfigError, match="a price for 'v7x'"):
        load_prices(str(file))


def test_a_price_may_have_a_date_and_source_of_its_own(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(
        'date: "2030-01-01"\ncurrency: EUR\nsource: a list\nchip_hours:\n  v5e: {on_demand: 1}\n'
        '  v6e: {on_demand: 2, date: "2030-02-02", source: a bill}\n'
    )
    prices = load_prices(str(file))
    assert [price[3:] for price in prices.chip_hours.values()] == [("2030-01-01", "a list"), ("2030-02-02", "a bill")]
    lines = "".join(render_prices(prices, ["v5e", "v6e", "v4"])).splitlines()
    assert lines == [
        "Costs in EUR, prices of 2030-01-01 from a list",
        "  v5e: 1 on demand an hour for a chip",
        "  v6e: 2 on demand an hour for a chip, of 2030-02-02 from a bill",
        "  v4: no price",
    ]


# ------------------------------------------------------------------------ numbers


@pytest.mark.parametrize(
    ("text", "count"),
    [("7B", 7 * 10**9), ("1.1b", 1_100_000_000), ("350M", 350 * 10**6), ("124_000_000", 124 * 10**6), (".5K", 500)],
)
def test_counts_are_exact(text: str, count: int) -> None:
    assert parse_count(text) == count


@pytest.mark.parametrize("text", ["", "B", "-7B", "7BB", "7e9", "0", "0.1", "nan", "9999999T", "7 B B"])
def test_what_is_no_count(text: str) -> None:
    with pytest.raises(ValueError, match=r"is no number|is not between"):
        parse_count(text)


def test_numbers_are_shown() -> None:
    assert (show_count(7 * 10**9), show_count(999)) == ("7B", "999")
    assert (show_bytes(112e9), show_bytes(1.5e12), show_bytes(512)) == ("112.0 GB", "1.5 TB", "0.5 kB")
    assert (show_money(1234.5), show_money(0.004), show_money(0.01), show_money(0)) == (
        "1,234.50",
        "<0.01",
        "0.01",
        "0.00",
    )
    assert (show_seconds(7200), show_seconds(0.25), show_seconds(2e-6)) == ("2 h", "250 ms", "2 us")


# ------------------------------------------------------------------------ known by hand


def chip(memory: float = 40.0, devices: int = 1, ici: float | None = 400.0) -> Generation:
    """1 PFLOPS, 1 TB/s."""
    bandwidth = "" if ici is None else f"ici: {{value: {ici}, unit: GB/s, page: p}}"
    return parse_hardware(
        f"""
        pages: {{p: "https://cloud.google.com/"}}
        generations:
          - name: x
            title: X
            slices_page: p
            slices: [{{chips: 1, topology: 1x1}}, {{chips: 4, topology: 2x2}}, {{chips: 16, topology: 4x4}}]
            figures:
              devices: {{value: {devices}, page: p}}
              hbm: {{value: {memory}, unit: GB, page: p}}
              hbm_bandwidth: {{value: 1000, unit: GB/s, page: p}}
              peak_bf16: {{value: 1000, unit: TFLOPS, page: p}}
              {bandwidth}
        """,
        "x.yaml",
    ).generations["x"]


def test_memory_of_7b_with_adamw() -> None:
    alone = estimate(LLAMA._replace(batch=1), chip(), Slice("", 1, "1x1"), DATA_PARALLEL)
    assert alone.memory[:3] == (28 * 10**9, 28 * 10**9, 56 * 10**9)
    assert LLAMA.state == 112 * 10**9
    assert alone.memory.gathered == 0
    # 34 bytes for every token, hidden unit and layer.
    assert alone.memory.activations == 34 * 2048 * 4096 * 32
    assert estimate(LLAMA._replace(optimizer="sgd"), chip(), Slice("", 1, "1x1"), FSDP).memory.optimizer == 28 * 10**9


def test_fsdp_divides_the_state_and_holds_one_layer() -> None:
    step = estimate(LLAMA, chip(), Slice("", 4, "2x2"), FSDP)
    assert step.memory[:3] == (7 * 10**9, 7 * 10**9, 14 * 10**9)
    assert step.memory.gathered == 14 * 10**9 // 32
    assert step.sequences == 2
    assert estimate(LLAMA, chip(devices=2), Slice("", 4, "2x2"), FSDP).memory.parameters == 3.5 * 10**9


def test_recomputation_keeps_the_inputs_of_layers() -> None:
    again = LLAMA._replace(recompute=True)
    assert again.activations == 2 * 4096 * 2048 * (32 + 17)
    assert again.flops * 6 == LLAMA.flops * 8


def test_time_of_a_step() -> None:
    step = estimate(LLAMA, chip(), Slice("", 4, "2x2"), FSDP)
    assert LLAMA.flops == 6 * 7 * 10**9 * 8 * 2048
    assert step.compute_seconds == pytest.approx(LLAMA.flops / 4e15)
    # Weights in bf16 forwards and backwards, a quarter of the state read and written.
    assert step.memory_seconds == pytest.approx((2 * 14e9 + 2 * 28e9) / 1e12)
    # Two gathers of 14 GB, one scatter of 28 GB, three quarters of each leave a chip; 2 of 4 ports of 200 GB/s in all.
    assert step.collective_bytes == 42 * 10**9
    assert step.collective_seconds == pytest.approx(42e9 / 100e9)
    assert step.seconds == step.collective_seconds and step.bound == "collectives"


def test_all_reduce_of_data_parallel() -> None:
    step = estimate(LLAMA, chip(), Slice("", 16, "4x4"), DATA_PARALLEL)
    assert step.collective_bytes == 2 * 28 * 10**9 * 15 // 16
    assert step.collective_seconds == pytest.approx(52.5e9 / 200e9)
    alone = estimate(LLAMA, chip(), Slice("", 1, "1x1"), DATA_PARALLEL)
    assert (alone.collective_bytes, alone.collective_seconds) == (0, 0.0)


def test_unknown_interconnect_is_left_out() -> None:
    step = estimate(LLAMA, chip(ici=None), Slice("", 4, "2x2"), FSDP)
    assert step.collective_seconds is None and step.collective_bytes == 42 * 10**9
    assert step.bound == "compute"


@pytest.mark.parametrize(
    ("topology", "share"),
    [("1x1", 0), ("2x2", 0.5), ("2x4", 0.75), ("4x4", 1), ("2x2x1", 1 / 3), ("4x4x8", 1), ("", 1)],
)
def test_ports_in_use(topology: str, share: float) -> None:
    assert Slice("", 1, topology).ports_used == pytest.approx(share)


def test_shape_of_a_common_transformer() -> None:
    layers, hidden = shape_of(7 * 10**9)
    assert (layers, hidden) == (33, 4204)  # Llama 7B: 32 and 4096


def test_room_is_nine_tenths() -> None:
    """16 bytes x 2.25 billion are 36 GB."""
    tiny = Workload(2_250_000_000, 1, 1, 1, 1)
    assert not estimate(tiny, chip(), Slice("", 1, "1x1"), DATA_PARALLEL).fits
    assert estimate(tiny._replace(params=2_249_000_000), chip(), Slice("", 1, "1x1"), DATA_PARALLEL).fits


# ------------------------------------------------------------------------ always

WORKLOADS = st.builds(
    Workload,
    params=st.integers(1, 10**13), sequence=st.integers(1, 10**6), batch=st.integers(1, 10**5),
    layers=st.integers(1, 200), hidden=st.integers(1, 10**5), optimizer=st.sampled_from(["adamw", "sgd"]),
    precision=st.sampled_from(["bf16", "f32"]), recompute=st.booleans(),
)  # fmt: skip
PIECES = st.sampled_from([(one, piece) for one in GENERATIONS for piece in one.slices])


@settings(max_examples=200, deadline=None)
@given(
    WORKLOADS, PIECES, st.sampled_from(STRATEGIES), st.sampled_from(["params", "sequence", "batch"]), st.integers(2, 9)
)
def test_more_work_never_takes_less(
    work: Workload, where: tuple[Generation, Slice], strategy: str, field: str, factor: int
) -> None:
    more = work._replace(**{field: getattr(work, field) * factor})
    before, after = estimate(work, *where, strategy), estimate(more, *where, strategy)
    assert after.memory.total >= before.memory.total
    assert after.collective_bytes >= before.collective_bytes
    assert before.seconds is not None and after.seconds is not None
    assert after.seconds >= before.seconds * (1 - 1e-12)


@settings(max_examples=100, deadline=None)
@given(WORKLOADS, st.sampled_from(GENERATIONS))
def test_slices_hold_what_they_are_offered_for(work: Workload, generation: Generation) -> None:
    for scaling in scale(work, generation):
        assert bool(scaling.candidates) != bool(scaling.obstacle)
        for one in scaling.candidates:
            assert one.step.room is not None and one.step.memory.total <= one.step.room
            assert one.slice.chips * generation.devices <= work.batch


# ------------------------------------------------------------------------ commands


def lines(name: str, piece: int, *, spot: bool = False, zone: str = "", script: str = "train.py") -> list[str]:
    one = HARDWARE.generations[name]
    return [each.line for each in commands(one, one.slices[piece], name="mine", zone=zone, spot=spot, script=script)]


def test_commands_are_exact() -> None:
    assert lines("v5e", 3, spot=True, zone="us-west4-a", script="src/train.py") == [
        "gcloud compute tpus queued-resources create mine --node-id=mine-node --zone=us-west4-a "
        "--accelerator-type=v5litepod-16 --runtime-version=v2-alpha-tpuv5-lite --spot",
        "gcloud compute tpus queued-resources describe mine --zone=us-west4-a --format='value(state.state)'",
        "gcloud compute tpus tpu-vm scp src/train.py mine-node: --zone=us-west4-a --worker=all",
        "gcloud compute tpus tpu-vm ssh mine-node --zone=us-west4-a --worker=all "
        "--command=\"pip install torch==2.9.0 'torch_xla[tpu]==2.9.0'\"",
        "gcloud compute tpus tpu-vm ssh mine-node --zone=us-west4-a --worker=all "
        "--command='PJRT_DEVICE=TPU python3 train.py'",
        "gcloud compute tpus queued-resources delete mine --zone=us-west4-a --force",
    ]


@pytest.mark.parametrize("one", TPUS, ids=names)
def test_commands_are_read_by_a_shell_as_meant(one: Generation) -> None:
    script = 'my $(dir)/it\'s "a" `job`.py'
    for piece in one.slices:
        typed = commands(one, piece, name="mine", zone="", spot=False, script=script)
        assert bool(typed) == (one.name != "tpu7x")
        if typed:
            assert "--spot" not in typed[0].line
            assert shlex.split(typed[2].line)[5] == script
            run = shlex.split(typed[4].line)[-1].removeprefix("--command=")
            assert shlex.split(run) == ["PJRT_DEVICE=TPU", "python3", 'it\'s "a" `job`.py']
            install = shlex.split(typed[3].line)[-1].removeprefix("--command=")
            assert shlex.split(install) == ["pip", "install", "torch==2.9.0", "torch_xla[tpu]==2.9.0"]


def test_output_is_a_shell_script_behind_its_tables() -> None:
    shell = "\n".join([*lines("v6e", 2), *lines("v4", 0), *lines("v2", 0), *lines("v5p", 0, script="a b'c.py")])
    assert subprocess.run(["bash", "-n"], input=shell, text=True, capture_output=True, check=False).returncode == 0


def test_no_command_is_run() -> None:
    """Processes are started for compilers and scripts alone, and nothing is asked of a network."""
    folder = Path(commands_module.__file__).parent
    for path in folder.glob("*.py"):
        source = path.read_text(encoding="utf-8")
        assert not re.search(r"os\.system|urllib|socket|requests", source), path.name
        assert "subprocess" not in source or path.name in ("compilers.py", "compiling.py"), path.name
        assert "gcloud" not in source or path.name == "commands.py", path.name


# ------------------------------------------------------------------------ choosing


def test_lowest_cost_is_chosen_by_the_price_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(
        'date: "2030-01-01"\ncurrency: EUR\nsource: a bill\n'
        "chip_hours: {v5e: {on_demand: 0.01, spot: 9}, v6e: {on_demand: 5, spot: 0.01}}\n"
    )
    work = Workload(350_000_000, 1024, 64, 24, 1024)
    wanted = [HARDWARE.generations[name] for name in ("v5e", "v6e", "v5p", "a100")]
    chosen = [make(work, wanted, load_prices(str(file)), spot=spot).chosen for spot in (False, True)]
    assert [one.generation.name for one in chosen if one] == ["v5e", "v6e"]


def test_cost_is_chip_hours_times_price() -> None:
    made = make(LLAMA, [HARDWARE.generations["v6e"]], load_prices(), steps_per_epoch=100, epochs=3)
    one = made.chosen
    assert one is not None and one.slice.type == "v6e-8" and one.strategy == FSDP
    price = made.prices.chip_hours["v6e"]
    cost, seconds = one.cost(price, made.steps), one.step.seconds
    assert price.on_demand is not None and price.spot is not None and seconds is not None
    assert cost.on_demand == pytest.approx(300 * seconds / 3600 * 8 * price.on_demand)
    assert cost.spot == pytest.approx(300 * seconds / 3600 * 8 * price.spot)


# ------------------------------------------------------------------------ the command line

MODEL = ("plan", "--params", "7B", "--seq", "2048", "--batch", "8", "--layers", "32", "--hidden", "4096")


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("project")
    done = tpulint(*MODEL, "--epochs", "2", "--output-format", "json", cwd=folder)
    assert done.status == 0, done.err
    found: dict[str, Any] = json.loads(done.out)
    return found


def test_json_plan(report: dict[str, Any]) -> None:
    assert (report["kind"], report["compiled"]) == ("estimate", False)
    assert report["workload"]["state_bytes"] == 112 * 10**9
    assert {(one["name"], one["strategy"]) for one in report["options"]} == {
        (name, strategy) for name in ("v5e", "v5p", "v6e", "a100") for strategy in STRATEGIES
    }
    assert report["chosen"]["slice"]["type"] == "v6e-8"
    assert len(report["commands"]) == 6
    epoch, run = report["chosen"]["epoch_cost_at_least"], report["chosen"]["run_cost_at_least"]
    assert run["spot"] == pytest.approx(2 * epoch["spot"]) and run["spot"] < run["on_demand"]


def test_every_number_of_the_json_has_its_formula(report: dict[str, Any]) -> None:
    explained = set(report["formulas"])
    assert {*report["chosen"]["memory"]} - {"total", "room"} <= explained
    times = {key for key in report["chosen"] if key.endswith("_seconds")} | {"collective_bytes"}
    assert times <= explained and {"flops", "step_seconds", "sharding", "fits", "shape"} <= explained


def test_text_plan(tmp_path: Path) -> None:
    done = tpulint(*MODEL, "--spot", cwd=tmp_path)
    assert done.status == 0, done.err
    assert done.out.splitlines()[0] == TITLE and TITLE.startswith("estimate, not compiled")
    assert "112.0 GB of parameters, gradients and optimizer" in done.out
    assert "(6 x parameters x tokens)" in done.out
    assert re.search(r"^v6e +FSDP +v6e-8 +8 ", done.out, re.MULTILINE)
    assert re.search(r"^a100 +FSDP +- +8 ", done.out, re.MULTILINE)
    # 16 devices would hold 7.0 GB of state, 0.4 of a layer and 9.1 of activations; they have 14.4.
    assert "v5e, FSDP: needs 32 devices, and each a sequence of its own: --batch 32 or more\n" in done.out
    assert "--accelerator-type=v6e-8 --runtime-version=v2-alpha-tpuv6e --spot\n" in done.out
    assert f"prices of {load_prices().date} from https://" in done.out


def test_costs_of_an_epoch_and_of_the_run(tmp_path: Path, report: dict[str, Any]) -> None:
    """A GPU stands beside the TPUs, with both prices; where there is one epoch, it is the run."""
    head = next(line for line in tpulint(*MODEL, "--epochs", "2", cwd=tmp_path).out.splitlines() if "strategy" in line)
    assert head.split("run at least")[1].split("  ")[1:] == [
        "epoch on demand",
        "epoch spot",
        "run on demand",
        "run spot",
    ]
    assert "epoch on demand" not in tpulint(*MODEL, cwd=tmp_path).out
    (gpu,) = (one for one in report["options"] if one["name"] == "a100" and one["strategy"] == FSDP)
    for one in gpu["slices"]:
        assert (
            one["run_cost_at_least"]["spot"] == pytest.approx(2 * one["epoch_cost_at_least"]["spot"])
            and one["run_cost_at_least"]["spot"] > 0
        )


def test_figures_in_doubt_are_named(tmp_path: Path, report: dict[str, Any]) -> None:
    assert report["unverified"]["v6e"] == ["hbm_bandwidth"] and set(report["unverified"]) == {
        "v5e",
        "v5p",
        "v6e",
        "a100",
    }
    done = tpulint(*MODEL, "--tpu", "v6e", "--gpu", "", cwd=tmp_path)
    assert "Not verified: v6e hbm bandwidth; why: tpulint tpus NAME\n" in done.out


def test_tpus(tmp_path: Path) -> None:
    done = tpulint("tpus", cwd=tmp_path)
    assert done.status == 0
    assert [line.split()[0] for line in done.out.splitlines()[1:8]] == [one.name for one in TPUS]
    one = tpulint("tpus", "V5E", cwd=tmp_path).out
    assert "https://docs.cloud.google.com/tpu/docs/v5e" in one and "not verified: versions of the page" in one
    data = json.loads(tpulint("tpus", "v6e", "--output-format", "json", cwd=tmp_path).out)
    figure = data["generations"][0]["figures"]["peak_bf16"]
    assert (figure["value"], figure["unit"]) == (918, "TFLOPS")
    assert figure["page"] == "https://docs.cloud.google.com/tpu/docs/v6e"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("tpus", "v5"), "error: 'v5' is not known; did you mean `v5e`?; known are v2, v3,"),
        ((*MODEL, "--tpu", "v5e,v9"), "error: 'v9' is not known"),
        ((*MODEL, "--tpu", "a100"), "error: 'a100' is not known"),
        ((*MODEL, "--tpu", "", "--gpu", ""), "error: --tpu and --gpu name nothing"),
        (("plan", "--params", "seven", "--seq", "1", "--batch", "1"), "error: --params: 'seven' is no number"),
        (("plan", "--params", "7B", "--seq", "0", "--batch", "1"), "'--seq'"),
        (("plan", "--params", "7B", "--seq", "1"), "error: give --batch, or a script"),
        ((*MODEL, "train.py"), "error: cannot read train.py"),
        (("plan", "train.py"), "error: command line: there is no file train.py"),
        (("plan", "--params", "7B", "--seq", "1", "--batch", "auto"), "error: --batch: 'auto' is no number"),
        (("plan", __file__, "--variants", "bf17"), "error: --variants: 'bf17' is not known; did you mean `bf16`?"),
        (("plan", __file__, "--batch", "some"), "error: --batch: 'some' is neither a number nor auto"),
        (("plan", __file__, "--tpu", ""), "error: --tpu names nothing to compile for"),
        (("plan", __file__, "--python", "no/python"), "error: cannot run no/python"),
        ((*MODEL, "--prices", "none.yaml"), "error: cannot read none.yaml"),
        ((*MODEL, "--precision", "fp8"), "'--precision'"),
    ],
)
def test_wrong_usage_is_one_message(arguments: tuple[str, ...], message: str, tmp_path: Path) -> None:
    done = tpulint(*arguments, cwd=tmp_path)
    assert done.status == 2
    assert message in done.err and done.err.lower().count("error:") == 1
    assert done.out == ""


def test_wheel_takes_the_tables_along() -> None:
    folder = ROOT / "tpulint" / "planning"
    assert {path.name for path in folder.glob("*.yaml")} == {"tpus.yaml", "prices.yaml"}
    assert yaml.safe_load((folder / "prices.yaml").read_text(encoding="utf-8"))["currency"] == "USD"


def test_page_states_the_formulas() -> None:
    page = (ROOT / "docs" / "planning.md").read_text(encoding="utf-8")
    for part in ("6 x params x tokens", "17 x", "90 %", "12 x layers x hidden^2", "(n-1)/n", "lower bound"):
        assert part in page, part
