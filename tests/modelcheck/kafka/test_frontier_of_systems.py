"""Several systems in one frontier say what each says alone, and which setting of each helps."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from modelcheck.cli import main
from modelcheck.contract.exits import Exit
from tests.consoles import marked

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "90")

    def printed(*words: str) -> tuple[int, str, str]:
        code = main(["kafka", "frontier", *words])
        return code, *capsys.readouterr()

    return printed


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["redis_wait", "jetstream"], "redis_wait has 10 checks"),
        (["redis_wait", "redis_wait", "--check", "settings"], "`redis_wait` is given twice"),
        (["redis_wait", "quorum", "--check", "settings"], "quorum has no check settings"),
        (["redis_wait", "jetstream", "--check", "settings", "--over", "Wait=1"], "did you mean `WAIT`?"),
        (["redis_wait", "jetstream", "--check", "settings", "--of", "x"], "--of is for one model file"),
        (["redis_wait", "kafka", "--check", "settings", "--topic", "x"], "is for a configuration of Kafka"),
        (["redis_wait", "--check", "settings", "--over", "appendfsync=never"], "does not take `never`"),
        (["redis_wait", "--check", "settings", "--over", "WAIT=1", "--over", "wait=2"], "is given twice"),
        (
            ["redis_wait", "jetstream", "--check", "settings", "--property", "x"],
            "redis_wait has no property x",
        ),
        (
            ["redis_wait", "jetstream", "--check", "settings", "--kinds", "power"],
            "did you mean `power_loss`?",
        ),
        (
            ["redis_wait", "jetstream", "--check", "settings", "--kafka", "4.1"],
            "is for a configuration of Kafka",
        ),
    ],
)
def test_what_is_typed_wrong_is_told_with_help(run: Run, words: list[str], told: str) -> None:
    code, _, err = run(*words)

    assert code == Exit.WRONG
    assert told in err
    assert "Traceback" not in err


def test_a_setting_is_varied_by_its_key_and_the_values_of_the_real_system(run: Run) -> None:
    words = ("redis_wait", "--check", "settings", "--kinds", "power_loss", "--faults", "1", "--json")
    by_key = json.loads(run(*words, "--over", "WAIT=0,1", "--over", "appendfsync=everysec,always")[1])
    by_name = json.loads(run(*words, "--over", "wait=0,1", "--over", "aof=everysec,always")[1])

    assert by_key["axes"] == ["WAIT", "appendfsync"]
    assert [each["values"] for each in by_key["configurations"]][1] == {"WAIT": "0", "appendfsync": "always"}
    assert [each["answers"] for each in by_key["configurations"]] == [
        each["answers"] for each in by_name["configurations"]
    ]
    assert lost(by_key, "acknowledged_survive") == [1, 1, 1, None]  # it takes both


def lost(found: dict[str, Any], guarantee: str) -> list[int | None]:
    """The fewest faults of any mixture that break a guarantee, in each configuration."""
    return [each["answers"][guarantee]["any"]["lost_with"] for each in found["configurations"]]


TOGETHER = ("redis_wait", "jetstream", "kafka", "--check", "settings", "--faults", "1")


def test_systems_are_in_one_table_with_what_each_says_alone(run: Run) -> None:
    kinds = ("--kinds", "crash,power_loss,isolate")
    found = json.loads(run(*TOGETHER, *kinds, "--kafka", "4.1", "--json")[1])
    alone = [json.loads(run(name, *TOGETHER[3:], *kinds, "--json")[1]) for name in TOGETHER[:2]]
    here = [each["answers"] for each in found["configurations"]]
    models = [each["answers"] for part in alone for each in part["configurations"]]
    drawn = [
        configuration_of_kafka(row["values"]["setting"]) for row in found["configurations"][len(models) :]
    ]

    assert found["axes"] == ["system", "setting"]
    assert [numbers(each) for each in here[: len(models)]] == [numbers(each) for each in models]
    assert [
        each["any"]["lost_with"] for each in (row["acknowledged_survive"] for row in here[len(models) :])
    ] == [survives(run, words) for words in drawn]


def numbers(answers: dict[str, Any]) -> dict[str, Any]:
    """The numbers of faults in the answers of a configuration, without what they cost."""
    return {
        name: {kind: data and (data["survives"], data["lost_with"]) for kind, data in of.items()}
        for name, of in answers.items()
    }


def configuration_of_kafka(setting: str) -> list[str]:
    """The options by which Kafka alone is asked of a row of the table of systems."""
    over = [] if setting == "as it comes" else ["--over", setting]
    return ["kafka", "--kafka", "4.1", "--over", "replication.factor=3", *over]


def survives(run: Run, words: list[str]) -> int | None:
    """The fewest faults that lose an acknowledged record, of Kafka alone."""
    limits = ("--kinds", "crash,power,isolation", "--faults", "1", "--guarantee", "durable", "--json")
    (only,) = json.loads(run(*words, *limits)[1])["configurations"]
    lost_with = only["answers"]["durable"]["any"]["lost_with"]
    assert lost_with is None or isinstance(lost_with, int)
    return lost_with


def test_each_system_is_told_which_setting_of_its_own_helps(
    run: Run, golden: Callable[[str, str], None]
) -> None:
    code, out, _ = run(*TOGETHER, "--kafka", "4.1")

    assert code == Exit.EXPECTED
    golden("frontier/systems.txt", out.partition("\n\nUp to ")[0] + "\n")


def test_systems_are_compared_with_their_own_kind_alone(run: Run) -> None:
    found = json.loads(run(*TOGETHER, "--json")[1])
    system = {each["number"]: each["values"]["system"] for each in found["configurations"]}

    assert {*system.values()} == {"redis_wait", "jetstream", "kafka"}
    for each in found["configurations"]:
        if each["better"]:
            assert system[each["better"]["number"]] == each["values"]["system"]


def test_an_axis_is_of_the_systems_that_have_its_key(run: Run) -> None:
    found = json.loads(run(*TOGETHER, "--over", "WAIT=0,1", "--over", "acks=1,all", "--json")[1])

    assert [tuple(each["values"].values()) for each in found["configurations"]] == [
        ("redis_wait", "WAIT=0"),
        ("redis_wait", "WAIT=1"),
        ("jetstream", "as the check has them"),
        ("kafka", "acks=1"),
        ("kafka", "acks=all"),
    ]
    assert found["one_setting"] == {}


def test_what_a_model_does_not_say_is_marked(run: Run, tmp_path: Path) -> None:
    words = ("bookkeeper", "elasticsearch", "--check", "settings", "--check", "three", "--faults", "0")
    code, out, _ = run(*words, "--csv", "cells.csv", "--draw", "map.svg", "--html", "page.html")

    assert code == Exit.EXPECTED
    assert "`–` its model does not say" in " ".join(out.split())
    assert "its model does not say" in (tmp_path / "page.html").read_text(encoding="utf-8")
    assert ">–<" in (tmp_path / "map.svg").read_text(encoding="utf-8")
    cells = csv.DictReader(StringIO((tmp_path / "cells.csv").read_text(encoding="utf-8")))
    assert {(row["system"], row["guarantee"]) for row in cells if row["system"] == "elasticsearch"} & {
        ("elasticsearch", "no_dirty_read")
    } == set()


def test_the_page_shows_several_systems(
    run: Run, monkeypatch: pytest.MonkeyPatch, in_document: Callable[[Path, str, str], None]
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    page = Path(__file__).parents[3] / "docs/how-to/compare-configurations.md"
    (block,) = marked(page, "systems", "console")
    command, _, shown = block.partition("\n")
    _, out, _ = run(*command.split()[4:])
    told, _, _ = out.partition("\n\nacknowledged_survive: how many")

    in_document(page, f"{command}\n{shown}", f"{command}\n{told}\n")
