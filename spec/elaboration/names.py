"""What a protocol declares: every name once, with its meaning; types resolved.

Names share one space, so that a reader never asks which `epoch` is meant.
Two kinds live apart, because they always follow something: fields (after a
dot) and members of enums (two enums may share a member; what is expected at
the place decides).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

import spec.model.types as t
import spec.syntax.expressions as se
import spec.syntax.tree as s
from spec.diagnostics import suggest
from spec.elaboration.problems import Problems
from spec.frozen import frozen
from spec.model.op import FUNCTIONS, WORDS
from spec.source import Span
from spec.syntax.foreign_declarations import type_here
from spec.wording import counted

OPTIONS = {"option", "optional", "maybe", "nullable"}  # as other languages call them
COLLECTIONS = {"set": 1, "bag": 1, "seq": 1, "map": 2}
KEYS = "sorts, nats, enums, ranges and bool can; for pairs write `map[A, map[B, …]]`"
MODES = ("set", "bag", "fifo")
NETWORK_FAULTS = {"set": ("drop",), "bag": ("drop", "duplicate"), "fifo": ("drop", "duplicate", "reorder")}


@dataclass(slots=True)
class Declarations:
    """The declared names of one protocol, filled once by `declare`."""

    problems: Problems
    protocol: str = ""
    places: dict[str, Span] = field(default_factory=dict)  # every name of the common space
    types: dict[str, t.Type] = field(default_factory=dict)
    cases: dict[str, tuple[t.Union, int]] = field(default_factory=dict)
    members: dict[str, list[t.Enum]] = field(default_factory=lambda: defaultdict(list))
    configs: dict[str, t.Type] = field(default_factory=dict)
    variables: dict[str, DeclaredVariable] = field(default_factory=dict)  # state, ghosts, networks
    fields: dict[str, dict[str, DeclaredVariable]] = field(default_factory=dict)  # by sort
    functions: dict[str, s.FunDecl] = field(default_factory=dict)
    actions: dict[str, s.ActionDecl] = field(default_factory=dict)
    properties: dict[str, s.PropertyDecl] = field(default_factory=dict)
    networks: dict[str, s.NetworkDecl] = field(default_factory=dict)
    circles: set[frozenset[str]] = field(default_factory=set)  # of functions, as far as they were reported
    labels: dict[str, tuple[str, int]] = field(default_factory=dict)  # of members in a scope: sort, how many

    def resolve(self, node: se.Type, *, stored: bool = False) -> t.Type:
        """The type that a type expression denotes; UnknownType for a wrong one (reported).

        `stored` refuses what no state can hold.
        """
        found = _resolve(self, node)
        if stored and isinstance(found, t.Int):
            help_ = "say how far it goes: a range `0..9`, or a `nat` whose bound each check gives"
            self.problems.add("R0305", node.span, "an `int` cannot be stored: it has no bound", help=help_)
            return t.UNKNOWN
        return found

    def known(self) -> Iterator[str]:
        """Every name an expression may use, for suggestions."""
        yield from self.variables
        yield from self.configs
        yield from self.functions
        yield from self.types
        yield from self.cases
        yield from self.members


@frozen
class DeclaredVariable:
    """A declared state variable: its index, and its type (for a process field, of one member)."""

    index: int
    name: str
    type: t.Type
    ghost: bool
    storage: str | None
    owner: str | None
    init: se.Expr | None
    span: Span


def declare(protocol: s.Protocol, problems: Problems) -> Declarations:
    """The declared names of a protocol whose variants are applied.

    Linear; reports duplicates, unknown and circular types, and misplaced storage classes.
    """
    found = Declarations(problems, protocol.name.text)
    for step in (_types, _state, _behaviour):
        step(found, protocol)
    return found


def claim(found: Declarations, name: se.Ident) -> bool:
    """Declare a name in the global name space; reports and returns False if it is taken."""
    usable(found, name)  # and take it anyway: its uses are right
    if name.text in found.places:
        first = (found.places[name.text], "first declared here")
        found.problems.add(
            "R0201", name.span, f"`{name.text}` is declared twice", help="rename one", notes=(first,)
        )
        return False
    found.places[name.text] = name.span
    return True


def usable(found: Declarations, name: se.Ident) -> bool:
    """Whether a name is allowed in a declaration; reports keywords."""
    if name.text not in {*FUNCTIONS, *WORDS, *COLLECTIONS, "bool", "int"}:
        return True
    what = f"`{name.text}` is a word of the language"
    found.problems.add("R0203", name.span, what, help="choose another name")
    return False


def _members_usable(found: Declarations, members: Iterable[se.Ident]) -> None:
    """Report members of an enum with names that are not allowed."""
    for member in members:
        if member.text in WORDS:
            usable(found, member)


def _each_once(found: Declarations, names: Iterable[se.Ident], what: str) -> None:
    """Report names that occur twice."""
    seen: dict[str, Span] = {}
    for name in names:
        if name.text in seen:
            first = (seen[name.text], "first written here")
            found.problems.add(
                "R0201",
                name.span,
                f"the {what} `{name.text}` is written twice",
                help="keep one",
                notes=(first,),
            )
        seen.setdefault(name.text, name.span)


# ------------------------------------------------------------------ types


def _types(found: Declarations, protocol: s.Protocol) -> None:
    """Declare the sorts, nats and types."""
    pending: dict[str, s.TypeDecl | s.RecordDecl | s.UnionDecl] = {}
    for item in protocol.items:
        match item:
            case s.SortDecl(names) | s.NatDecl(names):
                for name in names:
                    if claim(found, name):
                        found.types[name.text] = (t.Sort if isinstance(item, s.SortDecl) else t.Nat)(
                            name.text
                        )
            case s.EnumDecl(name, members):
                _each_once(found, members, "member")
                _members_usable(found, members)
                if claim(found, name):
                    found.types[name.text] = _enum(found, name.text, members)
            case s.TypeDecl(name) | s.RecordDecl(name) | s.UnionDecl(name):
                if claim(found, name):
                    pending[name.text] = item
            case _:
                pass
    _resolve_pending(found, pending)


def _enum(found: Declarations, name: str, members: tuple[se.Ident, ...]) -> t.Enum:
    """The type of an enum."""
    enum = t.Enum(name, tuple(dict.fromkeys(m.text for m in members)))
    for member in enum.members:
        if enum not in found.members[member]:
            found.members[member].append(enum)
    return enum


def _resolve_pending(
    found: Declarations, pending: dict[str, s.TypeDecl | s.RecordDecl | s.UnionDecl]
) -> None:
    """Resolve type declarations in order of dependency; report cycles."""
    busy: list[str] = []

    def visit(name: str) -> None:
        if name in found.types:
            return
        item = pending[name]
        if name in busy:
            circle = " → ".join([*busy[busy.index(name) :], name])
            help_ = "a type cannot contain itself; nothing in a finite state can"
            found.problems.add("R0204", item.name.span, f"the type is circular: {circle}", help=help_)
            found.types[name] = t.UNKNOWN
            return
        busy.append(name)
        for needed in _mentioned(item):
            if needed in pending:
                visit(needed)
        busy.pop()
        found.types.setdefault(name, _declared_type(found, item))

    for name in pending:
        visit(name)


def _declared_type(found: Declarations, item: s.TypeDecl | s.RecordDecl | s.UnionDecl) -> t.Type:
    """The type that a declaration defines."""
    match item:
        case s.TypeDecl(_, of):
            return found.resolve(of)
        case s.RecordDecl(name, fields):
            return t.Record(name.text, _fields(found, fields))
        case s.UnionDecl(name, cases):
            made = tuple(t.Case(name.text, c.name.text, _fields(found, c.fields)) for c in cases)
            union = t.Union(name.text, made)
            for ordinal, case in enumerate(cases):
                if claim(found, case.name):
                    found.cases[case.name.text] = (union, ordinal)
            return union


def _fields(found: Declarations, fields: tuple[s.FieldDecl, ...]) -> tuple[t.Field, ...]:
    """The resolved fields."""
    _each_once(found, (f.name for f in fields), "field")
    return tuple(t.Field(f.name.text, found.resolve(f.type, stored=True)) for f in fields)


def _mentioned(node: object) -> Iterator[str]:
    """The names of types in a declaration."""
    match node:
        case se.NamedType(name):
            yield name
        case s.TypeDecl(_, of) | se.OptionType(of) | s.FieldDecl(_, of):
            yield from _mentioned(of)
        case (
            se.AppliedType(_, parts, _) | se.TupleType(parts) | s.RecordDecl(_, parts) | s.UnionDecl(_, parts)
        ):
            for part in parts:
                yield from _mentioned(part)
        case s.CaseDecl(_, fields):
            for part in fields:
                yield from _mentioned(part)
        case _:
            return


def _resolve(found: Declarations, node: se.Type) -> t.Type:
    """The type that a type expression denotes."""
    match node:
        case se.NamedType("bool"):
            return t.BOOL
        case se.NamedType("int"):
            return t.INT
        case se.NamedType(name):
            return _named(found, name, node.span)
        case se.RangeType(lo, hi):
            if lo > hi:
                found.problems.add(
                    "R0306", node.span, f"the range {lo}..{hi} is empty", help=f"write {hi}..{lo}"
                )
                return t.UNKNOWN
            return t.Range(lo, hi)
        case se.EnumType(members):
            _each_once(found, members, "member")
            _members_usable(found, members)
            return _enum(found, "{" + ", ".join(m.text for m in members) + "}", members)
        case se.OptionType(of):
            inner = found.resolve(of)
            if isinstance(inner, t.Option):
                found.problems.add("R0307", node.span, "an option of an option", help="one `?` is enough")
                return inner
            return inner if inner == t.UNKNOWN else t.Option(inner)
        case se.TupleType(items):
            return t.Tuple(tuple(map(found.resolve, items)))
        case se.AppliedType():
            return _applied(found, node)


def _named(found: Declarations, name: str, span: Span) -> t.Type:
    """The type with a name."""
    if name in found.types:
        return found.types[name]
    if name in found.cases:
        union, ordinal = found.cases[name]
        return union.cases[ordinal]
    help_ = suggest(name, [*found.types, *found.cases, "bool", "int", *COLLECTIONS])
    help_ = help_ or f"declare it: `sort {name}` for members, `nat {name}` for numbers"
    if type_here(name) and name.lower() not in OPTIONS:
        help_ = f"write {type_here(name)}"
    if name in COLLECTIONS:
        help_ = f"write `{name}[…]` and say of what"
    found.problems.add("R0202", span, f"there is no type `{name}`", help=help_)
    return t.UNKNOWN


def _applied(found: Declarations, node: se.AppliedType) -> t.Type:
    """The type of `set[T]` and the like."""
    name, problems = node.name.text, found.problems
    args = tuple(found.resolve(arg, stored=True) for arg in node.args)
    if name not in COLLECTIONS:
        help_ = suggest(name, COLLECTIONS) or (
            "what may be `none` is `T?`: its type with a question mark"
            if name.lower() in OPTIONS
            else f"write {type_here(name)}"
            if type_here(name)
            else "set, bag, seq and map take a type in brackets"
        )
        problems.add("R0202", node.name.span, f"there is no type `{name}[…]`", help=help_)
        return t.UNKNOWN
    if len(args) != COLLECTIONS[name]:
        what = f"`{name}` takes {counted(COLLECTIONS[name], 'type')}, not {len(args)}"
        help_ = "write `map[K, V]`" if name == "map" else f"write `{name}[T]`"
        problems.add("R0308", node.span, what, help=help_)
        return t.UNKNOWN
    if name == "map" and node.limit is not None:
        help_ = "remove the part after the semicolon: a map has a value for every key"
        problems.add("R0309", node.span, "a map has no limit", help=help_)
    limit = _limit(found, node)
    match name:
        case "set":
            return t.Set(args[0], limit)
        case "map":
            return _map(found, node, args)
        case _:
            if limit is None:
                help_ = f"write `{name}[{args[0]}; Length]` with a number or a `nat`"
                problems.add("R0309", node.span, f"a {name} needs a bound on its length", help=help_)
                return t.UNKNOWN
            return t.Bag(args[0], limit) if name == "bag" else t.Seq(args[0], limit)


def _map(found: Declarations, node: se.AppliedType, args: tuple[t.Type, ...]) -> t.Type:
    """The type of `map[K, V]`."""
    key, value = args
    if not t.is_scalar(key) and key != t.UNKNOWN:
        found.problems.add("R0310", node.args[0].span, f"`{key}` cannot be the key of a map", help=KEYS)
        return t.UNKNOWN
    return t.Map(key, value)


def _limit(found: Declarations, node: se.AppliedType) -> t.Limit | None:
    """The limit in `seq[T; limit]` and the like."""
    match node.limit:
        case None:
            return None
        case int(number):
            return t.Limit(number)
        case se.Ident(text):
            if isinstance(found.types.get(text), t.Nat):
                return t.Limit(text)
            nats = [name for name, of in found.types.items() if isinstance(of, t.Nat)]
            help_ = suggest(text, nats) or "a bound is a number or a declared `nat`"
            found.problems.add("R0202", node.limit.span, f"there is no nat `{text}`", help=help_)
            return t.Limit(0)


# ------------------------------------------------------------------ state


def _state(found: Declarations, protocol: s.Protocol) -> None:
    """Declare the configuration and the variables."""
    for item in protocol.items:
        match item:
            case s.ConfigDecl(name, of):
                resolved = found.resolve(of, stored=True)
                if claim(found, name):
                    found.configs[name.text] = resolved
            case s.StateDecl(ghost, fields):
                for var in fields:
                    if claim(found, var.name):
                        found.variables[var.name.text] = _variable(found, var, ghost=ghost, owner=None)
            case s.ProcessDecl(sort, fields):
                _process(found, sort, fields)
            case s.NetworkDecl():
                _network(found, item)
            case _:
                pass


def _count(found: Declarations) -> int:
    """The number of variables so far; a cached field counts twice, for its flushed length."""
    every = [*found.variables.values(), *(v for fields in found.fields.values() for v in fields.values())]
    return sum(2 if var.storage == "cached" else 1 for var in every)


def _variable(found: Declarations, var: s.VarDecl, *, ghost: bool, owner: str | None) -> DeclaredVariable:
    """Declare a variable."""
    of = found.resolve(var.type, stored=True)
    name = f"{owner}.{var.name.text}" if owner else var.name.text
    return DeclaredVariable(_count(found), name, of, ghost, var.storage, owner, var.init, var.name.span)


def _process(found: Declarations, sort: se.Ident, fields: tuple[s.VarDecl, ...]) -> None:
    """Declare the fields of a process."""
    if (of := found.types.get(sort.text)) != t.Sort(sort.text):
        sorts = [name for name, of in found.types.items() if isinstance(of, t.Sort)]
        help_ = suggest(sort.text, sorts) or f"declare it: `sort {sort.text}`"
        if isinstance(of, t.Sort):
            help_ = f"`{sort.text}` is another name of {of}: write `process {of} {{ … }}`"
        found.problems.add("R0202", sort.span, f"there is no sort `{sort.text}`", help=help_)
    own = found.fields.setdefault(sort.text, {})
    for var in fields:
        if var.name.text in own:
            first = (own[var.name.text].span, "first declared here")
            found.problems.add(
                "R0201",
                var.name.span,
                f"`{var.name.text}` is declared twice",
                help="rename one",
                notes=(first,),
            )
            continue
        made = _variable(found, var, ghost=var.storage == "ghost", owner=sort.text)
        if var.storage == "cached" and not isinstance(made.type, t.Seq):
            if made.type != t.UNKNOWN:
                help_ = "only a `seq` has a suffix to lose; use `durable` or `volatile`"
                found.problems.add(
                    "R0402", var.type.span, f"`cached` needs a seq, not `{made.type}`", help=help_
                )
            made = replace(made, storage="durable")  # nothing to lose, so later passes do not have to ask
        own[var.name.text] = made


def _network(found: Declarations, item: s.NetworkDecl) -> None:
    """Declare a network."""
    mode, problems = item.mode.text, found.problems
    if mode not in MODES:
        help_ = suggest(mode, MODES) or "a network is a `set`, a `bag` or a `fifo`"
        problems.add("R0202", item.mode.span, f"there is no kind of network `{mode}`", help=help_)
    of, keys = found.resolve(item.of, stored=True), tuple(map(found.resolve, item.keys))
    _each_once(found, item.faults, "fault")
    for fault in item.faults:
        if mode in MODES and fault.text not in NETWORK_FAULTS[mode]:
            help_ = suggest(fault.text, NETWORK_FAULTS[mode]) or _why_no_fault(mode)
            problems.add("R0403", fault.span, f"a {mode} network has no fault `{fault.text}`", help=help_)
    for key, node in zip(keys, item.keys, strict=True):
        if not t.is_scalar(key) and key != t.UNKNOWN:
            problems.add(
                "R0310", node.span, f"`{key}` cannot name a channel", help="use a sort, enum, nat or range"
            )
            return
    if not claim(found, item.name):
        return
    limit = t.Limit(item.name.text)
    kinds: dict[str, t.Type] = {"bag": t.Bag(of, limit), "fifo": t.Seq(of, limit)}
    channel = kinds.get(mode, t.Set(of, limit))
    for key in reversed(keys):
        channel = t.Map(key, channel)
    found.networks[item.name.text] = item
    made = DeclaredVariable(_count(found), item.name.text, channel, False, None, None, None, item.name.span)  # noqa: FBT003
    found.variables[item.name.text] = made


def _why_no_fault(mode: str) -> str:
    """Why a word is no fault of a network."""
    if mode == "set":
        return "a set delivers in any order, any number of times: only `drop` changes anything"
    return "a bag delivers in any order already; `drop` and `duplicate` are its faults"


# ------------------------------------------------------------------ behaviour


def _behaviour(found: Declarations, protocol: s.Protocol) -> None:
    """Declare the functions, actions and properties."""
    for item in protocol.items:
        match item:
            case s.FunDecl(name):
                if claim(found, name):
                    found.functions[name.text] = item
            case s.ActionDecl(_, _, name):
                if claim(found, name):
                    found.actions[name.text] = item
            case s.PropertyDecl(_, name):
                if claim(found, name):
                    found.properties[name.text] = item
            case s.AssumeDecl(name):
                claim(found, name)
            case _:
                pass
    for member, enums in found.members.items():
        if member in found.places:
            notes = tuple((found.places[e.name], "the enum is here") for e in enums if e.name in found.places)
            problem = f"`{member}` is a member of {enums[0]} and also a name of its own"
            found.problems.add("R0201", found.places[member], problem, help="rename one of them", notes=notes)
