#!/usr/bin/env python3
"""The acceptance runs on the full MNIST, three seeds each. MLP 784-128-10, batch 256, Adam 2e-3, 5 epochs: each seed must reach 97.0 %
and their mean 97.4 %. Convolutional net, batch 128, Adam 1e-3, 2 epochs: 98.2 % each. The folder of the four IDX files comes from
--data, SINTER_DATA or ../shared/data/mnist; --model runs one of the two."""
import argparse
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SEEDS = (0, 1, 2)  # the default and the next ones
MODELS = {"mlp": ([], 97.0, 97.4), "conv": (["--epochs", "2"], 98.2, 98.2)}  # options, accuracy of each seed, of their mean


def accuracy(model, data, seed):
    command = [ROOT / "build/release/bin/mnist", "--model", model, "--data", data, "--seed", str(seed), *MODELS[model][0]]
    out = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    print(out, end="", flush=True)
    return float(re.findall(r"test accuracy ([\d.]+) %", out)[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default=os.environ.get("SINTER_DATA", ROOT.parent / "shared/data/mnist"))
    parser.add_argument("--model", choices=MODELS)
    args = parser.parse_args()
    missed = 0
    for model in [args.model] if args.model else MODELS:
        _, each, wanted = MODELS[model]
        reached = [accuracy(model, args.data, seed) for seed in SEEDS]
        mean = sum(reached) / len(reached)
        good = min(reached) >= each and mean >= wanted
        missed += not good
        print(f"{model}, seeds {SEEDS}: {reached}, mean {mean:.2f} %; wanted {each} each, {wanted} mean: {'reached' if good else 'MISSED'}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
