"""Names in TLA+: those of the model, changed where the language of TLC has other plans for them."""

from __future__ import annotations

import re
from collections.abc import Iterable

WORDS = frozenset(
    """ASSUME ASSUMPTION AXIOM BOOLEAN CASE CHOOSE CONSTANT CONSTANTS DOMAIN ELSE ENABLED EXCEPT
    EXTENDS FALSE IF IN INSTANCE LAMBDA LET LOCAL MODULE OTHER RECURSIVE SF_ STRING SUBSET THEN THEOREM
    TRUE UNCHANGED UNION VARIABLE VARIABLES WF_ WITH BY COROLLARY DEF DEFINE DEFS HAVE HIDE LEMMA NEW
    OBVIOUS OMITTED ONLY PICK PROOF PROPOSITION PROVE QED STATE SUFFICES TAKE TEMPORAL USE WITNESS
    ACTION""".split()
)
STANDARD = frozenset(
    """Nat Int Seq Len Head Tail Append SubSeq SelectSeq IsFiniteSet Cardinality Print PrintT Assert JavaTime
    TLCGet TLCSet Permutations SortSeq RandomElement Any ToString TLCEval Integers Naturals Sequences
    FiniteSets TLC Bags Reals Toolbox""".split()
)
OURS = frozenset("Init Next Spec vars None Symmetry Fairness".split())
_SAFE = re.compile(r"(?!WF_|SF_)(?=.*[A-Za-z])[A-Za-z_0-9]+")


class NameSupply:
    """Hands out unique names: the wanted one if it is free, else a similar one."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = {*WORDS, *STANDARD, *OURS, *taken}

    def fresh(self, *wanted: str) -> str:
        """The first free name of these, which is taken from now on."""
        for name in wanted:
            if (made := legal(name)) not in self._taken:
                self._taken.add(made)
                return made
        made = numbered(legal(wanted[-1]), self._taken)
        self._taken.add(made)
        return made

    @property
    def taken(self) -> frozenset[str]:
        """Every name taken."""
        return frozenset(self._taken)


def numbered(name: str, taken: Iterable[str]) -> str:
    """A free name similar to this one."""
    known = set(taken)
    return next(made for n in range(2, len(known) + 3) if (made := f"{name}_{n}") not in known)


def local(wanted: str, taken: frozenset[str]) -> str:
    """A name for something bound: the wanted one, or a similar one that shadows nothing."""
    made = legal(wanted)
    return numbered(made, taken) if made in taken else made


def legal(name: str) -> str:
    """A text as a TLA+ identifier: `net.drop` as `net_drop`."""
    made = re.sub(r"[^A-Za-z0-9_]+", "_", name)
    return made if _SAFE.fullmatch(made) else f"the{made if made.startswith('_') else '_' + made}"


def field_name(name: str) -> str:
    """The TLA+ name of a field, which may be no keyword."""
    return f"{name}_" if name in WORDS else legal(name)


def remark(text: str) -> str:
    """A text for a comment or message, in ASCII without quotes."""
    plain = text.replace("…", "...").replace("–", "-").replace('"', "'")
    printed = "".join(each if each.isprintable() else " " for each in plain)
    return " ".join(printed.encode("ascii", "replace").decode().replace("\\", "/").split())
