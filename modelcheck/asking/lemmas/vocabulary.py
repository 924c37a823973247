"""The words of a model: bound names, terms and conditions of which candidate lemmas are made.

A *frame* binds a few names, each of a sort, of a nat, or of the messages of a network or the
records of a set, and has the conditions about them: comparisons of state variables, of fields and of
messages with each other, membership, and the model's own questions about sizes of sets.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import combinations, combinations_with_replacement, product

import spec.model.ir as ir
import spec.model.types as t
from modelcheck.asking.lemmas.phrases import (
    NOWHERE,
    Phrase,
    compared,
    constant,
    entry,
    for_all,
    local,
    made,
    part,
    variable,
)
from modelcheck.asking.lemmas.quorums import SizeQuestion, quorums
from spec.frozen import frozen
from spec.model.op import WORDS, Op
from spec.model.walk import walk

MOST_NAMES = 3  # that a frame binds
MOST_FIELDS = 3  # of a message of which a condition says that it was sent


@frozen
class BoundName:
    """A bound name: of a sort or nat, or of the members of a set or network, of one `case` of them."""

    name: str
    slot: int
    type: t.Type
    domain: Phrase | None = None  # None: all values of the type
    case: int | None = None

    @property
    def text(self) -> str:
        """The binder as a quantifier has it."""
        if self.domain is None:
            return f"{self.name}: {self.type}"
        narrowed = f"{self.name}: {self.type}" if self.case is not None else self.name
        return f"{narrowed} in {self.domain.text}"

    @property
    def phrase(self) -> Phrase:
        """The name as a term."""
        return local(self.slot, self.type, self.name)

    def over(self, body: ir.Expr) -> ir.Expr:
        """The expression that the body is true for every value of the name."""
        everything = ir.Members(self.type, type=t.Set(self.type), span=NOWHERE)
        return for_all(self.name, self.slot, self.domain.expr if self.domain else everything, body, self.case)


@frozen
class Frame:
    """Bound names, and the conditions that may be asked of them."""

    binders: tuple[BoundName, ...]
    atoms: tuple[Phrase, ...]

    @property
    def is_of_members(self) -> bool:
        """Whether the names are of sorts and nats alone, and of nothing that is in a set."""
        return all(each.domain is None for each in self.binders)


class FrameVocabulary:
    """The frames of a model. Ghosts are words as other variables; fields of errors are not used."""

    def __init__(self, model: ir.Model, idle: Collection[int] = ()) -> None:
        """`idle` are the state variables that no condition is about."""
        self.model, self._idle = model, frozenset(idle)
        self._taken = {*WORDS, *(each.name for each in model.variables), *(c.name for c in model.configs)}
        self._taken |= {str(each) for each in (*model.sorts, *model.nats, *model.enums)}
        self.quorums = quorums(model)

    def frames(self, names: int = MOST_NAMES) -> Iterator[Frame]:
        """The frames with at most that many names, those with the fewest first."""
        found = list(self._binders(names))
        for binders in sorted(found, key=len):
            atoms = tuple(self._atoms(binders))
            if atoms:
                yield Frame(binders, atoms)

    # --------------------------------------------------------------------- bound names

    def _binders(self, most: int) -> Iterator[tuple[BoundName, ...]]:
        """The ways to bind names."""
        kinds: list[t.Type] = [*self.model.sorts, *self._nats_in_sets()]
        kinds = [each for each in kinds if self._is_used(each)]
        for count in range(most + 1):
            for chosen in combinations_with_replacement(kinds, count):
                plain = self._named(chosen)
                yield plain
                yield from self._with_elements(plain, most - count)

    def _is_used(self, of: t.Type) -> bool:
        """Whether a condition can be about values of a type."""
        return any(
            of in (each, getattr(each, "key", None))
            for index, one in enumerate(self.model.variables)
            if index not in self._idle
            for each in t.walk_type(one.type)
        )

    def _nats_in_sets(self) -> list[t.Nat]:
        """The nats of which the state has sets, so that a lemma may speak of any value."""
        found = dict.fromkeys(
            each.of
            for one in self.model.variables
            for each in t.walk_type(one.type)
            if isinstance(each, t.Set) and isinstance(each.of, t.Nat)
        )
        return [*found]

    def _named(self, kinds: Sequence[t.Type]) -> tuple[BoundName, ...]:
        """A name for each of some types."""
        taken, found = set(self._taken), []
        for slot, of in enumerate(kinds):
            name = _fresh(str(of)[0].lower(), taken)
            found.append(BoundName(name, slot, of))
        return tuple(found)

    def _with_elements(self, plain: tuple[BoundName, ...], more: int) -> Iterator[tuple[BoundName, ...]]:
        """The names with one or two more, of members of sets and networks."""
        places = [*self._places(plain)]
        for count in range(1, min(more, 2) + 1):
            for chosen in combinations_with_replacement(places, count):
                taken = self._taken | {each.name for each in plain}
                found = list(plain)
                for place, of, case in chosen:
                    name = _fresh("m" if case is not None else "e", taken)
                    found.append(BoundName(name, len(found), of, place, case))
                yield tuple(found)

    def _places(self, plain: tuple[BoundName, ...]) -> Iterator[tuple[Phrase, t.Type, int | None]]:
        """The sets and networks of messages or records, with the type of a member and its case."""
        for place in self._terms(plain):
            match place.type:
                case t.Set(t.Union() as of) | t.Bag(t.Union() as of):
                    for case, one in enumerate(of.cases):
                        if one.fields:
                            yield place, one, case
                case t.Set(t.Record() as record) | t.Bag(t.Record() as record):
                    yield place, record, None
                case _:
                    pass

    # ----------------------------------------------------------------------------- terms

    def _terms(self, binders: Sequence[BoundName]) -> list[Phrase]:
        """The terms about bound names: state variables, their parts, and parts of messages."""
        names = [each.phrase for each in binders]
        keys = [each.phrase for each in binders if each.domain is None]
        found = list(names)
        for each, name in zip(binders, names, strict=True):
            if isinstance(each.type, t.Case | t.Record):
                fields = each.type.fields
                found += [part(name, n, field, each.case) for n, field in enumerate(fields)]
        members = [each for each in found if isinstance(each.type, t.Sort)]
        for index, one in enumerate(self.model.variables):
            if index in self._idle:
                continue
            found += self._parts(variable(index, one.type, one.name), one, [*keys, *members])
        return found

    def _parts(self, whole: Phrase, one: ir.Variable, keys: Sequence[Phrase]) -> Iterator[Phrase]:
        """A state variable without maps and records: its entries and fields."""
        match whole.type:
            case t.Map(key=key):
                for each in dict.fromkeys(keys):
                    if each.type == key:
                        is_field = one.owner is not None and whole.text == one.name
                        owned = one.name.partition(".")[2]
                        text = f"{each.text}.{owned}" if is_field else f"{whole.text}[{each.text}]"
                        yield from self._parts(entry(whole, each, text), one, keys)
            case t.Record(_, fields):
                yield whole
                for n, field in enumerate(fields):
                    yield from self._parts(part(whole, n, field), one, keys)
            case _:
                yield whole

    # -------------------------------------------------------------------------- conditions

    def _atoms(self, binders: Sequence[BoundName]) -> Iterator[Phrase]:
        """The conditions about bound names, none twice."""
        terms = self._terms(binders)
        seen = set[ir.Expr]()
        plain = self._plain(terms)
        for each in (*plain, *_sent(terms), *self._quorate(binders, terms)):
            if each.expr not in seen:
                seen.add(each.expr)
                yield each

    def _plain(self, terms: Sequence[Phrase]) -> Iterator[Phrase]:
        """The conditions on terms: their values, and comparisons of two."""
        for each in terms:
            yield from self._alone(each)
        for a, b in combinations(terms, 2):
            yield from _both(a, b)

    def _alone(self, each: Phrase) -> Iterator[Phrase]:
        """The conditions on one term."""
        match each.type:
            case t.Bool():
                yield each
            case t.Enum(members=names):
                for value, name in enumerate(names):
                    yield compared(Op.EQ, each, constant(value, each.type, name))
            case t.Option():
                yield compared(Op.EQ, each, constant(None, each.type, "none"))
            case t.Nat() if isinstance(each.expr, ir.Local) is False:
                yield compared(Op.EQ, each, constant(0, t.INT, "0"))
            case t.Set(t.Sort() as sort):
                everything = Phrase(ir.Members(sort, type=t.Set(sort), span=NOWHERE), sort.name, 0)
                yield compared(Op.EQ, each, everything)
                yield compared(Op.EQ, each, Phrase(_empty(each.type), "{}", 0))
            case t.Seq():
                yield compared(Op.EQ, each, Phrase(_empty(each.type), "[]", 0))
            case _:
                return

    def _quorate(self, binders: Sequence[BoundName], terms: Sequence[Phrase]) -> Iterator[Phrase]:
        """The conditions that the members with some property are a quorum, as the model asks of sets."""
        for quorum in self.quorums:
            for each in terms:
                if each.type == t.Set(quorum.sort):
                    yield quorum.of(each)
            yield from self._with_property(quorum, binders)

    def _with_property(self, quorum: SizeQuestion, binders: Sequence[BoundName]) -> Iterator[Phrase]:
        """The conditions that the members of a sort with a property are a quorum."""
        if len(binders) > MOST_NAMES - 1:
            return
        taken = self._taken | {each.name for each in binders}
        one = BoundName(_fresh(quorum.sort.name[0].lower(), taken), len(binders), quorum.sort)
        wider = (*binders, one)
        for condition in self._about(one, wider):
            for positive in (True, False) if quorum.is_of_many else ():
                yield quorum.of_those(one.name, one.slot, condition, positive=positive)

    def _about(self, one: BoundName, binders: Sequence[BoundName]) -> Iterator[Phrase]:
        """The conditions on a member."""
        terms = self._terms(binders)
        for each in (*self._plain(terms), *_sent(terms)):
            if _speaks_of(each.expr, one.slot):
                yield each


def _sent(terms: Sequence[Phrase]) -> Iterator[Phrase]:
    """The conditions that a message with given fields is in a network."""
    for place in terms:
        match place.type:
            case t.Set(t.Union() as of) | t.Bag(t.Union() as of):
                for case, one in enumerate(of.cases):
                    yield from _messages(place, of, case, one, terms)
            case _:
                pass


def _messages(
    place: Phrase,
    of: t.Union,
    case: int,
    one: t.Case,
    terms: Sequence[Phrase],
) -> Iterator[Phrase]:
    """The conditions that a message of a case is in a network."""
    if len(one.fields) > MOST_FIELDS:
        return
    choices = [_fillings(field.type, terms) for field in one.fields]
    for parts in product(*choices):
        yield compared(Op.IN, made(parts, of, case), place)


def _fillings(of: t.Type, terms: Sequence[Phrase]) -> list[Phrase]:
    """The terms that a field of a message may have."""
    match of:
        case t.Bool():
            return [constant(value, of, str(value).lower()) for value in (False, True)]
        case t.Enum(_, names):
            return [constant(value, of, name) for value, name in enumerate(names)]
        case _:
            return [each for each in terms if each.type == of and each.weight <= 1]


def _both(a: Phrase, b: Phrase) -> Iterator[Phrase]:
    """The conditions that compare two terms."""
    match a.type, b.type:
        case (t.Sort() | t.Enum(), _) if a.type == b.type and not isinstance(a.type, t.Enum):
            yield compared(Op.EQ, a, b)
        case t.Nat(), _ if a.type == b.type:
            yield compared(Op.EQ, a, b)
            yield compared(Op.LT, a, b)
            yield compared(Op.LE, a, b)
        case t.Option(), t.Option() if a.type == b.type:
            yield compared(Op.EQ, a, b)
        case t.Record(), _ if a.type == b.type:
            yield compared(Op.EQ, a, b)
        case t.Set(), t.Set() if a.type == b.type:
            yield compared(Op.EQ, a, b)
            yield compared(Op.SUBSET, a, b)
            yield compared(Op.SUBSET, b, a)
        case t.Seq(), t.Seq() if a.type == b.type:
            yield compared(Op.EQ, a, b)
            yield compared(Op.STARTS, a, b)
            yield compared(Op.STARTS, b, a)
        case _:
            for one, many in ((a, b), (b, a)):
                if _may_have(many.type, one.type):
                    yield compared(Op.IN, one, many)


def _may_have(many: t.Type, one: t.Type) -> bool:
    """Whether a value of one type may be in a collection of another, and is short to write."""
    is_short = t.is_scalar(one) or isinstance(one, t.Record)
    return is_short and isinstance(many, t.Set | t.Option | t.Seq | t.Bag) and many.of == one


def _empty(of: t.Type) -> ir.Expr:
    """The empty set or sequence."""
    return ir.Make((), None, type=of, span=NOWHERE)


def _speaks_of(expr: ir.Expr, slot: int) -> bool:
    """Whether a bound name occurs in an expression."""
    return any(isinstance(each, ir.Local) and each.slot == slot for each in walk(expr))


def _fresh(name: str, taken: set[str]) -> str:
    """A name like this that is not taken, which it is afterwards."""
    for each in (name, *(f"{name}{n}" for n in range(2, 99))):
        if each not in taken:
            taken.add(each)
            return each
    raise AssertionError("a hundred names of one letter")
