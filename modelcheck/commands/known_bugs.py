"""What Kafka is known to have done wrong, and which check shows it: `spec/protocols/kafka_bugs.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from importlib import resources

from spec.frozen import frozen


@frozen
class Bug:
    """A known failure: its name, what happened, the check and its property, and the releases it is of.

    `control` is the check in which it does not happen, empty where nothing prevents it.  `since` and
    `fixed` are empty where the source does not say; `also` is another name of it.
    """

    name: str
    what: str
    model: str
    check: str
    control: str
    property: str
    since: str
    fixed: str
    source: str
    also: str = ""


def bugs() -> Iterator[Bug]:
    """All of them, in the order of the file. Raises TypeError for an entry that lacks something."""
    text = (resources.files("spec") / "protocols" / "kafka_bugs.toml").read_text(encoding="utf-8")
    for entry in tomllib.loads(text)["bug"]:
        yield Bug(**entry)


def address(source: str) -> str:
    """Where an issue or a KIP is told, or the address that is given."""
    if source.startswith("KAFKA-"):
        return f"https://issues.apache.org/jira/browse/{source}"
    if source.startswith("KIP-"):
        return f"https://cwiki.apache.org/confluence/display/KAFKA/{source}"
    return source
