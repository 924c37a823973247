"""`modelcheck check FILE…`: the checks of model files, each with its verdict card and its stories."""

from __future__ import annotations

import argparse
import shlex
import shutil
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from secrets import randbelow

import modelcheck.commands.amounts as amounts
from counterexamples.itf.write import write
from counterexamples.lines import Piece, Role, count, line
from counterexamples.text import story
from counterexamples.trace import Trace
from modelcheck.api import Unmet, Unsupported
from modelcheck.api import check as run_check
from modelcheck.card import brief, card
from modelcheck.commands.given import add_overrides, given_by
from modelcheck.engine import CannotResume, Engine, Keep, Limits, Task
from modelcheck.estimate import card as estimate_card
from modelcheck.estimate import estimate
from modelcheck.exits import Exit
from modelcheck.explanation.explain import why
from modelcheck.files import save_text
from modelcheck.matrix import matrix, obstacles
from modelcheck.models import pick_checks, pick_model
from modelcheck.outcome_json import as_json
from modelcheck.output import Output
from modelcheck.overrides import free_check, only, put
from modelcheck.progress import ProgressLine
from modelcheck.registry import ENGINES, engine
from modelcheck.result import End, Holds, Outcome, Violated
from modelcheck.shrinking.outcome import smaller
from modelcheck.shrinking.shrink import Shrunk, shrink
from modelcheck.shrinking.told import told
from modelcheck.simulate import DEPTH, RandomRuns
from modelcheck.standing import standing, surprises
from modelcheck.wording import config_words, scope_words
from spec.diagnostics import Diagnostic, SpecError
from spec.ir import Check, Config, ExpectVerdict, Model
from spec.load import load
from spec.types import Nat, Sort
from spec.values import ModelError

SEEDS = 2**32  # as many may be drawn; any may be given
UNFORETOLD = "the command line changes the check, so what the check expects is not compared"
WORST_FIRST = (Exit.VIOLATED, Exit.UNKNOWN, Exit.EXPECTED)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    add = parser.add_argument
    add("files", nargs="+", metavar="FILE", help="model files (.rsm)")
    what = parser.add_argument_group("what to check")
    what.add_argument(
        "--check", action="append", default=[], metavar="NAME", help="only this check; may be repeated"
    )
    what.add_argument("--of", metavar="NAME", help="on this protocol or variant of the file")
    what.add_argument("--property", action="append", default=[], metavar="NAME", help="only this property")
    add_overrides(what)
    what.add_argument("--strict", action="store_true", help="mind actions and guards that are never used")
    how = parser.add_argument_group("how far to go")
    either = how.add_mutually_exclusive_group()
    either.add_argument("--engine", choices=ENGINES, help="which engine searches (the fastest that can)")
    either.add_argument(
        "--simulate", type=amounts.count, metavar="N", help="take so many random runs instead of searching"
    )
    either.add_argument(
        "--estimate",
        action="store_true",
        help="how many states to expect, by smaller scopes; decides nothing",
    )
    how.add_argument(
        "--seconds",
        type=amounts.seconds,
        metavar="T",
        help="for each question to the solver, with --engine bmc (no limit) or prove (10s)",
    )
    how.add_argument("--seed", type=int, metavar="S", help="the same random runs again (drawn, and told)")
    how.add_argument(
        "--depth",
        type=amounts.count,
        metavar="D",
        help=f"runs of up to so many steps: random ones ({DEPTH}), or all with --engine bmc (20)",
    )
    how.add_argument(
        "--fewest-faults",
        action="store_true",
        help="with --engine bmc: first the fewest faults, then the fewest steps",
    )
    how.add_argument(
        "--shrink",
        action="store_true",
        help="make the random runs that are shown minimal, in a smaller scope",
    )
    how.add_argument("--threads", type=amounts.threads, metavar="N", help="on so many cores (all)")
    how.add_argument(
        "--symmetry", action="store_true", help="count states that differ by a renaming of members as one"
    )
    how.add_argument(
        "--no-ways",
        action="store_true",
        help="remember no way to each state (8 bytes less); if there is a run to show, search again",
    )
    how.add_argument(
        "--max-states", type=amounts.count, metavar="N", help="give up beyond so many states (2000, 5M)"
    )
    how.add_argument(
        "--max-time", type=amounts.seconds, metavar="T", help="give up after so long (90, 90s, 5m, 2h)"
    )
    how.add_argument(
        "--max-memory", type=amounts.bytes_, metavar="M", help="give up beyond so much memory (800M, 4G)"
    )
    how.add_argument(
        "--checkpoint", type=Path, metavar="DIR", help="write down how far it is, to go on later"
    )
    how.add_argument(
        "--resume", type=Path, metavar="DIR", help="go on from a checkpoint, and keep it up to date"
    )
    how.add_argument(
        "--every", type=amounts.seconds, default=300, metavar="T", help="how often, besides at the end (5m)"
    )
    parser.set_defaults(refuse=parser.error)
    out = parser.add_argument_group("what to show")
    out.add_argument(
        "-v", "--trace", action="store_true", help="show expected violations and examples as stories too"
    )
    out.add_argument(
        "--explain",
        action="store_true",
        help="the stories of -v, and why each of them goes wrong: what is false, which steps it takes",
    )
    out.add_argument("-q", "--quiet", action="store_true", help="one line for each check")
    out.add_argument("--json", action="store_true", help="everything as JSON")
    out.add_argument(
        "--itf", type=Path, metavar="PATH", help="write the traces to this file (.itf.json) or folder"
    )
    out.add_argument(
        "--certificate",
        type=Path,
        metavar="FILE",
        help="with --engine prove: write the proof, for `modelcheck certify`",
    )
    out.add_argument(
        "--html", type=Path, metavar="FILE", help="write a page with the verdicts and every run, step by step"
    )
    out.add_argument(
        "--draw",
        type=_formats,
        default=(),
        metavar="FORMAT,…",
        help="write every run in these formats (svg, mermaid, …), as `show --as` does",
    )
    out.add_argument("--out", type=Path, metavar="FOLDER", help="into this folder (the current one)")


