"""`modelcheck trace show`: a run in every format, a part of it, and what is not to be shown."""

from __future__ import annotations

import io
import json
import re
import shutil
from collections.abc import Callable
from contextlib import redirect_stdout
from functools import partial
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from pypdf import PdfReader

from counterexamples.itf.write import write
from counterexamples.trace import Stops, Trace
from modelcheck.answers.formats import FORMATS, format_of
from modelcheck.cli import main
from modelcheck.storage.files import read_text
from modelcheck.storage.ours import marked
from spec.load import loads
from spec.meaning.semantics import Machine, Taken
from tests.counterexamples.runs import TOY, divergence, walk
from tests.cpu_time import cpu_seconds

DRAWN = [name for name, form in FORMATS.items() if not form.is_binary]
Show = Callable[..., tuple[int, str, str]]


@pytest.fixture
def show(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Show:
    """`show(path, "--as", "svg")`: the exit code, the output and what was told beside it."""
    monkeypatch.delenv("COLUMNS", raising=False)

    def run(path: Path, *options: str, model: Path = TOY) -> tuple[int, str, str]:
        code = main(["trace", "show", str(path), str(model), *options])
        told = capfdbinary.readouterr()
        return code, told.out.decode(), told.err.decode()

    return run


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return saved(tmp_path, divergence())


def saved(folder: Path, trace: Trace) -> Path:
    target = folder / "run.itf.json"
    target.write_text(write(trace), encoding="utf-8")
    return target


def in_scope(count: int, *members: str) -> str:
    """The toy model with other members, and room for a long run."""
    text = read_text(str(TOY)).replace("Replica = {a, b}", f"Replica = {{{', '.join(members)}}}")
    return text.replace("Epoch = 3, Offset = 2", f"Epoch = {count}, Offset = 2")


def long_run(steps: int, *members: str) -> Trace:
    """A run in which one of the members crashes and restarts, for ever."""
    model = loads(in_scope(3, *members), "toy.rsm")[0]
    machine = Machine(model, model.checks[0].scope)
    states, found = [machine.initial()[0]], []
    wanted = (f"crash({members[-1]})", f"restart({members[-1]})")
    after: dict[str, Taken] = {}
    for number in range(steps):
        name = wanted[number % 2]
        if name not in after:
            taken = (t for t in machine.steps(states[-1]) if isinstance(t, Taken))
            after[name] = next(t for t in taken if machine.name(t.step) == name)
        found.append(after[name].step)
        states.append(after[name].state)
    return Trace(model, model.checks[0].scope, tuple(states), tuple(found), Stops())


# ------------------------------------------------------------------------ formats


@pytest.mark.parametrize("form", DRAWN)
def test_every_format_is_written(form: str, path: Path, show: Show) -> None:
    code, out, err = show(path, "--as", form)

    assert (code, err) == (0, "")
    assert out.strip()


@pytest.mark.parametrize("form", ["svg", "storyboard"])
def test_a_picture_is_xml(form: str, path: Path, show: Show) -> None:
    _, out, _ = show(path, "--as", form)

    assert ET.fromstring(out).tag.endswith("svg")  # noqa: S314 - it is ours


def test_what_is_written_as_itf_is_the_same_trace(path: Path, show: Show) -> None:
    _, out, _ = show(path, "--as", "itf")

    assert json.loads(out)["states"] == json.loads(path.read_text())["states"]


def test_without_a_format_it_is_the_story(path: Path, show: Show) -> None:
    assert show(path) == show(path, "--as", "text")


def test_html_is_a_word_for_as_html(path: Path, show: Show) -> None:
    assert show(path, "--html") == show(path, "--as", "html")


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("a.svg", "svg"),
        ("a.SVG", "svg"),
        ("a.storyboard.svg", "storyboard"),
        ("a.txt", "text"),
        ("a.compact.txt", "compact"),
        ("a.mmd", "mermaid"),
        ("a.puml", "plantuml"),
        ("a.gv", "dot"),
        ("a.itf.json", "itf"),
        ("a.html", "html"),
        ("a.png", "png"),
        ("a.storyboard.png", "storyboard-png"),
        ("a", None),
        ("svg", None),
    ],
)
def test_a_name_says_its_format(name: str, form: str | None) -> None:
    assert format_of(name) == form


def test_no_two_formats_claim_a_suffix() -> None:
    suffixes = [suffix for form in FORMATS.values() for suffix in form.suffixes]

    assert len(set(suffixes)) == len(suffixes)


