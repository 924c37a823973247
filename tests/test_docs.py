"""What the documents say is so: every example runs, and nothing of the language goes unmentioned.

A block of `spec/language.md` that is marked `rsm` stands behind a comment that says what it is:

    model                     a whole model: it loads, and its checks find what they expect
    in: NAME                  a fragment: the same, behind the text of that earlier model
    error: R0401              one of these that fails with the code; R06 means while it runs
    true in: NAME             lines that are true in that model's first state, or `// R0602` fail so
"""

from __future__ import annotations

import doctest
import re
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from posixpath import normpath

import pytest

import tools.module_tables as module_tables
from docs.site.pages import documents
from modelcheck.api import check
from modelcheck.contract.result import End
from spec.codes import codes
from spec.diagnostics import SpecError
from spec.elaboration.names import COLLECTIONS, MODES, NETWORK_FAULTS
from spec.load import loads
from spec.meaning.semantics import Machine
from spec.model.ir import Check, Model, PropertyKind
from spec.model.op import FUNCTIONS
from spec.model.values import ModelError

ROOT = Path(__file__).parent.parent
PACKAGES = ("spec", "counterexamples", "modelcheck", "spark_explore")
PAGES = (*PACKAGES, "modelcheck/explicit", "modelcheck/kafka", "modelcheck/kafka/files")
LONGEST_PAGE = 40  # lines
FEWEST_EXAMPLES = 25  # in docstrings
MANUAL = (ROOT / "spec" / "language.md").read_text(encoding="utf-8")
CODE = "\n".join(re.findall(r"```.*?```|`[^`\n]+`", MANUAL, re.DOTALL))
RUNS = "R06"


@dataclass(frozen=True)
class Example:
    """A block of the manual: its mark taken apart, and where it stands."""

    text: str
    line: int
    base: str | None
    error: str | None
    is_lines: bool


