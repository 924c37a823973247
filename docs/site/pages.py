"""The sources of the site: the repository's documents with their links led to pages, and pages of protocols.

No text is written twice: a document has the same place in the sources as in the repository.
What is added is a page for each protocol (its table, its runs, its text), cards of the gallery and of the
pages to play with, and lists of pages.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterable, Mapping
from itertools import groupby
from pathlib import Path
from posixpath import normpath, relpath

import spec.library as library
from docs.site.runs import DrawnRun, Play, PlayCard, last_frame
from spec.frozen import frozen
from tools.known_bugs import Bug, address

ROOT = Path(__file__).parent.parent.parent
PROTOCOLS = "spec/protocols"
INDEX = "docs/site/landing.md"  # the page that a reader sees first, as `index.md`
IDENTIFIER = re.compile(r"[A-Z]+-\d|Jepsen ")  # how a name begins that tells a reader little
PARTS: Mapping[str, Mapping[str, str]] = {  # the list of pages: in each part the pages, by their files
    "Tutorials": {
        "README.md": "Overview",
        "docs/README.md": "All documents",
        "docs/tutorials/first-verdict.md": "Your first verdict",
        "docs/tutorials/first-model.md": "Your first model",
        "docs/course/README.md": "Quorum against ISR",
        "docs/course/1-primary-and-backup.md": "1. Primary and backup",
        "docs/course/2-majority.md": "2. Majority",
        "docs/course/3-in-sync-replicas.md": "3. In-sync replicas",
        "docs/course/4-leaders-epochs-truncation.md": "4. Leaders, epochs, truncation",
    },
    "How-to guides: Kafka": {
        "docs/how-to/review-kafka.md": "Review a configuration",
        "docs/how-to/compare-configurations.md": "Compare configurations",
        "docs/how-to/recover-a-partition.md": "Recover a partition",
        "docs/how-to/explain-a-loss.md": "Explain a loss",
        "docs/how-to/reproduce-on-a-cluster.md": "Reproduce on a cluster",
    },
    "How-to guides: models": {
        "docs/how-to/look-at-a-run.md": "Look at a run",
        "docs/how-to/understand-a-violation.md": "Understand a violation",
        "docs/how-to/trust-a-model.md": "Trust a verdict",
        "docs/how-to/check-a-large-model.md": "Check a large model",
        "docs/how-to/prove-a-property.md": "Prove a property",
        "docs/how-to/estimate-time-to-loss.md": "Estimate the time to a loss",
        "docs/how-to/play-a-model.md": "Play a model",
        "docs/how-to/use-the-library.md": "Use the protocol library",
    },
    "How-to guides: tools": {
        "docs/how-to/coming-from-tla.md": "Coming from TLA+",
        "docs/how-to/export-a-model.md": "Export to TLC, SPIN, rumur",
        "docs/how-to/use-an-editor.md": "Use an editor or a shell",
        "docs/how-to/run-in-ci.md": "Run in CI",
        "docs/how-to/connect-an-agent.md": "Connect an agent",
        "docs/how-to/run-on-spark.md": "Run on Spark",
    },
    "Reference": {
        "spec/language.md": "The language",
        "docs/reference/cli.md": "Command line",
        "docs/reference/python.md": "Python",
        "spec/codes.md": "Diagnostics",
        "docs/reference/proofs.md": "Proofs for every scope",
        "docs/reference/any.md": "Nats without a bound",
        "docs/reference/traces.md": "Traces in ITF",
        "docs/reference/chaos.md": "Chaos on real clusters",
        "docs/reference/log-lines.md": "Log lines",
        "docs/reference/glossary.md": "Glossary",
    },
    "Protocols": {
        f"{PROTOCOLS}/README.md": "All protocols",
        "famous.md": "Famous runs",
        "gallery.md": "Gallery of counterexamples",
        "play.md": "Pages to play with",
    },
    "Explanation": {
        "docs/explanation/fewest-faults.md": "Fewest faults first",
        "docs/explanation/engines.md": "Engines",
        "docs/explanation/explicit-engine.md": "The explicit engine",
        "docs/explanation/spark-engine.md": "The search on Spark",
        "docs/explanation/predictions.md": "Predictions and clusters",
        "docs/explanation/benchmarks.md": "Benchmarks",
        "docs/explanation/limits.md": "Limits and known bugs",
    },
    "For contributors": {
        "CONTRIBUTING.md": "Contributing",
        "docs/architecture.md": "Architecture",
        "docs/how-to-add.md": "How to add something",
        "docs/reference/modules.md": "Modules",
        "spec/README.md": "spec",
        "counterexamples/README.md": "counterexamples",
        "modelcheck/README.md": "modelcheck",
        "modelcheck/explicit/README.md": "modelcheck.explicit",
        "modelcheck/kafka/README.md": "modelcheck.kafka",
        "modelcheck/kafka/files/README.md": "modelcheck.kafka.files",
        "spark_explore/README.md": "spark_explore",
        "CHANGELOG.md": "Changelog",
    },
}
MADE = frozenset({"famous.md", "gallery.md", "play.md"})  # pages that are no documents


@frozen
class Site:
    """What a site has besides the documents: runs, and pages to play with, each with a picture."""

    runs: tuple[DrawnRun, ...]
    plays: Mapping[Play, PlayCard]

    def of(self, protocol: str) -> tuple[DrawnRun, ...]:
        """The runs of a protocol, in the order of the table of bugs."""
        return tuple(run for run in self.runs if run.bug.model == protocol)


def documents() -> tuple[str, ...]:
    """The documents that are pages, by their places in the repository."""
    return (INDEX, *(file for part in PARTS.values() for file in part if file not in MADE))


def write_sources(site: Site, folder: Path) -> None:
    """Write all that the generator reads into a folder that is not there."""
    for file in documents():
        text = (ROOT / file).read_text(encoding="utf-8")
        if file == f"{PROTOCOLS}/README.md":
            text = text.partition("\n## ")[0] + _listed("", {f"{name}.md": name for name in library.names()})
        elif file == "spec/codes.md":
            text = re.sub(
                r"^## (R\d{4}):", lambda found: f"({found[1]})=\n{found[0]}", text, flags=re.MULTILINE
            )
        elif file == INDEX:
            text += "".join(_listed(title, part) for title, part in PARTS.items())
        _put(folder, _page(file), _led(text, file, folder))
    sections = (ROOT / PROTOCOLS / "README.md").read_text(encoding="utf-8").split("\n## ")[1:]
    for section in sections:
        name, _, rest = section.partition("\n")
        table = _led(rest, f"{PROTOCOLS}/README.md", folder)
        _put(folder, f"{PROTOCOLS}/{name}.md", _protocol(site, name, table))
    for run in site.runs:
        frame = last_frame(run.storyboard)
        for form, drawn in (("storyboard", run.storyboard), ("diagram", run.diagram), ("frame", frame)):
            _put(folder, f"{PROTOCOLS}/{_picture(run, form)}", drawn)
    for play, card in site.plays.items():
        _put(folder, f"{PROTOCOLS}/pictures/{play.picture}", card.picture)
    _put(folder, "famous.md", _famous(site))
    _put(folder, "gallery.md", _gallery(site))
    _put(folder, "play.md", _play(site))


def _put(folder: Path, name: str, text: str) -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")


# ------------------------------------------------------------------------- links


def _led(text: str, file: str, folder: Path) -> str:
    """A document whose links lead to pages; other files are copied next to it, for readers to take."""
    page = Path(_page(file)).parent.as_posix()

    def led(found: re.Match[str]) -> str:
        words, target = found[1], found[2]
        if re.match(r"https?:|mailto:", target):
            return found[0]
        path, _, anchor = target.partition("#")
        if not path and file == f"{PROTOCOLS}/README.md" and anchor in library.names():
            return f"[{words}]({anchor}.md)"
        if not path:
            return found[0]
        meant = _meant(normpath(f"{Path(file).parent.as_posix()}/{path}"), folder)
        if meant is None:
            return words
        there, _, part = meant.partition("#")
        anchor = anchor or part
        return f"[{words}]({relpath(there, page)}{anchor and '#'}{anchor})"

    return _outside_code(
        text, lambda part: re.sub(r"\[((?:[^\[\]]|!?\[[^\]]*\](?:\([^)]*\))?)*)\]\(([^)\s]+)\)", led, part)
    )


def _outside_code(text: str, change: Callable[[str], str]) -> str:
    """A text in which all but the blocks of code is changed."""
    parts = re.split(r"(^```.*?^```[ ]*$)", text, flags=re.MULTILINE | re.DOTALL)
    return "".join(part if part.startswith("```") else change(part) for part in parts)


def _meant(path: str, folder: Path) -> str | None:
    """The page, or the copied file, for a place in the repository; None for a folder of code."""
    if path == PROTOCOLS or (ROOT / path / "README.md").exists():
        path = f"{path}/README.md"
    if path in documents():
        return _page(path)
    if path.startswith(f"{PROTOCOLS}/") and path.endswith(".rsm"):
        return f"{path.removesuffix('.rsm')}.md#the-text"
    if (ROOT / path).is_dir():
        return None
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(ROOT / path, folder / path)
    return path


def _page(file: str) -> str:
    return "index.md" if file == INDEX else file


def _listed(title: str, pages: Mapping[str, str]) -> str:
    """Pages as a part of the list at the side."""
    caption = f":caption: {title}\n" if title else ""
    lines = "".join(f"{words} <{file.removesuffix('.md')}>\n" for file, words in pages.items())
    return f"\n\n```{{toctree}}\n:hidden:\n{caption}\n{lines}```\n"


# ------------------------------------------------------------- pages that are made


def _protocol(site: Site, name: str, table: str) -> str:
    """The page of a protocol; `table` is its part of the page of all."""
    parts = [f"# {name}\n\n{table.strip()}\n"]
    for play in site.plays:
        if play.protocol == name:
            link = _play_link(play, f"Play {name}", "../..")
            parts.append(f"\n{link}: take the steps of `{play.check}` yourself.\n")
    runs = site.of(name)
    if runs:
        parts.append("\n## Runs\n\nKnown mistakes, each with the fewest faults and then the fewest steps.\n")
    parts += [_run(run) for run in runs]
    parts.append(f"\n## The text\n\n```rsm\n{library.text(name).strip()}\n```\n")
    return "".join(parts)


def _run(run: DrawnRun) -> str:
    bug = run.bug
    return (
        f"\n({run.name})=\n### {_title(bug)}\n\n"
        f"{bug.system}, [{bug.name}]({address(bug.source)}): `{bug.check}` violates `{bug.property}`.\n\n"
        f"![{bug.what}]({_picture(run, 'storyboard')})\n\n"
        f"<details><summary>Every step</summary>\n\n"
        f"![The same as a sequence diagram]({_picture(run, 'diagram')})\n\n"
        f"```text\n{run.story.strip()}\n```\n\n</details>\n\n"
        f"```sh\nmodelcheck check {bug.model} --check {bug.check} --why\n```\n"
    )


def _picture(run: DrawnRun, form: str) -> str:
    return f"pictures/{run.name}.{form}.svg"


def _gallery(site: Site) -> str:
    """What systems did wrong, as cards; each leads to the whole run."""
    return (
        "# Gallery of counterexamples\n\n"
        "What systems are known to have done wrong, and what protocols would do without one of their rules.\n"
        "Each card shows how the run ends that a search found, with the fewest faults and then the fewest\n"
        "steps, and leads to the whole run.\n"
        + "".join(
            f"\n## {system}\n{_cards(map(_card_of_run, runs))}"
            for system, runs in groupby(site.runs, key=lambda run: run.bug.system)
        )
    )


def _card_of_run(run: DrawnRun) -> str:
    bug = run.bug
    source = bug.name if IDENTIFIER.match(bug.name) else "source"
    return _card(
        f"{PROTOCOLS}/{_picture(run, 'frame')}",
        f"[{_title(bug)}](#{run.name})",
        f"[{source}]({address(bug.source)}) · `{bug.model}`",
    )


def _title(bug: Bug) -> str:
    """What happened, for people: with the bug's name, unless that is the number of an issue."""
    title = bug.what if IDENTIFIER.match(bug.name) else f"{bug.name}: {bug.what}"
    return title if re.match(r"[\w.]+=", title) else title[0].upper() + title[1:]


