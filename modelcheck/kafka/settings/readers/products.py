"""What speaks Kafka's protocol and is not Kafka: none of what is known of Kafka holds of it."""

from __future__ import annotations

import re

from spec.diagnostics import Diagnostic
from spec.source import Source, Span

_PRODUCTS = {
    "Redpanda": re.compile(
        r"^(?![ \t]*#)[^\n]*?\b(?P<name>(?:redpandadata|vectorized)/redpanda(?:-nightly)?(?![\w-])"
        r"|cluster\.redpanda\.com|redpanda\.vectorized\.io|redpanda_(?:cluster|topic)\b)"
        r"|^(?P<key>redpanda):[ \t]*\r?\n"
        r"(?=(?:[ \t]+[^\n]*\n)*?[ \t]+(?:kafka_api|seed_servers|rpc_server)\b)",
        re.MULTILINE,
    ),
}


def another_product(source: Source) -> Diagnostic | None:
    """The error (R0735) if a text configures another product than Kafka, else None."""
    for product, sign in _PRODUCTS.items():
        if product.lower() not in source.text and "vectorized" not in source.text:
            continue
        found = sign.search(source.text)
        if found is not None:
            group = "name" if found["name"] else "key"
            return another(source, Span(*found.span(group)), "this configures", product)
    return None


def another(source: Source, span: Span | None, what: str, product: str) -> Diagnostic:
    """The error (R0735) about another product; `what` begins its sentence."""
    message = f"{what} {product}, which replicates by a protocol of its own"
    advice = f"a review models Apache Kafka; its answers would not be true of {product}"
    return Diagnostic("R0735", source, span, message, help=advice)
