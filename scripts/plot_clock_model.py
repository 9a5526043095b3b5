#!/usr/bin/env python3
"""Draws docs/clock-model.svg: what the clock model predicts of kernels, against what an H100 took.

CLOCK_MODEL_TABLE=docs/clock-model.tsv build/release/bin/test_unit "the clock model*"
python3 scripts/plot_clock_model.py
"""
import csv
import math
from pathlib import Path
from xml.sax.saxutils import escape

DOCS = Path(__file__).resolve().parent.parent / "docs"
SIZE, LEFT, TOP = 520, 60, 20
LOW, HIGH = 10, 100000  # microseconds
STYLE = "text{font:11px sans-serif;fill:#222}line{stroke:#ddd}.same{stroke:#888}circle{fill:#2f7d4f}"


def place(us):
    return SIZE * math.log(us / LOW) / math.log(HIGH / LOW)


def point(measured, predicted):
    return LEFT + place(measured), TOP + SIZE - place(predicted)


def line(begin, end, kind=""):
    (x1, y1), (x2, y2) = point(*begin), point(*end)
    return f'<line{kind} x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def drawing():
    with open(DOCS / "clock-model.tsv", newline="") as file:
        rows = [(r["kernel"], float(r["measured us"]), float(r["predicted us"])) for r in csv.DictReader(file, delimiter="\t")]
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + SIZE + 150}" height="{TOP + SIZE + 50}">'
             f'<style>{STYLE}</style><rect width="100%" height="100%" fill="white"/>']
    us = LOW
    while us <= HIGH:
        x, y = point(us, us)
        parts += [line((us, LOW), (us, HIGH)), line((LOW, us), (HIGH, us)),
                  f'<text x="{x:.1f}" y="{TOP + SIZE + 16}" text-anchor="middle">{us}</text>',
                  f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{us}</text>']
        us *= 10
    parts += [line((LOW, LOW), (HIGH, HIGH), ' class="same"'),
              f'<text x="{LEFT + SIZE / 2}" y="{TOP + SIZE + 38}" text-anchor="middle">measured on an H100, us</text>',
              f'<text transform="translate(14 {TOP + SIZE / 2}) rotate(-90)" text-anchor="middle">predicted, us</text>']
    for name, measured, predicted in rows:
        x, y = point(measured, predicted)
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4"><title>{escape(name)}: {measured:g} us, predicted {predicted:g}</title></circle>')
    return "\n".join(parts + ["</svg>"]) + "\n"


if __name__ == "__main__":
    (DOCS / "clock-model.svg").write_text(drawing())