@pytest.mark.parametrize("form", DRAWN)
def test_a_file_has_what_the_output_would(form: str, path: Path, show: Show, tmp_path: Path) -> None:
    target = tmp_path / f"it{FORMATS[form].suffixes[0]}"

    code, out, err = show(path, "--out", str(target))

    assert (code, out, err) == (0, "", f"modelcheck: wrote {target}\n")
    assert target.read_bytes() == marked(form, show(path, "--as", form)[1])


@pytest.mark.parametrize("name", ["run.pdf", "run.storyboard.pdf"])
def test_a_pdf_is_one_page_of_the_size_of_the_picture(
    name: str, path: Path, show: Show, tmp_path: Path
) -> None:
    if not any(map(shutil.which, ("rsvg-convert", "inkscape", "chromium"))):
        pytest.skip("needs a renderer of SVG")

    code, _, _ = show(path, "--out", str(tmp_path / name), "--title", "What was lost")
    again, _, _ = show(path, "--out", str(tmp_path / name), "--title", "What was lost")
    form = "storyboard" if "storyboard" in name else "svg"
    svg_code, drawn, _ = show(path, "--as", form, "--title", "What was lost")
    (page,) = PdfReader(tmp_path / name).pages
    size = re.search(r'width="([\d.]+)" height="([\d.]+)"', drawn)

    assert (code, again, svg_code) == (0, 0, 0)
    assert "What was lost" in page.extract_text()
    assert size is not None
    assert page.mediabox.width / page.mediabox.height == pytest.approx(
        float(size[1]) / float(size[2]), rel=0.02
    )


def test_without_a_renderer_a_pdf_is_refused(
    path: Path, show: Show, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    code, _, err = show(path, "--out", str(tmp_path / "run.storyboard.pdf"))

    assert code == 2
    assert "nothing that turns SVG into PDF is installed: install one of rsvg-convert, inkscape" in err


@pytest.mark.parametrize("form", ["compact", "svg", "storyboard", "mermaid", "plantuml"])
def test_a_picture_has_the_title_that_is_given(form: str, path: Path, show: Show) -> None:
    code, out, err = show(path, "--as", form, "--title", "A <loss> & more")
    plain = show(path, "--as", form)[1]

    assert (code, err) == (0, "")
    assert "violated in" in plain
    assert "violated in" not in out
    assert "loss" in out
    assert "<loss>" not in out or form == "compact"


@pytest.mark.parametrize("form", ["svg", "storyboard", "mermaid", "plantuml"])
def test_a_picture_without_a_caption_has_what_it_had_besides(form: str, path: Path, show: Show) -> None:
    shown = [
        re.sub(r"<desc.*?</desc>|accDescr.*", "", show(path, "--as", form, *more)[1])
        for more in ((), ("--no-caption",))
    ]

    assert [text.count("At the end") for text in shown] == [1, 0]
    assert all("Not true" in text for text in shown)


@pytest.mark.parametrize("across", [1, 2, 3, 99])
def test_a_storyboard_has_as_many_frames_in_a_line_as_are_wanted(across: int, path: Path, show: Show) -> None:
    drawn = show(path, "--as", "storyboard", "--columns", str(across))[1]
    places = re.findall(r'<g class="panel" data-step="\d+">\n<rect x="([\d.]+)" y="([\d.]+)"', drawn)

    assert len(places) >= 4
    assert len({x for x, _ in places}) == min(across, len(places))
    assert len(set(places)) == len(places)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--as", "svg", "--columns", "2"), "--columns is for storyboard, storyboard-png, storyboard-pdf"),
        (("--as", "text", "--title", "x"), "--title is for compact, svg,"),
        (("--as", "itf", "--no-caption"), "--no-caption is for svg,"),
        (("--as", "storyboard", "--columns", "0"), "`0` is no number of frames from 1 to 99"),
        (("--as", "storyboard", "--columns", "x"), "`x` is no number of frames from 1 to 99"),
        (("--as", "svg", "--title", " "), "an empty title is none"),
    ],
)
def test_an_option_that_changes_nothing_is_refused(
    words: tuple[str, ...], problem: str, path: Path, show: Show
) -> None:
    code, _, err = show(path, *words)

    assert code == 2
    assert problem in err


@pytest.mark.parametrize("name", ["run.png", "run.storyboard.png"])
def test_a_png_is_a_png(name: str, path: Path, show: Show, tmp_path: Path) -> None:
    if not any(map(shutil.which, ("rsvg-convert", "resvg", "inkscape", "chromium"))):
        pytest.skip("needs a renderer of SVG")

    first, _, _ = show(path, "--out", str(tmp_path / name))
    again, _, _ = show(path, "--out", str(tmp_path / name))

    assert (first, again) == (0, 0)
    assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")


