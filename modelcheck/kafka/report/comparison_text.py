"""What a change of files makes worse and better, in text, in Markdown for a pull request, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from counterexamples.lines import Line, Piece, Role, count, line, plain, wrapped
from counterexamples.pictures.depict import picture
from counterexamples.pictures.mermaid import MOST, mermaid
from modelcheck.asking.overrides import as_typed
from modelcheck.kafka.questions.answers import Answer
from modelcheck.kafka.questions.comparison import CellChange, SettingChange, TopicChange
from modelcheck.kafka.questions.question import ANY
from modelcheck.kafka.report.run_text import story
from modelcheck.kafka.report.wording import answer_json, cell, legend, sentence
from modelcheck.kafka.settings.resolution.precedence import Effective

FORMAT = 1  # goes up when a key changes its meaning or goes away
_WIDTH = 100  # of runs in Markdown


def lines(changes: Sequence[TopicChange], width: int) -> Iterator[Line]:
    """The report: what became worse, the settings that did it, the shortest new losses, what is better."""
    for change in changes:
        if change.before is None or change.after is None:
            yield from wrapped((), heading(change), width, Role.STRONG)
            yield ()
        elif change.worse or change.better or change.settings:
            yield from wrapped((), heading(change), width, Role.STRONG)
            yield ()
            yield from _table(change, width)
            yield from _settings(change, width)
            yield from _runs(change, width)
    if not any(each.differs for each in changes):
        yield line(Piece("No guarantee of any topic becomes worse or better.", Role.STRONG))
        yield ()


def heading(change: TopicChange) -> str:
    """The change in a sentence: "topic orders: 2 answers are worse, 1 is better"."""
    name = f"topic {change.topic}" if change.topic else "a topic"
    if change.before is None:
        return f"{name} is new"
    if change.after is None:
        return f"{name} is no longer there"
    parts = [
        f"{count(len(found), 'answer')} {'is' if len(found) == 1 else 'are'} {how}"
        for found, how in ((change.worse, "worse"), (change.better, "better"))
        if found
    ]
    return f"{name}: {', '.join(parts) or 'no answer changes'}"


def _table(change: TopicChange, width: int) -> Iterator[Line]:
    """A line for each answer that differs: before and after."""
    rows = [*change.worse, *change.better]
    if not rows:
        return
    names, kinds = (max(len(text) for text in texts) for texts in _columns(rows))
    before = max(len("before"), *(len(cell(row.before)[0]) for row in rows))
    yield line(
        " " * (names + kinds + 7),
        Piece(f"{'before':<{before}}    ", Role.STRONG),
        Piece("after", Role.STRONG),
    )
    for row in rows:
        (old, _), (new, role) = cell(row.before), cell(row.after)
        mark = Piece("✗ ", Role.BAD) if row.is_worse else Piece("✓ ", Role.GOOD)
        label = line(
            "  ",
            mark,
            f"{row.guarantee.name:<{names}} {row.kind:<{kinds}}  {old:<{before}} → ",
            Piece(f"{new:<6}", role),
        )
        yield from wrapped(label, _says(row), max(width, 80))
    used = [cell(answer)[0] for row in rows for answer in (row.before, row.after)]
    yield from wrapped(line("  "), "; ".join(["faults that are survived", *legend(used)]), width, Role.DIM)
    yield ()


def _columns(rows: Sequence[CellChange]) -> tuple[list[str], list[str]]:
    """The first two columns: the guarantees and the kinds of faults."""
    return [row.guarantee.name for row in rows], [row.kind for row in rows]


def _says(row: CellChange) -> str:
    """The answer afterwards in a sentence, of any mixture of faults."""
    return "" if row.kind != ANY or row.after is None else sentence(row.after)


def _settings(change: TopicChange, width: int) -> Iterator[Line]:
    """The settings that differ, those that made something worse first."""
    guilty: dict[str, list[str]] = {}
    for guarantee, settings in change.causes.items():
        for each in settings:
            guilty.setdefault(each.key, []).append(guarantee)
    ordered = sorted(change.settings, key=lambda each: each.key not in guilty)
    for each in ordered:
        does = f"  makes {', '.join(guilty[each.key])} worse" if each.key in guilty else ""
        role = Role.BAD if does else Role.PLAIN
        yield from wrapped(line("  ", Piece(each.key, role), ": "), f"{setting_words(each)}{does}", width)
    if ordered:
        yield ()


def setting_words(change: SettingChange) -> str:
    """A setting before and after, each with its place."""
    return f"{_value(change.before)} → {_value(change.after)}"


def _value(found: Effective | None) -> str:
    """A value with its place: "2 (server.properties:3)", "1 (default)"."""
    if found is None or found.value is None:
        return "none"
    return f"{as_typed(found.value)} ({'default' if found.origin is None else found.origin.place})"


def new_losses(change: TopicChange) -> tuple[Answer, ...]:
    """The answers of any mixture that became worse and have a run, each run once."""
    found: dict[object, Answer] = {}
    for row in change.worse:
        if row.kind == ANY and row.after is not None and row.after.loss is not None:
            found.setdefault(row.after.loss.steps, row.after)
    return tuple(found.values())


def _runs(change: TopicChange, width: int) -> Iterator[Line]:
    """The shortest run of each guarantee that became worse."""
    for answer in new_losses(change):
        if answer.loss is not None:
            title = f"The run against `{answer.guarantee.name}`, which is new"
            yield from story(title, [answer.loss], width, least=answer.is_exact)
            yield ()


# ------------------------------------------------------------------ for a pull request


def markdown(changes: Sequence[TopicChange]) -> str:
    """The report as a comment for a pull request: tables, and the new runs as Mermaid diagrams."""
    return "\n".join(_markdown(changes)) + "\n"


def _markdown(changes: Sequence[TopicChange]) -> Iterator[str]:
    """The lines of the comment."""
    yield "### What this change does to the guarantees of Kafka"
    if not any(each.differs for each in changes):
        yield from ("", "No guarantee of any topic becomes worse or better.")
    for change in (each for each in changes if each.differs):
        yield from ("", f"**{heading(change)}**")
        rows = [*change.worse, *change.better]
        if not rows:
            continue
        yield from ("", "| | guarantee | faults | before | after |", "| --- | --- | --- | --- | --- |")
        for row in rows:
            sign = "❌" if row.is_worse else "✅"
            cells = (sign, row.guarantee.name, row.kind, cell(row.before)[0], cell(row.after)[0])
            yield f"| {' | '.join(cells)} |"
        yield ""
        guilty = {each.key for causes in change.causes.values() for each in causes}
        for each in change.settings:
            does = " — **this makes it worse**" if each.key in guilty else ""
            yield f"- `{each.key}`: {setting_words(each)}{does}"
        for answer in new_losses(change):
            yield from _drawn(answer)


def _drawn(answer: Answer) -> Iterator[str]:
    """The run of an answer, folded: as a diagram, and as text where it is too long for one."""
    if answer.loss is None:
        return
    yield from ("", f"<details><summary>{sentence(answer)}</summary>", "")
    text = mermaid(picture(answer.loss))
    if len(text) <= MOST:
        yield from ("```mermaid", text.rstrip("\n"), "```")
    else:
        told = story(sentence(answer), [answer.loss], _WIDTH, least=answer.is_exact)
        yield from ("```text", plain([*told]), "```")
    yield from ("", "</details>")


# ------------------------------------------------------------------ for programs


def as_json(changes: Sequence[TopicChange]) -> dict[str, object]:
    """The changes of each topic as JSON data, those that became worse first."""
    return {"format": FORMAT, "topics": [_topic_json(each) for each in changes]}


def _topic_json(change: TopicChange) -> dict[str, object]:
    """The change of a topic as JSON data."""
    causes = {name: [each.key for each in found] for name, found in change.causes.items()}
    return {
        "name": change.topic,
        "is_new": change.before is None,
        "is_gone": change.after is None,
        "worse": [_cell_json(each) for each in change.worse],
        "better": [_cell_json(each) for each in change.better],
        "causes": causes,
        "settings": [
            {
                "key": each.key,
                "before": None if each.before is None else each.before.as_json(),
                "after": None if each.after is None else each.after.as_json(),
            }
            for each in change.settings
        ],
    }


def _cell_json(row: CellChange) -> dict[str, object]:
    """The answers before and after as JSON data."""
    return {
        "guarantee": row.guarantee.name,
        "kind": row.kind,
        "before": answer_json(row.before),
        "after": answer_json(row.after),
    }
