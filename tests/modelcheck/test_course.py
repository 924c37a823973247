"""The exercises of the course: what solutions and wrong answers are worth, and what no submission can do."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import spec.syntax.tree as s
from modelcheck.cli import main
from modelcheck.contract.exits import Exit
from modelcheck.teaching.course.exercises import exercise, names
from modelcheck.teaching.course.exercises import written as finished
from modelcheck.teaching.course.grading import Grade
from modelcheck.teaching.course.guarded import graded
from modelcheck.teaching.course.submission import submission
from spec.diagnostics import SpecError
from spec.formatting.format import format_text
from spec.load import loads
from spec.source import Source
from tests.course import graded_here, solution

Said = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")


WRONG = [  # an answer that students give, how many points it has, and part of a hint that it gets
    ("survives", {"survives": "false"}, 0, "does not hold on the model"),
    ("survives", {"survives": "forall w in told. exists s: Server. w in s.log"}, 4, "from which server"),
    (
        "survives",
        {"survives": "forall p in primary. size(told) <= size(p.log)"},
        5,
        "as long as it should be",
    ),
    ("wait", {"stored": "forall s: Server. w in s.log"}, 2, "never so: a write is acknowledged while"),
    ("wait", {"stored": "2 * size({s in Server where w in s.log}) > size(Server)"}, 4, "three servers, two"),
    ("wait", {"stored": "size({s in Server where w in s.log}) >= survive"}, 3, "not always so: the primary"),
    ("register", {"seen": "exists s: Server. s.has >= told"}, 2, "may the reader miss that one"),
    ("register", {"seen": "told <= version"}, 1, "does not only grow"),
    ("quorums", {"enough": "2 * size(some) > size(Server)"}, 3, "all of three store"),
    ("quorums", {"enough": "size(some) + stores >= size(Server)"}, 2, "two of four store"),
    (
        "in_sync",
        {"in_sync": "forall l in leader, r in told. r in l.log"},
        2,
        "who may become the leader next",
    ),
    ("in_sync", {"in_sync": "forall b: Broker, r in told. r in b.log"}, 0, "does not hold on the model"),
    ("acks", {"stored": "size(holders(r)) >= min_isr"}, 3, "all three brokers are in the ISR"),
    (
        "acks",
        {"stored": "acks == one or forall b in isr. r in b.log", "enough": "size(isr) >= min_isr"},
        6,
        "there are but two brokers",
    ),
    ("agree", {"agree": "forall a: Broker. a.hw <= size(a.log)"}, 1, "the third may be elected"),
    ("truncate", {"kept": "f.hw"}, 3, "two leaders, one crash"),
    ("truncate", {"kept": "0"}, 2, "three leaders, no crash"),
    (  # what KIP-101 did, and KIP-279 mended
        "truncate",
        {"kept": "if f.log == [] then 0 else min(size(f.log), (sum e in l.log where e <= last(f.log). 1))"},
        4,
        "three leaders, no crash",
    ),
]


@pytest.fixture(autouse=True)
def _quickly(quickly_compiled: None) -> None:
    """Every check is small."""


def hints(grade: Grade) -> str:
    return "\n".join(f"{item.hint} {item.note}" for item in grade.items if item.met is False)


# ------------------------------------------------------------------------ what is there


def test_every_lesson_has_a_property_to_find_and_a_model_to_finish() -> None:
    found = [exercise(name) for name in names()]

    assert [each.title.split(":")[0] for each in found] == [
        f"Lesson {lesson}, {which} exercise" for lesson in (1, 2, 3, 4) for which in ("first", "second")
    ]
    assert [each.is_about_properties for each in found] == 4 * [True, False]


@pytest.mark.parametrize("name", names())
def test_an_exercise_has_a_layout_and_hints(name: str) -> None:
    asked = exercise(name)
    checks = [each for each in asked.tree.items if isinstance(each, s.CheckDecl) and each.of is not None]

    assert format_text(asked.source.text) == asked.source.text
    assert all(check.says for check in checks)
    assert asked.points == len(checks) >= 6


@pytest.mark.parametrize("name", names())
def test_what_a_student_begins_with_gives_nothing_away(name: str) -> None:
    asked = exercise(name)
    (model,) = loads(asked.begin)

    assert model.checks
    assert "solved" not in asked.begin
    for expression in solution(asked).values():
        assert expression not in asked.begin


# --------------------------------------------------------------- what answers are worth


@pytest.mark.parametrize("name", names())
def test_the_solution_has_all_points(name: str) -> None:
    asked = exercise(name)
    grade = graded_here(asked, finished(asked, solution(asked)))

    assert hints(grade) == ""
    assert (grade.points, grade.exit, grade.changed) == (asked.points, Exit.EXPECTED, ())


@pytest.mark.parametrize("name", names())
def test_what_a_student_begins_with_has_few_points(name: str) -> None:
    asked = exercise(name)
    grade = graded_here(asked, asked.begin)

    assert 0 < grade.points <= asked.points / 2
    assert grade.exit is Exit.VIOLATED


@pytest.mark.parametrize(("name", "parts", "points", "hint"), WRONG)
def test_a_wrong_answer_has_fewer_points_and_a_hint(
    name: str, parts: dict[str, str], points: int, hint: str
) -> None:
    asked = exercise(name)
    grade = graded_here(asked, finished(asked, parts))

    assert grade.points == points < asked.points
    assert hint in hints(grade)


def test_a_hint_gives_neither_the_mutant_nor_the_solution_away() -> None:
    for name in names():
        asked = exercise(name)
        checks = [item for item in asked.tree.items if isinstance(item, s.CheckDecl)]
        told = " ".join(check.says.text for check in checks if check.of is not None and check.says)
        variants = [item for item in asked.tree.items if isinstance(item, s.VariantDecl)]

        assert [each.name.text for each in variants if f" {each.name.text} " in told] == []
        assert [each for each in solution(asked).values() if len(each) > 4 and each in told] == []


# ------------------------------------------------------------- what no submission can do


def survives(expression: str, *changes: tuple[str, str], more: str = "") -> str:
    """The first exercise with an invariant, with changes of its text, and with more behind it."""
    text = finished(exercise("survives"), {"survives": expression})
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text + more


RIGHT = "forall p in primary. forall w in told. w in p.log"


def test_a_model_made_harmless_is_not_what_is_graded() -> None:
    harmless = ("told.add(w)", "told.add(w); told.remove(w)")
    grade = graded_here(exercise("survives"), survives("told == {}", harmless))

    assert grade.points == 0
    assert grade.changed == ("tell",)


def test_checks_of_a_submission_are_not_run() -> None:
    own = "\ncheck huge { scope Server = 60, Record = 1000000  faults any  expect survives violated }\n"
    grade = graded_here(exercise("survives"), survives(RIGHT, more=own))

    assert (grade.points, grade.changed) == (6, ())


def test_functions_of_a_student_are_taken_along() -> None:
    more = "\nfun is_kept(w: Record): bool = forall p in primary. w in p.log\n"
    grade = graded_here(exercise("survives"), survives("forall w in told. is_kept(w)", more=more))

    assert grade.points == 6


def test_variants_and_properties_of_a_student_are_left_out() -> None:
    more = (
        "\nvariant solved of copies { replace invariant survives: true }\n"
        "check fits of solved { scope Server = 1, Record = 1  faults any }\n"
        "invariant mine: told == {}\n"
    )
    grade = graded_here(exercise("survives"), survives(RIGHT, more=more))

    assert (grade.points, grade.changed) == (6, ())


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("protocol nothing\nstate { x: bool = true }\n", "invariant `survives` is not there"),
        (survives(RIGHT, ("invariant survives", "reachable survives")), "invariant `survives` is not there"),
        ("import kafka\n", "must not import another file"),
        ('import "/dev/zero"\n', "must not import another file"),
        ("// a comment\n  import raft\n", "must not import another file"),
        (
            survives("extra", ("written: Record  = 0", "extra: bool = true  written: Record = 0")),
            "in the model of the exercise",
        ),
    ],
)
def test_what_does_not_fit_the_exercise_is_refused(text: str, told: str) -> None:
    with pytest.raises(SpecError, match=rf"(?s)R0940.*{told}"):
        submission(exercise("survives"), Source("mine.rsm", text))


def test_a_guard_that_was_deleted_is_missed() -> None:
    text = exercise("wait").begin.replace("  require stored: true  // TO FINISH\n", "")

    with pytest.raises(SpecError, match=r"the guard `stored` of `tell` is not there"):
        submission(exercise("wait"), Source("mine.rsm", text))


def test_mistakes_in_a_submission_have_their_places_in_it() -> None:
    with pytest.raises(SpecError, match=r"mine.rsm:\d+:\d+: error\[R0208\]: there is no `tolled`"):
        submission(exercise("survives"), Source("mine.rsm", survives("tolled == {}")))


def long(expression: str) -> Grade:
    """The grade of an invariant that would take some hours, or more memory than there is."""
    text = Source("mine.rsm", survives(expression))
    return graded("survives", text, seconds=1.5, memory=300_000_000)


def test_a_submission_that_never_ends_is_ended() -> None:
    grade = long("forall a in 0..9000, b in 0..9000, c in 0..9000. a + b + c >= 0")

    assert grade.exit is Exit.UNKNOWN
    assert grade.points == 0
    assert grade.ended


def test_a_submission_that_takes_all_memory_is_ended() -> None:
    grade = long("size(subsets(0..40)) >= 0")

    assert grade.exit is Exit.UNKNOWN
    assert grade.ended


def test_functions_that_grow_without_bound_are_refused() -> None:
    funs = "".join(f"fun f{n}: int = f{n - 1} + f{n - 1}\n" for n in range(1, 60))
    text = survives("f59 >= 0", more=f"\nfun f0: int = size(told)\n{funs}")
    with pytest.raises(SpecError) as raised:
        graded("survives", Source("mine.rsm", text), memory=300_000_000)

    assert [each.code for each in raised.value.diagnostics] == ["R0104"]


# -------------------------------------------------------------------------- the command


def said(capsys: Said, *words: str) -> tuple[int, str, str]:
    code = main(["library", "grade", *words])
    out, err = capsys.readouterr()
    return code, out, err


def written(folder: Path, text: str) -> str:
    path = folder / "mine.rsm"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_the_exercises_are_listed(capsys: Said, golden: Callable[[str, str], None]) -> None:
    code, out, _ = said(capsys)
    as_data = said(capsys, "--json")[1]

    golden("course/exercises.txt", out)
    assert code == Exit.EXPECTED
    assert [each["exercise"] for each in json.loads(as_data)] == list(names())


def test_the_limit_of_memory_is_of_what_grades_and_not_of_who_waits_for_it(
    capsys: Said, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("modelcheck.processes.watch.resident", lambda: 3_000_000_000)
    file = written(tmp_path, finished(exercise("survives"), solution(exercise("survives"))))
    code, out, _ = said(capsys, file, "--exercise", "survives", "--max-memory", "1G")

    assert code == Exit.EXPECTED, out


def test_a_grade_is_told(capsys: Said, tmp_path: Path, golden: Callable[[str, str], None]) -> None:
    file = written(tmp_path, survives("forall w in told. exists s: Server. w in s.log"))
    code, out, err = said(capsys, file, "--exercise", "survives")

    golden("course/survives_somewhere.txt", out)
    assert (code, err) == (Exit.VIOLATED, "")


def test_a_grade_is_told_to_programs(
    capsys: Said, tmp_path: Path, golden: Callable[[str, str], None]
) -> None:
    file = written(tmp_path, finished(exercise("acks"), {"stored": "size(holders(r)) >= min_isr"}))
    code, out, _ = said(capsys, file, "--exercise", "acks", "--json")

    golden("course/acks.json", out)
    assert code == json.loads(out)["exit"] == Exit.VIOLATED


def test_an_invariant_that_does_not_hold_is_told_with_its_run(
    capsys: Said, tmp_path: Path, golden: Callable[[str, str], None]
) -> None:
    text = finished(exercise("in_sync"), {"in_sync": "forall b: Broker, r in told. r in b.log"})
    code, out, _ = said(capsys, written(tmp_path, text), "--exercise", "in_sync")

    golden("course/in_sync_everywhere.txt", out)
    assert code == Exit.VIOLATED


def test_a_whole_answer_exits_with_0(capsys: Said, tmp_path: Path) -> None:
    code, out, _ = said(capsys, written(tmp_path, survives(RIGHT)), "--exercise", "survives")

    assert code == Exit.EXPECTED
    assert "6 of 6 points" in out


def test_wrong_input_exits_with_2(capsys: Said, tmp_path: Path) -> None:
    file = written(tmp_path, "import kafka\n")
    cases = [
        ([file, "--exercise", "survives"], "R0940"),
        ([file, "--exercise", "survive"], "did you mean `survives`?"),
        ([str(tmp_path / "none.rsm"), "--exercise", "survives"], "there is no such file"),
        (
            ["none.rsm", "--exercise", "survives"],
            "`modelcheck library grade --exercise survives --begin none.rsm`",
        ),
        ([file], "name the exercise"),
        ([file, "--exercise", "survives", "--begin", "x.rsm"], "either grade a FILE"),
    ]
    for words, told in cases:
        code, out, err = said(capsys, *words)

        assert code == Exit.WRONG
        assert out == ""
        assert told in err


def test_a_limit_exits_with_3(capsys: Said, tmp_path: Path) -> None:
    file = written(tmp_path, survives("forall a in 0..9000, b in 0..9000, c in 0..9000. a + b + c >= 0"))
    code, out, _ = said(capsys, file, "--exercise", "survives", "--max-time", "1")

    assert code == Exit.UNKNOWN
    assert "not finished" in out


def test_the_files_of_an_exercise_are_written(capsys: Said, tmp_path: Path) -> None:
    begin, whole = tmp_path / "mine.rsm", tmp_path / "whole.rsm"
    code, _, err = said(capsys, "--exercise", "wait", "--begin", str(begin), "--whole", str(whole))
    asked = exercise("wait")

    assert code == Exit.EXPECTED
    assert begin.read_text(encoding="utf-8").startswith(asked.begin)
    assert whole.read_text(encoding="utf-8").startswith(asked.source.text)
    assert err.count("modelcheck: wrote") == 2

    begin.write_text(begin.read_text(encoding="utf-8") + "// my work\n", encoding="utf-8")

    assert said(capsys, "--exercise", "wait", "--begin", str(begin))[0] == Exit.WRONG
    assert "// my work" in begin.read_text(encoding="utf-8")
