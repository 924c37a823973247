"""Why a run goes wrong, as plain data, and in the words that text, pictures and pages share.

What is in it is found in `modelcheck/explanation`; here it is only data.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from counterexamples.lines import Line, Piece, Role, count, line, size, wrapped
from spec.frozen import frozen

LABEL = 11  # columns of what a line is about
MOST_STEPS = 12  # numbers of steps that are listed in a sentence


@frozen
class PartValue:
    """A value in a false part of a property: its text, its value, and the step since which it has it.

    `since` 0 is the start; None is not known.  `said` is the text with members in
    place of the names bound to them.  `made` are the steps that changed
    what the value is made of.
    """

    text: str
    value: str
    since: int | None = None
    said: str = ""
    made: tuple[int, ...] = ()

    @property
    def age(self) -> str:
        """Since when the value is unchanged: "since step 3"; empty if unknown."""
        match self.since:
            case None:
                return ""
            case 0:
                return "since the start"
            case number:
                return f"since step {number}"


@frozen
class FalsePart:
    """A smallest false part of the property (true, unless `wanted`), with the members and its place.

    `names` are the values of the property's quantifiers there, such as the
    replica and the offset; `place` is file:line:column; `said` is the text with
    members in place of these names.  `given` is what must be true for the part to
    matter, and has not been from the start.
    """

    text: str
    place: str
    names: tuple[tuple[str, str], ...]
    facts: tuple[PartValue, ...]
    wanted: bool = True
    said: str = ""
    given: tuple[PartValue, ...] = ()

    @property
    def who(self) -> str:
        """The members for which the part is false: "l = B, o = 0"."""
        return ", ".join(f"{name} = {value}" for name, value in self.names)


@frozen
class CoreStep:
    """A step that the violation needs: its number, name, and the effect of leaving it out.

    `without` continues "without it": "step 3 is not possible: guard … is
    false", "nothing is wrong at the end"; empty when it was not examined.
    """

    number: int
    name: str
    without: str = ""


@frozen
class Core:
    """The minimal set of steps that the violation needs, of `of` in all.

    `is_least` if none of them can be left out: the search for more to leave
    out was not given up.
    """

    steps: tuple[CoreStep, ...]
    of: int
    is_least: bool = True

    @property
    def numbers(self) -> frozenset[int]:
        """The numbers of the steps, from 1."""
        return frozenset(step.number for step in self.steps)

    @property
    def sentence(self) -> str:
        """How many steps are needed: "All 5 steps are needed."."""
        if not self.is_least:
            left = f"at most {len(self.steps):,} of the {self.of:,} steps are needed"
            return f"{left[0].upper()}{left[1:]}; it was not tried to the end whether fewer do."
        if len(self.steps) == self.of:
            return {0: "No step is needed.", 1: "The one step is needed."}.get(
                self.of, f"All {self.of:,} steps are needed."
            )
        which = _numbers(sorted(self.numbers))
        return f"Of the {self.of:,} steps, {len(self.steps):,} {_are(len(self.steps))} needed{which}."


def _are(number: int) -> str:
    """The verb for a number of things: "is" or "are"."""
    return "is" if number == 1 else "are"


def _numbers(found: list[int]) -> str:
    """The numbers of steps in brackets, if they are few."""
    return f" ({', '.join(map(str, found))})" if 0 < len(found) <= MOST_STEPS else ""


@frozen
class NoReturn:
    """The point after which the violation is unavoidable, by state numbers; 0 is the start.

    From state `state` on, no run of actions and repairs (faults are not taken)
    avoids it; from the state before, `way_out` does, which is empty when doing
    without further faults was enough.  `state` is None when a limit was reached:
    then that is so from `at_latest` on, and perhaps earlier.  `at_risk` is the first state
    from which on it could go wrong without another fault; None when not known.
    `goal` is what is waited for, where what is wrong is that it does not come;
    `is_put_off`: it never does although `way_out` from the end leads to it;
    `is_due`: `state` is where it began to be waited for.
    `beyond` are limits of the scope beyond which nothing was searched, `states` how many
    states were looked at.
    """

    state: int | None
    at_latest: int
    last: int
    way_out: tuple[str, ...] = ()
    at_risk: int | None = None
    goal: str = ""
    is_put_off: bool = False
    is_due: bool = False
    beyond: tuple[str, ...] = ()
    states: int = 0

    @property
    def sentences(self) -> tuple[str, ...]:
        """The point of no return in sentences."""
        return tuple(self._sentences())

    def _sentences(self) -> Iterator[str]:
        """The sentences that apply."""
        if self.is_put_off:
            way = _by(self.way_out)
            yield f"There is no point of no return: at the end {self.goal} could still come{way}."
        else:
            yield self._turn()
        if self.at_risk is not None and self.at_risk != self.at_latest:
            yield f"{_from(self.at_risk)}, it could go wrong without another fault."
        if self.beyond:
            yield f"(What lies beyond {', '.join(self.beyond)} was not looked at.)"

    def _turn(self) -> str:
        """The step after which the violation is unavoidable, in words."""
        fails = f"leads to {self.goal}" if self.goal else "avoids the violation"
        hopeless = f"no run of actions and repairs {fails}"
        if self.state is None:
            known = f"earlier, it is not known beyond {count(self.states, 'state')} looked at"
            return f"{_from(self.at_latest)} at the latest, {hopeless}; {known}."
        if self.state == 0:
            return f"From the start on, {hopeless}."
        before = "before that step" if self.state < self.last else "before this last step"
        if self.is_due:
            return f"{_from(self.state)}, since when it is due, {hopeless}."
        if self.way_out:
            open_ = f"{before} there was a way out{_by(self.way_out)}"
        elif self.goal:
            open_ = f"{before} it was there"
        else:
            open_ = f"{before}, nothing could go wrong without a further fault"
        return f"{_from(self.state)}, {hopeless}; {open_}."


def _from(state: int) -> str:
    """The phrase "From step n on" or "From the start on"."""
    return f"From step {state} on" if state else "From the start on"


def _by(steps: Iterable[str]) -> str:
    """The phrase that lists steps: ": a; then b"."""
    return ": " + "; then ".join(steps)


@frozen
class RunTrap:
    """The states that a run without recovery cannot leave: their number, and what they share.

    `shared` is what is the same in all of them, and was not at the start: "leader = none".
    `ways_out` are what, added alone, would lead out; it was tried to the end if `is_tried`, as all states
    of the trap were looked at if `is_whole`.
    """

    states: int
    is_whole: bool
    shared: tuple[str, ...]
    ways_out: tuple[str, ...]
    is_tried: bool = True

    @property
    def sentences(self) -> tuple[str, ...]:
        """The trap in sentences."""
        return tuple(self._sentences())

    def _sentences(self) -> Iterator[str]:
        """The sentences that apply."""
        many = (
            count(self.states, "state") if self.is_whole else f"more than {count(self.states - 1, 'state')}"
        )
        where = "there" if self.states == 1 else "in all of them" if self.is_whole else "in these"
        same = f"; {where} {_listed(self.shared)}" if self.shared else ""
        yield f"Nothing leads out of {many}{same}."
        if self.ways_out:
            yield f"Out of it would lead, alone: {'; '.join(self.ways_out)}."
        else:
            yield "No reversal of a fault, and no action without one of its guards, leads out alone."
        if not self.is_tried:
            yield "(Not everything was tried to the end.)"


def _listed(parts: Iterable[str]) -> str:
    """Parts as a list in a sentence."""
    *others, last = parts
    return f"{', '.join(others)} and {last}" if others else last


@frozen
class NeededSetting:
    """A setting that must have this `value` for the violation; with `other` it is impossible.

    `without` says what happens with `other`: "step 2 is not possible: guard … is false", or "nothing is
    wrong at the end"; `number` is the step that is not possible, 0 where all are.
    `by_key` are both settings as the real system spells them: "min.insync.replicas=1".
    """

    name: str
    value: str
    other: str
    without: str
    number: int = 0
    by_key: tuple[str, str] = ("", "")

    @property
    def brief(self) -> str:
        """The setting in short: "with min_isr = 2, step 2 is not possible"."""
        return self._with(f"{self.name} = {self.other}")

    @property
    def brief_by_key(self) -> str:
        """The same with the real system's name of the setting."""
        return self._with(self.by_key[1])

    def _with(self, other: str) -> str:
        """The effect of another setting, in words."""
        what = f"step {self.number} is not possible" if self.number else self.without
        return f"with {other}, {what}"


