"""Quick tests on a machine with nothing but Python: what needs more is skipped there, and nothing fails."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.bare_path import only

ROOT = Path(__file__).parents[1]
NEAR_JAVA = (
    "tests/modelcheck/kafka/reproduce",
    "tests/spark_explore/test_java.py",
    "tests/spark_explore/test_object_store.py",
)
PROGRAMS = ("sh", "bash", "env", "cat", "rm", "ls", "sleep", "uname", "dirname", "git")  # that are everywhere
NAMED = ("JAVA_HOME", "KAFKA_HOME", "HADOOP_HOME")


def test_quick_tests_of_what_may_need_a_java_pass_where_there_is_none(tmp_path: Path) -> None:
    bare = only(PROGRAMS, tmp_path / "bin")
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n", "0", "-m", "not spark", *NEAR_JAVA],
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if name not in NAMED} | {"PATH": bare},
        capture_output=True,
        text=True,
        check=False,
    )

    assert run.returncode == 0, run.stdout[-4000:]
    assert re.search(r"\d+ passed, \d+ skipped", run.stdout)
