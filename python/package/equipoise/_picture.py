"""Pictures of releases: axes of matplotlib where it is installed, otherwise the same SVG that the command line draws."""

from __future__ import annotations

import importlib.util
import json
import os
from typing import Any

from . import _equipoise, _frames
from ._wording import visible


class Picture:
    """A picture as SVG; notebooks show it by themselves.

    >>> import equipoise as eq
    >>> picture = eq.count([1.0] * 1000, epsilon=1).svg()
    >>> picture.svg[:4]
    '<svg'
    """

    __slots__ = ("svg",)

    def __init__(self, svg: str) -> None:
        #: The text of the picture.
        self.svg = svg

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.svg)

    def __repr__(self) -> str:
        return f"<picture, {len(self.svg)} characters of SVG; .save(path) writes it>"


def drawn(parts: dict[str, Any], fractions: tuple[str, ...] = ()) -> Picture:
    """The picture that the command line draws of a release."""
    if parts.get("groups") is not None:
        parts = {**parts, "groups": _frames.by_key(parts["groups"])}
    return Picture(_equipoise.picture(json.dumps(parts), list(fractions)))


#: What is so much of something is drawn from zero; any other number lies somewhere among values.
_AMOUNTS = ("count", "distinct", "ecdf", "histogram", "share", "top")


def plotted(parts: dict[str, Any], ax: Any, fractions: tuple[str, ...] = ()) -> Any:
    """Answers with their error bars on axes of matplotlib; as SVG where there is no matplotlib, or no number."""
    if ax is None and importlib.util.find_spec("matplotlib") is None:
        return drawn(parts, fractions)
    found = _numbers(parts, fractions)
    if not found:
        return drawn(parts, fractions)
    if ax is None:
        from matplotlib import pyplot

        _, ax = pyplot.subplots(figsize=(7, 1.2 + 0.35 * len(found)))
    for place, (_, value, low, high) in enumerate(found):
        bar = [[max(value - low, 0)], [max(high - value, 0)]] if low is not None and high is not None else None
        if parts["statistic"] in _AMOUNTS:
            ax.barh([place], [value], xerr=bar, capsize=4, color="C0", alpha=0.6)
        else:
            ax.errorbar([value], [place], xerr=bar, fmt="o", capsize=4, color="C0")
    # What stands between dollars would be read as mathematics.
    ax.set_yticks(range(len(found)), [visible(label).replace("$", r"\$") for label, *_ in found])
    ax.invert_yaxis()
    column = parts.get("column")
    title = str(parts["statistic"]) + (f" of {column}" if column else "")
    ax.set_title(visible(title).replace("$", r"\$"))
    return ax


def _numbers(parts: dict[str, Any], fractions: tuple[str, ...] = ()) -> list[tuple[str, float, Any, Any]]:
    """Each number with its name and the ends of its bar; of a summary those that lie among the values."""
    found = []
    for name, answer in _named(parts):
        table = _frames.columns({**answer, "group_by": None, "groups": None, "answers": None, "statistic": "one"})
        rows = zip(table.get("value", []), table.get("low", []), table.get("high", []))
        many = len(table.get("value", []))
        labels = list(fractions) if len(fractions) == many else [str(place + 1) for place in range(many)]
        for place, (value, low, high) in enumerate(rows):
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                found.append((f"{name} {labels[place]}" if many > 1 else name, value, low, high))
    return found[:60]


def _named(parts: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    if parts.get("groups") is not None:
        named = []
        for group in _frames.by_key(parts["groups"]):
            key = ", ".join("(empty)" if part is None else str(part) for part in _frames._key(group["key"]))
            inner = [(f"{key}: {name}", part) for name, part in _named({**group, "statistic": "summary"})]
            named.extend(inner if group.get("answers") is not None else [(key, group)])
        return named
    if parts.get("answers") is not None:
        among = [part for part in parts["answers"] if part["statistic"] in ("mean", "quantiles")]
        if parts["statistic"] == "regression":  # intercept and mean have other units than coefficients
            among = [part for part in parts["answers"] if part["statistic"] == "coefficient"]
        return [(_frames.part_name(part), part) for part in among or parts["answers"]]
    return [(str(parts["statistic"]), parts)]
