"""Mermaid, PlantUML and the compact text: valid, unhurt by whatever a picture says, and read as meant."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from counterexamples.lines import clean, plain
from counterexamples.pictures.compact import compact
from counterexamples.pictures.depict import picture
from counterexamples.pictures.mermaid import MOST, mermaid
from counterexamples.pictures.picture import (
    CLIENT,
    CONTROLLER,
    Arrow,
    ArrowKind,
    Box,
    Picture,
    PictureRow,
    ReplicaState,
)
from counterexamples.pictures.plantuml import plantuml
from counterexamples.pictures.storyboard import storyboard
from counterexamples.pictures.svg import svg
from counterexamples.pictures.words import heading, ids
from counterexamples.trace import Example, Lasso, Stops, Trace
from spec.model.ir import Kind
from tests.counterexamples.runs import divergence, walk
from tests.cpu_time import cpu_seconds
from tests.stories import STORIES, story

PARSER = Path(__file__).parents[1] / "mermaid" / "parse.mjs"
Parser = Callable[[str], dict[str, Any]]
Drawer = Callable[[Sequence[Picture]], list[str]]
NASTY = (
    "end",
    "end note",
    "a; participant b",
    "#35;",
    "#quot;",
    "style x: #abc;",
    "classDef y:#12; #13;",
    "wrap: not",
    "nowrap:so",
    "Note over A: x",
    "%%{init: {'securityLevel': 'loose'}}%%",
    "%% comment",
    "a\nb",
    "a\r\n@enduml\n@startuml",
    "<script>alert(1)</script>",
    "<br/>",
    "<img src=x onerror=alert(1)>",
    "&lt;b&gt; &amp;",
    "\"quoted\" 'single' `tick`",
    "$$x^2$$",
    "]]>",
    "ﬂ°°60¶ß",
    "¹",
    '**bold** //it// __under__ --out-- ~~wave~~ ""mono""',
    "== heading ==",
    "..dots..",
    "|table|",
    "* item",
    "!include /etc/passwd",
    "%date()",
    "$variable",
    "[[http://example.com x]]",
    "{{json}}",
    "<U+0041> <:smile:> <&x> <$sprite>",
    "/' comment '/",
    "' comment",
    "@enduml",
    r"back\slash \n \t",
    "\x1b[31mred\x1b[0m\x07",
    "\u202eright to left\u2028",
    "\ud800",
    "accDescr { x }",
    "loop",
    "rect rgb(0,0,0)",
    "->>",
    "-->> x : y",
    "participant",
    "as",
    "",
    " ",
    "é 漢字 😀",
    "__proto__",
    "constructor",
)


def drawn(name: str) -> Picture:
    return picture(story(name))


def lasso() -> Trace:
    return walk("elect(a)", "write(a)", "crash(a)", "restart(a)", ending=Lasso(2), prop="third")


def tiny() -> Trace:
    return walk("elect(a)", ending=Stops(), prop=None)


EXTRA = {"lasso": lasso, "tiny": tiny, "divergence": divergence}
NAMES = [*STORIES, *EXTRA]


def picture_of(name: str) -> Picture:
    return picture(EXTRA[name]()) if name in EXTRA else drawn(name)


# -------------------------------------------------------------- random pictures

TEXTS = st.one_of(
    st.sampled_from(NASTY),
    st.text(st.sampled_from("ab1 ;#:%<>&\"'`~$@^|=*/_-+.,()[]{}\\\n!?ﬂ°¶ß→✗"), max_size=12),
    st.text(max_size=8),
)
BOXES = st.builds(
    Box, TEXTS, TEXTS, cut=st.booleans(), bad=st.booleans(), missing=st.booleans(), acknowledged=st.booleans()
)
STANDINGS = st.builds(
    ReplicaState,
    up=st.booleans(),
    leads=st.booleans(),
    chosen=st.sampled_from((None, True, False)),
    follows=TEXTS,
    member=st.sampled_from((None, True, False)),
    epoch=TEXTS,
    log=st.none() | st.lists(BOXES, max_size=3).map(tuple),
    high_watermark=st.none() | st.integers(0, 4),
)


@st.composite
def pictures(draw: st.DrawFn) -> Picture:
    replicas = tuple(dict.fromkeys(draw(st.lists(TEXTS, max_size=3))))
    replicas = tuple(name for name in replicas if name not in {CLIENT, CONTROLLER})
    lanes = (CLIENT, CONTROLLER, *replicas)[draw(st.integers(0, 2)) :]
    rows: list[PictureRow] = []
    number = 0
    for index in range(draw(st.integers(1, 4))):
        skipped = draw(st.sampled_from((0, 0, 5))) if index else 0
        number += skipped or (1 if index else 0)
        arrows = st.builds(
            Arrow, st.sampled_from(lanes), st.sampled_from(lanes), TEXTS, st.sampled_from(ArrowKind)
        )
        told = st.dictionaries(st.sampled_from(lanes), st.lists(TEXTS, max_size=2).map(tuple), max_size=2)
        rows.append(
            PictureRow(
                number,
                draw(st.sampled_from(Kind)),
                draw(TEXTS),
                draw(TEXTS),
                tuple(draw(st.lists(arrows, max_size=2))) if lanes else (),
                replicas,
                {name: draw(STANDINGS) for name in replicas},
                draw(told) if lanes else {},
                draw(told) if lanes else {},
                skipped=skipped,
            )
        )
    rows[-1] = replace(rows[-1], is_last=draw(st.booleans()))
    return Picture(
        draw(TEXTS),
        draw(TEXTS),
        draw(TEXTS),
        lanes,
        replicas,
        tuple(rows),
        tuple(draw(st.lists(TEXTS, max_size=2))),
        draw(st.booleans()),
        membership=draw(TEXTS),
        loop=draw(st.none() | st.integers(0, number)),
    )


def hostile(text: str) -> Picture:
    """A picture that has a text in every place."""
    box = Box(text, text, acknowledged=True)
    replica = ReplicaState(
        leads=True, follows=text, member=True, epoch=text, log=(box, replace(box, cut=True)), high_watermark=1
    )
    lanes = (CLIENT, CONTROLLER, text, "other")
    arrows = tuple(Arrow(CLIENT, text, text, mark) for mark in ArrowKind)
    both = dict.fromkeys(lanes[2:], replica)
    rows = [
        PictureRow(number, kind, text, text, arrows, lanes[2:], both, {}, {text: (text,)})
        for number, kind in enumerate(Kind)
    ]
    rows[-1] = replace(rows[-1], is_last=True)
    told = (text, text)
    return Picture(
        text, text, text, lanes, lanes[2:], tuple(rows), told, is_bad=True, membership=text, loop=1
    )


# ------------------------------------------------------------------------ Mermaid


@pytest.fixture(scope="module")
def parsed() -> Iterator[Callable[[str], dict[str, Any]]]:
    """What the parser of Mermaid makes of a text; skips where it is not installed."""
    node = shutil.which("node")
    folder = os.environ.get("MERMAID")
    if node is None or not folder or not Path(folder, "node_modules", "mermaid").is_dir():
        pytest.skip("needs node, and MERMAID: a folder with what tests/mermaid/package.json lists")
    with subprocess.Popen(
        [node, str(PARSER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    ) as process:
        asked, told = process.stdin, process.stdout
        assert asked is not None
        assert told is not None

        def ask(text: str) -> dict[str, Any]:
            print(json.dumps(text), file=asked, flush=True)
            answer: dict[str, Any] = json.loads(told.readline())
            return answer

        yield ask
        asked.close()


def read_back(shown: Picture, read: dict[str, Any]) -> None:
    """That Mermaid has read exactly the title, lanes, arrows and headings of a picture, as text."""
    assert "error" not in read, read
    names = ids(shown)
    messages = [each for each in read["messages"] if each["from"]]
    arrows = [(m["from"], m["to"], m["text"].split()) for m in messages if m["type"] != NOTE]
    notes = ["".join(m["text"].split()) for m in messages if m["type"] == NOTE]

    assert read["type"] == "sequence"
    assert read["title"].split() == read["accTitle"].split() == clean(shown.title).split()
    assert [(name, text.split()) for name, text in read["actors"]] == [
        (name, clean(lane).split()) for lane, name in names.items()
    ]
    assert arrows == [
        (names[arrow.start], names[arrow.end], clean(arrow.text).split())
        for row in shown.rows
        for arrow in row.arrows
    ]
    assert [row.number for row in shown.rows if "".join(clean(heading(row)).split()) not in notes] == []
    assert not any(message["wrap"] for message in messages)


NOTE = 2  # the number of a note among Mermaid's kinds of messages


@pytest.mark.parametrize("name", NAMES)
def test_mermaid_is_as_reviewed(name: str, golden: Callable[[str, str], None]) -> None:
    golden(f"pictures/{name}.mmd", mermaid(picture_of(name)))


@pytest.mark.parametrize("name", NAMES)
def test_mermaid_reads_what_was_meant(name: str, parsed: Parser) -> None:
    read_back(picture_of(name), parsed(mermaid(picture_of(name))))


@pytest.mark.parametrize("text", NASTY, ids=ascii)
def test_mermaid_takes_every_nasty_text_as_text(text: str, parsed: Parser) -> None:
    read_back(hostile(text), parsed(mermaid(hostile(text))))


@given(shown=pictures())
@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_mermaid_takes_any_text_as_text(shown: Picture, parsed: Parser) -> None:
    read_back(shown, parsed(mermaid(shown)))


def test_a_diagram_of_a_long_run_is_told_to_be_too_large_for_mermaid() -> None:
    row = replace(picture_of("divergence").rows[1], sentence="A rather long sentence. " * 20)
    shown = replace(picture_of("divergence"), rows=(row,) * 150)

    assert len(mermaid(shown)) > MOST


# ----------------------------------------------------------------------- PlantUML


@pytest.fixture(scope="module")
def drawn_by_plantuml() -> Callable[[Sequence[Picture]], list[str]]:
    """The words in the drawings that PlantUML makes, each without blanks; skips where it is not installed."""
    command = shutil.which("plantuml")
    if command is None:
        pytest.skip("needs plantuml")

    def draw(shown: Sequence[Picture]) -> list[str]:
        done = subprocess.run(
            [command, "-charset", "UTF-8", "-tsvg", "-pipe"],
            input="".join(map(plantuml, shown)).encode(),
            capture_output=True,
            check=False,
            timeout=120,
        )
        files = re.findall(rb"<svg.*?</svg>", done.stdout, re.DOTALL)
        return ["".join("".join(ET.fromstring(file).itertext()).split()) for file in files]  # noqa: S314

    return draw


UNDRAWN = re.compile("[\ufffe\uffff\U00100000-\U0010ffff]")


def shown_in(drawing: str, shown: Picture) -> None:
    """That a drawing has the title, lanes, arrows and headings of a picture, as text."""
    arrows = [arrow.text for row in shown.rows for arrow in row.arrows]
    wanted = [shown.title, *shown.lanes, *arrows, *map(heading, shown.rows)]

    assert [
        text for text in wanted if UNDRAWN.sub("\ufffd", "".join(clean(text).split())) not in drawing
    ] == []


@pytest.mark.parametrize("name", NAMES)
def test_plantuml_is_as_reviewed(name: str, golden: Callable[[str, str], None]) -> None:
    golden(f"pictures/{name}.puml", plantuml(picture_of(name)))


def test_plantuml_draws_every_text_as_text(drawn_by_plantuml: Drawer) -> None:
    shown = [*map(picture_of, NAMES), *map(hostile, NASTY)]

    for each, drawing in zip(shown, drawn_by_plantuml(shown), strict=True):
        shown_in(drawing, each)


@given(shown=st.lists(pictures(), min_size=1, max_size=8))
@settings(max_examples=2, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
def test_plantuml_draws_any_text_as_text(shown: list[Picture], drawn_by_plantuml: Drawer) -> None:
    for each, drawing in zip(shown, drawn_by_plantuml(shown), strict=True):
        shown_in(drawing, each)


# ------------------------------------------------------------------- compact text


@pytest.mark.parametrize("name", NAMES)
def test_compact_text_is_as_reviewed(name: str, golden: Callable[[str, str], None]) -> None:
    golden(f"pictures/{name}.txt", plain(compact(picture_of(name))))


@pytest.mark.parametrize("name", ["last_replica_standing", "lasso"])
def test_compact_text_has_an_ascii_form(name: str, golden: Callable[[str, str], None]) -> None:
    told = plain(compact(picture_of(name), ascii_only=True), ascii_only=True)

    assert told.isascii()
    golden(f"pictures/{name}-ascii.txt", told)


def columns(line: str) -> int:
    """How many columns a line takes; the flash is two wide."""
    return len(line) + line.count("⚡")


@pytest.mark.parametrize("width", [60, 80, 100])
@pytest.mark.parametrize("name", NAMES)
def test_compact_text_keeps_to_its_width(name: str, width: int) -> None:
    told = plain(compact(picture_of(name), width=width)).splitlines()

    assert [line for line in told if columns(line) > width + 1] == []


MOVES = {"Cc", "Cf", "Cs", "Zl", "Zp"}  # categories of characters that a terminal may obey


@given(pictures())
@settings(max_examples=40)
def test_compact_text_has_nothing_that_moves_the_cursor(shown: Picture) -> None:
    told = plain(compact(shown))

    assert {unicodedata.category(sign) for sign in told.replace("\n", "")} & MOVES == set()


@given(pictures())
@settings(max_examples=40)
def test_compact_text_in_ascii_has_nothing_else(shown: Picture) -> None:
    assert plain(compact(shown, ascii_only=True), ascii_only=True).isascii()


# ------------------------------------------------------------------------ endings


@pytest.mark.parametrize("draw", [mermaid, plantuml, svg, storyboard, lambda shown: plain(compact(shown))])
def test_every_format_tells_what_repeats_for_ever(draw: Callable[[Picture], str]) -> None:
    goes_round = picture(walk("elect(a)", "crash(a)", "restart(a)", ending=Lasso(1)))
    stays = picture(walk("elect(a)", "crash(a)", "restart(a)", ending=Lasso(3)))

    assert "for ever" in draw(goes_round)
    assert "stay for ever" not in draw(goes_round)
    assert "stay for ever" in draw(stays)


def test_an_example_is_not_drawn_as_a_mistake() -> None:
    shown = picture(walk("elect(a)", "elect(b)", "elect(a)", ending=Example(), prop="third"))

    assert "✗" not in mermaid(shown) + plantuml(shown) + plain(compact(shown))


# --------------------------------------------------------------------------- time


def of_five_replicas(steps: int) -> Picture:
    replica = ReplicaState(epoch="epoch 3", member=True, log=(Box("1", "e1"),) * 6, high_watermark=3)
    lanes = ("r1", "r2", "r3", "r4", "r5")
    rows = tuple(
        PictureRow(
            n, Kind.ACTION, "", "r2 fetches from r1", (Arrow("r1", "r2", "1 (e1)", ArrowKind.COPY),), lanes
        )
        for n in range(steps + 1)
    )
    return replace(
        picture_of("divergence"),
        lanes=(CLIENT, CONTROLLER, *lanes),
        replicas=lanes,
        rows=tuple(replace(row, replicas=dict.fromkeys(lanes, replica)) for row in rows),
    )


def test_ten_times_as_many_steps_take_ten_times_as_long() -> None:
    few, many = of_five_replicas(40), of_five_replicas(400)
    for form in (mermaid, plantuml, lambda picture: plain(compact(picture))):
        assert cpu_seconds(partial(form, many)) < 40 * cpu_seconds(partial(form, few))
