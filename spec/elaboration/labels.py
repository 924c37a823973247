"""First values that name members: what to write instead, since a sort has no literals."""

from __future__ import annotations

import spec.model.ir as ir
import spec.syntax.expressions as se
from spec.elaboration.elaborator import Elaborator
from spec.elaboration.names import DeclaredVariable
from spec.elaboration.references import label


def by_label(e: Elaborator, var: DeclaredVariable) -> ir.Expr | None:
    """Report a first value that is a member, or a set of them, by names of a scope; None for others."""
    match var.init:
        case se.Name(name) if name in e.declared.labels and var.owner is None:
            sort, _ = e.declared.labels[name]
            start = f"`init {{ choose n: {sort}  {var.name} := n }}` starts with any"
            return label(e, name, var.init.span, start)
        case se.SetLit(items) if var.owner is None and (names := _labelled(e, items)):
            sort, size = e.declared.labels[names[0]]
            if len(names) == size:
                return label(e, names[0], var.init.span, f"write `{sort}`, the set of them all")
            chosen = f"choose s in subsets({sort}) where size(s) == {len(names)}"
            start = (
                f"write `{{}}`, and to start with any {len(names)}: `init {{ {chosen}  {var.name} := s }}`"
            )
            return label(e, names[0], var.init.span, start)
        case _:
            return None


def _labelled(e: Elaborator, items: tuple[se.Expr, ...]) -> list[str]:
    """The names of members, where all items are such; else none."""
    names = [part.name for part in items if isinstance(part, se.Name) and part.name in e.declared.labels]
    return names if len(names) == len(items) else []
