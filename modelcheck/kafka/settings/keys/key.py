"""What a Kafka key is to a review, and finding it by any of its names, even misspelt."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from functools import cache

from modelcheck.kafka.settings.keys.releases import ACKS, Plain, history, of_key
from modelcheck.kafka.settings.keys.versions import OLDEST, BadVersionError, Version, protocol
from spec.frozen import frozen

INT_MAX = 2**31 - 1
LONG_MAX = 2**63 - 1
NEVER = str(LONG_MAX)  # how Kafka writes "never" where a number is wanted

_BLANKS = "".join(map(chr, range(33)))  # what Java's trim takes away, and no other blank
_NUMBER = re.compile(r"[+-]?[0-9]+")
_SHORT = 12  # names shorter than this are near only at one letter's distance


class Standing(StrEnum):
    """Whether a key affects the answer, and how."""

    MODELLED = "modelled"
    OUTSIDE = "outside"
    IRRELEVANT = "irrelevant"


class Reader(StrEnum):
    """The process that reads a key: broker, topic, producer and so on."""

    PRODUCER = "producer"
    CONSUMER = "consumer"
    TOPIC = "topic"
    BROKER = "broker"


class Type(StrEnum):
    """The type of a key's values."""

    BOOLEAN = "true or false"
    INT = "a whole number"
    LONG = "a whole number of up to 64 bits"
    TEXT = "text"
    ACKS = "0, 1 or all"
    PROTOCOL = "a protocol version"
    ROLES = "broker, controller or both"


Value = bool | int | str


@frozen
class Default:
    """A default value, and the first release with it."""

    since: Version
    value: str


@frozen
class CatalogueKey:
    """A configuration key of Kafka: names, readers, type, defaults, releases.

    `topic_name` is what a topic calls the broker's setting, where that differs;
    `other_names` are older names.  `why` is, for a key outside the model, what
    it may change that the model does not show; `absent`, of a modelled key,
    what Kafka does in releases without it.  `worst` is the end of the values' order, `low` or `high`, at
    which more records can be lost; empty if there is no such order.  `own_defaults` are of a key without a
    config entry in the model; `of_model` is whether it has one, see NOTE(releases).  `low` is the least
    value; a topic's may be one less before the release `low_of_topics`.
    """

    name: str
    standing: Standing
    type: Type
    readers: tuple[Reader, ...]
    does: str
    why: str = ""
    other_names: tuple[str, ...] = ()
    first: Version = OLDEST
    last: Version | None = None
    own_defaults: tuple[Default, ...] = ()
    low: int | None = None
    low_of_topics: Version | None = None
    topic_name: str = ""
    absent: str = ""
    of_model: bool = False
    worst: str = ""

    @property
    def defaults(self) -> tuple[Default, ...]:
        """The defaults in order of their releases."""
        return _of_model(self.name, self.type, self.first) if self.of_model else self.own_defaults

    @property
    def names(self) -> tuple[str, ...]:
        """All names of the key, the main one first."""
        return (self.name, *((self.topic_name,) if self.topic_name else ()), *self.other_names)

    def readers_of(self, name: str) -> tuple[Reader, ...]:
        """The processes that read the key under this name, which may differ for topics and brokers."""
        if not self.topic_name:
            return self.readers
        return (Reader.TOPIC,) if name == self.topic_name else (Reader.BROKER,)

    def exists_in(self, release: Version) -> bool:
        """Whether this release of Kafka has the key."""
        return self.first <= release and (self.last is None or release.line <= self.last.line)

    def default(self, release: Version) -> str | None:
        """The default in this release; None if there is none."""
        return next((d.value for d in reversed(self.defaults) if d.since <= release), None)

    def default_since(self, release: Version) -> Version | None:
        """The first release with this release's default."""
        return next((d.since for d in reversed(self.defaults) if d.since <= release), None)

    def worst_of(self, values: Sequence[Value]) -> int:
        """The index of the value with which most records can be lost; of the first among equals."""
        if not self.worst:
            return 0
        ordered = [_order(self.type, value) for value in values]
        return ordered.index(min(ordered) if self.worst == "low" else max(ordered))

    def as_json(self) -> dict[str, object]:
        """The key as JSON data."""
        return {
            "key": self.name,
            "names": list(self.names),
            "standing": str(self.standing),
            "type": str(self.type),
            "readers": [str(r) for r in self.readers],
            "does": self.does,
            "why": self.why,
            "first": str(self.first),
            "last": None if self.last is None else str(self.last),
            "defaults": [{"since": str(d.since), "value": d.value} for d in self.defaults],
        }


