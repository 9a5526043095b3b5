import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical

from ports import Generator, Log

CARTS, STEPS, EPOCHS, DISCOUNT, LAMBDA, CLIP = 8, 32, 4, 0.99, 0.95, 0.2
random, log = Generator(0), Log()


class Cart:
    def __init__(self):
        self.reset()

    def reset(self):
        self.x, self.speed, self.angle, self.turn = random.uniform(-0.05, 0.05, (4,)).tolist()
        self.length = 0

    def push(self, action):
        force, c, s = 10.0 if action == 1 else -10.0, math.cos(self.angle), math.sin(self.angle)
        pull = (force + 0.05 * self.turn**2 * s) / 1.1
        turning = (9.8 * s - c * pull) / (0.5 * (4 / 3 - 0.1 * c * c / 1.1))
        moving = pull - 0.05 * turning * c / 1.1
        self.x, self.speed = self.x + 0.02 * self.speed, self.speed + 0.02 * moving
        self.angle, self.turn = self.angle + 0.02 * self.turn, self.turn + 0.02 * turning
        self.length += 1
        return self.length == 500 or abs(self.x) > 2.4 or abs(self.angle) > 0.2095


def mlp(out):
    return nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, out))


def observe():
    return torch.tensor([[c.x, c.speed, c.angle, c.turn] for c in carts], dtype=torch.float32)


actor, critic = mlp(2), mlp(1)
parameters = list(random.initialize(nn.ModuleList([actor, critic])).parameters())


def model(state):
    return Categorical(logits=actor(state)), critic(state).squeeze(-1)


optimizer = torch.optim.Adam(parameters, lr=3e-3)
carts, length = [Cart() for _ in range(CARTS)], 0
for step in range(5):
    states, actions, before, values, done, lengths = [], [], [], [], [], []
    with torch.no_grad():
        for t in range(STEPS):
            state = observe()
            policy, value = model(state)
            action = random.categorical(policy.logits)
            done.append([])
            for cart, a in zip(carts, action.tolist()):
                done[-1].append(cart.push(a))
                if done[-1][-1]:
                    lengths.append(cart.length)
                    cart.reset()
            states.append(state), actions.append(action), before.append(policy.log_prob(action)), values.append(value)
        values.append(model(observe())[1])
    length = np.mean(lengths) if lengths else length
    states, actions, before, values = map(torch.stack, (states, actions, before, values))
    raw = torch.zeros(STEPS, CARTS, dtype=torch.float64)
    for i in range(CARTS):
        total = 0
        for t in reversed(range(STEPS)):
            on = 0 if done[t][i] else 1
            total = 1 + DISCOUNT * on * values[t + 1, i].item() - values[t, i].item() + DISCOUNT * LAMBDA * on * total
            raw[t, i] = total
    raw = raw.float()
    wanted, advantage = raw + values[:-1], (raw - raw.mean()) / (raw.std() + 1e-8)
    for epoch in range(EPOCHS):
        policy, value = model(states)
        ratio = torch.exp(policy.log_prob(actions) - before)
        policy_loss = -torch.minimum(ratio * advantage, ratio.clamp(1 - CLIP, 1 + CLIP) * advantage).mean()
        value_loss, entropy = F.mse_loss(value, wanted), policy.entropy().mean()
        optimizer.zero_grad()
        (policy_loss + 0.5 * value_loss - 0.01 * entropy).backward()
        nn.utils.clip_grad_norm_(parameters, 0.5)
        optimizer.step()
    log(value_loss=value_loss, entropy=entropy, length=length)
log.save(__file__)
