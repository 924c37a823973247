"""Which parts a protocol needs, against mutants made by hand: as variants, and as changed texts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from modelcheck.api import check
from modelcheck.asking.necessity.parts import PartKind, ProtocolPart, forgetful, parts_of
from modelcheck.asking.necessity.search import NecessityRow, NecessitySearch, necessity
from modelcheck.asking.necessity.switched import NOTHING, SWITCH, set_to, switched, without
from modelcheck.cli import main
from modelcheck.contract.engine import Limits
from modelcheck.contract.exits import Exit
from modelcheck.contract.result import Holds, Outcome, Unknown, Violated
from spec.diagnostics import SpecError
from spec.load import load, loads
from spec.model.ir import Model
from tests.consoles import console_example

ROOT = Path(__file__).parent.parent.parent
VOTES = """
protocol votes
sort Node
state {
  elected: set[Node] = {}
  budget:  0..1      = 1
  spent:   0..2      = 0
}
process Node {
  durable  voted: Node? = none
  volatile lucky: bool  = true
}
fun is_majority(nodes: set[Node]): bool = 2 * size(nodes) > size(Node)
action vote(n: Node, c: Node) {
  require free: n.voted == none
  n.voted := c
}
action elect(c: Node) {
  require majority: is_majority({n: Node where n.voted == c})
  require new:      c not in elected
  elected.add(c)
}
action spend() {
  require some: budget > 0
  budget := 0
  spent  := min(2, spent + 1)
}
fault crash(n: Node) {
  wipe n
}
invariant one: size(elected) <= 1
invariant once: spent <= 1
check three {
  scope  Node = 3
  faults <= 1
}
"""
MUTANTS = {  # each part, and the same mutant as a text
    "vote.free": ("variant v of votes { drop vote.free }", None),
    "elect.majority": ("variant v of votes { drop elect.majority }", None),
    "elect.new": ("variant v of votes { drop elect.new }", None),
    "spend.some": ("variant v of votes { drop spend.some }", None),
    "Node.voted": ("variant v of votes { volatile Node.voted }", None),
    "2 * size(nodes) > size(Node)": ("", ("size(nodes) >", "(size(nodes) + 1) >")),
    "spend: budget := 0": ("", ("  budget := 0\n", "")),
}


def rows_of(text: str, **options: object) -> dict[str, NecessityRow]:
    found = necessity(loads(text), **options)  # type: ignore[arg-type]
    return {row.part.name: row for row in found}


@pytest.fixture(autouse=True, scope="module")
def one_process() -> Iterator[None]:
    """To start another takes longer than these searches."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("modelcheck.processes.workers.cores", lambda: 1)
        yield


@pytest.fixture(scope="module")
def votes() -> dict[str, NecessityRow]:
    return rows_of(VOTES)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "votes.rsm"
    path.write_text(VOTES)
    return path


# ------------------------------------------------------------------------ mutants


def parts(model: Model) -> Iterator[tuple[ProtocolPart, Model]]:
    """Each part of a model, and the model without it."""
    (forgets,) = forgetful((model,))
    for part in parts_of(model, forgets):
        yield part, without(model, forgets, part)


def counts(model: Model, of: Model) -> tuple[object, ...]:
    """What a search finds of a model in the check of another, with its counts."""
    found = check(model, of.checks[0], engine="explicit").findings
    verdicts = [(each.property, type(each.verdict), each.by_faults) for each in found.results]
    return found.stats.states, found.stats.transitions, verdicts


def test_every_part_is_found() -> None:
    (model,) = loads(VOTES)

    assert {part.name for part, _ in parts(model)} == set(MUTANTS)


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutant_is_the_model_that_people_would_write(name: str) -> None:
    (model,) = loads(VOTES)
    variant, change = MUTANTS[name]
    text = VOTES if change is None else VOTES.replace(*change)
    assert change is None or text != VOTES
    mutant = next(mutant for part, mutant in parts(model) if part.name == name)

    assert counts(mutant, model) == counts(loads(text + variant)[-1], model)


