"""The steps of an action as code: its parameters, guards and statements, and where each leads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import ClassVar, assert_never

import modelcheck.explicit.codegen.expressions.quantifiers as quantifiers
import spec.model.ir as ir
from modelcheck.explicit.codegen.arithmetic import FALSE, InstructionBlock, V, i64
from modelcheck.explicit.codegen.assembly import Function
from modelcheck.explicit.codegen.expressions.expressions import ExpressionWriter
from modelcheck.explicit.codegen.expressions.fitting import Fitting
from modelcheck.explicit.codegen.expressions.scene import Scene
from modelcheck.explicit.codegen.search.context import PARENT, WENT, Context
from modelcheck.explicit.codegen.search.groups import StepGroups
from modelcheck.explicit.codegen.search.runtime import ACTION, FAULT, MOST_NAMED
from modelcheck.explicit.codegen.states.layout import PackedLayout
from modelcheck.explicit.codegen.states.state import StateBits
from modelcheck.explicit.codegen.values.conversion import convert
from modelcheck.explicit.codegen.values.packing import TooWide
from modelcheck.explicit.codegen.values.values import Live
from modelcheck.explicit.codegen.values.walks import Walk
from spec.model.types import Map, Record, Tuple, Type, parts
from spec.model.values_in_use import may_leave_gaps
from spec.model.walk import chooses

FEW = 4  # rounds of a `for` with a choice inside, at most
MOST_ENDS = 1000  # of an action, each written separately; those of our protocols have up to twelve
BY_VALUE = 4  # words of a state that are passed in registers


class Steps:
    """Writes the LLVM function of an action, which emits every successor of a state by it.

    With `probe`, it only finds out whether there is any step at all, whatever the budget.  Where
    `named`, successors have the number of the action.
    """

    called: ClassVar[str] = "step"
    in_order: ClassVar[bool] = False  # whether steps must be made in the order of the definition

    def __init__(
        self,
        action: ir.Action,
        expressions: ExpressionWriter,
        layout: PackedLayout,
        context: Context,
        *,
        probe: bool = False,
        named: bool = False,
    ) -> None:
        self.action = action
        self.expressions = expressions
        self.layout = layout
        self.context = context
        self.probe = probe
        self.most = 1  # how many steps there can be
        self.emit = self._emit_of(action)
        place = context.actions.index(action)
        self.flag = int(action.is_fault) << FAULT | (min(place, MOST_NAMED) << ACTION if named else 0)
        self.name = f"{'probe' if probe else self.called}.{place}"
        params = [("ptr noalias nocapture", "ctx"), ("ptr noalias nocapture readonly", "before")]
        self.fn = fn = Function(self.name, params, "i1")
        self.error, self.done = fn.new("error"), fn.new("done")
        self.before = StateBits(fn, layout, "%before")
        self.after = StateBits(fn, layout, fn.array(layout.words))
        self.scene = Scene(fn, self.before, self.error, before=self.before)
        self.broken = [fn.cell(1) for _ in context.of_steps]
        self.next = self.done
        self._ends = 0  # so far written
        self.groups = self._groups_of(action)
        self._write()

    def _emit_of(self, action: ir.Action) -> str:
        """The function that takes a successor: another where states stay squeezed, and so cost less."""
        scope, types = self.expressions.scope, [each.type for each in self.expressions.model.variables]
        gaps = any(may_leave_gaps(action, types, nat) for nat in scope.unbounded)
        return "emit" if gaps or not scope.unbounded else "emit_squeezed"

    def _groups_of(self, action: ir.Action) -> StepGroups | None:
        """What notes which groups of steps there are, where some may be left for later."""
        if self.context.persistence is None or self.probe or action.is_fault:
            return None
        own = next(each for each in self.context.persistence.numberings if each.action.name == action.name)
        return StepGroups(self.fn, self.context, action, own, self.expressions)

    def _write(self) -> None:
        """Emit the whole function; it returns true if a step is an error of the model."""
        fn = self.fn
        if self.groups is not None:
            self.groups.settle(self.scene)
        if self.action.is_fault and not self.probe:
            self._pay()
        self._bind(0, ())
        fn.goto(self.done)
        fn.begin(self.error)
        if not self.probe:
            self._fail()
        fn.end("ret i1 true")
        fn.exit(self.done, "ret i1 false")

    def _fail(self) -> None:
        """Emit recording an error of the model in this step."""
        self._find(self.context.errors + self.action.is_fault)

    def _pay(self) -> None:
        """Emit a return if the budget for faults of this kind is spent."""
        self.fn.leave_if(self._is_spent(), self.done)

    def _is_spent(self) -> V:
        """Emit whether the budget for faults of this kind is spent."""
        fn, most = self.fn, self.expressions.parameters.most(self.fn, self.action)
        names = [field.name for field in self.layout.counters]
        spent = i64(0)
        if self.action.name in names:
            spent = self.before.get(self.before.counter(names.index(self.action.name))).v
        return fn.at_most(most, spent)

    # --------------------------------------------------------------- parameters

    def _bind(self, index: int, args: tuple[Live, ...]) -> None:
        """Emit the code for every choice of the parameters from `index` on; `args` are those before."""
        if index == len(self.action.params):
            self._begin(args)
            return
        param = self.action.params[index]
        walk = quantifiers.candidates(
            self.expressions, param.domain, param.case, self.scene, in_order=self.in_order
        )

        def one(member: Live) -> None:
            self.scene.slots[param.slot] = member
            self._bind(index + 1, (*args, member))

        self._candidates(walk, one, written_out=self._is_written_out(index, walk))

    def _is_written_out(self, index: int, walk: Walk) -> bool:
        """Whether the loop over a parameter is short enough to unroll."""
        cost = self.expressions.costs.of_statements(self.action.body) + sum(
            self.expressions.costs.of(p.test if isinstance(p, ir.Guard) else p.value)
            for p in self.action.head
        )
        later = 1
        for param in self.action.params[index + 1 :]:
            later *= 8 if not isinstance(param.domain, ir.Members) else 4
        return walk.count * later * (cost + 10) <= self.expressions.unrolling.of_action

    def _candidates(
        self,
        walk: Walk,
        one: Callable[[Live], None],
        start: Callable[[], None] | None = None,
        *,
        written_out: bool,
    ) -> None:
        """Emit `one` for each candidate of a walk, after `start`; `self.next` continues with the next one."""
        fn, outer = self.fn, self.next
        most, each = self.most, 1

        def attempt(index: V) -> None:
            nonlocal each
            self.most = 1
            following = fn.new("next")
            with fn.local_values():
                if start is not None:
                    start()
                there, member = walk.candidate(index)
                fn.leave_if(fn.not_(there), following)
                self.next = following
                one(member)
            fn.goto(following)
            fn.begin(following)
            self.next = outer
            each = max(each, self.most)

        fn.rounds(walk.count, attempt, written_out=written_out, limit=walk.limit)
        self.most = most * walk.count * each

    def _begin(self, args: tuple[Live, ...]) -> None:
        """Write the code for one choice of the parameters: test the guards, then run the body."""
        fn, scene = self.fn, self.scene
        if self.groups is not None:
            self.groups.begin(args)
        for index, part in enumerate(self.action.head):
            if isinstance(part, ir.Bound):
                scene.slots[part.slot] = self.expressions.value(part.value, scene)
            else:
                self._guard(index, self.expressions.test(part.test, scene))
        if self.groups is not None:
            self.groups.refuse(len(self.action.head))
        self.before.copy_to(self.after)
        for cell in self.broken:
            fn.store(cell, FALSE)
        scene.now = self.after
        self._run(self.action.body, lambda: self._finish(args))
        scene.now = self.before

    def _guard(self, index: int, passes: V) -> None:
        """Emit leaving the step if a guard is false, and recording that it was."""
        fn = self.fn
        if passes.const == 1:
            return
        if self.probe:
            fn.leave_if(fn.not_(passes), self.next)
            return
        refused, on = fn.new("refused"), fn.new("on")
        fn.fork(passes, on, refused)
        with fn.local_values():
            fn.begin(refused)
            if self.groups is not None:
                self.groups.refuse(index)
            self._refuse(index)
            fn.goto(self.next)
        fn.begin(on)

    def _refuse(self, index: int) -> None:
        """Emit recording that a guard, by its index in the action's head, was false."""
        number = self.context.guards.index((self.action.name, index))
        self.fn.write("%ctx", i64(1), self.context.refused + number)

    # --------------------------------------------------------------- statements

    def _run(self, statements: Sequence[ir.Stmt], then: Callable[[], None]) -> None:
        """Emit statements in order, then `then()`; code after a choice is emitted for each way to make it."""
        for index, statement in enumerate(statements):
            if chooses(statement):
                rest = statements[index + 1 :]
                self._choosing(statement, partial(self._run, rest, then))
                return
            self._plain(statement)
        then()

    def _plain(self, statement: ir.Stmt) -> None:
        """Emit a statement without a choice in it."""
        scene = self.scene
        match statement:
            case ir.Assign():
                self._assign(statement)
            case ir.Bound(slot=slot):
                scene.slots[slot] = self.expressions.value(statement.value, scene)
            case ir.Branch():
                self._branch(statement, lambda: None)
            case ir.Each():
                self._for(statement)
            case ir.Assert():
                self._assert(statement)
            case ir.Choose():
                raise TypeError("a choice makes several steps")
            case _:
                assert_never(statement)

    def _branch(self, statement: ir.Branch, rest: Callable[[], None]) -> None:
        """Emit an `if`, each branch followed by the rest."""
        blocks = [self.fn.new(hint) for hint in ("then", "else", "after")]
        test = self.expressions.test(statement.test, self.scene)
        then, other = (partial(self._run, each, rest) for each in (statement.then, statement.other))
        self._either(test, blocks, then, other)

    def _either(self, test: V, blocks: Sequence[InstructionBlock], *ways: Callable[[], None]) -> None:
        """Emit an if/else with two ways; `blocks` are theirs and the one where they join.

        As only one is taken, `self.most` becomes that of the way with more steps, and not the sum.
        """
        before, most = self.most, 0

        def run(way: Callable[[], None]) -> None:
            nonlocal most
            self.most = before
            way()
            most = max(most, self.most)

        self.fn.either(test, blocks, *(partial(run, way) for way in ways))
        self.most = most

    def _for(self, statement: ir.Each) -> None:
        """Emit a `for` without a choice in it."""
        fn, scene = self.fn, self.scene
        walk = quantifiers.candidates(self.expressions, statement.domain, statement.case, scene)

        def one(index: V) -> None:
            there, member = walk.candidate(index)
            with fn.when(there):
                scene.slots[statement.slot] = member
                for each in statement.body:
                    self._plain(each)

        cost = self.expressions.costs.of_statements(statement.body)
        quantifiers.rounds(self.expressions, walk, cost, scene, one)

    def _assign(self, statement: ir.Assign) -> None:
        """Emit an assignment to a variable or a part of one, with the check that the value fits."""
        fn, scene = self.fn, self.scene
        place = self.after.variable(statement.var)
        of: Type = self.expressions.model.variables[statement.var].type
        for step in statement.path:
            match step, of:
                case ir.Key(key), Map(_, inner):
                    place = self.after.item(place, self.expressions.index(place.packing, key, scene))
                    of = inner
                case ir.At(index), Record() | Tuple():
                    place, of = self.after.part(place, index), parts(of)[index]
                case _:
                    raise TypeError(f"{of} has no place {step}")
        expr = statement.value
        live = self.expressions.value(expr.of if isinstance(expr, ir.Fit) else expr, scene)
        if isinstance(expr, ir.Fit):
            writer = self.expressions
            Fitting(fn, writer.scope, writer.unions, self.error, self._cut).check(live, expr.type)
        self.after.put(place, convert(fn, live, place.packing))

    def _cut(self, limit: str) -> InstructionBlock:
        """A block that counts a step beyond the scope at the limit of that name, and leaves the step."""
        fn = self.fn
        here, block = fn.block, fn.new("cut")
        with fn.local_values():
            fn.begin(block, early=not here.ended)
            self._exceed(limit)
            fn.goto(self.next)
        fn.block = here
        return block

    def _exceed(self, limit: str) -> None:
        """Emit counting a step that the scope cuts."""
        self.fn.write("%ctx", i64(1), WENT)
        if not self.probe:
            self._count(self.context.cut + 2 * self.context.limits.index(limit) + self.action.is_fault)

    def _assert(self, statement: ir.Assert) -> None:
        """Emit evaluating an `assert`, recorded in `self.broken` where it fails."""
        fn = self.fn
        holds = self.expressions.test(statement.test, self.scene)
        for prop, cell in zip(self.context.of_steps, self.broken, strict=True):
            if prop.name == statement.name and prop.kind is ir.PropertyKind.ASSERT:
                fn.store(cell, fn.or_(fn.load(cell), fn.not_(holds)))

    # ------------------------------------------------------------------ choices

    def _choosing(self, statement: ir.Stmt, rest: Callable[[], None]) -> None:
        """Emit a statement with a choice in it, and `rest` for each way to make it."""
        scene = self.scene
        match statement:
            case ir.Choose():
                self._choose(statement, rest)
            case ir.Branch():
                self._branch(statement, rest)
            case ir.Each():
                walk = quantifiers.candidates(self.expressions, statement.domain, statement.case, scene)
                if walk.count > FEW:
                    raise TooWide(f"a choice inside a `for` over up to {walk.count} members")
                self._for_choosing(statement, walk, 0, rest)
            case _:
                raise TypeError(f"{statement} has no choice in it")

    def _choose(self, statement: ir.Choose, rest: Callable[[], None]) -> None:
        """Emit `choose`: the rest is run for each candidate, from the same state."""
        fn, scene = self.fn, self.scene
        walk = quantifiers.candidates(
            self.expressions, statement.domain, statement.case, scene, in_order=self.in_order
        )
        saved = StateBits(fn, self.layout, fn.array(self.layout.words))
        self.after.copy_to(saved)
        flags = [fn.cell(1, fn.load(cell)) for cell in self.broken]

        def start() -> None:
            saved.copy_to(self.after)
            for cell, flag in zip(self.broken, flags, strict=True):
                fn.store(cell, fn.load(flag))

        def one(member: Live) -> None:
            scene.slots[statement.slot] = member
            if statement.where is not None:
                fn.leave_if(fn.not_(self.expressions.test(statement.where, scene)), self.next)
            rest()

        cost = self.expressions.costs.of_statements(self.action.body) + 10
        self._candidates(
            walk, one, start, written_out=walk.count * cost <= self.expressions.unrolling.of_action // 4
        )

    def _for_choosing(self, statement: ir.Each, walk: Walk, index: int, rest: Callable[[], None]) -> None:
        """Emit the rounds of a `for` from `index` on, each way of a round followed by the later rounds."""
        if index == walk.count:
            rest()
            return
        there, member = walk.candidate(i64(index))

        def run() -> None:
            self.scene.slots[statement.slot] = member
            self._run(statement.body, lambda: self._next_round(statement, walk, index + 1, rest))

        blocks = [self.fn.new(hint) for hint in ("round", "past", "after")]
        self._either(there, blocks, run, partial(self._for_choosing, statement, walk, index + 1, rest))

    def _next_round(self, statement: ir.Each, walk: Walk, index: int, rest: Callable[[], None]) -> None:
        """Emit the later rounds after one way through a round, and restore the names bound before."""
        slots = dict(self.scene.slots)
        self._for_choosing(statement, walk, index, rest)
        self.scene.slots.update(slots)

    # ------------------------------------------------------------- where it leads

    def _finish(self, args: tuple[Live, ...]) -> None:
        """Emit the end of a step: count it, check the properties of steps, append the successor."""
        fn = self.fn
        self._ends += 1
        if self._ends > MOST_ENDS:
            raise TooWide(
                f"more than {MOST_ENDS:,} ways through `{self.action.name}`, which choices multiply"
            )
        fn.write("%ctx", i64(1), WENT)
        if self.probe:
            return
        self._count(self.context.taken + self.context.actions.index(self.action))
        self._spend()
        for number, prop in enumerate(self.context.of_steps):
            with fn.when(self.expressions.parameters.asks(fn, prop)), fn.when(self._breaks(number, args)):
                self._find(self.context.broken + 2 * number + self.action.is_fault)
        words = [fn.read(self.after.words, n) for n in range(self.layout.words)]
        if self.groups is not None:
            was = [fn.read(self.before.words, n) for n in range(self.layout.words)]
            self.groups.take(self._differs(was, words))
        given: list[V | str] = list(words) if len(words) <= BY_VALUE else [self.after.words]
        shown = ", ".join(f"ptr {arg}" if isinstance(arg, str) else str(arg) for arg in given)
        fn.emit(f"call void @{self.emit}(ptr %ctx, {i64(self.flag)}, {shown})")

    def _differs(self, was: Sequence[V], now: Sequence[V]) -> V:
        """Emit whether a step changes a variable that a property reads."""
        fn, found = self.fn, i64(0)
        assert self.context.persistence is not None
        for n, (one, two) in enumerate(zip(was, now, strict=True)):
            watched = ~self.layout.keeping(n, self.context.persistence.watched) & (1 << 64) - 1
            found = fn.or_(found, fn.and_(fn.xor(one, two), i64(watched)))
        return fn.is_set(found)

    def _breaks(self, number: int, args: tuple[Live, ...]) -> V:
        """Emit whether this step violates the property of steps number `number`."""
        prop = self.context.of_steps[number]
        if prop.kind is ir.PropertyKind.STEP and prop.expr is not None:
            return self._fails(prop.expr, args)
        return self.fn.load(self.broken[number])

    def _fails(self, expr: ir.Expr, args: tuple[Live, ...]) -> V:
        """Emit whether a `step` property is false for this step; an error in it is recorded, and false."""
        fn = self.fn
        error, after, fails = fn.new("error"), fn.new("asked"), fn.cell(1, FALSE)
        with fn.local_values():
            scene = Scene(fn, self.after, error, {}, self.before, self.action.name, args)
            fn.store(fails, fn.not_(self.expressions.test(expr, scene)))
            fn.goto(after)
        with fn.local_values():
            fn.begin(error)
            self._find(self.context.errors + 2 + self.action.is_fault)
            fn.goto(after)
        fn.begin(after)
        return fn.load(fails)

    def _spend(self) -> None:
        """Emit counting this fault in the successor, if faults of its kind are counted."""
        names = [field.name for field in self.layout.counters]
        if self.action.name in names:
            one = self.expressions.parameters.counts(self.fn, self.action)
            place = self.after.counter(names.index(self.action.name))
            spent = self.after.get(place)
            self.after.put(place, Live(place.packing, self.fn.add(spent.v, one)))

    def _count(self, word: int) -> None:
        """Emit adding 1 to a word of the thread's memory."""
        self.fn.write("%ctx", self.fn.add(self.fn.read("%ctx", word), i64(1)), word)

    def _find(self, word: int) -> None:
        """Emit recording the expanded state in a word of first finds."""
        find_here(self.fn, word)


def find_here(fn: Function, word: int) -> None:
    """Emit storing the expanded state's number in a word if it is less than the number there."""
    here, known = fn.read("%ctx", PARENT), fn.read("%ctx", word)
    fn.write("%ctx", fn.select(fn.below(here, known), here, known), word)
