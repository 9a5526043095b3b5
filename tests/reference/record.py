#!/usr/bin/env python3
"""Records what PyTorch makes of small networks: tests/reference/*.safetensors, which tests/unit/nn/reference_test.cpp compares with.
Only this script needs PyTorch; the recorded files are committed. They were made with PyTorch 1.13 on a CPU (Debian 12:
apt-get install python3-torch); what it lacks (rms_norm, rotary embeddings, attention as one function) is written out here from
the formulas that its documentation or the papers give. reduction.safetensors was made with PyTorch 2.15.

A case NAME records NAME/in.KEY (arguments and parameters), NAME/y, NAME/dy (the factor of each element of y in the loss), and
NAME/grad.KEY for each argument that is differentiated."""
import json
import math
import pathlib
import struct

import torch
import torch.nn as nn
import torch.nn.functional as F

OUT = pathlib.Path(__file__).resolve().parent
TYPES = {torch.float32: "F32", torch.int64: "I64", torch.bool: "BOOL"}


def save(name, tensors):
    header, blob = {}, b""
    for key, t in tensors.items():
        data = t.detach().contiguous().numpy().tobytes()
        header[key] = {"dtype": TYPES[t.dtype], "shape": list(t.shape), "data_offsets": [len(blob), len(blob) + len(data)]}
        blob += data
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    (OUT / f"{name}.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + blob)
    print(f"{name}.safetensors: {len(tensors)} tensors, {len(blob)} bytes")


def record(into, name, f, fixed=(), **given):
    """f(**given) is a tensor; floats are differentiated, but for those called in `fixed`."""
    leaves = {k: v.detach().clone().requires_grad_(v.is_floating_point() and k not in fixed) for k, v in given.items()}
    y = f(**leaves)
    dy = torch.randn(y.shape)
    y.backward(dy)
    for key, v in leaves.items():
        into[f"{name}/in.{key}"] = v
        if v.grad is not None:
            into[f"{name}/grad.{key}"] = v.grad
    into[f"{name}/y"], into[f"{name}/dy"] = y, dy


def record_module(into, name, module, call, **given):
    """call(module, **given); the module's parameters are arguments too."""
    parameters = {k: v for k, v in module.named_parameters()}

    def run(**tensors):
        for k in parameters:
            owner = module
            *path, last = k.split(".")
            for step in path:
                owner = getattr(owner, step)
            del owner._parameters[last]
            setattr(owner, last, tensors.pop(k))
        return call(module, **tensors)

    record(into, name, run, **given, **parameters)


def convolutions():
    t = {}
    for name, x, w, bias, options in [
        ("conv1d", (2, 3, 9), (4, 3, 3), True, {}),
        ("conv1d strided", (2, 2, 10), (3, 2, 3), True, dict(stride=2, padding=1)),
        ("conv1d dilated", (1, 2, 11), (2, 2, 3), False, dict(stride=2, padding=3, dilation=3)),
    ]:
        args = dict(x=torch.randn(x), weight=torch.randn(w)) | (dict(bias=torch.randn(w[0])) if bias else {})
        record(t, name, lambda options=options, **a: F.conv1d(a["x"], a["weight"], a.get("bias"), **options), **args)
    for name, x, w, bias, options in [
        ("conv2d", (2, 3, 7, 6), (4, 3, 3, 3), True, {}),
        ("conv2d strided", (2, 2, 9, 8), (3, 2, 3, 3), True, dict(stride=2, padding=1)),
        ("conv2d uneven", (1, 2, 8, 9), (3, 2, 2, 4), False, dict(stride=(1, 3), padding=(2, 0), dilation=(3, 1))),
        ("conv2d grouped", (2, 4, 6, 6), (6, 2, 3, 3), True, dict(padding=1, groups=2)),
        ("conv2d depthwise", (1, 3, 6, 5), (3, 1, 3, 3), True, dict(padding=1, groups=3)),
        ("conv2d one by one", (2, 5, 3, 4), (2, 5, 1, 1), True, dict(stride=2)),
    ]:
        args = dict(x=torch.randn(x), weight=torch.randn(w)) | (dict(bias=torch.randn(w[0])) if bias else {})
        record(t, name, lambda options=options, **a: F.conv2d(a["x"], a["weight"], a.get("bias"), **options), **args)
    record(t, "max_pool2d", lambda x: F.max_pool2d(x, 2), x=torch.randn(2, 3, 6, 7))
    record(t, "max_pool2d overlapping", lambda x: F.max_pool2d(x, 3, stride=2, padding=1), x=torch.randn(1, 2, 7, 8))
    record(t, "max_pool2d dilated", lambda x: F.max_pool2d(x, (2, 3), stride=1, dilation=(2, 1)), x=torch.randn(1, 2, 6, 6))
    record(t, "max_pool2d ties", lambda x: F.max_pool2d(x, 3, stride=1, padding=1), x=torch.randint(0, 3, (1, 2, 6, 6)).float())
    record(t, "avg_pool2d", lambda x: F.avg_pool2d(x, 2), x=torch.randn(2, 3, 6, 7))
    record(t, "avg_pool2d padded", lambda x: F.avg_pool2d(x, 3, stride=2, padding=1), x=torch.randn(1, 2, 7, 8))
    record(t, "avg_pool2d uncounted", lambda x: F.avg_pool2d(x, 3, stride=2, padding=1, count_include_pad=False),
           x=torch.randn(1, 2, 7, 8))
    save("conv", t)


def norms():
    t = {}
    affine = lambda c: dict(weight=torch.randn(c), bias=torch.randn(c))
    record(t, "layer_norm", lambda x, weight, bias: F.layer_norm(x, (6,), weight, bias), x=torch.randn(3, 2, 6), **affine(6))
    record(t, "group_norm", lambda x, weight, bias: F.group_norm(x, 3, weight, bias), x=torch.randn(2, 6, 3, 2), **affine(6))
    record(t, "group_norm of one", lambda x: F.group_norm(x, 4, eps=1e-3), x=torch.randn(2, 4, 5))
    record(t, "batch_norm in training", lambda x, weight, bias: F.batch_norm(x, None, None, weight, bias, training=True),
           x=torch.randn(4, 3, 2, 3), **affine(3))
    record(t, "batch_norm", lambda x, mean, variance, weight, bias: F.batch_norm(x, mean, variance, weight, bias),
           fixed=("mean", "variance"), x=torch.randn(4, 3, 2, 3), mean=torch.randn(3), variance=torch.rand(3) + 0.5, **affine(3))
    rms = lambda x, axes, eps: x * torch.rsqrt(x.pow(2).mean(axes, keepdim=True) + eps)
    record(t, "rms_norm", lambda x, weight: rms(x, (-1,), torch.finfo(torch.float32).eps) * weight, x=torch.randn(3, 2, 6),
           weight=torch.randn(6))
    record(t, "rms_norm of two axes", lambda x: rms(x, (-2, -1), 1e-2), x=torch.randn(3, 2, 6))
    # Two steps of training, then evaluation.
    layer = nn.BatchNorm2d(3, momentum=0.2)
    for i in (1, 2):
        x = torch.randn(4, 3, 2, 2) * i + i
        t[f"BatchNorm2d/x{i}"], t[f"BatchNorm2d/y{i}"] = x, layer(x)
    layer.eval()
    x = torch.randn(1, 3, 2, 2)
    t["BatchNorm2d/x3"], t["BatchNorm2d/y3"] = x, layer(x)
    t["BatchNorm2d/running_mean"], t["BatchNorm2d/running_var"] = layer.running_mean, layer.running_var
    save("norm", t)


def attend(q, k, v, mask=None, causal=False, scale=None):
    scores = q @ k.transpose(-1, -2) * (scale or 1 / math.sqrt(q.shape[-1]))
    if causal:
        scores = scores.masked_fill(~torch.ones(scores.shape[-2:], dtype=torch.bool).tril(), -math.inf)
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf) if mask.dtype == torch.bool else scores + mask
    return scores.softmax(-1) @ v


