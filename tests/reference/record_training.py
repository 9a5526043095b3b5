#!/usr/bin/env python3
"""Records what PyTorch 2.15 makes of trainings: optim.safetensors, what optimizers make of given gradients, for
tests/unit/nn/optim_rules_test.cpp; sequence.safetensors, recurrent networks, for tests/unit/nn/sequence_test.cpp;
transformer.safetensors for tests/unit/nn/transformer_test.cpp. What PyTorch has not (Lion, LAMB, Muon's iteration in float32) is written out from its paper.

Two parameters, p [5, 3] and q [4, 6], take STEPS gradients grad.p.T and grad.q.T; NAME/p.T and NAME/q.T are what they are after step T."""
import torch
import torch.nn as nn
import torch.nn.functional as F

from record import record, record_module, save

STEPS, KEPT = 7, (1, 2, 7)


class Lion(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-4, betas=(0.9, 0.99), weight_decay=0.0):
        super().__init__(params, dict(lr=lr, betas=betas, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            a, b = group["betas"]
            for p in group["params"]:
                m = self.state[p].setdefault("m", torch.zeros_like(p))
                p -= group["lr"] * ((a * m + (1 - a) * p.grad).sign() + group["weight_decay"] * p)
                m.mul_(b).add_(p.grad, alpha=1 - b)


class LAMB(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-6, weight_decay=1e-2):
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            a, b = group["betas"]
            for p in group["params"]:
                s = self.state[p]
                t = s["t"] = s.get("t", 0) + 1
                m, v = s.setdefault("m", torch.zeros_like(p)), s.setdefault("v", torch.zeros_like(p))
                m.mul_(a).add_(p.grad, alpha=1 - a)
                v.mul_(b).add_(p.grad**2, alpha=1 - b)
                d = m / (1 - a**t) / ((v / (1 - b**t)).sqrt() + group["eps"]) + group["weight_decay"] * p
                p -= group["lr"] * p.norm() / d.norm() * d


def wide_iteration(grad, coefficients, steps, eps):
    """torch.optim._muon's, in the type of the gradient."""
    a, b, c = coefficients
    x = grad.T if grad.size(0) > grad.size(1) else grad
    x = x / x.norm().clamp(min=eps)
    for _ in range(steps):
        gram = x @ x.T
        x = a * x + (b * gram + c * gram @ gram) @ x
    return x.T if grad.size(0) > grad.size(1) else x


O = torch.optim
RULES = {
    "SGD": lambda ps: O.SGD(ps, lr=0.1, momentum=0.9, dampening=0.3, weight_decay=0.1, maximize=True),
    "SGD nesterov": lambda ps: O.SGD(ps, lr=0.1, momentum=0.9, weight_decay=0.1, nesterov=True),
    "Adam": lambda ps: O.Adam(ps, lr=0.1, weight_decay=0.1, amsgrad=True, betas=(0.8, 0.9)),
    "Adam maximize": lambda ps: O.Adam(ps, lr=0.1, maximize=True),
    "AdamW": lambda ps: O.AdamW(ps, lr=0.1, amsgrad=True, betas=(0.8, 0.9)),
    "RMSprop": lambda ps: O.RMSprop(ps),
    "RMSprop centered": lambda ps: O.RMSprop(ps, lr=0.05, alpha=0.9, weight_decay=0.1, momentum=0.5, centered=True, maximize=True),
    "Adagrad": lambda ps: O.Adagrad(ps),
    "Adagrad decay": lambda ps: O.Adagrad(ps, lr=0.2, lr_decay=0.3, weight_decay=0.1, initial_accumulator_value=0.5, maximize=True),
    "Adadelta": lambda ps: O.Adadelta(ps),
    "Adadelta decay": lambda ps: O.Adadelta(ps, lr=0.5, rho=0.8, eps=1e-3, weight_decay=0.1, maximize=True),
    "NAdam": lambda ps: O.NAdam(ps, lr=0.1),
    "NAdam decay": lambda ps: O.NAdam(ps, lr=0.1, weight_decay=0.1, momentum_decay=0.1, maximize=True),
    "NAdam decoupled": lambda ps: O.NAdam(ps, lr=0.1, weight_decay=0.1, decoupled_weight_decay=True),
    "RAdam": lambda ps: O.RAdam(ps, lr=0.1),
    "RAdam decay": lambda ps: O.RAdam(ps, lr=0.1, betas=(0.8, 0.95), weight_decay=0.1, maximize=True),
    "RAdam decoupled": lambda ps: O.RAdam(ps, lr=0.1, weight_decay=0.1, decoupled_weight_decay=True),
    "Adamax": lambda ps: O.Adamax(ps),
    "Adamax decay": lambda ps: O.Adamax(ps, lr=0.1, betas=(0.8, 0.9), eps=1e-2, weight_decay=0.1, maximize=True),
    "Lion": lambda ps: Lion(ps, lr=0.1, weight_decay=0.1),
    "LAMB": lambda ps: LAMB(ps, lr=0.1),
    "Muon": lambda ps: O.Muon(ps, lr=0.1),
    "Muon wide": lambda ps: O.Muon(ps, lr=0.1, nesterov=False, momentum=0.8, adjust_lr_fn="match_rms_adamw"),
    "ASGD": lambda ps: O.ASGD(ps),
    "ASGD mean": lambda ps: O.ASGD(ps, lr=0.1, lambd=0.1, alpha=0.6, t0=3, weight_decay=0.1, maximize=True),
    "Rprop": lambda ps: O.Rprop(ps),
    "Rprop steps": lambda ps: O.Rprop(ps, lr=0.1, etas=(0.4, 1.5), step_sizes=(0.05, 0.2), maximize=True),
    "groups": lambda ps: O.AdamW([dict(params=ps[:1], weight_decay=0.2), dict(params=ps[1:], lr=0.05, betas=(0.8, 0.9))], lr=0.1),
}


def rosenbrock(optimizer, p, calls, times):
    """p after `times` steps from (-1.5, 2), and how often the function was evaluated."""
    for _ in range(times):
        def closure():
            optimizer.zero_grad()
            loss = (1 - p[0]) ** 2 + 10 * (p[1] - p[0] ** 2) ** 2
            loss.backward()
            calls.append(loss.item())
            return loss
        optimizer.step(closure)
    return p


def optimizers():
    t = {"p": torch.randn(5, 3), "q": torch.randn(4, 6)}
    for step in range(1, STEPS + 1):
        t[f"grad.p.{step}"], t[f"grad.q.{step}"] = torch.randn(5, 3), torch.randn(4, 6)
    for name, make in RULES.items():
        iteration = torch.optim._muon._zeropower_via_newtonschulz
        if name == "Muon wide":
            torch.optim._muon._zeropower_via_newtonschulz = wide_iteration
        ps = [t["p"].clone().requires_grad_(), t["q"].clone().requires_grad_()]
        rule = make(ps)
        for step in range(1, STEPS + 1):
            if name == "groups" and step == 4:
                rule.param_groups[0]["lr"], rule.param_groups[1]["weight_decay"] = 0.3, 0.5
            ps[0].grad, ps[1].grad = t[f"grad.p.{step}"].clone(), t[f"grad.q.{step}"].clone()
            rule.step()
            if step in KEPT:
                t[f"{name}/p.{step}"], t[f"{name}/q.{step}"] = ps[0].detach().clone(), ps[1].detach().clone()
        torch.optim._muon._zeropower_via_newtonschulz = iteration
    for name, options, times in [("LBFGS", dict(lr=0.1, max_iter=6), 3),
                                 ("LBFGS wolfe", dict(max_iter=10, line_search_fn="strong_wolfe", history_size=3), 3)]:
        calls, p = [], torch.tensor([-1.5, 2.0], dtype=torch.float32, requires_grad=True)
        rosenbrock(torch.optim.LBFGS([p], **options), p, calls, times)
        t[f"{name}/p"], t[f"{name}/calls"] = p.detach(), torch.tensor(len(calls))
    save("optim", t)


def turned(x, positions, base=10000.0):
    """x [..., size], its pairs rotated by positions [...]."""
    half = x.shape[-1] // 2
    angle = positions[..., None] * base ** (-torch.arange(half) / half)
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()], -1)


