# SPDX-License-Identifier: GPL-3.0-or-later
"""Curves on two logarithmic axes, each with a fitted m * N^x + b."""

import math

COLOURS = ["#777", "#c60", "#06c", "#090", "#909", "#c00", "#0aa", "#960"]
LEFT, RIGHT, TOP, BOTTOM = 70, 880, 150, 470


def fit(points):
    """m, x, b of m * N^x + b: for each b below the smallest value the best m
    and x of the logarithms, and of those the one with the least error."""
    lowest = min(t for _, t in points)
    best = None
    for step in range(40):
        b = lowest * step / 40
        logs = [(math.log(n), math.log(t - b)) for n, t in points]
        mean_n = sum(a for a, _ in logs) / len(logs)
        mean_t = sum(c for _, c in logs) / len(logs)
        x = (sum((a - mean_n) * (c - mean_t) for a, c in logs)
             / sum((a - mean_n) ** 2 for a, _ in logs))
        m = math.exp(mean_t - x * mean_n)
        error = sum((math.log(m * n ** x + b) - math.log(t)) ** 2
                    for n, t in points)
        if best is None or error < best[0]:
            best = (error, m, x, b)
    return best[1:]


def loglog(path, title, across, curves):
    """curves: name -> [(N, ticks)]."""
    all_n = [n for points in curves.values() for n, _ in points]
    all_t = [max(t, 1) for points in curves.values() for _, t in points]
    low_n, high_n = math.log2(min(all_n)), math.log2(max(all_n))
    low_t = math.floor(math.log2(min(all_t)))
    high_t = max(math.ceil(math.log2(max(all_t))), low_t + 1)

    def place(n, t):
        x = LEFT + (math.log2(n) - low_n) / (high_n - low_n) * (RIGHT - LEFT)
        y = BOTTOM - ((math.log2(max(t, 1)) - low_t) / (high_t - low_t)
                      * (BOTTOM - TOP))
        return x, y

    parts = ['<svg xmlns="http://www.w3.org/2000/svg" width="900" height="520" '
             'font-family="sans-serif" font-size="12">',
             '<rect width="900" height="520" fill="white"/>',
             f'<text x="{LEFT}" y="20" font-size="14">{title}</text>',
             f'<text x="{(LEFT + RIGHT) // 2}" y="510" text-anchor="middle">'
             f'{across}</text>']
    for k in range(math.ceil(low_n), math.floor(high_n) + 1,
                   max(1, round((high_n - low_n) / 10))):
        x, _ = place(2 ** k, 1)
        parts.append(f'<text x="{x:.0f}" y="488" text-anchor="middle">'
                     f'{2 ** k:,}</text>')
    for k in range(low_t, high_t + 1):
        _, y = place(2 ** low_n, 2 ** k)
        parts.append(f'<line x1="{LEFT}" x2="{RIGHT}" y1="{y:.0f}" '
                     f'y2="{y:.0f}" stroke="#eee"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4:.0f}" '
                     f'text-anchor="end">{2 ** k:,}</text>')
    for index, (name, points) in enumerate(curves.items()):
        colour = COLOURS[index % len(COLOURS)]
        line = " ".join("{:.0f},{:.0f}".format(*place(n, t))
                        for n, t in points)
        m, x, b = fit([(n, max(t, 1)) for n, t in points])
        parts.append(f'<polyline points="{line}" fill="none" '
                     f'stroke="{colour}" stroke-width="2"/>')
        parts.append(f'<text x="{LEFT + 20 + index % 2 * 420}" '
                     f'y="{44 + index // 2 * 18}" fill="{colour}">{name}: '
                     f'{m:.3g} · N^{x:.2f} + {b:.3g}</text>')
    parts.append("</svg>")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(parts) + "\n")
