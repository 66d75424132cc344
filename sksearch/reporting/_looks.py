"""Looks that the report and the page of a running search share: header, tables, style, script."""

import base64
import hashlib
import math
from collections.abc import Iterable, Sequence

import numpy as np

from sksearch._utils._html import Markup, element, join, page, table as table_of, void
from sksearch.history import WHICH, Params
from sksearch.reader._search_table import SearchTable
from sksearch.reader._values import model_of
from sksearch.reporting import _words as words
from sksearch.space._values import is_number

# Maximum size of a table of candidates; further parameters share a column
N_ROWS, N_COLUMNS = 100, 8

# All rules begin with the class, so that a notebook keeps its own looks. Tones are mixed from the
# colour of the text, so they suit light and dark.
STYLE = """
.sksearch-report{--blue:light-dark(#0072B2,#56B4E9);--bad:light-dark(#C24E00,#F0A04B);
--soft:color-mix(in srgb,currentColor 68%,transparent);
--line:color-mix(in srgb,currentColor 15%,transparent);
--tint:color-mix(in srgb,currentColor 5%,transparent);
font:15px/1.5 system-ui,sans-serif;max-width:1080px;overflow-wrap:anywhere;
h1,h2{font-size:1.5em;line-height:1.25;margin:0;font-weight:650}
h3{font-size:1em;margin:1.6em 0 .4em}
p{margin:0 0 .2em}.soft{color:var(--soft)}.bad{color:var(--bad)}
ol{margin:0;padding-left:1.3em}
pre{background:var(--tint);color:inherit;margin:.2em 0 .7em;padding:.4em .7em;border-radius:5px;
white-space:pre-wrap;font-size:.9em}
.tiles{display:flex;flex-wrap:wrap;gap:.6em;margin:1em 0}
.tiles div{flex:1 1 8.5em;background:var(--tint);border-radius:8px;padding:.5em .8em}
.tiles b{display:block;font-size:1.5em;line-height:1.3;font-weight:650}
.tiles span{color:var(--soft);font-size:.87em;display:block;line-height:1.35}
.track{height:.55em;background:var(--line);border-radius:4px;margin:.8em 0}
.track i{display:block;height:100%;background:var(--blue);border-radius:4px}
.next,.leader{border-left:4px solid var(--blue);padding:.2em 0 .2em 1em;margin:1.3em 0}
.leader{border-color:var(--bad)}
.next h3,.leader h3{margin:0 0 .3em}
.chips{display:flex;flex-wrap:wrap;gap:.3em 1.8em}
.chips span{color:var(--soft);font-size:.87em;display:block}
.chips b{font-size:1.3em;font-weight:600;line-height:1.25}
dl{display:grid;grid-template-columns:6em minmax(0,1fr);margin:1.3em 0}
dt,dd{border-top:1px solid var(--line);padding:.4em 0;margin:0;min-width:0}
dt{font-weight:600;color:var(--soft)}
.bars{display:grid;grid-template-columns:minmax(5em,11em) minmax(3em,1fr) 10.5em;gap:.7em;
align-items:center}
.bars i{display:block;height:.8em;background:var(--blue);min-width:1px}
.pictures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,430px),1fr));
gap:1.6em 2em;margin:1.6em 0}
figure{margin:0;min-width:0}figure.broad{grid-column:1/-1}
figcaption{color:var(--soft);font-size:.9em;margin-bottom:.5em}
figcaption b{color:CanvasText;font-size:1.1em}
.small{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,280px),1fr));gap:1em}
.small code{display:block;text-align:center;font-size:.87em}
svg{width:100%;height:auto;display:block;overflow:visible}
svg text{fill:currentColor;fill-opacity:.7;font-size:12px}
.axis,.grid{stroke:var(--line);fill:none}
.dot{fill:var(--blue);fill-opacity:.55}.far{fill:var(--blue);fill-opacity:.2}
.won{fill:var(--bad)}.fail{fill:var(--bad)}.fold{fill-opacity:.35;r:3px}.fold.far{fill-opacity:.15}
.bar{fill:var(--blue)}.bar.fail{fill:var(--bad)}
.best{fill:none;stroke:var(--bad);stroke-width:2}
.step,.curve,.span,.mean{fill:none;stroke:var(--blue)}
.step{stroke-width:2}.curve{stroke-opacity:.35}.curve.far{stroke-opacity:.12}
.span{stroke-width:3;stroke-opacity:.5}.span.far{stroke-opacity:.25}.mean{stroke-width:3}
.mean.far{stroke-opacity:.3}.curve.won,.span.won,.mean.won{stroke:var(--bad);stroke-opacity:1}
.curve.won{stroke-width:2.5}
circle.on,rect.on{fill:CanvasText;fill-opacity:1}path.on{stroke:CanvasText;stroke-opacity:1}
tr.on td{background:var(--line)}
.wide{overflow:auto;max-height:30em}
table{border-collapse:collapse;font-size:.93em;margin:0}
th,td{text-align:left;padding:.2em 1.2em .2em 0;border:0;border-bottom:1px solid var(--line);
vertical-align:top;background:none}
th{color:var(--soft);font-weight:600;white-space:nowrap}
td.n,th.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
td,th{overflow-wrap:break-word}td:last-child:not(.n){min-width:13em}
.sort th{cursor:pointer}.sort th:hover{color:CanvasText}
th[aria-sort]::after{content:" \\2191"}th[aria-sort=descending]::after{content:" \\2193"}
a{color:var(--blue)}
@media(max-width:600px){dl{grid-template-columns:minmax(0,1fr)}dd{border-top:0;padding-top:0}
dt{padding-bottom:0}.tiles div{flex-basis:7em}
.bars{grid-template-columns:minmax(0,1fr) minmax(0,1fr)}.bars span:last-child{grid-column:2}}}
"""
# Of a whole page alone.
PAGE_STYLE = """
:root{color-scheme:light dark}
body{margin:1.6em auto;max-width:1080px;padding:0 16px;background:light-dark(#fff,#12181e);
color:light-dark(#1b2733,#e6ebf0)}
section+section{margin-top:3em;border-top:3px solid var(--line);padding-top:1.6em}
.tip{position:fixed;z-index:9;max-width:22em;padding:.35em .6em;border-radius:5px;
white-space:pre-line;pointer-events:none;font:13px/1.4 system-ui,sans-serif;overflow-wrap:anywhere;
background:light-dark(#1b2733,#e6ebf0);color:light-dark(#fff,#12181e)}
"""
# The text of a mark under the pointer, its candidate marked wherever it is drawn, and tables
# sorted by a click on a head. A table keeps its order when a browser loads the page again.
SCRIPT = """
(()=>{const d=document,tip=d.createElement("div"),all=[...d.querySelectorAll("table.sort")];
tip.className="tip";tip.hidden=true;d.body.append(tip);let on=[];
d.addEventListener("pointerover",e=>{for(const x of on)x.classList.remove("on");on=[];
const t=e.target.closest("[data-t],[data-c]");tip.hidden=!(t&&t.dataset.t);if(!t)return;
if(t.dataset.c){const c=CSS.escape(t.dataset.c);
on=[...t.closest("section").querySelectorAll(`[data-c="${c}"]`)];
for(const x of on)x.classList.add("on")}
if(tip.hidden)return;tip.textContent=t.dataset.t;
const x=e.clientX+14,y=e.clientY+14,w=tip.offsetWidth,h=tip.offsetHeight;
tip.style.left=Math.max(4,Math.min(x,innerWidth-w-8))+"px";
tip.style.top=(y+h>innerHeight?Math.max(4,e.clientY-h-10):y)+"px"});
const text=(r,i)=>r.cells[i].textContent,number=s=>+s.replace(/,/g,"");
function sort(t,i,down){const rows=[...t.rows],head=rows.shift();
for(const h of head.cells)h.removeAttribute("aria-sort");
head.cells[i].setAttribute("aria-sort",down?"descending":"ascending");
rows.sort((a,b)=>{const p=text(a,i),q=text(b,i);if(!p||!q)return !p-!q;
const x=number(p),y=number(q),c=x-y;
return(isNaN(c)?isNaN(x)-isNaN(y)||p.localeCompare(q):c)*(down?-1:1)});head.parentNode.append(...rows)}
function ask(e){const h=e.target.closest("table.sort th");if(!h)return;
const t=h.closest("table"),was=h.getAttribute("aria-sort"),i=h.cellIndex,
down=was?was=="ascending":h.className=="n";sort(t,i,down);e.preventDefault();
try{sessionStorage["sort"+all.indexOf(t)]=[i,+down]}catch{}}
d.addEventListener("click",ask);
d.addEventListener("keydown",e=>{if(e.key=="Enter"||e.key==" ")ask(e)});
all.forEach((t,k)=>{for(const h of t.rows[0].cells)h.tabIndex=0;
try{const[i,down]=sessionStorage["sort"+k].split(",");sort(t,+i,+down)}catch{}})})()
"""
# Nothing is loaded from elsewhere and no other script runs, whatever a text contains.
_DIGEST = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
ALONE = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{_DIGEST}'"


