"""Operators that an exported module defines for itself, where TLA+ has none that means quite the same."""

from __future__ import annotations

import re
from collections.abc import Mapping

_LIBRARY = r"""
\* One step for a guard, however many ways there are to make it true.
Holds(claim) == claim = TRUE

Min(a, b) == IF a <= b THEN a ELSE b

Max(a, b) == IF a >= b THEN a ELSE b

\* A plain product counts as a constant, whatever its factors are, where TLC looks at infinite runs.
Times(a, b) == IF a = a /\ b = b THEN a * b ELSE 0

Least(S) == CHOOSE x \in S : \A y \in S : x <= y

Greatest(S) == CHOOSE x \in S : \A y \in S : x >= y

\* Rounds down, and the remainder has the sign of the divisor, whatever the signs.
Quotient(a, b) == IF b > 0 THEN a \div b ELSE (-a) \div (-b)

Remainder(a, b) == a - b * Quotient(a, b)

\* The sum of the values of a function.
RECURSIVE SumOf(_)
SumOf(f) ==
  IF DOMAIN f = {} THEN 0
  ELSE LET x == CHOOSE x \in DOMAIN f : TRUE
       IN  f[x] + SumOf([y \in DOMAIN f \ {x} |-> f[y]])

\* Where a function with numbers as values is greatest, and where it is least.
Greatests(f) == {x \in DOMAIN f : \A y \in DOMAIN f : f[x] >= f[y]}

Leasts(f) == {x \in DOMAIN f : \A y \in DOMAIN f : f[x] <= f[y]}

\* The only member; that there is one and no other is part of the model.
Only(S) ==
  IF Assert(Cardinality(S) = 1, "R0605 or R0606: not exactly one") THEN CHOOSE x \in S : TRUE ELSE None

The(option) == IF Assert(option # None, "R0605: the value of none") THEN option ELSE None

\* An option as a set.
Present(option) == IF option = None THEN {} ELSE {option}

\* Sequences count from 0 in the model and from 1 here.
Take(s, n) == SubSeq(s, 1, IF n < Len(s) THEN n ELSE Len(s))

Drop(s, n) == SubSeq(s, IF n > 0 THEN n + 1 ELSE 1, Len(s))

At(s, i) == IF i >= 0 /\ i < Len(s) THEN s[i + 1] ELSE None

Last(s) == s[Len(s)]

Entries(s) == {s[i] : i \in 1..Len(s)}

StartsWith(s, t) == Len(t) <= Len(s) /\ SubSeq(s, 1, Len(t)) = t

CommonPrefix(s, t) ==
  LET most == IF Len(s) < Len(t) THEN Len(s) ELSE Len(t)
  IN  CHOOSE n \in 0..most :
        /\ \A i \in 1..n : s[i] = t[i]
        /\ n = most \/ s[n + 1] # t[n + 1]

\* A bag is a function from its members to how often each is in it.
EmptyBag == [x \in {} |-> 0]

BagOf(s) == [x \in {s[i] : i \in 1..Len(s)} |-> Cardinality({i \in 1..Len(s) : s[i] = x})]

CountIn(x, b) == IF x \in DOMAIN b THEN b[x] ELSE 0

BagUnion(a, b) == [x \in DOMAIN a \cup DOMAIN b |-> CountIn(x, a) + CountIn(x, b)]

BagMinus(a, b) == [x \in {y \in DOMAIN a : a[y] > CountIn(y, b)} |-> a[x] - CountIn(x, b)]

BagSize(b) == SumOf(b)

\* The members of a set in some order, and the numbers of a range in theirs.
RECURSIVE Listed(_)
Listed(S) == IF S = {} THEN <<>> ELSE LET x == CHOOSE x \in S : TRUE IN <<x>> \o Listed(S \ {x})

Numbers(lo, hi) == [i \in 1..(IF hi < lo THEN 0 ELSE hi - lo + 1) |-> lo + i - 1]

NumberLess(a, b) == a < b
"""


def _parts() -> Mapping[str, str]:
    """The text of each library operator by name, with its comment."""
    found = {}
    for text in _LIBRARY.strip().split("\n\n"):
        name = next(m[1] for line in text.splitlines() if (m := re.match(r"(\w+)(\(.*?\))? ==", line)))
        found[name] = text
    return found


LIBRARY = _parts()


class Library:
    """Collects the library operators that a module uses."""

    def __init__(self) -> None:
        self._used: set[str] = set()

    def use(self, name: str) -> str:
        """Use an operator; returns its name."""
        if name not in self._used:
            self._used.add(name)
            for other in LIBRARY:
                if other != name and re.search(rf"\b{other}\b", _code(LIBRARY[name])):
                    self.use(other)
        return name

    def text(self) -> str:
        """The definitions of the operators used, each after those it depends on."""
        return "\n\n".join(text for name, text in LIBRARY.items() if name in self._used)


def _code(text: str) -> str:
    """An operator's text without comments and strings."""
    lines = [line for line in text.splitlines() if not line.startswith("\\*")]
    return re.sub(r'"[^"]*"', "", "\n".join(lines))
