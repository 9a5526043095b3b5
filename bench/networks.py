"""The networks of networks/*.h in PyTorch, as people write them there: modules, in whose order their parameters stand, and how each is
trained."""
import math
from dataclasses import dataclass
from typing import Callable

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

import worker


class BasicBlock(nn.Module):
    def __init__(self, size_in, size, stride):
        super().__init__()
        self.conv1, self.norm1 = nn.Conv2d(size_in, size, 3, stride, 1, bias=False), nn.BatchNorm2d(size)
        self.conv2, self.norm2 = nn.Conv2d(size, size, 3, 1, 1, bias=False), nn.BatchNorm2d(size)
        self.shortcut = nn.Identity()
        if stride != 1 or size_in != size:
            self.shortcut = nn.Sequential(nn.Conv2d(size_in, size, 1, stride, bias=False), nn.BatchNorm2d(size))

    def forward(self, x):
        h = F.relu(self.norm1(self.conv1(x)), inplace=True)
        return F.relu(self.norm2(self.conv2(h)) + self.shortcut(x), inplace=True)


class ResNet18(nn.Sequential):
    def __init__(self):
        layers = [nn.Conv2d(3, 64, 3, 1, 1, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True)]
        before = 64
        for size in (64, 128, 256, 512):
            layers += [BasicBlock(before, size, 1 if size == 64 else 2), BasicBlock(size, size, 1)]
            before = size
        super().__init__(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10))


def conv_norm6(size_in, size, window, stride=1, groups=1):
    return nn.Sequential(nn.Conv2d(size_in, size, window, stride, window // 2, groups=groups, bias=False), nn.BatchNorm2d(size),
                         nn.ReLU6(inplace=True))


class InvertedResidual(nn.Module):
    def __init__(self, size_in, size, stride, expansion):
        super().__init__()
        wide = size_in * expansion
        self.layers = nn.Sequential(*([conv_norm6(size_in, wide, 1)] if expansion != 1 else []), conv_norm6(wide, wide, 3, stride, wide),
                                    nn.Conv2d(wide, size, 1, bias=False), nn.BatchNorm2d(size))
        self.residual = stride == 1 and size_in == size

    def forward(self, x):
        return x + self.layers(x) if self.residual else self.layers(x)


class MobileNetV2(nn.Sequential):
    def __init__(self):
        layers, before = [conv_norm6(3, 32, 3)], 32
        for expansion, size, blocks, stride in ((1, 16, 1, 1), (6, 24, 2, 1), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1)):
            for i in range(blocks):
                layers.append(InvertedResidual(before, size, stride if i == 0 else 1, expansion))
                before = size
        super().__init__(*layers, conv_norm6(96, 320, 1), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(320, 10))


def double_conv(size_in, size):
    return nn.Sequential(nn.Conv2d(size_in, size, 3, 1, 1, bias=False), nn.BatchNorm2d(size), nn.ReLU(inplace=True),
                         nn.Conv2d(size, size, 3, 1, 1, bias=False), nn.BatchNorm2d(size), nn.ReLU(inplace=True))


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down1, self.down2, self.down3 = double_conv(3, 32), double_conv(32, 64), double_conv(64, 128)
        self.bottom = double_conv(128, 256)
        self.wider3, self.up3 = nn.ConvTranspose2d(256, 128, 2, 2), double_conv(256, 128)
        self.wider2, self.up2 = nn.ConvTranspose2d(128, 64, 2, 2), double_conv(128, 64)
        self.wider1, self.up1 = nn.ConvTranspose2d(64, 32, 2, 2), double_conv(64, 32)
        self.out = nn.Conv2d(32, 10, 1)

    def forward(self, x):
        a = self.down1(x)
        b = self.down2(F.max_pool2d(a, 2))
        c = self.down3(F.max_pool2d(b, 2))
        h = self.bottom(F.max_pool2d(c, 2))
        h = self.up3(torch.cat([c, self.wider3(h)], 1))
        h = self.up2(torch.cat([b, self.wider2(h)], 1))
        return self.out(self.up1(torch.cat([a, self.wider1(h)], 1)))