def _examples() -> tuple[Example, ...]:
    fence = re.compile(r"^(?:<!-- (.*?) -->\n)?```rsm\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    mark = re.compile(r"model|(?:(true )?in: (\w+))?(?:(?:, |^)error: (R\d{4}))?")
    made = []
    for block in fence.finditer(MANUAL):
        line = MANUAL.count("\n", 0, block.start()) + 1
        found = mark.fullmatch(block[1] or "?")
        assert found is not None, f"spec/language.md:{line}: an example without a mark that says what it is"
        made.append(Example(block[2], line, found[2], found[3], is_lines=found[1] is not None))
    return tuple(made)


EXAMPLES = _examples()
MODELS: Mapping[str, str] = {
    example.text.split()[1]: example.text for example in EXAMPLES if example.base is None
}
WHOLE = [e for e in EXAMPLES if not e.is_lines and e.error is None]
BROKEN = [e for e in EXAMPLES if not e.is_lines and e.error is not None]
LINES = [
    (MODELS[e.base or ""], *line.partition("//")[::2])
    for e in EXAMPLES
    if e.is_lines
    for line in e.text.splitlines()
]


def name_of(example: Example) -> str:
    return f"line {example.line}" + (f": {example.error}" if example.error else "")


def whole_text(example: Example) -> str:
    """The example behind all earlier examples that it builds on."""
    if example.base is None:
        return example.text
    before = [e.text for e in WHOLE if e.base == example.base and e.line < example.line]
    return "\n".join((MODELS[example.base], *before, example.text))


def checks_of(example: Example) -> list[tuple[Model, Check]]:
    """The checks in the example itself; without any, all those it builds on, which then meet it too."""
    names = set(re.findall(r"\bcheck (\w+)", example.text))
    return [(m, c) for m in loads(whole_text(example)) for c in m.checks if c.name in names or not names]


def code_of(text: str) -> str | None:
    """The code of the mistake in a model, or of the error it makes in a check or in its first state."""
    try:
        models = loads(text)
        for model in models:
            for each in model.checks:
                machine = Machine(model, each.scope)
                for prop in model.properties:
                    if prop.kind is PropertyKind.INVARIANT:
                        machine.holds(prop, machine.initial()[0])
                error = check(model, each).findings.error
                if error is not None:
                    return getattr(error.ending, "code", None)
    except SpecError as error:
        return error.diagnostics[0].code
    except ModelError as error:
        return error.code
    return None


def test_there_are_enough_examples() -> None:
    assert len(EXAMPLES) >= 25
    assert len(LINES) >= 60


@pytest.mark.parametrize("example", WHOLE, ids=name_of)
def test_an_example_finds_what_it_expects(example: Example) -> None:
    found = checks_of(example)

    assert found
    for model, each in found:
        outcome = check(model, each)

        assert outcome.findings.error is None
        assert outcome.findings.end in {End.COMPLETE, End.DECIDED}
        assert outcome.mismatches == ()


@pytest.mark.parametrize("example", BROKEN, ids=name_of)
def test_an_example_fails_as_it_says(example: Example) -> None:
    assert code_of(whole_text(example)) == example.error


@pytest.mark.parametrize(("model", "line", "comment"), LINES, ids=[line.strip() for _, line, _ in LINES])
def test_a_line_is_true_or_fails_as_it_says(model: str, line: str, comment: str) -> None:
    text = f"{model}\ninvariant line_of_the_manual: {line}\n"
    if re.fullmatch(r"R\d{4}", comment.strip()):
        assert code_of(text) == comment.strip()
        return
    (loaded,) = loads(text)
    machine = Machine(loaded, loaded.checks[0].scope)
    prop = next(p for p in loaded.properties if p.name == "line_of_the_manual")

    assert machine.holds(prop, machine.initial()[0])


# ------------------------------------------------------------ nothing is left out


def mentioned(word: str) -> bool:
    return re.search(rf"(?<![\w.]){re.escape(word)}(?!\w)", CODE) is not None


def test_every_function_of_the_language_is_in_the_manual() -> None:
    assert [name for name in FUNCTIONS if f"`{name}(" not in MANUAL] == []


def test_every_keyword_is_in_the_manual() -> None:
    grammar = (ROOT / "spec/syntax/grammar.rsm.lark").read_text(encoding="utf-8")
    rules = re.sub(r"//.*", "", grammar)
    keywords = set(re.findall(r'"([a-z]+)"', rules))

    assert {"forall", "variant", "taken"} <= keywords
    assert sorted(word for word in keywords if not mentioned(word)) == []


def test_every_kind_of_property_is_in_the_manual() -> None:
    assert [kind.value for kind in PropertyKind if f"`{kind.value}" not in MANUAL] == []


def test_every_collection_network_and_network_fault_is_in_the_manual() -> None:
    words = {*COLLECTIONS, *MODES, *(fault for faults in NETWORK_FAULTS.values() for fault in faults)}

    assert sorted(word for word in words if not mentioned(word)) == []


def test_codes_in_the_manual_are_codes_and_all_of_the_running_model_are_there() -> None:
    named = set(re.findall(r"\bR\d{4}\b", MANUAL))

    assert sorted(named - set(codes())) == []
    assert sorted(code for code in codes() if code.startswith(RUNS) and code not in named) == []


# ------------------------------------------------------- files, links and doctests


def listed(package: str) -> list[str]:
    """The modules and folders of a package in the first cells of the first table of its page, in order."""
    text = (ROOT / package / "README.md").read_text(encoding="utf-8")
    table = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)[0]
    cells = (row.split("|")[1] for row in table.splitlines())
    return [name for cell in cells for name in re.findall(r"`(\w+)(?:\.py|/)`", cell)]


@pytest.mark.parametrize("package", PAGES)
def test_a_package_lists_what_it_has_in_an_order_of_imports(package: str) -> None:
    order = listed(package)
    needed = module_tables.needed(ROOT / package)

    assert sorted(order) == sorted(path.stem for path in needed)
    assert [
        f"{path.stem} imports {other.stem}, which is listed below it"
        for path, others in needed.items()
        for other in others
        if order.index(other.stem) > order.index(path.stem)
    ] == []


