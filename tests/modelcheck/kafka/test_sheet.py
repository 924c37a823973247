"""The pages of reviews in a real browser: they print as sheets for a file, and all topics as a list."""

from __future__ import annotations

import io
import re
from pathlib import Path
from unicodedata import normalize

import pypdf
import pytest
from playwright.sync_api import Browser, Page

from modelcheck.cli import main
from modelcheck.contract.exits import Exit
from tests.pages import assert_sound

A4 = (595, 842)  # points
LONG = f"{'long' * 30}.{'er' * 50}"
BROKER = "process.roles=broker\ndefault.replication.factor=3\nmin.insync.replicas=2\n"
UNSAID = "default.replication.factor=2\nmin.insync.replicas=1\nunclean.leader.election.enable=true\n"
PRODUCER = {"p.properties": "bootstrap.servers=b:1\nacks=1\n"}
ILL = """\
Topic: orders\tPartitionCount: 3\tReplicationFactor: 3\tConfigs: min.insync.replicas=2
\tTopic: orders\tPartition: 0\tLeader: 1\tReplicas: 1,2,3\tIsr: 1
\tTopic: orders\tPartition: 1\tLeader: none\tReplicas: 2,3,1\tIsr: 2
\tTopic: orders\tPartition: 2\tLeader: 2\tReplicas: 2,3,1\tIsr: 2,3,1
"""
NAMED = (
    f"Topic: {LONG}\tPartitionCount: 1\tReplicationFactor: 2\tConfigs: min.insync.replicas=2\n"
    f"\tTopic: {LONG}\tPartition: 0\tLeader: 1001\tReplicas: 1001,1002\tIsr: 1001,1002\n"
)
POLICY = """\
[[require]]
topics = "*"
guarantees = ["durable:1", "writable:1:crash"]
owner = "core team"
why = "one fault loses nothing"

[[except]]
topics = "t3"
guarantees = "writable:1:crash"
until = 2999-12-31
owner = "web team"
why = "it is filled anew"
"""
TEN = "".join(
    f"Topic: t{n}\tPartitionCount: 1\tReplicationFactor: {1 + n % 2}\tConfigs: min.insync.replicas=1\n"
    f"\tTopic: t{n}\tPartition: 0\tLeader: 1\tReplicas: {'1,2' if n % 2 else '1'}\tIsr: 1\n"
    for n in range(10)
)
ONE = ["--kafka", "3.7", "--faults", "1"]
REVIEWS = {  # the files of a review, its options, and its exit code
    "plain": (PRODUCER | {"s.properties": BROKER}, ONE, Exit.EXPECTED),
    "cases": ({"s.properties": UNSAID}, ["--faults", "2"], Exit.EXPECTED),
    "ill": (PRODUCER | {"topics.txt": ILL}, ONE, Exit.VIOLATED),
    "names": (PRODUCER | {f"{'x' * 100}.txt": NAMED}, [*ONE, "--policy", "policy.toml"], Exit.VIOLATED),
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("policy.toml").write_text(POLICY)


def review(name: str) -> str:
    files, options, code = REVIEWS[name]
    for file, text in files.items():
        Path(file).write_text(text)
    assert main(["kafka", "review", *files, "--html", "page.html", *options]) == code
    return Path("page.html").read_text()


def opened(browser: Browser, *, dark: bool = False) -> Page:
    seen = browser.new_page(color_scheme="dark" if dark else "light")
    seen.goto(Path("page.html").resolve().as_uri())
    return seen


def sheets(seen: Page) -> list[str]:
    printed = pypdf.PdfReader(io.BytesIO(seen.pdf(prefer_css_page_size=True)))
    assert {(round(each.mediabox.width), round(each.mediabox.height)) for each in printed.pages} == {A4}
    return [" ".join(normalize("NFKC", each.extract_text()).split()) for each in printed.pages]


@pytest.mark.parametrize("name", REVIEWS)
def test_a_review_prints_on_two_sheets_and_the_rest_is_behind(browser: Browser, name: str) -> None:
    root = assert_sound(review(name))
    seen = opened(browser)
    found = sheets(seen)
    whole = " ".join(found)

    assert len(found) <= 2
    for part in (
        "verdict durable",
        "faults of each kind",
        "The shortest run",
        "after a change",
        "Used",
    ):
        assert part in whole, part
    assert "Again: modelcheck kafka review" in found[-1]
    for part in ("While brokers are down", "By default", "Step by step", "underlined", "How to read"):
        assert part not in whole, part
    assert "By default" in root.text
    assert "Step by step" in root.text


def test_a_cluster_that_is_ill_prints_its_gravest_state_first_and_names_the_others(browser: Browser) -> None:
    review("ill")
    whole = " ".join(sheets(opened(browser)))

    assert whole.index("Today, partition 1 of orders: no leader") < whole.index("When all replicas")
    assert "What to do first" in whole
    assert "Today, partition 0 of orders: leader 1" in whole.partition("Not well either")[2]
    assert whole.count("How many further faults of each kind") == 1


def test_several_cases_are_all_on_the_sheet(browser: Browser) -> None:
    review("cases")
    first = sheets(opened(browser))[0]

    assert re.search(r"It depends on the release.*Kafka 3\.3 to 3\.8 with KRaft.*The rest is of", first)


def test_what_was_opened_is_printed_behind_the_sheet(browser: Browser) -> None:
    review("plain")
    seen = opened(browser)
    seen.locator("#run-1 summary").click()
    found = sheets(seen)

    assert "Again" in " ".join(found[:2])
    assert any("Step 1 of" in each for each in found[2:])


def test_a_sheet_is_light_even_from_a_dark_screen(browser: Browser) -> None:
    review("plain")
    seen = opened(browser, dark=True)
    seen.emulate_media(media="print", color_scheme="dark")
    colours = seen.evaluate(
        "[...document.querySelectorAll('body, .card, .card td, .card .storyboard rect.paper')]"
        ".map((e) => getComputedStyle(e)).map((s) => [s.backgroundColor, s.fill, s.color].join(' '))"
    )

    assert seen.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not [each for each in colours if "rgb(13, 17, 23)" in each or "rgb(240, 243, 246)" in each]


def test_all_topics_print_as_a_list_and_the_sheet_of_the_worst(browser: Browser) -> None:
    Path("topics.txt").write_text(TEN)
    options = [*ONE, "--all-topics", "--policy", "policy.toml"]
    assert main(["kafka", "review", "topics.txt", *options, "--html", "page.html"]) == Exit.VIOLATED
    assert_sound(Path("page.html").read_text())
    seen = opened(browser)
    found = sheets(seen)

    assert 2 <= len(found) <= 3
    assert all(f"t{n} " in found[0] for n in range(10))
    assert "core team: one fault loses nothing): NOT met by" in found[0]
    assert "writable:1:crash until 2999-12-31 (policy.toml:7, web team: it is filled anew): t3" in found[0]
    assert "The shortest run" in " ".join(found[1:])
    assert "Guarantee" not in found[0]


def test_the_list_of_topics_filters_by_fault_state_and_policy(browser: Browser) -> None:
    Path("topics.txt").write_text(TEN)
    options = [*ONE, "--all-topics", "--policy", "policy.toml"]
    assert main(["kafka", "review", "topics.txt", *options, "--html", "page.html"]) == Exit.VIOLATED
    seen = opened(browser)

    def left(name: str, *options: str) -> list[str]:
        seen.locator(f".filters [name={name}]").select_option(label=list(options))
        found = seen.locator(".listing tbody th").all_text_contents()
        seen.get_by_role("button", name="Show all").click()
        return sorted(found)

    even, odd = ([f"t{n}" for n in range(start, 10, 2)] for start in (0, 1))
    assert left("today", "not well") == odd
    assert left("today", "in sync") == even
    assert left("policy", "exempted") == ["t3"]
    assert "t3" in left("policy", "NOT met")
    seen.get_by_label("Guarantee").select_option("writable:broken 1")
    assert set(even) <= set(seen.locator(".listing tbody th").all_text_contents())
    assert seen.evaluate("location.hash") == "#guarantee=writable%3Abroken+1"
