"""What the function of an action notes of its groups of steps, for `leaving.py`."""

from __future__ import annotations

import modelcheck.explicit.codegen.expressions.quantifiers as quantifiers
import spec.model.ir as ir
from modelcheck.explicit.codegen.arithmetic import V, i64
from modelcheck.explicit.codegen.assembly import Function
from modelcheck.explicit.codegen.expressions.expressions import ExpressionWriter
from modelcheck.explicit.codegen.expressions.scene import Scene
from modelcheck.explicit.codegen.search.context import GROUPS, ORDINAL, Context
from modelcheck.explicit.codegen.states.layout import WORD
from modelcheck.explicit.codegen.values.values import Live
from modelcheck.search.persistent import Numbering
from spec.model.types import Set
from spec.model.values import members


class StepGroups:
    """Emits notes, in the memory of a thread, of the groups of an action and what refuses them.

    `begin` is called with the parameters of a step, then `refuse` with a place in the head, and `take`
    where the step leads to a successor.
    """

    def __init__(
        self,
        fn: Function,
        context: Context,
        action: ir.Action,
        numbering: Numbering,
        expressions: ExpressionWriter,
    ) -> None:
        self.fn, self.context, self.expressions = fn, context, expressions
        self.action, self.numbering = action, numbering
        assert context.persistence is not None
        self._parts = context.persistence.parts[numbering.first]
        self._own: V = i64(0)  # the group among the action's

    def begin(self, args: tuple[Live | None, ...]) -> None:
        """Emit the number of the group of a step; None is an argument that makes no difference."""
        self._own = i64(0)
        for live, values, step in zip(args, self.numbering.values, self.numbering.steps, strict=True):
            if values is not None:
                assert live is not None
                place = self.fn.sub(self.fn.resize(live.v, 64), i64(int(values[0])))
                self._own = self.fn.add(self._own, self.fn.mul(place, i64(step)))

    def refuse(self, place: int) -> None:
        """Emit that a part of the head refused a step, or that the body was run."""
        parts = len(self.action.head) + 1
        bit = self.fn.add(i64(self._parts + place), self.fn.mul(self._own, i64(parts)))
        self._set(self.context.failed, bit)

    def take(self, changes: V) -> None:
        """Emit that a step leads to a successor, and whether it changes what a property reads."""
        fn, number = self.fn, self.fn.add(i64(self.numbering.first), self._own)
        groups = fn.pointer(fn.read("%ctx", self.context.leaving + GROUPS))
        fn.write(groups, number, fn.read("%ctx", ORDINAL))
        self._set(self.context.enabled, number)
        with fn.when(changes):
            self._set(self.context.changing, number)

    def settle(self, scene: Scene) -> None:
        """Emit which guards are false that are the same for all steps of a group, for all groups."""
        if self.numbering.settled:
            self._settle(0, (), scene)

    def _settle(self, index: int, args: tuple[Live | None, ...], scene: Scene) -> None:
        """Emit it for all values of the parameters from one on."""
        params = self.action.params
        if index == len(params):
            self._ask(args, scene)
            return
        values, param = self.numbering.values[index], params[index]
        if values is None:
            self._settle(index + 1, (*args, None), scene)
            return
        every = members(param.type, self.expressions.scope)
        of = ir.Members(param.type, type=Set(param.type), span=param.span)
        walk, first = quantifiers.candidates(self.expressions, of, None, scene), every.index(values[0])

        def one(number: V) -> None:
            with self.fn.local_values():
                _, member = walk.candidate(self.fn.add(number, i64(first)))
                scene.slots[param.slot] = member
                self._settle(index + 1, (*args, member), scene)
                del scene.slots[param.slot]

        self.fn.rounds(len(values), one, written_out=False)

    def _ask(self, args: tuple[Live | None, ...], scene: Scene) -> None:
        """Emit which of the guards are false for one group."""
        self.begin(args)
        for place in sorted(self.numbering.settled):
            guard = self.action.head[place]
            assert isinstance(guard, ir.Guard)
            passes = self.expressions.test(guard.test, scene)
            with self.fn.when(self.fn.not_(passes)):
                self.refuse(place)

    def _set(self, first: int, number: V) -> None:
        """Emit setting the bit with a number in words of the context."""
        fn = self.fn
        at = fn.add(i64(first), fn.lshr(number, i64(6)))
        bit = fn.shl(i64(1), fn.and_(number, i64(WORD - 1)))
        fn.write("%ctx", fn.or_(fn.read("%ctx", at), bit), at)