def test_a_page_of_a_package_is_short() -> None:
    lines = {
        package: len((ROOT / package / "README.md").read_text(encoding="utf-8").splitlines())
        for package in PAGES
    }

    assert {package: count for package, count in lines.items() if count > LONGEST_PAGE} == {}


def test_the_page_of_modules_is_that_of_the_tree(in_document: Callable[[Path, str, str], None]) -> None:
    in_document(module_tables.PAGE, module_tables.PAGE.read_text(encoding="utf-8"), module_tables.page())


def _documents() -> list[Path]:
    """Every document of the repository, but for what tests show to programs."""
    tracked = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "*.md"],  # noqa: S607 - git, as of whoever tests
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    return [path for name in tracked if not name.startswith("tests/") and (path := ROOT / name).exists()]


def test_every_link_of_a_document_leads_somewhere() -> None:
    texts = {
        path: re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        for path in _documents()
    }
    places = {path: set(_anchors(text)) for path, text in texts.items()}
    links = [
        (path, link)
        for path, text in texts.items()
        for link in re.findall(r"\]\((?!https?:|mailto:)([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", text))
    ]

    assert len(texts) >= 40
    assert len(links) >= 200
    assert [f"{path.name} → {link}" for path, link in links if not _leads(path, link, places)] == []


def test_every_document_is_in_the_list_of_documents_and_on_the_site() -> None:
    here = {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")} - {"docs/README.md"}
    text = (ROOT / "docs/README.md").read_text(encoding="utf-8")
    listed = {normpath(f"docs/{link}") for link in re.findall(r"\]\(([^)#]+)\)", text)}

    assert sorted(here - listed - {name for name in here if name.startswith("docs/course/")}) == []
    assert sorted(here - set(documents())) == []


@pytest.mark.parametrize("name", ["CONTRIBUTING.md", "docs/architecture.md", "docs/how-to-add.md"])
def test_every_path_that_contributors_read_is_there(name: str) -> None:
    spans = re.findall(r"`([\w.]+/[\w./-]*)`", (ROOT / name).read_text(encoding="utf-8"))
    folders = {path.name for path in ROOT.iterdir() if path.is_dir()}
    paths = [span for span in spans if span.partition("/")[0] in folders]

    assert len(paths) >= 5
    assert [path for path in paths if not (ROOT / path).exists()] == []


def _leads(path: Path, link: str, places: Mapping[Path, set[str]]) -> bool:
    """Whether there is the file, and in a document the heading, that a link of another one names."""
    file, _, anchor = link.partition("#")
    there = (path.parent / file).resolve() if file else path
    return there.exists() and (not anchor or there not in places or anchor in places[there])


def _anchors(text: str) -> Iterator[str]:
    """The names by which the headings of a document can be led to, as GitHub and the site give them."""
    seen: Counter[str] = Counter()
    for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        name = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
        yield f"{name}-{seen[name]}" if seen[name] else name
        seen[name] += 1


def test_what_docstrings_show_is_so() -> None:
    failed, examples = [], 0
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            if ">>>" in path.read_text(encoding="utf-8"):
                name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
                found = doctest.testmod(import_module(name))
                examples += found.attempted
                if found.failed:
                    failed.append(name)

    assert failed == []
    assert examples >= FEWEST_EXAMPLES


def test_the_glossary_names_what_there_is() -> None:
    """In each row's last column stands where to read: files or folders, and perhaps a name in them."""
    rows = re.findall(
        r"^\| (?!---|word)(.*) \| (.*) \|$",
        (ROOT / "docs/reference/glossary.md").read_text("utf-8"),
        re.MULTILINE,
    )
    places = [re.findall(r"`([^`]+)`", place) for _, place in rows]
    assert len(places) > 30
    for place in places:
        paths = [ROOT / name for name in place if "/" in name]
        texts = [path.read_text("utf-8") for path in paths if path.is_file()]
        assert all(path.exists() for path in paths), place
        names = [name for name in place if "/" not in name]
        for name in names:
            assert any(re.search(rf"^(class |def )?{name}\b", each, re.MULTILINE) for each in texts), place
