"""Charts as SVG: drawn in the colours of the page, with a text for each mark under the pointer."""

import math
from collections.abc import Iterable, Sequence

import numpy as np

from sksearch._utils._html import Markup, element, join

WIDTH, HEIGHT = 460, 240
LEFT, RIGHT, TOP, BOTTOM = 50, 12, 10, 24  # margins
LARGEST = 1e150  # scores beyond it are drawn at it: differences of larger ones overflow

Span = tuple[float, float]
Points = Iterable[tuple[float, float]]


class Chart:
    """Axes with marks; places outside of the axes are drawn at their edges.

    Parameters
    ----------
    x, y : (float, float)
        Ends of the axes.
    width, height, left : float
        Size of the picture and of its left margin.
    """

    def __init__(
        self, x: Span, y: Span, width: float = WIDTH, height: float = HEIGHT, left: float = LEFT
    ):
        self.x, self.y = x, y
        self.width, self.height = width, height
        self.left, self.right, self.bottom = left, width - RIGHT, height - BOTTOM
        self._shapes = [self._path(f"M{left} {TOP}V{self.bottom}H{self.right}", "axis")]

    def px(self, x: float) -> float:
        """Return the horizontal place of a value."""
        return self.left + (self.right - self.left) * _share(x, self.x)

    def py(self, y: float) -> float:
        """Return the vertical place of a value."""
        return self.bottom - (self.bottom - TOP) * _share(y, self.y)

    def dot(
        self, x: float, y: float, kind: str, text: str = "", candidate: int | str = ""
    ) -> None:
        """Draw a dot, with its text and its candidate."""
        place = {"cx": f"{self.px(x):.1f}", "cy": f"{self.py(y):.1f}", "r": 3.5}
        self._shapes.append(element("circle", **place, **_about(kind, text, candidate)))

    def ring(self, x: float, y: float) -> None:
        """Mark a place."""
        a, b = self.px(x) - 7, self.py(y)
        self._shapes.append(self._path(f"M{a:.1f} {b:.1f}a7 7 0 1 0 14 0a7 7 0 1 0 -14 0", "best"))

    def line(self, points: Points, kind: str, text: str = "", candidate: int | str = "") -> None:
        """Draw a line through points."""
        path = "L".join(f"{self.px(x):.1f} {self.py(y):.1f}" for x, y in points)
        self._shapes.append(self._path(f"M{path}", kind, text, candidate))

    def box(self, x: Span, y: Span, kind: str, text: str = "", candidate: int | str = "") -> None:
        """Draw a rectangle, of half a unit of the picture at least."""
        (left, right), (top, bottom) = map(self.px, x), sorted(map(self.py, y))
        size = {"width": f"{max(right - left, 0.5):.2f}", "height": f"{bottom - top:.1f}"}
        place = {"x": f"{left:.2f}", "y": f"{top:.1f}"}
        self._shapes.append(element("rect", **place, **size, **_about(kind, text, candidate)))

    def label_x(self, places: Sequence[float], labels: Sequence[str]) -> None:
        """Label the horizontal axis; the first and the last label stay inside of the picture."""
        for x, label in zip(places, labels, strict=True):
            at = self.px(x)
            inner = at - self.left > 30, self.right - at > 30
            anchor = "middle" if all(inner) else "end" if inner[0] else "start"
            self._text(at, self.bottom + 16, label, anchor)

    def label_y(self, places: Sequence[float], labels: Sequence[str]) -> None:
        """Label the vertical axis, with lines across."""
        for y, label in zip(places, labels, strict=True):
            at = self.py(y)
            self._shapes.insert(0, self._path(f"M{self.left} {at:.1f}H{self.right}", "grid"))
            self._text(self.left - 7, at + 4, label, "end")

    def scale_y(self) -> None:
        """Label the vertical axis with round numbers."""
        places = ticks(*self.y)
        self.label_y(places, [f"{y:.4g}" for y in places])

    def svg(self, name: str) -> Markup:
        """Return the picture; `name` is read aloud."""
        box = {"viewBox": f"0 0 {self.width:.0f} {self.height:.0f}", "role": "img"}
        return element("svg", *self._shapes, **box, **{"aria-label": name})

    def _text(self, x: float, y: float, text: str, anchor: str) -> None:
        place = {"x": f"{x:.1f}", "y": f"{y:.1f}", "text-anchor": anchor}
        self._shapes.append(element("text", text, **place))

    def _path(self, path: str, kind: str, text: str = "", candidate: int | str = "") -> Markup:
        return element("path", d=path, **_about(kind, text, candidate))


def figure(title: str, note: str, *pictures: Markup, **attributes: object) -> Markup:
    """Return pictures below their title, with a note."""
    caption = join(element("b", title), *[f" {note}"] * bool(note))
    return element("figure", element("figcaption", caption), *pictures, **attributes)


def span(values: np.ndarray, margin: float = 0.06) -> Span:
    """Return the ends of an axis for values."""
    values = np.clip(values, -LARGEST, LARGEST)
    low, high = float(values.min()), float(values.max())
    is_wide = high - low > 1e-9 * max(abs(low), abs(high))
    more = margin * (high - low if is_wide else max(abs(high), 1.0))
    return low - more, high + more


def ticks(low: float, high: float, n: int = 4) -> list[float]:
    """Return about `n` round numbers between two others."""
    step = 10.0 ** math.floor(math.log10((high - low) / n))
    step *= next(k for k in (1, 2, 5, 10) if (high - low) / (k * step) <= n + 0.5)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [k * step + 0.0 for k in range(first, last + 1)][: 2 * n + 2]


def _share(x: float, ends: Span) -> float:
    """Place of a value between two ends, from 0 to 1."""
    low, high = ends
    return (min(max(x, low), high) - low) / (high - low)


def _about(kind: str, text: str, candidate: int | str) -> dict[str, object]:
    """Attributes of a mark: its style, the text under the pointer, the candidate."""
    given = {"class": kind, "data-t": text, "data-c": candidate}
    return {name: value for name, value in given.items() if value != ""}
