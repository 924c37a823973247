"""How a picture is to look, where it is asked for otherwise."""

from __future__ import annotations

from spec.frozen import frozen


@frozen
class PictureOptions:
    """What is drawn otherwise: the title in place of our own, the frames in a line, the caption or none."""

    title: str | None = None
    columns: int | None = None
    is_captioned: bool = True

    @property
    def given(self) -> tuple[str, ...]:
        """The options that differ from their defaults, as they are typed."""
        asked = {
            "--title": self.title is not None,
            "--columns": self.columns is not None,
            "--no-caption": not self.is_captioned,
        }
        return tuple(option for option, is_given in asked.items() if is_given)
