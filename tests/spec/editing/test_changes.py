"""Renaming, and what diagnostics propose: neither changes what anything else means."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from spec.editing.described import described
from spec.editing.remedies import remedies
from spec.editing.renaming import NotRenameable, Renamed, rename, renameable
from spec.editing.understood import understood
from spec.load import read
from spec.source import Source, Span
from tests.spec.editing.test_names import MODEL, known


def renamed(text: str, place: str, new: str) -> str:
    """The text with another name for what stands at the first `place`, or why not."""
    found = rename(known(text), text.index(place), new, (), read, is_ours=lambda _: True)
    if isinstance(found, NotRenameable):
        return found.why
    for span in sorted(found.places["small.rsm"], reverse=True):
        text = text[: span.start] + new + text[span.end :]
    return text


@pytest.mark.parametrize(
    ("place", "new", "count"),
    [
        ("votes:", "ballots", 4),
        ("term: 0..3 }", "era", 3),
        ("follower }", "waiting", 3),
        ("calm:", "quiet", 2),
        ("ask(n", "call", 3),
        ("n: Node) says", "node_", 5),
        ("of: set", "those", 2),
        ("few: forall", "many", 3),
        ("Node\n", "Server", 5),
        ("bold of small", "brave", 2),
        ("one of bold", "first", 1),
    ],
)
def test_every_place_gets_the_new_name_and_the_text_means_the_same(place: str, new: str, count: int) -> None:
    after = renamed(MODEL, place, new)

    assert after.count(new) - MODEL.count(new) == count
    assert known(after).diagnostics == ()
    assert renamed(after, new, re.split(r"\W", place)[0]) == MODEL


@pytest.mark.parametrize(
    ("place", "new", "why"),
    [
        ("votes:", "last", "`last` is a word of the language"),
        ("votes:", "terms", "`terms` does not do: `terms` is declared twice"),
        ("vote = ", "n", "`n` does not do: `n` already has a meaning here"),
        ("v in of", "of", "`of` does not do: `of` already has a meaning here"),
        ("votes:", "forall", "`forall` is a word of the language"),
        ("votes:", "2x", "a name is letters, digits and underscores"),
        ("votes:", "", "a name is letters, digits and underscores"),
        ("require", "x", "this is a word of the language"),
    ],
)
def test_a_name_that_would_mean_something_else_is_refused(place: str, new: str, why: str) -> None:
    assert why in renamed(MODEL, place, new)


MISTAKES = {"type": ("votes) >= 0", "votes) >= none"), "syntax": ("votes) >= 0", "votes) >= :=")}


@pytest.mark.parametrize(("was", "now"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_does_not_hinder_another_name(was: str, now: str) -> None:
    text = MODEL.replace(was, now)
    after = renamed(text, "terms(of", "eras")

    assert after == renamed(MODEL, "terms(of", "eras").replace(was, now)


@pytest.mark.parametrize(("was", "now"), MISTAKES.values(), ids=MISTAKES)
def test_a_name_in_a_declaration_with_a_mistake_is_refused(was: str, now: str) -> None:
    text = MODEL.replace(was, now)
    found = known(text)

    assert isinstance(renameable(found, found.names(), text.index("votes")), NotRenameable)
    assert "has a mistake" in renamed(text, "votes:", "ballots")


def test_a_name_is_changed_in_the_files_that_go_on_from_its_own(tmp_path: Path) -> None:
    base, own = tmp_path / "small.rsm", tmp_path / "own.rsm"
    base.write_text(MODEL, encoding="utf-8")
    text = 'import "small.rsm"\n\ninvariant again: size(votes) >= 0\n'
    own.write_text(text, encoding="utf-8")
    found = understood(Source(str(own), text), read)
    changes = rename(found, text.index("votes"), "ballots", (), read, is_ours=lambda _: True)
    refused = rename(found, text.index("votes"), "ballots", (), read, is_ours=lambda each: each == str(own))
    from_base = understood(Source(str(base), MODEL), read)
    others = (str(own),)
    both = rename(from_base, MODEL.index("votes"), "ballots", others, read, is_ours=lambda _: True)
    taken = rename(from_base, MODEL.index("votes"), "again", others, read, is_ours=lambda _: True)

    assert isinstance(changes, Renamed)
    assert {name: len(spans) for name, spans in changes.places.items()} == {str(base): 4, str(own): 1}
    assert changes == both
    assert isinstance(refused, NotRenameable)
    assert isinstance(taken, NotRenameable)
    assert "declared twice" in taken.why


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("size(votes)", "size(vots)"),
        ("n.role :=", "n.rol :="),
        ("set[Vote] = {}", "set[Vot] = {}"),
        ("few holds", "fev holds"),
        ("drop ask.calm", "drop ask.clam"),
        ("drop ask.calm", "drop aks.calm"),
        ("Node = 2", "Nod = 2"),
        ("volatile role", "volatil role"),
        ("forall t in", "foral t in"),
        ("of bold", "of bald"),
    ],
)
def test_what_was_meant_mends_the_text(right: str, wrong: str) -> None:
    text = MODEL.replace(right, wrong, 1)
    (first, *_) = [each for found in known(text).diagnostics for each in remedies(found)]
    mended = text[: first.span.start] + first.new + text[first.span.end :]

    assert mended == MODEL


def test_what_proposes_nothing_has_no_remedy() -> None:
    (found,) = known(MODEL.replace("size(votes) >= 0", "size(votes) + 0")).diagnostics

    assert list(remedies(found)) == []
    assert isinstance(found.span, Span)


def test_a_field_that_several_cases_share_is_changed_in_all_of_them() -> None:
    shared = MODEL.replace("Stop }", "Stop(term: 0..3) }").replace(
        "size(votes) >= 0", "exists m in recent. m.term == 0"
    )
    after = renamed(shared, "term: 0..3), Stop", "era")

    assert after.count("era") == 3
    assert known(after).diagnostics == ()


def test_a_check_that_leaves_a_bound_open_has_no_size() -> None:
    found = known(MODEL.replace("scope Node = 2", "scope Nod = 2"))

    assert described(found, found.names(), MODEL.index("votes:")) is not None
