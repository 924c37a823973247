"""The search on disk: what it finds is what memory finds, whatever its folder goes through."""

from __future__ import annotations

import ctypes
import errno
import signal
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from random import Random

import pytest

from modelcheck.api import Unsupported, check, traces
from modelcheck.cli import main
from modelcheck.contract.engine import CannotResume, Keep, Limits, Refusal
from modelcheck.contract.report import Event, LayerDone, Spilled, Stopped
from modelcheck.contract.result import End, Outcome, Spill
from modelcheck.contract.wording import partial_words
from modelcheck.explicit.codegen.search.sorted_states import unit
from modelcheck.explicit.disk.levels import Room, room_for
from modelcheck.explicit.disk.writing import PackedBlock, RunWriter
from modelcheck.explicit.engine import ExplicitEngine
from modelcheck.explicit.native.arena import words_of
from modelcheck.explicit.native.functions import OF_SORTED, MachineCode
from modelcheck.explicit.native.writing import of_sorted_states
from modelcheck.explicit.search.rounds import PackedSearch
from modelcheck.processes.memory import resident
from spec.load import loads
from spec.model.ir import Check, Model
from tests.fuzz.of_disk import Killed, killing
from tests.protocol_checks import kisr_of_two

LITTLE = Room(500, 900, 200)  # states: of a question with a few thousand
WAYS_BACK = """
protocol lamp
state { on: bool = false }
action push { on := not on }
recoverable back: not on
leadsto lit: not on ~> on
check one { }
"""


@pytest.fixture(autouse=True)
def _no_wait_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is written need not outlive the machine."""
    monkeypatch.setattr("os.fsync", lambda _: None)


@pytest.fixture(autouse=True)
def _many_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs that are cut into parts when they have hardly any states."""
    monkeypatch.setattr("modelcheck.explicit.disk.levels.LARGE", 4)


def asked(faults: int | None = None) -> tuple[Model, Check]:
    """A check of kisr among two replicas: 7,618 states in five layers."""
    model, found = kisr_of_two()
    return model, found if faults is None else replace(found, budget=replace(found.budget, total=faults))


def on_disk(
    folder: Path, *, resume: bool = False, limits: Limits | None = None, **options: object
) -> Outcome:
    """What the search on disk finds with little memory."""
    keep = Keep(folder, seconds=0, resume=resume, states=not resume)
    return check(*asked(), engine=ExplicitEngine(room=LITTLE), keep=keep, limits=limits, **options)  # type: ignore[arg-type]


@cache
def in_memory() -> Outcome:
    return check(*asked(), engine="explicit")


def stopped(folder: Path, states: int = 3000) -> Outcome:
    """A search on disk that has ended early."""
    return on_disk(folder, limits=Limits(states=states))


def counted(outcome: Outcome) -> str:
    """All that a check says but for seconds and bytes, and which of the best runs it shows."""
    findings = outcome.findings
    runs = [(run.faults, len(run.steps), run.ending) for run in traces(findings)]
    stats = replace(findings.stats, seconds=0, memory=0, ready=0)
    verdicts = [(each.property, type(each.verdict), each.by_faults) for each in findings.results]
    return repr((findings.end, verdicts, runs, stats))


# ------------------------------------------------------------------- what it finds


@pytest.mark.parametrize("threads", [1, 2])
def test_it_finds_what_the_search_in_memory_finds(tmp_path: Path, threads: int) -> None:
    assert counted(on_disk(tmp_path / "d", threads=threads)) == counted(in_memory())


def test_a_search_that_is_complete_leaves_nothing(tmp_path: Path) -> None:
    on_disk(tmp_path / "d")

    assert not (tmp_path / "d").exists()


def test_what_others_have_in_the_folder_stays(tmp_path: Path) -> None:
    (tmp_path / "run-notes").write_text("my own work")
    on_disk(tmp_path)

    assert [path.name for path in tmp_path.iterdir()] == ["run-notes"]


def test_a_search_that_is_stopped_at_once_is_where_it_was(tmp_path: Path) -> None:
    few = stopped(tmp_path)
    again = on_disk(tmp_path, resume=True, limits=Limits(states=few.findings.stats.states))

    assert few.findings.stats.states > 1000
    assert counted(again) == counted(few)


def test_more_memory_has_room_for_more_states() -> None:
    less, more = (room_for(2, memory << 30) for memory in (2, 4))

    assert less.new < more.new
    assert less.known < more.known


# ------------------------------------------------------------------------ an early end


@pytest.mark.parametrize(
    "limits", [Limits(states=1), Limits(states=3000), Limits(disk=20_000)], ids=["1", "3000", "disk"]
)
def test_it_continues_after_a_limit(tmp_path: Path, limits: Limits) -> None:
    assert on_disk(tmp_path / "d", limits=limits).findings.end.partial
    assert counted(on_disk(tmp_path / "d", resume=True)) == counted(in_memory())


