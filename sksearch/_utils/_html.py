"""HTML of pages and notebook output: anything that is not markup is escaped."""

from collections.abc import Iterable, Sequence
from html import escape


class Markup(str):
    """A text that already is HTML."""

    __slots__ = ()


def join(*parts: object) -> Markup:
    """Concatenate parts; anything that is not markup is escaped."""
    return Markup("".join(p if isinstance(p, Markup) else escape(str(p)) for p in parts))


def element(name: str, *content: object, **attributes: object) -> Markup:
    """Return an element with its content; an attribute's name may end in ``_``: ``class_``."""
    return Markup(f"{_opened(name, attributes)}{join(*content)}</{name}>")


def void(name: str, **attributes: object) -> Markup:
    """Return an element with no content."""
    return Markup(_opened(name, attributes))


def paragraphs(lines: Iterable[object]) -> Markup:
    """Return a paragraph for each line."""
    return join(*(element("p", line) for line in lines))


def table(
    head: Sequence[object],
    rows: Iterable[Sequence[object]],
    of_rows: Iterable[dict[str, object]] | None = None,
    **attributes: object,
) -> Markup:
    """Return a table; cells below a head beginning with # have the class "n".

    `of_rows` are the attributes of each row, `attributes` the attributes of the table.
    """
    kinds = [{"class_": "n"} if str(name)[:1] == "#" else {} for name in head]
    first = _row("th", [str(name).lstrip("#") for name in head], kinds, {})
    rows = list(rows)
    pairs = zip(rows, of_rows or [{}] * len(rows), strict=True)
    body = (_row("td", cells, kinds, own) for cells, own in pairs)
    return element("table", first, *body, **attributes)


def page(title: str, *body: object, head: Iterable[Markup] = (), **attributes: object) -> str:
    """Return a whole page; `head` is added to its head, `attributes` to its body."""
    of_all = (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
    )
    own = f"{element('title', title)}{join(*head)}</head>{element('body', *body, **attributes)}"
    return f"{of_all}{own}</html>\n"


def _row(
    tag: str,
    cells: Sequence[object],
    kinds: Sequence[dict[str, str]],
    attributes: dict[str, object],
) -> Markup:
    """A row of a table."""
    pairs = zip(cells, kinds, strict=True)
    return element("tr", *(element(tag, cell, **kind) for cell, kind in pairs), **attributes)


def _opened(name: str, attributes: dict[str, object]) -> str:
    """The tag that opens an element."""
    said = (f' {key.rstrip("_")}="{escape(str(value))}"' for key, value in attributes.items())
    return f"<{name}{''.join(said)}>"
