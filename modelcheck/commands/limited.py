"""A command within the limits of this process, of memory and of time."""

from __future__ import annotations

from collections.abc import Callable

from modelcheck.contract.exits import Exit
from modelcheck.storage.output import Output


def limited(run: Callable[[], int], memory: int | None, output: Output) -> int:
    """The exit code of a command; unknown, with the reason in the output, where a limit ended it.

    `memory` is in bytes; None is most of what is free.
    """
    from modelcheck.contract.report import Stopped  # noqa: PLC0415 - `--help` answers at once
    from modelcheck.contract.result import End  # noqa: PLC0415 - as above
    from modelcheck.processes.memory import memory_limit  # noqa: PLC0415 - as above
    from modelcheck.processes.watch import watched  # noqa: PLC0415 - as above
    from spec.reading import OutOfTime  # noqa: PLC0415 - as above

    try:
        with watched(None, memory_limit(memory), output.give_up):
            return int(run())
    except Stopped as stopped:
        output.tell(f"modelcheck: {stopped}; no verdict")
        return Exit.UNKNOWN
    except OutOfTime:
        output.tell(f"modelcheck: {End.SECONDS.value}; no verdict")
        return Exit.UNKNOWN