def test_a_switched_model_is_the_mutant_that_it_is_set_to() -> None:
    (model,) = loads(VOTES)
    (forgets,) = forgetful((model,))
    found = sorted(parts_of(model, forgets), key=lambda part: part.name)
    one = switched(model, forgets, {part: number for number, part in enumerate(found, 1)})
    asked = model.checks[0]

    def of(number: int) -> Outcome:
        return check(one, set_to(asked, number), engine="explicit")

    assert of(NOTHING).findings.stats.states == check(model, asked).findings.stats.states
    for number, part in enumerate(found, 1):
        mutant = check(without(model, forgets, part), asked, engine="explicit").findings
        assert of(number).findings.stats.states == mutant.stats.states
        assert [r.by_faults for r in of(number).findings.results] == [r.by_faults for r in mutant.results]


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("require q: size(votes) >= 2", True),
        ("require q: 2 < size(votes)", True),
        ("require q: size(votes) + 1 > 2", True),
        ("require q: size(votes) == needed", True),
        ("require q: size(Node) == size(votes)", True),
        ("require q: size(votes) == 2", False),
        ("require q: size(votes) < 2", False),
        ("require q: size(Node) > 2", False),
        ("require q: size(log) >= 2", False),
        ("require q: size({n: Node where n in votes}) >= 2", True),
        ("require q: forall n: Node. size(votes - {n}) >= 1", True),
        ("if size(votes) >= 2 { seen := true }", False),
        ("if size(votes) >= 2 { log := [] }", True),
    ],
)
def test_a_quorum_asks_a_set_to_be_large(*, statement: str, expected: bool) -> None:
    (model,) = loads(f"""
        protocol p
        sort Node
        config needed: 0..9 = 2
        state {{ votes: set[Node] = {{}}  log: seq[Node; 2] = [] }}
        ghost {{ seen: bool = false }}
        action a() {{
          {statement}
        }}
    """)

    assert any(part.kind is PartKind.QUORUM for part, _ in parts(model)) is expected


@pytest.mark.parametrize(
    ("kind", "statement", "expected"),
    [
        ("action", "x := 0", True),
        ("repair", "x := 0", True),
        ("fault", "x := 0", False),
        ("action", "x := x", False),
        ("action", "x := limit", True),
        ("action", "seen := 0", False),
        ("action", "wipe n", True),
        ("action", "for m in Node { m.y := 1 }", True),
    ],
)
def test_a_reset_is_a_fixed_value_of_an_action_or_a_repair(
    *, kind: str, statement: str, expected: bool
) -> None:
    (model,) = loads(f"""
        protocol p
        sort Node
        config limit: 0..3 = 3
        state {{ x: 0..3 = 3 }}
        process Node {{ volatile y: 0..3 = 0 }}
        ghost {{ seen: 0..3 = 3 }}
        {kind} a(n: Node) {{
          {statement}
        }}
    """)

    assert any(part.kind is PartKind.RESET for part, _ in parts(model)) is expected


# ------------------------------------------------------------------------ what checks need


@pytest.mark.parametrize(
    ("name", "prop", "cost"),
    [
        ("vote.free", "one", (0, 6)),
        ("elect.majority", "one", (0, 2)),
        ("2 * size(nodes) > size(Node)", "one", (0, 4)),
        ("Node.voted", "one", (1, 7)),
        ("spend.some", "once", (0, 2)),
        ("spend: budget := 0", "once", (0, 2)),
    ],
)
def test_what_is_needed_is_told_with_the_best_run(
    votes: dict[str, NecessityRow], name: str, prop: str, cost: tuple[int, int]
) -> None:
    row = votes[name]

    assert row.needed is True
    assert row.run is not None
    assert (row.run.property, (row.run.faults, len(row.run.steps))) == (prop, cost)
    assert SWITCH not in row.run.scope.config


def test_what_is_not_needed_is_told(votes: dict[str, NecessityRow]) -> None:
    row = votes["elect.new"]

    assert (row.needed, row.run, [each.check.name for each in row.held]) == (False, None, ["three"])


def test_each_answer_is_that_of_the_reference_engine() -> None:
    """Without a switch, a family, symmetry, an order or anything passed over; small checks only."""
    models = load(ROOT / "spec/protocols/two_phase_commit.rsm")
    owned = {each.name: model for model in models for each in model.checks}
    small = ["two_managers"]
    held = {name: _holding(owned[name], name) for name in small}
    for row in necessity(models, small):
        broken = {name for name in small if _is_broken(owned[name], name, row.part, held[name])}
        assert (row.needed, bool(broken)) in {(True, True), (False, False)}, row.part
        assert row.needed_by is None or row.needed_by.check.name in broken
        assert not broken & {each.check.name for each in (*row.held, *row.same)}


def _holding(model: Model, name: str) -> set[str]:
    """The properties that hold in a check as it stands, but for what is to be reached."""
    asked = next(each for each in model.checks if each.name == name)
    results = check(model, asked, engine="reference").findings.results
    return {r.property for r in results if isinstance(r.verdict, Holds) and r.kind.value != "reachable"}


