#!/usr/bin/env python3
"""Plots a program's kernels against the machine's roofs: FLOPs per byte across, GFLOP/s upwards, both logarithmic; each
circle is a launch, its area the share of the time, its colour what limits it. Under the plot a table with all of them.
A GPU has a roof of its arithmetic units and one of its tensor cores.

Runs PROGRAM (a path, or a name in build/release/bin) with DEBUG=2 and reads what that prints; --log reads such lines from
a file instead. Times are medians over all launches of a name, so let the program run some steps."""
import argparse
import collections
import html
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROOFS = re.compile(r"roofs of (\d+ threads?): ([\d.]+) GFLOP/s, copy ([\d.]+) GB/s")
GPU_ROOFS = re.compile(r"roofs of (GPU \d+): ([\d.]+) GFLOP/s, ([\d.]+) GFLOP/s by tensor cores, memory ([\d.]+) GB/s")
LAUNCH = re.compile(r"  (\S+(?: and \d+ more)?) +\d+ tasks +([\d.]+) us +([\d.]+) MB +([\d.]+) MFLOP .* ([\d.]+) % of "
                    r"((?:math|tensor|memory)(?:, \d+ threads?)?)")

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM, ROW = 960, 520, 70, 30, 50, 50, 18
COLOURS = {"math": "#c2571a", "tensor": "#7a3b9c", "memory": "#2a6fb0"}
LABELLED = 12  # points with a number; the table has all


class Kernel:
    """All launches of one name."""

    def __init__(self):
        self.times, self.mb, self.mflop, self.limit = [], 0, 0, ""

    def add(self, us, mb, mflop, percent, limit):
        self.times.append(max(us, 0.05))  # less is printed as 0
        self.mb, self.mflop, self.limit = mb, mflop, limit
        self.bound = us * percent / 100  # the time at the roof

    us = property(lambda self: statistics.median(self.times))
    total = property(lambda self: self.us * len(self.times))
    gflops = property(lambda self: self.mflop / self.us * 1e3)
    gbs = property(lambda self: self.mb / self.us * 1e3)
    percent = property(lambda self: 100 * self.bound / self.us)
    colour = property(lambda self: COLOURS[self.limit.split(",")[0]])
    intensity = property(lambda self: self.mflop / self.mb)
    drawn = property(lambda self: self.mflop and self.mb)  # bytes may be so few that 0 MB are printed


def parse(lines):
    """Name of a roof -> (GFLOP/s, GB/s), and name of a launch -> Kernel, the longest total first."""
    roofs, kernels = {}, collections.defaultdict(Kernel)
    for line in lines:
        if found := ROOFS.match(line):
            roofs[found[1]] = (float(found[2]), float(found[3]))
        elif found := GPU_ROOFS.match(line):
            gpu, math_units, tensor, memory = found[1], *map(float, found.groups()[1:])
            roofs[gpu] = (math_units, memory)
            if tensor:
                roofs[f"{gpu}, tensor cores"] = (tensor, memory)
        elif found := LAUNCH.match(line):
            name, us, mb, mflop, percent, limit = found.groups()
            kernels[name].add(float(us), float(mb), float(mflop), float(percent), limit)
    return roofs, dict(sorted(kernels.items(), key=lambda k: -k[1].total))


class Axis:
    """Logarithmic, from the decade below the lowest value to the one above the highest."""

    def __init__(self, values, begin, end):
        self.low, self.high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
        self.high = max(self.high, self.low + 1)
        self.begin, self.end = begin, end

    def at(self, value):
        return self.begin + (math.log10(value) - self.low) / (self.high - self.low) * (self.end - self.begin)

    def decades(self):
        return [10.0**d for d in range(self.low, self.high + 1)]


