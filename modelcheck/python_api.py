"""What Python programs and notebooks ask; `import modelcheck` has all of it, and loads it when it is used.

A mistake in a model, a name or a value is a `SpecError`, whose text is the diagnostic that the
command line would show.  What is public here keeps its names and meanings; whatever changes is
in CHANGELOG.md.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypedDict, Unpack

from counterexamples.itf.read import document
from counterexamples.pictures.options import PictureOptions
from counterexamples.pictures.rendered import NoRenderer
from counterexamples.trace import Trace
from modelcheck.answers.formats import FORMATS, RunView, as_file, unused
from modelcheck.answers.notebook import PlayPage, register
from modelcheck.api import Unmet
from modelcheck.api import check as run_check
from modelcheck.asking.crews import CREWS, crew
from modelcheck.asking.models import pick_check, pick_checks, pick_model
from modelcheck.asking.overrides import Overrides, apply, as_typed, one_check, only, put, refuse_unbounded
from modelcheck.asking.sweep import Axis, Orders, SweepAnswer, SweepPoint, answers, points
from modelcheck.asking.sweep_rows import Row, rows_of
from modelcheck.asking.unmet import broken_assumptions, cannot_start, refuse_unstartable
from modelcheck.contract.engine import Limits
from modelcheck.contract.report import Reporter
from modelcheck.contract.result import Outcome
from modelcheck.engines.registry import ENGINES
from modelcheck.engines.registry import engine as engine_of
from modelcheck.storage.files import LARGEST_TRACE, read_text
from modelcheck.teaching.course.exercises import exercise as exercise_of
from modelcheck.teaching.course.exercises import written
from modelcheck.teaching.course.grading import Grade
from modelcheck.teaching.course.guarded import graded
from spec.diagnostics import mistyped, suggest
from spec.load import load as load_models
from spec.load import read
from spec.model.ir import Check, Model
from spec.model.values import ModelError
from spec.source import Source

Subject = str | Path | Model | Sequence[Model]
Value = str | int | bool
Faults = int | str | Mapping[str, int | str | None]


class SparkOptions(TypedDict, total=False):
    """What is given with `engine="spark"`, as on the command line; `run_dir` is kept."""

    master: str
    conf: Mapping[str, str]
    patience: float
    shards: int
    run_dir: str
    driver_states: int


OF_SWEEPS = ("master", "conf", "patience")  # of these

register()


def load(path: str | Path) -> tuple[Model, ...]:
    """The models of a file, or of a protocol by its name: the base first, then its variants.

    Raises SpecError with every mistake in it.
    """
    return load_models(path)


def check(  # noqa: PLR0913 - each is given by its name
    model: Subject,
    check: str | Check | None = None,
    *,
    of: str | None = None,
    properties: Sequence[str] = (),
    scope: Mapping[str, int | str] | None = None,
    config: Mapping[str, Value] | None = None,
    faults: Faults | None = None,
    release: str | None = None,
    engine: str | None = None,
    seconds: float | None = None,
    states: int | None = None,
    memory: int | None = None,
    symmetry: bool | None = None,
    threads: int | None = None,
    reporter: Reporter | None = None,
    **spark: Unpack[SparkOptions],
) -> Outcome:
    """The outcome of one check of a file, a protocol by its name, or models; a run in it is replayed.

    The check may be left out where there is one.  What is given besides replaces the
    check's own, as on the command line: `of` another variant, sizes of the `scope` (`"any"` leaves
    a nat without a bound), switches of the `config`, `faults` as a number, `"any"` or by kind; then
    nothing is held against what it expects.
    Takes as long as the search, unless `seconds`, `states` or `memory` (bytes) end it: what is
    known by then is in the outcome, and the rest unknown.  With `engine="spark"` it takes
    `master`, `conf` and more, and uses the session that there is.
    Raises SpecError for what is wrong with the input, and Unsupported where the engine cannot.
    """
    if engine is not None:
        _refuse_unknown(engine, ENGINES)
    options = _of_spark(engine, spark, tuple(SparkOptions.__annotations__))
    given = _given(scope, config, faults, release)
    asked, question = _asked(_models(model), check, of, given, "an outcome", bounded=False)
    question = only(asked, question, properties)
    try:
        return run_check(
            asked,
            question,
            engine=engine_of(engine, **options) if engine is not None and options else engine,
            limits=Limits(states, seconds, memory),
            reporter=reporter,
            symmetry=symmetry,
            threads=threads,
            with_witnesses=True,
        )
    except Unmet as unmet:
        raise broken_assumptions(asked, question, unmet) from None
    except ModelError as error:
        raise cannot_start(asked, error) from None


def sweep(  # noqa: PLR0913 - each is given by its name
    model: Subject,
    check: str | None = None,
    *,
    vary: Mapping[str, Sequence[Value]],
    of: str | None = None,
    properties: Sequence[str] = (),
    scope: Mapping[str, int | str] | None = None,
    config: Mapping[str, Value] | None = None,
    faults: Faults | None = None,
    seconds: float | None = None,
    states: int | None = None,
    symmetry: bool | None = None,
    engine: str = "explicit",
    **spark: Unpack[SparkOptions],
) -> list[Row]:
    """A row for each property at each point of a grid, as `pandas.DataFrame` takes them.

    `vary` gives names of the scope, of the configuration, or `faults`, each with its values; every
    check of the model is asked, or the one that is named, on all cores at a time.  A row has the
    model, the check, a column for each name that is varied, the property and its `verdict` (holds,
    violated, unknown), `run_faults` and `run_steps` of the run that decides it, `states`,
    `transitions` and `seconds` of its search, and why there is no answer (`problem`).
    Raises SpecError for what is wrong with the input.
    """
    _refuse_unknown(engine, CREWS)
    options = _of_spark(engine, spark, OF_SWEEPS)
    models = _models(model)
    names = [] if check is None else [check]
    checks = pick_checks(models, names) if any(each.checks for each in models) else []
    axes = [Axis(name, tuple(map(as_typed, values))) for name, values in vary.items()]
    given = _given(scope, config, faults, None)
    asked = points(models, checks, axes, given, of=of, properties=properties)
    orders = Orders(Limits(states, seconds), symmetry)
    found = dict(answers(asked, orders, crew(engine, **options)))
    unanswered = SweepAnswer(None, "not answered: interrupted")
    values = [tuple(each) for each in vary.values()]
    return [
        row
        for number, point in enumerate(asked)
        for row in rows_of(point, _point(vary, values, point), found.get(number, unanswered))
    ]


def draw(  # noqa: PLR0913 - each is given by its name
    trace: Trace,
    form: str = "svg",
    *,
    steps: range | None = None,
    explain: bool = False,
    title: str | None = None,
    columns: int | None = None,
    caption: bool = True,
    show: Sequence[str] = (),
    hide: Sequence[str] = (),
) -> str | bytes:
    """A run in a format of `modelcheck trace show --as`: svg, storyboard, mermaid …, or bytes of a png.

    `steps` are those to draw, counted from 1, where the format can leave out some; with
    `explain` it explains why it goes wrong, which costs a search.  `title` replaces ours, without
    a `caption` there are no sentences under it, and `columns` are the frames in a line of a storyboard.
    `show` names the variables, fields, roles and members that are drawn, `hide` those that are not.
    Raises SpecError for a format or steps that there are not, or that nothing installed can draw.
    """
    if form not in FORMATS:
        message = f"there is no format `{form}`"
        raise mistyped(
            "draw", form, message, suggest(form, FORMATS) or f"the formats are {', '.join(FORMATS)}"
        )
    last = len(trace.steps)
    if steps is not None and not (FORMATS[form].parts and 1 <= steps.start < steps.stop <= last + 1):
        raise mistyped("steps", str(steps), f"{form} cannot draw these of the {last} steps of the run")
    options = PictureOptions(title, columns, caption, tuple(show), tuple(hide))
    if (problem := unused(options, [form])) is not None:
        raise mistyped("draw", form, f"{form} is not changed by all that is given", problem)
    try:
        return as_file(FORMATS[form].draw(RunView(trace, steps, explain, options=options)))
    except (NoRenderer, OSError) as refusal:
        raise mistyped("draw", form, str(refusal)) from None


def play(
    model: Subject,
    check: str | Check | None = None,
    *,
    of: str | None = None,
    scope: Mapping[str, int | str] | None = None,
    config: Mapping[str, Value] | None = None,
    faults: Faults | None = None,
    release: str | None = None,
) -> PlayPage:
    """The page in which a check is played step by step: a notebook shows it, `html` is its text.

    What is given besides is as for `check`.  Costs compiling the model for a browser; the page of one
    that cannot be compiled has its first states.  Raises SpecError for what is wrong with the input.
    """
    from modelcheck.answers.played import played, played_beforehand  # noqa: PLC0415 - half of the engine
    from modelcheck.explicit.codegen.values.packing import TooWide  # noqa: PLC0415 - as above

    asked, question = _asked(
        _models(model), check, of, _given(scope, config, faults, release), "a page to play with"
    )
    refuse_unstartable(asked, question)
    try:
        page = played(asked, question)
    except TooWide:
        page, _ = played_beforehand(asked, question)
    return PlayPage(f"{asked.name} · {question.name}", page)


def replay(
    trace: str | Path | Mapping[str, object],
    model: Subject,
    *,
    of: str | None = None,
    check: str | None = None,
) -> Trace:
    """The run in a file, or in the data of one, in the Informal Trace Format; replayed step by step.

    A trace by modelcheck names its model and scope; for others give `of` and `check`.
    Raises SpecError with the place of what is no run of the model.
    """
    data = isinstance(trace, Mapping)
    text = json.dumps(trace) if data else read_text(str(trace), largest=LARGEST_TRACE)
    found = document(text, "the trace" if data else str(trace))
    asked = pick_model(_models(model), of or found.model)
    scope = None if check is None else apply(asked, pick_check(asked, check), Overrides()).scope
    return found.replayed(asked, scope).trace


def begin(exercise: str, parts: Mapping[str, str] | None = None) -> str:
    """The model file that an exercise of the course begins with, perhaps with parts of it finished.

    `parts` are expressions of the language, by the names of what is asked for.  Raises SpecError for
    a name there is not.
    """
    return written(exercise_of(exercise), parts or {})


def grade(path: str | Path, exercise: str, *, seconds: float = 60.0, memory: int = 1_000_000_000) -> Grade:
    """What a file is worth as an exercise of the course: its points, and a hint for each that it misses.

    Takes some seconds, in another process, which is ended when it takes more than `seconds` or `memory`.
    Raises SpecError for what is wrong with the file.
    """
    source = Source(str(path), read(path))
    return graded(exercise, source, seconds=seconds, memory=memory)


def _refuse_unknown(engine: str, engines: Mapping[str, str]) -> None:
    """Raise SpecError for an engine that there is not."""
    if engine not in engines:
        help_ = suggest(engine, engines) or f"the engines are {', '.join(engines)}"
        raise mistyped("engine", engine, f"there is no engine `{engine}`", help_)


def _of_spark(engine: str | None, given: SparkOptions, known: Sequence[str]) -> dict[str, object]:
    """The options for Spark, which only that engine takes. Raises SpecError, TypeError."""
    options: dict[str, object] = {name: value for name, value in given.items() if value is not None}
    for name in given:
        if name not in known:
            raise TypeError(f"got an unexpected keyword argument '{name}'")  # as Python says it
    for name, value in options.items():
        if engine != "spark":
            raise mistyped(name, str(value), f"`{name}` is for the engine spark", 'give engine="spark"')
    return options


def _models(model: Subject) -> tuple[Model, ...]:
    """The models of a subject."""
    match model:
        case Model():
            return (model,)
        case str() | Path():
            return load_models(model)
        case _:
            return tuple(model)


def _asked(
    models: Sequence[Model],
    check: str | Check | None,
    of: str | None,
    given: Overrides,
    use: str,
    *,
    bounded: bool = True,
) -> tuple[Model, Check]:
    """The check that is meant, with its model, and the changes to it made."""
    if not isinstance(check, Check):
        return one_check(tuple(models), check, of, given, use, bounded=bounded)
    asked = next((each for each in models if check in each.checks), models[0])
    asked, question = put(tuple(models), asked, check, of, given)
    if bounded:
        refuse_unbounded(asked, question, use)
    return asked, question


def _given(
    scope: Mapping[str, int | str] | None,
    config: Mapping[str, Value] | None,
    faults: Faults | None,
    release: str | None,
) -> Overrides:
    """The options as changes to a check."""
    if isinstance(faults, Mapping):
        faults = ",".join(f"{name}={'any' if most is None else most}" for name, most in faults.items())
    return Overrides(
        tuple(f"{name}={as_typed(value)}" for name, value in (scope or {}).items()),
        tuple(f"{name}={as_typed(value)}" for name, value in (config or {}).items()),
        None if faults is None else str(faults),
        release,
    )


def _point(vary: Mapping[str, Sequence[Value]], values: Sequence[Sequence[Value]], point: SweepPoint) -> Row:
    """The values at a point as given, instead of texts."""
    of = [{as_typed(value): value for value in each} for each in values]
    return {name: of[n][point.values[n]] for n, name in enumerate(vary)}