def transformers():
    t = {}
    x = lambda *shape: torch.randn(*shape)
    attend = F.scaled_dot_product_attention
    record(t, "attention grouped", lambda q, k, v: attend(q, k, v, enable_gqa=True), q=x(2, 4, 3, 4), k=x(2, 2, 5, 4), v=x(2, 2, 5, 3))
    lower = torch.ones(3, 5, dtype=torch.bool).tril(2)
    record(t, "attention lower right", lambda q, k, v: attend(q, k, v, attn_mask=lower), q=x(2, 3, 4), k=x(2, 5, 4), v=x(2, 5, 4))
    record(t, "rotary at positions", turned, x=x(2, 3, 6), positions=torch.tensor([[0, 5, 2], [7, 7, 100]]))
    padding = torch.tensor([[False, False, True, True], [False, True, False, False]])
    record_module(t, "MultiheadAttention weights", nn.MultiheadAttention(8, 2, batch_first=True),
                  lambda m, q, k, padding: torch.cat([y.flatten() for y in m(q, k, k, key_padding_mask=padding)]), q=x(2, 3, 8),
                  k=x(2, 4, 8), padding=padding)
    options = dict(dim_feedforward=6, dropout=0.0, batch_first=True)
    hidden = nn.Transformer.generate_square_subsequent_mask(3)
    record_module(t, "TransformerDecoderLayer", nn.TransformerDecoderLayer(4, 2, **options),
                  lambda m, x, memory: m(x, memory, tgt_mask=hidden), x=x(2, 3, 4), memory=x(2, 4, 4))
    record_module(t, "TransformerDecoderLayer norm first", nn.TransformerDecoderLayer(4, 2, norm_first=True, activation="gelu", **options),
                  lambda m, x, memory: m(x, memory), x=x(2, 3, 4), memory=x(2, 4, 4))
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, **options), 2, nn.LayerNorm(4))
    record_module(t, "TransformerEncoder", encoder, lambda m, x, padding: m(x, src_key_padding_mask=padding), x=x(2, 4, 4), padding=padding)
    record_module(t, "TransformerDecoder", nn.TransformerDecoder(nn.TransformerDecoderLayer(4, 2, **options), 2),
                  lambda m, x, memory: m(x, memory), x=x(3, 4), memory=x(5, 4))
    record_module(t, "Transformer", nn.Transformer(4, 2, 1, 1, **options),
                  lambda m, x, y, padding: m(x, y, tgt_mask=hidden, src_key_padding_mask=padding, memory_key_padding_mask=padding),
                  x=x(2, 4, 4), y=x(2, 3, 4), padding=padding)
    save("transformer", t)


