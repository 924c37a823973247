"""What a check finds by the manual: the states by layers of faults, the verdicts, and the counts.

The files of this folder are a second interpreter of the language.  It was written from `spec/language.md`
alone, its parser included, by someone who had read no code of the first one.  The engines share a parser,
types and an elaboration, so no comparison between them finds what is wrong there; one with this can.

It must stay so.  It imports nothing of what it is compared with, and a change of the language is written into
it from the text of the manual, not from the code.  Where the manual leaves open what happens, the manual is
amended first.  It is for texts without mistakes, prefers the simple way to the fast one, and refuses by name
what it does not cover.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from tests.by_the_manual.expressions import DID, OLD, STATE, Env
from tests.by_the_manual.fair_runs import Cost, Edge, Graph, Key, fewest_faults, fewest_faults_before_unrest
from tests.by_the_manual.model import Model
from tests.by_the_manual.parser import Check, Text
from tests.by_the_manual.squeezed import has_unbounded, squeezed
from tests.by_the_manual.statements import State, Step
from tests.by_the_manual.tokens import Refused
from tests.by_the_manual.values import Cut, Wrong, put


@dataclass
class Verdict:
    """What is known of a property: whether it holds, and the cost of the cheapest run that decides it.

    `beyond` counts the states from which only steps beyond the scope make a `recoverable` hold; a
    `leadsto` holds `for_nothing` where no state waits.  Of an `endless` run the steps are not counted.
    """

    word: str  # "holds", "violated" or "unknown"
    cost: Cost | None = None
    for_any: bool = False
    beyond: int = 0
    for_nothing: bool = False
    endless: bool = False


@dataclass
class Counts:
    """What the search of everything counts within some number of faults."""

    states: int = 0
    transitions: int = 0
    levels: int = 0
    cut: int = 0

    def and_more(self, more: Counts) -> Counts:
        """Those of both; the levels are those of the deepest state."""
        transitions, cut = self.transitions + more.transitions, self.cut + more.cut
        return Counts(self.states + more.states, transitions, max(self.levels, more.levels), cut)


@dataclass
class Answer:
    """What a check finds. With an error of the model the counts are a part, and tell nothing."""

    verdicts: dict[str, Verdict]
    error: tuple[str, Cost] | None
    layers: list[Counts] = field(default_factory=list)  # within 0 faults, within 1 …; the last is everything
    taken: Counter[str] = field(default_factory=Counter)


def answer(text: Text, check: Check, most: int | None = None) -> Answer:
    """What a check of a text finds.

    Raises Refused for what this interpreter does not cover, and where there are more states than `most`.
    """
    return _Search(Model(text, check), check, most).answer()


class _Search:
    def __init__(self, model: Model, check: Check, most_states: int | None) -> None:
        self.model, self.most, self.kinds = model, check.faults, check.kinds
        self.most_states = most_states
        self.variables = {name: of for name, of in model.variables.items() if has_unbounded(of)}
        self.numbered = [kind for kind, most in (check.kinds or {}).items() if most is not None]
        self.graph = Graph()
        self.shown: dict[str, Cost] = {}  # the cheapest cost at which a property shows what decides it
        self.true: dict[str, list[set[Key]]] = defaultdict(lambda: [set(), set()])  # of properties of runs
        self.error: tuple[str, Cost] | None = None
        self.waiting: dict[Cost, list[tuple[State, Key]]] = defaultdict(list)
        self.layers: dict[int, Counts] = defaultdict(Counts)
        self.taken: Counter[str] = Counter()
        self.beyond: set[Key] = set()  # states behind one fault more than the budget
        self.more_breaks: set[str] = set()  # the properties that such a fault breaks, "" for an error

    # -------------------------------------------------------------- the search

    def answer(self) -> Answer:
        """What is found."""
        try:
            for branch in self.model.initial():
                self._wait((0, 0), branch.env[STATE], (0,) * len(self.numbered))
        except Wrong as wrong:
            self._wrong(wrong, (0, 0))
        while self.waiting and (self.error is None or min(self.waiting) <= self.error[1]):
            cost = min(self.waiting)
            for state, key in self.waiting.pop(cost):
                if key not in self.graph.costs:
                    self._explore(state, key, cost)
        verdicts = {name: self._verdict(name, kind) for name, (kind, _) in self.model.properties.items()}
        return Answer(verdicts, self.error, self._within(), self.taken)

    def _wait(self, cost: Cost, state: State, used: Key) -> Key:
        state = squeezed(state, self.variables)
        key = (tuple(state.values()), *used)
        self.waiting[cost].append((state, key))
        return key

    def _show(self, names: Iterable[str], cost: Cost) -> None:
        for name in names:
            if name in self.model.properties:
                self.shown[name] = min(cost, self.shown.get(name, cost))

    def _wrong(self, wrong: Wrong, cost: Cost) -> None:
        if self.error is None or cost < self.error[1]:
            self.error = (str(wrong), cost)

    def _explore(self, state: State, key: Key, cost: Cost) -> None:
        """A state by its cheapest run: its properties, its steps, and what they lead to."""
        faults, depth = cost
        if self.most_states is not None and len(self.graph.costs) == self.most_states:
            raise Refused(f"more than {self.most_states} states")
        self.graph.costs[key] = cost
        counts = self.layers[faults]
        counts.states += 1
        counts.levels = max(counts.levels, depth + 1)
        self._properties(state, key, cost)
        edges = self.graph.edges[key] = []
        cut = self.graph.cut[key] = []
        for moves in self.model.moves.values():
            fault = moves.kind == "fault"
            used = self._used(moves.name, key[1:])
            if fault and used is None:
                continue
            within = not fault or self.most is None or faults < self.most
            after = (faults + fault, depth + 1)
            for step in moves.steps(state):
                if not within:
                    edges += self._one_more(step, state, used or ())
                elif isinstance(step.end, Wrong):
                    self._wrong(step.end, after)
                elif isinstance(step.end, Cut):
                    self.layers[after[0]].cut += 1
                    cut += [] if fault else [moves.name]
                else:
                    self.layers[after[0]].transitions += 1
                    self.taken[moves.name] += 1
                    self._step(step, state, after)
                    edges.append(Edge(moves.name, fault, self._wait(after, step.state, used or key[1:])))

    def _used(self, name: str, used: Key) -> Key | None:
        """How many faults of each numbered kind were used after one more step, None where it may not be."""
        if self.model.moves[name].kind != "fault" or self.kinds is None:
            return used
        if name not in self.kinds:
            return None
        most = self.kinds[name]
        if most is None:
            return used
        at = self.numbered.index(name)
        return put(used, at, used[at] + 1) if used[at] < most else None

    def _one_more(self, step: Step, before: State, used: Key) -> list[Edge]:
        """A fault beyond the budget: whether it shows something new; and the step itself."""
        if isinstance(step.end, Wrong):
            self.more_breaks.add("")
        if step.end is not None:
            return []
        key = (tuple(squeezed(step.state, self.variables).values()), *used)
        self.beyond.add(key)
        broken, wrong = self._broken_by(step, before)
        self.more_breaks |= (step.failed & self.model.properties.keys()) | broken | ({""} if wrong else set())
        return [Edge(step.action, fault=True, to=key)]

    # -------------------------------------------------------------- properties

    def _properties(self, state: State, key: Key, cost: Cost) -> None:
        for name, (kind, parts) in self.model.properties.items():
            env: Env = {STATE: state}
            try:
                match kind:
                    case "invariant" | "lemma" if not parts[0](env):
                        self._show([name], cost)
                    case "reachable" if parts[0](env):
                        self._show([name], cost)
                    case "deadlock" if not self._possible(state) and not parts[0](env):
                        self._show([name], cost)
                    case "recoverable" | "leadsto" | "eventually" | "stable":
                        for at, part in enumerate(parts):
                            if part(env):
                                self.true[name][at].add(key)
                    case _:
                        pass
            except Wrong as wrong:
                self._wrong(wrong, cost)

    def _possible(self, state: State) -> bool:
        """Whether anything can happen, be it a fault beyond the budget, a step that is cut or an error."""
        return any(True for moves in self.model.moves.values() for _ in moves.steps(state))

    def _step(self, step: Step, before: State, cost: Cost) -> None:
        broken, wrong = self._broken_by(step, before)
        self._show(step.failed | broken, cost)
        for each in wrong:
            self._wrong(each, cost)

    def _broken_by(self, step: Step, before: State) -> tuple[set[str], list[Wrong]]:
        """The properties of steps that are not true of this one, and the errors of those without a value."""
        broken, wrong = set[str](), list[Wrong]()
        for name, (kind, parts) in self.model.properties.items():
            if kind == "step":
                try:
                    if not parts[0]({STATE: step.state, OLD: before, DID: (step.action, step.params)}):
                        broken.add(name)
                except Wrong as error:
                    wrong.append(error)
        return broken, wrong

    # -------------------------------------------------------------- what was found

    @property
    def _closed(self) -> bool:
        """Whether no further fault, of those that are allowed, adds anything."""
        breaks_more = self.more_breaks - self.shown.keys()
        return not self.numbered and not breaks_more and self.beyond <= self.graph.costs.keys()

    def _verdict(self, name: str, kind: str) -> Verdict:
        cost = self.shown.get(name)
        if kind == "reachable" and cost is not None:
            return Verdict("holds", cost)
        if cost is not None:
            return Verdict("violated", cost)
        if self.error is not None:
            return Verdict("unknown")
        if kind == "recoverable":
            return self._recoverable(self.true[name][0])
        if kind in {"leadsto", "eventually"}:
            return self._leads_to(self.true[name], kind)
        if kind == "stable":
            faults = fewest_faults_before_unrest(self.graph, self.true[name][0], self._fair)
            if faults is None:
                return Verdict("holds", None, self._closed)
            return Verdict("violated", (faults, 0), endless=True)
        return Verdict("violated" if kind == "reachable" else "holds", None, self._closed)

    def _recoverable(self, good: set[Key]) -> Verdict:
        """From every state some run without faults leads to a good one, or beyond the scope."""
        costs, every = self.graph.costs, set(self.graph.costs)
        within = self.graph.leading_to(good, every)
        beyond = self.graph.leading_to({key for key, cut in self.graph.cut.items() if cut}, every) - within
        lost = every - within - beyond
        if lost:
            return Verdict("violated", min(costs[key] for key in lost))
        return Verdict("holds", None, self._closed, beyond=len(beyond))

    @property
    def _fair(self) -> dict[str, str]:
        """The actions that are promised something, and how much."""
        return {moves.name: moves.fair for moves in self.model.moves.values() if moves.fair}

    def _leads_to(self, true: list[set[Key]], kind: str) -> Verdict:
        fair = self._fair
        faults = fewest_faults(self.graph, true, fair, self.most)
        if faults is not None:
            return Verdict("violated", (faults, 0), endless=True)
        for_any = self._closed and fewest_faults(self.graph, true, fair, None) is None
        return Verdict("holds", None, for_any, for_nothing=kind == "leadsto" and true[0] <= true[1])

    def _within(self) -> list[Counts]:
        """The counts of all layers up to each, and at last of everything."""
        found = [Counts()]
        for faults in range(max(self.layers, default=0) + 1):
            found.append(found[-1].and_more(self.layers[faults]))
        return found[1:]
