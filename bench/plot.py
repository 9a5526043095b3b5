"""Rows of the table as an SVG: a bar per case and number of threads, how much quicker than the best peer Sinter is, on a
logarithmic axis. Nothing but text is written, so nothing needs to be installed."""
import math
from xml.sax.saxutils import escape

ROW, LABEL, WIDTH, TOP = 18, 320, 460, 46
LOW, HIGH = 1 / 8, 16  # of the axis; a bar beyond is cut there, its number stands beside it
COLOURS = {True: "#2f7d4f", False: "#b5523b"}  # ahead of the best peer, or behind
STYLE = "text{font:12px sans-serif;fill:#222}.small{font-size:11px;fill:#555}line{stroke:#bbb}.one{stroke:#222}"


def x_of(ratio):
    place = math.log(min(max(ratio, LOW), HIGH) / LOW) / math.log(HIGH / LOW)
    return LABEL + WIDTH * place


def draw(rows, out):
    """Writes the picture of the rows, in their order."""
    bottom = TOP + ROW * len(rows)
    out.write(f'<svg xmlns="http://www.w3.org/2000/svg" width="{LABEL + WIDTH + 190}" height="{bottom + 16}"><style>{STYLE}</style>\n')
    out.write(f'<rect width="100%" height="100%" fill="white"/><text x="{LABEL}" y="16">time of the best peer / time of Sinter</text>\n')
    ratio = LOW
    while ratio <= HIGH:
        kind = ' class="one"' if ratio == 1 else ""
        out.write(f'<line{kind} x1="{x_of(ratio):.1f}" y1="{TOP - 6}" x2="{x_of(ratio):.1f}" y2="{bottom}"/>'
                  f'<text class="small" x="{x_of(ratio):.1f}" y="{TOP - 12}" text-anchor="middle">{ratio:g}</text>\n')
        ratio *= 2
    for i, row in enumerate(rows):
        y = TOP + ROW * i
        threads = f'<tspan class="small"> {row.threads}</tspan>'
        out.write(f'<text x="{LABEL - 8}" y="{y + 13}" text-anchor="end">{escape(row.case)}{threads}</text>')
        if math.isnan(row.ratio):
            out.write(f'<text class="small" x="{x_of(1) + 6:.1f}" y="{y + 13}">unmeasured</text>\n')
            continue
        begin, end = sorted((x_of(1), x_of(row.ratio)))
        out.write(f'<rect x="{begin:.1f}" y="{y + 3}" width="{max(end - begin, 1):.1f}" height="{ROW - 6}" fill="{COLOURS[row.ratio >= 1]}"/>'
                  f'<text class="small" x="{max(end, x_of(1)) + 6:.1f}" y="{y + 13}">{row.ratio:.2f} of {escape(row.peer)}</text>\n')
    out.write("</svg>\n")
