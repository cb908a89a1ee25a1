"""The Python API over the engine."""

import math
import threading
from pathlib import Path

import pytest

import floatgate
from floatgate.settings import pairs
from floatgate.workloads.reading import _names

SMALL = {"workload.requests": 2000}


def test_settings_are_mappings_or_texts() -> None:
    assert pairs({"a.b": True, "c": 0.5, "d": "40us"}) == ["a.b=true", "c=0.5", "d=40us"]
    assert pairs(["a=1", "b=2"]) == pairs(iter(["a=1", "b=2"])) == ["a=1", "b=2"]
    assert pairs("a=1") == ["a=1"]


def test_devices_are_names_or_numbers() -> None:
    assert _names("3,hm_0") == ["3", "hm_0"]
    assert (_names(3), _names([3, "7"]), _names(())) == (["3"], ["3", "7"], [])


def test_policies_are_listed_whole_or_by_family() -> None:
    known = floatgate.policies()
    families = dict.fromkeys(policy["family"] for policy in known)
    assert len(families) >= 9
    assert [policy for family in families for policy in floatgate.policies(family)] == known
    with pytest.raises(floatgate.InputError, match=r"not a family; did you mean `victim`"):
        floatgate.policies("vctim")


def test_both_forms_of_settings_give_the_same_run() -> None:
    one = floatgate.run("agcr", "random-write", set=SMALL, policy={"cost": "fixed:level=low"})
    two = floatgate.run(
        "agcr", "random-write", set=["workload.requests=2000"], policy="cost=fixed:level=low"
    )
    assert one.run_id == two.run_id
    assert one.host == two.host


def test_a_result_answers() -> None:
    result = floatgate.run("agcr", "random-write", set=SMALL, seed=7)
    assert result.provenance.seed == 7
    assert result.checks.passed
    assert result.host.write.requests == 2000
    assert result.delays().filter(operation="write")["mean_ns"].sum() == pytest.approx(
        result.host.write.latency_ns.mean
    )


def test_what_can_be_run_is_listed() -> None:
    assert "agcr" in floatgate.drives()
    names = {(p["family"], p["name"]) for p in floatgate.policies()}
    assert {("victim", "greedy"), ("cost", "fixed")} <= names
    assert {"msr", "blkparse", "csv"} <= set(floatgate.formats())
    assert floatgate.resolve("agcr", set={"run.seed": 3})["run"]["seed"] == 3


@pytest.mark.parametrize(("drive", "program", "wordline"), [
    ("modern-tlc", 637.88e-6, 3), ("modern-qlc", 1860e-6, 4),
])  # fmt: skip
def test_a_modern_drive_writes_wordlines_of_all_planes_at_once(
    drive: str, program: float, wordline: int
) -> None:
    page, planes, dies = 16_384, 4, 8
    # On an empty drive, because filling it would take most of the time.
    settings = {"workload.requests": 40_000, "precondition.fill": "none"}
    result = floatgate.run(drive, "sequential-write", set=settings)
    # A command, the pages of a wordline in all planes over the channel, the array once.
    unit = wordline * planes * page
    together = 300e-9 + unit / 1600e6 + wordline * program
    rate = result.host.write.bytes / result.simulated_seconds
    assert rate == pytest.approx(dies * unit / together, rel=0.02)
    buffer = result.data["buffer"]
    assert buffer["pages"] == buffer["most"] == 2 * wordline * planes * dies * 4
    assert result.provenance.config.policies.order.name == "read-first"
    assert "no model of a product" in result.provenance.config.summary


def test_a_workload_that_fits_the_buffer_takes_the_time_of_its_programs() -> None:
    """Before, this run ended after 0 s."""
    settings = {"buffer.size": "512MiB", "host.queue-depth": 1, "workload.requests": 10_000}
    settings["precondition.fill"] = "none"  # filling the drive would take most of the time
    result = floatgate.run("modern-tlc", "random-write", set=settings)
    # 4 KiB over the link at 7 GB/s, then 4 us, and 4 KiB at 8.9 GB/s; one after the other, while
    # programs run.
    each = result.host.write.latency_ns.max
    assert each == pytest.approx(4096 / 7 + 4000 + 4096 / 8.9, abs=2)
    # Programs have 48 mapping units, on eight dies at once at best. The rest of the buffer is sent
    # when the last request comes, while its data are on the link: it has a program of its own.
    programs = math.ceil(9_999 / 48) + 1
    assert result.data["flash"]["program"]["host"] == programs * 48
    least = programs / 8 * 3 * 637.88e-6
    assert least < result.simulated_seconds < 1.2 * least
    assert result.end.at_ns == 10_000 * each + result.data["buffer"]["drain_ns"]
    codes = [warning["code"] for warning in result.warnings]
    assert "buffer-drained" in codes
    assert "buffer-never-filled" in codes


