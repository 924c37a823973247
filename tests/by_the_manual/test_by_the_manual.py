"""The interpreter by the manual and the engines find the same: of edges, of the manual, of whole protocols.

Random models are compared by `python -m tests.fuzz`, where the comparison is called `manual`.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random

import pytest

from spec.load import loads
from spec.wording import counted
from tests.agreement import Found, found_by
from tests.by_the_manual.expected import unmet
from tests.by_the_manual.parser import Text, read
from tests.by_the_manual.search import Answer, Verdict, answer
from tests.by_the_manual.tokens import Refused
from tests.conformance.questions import FOUND
from tests.fuzz.cases import TooLarge, case_of, text_of
from tests.fuzz.of_the_manual import by_the_manual, compared
from tests.ordinal_models import ordinal_model
from tests.protocol_checks import NAMES, PROTOCOLS, by_size
from tests.test_docs import LINES, WHOLE, Example, name_of, whole_text

FOLDER = Path(__file__).parent
QUICK, MOST = 40, 100  # states of checks of protocols that are asked in the quick tests, and in all
LARGE = {"choice_from_nothing_in_a_branch", "messages_of_one_union"}  # thousands of states
SEEDS = range(7000, 7060)
ORDINAL_SEEDS, ORDINAL_MOST = range(32), 400  # of models with a nat without a bound, and their states


def parsed(text: str) -> Text:
    return read(text, PROTOCOLS, PROTOCOLS)


# ------------------------------------------------------------------ edges


@dataclass(frozen=True)
class Corner:
    """A check of a small model, with what the model is about."""

    title: str
    text: str
    check: str

    @property
    def told(self) -> Answer:
        """What the manual says of it."""
        text = parsed(self.text)
        return answer(text, next(each for each in text.checks if each.name == self.check))


def _corners() -> list[Corner]:
    whole = (FOLDER / "corners.txt").read_text(encoding="utf-8")
    found = []
    for part in re.split(r"^== ", whole, flags=re.MULTILINE)[1:]:
        title, _, text = part.partition("\n")
        text = re.sub(r"^# .*\n", "", text, flags=re.MULTILINE)
        found += [Corner(title, text, name) for name in re.findall(r"^check (\w+)", text, re.MULTILINE)]
    return found


CORNERS = _corners()
FIRST = {each.title: each for each in reversed(CORNERS)}


def found(corner: Corner, engine: str) -> Found:
    """What an engine finds."""
    pairs = [(model, each) for model in loads(corner.text) for each in model.checks]
    ((model, asked),) = [(model, each) for model, each in pairs if each.name == corner.check]
    made = found_by(model, asked, engine, **({"threads": 1} if engine == "explicit" else {}))
    assert made is not None
    return made


def assert_same(corner: Corner, actual: Found) -> None:
    """That an engine found what the manual says, and the same error."""
    pairs = compared(actual, parsed(corner.text), corner.check)
    expected, told = ({name: pair[at] for name, pair in pairs.items()} for at in (0, 1))
    if actual.findings is not None and actual.findings.error is not None:
        error = corner.told.error
        expected["code"] = error and error[0]
        told["code"] = getattr(actual.findings.error.ending, "code", None)

    assert told == expected


@pytest.mark.parametrize("corner", CORNERS, ids=lambda each: f"{each.title} [{each.check}]")
def test_an_edge_is_for_the_reference_engine_as_the_manual_says(corner: Corner) -> None:
    assert_same(corner, found(corner, "reference"))


@pytest.mark.one_of_many
@pytest.mark.usefixtures("quickly_compiled")
@pytest.mark.parametrize("corner", FIRST.values(), ids=FIRST)
def test_an_edge_is_for_the_explicit_engine_as_the_manual_says(corner: Corner) -> None:
    assert_same(corner, found(corner, "explicit"))


def test_what_the_manual_says_of_edges_stays_what_it_was(golden: Callable[[str, str], None]) -> None:
    golden(
        "by_the_manual.txt", "".join(f"{each.title} [{each.check}]\n{_told(each.told)}" for each in CORNERS)
    )


def _told(found: Answer) -> str:
    lines = [f"  {name}: {_verdict(each)}\n" for name, each in found.verdicts.items()]
    if found.error is not None:
        code, cost = found.error
        return "".join([*lines, f"  error {code} {_cost(cost)}\n"])
    whole = found.layers[-1]
    numbers = {"state": whole.states, "transition": whole.transitions, "level": whole.levels}
    counts = [counted(number, thing) for thing, number in numbers.items()]
    return "".join([*lines, f"  {', '.join(counts)}, {whole.cut} cut\n"])


def _verdict(each: Verdict) -> str:
    parts = [each.word, *([] if each.cost is None else [_cost(each.cost)])]
    parts += ["for any faults"] * each.for_any + ["for nothing"] * each.for_nothing
    parts += [f"beyond the scope from {counted(each.beyond, 'state')}"] * bool(each.beyond)
    return " ".join(parts)


def _cost(cost: tuple[int, int]) -> str:
    return f"with {counted(cost[0], 'fault')} in {counted(cost[1], 'step')}"


def test_there_are_enough_edges() -> None:
    assert len({each.title for each in CORNERS}) >= 180
    assert len(CORNERS) >= 280


# ------------------------------------------------------------------ the manual itself


@pytest.mark.parametrize("example", WHOLE, ids=name_of)
def test_an_example_of_the_manual_finds_what_it_expects(example: Example) -> None:
    text = parsed(whole_text(example))
    names = set(re.findall(r"\bcheck (\w+)", example.text))

    assert [(c.name, unmet(c, answer(text, c))) for c in text.checks if not names or c.name in names] == [
        (c.name, []) for c in text.checks if not names or c.name in names
    ]


@pytest.mark.parametrize(
    ("model", "line", "comment"),
    [each for each in LINES if not re.match(r" R0[1-5]", each[2])],
    ids=lambda each: each.strip() if "protocol" not in each else "",
)
def test_a_line_of_the_manual_is_true_or_fails_as_it_says(model: str, line: str, comment: str) -> None:
    text = parsed(f"{model}\ninvariant this_line: {line}")
    told = answer(text, text.checks[0])
    code = re.match(r" (R06\d\d)", comment)

    assert (told.error and told.error[0]) == (code and code[1])
    assert code or told.verdicts["this_line"].word == "holds"


# ------------------------------------------------------------------ protocols


SMALL = [
    pytest.param(
        name, each.name,
        id=f"{name}-{each.name}",
        marks=[pytest.mark.one_of_many] if at or each.states > QUICK else [],
    )
    for name in NAMES
    for at, each in enumerate(by_size(name, least=0))
    if each.states <= MOST
]  # fmt: skip


@cache
def protocol(name: str) -> Text:
    return parsed((PROTOCOLS / f"{name}.rsm").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("name", "check"), SMALL)
def test_a_check_of_a_protocol_finds_what_it_expects(name: str, check: str) -> None:
    asked = next(each for each in protocol(name).checks if each.name == check)

    assert unmet(asked, answer(protocol(name), asked)) == []


@pytest.mark.parametrize(
    "path", [each for each in FOUND if each.stem not in LARGE], ids=lambda path: path.stem
)
def test_where_engines_once_differed_the_manual_agrees(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for model in loads(text):
        for asked in model.checks:
            actual = found_by(model, asked, "reference")
            assert actual is not None
            assert_same(Corner(path.stem, text, asked.name), actual)


def test_random_models_are_for_the_reference_engine_as_the_manual_says() -> None:
    compared_models = 0
    for seed in SEEDS:
        text = text_of(seed)
        try:
            pairs = by_the_manual(case_of(seed, text))
        except TooLarge:
            continue
        compared_models += 1
        assert {n: p for n, p in pairs.items() if p[0] != p[1]} == {}, text

    assert compared_models > len(SEEDS) // 2


@pytest.mark.one_of_many
@pytest.mark.usefixtures("quickly_compiled")
def test_random_models_without_a_bound_are_for_the_explicit_engine_as_the_manual_says() -> None:
    compared_models = 0
    for seed in ORDINAL_SEEDS:
        corner = Corner(f"random model {seed}", ordinal_model(Random(seed)), "all")  # noqa: S311 - no secret
        text = parsed(corner.text)
        try:
            answer(text, text.checks[0], ORDINAL_MOST)
        except Refused:
            continue
        compared_models += 1
        assert_same(corner, found(corner, "explicit"))

    assert compared_models >= 25


# ------------------------------------------------------------------ what it is


ORDINAL, ANY = "protocol a\nnat E\nstate { e: E = 0 }", "check c { scope E = any }"


@pytest.mark.parametrize("path", sorted(set(FOLDER.glob("*.py")) - {Path(__file__)}), ids=lambda p: p.stem)
def test_the_interpreter_shares_no_code_with_what_it_is_compared_with(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = {each.module or "" for each in ast.walk(tree) if isinstance(each, ast.ImportFrom)}
    found |= {name.name for each in ast.walk(tree) if isinstance(each, ast.Import) for name in each.names}
    outside = {each for each in found if not each.startswith("tests.by_the_manual.")}

    assert {each.partition(".")[0] for each in outside} <= {*sys.stdlib_module_names, "networkx"}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("protocol a\ncheck c of b { }", "nothing is called b"),
        ("protocol a\nassume never: 1 == 2\ncheck c { }", "breaks never"),
        ("protocol a\ninvariant i: x == 1\ncheck c { }", "nothing is called x"),
        ("protocol a\nstate { n: 0..1 = 0 ", "is missing"),
        (f"{ORDINAL}\naction a {{ e := e + 2 }}\n{ANY}", "[+] of a nat without a bound"),
        (f"{ORDINAL}\nstate {{ s: set[E; E] = {{}} }}\n{ANY}", "a size up to E"),
        (f"{ORDINAL}\nstate {{ s: set[E] = {{}} }}\ninvariant i: (sum x in s. x) == e\n{ANY}", "a sum of E"),
        (f"{ORDINAL}\ninvariant i: forall x: E. x == e\n{ANY}", "are not listed"),
        (f"{ORDINAL}\nleadsto l: e == 0 ~> e != 0\n{ANY}", "l is of fair runs"),
    ],
)
def test_what_is_not_covered_is_refused_by_name(text: str, why: str) -> None:
    with pytest.raises(Refused, match=why):
        _ = [answer(parsed(text), each) for each in parsed(text).checks]