def text(x, y, what, anchor="start", extra=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {extra}>{html.escape(what)}</text>'


def grid(x, y):
    for v in x.decades():
        yield f'<path class="grid" d="M{x.at(v):.1f} {y.begin}V{y.end}"/>'
        yield text(x.at(v), y.begin + 18, f"{v:g}", "middle")
    for v in y.decades():
        yield f'<path class="grid" d="M{x.begin} {y.at(v):.1f}H{x.end}"/>'
        yield text(x.begin - 8, y.at(v) + 4, f"{v:g}", "end")
    yield text((x.begin + x.end) / 2, y.begin + 38, "FLOP per byte", "middle")
    yield text(0, 0, "GFLOP/s", "middle", f'transform="translate(18 {(y.begin + y.end) / 2}) rotate(-90)"')


def roof_lines(roofs, x, y):
    """Up the bandwidth from where it enters the plot, then along the peak."""
    right = 10.0**x.high
    for name, (peak, bandwidth) in roofs.items():
        left = max(10.0**x.low, 10.0**y.low / bandwidth)
        ridge = peak / bandwidth
        path = f"M{x.at(left):.1f} {y.at(left * bandwidth):.1f}L{x.at(ridge):.1f} {y.at(peak):.1f}H{x.at(right):.1f}"
        yield f'<path class="roof" d="{path}"/>'
        yield text(x.end - 4, y.at(peak) - 5, f"{name}: {peak:.0f} GFLOP/s, copy {bandwidth:.0f} GB/s", "end")


def points(kernels, x, y, whole):
    """The largest first, so that small ones lie on top; numbers as in the table."""
    for number, (name, k) in enumerate(kernels.items(), 1):
        if not k.drawn:
            continue
        cx, cy, r = x.at(k.intensity), y.at(k.gflops), 3 + 22 * math.sqrt(k.total / whole)
        yield (f'<circle cx="{cx:.1f}" cy="{cy:.1f}" r="{r:.1f}" fill="{k.colour}" fill-opacity=".55" '
               f'stroke="{k.colour}"><title>{html.escape(name)}</title></circle>')
        if number <= LABELLED:
            yield text(cx, cy + 4, str(number), "middle", 'font-weight="bold"')


COLUMNS = ((30, "end", "", lambda i, name, k, whole: str(i)),
           (45, "start", "launch", lambda i, name, k, whole: name),
           (430, "end", "share", lambda i, name, k, whole: f"{100 * k.total / whole:.1f} %"),
           (500, "end", "times", lambda i, name, k, whole: str(len(k.times))),
           (580, "end", "us", lambda i, name, k, whole: f"{k.us:.1f}"),
           (660, "end", "GB/s", lambda i, name, k, whole: f"{k.gbs:.1f}"),
           (745, "end", "GFLOP/s", lambda i, name, k, whole: f"{k.gflops:.1f}"),
           (800, "end", "reached", lambda i, name, k, whole: f"{k.percent:.0f} %"),
           (810, "start", "of", lambda i, name, k, whole: k.limit))


def table(kernels, whole):
    y = HEIGHT + ROW
    for x, anchor, title, _ in COLUMNS:
        yield text(x, y, title, anchor, 'font-weight="bold"')
    for i, (name, k) in enumerate(kernels.items(), 1):
        for x, anchor, _, cell in COLUMNS:
            yield text(x, y + i * ROW, cell(i, name, k, whole), anchor)


def plot(title, roofs, kernels):
    """The SVG."""
    whole = sum(k.total for k in kernels.values())
    drawn = [k for k in kernels.values() if k.drawn]
    ridges = [peak / bandwidth for peak, bandwidth in roofs.values()]
    x = Axis([k.intensity for k in drawn] + ridges + [2 * r for r in ridges], LEFT, WIDTH - RIGHT)
    y = Axis([k.gflops for k in drawn] + [1.3 * peak for peak, _ in roofs.values()], HEIGHT - BOTTOM, TOP)
    height = HEIGHT + ROW * (len(kernels) + 2)
    style = ("text{font:12px sans-serif;fill:#222}.grid{stroke:#ddd;fill:none}.roof{stroke:#222;stroke-width:1.5;fill:none}"
             "rect{fill:#fff}")
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}">',
             f"<style>{style}</style>", f'<rect width="{WIDTH}" height="{height}"/>',
             text(LEFT, 24, title, extra='font-weight="bold"'), *grid(x, y), *points(kernels, x, y, whole),
             *roof_lines(roofs, x, y), *table(kernels, whole), "</svg>"]
    return "\n".join(parts) + "\n"


def run(program, arguments):
    """What the program prints to stderr with DEBUG=2, line by line; what is no line of DEBUG goes on to ours."""
    path = ROOT / "build/release/bin" / program
    command = [path if "/" not in program and path.exists() else program, *arguments]
    with subprocess.Popen(command, env={**os.environ, "DEBUG": "2"}, stderr=subprocess.PIPE, text=True) as process:
        for line in process.stderr:
            if not line.startswith(("  ", "plan: ", "roofs ", "search: ")):
                print(line, end="", file=sys.stderr)
            yield line
    if process.returncode:
        sys.exit(f"{program} ended with {process.returncode}; nothing is plotted")


def main():
    parser = argparse.ArgumentParser(prog="./dev roofline", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default="roofline.svg", metavar="FILE", help="where the plot goes (roofline.svg)")
    parser.add_argument("--title", help="over the plot (the command)")
    parser.add_argument("--log", metavar="FILE", help="lines of DEBUG=2 from a run before")
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="PROGRAM [ARGUMENTS]")
    o = parser.parse_args()
    if bool(o.log) == bool(o.command):
        parser.error("give either a program or --log FILE")
    lines = pathlib.Path(o.log).read_text().splitlines() if o.log else run(o.command[0], o.command[1:])
    roofs, kernels = parse(lines)
    if not roofs or not any(k.mflop for k in kernels.values()):
        sys.exit("no launch with arithmetic on floats was printed: is this a program that runs Sinter?")
    pathlib.Path(o.out).write_text(plot(o.title or " ".join(o.command) or o.log, roofs, kernels))
    print(f"{o.out}: {len(kernels)} kinds of launches")
    return 0


if __name__ == "__main__":
    sys.exit(main())
