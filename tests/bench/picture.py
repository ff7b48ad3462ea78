# SPDX-License-Identifier: GPL-3.0-or-later
"""Bars and lines as SVG, on a logarithmic axis."""

import html
import math

WIDTH, LEFT, RIGHT, TOP, BOTTOM = 760, 64, 20, 46, 58
COLOURS = ("#4477aa", "#ccbb44", "#cc3311", "#228833", "#aa3377", "#66ccee",
           "#777777", "#ee7733")


def nice_ns(value):
    """A duration in the unit that suits it."""
    for unit, factor in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if value >= factor:
            return f"{value / factor:.3g} {unit}"
    return f"{value:.3g} ns"


class Axis:
    """Decades from the smallest value to the largest."""

    def __init__(self, values, height, show):
        values = [value for value in values if value > 0]
        # Not quite the smallest: its bar should be seen.
        self.low = math.floor(math.log10(min(values) / 1.2))
        self.high = max(self.low + 1, math.ceil(math.log10(max(values))))
        self.show = show
        self.bottom = height - BOTTOM
        self.scale = (self.bottom - TOP) / (self.high - self.low)

    def y(self, value):
        exponent = math.log10(max(value, 10 ** self.low))
        return self.bottom - (exponent - self.low) * self.scale

    def drawn(self):
        for exponent in range(self.low, self.high + 1):
            y = self.y(10 ** exponent)
            yield (f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" '
                   f'y2="{y:.1f}" stroke="#ddd"/>')
            yield text(LEFT - 6, y + 4, self.show(10 ** exponent), "end")


def text(x, y, words, anchor="middle", more=""):
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {more}>'
            f'{html.escape(words)}</text>')


def legend(names, height):
    x = LEFT
    for index, name in enumerate(names):
        colour = COLOURS[index % len(COLOURS)]
        yield (f'<rect x="{x}" y="{height - 22}" width="12" height="12" '
               f'fill="{colour}"/>')
        yield text(x + 17, height - 12, name, "start")
        x += 34 + 7 * len(name)


def write(path, title, height, parts):
    body = "\n".join(parts)
    path.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" '
        f'height="{height}" font-family="sans-serif" font-size="12">\n'
        "<!-- SPDX-License-Identifier: GPL-3.0-or-later -->\n"
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>\n'
        f'{text(WIDTH / 2, 24, title, more="font-size=" + chr(34) + "15" + chr(34))}\n'
        f"{body}\n</svg>\n", encoding="utf-8")


def bars(path, title, groups, series, show=nice_ns):
    """series: {name: [(mean, deviation) of each group]}."""
    height = 380
    axis = Axis([m for figures in series.values() for m, _ in figures], height,
                show)
    parts = list(axis.drawn())
    room = (WIDTH - LEFT - RIGHT) / len(groups)
    thick = room * 0.8 / len(series)
    for place, group in enumerate(groups):
        left = LEFT + room * (place + 0.1)
        parts.append(text(left + room * 0.4, height - BOTTOM + 18, group))
        for index, figures in enumerate(series.values()):
            mean, deviation = figures[place]
            x, y = left + thick * index, axis.y(mean)
            colour = COLOURS[index % len(COLOURS)]
            parts.append(
                f'<rect x="{x:.1f}" y="{y:.1f}" width="{thick - 1:.1f}" '
                f'height="{max(0, axis.bottom - y):.1f}" fill="{colour}"/>')
            if deviation > 0:
                middle, top = x + thick / 2, axis.y(mean + deviation)
                parts.append(
                    f'<line x1="{middle:.1f}" y1="{top:.1f}" '
                    f'x2="{middle:.1f}" y2="{y:.1f}" stroke="black"/>')
    parts += legend(series, height)
    write(path, title, height, parts)


def lines(path, title, places, series, show=nice_ns):
    """series: {name: [(mean, deviation) at each place]}."""
    height = 380
    axis = Axis([m for figures in series.values() for m, _ in figures], height,
                show)
    parts = list(axis.drawn())
    step = (WIDTH - LEFT - RIGHT - 80) / max(1, len(places) - 1)
    xs = [LEFT + 40 + step * index for index in range(len(places))]
    for x, place in zip(xs, places):
        parts.append(text(x, height - BOTTOM + 18, str(place)))
    for index, figures in enumerate(series.values()):
        colour = COLOURS[index % len(COLOURS)]
        points = " ".join(f"{x:.1f},{axis.y(mean):.1f}"
                          for x, (mean, _) in zip(xs, figures))
        parts.append(f'<polyline points="{points}" fill="none" '
                     f'stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{axis.y(mean):.1f}" r="3" '
                  f'fill="{colour}"/>' for x, (mean, _) in zip(xs, figures)]
    parts += legend(series, height)
    write(path, title, height, parts)
