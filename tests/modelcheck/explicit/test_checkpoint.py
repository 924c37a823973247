"""Checkpoints: what is ours in their folder, and what becomes of those that somebody has changed."""

from __future__ import annotations

import hashlib
import json
import random
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import accumulate, chain, pairwise
from pathlib import Path
from typing import Any

import pytest

from modelcheck.api import check, traces
from modelcheck.contract.engine import CannotResume, Keep, Limits
from modelcheck.contract.result import Outcome
from modelcheck.explicit.codegen.states.layout import layout
from modelcheck.explicit.search import restoring
from modelcheck.explicit.search import rounds as search
from tests.protocol_checks import kisr_of_two

SEEDS = range(25)
Step = str | int
Change = Callable[[random.Random, dict[str, bytes]], None]  # of the files, by name


def kept(folder: Path, states: int) -> Path:
    """A checkpoint of a search that was stopped in the middle of a level."""
    model, question = kisr_of_two()
    check(model, question, engine="explicit", keep=Keep(folder), limits=Limits(states=states))
    (found,) = folder.glob("state-*")
    return found


def resumed(folder: Path) -> Outcome:
    return check(*kisr_of_two(), engine="explicit", keep=Keep(folder, 1000, resume=True))


def counted(outcome: Outcome) -> str:
    """All that a check says but for seconds and bytes."""
    findings = outcome.findings
    runs = [(run.states, run.steps, run.ending) for run in traces(findings)]
    stats = replace(findings.stats, seconds=0, memory=0, ready=0)
    return repr((findings.end, findings.results, runs, stats))


