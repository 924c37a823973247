"""What statements mean: each becomes, once, a function that changes a frame, or makes many of it.

The frame of an action holds the state's variables, the local slots, the state before the step
(at `BEFORE`), and after them what has become of this branch of the step: the choices made,
the asserts broken, and what ended it early, if anything did.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import assert_never

from spec.frozen import frozen
from spec.meaning.evaluate import Evaluator, Frame, FrameLayout, compiled, walked
from spec.meaning.operators import NoValue, place_in
from spec.model.ir import Assert, Assign, At, Bound, Branch, Choose, Each, Key, Stmt, Value
from spec.model.types import UNKNOWN, Map, Record, Tuple, Type, element
from spec.model.values import Cut, ModelError, position
from spec.model.walk import chooses

CHOICES, BROKEN, ENDED = -3, -2, -1  # where a frame keeps what became of its branch
Do = Callable[[Frame], None]
Run = Callable[[Frame], list[Frame]]


@frozen
class Choice:
    """The value that a `choose` chose, by its name in the text."""

    name: str
    type: Type
    value: Value


def fresh(state: Sequence[Value], slots: int) -> Frame:
    """The frame in which an action starts."""
    return [*state, *[None] * slots, state, (), (), None]


@frozen
class DeadEnd:
    """A `choose` without a member; `is_empty` if its domain was empty, not its condition false."""

    choose: Choose
    is_empty: bool


def body(
    statements: Sequence[Stmt],
    layout: FrameLayout,
    types: Sequence[Type],
    dead_ends: list[DeadEnd] | None = None,
) -> Run:
    """A function that runs statements: from a frame to the frames of all choices, in order.

    A branch that leaves the scope or makes an error is there too, with `ENDED`
    set to the `Cut` or `ModelError`, as far as it got.  A branch that a `choose` ends is not;
    `dead_ends`, where given, collects these.
    """
    parts = [_part(statement, layout, types, dead_ends) for statement in statements]

    def run(frame: Frame) -> list[Frame]:
        frames = [frame]
        for part in parts:
            frames = [after for before in frames for after in part(before)]
        return frames

    return run


def _part(
    statement: Stmt, layout: FrameLayout, types: Sequence[Type], dead_ends: list[DeadEnd] | None
) -> Run:
    """A function that runs one statement: to one frame, or with a choice to several."""
    if not chooses(statement):
        return _guarded(_plain(statement, layout, types))
    match statement:
        case Choose():
            return _choose(statement, layout, dead_ends)
        case Branch():
            return _branch(statement, layout, types, dead_ends)
        case Each():
            return _each(statement, layout, types, dead_ends)
        case Assign() | Bound() | Assert():
            raise TypeError(f"{statement} has no choice in it")
        case _:
            assert_never(statement)


def _guarded(do: Do) -> Run:
    """The statement's function, which skips ended branches, and ends a branch at a cut or error."""

    def run(frame: Frame) -> list[Frame]:
        if frame[ENDED] is None:
            try:
                do(frame)
            except (Cut, ModelError) as end:
                frame[ENDED] = end
        return [frame]

    return run


# ------------------------------------------------------- statements without choice


def _plain(statement: Stmt, layout: FrameLayout, types: Sequence[Type]) -> Do:
    """A function that runs a statement without choices, changing its frame."""
    match statement:
        case Assign():
            return _assign(statement, layout, types[statement.var])
        case Bound(slot=slot):
            return _store(layout.locals + slot, compiled(statement.value, layout))
        case Branch():
            then = _all(statement.then, layout, types)
            return _if(compiled(statement.test, layout), then, _all(statement.other, layout, types))
        case Each():
            return _for(statement, layout, types)
        case Assert():
            return _assert(statement.name, compiled(statement.test, layout))
        case Choose():
            raise TypeError("a choice makes several frames")
        case _:
            assert_never(statement)


def _all(statements: Sequence[Stmt], layout: FrameLayout, types: Sequence[Type]) -> Do:
    """A function that runs statements without choices."""
    parts = [_plain(statement, layout, types) for statement in statements]

    def do(frame: Frame) -> None:
        for part in parts:
            part(frame)

    return do


def _assign(statement: Assign, layout: FrameLayout, of: Type) -> Do:
    """A function that runs an assignment."""
    at, value = layout.variables + statement.var, compiled(statement.value, layout)
    if not statement.path:
        return _store(at, value)
    places = _places(statement.path, of, layout)

    def assign(frame: Frame) -> None:
        path = []
        whole = frame[at]
        for place in places:
            path.append(place(whole, frame))
            whole = whole[path[-1]]
        frame[at] = _changed(frame[at], path, value(frame))

    return assign


def _places(path: Sequence[Key | At], of: Type, layout: FrameLayout) -> list[Callable[[Value, Frame], int]]:
    """For each step of a path, a function from the container and frame to the index."""
    places: list[Callable[[Value, Frame], int]] = []
    for step in path:
        match step, of:
            case Key(key), Map(key_type, inner):
                places.append(_place(compiled(key, layout), position(key_type), step))
                of = inner
            case At(index), Record(_, fields):
                places.append(_always(index))
                of = fields[index].type
            case At(index), Tuple(items):
                places.append(_always(index))
                of = items[index]
            case _:
                raise TypeError(f"{of} has no place {step}")
    return places


