from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterexamples.certify import certify
from counterexamples.itf.decode import TypeMismatch, decode
from counterexamples.itf.encode import encode
from counterexamples.itf.json_text import find
from counterexamples.itf.read import document, read
from counterexamples.itf.write import digest, write
from counterexamples.trace import BadStep, Deadlocked, Ending, Erred, Example, Lasso, Stops, Trapped
from spec.diagnostics import SpecError, render
from spec.load import loads
from spec.model.ir import Scope
from spec.model.types import (
    BOOL,
    INT,
    Bag,
    Case,
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
)
from spec.model.values import members
from spec.source import Source, Span
from tests.counterexamples.runs import TOY, divergence, scope, toy, walk

SCOPE = Scope({"Replica": ("r1", "r2", "r3")}, {"Epoch": 3}, {"net": 2}, {})
SCALARS: st.SearchStrategy[Type] = st.sampled_from(
    [BOOL, Range(-1, 2), Nat("Epoch"), Enum("E", ("x", "y")), Sort("Replica")]
)


def types() -> st.SearchStrategy[Type]:
    def larger(inner: st.SearchStrategy[Type]) -> st.SearchStrategy[Type]:
        fields = st.lists(inner, max_size=3).map(
            lambda all_: tuple(Field(f"f{i}", of) for i, of in enumerate(all_))
        )
        case = fields.map(lambda found: Case("U", "one", found))
        return st.one_of(
            inner.map(Option),
            inner.map(Set),
            inner.map(lambda of: Bag(of, Limit(3))),
            inner.map(lambda of: Seq(of, Limit(3))),
            fields.map(lambda found: Record("R", found)),
            st.lists(inner, min_size=2, max_size=3).map(lambda items: Tuple(tuple(items))),
            case.map(lambda one: Union("U", (one, Case("U", "two", ())))),
            st.builds(Map, SCALARS, inner),
        )

    return st.recursive(SCALARS | st.just(INT), larger, max_leaves=5)


def values(of: Type) -> st.SearchStrategy[Any]:
    match of:
        case Option(inner):
            return st.none() | values(inner)
        case Set(inner):
            return st.frozensets(values(inner), max_size=3)
        case Bag(inner):
            return st.dictionaries(values(inner), st.integers(1, 3), max_size=3).map(
                lambda found: frozenset(found.items())
            )
        case Seq(inner):
            return st.lists(values(inner), max_size=3).map(tuple)
        case Record(_, fields):
            return st.tuples(*(values(field.type) for field in fields))
        case Tuple(items):
            return st.tuples(*map(values, items))
        case Union(_, cases):
            return st.one_of(
                *(
                    st.tuples(st.just(i), *(values(field.type) for field in case.fields))
                    for i, case in enumerate(cases)
                )
            )
        case Map(key, inner):
            return st.tuples(*[values(inner)] * len(members(key, SCOPE)))
        case _:
            return st.integers() if of == INT else st.sampled_from(members(of, SCOPE))


@given(st.data())
def test_every_value_comes_back(data: st.DataObject) -> None:
    of = data.draw(types())
    value = data.draw(values(of))

    text = json.dumps(encode(of, value, SCOPE))

    assert decode(of, json.loads(text), SCOPE) == value


def test_values_are_written_as_the_format_has_them() -> None:
    ask, stop = Case("Msg", "Ask", (Field("at", Nat("Epoch")),)), Case("Msg", "Stop", ())
    one, two = {"#bigint": "1"}, {"#bigint": "2"}

    assert encode(INT, 2**60, SCOPE) == {"#bigint": str(2**60)}
    assert encode(INT, -5, SCOPE) == {"#bigint": "-5"}
    assert encode(Sort("Replica"), 1, SCOPE) == "r2"
    assert encode(Set(BOOL), frozenset({True, False}), SCOPE) == {"#set": [False, True]}
    assert encode(Tuple((INT, BOOL)), (1, True), SCOPE) == {"#tup": [one, True]}
    assert encode(Map(BOOL, INT), (1, 2), SCOPE) == {"#map": [[False, one], [True, two]]}
    assert encode(Union("Msg", (ask, stop)), (0, 2), SCOPE) == {"tag": "Ask", "value": {"at": two}}
    assert encode(Union("Msg", (ask, stop)), (1,), SCOPE) == {"tag": "Stop", "value": {"#tup": []}}
    assert encode(Option(INT), None, SCOPE) == {"tag": "None", "value": {"#tup": []}}
    assert encode(Option(INT), 1, SCOPE) == {"tag": "Some", "value": one}
    assert encode(Record("P", (Field("x", INT),)), (1,), SCOPE) == {"x": one}
    assert encode(Seq(INT, None), (1, 1), SCOPE) == [one, one]
    assert encode(Bag(INT, None), frozenset({(1, 2)}), SCOPE) == {"#map": [[one, two]]}


