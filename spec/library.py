"""The protocols that come with the package, each known by a name: the files in `protocols/`.

NOTE(library): where a model file is meant, `raft` is the protocol of that name.  It hides
no path: a path `raft` comes before it, and where there is also a file `raft.rsm`, the name
is refused.
"""

from __future__ import annotations

import os
import re
from functools import cache
from importlib import resources

import spec.model.ir as ir
import spec.syntax.tree as s
from spec.diagnostics import suggest
from spec.elaboration.checks import expectation
from spec.frozen import frozen
from spec.imports import joined
from spec.reading import resource
from spec.source import Source
from spec.syntax.parser import parse

SUFFIX = ".rsm"


@frozen
class RecordedCheck:
    """A check as its file records it: model, `says` text, expectations."""

    name: str
    of: str
    says: str | None
    expect: tuple[ir.Expect, ...]
    unreached: tuple[ir.ExpectVerdict, ...]  # what is `reachable` elsewhere, and expected never to be here

    @property
    def violations(self) -> tuple[ir.ExpectVerdict, ...]:
        """The expected violations; every other property is expected to hold."""
        verdicts = (e for e in self.expect if isinstance(e, ir.ExpectVerdict) and not e.holds)
        return tuple(each for each in verdicts if each not in self.unreached)


@frozen
class Shipped:
    """A file of the library: its name, subject, variants and checks."""

    name: str
    title: str
    variants: tuple[str, ...]
    questions: tuple[RecordedCheck, ...]


@cache
def names() -> tuple[str, ...]:
    """The names of the shipped protocols, sorted."""
    files = (resources.files("spec") / "protocols").iterdir()
    return tuple(sorted(file.name.removesuffix(SUFFIX) for file in files if file.name.endswith(SUFFIX)))


def is_meant(name: str) -> bool:
    """Whether a name given for a model file is that of a shipped protocol, and no path (NOTE(library))."""
    return name in names() and not os.path.lexists(name)


def near(name: str) -> str:
    """The advice `did you mean …?` with a protocol of a similar name; empty if there is none."""
    stem = name.removesuffix(SUFFIX)
    return f"did you mean `{stem}`?" if stem in names() else suggest(stem, names())


def text(name: str) -> str:
    """The text of a shipped protocol. Raises OSError if there is none."""
    return resource("spec", "protocols", f"{name}{SUFFIX}")


def goes_on_from(name: str) -> str:
    """The protocol that a file of the library is about: the one it imports, or its own."""
    found = re.search(r"^import (\w+)$", text(name), re.MULTILINE)
    return goes_on_from(found[1]) if found else name


def shipped(name: str) -> Shipped:
    """A file of the library, parsed but not elaborated, which takes three times as long."""
    source = joined(Source(name, text(name)), text, text)
    begin, _ = max(source.parts, default=(0, name))  # before it is what it imports
    protocol = parse(source)
    assert isinstance(protocol, s.Protocol), "a text that extends another one is joined with it"
    own = tuple(item for item in protocol.items if item.span.start >= begin)
    all_variants = tuple(item for item in protocol.items if isinstance(item, s.VariantDecl))
    declared = (*protocol.items, *(item for variant in all_variants for item in variant.items))
    reachable = {d.name.text for d in declared if isinstance(d, s.PropertyDecl) and d.kind == "reachable"}
    variants = tuple(item.name.text for item in own if isinstance(item, s.VariantDecl))
    checks = (item for item in own if isinstance(item, s.CheckDecl))
    questions = tuple(_question(check, protocol.name.text, reachable) for check in checks)
    return Shipped(name, title(text(name)), variants, questions)


def title(text: str) -> str:
    r"""The first sentence of the comment at the top of a model file, without its full stop.

    >>> title("// Raft: elections (2014, section 5.4.2).  One leader at\n// a time.\nprotocol raft")
    'Raft: elections (2014, section 5.4.2)'
    """
    head = re.match(r"(?://[^\n]+\n)*", text)
    words = " ".join(line.strip("/ ") for line in (head[0] if head else "").splitlines())
    return re.split(r"\.(?: |$)", words, maxsplit=1)[0]


def _question(check: s.CheckDecl, own: str, reachable: set[str]) -> RecordedCheck:
    """A check as its file records it."""
    clauses = (clause for clause in check.clauses if isinstance(clause, s.ExpectClause))
    expect = tuple(expectation(item) for clause in clauses for item in clause.items)
    verdicts = (each for each in expect if isinstance(each, ir.ExpectVerdict) and not each.holds)
    unreached = tuple(each for each in verdicts if each.property in reachable)
    says = check.says.text if check.says else None
    return RecordedCheck(check.name.text, check.of.text if check.of else own, says, expect, unreached)
