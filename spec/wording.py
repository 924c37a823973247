"""Small words for messages: articles and lists."""

from __future__ import annotations

from collections.abc import Iterable


def an(thing: object) -> str:
    """The thing with its article: `a Replica`, `an Epoch`, `an int`, `a number 0..9`, `one of {a, b}`.

    >>> an("Epoch"), an("Replica"), an("0..9")
    ('an Epoch', 'a Replica', 'a number 0..9')
    """
    word = str(thing)
    if word[:1] in "-0123456789":
        return f"a number {word}"
    if word[:1] == "{":
        return f"one of {word}"
    return f"an {word}" if word[:1] in set("AEIOaeio") else f"a {word}"


def listed(names: Iterable[str]) -> str:
    """The names in quotes separated by commas; empty for none.

    >>> listed(["Epoch", "Replica"])
    '`Epoch`, `Replica`'
    """
    return ", ".join(f"`{name}`" for name in names)


def counted(number: int, thing: str) -> str:
    """A number of things: `no arguments`, `1 argument`, `2 arguments`.

    >>> counted(0, "argument"), counted(1, "argument"), counted(2, "argument")
    ('no arguments', '1 argument', '2 arguments')
    """
    return f"{number or 'no'} {thing}{'' if number == 1 else 's'}"
