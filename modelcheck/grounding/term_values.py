"""The values of terms under known values of the plain variables."""

from __future__ import annotations

from collections.abc import Sequence

from modelcheck.grounding.terms import Sign, Term


def term_value(term: Term, values: Sequence[int], known: dict[Term, int] | None = None) -> int:
    """The value of a term; of a truth value, 1 or 0.

    Costs a look at each part once; `known` keeps them for other terms over the same values.
    """
    found = {} if known is None else known
    stack = [term]
    while stack:
        top = stack[-1]
        if top in found:
            stack.pop()
            continue
        waiting = [arg for arg in top.args if arg not in found]
        if waiting:
            stack.extend(waiting)
            continue
        found[top] = _value(top, [found[arg] for arg in top.args], values)
        stack.pop()
    return found[term]


def _value(term: Term, args: list[int], values: Sequence[int]) -> int:  # noqa: C901 - by sign
    match term.sign:
        case Sign.CONST:
            return term.lo
        case Sign.VAR:
            return int(values[term.value])
        case Sign.NOT:
            return 1 - args[0]
        case Sign.AND:
            return int(all(args))
        case Sign.OR:
            return int(any(args))
        case Sign.EQ:
            return int(args[0] == args[1])
        case Sign.LT:
            return int(args[0] < args[1])
        case Sign.ADD:
            return args[0] + args[1]
        case Sign.SUB:
            return args[0] - args[1]
        case Sign.MUL:
            return args[0] * args[1]
        case Sign.DIV:
            return args[0] // args[1]
        case Sign.MOD:
            return args[0] % args[1]
        case Sign.ITE:
            return args[1] if args[0] else args[2]
