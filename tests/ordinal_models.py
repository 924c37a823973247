"""Random models with a nat of which only the order matters, as text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

PLACES = ("top", "n.own", "n.seen")  # of one value; `n` is a member
IF = "(if n.own < n.seen then top else n.own)"
GREATEST = (  # of all values in use, `top` is
    "forall m: N. m.own <= top and m.seen <= top and (forall r in m.log. r.value <= top)",
    "(forall v in few. v <= top) and (newest == none or the(newest) <= top)",
    "message is Sent implies message.value <= top",
)
SETS = ("{}", "{top}", "{n.own, n.seen}", "few - {top}", "{v in few where v < top}")
TESTS = ("==", "!=", "<", "<=", ">", ">=")


def ordinal_model(random: Random) -> str:
    """The text of a model with a nat `E`, without a bound in its check; some steps may make no new value."""
    return _Writer(random).text()


class _Writer:
    def __init__(self, random: Random) -> None:
        self.random = random
        self._names = 0
        self.is_careful = random.random() < 0.8  # makes new values of the greatest alone

    def text(self) -> str:
        actions = [
            self._renewal(0),
            *(self._action(number) for number in range(1, self.random.randint(3, 6))),
        ]
        properties = [self._property(number) for number in range(self.random.randint(1, 3))]
        budget = self.random.choice(["none", "<= 1", "<= 2", "any"])
        members = self.random.randint(1, 3)
        return "\n".join(
            [
                "protocol ordinals",
                "sort N",
                "nat E, L",
                "record R { value: E, by: N }",
                "union U { Nothing, Sent(value: E, to: N) }",
                "state {",
                "  top: E = 0",
                "  newest: E? = none",
                "  few: set[E; 2] = {}",
                "  message: U = Nothing",
                "}",
                "process N {",
                "  durable own: E = 0",
                "  volatile seen: E = 0",
                "  durable log: seq[R; L] = []",
                "}",
                *self._start(),
                *actions,
                "fault crash(n: N) { wipe n }",
                *properties,
                f"check all {{ scope N = {members}, L = 1, E = any  faults {budget} }}",
                "",
            ]
        )

    def _start(self) -> list[str]:
        if self.random.random() < 0.5:
            return []
        return [f"init {{ top := {self.random.randint(0, 3)} }}"]

    def _one(self, *options: str) -> str:
        return self.random.choice(options)

    def _value(self) -> str:
        return self._one(
            *PLACES, "0", "min(top, n.own)", "max(n.own, n.seen)", "(if n.own < n.seen then top else n.own)"
        )

    def _bound(self) -> str:
        self._names += 1
        return f"x{self._names}"

    def _test(self) -> str:
        m, r, v = self._bound(), self._bound(), self._bound()
        test = f"{self._one(*PLACES)} {self._one(*TESTS)} {self._value()}"
        others = [
            test,
            test,
            f"{self._one(*PLACES)} in few",
            f"newest {self._one('==', '!=')} {self._one('none', 'top', 'n.own')}",
            f"exists {m}: N. {m} != n and {m}.own {self._one(*TESTS)} n.own",
            f"forall {m}: N. {m}.seen {self._one('<=', '<', '>=')} {self._one(*PLACES)}",
            f"exists {r} in n.log. {r}.value {self._one(*TESTS)} {self._one(*PLACES)}",
            f"exists {v} in few. {v} {self._one(*TESTS)} {self._one(*PLACES)}",
            "message is Sent",
            "n.log == []",
        ]
        return self._one(*others)

    def _renewal(self, number: int) -> str:
        """An action that makes a new value."""
        of, guards = "top", list(GREATEST)
        if not self.is_careful:
            of, guards = self._one(*PLACES), []
        body = self._one(
            f"top := {of} + 1", f"top := {of} + 1  n.own := top", f"n.own := {of} + 1  top := n.own"
        )
        return f"action act{number}(n: N) {{ {self._requires(guards)}  {body.format(of)} }}"

    def _requires(self, guards: Sequence[str] = ()) -> str:
        tests = [*guards, *(self._test() for _ in range(self.random.randint(0, 2)))]
        return "  ".join(f"require g{at}: {test}" for at, test in enumerate(tests))

    def _action(self, number: int) -> str:
        writes: list[Callable[[], str]] = [
            lambda: f"{self._one(*PLACES)} := {self._value()}",
            lambda: f"newest := {self._one('none', 'top', 'n.own')}",
            lambda: f"few := {self._one(*SETS)}",
            lambda: "n.log := [R(value = " + self._one(*PLACES) + ", by = n)]",
            lambda: "n.log := []",
            lambda: f"message := {self._one('Nothing', f'Sent(value = {self._one(*PLACES)}, to = n)')}",
            lambda: f"if {self._test()} {{ {self._one(*PLACES)} := {self._value()} }}",
            lambda: f"for v in few {{ n.seen := {self._one('v', 'max(v, n.seen)', 'min(v, top)')} }}",
        ]
        body = "  ".join(self.random.choice(writes)() for _ in range(self.random.randint(1, 2)))
        kind = "fault" if self.random.random() < 0.2 else "action"
        return f"{kind} act{number}(n: N) {{ {self._requires()}  {body} }}"

    def _property(self, number: int) -> str:
        kinds = [
            lambda: f"invariant p{number}: forall n: N. {self._test()} implies {self._test()}",
            lambda: f"reachable p{number}: exists n: N. ({self._test()}) and ({self._test()})",
            lambda: (
                f"step p{number}: forall n: N. "
                f"old({self._one(*PLACES)}) {self._one('<=', '<', '==')} {self._one(*PLACES)}"
            ),
            lambda: f"recoverable p{number}: exists n: N. {self._test()}",
        ]
        return self.random.choice(kinds)()
