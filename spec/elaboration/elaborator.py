"""What the parts of the elaborator of expressions need of the whole."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

import spec.model.ir as ir
import spec.model.types as t
import spec.syntax.expressions as se
from spec.elaboration.names import Declarations
from spec.elaboration.problems import Problems
from spec.elaboration.scopes import Facts, SlotFrame, TypeEnv
from spec.source import Span


class Elaborator(Protocol):
    """The interface of ExpressionElaborator that the modules it imports use."""

    declared: Declarations
    problems: Problems
    frame: SlotFrame

    def check(self, node: se.Expr, wanted: t.Type, env: TypeEnv, what: str = "here") -> ir.Expr:
        """The IR of an expression that must fit a type."""

    def infer(self, node: se.Expr, env: TypeEnv, hint: t.Type | None = None) -> ir.Expr:
        """The IR of an expression, whose type is inferred."""

    def facts(self, node: se.Expr, env: TypeEnv, *, truth: bool) -> Facts:
        """The narrower types of paths that follow if a condition is true (or false)."""

    def wrong(self, span: Span) -> ir.Expr:
        """A placeholder for an expression with a reported mistake."""

    def fail(
        self,
        code: str,
        span: Span,
        message: str,
        *,
        label: str = "",
        help: str = "",  # noqa: A002 - the word users see
        notes: tuple[tuple[Span, str], ...] = (),
    ) -> ir.Expr:
        """Report a mistake, and return a placeholder."""

    def mismatch(self, node: se.Expr, actual: t.Type, wanted: t.Type, what: str = "here") -> None:
        """Report that a type does not fit."""


def retyped(found: ir.Expr, of: t.Type) -> ir.Expr:
    """The same expression with a narrower, or the declared, type."""
    return found if found.type == of else replace(found, type=of)