def test_a_limit_on_disk_is_kept(tmp_path: Path) -> None:
    found = on_disk(tmp_path / "d", limits=Limits(disk=20_000))
    size = sum(path.stat().st_size for path in (tmp_path / "d").glob("run-*"))

    assert (found.findings.end, 0 < size <= 20_000) == (End.DISK, True)


def _fill_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk with room for fifty blocks."""
    write, left = RunWriter._write, [50]

    def full(self: RunWriter, data: PackedBlock, count: int, first: int) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        write(self, data, count, first)

    monkeypatch.setattr(RunWriter, "_write", full)


def test_a_full_disk_is_an_early_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        _fill_disk(patched)
        found = on_disk(tmp_path / "d")

    assert found.findings.end is End.DISK
    assert counted(on_disk(tmp_path / "d", resume=True)) == counted(in_memory())


class _Interrupts:
    """A reporter that asks to end when the first layer is done."""

    def tell(self, event: Event) -> None:
        if isinstance(event, LayerDone):
            signal.raise_signal(signal.SIGINT)


def test_it_continues_after_an_interrupt(tmp_path: Path) -> None:
    found = on_disk(tmp_path / "d", reporter=_Interrupts())

    assert found.findings.end is End.INTERRUPTED
    assert found.findings.stats.states > 0
    assert counted(on_disk(tmp_path / "d", resume=True)) == counted(in_memory())


@pytest.mark.parametrize("writes", [6, 41, 101])
def test_it_continues_after_it_was_killed(tmp_path: Path, writes: int) -> None:
    with killing(writes), pytest.raises(Killed):
        on_disk(tmp_path / "d")

    assert counted(on_disk(tmp_path / "d", resume=True)) == counted(in_memory())


# ----------------------------------------------------------------- when memory ends


@pytest.fixture
def _memory_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory that ends at 3,000 states, of a search that has them all there."""
    in_memory()  # which tests compare with, while memory does not end
    look = PackedSearch._look_around

    def ended(self: PackedSearch, faults: int, depth: int, waiting: int) -> None:
        look(self, faults, depth, waiting)
        if type(self) is PackedSearch and len(self) >= 3000:
            raise Stopped(End.MEMORY)

    monkeypatch.setattr(PackedSearch, "_look_around", ended)


def spilling(folder: Path, **options: object) -> Outcome:
    """What a search finds that goes on on disk where memory ends."""
    return check(*asked(), engine=ExplicitEngine(room=LITTLE), spill=folder, **options)  # type: ignore[arg-type]


class _Told:
    """A reporter that keeps how searches go on on disk, and whether their folders are there then."""

    def __init__(self) -> None:
        self.spills: list[tuple[Spill, bool]] = []

    def tell(self, event: Event) -> None:
        if isinstance(event, Spilled):
            self.spills.append((event.spill, Path(event.spill.folder or "nowhere").is_dir()))


@pytest.mark.usefixtures("_memory_ends")
def test_where_memory_ends_the_search_goes_on_on_disk(tmp_path: Path) -> None:
    found, told = spilling(tmp_path, reporter=(reporter := _Told())), reporter.spills

    assert counted(found) == counted(in_memory()) == counted(on_disk(tmp_path / "d"))
    assert told == [(found.findings.spill, True)]
    assert told[0][0].states >= 3000
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("_memory_ends")
@pytest.mark.parametrize("limits", [Limits(disk=20_000), Limits(states=5000)], ids=["disk", "states"])
def test_nothing_is_left_of_a_search_that_a_limit_ends_on_disk(tmp_path: Path, limits: Limits) -> None:
    found = spilling(tmp_path, limits=limits).findings

    assert found.end is (End.STATES if limits.disk is None else End.DISK)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("_memory_ends")
def test_a_disk_that_is_full_then_is_an_early_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _fill_disk(monkeypatch)
    found = spilling(tmp_path).findings

    assert (found.end, list(tmp_path.iterdir())) == (End.DISK, [])


@pytest.mark.usefixtures("_memory_ends")
def test_what_a_killed_search_has_left_is_removed_by_the_next(tmp_path: Path) -> None:
    left = tmp_path / "spill-killed"
    stopped(left)
    (tmp_path / "spill-notes").mkdir()
    spilling(tmp_path)

    assert [path.name for path in tmp_path.iterdir()] == ["spill-notes"]


@pytest.mark.usefixtures("_memory_ends")
def test_what_another_search_uses_stays(tmp_path: Path) -> None:
    (tmp_path / "spill-other").mkdir()
    names: list[set[str]] = []

    class Second:
        def tell(self, event: Event) -> None:
            if isinstance(event, LayerDone) and not names:
                spilling(tmp_path)
                names.append({path.name for path in tmp_path.iterdir()})

    on_disk(tmp_path / "spill-mine", reporter=Second())

    assert names == [{"spill-mine", "spill-other"}]


