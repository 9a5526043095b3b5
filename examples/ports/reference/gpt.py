import math
import pathlib
import re

import torch
import torch.nn as nn
import torch.nn.functional as F

from ports import Generator, Log

CONTEXT, WIDTH, HEADS, LAYERS, BATCH = 32, 32, 4, 2, 8
source = (pathlib.Path(__file__).parent.parent / "gpt.cpp").read_text()
text = "".join(re.findall(r'^    "(.*)"', source, re.M)).replace("\\'", "'")
symbols = sorted(set(text))
codes = torch.tensor([symbols.index(c) for c in text])
random, log = Generator(0), Log()


class SelfAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.c_attn, self.c_proj = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        q, k, v = self.c_attn(x).unflatten(-1, (3, HEADS, WIDTH // HEADS)).permute(2, 0, 3, 1, 4)
        return self.c_proj(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(-2))


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.c_fc, self.c_proj = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        return self.c_proj(F.gelu(self.c_fc(x), approximate="tanh"))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln_1, self.attn, self.ln_2, self.mlp = nn.LayerNorm(WIDTH), SelfAttention(), nn.LayerNorm(WIDTH), Mlp()

    def forward(self, x):
        y = x + self.attn(self.ln_1(x))
        return y + self.mlp(self.ln_2(y))


class Gpt(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(len(symbols), WIDTH), nn.Embedding(CONTEXT, WIDTH)
        self.h, self.ln_f = nn.ModuleList([Block() for _ in range(LAYERS)]), nn.LayerNorm(WIDTH)

    def forward(self, x):
        x = self.wte(x) + self.wpe(torch.arange(x.size(1)))
        for block in self.h:
            x = block(x)
        return self.ln_f(x) @ self.wte.weight.t()


model = random.initialize(Gpt())
with torch.no_grad():
    for table in (model.wte, model.wpe):
        table.weight.copy_(random.randn(*table.weight.shape) * 0.1)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, betas=(0.9, 0.95))
for step in range(5):
    places = random.randint(0, len(codes) - CONTEXT, (BATCH, 1)) + torch.arange(CONTEXT)
    loss = F.cross_entropy(model(codes[places]).flatten(0, 1), codes[places + 1].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    log(loss=loss)
log(decoded=F.cross_entropy(model(codes[None, :8])[0], codes[1:9]))
log.save(__file__)
