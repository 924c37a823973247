"""The page of proofs for every scope, held against the models that it is about."""

from __future__ import annotations

from tools.proof_table import MODELS, PAGE, WRITTEN, row


def cells(name: str) -> list[str]:
    """The cells of a model's line of the page."""
    (line,) = [each for each in PAGE.read_text().splitlines() if each.startswith(f"| [`{name}`]")]
    return [each.strip() for each in line.strip("|").split("|")]


def test_the_page_has_every_model() -> None:
    names = [*(path.stem for path in MODELS), *(name for name, _ in WRITTEN)]

    assert all(len(cells(name)) == 7 for name in names)


def test_the_page_has_what_is_found() -> None:
    (path,) = [each for each in MODELS if each.stem == "sharded_store"]
    now = row(path)

    assert [*now[:5]] == cells("sharded_store")[:5]


def test_five_models_are_proved_without_a_written_lemma() -> None:
    proved = [path.stem for path in MODELS if cells(path.stem)[2:4] != ["", ""]]

    assert len([name for name in proved if cells(name)[3] == "0"]) >= 5
