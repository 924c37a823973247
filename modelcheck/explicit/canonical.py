"""The representative of a state's orbit as code: the least of its words over the renamings of sorts."""

from __future__ import annotations

from modelcheck.explicit.assembly import Function
from modelcheck.explicit.layout import Layout
from spec.ir import Model, Scope


def canonical(model: Model, scope: Scope, layout: Layout, sorts: tuple[str, ...]) -> list[Function]:
    """`represent`: from one state's words to its representative's."""
    fn = Function("represent", [("ptr", "from"), ("ptr", "to")], "void", "nounwind")
    for n in range(layout.words):
        fn.write("%to", fn.read("%from", n), n)
    fn.end("ret void")
    return [fn]
