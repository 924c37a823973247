"""A text that is being written → what is known of it, as soon as it is known.

NOTE(stages): a text is parsed, then the model at the cursor is elaborated, then all, one after
the other.  Between two of these the caller may do something else, or drop the text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import spec.library as library
import spec.model.ir as ir
import spec.model.types as t
import spec.syntax.expressions as se
import spec.syntax.tree as s
from spec.diagnostics import Diagnostic, SpecError
from spec.editing.resolve import resolved
from spec.editing.symbols import SymbolTable
from spec.elaboration.problems import Problems
from spec.frozen import frozen
from spec.imports import joined
from spec.load import Parted, shipped
from spec.source import Source, Span
from spec.syntax.items import MOST_BROKEN, without_item
from spec.syntax.parser import parse, too_deep


@frozen
class Understood:
    """The analysis of a text: tree, models, types and names, as far as it got.

    `whole` is the text after those that it imports, and places in trees, types
    and models are of that; `place` and `own` say where that is.  `judged` are the models of
    which all mistakes are among the diagnostics.  Where the text does not parse, what is
    declared besides the mistake is known all the same.
    """

    source: Source
    whole: Source
    protocol: s.Protocol | None
    diagnostics: tuple[Diagnostic, ...]
    models: tuple[ir.Model, ...]
    types: Mapping[Span, t.Type]
    judged: tuple[str, ...]
    is_last: bool

    @property
    def start(self) -> int:
        """The offset of the text in the joined text with its imports."""
        return self.whole.parts[-1][0] if self.whole.parts else 0

    @property
    def files(self) -> tuple[str, ...]:
        """The names of the files in the joined text."""
        return tuple(name for _, name in self.whole.parts) or (self.source.name,)

    def own(self, span: Span) -> Span | None:
        """A span of the joined text in the text itself; None if it is another file's."""
        if span.start < self.start:
            return None
        return Span(span.start - self.start, max(span.start, span.end) - self.start)

    def place(self, span: Span) -> tuple[str, Span]:
        """The file that a span of the joined text belongs to, and the span there."""
        parts = self.whole.parts or ((0, self.source.name),)
        start, name = max(part for part in parts if part[0] <= span.start)
        return name, Span(span.start - start, span.end - start)

    def reported_at(self, diagnostic: Diagnostic) -> Span | None:
        """The span of a mistake in the text; None if it is about the whole, or in another file."""
        if diagnostic.span is None or diagnostic.source.text == self.source.text:
            return diagnostic.span
        return self.own(diagnostic.span) if diagnostic.source.text == self.whole.text else None

    def names(self) -> SymbolTable:
        """The symbol table; takes about as long as parsing."""
        if self.protocol is None:
            return SymbolTable((), {}, {}, {}, {}, {})
        return resolved(self.whole, self.protocol, self.types)

    def names_with(self, at: int) -> SymbolTable:
        """The symbol table, with the names bound at an offset of the joined text."""
        assert self.protocol is not None
        return resolved(self.whole, self.protocol, self.types, (at,))


def understand(source: Source, read: Callable[[str], str], near: int = 0) -> Iterator[Understood]:
    """The analyses of a text, each more complete; `near` is where it is being edited.

    Raises nothing: whatever is wrong is a diagnostic.  `read` gives the texts of other files.
    """
    try:
        yield from _stages(source, read, near)
    except SpecError as error:
        yield from _broken(source, read, error.diagnostics)
    except RecursionError:
        yield from _broken(source, read, too_deep(source).diagnostics)


def understood(source: Source, read: Callable[[str], str]) -> Understood:
    """The complete analysis of a text."""
    *_, last = understand(source, read)
    return last


def _stages(source: Source, read: Callable[[str], str], near: int) -> Iterator[Understood]:
    """The analyses of a text, from the fastest on."""
    whole = joined(source, read, lambda name: read(name) if library.is_meant(name) else shipped(name))
    protocol = parse(whole)
    assert isinstance(protocol, s.Protocol)
    types: dict[Span, t.Type] = {}
    known = Understood(source, whole, protocol, (), (), types, (), is_last=False)
    yield known
    problems = Problems(whole, types)
    parted = Parted(protocol, problems)
    first = model_at(protocol, near + known.start)
    first = first if first in parted.protocols else parted.own
    if first != parted.own:
        alone = Problems(whole, types)
        model = Parted(protocol, alone).model(first, alone)
        yield replace(known, models=(model,), judged=(first,), diagnostics=_found(alone))
    models: list[ir.Model] = []
    for name in parted.protocols:
        models.append(parted.model(name, problems))
        judged = tuple(each.name for each in models)
        is_last = len(models) == len(parted.protocols)
        found = _found(problems)
        yield replace(known, models=tuple(models), judged=judged, diagnostics=found, is_last=is_last)


def _found(problems: Problems) -> tuple[Diagnostic, ...]:
    """The diagnostics of the problems, in textual order."""
    try:
        problems.raise_if_any()
    except SpecError as error:
        return error.diagnostics
    return ()


def model_at(protocol: s.Protocol, offset: int) -> str:
    """The name of the model that an offset is in: the base's or a variant's."""
    for item in protocol.items:
        if item.span.start <= offset <= item.span.end:
            match item:
                case s.VariantDecl(name) | s.CheckDecl(_, se.Ident() as name):
                    return name.text
                case _:
                    break
    return protocol.name.text


# ------------------------------------------------------------------ a text that does not parse


def _broken(
    source: Source, read: Callable[[str], str], diagnostics: tuple[Diagnostic, ...]
) -> Iterator[Understood]:
    """An analysis with the mistake alone, then one of the declarations without mistakes."""
    known = Understood(source, source, None, diagnostics, (), {}, (), is_last=False)
    yield known
    try:
        yield replace(
            _without_broken(source, read, diagnostics), source=source, diagnostics=diagnostics, is_last=True
        )
    except (SpecError, RecursionError):
        yield replace(known, is_last=True)


def _without_broken(
    source: Source, read: Callable[[str], str], diagnostics: tuple[Diagnostic, ...]
) -> Understood:
    """The analysis without declarations that do not parse. Raises SpecError if none does."""
    text = source.text
    for _ in range(MOST_BROKEN):
        at = next((each.span for each in diagnostics if each.source.name == source.name and each.span), None)
        if at is None:
            break
        text = without_item(text, at.start)
        try:
            return next(
                each
                for each in _stages(Source(source.name, text), read, 0)
                if each.judged  # of the base alone: it is for names and types, its mistakes are not reported
            )
        except SpecError as error:
            diagnostics = error.diagnostics
    raise SpecError(diagnostics)
