"""What names and calls refer to: variables, members, functions, records, cases."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

import spec.model.ir as ir
import spec.model.types as t
import spec.syntax.expressions as se
import spec.syntax.tree as s
from spec.diagnostics import suggest
from spec.elaboration.builtins import Builtins
from spec.elaboration.elaborator import Elaborator, retyped
from spec.elaboration.names import DeclaredVariable
from spec.elaboration.scopes import Binding, TypeEnv, Use
from spec.model.op import FUNCTIONS
from spec.source import Span
from spec.wording import an, counted, listed

_AS_IT_IS = "`$` as it is: a value fits where an option of it is wanted"
_FOREIGN_FUNCTIONS = {  # in lower case and without `_`; `$` and `@` are the first two arguments, `%` all
    "some": _AS_IT_IS,
    "just": _AS_IT_IS,
    "issome": "`$ != none`",
    "isnone": "`$ == none`",
    "unwrap": "`the($)`",
    "get": "`the($)`, or `m[k]` for a map",
    **dict.fromkeys(("len", "length", "card", "cardinality", "count", "sizeof"), "`size($)`"),
    "first": "`$[0]`",
    "tail": "`$[1..]`",
    **dict.fromkeys(("contains", "includes", "has"), "`@ in $`"),
    **dict.fromkeys(("empty", "isempty"), "`size($) == 0`"),
    **dict.fromkeys(
        ("pick", "oneof"), "`choose x in $` as a statement, or a parameter `x in $` of the action"
    ),
    **dict.fromkeys(("keys", "domain"), "`K`, the type of its keys: a map has them all"),
    "append": "`$ + [@]`",
    "subseq": "`$[..n][m..]`, the entries from m on and before n, counted from 0",
    "range": "`0..$ - 1`",
    "set": "`{%}`",
    **dict.fromkeys(("list", "tuple"), "`[%]`"),
    "dict": "`[k: K -> e]`",
}
_NOTHING = {"null", "nil", "undefined", "nothing"}  # in other languages
_FOREIGN_NAMES = {
    **dict.fromkeys(("self", "this"), "name the member: a parameter `n: S`, of its sort, and then `n.x`"),
    "not": "after an operator it needs parentheses: `(not p)`",
    "SUBSET": "write `subsets(S)`",
}
_FOREIGN_METHODS = {  # `$` is what they are of, `@` and `#` the first two arguments
    "size": "`size($)`",
    **dict.fromkeys(("push", "pushback"), "`$ + [@]`"),
    "insert": "`$ + {@}`",
    "union": "`$ + S`",
    **dict.fromkeys(("intersect", "intersection"), "`$ & @`"),
    **dict.fromkeys(("diff", "difference", "minus", "exclude", "setminus"), "`$ - @`"),
    **dict.fromkeys(("filter", "select"), "`{x in $ where P}`"),
    "map": "`{e for x in $}`",
    **dict.fromkeys(("forall", "all", "every"), "`forall x in $. P`"),
    **dict.fromkeys(("exists", "any", "some"), "`exists x in $. P`"),
    **dict.fromkeys(("issubset", "subseteq"), "`$ subset @`"),
    **dict.fromkeys(("iter", "intoiter"), "`$` as it is"),
    "in": "`$ in @`",
    "notin": "`$ not in @`",
    "to": "`$..@`",
    **dict.fromkeys(("put", "set"), "the statement `$[@] := #`"),
}
VERBS = {  # what follows a dot in a statement, and of what
    "append": "a seq",
    "add": "a set or bag",
    "remove": "a set or bag",
    "send": "a network",
    "receive": "a network",
}


def named(e: Elaborator, node: se.Name, env: TypeEnv, hint: t.Type | None) -> ir.Expr:
    """The IR of a name."""
    name, declared = node.name, e.declared
    if name in env.names:
        bound = env.names[name]
        if bound.value is not None:
            return replace(bound.value, span=node.span)
        return ir.Local(bound.slot, type=bound.type, span=node.span)
    if name in declared.members and name not in declared.variables:
        return _member(e, node, hint)
    if name in declared.variables:
        return variable(e, declared.variables[name], node.span)
    if name in declared.configs:
        return ir.Config(name, type=declared.configs[name], span=node.span)
    if name in declared.functions:
        return _apply_function(e, declared.functions[name], (), node.span, env)
    if name in declared.cases:
        union, ordinal = declared.cases[name]
        return _make_case(e, union, ordinal, (), node.span, env)
    if name in declared.types:
        return _type_as_set(e, node)
    return unknown_name(e, node, [*env.names, *e.declared.known(), "true", "false", "none"], hint)


def variable(e: Elaborator, found: DeclaredVariable, span: Span) -> ir.Expr:
    """The IR of a whole state variable; records that the state is read."""
    e.frame.use(Use.GHOST if found.ghost else Use.STATE, span, found.name)
    of = t.Map(t.Sort(found.owner), found.type) if found.owner else found.type
    return ir.Var(found.index, type=of, span=span)


def label(e: Elaborator, name: str, span: Span, help_: str = "") -> ir.Expr:
    """Report the name of a member that is only for traces; the help is on how to mean any member."""
    sort, _ = e.declared.labels[name]
    message = f"`{name}` names a member of {sort} in traces only: all members are alike in a model"
    help_ = help_ or f"bind a member: `forall n: {sort}. …`, `choose n: {sort}`, a parameter"
    return e.fail("R0208", span, message, help=help_)


def unknown_name(e: Elaborator, node: se.Name, known: Iterable[str], hint: t.Type | None = None) -> ir.Expr:
    """Report an unknown name; those in `known` may have been meant."""
    help_ = _FOREIGN_NAMES.get(node.name) or suggest(node.name, known)
    owners = [sort for sort, fields in e.declared.fields.items() if node.name in fields]
    if not help_ and owners:
        help_ = f"`{node.name}` is a field of each {owners[0]}: write `r.{node.name}`"
    wanted = hint.of if isinstance(hint, t.Option) else hint
    if not help_ and isinstance(wanted, t.Enum):
        help_ = f"there are {listed(wanted.members)}"
    if not help_ and isinstance(wanted, t.Bool):
        help_ = "a bool is true or false"
    if not help_ and node.name.lower() in _NOTHING:
        help_ = "write `none`"
    if node.name in e.declared.labels:
        return label(e, node.name, node.span)
    if node.name in e.declared.actions:
        help_ = f"to ask whether it can happen write `enabled({node.name})`"
    return e.fail("R0208", node.span, f"there is no `{node.name}`", help=help_)


def _member(e: Elaborator, node: se.Name, hint: t.Type | None) -> ir.Expr:
    """The IR of an enum member, by the expected type."""
    enums = e.declared.members[node.name]
    wanted = hint.of if isinstance(hint, t.Option) else hint
    found = wanted if isinstance(wanted, t.Enum) and node.name in wanted.members else enums[0]
    if found not in enums or (found is enums[0] and len(enums) > 1 and wanted != found):
        which = ", ".join(map(str, enums))
        help_ = "compare it with something whose type is known, or give the members different names"
        return e.fail("R0209", node.span, f"`{node.name}` is a member of several enums: {which}", help=help_)
    return ir.Const(found.members.index(node.name), type=found, span=node.span)


def _type_as_set(e: Elaborator, node: se.Name) -> ir.Expr:
    """The IR of a type used as the set of its values."""
    of = e.declared.types[node.name]
    if not t.is_scalar(of):
        help_ = "sorts, nats and enums name the set of their members; a record or union has too many"
        return e.fail("R0312", node.span, f"`{node.name}` is a type, not a value", help=help_)
    return ir.Members(of, type=t.Set(of), span=node.span)


def call(e: Elaborator, node: se.Call, env: TypeEnv, hint: t.Type | None) -> ir.Expr:
    """The IR of a call of a function, constructor or built-in."""
    name, declared = node.name.text, e.declared
    if name in FUNCTIONS:
        return Builtins(e).call(node, env, hint)
    if name in declared.functions:
        return _apply_function(e, declared.functions[name], node.args, node.span, env)
    if name in declared.cases:
        union, ordinal = declared.cases[name]
        return _make_case(e, union, ordinal, node.args, node.span, env)
    if isinstance(declared.types.get(name), t.Record):
        return _make_record(e, node, env)
    known = [*declared.functions, *declared.cases, *declared.types, *FUNCTIONS]
    help_ = suggest(name, known)
    if name in declared.actions:
        help_ = f"actions are not called; `enabled({name})` asks whether it can happen"
    elif form := _FOREIGN_FUNCTIONS.get(plain(name)) or _FOREIGN_METHODS.get(plain(name)):
        help_ = _written(e, form, [arg.value.span for arg in node.args])
    return e.fail("R0208", node.name.span, f"there is no function `{name}`", help=help_)


def method(e: Elaborator, node: se.Method) -> ir.Expr:
    """Report `x.append(v)` in an expression, and `x.length()`, which is nothing at all."""
    name = node.name.text
    if isinstance(node.of, se.Name) and is_type(e, node.of):
        return part_of_a_type(e, node.of, node.name, node.span, made=True)
    if name in VERBS:
        help_ = "expressions have no such calls; to change the state write it as a statement"
        return e.fail("R0311", node.span, f"`.{name}(…)` is a statement", help=help_)
    help_ = "expressions have no such calls: functions go before their arguments, `f(x)`"
    if len(node.args) == 0 or name not in FUNCTIONS:
        help_ = counterpart(e, name, node.of.span, [arg.value.span for arg in node.args]) or help_
    return e.fail("R0208", node.name.span, f"there is no `.{name}(…)`", help=help_)


def counterpart(e: Elaborator, name: str, of: Span, args: Sequence[Span] = ()) -> str:
    """The advice for a part or method of another language, such as `s.length`; empty if it is unknown."""
    word = plain(name)
    if name in FUNCTIONS:
        return _written(e, f"`{name}($)`", [of])
    if word == "get" and args:
        return _written(e, "`$[@]`", [of, *args])
    form = _FOREIGN_METHODS.get(word) or _FOREIGN_FUNCTIONS.get(word)
    return _written(e, form, [of, *args]) if form is not None else ""


def plain(name: str) -> str:
    """A name as the tables of other languages' words have it."""
    return name.lower().replace("_", "")


