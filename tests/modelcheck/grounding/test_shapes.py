"""Every small value in every form of shape: what is asked of shapes is what is true of the values.

A wrong one fails with its type, the forms, and the values: `stored, chosen: ((0, 1), (0,))`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import combinations, product

import pytest

from modelcheck.grounding import listed, operations, rows, shapes, terms
from modelcheck.grounding.term_values import decoded, term_value
from spec.meaning.operators import operation
from spec.model import types as t
from spec.model.ir import Value
from spec.model.op import Op
from spec.model.values import rank
from tests.modelcheck.grounding.held import Bench, Flats, Held, chosen, every_held, in_places, stored, written
from tests.spec.every_value import TYPES, every_value

ORDERED = ("bool", "number", "number above 0", "nat", "enum", "tuple")
OPTIONS = [name for name, of in TYPES.items() if isinstance(of, t.Option)]
SEQUENCES = [name for name, of in TYPES.items() if isinstance(of, t.Seq)]
SETS = [name for name, of in TYPES.items() if isinstance(of, t.Set | t.Bag)]
PLACED = [name for name in SETS if getattr(TYPES[name], "limit", None) is not None]
each_type = pytest.mark.parametrize("name", TYPES)


def wrong(
    bench: Bench,
    each: Iterable[tuple[Held, ...]],
    how: Callable[..., shapes.Shape],
    meaning: Callable[..., Value],
    of: t.Type | None = None,
) -> list[str]:
    """For which values of which shapes something made of them is not what it should be.

    What is of a type has to be held, too, as that value is.
    """
    found = []
    for some in each:
        made = how(*(held.shape for held in some))
        tidy, held_as = is_tidy(bench, made), dict[Value, terms.GroundTerm]()
        for values, under in ways(bench, *some):
            expected, known = meaning(*values), dict[terms.GroundTerm, int]()
            if of is not None and expected not in held_as:
                held_as[expected] = bench.shapes.equal(made, bench.shapes.constant(of, expected))
            is_held = bench.terms.both(tidy, held_as.get(expected, bench.terms.true))
            is_it = value_under(made, under, known) == expected
            if not (is_it and term_value(is_held, under, known)):
                found.append(f"{', '.join(held.form for held in some)}: {values}")
    return found


def value_under(shape: shapes.Shape, under: Sequence[int], known: dict[terms.GroundTerm, int]) -> Value:
    """The value of a shape where the plain variables have these values."""
    return shapes.value_of(shape, lambda term: term_value(term, under, known))


def ways(bench: Bench, *some: Held) -> Iterator[tuple[tuple[Value, ...], list[int]]]:
    """Each choice of values that shapes may have together, and the flat variables that make them so."""
    for each in product(*(held.values for held in some)):
        yield tuple(value for value, _ in each), bench.flats(*(flats for _, flats in each))


def is_tidy(bench: Bench, shape: shapes.Shape) -> terms.GroundTerm:
    """Whether nothing stands behind the end of a sequence, and in a set nothing twice."""
    made, equal = bench.terms, bench.shapes.equal
    match shape:
        case shapes.Row(length, slots):
            behind = [made.le(length, made.number(n)) for n, _ in enumerate(slots)]
            empty = [equal(slot, bench.shapes.zero(slot)) for slot in slots]
            return made.all(map(made.implies, behind, empty))
        case shapes.Listed(places, False):
            both = combinations(places, 2)
            return made.no(made.any(made.all((one, two, equal(a, b))) for (one, a), (two, b) in both))
        case _:
            return made.true


def alone(bench: Bench, of: t.Type) -> list[tuple[Held]]:
    """Every shape."""
    return [(held,) for held in every_held(bench, of)]


def pairs(bench: Bench, of: t.Type) -> Iterator[tuple[Held, Held]]:
    """Every two shapes."""
    return product(every_held(bench, of), every_held(bench, of))


# -------------------------------------------------------------------- one value


@each_type
def test_a_shape_holds_each_of_its_values(name: str) -> None:
    bench, of = Bench(), TYPES[name]

    assert wrong(bench, alone(bench, of), lambda a: a, lambda a: a, of) == []


@each_type
def test_a_shape_is_fixed_only_where_it_has_one_value(name: str) -> None:
    bench = Bench()
    fixed = {held.form for held in every_held(bench, TYPES[name]) if bench.shapes.is_fixed(held.shape)}

    assert fixed == {"written"}


@pytest.mark.parametrize("name", [name for name in TYPES if name not in PLACED])
def test_the_possible_values_are_all_that_a_shape_may_have(name: str) -> None:
    bench = Bench()
    for held in every_held(bench, TYPES[name]):
        possible = bench.shapes.possible(held.shape)

        assert {value for value, _ in held.values} <= {shapes.value_of(each) for each in possible}
        assert all(map(bench.shapes.is_fixed, possible))
        assert len(possible) == 1 or held.form != "written"


def parts(of: t.Type, value: Value) -> list[Value]:
    """What is in a value; of a bag each member once."""
    match of:
        case t.Option():
            return [] if value is None else [value]
        case t.Union():
            return list(value[1:])
        case t.Bag():
            return [member for member, _ in value]
        case t.Record() | t.Tuple() | t.Map() | t.Seq() | t.Set():
            return list(value)
        case _:
            return []


@each_type
def test_inside_a_shape_is_what_is_in_its_value(name: str) -> None:
    bench, of = Bench(), TYPES[name]
    for held in every_held(bench, of):
        inside = bench.shapes.inside(held.shape)

        assert all(has.truth for has, _ in inside)
        for (value,), under in ways(bench, held):
            found = [decoded(item, under) for has, item in inside if term_value(has, under)]
            counted = {*found} if name in SETS else found

            assert Counter(counted) == Counter(parts(of, value))


@each_type
def test_a_value_is_stored_alike_whatever_its_shape(name: str) -> None:
    bench, of = Bench(), TYPES[name]
    (to,) = stored(bench, of)
    expected = {value: bench.flats(flats) for value, flats in to.values}
    for held in (*written(bench, of), *chosen(bench, of), *stored(bench, of)):
        stores = list(bench.layout.stores(to.shape, held.shape))
        for (value,), under in ways(bench, held):
            found = bench.flats({flat.value: term_value(becomes, under) for flat, becomes in stores})

            assert found == [*expected[value], *[0] * (len(found) - len(expected[value]))]


def zero(of: t.Type) -> Value:
    """The value of a type where all is 0."""
    match of:
        case t.Option():
            return None
        case t.Record() | t.Tuple() | t.Case():
            return tuple(map(zero, t.parts(of)))
        case t.Map(key, inner):
            return (zero(inner),) * len(every_value(key))
        case t.Union(_, cases):
            return (0, *zero(cases[0]))
        case t.Seq():
            return ()
        case t.Set() | t.Bag():
            return frozenset()
        case _:
            return 0


@each_type
def test_a_shape_with_nothing_in_it_is_zero(name: str) -> None:
    bench, of = Bench(), TYPES[name]
    for held in every_held(bench, of):
        none = bench.shapes.zero(held.shape)

        assert bench.shapes.is_fixed(none)
        if not isinstance(none, shapes.Tagged) or 0 in none.cases:
            assert shapes.value_of(none) == zero(of)


@each_type
def test_where_none_is_needed_there_is_some_shape_of_the_type(name: str) -> None:
    assert shapes.value_of(Bench().shapes.nothing(TYPES[name])) == zero(TYPES[name])


@pytest.mark.parametrize("name", [name for name in TYPES if name not in PLACED])
def test_the_domain_of_a_type_is_all_of_its_values_and_its_size_how_many(name: str) -> None:
    made, of = Bench().shapes, TYPES[name]

    assert sorted(made.domain(of), key=rank) == list(every_value(of))
    assert made.size(of) == len(every_value(of))


# -------------------------------------------------------------------- relations


@each_type
def test_two_shapes_are_equal_exactly_where_their_values_are(name: str) -> None:
    bench = Bench()

    assert wrong(bench, pairs(bench, TYPES[name]), bench.shapes.equal, lambda a, b: a == b) == []


@pytest.mark.parametrize("name", ORDERED)
def test_a_shape_is_less_exactly_where_its_value_is(name: str) -> None:
    bench = Bench()

    assert wrong(bench, pairs(bench, TYPES[name]), bench.shapes.less, lambda a, b: rank(a) < rank(b)) == []


@each_type
def test_a_choice_between_two_shapes_has_the_value_of_the_chosen_one(name: str) -> None:
    bench, of = Bench(), TYPES[name]
    test = bench.test()
    every = [(test, a, b) for a, b in pairs(bench, of)]

    assert wrong(bench, every, bench.shapes.ite, lambda test, a, b: a if test else b, of) == []


@pytest.mark.parametrize("name", [*OPTIONS, *SEQUENCES, *SETS])
def test_a_value_is_in_a_shape_exactly_where_it_is_in_its_value(name: str) -> None:
    bench, of = Bench(), TYPES[name]
    (inner,) = t.parts(of)
    every = product(every_held(bench, inner), every_held(bench, of))

    assert wrong(bench, every, bench.shapes.is_in, lambda a, whole: a in parts(of, whole)) == []


@pytest.mark.parametrize("name", [*OPTIONS, *SEQUENCES, *SETS])
def test_the_count_of_a_shape_is_the_size_of_its_value(name: str) -> None:
    bench, of = Bench(), TYPES[name]

    assert wrong(bench, alone(bench, of), bench.shapes.count, operation(Op.SIZE, [of])) == []


# ---------------------------------------------------------------------- choices


def indices(bench: Bench) -> list[Held]:
    """Small numbers in every form that an index has."""
    number, variable = bench.terms.number, bench.number(3)
    tests = [bench.test() for _ in range(3)]
    items = [(test.term, number(n)) for n, test in enumerate(tests)]
    choice = shapes.number(bench.shapes.first_of([*items, (bench.terms.true, number(3))]))
    last = [*((n, flats) for n, test in enumerate(tests) for there, flats in test.values if there), (3, {})]
    return [
        *(Held("a number", number(n), [(n, {})]) for n in range(-1, 4)),
        variable,
        Held("a variable and a number", bench.terms.sub(variable.term, number(1)), less_one(variable.values)),
        Held("a choice", choice, last),
        Held("a choice and a number", bench.terms.sub(choice, number(1)), less_one(last)),
    ]


def less_one(each: Iterable[tuple[int, Flats]]) -> list[tuple[int, Flats]]:
    return [(n - 1, flats) for n, flats in each]


@pytest.mark.parametrize("first", [-1, 0, 1])
def test_an_index_picks_the_option_that_it_counts_to(first: int) -> None:
    bench = Bench()
    options = [bench.terms.number(n) for n in (50, 60, 70)]
    for index in indices(bench):
        found = bench.shapes.pick(index.term, options, first)
        for (n,), under in ways(bench, index):
            assert decoded(found, under) == 50 + 10 * (n - first) or not 0 <= n - first < 3


def test_the_first_that_is_there_is_taken_else_the_last() -> None:
    bench = Bench()
    tests, every = [bench.test() for _ in range(3)], [bench.terms.number(n) for n in range(3)]

    def first(*tests: shapes.Shape) -> shapes.Shape:
        return bench.shapes.first_of(list(zip(map(shapes.number, tests), every, strict=True)))

    assert wrong(bench, [tuple(tests)], first, lambda *there: [*there[:2], True].index(True)) == []


@pytest.mark.parametrize("counts", [False, True])
def test_what_is_gathered_is_what_is_there(counts: bool) -> None:  # noqa: FBT001 - a parameter
    bench = Bench()
    tests, bits = [bench.test() for _ in range(3)], [bench.number(1) for _ in range(3)]
    of = t.Bag(t.INT, None) if counts else t.Set(t.INT)

    def gathered(*each: shapes.Shape) -> shapes.Shape:
        return bench.shapes.gathered(zip(map(shapes.number, each[:3]), each[3:], strict=True), counts=counts)

    def meaning(*each: Value) -> Value:
        there = Counter(n for has, n in zip(each[:3], each[3:], strict=True) if has)
        return frozenset(there.items() if counts else there)

    assert wrong(bench, [(*tests, *bits)], gathered, meaning, of) == []


# -------------------------------------------------------------------- sequences


@pytest.mark.parametrize("name", SEQUENCES)
@pytest.mark.parametrize(("op", "how"), [(Op.COMMON, rows.common), (Op.STARTS, rows.starts)])
def test_sequences_are_compared_from_their_start(op: Op, how: Callable[..., shapes.Shape], name: str) -> None:
    bench, of = Bench(), TYPES[name]

    assert wrong(bench, pairs(bench, of), partial(how, bench.shapes), operation(op, [of, of])) == []


@pytest.mark.parametrize("name", SEQUENCES)
def test_one_sequence_is_put_after_another(name: str) -> None:
    bench, of = Bench(), TYPES[name]
    concat = partial(rows.concat, bench.shapes)

    assert wrong(bench, pairs(bench, of), concat, operation(Op.CONCAT, [of, of]), of) == []


@pytest.mark.parametrize("name", SEQUENCES)
@pytest.mark.parametrize(("op", "cut"), [(Op.TAKE, rows.take), (Op.DROP, rows.drop)])
def test_a_sequence_is_cut_at_an_index(op: Op, cut: Callable[..., shapes.Shape], name: str) -> None:
    bench, of = Bench(), TYPES[name]
    every = product(every_held(bench, of), indices(bench))

    assert wrong(bench, every, partial(cut, bench.shapes), operation(op, [of, t.INT]), of) == []


# ----------------------------------------------------------------- sets and bags


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("op", [Op.UNION, Op.MINUS])
def test_sets_and_bags_are_joined_and_subtracted(op: Op, name: str) -> None:
    bench, of = Bench(), TYPES[name]
    heaps = [pair for pair in pairs(bench, of) if all(isinstance(each.shape, shapes.Heap) for each in pair)]

    assert wrong(bench, heaps, partial(operations.PLAIN[op], bench.shapes), operation(op, [of, of]), of) == []


def at_most_one(of: t.Type, member: Value, *, there: bool) -> Value:
    """A set or bag with a member in it if that is there."""
    return frozenset(([(member, 1)] if isinstance(of, t.Bag) else [member]) if there else [])


@pytest.mark.parametrize("name", PLACED)
@pytest.mark.parametrize(("op", "change"), [(Op.UNION, listed.put), (Op.MINUS, listed.take_out)])
def test_one_member_more_or_less_in_places(op: Op, change: Callable[..., shapes.Shape], name: str) -> None:
    bench, of = Bench(), TYPES[name]
    (inner,) = t.parts(of)
    (whole,) = in_places(bench, of)
    every = [(whole, member, bench.test()) for member in every_held(bench, inner)]

    def meaning(whole: Value, member: Value, there: Value) -> Value:
        return operation(op, [of, of])(whole, at_most_one(of, member, there=there))

    assert wrong(bench, every, partial(change, bench.shapes), meaning, of) == []


@pytest.mark.parametrize("name", PLACED)
def test_what_stands_in_a_place_is_taken_out(name: str) -> None:
    bench, of = Bench(), TYPES[name]
    (whole,), test = in_places(bench, of), bench.test()
    assert isinstance(whole.shape, shapes.Listed)
    for has, item in whole.shape.places:
        found = listed.take_out(bench.shapes, whole.shape, item, bench.terms.both(test.term, has))
        for (value, there), under in ways(bench, whole, test):
            one = at_most_one(of, decoded(item, under), there=bool(there and term_value(has, under)))

            assert decoded(found, under) == operation(Op.MINUS, [of, of])(value, one)


@pytest.mark.parametrize("name", PLACED)
def test_a_set_or_bag_is_put_in_places(name: str) -> None:
    bench, of = Bench(), TYPES[name]
    (like,) = in_places(bench, of)
    assert isinstance(like.shape, shapes.Listed)
    put = partial(listed.in_places, bench.shapes, like.shape)

    assert wrong(bench, alone(bench, of), put, lambda a: a, of) == []


@pytest.mark.parametrize("name", SETS)
def test_the_things_in_a_bag_are_there_as_often_as_it_has_them(name: str) -> None:
    bench, of = Bench(), TYPES[name]
    for held in every_held(bench, of):
        assert isinstance(held.shape, shapes.Heap | shapes.Listed)
        things = listed.possible_members(bench.shapes, held.shape)
        for (value,), under in ways(bench, held):
            found = Counter(decoded(item, under) for has, item in things if term_value(has, under))

            assert found == Counter(dict(value) if isinstance(of, t.Bag) else value)
