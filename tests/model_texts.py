"""Random models that are well typed, as text: every type, expression, statement, property and budget.

Most have some hundred states; some make errors of the model, some leave their scope.
Whole ones have also what no engine but the reference answers, and what a model is folded from: properties
of fair runs, functions, assumptions, variants, names for types and members.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import hypothesis.strategies as st

import spec.model.types as t
from spec.model.roles import ROLES
from tests.model_actions import Statements
from tests.model_phrases import Expressions
from tests.model_reading import Stored, View
from tests.model_types import Dice, Stuck, World, declarations

ENOUGH = 2  # steps of a model whose steps are counted


def model_text(below: Callable[[int], int], *, whole: bool = False) -> str:
    """The text of a model with one check; `below(n)` decides, by a number from 0 that is less than n.

    A `whole` one is smaller, and may have everything that the language has.
    """
    return _Writer(World(Dice(below)), whole=whole).text()


@st.composite
def model_texts(draw: st.DrawFn) -> str:
    """The text of a model with one check."""
    return model_text(lambda n: draw(st.integers(0, n - 1)) if n > 1 else 0)


class _Writer:
    """Writes one model."""

    def __init__(self, world: World, *, whole: bool) -> None:
        self.world = world
        self.whole = whole
        self.dice = world.dice
        self.expressions = Expressions(world)
        self.statements = Statements(self.expressions)
        self.view = View()
        self.networks: dict[str, int] = {}
        self.faults: list[str] = []
        self.variant = ""
        self.clock = ""

    def text(self) -> str:
        """Everything, the check last."""
        lines = ["protocol random", *declarations(self.world)]
        lines += [
            f"config {name}: {of} = {self.expressions.leaf(of, View())}"
            for name, of in self.world.configs.items()
        ]
        lines += self._state()
        lines += self._networks()
        lines += self._functions()
        if self.dice.chance(50 if self.whole else 25):
            self._add(lines, lambda: "\n".join(["init {", *self._start(), "}"]))
        lines += self._actions()
        lines += self._properties()
        lines += self._assumptions()
        lines += self._variant()
        check = self._check()
        lines += self._display()
        casts = [f"fun {name}(x: {of}): {of} = x" for of, name in self.world.casts.items()]
        return "\n".join([*lines, *casts, check]) + "\n"

    def _add(self, lines: list[str], write: Callable[[], str]) -> None:
        for _ in range(3):
            try:
                lines.append(write())
            except Stuck:
                continue
            return

    # -------------------------------------------------------------- state

    def _state(self) -> list[str]:
        """Variables until there are enough states."""
        dice, world, lines = self.dice, self.world, []
        budget = dice.pick([60, 200, 20, 600] if self.whole else [600, 200, 2000, 6000, 60])
        variables: list[Stored] = []
        while budget > 1 and len(variables) < (4 if self.whole else 7):
            sorts = [name for name in world.sorts if dice.chance(45)]
            owner = dice.pick(sorts) if sorts else None
            copies = 1 if owner is None else world.sorts[owner]
            storage = dice.pick(["durable", "volatile", "volatile", "ghost"]) if owner else "state"
            if owner is None and dice.chance(8):
                storage = "ghost"
            most = int(max(3, budget ** (1 / copies)))
            of = world.storable(dice.pick([1, 2, 0, 2, 3]), min(most, dice.pick([2000, 40, 12])))
            if owner is not None and dice.chance(25):
                limit = world.a_limit()
                of, storage = t.Seq(self._entry(limit), limit), "cached"
            name = world.fresh("x")
            first = self._first(of)
            stored = Stored(name, of, owner, storage)
            called = str(of)
            if self.whole and dice.chance(15) and not isinstance(of, t.Sort | t.Nat):
                called = world.fresh("T")
                lines.append(f"type {called} = {of}")
            match owner, storage:
                case None, "ghost":
                    lines.append(f"ghost {{ {name}: {called} = {first} }}")
                case None, _:
                    lines.append(f"state {{ {name}: {called} = {first} }}")
                case _:
                    lines.append(f"process {owner} {{ {storage} {name}: {called} = {first} }}")
            variables.append(stored)
            budget //= max(2, world.values(of) ** copies)
        if self.whole and dice.chance(25):
            self.clock = world.fresh("x")
            lines.append(f"state {{ {self.clock}: 0..{ENOUGH} = 0 }}")
            variables.append(Stored(self.clock, t.Range(0, ENOUGH)))
        self.view = View(variables=tuple(variables))
        return _merged(lines)

    def _entry(self, limit: t.Limit) -> t.Type:
        for _ in range(5):
            of = self.world.any_type(1)
            if self.world.values(t.Seq(of, limit)) <= 40 and self.world.starts(of):
                return of
        return t.BOOL

    def _first(self, of: t.Type) -> str:
        try:
            return self.expressions.expr(of, View(), self.dice.pick([0, 0, 1]))
        except Stuck:
            return self.expressions.leaf(of, View())

    def _start(self) -> list[str]:
        """Statements that make the initial states, without asserts, which are properties of steps."""
        made = self.statements.block(self.view, 1, 2)
        return [line for line in made if not line.startswith("assert ")]

    def _networks(self) -> list[str]:
        dice, world, lines = self.dice, self.world, []
        for _ in range(dice.pick([0, 0, 1, 1, 2])):
            name, mode = world.fresh("net"), dice.pick(["bag", "set", "fifo"])
            message = world.any_type(1)
            if dice.chance(60) and world.unions:
                message = dice.pick(world.unions)
            keys = [world.scalar() for _ in range(dice.pick([0, 0, 1, 2]))]
            if world.values(message) > 30:
                message = t.BOOL
            count = 1
            for key in keys:
                count *= world.values(key)
            if count > 4:
                keys, count = [], 1
            allowed = {
                "bag": ["drop", "duplicate"],
                "set": ["drop"],
                "fifo": ["drop", "duplicate", "reorder"],
            }
            faults = [fault for fault in allowed[mode] if dice.chance(45)]
            channels = f"[{', '.join(map(str, keys))}]" if keys else ""
            with_ = f" with {', '.join(faults)}" if faults else ""
            lines.append(f"network {name}{channels}: {mode} of {message}{with_}")
            self.faults += [f"{name}.{fault}" for fault in faults]
            self.networks[name] = dice.pick([1, 2, 1, 0]) if count <= 2 else dice.pick([1, 0])
            limit = t.Limit(name)
            whole: t.Type = t.Bag(message, limit) if mode == "bag" else t.Seq(message, limit)
            whole = t.Set(message, limit) if mode == "set" else whole
            for key in reversed(keys):
                whole = t.Map(key, whole)
            self.view = replace(
                self.view, variables=(*self.view.variables, Stored(name, whole, None, "network"))
            )
        return lines

    # -------------------------------------------------------------- behaviour

    def _functions(self) -> list[str]:
        """Functions of values and of the state, for expressions to call."""
        dice, lines = self.dice, list[str]()
        for _ in range(dice.pick([0, 0, 1, 2]) if self.whole else 0):
            name, view = self.world.fresh("f"), self.view
            types = [self.world.storable(1, 40) for _ in range(dice.number(0, 2))]
            names = [self.world.fresh("v") for _ in types]
            for param, of in zip(names, types, strict=True):
                view = view.knowing(param, of)
            result = self.world.storable(1, 40)
            given = ", ".join(f"{param}: {of}" for param, of in zip(names, types, strict=True))
            head = f"fun {name}({given})" if names else f"fun {name}"
            before = len(lines)
            self._add(lines, lambda h=head, r=result, v=view: f"{h}: {r} = {self.expressions.expr(r, v, 2)}")  # type: ignore[misc]
            if len(lines) > before:
                self.world.functions[name] = (tuple(types), result)
        return lines

    def _actions(self) -> list[str]:
        lines: list[str] = []
        moving = self.dice.pick([1, 2, 2, 3] if self.whole else [3, 4, 2, 3, 2, 1])
        kinds = ["action"] * (moving + self.dice.number(0, 1 if self.whole else 2))
        kinds += ["fault"] * self.dice.pick([0, 1, 0, 1, 2]) + ["repair"] * self.dice.pick([0, 0, 1])
        known: list[tuple[str, tuple[t.Type | None, ...]]] = []
        for at, kind in enumerate(kinds):
            name = self.world.fresh("a")
            for _ in range(3):
                try:
                    text, types = self.statements.action(kind, name, self.view, moves=at < moving)
                except Stuck:
                    continue
                lines.append(self._timed(text) if self.clock else text)
                known.append((name, types))
                if kind == "fault":
                    self.faults.append(name)
                break
        known += [(name, ()) for name in self.faults if "." in name]
        self.view = replace(self.view, actions=tuple(known))
        return lines

    def _timed(self, action: str) -> str:
        """An action that is possible only for some time, so that in the end nothing may be."""
        head, *rest, end = action.splitlines()
        guard = [f"require {self.clock} < {ENOUGH}"] if self.dice.chance(90) else []
        later = [f"{self.clock} := {self.clock} + 1"] if guard and self.dice.chance(60) else []
        return "\n".join([head, *guard, *rest, *later, end])

    def _properties(self) -> list[str]:
        lines: list[str] = []
        view = replace(self.view, ghosts=True, enabled=True)
        kinds = ["invariant", "step", "reachable", "lemma", "recoverable"]
        kinds += ["leadsto", "always eventually", "eventually always"] if self.whole else []
        for kind in [self.dice.pick(kinds) for _ in range(self.dice.number(0, 3 if self.whole else 4))]:
            name = self.world.fresh("p")
            seen = replace(view, step=kind == "step", enabled=kind != "step")
            weak = "true or " if self.dice.chance(15) else ""
            self._add(
                lines,
                lambda kind=kind, name=name, seen=seen, weak=weak: (  # type: ignore[misc]
                    f"{kind} {name}: {weak}{self.expressions.condition(seen, self.dice.number(1, 3))}"
                    + (f" ~> {self.expressions.condition(seen, 1)}" if kind == "leadsto" else "")
                ),
            )
        if self.dice.chance(30):
            lines.append("deadlock free")
            if self.dice.chance(40):
                ends: list[str] = []
                self._add(ends, lambda: f" unless {self.expressions.condition(view, 1)}")
                lines[-1] += "".join(ends)
        return lines

    def _assumptions(self) -> list[str]:
        """What configs must satisfy, mostly without meaning it."""
        lines: list[str] = []
        if self.whole and self.world.configs and self.dice.chance(20):
            weak = "true or " if self.dice.chance(70) else ""
            name = self.world.fresh("p")
            self._add(lines, lambda: f"assume {name}: {weak}{self.expressions.condition(View(), 1)}")
        return lines

    def _variant(self) -> list[str]:
        """A variant with some changes, of which the check then is."""
        dice, changes = self.dice, list[str]()
        if not self.whole or not dice.chance(12):
            return []
        of_text = [(name, types) for name, types in self.view.actions if "." not in name]
        if of_text:
            name, _ = dice.pick(of_text)
            guard = self.world.fresh("g")
            self._add(changes, lambda: f"require {name}.{guard}: {self.expressions.condition(self.view, 1)}")
        fields = [v for v in self.view.variables if v.owner is not None and v.storage != "cached"]
        if fields and dice.chance(50):
            field = dice.pick(fields)
            if field.storage != "ghost":
                changes.append(f"{dice.pick(['durable', 'volatile'])} {field.owner}.{field.name}")
        if dice.chance(50):
            name = self.world.fresh("p")
            view = replace(self.view, ghosts=True)
            self._add(changes, lambda: f"invariant {name}: {self.expressions.condition(view, 1)}")
        if not changes:
            return []
        self.variant = " of varied"
        return ["\n".join(["variant varied of random {", *changes, "}"])]

    def _display(self) -> list[str]:
        """What some of the variables play in a picture, which must make no difference to any answer."""
        parts: dict[tuple[str, str | None], str] = {}
        for stored in self.view.variables:
            places = [
                name
                for name, role in ROLES.items()
                if (role.of_state if stored.owner is None else role.of_process)
                and role.fits(stored.type, stored.owner)
                and stored.storage != "network"
            ]
            if places and self.dice.chance(60):
                role = self.dice.pick(places)
                path = stored.name if stored.owner is None else f"{stored.owner}.{stored.name}"
                parts.setdefault((role, stored.owner), f"{role}: {path}")
        return ["\n".join(["display {", *parts.values(), "}"])] if self.dice.chance(40) else []

    def _check(self) -> str:
        dice = self.dice
        scope: dict[str, object] = {**self.world.sorts, **self.world.nats, **self.networks}
        for name, size in self.world.sorts.items():
            if self.whole and dice.chance(20):
                scope[name] = f"{{{', '.join(f'member_{name}_{n}' for n in range(size))}}}"
        clauses = [f"scope {', '.join(f'{name} = {size}' for name, size in scope.items())}"] if scope else []
        for name, of in self.world.configs.items():
            if dice.chance(40):
                clauses.append(
                    f"config {name} = {self.expressions.leaf(of, View())}".replace("(-", "-").replace(")", "")
                )
        if self.faults:
            each = ", ".join(
                f"{name} {dice.pick(['<= 1', 'any', '<= 2', '<= 0'])}"
                for name in self.faults
                if dice.chance(75)
            )
            forms = ["any", "<= 1", "<= 2", "none", each, f"<= 2, {each}"]
            clauses.append(f"faults {dice.pick(forms if each else forms[:4])}")
            last = self.faults[-1]  # without the dice, so that a seed has the model that it always had
            clauses.append(f"rates {last} = {len(self.faults)}/{len(last)}min")
        if dice.chance(65):
            clauses.append("expect states 1")
        return "\n".join([f"check it{self.variant} {{", *clauses, "}"])


def _merged(lines: list[str]) -> list[str]:
    """The fields of a process stand in one block."""
    found: dict[str, list[str]] = {}
    for line in lines:
        if line.startswith("type "):
            found[line] = []
            continue
        head, _, rest = line.partition(" { ")
        found.setdefault(head, []).append(rest.removesuffix(" }"))
    return ["\n".join([f"{head} {{", *fields, "}"]) if fields else head for head, fields in found.items()]
