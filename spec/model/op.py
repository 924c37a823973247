"""The operations, functions and quantifiers of the language, by name; `operators.py` has the meanings."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum


class Op(Enum):
    """The strict operators: every argument is evaluated, in order. T is any type.

    Errors in brackets are errors of the model (`values.ModelError`).
    """

    NOT = "not"  # bool
    ADD = "+"  # int, int
    SUB = "-"
    MUL = "*"
    DIV = "/"  # rounds towards minus infinity [R0603 by zero]
    MOD = "%"  # has the sign of the divisor [R0603 by zero]
    NEG = "negate"
    EQ = "=="  # T, T
    NE = "!="
    LT = "<"  # ordered T, T
    LE = "<="
    MIN2 = "min2"  # ordered T, T: min(a, b)
    MAX2 = "max2"
    IN = "in"  # T, set or bag or option or seq
    SUBSET = "subset"  # set, set
    UNION = "union"  # set, set; bag, bag (counts are added)
    MINUS = "minus"  # set, set; bag, bag (counts are subtracted, not below 0)
    INTERSECT = "intersect"  # set, set
    SIZE = "size"  # set, bag (sum of counts), seq, option (0 or 1) → int
    CONCAT = "concat"  # seq, seq
    TAKE = "take"  # seq, int: entries at offsets below n: s[..n]
    DROP = "drop"  # seq, int: entries at offsets n and above: s[n..]
    INDEX = "index"  # seq, int [R0602 outside]
    AT = "at"  # seq, int → option: the entry, or none outside
    LAST = "last"  # seq [R0604 empty]
    COMMON = "common_prefix"  # seq, seq → the length of the longest common prefix
    STARTS = "starts_with"  # seq, seq: the second is a prefix of the first
    ELEMENTS = "elements"  # seq or bag or option → set
    COUNT = "count"  # T, bag → int
    LOOKUP = "lookup"  # map, key [R0602 for a number outside the keys]
    THE = "the"  # option, or set of one [R0605 otherwise]
    LEAST = "least"  # set of ordered T [R0604 empty]: min(S)
    GREATEST = "greatest"  # set of ordered T [R0604 empty]
    SUBSETS = "subsets"  # set → set of sets
    RANGE = "range"  # int, int → set of int: lo..hi, both included


class Quantifier(Enum):
    """The kinds of `Bind`, by how they combine the values of the body."""

    FORALL = "forall"
    EXISTS = "exists"
    SUM = "sum"
    MAX = "max"  # greatest value of the body [R0604 empty]
    MIN = "min"
    ARGMAX = "argmax"  # the member with the greatest body [R0604 empty; R0606 a tie on a sort]
    ARGMIN = "argmin"
    SET = "set"  # the set of the body's values


WORDS = frozenset(  # those of expressions; other keywords may be names where the grammar is unambiguous
    """and argmax argmin else exists false forall if implies in is let none not or subset sum then true
    where""".split()
)

FUNCTIONS: Mapping[str, tuple[int, ...]] = {
    "at": (2,),
    "common_prefix": (2,),
    "count": (2,),
    "did": (1,),
    "elements": (1,),
    "enabled": (1,),
    "flushed": (1,),
    "head": (1,),
    "int": (1,),
    "last": (1,),
    "max": (1, 2),
    "min": (1, 2),
    "old": (1,),
    "size": (1,),
    "starts_with": (2,),
    "subsets": (1,),
    "the": (1,),
}
"""The functions of the language, and how many arguments each may take."""