@frozen
class Explanation:
    """Why a run violates the property: needed steps, point of no return, settings, false parts.

    `summary` is two whole sentences; `claim` is the property's text, or its
    name.  `no_return` is None where nothing is wrong, as in an example, `trap` where it ends in none, or
    it was not examined.
    """

    summary: tuple[str, ...]
    claim: str
    parts: tuple[FalsePart, ...]
    core: Core
    no_return: NoReturn | None
    settings: tuple[NeededSetting, ...] = ()
    trap: RunTrap | None = None

    @property
    def needs(self) -> str:
        """The settings that the violation needs, in a sentence; empty if none is known."""
        values = [f"{each.name} = {each.value}" for each in self.settings]
        return _takes(values, [each.brief for each in self.settings])

    @property
    def needs_by_key(self) -> str:
        """The same with the real system's names of settings."""
        values = [each.by_key[0] for each in self.settings]
        return _takes(values, [each.brief_by_key for each in self.settings])


def _takes(values: list[str], why: list[str]) -> str:
    """The sentence on the needed settings."""
    return f"It takes {_listed(values)}: {'; '.join(why)}." if values else ""


# ----------------------------------------------------------------------- lines


def brief(explanation: Explanation, width: int) -> Iterator[Line]:
    """The summary and the point of no return, as lines for a terminal."""
    yield line(Piece("why", Role.STRONG))
    for sentence in explanation.summary:
        yield from wrapped(line("  "), sentence, width)
    if explanation.no_return is not None:
        yield from _about("no return", explanation.no_return.sentences, width)
    if len(explanation.core.steps) != explanation.core.of:
        yield from _about("needed", [explanation.core.sentence], width)
    if explanation.settings:
        yield from _about("settings", [explanation.needs], width)