class BadValueError(ValueError):
    """Raised for an invalid value of a key; has the reason, and advice."""

    def __init__(self, message: str, advice: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.advice = advice


def parse(key: CatalogueKey, text: str, release: Version, name: str = "") -> Value:
    """The value that a text means for a key in a release. Raises BadValueError.

    `name` is that under which the key is given, by default its main one.  Acks come out as `0`, `1`, `all`,
    or of the old producer, until 0.8.2, a larger number.
    """
    trimmed = text.strip(_BLANKS)
    if trimmed != trimmed.strip() and key.type is not Type.TEXT:
        message = f"`{key.name}` has a blank next to its value that Kafka does not take for one"
        raise BadValueError(message, f"write `{trimmed.strip()}`, with no blank or a plain one")
    match key.type:
        case Type.BOOLEAN:
            return _boolean(key, trimmed)
        case Type.INT | Type.LONG:
            may_be_less = key.low_of_topics is not None and release < key.low_of_topics
            return _number(key, trimmed, 1 if may_be_less and name == key.topic_name else 0)
        case Type.ACKS:
            return _acks(key, trimmed, release, is_old_name=name in key.other_names)
        case Type.PROTOCOL:
            return _protocol(key, trimmed)
        case Type.ROLES:
            return _roles(key, trimmed)
        case Type.TEXT:
            return trimmed


@cache
def _of_model(name: str, kind: Type, first: Version) -> tuple[Default, ...]:
    """The defaults of a key in the model, from the first release that has the key."""
    defaults = history(of_key(name))
    before = [value for since, value in defaults if since <= first]
    later = [Default(since, _written(kind, value)) for since, value in defaults if since > first]
    return (*(Default(first, _written(kind, value)) for value in before[-1:]), *later)


def _written(kind: Type, value: Plain) -> str:
    """A model's value as configurations spell it; a number above 0 switches a flag on."""
    match kind:
        case Type.ACKS:
            return ACKS[str(value)]
        case Type.BOOLEAN:
            return str(bool(value)).lower()
        case _:
            return str(int(value))


def _boolean(key: CatalogueKey, text: str) -> bool:
    """Parse a Boolean. Raises BadValueError."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    advice = {"yes": "true", "on": "true", "1": "true", "no": "false", "off": "false", "0": "false"}
    meant = advice.get(text.lower(), "")
    raise BadValueError(f"`{key.name}` must be true or false", f"write `{meant}`" if meant else "")


def _number(key: CatalogueKey, text: str, less: int) -> int:
    """Parse a number, which may be `less` below the least value. Raises BadValueError."""
    limit = INT_MAX if key.type is Type.INT else LONG_MAX
    if _NUMBER.fullmatch(text) is None:
        raise BadValueError(f"`{key.name}` must be {key.type}")
    digits = text.lstrip("+-").lstrip("0")
    number = int(text) if len(digits) <= len(str(LONG_MAX)) else limit + 1
    if key.low is not None and number < key.low - less:
        raise BadValueError(f"`{key.name}` must be at least {key.low - less}")
    if not -limit - 1 <= number <= limit:
        raise BadValueError(f"`{key.name}` must be at most {limit}")
    return number


def _acks(key: CatalogueKey, text: str, release: Version, *, is_old_name: bool) -> str:
    """Parse `acks`, as the release spells it. Raises BadValueError.

    0.8.2 has the old producer and the Java one; its brokers warn of numbers above 1, and do as they say.
    """
    old = release.line < (0, 8, 2) or (release.line == (0, 8, 2) and is_old_name)
    if text in ("0", "1", "-1"):
        return "all" if text == "-1" else text
    if old and text.isascii() and text.isdigit():
        return str(int(text))
    if old:
        raise BadValueError(
            f"`{key.name}` must be a number in Kafka {release}", "all in-sync replicas are written `-1` there"
        )
    if text == "all":
        return text
    if text.isascii() and text.isdigit():
        raise BadValueError(
            f"`{key.name}={text}`: it is 0, 1, or all (-1); until Kafka 0.8.2 the old producer had others",
            f"to have {text} replicas hold a record, write `acks=all` and `min.insync.replicas={text}`",
        )
    raise BadValueError(f"`{key.name}` must be 0, 1, or all (-1)")


def _protocol(key: CatalogueKey, text: str) -> str:
    """Parse an inter-broker protocol version. Raises BadValueError."""
    try:
        return str(protocol(text))
    except BadVersionError as error:
        raise BadValueError(f"`{key.name}`: {error.message}", error.advice) from None


def _roles(key: CatalogueKey, text: str) -> str:
    """Parse `process.roles`. Raises BadValueError."""
    roles = [role.strip() for role in text.split(",") if role.strip()]
    if set(roles) <= {"broker", "controller"} and len(roles) == len(set(roles)):
        return ",".join(sorted(roles))
    raise BadValueError(f"`{key.name}` must be broker, controller, or both with a comma")


def _order(kind: Type, value: Value) -> tuple[int, ...]:
    """The place of a parsed value in the order of its type."""
    match kind:
        case Type.ACKS:
            return (LONG_MAX if value == "all" else int(value),)
        case Type.PROTOCOL:
            found = protocol(str(value))
            return (*found.release.numbers, found.internal)
        case Type.BOOLEAN | Type.INT | Type.LONG:
            return (int(value),)
        case Type.TEXT | Type.ROLES:
            return ()


def is_near(name: str, known: str) -> bool:
    """Whether `name` is probably a misspelling of `known`.

    Near are a letter or two wrong, words in another order, other separators or
    capitals, and the first words of a long key.  A whole word that differs is
    not near: Kafka has many keys that differ by a word.
    """
    words, wanted = _words(name), known.split(".")
    if sorted(words) == sorted(wanted) or (len(words) > 1 and words == wanted[: len(words)]):
        return True
    left, right = "".join(words), "".join(wanted)
    allowed = 1 if min(len(left), len(right)) < _SHORT else 2
    return _may_be_within(left, right, allowed) and _distance(left, right) <= allowed


def spelled(name: str) -> str:
    """The name with dots for capitals, `_` and `-`: `minInsyncReplicas` → `min.insync.replicas`."""
    return ".".join(_words(name))


def _words(name: str) -> list[str]:
    """The parts of a name in lower case."""
    spaced = "".join("." + char.lower() if char.isupper() and name != name.upper() else char for char in name)
    return [word for word in spaced.lower().replace("_", ".").replace("-", ".").split(".") if word]


def _may_be_within(left: str, right: str, allowed: int) -> bool:
    """Whether the edit distance may be at most `allowed`; a cheap necessary condition."""
    if abs(len(left) - len(right)) > allowed:
        return False
    different = Counter(left)
    different.subtract(right)
    return sum(map(abs, different.values())) <= 2 * allowed


def _distance(left: str, right: str) -> int:
    """The edit distance of two words (Damerau 1964): insert, delete, replace, swap neighbours."""
    before: list[int] = []
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        earlier, before, row = before, row, [i]
        for j, b in enumerate(right, 1):
            best = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == right[j - 2] and left[i - 2] == b:
                best = min(best, earlier[j - 2] + 1)
            row.append(best)
    return row[-1]
