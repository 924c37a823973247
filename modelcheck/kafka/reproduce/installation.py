"""A release of Kafka on this machine: its classes, its version, the Java that runs it."""

from __future__ import annotations

import os
import re
import shutil
import zipfile
from functools import cached_property
from pathlib import Path

from spec.diagnostics import Diagnostic, SpecError
from spec.reading import opened
from spec.source import Source

CLIENTS = re.compile(r"kafka-clients-(\d[\w.-]*)\.jar")
STORAGE = ("kafka.tools.StorageTool",)
SERVER = ("kafka.Kafka",)
PATTERN = "[%d] %p %m (%c)%n"


class Home:
    """An installed release of Kafka; `libs` has its jars.

    Use `find`, which refuses what is none.
    """

    def __init__(self, libs: Path, version: str, java: str) -> None:
        self.libs = libs
        self.version = version
        self.java = java

    @cached_property
    def classes(self) -> frozenset[str]:
        """The names of the classes in Kafka's own jars."""
        found: set[str] = set()
        for jar in self.libs.glob("kafka*.jar"):
            with opened(jar) as file, zipfile.ZipFile(file) as archive:
                found.update(archive.namelist())
        return frozenset(name.removesuffix(".class").replace("/", ".") for name in found)

    @property
    def release(self) -> tuple[int, int]:
        """The major and minor version."""
        first, second = re.findall(r"\d+", self.version)[:2]
        return int(first), int(second)

    def command(
        self, names: tuple[str, ...], *args: str, logging: Path, options: tuple[str, ...] = ()
    ) -> list[str]:
        """The command line that runs the first of these classes that the release has.

        `logging` is a folder that `set_up_logging` has filled.
        """
        name = next(name for name in names if name in self.classes)
        return [
            self.java,
            "-Xmx256m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-cp",
            f"{self.libs.resolve()}/*",
            f"-Dlog4j.configuration=file:{logging / 'log4j.properties'}",
            f"-Dlog4j2.configurationFile={logging / 'log4j2.properties'}",
            *options,
            name,
            *args,
        ]


def find(path: Path) -> Home:
    """The release in a folder, or in its `libs`. Raises SpecError if there is none, or no Java."""
    for libs in (path / "libs", path):
        names = [CLIENTS.fullmatch(jar.name) for jar in libs.glob("kafka-clients-*.jar")]
        version = next((found[1] for found in names if found is not None), None)
        if version is not None and any(libs.glob("kafka_2.*.jar")):
            return Home(libs, version, _java())
    message = f"{path} is no Kafka: there is no `libs` with kafka-clients-*.jar and kafka_2.*.jar in it"
    help_ = "name the folder that a release of Kafka was unpacked into"
    raise SpecError([Diagnostic("R0930", Source("--kafka-home", str(path)), None, message, help=help_)])


def _java() -> str:
    """The path of the Java executable. Raises SpecError if there is none."""
    home = os.environ.get("JAVA_HOME")
    found = shutil.which("java", path=str(Path(home) / "bin")) if home else None
    found = found or shutil.which("java")
    if found is None:
        message = "no Java runtime was found, and Kafka needs one"
        help_ = "install a Java runtime (17 or newer for Kafka 4), or set JAVA_HOME"
        raise SpecError([Diagnostic("R0930", Source("java", ""), None, message, help=help_)])
    return found


def set_up_logging(folder: Path) -> None:
    """Write logging configurations for all releases that send everything to the output."""
    (folder / "log4j.properties").write_text(
        "log4j.rootLogger=INFO, out\nlog4j.appender.out=org.apache.log4j.ConsoleAppender\n"
        "log4j.appender.out.layout=org.apache.log4j.PatternLayout\n"
        f"log4j.appender.out.layout.ConversionPattern={PATTERN}\n"
    )
    (folder / "log4j2.properties").write_text(
        "appender.out.type=Console\nappender.out.name=out\nappender.out.layout.type=PatternLayout\n"
        f"appender.out.layout.pattern={PATTERN}\nrootLogger.level=INFO\nrootLogger.appenderRef.out.ref=out\n"
    )
