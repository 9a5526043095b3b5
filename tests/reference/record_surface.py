#!/usr/bin/env python3
"""Records what PyTorch makes of the rows of tests/surface: tests/reference/surface_*.safetensors. Each row has its call in Python; the
inputs are made here as row.cpp makes them. Only this script needs PyTorch; the recorded files are committed. They were made with
PyTorch 2.15 on a CPU. Usage: record_surface.py build/release/bin/test_surface [FAMILY...]

A case C of a row NAME records NAME/C/outK for each result and NAME/C/gradK for each input that is differentiated; NAME/special/outK are
the results for NaN, infinities and the like, each with each; NAME/kinks/grad0 is the gradient at the row's kinks."""
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


def record(row, into):
    for c, given in enumerate(row["cases"]):
        inputs = [values(row, one, which) for which, one in enumerate(given)]
        leaves = [x.requires_grad_() for x in inputs if x.is_floating_point()] if row["gradients"] else []
        made = call(row, inputs)
        for k, t in enumerate(made):
            into[f"{row['name']}/{c}/out{k}"] = stored(t)
        if not leaves:
            continue
        for k, g in enumerate(torch.autograd.grad(weighted(made), leaves, allow_unused=True)):
            into[f"{row['name']}/{c}/grad{k}"] = stored(torch.zeros_like(leaves[k]) if g is None else g)
    if row["kinks"]:
        x = torch.tensor(row["kinks"], dtype=torch.float32, requires_grad=True)
        into[f"{row['name']}/kinks/grad0"] = stored(torch.autograd.grad(weighted(call(row, [x])), x)[0])
    if row["specials"]:
        grid = torch.tensor(list(itertools.product(SPECIAL, repeat=row["specials"])), dtype=torch.float32)
        sizes = [len(SPECIAL)] * row["specials"]
        for k, t in enumerate(call(row, [grid[:, i].reshape(sizes) for i in range(row["specials"])])):
            into[f"{row['name']}/special/out{k}"] = stored(t)


def main():
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