@pytest.mark.parametrize(
    ("of", "found", "path"),
    [
        (BOOL, 1, ()),
        (INT, True, ()),
        (INT, "1", ()),
        (INT, {"#bigint": "1x"}, ("#bigint",)),
        (INT, {"#bigint": "9" * 5000}, ("#bigint",)),
        (INT, 1.5, ()),
        (Range(0, 3), 4, ()),
        (Nat("Epoch"), 4, ()),
        (Nat("Epoch"), -1, ()),
        (Sort("Replica"), "r9", ()),
        (Sort("Replica"), ["r1"], ()),
        (Seq(INT, None), [1, "x"], (1,)),
        (Set(INT), [1], ()),
        (Set(INT), {"#set": [1, None]}, ("#set", 1)),
        (Map(BOOL, INT), {"#map": [[False, 1]]}, ()),
        (Map(BOOL, INT), {"#map": [[False, 1], [True]]}, ("#map", 1)),
        (Tuple((INT, INT)), {"#tup": [1]}, ("#tup",)),
        (Option(INT), {"tag": "Some", "value": None}, ("value",)),
        (Option(INT), {"tag": [], "value": None}, ("tag",)),
        (Record("P", (Field("x", INT),)), {}, ()),
        (Record("P", (Field("x", INT),)), 3, ()),
        (Union("U", (Case("U", "A", ()),)), {"tag": "B", "value": {}}, ("tag",)),
    ],
)
def test_what_does_not_fit_is_told_with_its_place(of: Type, found: object, path: tuple[object, ...]) -> None:
    with pytest.raises(TypeMismatch) as caught:
        decode(of, found, SCOPE)

    assert caught.value.path == path


@pytest.mark.parametrize(
    ("ending", "prop"),
    [
        (Stops(), None),
        (BadStep(), "steady"),
        (Example(), "third"),
        (Deadlocked(), None),
        (Trapped(), None),
        (Lasso(2), None),
        (Erred("R0603", "division by zero", Span(3, 5)), None),
    ],
)
def test_a_trace_comes_back_as_it_was(ending: Ending, prop: str | None) -> None:
    trace = replace(divergence(), ending=ending, property=prop)

    assert read(write(trace), toy()) == trace


def test_an_error_keeps_the_step_that_made_it() -> None:
    trace = divergence()
    erred = replace(trace, ending=Erred("R0603", "division by zero", Span(3, 5), trace.steps[2]))

    assert read(write(erred), toy()) == erred


def test_a_choice_comes_back() -> None:
    trace = walk("elect(a)", "ask(b)", "answer | m = Fetch(from = b, at = 0)")

    assert read(write(trace), toy()) == trace


def test_a_trace_says_what_it_is_of() -> None:
    text = write(divergence())
    whole = json.loads(text)
    about = whole["#meta"]["modelcheck"]

    assert whole["#meta"]["format"] == "ITF"
    assert about["text"] == digest(toy().source)
    assert about["property"] == "alone"
    assert [state["#meta"]["index"] for state in whole["states"]] == list(range(8))
    assert whole["states"][4]["#meta"] | {"index": 4} == {
        "index": 4, "action": "crash", "params": {"r": "a"}, "choices": [], "faults": 1
    }  # fmt: skip
    assert set(whole["vars"]) == set(whole["states"][0]) - {"#meta"}
    assert document(text).is_of(toy())
    assert not document(text).is_of(replace(toy(), source=Source("toy.rsm", "another text")))
    assert document(text).model == "toy"


def test_a_trace_of_another_tool_gets_its_steps_from_the_model() -> None:
    trace = divergence()
    foreign = json.loads(write(trace))
    del foreign["#meta"]
    for state in foreign["states"]:
        del state["#meta"]
        state["mbt::actionTaken"] = "whatever"

    found = read(json.dumps(foreign), toy(), scope=scope(toy()))

    assert found.states == trace.states
    assert found.steps[:5] == trace.steps[:5]  # the sixth may be `answer` as well as `net.drop`
    assert found.ending == Stops()
    assert certify(found).trusted == ""


def change(*hows: Callable[[Any], None]) -> Callable[[], str]:
    def changed() -> str:
        whole = json.loads(write(divergence()))
        for how in hows:
            how(whole)
        return json.dumps(whole, indent=1)

    return changed


