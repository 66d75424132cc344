"""HTML: texts are escaped once, markup never, and whole pages are whole."""

from html.parser import HTMLParser

import pytest

from sksearch._utils._html import Markup, element, join, page, paragraphs, table, void

FOREIGN = "<script>alert('&')</script>"
ESCAPED = "&lt;script&gt;alert(&#x27;&amp;&#x27;)&lt;/script&gt;"


@pytest.mark.parametrize(
    "made",
    [
        join(FOREIGN), element("p", FOREIGN), element("p", title=FOREIGN),
        element("div", element("p", FOREIGN)), void("img", alt=FOREIGN), paragraphs([FOREIGN]),
        table([FOREIGN], []), table(["a"], [[FOREIGN]]), page(FOREIGN), page("a", FOREIGN),
    ],
)  # fmt: skip
def test_a_text_is_escaped_once_wherever_it_stands(made):
    assert "<script>" not in made
    assert ESCAPED in made


def test_an_element_has_its_content_and_its_attributes():
    assert element("p") == "<p></p>"
    found = element("td", 1, Markup("<b>2</b>"), class_="n", id="x")
    assert found == '<td class="n" id="x">1<b>2</b></td>'
    assert void("meta", **{"http-equiv": "refresh"}) == '<meta http-equiv="refresh">'


def test_columns_of_numbers_are_marked_by_their_heads():
    rows = (
        '<tr><th class="n">score</th><th>params</th></tr><tr><td class="n">1</td><td>a</td></tr>'
    )
    assert table(["#score", "params"], [(1, "a")]) == f"<table>{rows}</table>"


def test_a_row_of_another_length_is_an_error():
    with pytest.raises(ValueError, match=r"shorter|longer"):
        table(["a"], [(1, 2)])


def test_what_a_page_opens_it_closes():
    class Reader(HTMLParser):
        open_ones: list

        def handle_starttag(self, tag, attrs):
            self.open_ones += [] if tag == "meta" else [tag]

        def handle_endtag(self, tag):
            assert self.open_ones.pop() == tag

    reader = Reader()
    reader.open_ones = []
    reader.feed(page("a", element("p", "b"), head=[element("style", "")], class_="c"))
    assert reader.open_ones == []
