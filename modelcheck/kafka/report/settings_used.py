"""What a review's answer rests on: settings used, defaulted and assumed, and those outside the model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields

from counterexamples.lines import BETWEEN, Line, Piece, Role, count, line, packed, wrapped
from modelcheck.kafka.questions.review import Review
from modelcheck.kafka.report.also_text import not_asked
from modelcheck.kafka.report.cases_text import possible, release, reviewed
from modelcheck.kafka.settings.keys.catalogue import known
from modelcheck.kafka.settings.keys.key import NEVER, Reader
from modelcheck.kafka.settings.keys.versions import Version
from modelcheck.kafka.settings.provenance import Remark
from modelcheck.kafka.settings.resolution.possible import elr_is_open, in_words
from modelcheck.kafka.settings.resolution.precedence import Effective
from modelcheck.kafka.settings.resolution.settings import Settings
from modelcheck.kafka.settings.resolution.switches import Truncation
from spec.diagnostics import render

SHOWN = 8  # names in a list, without --verbose


def warnings(settings: Settings) -> Iterator[Line]:
    """The warnings about the files, as a compiler prints them."""
    for warning in settings.warnings:
        yield from (line(Piece(text, Role.UNSURE)) for text in render(warning, level="warning").splitlines())
    if settings.warnings:
        yield ()


def basis(review: Review, width: int, *, verbose: bool) -> Iterator[Line]:
    """The settings used: in short, or with `verbose` each with its reason."""
    yield from given(review, width)
    yield from ungiven(review, width, verbose=verbose)


def given(review: Review, width: int) -> Iterator[Line]:
    """The settings that are assumed, and those that files give."""
    yield from _assumed(review, width)
    yield from _used(review.settings.used)


def ungiven(review: Review, width: int, *, verbose: bool) -> Iterator[Line]:
    """The settings by default, those without effect, and the questions that were not asked."""
    settings = review.settings
    yield from _defaulted(settings, width)
    if verbose:
        yield from _reasons(settings, width)
    yield from _without_effect(settings, width, verbose=verbose)
    if review.faults:
        yield from not_asked(review.also, width, verbose=verbose)
    yield ()


def _assumed(review: Review, width: int) -> Iterator[Line]:
    """The assumed settings that affect the answer, and how to set them."""
    settings = review.settings
    factor, acks = settings.switches.replication_factor, settings.switches.acks
    assumed = []
    if settings.version.assumed:
        why = f"{settings.version.reason}{_of_other_releases(review)}: give --kafka VERSION"
        assumed.append((reviewed(review) if review.depends else release(review), why))
    if factor.assumed and settings.value("default.replication.factor").origin is None:
        how = "no file has the number: add the broker's server.properties, or kafka-topics --describe"
        assumed.append((count(factor.value, "replica"), how))
    if acks.assumed:
        how = f"the default of {settings.client.value}: give the producer's properties, or --client"
        assumed.append((f"acks={acks.value}", how))
    if settings.brokers.assumed:
        assumed.append(
            (count(settings.brokers.value, "broker"), f"{settings.brokers.reason}: give --brokers N")
        )
    if settings.switches.controller.assumed:
        kind = settings.switches.controller
        assumed.append((str(kind.value), f"{kind.reason}{_of_the_other(review)}"))
    if elr_is_open(possible(review), settings.version.value):
        elr = settings.switches.eligible_leader_replicas
        other = "without them it is" if elr.value else "with them it is"
        how = "not worse" if review.depends else "the same"
        assumed.append(("ELR" if elr.value else "no ELR", f"{elr.reason}; {other} {how}"))
    if assumed:
        yield line(Piece("Assumed", Role.STRONG))
        first = max(len(what) for what, _ in assumed)
        for what, why in assumed:
            yield from wrapped(line("  ", Piece(f"{what:<{first}}  ", Role.UNSURE)), why, width, Role.DIM)
        yield ()


def _of_other_releases(review: Review) -> str:
    """How the answers in the other releases that are possible compare, as the rest of a sentence."""
    every = possible(review)
    others = [each for each in every if each.version.value != review.settings.version.value]
    if not others:
        return ""
    if review.depends:
        return f"; of {release(review)} it is the worst"
    return f", and {in_words(others, every)} would be the same"


def _of_the_other(review: Review) -> str:
    """How the answers with the other controller compare, as the rest of a sentence."""
    kinds = {each.switches.controller.value for each in possible(review)}
    if len(kinds) == 1:
        return ""
    return "; with the other it is not worse" if review.depends else "; with the other it is the same"


def _used(found: Iterable[Effective]) -> Iterator[Line]:
    """The settings from files that are used, with their places."""
    rows = [(f"{one.key}={_plain(one)}", one.origin.place) for one in found if one.origin is not None]
    yield line(Piece("Used" if rows else "Used: no setting that is given decides the answer", Role.STRONG))
    first = max((len(text) for text, _ in rows), default=0)
    for text, place in rows:
        yield line(f"  {text:<{first}}  ", Piece(place, Role.DIM))
    yield ()


def _defaulted(settings: Settings, width: int) -> Iterator[Line]:
    """The defaults of the release, and its behaviour where it has no such key."""
    version = settings.version.value
    yield line(Piece(f"By default in Kafka {version}", Role.STRONG))
    given = [line(_by_default(one, version)) for one in settings.defaulted if one.value is not None]
    if given:
        yield from packed(line("  "), given, width, BETWEEN)
    for one in settings.defaulted:
        if one.value is None:
            yield from wrapped(line(f"  no {one.key}: "), one.absent, width)
    made = settings.switches
    cut = {
        Truncation.HIGH_WATERMARK: "its own high watermark",
        Truncation.KIP_101: "where its last epoch ends at the leader",
        Truncation.KIP_279: "where it agrees with the leader",
    }[made.truncation.value]
    own = [
        line(f"controller: {made.controller.value}"),
        line(f"a follower cuts its log to {cut}"),
        line(f"commits below min.insync.replicas: {'no' if made.strict_min_isr.value else 'yes'}"),
    ]
    yield from packed(line("  "), own, width, BETWEEN)
    yield ()


def _by_default(one: Effective, release: Version) -> str:
    """A value that no file gives, with Kafka's own default where a product or an upgrade has another."""
    key, text = known(one.key), f"{one.key}={_plain(one)}"
    kafkas = None if Reader.PRODUCER in key.readers else key.default(release)
    return text if kafkas in {None, str(one.value).lower()} else f"{text} (Kafka's own is {kafkas})"


