"""The answer as people read it: the run as a storyboard with its evidence, or the first thing unexplained."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from counterexamples.lines import Line, Piece, Role, count, line, wrapped
from modelcheck.kafka.files.checkpoints import TopicPartition
from modelcheck.kafka.incident.at_rest.losses import lost_already, to_come, untraced_loss, untraced_words
from modelcheck.kafka.incident.at_rest.start_order import Judged
from modelcheck.kafka.incident.at_rest.wording import about_unsettled
from modelcheck.kafka.incident.explain_log.configuration import Setting
from modelcheck.kafka.incident.explain_log.explanation import Loss, Story
from modelcheck.kafka.incident.explain_log.logs import Written
from modelcheck.kafka.incident.explain_log.metadata_timeline import Beginning
from modelcheck.kafka.incident.explain_log.observations import Coverage, Interval, Observed
from modelcheck.kafka.incident.explain_log.preventing_settings import RunRefusal
from modelcheck.kafka.incident.explain_log.run_search import ExplanationResult
from modelcheck.kafka.incident.explain_log.stuck import Stuck
from modelcheck.kafka.incident.explain_log.unexplained import Unexplained
from modelcheck.kafka.report.run_text import sentences
from spec.frozen import frozen
from spec.model.ir import Kind

MARKS = {
    Kind.ACTION: Piece("  "),
    Kind.FAULT: Piece("⚡", Role.FAULT),
    Kind.REPAIR: Piece("✚ ", Role.REPAIR),
}
WORDS = {
    "acknowledged_survive": "acknowledged records are not in the log of the leader",
    "committed_on_leader": "committed records are not in the log of the leader",
    "acknowledged_kept": "acknowledged records are in no broker's log",
    "committed_kept": "committed records are in no broker's log",
}


@frozen
class PartitionAnswer:
    """The answer for a partition: `story` of a run that explains it, or what is unexplained.

    `likelier` has kills in place of clean stops that the files speak against.

    `judged` is what an election can do to the copies that are here, None where no metadata log is; `faults`
    were looked for at most; `stuck` is where a limit ended the search without an answer, and
    `begins` with what the part begins that is explained, if not all is.
    """

    place: TopicPartition
    judged: Judged | None
    observed: Observed
    setting: Setting
    result: ExplanationResult
    faults: int
    story: Story | None
    likelier: Story | None
    unexplained: Unexplained | None
    refusals: tuple[RunRefusal, ...]
    coverage: Coverage
    written: Written
    notes: tuple[str, ...]
    stuck: Stuck | None = None
    begins: Beginning | None = None


def lines(answer: PartitionAnswer, width: int) -> Iterator[Line]:
    """The report on a partition."""
    if answer.story is not None:
        yield from _explained(answer, answer.story, width)
    else:
        yield from _unexplained(answer, width)
    yield ()
    for text in (*coverage_words(answer), *answer.notes, *answer.setting.assumed):
        yield from wrapped((Piece("• ", Role.DIM),), text, width)


def headline(answer: PartitionAnswer) -> str:
    """The answer in one sentence."""
    story, what = answer.story, str(answer.place)
    if answer.begins is not None:
        what = f"{what} from leader epoch {answer.begins.epoch} on"
    if story is None:
        if answer.result.complete:
            most = count(answer.faults, "fault")
            return f"{what}: no run of the model with up to {most} explains these files"
        return f"{what}: not known ({answer.result.end.value})"
    counts = story.trace.fault_counts()
    kinds = ", ".join(name if n == 1 else f"{n} × {name}" for name, n in counts.items())
    faults = f"{count(story.trace.faults, 'fault')}{f' ({kinds})' if kinds else ''}"
    explained = f"{what}: explained by a run with {faults} in {count(len(story.trace.steps), 'step')}"
    if answer.result.least < story.trace.faults:
        least = count(answer.result.least, "fault")
        return f"{explained}; whether one with fewer explains it is not known: each has {least} or more"
    return f"{explained}; no run of the model with fewer faults explains it"


def cheapest(answer: PartitionAnswer) -> Iterator[str]:
    """What the files allow besides the run with the fewest faults, in sentences."""
    if answer.story is None or not answer.story.kills.allowed:
        return
    found = answer.story.kills
    is_cheapest = answer.result.least >= answer.story.trace.faults
    what = "That is the cheapest story, not the only one" if is_cheapest else "That is not the only story"
    yield f"{what}: the files allow a kill in place of the clean stop in {_steps(found.allowed)}."
    if answer.likelier is not None:
        many = len(found.likely) > 1
        lost_more = [each for each in answer.likelier.losses if each not in answer.story.losses]
        breaks = "; ".join(
            f"then {each.property} is false after step {each.step}: {WORDS[each.property]}"
            for each in lost_more
        )
        yield (
            f"In {_steps(found.likely)} a kill is likelier: the broker{'s' if many else ''} led, and the"
            f" metadata log has no shutdown of {'them' if many else 'it'}. The run with"
            f" {'these kills' if many else 'this kill'} has {count(answer.likelier.trace.faults, 'fault')}"
            f"{f'; {breaks}' if breaks else ', and loses no more'}."
        )


def _steps(numbers: Sequence[int]) -> str:
    """Steps in words, as they are numbered in the report."""
    *most, last = [str(number + 1) for number in numbers]
    return f"steps {', '.join(most)} and {last}" if most else f"step {last}"


def lost(story: Story, judged: Judged | None) -> Iterator[str]:
    """What is lost already: the records that no broker has, and a sentence for each violated property."""
    gone = story.gone
    if gone:
        spread = [story.records[record] for record in gone]
        why = f"acknowledged or committed in this run, and in no broker's log in the end, {offsets(spread)}"
        yield lost_already(sum(map(len, spread)), "", why)
    elif not story.losses:
        if judged is not None and judged.untraced:
            yield "Of what the files show this run loses nothing that was acknowledged or committed."
        else:
            acks = " with acks=all" if story.trace.scope.config["acks"] == "all" else ""
            yield f"By this run nothing is lost that was acknowledged{acks} or committed."
    if judged is not None and (judged.lost_end or judged.deposed or not story.losses):
        yield from untraced_loss([judged])
        if judged.deposed is not None:
            yield untraced_words(judged.deposed)
    for loss in story.losses:
        which = spans([story.records[record] for record in loss.records])
        said = f"{loss.property} is false after step {loss.step}: {WORDS[loss.property]}: {which}"
        has = "have" if len(loss.holders) > 1 else "has"
        holders = f"only {' and '.join(loss.holders)} still {has}" if loss.holders else "no broker has"
        yield f"{said}. In the end {holders} any of them."


def endangered(story: Story, judged: Judged | None) -> Iterator[str]:
    """What can still be lost, in sentences; where the run knows, which acknowledged records these are."""
    if story.endangered and story.holders:
        which = spans([story.records[record] for record in story.endangered])
        yield (
            "But no broker that can be elected automatically has these acknowledged or committed"
            f" records: {which}. `modelcheck kafka inspect` shows which broker to start first."
        )
    if judged is not None:
        yield from to_come([judged])


def spans(intervals: Sequence[Interval]) -> str:
    """Offset intervals in words, with the number of records."""
    whole = sum(len(each) for each in intervals)
    return f"{offsets(intervals)} ({count(whole, 'record')})"


def offsets(intervals: Sequence[Interval]) -> str:
    """Offset intervals in words."""
    return ", ".join(map(str, intervals))


def coverage_words(answer: PartitionAnswer) -> Iterator[str]:
    """How much of the files the answer is based on, and its limits, in sentences."""
    found = answer.coverage
    damaged = f", {found.damaged:,} damaged" if found.damaged else ""
    yield (
        f"Of {count(found.total, 'metadata record')} {found.matched:,} were matched, {found.ignored:,} are of"
        f" something else, {found.unknown:,} of an unknown kind{damaged}; {len(answer.observed.ends)} of"
        f" {count(len(answer.observed.brokers), 'broker')} are here."
    )
    written = answer.written
    if written.files:
        of, first = written.lines, written.first_unknown
        yield (
            f"Of {count(of.total, 'line')} in {count(written.files, 'log file')} {of.matched:,} were matched,"
            f" {of.ignored:,} are of something else, {of.unknown:,} name a partition that was asked about and"
            f" are of an unknown kind{f' (the first is {first})' if first else ''}."
        )
    if answer.judged is not None:
        yield from about_unsettled(answer.judged.partition)
    nats = ", ".join(f"{name} = {most}" for name, most in answer.setting.scope.nats.items())
    yield (
        f"Looked at: {answer.result.seen:,} points of the model and the files, within {nats}, as Kafka"
        f" {answer.setting.release.partition('-')[0]} does it. Another run may explain the"
        " files too."
    )


def _explained(answer: PartitionAnswer, story: Story, width: int) -> Iterator[Line]:
    """The report on an explained run."""
    yield from wrapped((), f"{headline(answer)}.", width, Role.STRONG)
    for text in cheapest(answer):
        yield from wrapped((), text, width)
    for text in lost(story, answer.judged):
        yield from wrapped((), text, width, Role.BAD if story.losses else Role.GOOD)
    for text in endangered(story, answer.judged):
        yield from wrapped((), text, width, Role.BAD if story.endangered else Role.PLAIN)
    yield ()
    for record, interval in story.records.items():
        yield line(f"  record {record} is {interval}")
    for number, sentence in enumerate(sentences(story.trace), 1):
        label = line(Piece(f"{number:>4} ", Role.DIM), MARKS[sentence.kind], " ")
        role = Role.FAULT if sentence.kind is Kind.FAULT else Role.PLAIN
        yield from wrapped(label, sentence.says, width, role)
        for each in story.evidence[number - 1]:
            yield from wrapped((Piece("          ‣ ", Role.DIM),), str(each), width, Role.DIM)
        for loss in story.losses:
            if loss.step == number:
                yield from wrapped((Piece("        ✗ ", Role.BAD),), _breaks(loss), width, Role.BAD)
    if answer.refusals:
        yield ()
        yield line(Piece("What would have refused this run, by one change each:", Role.STRONG))
    for refusal in answer.refusals:
        yield from wrapped((Piece("  • ", Role.DIM),), _refusal(refusal), width)


def _breaks(loss: Loss) -> str:
    """A loss in words."""
    return f"{loss.property}: {WORDS[loss.property]}"


def _refusal(refusal: RunRefusal) -> str:
    """A setting that would have prevented the run, in words."""
    if refusal.step is None:
        return f"{refusal.what}: the same steps break nothing"
    by = f" by {refusal.guard}" if refusal.guard else ", which goes otherwise"
    return f"{refusal.what}: step {refusal.step} is refused{by}"


def _unexplained(answer: PartitionAnswer, width: int) -> Iterator[Line]:
    """The report on what no run explains."""
    yield from wrapped((), f"{headline(answer)}.", width, Role.UNSURE)
    if answer.stuck is not None:
        yield from _stuck(answer.stuck, width)
    found = answer.unexplained
    if found is None:
        return
    yield from wrapped((), "The first observation that none explains, with those before it:", width)
    yield from wrapped((Piece("  ‣ ", Role.DIM),), str(found.evidence), width, Role.BAD)
    for text in found.nearest:
        yield from wrapped((Piece("  • ", Role.DIM),), f"{text}.", width)


def _stuck(stuck: Stuck, width: int) -> Iterator[Line]:
    """Where the search got stuck, and what would narrow it."""
    got = f"The search explained {stuck.explained:,} of {stuck.of:,} observations of the metadata log"
    if stuck.evidence is None:
        yield from wrapped((), f"{got}.", width)
    else:
        yield from wrapped((), f"{got}, and no run yet that explains this one too:", width)
        yield from wrapped((Piece("  ‣ ", Role.DIM),), str(stuck.evidence), width, Role.UNSURE)
    yield line(Piece("What to try:", Role.STRONG))
    for text in stuck.narrower:
        yield from wrapped((Piece("  • ", Role.DIM),), f"{text}.", width)