def _written(e: Elaborator, form: str, args: Sequence[Span]) -> str:
    """The advice to write a form, with the texts of the arguments in their places."""
    shown = [e.problems.shown(arg) for arg in args]
    first, second, third = (shown + ["x", "x", "e"][len(shown) :])[:3]
    texts = {"$": first, "@": second, "#": third, "%": ", ".join(shown)}
    return f"write {re.sub('[$@#%]', lambda found: texts[found[0]], form)}"


def is_type(e: Elaborator, node: se.Name) -> bool:
    """Whether a name is that of a type, or of a case of a union, which no name can hide."""
    return node.name in e.declared.types or node.name in e.declared.cases


def part_of_a_type(e: Elaborator, of: se.Name, name: se.Ident, span: Span, *, made: bool = False) -> ir.Expr:
    """Report `Role.leader`, `Pair.at` and `Message.Ack(1)` (`made`): a type has no parts."""
    part = name.text
    kind = e.declared.types.get(of.name)
    if kind is None:
        union, ordinal = e.declared.cases[of.name]
        kind = union.cases[ordinal]
    members, fields = _members_and_fields(e, kind)
    if part in members:
        word, dots = ("member", "") if isinstance(kind, t.Enum) else ("case", "(…)" if made else "")
        message = f"a {word} has no `{of.name}.` before it"
        return e.fail("R0314", span, message, help=f"write `{part}{dots}`")
    if part in e.declared.labels:
        return label(e, part, name.span)
    if part in fields:
        help_ = f"`{part}` is a field of each {of.name}: write `r.{part}`"
    elif made and part == "new" and fields:
        help_ = f"write `{of.name}(…)`"
    else:
        known = members or fields
        help_ = counterpart(e, part, of.span) if t.is_scalar(kind) else ""
        help_ = suggest(part, known) or help_ or (f"there are {listed(known)}" if known else "")
    what = an(t.Set(kind)) if t.is_scalar(kind) else f"the type {of.name}"
    return e.fail("R0314", name.span, f"{what} has no `{part}`", help=help_)