def run(args: argparse.Namespace, output: Output) -> int:
    """Run the checks in the order of the files; the exit code is the worst of theirs."""
    if args.explain and args.quiet:
        args.refuse("--explain tells more and --quiet tells less: give one of them")
    if args.out is not None and not args.draw:
        args.refuse("--out is where --draw FORMAT writes")
    outcomes: list[Outcome] = []
    refused = False
    runs = _random_runs(args)
    questions = _questions(args)
    if args.estimate:
        return _estimate(args, output, questions)
    if _keep(args) is not None and len(questions) > 1:
        names = ", ".join(check.name for _, check in questions)
        message = f"a checkpoint is of one check, and these are {len(questions)}: {names}"
        raise SpecError(
            [Diagnostic("R0910", questions[0][0].source, None, message, help="name one with --check")]
        )
    for model, check in questions:
        try:
            outcome = _ask(args, output, model, check, runs)
        except Unsupported as unsupported:
            output.tell(f"{model.name} · {check.name}: not answered: {unsupported}")
            refused = True
            continue
        found, (outcome, shrunk) = outcome, _smaller(args, output, outcome)
        outcomes.append(outcome)
        if not args.json:
            _tell(args, output, found, outcome, shrunk, first=len(outcomes) == 1)
        if outcome.findings.end is End.INTERRUPTED:
            break
    if args.json:
        output.json([as_json(each, strict=args.strict, explained=args.explain) for each in outcomes])
    elif len(outcomes) > 1:
        output.write(_summary(outcomes, strict=args.strict))
    _write_files(args, outcomes, output)
    exits = {standing(outcome, strict=args.strict).exit for outcome in outcomes}
    exits |= {Exit.UNKNOWN} if refused else set()
    return next((code for code in WORST_FIRST if code in exits), Exit.EXPECTED)


# ------------------------------------------------------------------- questions


