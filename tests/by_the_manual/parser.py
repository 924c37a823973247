"""A model's text as declarations, variants and checks, by recursive descent.

It is for texts without mistakes: it may take what the language refuses.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.by_the_manual.expression_parser import ExpressionParser, Node

Block = tuple[Node, ...]
PROPERTIES = {"invariant", "lemma", "step", "reachable", "recoverable"}
STORAGE = {"durable", "volatile", "cached", "ghost"}
ACTIONS = {"action", "fault", "repair", "strong", "fair"}


@dataclass
class Declaration:
    """One declared name; what is declared of it depends on the kind."""

    kind: str
    name: str
    parts: Node = ()


@dataclass
class Action:
    """An action, a fault or a repair; `fair` is "weak", "strong" or empty."""

    kind: str
    name: str
    fair: str
    params: Block
    body: Block


@dataclass
class Check:
    """What a check bounds and asks; `faults` of all kinds, and `kinds` of each where it names some.

    A nat without a bound has None as its scope.  With `symmetry` counts are of states up to renaming, which
    this interpreter does not count.
    """

    name: str
    of: str = ""
    scope: dict[str, int | None] = field(default_factory=dict)
    config: dict[str, Node] = field(default_factory=dict)
    faults: int | None = None
    kinds: dict[str, int | None] | None = None
    only: list[str] = field(default_factory=list)
    symmetry: bool = False
    expected: list[Node] = field(default_factory=list)


@dataclass
class Text:
    """The declarations of a protocol, its variants with their changes, and the checks."""

    name: str
    declared: list[Declaration]
    variants: dict[str, tuple[str, list[Node]]]
    checks: list[Check]


def read(text: str, library: Path, folder: Path) -> Text:
    """The tree of a text; `import name` reads from the library, a path from the folder. Raises Refused."""
    return _Parser(text, library, folder).whole()


class _Parser(ExpressionParser):
    def __init__(self, text: str, library: Path, folder: Path) -> None:
        super().__init__(text)
        self.library, self.folder = library, folder

    # -------------------------------------------------------------- declarations

    def whole(self) -> Text:
        base = Text("", [], {}, [])
        if self.take("import"):
            named = self.kind() == "name"
            path = self.library / f"{self.name()}.rsm" if named else self.folder / self.message()
            base = replace(read(path.read_text(encoding="utf-8"), self.library, path.parent), checks=[])
        else:
            self.need("protocol")
            base.name = self.name()
        while self.kind() != "end":
            if self.take("variant"):
                name, _, of = self.name(), self.need("of"), self.name()
                self.need("{")
                changes = self.listed(self.change, "}")
                base.variants[name] = (of, list(changes))
            elif self.take("check"):
                base.checks.append(self.check())
            else:
                base.declared += self.declaration()
        return base

    def change(self) -> Node:
        if self.take("replace"):
            return ("replace", self.declaration())
        if self.take("drop"):
            return ("drop", self.dotted())
        if self.take("require"):
            place = self.dotted()
            self.need(":")
            return ("guard", place, self.expr())
        if self.see(*STORAGE) and self.kind(1) == "name":
            storage = self.name()
            return ("store", storage, self.dotted())
        return ("add", self.declaration())

    def dotted(self) -> str:
        name = self.name()
        return f"{name}.{self.name()}" if self.take(".") else name

    def declaration(self) -> list[Declaration]:
        word = self.name()
        if word in ACTIONS:
            return [self.action(word)]
        if word in PROPERTIES:
            name = self.name()
            return [Declaration(word, name, (self.property_body(),))]
        made: list[Declaration] = getattr(self, f"declare_{word}")()
        return made

    def property_body(self) -> Node:
        self.says()
        self.need(":")
        return self.expr()

    def declare_sort(self) -> list[Declaration]:
        return [Declaration("sort", name) for name in self.commas(self.name)]

    def declare_nat(self) -> list[Declaration]:
        return [Declaration("nat", name) for name in self.commas(self.name)]

    def declare_enum(self) -> list[Declaration]:
        name = self.name()
        self.need("{")
        return [Declaration("type", name, ("enum", *self.listed(self.name, "}")))]

    def declare_type(self) -> list[Declaration]:
        name = self.name()
        self.need("=")
        return [Declaration("type", name, self.type())]

    def fields(self, end: str) -> Node:
        return self.listed(lambda: (self.name(), self.need(":"), self.type())[::2], end)

    def declare_record(self) -> list[Declaration]:
        name = self.name()
        self.need("{")
        return [Declaration("type", name, ("record", name, self.fields("}")))]

    def declare_union(self) -> list[Declaration]:
        name = self.name()
        self.need("{")
        cases = self.listed(lambda: (self.name(), self.fields(")") if self.take("(") else ()), "}")
        return [Declaration("type", name, ("union", name, cases))]

    def declare_config(self) -> list[Declaration]:
        name = self.name()
        self.need(":")
        of, _, value = self.type(), self.need("="), self.expr()
        if self.take("{"):
            while not self.take("}"):
                word, _ = self.name(), self.message()
                if word == "default":
                    self.need("=")
                    self.expr()
        return [Declaration("config", name, (of, value))]

    def variable(self) -> Node:
        name, _, of, _, first = self.name(), self.need(":"), self.type(), self.need("="), self.expr()
        return (name, of, first)

    def declare_state(self, storage: str = "state") -> list[Declaration]:
        self.need("{")
        found = self.listed(self.variable, "}")
        return [Declaration("variable", name, (of, first, storage)) for name, of, first in found]

    def declare_ghost(self) -> list[Declaration]:
        return self.declare_state("ghost")

    def declare_process(self) -> list[Declaration]:
        sort, _ = self.name(), self.need("{")
        found = self.listed(lambda: (self.name(), *self.variable()), "}")
        return [Declaration("field", f"{sort}.{name}", (of, first, how)) for how, name, of, first in found]

    def declare_network(self) -> list[Declaration]:
        name = self.name()
        keys = self.listed(self.type, "]") if self.take("[") else ()
        self.need(":")
        mode, _, of = self.name(), self.need("of"), self.type()
        faults = self.commas(self.name) if self.take("with") else []
        return [Declaration("network", name, (keys, mode, of, faults))]

    def declare_init(self) -> list[Declaration]:
        return [Declaration("init", "init", self.block())]

    def declare_fun(self) -> list[Declaration]:
        name = self.name()
        params = self.fields(")") if self.take("(") else ()
        self.need(":")
        of, _, body = self.type(), self.need("="), self.expr()
        return [Declaration("fun", name, (params, of, body))]

    def declare_assume(self) -> list[Declaration]:
        name, _ = self.name(), self.need(":")
        return [Declaration("assume", name, (self.expr(),))]

    def declare_leadsto(self) -> list[Declaration]:
        name = self.name()
        before, _, after = self.property_body(), self.need("~>"), self.expr()
        return [Declaration("leadsto", name, (before, after))]

    def declare_always(self) -> list[Declaration]:
        self.need("eventually")
        name = self.name()
        return [Declaration("eventually", name, (("bool", True), self.property_body()))]

    def declare_eventually(self) -> list[Declaration]:
        self.need("always")
        name = self.name()
        return [Declaration("stable", name, (self.property_body(),))]

    def declare_deadlock(self) -> list[Declaration]:
        self.need("free")
        self.says()
        unless = self.expr() if self.take("unless") else ("bool", False)
        return [Declaration("deadlock", "deadlock_free", (unless,))]

    def declare_display(self) -> list[Declaration]:
        self.need("{")
        while not self.take("}"):
            self.at += 1
        return []

    def action(self, word: str) -> Declaration:
        fair = {"fair": "weak", "strong": "strong"}.get(word, "")
        if word == "strong":
            self.need("fair")
        kind = self.name() if fair else word
        name = self.name()
        params = self.listed(self.binder, ")") if self.take("(") else ()
        self.says()
        return Declaration("action", name, (Action(kind, name, fair, params, self.block()),))

    # -------------------------------------------------------------- checks

    def check(self) -> Check:
        found = Check(self.name())
        if self.take("of"):
            found.of = self.name()
        self.says()
        self.need("{")
        while not self.take("}"):
            word = self.name()
            for _ in self.commas(lambda: getattr(self, f"clause_{word}")(found)):  # noqa: B023 - called at once
                pass
        return found

    def clause_scope(self, check: Check) -> None:
        name, _, _ = self.name(), self.need("="), self.take("exactly")
        if self.take("{"):
            check.scope[name] = len(self.listed(self.name, "}"))
        else:
            check.scope[name] = None if self.take("any") else self.number()

    def clause_config(self, check: Check) -> None:
        name, _ = self.name(), self.need("=")
        check.config[name] = self.expr()

    def clause_faults(self, check: Check) -> None:
        if self.take("none"):
            check.faults = 0
        elif self.take("<="):
            check.faults = self.number()
        elif not self.take("any"):
            kinds, kind = check.kinds or {}, self.dotted()
            kinds[kind] = None if self.take("any") else (self.need("<="), self.number())[1]
            check.kinds = kinds

    def clause_rates(self, _check: Check) -> None:
        self.dotted()
        self.need("=")
        self.number()
        self.need("/")
        if self.kind() == "number":
            self.number()
        self.name()

    def clause_symmetry(self, check: Check) -> None:
        check.symmetry = True

    def clause_only(self, check: Check) -> None:
        check.only.append(self.name())

    def clause_expect(self, check: Check) -> None:
        check.expected.append(self.expectation())

    def expectation(self) -> Node:
        """("holds", p, any), ("violated", p, faults, steps), ("count", what, n, within), ("taken", a, n)."""
        word = self.name()
        if word == "taken" and self.kind() == "name" and not self.see("holds", "violated"):
            return ("taken", self.dotted(), self.number())
        if self.take("holds"):
            return ("holds", word, bool(self.take("for") and (self.name(), self.name())))
        if self.take("violated"):
            faults = self.counted() if self.take("with") else None
            return ("violated", word, faults, self.counted() if self.take("in") else None)
        number = self.number()
        return ("count", word, number, self.counted() if self.take("within") else None)

    def counted(self) -> int:
        number = self.number()
        self.name()
        return number

    # -------------------------------------------------------------- statements

    def block(self) -> Block:
        self.need("{")
        found = []
        while not self.take("}"):
            found.append(self.statement())
            self.take(";")
        return tuple(found)

    def statement(self) -> Node:
        word = self.tokens[self.at][1]
        if self.kind(1) == "name" or word in {"if", "require"}:
            made: Callable[[], Node] | None = getattr(self, f"state_{word}", None)
            if made is not None:
                self.at += 1
                return made()
        place = self.postfix()
        if self.take(":="):
            return ("assign", place, self.expr())
        return place

    def state_require(self) -> Node:
        label = ""
        if self.kind() == "name" and self.see(":", ahead=1):
            label, _ = self.name(), self.need(":")
        return ("require", label, self.expr())

    def state_let(self) -> Node:
        name, _ = self.name(), self.need("=")
        return ("let", name, self.expr())

    def state_if(self) -> Node:
        test, then = self.expr(), self.block()
        if not self.take("else"):
            return ("if", test, then, ())
        return ("if", test, then, (self.state_if(),) if self.take("if") else self.block())

    def state_for(self) -> Node:
        return ("for", self.binder(), self.block())

    def state_choose(self) -> Node:
        return ("choose", self.binder(), self.condition())

    def state_assert(self) -> Node:
        name = self.name()
        self.says()
        self.need(":")
        return ("assert", name, self.expr())

    def state_wipe(self) -> Node:
        return ("wipe", self.postfix())

    def state_lose(self) -> Node:
        return ("lose", self.postfix())

    def state_flush(self) -> Node:
        return ("flush", self.postfix())