def _always(index: int) -> Callable[[Value, Frame], int]:
    """A function to a constant index."""
    return lambda _whole, _frame: index


def _place(key: Evaluator, place: Callable[[Value], int], step: Key) -> Callable[[Value, Frame], int]:
    """A function from a map to the index of an evaluated key."""

    def index(whole: Value, frame: Frame) -> int:
        found = key(frame)
        try:
            return place_in(whole, place(found), found)
        except NoValue as refusal:
            raise ModelError(refusal.code, refusal.message, step.key.span) from None

    return index


def _changed(whole: Value, path: Sequence[int], value: Value) -> Value:
    """The nested tuple with the value at a path replaced."""
    at, *rest = path
    inner = _changed(whole[at], rest, value) if rest else value
    return (*whole[:at], inner, *whole[at + 1 :])


def _store(at: int, value: Evaluator) -> Do:
    """A function that stores a value in a slot or variable."""

    def store(frame: Frame) -> None:
        frame[at] = value(frame)

    return store


def _if(test: Evaluator, then: Do, other: Do) -> Do:
    """A function that runs an `if`."""

    def do(frame: Frame) -> None:
        if test(frame):
            then(frame)
        else:
            other(frame)

    return do


def _for(statement: Each, layout: FrameLayout, types: Sequence[Type]) -> Do:
    """A function that runs a `for`."""
    walk, slot = walked(statement.domain, statement.case, layout), layout.locals + statement.slot
    inner = _all(statement.body, layout, types)

    def do(frame: Frame) -> None:
        for value in walk(frame):
            frame[slot] = value
            inner(frame)

    return do


def _assert(name: str, test: Evaluator) -> Do:
    """A function that runs an `assert`."""

    def do(frame: Frame) -> None:
        if not test(frame) and name not in frame[BROKEN]:
            frame[BROKEN] = (*frame[BROKEN], name)

    return do


# ---------------------------------------------------------- statements with choice


def _choose(statement: Choose, layout: FrameLayout, dead_ends: list[DeadEnd] | None) -> Run:
    """A function that runs a `choose`."""
    walk, slot = walked(statement.domain, statement.case, layout), layout.locals + statement.slot
    where = None if statement.where is None else compiled(statement.where, layout)
    name, of = statement.name, element(statement.domain.type) or UNKNOWN

    def run(frame: Frame) -> list[Frame]:
        if frame[ENDED] is not None:
            return [frame]
        found, is_empty = [], True
        try:
            for value in walk(frame):
                frame[slot], is_empty = value, False
                if where is None or where(frame):
                    found.append(_branched(frame, Choice(name, of, value), slot))
        except (Cut, ModelError) as end:
            frame[ENDED] = end
            found.append(frame)
        if dead_ends is not None and not found:
            dead_ends.append(DeadEnd(statement, is_empty))
        return found

    return run


def _branched(frame: Frame, choice: Choice, slot: int) -> Frame:
    """A copy of a frame with a choice made."""
    branch = frame.copy()
    branch[slot] = choice.value
    branch[CHOICES] = (*frame[CHOICES], choice)
    return branch


def _branch(
    statement: Branch, layout: FrameLayout, types: Sequence[Type], dead_ends: list[DeadEnd] | None
) -> Run:
    """A function that runs an `if` with choices inside."""
    slot = _guarded_test(compiled(statement.test, layout))
    then, other = (body(each, layout, types, dead_ends) for each in (statement.then, statement.other))

    def run(frame: Frame) -> list[Frame]:
        says = slot(frame)
        if says is None:
            return [frame]
        return then(frame) if says else other(frame)

    return run


def _guarded_test(test: Evaluator) -> Callable[[Frame], bool | None]:
    """A condition's value; None in a branch that has ended, or ends by evaluating it."""

    def ask(frame: Frame) -> bool | None:
        if frame[ENDED] is not None:
            return None
        try:
            return bool(test(frame))
        except (Cut, ModelError) as end:
            frame[ENDED] = end
            return None

    return ask


def _each(
    statement: Each, layout: FrameLayout, types: Sequence[Type], dead_ends: list[DeadEnd] | None
) -> Run:
    """A function that runs a `for` with choices inside."""
    walk, slot = walked(statement.domain, statement.case, layout), layout.locals + statement.slot
    inner = body(statement.body, layout, types, dead_ends)

    def run(frame: Frame) -> list[Frame]:
        if frame[ENDED] is not None:
            return [frame]
        try:
            values = list(walk(frame))
        except (Cut, ModelError) as end:
            frame[ENDED] = end
            return [frame]
        frames = [frame]
        for value in values:
            for each in frames:
                each[slot] = value
            frames = [after for before in frames for after in inner(before)]
        return frames

    return run
