"""A file that imports another one: it means what it would after the other's text without its checks.

NOTE(imports): what is read further on is one plain text, with a protocol, variants and
checks.  So a trace or an answer is of the digest of all of it, and no later pass knows
of imports; only a place in it names its file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import spec.syntax.expressions as se
import spec.syntax.tree as s
from spec.diagnostics import Diagnostic, SpecError
from spec.source import Source, Span
from spec.syntax.parser import parse

MOST = 20  # files, each of which imports the next
_HEAD = re.compile(r"(?:\s|//[^\n]*\n)*import\b")


Read = Callable[[str], str]


def goes_on(text: str) -> bool:
    """Whether a text begins with an `import`; it may not parse."""
    return _HEAD.match(text) is not None


def joined(source: Source, file: Read, shipped: Read) -> Source:
    """The text after those that it imports; itself if it imports none.

    `file` gives the text of a path, `shipped` that of a protocol by its name, whatever files are next to it.
    Raises SpecError for what they cannot read (R0103), for a text that does not parse, and for files
    that import each other (R0105).
    """
    return _joined(source, file, shipped, (source.name,))


def _joined(source: Source, file: Read, shipped: Read, behind: tuple[str, ...]) -> Source:
    """The joined text; `behind` are the files on the way here, to find cycles."""
    tree = parse(source) if goes_on(source.text) else None
    if not isinstance(tree, s.GoesOn):
        return source
    name = _path(source.name, tree.of)
    if name in behind or len(behind) > MOST:
        many = "" if name in behind else f"more than {MOST} "
        what = f"{many}files import each other"
        help_ = f"{' → '.join((*behind, name))}: one of them has to begin with `protocol NAME`"
        raise SpecError([Diagnostic("R0105", source, tree.of.span, what, help=help_)])
    try:
        text = shipped(name) if isinstance(tree.of, se.Ident) else file(name)
    except SpecError as error:
        here = [replace(each, source=source, span=tree.of.span) for each in error.diagnostics]
        raise SpecError(here) from None
    base = _joined(Source(name, text), file, shipped, (*behind, name))
    before = _blanked(base.text, [each.span for each in parse(base).items if isinstance(each, s.CheckDecl)])
    own = _blanked(source.text, [Span(tree.span.start, tree.of.span.end)])
    parts = (*(base.parts or ((0, base.name),)), (len(before) + 1, source.name))
    return Source(source.name, f"{before}\n{own}", parts)


def _path(name: str, of: se.Ident | s.Text) -> str:
    """The path of an import, relative to the folder of the importing file."""
    return of.text if isinstance(of, se.Ident) else os.path.normpath(Path(name).parent / of.text)


def _blanked(text: str, spans: list[Span]) -> str:
    """The text with everything but line ends in the spans removed."""
    for span in spans:
        text = text[: span.start] + re.sub(r"[^\n]", " ", text[span.start : span.end]) + text[span.end :]
    return text
