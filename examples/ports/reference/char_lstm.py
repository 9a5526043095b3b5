import pathlib
import re

import torch
import torch.nn as nn
import torch.nn.functional as F

from ports import Generator, Log

BATCH, WINDOW, HIDDEN = 4, 8, 48
source = (pathlib.Path(__file__).parent.parent / "char_lstm.cpp").read_text()
text = "".join(re.findall(r'^    "(.*)"', source, re.M))
symbols = sorted(set(text))
length = len(text) // BATCH
codes = torch.tensor([symbols.index(c) for c in text[: BATCH * length]]).reshape(BATCH, length)

random, log = Generator(0), Log()
embedding, decoder = nn.Embedding(len(symbols), 16), nn.Linear(HIDDEN, len(symbols))
lstm = nn.LSTM(16, HIDDEN, batch_first=True)
model = nn.ModuleList([embedding, decoder, lstm])
for part in (embedding, lstm, decoder):
    random.initialize(part)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
state, at = None, 0
for step in range(8):
    if at + WINDOW >= length:
        state, at = None, 0
    y, state = lstm(embedding(codes[:, at : at + WINDOW]), state)
    state = [s.detach() for s in state]
    loss = F.cross_entropy(decoder(y).flatten(0, 1), codes[:, at + 1 : at + WINDOW + 1].flatten())
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    at += WINDOW
    log(loss=loss)
log.save(__file__)
