"""Sphinx: ``sphinx-build -W docs docs/_build`` with the extra ``docs``."""

import sys
from pathlib import Path

import sksearch

sys.path.insert(0, str(Path(__file__).parent))
from gallery_order import untitled
from link_names import TARGETS, LinkNames
from outputs import without_prompts
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
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
exclude_patterns = ["_build"]
templates_path = ["_templates"]
nitpicky = True
# Names of other packages: their pages are not at hand where these are built without a network.
nitpick_ignore_regex = [
    (r"py:.*", r"(numpy|sklearn|pandas|matplotlib|joblib|collections|concurrent|os|pathlib)\..*"),
    # Inherited docstrings point to pages of scikit-learn's user guide.
    (r"ref|std:ref", r"metadata_routing|accuracy_score|r2_score|df_output_transform|sphx_glr_.*"),
]
suppress_warnings = [
    "ref.term",  # inherited docstrings speak of scikit-learn's glossary
    "ref.python",  # attributes of several classes have the same name
]

html_theme = "pydata_sphinx_theme"
html_title = "sksearch"
html_static_path = ["_static"]
html_css_files = ["sksearch.css"]
html_favicon = "_static/logo.svg"
html_show_sourcelink = False
html_theme_options = {
    "logo": {
        "image_light": "_static/logo.svg",
        "image_dark": "_static/logo.svg",
        "text": f"sksearch {version}",
        "alt_text": "sksearch: start page",
    },
    "external_links": [{"name": "scikit-learn", "url": "https://scikit-learn.org"}],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": False,
    "show_toc_level": 2,
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
}
toc_object_entries_show_parents = "hide"
html_sidebars = {"index": [], "tutorial": []}

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_exclude = ".linenos, .gp, .go"
copybutton_selector = "div:not(.output) > div.highlight > pre"

numpydoc_show_class_members = False
autosummary_generate = True
autodoc_typehints = "none"  # docstrings name the types
# What we add, and not all that scikit-learn brings.
autodoc_default_options = {"members": True, "inherited-members": "BaseSearchCV"}
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "ignore_pattern": "|".join(["benchmarks", *untitled(Path(__file__).parents[1] / "examples")]),
    "filename_pattern": "/plot_",
    "within_subsection_order": "gallery_order.FirstThingsFirst",
    "download_all_examples": False,
    "backreferences_dir": "generated/backreferences",
    "doc_module": ("sksearch",),
    "reference_url": {"sksearch": None},
}


def setup(app):
    """Write the API page before Sphinx looks for pages, fill the table, link public names."""
    (Path(app.srcdir) / "api.md").write_text(api_page(), encoding="utf-8")
    app.connect("source-read", _fill)
    app.connect("env-updated", _hide_records)
    app.connect("missing-reference", _find)
    app.add_transform(LinkNames)


def _fill(app, name, source):
    source[0] = without_prompts(fill_table(source[0]))


def _find(app, env, node, content):
    """Resolve a public name in a docstring of another module, such as a search in See Also."""
    target = TARGETS.get(node["reftarget"].rpartition(".")[2])
    if node.get("refdomain") != "py" or target in (None, node["reftarget"]):
        return None
    role = env.get_domain("py")
    return role.resolve_xref(env, node["refdoc"], app.builder, "obj", target, node, content)


def _hide_records(app, env):
    """Keep the records out of the search box: they would bury the user guide."""
    for name in env.found_docs:
        if name.startswith("records/"):
            env.metadata[name]["nosearch"] = True