def _is_broken(model: Model, name: str, part: ProtocolPart, held: set[str]) -> bool:
    forgets = next(each for each in forgetful(load(model.source.name)) if each.name == model.name)
    asked = next(each for each in model.checks if each.name == name)
    if part not in parts_of(model, forgets):
        return False
    found = check(without(model, forgets, part), asked, engine="reference").findings
    return found.error is not None or any(
        isinstance(r.verdict, Violated) for r in found.results if r.property in held
    )


COUNTER = """
protocol counter
nat N
state { n: N = 0  one: N? = none }
action up() {
  require low: n < 2
  n := n + 1
}
action have() {
  require little: n == 0
  one := n
}
action use() {
  require there: one != none
  n := the(one)
}
fault never() {
  require nothing: n > 1
  n := 0
}
invariant natural: n >= 0
check small { scope N = 50  faults none }
"""
STOPS = """
variant stops of counter { require up.never: n < 1 }
check stopped of stops { scope N = 50  faults none }
"""


@pytest.fixture(scope="module")
def counter() -> dict[str, NecessityRow]:
    return rows_of(COUNTER + STOPS)


def test_beyond_a_limit_nothing_is_known() -> None:
    row = rows_of(COUNTER, limits=Limits(states=20))["up.low"]

    assert (row.needed, [why for _, why in row.unknown]) == (None, ["the limit of states is reached"])


def test_a_check_that_is_too_large_as_it_stands_leaves_all_unknown() -> None:
    assert {row.needed for row in rows_of(COUNTER, limits=Limits(states=1)).values()} == {None}


def test_where_only_the_mutant_is_cut_it_is_told(counter: dict[str, NecessityRow]) -> None:
    row = counter["up.low"]

    assert (row.needed, row.cut) == (False, ("N",))


def test_an_error_of_the_model_is_an_answer(counter: dict[str, NecessityRow]) -> None:
    row = counter["use.there"]

    assert row.run is not None
    assert (row.needed, row.run.property, row.run.ending.code) == (True, None, "R0605")  # type: ignore[union-attr]


def test_what_never_happens_in_a_check_need_not_be_asked_there(counter: dict[str, NecessityRow]) -> None:
    row = counter["never.nothing"]

    assert (row.needed, row.held, len(row.same)) == (False, (), 2)


def test_a_part_of_a_variant_is_asked_of_the_checks_of_the_variant(
    counter: dict[str, NecessityRow],
) -> None:
    assert [each.check.name for each in counter["up.never"].held] == ["stopped"]
    assert [each.check.name for each in counter["up.low"].same] == ["stopped"]


def test_parts_of_one_kind_can_be_asked_alone() -> None:
    assert set(rows_of(VOTES, kinds=[PartKind.DURABLE])) == {"Node.voted"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (VOTES.partition("check three")[0], "has no check"),
        ("protocol p\nstate { x: bool = true }\ninvariant i: x\ncheck c { }", "has no part"),
        (VOTES.replace("spent <= 1", "spent > 0").replace("<= 1\ninv", "< 0\ninv"), "no check that holds"),
    ],
)
def test_where_there_is_nothing_to_ask_that_is_said(text: str, message: str) -> None:
    with pytest.raises(SpecError, match=f"R0914.*{message}"):
        necessity(loads(text))


def test_a_violation_beyond_the_first_need_not_be_looked_for() -> None:
    (model,) = loads("""
        protocol p
        nat N
        state { n: N = 0 }
        action up { n := n + 1 }
        invariant late: n < 4
        invariant soon: n < 2
        check c { scope N = 9 }
    """)
    for engine in ("reference", "explicit"):
        found = check(model, model.checks[0], engine=engine, at_first=True)

        assert isinstance(found.verdict("soon"), Violated)
        late = found.verdict("late")
        assert isinstance(late, Unknown)
        assert late.reason == "another property was decided first"


# ------------------------------------------------------------------------ the command


def test_the_table_tells_what_is_needed(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["necessity", str(file), "--kind", "guard"])

    assert code == Exit.EXPECTED
    assert capsys.readouterr().out == (
        "line  part            mutant   found\n"
        "  15  vote.free       dropped  ✓ three: one (0 faults, 6 steps)\n"
        "  19  elect.majority  dropped  ✓ three: one (0 faults, 2 steps)\n"
        "  20  elect.new       dropped  – no check needs it: 1 hold without it\n"
        "  24  spend.some      dropped  ✓ three: once (0 faults, 2 steps)\n"
        "\n4 parts: 3 needed, 1 that no check needs\nasked 1 of 1 check\n"
    )