def test_a_chip_says_what_it_is_and_how_it_is_known() -> None:
    [mango] = floatgate.chips("c-mlc64")
    assert (mango["bits_per_cell"], mango["page_bytes"], mango["pages_per_block"]) == (2, 8192, 128)
    assert mango["program_ns"] == [327_000, 1_418_000]
    assert mango["page_types"][:6] == [0, 0, 1, 0, 1, 0]
    assert mango["reprogram_disturbs"][126:] == [[123], [125]]
    read = mango["settings"]["energy.read"]
    assert (read["value"], read["derived"], read["assumed"]) == ("12.45184uJ", True, False)
    with pytest.raises(floatgate.InputError, match="did you mean `a-slc2` or `a-slc4` or `a-slc8`"):
        floatgate.chips("a-slc3")


def test_a_drive_with_energies_says_what_a_run_took() -> None:
    result = floatgate.run("c-mlc64", "random-write", set={"workload.requests": 100})
    joules, split = result.energy_joules, result.energy_split
    assert joules.program == pytest.approx(100 * (43.25376e-6 + 187.43296e-6) / 2, rel=0.02)
    parts = [joules[key] for key in ("read", "program", "erase", "reprogram", "transfer", "idle")]
    assert sum(parts) == pytest.approx(joules.total)
    assert sum(split.source.values()) + joules.idle == pytest.approx(joules.total)
    assert "nJ for each byte of the host" in str(result)
    assert floatgate.run("agcr", "random-write", set=SMALL).energy_joules is None


def test_wrong_input_raises_with_an_explanation() -> None:
    with pytest.raises(floatgate.ConfigError, match="spare-factor"):
        floatgate.run("agcr", "random-write", set={"ftl.spare-facto": 0.2})
    with pytest.raises(floatgate.WorkloadError, match=r"missing\.csv"):
        floatgate.run("agcr", "missing.csv")
    assert issubclass(floatgate.ConfigError, floatgate.InputError)


def test_a_folder_is_no_workload(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("zipf", "msr:hm_0", "traces"):
        (tmp_path / name).mkdir()
    settings = {"workload.requests": 100, "precondition.fill": "none"}
    assert floatgate.run("agcr", "zipf", set=settings).provenance.workload.format == "zipf"
    assert floatgate.run("agcr", "msr:hm_0", set=settings).provenance.workload.stand_in
    (tmp_path / "mix.toml").write_text(
        'schema = "floatgate.workload/1"\n[[part]]\nworkload = "zipf"\n'
        "[[part]]\nworkload = 'random-read'\n"
    )
    settings["workload.span"] = "1GiB"
    assert floatgate.run("agcr", "mix.toml", set=settings).host.all.requests == 200
    for name in ("./zipf", "traces"):
        with pytest.raises(floatgate.InputError, match=f"{name}: this is a (directory|folder)"):
            floatgate.run("agcr", name)
    # A file of that name is one.
    (tmp_path / "zipf").rmdir()
    (tmp_path / "zipf").write_text("0 0 0 8 0\n1000 0 8 8 1\n")
    assert floatgate.run("agcr", "zipf").provenance.workload.format == "ssdsim-ascii"


def test_a_rate_is_requests_a_second(tmp_path: Path) -> None:
    def shown(workload: str, **settings: object) -> dict[str, object]:
        given = {f"workload.{key}": value for key, value in settings.items()}
        data = dict(floatgate.run("agcr", workload, set={"workload.requests": 5000} | given).data)
        return {key: data[key] for key in ("host", "flash", "simulated_seconds")}

    short = shown("zipf", rate=20_000)
    assert short == shown("zipf", arrivals="{ poisson = { iops = 20000 } }")
    # 5000 gaps of 50 us: their sum has a standard deviation of 1.4 %.
    assert short["simulated_seconds"] == pytest.approx(0.25, rel=0.06)
    file = tmp_path / "slow.toml"
    file.write_text('pattern = "zipf"\narrivals = { constant = { iops = 3 } }\n')
    assert shown(str(file), rate=20_000) == short
    file.write_text('pattern = "zipf"\nrate = 20000\n')
    assert shown(str(file)) == short
    assert shown(str(file), arrivals="as-fast-as-possible") == shown("zipf")
    with pytest.raises(
        floatgate.InputError, match=r"`workload\.rate` is for generators; a stand-in"
    ):
        shown("msr:hm_0", rate=5)


def test_what_progress_raises_comes_through() -> None:
    def stop(stage: str, done: int, total: int | None, now_ns: int) -> None:
        if stage == "running":
            raise RuntimeError(f"stopped after {done} of {total} at {now_ns}")

    endless = {"workload.requests": 100_000_000_000, "precondition.fill": "none"}
    with pytest.raises(RuntimeError, match=r"stopped after \d+ of 100000000000 at \d+"):
        floatgate.run("agcr", "random-write", set=endless, progress=stop)


def test_the_interpreter_is_free_while_the_engine_works() -> None:
    ticks = 0
    done = threading.Event()

    def count() -> None:
        nonlocal ticks
        while not done.wait(0.001):
            ticks += 1

    thread = threading.Thread(target=count)
    thread.start()
    try:
        floatgate.run("agcr", "random-write", set={"workload.requests": 1_000_000})
    finally:
        done.set()
        thread.join()
    assert ticks >= 10
