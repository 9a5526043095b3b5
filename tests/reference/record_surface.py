#!/usr/bin/env python3
"""Records what PyTorch makes of the rows of tests/surface: tests/reference/surface_*.safetensors. Each row has its call in Python; the
inputs are made here as row.cpp makes them. Only this script needs PyTorch; the recorded files are committed. They were made with
PyTorch 2.15 on a CPU. Usage: record_surface.py build/release/bin/test_surface [FAMILY...]

A case C of a row NAME records NAME/C/outK for each result and NAME/C/gradK for each input that is differentiated; NAME/special/outK are
the results for NaN, infinities and the like, each with each; NAME/kinks/grad0 is the gradient at the row's kinks.

NAME/odd/layout and NAME/odd/values are the cases of other sizes: the number of cases; for each -1 where PyTorch refuses, else the number of
results, of each its rank and sizes, the number of gradients, and of each its number of elements. The values are all elements in this order."""
import itertools
import json
import math
import os
import subprocess
import sys
import tempfile

import numpy as np
import torch
import torch.nn.functional as F
from record import save

SPECIAL = [math.nan, math.inf, -math.inf, 0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -2.5, 1e30, -1e30, 1e-30]


def waves(count, which):
    return np.sin(1.7 * np.arange(count) + 0.9 * which + 0.3)


def values(row, given, which):
    count = math.prod(given["shape"])
    i = np.arange(count)
    if given["kind"] == 1:
        flat = torch.tensor((7 * i + 3 * which) % given["below"], dtype=torch.int64)
    elif given["kind"] == 2:
        flat = torch.tensor((5 * i + which) % 3 == 0)
    else:
        numbers = row["low"] + (row["high"] - row["low"]) * (0.5 + 0.5 * waves(count, which))
        flat = torch.tensor(numbers).to(torch.int32 if row["integers"] else torch.float32)
    return flat.reshape(given["shape"])


def call(row, inputs):
    names = dict(zip("xyzuvw", inputs)) | {"torch": torch, "F": F, "math": math}
    made = eval(row["torch"], names)
    return list(made) if isinstance(made, (tuple, list)) else [made]


def stored(t):
    """safetensors has no type of PyTorch's that Sinter lacks; float32, int64 and bool are all that record.py writes."""
    return t.detach().to(torch.float32 if t.is_floating_point() else torch.bool if t.dtype == torch.bool else torch.int64)


def weighted(made):
    return sum((t * torch.tensor(waves(t.numel(), 7), dtype=t.dtype).reshape(t.shape)).sum() for t in made if t.is_floating_point())


def outcome(row, given, differentiated):
    """Results and gradients of a case."""
    inputs = [values(row, one, which) for which, one in enumerate(given)]
    leaves = [x.requires_grad_() for x in inputs if x.is_floating_point()] if differentiated else []
    made = call(row, inputs)
    grads = torch.autograd.grad(weighted(made), leaves, allow_unused=True) if leaves else []
    return [stored(t) for t in made], [stored(torch.zeros_like(x) if g is None else g) for x, g in zip(leaves, grads)]


def odd_outcome(row, given):
    """The part of the layout that belongs to a case, and all elements."""
    for differentiated in [True, False] if row["gradients"] else [False]:  # without gradients where PyTorch has none
        try:
            made, grads = outcome(row, given, differentiated)
        except Exception:  # of whichever kind
            continue
        layout = [len(made), *(n for t in made for n in (t.dim(), *t.shape)), len(grads), *(g.numel() for g in grads)]
        return layout, [n for t in (*made, *grads) for n in t.flatten().to(torch.float32).tolist()]
    return [-1], []


def in_child(calls):
    """What the calls return, up to the one that ends the process."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        with os.fdopen(writer, "w") as out:
            for call in calls:
                print(json.dumps(call()), file=out, flush=True)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as made:
        lines = made.readlines()
    os.waitpid(child, 0)
    return [json.loads(line) for line in lines]


def record_odd(row, into):
    """Some shapes crash PyTorch: it refuses them."""
    outcomes = []
    while len(outcomes) < len(row["odd"]):
        outcomes += in_child([lambda given=given: odd_outcome(row, given) for given in row["odd"][len(outcomes) :]])
        if len(outcomes) < len(row["odd"]):
            outcomes.append(([-1], []))
    into[f"{row['name']}/odd/layout"] = torch.tensor([len(outcomes), *itertools.chain(*(layout for layout, _ in outcomes))])
    into[f"{row['name']}/odd/values"] = torch.tensor([*itertools.chain(*(elements for _, elements in outcomes))], dtype=torch.float32)


def record(row, into):
    for c, given in enumerate(row["cases"]):
        made, grads = outcome(row, given, row["gradients"])
        for k, t in enumerate(made):
            into[f"{row['name']}/{c}/out{k}"] = t
        for k, g in enumerate(grads):
            into[f"{row['name']}/{c}/grad{k}"] = g
    record_odd(row, into)
    if row["kinks"]:
        x = torch.tensor(row["kinks"], dtype=torch.float32, requires_grad=True)
        into[f"{row['name']}/kinks/grad0"] = stored(torch.autograd.grad(weighted(call(row, [x])), x)[0])
    if row["specials"]:
        grid = torch.tensor(list(itertools.product(SPECIAL, repeat=row["specials"])), dtype=torch.float32)
        sizes = [len(SPECIAL)] * row["specials"]
        for k, t in enumerate(call(row, [grid[:, i].reshape(sizes) for i in range(row["specials"])])):
            into[f"{row['name']}/special/out{k}"] = stored(t)


def main():
    torch.set_num_threads(1)  # children have no others
    with tempfile.TemporaryDirectory() as folder:
        manifest = os.path.join(folder, "manifest.json")
        subprocess.run([sys.argv[1], "[manifest]"], env=os.environ | {"SURFACE_MANIFEST": manifest}, check=True, stdout=subprocess.DEVNULL)
        with open(manifest) as f:
            families = json.load(f)
    for family, rows in families.items():
        if sys.argv[2:] and family not in sys.argv[2:]:
            continue
        into = {}
        for row in rows:
            if row["torch"]:
                record(row, into)
        save(f"surface_{family}", into)


if __name__ == "__main__":
    main()