def test_a_guard_that_a_property_asks_by_enabled_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    path = tmp_path / "lock.rsm"
    path.write_text("""
    protocol lock
    sort Node
    state { holder: Node? = none }
    fun is_free: bool = holder == none
    action take(n: Node) {
      require mine: holder == none or holder == n
      holder := n
    }
    action give(n: Node) {
      require held: holder == n
      holder := none
    }
    invariant taken_by_one: forall n: Node. enabled(take(n)) implies is_free or holder == n
    invariant there: size(holder) <= 1
    check two { scope Node = 2 }
    """)
    code = main(["necessity", str(path), "--kind", "guard"])

    assert code == Exit.EXPECTED
    assert capsys.readouterr().out == (
        "line  part       mutant   found\n"
        "   7  take.mine  dropped  – no check needs it: 1 hold without it; `taken_by_one` asks it all the\n"
        "                            same, by `enabled`\n"
        "  11  give.held  dropped  – no check needs it: 1 hold without it\n"
        "\n2 parts: 2 that no check needs\nasked 1 of 1 check\n"
    )


def test_json_tells_the_checks_and_the_parts(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["necessity", str(file), "--json", "--kind", "quorum"])
    told = json.loads(capsys.readouterr().out)

    assert told["checks"] == [
        {"model": "votes", "check": "three", "holds": ["one", "once"], "states": 44, "not_asked": None}
    ]
    (part,) = told["parts"]
    trace = part["by"].pop("trace")
    assert part == {
        "part": "2 * size(nodes) > size(Node)",
        "kind": "quorum",
        "mutant": "one less",
        "file": str(file),
        "line": 13,
        "column": 43,
        "needed": True,
        "by": {
            "model": "votes",
            "check": "three",
            "property": "one",
            "error": None,
            "faults": 0,
            "steps": 4,
        },
        "held": [],
        "same": [],
        "unknown": [],
        "cut": [],
        "by_enabled": [],
    }
    assert len(trace["states"]) == 5
    assert told["unanswered"] == 0


def test_the_run_that_a_part_prevents_is_told_and_drawn(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(
        ["necessity", str(file), "--kind", "durable", "-v", "--draw", "svg", "--out", str(tmp_path / "out")]
    )

    assert code == Exit.EXPECTED
    assert "one is violated in 7 steps, with 1 fault (crash)" in capsys.readouterr().out
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["votes-durable-Node.voted.three.one.svg"]


def test_what_was_found_before_an_interruption_is_told(
    file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = NecessitySearch.rows

    def partly(*args: object) -> Iterator[tuple[int, NecessityRow]]:
        yield from (each for each in whole(*args) if each[0] == 1)  # type: ignore[arg-type]

    monkeypatch.setattr(NecessitySearch, "rows", partly)
    code = main(["necessity", str(file), "--kind", "guard"])
    told = capsys.readouterr().out

    assert code == Exit.UNKNOWN
    assert "elect.majority  dropped  ✓ three: one (0 faults, 2 steps)" in told
    assert "4 parts: 1 needed, 3 not answered" in told


def test_what_is_not_known_has_its_exit_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "counter.rsm"
    path.write_text(COUNTER)
    code = main(["necessity", str(path), "--kind", "guard", "--max-states", "20"])

    assert code == Exit.UNKNOWN
    told = " ".join(capsys.readouterr().out.split())  # however wide it is
    assert "? not known: the limit of states is reached in small" in told


def test_a_check_that_is_not_as_expected_is_told(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(VOTES.replace("faults <= 1\n", "faults <= 1\n  expect once violated\n"))
    code = main(["necessity", str(file), "--kind", "durable"])

    assert code == Exit.VIOLATED
    assert "not as expected: three" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--check", "thre"], "did you mean `three`?"),
        (["--kind", "guards"], "did you mean `guard`?"),
        (["--out", "somewhere"], "--out is where --draw FORMAT writes"),
        (["--draw", "svgg"], "svgg"),
    ],
)
def test_bad_arguments_are_refused(
    file: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    code = main(["necessity", str(file), *words])

    assert code == Exit.WRONG
    assert message in capsys.readouterr().err


def test_the_readme_shows_what_the_command_says(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    in_document: Callable[[Path, str, str], None],
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "100")
    page = ROOT / "docs/how-to/trust-a-model.md"
    words, shown = console_example(page, "necessity .*")
    main(words)

    in_document(page, shown, capsys.readouterr().out)


def test_what_makes_the_scope_cut_all_steps_of_an_action_may_be_needed() -> None:
    rows = rows_of("""protocol beyond
        nat N
        state { x: N = 0  lost: bool = false }
        action go() { x := 3  lost := true }
        invariant kept: not lost
        check it { scope N = 2 }
    """)

    assert {name: row.needed for name, row in rows.items()} == {"go: x := 3": True, "go: lost := true": False}
