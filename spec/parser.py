"""Text → surface tree.  The only module that knows lark; it builds and judges nothing."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from lark import Lark, Token, Transformer, UnexpectedCharacters, UnexpectedEOF, UnexpectedToken, v_args
from lark.exceptions import VisitError

import spec.syntax as s
from spec.diagnostics import Diagnostic, SpecError
from spec.mistakes import recognise
from spec.source import Source, Span
from spec.tables import parser

if TYPE_CHECKING:
    from lark.tree import Meta

DEEPEST = 1_000  # symbols that wait for the end of what they are part of
LONGEST = 1_000  # digits of a number
LARGEST = 2_000_000  # characters; a hundred times the longest protocol, and parsed in under a minute


def parse(source: Source) -> s.Protocol:
    """The surface tree of a model file.

    Linear in the length of the text.  Raises SpecError with one syntax error:
    the first place where no continuation is possible.
    """
    return _run(source, "start", 0)  # type: ignore[no-any-return]


def parse_expression(source: Source, span: Span) -> s.Expr:
    """The expression that stands alone at `span` (a value in a `says` text); spans are the file's."""
    return _run(Source(source.name, source.text[: span.end]), "expr", span.start)  # type: ignore[no-any-return]


def _run(source: Source, start: str, offset: int) -> Any:  # noqa: ANN401 - the tree of any start rule
    if len(source.text) > LARGEST:
        what = f"the text has {len(source.text):,} characters; a model file has at most {LARGEST:,}"
        raise SpecError([Diagnostic("R0103", source, None, what, help="is this a model file?")])
    text = source.text
    if offset:  # keep offsets: what stands before is blanked
        text = " " * offset + text[offset:]
    if not text.strip():
        raise SpecError([_empty(source, offset)])
    try:
        tree = _tree(source, text, start)
    except (UnexpectedToken, UnexpectedCharacters, UnexpectedEOF) as error:
        raise SpecError([_diagnose(source, error)]) from None
    try:
        return _Build().transform(tree)
    except VisitError as error:  # how lark passes on what a rule met
        if isinstance(error.orig_exc, ValueError) and isinstance(error.obj, Token):
            what = f"this number has more than {LONGEST:,} digits"
            help_ = "no model needs numbers of that size"
            raise SpecError([Diagnostic("R0101", source, _at(error.obj), what, help=help_)]) from None
        raise error.orig_exc from None


def _tree(source: Source, text: str, start: str) -> Any:  # noqa: ANN401 - lark's, of any start rule
    """What lark makes of a text; refuses what is nested too deep where it gets there, and not at the end."""
    steps, token = _lark().parse_interactive(text, start=start), None
    try:
        for token in steps.iter_parse():
            if len(steps.parser_state.state_stack) > DEEPEST:
                what, help_ = "this is nested too deep", "give names to parts of it"
                raise SpecError([Diagnostic("R0104", source, _at(token), what, help=help_)])
        return steps.feed_eof(token)  # type: ignore[no-untyped-call]
    except UnexpectedToken as error:
        error.interactive_parser = steps  # which knows what could stand there
        raise


@cache
def _lark() -> Lark:
    return parser()


def _empty(source: Source, offset: int) -> Diagnostic:
    if offset:
        span = Span(max(0, offset - 1), offset + 1)
        return Diagnostic("R0101", source, span, "there is no expression here")
    return Diagnostic("R0102", source, None, "the file is empty", help="a model starts with `protocol NAME`")


def _diagnose(source: Source, error: Any) -> Diagnostic:  # noqa: ANN401 - one of lark's three
    at, found = _place(source, error)
    message, help_ = recognise(source.text, at, found, _expected(error))
    return Diagnostic("R0101", source, at, message, help=help_)


