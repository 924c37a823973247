"""Random command lines: a command, its options with values that may be silly, and files that may be wrong."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from random import Random

from modelcheck.commands.registry import TABLE, CommandGroup
from tests.fuzz.cases import text_of
from tests.fuzz.mutate import mutated, mutated_json
from tests.fuzz.outside import OUTSIDE
from tests.hostile_files import KINDS

ROOT = Path(__file__).parents[2]
OTHERWISE = 0.1  # of the inputs have something else in the place of a file
LIMIT = 3  # seconds that a search may take; what knows no limit is measured by the same
NUMBERS = ("0", "1", "2", "-1", "1000000", "x", "", "1.5", "2^63", "9" * 30, "any", "none", "½")
NAMES = ("Broker", "Replica", "S0", "N0", "net", "x", "", "it", "two", "jepsen", "Broker.log", "-", "é")
FORMATS = (
    "text compact svg png pdf storyboard storyboard-png storyboard-pdf mermaid plantuml html dot itf".split()
)
GRAPHS = ("dot", "graphml", "json")
PLACES = ("o", "m.rsm", ".", "no/such/place", "", "/dev/full", "o.svg", "o.json", "o.html")
ASKED = "--check@ --of@ --property@ --scope= --config= --faults#"
OPTIONS = {  # what stands behind each: a number, a name, a pair, a format, a place or nothing
    "check": f"{ASKED} --strict --seconds# --depth# --fewest-faults --optimise --seed# --shrink --threads# "
    "--symmetry --no-ways --max-states# --max-memory# --max-disk# --disk: --checkpoint: --resume: --every# "
    "-v --why --timings -q --certificate: --json --itf: --html: --draw? --out: --force --simulate# "
    "--estimate",
    "sweep": f"{ASKED} --vary= --symmetry --max-states# --json",
    "necessity": "--check@ --kind@ --max-states# --max-memory# -v --json --draw? --out: --force",
    "kafka review": "--kafka# --brokers# --topic@ --faults# --require= --max-states# -v --json "
    "--itf: --html:",
    "trace show": "--of@ --check@ --scope= --config= --as? --html --out: --steps# --why --force",
    "trace diff": "--steps# --of@ --check@ --scope= --config=",
    "graph": f"{ASKED} --distance# --max-states# --merge@ --fields@ --as? --out:",
    "trace play": "--of@ --check@ --scope= --config= --faults# --html: --force",
    "trace shrink": "--of@ --check@ --scope= --config= --property@ --same-scope --out:",
    "certify": "--seconds#",
    "export": f"{ASKED} --to? --out:",
    "fmt": "--check --stdout",
    "explain": "--json",
    "library list": "--json",
    "library show": "--source --json",
    "rates": "--check@ --of@ --scope= --config= --faults# --rate= --loss@ --available@ --bound@ --within# "
    "--max-states# --json",
    "kafka frontier": "--over= --faults# --kinds@ --guarantee@ --check@ --of@ --property@ --kafka# --client@ "
    "--brokers# --topic@ --max-states# --json --csv: --draw: --html: --force",
    "kafka inspect": "--all --copy --every-checksum --max-time# --json",
    "kafka explain-log": "--partition@ --copy --lost# --acks@ --gaps --config= --faults# --max-states# "
    "--max-memory# --json --draw? --out: --force",
    "kafka reproduce": "--check@ --under@ --times# --min-isr-at@ --json --html: --force",
    "library grade": "--exercise@ --max-time# --max-memory# --json --begin: --whole: --force",
}
GROUPS = {name for name, entry in TABLE.items() if isinstance(entry, CommandGroup)}
SHOWN: tuple[list[str], ...] = (["--why"], ["-v"], ["--json"], ["--html", "p.html"], ["--itf", "t"], [])
CONFIGURATIONS = (".properties", ".txt", ".yaml")
LIMITS = ["--max-time", str(LIMIT), "--max-states", "20000"]
WITH_LIMIT = {
    *("check", "sweep", "necessity"),
    *("kafka review", "kafka frontier", "kafka explain-log", "trace shrink"),
}


@dataclass(frozen=True)
class Input:
    """A command line, files by the names that it has for them in its folder, and its standard input.

    What stands in the place of a file otherwise is `put` there, by its kind in `tests/hostile_files.py`.
    """

    kind: str
    words: tuple[str, ...]
    files: dict[str, bytes]
    stdin: bytes = b""
    put: dict[str, str] = field(default_factory=dict)

    def with_file(self, name: str, data: bytes) -> Input:
        """The same with another file of that name."""
        return replace(self, files={**self.files, name: data})

    def with_kind(self, name: str, kind: str) -> Input:
        """The same with something else in the place of that file."""
        return replace(self, put={**self.put, name: kind})

    @property
    def command(self) -> str:
        """The name of the command."""
        return " ".join(self.words[: 1 + (self.words[0] in GROUPS)])

    @property
    def look(self) -> str:
        """What it is a look at."""
        return f"{self.kind}: {self.command}"

    def __str__(self) -> str:
        shown = [f"--- {name}\n{data.decode(errors='backslashreplace')}" for name, data in self.files.items()]
        shown += [f"--- {name}\na {kind}" for name, kind in self.put.items()]
        shown += [f"--- standard input\n{self.stdin.decode(errors='backslashreplace')}"] * bool(self.stdin)
        return "\n".join([f"modelcheck {shlex.join(self.words)}", *shown])


def input_of(seed: int, traces: Path) -> Input:
    """The input of a number; `traces` is a folder with traces of shipped models."""
    chance = Random(f"input {seed}")  # noqa: S311 - no secret
    given = _input_of(seed, chance, traces)
    if given.files and chance.random() < OTHERWISE:
        given = given.with_kind(chance.choice(sorted(given.files)), chance.choice(list(KINDS)))
    return given


def _input_of(seed: int, chance: Random, traces: Path) -> Input:
    kinds = {"model": 10, "trace": 4, "review": 3, "certificate": 1, "arguments": 4}
    (kind,) = chance.choices([*kinds, *OUTSIDE], [*kinds.values(), *[2] * len(OUTSIDE)])
    match kind:
        case "model":
            return _of_model(chance, seed)
        case "trace":
            return _of_trace(chance, traces)
        case "review":
            return _of_review(chance)
        case "certificate":
            return _of_certificate(chance)
        case name if name in OUTSIDE:
            files, words, stdin = OUTSIDE[name](chance)
            return Input(name, words, files, stdin)
        case _:
            return _of_arguments(chance, seed, traces)


def _of_model(chance: Random, seed: int) -> Input:
    shipped = chance.choice(_models()).read_text(encoding="utf-8")
    text = text_of(seed) if chance.random() < 0.4 else shipped
    checks = re.findall(r"^check (\w+)", text, re.MULTILINE)
    files = {"m.rsm": _bytes(mutated(text, chance), chance)}
    engine = chance.choice(("", "", "", "reference", "bmc", "induction", "ic3", "prove"))
    words = ["check", "m.rsm", *LIMITS]
    match chance.choice("check check check check fmt export graph sweep necessity simulate estimate".split()):
        case "check":
            words += ["--engine", engine] if engine else []
            words += ["--depth", "3"] if engine in {"bmc", "induction"} else []
            words += chance.choice((["--symmetry"], [])) if engine in {"", "reference"} else []
            words += chance.choice(SHOWN)
        case "fmt":
            words = ["fmt", chance.choice(("--stdout", "--check")), "m.rsm"]
        case "export":
            words = ["export", "m.rsm", "--to", chance.choice(("tla", "promela", "murphi"))]
        case "graph":
            words = ["trace", "graph", "m.rsm", "--max-states", "300", "--as", chance.choice(GRAPHS)]
        case "sweep":
            words = ["sweep", "m.rsm", *LIMITS]
        case "necessity":
            words = ["necessity", "m.rsm", *LIMITS]
        case "simulate":
            words += ["--simulate", "5", "--depth", "20", "--seed", "1"]
        case _:
            words += ["--estimate"]
    one = ["--check", chance.choice(checks)] if checks and words[0] != "fmt" else []
    return Input("model", (*words, *one), files)


def _of_trace(chance: Random, traces: Path) -> Input:
    path = chance.choice(sorted(traces.glob("*.itf.json")))
    model = path.name.partition(".")[0]
    files = {
        "t.itf.json": _bytes(mutated_json(path.read_text(encoding="utf-8"), chance), chance),
        "m.rsm": (ROOT / f"spec/protocols/{model}.rsm").read_bytes(),
    }
    words = {
        "show": ["trace", "show", "t.itf.json", "m.rsm", "--as", chance.choice(FORMATS), "--out", "o"],
        "explain": ["trace", "show", "t.itf.json", "m.rsm", "--why"],
        "diff": ["trace", "diff", "t.itf.json", "t.itf.json", "m.rsm"],
        "shrink": ["trace", "shrink", "t.itf.json", "m.rsm", "--max-time", str(LIMIT)],
        "graph": ["trace", "graph", "m.rsm", "--around", "t.itf.json", "--max-states", "300"],
    }
    return Input(
        "trace", tuple(words[chance.choice(("show", "show", "explain", "diff", "shrink", "graph"))]), files
    )


def _of_review(chance: Random) -> Input:
    folders = ("tests/modelcheck/kafka/inputs", "examples")
    there = (path for name in folders for path in (ROOT / name).iterdir())
    paths = sorted(path for path in there if path.suffix in CONFIGURATIONS)
    chosen = chance.sample(paths, chance.choice((1, 1, 2)))
    files = {path.name: _bytes(mutated(path.read_text(encoding="utf-8"), chance), chance) for path in chosen}
    limits = [*LIMITS, "--faults", chance.choice(("0", "1"))]
    version = chance.choice(("0.8.1", "1.0", "2.8", "3.7", "4.1"))
    more = chance.choice(([], ["--brokers", "2"], ["--json"], ["-v"], ["--require", "durable:1"]))
    return Input("review", ("kafka", "review", *files, "--kafka", version, *limits, *more), files)


def _of_certificate(chance: Random) -> Input:
    path = ROOT / "tests/modelcheck/symbolic/certificates/quorum.json"  # the others take a minute
    files = {
        path.name: _bytes(mutated_json(path.read_text(encoding="utf-8"), chance), chance),
        f"{path.stem}.rsm": (ROOT / f"spec/protocols/{path.stem}.rsm").read_bytes(),
    }
    return Input("certificate", ("certify", path.name, f"{path.stem}.rsm", "--seconds", "1"), files)


def _of_arguments(chance: Random, seed: int, traces: Path) -> Input:
    command = chance.choice(list(OPTIONS))
    trace = chance.choice(sorted(traces.glob("*.itf.json")))
    name, _, check, *_ = trace.name.split(".")
    model = (ROOT / f"spec/protocols/{name}.rsm").read_bytes()
    if chance.random() < 0.5:
        model, check = text_of(seed).encode(), "it"
    files = {"m.rsm": model, "t.itf.json": trace.read_bytes()}
    alone = {"explain": ("R0601", "R", "x"), "library show": ("quorum", "m.rsm", "")}
    words = [chance.choice(alone[command])] if command in alone else ["m.rsm"]
    words = words if command != "library list" else []
    if command == "kafka reproduce":
        words += ["--kafka-home", "."]
    if command in {"trace show", "trace diff", "trace shrink"}:
        words = ["t.itf.json", *words]
    if command in {"check", "sweep", "necessity", "trace graph", "export"}:
        words += ["--check", check]
    options = OPTIONS[command].split()
    for option in chance.sample(options, min(len(options), chance.choice((1, 1, 2, 3)))):
        words = [*words, *_option(option, chance)]
    if command in WITH_LIMIT:
        words += LIMITS[:2]
    if chance.random() < 0.05:
        words[chance.randrange(len(words))] = chance.choice(NAMES)
    return Input("arguments", (*command.split(), *words), files)


def _option(option: str, chance: Random) -> list[str]:
    """An option with a value of its kind."""
    number, name = chance.choice(NUMBERS), chance.choice(NAMES)
    values = {
        "#": number,
        "@": name,
        "=": chance.choice((f"{name}={number}", f"{name}={name}", name, f"{name}={number},{number}")),
        "?": chance.choice((*FORMATS, "tla", "promela", "json", "x", "")),
        ":": chance.choice(PLACES),
    }
    return [option[:-1], values[option[-1]]] if option[-1] in values else [option]


def _bytes(text: str, chance: Random) -> bytes:
    """A text as a file, rarely one that is no UTF-8."""
    data = text.encode(errors="surrogatepass")
    if chance.random() < 0.02:
        at = chance.randrange(len(data) + 1)
        data = data[:at] + bytes([chance.randrange(128, 256)]) + data[at:]
    return data


@cache
def _models() -> list[Path]:
    """Model files to begin with; those of the tests are there for one mistake each."""
    return sorted([*ROOT.glob("spec/protocols/*.rsm"), *(ROOT / "tests").rglob("*.rsm")])
