"""A check as a page in which its model can be played."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from counterexamples.play.described import PageTypes, described
from counterexamples.play.page import play_page
from modelcheck.answers.endless import forever
from modelcheck.answers.precomputed import MOST_STATES, Precomputed, precomputed
from modelcheck.contract.engine import Task
from modelcheck.explicit.wasm.kernel import web_kernel
from spec.meaning.semantics import Machine
from spec.model.ir import Check, Model

Json = Any


def played(model: Model, check: Check) -> str:
    """The HTML page to play a check. Costs compiling optimised code. Raises TooWide."""
    return play_page(*playable(model, check))


def played_beforehand(
    model: Model, check: Check, most: int = MOST_STATES, tell: Callable[[int], None] = lambda _: None
) -> tuple[str, Precomputed]:
    """The HTML page to play a check from a table of about `most` states, and the table.

    `tell` hears how many states there are so far.
    """
    code, description, made = playable_beforehand(model, check, most, tell)
    return play_page(code, description), made


def playable(model: Model, check: Check) -> tuple[bytes, Json]:
    """The WebAssembly kernel of a check, and the description for its page. Raises TooWide."""
    types = PageTypes(check.scope)
    kernel = web_kernel(Task(model, check.scope, check.budget, (), check=check.name), types)
    starts = [kernel.packed(state) for state in Machine(model, check.scope).initial()]
    return kernel.module.code, _description(model, check, types, kernel.used, starts)


def playable_beforehand(
    model: Model, check: Check, most: int, tell: Callable[[int], None] = lambda _: None
) -> tuple[bytes, Json, Precomputed]:
    """The same with a table of the first states instead of the kernel."""
    types = PageTypes(check.scope)
    made = precomputed(model, check, types, most, tell)
    starts = [(number,) for number in range(made.starts)]
    return made.table.encode(), _description(model, check, types, made.used, starts), made


def _description(
    model: Model, check: Check, types: PageTypes, used: Json, starts: Sequence[Sequence[int]]
) -> Json:
    """The description of a check for its page."""
    made = described(model, check, types)
    made |= {
        "forever": forever(model, check),
        "kernel": used,
        "starts": [[f"{word:x}" for word in words] for words in starts],
    }
    return made | {"types": types.data}