def _place(source: Source, error: Any) -> tuple[Span, str]:  # noqa: ANN401
    """Where the text went wrong and what stands there; the end of the text counts as a place."""
    token = getattr(error, "token", None)
    start = getattr(error, "pos_in_stream", None)
    if token is not None and token.type != "$END" and token.start_pos is not None:
        return Span(token.start_pos, token.end_pos), str(token)
    if token is None and start is not None and start >= 0:
        return Span(start, start + 1), source.text[start : start + 1]
    end = len(source.text.rstrip())
    return Span(max(0, end - 1), end), ""


def _expected(error: Any) -> frozenset[str]:  # noqa: ANN401
    names = (
        getattr(error, "accepts", None) or getattr(error, "expected", None) or getattr(error, "allowed", None)
    )
    return frozenset(_spelling(name) for name in names or ())


def _spelling(terminal: str) -> str:
    """A terminal as a person writes it: `"{"` for LBRACE, `a name` for NAME."""
    words = {
        "NAME": "a name",
        "INT": "a number",
        "STRING": "a quoted text",
        "ACCESS": ".",
        "$END": "the end of the file",
    }
    if terminal in words:
        return words[terminal]
    found = next((t for t in _lark().terminals if t.name == terminal), None)
    return str(found.pattern.value) if found is not None and found.pattern.type == "str" else terminal.lower()


def _span(meta: Meta) -> Span:
    return Span(0, 0) if meta.empty else Span(meta.start_pos, meta.end_pos)


def _at(token: Token) -> Span:
    return Span(token.start_pos or 0, token.end_pos or 0)


def _ident(token: Token) -> s.Ident:
    return s.Ident(str(token), span=_at(token))


def _plain(node: type[Any]) -> Any:  # noqa: ANN401
    """A rule whose children are the node's fields, in order."""

    def build(_self: object, meta: Meta, children: list[Any]) -> Any:  # noqa: ANN401
        return node(*children, span=_span(meta))

    return build


def _listed(node: type[Any]) -> Any:  # noqa: ANN401
    """A rule whose children are all one field, a tuple."""

    def build(_self: object, meta: Meta, children: list[Any]) -> Any:  # noqa: ANN401
        return node(_given(children), span=_span(meta))

    return build


def _headed(node: type[Any]) -> Any:  # noqa: ANN401
    """A rule whose first child is one field and whose others are the next, a tuple."""

    def build(_self: object, meta: Meta, children: list[Any]) -> Any:  # noqa: ANN401
        return node(children[0], _given(children[1:]), span=_span(meta))

    return build


def _children(_self: object, _meta: Meta, children: list[Any]) -> tuple[Any, ...]:
    return _given(children)


def _only(_self: object, _meta: Meta, children: list[Any]) -> Any:  # noqa: ANN401
    return children[0]


def _word(_self: object, _meta: Meta, children: list[Any]) -> str:
    return children[0].text if isinstance(children[0], s.Ident) else str(children[0])


def _given(children: list[Any]) -> tuple[Any, ...]:
    """Children without the placeholders of optional parts."""
    return tuple(child for child in children if child is not None)


class _Slice:
    """What stands between the brackets of `log[..n]` or `log[n..]`, until they are known."""

    def __init__(self, bound: s.Expr, *, upto: bool) -> None:
        self.bound, self.upto = bound, upto


def _is_pair(part: object) -> bool:
    return isinstance(part, tuple)


