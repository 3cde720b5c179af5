"""Writes tests/golden/language/*.json: the programs of examples/programs at small dims, with their inputs and
PyTorch's results.

Needs PyTorch (any build). The C++ tests compare the interpreter with these files and need no Python:
    python tools/language_fixtures.py
"""

import argparse
import json
import pathlib

import torch
import torch.nn as nn
import torch.nn.functional as F

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "tests/golden/language"
torch.set_default_dtype(torch.float64)
torch.manual_seed(1)


def rand(*shape):
    """Values of three decimals: short in the file, exact in both."""
    return (torch.randn(*shape) * 1000).round() / 1000


def tensor(value):
    return {"shape": list(value.shape), "values": value.detach().reshape(-1).tolist()}


def write(program, dims, inputs, expected):
    record = {
        "program": program,
        "dims": dims,
        "inputs": {name: tensor(v) for name, v in inputs.items()},
        "expected": {name: tensor(v) for name, v in expected.items()},
    }
    (FOLDER / f"{program}.json").write_text(json.dumps(record) + "\n")


def linear_gelu():
    x, w, b = rand(3, 5), rand(4, 5), rand(4)
    write("01_linear_gelu", dict(M=3, K=5, N=4), dict(x=x, w=w, b=b), dict(y=F.gelu(F.linear(x, w, b))))


def conv_bn_relu_conv():
    x, w1, w2 = rand(2, 2, 4, 3), rand(3, 2, 3, 3), rand(3, 3, 3, 3)
    bn = nn.BatchNorm2d(3)
    bn.weight.data, bn.bias.data = rand(3), rand(3)
    rm, rv = bn.running_mean.clone(), bn.running_var.clone()
    y = F.conv2d(F.relu(bn(F.conv2d(x, w1, padding=1))), w2, padding=1)
    inputs = dict(x=x, w1=w1, w2=w2, g=bn.weight, be=bn.bias, rm=rm, rv=rv)
    expected = dict(y=y, rm1=bn.running_mean, rv1=bn.running_var)
    write("02_conv_bn_relu_conv", dict(B=2, C=2, K=3, H=4, W=3), inputs, expected)


def convt():
    x, w, b, b2 = rand(2, 3, 3, 4), rand(3, 2, 3, 3), rand(2), rand(2, 1, 1)
    t = F.conv_transpose2d(x, w, b, 2, 1, 1) + b2
    y = torch.clamp(torch.clamp(t, 0, 1) * 2, 0, 1) / 2
    write("03_convt", dict(B=2, C=3, K=2, H=3, W=4), dict(x=x, w=w, b=b, b2=b2), dict(y=y))


def groupnorm():
    x, g, be = rand(2, 6, 3, 4), rand(6), rand(6)
    write("04_groupnorm", dict(B=2, C=6, G=3, H=3, W=4), dict(x=x, g=g, be=be), dict(y=F.group_norm(x, 3, g, be)))


def softmax():
    x = rand(4, 9)
    write("05_softmax", dict(M=4, N=9), dict(x=x), dict(y=x.softmax(1)))


def attention():
    b, t, h, d = 2, 5, 2, 3
    x, wq, bq = rand(b, t, h * d), rand(3 * h * d, h * d), rand(3 * h * d)
    q, k, v = [z.view(b, t, h, d).transpose(1, 2) for z in F.linear(x, wq, bq).split(h * d, 2)]
    o = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, t, h * d)
    write("06_attention", dict(B=b, T=t, H=h, D=d), dict(x=x, wq=wq, bq=bq), dict(o=o))


def lstm():
    net = nn.LSTM(4, 3, 6, batch_first=True)
    names = dict(wi="weight_ih", wh="weight_hh", bi="bias_ih", bh="bias_hh")
    inputs = dict(x=rand(2, 4, 4), h0=rand(6, 2, 3), c0=rand(6, 2, 3))
    for layer in range(6):
        for short, name in names.items():
            weight = getattr(net, f"{name}_l{layer}")
            weight.data = rand(*weight.shape)
            inputs[f"lstm.l{layer}.{short}"] = weight
    hn = net(inputs["x"], (inputs["h0"], inputs["c0"]))[1][0]
    write("07_lstm", dict(B=2, T=4, I=4, U=3), inputs, dict(hn=hn))


def maxpool():
    x = rand(1, 2, 9, 9, 9)
    write("08_maxpool", dict(B=1, C=2, X=9), dict(x=x), dict(y=F.max_pool3d(x, 3, 2, 1, 3)))


def cross_entropy():
    x, t = rand(6, 5), torch.tensor([0, 4, -100, 2, 1, 1])
    write("09_cross_entropy", dict(M=6, C=5), dict(x=x, t=t), dict(loss=F.cross_entropy(x, t)))


def dense_block():
    x = rand(2, 3, 3, 4)
    p = dict(g1=rand(3), b1=rand(3), w1=rand(2, 3, 3, 3), g2=rand(5), b2=rand(5), w2=rand(2, 5, 3, 3))
    f = x
    for i in "12":
        norm = F.batch_norm(f, None, None, p["g" + i], p["b" + i], True)
        f = torch.cat([f, F.conv2d(F.relu(norm), p["w" + i], padding=1)], 1)
    write("10_dense_block", dict(B=2, H=3, W=4, G=2, C=3), dict(x=x, **p), dict(f=f))


def moe():
    x, wr, w1, w2 = rand(6, 3), rand(4, 3), rand(4, 5, 3), rand(4, 3, 5)
    value, expert = (x @ wr.T).topk(2)
    gate = value.softmax(-1)
    rows = [sum(gate[t, s] * (w2[expert[t, s]] @ F.silu(w1[expert[t, s]] @ x[t])) for s in range(2)) for t in range(6)]
    write("11_moe", dict(T=6, D=3, F=5, E=4), dict(x=x, wr=wr, w1=w1, w2=w2), dict(y=torch.stack(rows)))


def cuda_torch():
    x, grid, g = rand(2, 3, 4, 4), torch.rand(2, 4, 4, 2) * 2 - 1, rand(3)
    s = F.grid_sample(x, grid, align_corners=False)
    y = F.silu(s * torch.rsqrt((s**2).mean(1, keepdim=True) + 1e-6) * g[:, None, None])
    write("12_cuda_torch", dict(B=2, C=3, H=4, W=4), dict(x=x, grid=grid, g=g, s=s), dict(y=y))


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__).parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    for make in (
        linear_gelu,
        conv_bn_relu_conv,
        convt,
        groupnorm,
        softmax,
        attention,
        lstm,
        maxpool,
        cross_entropy,
        dense_block,
        moe,
        cuda_torch,
    ):
        make()