def whole_page(title: str, sections: Iterable[Markup], every: float | None = None) -> str:
    """Return a page of sections.

    Parameters
    ----------
    title : str
        Title of the window.
    sections : iterable of Markup
        Contents of the page.
    every : float or None, default=None
        Seconds after which a browser loads the page again; None: never.
    """
    head = [void("meta", **{"http-equiv": "Content-Security-Policy", "content": ALONE})]
    if every is not None:
        head.append(void("meta", **{"http-equiv": "refresh", "content": math.ceil(every)}))
    head.append(element("style", Markup(PAGE_STYLE + STYLE)))
    body = element(
        "main", *(element("section", each) for each in sections), class_="sksearch-report"
    )
    return page(title, body, element("script", Markup(SCRIPT)), head=head)


def tiles(facts: Sequence[tuple[str, str]]) -> Markup:
    """Return facts as tiles: values and what they mean."""
    shown = [element("div", element("b", value), element("span", name)) for value, name in facts]
    return element("div", *shown, class_="tiles") if shown else Markup()


def leader(title: str, params: Params, note: str = "") -> Markup:
    """Return the parameters of the leading candidate, in large letters."""
    head = [element("h3", title, *[element("span", f"  {note}", class_="soft")] * bool(note))]
    chips = [
        element(
            "div",
            element("span", name.removeprefix(f"{model_of(params)}__")),
            element("b", cut(plain(value), words.LONGEST)),
        )
        for name, value in params.items()
    ]
    body = element("div", *chips, class_="chips") if chips else element("p", "no params")
    return element("div", *head, body, class_="leader")


