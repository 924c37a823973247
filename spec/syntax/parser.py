"""Text → surface tree: what each rule of the grammar makes of its parts; it judges nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import spec.syntax.expressions as se
import spec.syntax.tree as s
from spec.diagnostics import Diagnostic, SpecError
from spec.source import Source, Span
from spec.syntax.automaton import Automaton, Begun, TooDeep, Unexpected
from spec.syntax.items import MOST_BROKEN, begins_item, without_item
from spec.syntax.mistakes import recognise
from spec.syntax.tables import END, tables

DEEPEST = 1_000  # symbols that wait for the end of what they are part of
LONGEST = 1_000  # digits of a number
LARGEST = 2_000_000  # characters; a hundred times the longest protocol, and parsed in under a minute
SPELLED = {  # terminals that are not always spelled the same, as a person calls them
    "NAME": "a name",
    "INT": "a number",
    "STRING": "a quoted text",
    "ACCESS": ".",
    END: "the end of the file",
}


def parse(source: Source) -> s.Protocol | s.GoesOn:
    """The syntax tree of a model file. Raises SpecError.

    Linear in the length of the text, and again for each declaration with a mistake.  Raises SpecError with
    a syntax error of each such declaration, of MOST_BROKEN at most: the first place where no continuation
    is possible.
    """
    try:
        return _run(source, "start", 0)  # type: ignore[no-any-return]
    except SpecError as error:
        raise SpecError(_with_others(source, error.diagnostics)) from None


def _with_others(source: Source, first: Sequence[Diagnostic]) -> list[Diagnostic]:
    """The first syntax error, and those of later declarations.

    A mistake of brackets shows where the next declaration begins, or at the end: such an error behind
    another one may only follow from it, and is left out.
    """
    found, text = list(first), source.text
    while len(found) < MOST_BROKEN:
        at = found[-1].span
        if at is None or found[-1].code != "R0101":
            return found
        start = at.start - begins_item(text, at.start)
        text = without_item(text, start)
        try:
            _run(Source(source.name, text), "start", 0)
        except SpecError as error:
            (later,) = error.diagnostics
            if later.span is None or later.span.start <= at.start or begins_item(text, later.span.start):
                return found
            if not text[later.span.start :].strip("})] \n"):
                return found
            found.append(replace(later, source=source))
        else:
            return found
    return found


def begun(text: str) -> Begun | None:
    """The parser's state after the beginning of a model file; None if no file begins so.

    What may come next is spelled as a person writes it; NAME, INT and STRING are of many spellings.
    """
    found = _automaton().begun(text, "start")
    if found is None:
        return None
    spelled = {name: word for word, name in _tables().words.items() if word}
    return replace(found, expected=frozenset(spelled.get(each, each) for each in found.expected))


def parse_expression(source: Source, span: Span) -> se.Expr:
    """The syntax tree of the expression at `span`, with spans of the whole file. Raises SpecError."""
    return _run(Source(source.name, source.text[: span.end]), "expr", span.start)  # type: ignore[no-any-return]


def _run(source: Source, start: str, offset: int) -> Any:  # noqa: ANN401 - the tree of any start rule
    """The syntax tree of a text for a start symbol. Raises SpecError."""
    if len(source.text) > LARGEST:
        what = f"the text has {len(source.text):,} characters; a model file has at most {LARGEST:,}"
        raise SpecError([Diagnostic("R0103", source, None, what, help="is this a model file?")])
    text = source.text
    if offset:  # keep offsets: the text before is blanked
        text = " " * offset + text[offset:]
    if not text.strip():
        raise SpecError([_empty(source, offset)])
    try:
        return _automaton().parse(text, start, DEEPEST)
    except TooDeep as deep:
        raise too_deep(source, deep.at) from None
    except _TooLong as number:
        what, help_ = f"this number has more than {LONGEST:,} digits", "no model needs numbers of that size"
        raise SpecError([Diagnostic("R0101", source, number.at, what, help=help_)]) from None
    except Unexpected as error:
        raise SpecError([_diagnose(source, error)]) from None


def too_deep(source: Source, at: Span | None = None) -> SpecError:
    """The error about constructs nested too deeply."""
    what = "something in the file is nested too deep" if at is None else "this is nested too deep"
    return SpecError([Diagnostic("R0104", source, at, what, help="give names to parts of it")])


_tables = cache(tables)


@cache
def _automaton() -> Automaton:
    """The parser of the modelling language, made once."""
    build = _Build()
    leaves = {"NAME": _ident, "STRING": _quoted, "INT": _number}
    return Automaton(_tables(), lambda name: getattr(build, name), leaves)


def _empty(source: Source, offset: int) -> Diagnostic:
    """The diagnostic for an empty text."""
    if offset:
        span = Span(max(0, offset - 1), offset + 1)
        return Diagnostic("R0101", source, span, "there is no expression here")
    return Diagnostic("R0102", source, None, "the file is empty", help="a model starts with `protocol NAME`")


def _diagnose(source: Source, error: Unexpected) -> Diagnostic:
    """The diagnostic for a syntax error."""
    at = error.at
    if not error.found:  # the end of the text counts as a place
        end = len(source.text.rstrip())
        at = Span(max(0, end - 1), end)
    spelled = {name: text for text, name in _tables().words.items()} | SPELLED
    expected = frozenset(spelled.get(terminal, terminal.lower()) for terminal in error.expected)
    mistake = recognise(source.text, at, error.found, expected)
    return Diagnostic("R0101", source, mistake.at, mistake.message, help=mistake.help)


def _ident(text: str, at: Span) -> se.Ident:
    """The leaf for a name."""
    return se.Ident(text, span=at)


def _quoted(text: str, at: Span) -> s.Text:
    """The leaf for a quoted text."""
    return s.Text(text[1:-1], span=at)


def _number(text: str, at: Span) -> int:
    """The leaf for a number."""
    if len(text) > LONGEST:
        raise _TooLong(at)
    return int(text)


class _TooLong(Exception):  # noqa: N818 - reported as a diagnostic
    """A number with too many digits."""

    def __init__(self, at: Span) -> None:
        super().__init__(at)
        self.at = at


def _plain(node: type[Any]) -> Any:  # noqa: ANN401
    """A function that makes a node whose fields are the children in order."""

    def build(_self: object, children: list[Any], span: Span) -> Any:  # noqa: ANN401
        return node(*children, span=span)

    return build


def _listed(node: type[Any]) -> Any:  # noqa: ANN401
    """A function that makes a node with one field, the tuple of children."""

    def build(_self: object, children: list[Any], span: Span) -> Any:  # noqa: ANN401
        return node(_given(children), span=span)

    return build


def _headed(node: type[Any]) -> Any:  # noqa: ANN401
    """A function that makes a node from the first child and the tuple of the others."""

    def build(_self: object, children: list[Any], span: Span) -> Any:  # noqa: ANN401
        return node(children[0], _given(children[1:]), span=span)

    return build


def _children(_self: object, children: list[Any], _span: Span) -> tuple[Any, ...]:
    """The children of a rule as a tuple."""
    return _given(children)


def _only(_self: object, children: list[Any], _span: Span) -> Any:  # noqa: ANN401
    """The only child of a rule."""
    return children[0]


def _word(_self: object, children: list[Any], _span: Span) -> str:
    """The text of a keyword."""
    return children[0].text if isinstance(children[0], se.Ident) else children[0]


def _given(children: list[Any]) -> tuple[Any, ...]:
    """The children without placeholders for absent optional parts."""
    return tuple(child for child in children if child is not None)


class _Slice:
    """The bounds in `log[..n]` or `log[n..]`, until the sequence is known."""

    def __init__(self, bound: se.Expr, *, upto: bool) -> None:
        self.bound, self.upto = bound, upto


def _is_pair(part: object) -> bool:
    """Whether a part is a pair of name and text."""
    return isinstance(part, tuple)


class _Build:
    """Makes tree nodes: a method for each grammar rule, with its name."""

    start = _headed(s.Protocol)
    goes_on = _headed(s.GoesOn)

    # declarations
    sort_decl = _listed(s.SortDecl)
    nat_decl = _listed(s.NatDecl)
    enum_decl = _headed(s.EnumDecl)
    type_decl = _plain(s.TypeDecl)
    record_decl = _headed(s.RecordDecl)
    union_decl = _headed(s.UnionDecl)
    case_decl = _headed(s.CaseDecl)
    field_decl = _plain(s.FieldDecl)
    process_decl = _headed(s.ProcessDecl)
    init_decl = _plain(s.InitDecl)
    assume_decl = _plain(s.AssumeDecl)
    fun_decl = _plain(s.FunDecl)
    fun_params = _children
    net_faults = _children
    params = _children
    says = _only
    kind = _word
    storage = _word
    property_kind = _word
    block = _children
    config_default = _plain(s.ConfigDefault)

    def config_decl(self, children: list[Any], span: Span) -> s.ConfigDecl:
        name, of, value, *parts = children
        keys = [text for what, text in filter(_is_pair, parts) if what == "key"]
        notes = [text for what, text in filter(_is_pair, parts) if what == "note"]
        defaults = tuple(part for part in parts if isinstance(part, s.ConfigDefault))
        key, note = (found[-1] if found else None for found in (keys, notes))
        return s.ConfigDecl(name, of, value, key, note, defaults, span=span)

    def config_key(self, children: list[Any], _span: Span) -> tuple[str, s.Text]:
        return "key", children[0]

    def config_note(self, children: list[Any], _span: Span) -> tuple[str, s.Text]:
        return "note", children[0]

    def state_decl(self, children: list[Any], span: Span) -> s.StateDecl:
        return s.StateDecl(False, _given(children), span=span)  # noqa: FBT003 - a field

    def ghost_decl(self, children: list[Any], span: Span) -> s.StateDecl:
        return s.StateDecl(True, _given(children), span=span)  # noqa: FBT003 - a field

    def var_decl(self, children: list[Any], span: Span) -> s.VarDecl:
        return s.VarDecl(None, *children, span=span)

    def stored_var(self, children: list[Any], span: Span) -> s.VarDecl:
        storage, var = children
        return s.VarDecl(storage, var.name, var.type, var.init, span=span)

    def network_decl(self, children: list[Any], span: Span) -> s.NetworkDecl:
        name, *keys, mode, of, faults = children
        return s.NetworkDecl(name, _given(keys), mode, of, faults or (), span=span)

    def weak_fair(self, _children: list[Any], _span: Span) -> str:
        return "fair"

    def strong_fair(self, _children: list[Any], _span: Span) -> str:
        return "strong fair"

    def action_decl(self, children: list[Any], span: Span) -> s.ActionDecl:
        fairness, kind, name, params, says, body = children
        return s.ActionDecl(fairness or "none", kind, name, params or (), says, body, span=span)

    def property_decl(self, children: list[Any], span: Span) -> s.PropertyDecl:
        kind, name, says, expr = children
        return s.PropertyDecl(kind, name, says, expr, None, span=span)

    def leadsto_decl(self, children: list[Any], span: Span) -> s.PropertyDecl:
        return s.PropertyDecl("leadsto", *children, span=span)

    def recurs_decl(self, children: list[Any], span: Span) -> s.PropertyDecl:
        name, says, expr = children
        return s.PropertyDecl("always eventually", name, says, expr, None, span=span)

    def settles_decl(self, children: list[Any], span: Span) -> s.PropertyDecl:
        name, says, expr = children
        return s.PropertyDecl("eventually always", name, says, expr, None, span=span)

    def deadlock_free(self, _children: list[Any], span: Span) -> se.Ident:
        return se.Ident("deadlock_free", span=span)

    def deadlock_decl(self, children: list[Any], span: Span) -> s.PropertyDecl:
        name, says, unless = children
        return s.PropertyDecl("deadlock free", name, says, unless, None, span=span)

    display_decl = _listed(s.DisplayDecl)

    def shown(self, children: list[Any], span: Span) -> s.ShownDecl:
        role, *path = (child for child in children if isinstance(child, se.Ident))
        return s.ShownDecl(role, tuple(path), span=span)

    def variant_decl(self, children: list[Any], span: Span) -> s.VariantDecl:
        name, base, *items = children
        return s.VariantDecl(name, base, tuple(items), span=span)

    replace = _plain(s.Replace)

    def drop(self, children: list[Any], span: Span) -> s.Drop:
        return s.Drop(children[0], children[-1], span=span)

    def add_guard(self, children: list[Any], span: Span) -> s.AddGuard:
        action, _, guard, test = children
        return s.AddGuard(action, guard, test, span=span)

    def restore(self, children: list[Any], span: Span) -> s.Restore:
        storage, sort, _, name = children
        return s.Restore(storage, sort, name, span=span)

    # checks
    scope_size = _plain(s.ScopeItem)
    scope_members = _headed(s.ScopeItem)

    def exact_size(self, children: list[Any], span: Span) -> s.ScopeItem:
        name, size = children
        return s.ScopeItem(name, size, is_exact=True, span=span)

    def any_size(self, children: list[Any], span: Span) -> s.ScopeItem:
        return s.ScopeItem(children[0], None, span=span)

    def exact_members(self, children: list[Any], span: Span) -> s.ScopeItem:
        return s.ScopeItem(children[0], _given(children[1:]), is_exact=True, span=span)

    scope_clause = _listed(s.ScopeClause)
    config_item = _plain(s.ConfigItem)
    config_clause = _listed(s.ConfigClause)
    faults_clause = _listed(s.FaultsClause)
    rates_clause = _listed(s.RatesClause)
    rate_item = _plain(s.RateItem)
    symmetry_clause = _plain(s.SymmetryClause)
    only_clause = _listed(s.OnlyClause)
    expect_clause = _listed(s.ExpectClause)
    counted = _word
    with_faults = _only
    in_steps = _only
    within = _only

    def any_faults(self, _children: list[Any], _span: Span) -> bool:
        return True

    def faults_total(self, children: list[Any], span: Span) -> s.FaultItem:
        return s.FaultItem(None, children[0], span=span)

    def faults_any(self, _children: list[Any], span: Span) -> s.FaultItem:
        return s.FaultItem(None, None, span=span)

    def faults_none(self, _children: list[Any], span: Span) -> s.FaultItem:
        return s.FaultItem(None, 0, span=span)

    faults_kind = _plain(s.FaultItem)

    def faults_kind_any(self, children: list[Any], span: Span) -> s.FaultItem:
        return s.FaultItem(children[0], None, span=span)

    def fault_kind(self, children: list[Any], span: Span) -> se.Ident:
        words = [child.text for child in children if isinstance(child, se.Ident)]
        return se.Ident(".".join(words), span=span)

    def expect_holds(self, children: list[Any], span: Span) -> s.VerdictExpect:
        name, any_faults = children
        return s.VerdictExpect(name, True, bool(any_faults), None, None, span=span)  # noqa: FBT003

    def expect_violated(self, children: list[Any], span: Span) -> s.VerdictExpect:
        return s.VerdictExpect(children[0], False, False, *children[1:], span=span)  # noqa: FBT003

    def expect_count(self, children: list[Any], span: Span) -> s.CountExpect:
        what, count, faults = children
        return s.CountExpect(what, None, count, faults, span=span)

    def expect_taken(self, children: list[Any], span: Span) -> s.CountExpect:
        action, count = children
        return s.CountExpect("taken", action, count, None, span=span)

    def check_decl(self, children: list[Any], span: Span) -> s.CheckDecl:
        name, of, says, *clauses = children
        return s.CheckDecl(name, of, says, tuple(clauses), span=span)

    # types
    option_type = _plain(se.OptionType)
    enum_type = _listed(se.EnumType)
    tuple_type = _listed(se.TupleType)
    range_type = _plain(se.RangeType)
    limit_number = _only
    signed = _only

    def named_type(self, children: list[Any], span: Span) -> se.NamedType:
        return se.NamedType(children[0].text, span=span)

    def negative(self, children: list[Any], _span: Span) -> int:
        return -int(children[0])

    def applied_type(self, children: list[Any], span: Span) -> se.AppliedType:
        name, *args, limit = children
        return se.AppliedType(name, _given(args), limit, span=span)

    # statements
    label = _only
    require = _plain(s.Require)
    let = _plain(s.LetStmt)
    assign = _plain(s.AssignStmt)
    do = _plain(s.Do)
    for_stmt = _plain(s.ForStmt)
    choose = _plain(s.ChooseStmt)
    assert_stmt = _plain(s.AssertStmt)
    member_stmt = _plain(s.MemberStmt)
    verb = _word

    def if_stmt(self, children: list[Any], span: Span) -> s.IfStmt:
        test, then, other = children
        nested = (other,) if isinstance(other, s.IfStmt) else other
        return s.IfStmt(test, then, nested or (), span=span)

    # expressions
    binder_typed_in = _plain(se.Binder)
    binders = _children
    where = _only
    quantified = _plain(se.Quantified)
    let_in = _plain(se.LetIn)
    if_else = _plain(se.IfElse)
    is_case = _plain(se.IsCase)
    set_lit = _listed(se.SetLit)
    seq_lit = _listed(se.SeqLit)
    tuple_lit = _listed(se.TupleLit)
    filter = _plain(se.Filter)
    map_of = _plain(se.MapComprehension)
    quantifier = _word
    extremum = _only
    args = _children
    int_lit = _plain(se.IntLit)

    def binder_typed(self, children: list[Any], span: Span) -> se.Binder:
        return se.Binder(children[0], children[1], None, span=span)

    def binder_in(self, children: list[Any], span: Span) -> se.Binder:
        name, *_, domain = children
        return se.Binder(name, None, domain, span=span)

    def binary(self, children: list[Any], span: Span) -> se.Binary:
        left, op, right = children
        return se.Binary(op, left, right, span=span)

    def not_in(self, children: list[Any], span: Span) -> se.Binary:
        return se.Binary("not in", children[0], children[-1], span=span)

    def unary(self, children: list[Any], span: Span) -> se.Unary:
        return se.Unary(children[0], children[1], span=span)

    def name_expr(self, children: list[Any], span: Span) -> se.Name:
        return se.Name(children[0].text, span=span)

    def true_lit(self, _children: list[Any], span: Span) -> se.BoolLit:
        return se.BoolLit(True, span=span)  # noqa: FBT003 - a field

    def false_lit(self, _children: list[Any], span: Span) -> se.BoolLit:
        return se.BoolLit(False, span=span)  # noqa: FBT003 - a field

    def none_lit(self, _children: list[Any], span: Span) -> se.NoneLit:
        return se.NoneLit(span=span)

    def parens(self, children: list[Any], _span: Span) -> Any:  # noqa: ANN401
        return children[0]

    def collect(self, children: list[Any], span: Span) -> se.Collect:
        body, *binders, where = children
        return se.Collect(body, tuple(binders), where, span=span)

    def positional(self, children: list[Any], span: Span) -> se.Arg:
        return se.Arg(None, children[0], span=span)

    def named(self, children: list[Any], span: Span) -> se.Arg:
        return se.Arg(children[0].text, children[1], span=span)

    def call(self, children: list[Any], span: Span) -> se.Call:
        return se.Call(children[0], children[1] or (), span=span)

    def call_extremum(self, children: list[Any], span: Span) -> se.Call:
        word, args = children
        return se.Call(_ident(word, Span(span.start, span.start + len(word))), args or (), span=span)

    def get(self, children: list[Any], span: Span) -> se.Get:
        return se.Get(children[0], children[2], span=span)

    def method(self, children: list[Any], span: Span) -> se.Method:
        of, _, name, args = children
        return se.Method(of, name, args or (), span=span)

    def subscripted(self, children: list[Any], span: Span) -> se.Expr:
        of, subscript = children
        if isinstance(subscript, _Slice):
            node = se.Upto if subscript.upto else se.From
            return node(of, subscript.bound, span=span)
        return se.Index(of, subscript, span=span)

    def upto(self, children: list[Any], _span: Span) -> _Slice:
        return _Slice(children[-1], upto=True)

    def from_(self, children: list[Any], _span: Span) -> _Slice:
        return _Slice(children[0], upto=False)
