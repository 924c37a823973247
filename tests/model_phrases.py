"""Random expressions that are well typed, written from the type down."""

from __future__ import annotations

from dataclasses import replace

import spec.model.types as t
from tests.model_conditions import Conditions
from tests.model_reading import View, literal
from tests.model_types import Stuck, same

SETS = "literal literal plus minus both where where collect elements all".split()


class Expressions(Conditions):
    """Writes expressions; every one that is not a name or a call stands in parentheses."""

    def expr(self, of: t.Type, view: View, fuel: int) -> str:
        """An expression of a type where the place says which. Raises Stuck when there is none."""
        for _ in range(4 if fuel > 0 else 0):
            try:
                return self._expr(of, view, fuel)
            except Stuck:
                continue
        return self.leaf(of, view)

    def _expr(self, of: t.Type, view: View, fuel: int) -> str:
        dice, less = self.dice, fuel - 1
        if self.world.functions and dice.chance(10):
            return self._call(of, view, less)
        match dice.weighted([(9, "own"), (5, "path"), (2, "leaf"), (2, "if"), (1, "let"), (2, "old")]):
            case "path":
                return self.path(of, view, less)
            case "leaf":
                return self.leaf(of, view)
            case "if":
                then, other = self.expr(of, view, less), self.expr(of, view, less)
                # `none` in one part and a value in the other have no type in common
                if isinstance(of, t.Tuple):
                    other = self.world.cast(of, other)
                return f"(if {self.expr(t.BOOL, view, less)} then {then} else {other})"
            case "let":
                name, inner = self.world.fresh("l"), self.some_type(view)
                value = self.firm(inner, view, less)
                return f"(let {name} = {value}. {self.expr(of, view.knowing(name, inner), less)})"
            case "old" if view.step:
                return f"old({self.firm(of, replace(view, step=False), less)})"
            case _:
                return self._own(of, view, less)

    def _call(self, of: t.Type, view: View, fuel: int) -> str:
        """A call of a function of the model. Raises Stuck when none gives that type."""
        given = [(name, types) for name, (types, made) in self.world.functions.items() if same(made, of)]
        name, types = self.dice.pick(given)
        values = ", ".join(self.expr(each, view, fuel) for each in types)
        made = f"{name}({values})" if types else name
        return self.bounded(of, made) if isinstance(of, t.Range) else made

    def _own(self, of: t.Type, view: View, fuel: int) -> str:  # noqa: C901 - a case for each type
        match of:
            case t.Bool():
                return self.condition(view, fuel)
            case t.Int() | t.Range() | t.Nat():
                return self.number(of, view, fuel)
            case t.Enum() | t.Sort():
                return self._member(of, view, fuel)
            case t.Option(inner):
                return self._option(inner, view, fuel)
            case t.Record(name, fields):
                return f"{name}{self._arguments(fields, view, fuel)}"
            case t.Union(_, cases):
                case = self.dice.pick(cases)
                return f"{case.name}{self._arguments(case.fields, view, fuel)}" if case.fields else case.name
            case t.Tuple(items):
                if t.is_ordered(of) and self.dice.chance(25):
                    return self.best(of, view, fuel)
                return f"({', '.join(self.expr(item, view, fuel) for item in items)})"
            case t.Set(inner):
                return self._set(of, inner, view, fuel)
            case t.Seq(inner):
                return self._seq(of, inner, view, fuel)
            case t.Bag():
                a, b = self.firm(of, view, fuel), self.firm(of, view, fuel)
                return f"({a} {self.dice.pick(['+', '-'])} {b})"
            case t.Map(key, value):
                name = self.world.fresh("k")
                return f"[{name}: {key} -> {self.expr(value, view.knowing(name, key), fuel)}]"
            case _:
                raise Stuck

    def _arguments(self, fields: tuple[t.Field, ...], view: View, fuel: int) -> str:
        values = [self.expr(f.type, view, fuel) for f in fields]
        if self.dice.chance(30):
            values = [f"{f.name} = {v}" for f, v in zip(fields, values, strict=True)]
        return f"({', '.join(values)})"

    # -------------------------------------------------------------- members and options

    def _member(self, of: t.Enum | t.Sort, view: View, fuel: int) -> str:
        dice, name = self.dice, self.world.fresh("v")
        best = dice.pick(["argmax", "argmin"])
        inner = view.knowing(name, of)
        risky = isinstance(of, t.Sort) and self.world.sorts[of.name] > 1
        match dice.weighted([(3, "best"), (2, "best in"), (1, "the"), (2, "order")]):
            case "best" | "best in" if risky and dice.chance(90):
                raise Stuck
            case "best":
                return f"({best} {name}: {of}. {self.firm(self.ordered(view), inner, fuel)})"
            case "best in":
                domain = self.firm(t.Set(of), view, fuel)
                if isinstance(of, t.Enum):
                    domain = f"({domain} + {{{dice.pick(of.members)}}})"
                return f"({best} {name} in {domain}. {self.firm(self.ordered(view), inner, fuel)})"
            case "the" if dice.chance(10):
                whole: t.Type = t.Set(of) if dice.chance(50) else t.Option(of)
                return f"the({self.firm(whole, view, fuel)})"
            case "order" if isinstance(of, t.Enum):
                return (
                    f"{dice.pick(['max', 'min'])}({self.firm(of, view, fuel)}, {self.firm(of, view, fuel)})"
                )
            case _:
                return self.path(of, view, fuel)

    def _option(self, inner: t.Type, view: View, fuel: int) -> str:
        seqs = [of for of, _ in self.paths(view, 0) if isinstance(of, t.Seq) and same(of.of, inner)]
        if seqs and self.dice.chance(40):
            seq = self.firm(self.dice.pick(seqs), view, fuel)
            at = self.dice.number(-1, 2)
            return self.dice.pick([f"head({seq})", f"at({seq}, {literal(at)})"])
        return self.expr(inner, view, fuel)

    # -------------------------------------------------------------- collections

    def _set(self, of: t.Type, inner: t.Type, view: View, fuel: int) -> str:
        dice, name = self.dice, self.world.fresh("v")
        forms = [*SETS, *(["range"] * 2 if isinstance(inner, t.Range | t.Int) else [])]
        forms += ["subsets"] * 2 if isinstance(inner, t.Set) else []
        match dice.pick(forms):
            case "literal":
                return f"{{{', '.join(self.expr(inner, view, fuel) for _ in range(dice.number(1, 2)))}}}"
            case "plus" | "minus" | "both" as form:
                sign = {"plus": "+", "minus": "-", "both": "&"}[form]
                return f"({self.firm(of, view, fuel)} {sign} {self.firm(of, view, fuel)})"
            case "where":
                test = self.expr(t.BOOL, view.knowing(name, inner), fuel)
                if t.is_scalar(inner) and dice.chance(50):
                    return f"{{{name}: {inner} where {test}}}"
                return f"{{{name} in {self.firm(of, view, fuel)} where {test}}}"
            case "collect":
                binder, within = self.binder(view, fuel)
                return f"{{{self.firm(inner, within, fuel)} for {binder}{self.where(within, fuel)}}}"
            case "elements":
                kinds = t.Seq | t.Bag | t.Option
                found = [c for c, _ in self.paths(view, 0) if isinstance(c, kinds) and same(c.of, inner)]
                return f"elements({self.firm(dice.pick(found), view, fuel)})"
            case "range":
                return f"({self.expr(inner, view, fuel)} .. {self.expr(inner, view, fuel)})"
            case "subsets" if isinstance(inner, t.Set) and self.world.values(inner.of) <= 6:
                return f"subsets({self.firm(inner, view, fuel)})"
            case "all" if isinstance(inner, t.Sort | t.Enum | t.Nat):
                return str(inner)
            case _:
                raise Stuck

    def _seq(self, of: t.Type, inner: t.Type, view: View, fuel: int) -> str:
        dice = self.dice
        assert isinstance(of, t.Seq)
        match dice.pick(["take", "drop", "literal", "concat"]):
            case "take":
                made = f"{self.firm(of, view, fuel)}[..{literal(dice.number(-1, 2))}]"
            case "drop":
                made = f"{self.firm(of, view, fuel)}[{literal(dice.number(-1, 2))}..]"
            case "literal":
                made = f"[{', '.join(self.expr(inner, view, fuel) for _ in range(dice.number(0, 2)))}]"
            case _:
                made = f"({self.firm(of, view, fuel)} + {self.firm(of, view, fuel)})"
        if of.limit is not None and isinstance(of.limit.of, int) and dice.chance(96):
            return f"{self.world.cast(of, made)}[..{of.limit.of}]"
        return made
