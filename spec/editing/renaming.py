"""Another name for something, in every file that names it; refused where it would change a meaning.

NOTE(captures): what the new texts mean is asked of the same passes that answer everything else.  A
name that is taken, or that would hide another one, is a diagnostic there; and where every
name still refers to the same thing, nothing was captured.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from spec.diagnostics import Diagnostic
from spec.editing.manual import words
from spec.editing.symbols import SymbolKind, SymbolTable
from spec.editing.understood import Understood, understood
from spec.elaboration.names import COLLECTIONS
from spec.frozen import frozen
from spec.model.op import FUNCTIONS, WORDS
from spec.source import Source, Span
from spec.syntax.items import begins_item, item_at

Read = Callable[[str], str]


@frozen
class NotRenameable:
    """The reason why a name cannot be renamed."""

    why: str


@frozen
class Renamed:
    """The spans to replace, by file."""

    places: Mapping[str, tuple[Span, ...]]
    new: str


def renameable(known: Understood, names: SymbolTable, offset: int) -> Span | NotRenameable:
    """The span of the name at an offset, or why it cannot be renamed."""
    found = names.at(known.start + offset)
    if found is None:
        word = re.match(r"\w*", known.source.text[offset:])
        is_word = word is not None and word[0] in words()
        return NotRenameable("this is a word of the language" if is_word else "nothing here has a name")
    own = known.own(found.span)
    assert own is not None, "an offset of the own text is in the own text"
    if not known.is_last:
        return NotRenameable("the text is still being read")
    return own if (wrong := _in_the_way(known, found.symbol.name)) is None else wrong


def _in_the_way(known: Understood, name: str) -> NotRenameable | None:
    """The mistake because of which not every mention of a name is known; None if there is none.

    Names are known in all declarations but those with mistakes, which may have any of their words.
    """
    text = known.source.text
    for wrong in known.diagnostics:
        at = known.reported_at(wrong)
        if at is None:
            return NotRenameable(f"there are mistakes in the text: {wrong.message}")
        item = item_at(text, at.start - begins_item(text, at.start))
        if re.search(rf"\b{re.escape(name)}\b", text[item.start : item.end]):
            line = known.source.place(at.start)[1]
            return NotRenameable(
                f"what names `{name}` at line {line} of `{known.source.name}` has a mistake: {wrong.message}"
            )
    return None


def rename(
    known: Understood,
    offset: int,
    new: str,
    others: Iterable[str],
    read: Read,
    *,
    is_ours: Callable[[str], bool],
) -> Renamed | NotRenameable:
    """The spans to replace, to rename the symbol at an offset everywhere; or why it cannot be renamed.

    `others` are files that may extend the one that declares it; `is_ours` tells whether a file may
    be changed.  Elaborates every file that is concerned twice.
    """
    names = known.names()
    span = renameable(known, names, offset)
    if isinstance(span, NotRenameable):
        return span
    found = names.at(known.start + offset)
    assert found is not None
    if (wrong := _unusable(new, found.symbol.kind)) is not None:
        return wrong
    home = known.place(found.symbol.at)
    if not is_ours(home[0]):
        return NotRenameable(
            f"`{found.symbol.name}` is declared in `{home[0]}`, which is not changed from here"
        )
    files = _files(known, home[0], others, read)
    for each in files.values():
        if (wrong := _in_the_way(each, found.symbol.name)) is not None:
            return wrong
    before = {name: each.names() for name, each in files.items()}
    places = _places(files, before, home)
    texts = {file: _changed(_text(files, file, read), spans, new) for file, spans in places.items()}

    def read_new(path: str) -> str:
        return texts[path] if path in texts else read(path)

    for name, each in files.items():
        after = understood(Source(name, texts.get(name, each.source.text)), read_new)
        if news := _new_mistakes(each, after):
            what = news[0]
            return NotRenameable(
                f"`{new}` does not do: {what.message} ({what.source.at_place(what.span.start)})"
                if what.span
                else f"`{new}` does not do: {what.message}"
            )
        if _symbol_numbers(after.names()) != _symbol_numbers(before[name]):
            return NotRenameable(f"`{new}` would refer to something else in `{name}`")
    return Renamed({file: tuple(sorted(spans)) for file, spans in places.items()}, new)


def places(
    known: Understood, offset: int, others: Iterable[str], read: Read
) -> Mapping[str, tuple[Span, ...]]:
    """Every occurrence of the symbol at an offset, by file; `others` as in `rename`."""
    found = known.names().at(known.start + offset)
    if found is None:
        return {}
    home = known.place(found.symbol.at)
    files = _files(known, home[0], others, read)
    names = {name: each.names() for name, each in files.items()}
    every = _places(files, names, home)
    return {file: tuple(sorted(spans)) for file, spans in every.items()}


def _places(
    files: Mapping[str, Understood], names: Mapping[str, SymbolTable], home: tuple[str, Span]
) -> dict[str, set[Span]]:
    """The occurrences of what is declared at `home`, and of fields that must be renamed with it."""
    named: dict[tuple[str, Span], set[tuple[str, Span]]] = {}
    for name, each in files.items():
        for occurrence in names[name].every:
            named.setdefault(each.place(occurrence.span), set()).add(each.place(occurrence.symbol.at))
    homes: set[tuple[str, Span]] = {home}
    while more := {other for meant in named.values() if meant & homes for other in meant} - homes:
        homes |= more
    found: dict[str, set[Span]] = {}
    for (file, at), meant in named.items():
        if meant & homes:
            found.setdefault(file, set()).add(at)
    return found


def _unusable(new: str, kind: SymbolKind) -> NotRenameable | None:
    """Why a text cannot be a name of that kind; None if it can."""
    if re.fullmatch(r"[A-Za-z_][A-Za-z_0-9]*", new) is None:
        return NotRenameable("a name is letters, digits and underscores, and begins with no digit")
    if new in WORDS or (new in {*FUNCTIONS, *COLLECTIONS, "bool", "int"} and kind is not SymbolKind.FIELD):
        return NotRenameable(f"`{new}` is a word of the language")
    return None


def _files(known: Understood, home: str, others: Iterable[str], read: Read) -> dict[str, Understood]:
    """The analysis of each file that may use names of another."""
    found = {known.source.name: known}
    for name in (home, *others):
        if name not in found:
            each = understood(Source(name, read(name)), read)
            if home in each.files:
                found[name] = each
    return found


def _text(files: Mapping[str, Understood], name: str, read: Read) -> str:
    """The text of a file."""
    return files[name].source.text if name in files else read(name)


def _changed(text: str, spans: Iterable[Span], new: str) -> str:
    """The text with the spans replaced."""
    for span in sorted(spans, reverse=True):
        text = text[: span.start] + new + text[span.end :]
    return text


def _new_mistakes(before: Understood, after: Understood) -> list[Diagnostic]:
    """The mistakes of a changed text that it did not have before."""
    old = Counter((each.code, each.message) for each in before.diagnostics)
    found = []
    for each in after.diagnostics:
        if old[each.code, each.message] <= 0:
            found.append(each)
        old[each.code, each.message] -= 1
    return found


def _symbol_numbers(names: SymbolTable) -> list[int]:
    """For each occurrence the number of its symbol; a correct renaming preserves them."""
    numbers: dict[object, int] = {}
    return [numbers.setdefault(each.symbol, len(numbers)) for each in names.every]
