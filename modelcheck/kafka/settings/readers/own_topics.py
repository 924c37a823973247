"""The replicas of topics that products make for themselves, by their keys, in whatever form a file has them.

No reader of a form knows all of these products; their keys are looked for as words, as `unread` does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from modelcheck.kafka.settings.keys.products import OWN_TOPICS
from modelcheck.kafka.settings.readers.unread import comments, covers
from modelcheck.kafka.settings.readings import Given, SettingLayer
from spec.source import Source, Span

_KEYS = {key for topic in OWN_TOPICS for key in (*topic.keys, topic.min_isr) if key}
_SEPARATORS = str.maketrans("", "", "._-")
_SQUASHED = {key.translate(_SEPARATORS): key for key in sorted(_KEYS, key=len)}
_ENDS = ("factor", "replicas", "isr")
_TOKEN = re.compile(r"[\w.-]{12,}")
_VALUE = re.compile(
    r"[\"'`]?[ \t]*(?:[:=][ \t]*|,?[ \t]*\r?\n[ \t]*[\"']?value[\"']?:[ \t]*)"
    r"[\"']?(?:\$\{\w+:?-)?(?P<value>-?\d{1,3})\b"
)


def own_topics(source: Source) -> Iterator[Given]:
    """The keys of products' own topics that a text sets, each with its place.

    Every spelling counts: dots, capitals with `_` and a prefix, camel case.  Comments do not.  Costs time
    linear in the text.
    """
    names = {token: key for token in set(_TOKEN.findall(source.text)) if (key := _key(token)) is not None}
    if not names:
        return
    left_out = comments(source)
    for found in _TOKEN.finditer(source.text):
        key = names.get(found[0])
        value = _VALUE.match(source.text, found.end())
        span = Span(*found.span())
        if key is not None and value is not None and not covers(left_out, span):
            at = Span(*value.span("value"))
            yield Given(key, value["value"], SettingLayer.BROKER_STATIC, source, span, at)


def _key(token: str) -> str | None:
    """The key that a word is or ends in; None if it is another."""
    squashed = token.lower().translate(_SEPARATORS)
    if not squashed.endswith(_ENDS):
        return None
    ends = [name for name in _SQUASHED if squashed.endswith(name)]
    return _SQUASHED[max(ends, key=len)] if ends else None
