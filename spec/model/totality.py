"""Which expressions are sure to have a value, so that they cannot make an error of the model.

Whoever knows that may leave a quantifier at the first member that decides it, or
compute what is not needed.  Where these functions are not sure, they say no.
"""

from __future__ import annotations

from collections.abc import Iterable

from spec.model.ir import (
    Action,
    And,
    Apply,
    Assert,
    Assign,
    At,
    Bind,
    Bound,
    Branch,
    Choose,
    Config,
    Const,
    Did,
    Each,
    Expr,
    Fit,
    Guard,
    If,
    Implies,
    Is,
    Key,
    Let,
    Local,
    Make,
    MapOf,
    Members,
    Model,
    Old,
    Or,
    Part,
    Stmt,
    Var,
)
from spec.model.op import Op, Quantifier
from spec.model.types import (
    Bag,
    Bool,
    Enum,
    Field,
    Limit,
    Map,
    Nat,
    Option,
    Range,
    Record,
    Seq,
    Set,
    Sort,
    Tuple,
    Type,
    Union,
    walk_type,
)
from spec.model.walk import children

_PARTIAL = {Op.INDEX, Op.LAST, Op.THE, Op.LEAST, Op.GREATEST}
_OF_SOME = {Quantifier.MAX, Quantifier.MIN, Quantifier.ARGMAX, Quantifier.ARGMIN}  # an error without a member
_PARTS_OF_STORED = {Op.LOOKUP, Op.INDEX, Op.AT, Op.LAST, Op.THE, Op.TAKE, Op.DROP, Op.LEAST, Op.GREATEST}


class Totality:
    """Finds the expressions that have a value in every state; each is examined once.

    Within an action or property that `of_model` has seen, it is known which bound
    names are sure to keep to their type; elsewhere none is taken to.  With `cuts`, what is stored has
    a value where it can at most be a cut.
    """

    def __init__(self, *, cuts: bool = False) -> None:
        self._known: dict[int, tuple[bool, Expr]] = {}  # the expression too, so that its id stays its own
        self._cuts = cuts
        self._places = True  # whether all assignments are to places that there are

    @property
    def is_whole(self) -> bool:
        """Whether all that was examined so far is total, and each place that is assigned to is there."""
        return self._places and all(is_total for is_total, _ in self._known.values())

    def of(self, expr: Expr, kept: frozenset[int] = frozenset()) -> bool:
        """Whether an expression cannot fail; `kept` are slots whose values are within their types."""
        if id(expr) not in self._known:
            self._known[id(expr)] = self._total(expr, kept), expr
        return self._known[id(expr)][0]

    def of_model(self, model: Model) -> None:
        """Examine all expressions of a model in their contexts."""
        self._variables = model.variables
        self._statements(model.init, frozenset())
        for action in model.actions:
            self._action(action)
        for prop in model.properties:
            for expr in (prop.expr, prop.goal):
                if expr is not None:
                    self.of(expr)

    # -------------------------------------------------------------- expressions

    def _all(self, parts: Iterable[Expr], kept: frozenset[int]) -> bool:
        """Whether all the expressions are total."""
        known = [self.of(part, kept) for part in parts]  # also what an early end would pass over
        return all(known)

    def _total(self, expr: Expr, kept: frozenset[int]) -> bool:
        """Whether an expression is total, by its kind."""
        match expr:
            case Const() | Config() | Var() | Local() | Members():
                return True
            case Apply(op=op, args=args):
                return self._all(args, kept) and not is_partial(op, args, kept)
            case And() | Or() | Implies() | If() | Make() | Did() | Is() | Old():
                return self._all(children(expr), kept)
            case Let(slot=slot, value=value, body=body):
                inner = kept | {slot} if keeps_to_type(value, kept) else kept
                return all([self.of(value, kept), self.of(body, inner)])
            case Bind():
                return self._bind(expr, kept)
            case MapOf(slot=slot, body=body):
                return self.of(body, kept | {slot})
            case Part(of=of, case=case):
                return self.of(of, kept) and case is None
            case Fit(of=of):
                is_total = self.of(of, kept)
                return self._cuts and is_total and fits_but_for_scope(of, expr.type, kept)

    def _bind(self, expr: Bind, kept: frozenset[int]) -> bool:
        """Whether a quantifier is total."""
        inner = kept | {expr.slot} if keeps_to_type(expr.domain, kept) else kept
        parts = [expr.body] if expr.where is None else [expr.where, expr.body]
        return all([self.of(expr.domain, kept), self._all(parts, inner), expr.quantifier not in _OF_SOME])

    # --------------------------------------------------------------- statements

    def _action(self, action: Action) -> None:
        """Examine the expressions of an action."""
        kept: frozenset[int] = frozenset()
        for param in action.params:
            self.of(param.domain, kept)
            kept = kept | {param.slot} if keeps_to_type(param.domain, kept) else kept
        for part in action.head:
            match part:
                case Guard(test=test):
                    self.of(test, kept)
                case Bound():
                    kept = self._bound(part, kept)
        self._statements(action.body, kept)

    def _bound(self, statement: Bound, kept: frozenset[int]) -> frozenset[int]:
        """The slots with values within their types after a `let`."""
        self.of(statement.value, kept)
        return kept | {statement.slot} if keeps_to_type(statement.value, kept) else kept

    def _statements(self, statements: Iterable[Stmt], kept: frozenset[int]) -> None:
        """Examine the expressions of statements."""
        for statement in statements:
            match statement:
                case Assign(var=var, path=path, value=value):
                    self._all([step.key for step in path if isinstance(step, Key)], kept)
                    self.of(value, kept)
                    self._places &= _has_place(path, self._variables[var].type, kept)
                case Bound():
                    kept = self._bound(statement, kept)
                case Branch(test=test, then=then, other=other):
                    self.of(test, kept)
                    self._statements(then, kept)
                    self._statements(other, kept)
                case Each(slot=slot, domain=domain, body=body):
                    self.of(domain, kept)
                    self._statements(body, kept | {slot} if keeps_to_type(domain, kept) else kept)
                case Choose(slot=slot, domain=domain, where=where):
                    self.of(domain, kept)
                    kept = kept | {slot} if keeps_to_type(domain, kept) else kept
                    if where is not None:
                        self.of(where, kept)
                case Assert(test=test):
                    self.of(test, kept)