@pytest.mark.usefixtures("_memory_ends")
@pytest.mark.parametrize("writes", [1, 41])
def test_with_checkpoints_it_continues_after_it_was_killed_on_disk(tmp_path: Path, writes: int) -> None:
    with killing(writes), pytest.raises(Killed):
        spilling(tmp_path / "spills", keep=Keep(tmp_path / "d", seconds=0))
    is_on_disk = (tmp_path / "d" / "search.json").exists()
    found = spilling(tmp_path / "spills", keep=Keep(tmp_path / "d", seconds=0, resume=True))

    assert is_on_disk == (writes > 1)
    assert counted(found) == counted(in_memory())
    assert not (tmp_path / "d" / "search.json").exists()
    assert not (tmp_path / "spills").exists()


@pytest.mark.usefixtures("_memory_ends")
def test_without_a_folder_it_ends_where_memory_does(tmp_path: Path) -> None:
    found = check(*asked(), engine="explicit").findings

    assert (found.end, found.spill) == (End.MEMORY, None)


@pytest.mark.usefixtures("_memory_ends")
def test_what_needs_all_states_in_memory_ends_with_it_and_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "modelcheck.explicit.engine.not_on_disk", lambda _: [Refusal("recoverable back on disk")]
    )
    found = spilling(tmp_path)

    assert found.findings.end is End.MEMORY
    assert "it cannot do recoverable back: leave that out (--property)" in partial_words(found.findings)


@pytest.mark.usefixtures("_memory_ends")
def test_memory_that_a_search_on_disk_needs_itself_is_told(tmp_path: Path) -> None:
    found = spilling(tmp_path, limits=Limits(memory=resident() + 50_000_000))

    assert found.findings.end is End.MEMORY
    assert "MB itself: allow more (--max-memory)" in partial_words(found.findings)


@pytest.mark.usefixtures("_memory_ends")
def test_a_folder_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    found = spilling(tmp_path / "file")

    assert found.findings.end is End.MEMORY
    assert "file cannot be used: file exists" in partial_words(found.findings)


# -------------------------------------------------------------------- another folder


def refused(work: Callable[[], object]) -> str:
    """Why something cannot be resumed."""
    with pytest.raises(CannotResume) as reason:
        work()
    return str(reason.value)


def test_two_searches_in_one_folder_are_refused(tmp_path: Path) -> None:
    texts: list[str] = []

    class Second:
        def tell(self, event: Event) -> None:
            if isinstance(event, LayerDone) and not texts:
                texts.append(refused(lambda: on_disk(tmp_path / "d")))

    on_disk(tmp_path / "d", reporter=Second())

    assert texts == [f"another search uses {tmp_path / 'd'}: wait for its end, or give another folder"]


def test_a_new_search_does_not_overwrite_another(tmp_path: Path) -> None:
    stopped(tmp_path)

    assert "continue it by --resume" in refused(lambda: on_disk(tmp_path))


def test_a_search_of_another_question_is_refused(tmp_path: Path) -> None:
    stopped(tmp_path)
    keep, engine = Keep(tmp_path, resume=True), ExplicitEngine(room=LITTLE)

    assert "another model, scope, check" in refused(partial(check, *asked(1), engine=engine, keep=keep))


def changed(path: Path, change: Callable[[bytes], bytes]) -> None:
    """Change what is in a file."""
    path.write_bytes(change(path.read_bytes()))


def flipped(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data[:-1],
        lambda data: data + b"x",
        lambda _: b"",
        lambda data: flipped(data, 20),
        lambda data: flipped(data, len(data) - 3),
        lambda data: flipped(data, len(data) - 40),
    ],
    ids=["shorter", "longer", "empty", "states", "tail", "index"],
)
def test_a_damaged_run_is_refused(tmp_path: Path, change: Callable[[bytes], bytes]) -> None:
    stopped(tmp_path)
    for path in tmp_path.glob("run-*"):
        changed(path, change)

    assert "is damaged" in refused(lambda: on_disk(tmp_path, resume=True))


def test_a_run_that_is_gone_is_refused(tmp_path: Path) -> None:
    stopped(tmp_path)
    next(tmp_path.glob("run-*")).unlink()

    assert "cannot be read: no such file" in refused(lambda: on_disk(tmp_path, resume=True))


@pytest.mark.parametrize("change", [lambda data: data[:-1], lambda _: b"", lambda data: flipped(data, 99)])
def test_a_damaged_description_is_refused(tmp_path: Path, change: Callable[[bytes], bytes]) -> None:
    stopped(tmp_path)
    changed(tmp_path / "search.json", change)

    assert "damaged" in refused(lambda: on_disk(tmp_path, resume=True))


