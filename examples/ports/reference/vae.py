import torch
import torch.nn as nn
import torch.nn.functional as F

from ports import Generator, Log

SIZE, HIDDEN, LATENT, BATCH = 16, 64, 4, 32
random, log = Generator(0), Log()


class Vae(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.mean, self.log_variance = nn.Linear(SIZE * SIZE, HIDDEN), nn.Linear(HIDDEN, LATENT), nn.Linear(HIDDEN, LATENT)
        self.fc3, self.fc4 = nn.Linear(LATENT, HIDDEN), nn.Linear(HIDDEN, SIZE * SIZE)


def images(n):
    x, y, width = (random.uniform(low, high, (n, 1, 1)) for low, high in ((5.0, 10.0), (5.0, 10.0), (2.0, 5.0)))
    at = torch.arange(SIZE, dtype=torch.float32)
    distance = torch.hypot((at - x) / width, (at.unsqueeze(-1) - y) / (7 - width))
    return torch.sigmoid(8 * (1 - distance)).reshape(n, -1)


model = random.initialize(Vae())
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for step in range(10):
    x = images(BATCH)
    h = F.relu(model.fc1(x))
    mean, log_variance = model.mean(h), model.log_variance(h)
    z = mean + torch.exp(0.5 * log_variance) * random.randn(BATCH, LATENT)
    made = model.fc4(F.relu(model.fc3(z)))
    divergence = -0.5 * (1 + log_variance - mean**2 - log_variance.exp()).sum()
    loss = (F.binary_cross_entropy_with_logits(made, x, reduction="sum") + divergence) / BATCH
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    log(loss=loss)
log.save(__file__)
