"""Runs of the shipped model, and homes of Kafka: a real one where there is one, and one that is none."""

from __future__ import annotations

import os
import stat
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from counterexamples.trace import Trace
from modelcheck.api import check, traces
from modelcheck.asking.models import pick_checks
from modelcheck.kafka.reproduce.installation import SERVER, STORAGE
from modelcheck.kafka.reproduce.selection import file_of
from spec.load import load

Counterexample = Callable[[str], Trace]


@cache
def _counterexample(name: str) -> Trace:
    model, asked = pick_checks(load(file_of(name)), [name])[0]
    return traces(check(model, asked).findings)[0]


@pytest.fixture
def counterexample() -> Counterexample:
    """The run that a check of the shipped model finds."""
    return _counterexample


@pytest.fixture
def false_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """A home whose programs are the lines of a shell script; the tool that formats does nothing."""

    def made(server: str, release: str = "4.1.0") -> Path:
        libs = tmp_path / "home" / "libs"
        libs.mkdir(parents=True)
        for name in (f"kafka-clients-{release}.jar", f"kafka_2.13-{release}.jar"):
            with zipfile.ZipFile(libs / name, "w") as jar:
                for each in (*STORAGE, *SERVER):
                    jar.writestr(f"{each.replace('.', '/')}.class", "")
        java = tmp_path / "bin" / "java"
        java.parent.mkdir()
        java.write_text(f'#!/bin/sh\ncase "$*" in *StorageTool*) exit 0;; esac\n{server}\n')
        java.chmod(java.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("PATH", f"{java.parent}:{os.environ['PATH']}")
        monkeypatch.delenv("JAVA_HOME", raising=False)
        return libs.parent

    return made
