"""The .properties reader against java's rules, stated as a table and as a round trip."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelcheck.kafka.settings.readers.formats.properties import as_line, read_properties
from spec.source import Source

# What java.util.Properties.load makes of each text, by the rules of its documentation.
JAVA = [
    ("", {}),
    ("a=b", {"a": "b"}),
    ("a:b", {"a": "b"}),
    ("a b", {"a": "b"}),
    ("a\tb c", {"a": "b c"}),
    ("a = b", {"a": "b"}),
    ("  a  :  b  ", {"a": "b  "}),
    ("a==b", {"a": "=b"}),
    ("a = = b", {"a": "= b"}),
    ("a : = b", {"a": "= b"}),
    ("a", {"a": ""}),
    ("a=", {"a": ""}),
    ("=b", {"": "b"}),
    ("# a=b\n! c=d\n   # e=f\ng=h", {"g": "h"}),
    ("a=b # not a comment", {"a": "b # not a comment"}),
    ("# continued? \\\na=b", {"a": "b"}),
    ("a=b\\\n   c", {"a": "bc"}),
    ("a=b\\\\\nc=d", {"a": "b\\", "c": "d"}),
    ("a=b\\\\\\\n c", {"a": "b\\c"}),
    ("a=b,\\\r\n\t c,\\\r\n\t d\r\ne=f", {"a": "b,c,d", "e": "f"}),
    ("a=b\\\n# no comment here", {"a": "b# no comment here"}),
    ("a\\\nb=c", {"ab": "c"}),
    ("a=b\\\n\nc=d", {"a": "b", "c": "d"}),
    ("a=b\\", {"a": "b"}),
    ("\\\n\na=b", {"a": "b"}),
    ("a=1\ra=2\r\n\r\nc=3", {"a": "2", "c": "3"}),
    ("a\\ b=c", {"a b": "c"}),
    ("a\\:b\\=c=d\\:e", {"a:b=c": "d:e"}),
    ("a=\\t\\n\\r\\f\\q\\\\", {"a": "\t\n\r\fq\\"}),
    ("a=\\u00e9\\u0041", {"a": "éA"}),
    ("a=\\uD83D\\uDE00", {"a": "😀"}),
    ("a=\\ b", {"a": " b"}),
    ("\fa=b", {"a": "b"}),
    ("a=x=y:z", {"a": "x=y:z"}),
]


@pytest.mark.parametrize(("text", "expected"), JAVA)
def test_a_text_means_what_java_makes_of_it(text: str, expected: dict[str, str]) -> None:
    assert read_properties(Source("t", text)).last() == expected


@given(st.lists(st.tuples(st.text(), st.text())))
def test_what_was_written_is_read_back(pairs: list[tuple[str, str]]) -> None:
    text = "\n".join(as_line(key, value) for key, value in pairs)

    read = read_properties(Source("t", text))

    assert [(entry.key, entry.value) for entry in read.entries] == pairs
    assert read.problems == ()


@given(st.text(alphabet="ab=: \t\f\\#!\n\ru0", max_size=60))
def test_any_text_is_read_with_places_in_it(text: str) -> None:
    for entry in read_properties(Source("t", text)).entries:
        for span in (entry.key_span, entry.value_span):
            assert 0 <= span.start <= span.end <= len(text)


def test_each_entry_keeps_both_places() -> None:
    source = Source("t", "# c\n  min.insync.replicas =  2\nhosts=a,\\\n   b\n")

    first, second = read_properties(source).entries

    assert source.at(first.key_span) == "min.insync.replicas"
    assert source.at(first.value_span) == "2"
    assert source.position(first.value_span.start) == (2, 26)
    assert source.at(second.value_span) == "a,\\\n   b"


def test_a_key_given_twice_is_kept_twice() -> None:
    read = read_properties(Source("t", "a=1\nb=2\na=3"))

    assert [(entry.key, entry.value) for entry in read.entries] == [("a", "1"), ("b", "2"), ("a", "3")]
    assert read.last() == {"a": "3", "b": "2"}


@pytest.mark.parametrize("escape", ["\\u", "\\u12", "\\u12g4", "\\uuuuu"])
def test_a_malformed_escape_is_a_problem_in_its_place(escape: str) -> None:
    source = Source("t", f"a=C:{escape}sers")

    (problem,) = read_properties(source).problems

    assert problem.code == "R0709"
    assert problem.span is not None
    assert problem.span.start == 4