@pytest.fixture
def _small_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a search of few states is stopped in the middle of a level."""
    monkeypatch.setattr(search, "CHUNK", 16)
    monkeypatch.setattr(search, "ROUND", 3)


# ------------------------------------------------------------------- what is ours


def test_what_somebody_else_keeps_in_the_folder_stays_there(tmp_path: Path) -> None:
    for name in ("state-1", "state-7", "new-8", "state-x", "notes"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "mine").write_text("my own work")
    (tmp_path / "state-3").write_text("a file")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "state-20").symlink_to("elsewhere")
    before = sorted(tmp_path.rglob("*"))
    model, question = kisr_of_two()
    for _ in range(2):
        check(model, question, engine="explicit", keep=Keep(tmp_path), limits=Limits(states=1))

    assert set(before) <= set(tmp_path.rglob("*"))
    assert len([path for path in tmp_path.iterdir() if path not in before]) == 1
    assert resumed(tmp_path).findings.stats.states == check(model, question).findings.stats.states


def test_what_a_kill_left_behind_is_removed_and_what_was_put_beside_it_is_not(tmp_path: Path) -> None:
    first = kept(tmp_path, 1)
    shutil.copytree(first, left := tmp_path / "new-9")
    (left / "search.json").unlink()
    shutil.copytree(first, mixed := tmp_path / "state-4")
    (mixed / "mine").write_text("my own work")
    model, question = kisr_of_two()
    check(model, question, engine="explicit", keep=Keep(tmp_path), limits=Limits(states=1))

    assert not left.exists()
    assert not first.exists()
    assert [path.name for path in mixed.iterdir() if path.is_file() and path.name == "mine"] == ["mine"]


def test_a_folder_of_somebody_else_is_no_checkpoint(tmp_path: Path) -> None:
    shutil.copytree(kept(tmp_path, 1), other := tmp_path / "state-99")
    (other / "modelcheck-checkpoint").unlink()

    assert resumed(tmp_path).findings.stats.states == 7_618


# ------------------------------------------------------------------- what is forged


def leaves(value: object, path: tuple[Step, ...] = ()) -> Iterator[tuple[Step, ...]]:
    """The ways to all that is in a document, lists and objects too."""
    if path:
        yield path
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, part in parts:
        yield from leaves(part, (*path, name))


def other(rng: random.Random, value: object) -> object:
    """Something else in its place."""
    strange: list[object] = [
        None,
        "x",
        [],
        {},
        -1,
        0,
        1,
        1 << 28,
        1 << 63,
        1 << 80,
        1.5,
        1e999,
        True,
        [[]],
        "9" * 5000,
    ]
    match value:
        case bool():
            return not value
        case int() | float() if rng.random() < 0.7:
            return value + rng.choice([1, -1, 2, 1 << 28])
        case list() if value and rng.random() < 0.7:
            return rng.choice([value[1:], value[:-1], value * 2, value[::-1], [*value, value[0]]])
        case _:
            return rng.choice(strange)


def told(files: dict[str, bytes]) -> Any:  # noqa: ANN401 - a document
    return json.loads(files["search.json"][64:])


def say(files: dict[str, bytes], document: object) -> None:
    files["search.json"] = b"?" * 64 + json.dumps(document).encode()


def change_what_is_told(rng: random.Random, files: dict[str, bytes]) -> None:
    document = told(files)
    name = rng.choice([name for name in document if name != "sums"])
    *way, last = rng.choice(list(leaves(document[name], (name,))))
    place = document
    for step in way:
        place = place[step]
    if isinstance(place, dict) and rng.random() < 0.2:
        del place[last]
    else:
        place[last] = other(rng, place[last])
    say(files, document)


def shard(rng: random.Random, files: dict[str, bytes]) -> str:
    return rng.choice([name for name in sorted(files) if name.startswith("shard")])


def change_a_bit(rng: random.Random, files: dict[str, bytes]) -> None:
    data = bytearray(files[name := shard(rng, files)])
    used = [place for place, byte in enumerate(data) if byte]
    data[rng.choice(used)] ^= 1 << rng.randrange(8)
    files[name] = bytes(data)


def change_a_word(rng: random.Random, files: dict[str, bytes]) -> None:
    data = files[name := shard(rng, files)]
    place = 4 * rng.randrange(len(data) // 4)
    word = rng.choice([0, 1, 0xFFFFFFFF, 0x80000000, rng.randrange(1 << 32)])
    files[name] = data[:place] + word.to_bytes(4, "little") + data[place + 4 :]


def copy_a_state(rng: random.Random, files: dict[str, bytes]) -> None:
    data = files[name := shard(rng, files)]
    a, b = (8 * rng.randrange(len(data) // 8) for _ in range(2))
    files[name] = data[:a] + data[b : b + 8] + data[a + 8 :]


def change_the_length(rng: random.Random, files: dict[str, bytes]) -> None:
    data = files[name := shard(rng, files)]
    files[name] = rng.choice([b"", data[:-8], data[:-1], data[8:], data + b"\0" * 8, data * 2])


def swap_two_shards(rng: random.Random, files: dict[str, bytes]) -> None:
    one, two = shard(rng, files), shard(rng, files)
    files[one], files[two] = files[two], files[one]
    document = told(files)
    for part in ("slots", "words"):
        row, a, b = document[part], int(one[-2:]), int(two[-2:])
        row[a], row[b] = row[b], row[a]
    say(files, document)


def remove_a_file(rng: random.Random, files: dict[str, bytes]) -> None:
    del files[rng.choice(sorted(files))]


CHANGES: list[Change] = [
    change_what_is_told,
    change_a_bit,
    change_a_word,
    copy_a_state,
    change_the_length,
    swap_two_shards,
    remove_a_file,
]


def forge(folder: Path, files: dict[str, bytes]) -> None:
    """Write files, with checksums that are right."""
    if "search.json" in files:
        document = told(files)
        for name, data in files.items():
            if name.startswith("shard") and isinstance(document.get("sums"), dict):
                document["sums"][name] = hashlib.sha256(data).hexdigest()
        text = json.dumps(document)
        files["search.json"] = (hashlib.sha256(text.encode()).hexdigest() + text).encode()
    shutil.rmtree(folder)
    folder.mkdir()
    for name, data in files.items():
        (folder / name).write_bytes(data)


@pytest.mark.usefixtures("_small_rounds")
@pytest.mark.parametrize("change", CHANGES)
def test_a_forged_checkpoint_is_refused_or_comes_to_the_same(change: Change, tmp_path: Path) -> None:
    expected = counted(check(*kisr_of_two(), engine="explicit"))
    found = list(forged(change, tmp_path))

    assert None in found
    assert {counted(outcome) for outcome in found if outcome is not None} <= {expected}


@pytest.mark.usefixtures("_small_rounds")
@pytest.mark.parametrize("change", CHANGES)
def test_a_forged_checkpoint_of_a_large_search_is_refused_or_has_all_states(
    change: Change, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was counted is taken as it is told; what is there has to fit together."""
    monkeypatch.setattr(restoring, "SMALL", 0)
    expected = check(*kisr_of_two(), engine="explicit").findings
    found = list(forged(change, tmp_path))
    come = [outcome.findings for outcome in found if outcome is not None]

    assert None in found
    assert {(each.stats.states, each.stats.levels) for each in come} <= {
        (expected.stats.states, expected.stats.levels)
    }
    assert all(type(each.results[0].verdict) is type(expected.results[0].verdict) for each in come)


