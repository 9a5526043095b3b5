import math

import torch
import torch.nn as nn
import torch.nn.functional as F

from ports import Generator, Log

CLASSES, BATCH, SIZE, WIDTH, STEPS = 10, 8, 16, 8, 4
random, log = Generator(0), Log()


class BasicBlock(nn.Module):
    def __init__(self, inside, out, stride):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(inside, out, 3, stride, 1, bias=False), nn.BatchNorm2d(out)
        self.conv2, self.bn2 = nn.Conv2d(out, out, 3, padding=1, bias=False), nn.BatchNorm2d(out)
        self.shortcut = nn.Sequential()
        if stride != 1 or inside != out:
            self.shortcut = nn.Sequential(nn.Conv2d(inside, out, 1, stride, bias=False), nn.BatchNorm2d(out))

    def forward(self, x):
        return F.relu(self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x))))) + self.shortcut(x))


def stage(inside, out, stride):
    return nn.Sequential(BasicBlock(inside, out, stride), BasicBlock(out, out, 1))


def textures(n):
    y = random.randint(0, CLASSES, (n,))
    angle = (y.float() * (math.pi / CLASSES)).reshape(n, 1, 1, 1)
    phase, color = random.uniform(0.0, 6.0, (n, 1, 1, 1)), random.uniform(0.5, 1.5, (n, 3, 1, 1))
    at = torch.arange(SIZE, dtype=torch.float32)
    stripes = torch.sin(torch.cos(angle) * at + torch.sin(angle) * at.unsqueeze(-1) + phase)
    return color * stripes + 0.3 * random.randn(n, 3, SIZE, SIZE), y


model = random.initialize(nn.Sequential(
    nn.Conv2d(3, WIDTH, 3, padding=1, bias=False), nn.BatchNorm2d(WIDTH), nn.ReLU(), stage(WIDTH, WIDTH, 1), stage(WIDTH, 2 * WIDTH, 2),
    stage(2 * WIDTH, 4 * WIDTH, 2), stage(4 * WIDTH, 8 * WIDTH, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8 * WIDTH, CLASSES)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=5e-4)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, STEPS)
for step in range(STEPS):
    x, y = textures(BATCH)
    loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    schedule.step()
    log(loss=loss)
log.save(__file__)