def test_without_a_renderer_a_png_is_refused(
    path: Path, show: Show, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    code, _, err = show(path, "--out", str(tmp_path / "run.png"))

    assert code == 2
    assert "nothing that turns SVG into PNG is installed" in err


def test_an_explanation_marks_the_picture(path: Path, show: Show) -> None:
    plain = show(path, "--as", "mermaid")[1]
    explained = show(path, "--as", "mermaid", "--why")[1]

    assert plain != explained
    assert "number in brackets: it goes wrong without this step too" in explained


# ---------------------------------------------------------------------- a terminal


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def on_a_terminal(*args: str) -> tuple[int, str]:
    with redirect_stdout(Terminal()) as screen:
        return main(["trace", "show", *args]), screen.getvalue()


def test_a_binary_file_is_not_put_on_a_terminal(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert on_a_terminal(str(path), str(TOY), "--as", "png") == (2, "")
    assert "png is nothing for a terminal: give a file with --out" in capsys.readouterr().err


@pytest.mark.parametrize("form", ["text", "compact"])
def test_a_terminal_gets_colour(form: str, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)

    assert "\x1b[" in on_a_terminal(str(path), str(TOY), "--as", form)[1]


def test_pictures_on_an_ascii_output_are_in_utf8(path: Path) -> None:
    with io.TextIOWrapper(io.BytesIO(), encoding="ascii") as stream, redirect_stdout(stream):
        codes = [
            main(["trace", "show", str(path), str(TOY), "--as", form])
            for form in ("mermaid", "svg", "compact")
        ]
        told = stream.buffer.getvalue().decode()

    assert codes == [0, 0, 0]
    assert "⚡" in told


# ---------------------------------------------------------------------- some steps


def test_a_story_of_some_steps_begins_where_they_begin(path: Path, show: Show) -> None:
    _, out, _ = show(path, "--steps", "3..4")

    assert "  2    the state after 2 steps" in out
    assert "  3    b asks the leader for the record at 0." in out
    assert "a crashes." in out
    assert "… 3 more steps" in out
    assert "restart(a)" not in out


def test_the_last_steps_are_told_with_what_is_wrong(path: Path, show: Show) -> None:
    whole = show(path)[1]
    _, out, _ = show(path, "--steps", "7")

    assert out.splitlines()[-4:] == whole.splitlines()[-4:]


@pytest.mark.parametrize("form", ["compact", "mermaid", "plantuml", "svg"])
def test_a_picture_of_some_steps_says_what_it_leaves_out(form: str, path: Path, show: Show) -> None:
    _, out, _ = show(path, "--as", form, "--steps", "3..4")

    assert "steps 5 to 7 are not drawn" in out


@pytest.mark.parametrize(
    "given", ["0", "4..3", "x", "1..", "-1..2", "1..2..3", "1..99999999999999999999", ""]
)
def test_a_range_that_is_none_is_refused(given: str, path: Path, show: Show) -> None:
    code, _, err = show(path, f"--steps={given}")

    assert code == 2
    assert "is no range of steps such as 40-60" in err


def test_steps_that_the_trace_does_not_have_are_refused(path: Path, show: Show) -> None:
    code, _, err = show(path, "--steps", "1..8")

    assert code == 2
    assert "--steps: the trace has no more than 7 steps" in err


@pytest.mark.parametrize("form", ["html", "dot", "itf"])
def test_a_format_of_whole_runs_takes_no_steps(form: str, path: Path, show: Show) -> None:
    code, _, err = show(path, "--as", form, "--steps", "1..2")

    assert code == 2
    assert f"--steps: {form} has the whole run" in err


def test_a_name_without_a_format_is_refused(path: Path, show: Show, tmp_path: Path) -> None:
    code, _, err = show(path, "--out", str(tmp_path / "run"))

    assert code == 2
    assert "the name says no format" in err


def test_a_folder_that_is_not_there_is_told(path: Path, show: Show, tmp_path: Path) -> None:
    code, _, err = show(path, "--out", str(tmp_path / "nowhere" / "run.svg"))

    assert code == 2
    assert "cannot be written" in err


# ----------------------------------------------------------------------- bad input


def test_four_thousand_steps_are_shown_in_part(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """To draw a part takes not much more than to read and tell the whole."""
    model = tmp_path / "toy.rsm"
    model.write_text(in_scope(3, "a", "b"))
    path = saved(tmp_path, long_run(4_000, "a", "b"))
    seconds: dict[str, float] = {}
    for form in ("text", "compact", "svg", "storyboard", "mermaid", "plantuml"):
        words = ["trace", "show", str(path), str(model), "--as", form]
        seconds[form] = cpu_seconds(partial(main, words), times=1)
        told = capfdbinary.readouterr()

        assert len(told.out) < 3_000_000
        assert (b"300 of 4,000 steps are drawn; --steps A-B draws those that you want" in told.err) == (
            form != "text"
        )

    assert max(seconds.values()) < 10 * seconds["text"]


@pytest.mark.parametrize("form", DRAWN)
def test_nine_replicas_are_shown(form: str, tmp_path: Path, show: Show) -> None:
    members = [f"broker{number}" for number in range(9)]
    model = tmp_path / "toy.rsm"
    model.write_text(in_scope(3, *members))
    path = saved(tmp_path, long_run(4, *members))

    code, out, _ = show(path, "--as", form, model=model)

    assert code == 0
    assert "broker8" in out
    if form == "compact":
        assert max(map(len, out.splitlines())) <= 101


EVIL = "<script>alert(1)</script> ]]> ; end #quot; %%[init %% x \x1b[31m \u202e @enduml --> $$ `x` &lt;"


@pytest.mark.parametrize("form", [form for form in DRAWN if form != "itf"])
def test_a_sentence_with_markup_is_text(form: str, tmp_path: Path, show: Show) -> None:
    text = read_text(str(TOY)).replace("{r} crashes.", EVIL)
    model = tmp_path / "toy.rsm"
    model.write_text(text, encoding="utf-8")
    loaded = loads(text, "toy.rsm")[0]
    path = saved(tmp_path, walk("elect(a)", "crash(a)", ending=Stops(), prop=None, model=loaded))

    code, out, err = show(path, "--as", form, model=model)

    assert (code, err) == (0, "")
    assert "\x1b" not in out
    assert "\u202e" not in out
    if form not in {"text", "compact", "dot"}:
        assert "<script>alert" not in out
    if form in {"svg", "storyboard"}:
        elements = ET.fromstring(out).iter()  # noqa: S314 - it is ours
        assert "script" not in {element.tag.rpartition("}")[2] for element in elements}
    if form == "mermaid":
        assert "%%[" not in out
    if form == "plantuml":
        assert out.count("@enduml") == 1


# ------------------------------------------------------------------ check --draw


KAFKA = TOY.parents[2] / "spec" / "protocols" / "kafka.rsm"
STORY = "kafka.last_replica_standing.acknowledged_survive"


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what `check --draw` writes of a story."""
    folder = tmp_path_factory.mktemp("drawn") / "runs"
    asked = ("--check", "last_replica_standing", "--draw", "svg,itf,mermaid", "--out", str(folder), "-q")
    with redirect_stdout(io.StringIO()):
        assert main(["check", str(KAFKA), *asked]) == 0
    return folder


def test_check_draws_every_run_in_every_format(drawn: Path) -> None:
    assert sorted(path.name for path in drawn.iterdir()) == [
        f"{STORY}.itf.json",
        f"{STORY}.mmd",
        f"{STORY}.svg",
    ]


def test_what_check_draws_is_what_show_draws(drawn: Path, show: Show) -> None:
    shown = show(drawn / f"{STORY}.itf.json", "--as", "mermaid", model=KAFKA)[1]

    assert (drawn / f"{STORY}.mmd").read_bytes() == marked("mermaid", shown)


def test_the_readme_shows_what_comes_out(
    drawn: Path, show: Show, in_document: Callable[[Path, str, str], None]
) -> None:
    out = show(drawn / f"{STORY}.itf.json", "--as", "compact", model=KAFKA)[1]
    page = TOY.parents[2] / "docs" / "how-to" / "look-at-a-run.md"
    text = page.read_text(encoding="utf-8")
    (shown,) = re.findall(r"--as compact\n```\n\n```text\n(.*?)```$", text, re.MULTILINE | re.DOTALL)

    in_document(page, shown, out)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--draw", "svg,jpeg"], "`jpeg` is none of the formats text, compact, svg"),
        (["--out", "folder"], "--out is where --draw FORMAT writes"),
        (["--draw", "svg", "--estimate"], "--estimate goes with neither"),
    ],
)
def test_what_cannot_be_drawn_is_refused(
    options: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", str(KAFKA), "--check", "jepsen", *options]) == 2
    assert told in capsys.readouterr().err


def test_a_check_without_a_run_draws_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--check", "jepsen_one_fault", "-q", "--draw", "svg", "--out", str(tmp_path)]

    assert main(["check", str(KAFKA), *options]) == 0
    assert "there is no run to draw" in capsys.readouterr().err
    assert [*tmp_path.iterdir()] == []
