"""A check as a page in which its model can be played."""

from __future__ import annotations

from typing import Any

from counterexamples.play.described import PageTypes, described
from counterexamples.play.page import play_page
from modelcheck.contract.engine import Task
from modelcheck.explicit.wasm.kernel import web_kernel
from spec.ir import Check, Model
from spec.semantics import Machine

Json = Any


def played(model: Model, check: Check) -> str:
    """The page, as the text of an HTML file. Costs what good code for the check does. Raises TooWide."""
    return play_page(*playable(model, check))


def playable(model: Model, check: Check) -> tuple[bytes, Json]:
    """The kernel of a check as WebAssembly, and all that a page has to know of it. Raises TooWide."""
    types = PageTypes(check.scope)
    kernel = web_kernel(Task(model, check.scope, check.budget, (), check=check.name), types)
    starts = [kernel.packed(state) for state in Machine(model, check.scope).initial()]
    description = described(model, check, types)
    description |= {"kernel": kernel.used, "starts": [[f"{word:x}" for word in words] for words in starts]}
    return kernel.module.code, description | {"types": types.data}
