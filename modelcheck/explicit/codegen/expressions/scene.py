"""Where an expression is evaluated."""

from __future__ import annotations

from dataclasses import dataclass, field

from modelcheck.explicit.codegen.arithmetic import InstructionBlock
from modelcheck.explicit.codegen.assembly import Function
from modelcheck.explicit.codegen.states.state import StateBits
from modelcheck.explicit.codegen.values.values import Live


@dataclass(slots=True)
class Scene:
    """The states an expression may read, its slots, and where an error of the model leads.

    `before`, `action` and `args` are the step that a `step` property is asked of.
    """

    fn: Function
    now: StateBits
    error: InstructionBlock
    slots: dict[int, Live] = field(default_factory=dict)
    before: StateBits | None = None
    action: str = ""
    args: tuple[Live, ...] = ()