def makes_no_error(model: Model) -> bool:
    """Whether a model makes no error in any scope, by its text alone; where that does not tell, False."""
    totality = Totality(cuts=True)
    totality.of_model(model)
    for expr in (*(each.init for each in model.variables), *(each.test for each in model.assumes)):
        totality.of(expr)
    return totality.is_whole


def _has_place(path: Iterable[Key | At], of: Type, kept: frozenset[int]) -> bool:
    """Whether a value of a type surely has a place: keys are keys of the maps."""
    for step in path:
        match step, of:
            case Key(key), Map(wanted, inner):
                if key.type != wanted or not keeps_to_type(key, kept):
                    return False
                of = inner
            case At(index), Record(_, fields):
                of = fields[index].type
            case At(index), Tuple(items):
                of = items[index]
            case _:
                return False
    return True


def is_partial(op: Op, args: tuple[Expr, ...], kept: frozenset[int] = frozenset()) -> bool:
    """Whether an operator may have no value for some arguments."""
    match op:
        case Op.LOOKUP:
            whole, key = args
            same = isinstance(whole.type, Map) and key.type == whole.type.key
            return not (same and keeps_to_type(key, kept))
        case Op.DIV | Op.MOD:
            return not (isinstance(args[1], Const) and args[1].value != 0)
        case _:
            return op in _PARTIAL


def keeps_to_type(expr: Expr, kept: frozenset[int] = frozenset()) -> bool:
    """Whether the value is surely within its type, as all stored values are.

    What is computed may be beyond it: `epoch + 1` is of the type of `epoch`, and so is a
    name bound to it, but for those in the slots `kept`.
    """
    if not _counts(expr.type):
        return True
    match expr:
        case Var() | Config() | Members():
            return True
        case Local(slot=slot):
            return slot in kept
        case Apply(op=op, args=args) if op in _PARTS_OF_STORED:
            return keeps_to_type(args[0], kept)
        case Part(of=of) | Old(of=of):
            return keeps_to_type(of, kept)
        case If(then=then, other=other):
            return keeps_to_type(then, kept) and keeps_to_type(other, kept)
        case Let(slot=slot, value=value, body=body):
            return keeps_to_type(body, kept | {slot} if keeps_to_type(value, kept) else kept)
        case Bind(quantifier=Quantifier.ARGMAX | Quantifier.ARGMIN, domain=domain):
            return keeps_to_type(domain, kept)
        case Bind(quantifier=Quantifier.SET, slot=slot, domain=domain, body=body):
            return keeps_to_type(body, kept | {slot} if keeps_to_type(domain, kept) else kept)
        case _:
            return False


