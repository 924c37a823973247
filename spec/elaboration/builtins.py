"""The functions of the language: what each takes, and the IR it becomes."""

from __future__ import annotations

from collections.abc import Callable

import spec.elaboration.bindings as bindings
import spec.elaboration.operations as operations
import spec.elaboration.typing as typing
import spec.model.ir as ir
import spec.model.types as t
import spec.syntax.expressions as se
import spec.syntax.tree as s
from spec.diagnostics import suggest
from spec.elaboration.elaborator import Elaborator
from spec.elaboration.names import DeclaredVariable
from spec.elaboration.scopes import TypeEnv, Use
from spec.model.op import FUNCTIONS, Op, Quantifier
from spec.source import Span
from spec.wording import an, counted

_Named = tuple[se.Ident, tuple[se.Arg, ...]]
_Build = Callable[[se.Call, TypeEnv, t.Type | None], ir.Expr]


class Builtins:
    """Elaborates calls of built-in functions."""

    def __init__(self, elaborator: Elaborator) -> None:
        self._e = elaborator
        self._table: dict[str, _Build] = {
            "at": self._at,
            "common_prefix": self._common_prefix,
            "count": self._count,
            "did": self._did,
            "elements": self._elements,
            "enabled": self._enabled,
            "flushed": self._flushed,
            "head": self._head,
            "int": self._int,
            "last": self._last,
            "max": self._extremum,
            "min": self._extremum,
            "old": self._old,
            "size": self._size,
            "starts_with": self._starts_with,
            "subsets": self._subsets,
            "the": self._the,
        }

    def call(self, node: se.Call, env: TypeEnv, hint: t.Type | None) -> ir.Expr:
        """The IR of a call; reports wrong arguments."""
        name, arity = node.name.text, FUNCTIONS[node.name.text]
        for arg in node.args:
            if arg.name is not None:
                return self._e.fail("R0313", arg.span, f"`{name}` takes its arguments by position")
        if len(node.args) not in arity:
            for arg in node.args:
                self._e.infer(arg.value, env)
            many = " or ".join(map(str, arity))
            return self._e.fail(
                "R0313",
                node.span,
                f"`{name}` takes {many} {'argument' if arity == (1,) else 'arguments'}, not {len(node.args)}",
            )
        return self._table[name](node, env, hint)

    def _of(
        self, node: se.Call, env: TypeEnv, kinds: type[t.Type] | tuple[type[t.Type], ...], what: str
    ) -> ir.Expr | None:
        """The first argument, if its type is one that the function takes; else reports."""
        arg = node.args[0].value
        found = self._e.infer(arg, env)
        if isinstance(found.type, kinds):
            return found
        if not isinstance(found.type, t.UnknownType):
            message = f"`{node.name.text}` takes {what}, and this is {an(found.type)}"
            self._e.fail("R0322", arg.span, message, label=str(found.type))
        return None

    def _wrong(self, node: se.Call, env: TypeEnv, rest: int = 1) -> ir.Expr:
        """A placeholder for a wrong call; elaborates the other arguments to report their mistakes."""
        for arg in node.args[rest:]:
            self._e.infer(arg.value, env)
        return ir.Const(None, type=t.UNKNOWN, span=node.span)

    # -------------------------------------------------------------- collections

    def _at(self, node: se.Call, env: TypeEnv, _hint: t.Type | None) -> ir.Expr:
        """Elaborate `at(s, i)`."""
        of = self._of(node, env, t.Seq, "a seq and an offset")
        if of is None:
            return self._wrong(node, env)
        index = self._e.check(node.args[1].value, typing.length(of.type), env, "as an offset")
        return self._optional_element(Op.AT, (of, index), node)

    def _head(self, node: se.Call, env: TypeEnv, _hint: t.Type | None) -> ir.Expr:
        """Elaborate `head(s)`."""
        of = self._of(node, env, t.Seq, "a seq")
        if of is None:
            return self._wrong(node, env)
        return self._optional_element(Op.AT, (of, ir.Const(0, type=t.INT, span=node.span)), node)

    def _optional_element(self, op: Op, args: tuple[ir.Expr, ...], node: se.Call) -> ir.Expr:
        """A call whose value is an element of its argument, or none if that is empty."""
        inner = t.element(args[0].type) or t.UNKNOWN
        if isinstance(inner, t.Option):
            help_ = "index it after testing its size"
            return self._e.fail("R0307", node.span, "this would be an option of an option", help=help_)
        return ir.Apply(op, args, type=t.Option(inner), span=node.span)

    def _last(self, node: se.Call, env: TypeEnv, _hint: t.Type | None) -> ir.Expr:
        """Elaborate `last(s)`."""
        of = self._of(node, env, t.Seq, "a seq")
        if of is None:
            return self._wrong(node, env)
        return ir.Apply(Op.LAST, (of,), type=t.element(of.type) or t.UNKNOWN, span=node.span)

    def _seqs(self, node: se.Call, env: TypeEnv) -> tuple[ir.Expr, ir.Expr] | None:
        """The two arguments, if they are sequences; else reports."""
        left, right = operations.pair(self._e, node.args[0].value, node.args[1].value, env)
        for arg, found in zip(node.args, (left, right), strict=True):
            if not isinstance(found.type, t.Seq | t.UnknownType):
                message = f"`{node.name.text}` takes two seqs, and this is {an(found.type)}"
                self._e.fail("R0322", arg.span, message, label=str(found.type))
                return None
        if operations.unify(self._e, left.type, right.type) is None:
            message = f"the two differ: {left.type} and {right.type}"
            self._e.fail("R0319", node.span, message, help="both must have entries of one type")
            return None
        return left, right

    def _common_prefix(self, node: se.Call, env: TypeEnv, _hint: t.Type | None) -> ir.Expr:
        """Elaborate `common_prefix(a, b)`."""
        both = self._seqs(node, env)
        if both is None:
            return self._wrong(node, env, rest=2)
        return ir.Apply(Op.COMMON, both, type=typing.length(both[0].type), span=node.span)

    def _starts_with(self, node: se.Call, env: TypeEnv, _hint: t.Type | None) -> ir.Expr:
        """Elaborate `starts_with(a, b)`."""
        both = self._seqs(node, env)
        return (
            self._wrong(node, env, rest=2)
            if both is None
            else ir.Apply(Op.STARTS, both, type=t.BOOL, span=node.span)
        )

    def _count(self, node: se.Call, env: TypeEnv, _hint: t.Type | None) -> ir.Expr:
        """Elaborate `count(x, bag)`."""
        bag_arg = node.args[1].value
        bag = self._e.infer(bag_arg, env)
        if not isinstance(bag.type, t.Bag):
            if not isinstance(bag.type, t.UnknownType):
                self._e.fail(
                    "R0322", bag_arg.span, f"`count` takes a value and a bag, and this is {an(bag.type)}"
                )
            return self._wrong(node, env, rest=0)
        value = self._e.check(node.args[0].value, bag.type.of, env)
        return ir.Apply(Op.COUNT, (value, bag), type=t.INT, span=node.span)

    def _elements(self, node: se.Call, env: TypeEnv, _hint: t.Type | None) -> ir.Expr:
        """Elaborate `elements(c)`."""
        of = self._of(node, env, (t.Seq, t.Bag, t.Option), "a seq, bag or option")
        if of is None:
            return self._wrong(node, env)
        return ir.Apply(Op.ELEMENTS, (of,), type=t.Set(t.element(of.type) or t.UNKNOWN), span=node.span)

    def _size(self, node: se.Call, env: TypeEnv, _hint: t.Type | None) -> ir.Expr:
        """Elaborate `size(c)`."""
        of = self._of(node, env, (t.Seq, t.Bag, t.Set, t.Option), "a set, bag, seq or option")
        if of is None:
            return self._wrong(node, env)
        return ir.Apply(Op.SIZE, (of,), type=typing.length(of.type), span=node.span)

    def _subsets(self, node: se.Call, env: TypeEnv, _hint: t.Type | None) -> ir.Expr:
        """Elaborate `subsets(s)`."""
        of = self._of(node, env, t.Set, "a set")
        if of is None:
            return self._wrong(node, env)
        return ir.Apply(Op.SUBSETS, (of,), type=t.Set(of.type), span=node.span)

    def _the(self, node: se.Call, env: TypeEnv, _hint: t.Type | None) -> ir.Expr:
        """Elaborate `the(c)`."""
        arg = node.args[0].value
        if arg in env.facts and not isinstance((known := self._e.infer(arg, env)).type, t.Option):
            return known  # an earlier test has shown that it is there
        of = self._of(node, env, (t.Option, t.Set), "an option or a set of one")
        if of is None:
            return self._wrong(node, env)
        return ir.Apply(Op.THE, (of,), type=t.element(of.type) or t.UNKNOWN, span=node.span)

    def _extremum(self, node: se.Call, env: TypeEnv, hint: t.Type | None) -> ir.Expr:
        """Elaborate `min` or `max`."""
        greatest = node.name.text == "max"
        if len(node.args) == 1:
            of = self._of(node, env, t.Set, "a set, or two values")
            if of is None:
                return self._wrong(node, env)
            args: tuple[ir.Expr, ...] = (of,)
            result = t.element(of.type)
            op = Op.GREATEST if greatest else Op.LEAST
        else:
            left, right = node.args[0].value, node.args[1].value
            args = operations.pair(self._e, left, right, env, hint)
            result = operations.unify(self._e, args[0].type, args[1].type)
            if result is None:
                both = se.Binary(node.name.text, left, right, span=node.span)
                return operations.mixed(self._e, both, args[0].type, args[1].type)
            op = Op.MAX2 if greatest else Op.MIN2
        if result is None or not (t.is_ordered(result) or result == t.UNKNOWN):
            shown = " and ".join(str(a.type) for a in args)
            return self._e.fail(
                "R0316",
                node.span,
                f"there is no order on {shown}",
                label=shown,
                help="take the greatest of numbers",
            )
        return ir.Apply(op, args, type=result, span=node.span)

    def _int(self, node: se.Call, env: TypeEnv, _hint: t.Type | None) -> ir.Expr:
        """Elaborate `int(b)`."""
        found = self._e.check(node.args[0].value, t.INT, env)
        zero = ir.Const(0, type=t.INT, span=node.span)
        return ir.Apply(Op.ADD, (found, zero), type=t.INT, span=node.span)

    def _flushed(self, node: se.Call, env: TypeEnv, _hint: t.Type | None) -> ir.Expr:
        """Elaborate `flushed(r.log)`."""
        arg = node.args[0].value
        found = cached_field(self._e, arg, env)
        if found is None:
            help_ = "write `flushed(r.log)` where `log` is declared `cached`"
            return self._e.fail("R0322", arg.span, "`flushed` takes a cached field of a process", help=help_)
        var, member = found
        assert isinstance(var.type, t.Seq)
        self._e.frame.use(Use.STATE, node.span, var.name)
        of = flush_type(var.type)
        whole = ir.Var(var.index + 1, type=t.Map(t.Sort(var.owner or ""), of), span=node.span)
        return ir.Apply(Op.LOOKUP, (whole, member), type=of, span=node.span)

    # -------------------------------------------------------------- time

    def _old(self, node: se.Call, env: TypeEnv, hint: t.Type | None) -> ir.Expr:
        """Elaborate `old(e)`."""
        self._e.frame.use(Use.OLD, node.span, "old")
        found = self._e.infer(node.args[0].value, env.settled(), hint)
        return ir.Old(found, type=found.type, span=node.span)

    def _did(self, node: se.Call, env: TypeEnv, _hint: t.Type | None) -> ir.Expr:
        """Elaborate `did(action, …)`."""
        self._e.frame.use(Use.OLD, node.span, "did")
        named = named_action(node.args[0].value)
        params = self._params_of(named, node)
        if named is None or params is None:
            return self._wrong(node, env, rest=1)
        name, args = named
        if len(args) > len(params):
            return self._too_many(node, name, len(params))
        values = tuple(
            self._e.infer(arg.value, env)
            if of is None
            else self._e.check(arg.value, of, env, f"by `{name.text}`")
            for arg, of in zip(args, params, strict=False)
        )
        return ir.Did(name.text, values, type=t.BOOL, span=node.span)

    def _too_many(self, node: se.Call, name: se.Ident, most: int) -> ir.Expr:
        """Report too many arguments of an action."""
        help_ = "arguments are the first parameters; those left out may be anything"
        return self._e.fail("R0313", node.span, f"`{name.text}` has {counted(most, 'parameter')}", help=help_)

    def _params_of(self, named: _Named | None, node: se.Call) -> list[t.Type | None] | None:
        """The types of an action's parameters; None for one that only its domain determines."""
        declared, what = self._e.declared, node.name.text
        if named is None:
            arg = node.args[0]
            self._e.fail(
                "R0322", arg.span, f"`{what}` takes an action", help=f"write it as in `{what}(crash(r))`"
            )
            return None
        name = named[0]
        if name.text in declared.actions:
            params = declared.actions[name.text].params
            return [declared.resolve(p.type) if p.type else self._domain_type(p) for p in params]
        network, _, fault = name.text.partition(".")
        if network in declared.networks and any(f.text == fault for f in declared.networks[network].faults):
            of = declared.resolve(declared.networks[network].of)
            last = t.INT if declared.networks[network].mode.text == "fifo" else of
            return [*map(declared.resolve, declared.networks[network].keys), last]
        faults = [f"{net}.{f.text}" for net, item in declared.networks.items() for f in item.faults]
        help_ = suggest(name.text, [*declared.actions, *faults])
        self._e.fail("R0208", name.span, f"there is no action `{name.text}`", help=help_)
        return None

    def _domain_type(self, param: se.Binder) -> t.Type | None:
        """The type of a parameter, if its domain does not depend on other parameters."""
        match param.domain:
            case se.Name(name) if name in self._e.declared.variables:
                return t.element(self._e.declared.variables[name].type)
            case se.Name(name) if name in self._e.declared.types:
                return self._e.declared.types[name]
            case _:
                return None

    def _enabled(self, node: se.Call, env: TypeEnv, _hint: t.Type | None) -> ir.Expr:
        """Elaborate `enabled(action, …)`: some binding of the missing parameters passes every guard."""
        self._e.frame.use(Use.ENABLED, node.span, "enabled")
        named = named_action(node.args[0].value)
        if self._params_of(named, node) is None or named is None:
            return self._wrong(node, env, rest=1)
        name, args = named
        if any(name.text == busy for busy, _ in self._e.frame.inlining):
            return self._wrong(node, env, rest=1)  # a guard that asks for itself: reported at its own place
        if name.text not in self._e.declared.actions:
            help_ = "a fault of a network is possible whenever a message is under way: ask about the network"
            return self._e.fail("R0322", node.span, "`enabled` asks about declared actions", help=help_)
        action = self._e.declared.actions[name.text]
        if len(args) > len(action.params):
            return self._too_many(node, name, len(action.params))
        given = [self._e.infer(arg.value, env) for arg in args]
        self._e.frame.inlining.append((name.text, node.span))
        made = self._passes(action, given, TypeEnv(), 0, node.span)
        self._e.frame.inlining.pop()
        return made

    def _passes(
        self, action: s.ActionDecl, given: list[ir.Expr], env: TypeEnv, at: int, span: Span
    ) -> ir.Expr:
        """The condition that an action's guards pass for some values of the parameters from `at` on."""
        if at == len(action.params):
            return self._guards(action, env, 0, span)
        binder = action.params[at]
        inner, slot, domain, case, of = bindings.bind(self._e, binder, env)
        rest = self._passes(action, given, inner, at + 1, span)
        if at >= len(given):
            name = binder.name.text
            return ir.Bind(Quantifier.EXISTS, slot, name, domain, None, rest, case, type=t.BOOL, span=span)
        value = given[at]
        if not typing.fits(value.type, of):
            return self._e.fail(
                "R0301", value.span, f"`{action.name.text}` takes {an(of)} here", label=str(value.type)
            )
        member = ir.Apply(Op.IN, (value, domain), type=t.BOOL, span=span)
        bound = ir.Let(slot, binder.name.text, value, rest, type=t.BOOL, span=span)
        return ir.And((member, bound), type=t.BOOL, span=span)

    def _guards(self, action: s.ActionDecl, env: TypeEnv, at: int, span: Span) -> ir.Expr:
        """The condition that an action's guards from `at` on pass."""
        match action.body[at] if at < len(action.body) else None:
            case s.Require(_, test):
                first = self._e.check(test, t.BOOL, env)
                rest = self._guards(action, env.knowing(self._e.facts(test, env, truth=True)), at + 1, span)
                return ir.And((first, rest), type=t.BOOL, span=span)
            case s.LetStmt(name, value):
                inner, slot, found = bindings.let(self._e, name, value, env)
                rest = self._guards(action, inner, at + 1, span)
                return ir.Let(slot, name.text, found, rest, type=t.BOOL, span=span)
            case _:
                return ir.Const(True, type=t.BOOL, span=span)  # noqa: FBT003 - a value


