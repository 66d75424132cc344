"""A report as HTML: a fragment for notebooks, and a page with pictures."""

from collections.abc import Sequence

from sksearch._utils._html import Markup, element, join, page as document, paragraphs, void
from sksearch.reporting._advice import Advice, Facts
from sksearch.reporting._pictures import pictures
from sksearch.reporting._sections import Section

# All rules begin with the class, so that a notebook keeps its own looks. Colours by the scheme of
# the reader, of enough contrast in both.
STYLE = """
.sksearch-report{--ink:#1b2733;--soft:#55616d;--line:#dde3e9;--bar:#0072B2;--code:#f3f6f8;
font:15px/1.5 system-ui,sans-serif;color:var(--ink);max-width:860px;overflow-wrap:anywhere}
@media(prefers-color-scheme:dark){.sksearch-page{background:#12181e}
.sksearch-page .sksearch-report{--ink:#e6ebf0;--soft:#a3afba;--line:#2c3742;--bar:#56B4E9;
--code:#1c252d}.sksearch-page img{background:#fff}}
.sksearch-report h2{font-size:1.1em;margin:0 0 .6em}
.sksearch-report dl{display:grid;grid-template-columns:6em minmax(0,1fr);gap:.5em 1em;margin:0}
.sksearch-report dt{font-weight:600;color:var(--soft);border-top:1px solid var(--line);
padding-top:.4em}
.sksearch-report dd{margin:0;border-top:1px solid var(--line);padding-top:.4em;min-width:0}
.sksearch-report p{margin:0 0 .2em}
.sksearch-report ol{margin:0;padding-left:1.3em}
.sksearch-report pre{background:var(--code);color:var(--ink);margin:.2em 0 .7em;padding:.4em .7em;
border-radius:4px;white-space:pre-wrap;font-size:.9em}
.sksearch-report .bar{display:grid;grid-template-columns:minmax(5em,11em) minmax(3em,1fr) 10.5em;
gap:.7em;align-items:center}
.sksearch-report .bar i{display:block;height:.8em;background:var(--bar);min-width:1px}
.sksearch-report figure{margin:1.2em 0 0}
.sksearch-report figcaption{color:var(--soft)}
.sksearch-report img{max-width:100%;height:auto}
@media(max-width:600px){.sksearch-report dl{grid-template-columns:minmax(0,1fr);gap:0}
.sksearch-report dd{border-top:0;padding:0 0 .5em}
.sksearch-report .bar{grid-template-columns:minmax(0,1fr) minmax(0,1fr)}
.sksearch-report .bar span:last-child{grid-column:2}}
"""


def fragment(
    title: str,
    sections: Sequence[Section],
    advice: Sequence[Advice],
    figures: Sequence[Markup] = (),
) -> Markup:
    """Return a report as a part of a page.

    Parameters
    ----------
    title : str
        The headline.
    sections : sequence of Section
        Sections of the report.
    advice : sequence of Advice
        Advice on the next step.
    figures : sequence of Markup, default=()
        Pictures, which stand below.

    Returns
    -------
    html : Markup
        With its own style.
    """
    told = [*((each.title, _body(each)) for each in sections), ("Next", _advice(advice))]
    entries = [join(element("dt", term), element("dd", body)) for term, body in told]
    parts = element("h2", title), element("dl", *entries), *figures
    report = element("div", *parts, class_="sksearch-report")
    return join(element("style", Markup(STYLE)), report)


def page(facts: Facts, title: str, sections: Sequence[Section], advice: Sequence[Advice]) -> str:
    """Return a report as a page, with its pictures in it."""
    figures = [
        element(
            "figure",
            element("figcaption", caption),
            *[void("img", alt=caption, src=f"data:image/png;base64,{png}")] * bool(png),
        )
        for caption, png in pictures(facts)
    ]
    style = "margin:1.2em auto;max-width:860px;padding:0 12px"
    body = fragment(title, sections, advice, figures)
    return document(title, body, class_="sksearch-page", style=style)


def _body(section):
    """The lines of a section, or its bars, and its notes."""
    bars = [
        element(
            "div",
            element("span", name),
            element("i", style=f"width:{100 * min(max(share, 0), 1):.1f}%"),
            element("span", text),
            class_="bar",
        )
        for name, share, text in section.bars
    ]
    lines = section.notes if bars else (*section.lines, *section.notes)
    return join(*bars, paragraphs(lines))


def _advice(advice):
    """Advice, numbered."""
    if not advice:
        return element("p", "Nothing looks wrong.")
    items = [
        element("li", each.text, *[element("pre", each.code)] * bool(each.code)) for each in advice
    ]
    return element("ol", *items)
