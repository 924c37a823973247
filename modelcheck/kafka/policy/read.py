"""Reading a policy: TOML, with every mistake at its place."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from itertools import zip_longest
from typing import NoReturn

from modelcheck.kafka.policy.policy import Applies, Exemption, Policy, PolicyRule
from modelcheck.kafka.questions.question import Requirement, requirement
from spec.diagnostics import Diagnostic, SpecError, suggest
from spec.frozen import frozen
from spec.source import Source, Span

CODE = "R0750"
_RULES, _EXCEPTIONS = "require", "except"
_KEYS = {
    _RULES: ("topics", "guarantees", "owner", "why"),
    _EXCEPTIONS: ("topics", "guarantees", "owner", "why", "until"),
}
_HEADER = re.compile(r"^[ \t]*\[\[?[ \t]*([A-Za-z0-9_.\"'-]+)[ \t]*\]\]?", re.MULTILINE)
_AT = re.compile(r"\(at line (\d+), column (\d+)\)$")


def read_policy(source: Source) -> Policy:
    """The policy in a TOML file.

    It has entries `[[require]]` with `topics`, patterns such as `payments.*`, and `guarantees`, such as
    `durable:1`; and `[[except]]` with a day `until` too.  `owner` and `why` are for readers.
    Raises SpecError (R0750, R0732) at the place of what is wrong.
    """
    try:
        data = tomllib.loads(source.text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        _not_toml(source, error)
    for name in data:
        if name not in _KEYS:
            span = next(_headers(source, name), (_find(source, name), 0))[0]
            help_ = suggest(name, _KEYS) or f"a policy has entries [[{_RULES}]] and [[{_EXCEPTIONS}]]"
            _refuse(source, span, f"a policy has no `{name}`", help_)
    rules = [_rule(each) for each in _tables(source, data, _RULES)]
    exceptions = [_exemption(each) for each in _tables(source, data, _EXCEPTIONS)]
    if not rules:
        help_ = f'write [[{_RULES}]] with topics = "*" and guarantees = ["durable:1"]'
        _refuse(source, Span(0, 0), "the policy requires nothing", help_)
    return Policy(tuple(rules), tuple(exceptions))


@frozen
class _Entry:
    """A table of the file: its values, and the part of the text that they are in."""

    source: Source
    values: Mapping[str, object]
    span: Span  # of the header
    end: int

    def place(self, key: str, value: str = "") -> Span:
        """The place of a key, or of one of its values in quotes; of the header if neither is found."""
        area = self.source.text[: self.end]
        at = re.compile(rf"^[ \t]*[\"']?{re.escape(key)}[\"']?[ \t]*=", re.MULTILINE).search(
            area, self.span.end
        )
        if at is None:
            return self.span
        start = area.index(key, at.start())
        quoted = re.compile(rf"([\"']){re.escape(value)}\1").search(area, at.end()) if value else None
        return Span(start, start + len(key)) if quoted is None else Span(quoted.start(), quoted.end())

    def refuse(self, key: str, message: str, help_: str, value: str = "") -> NoReturn:
        """Raise SpecError at a key of the entry, or at one of its values."""
        _refuse(self.source, self.place(key, value), message, help_)


def _tables(source: Source, data: Mapping[str, object], kind: str) -> Iterator[_Entry]:
    """The entries of a kind, each with its place. Raises SpecError where it is no list of tables."""
    given = data.get(kind, [])
    places = list(_headers(source, kind))
    inline = _find(source, kind), len(source.text)
    if not isinstance(given, list) or not all(isinstance(each, dict) for each in given):
        span, _ = next(iter(places), inline)
        _refuse(source, span, f"`{kind}` is a list of entries", f"write [[{kind}]] above each")
    if len(places) != len(given):
        places = [inline] * len(given)
    for values, (span, end) in zip(given, places, strict=True):
        entry = _Entry(source, values, span, end)
        for key in values:
            if key not in _KEYS[kind]:
                known = _KEYS[kind]
                help_ = suggest(key, known) or f"an entry [[{kind}]] has {', '.join(known)}"
                entry.refuse(key, f"[[{kind}]] has no `{key}`", help_)
        yield entry


def _headers(source: Source, kind: str) -> Iterator[tuple[Span, int]]:
    """The places of the headers of a kind, each with the end of its table: where the next header begins."""
    found = [*_HEADER.finditer(source.text)]
    for header, after in zip_longest(found, found[1:]):
        if header[1] == kind:
            yield Span(*header.span()), len(source.text) if after is None else after.start()


def _rule(entry: _Entry) -> PolicyRule:
    return PolicyRule(_applies(entry), _requirements(entry))


def _exemption(entry: _Entry) -> Exemption:
    until = entry.values.get("until")
    if not isinstance(until, date) or isinstance(until, datetime):
        is_given = "until" in entry.values
        message = "`until` is a day" if is_given else "an exception ends on a day"
        entry.refuse("until", message, "write until = 2027-01-31, without quotes")
    return Exemption(_applies(entry), _requirements(entry), until)


def _applies(entry: _Entry) -> Applies:
    """The topics, owner and reason of an entry."""
    topics = _texts(entry, "topics", "a topic's name or a pattern such as `payments.*`")
    words = []
    for key in ("owner", "why"):
        text = entry.values.get(key, "")
        if not isinstance(text, str):
            entry.refuse(key, f"`{key}` is a text", f'write {key} = "…"')
        words.append(text)
    owner, why = words
    return Applies(tuple(topics), owner, why, entry.source, entry.span)


def _requirements(entry: _Entry) -> tuple[Requirement, ...]:
    """The requirements of an entry, each as on the command line."""
    found = []
    for text in _texts(entry, "guarantees", "a guarantee and a number of faults, such as `durable:1`"):
        try:
            found.append(requirement(text))
        except SpecError as error:
            (wrong,) = error.diagnostics
            place = entry.place("guarantees", text)
            raise SpecError(
                [Diagnostic(wrong.code, entry.source, place, wrong.message, help=wrong.help)]
            ) from None
    return tuple(found)


def _texts(entry: _Entry, key: str, what: str) -> Sequence[str]:
    """The texts of a key, which may have one or a list."""
    given = entry.values.get(key)
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, list) or not texts or not all(isinstance(each, str) for each in texts):
        message = f"`{key}` is a text or a list of them" if key in entry.values else f"`{key}` is missing"
        entry.refuse(key, message, f"each is {what}")
    return texts


def _not_toml(source: Source, error: Exception) -> NoReturn:
    """Raise SpecError at the place where a text is no TOML."""
    at = _AT.search(str(error))
    start = 0
    if at is not None:
        lines = source.text.splitlines(keepends=True)
        start = sum(map(len, lines[: int(at[1]) - 1])) + int(at[2]) - 1
    start = min(start, max(len(source.text) - 1, 0))
    message = f"this is no TOML: {_AT.sub('', str(error)).strip() or 'it is nested too deeply'}"
    _refuse(source, Span(start, min(start + 1, len(source.text))), message, "see toml.io for the syntax")


def _find(source: Source, text: str) -> Span:
    """The first place of a text; the beginning if it is not there."""
    at = source.text.find(text)
    return Span(0, 0) if at < 0 else Span(at, at + len(text))


def _refuse(source: Source, span: Span, message: str, help_: str) -> NoReturn:
    """Raise SpecError for a part of a policy."""
    raise SpecError([Diagnostic(CODE, source, span, message, help=help_)])