def _counts(of: Type) -> bool:
    """Whether values of a type may contain numbers, or collections with a limit."""
    match of:
        case Bool() | Enum() | Sort():
            return False
        case Option(inner) | Set(inner, None):
            return _counts(inner)
        case Map(_, inner):
            return _counts(inner)
        case Seq() | Bag() | Set():
            return True
        case _:
            return True


def fits_but_for_scope(  # noqa: C901 - a dispatch
    expr: Expr, of: Type, kept: frozenset[int] = frozenset()
) -> bool:
    """Whether storing the value as the type can at most be a cut, and never an error."""
    if keeps_to_type(expr, kept) and expr.type == of:
        return True
    match of, expr:
        case (Bool() | Enum() | Sort(), _) | (Option(), Const(value=None)):
            return True
        case _, If(then=then, other=other):
            return fits_but_for_scope(then, of, kept) and fits_but_for_scope(other, of, kept)
        case _, Let(body=body):
            return fits_but_for_scope(body, of, kept)
        case Nat(), _:
            return _is_from_zero(expr, kept)
        case Range(lo, hi), Const(value=value):
            return bool(lo <= value <= hi)
        case Option(inner), _ if not isinstance(expr.type, Option):
            return fits_but_for_scope(expr, inner, kept)
        case ((Seq(_, limit) | Set(_, limit) | Bag(_, limit)), _) if limit and isinstance(limit.of, int):
            return False
        case ((Seq(inner) | Set(inner) | Bag(inner)), Make(parts=parts)):
            return all(fits_but_for_scope(part, inner, kept) for part in parts)
        case ((Seq() | Set() | Bag()), Apply(op=Op.CONCAT | Op.UNION, args=args)):
            return all(fits_but_for_scope(arg, of, kept) for arg in args)
        case ((Seq() | Set() | Bag()), Apply(op=Op.TAKE | Op.DROP | Op.MINUS | Op.INTERSECT, args=args)):
            return fits_but_for_scope(args[0], of, kept)
        case Map(_, inner), MapOf(slot=slot, body=body):
            return fits_but_for_scope(body, inner, kept | {slot})
        case Record(_, fields), Make(parts=parts):
            return _fit_but_for_scope(parts, fields, kept)
        case Union(_, cases), Make(parts=parts, case=int(case)):
            return _fit_but_for_scope(parts, cases[case].fields, kept)
        case _:
            return False


def _fit_but_for_scope(parts: Iterable[Expr], fields: Iterable[Field], kept: frozenset[int]) -> bool:
    """Whether storing each part as its field can at most be a cut."""
    return all(fits_but_for_scope(part, field.type, kept) for part, field in zip(parts, fields, strict=True))


def _is_from_zero(expr: Expr, kept: frozenset[int]) -> bool:
    """Whether a number is surely not negative."""
    match expr:
        case Const(value=value):
            return bool(value >= 0)
        case Apply(op=Op.ADD | Op.MUL | Op.MIN2, args=args):
            return all(_is_from_zero(arg, kept) for arg in args)
        case Apply(op=Op.MAX2, args=args):
            return any(_is_from_zero(arg, kept) for arg in args)
        case Apply(op=Op.SIZE | Op.COUNT | Op.COMMON):
            return True
        case _:
            lowest = expr.type.lo if isinstance(expr.type, Range) else 0
            return isinstance(expr.type, Nat | Range) and lowest >= 0 and keeps_to_type(expr, kept)


def names_scope(of: Type) -> bool:
    """Whether a value of the type may be beyond a scope: it has a nat or a named limit."""
    return any(map(_goes_to_scope, walk_type(of)))


def _goes_to_scope(of: Type) -> bool:
    """Whether a type is a nat, or has a limit that the scope gives."""
    match of:
        case Nat() | Seq(_, Limit(str())) | Set(_, Limit(str())) | Bag(_, Limit(str())):
            return True
        case _:
            return False