def joined(output, state):
    """Output and states as one vector."""
    return torch.cat([t.flatten() for t in (output, *(state if isinstance(state, tuple) else (state,)))])


def sequences():
    t = {}
    x = lambda *shape: torch.randn(*shape)
    record_module(t, "RNN", nn.RNN(3, 4, 2), lambda m, x: joined(*m(x)), x=x(5, 2, 3))
    record_module(t, "RNN relu", nn.RNN(3, 4, nonlinearity="relu", bias=False, batch_first=True), lambda m, x, h: joined(*m(x, h)),
                  x=x(2, 5, 3), h=x(1, 2, 4))
    record_module(t, "LSTM", nn.LSTM(3, 4, 2, bidirectional=True), lambda m, x, h, c: joined(*m(x, (h, c))), x=x(5, 2, 3), h=x(4, 2, 4),
                  c=x(4, 2, 4))
    record_module(t, "LSTM projected", nn.LSTM(3, 4, 2, bidirectional=True, proj_size=2), lambda m, x, h, c: joined(*m(x, (h, c))),
                  x=x(3, 2, 3), h=x(4, 2, 2), c=x(4, 2, 4))
    record_module(t, "LSTM unbatched", nn.LSTM(3, 4), lambda m, x: joined(*m(x)), x=x(4, 3))
    record_module(t, "GRU", nn.GRU(3, 4, 2, bidirectional=True, batch_first=True), lambda m, x, h: joined(*m(x, h)), x=x(2, 5, 3),
                  h=x(4, 2, 4))
    pack = lambda x, lengths, sort: nn.utils.rnn.pack_padded_sequence(x, lengths, enforce_sorted=sort)
    pad = nn.utils.rnn.pad_packed_sequence

    def packed(lengths, sort, **options):
        def call(m, x, **states):
            y, state = m(pack(x, lengths, sort), tuple(states.values()) if len(states) == 2 else states.get("h"))
            return joined(pad(y, padding_value=0.5, **options)[0], state)
        return call

    record_module(t, "LSTM packed", nn.LSTM(3, 4, 2, bidirectional=True), packed([3, 5, 1], False), x=x(6, 3, 3), h=x(4, 3, 4),
                  c=x(4, 3, 4))
    record_module(t, "GRU packed", nn.GRU(3, 4), packed([4, 4, 2], True, total_length=6), x=x(5, 3, 3))
    record(t, "pack", lambda x: pack(x, [2, 4, 1], False).data, x=x(4, 3, 2))
    save("sequence", t)


if __name__ == "__main__":
    for seed, part in enumerate((optimizers, sequences, transformers)):
        torch.manual_seed(seed)
        part()
