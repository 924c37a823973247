"""Where an expression is evaluated."""

from __future__ import annotations

from dataclasses import dataclass, field

from modelcheck.explicit.codegen.arithmetic import InstructionBlock
from modelcheck.explicit.codegen.assembly import Function
from modelcheck.explicit.codegen.states.state import StateBits
from modelcheck.explicit.codegen.values.values import Live


@dataclass(slots=True)
class Scene:
    """What the code of an expression can refer to: the state, its local names, and where errors jump to.

    `before`, `action` and `args` are the step that a property of steps is checked on.
    """

    fn: Function
    now: StateBits
    error: InstructionBlock
    slots: dict[int, Live] = field(default_factory=dict)
    before: StateBits | None = None
    action: str = ""
    args: tuple[Live, ...] = ()