def named_action(node: se.Expr) -> tuple[se.Ident, tuple[se.Arg, ...]] | None:
    """The action an expression names, and its arguments: `crash`, `crash(r)`, `net.drop(m)`."""
    match node:
        case se.Name(name):
            return se.Ident(name, span=node.span), ()
        case se.Call(name, args):
            return name, args
        case se.Get(se.Name(network), fault):
            return se.Ident(f"{network}.{fault.text}", span=node.span), ()
        case se.Method(se.Name(network), fault, args):
            return se.Ident(f"{network}.{fault.text}", span=node.span), args
        case _:
            return None


def cached_field(
    elaborator: Elaborator, node: se.Expr, env: TypeEnv
) -> tuple[DeclaredVariable, ir.Expr] | None:
    """The cached field that `r.log` names, and the member; None if it names none."""
    if not isinstance(node, se.Get):
        return None
    member = elaborator.infer(node.of, env)
    if not isinstance(member.type, t.Sort):
        return None
    found = elaborator.declared.fields.get(member.type.name, {}).get(node.name.text)
    if found is None or found.storage != "cached" or not isinstance(found.type, t.Seq):
        return None
    return found, member


def flush_type(of: t.Seq) -> t.Type:
    """The type of the number of flushed entries of a cached seq."""
    assert of.limit is not None
    return t.Nat(of.limit.of) if isinstance(of.limit.of, str) else t.Range(0, of.limit.of)
