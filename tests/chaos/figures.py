"""The figures of rounds: how often each judge found an answer right, and the page that has them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.chaos.judges import Judge, Verdict

Line = Mapping[str, Any]  # a judgement, with the round's seed and the cluster
Figures = Mapping[str, Any]  # of one kind of cluster

ROOT = Path(__file__).parents[2]
MEASURED = Path(__file__).with_name("measured.json")
PAGE = ROOT / "docs" / "reference" / "chaos.md"
README = ROOT / "README.md"
MARK = "<!-- by python -m tests.chaos --figures -->"
COLUMNS = {
    Judge.LEADER: "first leader",
    Judge.AFTERMATH: "what follows",
    Judge.STEPS: "metadata steps",
    Judge.EXPLAINED: "explained",
    Judge.LOSS: "loss",
    Judge.EXPLAINED_LOGS: "explained, with logs",
    Judge.LOSS_LOGS: "loss, with logs",
    Judge.REVIEW: "review",
    Judge.READ: "read",
    Judge.COMMITTED: "read committed",
    Judge.ONCE: "once",
}


def lines(paths: Iterable[Path]) -> Iterator[Line]:
    """The judgements in files of JSON lines."""
    for path in paths:
        for line in path.read_text(encoding="utf-8").splitlines():
            yield json.loads(line)


def counted(found: Iterable[Line], judge: Judge) -> dict[str, int]:
    """How many answers got each verdict of a judge."""
    verdicts = [each["verdict"] for each in found if each["judge"] == judge]
    return {str(verdict): verdicts.count(verdict) for verdict in Verdict}


def table(found: Sequence[Line]) -> list[str]:
    """A line for each judge, for a terminal."""
    return [
        f"{judge:20}" + ", ".join(f"{count:4} {verdict}" for verdict, count in counted(found, judge).items())
        for judge in Judge
    ]


def wrong(found: Iterable[Line]) -> list[Line]:
    """The answers that were wrong."""
    return [each for each in found if each["verdict"] == Verdict.WRONG]


# ------------------------------------------------------------------ the page


def figures(found: Sequence[Line], date: str) -> list[Figures]:
    """The figures of each kind of cluster, and what was wrong there."""
    kinds = sorted({(each["kafka"], each["elr"]) for each in found})
    return [
        _of_kind(
            kafka, [each for each in found if (each["kafka"], each["elr"]) == (kafka, elr)], date, elr=elr
        )
        for kafka, elr in kinds
    ]


def _of_kind(kafka: str, found: Sequence[Line], date: str, *, elr: bool) -> Figures:
    """The figures of one kind of cluster."""
    return {
        "kafka": kafka,
        "elr": elr,
        "date": date,
        "rounds": len({each["seed"] for each in found}),
        "partitions": len({(each["seed"], each["topic"]) for each in found}),
        "verdicts": {str(judge): counted(found, judge) for judge in Judge},
        "wrong": [f"{each['topic']}: {each['judge']}: {each['reason']}" for each in wrong(found)],
    }


def page_table(measured: Sequence[Figures]) -> str:
    """The table of the page, of what is stored."""
    heads = ["Kafka", "ELR", "date", "rounds", "partitions", *COLUMNS.values()]
    rows = [
        [each["kafka"], "on" if each["elr"] else "off", each["date"], each["rounds"], each["partitions"]]
        + [_cell(each["verdicts"][judge]) for judge in COLUMNS]
        for each in measured
    ]
    table_lines = [heads, ["---"] * 3 + ["---:"] * (len(heads) - 3), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in table_lines)


def _cell(verdicts: Mapping[str, int]) -> str:
    """How many were right, of how many, and how many were wrong."""
    every, bad = sum(verdicts.values()), verdicts[Verdict.WRONG]
    return f"{verdicts[Verdict.RIGHT]} of {every}{f', {bad} wrong' if bad else ''}" if every else ""


def sentence(measured: Sequence[Figures]) -> str:
    """The line of the README."""
    rounds = sum(each["rounds"] for each in measured)
    releases = ", ".join(dict.fromkeys(each["kafka"] for each in measured))

    def right(judge: Judge) -> str:
        found = [each["verdicts"][judge] for each in measured]
        return f"{sum(one[Verdict.RIGHT] for one in found)} of {sum(sum(one.values()) for one in found)}"

    return (
        f"In {rounds} rounds of [random faults on real clusters](docs/reference/chaos.md) "
        f"(Kafka {releases}), the first leader was foretold for {right(Judge.LEADER)} partitions, "
        f"and {right(Judge.EXPLAINED)} were explained."
    )


def shown(measured: Sequence[Figures]) -> Iterator[tuple[Path, str, str]]:
    """Each document with figures: its path, what it should show, and what ends that."""
    yield PAGE, page_table(measured), "\n\n"
    yield README, sentence(measured), "\n"


def publish(results: Sequence[Path]) -> None:
    """Store the figures of results, and write them into the page and the README.

    Reads the results of all runs that count; what was stored before is replaced.
    """
    measured = figures(list(lines(results)), datetime.now(UTC).date().isoformat())
    MEASURED.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")
    for path, text, end in shown(measured):
        before, mark, rest = path.read_text(encoding="utf-8").partition(f"{MARK}\n")
        assert mark, f"{path} has no place for the figures"
        after = rest.partition(end)[2]
        path.write_text(before + mark + text + end + after, encoding="utf-8")
