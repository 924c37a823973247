"""Random statements and actions that are well typed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import spec.model.types as t
from spec.model.types import element
from tests.model_phrases import Expressions
from tests.model_reading import Stored, View
from tests.model_types import Dice, Stuck, World

Block = list[str]


@dataclass
class Statements:
    """Writes the statements of an action or of `init`."""

    expressions: Expressions

    @property
    def world(self) -> World:
        """What the model declares."""
        return self.expressions.world

    @property
    def dice(self) -> Dice:
        """Where decisions come from."""
        return self.expressions.world.dice

    def block(self, view: View, fuel: int, most: int) -> Block:
        """Some statements, each of which sees what those before it have bound."""
        made: Block = []
        for _ in range(self.dice.number(1, most)):
            for _ in range(4):
                try:
                    lines, view = self.statement(view, fuel)
                except Stuck:
                    continue
                made += lines
                break
        return made

    def statement(self, view: View, fuel: int) -> tuple[Block, View]:
        """One statement, and what is known behind it. Raises Stuck."""
        options: list[tuple[int, Callable[[View, int], tuple[Block, View]]]] = [
            (8, self._assign),
            (8, self._change),
            (2, self._choose),
            (1, self._let),
            (1, self._assert),
            (2, self._member),
        ]
        if fuel > 0:
            options += [(3, self._if), (2, self._for)]
        return self.dice.weighted(options)(view, fuel)

    # -------------------------------------------------------------- places

    def place(
        self, view: View, kinds: type | tuple[type, ...], *, network: bool = False
    ) -> tuple[str, t.Type, Stored]:
        """Something of a kind of type that can be changed, and the variable it is in."""
        dice = self.dice
        for _ in range(6):
            stored = dice.pick([v for v in view.variables if (v.storage == "network") == network])
            text = stored.name
            if stored.owner is not None:
                member = self.expressions.expr(t.Sort(stored.owner), view, 0)
                text = f"{member}.{text}"
            of = stored.type
            while isinstance(of, t.Map | t.Record) and (not isinstance(of, kinds) or dice.chance(60)):
                if isinstance(of, t.Map):
                    text, of = f"{text}[{self.expressions.expr(of.key, view, 1)}]", of.value
                else:
                    part = dice.pick(of.fields)
                    text, of = f"{text}.{part.name}", part.type
            if isinstance(of, kinds):
                return text, of, stored
        raise Stuck

    def _reading(self, view: View, stored: Stored) -> View:
        return replace(view, ghosts=stored.ghost)

    def _assign(self, view: View, fuel: int) -> tuple[Block, View]:
        place, of, stored = self.place(view, object)
        return [f"{place} := {self.expressions.expr(of, self._reading(view, stored), fuel + 1)}"], view

    def _change(self, view: View, fuel: int) -> tuple[Block, View]:
        dice = self.dice
        network = dice.chance(50) and any(v.storage == "network" for v in view.variables)
        place, of, stored = self.place(view, (t.Set, t.Bag, t.Seq), network=network)
        verbs = ["append"] if isinstance(of, t.Seq) else ["add", "add", "remove"]
        if network:
            verbs = ["send", "send", "receive"]
        verb = dice.pick(verbs)
        inner = element(of) or t.UNKNOWN
        value = self.expressions.expr(inner, self._reading(view, stored), fuel)
        if verb == "receive" and isinstance(of, t.Seq) and dice.chance(90):
            value = self.expressions.path(inner, view, 0) if dice.chance(20) else f"last({place})"
        line = f"{place}.{verb}({value})"
        limit = of.limit.of if isinstance(of, t.Set | t.Bag | t.Seq) and of.limit is not None else None
        if verb == "receive" and isinstance(of, t.Seq) and dice.chance(90):
            return [f"if size({place}) > 0 {{", line, "}"], view
        if verb in {"add", "append"} and isinstance(limit, int) and dice.chance(85) and not stored.ghost:
            return [f"if size({place}) < {limit} {{", line, "}"], view
        return [line], view

    def _member(self, view: View, _fuel: int) -> tuple[Block, View]:
        dice = self.dice
        owned = [v for v in view.variables if v.owner is not None]
        stored = dice.pick(owned)
        member = self.expressions.expr(t.Sort(stored.owner or ""), view, 0)
        cached = [v for v in owned if v.owner == stored.owner and v.storage == "cached"]
        verb = dice.pick(["wipe", "lose", "flush"] if cached else ["wipe"])
        return [f"flush {member}.{dice.pick(cached).name}" if verb == "flush" else f"{verb} {member}"], view

    # -------------------------------------------------------------- control

    def _if(self, view: View, fuel: int) -> tuple[Block, View]:
        lines = [f"if {self.expressions.expr(t.BOOL, view, fuel)} {{", *self.block(view, fuel - 1, 2)]
        if self.dice.chance(20):
            lines += [f"}} else if {self.expressions.expr(t.BOOL, view, 1)} {{", *self.block(view, 0, 1)]
        if self.dice.chance(50):
            lines += ["} else {", *self.block(view, fuel - 1, 2)]
        return [*lines, "}"], view

    def _for(self, view: View, fuel: int) -> tuple[Block, View]:
        binder, inner = self.expressions.binder(view, 1)
        return [f"for {binder} {{", *self.block(inner, fuel - 1, 2), "}"], view

    def _choose(self, view: View, fuel: int) -> tuple[Block, View]:
        binder, inner = self.expressions.binder(view, fuel)
        where = f" where {self.expressions.expr(t.BOOL, inner, 1)}" if self.dice.chance(40) else ""
        return [f"choose {binder}{where}"], inner

    def _let(self, view: View, fuel: int) -> tuple[Block, View]:
        name, of = self.world.fresh("l"), self.expressions.some_type(view)
        return [f"let {name} = {self.expressions.firm(of, view, fuel)}"], view.knowing(name, of)

    def _assert(self, view: View, _fuel: int) -> tuple[Block, View]:
        name = self.dice.pick([*self.world.asserts, "fresh"])
        if name == "fresh":
            name = self.world.fresh("said")
            self.world.asserts.append(name)
        return [f"assert {name}: {self.expressions.condition(replace(view, ghosts=True), 1)}"], view

    # -------------------------------------------------------------- actions

    def _move(self, view: View) -> tuple[Block, Block, View]:
        """Parameters and a statement by which some part of the state takes many values."""
        dice, world, binders = self.dice, self.world, Block()
        stored = dice.pick([v for v in view.variables if world.values(v.type) > 1])

        def parameter(of: t.Type) -> str:
            nonlocal view
            name = world.fresh("v")
            binders.append(f"{name}: {of}")
            view = view.knowing(name, of)
            return name

        text, of = stored.name, stored.type
        if stored.owner is not None:
            text = f"{parameter(t.Sort(stored.owner))}.{text}"
        while isinstance(of, t.Map) and (stored.storage == "network" or dice.chance(80)):
            text, of = f"{text}[{parameter(of.key)}]", of.value
        inner = element(of)
        reading = self._reading(view, stored)
        if t.is_scalar(of):
            value = parameter(of) if dice.chance(85) else self.expressions.expr(of, reading, 2)
            return binders, [f"{text} := {value}"], view
        if isinstance(of, t.Option) and inner is not None and t.is_scalar(inner):
            return binders, [f"{text} := {parameter(inner)}"], view
        if inner is None or isinstance(of, t.Option):
            return binders, [f"{text} := {self.expressions.expr(of, reading, 2)}"], view
        value = parameter(inner) if t.is_scalar(inner) else self.expressions.expr(inner, reading, 2)
        verb = "send" if stored.storage == "network" else "append" if isinstance(of, t.Seq) else "add"
        limit = of.limit.of if isinstance(of, t.Set | t.Bag | t.Seq) and of.limit is not None else None
        if isinstance(limit, int) and dice.chance(95) and not stored.ghost:
            return binders, [f"if size({text}) < {limit} {{", f"{text}.{verb}({value})", "}"], view
        if verb == "add" and dice.chance(20):
            return (
                binders,
                [
                    f"if {value} in {text} {{",
                    f"{text}.remove({value})",
                    "} else {",
                    f"{text}.add({value})",
                    "}",
                ],
                view,
            )
        return binders, [f"{text}.{verb}({value})"], view

    def _parameters(self, view: View) -> tuple[Block, View]:
        binders = []
        for _ in range(self.dice.pick([1, 1, 0, 2, 2, 3])):
            try:
                binder, view = self.expressions.binder(view, 1)
            except Stuck:
                continue
            binders.append(binder)
        return binders, view

    def action(
        self, kind: str, name: str, view: View, *, moves: bool
    ) -> tuple[str, tuple[t.Type | None, ...]]:
        """An action and the types of its parameters, None where only the state says which."""
        dice, first = self.dice, Block()
        if moves:
            binders, first, view = self._move(view)
        else:
            binders, view = self._parameters(view)
        bound = view.names[-len(binders) :] if binders else ()
        types = tuple(of if " in " not in b else None for b, (_, of) in zip(binders, bound, strict=True))
        head: Block = []
        for _ in range(dice.pick([0, 0, 1] if moves else [0, 1, 1, 2])):
            if dice.chance(25):
                lines, view = self._let(view, 1)
                head += lines
                continue
            label = f"{self.world.fresh('g')}: " if dice.chance(60) else ""
            weak = f" or {self.expressions.condition(view, 1)}" if dice.chance(50) else ""
            head.append(f"require {label}{self.expressions.condition(view, 2)}{weak}")
        fair = dice.pick(["", "", "fair ", "strong fair "]) if kind != "fault" else ""
        rest = self.block(view, 2, 3) if not moves or dice.chance(30) else []
        lines = [f"{fair}{kind} {name}({', '.join(binders)}) {{", *head, *first, *rest, "}"]
        return "\n".join(lines), types
