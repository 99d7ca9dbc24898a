"""torch.compile on tensors of device `cuda` against the CPU, forward and backward, one check for each module or function."""
import copy

import torch
import torch.nn.functional as F
from torch import nn

from checks import check

torch.manual_seed(0)
ROW = (32, 96)
IMAGE = (2, 4, 12, 12)


def close(a, b):
    if not torch.allclose(a.detach().cpu(), b.detach(), rtol=2e-4, atol=2e-5):
        return f"off by {(a.detach().cpu() - b.detach()).abs().max().item():.3g}"


def run(function, shape, backward=True):
    torch.compiler.reset()  # one function after the other: there is a limit for one
    x = torch.randn(shape, requires_grad=backward)
    y = x.detach().to("cuda").requires_grad_(backward)
    there = copy.deepcopy(function).cuda() if isinstance(function, nn.Module) else function
    expected, got = function(x), torch.compile(there)(y)
    wrong = close(got, expected)
    if backward and not wrong:
        weights = torch.randn(expected.shape)
        torch.autograd.backward(expected, weights)
        torch.autograd.backward(got, weights.cuda())
        wrong = close(y.grad, x.grad)
        wrong = wrong and "gradient " + wrong
    return wrong


def residual(x):
    return x + F.gelu(F.layer_norm(x, x.shape[-1:]))


def rotary(x):
    a, b = x.chunk(2, -1)
    angle = torch.arange(a.shape[-1], device=x.device) * 0.01
    return torch.cat([a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()], -1)


def rms_norm(x):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)


def loss(x):
    return F.cross_entropy(x, torch.arange(x.shape[0], device=x.device) % x.shape[1])


ROWS = {
    "GELU": nn.GELU(), "ReLU": nn.ReLU(), "SiLU": nn.SiLU(), "ELU": nn.ELU(), "Softplus": nn.Softplus(), "Mish": nn.Mish(),
    "Hardswish": nn.Hardswish(), "LeakyReLU": nn.LeakyReLU(), "Sigmoid": nn.Sigmoid(), "Tanh": nn.Tanh(), "Softsign": nn.Softsign(),
    "LogSigmoid": nn.LogSigmoid(), "PReLU": nn.PReLU(), "Softmax": nn.Softmax(-1), "LogSoftmax": nn.LogSoftmax(-1),
    "LayerNorm": nn.LayerNorm(96), "RMSNorm": nn.RMSNorm(96), "GLU": nn.GLU(), "BatchNorm1d": nn.BatchNorm1d(96),
    "normalize": F.normalize, "logsumexp": lambda x: x.logsumexp(-1), "variance": lambda x: x.var(-1), "sum": lambda x: x.sum(),
    "mean of columns": lambda x: x.mean(0), "product": lambda x: (x * 0.1 + 1).prod(-1), "cumsum": lambda x: x.cumsum(-1),
    "maximum": lambda x: x.max(-1).values, "clamp": lambda x: x.clamp(-1, 1), "where": lambda x: torch.where(x > 0, x, x * x),
    "transpose": lambda x: (x.t() * 2).contiguous(), "gather": lambda x: x[:, torch.arange(0, 96, 3, device=x.device)],
    "residual block": residual, "rotary embedding": rotary, "rms_norm by hand": rms_norm, "cross entropy": loss,
    "smooth L1": lambda x: F.smooth_l1_loss(x, x * 0.5), "outer product": lambda x: x[0][:, None] * x[1][None, :],
}
IMAGES = {
    "MaxPool2d": nn.MaxPool2d(2), "AvgPool2d": nn.AvgPool2d(2), "GroupNorm": nn.GroupNorm(2, 4), "BatchNorm2d": nn.BatchNorm2d(4),
    "upsample": lambda x: F.interpolate(x, scale_factor=2.0, mode="bilinear"), "pad": lambda x: F.pad(x, (1, 2, 3, 0)),
}
for shape, functions in (ROW, ROWS), (IMAGE, IMAGES):
    for name, function in functions.items():
        check(name.replace(" ", "-"), lambda: run(function, shape))
