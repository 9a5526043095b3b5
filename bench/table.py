"""Rows as text: for people, and as tab-separated values that are read back for the plot."""
import math
from dataclasses import astuple

from compare import Row

COLUMNS = "case threads sinter_us peer peer_us ratio floor_us".split()


def to_tsv(row):
    case, threads, sinter, peer, peer_time, ratio, floor = astuple(row)
    number = lambda x: "-" if math.isnan(x) else f"{x:.4g}" if x < 10 else f"{x:.1f}"
    return "\t".join([case, str(threads), number(sinter), peer or "-", number(peer_time),
                      "unmeasured" if math.isnan(ratio) else f"{ratio:.3f}", number(floor)])


def from_tsv(line):
    """The Row that to_tsv() wrote. Raises ValueError for another line."""
    case, threads, sinter, peer, peer_time, ratio, floor = line.rstrip("\n").split("\t")
    number = lambda text: math.nan if text in ("-", "unmeasured") else float(text)
    return Row(case, int(threads), number(sinter), "" if peer == "-" else peer, number(peer_time), number(ratio), number(floor))


def read_tsv(path):
    with open(path) as file:
        lines = [line for line in file if line.strip() and not line.startswith("#")]
    if not lines or lines[0].split() != COLUMNS:
        raise ValueError(f"{path}: the first line is not {' '.join(COLUMNS)}")
    return [from_tsv(line) for line in lines[1:]]


WIDTHS = (40, 7, 12, 18, 12, 10, 10, 8)


def header():
    return line(("case", "threads", "sinter us", "best peer", "peer us", "ratio", "floor us", "x floor"))


def line(cells):
    return "  ".join(text.ljust(w) if i in (0, 3) else text.rjust(w) for i, (text, w) in enumerate(zip(cells, WIDTHS))).rstrip()


def to_text(row):
    """The last column is how many times the floor Sinter takes."""
    case, threads, sinter, peer, peer_time, ratio, floor = to_tsv(row).split("\t")
    distance = "-" if math.isnan(row.floor) else f"{row.sinter / row.floor:.2f}"
    return line((case, threads, sinter, peer, peer_time, ratio, floor, distance))


def summary(rows, cases):
    """Lines below the table: geometric means, and what other spellings of a product reach of it."""
    by_name = {case.name: case for case in cases}
    ratios = {}
    for row in rows:
        ranked = by_name[row.case].ranked if row.case in by_name else ""
        if ranked and not math.isnan(row.ratio):
            ratios.setdefault(ranked, []).append(row.ratio)
    for ranked, of in ratios.items():
        mean = math.exp(sum(map(math.log, of)) / len(of))
        yield f"{ranked}: geometric mean of {len(of)} ratios {mean:.3f}, lowest {min(of):.3f}"
    rate = {(row.case, row.threads): by_name[row.case].flops / row.sinter for row in rows if row.case in by_name}
    for (name, threads), reached in rate.items():
        plain = by_name[name].plain
        if plain and (plain, threads) in rate:
            yield f"{name}, {threads} threads: {reached / rate[plain, threads]:.2f} of the rate of {plain}"
