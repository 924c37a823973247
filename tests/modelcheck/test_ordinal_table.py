"""The page of nats without a bound has what the protocols find."""

from __future__ import annotations

import pytest

from tests.protocol_checks import NAMES
from tools.ordinal_table import PAGE, rows


@pytest.mark.parametrize("name", NAMES)
def test_the_page_has_what_each_protocol_finds_without_a_bound(name: str) -> None:
    text = PAGE.read_text(encoding="utf-8")

    assert [str(row) for row in rows(name)] == [
        line for line in text.splitlines() if line.startswith(f"| `{name}` |")
    ]