def rotated(x, base=10000.0, offset=0, interleaved=False):
    half = x.shape[-1] // 2
    angle = torch.outer(torch.arange(x.shape[-2]) + offset, base ** (-torch.arange(half) / half))
    wave = torch.polar(torch.ones_like(angle), angle)
    pairs = x.reshape(*x.shape[:-1], half, 2) if interleaved else torch.stack([x[..., :half], x[..., half:]], -1)
    turned = torch.view_as_real(torch.view_as_complex(pairs.contiguous()) * wave)
    return turned.reshape(x.shape) if interleaved else torch.cat([turned[..., 0], turned[..., 1]], -1)


def attention():
    t = {}
    qkv = lambda *shape: dict(q=torch.randn(*shape[:-2], shape[-2], 4), k=torch.randn(*shape[:-2], shape[-1], 4),
                              v=torch.randn(*shape[:-2], shape[-1], 3))
    record(t, "attention", attend, **qkv(2, 3, 5, 6))
    record(t, "attention causal", lambda q, k, v: attend(q, k, v, causal=True, scale=0.3), **qkv(2, 5, 7))
    mask = torch.rand(2, 1, 5, 6) < 0.6
    mask[..., 0] = True
    record(t, "attention masked", attend, mask=mask, **qkv(2, 3, 5, 6))
    record(t, "attention biased", attend, mask=torch.randn(5, 6), **qkv(3, 5, 6))
    record(t, "rotary", lambda x: rotated(x), x=torch.randn(2, 7, 6))
    record(t, "rotary interleaved", lambda x: rotated(x, base=100.0, offset=3, interleaved=True), x=torch.randn(2, 3, 5, 4))
    heads = lambda **options: nn.MultiheadAttention(8, 2, batch_first=True, **options)
    record_module(t, "MultiheadAttention", heads(), lambda m, x: m(x, x, x, need_weights=False)[0], x=torch.randn(2, 5, 8))
    record_module(t, "MultiheadAttention across", heads(bias=False), lambda m, q, k, v: m(q, k, v, need_weights=False)[0],
                  q=torch.randn(2, 3, 8), k=torch.randn(2, 5, 8), v=torch.randn(2, 5, 8))
    hidden = ~torch.ones(5, 5, dtype=torch.bool).tril()
    record_module(t, "MultiheadAttention causal", heads(),
                  lambda m, x: m(x, x, x, need_weights=False, attn_mask=hidden)[0], x=torch.randn(2, 5, 8))
    block = lambda **options: nn.TransformerEncoderLayer(8, 2, dim_feedforward=12, dropout=0.0, batch_first=True, **options)
    record_module(t, "TransformerEncoderLayer", block(), lambda m, x: m(x, src_mask=hidden), x=torch.randn(2, 5, 8))
    record_module(t, "TransformerEncoderLayer norm first", block(norm_first=True, activation="gelu"), lambda m, x: m(x),
                  x=torch.randn(2, 5, 8))
    save("attention", t)


