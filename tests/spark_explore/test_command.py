"""`modelcheck check --engine spark`: its options, and what is told where there is no Spark."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from modelcheck.cli import main
from modelcheck.contract.exits import Exit

ROOT = Path(__file__).parent.parent.parent
QUORUM = str(ROOT / "spec/protocols/quorum.rsm")
CHECK = ("check", QUORUM, "--check", "n3_w2_r2")


@pytest.mark.spark
def test_a_check_on_spark_has_the_answer_of_any_engine(
    local_spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main([*CHECK, "--engine", "spark", "--master", "local[2]", "--shards", "3"])
    told = capsys.readouterr()
    main([*CHECK, "--engine", "explicit"])
    expected = capsys.readouterr().out

    assert code == Exit.EXPECTED
    assert told.err == ""
    assert "engine     spark · exact" in told.out
    assert told.out.partition("    engine")[0] == expected.partition("    engine")[0]


@pytest.mark.spark
def test_a_run_is_kept_and_gone_on_with(local_spark: SparkSession, tmp_path: Path) -> None:
    place = str(tmp_path / "run")
    again = (*CHECK, "--engine", "spark", "--resume", place)

    assert main([*CHECK, "--engine", "spark", "--run-dir", place]) == Exit.EXPECTED
    assert main(again) == Exit.EXPECTED
    assert main([*again, "--scope", "Value=3"]) == Exit.WRONG


def test_without_the_extra_it_says_how_to_get_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.startswith("spark_explore")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    code = main([*CHECK, "--engine", "spark"])

    assert code == Exit.WRONG
    assert capsys.readouterr().err == (
        "modelcheck: error[R0912]: the engine spark needs pyspark.sql, which is not here: "
        "`python -m pip install 'modelcheck[spark]'` installs it\n"
    )


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ("--conf", "spark.ui.enabled"),
            "--conf is KEY=VALUE, such as spark.executor.memory=8g, not `spark.ui",
        ),
        (("--conf", "=x"), "--conf is KEY=VALUE"),
        (("--checkpoint", "x"), "--engine spark writes down every level in its --run-dir"),
        (("--run-dir", "x", "--resume", "x"), "--resume continues in the folder of that run"),
        (("--shards", "none"), "`none` is not a number"),
        (("--depth", "3"), "--depth is for --engine bmc"),
    ],
)
def test_what_does_not_go_together_is_refused(
    words: tuple[str, ...], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main([*CHECK, "--engine", "spark", *words])

    assert code == Exit.WRONG
    assert told in capsys.readouterr().err


@pytest.mark.parametrize(
    "words", [("--master", "local[2]"), ("--shards", "2"), ("--conf", "a=b"), ("--run-dir", "x")]
)
def test_what_is_of_spark_is_refused_by_others(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    code = main([*CHECK, "--engine", "explicit", *words])

    assert code == Exit.WRONG
    assert f"{words[0]} is for --engine spark" in capsys.readouterr().err


def test_more_shards_than_are_of_use_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    code = main([*CHECK, "--engine", "spark", "--shards", "100M"])

    assert code == Exit.UNKNOWN
    assert "the engine spark cannot do: 100,000,000 shards: at most 65,536" in capsys.readouterr().err


def test_spark_is_not_loaded_for_others() -> None:
    words = [*CHECK, "--engine", "explicit"]
    program = (
        f"import sys; from modelcheck.cli import main; main({words!r}); sys.exit('pyspark' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, check=False)

    assert run.returncode == 0


def test_every_setting_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["spark", "settings", "--master", "local[3]", "--conf", "spark.driver.memory=5g"])
    told = dict(line.split("=", 1) for line in capsys.readouterr().out.splitlines())

    assert code == Exit.EXPECTED
    assert told["spark.master"] == "local[3]"
    assert told["spark.driver.memory"] == "5g"
    assert "UseSerialGC" in told["spark.driver.extraJavaOptions"]


def test_settings_of_no_master_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["spark", "settings", "--master", "nowhere"]) == Exit.WRONG
    assert "`nowhere` is no master of Spark" in capsys.readouterr().err
