"""The formatter changes the layout, never the tree, and loses no comment."""

from __future__ import annotations

import re
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings

from spec.diagnostics import SpecError
from spec.formatting.format import format_text
from spec.source import Source
from spec.syntax.comments import Comments
from spec.syntax.parser import parse
from tests.generators import GAPS, model_files, relaid

PROTOCOLS = sorted((Path(__file__).parents[2] / "spec" / "protocols").glob("*.rsm"))
TOKENS = re.compile(r'"[^"\n]*"|[A-Za-z_][A-Za-z_0-9]*|[0-9]+|:=|==|!=|<=|>=|->|~>|\.\.|.', re.DOTALL)
many = settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow], deadline=None)


def comments(text: str) -> list[str]:
    return [comment.text for comment in Comments(Source("", text)).before(len(text))]


def check(text: str) -> str:
    made = format_text(text)

    assert parse(Source("", made)) == parse(Source("", text))
    assert comments(made) == comments(text)
    assert format_text(made) == made
    return made


@given(model_files())
@many
def test_the_tree_stays(text: str) -> None:
    check(text)


@given(model_files(most=2), st.data())
@many
def test_comments_survive_anywhere(text: str, data: st.DataObject) -> None:
    pieces = _pieces(text)
    gaps = data.draw(st.lists(GAPS, min_size=len(pieces), max_size=len(pieces)))

    check(relaid(pieces, gaps))


def _pieces(text: str) -> list[str]:
    """Tokens, those that must not be parted kept together: a field's dot and the words around it."""
    found = [piece for piece in TOKENS.findall(text) if not piece.isspace()]
    made: list[str] = []
    joins = False
    for index, piece in enumerate(found):
        field = piece == "." and _is_field(text, found, index)
        if made and (joins or field):
            made[-1] += piece
        else:
            made.append(piece)
        joins = field
    return made


def _is_field(text: str, found: list[str], index: int) -> bool:
    """Whether the dot at that place has a name right behind it in the text."""
    nth = sum(1 for piece in found[:index] if piece == ".")
    dots = [
        m.start()
        for m in re.finditer(r"(?<!\.)\.(?!\.)", re.sub(r'"[^"\n]*"', lambda m: "_" * len(m.group()), text))
    ]
    return not text[dots[nth] + 1].isspace()


@pytest.mark.parametrize("path", PROTOCOLS, ids=lambda path: path.stem)
def test_a_shipped_model_is_formatted(path: Path) -> None:
    text = path.read_text(encoding="utf-8")

    assert check(text) == text


def test_parentheses_are_as_few_as_a_reader_can_do_with() -> None:
    assert _formatted("((a) and ((b) and (c))) or (not (d))") == "(a and (b and c)) or not d"
    assert _formatted("(forall x in S. p) and q") == "(forall x in S. p) and q"
    assert _formatted("q and (forall x in S. (p))") == "q and forall x in S. p"
    assert _formatted("(a - (b - c)) * (-(d))") == "(a - (b - c)) * -d"
    assert _formatted("(a implies b) implies (c implies d)") == "(a implies b) implies c implies d"


def _formatted(expression: str) -> str:
    return check(f"protocol p\nassume a: {expression}").splitlines()[-1].removeprefix("assume a: ")


MESSY = """\
// about the file
protocol   messy
sort Replica   nat Epoch,Offset // the sizes
state{leader:Replica?=none// who
epoch:Epoch=0}
// what it does
action a(r:Replica){require up:r.up require longer:r.hw>0 r.log.append(1);r.x:=2
 if r.up{r.y:=3}else if r.hw==1{r.y:=4}else{r.y:=5
 r.z:=6}}
fault crash(r: Replica) { require r.up; wipe r }
invariant long: forall a: Replica, b: Replica.
a.up and b.up implies a.log[..min(a.hw, b.hw)] == b.log[..min(a.hw, b.hw)] or a == b
check c{scope Replica=3,Epoch={a,b} faults<=2 expect long holds}
// the end
"""

NEAT = """\
// about the file
protocol messy
sort Replica
nat  Epoch, Offset  // the sizes

state {
  leader: Replica? = none  // who
  epoch:  Epoch    = 0
}

// what it does
action a(r: Replica) {
  require up:     r.up
  require longer: r.hw > 0
  r.log.append(1)
  r.x := 2
  if r.up { r.y := 3 } else if r.hw == 1 { r.y := 4 } else {
    r.y := 5
    r.z := 6
  }
}

fault crash(r: Replica) { require r.up; wipe r }
invariant long:
  forall a: Replica, b: Replica.
    a.up and b.up implies a.log[..min(a.hw, b.hw)] == b.log[..min(a.hw, b.hw)] or a == b
check c { scope  Replica = 3, Epoch = {a, b}  faults <= 2  expect long holds }
// the end
"""


def test_a_messy_file_becomes_neat() -> None:
    assert check(MESSY) == NEAT


def test_roles_are_laid_out_like_fields() -> None:
    written = """protocol p
display{ log:Server.rows ,   // what is kept
label:id
high_watermark:seen }
display {
}
display { up : on , epoch: turn }"""

    assert (
        check(written)
        == """protocol p

display {
  log:            Server.rows  // what is kept
  label:          id
  high_watermark: seen
}

display {}

display { up: on, epoch: turn }
"""
    )


def test_where_a_run_may_end_stands_behind_deadlock_free() -> None:
    short, long = "done", " and ".join(["alpha_or_beta != gamma_or_delta"] * 4)
    text = f"protocol p\n\n// why\ndeadlock   free unless ({short}) // so\ndeadlock free unless {long}\n"

    assert check(text).splitlines()[2:] == [
        "// why",
        "deadlock free unless done  // so",
        "deadlock free unless",
        "  alpha_or_beta != gamma_or_delta",
        *["  and alpha_or_beta != gamma_or_delta"] * 3,
    ]


def test_what_an_assert_and_deadlock_free_say_stands_before_their_condition() -> None:
    text = (
        'protocol p\n\naction a { x := 1 assert q says "so": x == 1 }\n'
        'action b { assert q says "so" : x == 1 }\n'
        'deadlock free says "a"\ndeadlock free says "b"   unless (done)\n'
    )
    once = check(text)

    assert [line for line in once.splitlines()[2:] if line] == [
        "action a {",
        "  x := 1",
        '  assert q says "so":',
        "    x == 1",
        "}",
        "action b {",
        '  assert q says "so":',
        "    x == 1",
        "}",
        'deadlock free says "a"',
        'deadlock free says "b" unless',
        "  done",
    ]
    assert check(once) == once


def test_what_is_too_deep_to_be_laid_out_is_a_mistake_of_the_text() -> None:
    with pytest.raises(SpecError) as found:
        format_text("protocol p\ninvariant a: " + " and ".join(["true"] * 5_000))

    assert [each.code for each in found.value.diagnostics] == ["R0104"]


@pytest.mark.parametrize("between", ["// r\n\n\n", "// r\n,\n\n\n", ", // r\n\n\n", "// r\n\n,\n\n"])
def test_a_blank_line_behind_a_remark_is_kept(between: str) -> None:
    made = format_text("protocol a\ndisplay { a: a " + between + "log: a }\n")

    assert made.endswith("{\n  a: a  // r\n\n  log: a\n}\n")
    assert format_text(made) == made
