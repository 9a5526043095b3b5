import math

import torch
import torch.nn as nn
from torch.func import hessian, vmap

from ports import Generator, Log

INSIDE, EDGE, HIDDEN = 64, 32, 24
random, log = Generator(0), Log()
model = random.initialize(nn.Sequential(nn.Linear(2, HIDDEN), nn.Tanh(), nn.Linear(HIDDEN, HIDDEN), nn.Tanh(), nn.Linear(HIDDEN, 1)))


def u(p):
    return model(p).squeeze(-1)


optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for step in range(10):
    inside = random.rand(INSIDE, 2)
    along, side = random.rand(EDGE, 1), random.randint(0, 2, (EDGE, 1)).float()
    vertical = random.randint(0, 2, (EDGE, 1)) == 1
    edge = torch.where(vertical, torch.cat([side, along], 1), torch.cat([along, side], 1))
    source = 2 * math.pi**2 * torch.sin(math.pi * inside).prod(-1)
    equation = (vmap(lambda p: hessian(u)(p).trace())(inside) + source).square().mean()
    boundary = u(edge).square().mean()
    optimizer.zero_grad()
    (equation + 100 * boundary).backward()
    optimizer.step()
    log(equation=equation, boundary=boundary)
log.save(__file__)