def _questions(args: argparse.Namespace) -> list[tuple[Model, Check]]:
    """All that is to be checked; every file is read, and every mistake told, before the first search."""
    given = given_by(args)
    found = []
    for name in args.files:
        models = load(name)
        if not any(model.checks for model in models):
            model = pick_model(models, args.of)
            found.append((model, free_check(model, given)))
            continue
        for model, check in pick_checks(models, args.check):
            asked, question = put(models, model, check, args.of, given)
            question = only(asked, question, args.property)
            found.append((asked, _uncounted(question) if args.symmetry else question))
    return found


def _uncounted(check: Check) -> Check:
    """The check without the counts it expects, which are not of orbits."""
    return replace(check, expect=tuple(e for e in check.expect if isinstance(e, ExpectVerdict)))


def _estimate(args: argparse.Namespace, output: Output, questions: list[tuple[Model, Check]]) -> int:
    """How large each check is; nothing is decided, so the exit is that of the unknown."""
    if args.json or args.symmetry or args.itf or args.html or args.draw or _keep(args) is not None:
        args.refuse("--estimate goes with neither --json, --itf, --html, --draw, --symmetry nor a checkpoint")
    for model, check in questions:
        title = f"{model.name} · {check.name}"
        progress = ProgressLine(output.err, title, columns=shutil.get_terminal_size().columns)
        try:
            found = estimate(model, check, progress)
        finally:
            progress.clear()
        output.lines(estimate_card(title, found))
    return Exit.UNKNOWN


def _random_runs(args: argparse.Namespace) -> RandomRuns | None:
    """The random runs to take instead of a search, if any; without a seed one is drawn."""
    if args.simulate is None:
        if args.seed is not None or args.shrink or (args.depth is not None and args.engine != "bmc"):
            args.refuse("--seed, --depth and --shrink are of random runs: say how many with --simulate N")
        return None
    seed = randbelow(SEEDS) if args.seed is None else args.seed
    return RandomRuns(args.simulate, seed, DEPTH if args.depth is None else args.depth)


def _ask(
    args: argparse.Namespace, output: Output, model: Model, check: Check, runs: RandomRuns | None
) -> Outcome:
    """Run one check, with a line of progress where somebody watches."""
    columns = shutil.get_terminal_size().columns
    progress = ProgressLine(output.err, f"{model.name} · {check.name}", columns=columns)
    limits = Limits(args.max_states, args.max_time, args.max_memory)
    try:
        return run_check(
            model,
            check,
            engine=runs or _engine(args),
            limits=limits,
            reporter=progress,
            symmetry=args.symmetry,
            threads=args.threads,
            keep=_keep(args),
            ways=not args.no_ways,
        )
    except CannotResume as reason:
        raise SpecError([Diagnostic("R0910", model.source, None, str(reason))]) from None
    except Unmet as unmet:
        raise _broken(model, check, unmet) from None
    except ModelError as error:
        message = f"the model cannot start: {error.message}"
        raise SpecError([Diagnostic(error.code, model.source, error.span, message)]) from None
    finally:
        progress.clear()


def _engine(args: argparse.Namespace) -> Engine | None:
    """The engine that is asked for, if any, with its options."""
    if args.certificate is not None and args.engine != "prove":
        args.refuse("--certificate is of a proof: give --engine prove")
    if args.fewest_faults and args.engine != "bmc":
        args.refuse("--fewest-faults is an order for --engine bmc; the others always go by it")
    if args.seconds is not None and args.engine not in {"bmc", "prove"}:
        args.refuse("--seconds is for each question to a solver: give --engine bmc or prove")
    options = {"depth": args.depth, "fewest_faults": args.fewest_faults or None, "seconds": args.seconds}
    given = {name: value for name, value in options.items() if value is not None}
    return engine(args.engine, **given) if args.engine else None


def _smaller(args: argparse.Namespace, output: Output, outcome: Outcome) -> tuple[Outcome, list[Shrunk]]:
    """The outcome with its runs made minimal, if that is asked for."""
    if not args.shrink:
        return outcome, []
    columns = shutil.get_terminal_size().columns
    progress = ProgressLine(output.err, f"{outcome.model.name} · shrinking", columns=columns)
    try:
        return smaller(outcome, lambda trace: shrink(trace, seconds=args.max_time, reporter=progress))
    finally:
        progress.clear()


