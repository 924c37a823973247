"""How a picture is to look, where it is asked for otherwise."""

from __future__ import annotations

from spec.frozen import frozen


@frozen
class PictureOptions:
    """Options of a picture: title, frames per line, caption, names of what is shown and of what is not."""

    title: str | None = None
    columns: int | None = None
    is_captioned: bool = True
    show: tuple[str, ...] = ()
    hide: tuple[str, ...] = ()

    @property
    def given(self) -> tuple[str, ...]:
        """The options that differ from their defaults, as command-line arguments."""
        asked = {
            "--title": self.title is not None,
            "--columns": self.columns is not None,
            "--no-caption": not self.is_captioned,
            "--show": bool(self.show),
            "--hide": bool(self.hide),
        }
        return tuple(option for option, is_given in asked.items() if is_given)
