"""How Sphinx builds the documentation: ``make docs``."""

from importlib.metadata import version as installed_version
from typing import Any

project = "driftline"
author = "The driftline developers"
project_copyright = author
release = version = installed_version("driftline")

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
]
exclude_patterns = ["_build", "reproduction/table*.md", "reproduction/figure*.md"]  # the index has all of them

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
copybutton_exclude = ".linenos, .gp, .go"  # what is copied is what one types, not prompts and answers

default_role = "autolink"  # names in single backticks lead to what they name, where that is documented
autodoc_default_options = {"members": True, "member-order": "bysource"}
autodoc_typehints = "none"  # numpydoc's sections say them, in words
autosummary_generate = False
numpydoc_show_class_members = False  # autodoc shows them
numpydoc_class_members_toctree = False
numpydoc_xref_param_type = False

html_theme = "pydata_sphinx_theme"
html_title = "driftline"
html_theme_options = {
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "show_toc_level": 2,
    "header_links_before_dropdown": 6,
    "footer_start": ["copyright"],
    "footer_end": [],
}
PAGES_WITHOUT_SUBPAGES = "index", "tutorial", "notebooks", "cli", "glossary", "contributing", "releases", "changelog"
html_sidebars = {page: [] for page in PAGES_WITHOUT_SUBPAGES}
html_show_sourcelink = False


def leave_out_inherited(app: Any, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    """Leave out what scikit-learn adds to its estimators, which it documents itself."""
    return True if (getattr(obj, "__module__", None) or "").startswith("sklearn.") else None


def lead_to_pages(app: Any, name: str, content: list[str]) -> None:
    """Let links to the results of benchmarks, which are outside of this folder, lead to the pages that include them."""
    content[0] = content[0].replace("(../benchmarks/results/", "(benchmarks/")


def setup(app: Any) -> None:
    """Connect what Sphinx cannot be told by a setting."""
    app.connect("source-read", lead_to_pages)
    app.connect("autodoc-skip-member", leave_out_inherited)