def candidates(table: SearchTable) -> Markup:
    """Return a table of the best candidates, to be sorted by a click."""
    given = [table.candidates[i].row for i in table.order if np.isfinite(table.means[i])][:N_ROWS]
    names = list(dict.fromkeys(name for row in given for name in row.shown))
    several = len(names) > N_COLUMNS
    named = [name for name in names if name == WHICH] if several else names
    has_folds, has_resources = table.n_folds > 1, table.has_resources
    head = ["#candidate", "#score", *["#std"] * has_folds, *[f"#{table.unit}"] * has_resources]
    for name in named:
        values = [row.shown[name] for row in given if name in row.shown]
        head.append(f"{'#' * all(map(is_number, values))}{name}")
    rows = []
    for row in given:
        shown = {name: cut(plain(value), words.LONGEST) for name, value in row.shown.items()}
        cells = [f"{row.trial_id:,}", number(row.score)]
        cells += [number(float(np.nanstd(row.scores)))] * has_folds
        cells += [f"{row.resource:,}"] * has_resources
        cells += [shown.get(name, "") for name in named]
        rest = {name: value for name, value in row.shown.items() if name not in named}
        rows.append([*cells, *[words.params(rest)] * several])
    of_rows = [{"data-c": row.trial_id} for row in given]
    body = table_of([*head, *["params"] * several], rows, of_rows, class_="sort")
    return join(element("h3", "Candidates"), element("div", body, class_="wide"))


def plain(value: object) -> str:
    """A value of a parameter, a text without its quotes."""
    return value if isinstance(value, str) else words.value(value)


def cut(text: str, length: int) -> str:
    """A text of at most that many characters."""
    return text if len(text) <= length else f"{text[: length - 1]}…"


def number(value: float | None) -> str:
    """Five digits; empty if unknown."""
    return "" if value is None or math.isnan(value) else f"{value:.5g}"