def put(*path: str | int, value: object) -> Callable[[Any], None]:
    def at(whole: Any) -> None:  # noqa: ANN401 - JSON
        for key in path[:-1]:
            whole = whole[key]
        whole[path[-1]] = value

    return at


def drop(*path: str | int) -> Callable[[Any], None]:
    def at(whole: Any) -> None:  # noqa: ANN401 - JSON
        for key in path[:-1]:
            whole = whole[key]
        del whole[path[-1]]

    return at


ABOUT = ("#meta", "modelcheck")

MISTAKES: dict[str, tuple[str, Callable[[], str]]] = {
    "empty": ("R0801", lambda: ""),
    "not-json": ("R0801", lambda: "states: [1, 2]"),
    "truncated": ("R0801", lambda: write(divergence())[:900]),
    "nested": ("R0801", lambda: "[" * 100_000),
    "a-name-twice": ("R0801", lambda: write(divergence()).replace('"epoch": {', '"leader": {', 1)),
    "not-a-number": ("R0801", lambda: write(divergence()).replace('"faults": 0', '"faults": NaN', 1)),
    "long-number": ("R0801", lambda: '{"vars": ' + "9" * 10_000 + "}"),
    "a-list": ("R0802", lambda: "[]"),
    "no-vars": ("R0802", change(drop("vars"))),
    "vars-are-numbers": ("R0802", change(put("vars", 1, value=7))),
    "no-states": ("R0802", change(drop("states"))),
    "zero-states": ("R0802", change(put("states", value=[]))),
    "a-state-is-a-number": ("R0802", change(put("states", 2, value=7))),
    "a-variable-missing": ("R0802", change(drop("states", 2, "isr"))),
    "a-variable-renamed": ("R0802", change(drop("states", 2, "isr"), put("states", 2, "isrs", value=1))),
    "a-parameter-missing": ("R0802", change(put("states", 1, "#meta", "params", value={}))),
    "loop-outside": ("R0802", change(put("loop", value=99))),
    "unknown-ending": ("R0802", change(put(*ABOUT, "ending", "kind", value="party"))),
    "ending-is-a-list": ("R0802", change(put(*ABOUT, "ending", "kind", value=["state"]))),
    "wrong-type": ("R0803", change(put("states", 3, "epoch", value="three"))),
    "a-number-as-text": ("R0803", change(put("states", 3, "epoch", value="3"))),
    "a-number-with-a-point": ("R0803", change(put("states", 3, "epoch", value=1.0))),
    "no-digits": ("R0803", change(put("states", 3, "epoch", value={"#bigint": "0x3"}))),
    "beyond-the-scope": ("R0803", change(put("states", 3, "epoch", value={"#bigint": "99"}))),
    "unserializable": ("R0803", change(put("states", 3, "epoch", value={"#unserializable": "Nat"}))),
    "a-field-renamed": (
        "R0803", change(put("states", 3, "lease", "value", value={"ovner": "a", "epoch": 1}))
    ),
    "unknown-case": (
        "R0803", change(put("states", 3, "net", value={"#set": [{"tag": "Fetsh", "value": {"from": "a"}}]}))
    ),
    "a-key-twice": ("R0803", change(put("states", 3, "seen", value={"#map": [["a", 1], ["a", 1]]}))),
    "a-key-missing": ("R0803", change(put("states", 3, "seen", value={"#map": [["a", 1]]}))),
    "wrong-inside": ("R0803", change(put("states", 3, "isr", value={"#set": ["a", "z"]}))),
    "wrong-config": ("R0803", change(put(*ABOUT, "config", "unclean", value="yes"))),
    "another-model": ("R0804", change(put("vars", value=["x", "y"]))),
    "some-variables-missing": ("R0804", change(put("vars", value=["leader", "epochs", "isr", "net"]))),
    "unknown-config": ("R0804", change(put(*ABOUT, "config", "min_isr", value=2))),
    "unknown-choice": (
        "R0804", change(put("states", 1, "#meta", "choices", value=[{"name": "m", "value": 1}]))
    ),
    "unknown-action": ("R0804", change(put("states", 1, "#meta", "action", value="elekt"))),
    "action-is-a-list": ("R0804", change(put("states", 1, "#meta", "action", value=[]))),
    "unknown-property": ("R0804", change(put(*ABOUT, "property", value="alon"))),
    "no-scope": ("R0805", change(drop(*ABOUT, "scope"))),
    "a-sort-renamed": ("R0805", change(put(*ABOUT, "scope", "sorts", value={"Replicas": ["a", "b"]}))),
    "scope-of-nothing": ("R0805", change(put(*ABOUT, "scope", "nats", value={}))),
    "members-twice": ("R0805", change(put(*ABOUT, "scope", "sorts", "Replica", value=["a", "a"]))),
    "members-are-numbers": ("R0805", change(put(*ABOUT, "scope", "sorts", "Replica", value=[1, 2]))),
    "nearly-a-step": (
        "R0806",
        change(
            *(drop("states", index, "#meta") for index in range(1, 8)),
            put("states", 4, "Replica.up", value={"#map": [["a", False], ["b", False]]}),
        ),
    ),
    "a-step-twice": (
        "R0806", change(lambda whole: whole["states"].insert(3, {**whole["states"][2], "#meta": {}}))
    ),
    "another-text": (
        "R0804",
        change(put(*ABOUT, "text", value="0" * 16), put("states", 1, "#meta", "action", value="elekt")),
    ),
    "no-such-step": ("R0806", change(drop("states", 2, "#meta"), put("states", 2, "epoch", value=3))),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_told_with_its_place(name: str, golden: Callable[[str, str], None]) -> None:
    code, text = MISTAKES[name]

    with pytest.raises(SpecError) as caught:
        read(text(), toy(), name=f"{name}.itf.json")

    assert [diagnostic.code for diagnostic in caught.value.diagnostics] == [code]
    golden(f"traces/mistakes/{name}.txt", "\n".join(map(render, caught.value.diagnostics)) + "\n")


def larger(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)


@given(st.recursive(st.integers() | st.text(max_size=3), larger, max_leaves=8), st.sampled_from([None, 1]))
def test_a_place_is_found_in_any_layout(value: Any, indent: int | None) -> None:  # noqa: ANN401 - JSON
    text = json.dumps(value, indent=indent)

    def visit(part: Any, path: tuple[str | int, ...]) -> None:  # noqa: ANN401 - JSON
        span = find(text, path)
        assert json.loads(text[span.start : span.end]) == part
        pairs = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
        for key, inner in pairs:
            visit(inner, (*path, key))

    visit(value, ())


WRITE = """write(r: Replica) says "{r} appends a record to its log." {
  require up:    r.up
  require leads: leader == r
  r.log.append(epoch)
"""
CHANGES = {  # of the text of the model, since the trace was written
    "a-variable": (("isr", "in_sync"),),
    "an-action": (("action ask", "action askk"),),
    "a-sort": (("Replica", "Broker"),),
    "a-nat": (("Epoch", "Epochs"),),
    "a-case": (("Fetch", "Ask"),),
    "a-field": (("owner", "owners"),),
    "a-config": (("unclean", "dirty"),),
    "a-property": (("invariant alone", "invariant lonely"),),
    "a-parameter": ((WRITE, re.sub(r"\br\b", "who", WRITE)),),
    "a-choice": (("choose m: Fetch in net", "choose f: Fetch in net"), ("receive(m)", "receive(f)")),
    "a-new-variable": (("state {", "state {\n  fresh: bool = false"),),
    "a-network": tuple((f"{word}net", f"{word}wire") for word in ("network ", "in ", "  ", ", ")),
    "a-guard": (("leads: leader == r", "leads: leader != r"),),
    "an-effect": (("epoch  := epoch + 1", "epoch := epoch + 1\n  acked := 1"),),
    "a-start": (("acked: Offset = 0", "acked: Offset = 1"),),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_what_is_missing_in_a_changed_model_is_named(name: str, golden: Callable[[str, str], None]) -> None:
    text = TOY.read_text(encoding="utf-8")
    for old, new in CHANGES[name]:
        assert old in text
        text = text.replace(old, new)
    (model,) = loads(text, "toy.rsm")
    trace = walk("elect(a)", "write(a)", "ask(b)", "answer | m = Fetch(from = b, at = 0)", "elect(b)")
    with pytest.raises(SpecError) as caught:
        document(write(trace), f"{name}.itf.json").replayed(model)
    told = render(caught.value.diagnostics[0])

    assert "written for another text of toy" in told
    golden(f"traces/changed/{name}.txt", told + "\n")


def test_the_readme_shows_what_is_said() -> None:
    page = (Path(__file__).parents[2] / "docs/reference/traces.md").read_text(encoding="utf-8")
    name, block = re.findall(r"<!-- reported: (\S+) -->\n```\n(.*?)```", page, re.DOTALL)[0]
    with pytest.raises(SpecError) as caught:
        read(MISTAKES[name][1](), toy())
    told = render(caught.value.diagnostics[0])

    assert [line for line in block.splitlines() if line not in told] == []