def _members_and_fields(e: Elaborator, of: t.Type) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What may be meant behind the name of a type: members or cases, and the fields of its values."""
    match of:
        case t.Enum(_, members):
            return members, ()
        case t.Union(_, cases):
            return tuple(c.name for c in cases), tuple(f.name for f in cases[0].fields) if cases else ()
        case t.Record(_, fields) | t.Case(_, _, fields):
            return (), tuple(f.name for f in fields)
        case t.Sort(sort):
            return (), tuple(e.declared.fields.get(sort, ()))
        case _:
            return (), ()


def _apply_function(
    e: Elaborator, fun: s.FunDecl, args: tuple[se.Arg, ...], span: Span, env: TypeEnv
) -> ir.Expr:
    """The IR of a function's body with its parameters bound: functions are always inlined."""
    name, params = fun.name.text, fun.params or ()
    busy = [other for other, _ in e.frame.inlining]
    if name in busy:
        return _recursion_error(e, [*busy[busy.index(name) :], name], span)
    values = _arguments(e, name, [(p.name.text, e.declared.resolve(p.type)) for p in params], args, span, env)
    if values is None:
        return e.wrong(span)
    inner, lets = TypeEnv(), []
    for param, value in zip(params, values, strict=True):
        of = e.declared.resolve(param.type)
        if isinstance(value, ir.Local | ir.Const | ir.Config):
            inner = inner.bind(param.name.text, Binding(of, -1, retyped(value, of)))
            continue
        slot = e.frame.slot()
        lets.append((slot, param.name.text, value))
        inner = inner.bind(param.name.text, Binding(of, slot))
    e.frame.inlining.append((name, span))
    body = _as_result(e, e.check(fun.body, result := e.declared.resolve(fun.result), inner), name, result)
    e.frame.inlining.pop()
    for slot, param_name, value in reversed(lets):
        body = ir.Let(slot, param_name, value, body, type=result, span=span)
    return body


