"""Settings that decide the answer and that no reader has taken from its file."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from modelcheck.kafka.settings.keys.catalogue import MODELLED, find, is_irrelevant, known, meant
from modelcheck.kafka.settings.keys.key import Reader, spelled
from modelcheck.kafka.settings.readers.clients import acks_named
from modelcheck.kafka.settings.readings import About, FileKind, Reading, is_template
from spec.diagnostics import Diagnostic
from spec.source import Source, Span

# Operators have these in files that have nothing about replication, such as those of clients.
_NOT_SEARCHED = frozenset(
    {"zookeeper.connect", "process.roles", "metadata.version", "message.format.version"}
)
_DECIDING = tuple(name for key in MODELLED for name in key.names if name not in _NOT_SEARCHED)
# Other names, of which no key of Kafka is the end; the last is of a constructor.
_WHOLE = {"replication.factor", "replica.factor", "required.acks", "new.topic"}
_OF_OTHERS = (".replication.factor", ".topic.replicas", ".topics.replicas")
_SQUASHED = {name.replace(".", ""): name for name in _DECIDING}
_SQUASHED_WHOLE = {name.replace(".", "") for name in _WHOLE}
_TOKEN = re.compile(r"[\w.-]+")
_SEPARATORS = str.maketrans("", "", "._-")
_COMMENT = re.compile(r"^[ \t]*(?:[#!]|//)[^\n]*|(?<=[ \t])#[^\n]*|/\*.*?\*/", re.MULTILINE | re.DOTALL)
_BEFORE = re.compile(r"(?:^|\bnew |[=:,\[({\"'`/-]|--)[ \t]*[\"'`]?$")
_KEY_SIGN = re.compile(r"[\"'`]?[ \t]*[:=|]")
_AFTER = re.compile(r"\(|[\"'`]?[ \t]*(?:[:=]|[,\])}]|$)")
_VALUE = re.compile(r"[\"'`]?\s*(?:=>|[:=|,])\s*(?:\(\w+\)\s*)?(?:\w+\.)?[\"'`]?([\w-]+)")
_DELETED = re.compile(r"--delete-config[= ][ \t]*[\"']?(?:[\w.-]+,)*$")
_NEAR = 80  # characters around a word that show whether it is in the place of a key
_SHOWN = 12  # places in one file; the others are seen when these are corrected


def unread(reading: Reading) -> Iterator[Diagnostic]:
    """A diagnostic (R0734) for each modelled key in a file that its reader did not use.

    Every spelling counts: dots, capitals with `_`, camel case, in quotes.  Comments, and text that
    the reader knows to have nothing about replication, are left out.  Costs time linear in the text.
    """
    source = reading.source
    names = {token: name for token in set(_TOKEN.findall(source.text)) if (name := _deciding(token))}
    if not names:
        return
    taken = _taken(reading)
    left_out = comments(source)
    shown = 0
    for found in _TOKEN.finditer(source.text):
        name = names.get(found[0])
        if name is None:
            continue
        span = Span(*found.span())
        if covers(taken, span) or covers(left_out, span) or not _is_set(source, span):
            continue
        shown += 1
        if shown > _SHOWN:
            return
        yield _diagnostic(source, span, name, reading.kind)


def aside(reading: Reading) -> Iterator[str]:
    """A note on each number of replicas in a file that is of topics which other tools keep for themselves.

    Whether they are too few is looked at elsewhere, for `own_topics`.  Costs time linear in the text.
    """
    source = reading.source
    tokens = {one for one in set(_TOKEN.findall(source.text)) if _is_of_others(one)}
    if not tokens:
        return
    taken = _taken(reading)
    left_out = comments(source)
    places: dict[str, str] = {}
    for found in _TOKEN.finditer(source.text):
        span = Span(*found.span())
        if found[0] not in tokens or found[0] in places or not _is_set(source, span):
            continue
        if not covers(taken, span) and not covers(left_out, span):
            name, line, _ = source.place(span.start)
            places[found[0]] = f"{name}:{line}"
    if places:
        named = [f"`{name}` ({place})" for name, place in list(places.items())[:_SHOWN]]
        more = f" and {len(places) - _SHOWN} more" if len(places) > _SHOWN else ""
        yield f"{', '.join(named)}{more}: the replicas of a tool's own topics, not of the one under review"


def _is_of_others(token: str) -> bool:
    """Whether a word is a number of replicas of other topics than those under review."""
    dotted = spelled(token.strip("-."))
    return dotted.endswith(_OF_OTHERS) and find(dotted) is None and _deciding(token) is None


def _deciding(token: str) -> str | None:
    """The modelled key that a word is or ends in: `KAFKA_CFG_MIN_INSYNC_REPLICAS`, `producer.acks`."""
    bare = token.strip("-.").rpartition(".")[2] if token.endswith("_CONFIG") else token.strip("-.")
    bare = bare.removesuffix("_CONFIG")  # a constant of Kafka's own classes
    squashed = bare.lower().translate(_SEPARATORS)
    if squashed in _SQUASHED_WHOLE:
        return "acks" if "acks" in squashed else "replication factor"
    ends = [name for name in _SQUASHED if squashed.endswith(name)]
    if not ends or _is_another(bare):
        return None
    words = spelled(bare).split(".")
    tails = {"".join(words[at:]) for at in range(len(words))}
    return next((_SQUASHED[name] for name in sorted(ends, key=len, reverse=True) if name in tails), None)


def _is_another(name: str) -> bool:
    """Whether a name is another Kafka key that only ends like a modelled one."""
    dotted = spelled(name)
    return any((found := find(one)) is not None and found.name not in _DECIDING for one in (name, dotted))


def comments(source: Source, within: Span | None = None) -> list[Span]:
    """The comments of a text, or of a part of it, in whatever form it is, in order."""
    part = Span(0, len(source.text)) if within is None else within
    return _merged([Span(*found.span()) for found in _COMMENT.finditer(source.text, part.start, part.end)])


def _taken(reading: Reading) -> list[Span]:
    """The spans that were read, or are known to have no effect."""
    read: dict[str, bool] = {}
    for one in reading.given:
        if one.key not in read:
            plain = find(one.key) is not None or is_irrelevant(one.key)
            read[one.key] = plain or (_deciding(one.key) is not None and bool(meant(one.key)))
    spans = [one.key_span for one in reading.given if read[one.key]]
    values = [one.value_span for one in reading.given if read[one.key]]
    spans += [span for span in values if is_template(reading.source.at(span))]  # refused where it decides
    spans += [fact.span for fact in reading.facts if fact.about is not About.CLIENT]  # one shows by any key
    spans += [topic.span for topic in reading.topics]
    return _merged([*spans, *reading.passed])


def _merged(spans: Iterator[Span] | list[Span]) -> list[Span]:
    """The spans in order, with adjacent ones merged."""
    found: list[Span] = []
    for span in sorted(spans):
        if found and span.start <= found[-1].end:
            found[-1] = Span(found[-1].start, max(found[-1].end, span.end))
        else:
            found.append(span)
    return found


def covers(spans: list[Span], span: Span) -> bool:
    """Whether a span is inside some of the sorted spans."""
    at = bisect_right(spans, span.start, key=lambda one: one.start) - 1
    return at >= 0 and spans[at].end > span.start


def _is_set(source: Source, span: Span) -> bool:
    """Whether a word is at the position of a key, not in a sentence."""
    before = source.text[max(0, span.start - _NEAR) : span.start].rpartition("\n")[2]
    after = source.text[span.end : span.end + _NEAR].partition("\n")[0]
    if _KEY_SIGN.match(after) or source.at(span).startswith("--") or _DELETED.search(before):
        return True
    return _BEFORE.search(before) is not None and _AFTER.match(after) is not None


def _line(source: Source, span: Span, name: str) -> str:
    """The line of properties that says the same, and whose file it belongs to."""
    key = known("default.replication.factor" if name == "replication factor" else name)
    text = source.text[span.end : span.end + _NEAR].partition("\n")[0]
    found = _VALUE.match(text)
    value = acks_named(key.name, found[1]) if found else "…"
    reader = key.readers[-1]
    file = "server.properties" if reader is Reader.BROKER else f"{reader}.properties"
    return f"`{key.name}={value}` in {file}"


def _diagnostic(source: Source, span: Span, name: str, kind: FileKind) -> Diagnostic:
    """The diagnostic for an unread key."""
    shown = source.at(span)
    message = f"`{shown}` decides the answer, and was not read here"
    advice = (
        f"give it in a form that is read, such as {_line(source, span, name)}, or what "
        "kafka-configs or kafka-topics --describe print; or take it out of the file"
    )
    label = f"{name}, in what was taken for {kind}" if shown != name else f"in what was taken for {kind}"
    return Diagnostic("R0734", source, span, message, label, advice)
