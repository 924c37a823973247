"""How Sphinx makes pages of the sources that `docs/site/pages.py` writes."""

from __future__ import annotations

from typing import Any

from docs.site.colours import RsmLexer
from modelcheck.contract.version import VERSION

project = "modelcheck"
version = VERSION
html_title = project
extensions = ["myst_parser"]
myst_enable_extensions = ["colon_fence"]  # parts of a page with a class, for cards
myst_heading_anchors = 6  # every heading can be led to, by the name that it has elsewhere
suppress_warnings = [
    "myst.header",  # a page may begin with small headings
    "misc.highlighting_failure",  # placeholders such as `…` have no colours
]
highlight_language = "text"
html_theme_path = ["themes"]
html_theme = "pages"
html_theme_options = {
    "description": "Formal models of replicated logs, and a model checker for them",
    "page_width": "1240px",
    "sidebar_width": "250px",
    "fixed_sidebar": False,
    "show_powered_by": False,
    "show_relbars": False,
    "font_family": "system-ui, sans-serif",
    "head_font_family": "system-ui, sans-serif",
}
html_sidebars = {
    "**": ["about.html", "searchfield.html", "navigation.html"],
    "index": ["searchfield.html"],  # the landing page has doors of its own
}
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_search_summary = False  # it would fetch every page that was found, which a folder does not allow
html_show_copyright = False
html_use_index = False


def setup(app: Any) -> None:  # noqa: ANN401 - Sphinx asks for it, and types are checked without it
    """Give the language its colours."""
    app.add_lexer("rsm", RsmLexer)