def recurrent():
    t = {}
    x, h, c = torch.randn(3, 4), torch.randn(3, 5), torch.randn(3, 5)
    record_module(t, "RNNCell", nn.RNNCell(4, 5), lambda m, x, h: m(x, h), x=x, h=h)
    record_module(t, "RNNCell relu", nn.RNNCell(4, 5, nonlinearity="relu"), lambda m, x, h: m(x, h), x=x, h=h)
    record_module(t, "LSTMCell", nn.LSTMCell(4, 5), lambda m, x, h, c: torch.cat(m(x, (h, c)), 1), x=x, h=h, c=c)
    record_module(t, "LSTMCell without bias", nn.LSTMCell(4, 5, bias=False), lambda m, x, h, c: torch.cat(m(x, (h, c)), 1),
                  x=x, h=h, c=c)
    record_module(t, "GRUCell", nn.GRUCell(4, 5), lambda m, x, h: m(x, h), x=x, h=h)
    save("recurrent", t)


def reductions():
    t = {}
    long = lambda: dict(x=torch.randn(1, 4500))  # beyond 16 KiB one sweep takes all that is wanted of a row
    record(t, "logsumexp", lambda x: x.logsumexp(1), x=torch.randn(3, 4, 2) * 10)
    record(t, "var", lambda x: x.var((0, 2)), x=torch.randn(3, 4, 5) + 100)
    record(t, "std", lambda x: x.std(1, unbiased=False), x=torch.randn(3, 4))
    record(t, "cumsum", lambda x: x.cumsum(1), x=torch.randn(3, 5, 2))
    record(t, "extremes", lambda x: torch.stack([x.max(1).values, x.min(1).values, x.gather(1, x.argmax(1, True))[:, 0],
                                                 x.gather(1, x.argmin(1, True))[:, 0]]), x=torch.randn(4, 7))
    record(t, "long rows", lambda x: torch.stack([x.mean(1), x.var(1), x.logsumexp(1), x.cumsum(1)[:, -1]]), **long())
    x = torch.randn(1, 4500).round(decimals=1)  # with ties
    t["argmax/x"], t["argmax/y"], t["argmin/y"] = x, x.argmax(1), x.argmin(1)
    save("reduction", t)


if __name__ == "__main__":
    for seed, part in enumerate((convolutions, norms, attention, recurrent, reductions)):
        torch.manual_seed(seed)
        part()
