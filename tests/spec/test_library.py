"""The protocols that come with the package: found by name, and never before a path."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

import spec.library as library
from spec.diagnostics import SpecError, render
from spec.load import load, read
from spec.model.ir import ExpectVerdict, PropertyKind

PROTOCOLS = Path(__file__).parents[2] / "spec" / "protocols"
shipped = cache(library.shipped)
TINY = "protocol tiny\nstate { on: bool = false }\naction turn() { on := not on }\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, which commands are given in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refusal(name: str) -> str:
    with pytest.raises(SpecError) as refused:
        load(name)
    (diagnostic,) = refused.value.diagnostics
    assert diagnostic.code == "R0103"
    return render(diagnostic)


def test_every_file_of_the_folder_has_a_name() -> None:
    assert list(library.names()) == sorted(path.stem for path in PROTOCOLS.glob("*.rsm"))
    assert "show" not in library.names()  # `modelcheck library show NAME --source`


@pytest.mark.usefixtures("here")
def test_a_name_stands_for_the_file_of_that_protocol() -> None:
    models = load("figure8")

    assert [model.name for model in models] == ["figure8", "commits_older"]
    assert models[0].source.name == "figure8"
    assert models[0].source.text == (PROTOCOLS / "figure8.rsm").read_text(encoding="utf-8")


def test_a_file_comes_before_the_protocol_of_its_name(here: Path) -> None:
    (here / "raft").write_text(TINY)

    assert [model.name for model in load("raft")] == ["tiny"]


def test_what_is_no_model_comes_before_a_protocol_too(here: Path) -> None:
    (here / "raft").mkdir()
    (here / "zab").write_bytes(b"\x7fELF\0")
    (here / "kisr").symlink_to("nowhere")

    assert "this is a folder" in refusal("raft")
    assert "a path comes before a protocol; `modelcheck library show raft --source`" in refusal("raft")
    assert "the file is binary" in refusal("zab")
    assert "`modelcheck library show zab --source`" in refusal("zab")
    assert "there is no such file" in refusal("kisr")


def test_a_name_that_could_be_of_a_file_beside_is_refused(here: Path) -> None:
    (here / "raft.rsm").write_text(TINY)
    told = refusal("raft")

    assert "this may be the file raft.rsm here, or the protocol that comes with modelcheck" in told
    assert "write `raft.rsm`" in told
    assert [model.name for model in load("raft.rsm")] == ["tiny"]


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("name", ["./raft", "raft/", "Raft", "spec/raft", "raft.rsm", "../raft", "", "raft "])
def test_nothing_else_is_a_name(name: str) -> None:
    assert "error[R0103]" in refusal(name)


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("rfat", "raft"),
        ("raft.rsm", "raft"),
        ("spec/protocols/raft.rsm", "raft"),
        ("Raft", "raft"),
        ("kafka-log", "kafka_log"),
        ("two_phase", "two_phase_commit"),
    ],
)
def test_what_is_nearly_a_name_is_told_which(name: str, meant: str) -> None:
    assert refusal(name).splitlines()[-1].strip() == f"help: did you mean `{meant}`? It comes with modelcheck"


def test_a_file_beside_is_nearer_than_a_protocol(here: Path) -> None:
    (here / "rafts.rsm").write_text(TINY)

    assert "did you mean `rafts.rsm`?" in refusal("rafs.rsm")


@pytest.mark.usefixtures("here")
def test_what_is_no_name_at_all_is_told_where_names_are() -> None:
    assert "did you mean" not in refusal("nonsense")
    assert "`modelcheck library list` lists" in refusal("nonsense")
    assert "help" not in refusal("nonsense.txt")


def test_a_path_object_is_read_as_before() -> None:
    assert read(PROTOCOLS / "raft.rsm") == library.text("raft")


@pytest.mark.parametrize("name", library.names())
def test_what_is_parsed_is_what_is_elaborated(name: str) -> None:
    found = shipped(name)
    models = load(PROTOCOLS / f"{name}.rsm")
    checks = sorted(((m, each) for m in models for each in m.checks), key=lambda pair: pair[1].span.start)

    begin, _ = max(models[0].source.parts, default=(0, ""))  # what stands before is of another file
    own = models[0].source.text[begin:]
    assert found.variants == tuple(m.name for m in models[1:] if f"\nvariant {m.name} of " in own)
    assert [(q.name, q.of, q.says, q.expect) for q in found.questions] == [
        (each.name, model.name, each.says, each.expect) for model, each in checks
    ]
    assert [set(question.violations) | set(question.unreached) for question in found.questions] == [
        {e for e in each.expect if isinstance(e, ExpectVerdict) and not e.holds} for _, each in checks
    ]
    kinds = {prop.name: prop.kind for model in models for prop in model.properties}
    for question in found.questions:
        assert all(kinds[each.property] is PropertyKind.REACHABLE for each in question.unreached)
        assert all(kinds[each.property] is not PropertyKind.REACHABLE for each in question.violations)


def test_a_file_goes_on_from_the_protocol_that_it_imports() -> None:
    assert library.goes_on_from("kafka_unclean") == "kafka"
    assert library.goes_on_from("kafka") == "kafka"
    assert shipped("kafka_unclean").variants == ("offline", "most_complete_leads")
    assert shipped("kafka_unclean").questions[0].of == "kafka"


@pytest.mark.parametrize("name", library.names())
def test_what_a_file_goes_on_from_is_its_first_model(name: str) -> None:
    assert library.goes_on_from(name) == load(PROTOCOLS / f"{name}.rsm")[0].name


@pytest.mark.parametrize("name", library.names())
def test_every_property_that_a_check_asks_has_a_sentence(name: str) -> None:
    models = load(PROTOCOLS / f"{name}.rsm")
    asked = [
        (model, check.name, prop)
        for model in models
        for check in model.checks
        for prop in model.properties
        if check.only is None or prop.name in check.only
    ]

    assert asked
    assert [(check, prop.name) for _, check, prop in asked if not prop.says] == []


@pytest.mark.parametrize("name", library.names())
def test_a_title_is_one_sentence(name: str) -> None:
    title = shipped(name).title

    assert 20 <= len(title) <= 300
    assert title[0].isupper()
    assert not title.endswith(".")


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("// A.  B.\nprotocol p\n", "A"),
        ("// A thing\n// of two lines.\n//\n// More.\n", "A thing of two lines"),
        ("// Of section 5.4 only\nprotocol p\n", "Of section 5.4 only"),
        ("protocol p\n// Later.\n", ""),
    ],
)
def test_the_title_is_the_first_sentence_of_the_first_comment(text: str, title: str) -> None:
    assert library.title(text) == title
