#!/usr/bin/env python3
"""The acceptance runs on the full MNIST, three seeds each. MLP 784-128-10, batch 256, Adam 2e-3, 5 epochs: each seed must reach 97.0 %
and their mean 97.4 %. Convolutional net, batch 128, Adam 1e-3, 2 epochs: 98.2 % each. The folder of the four IDX files comes from
--data, SINTER_DATA, data/mnist here or ../shared/data/mnist. Where there is none, the subset in the library must give 88 and 92 %.
--model runs one of the two."""
import argparse
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Where the example is: in the build, or in what ./dev dist packed.
BIN = next((path for path in (ROOT / "build/release/bin", ROOT / "bin") if path.is_dir()), ROOT)
PLACES = [ROOT / "data/mnist", ROOT.parent / "shared/data/mnist"]
SEEDS = (0, 1, 2)  # the default and the next ones
MODELS = {"mlp": ([], 97.0, 97.4), "conv": (["--epochs", "2"], 98.2, 98.2)}  # options, accuracy of each seed, of their mean
SUBSET = {"mlp": ([], 88.0, 88.0), "conv": (["--epochs", "2"], 92.0, 92.0)}


def accuracy(command):
    out = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    print(out, end="", flush=True)
    return float(re.findall(r"test accuracy ([\d.]+) %", out)[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default=os.environ.get("SINTER_DATA") or next(filter(pathlib.Path.is_dir, PLACES), None))
    parser.add_argument("--model", choices=MODELS)
    parser.add_argument("--device", default=os.environ.get("SINTER_DEVICE", "cpu"))
    parser.add_argument("--smoke", action="store_true", help="one step on few images of the subset, whatever it reaches")
    args = parser.parse_args()
    subset = args.smoke or args.data is None
    missed = 0
    for model in [args.model] if args.model else MODELS:
        options, each, wanted = (SUBSET if subset else MODELS)[model]
        command = [BIN / "mnist", "--model", model, "--device", args.device, *options, *([] if subset else ["--data", args.data])]
        if args.smoke:
            accuracy([*command, "--steps", "1", "--batch", "16"])
            continue
        reached = [accuracy([*command, "--seed", str(seed)]) for seed in SEEDS]
        mean = sum(reached) / len(reached)
        good = min(reached) >= each and mean >= wanted
        missed += not good
        print(f"{model}{' on the subset' if subset else ''}, seeds {SEEDS}: {reached}, mean {mean:.2f} %; wanted {each} each, {wanted} mean: {'reached' if good else 'MISSED'}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