def lines(explanation: Explanation, width: int) -> Iterator[Line]:
    """The whole explanation, as lines for a terminal."""
    yield line(Piece("why", Role.STRONG))
    for sentence in explanation.summary:
        yield from wrapped(line("  "), sentence, width)
    for part in explanation.parts:
        yield from _part(part, width)
    if explanation.no_return is not None:
        yield from _about("no return", explanation.no_return.sentences, width)
    if explanation.trap is not None:
        yield from _about("trap", explanation.trap.sentences, width)
    yield from _about("needed", [explanation.core.sentence], width)
    yield from _steps(explanation.core, width)


def _steps(core: Core, width: int) -> Iterator[Line]:
    """The needed steps, each with the effect of leaving it out, if known."""
    steps = [step for step in core.steps if step.without]
    digits = len(str(core.of))
    column = min(max((len(step.name) for step in steps), default=0), width // 3)
    for step in steps:
        name = f"{step.name:<{column}}"
        label = line(" " * 4, Piece(f"{step.number:>{digits}}  ", Role.DIM), Piece(name, Role.PLACE), "  ")
        if len(name) > column:
            yield label
            label = line(" " * (digits + column + 8))
        yield from wrapped(label, f"without it, {step.without}", width)


def _about(label: str, sentences: Iterable[str], width: int) -> Iterator[Line]:
    """Sentences after a label."""
    start = line("  ", Piece(f"{label:<{LABEL}}", Role.DIM))
    yield from wrapped(start, " ".join(sentences), width)


def _part(part: FalsePart, width: int) -> Iterator[Line]:
    """The lines about a false part: members, place, and values with their age."""
    start = line("  ", Piece(f"{'false' if part.wanted else 'true':<{LABEL}}", Role.DIM))
    *others, last = wrapped(start, part.text, width, Role.STRONG)
    yield from others
    place = Piece(f"   {part.place}", Role.DIM)
    is_short = size(last) + len(place.text) <= width
    yield (*last, place) if is_short else last
    indent = line(" " * (LABEL + 2))
    if not is_short:
        yield (*indent, Piece(part.place, Role.DIM))
    if part.names:
        yield (*indent, Piece("for "), Piece(part.who, Role.PLACE))
    longest = min(max((len(fact.text) for fact in part.facts), default=0), width // 2)
    for fact in part.facts:
        label = (*indent, Piece(f"  {fact.text:<{longest}}", Role.PLACE), Piece(" = ", Role.DIM))
        *others, last = wrapped(label, fact.value, width)
        yield from others
        yield (*last, Piece(f"   {fact.age}", Role.DIM)) if fact.age else last
    for fact in part.given:
        label = (*indent, Piece("  while ", Role.DIM))
        *others, last = wrapped(label, fact.text, width, Role.PLACE)
        yield from others
        yield (*last, Piece(f"   {fact.age}", Role.DIM))
