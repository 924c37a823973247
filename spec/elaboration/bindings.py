"""Forms that bind a name: `let`, quantifiers, comprehensions, maps."""

from __future__ import annotations

import spec.elaboration.typing as typing
import spec.model.ir as ir
import spec.model.types as t
import spec.syntax.expressions as se
from spec.elaboration.elaborator import Elaborator
from spec.elaboration.names import KEYS, usable
from spec.elaboration.scopes import Binding, TypeEnv
from spec.model.op import Op, Quantifier
from spec.wording import an


def let(e: Elaborator, name: se.Ident, value: se.Expr, env: TypeEnv) -> tuple[TypeEnv, int, ir.Expr]:
    """The environment with `name` bound to `value`, its slot, and the elaborated value."""
    found = e.infer(value, env)
    fresh(e, name, env)
    e.problems.typed(name.span, found.type)
    slot = e.frame.slot()
    return env.bind(name.text, Binding(found.type, slot)), slot, found


def fresh(e: Elaborator, name: se.Ident, env: TypeEnv) -> None:
    """Report a bound name that shadows another, or is a keyword."""
    if not usable(e.declared, name):
        return
    if name.text in env.names or name.text in e.declared.places or name.text in e.declared.members:
        what = f"`{name.text}` already has a meaning here"
        place = e.declared.places.get(name.text)
        notes = ((place, "declared here"),) if place and name.text not in env.names else ()
        e.problems.add("R0211", name.span, what, help="choose another name", notes=notes)


def bind(e: Elaborator, binder: se.Binder, env: TypeEnv) -> tuple[TypeEnv, int, ir.Expr, int | None, t.Type]:
    """The environment with a bound name, its slot, domain, case (if narrowed) and type."""
    domain, of, case = _domain(e, binder, env)
    fresh(e, binder.name, env)
    e.problems.typed(binder.name.span, of)
    slot = e.frame.slot()
    return env.bind(binder.name.text, Binding(of, slot)), slot, domain, case, of


def _domain(e: Elaborator, binder: se.Binder, env: TypeEnv) -> tuple[ir.Expr, t.Type, int | None]:
    """The domain of a binder, the type of its members, and the case (if narrowed)."""
    of = e.declared.resolve(binder.type) if binder.type is not None else None
    if binder.domain is None:
        assert of is not None
        assert binder.type is not None
        if not t.is_scalar(of) and of != t.UNKNOWN:
            help_ = f"say where they come from: `{binder.name.text}: {of} in …`"
            if isinstance(of, t.Range):
                help_ = f"a range of no more than {t.LARGEST_LISTED:,} numbers can"
            return (
                e.fail("R0320", binder.type.span, f"all values of {of} cannot be listed", help=help_),
                of,
                None,
            )
        return ir.Members(of, type=t.Set(of), span=binder.type.span), of, None
    domain = e.infer(binder.domain, env)
    inner = t.element(domain.type)
    if inner is None:
        message = f"{an(domain.type)} has no members to go through"
        help_ = "a set, bag, seq or option has"
        if isinstance(domain.type, t.Map):
            help_ = f"its keys are all of a type: `{binder.name.text}: {domain.type.key}`"
        elif t.is_number(domain.type):
            help_ = f"for the numbers up to it write `0..{e.problems.shown(binder.domain.span)}`"
        elif isinstance(domain, ir.Apply) and domain.op is Op.THE and not isinstance(binder.domain, se.Call):
            shown = e.problems.shown(binder.domain.span)
            help_ = f"a test above says that it is there, so write `{shown}` for its value"
        return (
            e.fail("R0317", binder.domain.span, message, label=str(domain.type), help=help_),
            t.UNKNOWN,
            None,
        )
    if of is None:
        return domain, inner, None
    if isinstance(of, t.Case) and isinstance(inner, t.Union) and of.union == inner.name:
        return domain, of, e.declared.cases[of.name][1]
    if not typing.fits(inner, of):
        assert binder.type is not None
        e.problems.add("R0301", binder.type.span, f"the members are of type {inner}", label=str(of))
    return domain, of, None


