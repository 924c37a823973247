"""To which larger scopes the answers of the library are confirmed, on the page of the protocols."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from hashlib import sha256

import spec.library as library
from counterexamples.lines import count
from modelcheck.asking.models import pick_checks
from modelcheck.asking.next_scope.search import NextScopeRow, NextScopeSearch
from modelcheck.contract.engine import Limits
from modelcheck.contract.report import Reporter
from spec.frozen import frozen
from spec.imports import joined
from spec.load import loads
from spec.source import Source
from spec.wording import listed

STATES = 300_000  # of each search, unless given otherwise: the page takes some ten minutes of CPU then
CHANGES = "changes with"  # what no answer of the library should do
_NOT_CODE = re.compile(r'"[^"\n]*"|//[^\n]*|\s+')
_AS_OF = re.compile(r"^Larger scopes: searches of up to ([0-9,]+) states, text `(\w+)`\.$", re.MULTILINE)


@frozen
class AskedLarger:
    """How far the checks of a protocol were asked at larger scopes, and the digest of its text then."""

    states: int
    digest: str

    def __str__(self) -> str:
        return f"Larger scopes: searches of up to {count(self.states, 'state')}, text `{self.digest}`."


def digest(name: str) -> str:
    """The digest of a protocol with all that it extends, but for comments, texts and layout."""
    whole = joined(Source(name, library.text(name)), library.text, library.text)
    return sha256(_NOT_CODE.sub("", whole.text).encode()).hexdigest()[:16]


def asked_larger(page: str) -> Mapping[str, AskedLarger]:
    """How far, by a page, each protocol was searched at larger scopes."""
    found = {}
    for part in page.split("\n## ")[1:]:
        said = _AS_OF.search(part)
        if said is not None:
            found[part.split("\n")[0]] = AskedLarger(int(said[1].replace(",", "")), said[2])
    return found


def larger_rows(name: str, states: int, reporter: Reporter) -> Iterator[NextScopeRow]:
    """The checks of a protocol in their order, each with what it answers at larger scopes, on all cores."""
    asking = NextScopeSearch(pick_checks(loads(library.text(name), name), []))
    found = dict(asking.rows(Limits(states), reporter))
    yield from (found[number] for number in sorted(found))


def larger_words(row: NextScopeRow) -> str:
    """With which bounds one larger the answers are known to be the same; and which bounds are exact."""
    free = [each.names for each in row.answers if not row.is_declared(each) and not each.problem]
    kept = [each.names for each in row.confirmed if not row.is_declared(each)]
    alone = [names[0] for names in kept if len(names) == 1]
    words = [listed(alone)] if alone else []
    if len(alone) == sum(len(names) == 1 for names in free) and len(alone) > 1:
        words = ["each"]
    words += ["all"] * any(len(names) > 1 for names in kept)
    exact = [f"{listed(row.check.exact)} exact"] if row.check.exact else []
    changed = [f"{CHANGES} {listed(names)}" for names in dict.fromkeys(each.names for each in row.changed)]
    return "; ".join([", ".join(words) or "–", *exact, *changed])
