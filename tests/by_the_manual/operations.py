"""What is strict: operators and functions of the language, of the values of their operands."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence

from tests.by_the_manual.tokens import Refused
from tests.by_the_manual.values import (
    ANY,
    BOOL,
    COLLECTIONS,
    INT,
    Type,
    Value,
    Wrong,
    bag,
    common,
    copies,
    distinct,
    join,
    position,
    some,
    subsets,
    without,
)

Operation = Callable[..., Value]
COMPARISONS: dict[str, Operation] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
}
OPERATORS = {*COMPARISONS, *"+ - & subset * / % in to upto from index minus not".split()}
FUNCTIONS = set("size at head last common_prefix starts_with elements count subsets the max min int".split())
ALIKE = {*COMPARISONS, *"+ - & subset max min common_prefix starts_with".split()}  # operands of one type


def operation(name: str, types: Sequence[Type]) -> tuple[Type, Operation]:  # noqa: C901 - a case for each
    """The type of what an operation gives, and the operation. Raises Refused for what is none."""
    first = types[0]
    of, held = some(first), first[1] if len(first) > 1 else ANY
    inner = of[1] if len(of) > 1 else ANY
    match name:
        case "==" | "!=" | "<" | "<=":
            return BOOL, COMPARISONS[name]
        case "+" | "-" | "&":
            of = join(of, some(types[1]))
            return of, _joined(name, of[0])
        case "*" | "/" | "%" | "minus" | "int":
            return of, _NUMBERS[name]
        case "not":
            return BOOL, operator.not_
        case "to":
            return ("set", INT, None), lambda low, high: tuple(range(low, high + 1))
        case "in" if types[1][0] == "option":
            return BOOL, lambda one, held: held is not None and one == held
        case "in" if types[1][0] == "bag":
            return BOOL, lambda one, whole: any(one == each for each, _ in whole)
        case "in":
            return BOOL, lambda one, whole: one in whole
        case "subset":
            return BOOL, lambda part, whole: set(part) <= set(whole)
        case "upto":
            return of, lambda whole, n: whole[: max(0, n)]
        case "from":
            return of, lambda whole, n: whole[max(0, n) :]
        case "index" if of[0] == "map":
            return of[2], lambda whole, key: whole[position(inner, key)]
        case "index":
            return inner, _entry
        case "at":
            return ("option", inner), lambda whole, n: whole[n] if 0 <= n < len(whole) else None
        case "head":
            return ("option", inner), lambda whole: whole[0] if whole else None
        case "last":
            return inner, lambda whole: best(lambda every: every[-1], whole)
        case "common_prefix":
            return INT, common
        case "starts_with":
            return BOOL, lambda whole, begin: whole[: len(begin)] == begin
        case "count":
            return INT, lambda one, whole: dict(whole).get(one, 0)
        case "subsets":
            return ("set", of, None), subsets
        case "size":
            return INT, _SIZES.get(first[0], len)
        case "elements":
            return ("set", held, None), _ELEMENTS.get(first[0], distinct)
        case "the":
            return (held if first[0] in {"set", "option"} else first), _only(first)
        case "max" | "min":
            which = max if name == "max" else min
            if len(types) == 1:
                return inner, lambda every: best(which, every)
            return join(first, types[1]), which
        case _:
            raise Refused(f"{name} is no function of the language")


def best(which: Callable[..., Value], values: Sequence[Value]) -> Value:
    """The greatest, the least or the last. Raises Wrong of nothing."""
    if not values:
        raise Wrong("R0604")
    return which(values)


def _joined(name: str, kind: str) -> Operation:
    """`+`, `-` and `&`: of numbers, or of collections of a kind."""
    match name, kind:
        case "+", "set":
            return lambda a, b: distinct(a + b)
        case "+", "bag":
            return lambda a, b: bag(copies(a) + copies(b))
        case "+", _:
            return operator.add
        case "-", "bag":
            return lambda a, b: bag(without(copies(a), copies(b)))
        case "-", _:
            return without if kind in COLLECTIONS else operator.sub
        case _:
            return lambda a, b: tuple([each for each in a if each in b])


def _divided(how: Operation) -> Operation:
    def divided(a: int, b: int) -> Value:
        if b == 0:
            raise Wrong("R0603")
        return how(a, b)

    return divided


_NUMBERS: dict[str, Operation] = {
    "*": operator.mul,
    "/": _divided(operator.floordiv),
    "%": _divided(operator.mod),
    "minus": operator.neg,
    "int": int,
}


_SIZES: dict[str, Operation] = {
    "option": lambda held: int(held is not None),
    "bag": lambda whole: sum(count for _, count in whole),
}
_ELEMENTS: dict[str, Operation] = {
    "option": lambda held: () if held is None else (held,),
    "bag": lambda whole: tuple([each for each, _ in whole]),
}


def _entry(whole: Value, n: int) -> Value:
    if not 0 <= n < len(whole):
        raise Wrong("R0602")
    return whole[n]


def _only(of: Type) -> Operation:
    """The value of an option, or the member of a set of one."""

    def only(held: Value) -> Value:
        if held is None or (of[0] == "set" and len(held) != 1):
            raise Wrong("R0605")
        return held[0] if of[0] == "set" else held

    return only