def _as_result(e: Elaborator, body: ir.Expr, name: str, result: t.Type) -> ir.Expr:
    """The IR of a function's body, given the declared result type where that is needed."""
    if isinstance(result, t.Option) and not isinstance(body.type, t.Option):
        slot = e.frame.slot()
        there = ir.Local(slot, type=result, span=body.span)
        return ir.Let(slot, name, body, there, type=result, span=body.span)
    return retyped(body, result)


def _recursion_error(e: Elaborator, names: list[str], span: Span) -> ir.Expr:
    """Report functions that call each other recursively, once a cycle; returns a placeholder expression."""
    if frozenset(names) in e.declared.circles:
        return e.wrong(span)
    e.declared.circles.add(frozenset(names))
    help_ = "functions do not call themselves; quantifiers and `for` go through collections"
    through = "" if len(names) == 2 else ": " + " → ".join(names)
    return e.fail("R0210", span, f"`{names[0]}` calls itself{through}", help=help_)


def _arguments(
    e: Elaborator,
    name: str,
    params: list[tuple[str, t.Type]],
    args: tuple[se.Arg, ...],
    span: Span,
    env: TypeEnv,
) -> list[ir.Expr] | None:
    """The IR of arguments in the order of the parameters; None if one is wrong (and reported)."""
    given: dict[str, se.Expr] = {}
    names, sound = [p for p, _ in params], True
    for position, arg in enumerate(args):
        target = arg.name or (names[position] if position < len(names) else None)
        if target is not None and target in names and target not in given:
            given[target] = arg.value
            continue
        sound = False
        e.infer(arg.value, env)
        if target in given:
            e.problems.add("R0313", arg.span, f"`{target}` is given twice", help="keep one of the two")
            continue
        takes = counted(len(names), "argument")
        what = f"`{name}` has no parameter `{arg.name}`" if arg.name else f"`{name}` takes {takes}"
        e.problems.add("R0313", arg.span, what, help=suggest(arg.name or "", names) or _takes(names))
    missing = [p for p in names if p not in given]
    if missing and sound:
        sound = False
        e.problems.add("R0313", span, f"`{name}` needs {listed(missing)} too", help=_takes(names))
    if not sound:
        for value in given.values():
            e.infer(value, env)
        return None
    return [e.check(given[p], of, env, f"for `{p}`") for p, of in params]


def _takes(names: list[str]) -> str:
    """The parameters of a function in words."""
    return f"it takes {listed(names)}" if names else "remove the arguments"


def _make_case(
    e: Elaborator, union: t.Union, ordinal: int, args: tuple[se.Arg, ...], span: Span, env: TypeEnv
) -> ir.Expr:
    """The IR of a case of a union."""
    case = union.cases[ordinal]
    values = _arguments(e, case.name, [(f.name, f.type) for f in case.fields], args, span, env)
    if values is None:
        return e.wrong(span)
    return ir.Make(tuple(values), ordinal, type=union, span=span)


def _make_record(e: Elaborator, node: se.Call, env: TypeEnv) -> ir.Expr:
    """The IR of a record."""
    record = e.declared.types[node.name.text]
    assert isinstance(record, t.Record)
    values = _arguments(e, record.name, [(f.name, f.type) for f in record.fields], node.args, node.span, env)
    return e.wrong(node.span) if values is None else ir.Make(tuple(values), type=record, span=node.span)
