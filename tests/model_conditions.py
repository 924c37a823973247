"""Random conditions, bound names and numbers."""

from __future__ import annotations

from dataclasses import replace

import spec.model.types as t
from tests.model_reading import Reading, View
from tests.model_types import Stuck

CONDITIONS = (
    "and or implies not equal equal less less in in subset starts forall exists exists is present narrow "
    "enabled did"
).split()
NUMBERS = "add add sub mul div mod negate size size count common sum best best least fold flushed".split()
SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "mod": "%"}


class Conditions(Reading):
    """Writes what is true or false, and what can be counted."""

    def condition(self, view: View, fuel: int) -> str:
        """A condition that says something."""
        kinds = CONDITIONS if fuel > 0 else ["equal", "less", "in"]
        for _ in range(5):
            try:
                return self._condition(self.dice.pick(kinds), view, fuel - 1)
            except Stuck:
                continue
        return self.leaf(t.BOOL, view)

    def _condition(self, kind: str, view: View, fuel: int) -> str:  # noqa: C901 - a case for each kind
        dice = self.dice
        match kind:
            case "and" | "or" | "implies":
                many = 2 if kind == "implies" else dice.number(2, 3)
                return f"({f' {kind} '.join(self.expr(t.BOOL, view, fuel) for _ in range(many))})"
            case "not":
                return f"(not {self.expr(t.BOOL, view, fuel)})"
            case "equal":
                of = self.some_type(view)
                sign = dice.pick(["==", "!="])
                return f"({self.firm(of, view, fuel)} {sign} {self.firm(self.wider(of), view, fuel)})"
            case "less":
                return self._compared(self.ordered(view), ["<", "<=", ">", ">="], view, fuel)
            case "in":
                of, inner = self.collection(view)
                sign = dice.pick(["in", "not in"])
                return f"({self.firm(self.wider(inner), view, fuel)} {sign} {self.firm(of, view, fuel)})"
            case "subset":
                of = self.of_kind(view, t.Set)
                assert isinstance(of, t.Set)
                if self.world.values(of.of) <= 6 and dice.chance(30):
                    return f"({self.firm(of, view, fuel)} in subsets({self.firm(of, view, fuel)}))"
                return self._compared(of, ["subset"], view, fuel)
            case "starts":
                of = self.of_kind(view, t.Seq)
                return f"starts_with({self.firm(of, view, fuel)}, {self.firm(of, view, fuel)})"
            case "forall" | "exists":
                return self._quantified(kind, view, fuel)
            case "is":
                union = dice.pick(self.world.unions)
                return f"({self.firm(union, view, fuel)} is {dice.pick(union.cases).name})"
            case "present":
                of = self.of_kind(view, t.Option)
                return f"({self.firm(of, view, fuel)} {dice.pick(['!=', '=='])} none)"
            case "narrow":
                return self._narrowing(view, fuel)
            case "enabled" if view.enabled:
                return f"enabled({dice.pick([name for name, _ in view.actions if '.' not in name])})"
            case "did" if view.step:
                return self._did(view, fuel)
            case _:
                raise Stuck

    def _compared(self, of: t.Type, signs: list[str], view: View, fuel: int) -> str:
        return f"({self.firm(of, view, fuel)} {self.dice.pick(signs)} {self.firm(of, view, fuel)})"

    def wider(self, of: t.Type) -> t.Type:
        """A type whose values may be compared with those of another: itself, or with options in it."""
        if isinstance(of, t.Tuple):
            return t.Tuple(tuple(map(self.wider, of.items)))
        may_be_none = t.is_scalar(of) or isinstance(of, t.Record | t.Union)
        return t.Option(of) if may_be_none and self.dice.chance(15) else of

    def _quantified(self, kind: str, view: View, fuel: int) -> str:
        binder, inner = self.binder(view, fuel)
        more = ""
        if self.dice.chance(25):
            second, inner = self.binder(inner, fuel)
            more = f", {second}"
        return f"({kind} {binder}{more}{self.where(inner, fuel)}. {self.expr(t.BOOL, inner, fuel)})"

    def where(self, view: View, fuel: int) -> str:
        """A condition on a bound name, sometimes."""
        return f" where {self.expr(t.BOOL, view, fuel)}" if self.dice.chance(30) else ""

    def _did(self, view: View, fuel: int) -> str:
        name, params = self.dice.pick(view.actions)
        given: list[str] = []
        for of in params[: self.dice.number(0, len(params))]:
            if of is None:
                break
            given.append(self.firm(of, view, min(fuel, 1)))
        return f"did({name}({', '.join(given)}))" if given else f"did({name})"

    def _narrowing(self, view: View, fuel: int) -> str:
        """A test of an option or a union, and something that needs what it tells."""
        options = [(name, of) for name, of in view.names if isinstance(of, t.Option | t.Union)]
        options += [
            (v.name, v.type)
            for v in view.variables
            if v.owner is None and isinstance(v.type, t.Option | t.Union) and view.sees(v)
        ]
        name, of = self.dice.pick(options)
        plain = replace(view, step=False)
        if isinstance(of, t.Option):
            inner = self.expr(t.BOOL, plain.knowing(name, of.of), fuel)
            test, word = self.dice.pick([("!=", "and"), ("==", "or"), ("!=", "implies")])
            return f"({name} {test} none {word} {inner})"
        assert isinstance(of, t.Union)
        case = self.dice.pick(of.cases)
        inner = self.expr(t.BOOL, plain.knowing(name, case), fuel)
        return f"({name} is {case.name} {self.dice.pick(['and', 'implies'])} {inner})"

    # -------------------------------------------------------------- bound names

    def binder(self, view: View, fuel: int) -> tuple[str, View]:
        """A bound name with what it ranges over, and what can be read behind it."""
        dice, name = self.dice, self.world.fresh("v")
        match dice.weighted([(6, "type"), (4, "in"), (1, "range"), (2, "case"), (1, "made")]):
            case "in":
                of, inner = self.collection(view)
                plain = dice.chance(70) and not isinstance(of, t.Option)
                domain = self.path(of, view, fuel - 1) if plain else self.firm(of, view, fuel - 1)
                return f"{name} in {self.whole(of, domain)}", view.knowing(name, inner)
            case "range":
                lo, hi = (self.firm(t.Range(-1, 3), view, fuel - 1) for _ in range(2))
                lo = "0" if dice.chance(60) else lo
                return f"{name} in ({lo} .. {hi})", view.knowing(name, t.INT)
            case "case" if self.world.unions:
                return self._case(name, view, fuel)
            case "made":
                inner = self.some_type(view)
                whole = t.Set(inner) if dice.chance(50) else t.Seq(inner, t.Limit(2))
                return f"{name} in {self.firm(whole, view, fuel - 1)}", view.knowing(name, inner)
            case _:
                of = self.world.scalar()
                return f"{name}: {of}", view.knowing(name, of)

    def _case(self, name: str, view: View, fuel: int) -> tuple[str, View]:
        union = self.dice.pick(self.world.unions)
        case = self.dice.pick(union.cases)
        found = [
            of
            for of, _ in self.paths(view, 0)
            if isinstance(of, t.Set | t.Seq | t.Bag | t.Option) and of.of == union
        ]
        domain = self.firm(self.dice.pick(found), view, fuel - 1)
        return f"{name}: {case.name} in {domain}", view.knowing(name, case)

    # -------------------------------------------------------------- numbers

    def number(self, of: t.Type, view: View, fuel: int) -> str:
        """A number; brought back into the bounds of its type, most of the time."""
        for _ in range(4):
            try:
                plain = of if isinstance(of, t.Nat) else t.INT
                return self.bounded(of, self._number(self.dice.pick(NUMBERS), plain, view, fuel - 1))
            except Stuck:
                continue
        return self.leaf(of, view)

    def _number(self, kind: str, of: t.Type, view: View, fuel: int) -> str:
        dice = self.dice
        match kind:
            case "div" | "mod" if dice.chance(93):
                return f"({self.expr(of, view, fuel)} {SIGNS[kind]} {dice.pick(['2', '3', '(-2)'])})"
            case "add" | "sub" | "mul" | "div" | "mod":
                return f"({self.expr(of, view, fuel)} {SIGNS[kind]} {self.expr(of, view, fuel)})"
            case "negate":
                return f"(-{self.expr(of, view, fuel)})"
            case "size":
                inner, _ = self.collection(view)
                return f"int(size({self.firm(inner, view, fuel)}))"
            case "count":
                bag = self.of_kind(view, t.Bag)
                assert isinstance(bag, t.Bag)
                return f"count({self.expr(bag.of, view, fuel)}, {self.firm(bag, view, fuel)})"
            case "common":
                seq = self.of_kind(view, t.Seq)
                return f"int(common_prefix({self.firm(seq, view, fuel)}, {self.firm(seq, view, fuel)}))"
            case "sum":
                binder, within = self.binder(view, fuel)
                return f"(sum {binder}{self.where(within, fuel)}. {self.expr(of, within, fuel)})"
            case "fold":
                binder, within = self.binder(view, fuel)
                if dice.chance(60):
                    name, scalar = self.world.fresh("v"), self.world.scalar()
                    binder, within = f"{name}: {scalar}", view.knowing(name, scalar)
                return f"({dice.pick(['max', 'min'])} {binder}. {self.expr(of, within, fuel)})"
            case "best":
                return self.best(of, view, fuel)
            case "least":
                made = self.world.cast(t.Set(t.Range(0, 3)), self.expr(t.Set(t.Range(0, 3)), view, fuel))
                return f"{dice.pick(['max', 'min'])}(({made} + {{1}}))"
            case _:
                raise Stuck

    def best(self, of: t.Type, view: View, fuel: int) -> str:
        """The greater or the lesser of two."""
        return f"{self.dice.pick(['max', 'min'])}({self.expr(of, view, fuel)}, {self.expr(of, view, fuel)})"
