"""Lines that others have published are read as what they say; `public_lines.toml` says where each stands."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from modelcheck.kafka.files.checkpoints import TopicPartition
from modelcheck.kafka.files.messages.layouts import detect
from modelcheck.kafka.files.messages.lines import read_log_file
from modelcheck.kafka.files.messages.templates import TEMPLATES, Says

FILES = Path(__file__).parent.parent.parent.parent.parent / "modelcheck/kafka/files"
PUBLIC = tomllib.loads((Path(__file__).parent / "public_lines.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", PUBLIC["line"], ids=lambda case: f"{case['says']} {case['source']}")
def test_a_published_line_says_what_it_says(case: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "server.log").write_text(case["text"] + "\n", encoding="utf-8")
    (found,) = read_log_file(tmp_path / "server.log", None, lambda _: None).matched
    place = None if found.place is None else str(found.place)

    assert (found.says.name, found.node, place) == (case["says"], case.get("node"), case.get("place"))
    assert found.values == case["values"]


def test_lines_of_no_use_are_known_to_be(tmp_path: Path) -> None:
    (tmp_path / "server.log").write_text("".join(f"{case['text']}\n" for case in PUBLIC["of_no_use"]))
    found = read_log_file(
        tmp_path / "server.log", [TopicPartition("connect-cluster-offsets", 20)], lambda _: None
    )

    assert (found.total, found.entries, found.matched, found.unknown) == (2, 2, (), 0)


def test_a_line_is_like_one_template() -> None:
    for case in PUBLIC["line"]:
        reading = detect([case["text"]])
        assert reading is not None
        read = reading.read(case["text"])
        assert read is not None
        like = [each for each in TEMPLATES if each.pattern.search(read.message)]

        assert len(like) == 1
        assert like[0].literal in read.message
        assert read.logger in like[0].loggers
        assert read.level in like[0].level


def test_the_table_has_the_columns_that_are_read() -> None:
    table = tomllib.loads((FILES / "messages/templates.toml").read_text(encoding="utf-8"))
    needed = {"says", "literal", "message", "since", "loggers", "level", "source"}
    named = {
        name for row in table["template"] for name in re.findall(r"\{([A-Z]+)\}", "".join(row["message"]))
    }

    assert all(needed <= row.keys() <= needed | {"until"} for row in table["template"])
    assert named <= table["parts"].keys()
    assert not any("{" + name + "}" in each.message for each in TEMPLATES for name in table["parts"])


def test_each_template_says_where_it_comes_from_and_its_releases() -> None:
    for each in TEMPLATES:
        assert each.source.endswith((".scala", ".java"))
        assert not each.until or release(each.since) <= release(each.until)


def release(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(".")))


# As a controller of Kafka 4.4.0 writes it, with eligible leader replicas.
ELECTED = (
    "[2026-11-26 05:11:31,873] INFO [QuorumController id=10] UNCLEAN partition change for orders-0 with topic"
    " ID TWeaKWuPRR20Lom5u0g9wA: isr: [] -> [2], leader: -1 -> 2, leaderRecoveryState: RECOVERED ->"
    " RECOVERING, leaderEpoch: 1 -> 2, elr: [1] -> [], lastKnownElr: [1] -> [], partitionEpoch: 4 -> 5"
    " (org.apache.kafka.controller.ReplicationControlManager)\n"
)


def test_an_unclean_election_where_replicas_were_eligible_is_read(tmp_path: Path) -> None:
    (tmp_path / "controller.log").write_text(ELECTED)
    found = read_log_file(tmp_path / "controller.log", [TopicPartition("orders", 0)], lambda _: None)

    assert [(line.says, line.values) for line in found.matched] == [
        (Says.ELECTED, {"isr": "2", "leader": "2", "epoch": "2", "version": "5"})
    ]


def test_a_leader_of_4_2_and_later_says_what_it_was_told() -> None:
    log = (
        Path(__file__).parent / "clusters" / "elected_unclean_newer" / "logs" / "broker1" / "state-change.log"
    )
    found = read_log_file(log, [TopicPartition("orders", 0)], lambda _: None)
    told = [line.values for line in found.matched if line.says is Says.TOLD]

    assert found.unknown == 0
    assert [(each["isr"], each["leader"], each["epoch"], each["version"]) for each in told] == [
        ("1, 3", "1", "0", "1"),
        ("1", "1", "0", "2"),
        ("1, 2", "2", "1", "4"),
        ("2", "2", "1", "5"),
    ]
    assert [each.get("mark") for each in told] == ["20", "20", None, None]