def quantified(e: Elaborator, node: se.Quantified, env: TypeEnv, hint: t.Type | None) -> ir.Expr:
    """The IR of a quantifier such as `forall x in S. P`: one `Bind` for each bound name."""
    kind = Quantifier(node.quantifier)
    if kind not in {Quantifier.FORALL, Quantifier.EXISTS} and len(node.binders) > 1:
        help_ = "for pairs, nest one in the other"
        return e.fail("R0321", node.binders[1].span, f"`{kind.value}` takes one name", help=help_)
    bound = []
    for binder in node.binders:
        env, slot, domain, case, of = bind(e, binder, env)
        bound.append((binder.name.text, slot, domain, case, of))
    where = None
    if node.where is not None:
        where = e.check(node.where, t.BOOL, env)
        env = env.knowing(e.facts(node.where, env, truth=True))
    body = _quantified_body(e, node, kind, env, hint)
    match kind:
        case Quantifier.FORALL | Quantifier.EXISTS:
            result: t.Type = t.BOOL
        case Quantifier.SUM:
            result = t.INT
        case Quantifier.ARGMAX | Quantifier.ARGMIN:
            result = bound[-1][4]
        case _:
            result = body.type
    for name, slot, domain, case, _ in reversed(bound):
        body = ir.Bind(kind, slot, name, domain, where, body, case, type=result, span=node.span)
        where = None
    return body


def _quantified_body(
    e: Elaborator, node: se.Quantified, kind: Quantifier, env: TypeEnv, hint: t.Type | None
) -> ir.Expr:
    """The IR of a quantifier's body, which fits the kind of quantifier."""
    if kind in {Quantifier.FORALL, Quantifier.EXISTS}:
        return e.check(node.body, t.BOOL, env)
    if kind is Quantifier.SUM:
        return e.check(node.body, t.INT, env, "in a sum")
    body = e.infer(node.body, env, hint)
    if not t.is_ordered(body.type) and body.type != t.UNKNOWN:
        return e.fail(
            "R0316",
            node.body.span,
            f"{an(body.type)} has no order",
            label=str(body.type),
            help="use a number, such as `size(r.log)`",
        )
    return body


def filtered(e: Elaborator, node: se.Filter, env: TypeEnv) -> ir.Expr:
    """The IR of `{x in S where P}`."""
    binder = node.binder
    inner, slot, domain, case, of = bind(e, binder, env)
    test = e.check(node.where, t.BOOL, inner)
    kept = ir.Local(slot, type=of, span=binder.span)
    limit = domain.type.limit if isinstance(domain.type, t.Set) else None
    kind = Quantifier.SET
    return ir.Bind(
        kind, slot, binder.name.text, domain, test, kept, case, type=t.Set(of, limit), span=node.span
    )


def collected(e: Elaborator, node: se.Collect, env: TypeEnv, hint: t.Type | None) -> ir.Expr:
    """The IR of `{e for x in S where P}`."""
    binders, where = node.binders, node.where
    if len(binders) > 1:
        help_ = "write it as a union of sets, or with a `for` statement"
        return e.fail("R0321", binders[1].span, "a comprehension binds one name", help=help_)
    inner, slot, domain, case, _ = bind(e, binders[0], env)
    test = None
    if where is not None:
        test = e.check(where, t.BOOL, inner)
        inner = inner.knowing(e.facts(where, inner, truth=True))
    made = e.infer(node.body, inner, t.element(hint) if hint is not None else None)
    kind, name = Quantifier.SET, binders[0].name.text
    return ir.Bind(kind, slot, name, domain, test, made, case, type=t.Set(made.type), span=node.span)


def map_of(e: Elaborator, node: se.MapComprehension, env: TypeEnv, hint: t.Type | None) -> ir.Expr:
    """The IR of `[k: K -> e]`."""
    key = e.declared.resolve(node.type)
    if not t.is_scalar(key):
        if key == t.UNKNOWN:
            return e.wrong(node.span)
        return e.fail("R0310", node.type.span, f"`{key}` cannot be the key of a map", help=KEYS)
    fresh(e, node.name, env)
    e.problems.typed(node.name.span, key)
    slot = e.frame.slot()
    wanted = hint.value if isinstance(hint, t.Map) else None
    body = e.infer(node.body, env.bind(node.name.text, Binding(key, slot)), wanted)
    return ir.MapOf(slot, node.name.text, body, type=t.Map(key, body.type), span=node.span)
