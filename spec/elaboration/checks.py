"""`check` blocks: bounds, switches, faults and expectations, each held against what the model declares."""

from __future__ import annotations

from dataclasses import replace

import spec.model.ir as ir
import spec.model.types as t
import spec.syntax.expressions as se
import spec.syntax.tree as s
from spec.diagnostics import suggest
from spec.elaboration.constants import constant
from spec.elaboration.names import Declarations
from spec.elaboration.problems import Problems
from spec.model.interchangeable import distinctions, symmetric_sorts
from spec.model.ordinals import obstacles
from spec.model.rates import UNITS, Rate
from spec.source import Span

LARGEST_SORT = 64
LARGEST_NAT = 1_000_000
LARGEST_RATE = 1_000_000_000_000


class Checks:
    """Elaborates the checks of one model."""

    def __init__(self, declared: Declarations, model: ir.Model, problems: Problems) -> None:
        self.declared, self.model, self.problems = declared, model, problems
        self.faults = set(model.faults)
        self.actions = {a.name for a in model.actions}
        self.properties = {p.name for p in model.properties}

    def attach(self, checks: tuple[s.CheckDecl, ...]) -> ir.Model:
        """The model with its checks."""
        return replace(self.model, checks=tuple(map(self.check, checks)))

    def check(self, node: s.CheckDecl) -> ir.Check:
        """The elaborated check; reports what it leaves unbounded, and unknown names."""
        clauses = self._grouped(node)
        scope = self._scope(node, clauses["scope"], clauses["config"])
        self._within(node, scope, clauses["config"])
        only = tuple(name.text for name in clauses["only"] if self._known_property(name))
        expect = tuple(made for item in clauses["expect"] if (made := self._expect(item, only or None)))
        budget = self._budget(node, clauses["faults"])
        says = node.says.text if node.says else None
        rates = self._rates(clauses["rates"])
        exact = tuple(item.name.text for item in clauses["scope"] if item.is_exact)
        symmetry = self._symmetry(clauses["symmetry"])
        return ir.Check(
            node.name.text, scope, budget, only or None, expect, says, rates, exact, symmetry, span=node.span
        )

    def _grouped(self, node: s.CheckDecl) -> dict[str, list]:  # type: ignore[type-arg]
        """The items of a check by clause; reports repeated clauses."""
        words = ("scope", "config", "faults", "rates", "symmetry", "only", "expect")
        found: dict[str, list] = {word: [] for word in words}  # type: ignore[type-arg]
        for clause in node.clauses:
            match clause:
                case s.ScopeClause(items):
                    found["scope"] += items
                case s.ConfigClause(items):
                    found["config"] += items
                case s.FaultsClause(items):
                    found["faults"] += items
                case s.RatesClause(items):
                    found["rates"] += items
                case s.SymmetryClause():
                    found["symmetry"].append(clause)
                case s.OnlyClause(items):
                    found["only"] += items
                case s.ExpectClause(items):
                    found["expect"] += items
        return found

    # -------------------------------------------------------------- bounds

    def _scope(self, node: s.CheckDecl, items: list[s.ScopeItem], config: list[s.ConfigItem]) -> ir.Scope:
        """The scope of a check; reports what is bounded twice, or not at all."""
        sorts: dict[str, tuple[str, ...]] = {}
        nats: dict[str, int] = {}
        networks: dict[str, int] = {}
        unbounded: set[str] = set()
        for item in items:
            name = item.name.text
            if name in sorts or name in nats or name in networks or name in unbounded:
                self.problems.add(
                    "R0502", item.name.span, f"`{name}` is bounded twice", help="keep one of the two"
                )
            elif self.declared.types.get(name) == t.Sort(name):
                sorts[name] = self._members(item)
            elif self.declared.types.get(name) == t.Nat(name) and item.value is None:
                unbounded.add(name)
                self._is_ordinal(item)
            elif self.declared.types.get(name) == t.Nat(name):
                nats[name] = self._number(item, LARGEST_NAT)
            elif name in self.declared.networks:
                networks[name] = self._number(item, LARGEST_NAT)
            else:
                message = f"there is nothing called `{name}` to bound"
                self.problems.add("R0501", item.name.span, message, help=self._what_bounds(item))
        missing = [
            name
            for name in self._bounded()
            if name not in sorts and name not in nats and name not in networks and name not in unbounded
        ]
        if missing:
            help_ = "write `scope " + ", ".join(f"{name} = …" for name in missing) + "`"
            listed = ", ".join(f"`{name}`" for name in missing)
            self.problems.add("R0503", node.name.span, f"the check has no scope for {listed}", help=help_)
        return ir.Scope(sorts, nats, networks, self._config(config), frozenset(unbounded))

    def _what_bounds(self, item: s.ScopeItem) -> str:
        """What to write in place of a name in a scope that it cannot bound."""
        name = item.name.text
        of = self.declared.types.get(name)
        if isinstance(of, t.Sort | t.Nat):
            return f"`{name}` is another name of {of}: bound that"
        if name in self.faults and isinstance(item.value, int):
            return f"faults have a clause of their own: write `faults {name} <= {item.value}`"
        return suggest(name, self._bounded()) or "a scope bounds sorts, nats and networks"

    def _is_ordinal(self, item: s.ScopeItem) -> None:
        """Report why a nat cannot be left without a bound, if it cannot; only the first reason."""
        nat = item.name.text
        if (found := next(obstacles(self.model, nat), None)) is not None:
            message, help_ = found.refusal(nat, f"{nat} = 3")
            self.problems.add("R0514", found.span, message, help=help_)

    def _bounded(self) -> list[str]:
        """The names that a scope must bound."""
        types = [name for name, of in self.declared.types.items() if of in {t.Sort(name), t.Nat(name)}]
        return [*types, *self.declared.networks]

    def _members(self, item: s.ScopeItem) -> tuple[str, ...]:
        """The members of a sort in a scope."""
        if item.value is None:
            message = "a sort has a number of members"
            help_ = f"write `{item.name.text} = 3`; `--engine prove` asks about any number"
            self.problems.add("R0504", item.span, message, help=help_)
            return member_names(item.name.text, 1)
        if not isinstance(item.value, int):
            names = [ident.text for ident in item.value]
            for position, ident in enumerate(item.value):
                if ident.text in names[:position]:
                    self.problems.add(
                        "R0201", ident.span, f"the member `{ident.text}` is written twice", help="rename one"
                    )
            return tuple(names)
        if not 1 <= item.value <= LARGEST_SORT:
            message = f"a sort has 1 to {LARGEST_SORT} members, not {item.value}"
            self.problems.add("R0504", item.span, message, help="most bugs show with 2 or 3")
            return member_names(item.name.text, 1)
        return member_names(item.name.text, item.value)

    def _number(self, item: s.ScopeItem, most: int) -> int:
        """A number in a scope, at most `most`."""
        if isinstance(item.value, int):
            if item.value > most:
                self.problems.add(
                    "R0504", item.span, f"a scope goes up to {most:,}", help="most bugs show below 5"
                )
            return item.value
        if item.value is None:
            message = f"`{item.name.text}` takes a number: only a nat of which the order matters can be `any`"
            self.problems.add("R0504", item.span, message, help=f"write `{item.name.text} = 2`")
            return 0
        message = f"`{item.name.text}` takes a number: only sorts have named members"
        self.problems.add("R0504", item.span, message, help=f"write `{item.name.text} = {len(item.value)}`")
        return 0

    def _config(self, items: list[s.ConfigItem]) -> dict[str, ir.Value]:
        """The configuration of a check."""
        found = {entry.name: entry.default for entry in self.model.configs}
        seen: set[str] = set()
        for item in items:
            name = item.name.text
            if name not in self.declared.configs:
                help_ = suggest(name, self.declared.configs)
                self.problems.add("R0505", item.name.span, f"there is no config `{name}`", help=help_)
                continue
            if name in seen:
                self.problems.add(
                    "R0502", item.name.span, f"`{name}` is set twice", help="keep one of the two"
                )
            seen.add(name)
            found[name] = constant(self.declared, item.value, self.declared.configs[name])
        return found

    def _within(self, node: s.CheckDecl, scope: ir.Scope, items: list[s.ConfigItem]) -> None:
        """Report configuration values beyond the scope of their nat."""
        places = {item.name.text: item.value.span for item in items}
        for entry in self.model.configs:
            of = entry.type.of if isinstance(entry.type, t.Option) else entry.type
            value = scope.config[entry.name]
            if not isinstance(of, t.Nat) or of.name not in scope.nats or not isinstance(value, int):
                continue
            if value > scope.nats[of.name]:
                span = places.get(entry.name, node.name.span)
                what = f"`{entry.name}` is {value}, and {of.name} goes up to {scope.nats[of.name]} here"
                self.problems.add("R0506", span, what, help=f"write `scope {of.name} = {value}` or more")

    def _symmetry(self, clauses: list[s.SymmetryClause]) -> bool:
        """Whether states are counted up to names; reports where no sort has interchangeable members."""
        if clauses and not symmetric_sorts(self.model):
            found = next(distinctions(self.model), None)
            message = "the model has no sort" if found is None else "no sort has interchangeable members"
            help_ = "leave it out"
            if found is not None:
                _, line, _ = self.model.source.place(found.span.start)
                help_ += f"; the members of {found.sort} are distinguished: {found.why} (line {line})"
            self.problems.add("R0515", clauses[0].span, message, help=help_)
        return bool(clauses)

    # -------------------------------------------------------------- faults

    def _budget(self, node: s.CheckDecl, items: list[s.FaultItem]) -> ir.Budget:
        """The fault budget of a check."""
        if not items:
            if self.faults:
                listed = ", ".join(sorted(self.faults))
                help_ = f"write `faults none`, `faults <= 1`, `faults any`, or a bound for each of {listed}"
                self.problems.add(
                    "R0508", node.name.span, "the check does not say how many faults may happen", help=help_
                )
            return ir.Budget(0)
        total = [item for item in items if item.kind is None]
        if len(total) > 1:
            self.problems.add(
                "R0502", total[1].span, "the faults in all are bounded twice", help="keep one of the two"
            )
        self._each_kind_once(items)
        kinds = {
            item.kind.text: item.most
            for item in items
            if item.kind is not None and self._known_fault(item.kind)
        }
        most = total[0].most if total else None
        return ir.Budget(most, kinds or None)

    def _each_kind_once(self, items: list[s.FaultItem]) -> None:
        """Report kinds of faults that are limited twice."""
        seen: set[str] = set()
        for item in items:
            if item.kind is not None and item.kind.text in seen:
                what = f"`{item.kind.text}` is bounded twice"
                self.problems.add("R0502", item.kind.span, what, help="keep one of the two")
            elif item.kind is not None:
                seen.add(item.kind.text)

    def _known_fault(self, kind: se.Ident) -> bool:
        """Whether the model has a fault; reports an unknown one."""
        if kind.text in self.faults:
            return True
        help_ = suggest(kind.text, self.faults)
        if kind.text in self.actions:
            help_ = f"`{kind.text}` is not a fault: only faults are bounded"
        self.problems.add("R0509", kind.span, f"there is no fault `{kind.text}`", help=help_)
        return False

    # -------------------------------------------------------------- rates

    def _rates(self, items: list[s.RateItem]) -> tuple[Rate, ...]:
        """The rates of a check."""
        found: dict[str, Rate] = {}
        for item in items:
            name = item.action.text
            if name in found:
                message = f"`{name}` has a rate already"
                self.problems.add("R0502", item.action.span, message, help="keep one of the two")
            if self._may_have_rate(item.action) and self._is_rate(item):
                every = 1 if item.every is None else item.every
                found[name] = Rate(name, item.times, every, item.unit.text, span=item.span)
        return tuple(found.values())

    def _may_have_rate(self, action: se.Ident) -> bool:
        """Whether an action is a fault or repair; reports others."""
        name = action.text
        timed = {each.name for each in self.model.actions if each.kind is not ir.Kind.ACTION}
        if name in timed:
            return True
        if name in self.actions:
            message = f"`{name}` is neither a fault nor a repair, and takes no time"
            help_ = f"declare it as `repair {name}` if it does"
        else:
            message = f"there is no fault and no repair `{name}`"
            help_ = suggest(name, timed) or f"there are {', '.join(sorted(timed)) or 'none'}"
        self.problems.add("R0512", action.span, message, help=help_)
        return False

    def _is_rate(self, item: s.RateItem) -> bool:
        """Whether a rate is valid; reports others."""
        if item.unit.text not in UNITS:
            message = f"there is no unit of time `{item.unit.text}`"
            self.problems.add("R0513", item.unit.span, message, help=f"the units are {', '.join(UNITS)}")
            return False
        numbers = [item.times] if item.every is None else [item.times, item.every]
        if not all(1 <= number <= LARGEST_RATE for number in numbers):
            message = f"this is no rate: its numbers go from 1 to {LARGEST_RATE:,}"
            self.problems.add("R0513", item.span, message, help="leave out what never happens")
            return False
        return True

    # -------------------------------------------------------------- expectations

    def _known_property(self, name: se.Ident) -> bool:
        """Whether the model has a property; reports an unknown one."""
        if name.text in self.properties:
            return True
        help_ = suggest(name.text, self.properties)
        self.problems.add("R0510", name.span, f"there is no property `{name.text}`", help=help_)
        return False

    def _expect(
        self, item: s.VerdictExpect | s.CountExpect, only: tuple[str, ...] | None
    ) -> ir.Expect | None:
        """An expectation of a check; None if it is wrong (and reported)."""
        match item:
            case s.VerdictExpect(name):
                if not self._known_property(name):
                    return None
                if only is not None and name.text not in only:
                    message = f"this check does not look at `{name.text}`"
                    self.problems.add("R0511", name.span, message, help="add it to `only`")
            case s.CountExpect("taken", se.Ident(action)) if action not in self.actions:
                self._unknown_action(item.of.span if item.of else item.span, action)
                return None
            case _:
                pass
        return expectation(item)

    def _unknown_action(self, span: Span, name: str) -> None:
        """Report an unknown action."""
        self.problems.add("R0208", span, f"there is no action `{name}`", help=suggest(name, self.actions))


def expectation(item: s.VerdictExpect | s.CountExpect) -> ir.Expect:
    """The expectation as written, without a look-up of names."""
    match item:
        case s.VerdictExpect(name, holds, any_faults, faults, steps):
            return ir.ExpectVerdict(name.text, holds, any_faults, faults, steps, span=item.span)
        case s.CountExpect("taken", se.Ident(action), count):
            return ir.ExpectTaken(action, count, span=item.span)
        case s.CountExpect(what, _, count, faults):
            return ir.ExpectCount(what, count, faults, span=item.span)


def labels(checks: tuple[s.CheckDecl, ...]) -> dict[str, tuple[str, int]]:
    """The names that scopes give to members, each with its sort and how many members that has there."""
    scopes = (clause for check in checks for clause in check.clauses if isinstance(clause, s.ScopeClause))
    return {
        name.text: (item.name.text, len(item.value))
        for clause in scopes
        for item in clause.items
        if isinstance(item.value, tuple)
        for name in item.value
    }


def member_names(sort: str, size: int) -> tuple[str, ...]:
    """Names for the members of a sort that is only counted: `replica1`, `replica2` and so on."""
    return tuple(f"{sort.lower()}{number}" for number in range(1, size + 1))
