"""The steps of an action once more, as code that records each: its values, its sentence, what refuses it.

`Steps` writes what a search needs, a step's end alone.  This writes the same steps in the same
order, and for each choice of the parameters a record: that it is a step, and where it leads; or
which guard refuses it, or which limit.  A record begins with the number of its shape, which describes
its content, so that a page can read it with no more than a list of shapes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum

import spec.model.ir as ir
from modelcheck.explicit.codegen.arithmetic import FALSE, TRUE, V, const, i64
from modelcheck.explicit.codegen.expressions.expressions import ExpressionWriter
from modelcheck.explicit.codegen.expressions.scene import Scene
from modelcheck.explicit.codegen.search.context import CURSOR, Context
from modelcheck.explicit.codegen.search.steps import Steps
from modelcheck.explicit.codegen.states.layout import WORD, PackedLayout
from modelcheck.explicit.codegen.values.packing import Packing
from modelcheck.explicit.codegen.values.values import Live, code, container
from modelcheck.explicit.codegen.values.walks import Walk
from spec.frozen import frozen
from spec.model.types import UNKNOWN, Type, element

SHAPE, FLAGS, VALUES = range(3)  # the words of a record: its shape, whether its sentence has values, these
SAID = 0  # the flag for that; above it a flag for each property of steps that the step breaks


class StepOutcome(Enum):
    """The outcome of a step for one choice of parameters."""

    TAKEN = "taken"
    REFUSED = "refused"  # by a guard
    CUT = "cut"  # by a limit of the scope
    SPENT = "spent"  # the budget for faults of the kind is spent
    ERROR = "error"  # of the model


@frozen
class RecordValue:
    """A value in a record: its name, and its packing."""

    name: str
    type: Type
    packing: Packing

    @property
    def words(self) -> int:
        """The number of words of the value."""
        return container(self.packing.width) // WORD


@frozen
class RecordShape:
    """The content of a record of one kind, in order; `why` is the guard's index, or a limit.

    The words of the state follow where the step was taken.
    """

    action: str
    outcome: StepOutcome
    why: int | str | None
    params: tuple[RecordValue, ...] = ()
    said: tuple[RecordValue, ...] = ()
    choices: tuple[RecordValue, ...] = ()


class RecordShapes:
    """The shapes of all records, numbered."""

    def __init__(self) -> None:
        self.known: dict[RecordShape, int] = {}

    def number(self, shape: RecordShape) -> int:
        """The number of a shape, which is added if it is new."""
        return self.known.setdefault(shape, len(self.known))


class RecordWriter(Steps):
    """Writes the LLVM function that records an action: one record for each choice.

    The word of the context after its own has the place where the last record must begin.
    """

    called = "records"

    def __init__(
        self,
        action: ir.Action,
        expressions: ExpressionWriter,
        layout: PackedLayout,
        context: Context,
        shapes: RecordShapes,
    ) -> None:
        self._shapes = shapes
        self._args: tuple[Live, ...] = ()
        self._choices: list[tuple[ir.Choose, Live]] = []
        self._said: tuple[RecordValue, ...] = ()
        super().__init__(action, expressions, layout, context)

    def _write(self) -> None:
        """Emit the whole function."""
        self._is_said = self.fn.cell(64, i64(0))
        self._errs = self.fn.cell(1, FALSE)  # whether a property of steps makes an error
        super()._write()

    def _fail(self) -> None:
        """Emit a record of an error of the model."""
        self._args, self._choices = (), []
        self._record(StepOutcome.ERROR)

    def _pay(self) -> None:
        """Emit a record that the budget for this fault is spent, if it is."""
        fn = self.fn
        is_spent = self._is_spent()
        with fn.when(is_spent):
            self._record(StepOutcome.SPENT)
        fn.leave_if(is_spent, self.done)

    def _is_written_out(self, index: int, walk: Walk) -> bool:  # noqa: ARG002 - small code is wanted
        """Whether to unroll the loop over a parameter: never, for small code."""
        return False

    def _begin(self, args: tuple[Live, ...]) -> None:
        """Emit the code for one choice of the parameters, with the sentence's values."""
        self._args, self._choices = args, []
        self._say()
        super()._begin(args)

    def _say(self) -> None:
        """Emit the computation of the sentence's values, if all exist."""
        fn = self.fn
        parts = [part for part in self.action.says or () if not isinstance(part, str)]
        if not parts:
            return
        failed, after = fn.new("unsaid"), fn.new("said")
        fn.store(self._is_said, i64(0))
        with fn.local_values():
            scene = Scene(fn, self.before, failed, dict(self.scene.slots))
            lives = [self.expressions.value(part, scene) for part in parts]
            self._said = tuple(
                RecordValue("", p.type, live.packing) for p, live in zip(parts, lives, strict=True)
            )
            self._words = fn.array(sum(value.words for value in self._said))
            self._put(self._words, 0, lives)
            fn.store(self._is_said, i64(1))
            fn.goto(after)
        with fn.local_values():
            fn.begin(failed)
            fn.goto(after)
        fn.begin(after)

    def _refuse(self, index: int) -> None:
        """Emit a record that a guard is false."""
        self._record(StepOutcome.REFUSED, index)

    def _exceed(self, limit: str) -> None:
        """Emit a record that the step is cut at a limit."""
        self._record(StepOutcome.CUT, limit)

    def _choose(self, statement: ir.Choose, rest: Callable[[], None]) -> None:
        """Emit `choose`, remembering the choice for the record."""

        def go_on() -> None:
            self._choices.append((statement, self.scene.slots[statement.slot]))
            rest()
            self._choices.pop()

        super()._choose(statement, go_on)

    def _finish(self, args: tuple[Live, ...]) -> None:
        """Emit a record of the step taken, or of an error in a property of steps."""
        fn = self.fn
        self._spend()
        fn.store(self._errs, FALSE)
        broken = i64(0)
        for number, _ in enumerate(self.context.of_steps):
            breaks = fn.resize(self._breaks(number, args), 64)
            broken = fn.or_(broken, fn.shl(breaks, i64(number + 1)))
        errs = fn.load(self._errs)
        with fn.when(errs):
            self._record(StepOutcome.ERROR)
        with fn.when(fn.not_(errs)):
            self._record(StepOutcome.TAKEN, broken=broken)

    def _find(self, word: int) -> None:  # noqa: ARG002 - a search keeps the first of each kind, a page all
        """Emit recording an error in a property of steps."""
        self.fn.store(self._errs, TRUE)

    # ------------------------------------------------------------------ records

    def _record(self, outcome: StepOutcome, why: int | str | None = None, broken: V | None = None) -> None:
        """Emit appending a record, if there is room."""
        fn = self.fn
        args = self._args
        params = tuple(
            RecordValue(param.name, param.type, live.packing)
            for param, live in zip(self.action.params, args, strict=False)
        )
        choices = tuple(
            RecordValue(s.name, element(s.domain.type) or UNKNOWN, live.packing) for s, live in self._choices
        )
        shape = RecordShape(self.action.name, outcome, why, params, self._said, choices)
        cursor = fn.read("%ctx", CURSOR)
        with fn.when(fn.below(cursor, fn.read("%ctx", self.context.size))):
            out = fn.pointer(cursor)
            fn.write(out, i64(self._shapes.number(shape)), SHAPE)
            fn.write(out, fn.or_(fn.load(self._is_said), broken or i64(0)), FLAGS)
            at = self._put(out, VALUES, args)
            said = sum(value.words for value in shape.said)
            for n in range(said):
                fn.write(out, fn.read(self._words, n), at + n)
            at = self._put(out, at + said, [live for _, live in self._choices])
            if outcome is StepOutcome.TAKEN:
                for n in range(self.layout.words):
                    fn.write(out, fn.read(self.after.words, n), at + n)
                at += self.layout.words
            fn.write("%ctx", fn.address(fn.at(out, at)), CURSOR)

    def _put(self, out: str, at: int, lives: Iterable[Live]) -> int:
        """Emit writing values at an offset; returns the offset after them."""
        fn = self.fn
        for live in lives:
            whole = code(fn, live)
            for shift in range(0, whole.bits, WORD):
                part = fn.resize(fn.lshr(whole, const(whole.bits, shift)), WORD)
                fn.write(out, part, at + shift // WORD)
            at += whole.bits // WORD
        return at
