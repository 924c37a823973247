"""`python -m tests.chaos`: its exit codes, and what an interruption leaves."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import tests.chaos.__main__ as command
from tests.chaos.figures import Line
from tests.chaos.judges import Judge, Judgement, Verdict
from tests.chaos.plan import Plan, Shape, as_json, drawn, from_json

pytest.importorskip("kafka", reason="needs the extra modelcheck[kafka]")


@pytest.fixture(autouse=True)
def _no_kafka(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "find", lambda path: path)


def play(monkeypatch: pytest.MonkeyPatch, out: Path, *verdicts: str, interrupted: bool = False) -> int:
    """The exit code of rounds with these verdicts."""

    def rounds(*_: object) -> Iterator[Line]:
        for seed, verdict in enumerate(verdicts):
            line = {"seed": seed, "topic": "a", "judge": "leader", "verdict": verdict, "reason": "because"}
            yield {**line, "kafka": "4.1.0", "elr": False, "brokers": 3}
        if interrupted:
            raise KeyboardInterrupt

    monkeypatch.setattr(command, "_rounds", rounds)
    return command.main(["--kafka-home", "anywhere", "--out", str(out)])


@pytest.mark.parametrize(
    ("verdicts", "code"), [(("right", "not known"), 0), (("right", "wrong", "right"), 1), ((), 0)]
)
def test_the_exit_code_says_whether_an_answer_was_wrong(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, verdicts: tuple[str, ...], code: int
) -> None:
    assert play(monkeypatch, tmp_path, *verdicts) == code


def test_an_interruption_keeps_what_was_found(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = play(monkeypatch, tmp_path, "right", "wrong", interrupted=True)
    kept = [json.loads(line)["verdict"] for line in (tmp_path / "results.jsonl").read_text().splitlines()]

    assert code == 1
    assert kept == ["right", "wrong"]
    assert "1 a: leader: because" in capsys.readouterr().out


@pytest.mark.parametrize("verdict", [*Verdict])
def test_a_summary_counts_what_several_runs_found(
    verdict: Verdict, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = {"seed": 1, "topic": "a", "judge": "leader", "reason": "because", "kafka": "4.1.0"}
    for name, said in (("one", Verdict.RIGHT), ("other", verdict)):
        (tmp_path / name).write_text(json.dumps({**line, "verdict": said}) + "\n")
    code = command.main(["--summary", str(tmp_path / "one"), str(tmp_path / "other")])
    said_line = next(each for each in capsys.readouterr().out.splitlines() if each.startswith("leader"))

    assert code == (verdict is Verdict.WRONG)
    assert f"{1 + (verdict is Verdict.RIGHT)} right" in said_line


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (["--rounds", "3"], "--kafka-home"),
        (["--shrink", "nowhere"], "--kafka-home"),
        (["--judge", "nowhere"], "nowhere"),
    ],
)
def test_what_is_missing_is_named(given: list[str], named: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        command.main(given)

    assert ended.value.code == 2
    assert named in capsys.readouterr().err


def test_a_round_shrinks_as_long_as_the_named_judgement_is_not_right(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = drawn(3, Shape(3, elr=False))
    needed = plan.events[0]
    (tmp_path / "truth.json").write_text(json.dumps({"plan": as_json(plan)}))

    def played(_home: object, plans: list[Plan], *_: object) -> Iterator[tuple[Plan, list[Judgement]]]:
        for each in plans:
            verdict = Verdict.UNKNOWN if needed in each.events else Verdict.RIGHT
            other = Judgement(each.topics[0].name, Judge.LOSS, Verdict.WRONG)
            yield each, [Judgement(each.topics[0].name, Judge.EXPLAINED, verdict), other]

    monkeypatch.setattr(command, "played", played)
    monkeypatch.setattr("tests.chaos.shrink.slim", lambda *_: None)
    command.main(["--kafka-home", "anywhere", "--shrink", str(tmp_path), "--wrong", "explained"])
    small = from_json(json.loads(capsys.readouterr().out))

    assert (small.events, small.end, len(small.topics)) == ((needed,), (), 1)


def test_a_folder_without_a_kafka_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.undo()

    assert command.main(["--kafka-home", str(tmp_path)]) == 2
    assert "R0930" in capsys.readouterr().err
