"""Sinter against its peers on one case: who is measured, how often, and what follows. No printing and no processes: what
asks a library is passed in, so that tests can pass in their own."""
import math
from dataclasses import dataclass
from statistics import median

from cases import TYPES
from workers import WorkerError

NEAR = 1.5        # a peer that needs so many times what the quickest needs in a first look is not compared in pairs
TOLERANCE = 2e-3  # of results, relative to the largest value of a fingerprint; see tolerance()


@dataclass(frozen=True)
class Row:
    """A line of the table. `peer` is the best that ran; empty when none did: the case is unmeasured."""
    case: str
    threads: int
    sinter: float
    peer: str = ""
    peer_time: float = math.nan
    ratio: float = math.nan  # the peer's time by Sinter's, median of pairs: above 1, Sinter is ahead
    floor: float = math.nan  # what the machine allows at best, by the roofs


def tolerance(case):
    """Results that are rounded to p significant bits, and were the same but for the order of sums, lie up to one step apart: 2^(1-p) of
    a number. That is 0.0078 in bfloat16 and 0.00098 in float16."""
    return max(TOLERANCE, 2.0 ** (1 - TYPES[case.type])) if case.type else TOLERANCE


def agree(a, b, tolerance=TOLERANCE):
    """Two fingerprints are of the same result, but for rounding."""
    scale = max(map(abs, a + b), default=0.0)
    return len(a) == len(b) and all(math.isfinite(x) and abs(x - y) <= tolerance * scale for x, y in zip(a, b))


def agree_on_losses(a, b, tolerance=TOLERANCE):
    """Losses of successive steps agree, and so does how far each lies below the first: updates change only a loss's last digits.
    A fall is the difference of two losses."""
    falls = lambda losses: tuple(losses[0] - loss for loss in losses)
    return agree(a, b, tolerance) and agree(falls(a), falls(b), 2 * tolerance)


def roofs_of(case):
    """What the case needs of the machine: unit of a roof -> amount."""
    return {unit: amount for unit, amount in (("flops", case.flops), ("copy", case.bytes), ("read", case.reads)) if amount}


def floor_us(case, roofs):
    """`roofs`: the us of a thousand million of a unit, by unit, where that is measured. NaN where they say nothing."""
    return max((amount * roofs[unit] / 1e9 for unit, amount in roofs_of(case).items() if unit in roofs), default=math.nan)


def ask_all(ask, libraries, complain):
    """The samples of those that can do it, by name."""
    samples = {}
    for name in libraries:
        try:
            samples[name] = ask(name)
        except WorkerError as error:
            if str(error) != "unknown case":
                complain(name, str(error))
    return samples


def append_us(times, name, ask, complain):
    """Notes in times[name] what `name` takes now. Whether it answered; one that did not is left out from then on."""
    try:
        times[name].append(ask(name).us)
        return True
    except WorkerError as error:
        complain(name, str(error))
        del times[name]
        return False


def compare(case, threads, ask, peers, pairs, ask_roof, complain, same=agree):
    """The Row of a case, or None if Sinter itself failed. `ask(name)` and `ask_roof(unit)` give a Sample or raise WorkerError;
    `peers` are names; `complain(name, text)` hears of each fault. Sinter and the peers near the best take turns `pairs` times:
    roofs, sinter, peer, sinter, peer. The floor is of medians too: what disturbs a run disturbs the roofs in it. A peer with another
    result is no peer, nor is one that fails in a turn."""
    first = ask_all(ask, ["sinter", *peers], complain)
    if "sinter" not in first:
        return None
    own = first.pop("sinter")
    for name in list(first):
        if not same(own.values, first[name].values):
            complain(name, f"computes {first[name].values}, Sinter {own.values}")
            del first[name]
    quickest = min((s.us for s in first.values()), default=0.0)
    times = {name: [] for name in first if first[name].us <= NEAR * quickest}
    ratios = {name: [] for name in times}
    roofs = {unit: [] for unit in ask_all(ask_roof, roofs_of(case), complain)}
    owns = {"sinter": []}
    for _ in range(pairs):
        for unit in list(roofs):
            append_us(roofs, unit, ask_roof, complain)
        for name in list(times) or [None]:
            if not append_us(owns, "sinter", ask, complain):
                return None
            if name and append_us(times, name, ask, complain):
                ratios[name].append(times[name][-1] / owns["sinter"][-1])
    row = Row(case.name, threads, median(owns["sinter"]), floor=floor_us(case, {unit: median(us) for unit, us in roofs.items()}))
    if not times:
        return row
    best = min(times, key=lambda name: median(ratios[name]))
    return Row(row.case, threads, row.sinter, best, median(times[best]), median(ratios[best]), row.floor)
