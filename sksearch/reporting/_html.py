"""A report as HTML: a fragment for notebooks, and a page with pictures."""

import math
from collections.abc import Sequence
from dataclasses import replace

from sksearch._utils._html import Markup, element, join, paragraphs
from sksearch._utils._terminal import amount
from sksearch.reporting import _words as words
from sksearch.reporting._advice import Advice, Facts
from sksearch.reporting._charts import figure
from sksearch.reporting._looks import STYLE, candidates, leader, tiles, whole_page
from sksearch.reporting._pictures import pictures
from sksearch.reporting._sections import Section, total_seconds


def fragment(
    title: str,
    sections: Sequence[Section],
    advice: Sequence[Advice],
    facts: Facts | None = None,
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
    facts : Facts or None, default=None
        Facts of the search, for the header.

    Returns
    -------
    html : Markup
        With its own style.
    """
    report = element("div", _body(title, sections, advice, facts), class_="sksearch-report")
    return join(element("style", Markup(STYLE)), report)


def page(facts: Facts, title: str, sections: Sequence[Section], advice: Sequence[Advice]) -> str:
    """Return a report as a page, with its pictures in it."""
    drawn = []
    for name, draw in pictures(facts.table, facts).items():
        picture = facts.parts.make(name, draw)
        if fault := facts.parts.faults.get(name):
            picture = figure(name, fault)
        if picture is not None:
            drawn.append(picture)
    figures = element("div", *drawn, class_="pictures")
    table = facts.parts.make("Candidates", candidates, facts.table, otherwise=Markup())
    return whole_page(title, [join(_body(title, sections, advice, facts, figures), table)])


def _body(title, sections, advice, facts, figures=None):
    """The headline, facts, advice, the leader, pictures and sections."""
    name, _, rest = title.partition(": ")
    head = [element("h2", name), *[element("p", rest, class_="soft")] * bool(rest)]
    if facts is not None:
        head.append(facts.parts.make("Facts", _tiles, facts, otherwise=Markup()))
    head.append(element("div", element("h3", "Next"), _advice(advice), class_="next"))
    leading = None if facts is None else facts.parts.make("Leader", _leader, facts)
    if leading is not None:
        head.append(leading)
        sections = [replace(s, lines=s.lines[s.title == "Winner" :]) for s in sections]
    sections = [each for each in sections if each.lines or each.bars]
    told = [join(element("dt", each.title), element("dd", _lines(each))) for each in sections]
    return join(*head, *[figures] * bool(figures), element("dl", *told))


def _leader(facts):
    """The winner in large letters; None without one, or if its section has failed."""
    table, row = facts.table, facts.table.winner
    if row is None or "Winner" in facts.parts.faults:
        return None
    at = amount(row.resource, table.unit) * (table.has_resources and not table.races)
    return leader("Winner", row.params, at)


def _tiles(facts):
    """Scores, the gain from tuning, and the size of the search."""
    table, selected, found = facts.table, facts.selected, []
    if selected is not None:
        error = (selected.high - selected.low) / 4
        score, low, high, corrected = (
            words.score(x, error)
            for x in (selected.seen, selected.low, selected.high, selected.corrected)
        )
        found.append((score, f"{table.score_name}, {table.winner.folds}"))
        if math.isfinite(selected.corrected):
            found.append((corrected, f"expected on new data, {low} to {high}"))
        if facts.untuned is not None and math.isfinite(facts.untuned.mean):
            found.append((words.score(facts.untuned.mean, error), facts.untuned.name))
    failed = f", {len(table.failed):,} failed" * bool(table.failed)
    found.append((f"{len(table.candidates):,}", f"candidates{failed}"))
    found.append((words.seconds(total_seconds(table)), "of training"))
    return tiles(found)


def _lines(section):
    """The lines of a section, or its bars, and its notes."""
    bars = [
        element(
            "div",
            element("span", name),
            element("i", style=f"width:{100 * min(max(share, 0), 1):.1f}%"),
            element("span", text),
            class_="bars",
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
