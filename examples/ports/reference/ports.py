"""What the references of the ports share: Sinter's random numbers, so that both sides begin with the same weights and
draw the same noise; and the file with what was logged. Only these scripts need PyTorch (2.15); the files are committed."""
import json
import math
import pathlib
import struct

import numpy as np
import torch
import torch.nn as nn

OUT = pathlib.Path(__file__).resolve().parent
MASK = np.uint64(0xFFFFFFFF)


def threefry(counter, key):
    """Threefry-2x32 with 20 rounds on arrays of uint64 (Salmon et al., SC 2011), the low word first."""
    rotations = ((13, 15, 26, 6), (17, 29, 16, 24))
    k0, k1 = key & 0xFFFFFFFF, key >> 32
    ks = [np.uint64(k) for k in (k0, k1, 0x1BD11BDA ^ k0 ^ k1)]
    x0, x1 = ((counter & MASK) + ks[0]) & MASK, ((counter >> np.uint64(32)) + ks[1]) & MASK
    for group in range(5):
        for r in rotations[group % 2]:
            x0 = (x0 + x1) & MASK
            x1 = (((x1 << np.uint64(r)) | (x1 >> np.uint64(32 - r))) & MASK) ^ x0
        x0 = (x0 + ks[(group + 1) % 3]) & MASK
        x1 = (x1 + ks[(group + 2) % 3] + np.uint64(group + 1)) & MASK
    return x1 << np.uint64(32) | x0


class Generator:
    """sinter::Generator. The functions draw what Sinter's of the same name do, in float32."""

    def __init__(self, seed=0):
        self.seed, self.next = seed, 0

    def words(self, shape):
        count = math.prod(shape)
        self.next += count
        return threefry(np.arange(self.next - count, self.next, dtype=np.uint64), self.seed).reshape(shape)

    def rand(self, *shape):
        return torch.from_numpy((self.words(shape) >> np.uint64(40)).astype(np.float32) * np.float32(2**-24))

    def uniform(self, low, high, shape):
        return self.rand(*shape) * (high - low) + low

    def randn(self, *shape):
        w = self.words(shape)
        radius = ((w & MASK).astype(np.float32) + np.float32(0.5)).astype(np.float64) * 2**-32
        angle = (w >> np.uint64(40)).astype(np.float64) * 2**-24 * 2 * math.pi
        return torch.from_numpy((np.sqrt(-2 * np.log(radius)) * np.cos(angle)).astype(np.float32))

    def randint(self, low, high, shape):
        return torch.from_numpy((self.words(shape) % np.uint64(high - low)).astype(np.int64)) + low

    def categorical(self, logits):
        u = ((self.words(tuple(logits.shape)) >> np.uint64(41)).astype(np.float64) + 0.5) * 2**-23
        return (logits.detach().double() - torch.from_numpy(np.log(-np.log(u)))).argmax(-1)

    @torch.no_grad()
    def initialize(self, module):
        """Draws the weights of the layers in `module`, in the order of construction, as Sinter's constructors do."""
        for m in module.modules():
            own = list(m.parameters(recurse=False))
            if isinstance(m, (nn.Embedding, nn.EmbeddingBag)):
                m.weight.copy_(self.randn(*m.weight.shape))
            elif isinstance(m, (nn.LSTM, nn.GRU, nn.RNN)):
                for p in own:
                    p.copy_(self.uniform(-m.hidden_size**-0.5, m.hidden_size**-0.5, p.shape))
            elif isinstance(m, nn.Linear) or isinstance(m, nn.modules.conv._ConvNd):
                bound = m.weight[0].numel() ** -0.5
                for p in own:
                    p.copy_(self.uniform(-bound, bound, p.shape))
        return module


class Log:
    """What a program prints step by step: log(loss=loss). save() writes reference/NAME.safetensors."""

    def __init__(self):
        self.series = {}

    def __call__(self, **numbers):
        for name, value in numbers.items():
            self.series.setdefault(name, []).append(float(torch.as_tensor(value).detach()))
        print("  ".join(f"{name} {values[-1]:.6g}" for name, values in self.series.items()))

    def save(self, file):
        header, blob = {}, b""
        for name, values in self.series.items():
            data = np.array(values, dtype=np.float64).tobytes()
            header[name] = {"dtype": "F64", "shape": [len(values)], "data_offsets": [len(blob), len(blob) + len(data)]}
            blob += data
        text = json.dumps(header, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 8)
        path = OUT / f"{pathlib.Path(file).stem}.safetensors"
        path.write_bytes(struct.pack("<Q", len(text)) + text + blob)
