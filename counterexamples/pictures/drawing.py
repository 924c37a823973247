"""Pieces of SVG that every picture has: escaped text, wrapped lines, a log as boxes.

Nothing but shapes, classes and text: the style is once in each file, with
colours for light and dark, and every difference in colour is one of shape or
word as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from hashlib import sha256
from xml.sax.saxutils import escape

import counterexamples.pictures.widths as widths
from counterexamples.lines import clean
from counterexamples.pictures.picture import Box, Picture, ReplicaState
from counterexamples.pictures.words import badge

STYLE = """
.mc{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,"DejaVu Sans",sans-serif}
.mc text{fill:#1b1f24;font-size:13px}
.mc .title{font-size:17px;font-weight:700}
.mc .strong{font-weight:700}
.mc .small{font-size:11px}
.mc .dim,.mc .dim text{fill:#59636e}
.mc .mono{font-size:10.5px;
font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
.mc .paper{fill:#ffffff}
.mc .rule{stroke:#d1d9e0;stroke-width:1}
.mc .head{fill:#f6f8fa;stroke:#59636e;stroke-width:1.5}
.mc .life{stroke:#59636e;stroke-width:2}
.mc .down{stroke:#818b98;stroke-width:2;stroke-dasharray:3 5}
.mc .member{fill:#ddf4ff;stroke:#54aeff;stroke-width:1}
.mc .box{fill:#ffffff;stroke:#1b1f24;stroke-width:1.3}
.mc .kept{fill:#d5ecdb;stroke:#1b1f24;stroke-width:1.3}
.mc .unsafe{stroke-dasharray:2 2.5}
.mc .cut,.mc .missing{fill:none;stroke:#cf222e;stroke-width:1.6;stroke-dasharray:4 3}
.mc .bad{fill:#ffd8d3;stroke:#cf222e;stroke-width:2.6}
.mc .cross{stroke:#cf222e;stroke-width:1.6}
.mc .bar{stroke:#1a7f37;stroke-width:4}
.mc .halo{fill:#ffffff}
.mc .arrow{stroke:#1b1f24;stroke-width:1.6;fill:none}
.mc .point{fill:#1b1f24}
.mc .copy{stroke-dasharray:7 3}
.mc .decision{stroke-width:3}
.mc .fault{fill:#fff1ef;stroke:#cf222e;stroke-width:1.2;stroke-dasharray:6 3}
.mc .repair{fill:#e6f6ea;stroke:#1a7f37;stroke-width:1.2;stroke-dasharray:2 3}
.mc .flash{fill:#cf222e;font-weight:700}
.mc .mended{fill:#1a7f37;font-weight:700}
.mc .tick{fill:#1a7f37;font-size:12px;font-weight:700}
.mc .verdict{fill:#fff1ef;stroke:#cf222e;stroke-width:2.6}
.mc .reached{fill:#e6f6ea;stroke:#1a7f37;stroke-width:2.6}
.mc .turn{fill:#fff8c5;stroke:#1b1f24;stroke-width:1.3;stroke-dasharray:10 3 2 3}
.mc .frame{fill:none;stroke:#59636e;stroke-width:1.3}
.mc .broken{fill:none;stroke:#cf222e;stroke-width:2.6}
@media (prefers-color-scheme:dark){
.mc text{fill:#f0f3f6}
.mc .dim,.mc .dim text{fill:#a9b3be}
.mc .paper,.mc .halo{fill:#0d1117}
.mc .rule{stroke:#3d444d}
.mc .head{fill:#151b23;stroke:#a9b3be}
.mc .life{stroke:#a9b3be}
.mc .member{fill:#10283f;stroke:#4493f8}
.mc .box{fill:#0d1117;stroke:#f0f3f6}
.mc .kept{fill:#163d24;stroke:#f0f3f6}
.mc .cut,.mc .missing,.mc .cross,.mc .broken{stroke:#ff7b72}
.mc .bad{fill:#5a1e1b;stroke:#ff7b72}
.mc .bar{stroke:#56d364}
.mc .arrow{stroke:#f0f3f6}
.mc .point{fill:#f0f3f6}
.mc .fault,.mc .verdict{fill:#2b1514;stroke:#ff7b72}
.mc .repair,.mc .reached{fill:#122117;stroke:#56d364}
.mc .flash{fill:#ff7b72}
.mc .mended,.mc .tick{fill:#56d364}
.mc .turn{fill:#352a05;stroke:#f0f3f6}
.mc .frame{stroke:#a9b3be}
}
""".strip()
BOX, TALL = 28, 28  # an entry's width and height
LABEL = 17  # words above and below a log
INSET = 8  # from where a log begins to its first box
TARGET = 700.0  # the width of a picture, that it may be read on a page without being made smaller
GAP = 6  # between what is gone and what is missing
LINE = 16  # from one line of text to the next
SMALL = 14  # the same, in small print
SIZE = 13  # of the font of a text
SIZES = {"title": 17, "small": 11, "mono": 10.5, "tick": 12}  # of classes of `STYLE` that have another
IN_BOLD = frozenset({"title", "strong", "flash", "mended", "tick"})
OTHER = 1300  # of a sign that was not measured: an ideogram, an emoji
MONO = 620  # of SF Mono; the others are less wide
PLAIN, BOLD = (
    {sign: width for width, signs in table.items() for sign in signs} for table in (widths.PLAIN, widths.BOLD)
)
ROUNDED = 1.005  # browsers round what a sign takes
IN_MONO = dict.fromkeys(PLAIN, MONO)
NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def said(text: str) -> str:
    """The text escaped for XML, without control characters."""
    return escape(NOT_XML.sub("\ufffd", clean(text)))


def words(x: float, y: float, text: str, *classes: str, anchor: str = "start") -> str:
    """The SVG of a line of text."""
    kind = f' class="{" ".join(classes)}"' if classes else ""
    where = "" if anchor == "start" else f' text-anchor="{anchor}"'
    return f'<text x="{x:g}" y="{y:g}"{kind}{where}>{said(text)}</text>'


def upright(x: float, y: float, text: str, *classes: str, anchor: str = "start") -> str:
    """The SVG of a line of text that is read from below."""
    return f'<g transform="rotate(-90 {x:g} {y:g})">{words(x, y, text, *classes, anchor=anchor)}</g>'


def rect(x: float, y: float, width: float, height: float, kind: str, radius: float = 3) -> str:
    """The SVG of a rectangle."""
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{max(width, 0):g}" height="{max(height, 0):g}" '
        f'rx="{radius:g}" class="{kind}"/>'
    )


def stroke(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    """The SVG of a straight line."""
    return f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" class="{kind}"/>'


@lru_cache(maxsize=8192)  # the same few words are in every row
def width_of(text: str, *classes: str) -> float:
    """The most that a line of text with these classes is wide, whichever of the named fonts is there."""
    table = IN_MONO if "mono" in classes else BOLD if not IN_BOLD.isdisjoint(classes) else PLAIN
    return sum(table.get(sign, OTHER) for sign in clean(text)) * size_of(*classes) / 1000 * ROUNDED


def size_of(*classes: str) -> float:
    """The size of the font of a text with these classes."""
    return next((SIZES[kind] for kind in classes if kind in SIZES), SIZE)


def measures() -> dict[str, object]:
    """What `width_of` knows as JSON data, for the script of a page that draws."""
    return {
        "plain": widths.PLAIN,
        "bold": widths.BOLD,
        "mono": MONO,
        "other": OTHER,
        "rounded": ROUNDED,
        "sizes": SIZES,
        "size": SIZE,
        "strong": sorted(IN_BOLD),
    }


def lines(text: str, room: float, *classes: str) -> list[str]:
    """The text in lines no wider than `room`; a longer word is broken, after a sign if it has one.

    Parts between "·" stay whole where they fit in a line.
    """
    found, line = [], ""
    for part in " ".join(text.split()).replace(" · ", " ·\n").split("\n"):
        for word in [part] if width_of(part, *classes) <= room else _words(part):
            longer = f"{line} {word}" if line else word
            if width_of(longer, *classes) <= room:
                line = longer
                continue
            found += [line] if line else []
            *broken, line = _broken(word, room, classes)
            found += broken
    return [*found, line] if line else found or [""]


def _words(part: str) -> list[str]:
    """The words of a part; a "·" at its end belongs to the last one."""
    return [
        word.replace("\N{NO-BREAK SPACE}", " ")
        for word in part.replace(" ·", "\N{NO-BREAK SPACE}·").split(" ")
    ]


def _broken(word: str, room: float, classes: tuple[str, ...]) -> Iterator[str]:
    """The parts of a word that are each no wider than `room`, or one sign long."""
    while width_of(word, *classes) > room and len(word) > 1:
        fits = max(1, next(n for n in range(1, len(word) + 1) if width_of(word[:n], *classes) > room) - 1)
        after_sign = [n for n in range(fits // 2 + 1, fits + 1) if word[n - 1] in "_-.,/(=:·"]
        fits = after_sign[-1] if after_sign else fits
        yield word[:fits]
        word = word[fits:]
    yield word


def heading(picture: Picture, x: float, y: float, room: float) -> tuple[list[str], float]:
    """The SVG of the title and the lines under it, and the y where it ends."""
    parts = []
    for line in lines(picture.title, room, "title"):
        parts.append(words(x, y, line, "title"))
        y += 22
    for text in picture.about:
        kind = ("strong",) if text == picture.needs else ()
        for line in lines(text, room, *kind):
            parts.append(words(x, y, line, *kind))
            y += LINE
    return parts, y


def small(text: str, x: float, y: float, room: float) -> tuple[list[str], float]:
    """The SVG of text in small print, and the y where it ends."""
    text_lines = lines(text, room, "small")
    parts = [words(x, y + SMALL * number, line, "small", "dim") for number, line in enumerate(text_lines)]
    return parts, y + SMALL * len(text_lines)


def verdict(
    picture: Picture, x: float, y: float, width: float, margin: float, radius: float
) -> tuple[list[str], float]:
    """The SVG of the box with the violation, and its height; 0 if there is none.

    The property comes first, then what is false in it; the margins above and below the text are
    `margin` together.
    """
    text_lines = [
        (line, "strong") if number == 0 else (line,)
        for number, part in enumerate(picture.verdict)
        for line in lines(part, width - 40, *(("strong",) if number == 0 else ()))
    ]
    if not text_lines:
        return [], 0
    height = LINE * len(text_lines) + margin
    kind, sign = ("verdict", "✗") if picture.is_bad else ("reached", "✓")
    parts = [rect(x, y, width, height, kind, radius), words(x + 12, y + 20, sign, "strong")]
    for number, (line, *classes) in enumerate(text_lines):
        parts.append(words(x + 30, y + 20 + LINE * number, line, *classes))
    return parts, height


def legend(picture: Picture) -> list[str]:
    """The SVG texts that explain the signs that occur."""
    stands = [replica for row in picture.rows for replica in row.replicas.values()]
    boxes = [box for replica in stands for box in replica.log or ()]
    marks = dict.fromkeys(s.mark for s in stands if s.high_watermark is not None)
    to = f" to the {picture.client}" if picture.client else ""
    signs = (
        ("boxes: the log" + (", the epoch below" if any(b.under for b in boxes) else ""), bool(boxes)),
        ("dotted box: not on disk yet", any(box.is_volatile for box in boxes)),
        (f"✓ {picture.told}{to}", any(box.acknowledged for box in boxes)),
        (f"green bar ({', '.join(marks)}), green boxes: known to be committed", bool(marks and boxes)),
        ("struck out: was there before this step", any(box.cut for box in boxes)),
        ("dashed red: is missing here", any(box.missing for box in boxes)),
        ("★ chosen, unaware: the leader, who has not heard of it yet", _has_unaware(stands)),
        ("★ leader, ☆ only in its own eyes", any(s.leads and s.chosen is False for s in stands)),
    )
    return [*(text for text, is_there in signs if is_there), *picture.entries]


def _has_unaware(stands: Iterable[ReplicaState]) -> bool:
    """Whether some replica's role includes "unaware", which the legend explains."""
    return any("unaware" in badge(replica) for replica in stands)


def document(
    width: float, height: float, title: str, about: str, body: Sequence[str], *, style: str = ""
) -> str:
    """A whole SVG file, with style, title and description for screen readers."""
    name = sha256("".join((said(title), said(about), *body)).encode()).hexdigest()[:8]
    shapes = "\n".join(body)
    return f"""<svg xmlns="http://www.w3.org/2000/svg" class="mc" role="img" \
aria-labelledby="t{name} d{name}" viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}">
<title id="t{name}">{said(title)}</title>
<desc id="d{name}">{said(about)}</desc>
<style>{STYLE}{style and chr(10)}{style}</style>
{rect(0, 0, width, height, "paper", 0)}
{shapes}
</svg>
"""


# ------------------------------------------------------------------------- logs


def log_width(replica: ReplicaState) -> float:
    """The width of a drawn log."""
    return sum(_wide(box) for box in replica.log or ()) + 2 * INSET + 10


def draw_log(x: float, y: float, replica: ReplicaState, room: float) -> Iterator[str]:
    """The SVG of a log with its high watermark; its front is left out if there is no room.

    It takes LABEL above y and below y + TALL for words.
    """
    boxes = list(enumerate(replica.log or ()))
    start, end = x, x + room
    x += INSET
    left_out, wide = 0, sum(_wide(box) for _, box in boxes)
    while left_out < len(boxes) - 1 and wide > room - 16 * (left_out > 0) - 2 * INSET:
        wide -= _wide(boxes[left_out][1])
        left_out += 1
    boxes = boxes[left_out:]
    if left_out:
        yield words(x, y + TALL / 2 + 4, "…", "strong")
        x += 16
    mark = replica.high_watermark
    stored = sum(1 for box in replica.log or () if not (box.cut or box.missing))
    if not boxes:
        yield words(x + 6, y + TALL / 2 + 4, "empty log", "small", "dim")
    if mark is not None and mark <= left_out:
        yield from _bar(x - 1, y, replica.mark, start, end)
    is_cut = False
    for index, box in boxes:
        width = _wide(box)
        labelled = box.missing or (box.cut and not is_cut)  # once in a row
        x += GAP if is_cut and box.missing else 0  # each has its word
        is_cut = box.cut
        yield from _box(x, y, width, box, committed=mark is not None and index < mark, labelled=labelled)
        x += width
        if mark is not None and index + 1 == min(mark, max(stored, 1)):
            yield from _bar(x, y, replica.mark, start, end)


def _bar(x: float, y: float, name: str, start: float, end: float) -> Iterator[str]:
    """The SVG of a high watermark, whose name stays between two places."""
    yield stroke(x, y - 3, x, y + TALL + 3, "bar")
    half = width_of(name, "small", "mended") / 2
    if 2 * half <= end - start:  # the legend names it too
        yield words(min(max(x, start + half), end - half), y - 5, name, "small", "mended", anchor="middle")


def _wide(box: Box) -> float:
    """The width of a box, and of the word below it."""
    beside = 2 * (width_of("✓", "tick") + 4) if box.acknowledged and not box.cut else 10
    label = width_of(_label(box), "small", "flash") + 2
    return max(BOX, width_of(box.text, "strong") + beside, width_of(box.under, "mono") + 8, label)


def _label(box: Box) -> str:
    """The word below a box."""
    return "missing" if box.missing else "gone" if box.cut else ""


def _box(x: float, y: float, width: float, box: Box, *, committed: bool, labelled: bool) -> Iterator[str]:
    """The SVG of a log entry."""
    kind = _kind(box, committed=committed)
    yield rect(x + 1, y, width - 2, TALL, kind)
    middle = x + width / 2
    classes = ("strong",) if box.fresh or box.bad else ("flash",) if box.missing or box.cut else ()
    yield words(middle, y + (TALL / 2 + 5 if not box.under else 14), box.text, *classes, anchor="middle")
    if box.under:
        yield words(middle, y + 25, box.under, "mono", "dim", anchor="middle")
    if box.acknowledged and not box.cut:
        yield words(x + width - 3, y + 11, "✓", "tick", anchor="end")
    if box.cut:
        yield stroke(x + 3, y + TALL - 3, x + width - 3, y + 3, "cross")
    if labelled:
        yield words(middle, y + TALL + 13, _label(box), "small", "flash", anchor="middle")


def _kind(box: Box, *, committed: bool) -> str:
    """The CSS class of a box: how it is filled and outlined."""
    if box.missing:
        return "missing"
    if box.cut:
        return "cut"
    if box.bad:
        return "bad"
    return ("kept" if committed else "box") + (" unsafe" if box.is_volatile else "")