def test_what_needs_all_states_in_memory_is_refused(tmp_path: Path) -> None:
    (model,) = loads(WAYS_BACK)
    with pytest.raises(Unsupported, match="recoverable back on disk") as refusal:
        check(model, model.checks[0], engine="explicit", keep=Keep(tmp_path, states=True))

    assert "leadsto lit on disk" in str(refusal.value)


def test_where_no_engine_is_named_the_refusal_is_that_of_the_search_on_disk(tmp_path: Path) -> None:
    (model,) = loads(WAYS_BACK)
    with pytest.raises(Unsupported) as refusal:
        check(model, model.checks[0], keep=Keep(tmp_path, states=True))

    assert str(refusal.value).startswith("the engine explicit cannot do: recoverable back on disk")


# ------------------------------------------------------------------------ by command


def test_the_command_continues_on_disk(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["check", "kisr", "--check", "xs", "-q"]
    codes = [
        main([*command, "--disk", str(tmp_path / "d"), "--max-states", "10"]),
        main([*command, "--resume", str(tmp_path / "d")]),
    ]

    assert codes == [3, 0]
    assert "no verdict on strong_isr" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--no-disk", "--max-disk", "1G"], "leave it out"),
        (["--disk", "d", "--no-ways"], "leave out --no-ways"),
        (["--disk", "d", "--engine", "spark"], "--run-dir"),
        (["--disk", "d", "--estimate"], "--estimate goes with neither"),
    ],
)
def test_options_that_do_not_go_with_a_search_on_disk(
    capsys: pytest.CaptureFixture[str], options: list[str], text: str
) -> None:
    code = main(["check", "kisr", "--check", "xs", *options])

    assert (code, text in capsys.readouterr().err) == (2, True)


# ------------------------------------------------------------------------- the code


@pytest.fixture(params=[1, 2, 3, 9, 33, 70], ids="{} words".format)
def code(request: pytest.FixtureRequest) -> tuple[int, MachineCode]:
    """The functions on sorted states of some words."""
    return request.param, MachineCode(of_sorted_states(request.param), OF_SORTED)


def some(rng: Random, count: int, words: int) -> list[tuple[int, ...]]:
    """Random states, of which some differ in one word alone."""
    return [tuple(rng.getrandbits(5) << rng.choice([0, 11, 59]) for _ in range(words)) for _ in range(count)]


def in_order(states: Iterable[tuple[int, ...]]) -> list[tuple[int, ...]]:
    return sorted(set(states), key=lambda words: words[::-1])


def array(states: Iterable[tuple[int, ...]]) -> ctypes.Array[ctypes.c_uint64]:
    return words_of([word for state in states for word in state])


def test_states_are_sorted_by_value(code: tuple[int, MachineCode]) -> None:
    words, made = code
    states = some(Random(1), 3000, words)  # noqa: S311 - no secret
    one, other, counts = array(states), array(states), words_of([0] * (256 * 8 * words))
    is_other = made.call["sort_by_value"](one, other, len(states), counts)

    assert list(other if is_other else one) == list(array(sorted(states, key=lambda state: state[::-1])))


def test_states_are_subtracted_and_dropped(code: tuple[int, MachineCode]) -> None:
    words, made = code
    rng = Random(2)  # noqa: S311 - no secret
    states, seen = in_order(some(rng, 3000, words)), in_order(some(rng, 2000, words))
    seen = in_order([*seen, *states[::3]])
    one, marks = array(states), (ctypes.c_uint8 * len(states))()
    made.call["subtract"](one, len(states), array(seen), len(seen), marks)
    left = made.call["drop"](one, len(states), marks)
    known = set(seen)

    assert list(one)[: words * left] == list(array([state for state in states if state not in known]))
    assert not any(marks)


def test_states_are_joined_as_they_were_split(code: tuple[int, MachineCode]) -> None:
    words, made = code
    states = in_order(some(Random(3), 3000, words))  # noqa: S311 - no secret
    one, back = array(states), words_of([0] * (words * len(states)))
    split = (ctypes.c_uint8 * ((8 * words + unit(words)) * len(states) + 8 * words))()
    size = made.call["split_bytes"](one, len(states), split)

    assert made.call["join_bytes"](split, size, len(states), back)
    assert list(back) == list(one)
    assert not made.call["join_bytes"](split, size - 1, len(states), back)


def test_the_first_state_from_a_value_on_is_found(code: tuple[int, MachineCode]) -> None:
    words, made = code
    states = in_order([(1,) * words, *some(Random(4), 300, words)])[1:]  # noqa: S311 - no secret
    one = array(states)
    asked = [states[0], states[20], (0,) * words, tuple((1 << 64) - 1 for _ in range(words))]
    found = [made.call["first_from"](one, len(states), words_of(state)) for state in asked]

    assert found == [0, 20, 0, len(states)]