@v_args(meta=True)
class _Build(Transformer[Token, Any]):
    """One method a rule, named like it."""

    @v_args(meta=False)
    def NAME(self, token: Token) -> s.Ident:  # noqa: N802 - lark calls it by the terminal's name
        return _ident(token)

    @v_args(meta=False)
    def STRING(self, token: Token) -> s.Text:  # noqa: N802
        return s.Text(str(token)[1:-1], span=_at(token))

    @v_args(meta=False)
    def INT(self, token: Token) -> int:  # noqa: N802
        if len(token) > LONGEST:
            raise ValueError
        return int(token)

    start = _headed(s.Protocol)

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

    def config_decl(self, meta: Meta, children: list[Any]) -> s.ConfigDecl:
        name, of, value, *parts = children
        keys = [text for what, text in filter(_is_pair, parts) if what == "key"]
        notes = [text for what, text in filter(_is_pair, parts) if what == "note"]
        defaults = tuple(part for part in parts if isinstance(part, s.ConfigDefault))
        key, note = (found[-1] if found else None for found in (keys, notes))
        return s.ConfigDecl(name, of, value, key, note, defaults, span=_span(meta))

    def config_key(self, _meta: Meta, children: list[Any]) -> tuple[str, s.Text]:
        return "key", children[0]

    def config_note(self, _meta: Meta, children: list[Any]) -> tuple[str, s.Text]:
        return "note", children[0]

    def state_decl(self, meta: Meta, children: list[Any]) -> s.StateDecl:
        return s.StateDecl(False, _given(children), span=_span(meta))  # noqa: FBT003 - a field

    def ghost_decl(self, meta: Meta, children: list[Any]) -> s.StateDecl:
        return s.StateDecl(True, _given(children), span=_span(meta))  # noqa: FBT003 - a field

    def var_decl(self, meta: Meta, children: list[Any]) -> s.VarDecl:
        return s.VarDecl(None, *children, span=_span(meta))

    def stored_var(self, meta: Meta, children: list[Any]) -> s.VarDecl:
        storage, var = children
        return s.VarDecl(storage, var.name, var.type, var.init, span=_span(meta))

    def network_decl(self, meta: Meta, children: list[Any]) -> s.NetworkDecl:
        name, *keys, mode, of, faults = children
        return s.NetworkDecl(name, _given(keys), mode, of, faults or (), span=_span(meta))

    def weak_fair(self, _meta: Meta, _children: list[Any]) -> str:
        return "fair"

    def strong_fair(self, _meta: Meta, _children: list[Any]) -> str:
        return "strong fair"

    def action_decl(self, meta: Meta, children: list[Any]) -> s.ActionDecl:
        fairness, kind, name, params, says, body = children
        return s.ActionDecl(fairness or "none", kind, name, params or (), says, body, span=_span(meta))

    def property_decl(self, meta: Meta, children: list[Any]) -> s.PropertyDecl:
        kind, name, says, expr = children
        return s.PropertyDecl(kind, name, says, expr, None, span=_span(meta))

    def leadsto_decl(self, meta: Meta, children: list[Any]) -> s.PropertyDecl:
        return s.PropertyDecl("leadsto", *children, span=_span(meta))

    def eventually_decl(self, meta: Meta, children: list[Any]) -> s.PropertyDecl:
        name, says, expr = children
        return s.PropertyDecl("always eventually", name, says, expr, None, span=_span(meta))

    def deadlock_free(self, meta: Meta, _children: list[Any]) -> s.Ident:
        return s.Ident("deadlock_free", span=_span(meta))

    def deadlock_decl(self, meta: Meta, children: list[Any]) -> s.PropertyDecl:
        return s.PropertyDecl("deadlock free", children[0], None, None, None, span=_span(meta))

    display_decl = _listed(s.DisplayDecl)

    def shown(self, meta: Meta, children: list[Any]) -> s.ShownDecl:
        role, *path = (child for child in children if isinstance(child, s.Ident))
        return s.ShownDecl(role, tuple(path), span=_span(meta))

    def variant_decl(self, meta: Meta, children: list[Any]) -> s.VariantDecl:
        name, base, *items = children
        return s.VariantDecl(name, base, tuple(items), span=_span(meta))

    replace = _plain(s.Replace)

    def drop(self, meta: Meta, children: list[Any]) -> s.Drop:
        return s.Drop(children[0], children[-1], span=_span(meta))

    def add_guard(self, meta: Meta, children: list[Any]) -> s.AddGuard:
        action, _, guard, test = children
        return s.AddGuard(action, guard, test, span=_span(meta))

    def restore(self, meta: Meta, children: list[Any]) -> s.Restore:
        storage, sort, _, name = children
        return s.Restore(storage, sort, name, span=_span(meta))

    # checks
    scope_size = _plain(s.ScopeItem)
    scope_members = _headed(s.ScopeItem)
    scope_clause = _listed(s.ScopeClause)
    config_item = _plain(s.ConfigItem)
    config_clause = _listed(s.ConfigClause)
    faults_clause = _listed(s.FaultsClause)
    only_clause = _listed(s.OnlyClause)
    expect_clause = _listed(s.ExpectClause)
    counted = _word
    with_faults = _only
    in_steps = _only
    within = _only

    def any_faults(self, _meta: Meta, _children: list[Any]) -> bool:
        return True

    def faults_total(self, meta: Meta, children: list[Any]) -> s.FaultItem:
        return s.FaultItem(None, children[0], span=_span(meta))

    def faults_any(self, meta: Meta, _children: list[Any]) -> s.FaultItem:
        return s.FaultItem(None, None, span=_span(meta))

    def faults_none(self, meta: Meta, _children: list[Any]) -> s.FaultItem:
        return s.FaultItem(None, 0, span=_span(meta))

    faults_kind = _plain(s.FaultItem)

    def faults_kind_any(self, meta: Meta, children: list[Any]) -> s.FaultItem:
        return s.FaultItem(children[0], None, span=_span(meta))

    def fault_kind(self, meta: Meta, children: list[Any]) -> s.Ident:
        words = [child.text for child in children if isinstance(child, s.Ident)]
        return s.Ident(".".join(words), span=_span(meta))

    def expect_holds(self, meta: Meta, children: list[Any]) -> s.VerdictExpect:
        name, any_faults = children
        return s.VerdictExpect(name, True, bool(any_faults), None, None, span=_span(meta))  # noqa: FBT003

    def expect_violated(self, meta: Meta, children: list[Any]) -> s.VerdictExpect:
        return s.VerdictExpect(children[0], False, False, *children[1:], span=_span(meta))  # noqa: FBT003

    def expect_count(self, meta: Meta, children: list[Any]) -> s.CountExpect:
        what, count, faults = children
        return s.CountExpect(what, None, count, faults, span=_span(meta))

    def expect_taken(self, meta: Meta, children: list[Any]) -> s.CountExpect:
        action, count = children
        return s.CountExpect("taken", action, count, None, span=_span(meta))

    def check_decl(self, meta: Meta, children: list[Any]) -> s.CheckDecl:
        name, of, says, *clauses = children
        return s.CheckDecl(name, of, says, tuple(clauses), span=_span(meta))

    # types
    option_type = _plain(s.OptionType)
    enum_type = _listed(s.EnumType)
    tuple_type = _listed(s.TupleType)
    range_type = _plain(s.RangeType)
    limit_number = _only
    signed = _only

    def named_type(self, meta: Meta, children: list[Any]) -> s.NamedType:
        return s.NamedType(children[0].text, span=_span(meta))

    def negative(self, _meta: Meta, children: list[Any]) -> int:
        return -int(children[0])

    def applied_type(self, meta: Meta, children: list[Any]) -> s.AppliedType:
        name, *args, limit = children
        return s.AppliedType(name, _given(args), limit, span=_span(meta))

    # statements
    label = _only
    require = _plain(s.Require)
    let = _plain(s.Let)
    assign = _plain(s.Assign)
    do = _plain(s.Do)
    for_stmt = _plain(s.ForStmt)
    choose = _plain(s.ChooseStmt)
    assert_stmt = _plain(s.AssertStmt)
    member_stmt = _plain(s.MemberStmt)
    verb = _word

    def if_stmt(self, meta: Meta, children: list[Any]) -> s.IfStmt:
        test, then, other = children
        nested = (other,) if isinstance(other, s.IfStmt) else other
        return s.IfStmt(test, then, nested or (), span=_span(meta))

    # expressions
    binder_typed_in = _plain(s.Binder)
    binders = _children
    where = _only
    quantified = _plain(s.Quantified)
    let_in = _plain(s.LetIn)
    if_else = _plain(s.IfElse)
    is_case = _plain(s.IsCase)
    set_lit = _listed(s.SetLit)
    seq_lit = _listed(s.SeqLit)
    tuple_lit = _listed(s.TupleLit)
    filter = _plain(s.Filter)
    map_of = _plain(s.MapOf)
    quantifier = _word
    extremum = _only
    args = _children
    int_lit = _plain(s.IntLit)

    def binder_typed(self, meta: Meta, children: list[Any]) -> s.Binder:
        return s.Binder(children[0], children[1], None, span=_span(meta))

    def binder_in(self, meta: Meta, children: list[Any]) -> s.Binder:
        name, *_, domain = children
        return s.Binder(name, None, domain, span=_span(meta))

    def binary(self, meta: Meta, children: list[Any]) -> s.Binary:
        left, op, right = children
        return s.Binary(str(op), left, right, span=_span(meta))

    def not_in(self, meta: Meta, children: list[Any]) -> s.Binary:
        return s.Binary("not in", children[0], children[-1], span=_span(meta))

    def unary(self, meta: Meta, children: list[Any]) -> s.Unary:
        return s.Unary(str(children[0]), children[1], span=_span(meta))

    def name_expr(self, meta: Meta, children: list[Any]) -> s.Name:
        return s.Name(children[0].text, span=_span(meta))

    def true_lit(self, meta: Meta, _children: list[Any]) -> s.BoolLit:
        return s.BoolLit(True, span=_span(meta))  # noqa: FBT003 - a field

    def false_lit(self, meta: Meta, _children: list[Any]) -> s.BoolLit:
        return s.BoolLit(False, span=_span(meta))  # noqa: FBT003 - a field

    def none_lit(self, meta: Meta, _children: list[Any]) -> s.NoneLit:
        return s.NoneLit(span=_span(meta))

    def parens(self, _meta: Meta, children: list[Any]) -> Any:  # noqa: ANN401
        return children[0]

    def collect(self, meta: Meta, children: list[Any]) -> s.Collect:
        body, *binders, where = children
        return s.Collect(body, tuple(binders), where, span=_span(meta))

    def positional(self, meta: Meta, children: list[Any]) -> s.Arg:
        return s.Arg(None, children[0], span=_span(meta))

    def named(self, meta: Meta, children: list[Any]) -> s.Arg:
        return s.Arg(children[0].text, children[1], span=_span(meta))

    def call(self, meta: Meta, children: list[Any]) -> s.Call:
        return s.Call(children[0], children[1] or (), span=_span(meta))

    def call_extremum(self, meta: Meta, children: list[Any]) -> s.Call:
        return s.Call(_ident(children[0]), children[1] or (), span=_span(meta))

    def get(self, meta: Meta, children: list[Any]) -> s.Get:
        return s.Get(children[0], children[2], span=_span(meta))

    def method(self, meta: Meta, children: list[Any]) -> s.Method:
        of, _, name, args = children
        return s.Method(of, name, args or (), span=_span(meta))

    def subscripted(self, meta: Meta, children: list[Any]) -> s.Expr:
        of, subscript = children
        if isinstance(subscript, _Slice):
            node = s.Upto if subscript.upto else s.From
            return node(of, subscript.bound, span=_span(meta))
        return s.Index(of, subscript, span=_span(meta))

    def upto(self, _meta: Meta, children: list[Any]) -> _Slice:
        return _Slice(children[-1], upto=True)

    def from_(self, _meta: Meta, children: list[Any]) -> _Slice:
        return _Slice(children[0], upto=False)