def _keep(args: argparse.Namespace) -> Keep | None:
    """Where the search is to be written down, if at all."""
    folder = args.resume or args.checkpoint
    return None if folder is None else Keep(folder, args.every, resume=args.resume is not None)


def _broken(model: Model, check: Check, unmet: Unmet) -> SpecError:
    """Assumptions that do not hold, each where it stands in the model, and what it is about."""
    return SpecError(
        Diagnostic(
            "R0907",
            model.source,
            assume.span,
            f"{check.name}: the assumption `{assume.name}` does not hold with this scope and configuration",
            ", ".join(_settings(model, check, frozenset(_named(assume.test)))),
        )
        for assume in unmet.assumes
    )


def _settings(model: Model, check: Check, names: frozenset[str]) -> Iterator[str]:
    """The bounds and switches of those names as a check writes them; all, where none is named."""
    everything = [*scope_words(check.scope), *config_words(model, check)]
    named = [each for each in everything if each.partition(" = ")[0] in names]
    yield from named or everything


def _named(part: object) -> Iterator[str]:
    """The configs, sorts and nats that an expression speaks of."""
    if isinstance(part, Config | Sort | Nat):
        yield part.name
    elif isinstance(part, tuple):
        for each in part:
            yield from _named(each)
    elif is_dataclass(part):
        for field in fields(part):
            yield from _named(getattr(part, field.name))


# --------------------------------------------------------------------- answers


def _tell(
    args: argparse.Namespace,
    output: Output,
    found: Outcome,
    outcome: Outcome,
    shrunk: list[Shrunk],
    *,
    first: bool,
) -> None:
    """The card of what was found, and the stories, of what it was made into."""
    if args.quiet:
        output.lines([brief(found, strict=args.strict)])
        _tell_again(args, output, found)
        return
    if not first:
        output.write("\n")
    remarks = [UNFORETOLD] if _is_changed(found) else []
    output.lines(card(found, width=output.width, strict=args.strict, remarks=remarks))
    if args.trace or args.explain:
        output.lines(matrix(found, output.width))
    output.lines(obstacles(found, output.width))
    _tell_again(args, output, found)
    for trace in _shown(outcome, everything=args.trace or args.explain):
        output.write("\n")
        for each in shrunk:
            if each.trace is trace:
                output.lines(told(each, output.width))
                output.write("\n")
        output.lines(story(trace, width=output.width, bounds_told=not shrunk))
        output.lines(why(trace, output.width, in_full=args.explain))


def _tell_again(args: argparse.Namespace, output: Output, outcome: Outcome) -> None:
    """The command that takes the very same random runs again, in one piece."""
    sample = outcome.findings.sample
    if sample is not None and sample.runs:
        output.lines([line("    ", Piece(f"{'again':<11}", Role.DIM), _again(args, outcome))])


def _again(args: argparse.Namespace, outcome: Outcome) -> str:
    """The command that puts this one question again, and takes the very same random runs."""
    words = ["modelcheck", "check", outcome.model.source.name]
    sample = outcome.findings.sample
    for option, values in (
        ("--check", [outcome.check.name] if outcome.check.span.end else []),  # of the file, or made up
        ("--of", [args.of]),
        ("--property", args.property),
        ("--scope", args.scope),
        ("--config", args.config),
        ("--faults", [args.faults]),
        ("--simulate", [] if sample is None else [sample.runs]),
        ("--seed", [] if sample is None else [sample.seed]),
        ("--depth", [] if sample is None else [sample.depth]),
    ):
        words += [part for value in values if value is not None for part in (option, str(value))]
    words += [f"--{name}" for name in ("symmetry", "shrink") if getattr(args, name)]
    return shlex.join(words)


def _is_changed(outcome: Outcome) -> bool:
    """Whether the command line made another question of a check that says what to expect."""
    written = next((check for check in outcome.model.checks if check.name == outcome.check.name), None)
    return written is not None and written.expect != outcome.check.expect


