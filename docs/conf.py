"""Sphinx: ``sphinx-build docs docs/_build`` with the extra ``docs``."""

import sys
from pathlib import Path

import sksearch

sys.path.insert(0, str(Path(__file__).parent))
from public_lists import api_page, fill_table

project = "sksearch"
author = "the sksearch developers"
copyright = "2026, the sksearch developers"
version = release = sksearch.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
exclude_patterns = ["_build"]
html_theme = "pydata_sphinx_theme"
html_title = "sksearch"
html_theme_options = {"show_prev_next": False}
suppress_warnings = ["ref.term"]  # inherited docstrings speak of scikit-learn's glossary
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
numpydoc_show_class_members = False
autosummary_generate = True
# What we add, and not all that scikit-learn brings.
autodoc_default_options = {"members": True, "inherited-members": "BaseSearchCV"}
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "ignore_pattern": r"benchmarks|make_|experiment_",
    "filename_pattern": "/plot_",
    "download_all_examples": False,
    "backreferences_dir": None,
}


def setup(app):
    """Write the API page before Sphinx looks for pages, and fill the table of architecture."""
    (Path(app.srcdir) / "api.md").write_text(api_page(), encoding="utf-8")
    app.connect("source-read", _fill)


def _fill(app, name, source):
    source[0] = fill_table(source[0])