def causal_attention(q, k, v, dropout):
    """What scaled_dot_product_attention() is, for a PyTorch that lacks it."""
    seen = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool, device=q.device).tril()
    scores = (q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])).masked_fill(~seen, -math.inf)
    return F.dropout(torch.softmax(scores, -1), dropout) @ v


class GptBlock(nn.Module):
    def __init__(self, size, heads, dropout):
        super().__init__()
        self.norm1, self.qkv, self.project = nn.LayerNorm(size), nn.Linear(size, 3 * size), nn.Linear(size, size)
        self.norm2, self.wide, self.narrow = nn.LayerNorm(size), nn.Linear(size, 4 * size), nn.Linear(4 * size, size)
        self.heads, self.dropout = heads, dropout

    def forward(self, x):
        n, positions, size = x.shape
        dropout = self.dropout if self.training else 0.0
        q, k, v = (t.view(n, positions, self.heads, size // self.heads).transpose(1, 2) for t in self.qkv(self.norm1(x)).chunk(3, -1))
        if hasattr(F, "scaled_dot_product_attention"):
            y = F.scaled_dot_product_attention(q, k, v, dropout_p=dropout, is_causal=True)
        else:
            y = causal_attention(q, k, v, dropout)
        x = x + F.dropout(self.project(y.transpose(1, 2).reshape(n, positions, size)), dropout)
        return x + F.dropout(self.narrow(F.gelu(self.wide(self.norm2(x)))), dropout)


class Gpt(nn.Module):
    TOKENS, POSITIONS, SIZE, HEADS, LAYERS, DROPOUT = 256, 128, 128, 4, 4, 0.1

    def __init__(self):
        super().__init__()
        self.token, self.position = nn.Embedding(self.TOKENS, self.SIZE), nn.Embedding(self.POSITIONS, self.SIZE)
        self.drop = nn.Dropout(self.DROPOUT)
        self.blocks = nn.Sequential(*(GptBlock(self.SIZE, self.HEADS, self.DROPOUT) for _ in range(self.LAYERS)))
        self.norm, self.out = nn.LayerNorm(self.SIZE), nn.Linear(self.SIZE, self.TOKENS, bias=False)

    def forward(self, tokens):
        positions = torch.arange(tokens.shape[1], device=tokens.device)
        return self.out(self.norm(self.blocks(self.drop(self.token(tokens) + self.position(positions)))))


class Transformer(Gpt):
    TOKENS, POSITIONS, SIZE, HEADS, LAYERS, DROPOUT = 4096, 512, 512, 8, 6, 0.0


class Blocks(nn.Module):
    POSITIONS, SIZE, HEADS, LAYERS = 128, 256, 4, 12

    def __init__(self):
        super().__init__()
        self.blocks = nn.Sequential(*(GptBlock(self.SIZE, self.HEADS, 0.0) for _ in range(self.LAYERS)))
        self.norm, self.out = nn.LayerNorm(self.SIZE), nn.Linear(self.SIZE, 10)

    def call(self, block, x):
        return block(x)

    def forward(self, x):
        for block in self.blocks:
            x = self.call(block, x)
        return self.out(self.norm(x).mean(1))


class CheckpointedBlocks(Blocks):
    def call(self, block, x):
        return checkpoint(block, x, use_reentrant=False)


class LstmModel(nn.Module):
    """The peer of both ways to write it: one call is quicker than a loop over nn.LSTMCell."""
    TOKENS, POSITIONS, SIZE = 256, 64, 256

    def __init__(self):
        super().__init__()
        self.token, self.lstm = nn.Embedding(self.TOKENS, self.SIZE), nn.LSTM(self.SIZE, self.SIZE, batch_first=True)
        self.out = nn.Linear(self.SIZE, self.TOKENS)

    def forward(self, tokens):
        return self.out(self.lstm(self.token(tokens))[0])


class Vae(nn.Module):
    LATENT = 20

    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv2d(1, 32, 3, 2, 1), nn.ReLU(), nn.Conv2d(32, 64, 3, 2, 1), nn.ReLU(), nn.Flatten(),
                                     nn.Linear(64 * 7 * 7, 2 * self.LATENT))
        self.decoder = nn.Sequential(nn.Linear(self.LATENT, 64 * 7 * 7), nn.ReLU(), nn.Unflatten(1, (64, 7, 7)),
                                     nn.Upsample(scale_factor=2), nn.Conv2d(64, 32, 3, 1, 1), nn.ReLU(),
                                     nn.Upsample(scale_factor=2), nn.Conv2d(32, 1, 3, 1, 1))

    def forward(self, x):
        return self.decoder(self.encoder(x).chunk(2, 1)[0])

    def loss(self, x):
        mean, log_variance = self.encoder(x).chunk(2, 1)
        z = mean + torch.exp(0.5 * log_variance) * torch.randn_like(mean) if self.training else mean
        divergence = -0.5 * (1 + log_variance - mean.square() - log_variance.exp()).sum()
        return (F.binary_cross_entropy_with_logits(self.decoder(z), x, reduction="sum") + divergence) / x.numel()


class MixerBlock(nn.Module):
    def __init__(self, patches, size):
        super().__init__()
        two = lambda size, hidden: nn.Sequential(nn.Linear(size, hidden), nn.GELU(), nn.Linear(hidden, size))
        self.norm1, self.patches = nn.LayerNorm(size), two(patches, patches)
        self.norm2, self.channels = nn.LayerNorm(size), two(size, 4 * size)

    def forward(self, x):
        x = x + self.patches(self.norm1(x).transpose(1, 2)).transpose(1, 2)
        return x + self.channels(self.norm2(x))


class Mixer(nn.Module):
    PATCHES, SIZE, LAYERS = 64, 128, 8

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, self.SIZE, 4, 4)
        self.blocks = nn.Sequential(*(MixerBlock(self.PATCHES, self.SIZE) for _ in range(self.LAYERS)))
        self.norm, self.out = nn.LayerNorm(self.SIZE), nn.Linear(self.SIZE, 10)

    def forward(self, x):
        return self.out(self.norm(self.blocks(self.stem(x).flatten(2).transpose(1, 2))).mean(1))


