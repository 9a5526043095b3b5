import torch
import torch.nn as nn
import torch.nn.functional as F

from ports import Generator, Log

NOISE, BATCH, SIZE = 32, 16, 16
random, log = Generator(0), Log()
generator = random.initialize(nn.Sequential(
    nn.ConvTranspose2d(NOISE, 32, 4, bias=False), nn.BatchNorm2d(32), nn.ReLU(),
    nn.ConvTranspose2d(32, 16, 4, stride=2, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU(),
    nn.ConvTranspose2d(16, 1, 4, stride=2, padding=1, bias=False), nn.Tanh()))
discriminator = random.initialize(nn.Sequential(
    nn.Conv2d(1, 16, 4, stride=2, padding=1, bias=False), nn.LeakyReLU(0.2),
    nn.Conv2d(16, 32, 4, stride=2, padding=1, bias=False), nn.BatchNorm2d(32), nn.LeakyReLU(0.2),
    nn.Conv2d(32, 1, 4, bias=False), nn.Sigmoid()))
generator_optimizer = torch.optim.Adam(generator.parameters(), lr=1e-3, betas=(0.5, 0.999))
discriminator_optimizer = torch.optim.Adam(discriminator.parameters(), lr=5e-4, betas=(0.5, 0.999))


def real_images(n):
    radius, x, y = (random.uniform(low, high, (n, 1, 1, 1)) for low, high in ((2.5, 6.0), (5.0, 10.0), (5.0, 10.0)))
    at = torch.arange(SIZE, dtype=torch.float32)
    return torch.tanh(2 * (radius - torch.hypot(at - x, at.unsqueeze(-1) - y)))


for step in range(6):
    discriminator_optimizer.zero_grad()
    real = discriminator(real_images(BATCH))
    real_loss = F.binary_cross_entropy(real, random.uniform(0.8, 1.0, real.shape))
    images = generator(random.randn(BATCH, NOISE, 1, 1))
    fake = discriminator(images.detach())
    discriminator_loss = real_loss + F.binary_cross_entropy(fake, torch.zeros_like(fake))
    discriminator_loss.backward()
    discriminator_optimizer.step()
    generator_optimizer.zero_grad()
    judged = discriminator(images)
    generator_loss = F.binary_cross_entropy(judged, torch.ones_like(judged))
    generator_loss.backward()
    generator_optimizer.step()
    log(discriminator=discriminator_loss, generator=generator_loss)
log.save(__file__)
