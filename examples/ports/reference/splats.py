import torch
import torch.nn.functional as F

from ports import Generator, Log

SPLATS, SIZE = 48, 24
random, log = Generator(0), Log()
place, log_size = random.uniform(0.0, 1.0, (SPLATS, 2)), random.uniform(-2.8, -2.2, (SPLATS, 2))
angle, color, opacity = random.uniform(0.0, 3.0, (SPLATS,)), random.uniform(-0.5, 0.5, (SPLATS, 3)), torch.zeros(SPLATS)
for p in (place, log_size, angle, color, opacity):
    p.requires_grad_()
at = (torch.arange(SIZE, dtype=torch.float32) + 0.5) / SIZE
points = torch.cartesian_prod(at, at)


def render():
    dx, dy = (points.unsqueeze(1) - place).unbind(2)
    c, d = torch.cos(angle), torch.sin(angle)
    along = torch.stack([c * dx + d * dy, c * dy - d * dx], 2) / torch.exp(log_size)
    alpha = torch.sigmoid(opacity) * torch.exp(-0.5 * along.square().sum(2))
    passes = 1 - 0.99 * alpha
    return (torch.cumprod(passes, 1) / passes * 0.99 * alpha) @ torch.sigmoid(color)


y, x = points.unbind(1)
sun = torch.sigmoid(60 * (0.2 - torch.hypot(x - 0.65, y - 0.35))).unsqueeze(1)
hill = torch.sigmoid(60 * (y - 0.7 - 0.15 * torch.cos(7 * x))).unsqueeze(1)
sky = torch.tensor([0.3, 0.5, 0.9]) * (1 - 0.5 * y.unsqueeze(1))
lit = sky + sun * (torch.tensor([1.0, 0.8, 0.2]) - sky)
wanted = lit + hill * (torch.tensor([0.1, 0.5, 0.2]) - lit)
optimizer = torch.optim.Adam([{"params": [place], "lr": 2e-3}, {"params": [log_size, angle], "lr": 2e-2},
                              {"params": [color, opacity], "lr": 5e-2}])
for step in range(10):
    loss = F.mse_loss(render(), wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    log(loss=loss)
log.save(__file__)