def _play(site: Site) -> str:
    """The pages to play with, as cards."""
    return (
        "# Pages to play with\n\n"
        "Take the steps of a protocol yourself, undo them, and try others; each page shows which steps are\n"
        "possible, what prevents the rest, and the shortest way to a violation from where you are.\n"
        "`modelcheck trace play` makes such a page of any check.\n" + _cards(map(_card_of_play, site.plays))
    )


def _famous(site: Site) -> str:
    """Runs that people know by a name, as cards; each link opens a page at the end of the run."""
    cards = [_card_of_famous(play, card) for play, card in site.plays.items() if play.famous]
    return (
        "# Famous runs\n\n"
        "Runs that people know by a name, found anew with the fewest faults and then the fewest steps.\n"
        "A link opens a page at the end of the run: undo its steps, and try what else could have happened.\n"
        "The part of the address behind `#` names the model, the check and the steps, so it can be sent to\n"
        "others; the page needs no server.\n" + _cards(cards)
    )


def _card_of_famous(play: Play, card: PlayCard) -> str:
    picture = f"{PROTOCOLS}/pictures/{play.picture}"
    note = f"[{play.protocol}]({PROTOCOLS}/{play.protocol}.md) · `{play.check}`"
    words = f"{play.famous}: {play.title[0].lower() + play.title[1:]}"
    return _card(picture, f'<a href="./play/{play.page}#{card.address}">{words}</a>', note)


def _card_of_play(play: Play) -> str:
    picture = f"{PROTOCOLS}/pictures/{play.picture}"
    note = f"[{play.protocol}]({PROTOCOLS}/{play.protocol}.md) · `{play.check}`"
    return _card(picture, _play_link(play, play.title, "."), note)


def _play_link(play: Play, words: str, root: str) -> str:
    return f'<a href="{root}/play/{play.page}">{words}</a>'


def _cards(cards: Iterable[str]) -> str:
    """Cards in a grid; `site.css` lays them out."""
    return f"\n:::{{container}} cards\n\n{''.join(cards)}\n:::\n"


def _card(picture: str, title: str, note: str) -> str:
    """A card: a picture, a title that is a link, and a line in small print."""
    return f"- ![how it ends]({picture})\n\n  **{title}**\n\n  {note}\n\n"