def _reasons(settings: Settings, width: int) -> Iterator[Line]:
    """The cluster and each choice of the model, with the reasons."""
    choices = {f.name: getattr(settings.switches, f.name).as_json() for f in fields(settings.switches)}
    cluster = {
        "Kafka": settings.version.as_json(),
        "brokers": settings.brokers.as_json(),
        "controller": choices.pop("controller"),
    }
    for title, stated in (("The cluster", cluster), ("What decides the answer, and why", choices)):
        yield line(Piece(title, Role.STRONG))
        for name, found in stated.items():
            value = str(found["value"]).lower()
            label = line(f"  {name.replace('_', ' '):<26}", Piece(f"{value:<14}  ", Role.STRONG))
            yield from wrapped(label, str(found["reason"]), width, Role.DIM)
        yield ()


def _without_effect(settings: Settings, width: int, *, verbose: bool) -> Iterator[Line]:
    """The settings that do not affect the answer."""
    outside = [f"{remark.given.key}={remark.given.value.strip()}" for remark in settings.outside]
    yield from _list("Matter, but are outside the model", outside, settings.outside, width, verbose=verbose)
    unknown = [remark.given.key for remark in settings.unknown]
    yield from _list(
        "No keys of Kafka that are known here", unknown, settings.unknown, width, verbose=verbose
    )
    ignored = [remark.given.key for remark in settings.ignored]
    if verbose:
        yield from _list("Without influence", ignored, settings.ignored, width, verbose=True)
    for note in settings.notes:
        yield from wrapped((), f"Note: {note}", width, Role.DIM)
    if not verbose and (ignored or outside or unknown):
        others = f"{count(len(ignored), 'other setting')} without influence. " if ignored else ""
        yield from wrapped((), f"{others}-v shows why, for each.", width, Role.DIM)


def _list(
    title: str, names: list[str], remarks: Iterable[Remark], width: int, *, verbose: bool
) -> Iterator[Line]:
    """A list of settings with a heading."""
    if not names:
        return
    if verbose:
        yield line(Piece(title, Role.STRONG))
        for name, remark in zip(names, remarks, strict=True):
            yield from wrapped(line(f"  {_short(name)}  "), remark.why, max(width, 60), Role.DIM)
        yield ()
        return
    shown = list(dict.fromkeys(map(_short, names)))
    more = [line(Piece(f"and {len(shown) - SHOWN} more", Role.DIM))] if len(shown) > SHOWN else []
    items = [line(name) for name in shown[:SHOWN]] + more
    yield from packed(line(Piece(f"{title}: ", Role.STRONG)), items, width, BETWEEN)


def _short(text: str) -> str:
    """A text cut short."""
    return text if len(text) <= 48 else text[:47] + "…"


def _plain(found: Effective) -> str:
    """A value as configurations spell it."""
    if isinstance(found.value, bool):
        return str(found.value).lower()
    return "never" if str(found.value) == NEVER else _short(str(found.value))