def _shown(outcome: Outcome, *, everything: bool) -> Iterator[Trace]:
    """The traces to tell: of what is wrong, or of all that has one."""
    if outcome.findings.error is not None:
        yield outcome.findings.error
    wrong = surprises(outcome)
    for result in outcome.findings.results:
        match result.verdict:
            case Violated(_, trace) if trace is not None and (everything or result in wrong):
                yield trace
            case Holds(_, _, example) if example is not None and everything:
                yield example
            case _:
                pass


def _summary(outcomes: list[Outcome], *, strict: bool) -> str:
    """How many checks came to what."""
    codes = [standing(outcome, strict=strict).exit for outcome in outcomes]
    words = {Exit.EXPECTED: "as expected", Exit.VIOLATED: "not as expected", Exit.UNKNOWN: "unknown"}
    parts = [f"{codes.count(code)} {told}" for code, told in words.items() if code in codes]
    return f"\n{count(len(outcomes), 'check')}: {', '.join(parts)}\n"


def _write_files(args: argparse.Namespace, outcomes: list[Outcome], output: Output) -> None:
    """The files that are asked for besides."""
    if args.itf is not None:
        _save(args.itf, outcomes, output)
    if args.certificate is not None:
        _save_proof(args, outcomes, output)
    if args.html is not None:
        _save_page(args, outcomes, output)
    if args.draw:
        _draw(args, outcomes, output)


def _save_proof(args: argparse.Namespace, outcomes: list[Outcome], output: Output) -> None:
    """Write the proof down, when all that was asked about is proved."""
    if len(outcomes) != 1 or args.property or args.scope or args.config or args.faults or args.of:
        args.refuse("a certificate is of one check as it stands in the file: name it with --check alone")
    (outcome,) = outcomes
    model, check, proof = outcome.model, outcome.check, outcome.findings.proof
    if proof is None or not all(isinstance(each.verdict, Holds) for each in outcome.findings.results):
        output.tell("modelcheck: not everything is proved, so there is no certificate")
        return
    from modelcheck.symbolic.unbounded.certificate import written  # noqa: PLC0415 - loaded only for proofs
    from modelcheck.symbolic.unbounded.engine import asked_of  # noqa: PLC0415 - loaded only for proofs

    asked = asked_of(Task(model, check.scope, check.budget, ()))
    save_text(args.certificate, written(model, check.name, asked, proof))
    output.tell(f"modelcheck: wrote {args.certificate}")


def _save(path: Path, outcomes: list[Outcome], output: Output) -> None:
    """Write the traces: one to the very file, several beside it with their check and property in the name."""
    traces = [trace for outcome in outcomes for trace in _shown(outcome, everything=True)]
    if not traces:
        output.tell("modelcheck: there is no trace to write")
    for trace in traces:
        target = path
        if path.is_dir() or len(traces) > 1:
            name = f"{trace.model.name}.{trace.check or 'run'}.{trace.property or 'error'}.itf.json"
            stem = path.name.removesuffix(".json").removesuffix(".itf")
            target = path / name if path.is_dir() else path.with_name(f"{stem}.{name}")
        save_text(target, write(trace))
        output.tell(f"modelcheck: wrote {target}")


def _save_page(args: argparse.Namespace, outcomes: list[Outcome], output: Output) -> None:
    """Write a page about all the checks."""
    from modelcheck.html_report import outcomes_page  # noqa: PLC0415 - jinja2 is loaded only for pages

    commands = [_again(args, outcome) for outcome in outcomes]
    save_text(args.html, outcomes_page(outcomes, commands, strict=args.strict))
    output.tell(f"modelcheck: wrote {args.html}")


def _draw(args: argparse.Namespace, outcomes: list[Outcome], output: Output) -> None:
    """Write every run in each of the formats."""
    from modelcheck.commands.drawn import draw  # noqa: PLC0415 - what draws is loaded only to draw

    traces = (trace for outcome in outcomes for trace in _shown(outcome, everything=True))
    draw(traces, args.draw, args.out or Path(), output, is_explained=args.explain)


def _formats(text: str) -> tuple[str, ...]:
    from modelcheck.commands.drawn import formats  # noqa: PLC0415 - what draws is loaded only to draw

    try:
        return formats(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
