"""What systems are known to have done wrong, and which check shows it: `spec/protocols/known_bugs.toml`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator

from spec.frozen import frozen
from spec.reading import resource


@frozen
class Bug:
    """A known failure: its system and name, what happened, and the check and the property that show it.

    `control` is the check in which it does not happen, empty where nothing prevents it.  `since` and
    `fixed` are releases, empty where the source does not say; `also` is another name of it.
    """

    system: str
    name: str
    what: str
    model: str
    check: str
    control: str
    property: str
    source: str
    since: str = ""
    fixed: str = ""
    also: str = ""


def bugs() -> Iterator[Bug]:
    """All of them, in the order of the file. Raises TypeError for an entry that lacks something."""
    text = resource("spec", "protocols", "known_bugs.toml")
    for system, entries in tomllib.loads(text).items():
        for entry in entries:
            yield Bug(system=system, **entry)


def address(source: str) -> str:
    """Where an issue or a KIP is described, or the address that is given."""
    if source.startswith("KIP-"):
        return f"https://cwiki.apache.org/confluence/display/KAFKA/{source}"
    if re.fullmatch("[A-Z]+-[0-9]+", source):
        return f"https://issues.apache.org/jira/browse/{source}"
    return source
