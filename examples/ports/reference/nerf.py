import math

import torch
import torch.nn as nn
import torch.nn.functional as F

from ports import Generator, Log

RAYS, SAMPLES, FREQUENCIES, HIDDEN, NEAR, FAR = 64, 24, 4, 64, 1.0, 5.0
random, log = Generator(0), Log()
centers = torch.tensor([[-0.6, 0.0, 0.3], [0.5, 0.4, 0.0], [0.1, -0.5, -0.5]])


def scene(points):
    each = 6 * torch.exp(-12 * (points.unsqueeze(-2) - centers).square().sum(-1))
    total = each.sum(-1)
    return total, each / (total.unsqueeze(-1) + 1e-6)


class Nerf(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(3 + 6 * FREQUENCIES, HIDDEN), nn.Linear(HIDDEN, HIDDEN)
        self.density, self.color = nn.Linear(HIDDEN, 1), nn.Linear(HIDDEN, 3)

    def forward(self, x):
        angles = (x.unsqueeze(-1) * torch.exp2(torch.arange(FREQUENCIES, dtype=torch.float32))).flatten(-2)
        h = F.relu(self.fc2(F.relu(self.fc1(torch.cat([x, torch.sin(angles), torch.cos(angles)], -1)))))
        return F.softplus(self.density(h)).squeeze(-1), torch.sigmoid(self.color(h))


def render(field, origin, direction, jitter):
    width = (FAR - NEAR) / SAMPLES
    t = NEAR + width * (torch.arange(SAMPLES, dtype=torch.float32) + jitter)
    density, color = field(origin.unsqueeze(1) + direction.unsqueeze(1) * t.unsqueeze(-1))
    passes = torch.exp(-density * width)
    weight = torch.cumprod(passes, 1) / passes * (1 - passes)
    return (weight.unsqueeze(-1) * color).sum(1)


model = random.initialize(Nerf())
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for step in range(10):
    angle = random.uniform(0.0, 2 * math.pi, (RAYS,))
    origin = torch.stack([3 * torch.cos(angle), torch.zeros_like(angle), 3 * torch.sin(angle)], -1)
    direction = F.normalize(random.uniform(-1.0, 1.0, (RAYS, 3)) - origin, dim=-1)
    jitter = random.rand(RAYS, SAMPLES)
    loss = F.mse_loss(render(model, origin, direction, jitter), render(scene, origin, direction, jitter))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    log(loss=loss)
log.save(__file__)
