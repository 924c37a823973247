"""Expressions: surface → IR, checking names and types on the way.

One pass does both: what an expression means is known exactly when its type
is, and two passes would each need the other's tables.  Types flow down where
the place asks for something (`{}` as a set of replicas, a member of an enum)
and up otherwise.  A wrong expression is reported once and becomes a constant
of type Unknown, which fits everywhere.
"""

from __future__ import annotations

from typing import assert_never

import spec.elaboration.bindings as bindings
import spec.elaboration.operations as operations
import spec.elaboration.parts as parts
import spec.elaboration.references as references
import spec.elaboration.typing as typing
import spec.model.ir as ir
import spec.model.types as t
import spec.syntax.expressions as se
from spec.elaboration.elaborator import retyped
from spec.elaboration.names import Declarations
from spec.elaboration.scopes import Facts, Narrowed, SlotFrame, TypeEnv
from spec.model.op import Op
from spec.model.walk import variables_in
from spec.source import Span
from spec.wording import an

_DEEPEST = 100  # levels of nesting; far beyond, Python's own stack would end it less politely
_LARGEST = 100_000  # expressions in one action or property, functions inlined
_ALL_OF = {"to append": "+", "to add": "+", "to remove": "-"}  # of one, what does the same with several


class ExpressionElaborator:
    """Elaborates the syntax of expressions in one action, property or function into IR."""

    def __init__(self, declared: Declarations, frame: SlotFrame) -> None:
        self.declared = declared
        self.problems = declared.problems
        self.frame = frame
        self._depth = 0

    # -------------------------------------------------------------- entry points

    def check(self, node: se.Expr, wanted: t.Type, env: TypeEnv, what: str = "here") -> ir.Expr:
        """The IR of an expression that must fit `wanted`; reports R0301 if it does not."""
        found = self.infer(node, env, wanted)
        if typing.fits(found.type, wanted):
            return found
        self.mismatch(node, found.type, wanted, what, env.why_unknown(node))
        return self.wrong(node.span)

    def infer(self, node: se.Expr, env: TypeEnv, hint: t.Type | None = None) -> ir.Expr:
        """The IR of an expression with its inferred type; `hint` is the type preferred there."""
        self._depth += 1
        try:
            if self.problems.too_large or self._depth > _DEEPEST or self.frame.size > _LARGEST:
                return self._too_large(node.span)
            self.frame.size += 1
            found = self._not_empty(self._narrowed(node, self._infer(node, env, hint), env))
            self.problems.typed(node.span, found.type)
            return found
        finally:
            self._depth -= 1

    def _not_empty(self, found: ir.Expr) -> ir.Expr:
        """The expression; reports a choice from `{}` or `[]`, whose type is unknown."""
        if found.type != t.UNKNOWN or not isinstance(found, ir.Apply | ir.Bind) or self.problems:
            return found
        help_ = "say which type is meant: choose from a variable, or from `S`, the members of a sort"
        return self.fail("R0323", found.span, "there is never anything here to choose from", help=help_)

    def _too_large(self, span: Span) -> ir.Expr:
        """Report that an expression is too large, once for a text."""
        if self.problems.too_large:
            return self.wrong(span)
        self.problems.too_large = True
        at = self.frame.inlining[0][1] if self.frame.inlining else span
        what = "this is nested too deep"
        if self.frame.size > _LARGEST:
            what = f"this grows beyond {_LARGEST:,} expressions when its functions are put in place"
        return self.fail("R0104", at, what, help="break it into parts that say less each")

    def wrong(self, span: Span) -> ir.Expr:
        """A placeholder for an expression with a reported mistake."""
        return ir.Const(None, type=t.UNKNOWN, span=span)

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
        self.problems.add(code, span, message, label=label, help=help, notes=notes)
        return self.wrong(span)

    def mismatch(
        self,
        node: se.Expr,
        actual: t.Type,
        wanted: t.Type,
        what: str = "here",
        notes: tuple[tuple[Span, str], ...] = (),
    ) -> None:
        """Report that a type does not fit, with the usual remedy."""
        help_ = self._help_for(node, actual, wanted, what)
        message = f"{an(wanted)} is needed {what}, and this is {an(actual)}".replace(
            "a none", "none"
        ).replace("[?]", "")
        label = str(actual).replace("[?]", "")
        self.problems.add("R0301", node.span, message, label=label, help=help_, notes=notes)

    def _help_for(self, node: se.Expr, actual: t.Type, wanted: t.Type, what: str) -> str:
        """The remedy for a type that does not fit; empty if none is usual."""
        text = self.problems.shown(node.span)
        match actual, wanted:
            case ((t.Seq(of) | t.Set(of) | t.Bag(of)), _) if typing.fits(of, wanted) and what in _ALL_OF:
                return f"{what} all of it write `x := x {_ALL_OF[what]} {text}`"
            case t.Option(t.UnknownType()), _:
                return "only a type with a `?` has none"
            case t.Option(inner), _ if typing.fits(inner, wanted):
                return f"it may be none: test it first (`{text} != none`), or write `the({text})`"
            case t.Nat(), t.Nat():
                return f"if {an(actual)} really is meant as {an(wanted)}, write `int({text})`"
            case _, t.Set(of) if typing.fits(actual, of):
                return f"for a set of one write `{{{text}}}`"
            case _, t.Map(key, value) if isinstance(node, se.SetLit | se.SeqLit) and not node.items:
                return f"a map has a value for every key: `[k: {key} -> {_example(value)}]`"
            case _, t.Set() | t.Seq() | t.Bag() if isinstance(node, se.SetLit | se.SeqLit) and not node.items:
                brackets = "[]" if isinstance(wanted, t.Seq) else "{}"
                return f"an empty {type(wanted).__name__.lower()} is written `{brackets}`"
            case _, t.Bool() if t.is_number(actual) and _is_path(node):
                return f"compare it with something: `{text} > 0`"
            case t.Option(), t.Bool() if _is_path(node):
                return f"compare it with something: `{text} != none`"
            case _:
                return ""

    # -------------------------------------------------------------- facts

    def facts(self, node: se.Expr, env: TypeEnv, *, truth: bool) -> Facts:
        """The narrower types of paths that follow if `node` is true (or false)."""
        match node:
            case se.Binary("and", left, right) if truth:
                known = self.facts(left, env, truth=True)
                return {**known, **self.facts(right, env.knowing(known), truth=True)}
            case se.Binary("or", left, right) if not truth:
                known = self.facts(left, env, truth=False)
                return {**known, **self.facts(right, env.knowing(known), truth=False)}
            case se.Unary("not", of):
                return self.facts(of, env, truth=not truth)
            case se.Binary("!=" | "==" as op, path, se.NoneLit()) | se.Binary(
                "!=" | "==" as op, se.NoneLit(), path
            ):
                if (op == "!=") == truth and _is_path(path):
                    return self._known_present(path, env)
            case se.IsCase(path, case) if _is_path(path) and case.text in self.declared.cases:
                union, ordinal = self.declared.cases[case.text]
                if truth or len(union.cases) == 2:
                    case_known = union.cases[ordinal if truth else 1 - ordinal]
                    return {path: Narrowed(case_known, variables_in(self._quietly(path, env)))}
            case _:
                pass
        return {}

    def _known_present(self, path: se.Expr, env: TypeEnv) -> Facts:
        """The fact that an option at a path has a value."""
        found = self._quietly(path, env)
        return (
            {path: Narrowed(found.type.of, variables_in(found))} if isinstance(found.type, t.Option) else {}
        )

    def _quietly(self, node: se.Expr, env: TypeEnv) -> ir.Expr:
        """Elaborate for the type alone, without reports or slots."""
        frame = SlotFrame(self.frame.slots, [], list(self.frame.inlining), self.frame.size)
        found = ExpressionElaborator(self.declared, frame).infer(node, env)
        self.frame.size = frame.size
        return found

    def _narrowed(self, node: se.Expr, found: ir.Expr, env: TypeEnv) -> ir.Expr:
        """The expression with the narrower type that facts give it."""
        fact = env.facts.get(node) if env.facts and _is_path(node) else None
        known = None if fact is None else fact.type
        match found.type, known:
            case t.Option(), known if known is not None:
                return ir.Apply(Op.THE, (found,), type=known, span=node.span)
            case t.Union(name), t.Case(union) if name == union:
                return retyped(found, known)
            case _:
                return found

    # -------------------------------------------------------------- one case a node

    def _infer(self, node: se.Expr, env: TypeEnv, hint: t.Type | None) -> ir.Expr:  # noqa: C901
        """The IR of an expression, by its kind."""
        match node:
            case se.IntLit(value):
                return ir.Const(value, type=t.INT, span=node.span)
            case se.BoolLit(value):
                return ir.Const(value, type=t.BOOL, span=node.span)
            case se.NoneLit():
                of = hint if isinstance(hint, t.Option) else t.Option(t.UNKNOWN)
                return ir.Const(None, type=of, span=node.span)
            case se.Name():
                return references.named(self, node, env, hint)
            case se.Call():
                return references.call(self, node, env, hint)
            case se.Method():
                return references.method(self, node)
            case se.Get():
                return parts.get(self, node, env)
            case se.Index():
                return parts.entry(self, node, env)
            case se.Upto(_, bound) | se.From(_, bound):
                return parts.sliced(self, node, bound, env)
            case se.Unary("not", of):
                return ir.Apply(Op.NOT, (self.check(of, t.BOOL, env),), type=t.BOOL, span=node.span)
            case se.Unary(_, of):
                found = self.check(of, t.INT, env)
                return ir.Apply(
                    Op.NEG, (found,), type=typing.arithmetic(found.type, t.INT) or t.INT, span=node.span
                )
            case se.Binary():
                return operations.binary(self, node, env, hint)
            case se.IsCase():
                return operations.is_case(self, node, env)
            case se.IfElse():
                return operations.if_else(self, node, env, hint)
            case se.LetIn(name, value, body):
                inner, slot, found = bindings.let(self, name, value, env)
                then = self.infer(body, inner, hint)
                return ir.Let(slot, name.text, found, then, type=then.type, span=node.span)
            case se.Quantified():
                return bindings.quantified(self, node, env, hint)
            case se.SetLit() | se.SeqLit() | se.TupleLit() | se.MapComprehension() if isinstance(
                hint, t.Option
            ):
                return self._infer(node, env, hint.of)  # what is written out is there
            case se.SetLit(items) | se.SeqLit(items):
                return self._literal(node, items, env, hint)
            case se.TupleLit(items):
                hints = (
                    hint.items
                    if isinstance(hint, t.Tuple) and len(hint.items) == len(items)
                    else (None,) * len(items)
                )
                made = tuple(self.infer(i, env, h) for i, h in zip(items, hints, strict=True))
                return ir.Make(made, type=t.Tuple(tuple(p.type for p in made)), span=node.span)
            case se.Filter():
                return bindings.filtered(self, node, env)
            case se.Collect():
                return bindings.collected(self, node, env, hint)
            case se.MapComprehension():
                return bindings.map_of(self, node, env, hint)
            case _:
                assert_never(node)

    def _literal(
        self, node: se.SetLit | se.SeqLit, items: tuple[se.Expr, ...], env: TypeEnv, hint: t.Type | None
    ) -> ir.Expr:
        """The IR of a set or seq literal."""
        wanted = t.element(hint) if isinstance(hint, t.Set | t.Seq | t.Bag) else None
        made = []
        common: t.Type = t.UNKNOWN
        for item in items:
            part = self.infer(item, env, wanted if wanted is not None else common)
            joined = operations.unify(self, common, part.type)
            if joined is None:
                message = f"the members differ: {an(common)} and {an(part.type)}"
                return self.fail("R0319", item.span, message, help="all must be of one type")
            common = joined
            made.append(part)
        if wanted is not None and typing.fits(common, wanted):
            common = wanted
        if isinstance(hint, t.Bag) and isinstance(node, se.SetLit) and not items:
            return ir.Const(frozenset(), type=hint, span=node.span)
        of: t.Type = t.Set(common) if isinstance(node, se.SetLit) else t.Seq(common, None)
        return ir.Make(tuple(made), type=of, span=node.span)


def _example(of: t.Type) -> str:
    """A value of a type as a writer may begin with, or `…`."""
    match of:
        case t.Option():
            return "none"
        case t.Set() | t.Bag():
            return "{}"
        case t.Seq():
            return "[]"
        case t.Bool():
            return "false"
        case _ if t.is_number(of):
            return "0"
        case _:
            return "…"


def _is_path(node: se.Expr) -> bool:
    """Whether an expression is a path such as `x.f[i]`."""
    match node:
        case se.Name():
            return True
        case se.Get(of):
            return _is_path(of)
        case se.Index(of, index):
            return _is_path(of) and (_is_path(index) or isinstance(index, se.IntLit))
        case _:
            return False
