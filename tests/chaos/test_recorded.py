"""Eight rounds of real clusters, kept by `--record`: what is said of them is judged anew, without Kafka.

What befell them is in their plans.  Half were wrong or not known when they were played.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.chaos.__main__ import RECORDED, judged_again
from tests.chaos.judges import Judge, Verdict
from tests.chaos.shrink import slim

ROUNDS = sorted(each for each in RECORDED.iterdir() if each.is_dir())
NOT_KNOWN = {
    ("r2206a", Judge.LOSS),  # nothing is left of what a leader wrote that had lost its log
    ("r4102b", Judge.LEADER),  # a broker registered between two fencings
}


def found(round_: Path, folder: Path) -> dict[tuple[str, str], str]:
    """The verdict of each judge on each topic of a round."""
    to = folder / round_.name
    shutil.copytree(round_, to)
    return {(each["topic"], each["judge"]): each["verdict"] for each in judged_again([to])}


@pytest.mark.parametrize("round_", ROUNDS, ids=lambda each: each.name)
def test_a_recorded_round_is_told_as_it_was(round_: Path, tmp_path: Path) -> None:
    verdicts = found(round_, tmp_path)
    known = {key: verdict for key, verdict in verdicts.items() if key not in NOT_KNOWN}
    rest = {verdict for key, verdict in verdicts.items() if key in NOT_KNOWN}

    assert set(known.values()) == {Verdict.RIGHT}
    assert rest <= {Verdict.UNKNOWN}
    assert {judge for _, judge in known} >= {Judge.AFTERMATH, Judge.STEPS, Judge.EXPLAINED}


def files(folder: Path) -> dict[str, bytes]:
    """The contents of all files in a folder."""
    return {str(each.relative_to(folder)): each.read_bytes() for each in folder.rglob("*") if each.is_file()}


def test_of_some_topics_a_round_is_recorded_without_the_others_and_without_what_no_reader_needs(
    tmp_path: Path,
) -> None:
    whole, more, small = (tmp_path / name for name in ("whole", "more", "small"))
    slim(RECORDED / "r4218", whole)
    shutil.copytree(whole, more)
    truth, seen = (json.loads((more / f"{name}.json").read_text()) for name in ("truth", "seen"))
    truth["plan"]["topics"].append({**truth["plan"]["topics"][0], "name": "r4218g"})
    truth["topics"]["r4218g"] = truth["topics"]["r4218f"]
    for what in ("trail", "values", "cut_back"):
        seen[what]["r4218g"] = seen[what]["r4218f"]
    (more / "truth.json").write_text(json.dumps(truth))
    (more / "seen.json").write_text(json.dumps({**seen, "by_hand": ["r4218g"]}))
    for name in ("r4218g-0", "__consumer_offsets-0", "__cluster_metadata-0"):
        (more / "data" / "broker1" / name).mkdir()
        (more / "data" / "broker1" / name / "00000000000000000000.log").write_bytes(b"")
    (more / "data" / "broker1" / "r4218f-0" / "00000000000000000000.index").write_bytes(b"")
    with (more / "logs" / "broker1" / "server.log").open("a") as file:
        line = "[2026-11-28 05:00:00,000] INFO [Log partition=r4218{}-0, dir=DIR] is (kafka.log.UnifiedLog)\n"
        file.write(f"SLF4J: found in /somewhere\n{line.format('g')}{line.format('f')}")
    slim(more, small, ["r4218f"], logs=True)
    found, expected = files(small), files(whole)
    log = "logs/broker1/server.log"

    assert found.pop(log).decode() == expected.pop(log).decode() + line.format("f")
    assert found == expected