def rotated(x, angles):
    """Su et al., 2021: pairs of x's halves, by the angles."""
    a, b = x.chunk(2, -1)
    return torch.cat([a * angles.cos() - b * angles.sin(), b * angles.cos() + a * angles.sin()], -1)


class DecoderBlock(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.before, self.after = nn.LayerNorm(size), nn.LayerNorm(size)
        self.qkv, self.out = nn.Linear(size, 3 * size), nn.Linear(size, size)
        self.wide, self.narrow = nn.Linear(size, 4 * size), nn.Linear(4 * size, size)

    def forward(self, x, angles, seen, cache):
        q, k, v = self.qkv(self.before(x)).unflatten(2, (3, -1, 64)).permute(2, 0, 3, 1, 4)
        for kept, new in zip(cache, (rotated(k, angles), v)):
            kept[:, :, seen - 1:seen] = new
        y = F.scaled_dot_product_attention(rotated(q, angles), *(kept[:, :, :seen] for kept in cache))
        h = x + self.out(y.transpose(1, 2).flatten(2))
        return h + self.narrow(F.gelu(self.wide(self.after(h))))


class Decoder(nn.Module):
    """Writes a token at a time, with keys and values of those before in caches."""
    def __init__(self, layers, size, tokens):
        super().__init__()
        self.token, self.blocks = nn.Embedding(tokens, size), nn.ModuleList(DecoderBlock(size) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(size), nn.Linear(size, tokens, bias=False)
        self.register_buffer("speeds", 1e4 ** (-torch.arange(0, 64, 2) / 64), persistent=False)

    def forward(self, last, seen, caches):
        x, angles = self.token(last), (seen - 1) * self.speeds
        for block, cache in zip(self.blocks, caches):
            x = block(x, angles, seen, cache)
        return self.head(self.norm(x))


# Batches, as arrays: what the network is given, and what it is to answer.
def classes(n):
    return worker.uniform((n, 3, 32, 32), 1), worker.labels(n)


def features(n):
    return worker.uniform((n, Blocks.POSITIONS, Blocks.SIZE), 1), worker.labels(n)


def pixels(n):
    return worker.uniform((n, 3, 64, 64), 1), worker.labels(n * 64 * 64).reshape(n, 64, 64)


def digits(n):
    x = worker.aligned(worker.uniform((n, 1, 28, 28), 1) + 0.5)
    return x, x


def text(model):
    def batch(n):
        tokens = worker.labels(n * (model.POSITIONS + 1), model.TOKENS).reshape(n, -1)
        return worker.aligned(tokens[:, :-1]), worker.aligned(tokens[:, 1:])
    return batch


def class_loss(model, x, y):
    return F.cross_entropy(model(x), y)


def token_loss(model, x, y):
    return F.cross_entropy(model(x).flatten(0, 1), y.flatten())


@dataclass(frozen=True)
class Recipe:
    """How a network is trained, as in sinter_networks.cpp."""
    model: Callable
    optimizer: Callable
    options: dict
    batch: Callable
    loss: Callable
    draws: bool = False  # random numbers, in training: steps are compared in eval mode, where there are none


MOMENTUM = {"lr": 1e-3, "momentum": 0.9}
RECIPES = {
    "resnet18": Recipe(ResNet18, torch.optim.SGD, MOMENTUM, classes, class_loss),
    "mobilenet": Recipe(MobileNetV2, torch.optim.SGD, MOMENTUM, classes, class_loss),
    "unet": Recipe(UNet, torch.optim.Adam, {"lr": 1e-4}, pixels, class_loss),
    "gpt": Recipe(Gpt, torch.optim.AdamW, {"lr": 1e-3}, text(Gpt), token_loss, True),
    "transformer": Recipe(Transformer, torch.optim.AdamW, {"lr": 1e-4}, text(Transformer), token_loss),
    "blocks": Recipe(Blocks, torch.optim.AdamW, {"lr": 1e-4}, features, class_loss),
    "blocks-checkpoint": Recipe(CheckpointedBlocks, torch.optim.AdamW, {"lr": 1e-4}, features, class_loss),
    "lstm": Recipe(LstmModel, torch.optim.Adam, {"lr": 1e-3}, text(LstmModel), token_loss),
    "lstm-layer": Recipe(LstmModel, torch.optim.Adam, {"lr": 1e-3}, text(LstmModel), token_loss),
    "vae": Recipe(Vae, torch.optim.Adam, {"lr": 1e-3}, digits, lambda model, x, y: model.loss(x), True),
    "mixer": Recipe(Mixer, torch.optim.Adam, {"lr": 1e-3}, classes, class_loss),
}


def recipe(name):
    if name not in RECIPES:
        raise ValueError("unknown case")
    return RECIPES[name]


def set_parameters(model):
    """As set_parameters() in sinter_networks.cpp."""
    norms = {id(m.weight) for m in model.modules() if isinstance(m, (nn.BatchNorm2d, nn.LayerNorm))}
    with torch.no_grad():
        for i, parameter in enumerate(model.parameters()):
            values = torch.from_numpy(worker.uniform(tuple(parameter.shape), 10 + i))
            if parameter.ndim == 1:
                values = values * 0.1 + (1.0 if id(parameter) in norms else 0.0)
            else:
                values = values * math.sqrt(12 * parameter.shape[0] / parameter.numel())
            parameter.copy_(values)
    return model