def forged(change: Change, folder: Path) -> Iterator[Outcome | None]:
    """What checks come to that go on with what somebody has changed; None where they refuse to."""
    place = kept(folder, 4_000)
    whole = {path.name: path.read_bytes() for path in place.iterdir()}
    for seed in SEEDS:
        files = dict(whole)
        change(random.Random(seed), files)  # noqa: S311 - the same in every run
        forge(place, files)
        try:
            yield resumed(folder)
        except CannotResume:
            yield None


@pytest.mark.usefixtures("_small_rounds")
def test_a_way_from_another_level_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One state has the predecessor of the first of its shard, all else is as it was."""
    monkeypatch.setattr(restoring, "SMALL", 0)
    place = kept(tmp_path, 4_000)
    whole = {path.name: path.read_bytes() for path in place.iterdir()}
    for number in range(16):
        files = dict(whole)
        change_a_way(files, number)
        forge(place, files)
        with pytest.raises(CannotResume, match="a state has no predecessor"):
            resumed(tmp_path)


def change_a_way(files: dict[str, bytes], number: int) -> None:
    model, question = kisr_of_two()
    name, document = f"shard-{number:02}", told(files)
    begin = layout(model, question.scope, {}).slot * document["slots"][number]
    end = begin + document["words"][number][0]
    numbers = decoded(files[name][begin:end])
    predecessors = [*accumulate(numbers[::2], lambda last, more: last + more & 0xFFFFFFFF)]
    state = len(predecessors) * 3 // 4
    assert predecessors[state] != predecessors[0]
    predecessors[state] = predecessors[0]
    distances = [one - last & 0xFFFFFFFF for last, one in pairwise([0, *predecessors])]
    ways = b"".join(map(encoded, chain.from_iterable(zip(distances, numbers[1::2], strict=True))))
    files[name] = files[name][:begin] + ways + files[name][end:]
    document["words"][number][0] = len(ways)
    say(files, document)


def decoded(ways: bytes) -> list[int]:
    """The numbers in bytes of seven bits each, of which all but the first have their highest bit set."""
    starts = [at for at, byte in enumerate(ways) if byte < 128]
    parts = (ways[at:end] for at, end in pairwise([*starts, len(ways)]))
    return [sum((byte & 127) << 7 * at for at, byte in enumerate(part)) for part in parts]


def encoded(number: int) -> bytes:
    found = [number & 127]
    while number := number >> 7:
        found.append(number & 127 | 128)
    return bytes(found)


@pytest.mark.usefixtures("_small_rounds")
@pytest.mark.parametrize("small", [0, restoring.SMALL])
@pytest.mark.parametrize("states", [1, 900, 2_000, 4_000, 7_600])
def test_a_checkpoint_that_nobody_changed_is_believed(
    small: int, states: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(restoring, "SMALL", small)
    kept(tmp_path, states)

    assert counted(resumed(tmp_path)) == counted(check(*kisr_of_two(), engine="explicit"))
