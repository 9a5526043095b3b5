import torch
import torch.nn as nn
import torch.nn.functional as F

from ports import Generator, Log

SIZE, BATCH, DISCS = 32, 4, 3
random, log = Generator(0), Log()


def double_conv(inside, out):
    return nn.Sequential(nn.Conv2d(inside, out, 3, padding=1, bias=False), nn.BatchNorm2d(out), nn.ReLU(),
                         nn.Conv2d(out, out, 3, padding=1, bias=False), nn.BatchNorm2d(out), nn.ReLU())


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down1, self.down2, self.bottom = double_conv(1, 8), double_conv(8, 16), double_conv(16, 32)
        self.up2, self.join2 = nn.ConvTranspose2d(32, 16, 2, 2), double_conv(32, 16)
        self.up1, self.join1 = nn.ConvTranspose2d(16, 8, 2, 2), double_conv(16, 8)
        self.out = nn.Conv2d(8, 1, 1)

    def forward(self, x):
        d1 = self.down1(x)
        d2 = self.down2(F.max_pool2d(d1, 2))
        b = self.bottom(F.max_pool2d(d2, 2))
        u2 = self.join2(torch.cat([self.up2(b), d2], 1))
        return self.out(self.join1(torch.cat([self.up1(u2), d1], 1)))


def scenes(n):
    at = torch.arange(SIZE, dtype=torch.float32)
    x, y, radius = (random.uniform(low, high, (n, DISCS, 1, 1)) for low, high in ((4.0, 28.0), (4.0, 28.0), (3.0, 7.0)))
    mask = (torch.hypot(at - x, at.unsqueeze(-1) - y) < radius).any(1, keepdim=True).float()
    slope = at * random.uniform(-0.03, 0.03, (n, 1, 1, 1))
    return 0.7 * mask + slope + 0.4 * random.randn(n, 1, SIZE, SIZE), mask


model = random.initialize(UNet())
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
for step in range(4):
    image, mask = scenes(BATCH)
    scores = model(image)
    cross, p = F.binary_cross_entropy_with_logits(scores, mask), torch.sigmoid(scores)
    dice = 1 - (2 * (p * mask).sum() + 1) / (p.sum() + mask.sum() + 1)
    optimizer.zero_grad()
    (cross + dice).backward()
    optimizer.step()
    log(cross_entropy=cross, dice=dice)
log.save(__file__)
