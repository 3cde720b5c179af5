"""Blocks of vision networks."""

import torch
import torch.nn.functional as F

from . import buffer, given, output, param, positive, task
from .demands import calls, problem


@task(
    param("w1", (4, 8, 1, 1), "conv1.weight"),
    param("g1", (4,), "bn1.weight"),
    param("b1", (4,), "bn1.bias"),
    buffer("rm1", (4,), "bn1.running_mean"),
    buffer("rv1", (4,), "bn1.running_var", make=positive),
    param("w2", (8, 4, 3, 3), "conv2.weight"),
    param("g2", (8,), "bn2.weight"),
    param("b2", (8,), "bn2.bias"),
    buffer("rm2", (8,), "bn2.running_mean"),
    buffer("rv2", (8,), "bn2.running_var", make=positive),
    given("x", 2, 8, 6, 6),
    output("y", 2, 8, 6, 6),
    demands=[problem],
)
def bottleneck(w1, g1, b1, rm1, rv1, w2, g2, b2, rm2, rv2, x):
    """
    A residual block in training mode: y = relu(x + bn2(conv2(relu(bn1(conv1(x)))))). conv1 is 1x1; conv2 is 3x3 with
    padding 1; neither has a bias. Each batch norm normalises a channel by the mean and the biased variance over the
    batch and both image axes, with eps 1e-5, then scales by weight g and adds bias b. It also updates its running
    statistics: new = 0.9 * old + 0.1 * batch value, where the batch value of the variance is the UNBIASED one (times
    n/(n-1), n = the number of elements averaged). Equations only, no kernels.
    """
    state = {}

    def norm(t, g, b, mean, var, name):
        mean, var = mean.clone(), var.clone()
        out = F.batch_norm(t, mean, var, g, b, training=True, momentum=0.1, eps=1e-5)
        state.update({f"rm{name}": mean, f"rv{name}": var})
        return out

    t = F.relu(norm(F.conv2d(x, w1), g1, b1, rm1, rv1, 1))
    y = F.relu(x + norm(F.conv2d(t, w2, padding=1), g2, b2, rm2, rv2, 2))
    return {"y": y, **state}


@task(
    param("w1", (2, 8), "fc1.weight"),
    param("c1", (2,), "fc1.bias"),
    param("w2", (8, 2), "fc2.weight"),
    param("c2", (8,), "fc2.bias"),
    given("x", 3, 8, 5, 4),
    output("y", 3, 8, 5, 4),
    demands=[problem],
)
def squeeze_excite(w1, c1, w2, c2, x):
    """
    Squeeze and excitation: average x over both image axes, apply fc1 (a linear layer, weight [out, in], and bias),
    relu, fc2, hardsigmoid; the result is a factor for every sample and channel by which x is multiplied. Equations
    only.
    """
    s = F.linear(F.relu(F.linear(x.mean((2, 3)), w1, c1)), w2, c2)
    return {"y": x * F.hardsigmoid(s)[:, :, None, None]}


@task(
    param("wd", (6, 1, 3, 3), "dw.weight"),
    param("wp", (10, 6, 1, 1), "pw.weight"),
    param("g", (6,), "bn.weight"),
    param("b", (6,), "bn.bias"),
    buffer("rm", (6,), "bn.running_mean"),
    buffer("rv", (6,), "bn.running_var", make=positive),
    given("x", 2, 6, 9, 9),
    output("y", 2, 10, 5, 5),
    demands=[problem],
)
def separable_conv(wd, wp, g, b, rm, rv, x):
    """
    A depthwise-separable convolution in evaluation mode: depthwise 3x3 (each channel by itself) with stride 2 and
    padding 1, batch norm by the running mean rm and variance rv (eps 1e-3; nothing is updated) with weight g and bias
    b, relu6, then a pointwise 1x1 convolution. No convolution has a bias. Equations only.
    """
    t = F.conv2d(x, wd, stride=2, padding=1, groups=6)
    t = F.relu6(F.batch_norm(t, rm, rv, g, b, training=False, eps=1e-3))
    return {"y": F.conv2d(t, wp)}


@task(
    param("wu", (6, 4, 2, 2), "up.weight"),
    param("bu", (4,), "up.bias"),
    param("wc", (5, 7, 3, 3), "conv.weight"),
    param("bc", (5,), "conv.bias"),
    given("x", 2, 6, 4, 4),
    given("skip", 2, 3, 8, 8),
    output("y", 2, 5, 8, 8),
    demands=[problem],
)
def unet_up(wu, bu, wc, bc, x, skip):
    """
    The up step of a U-Net: a transposed convolution of x with a 2x2 kernel, stride 2, no padding, and bias (weight
    [in, out, 2, 2]); then concatenate along channels, `skip` first (channels 0..2), the upsampled x after it (channels
    3..6); then a 3x3 convolution with padding 1 and bias; then leaky_relu with slope 0.2. Equations only.
    """
    up = F.conv_transpose2d(x, wu, bu, stride=2)
    return {"y": F.leaky_relu(F.conv2d(torch.cat([skip, up], 1), wc, bc, padding=1), 0.2)}


@task(
    param("wd", (4, 1, 7, 7), "dwconv.weight"),
    param("bd", (4,), "dwconv.bias"),
    param("g", (4,), "norm.weight"),
    param("b", (4,), "norm.bias"),
    param("w1", (12, 4), "pw1.weight"),
    param("b1", (12,), "pw1.bias"),
    param("w2", (4, 12), "pw2.weight"),
    param("b2", (4,), "pw2.bias"),
    param("gamma", (4,), "gamma"),
    given("x", 2, 4, 8, 8),
    output("y", 2, 4, 8, 8),
    demands=[problem],
)
def convnext(wd, bd, g, b, w1, b1, w2, b2, gamma, x):
    """
    A ConvNeXt block: depthwise 7x7 convolution with padding 3 and bias; layer norm over the channels of each pixel
    (biased variance, eps 1e-6, weight g, bias b); linear pw1 over channels with bias; gelu (the erf form); linear pw2
    over channels with bias; times gamma of the channel; plus the block's input x. x and y are [batch, channel, height,
    width]. Equations only.
    """
    t = F.conv2d(x, wd, bd, padding=3, groups=4).permute(0, 2, 3, 1)
    t = F.linear(F.gelu(F.linear(F.layer_norm(t, (4,), g, b, 1e-6), w1, b1)), w2, b2) * gamma
    return {"y": x + t.permute(0, 3, 1, 2)}


@task(
    param("w1", (4, 4, 1, 1), "branch.0.weight"),
    param("w2", (4, 1, 3, 3), "branch.1.weight"),
    param("w3", (4, 4, 1, 1), "branch.2.weight"),
    given("x", 2, 8, 6, 6),
    output("y", 2, 8, 6, 6),
    demands=[problem],
)
def shuffle_unit(w1, w2, w3, x):
    """
    A ShuffleNet unit. Split the 8 channels of x in halves: a = channels 0..3, c = channels 4..7. On c: 1x1 convolution
    w1, relu, depthwise 3x3 convolution w2 with padding 1, 1x1 convolution w3, relu; call the result d. Concatenate a
    and d along channels (a first), then shuffle the channels with 2 groups: out channel 2*i+g is channel 4*g+i of the
    concatenation, for i in 0..3 and g in 0..1. Equations only.
    """
    a, c = x[:, :4], x[:, 4:]
    d = F.relu(F.conv2d(F.conv2d(F.relu(F.conv2d(c, w1)), w2, padding=1, groups=4), w3))
    return {"y": F.channel_shuffle(torch.cat([a, d], 1), 2)}


@task(
    param("g", (6,), "norm.weight"),
    param("b", (6,), "norm.bias"),
    param("w1", (6, 6, 3, 3), "stage.0.conv.weight"),
    param("b1", (6,), "stage.0.conv.bias"),
    param("w2", (6, 6, 3, 3), "stage.1.conv.weight"),
    param("b2", (6,), "stage.1.conv.bias"),
    param("w3", (6, 6, 3, 3), "stage.2.conv.weight"),
    param("b3", (6,), "stage.2.conv.bias"),
    given("x", 2, 6, 5, 5),
    output("y", 2, 6, 5, 5),
    demands=[problem, calls("unit", 3)],
)
def stage(g, b, w1, b1, w2, b2, w3, b3, x):
    """
    First group norm x: 2 groups of 3 channels, mean and biased variance over the 3 channels and both image axes, eps
    1e-5, then weight g and bias b of the channel. Then three residual units one after the other, unit(t) = t +
    silu(conv(t)), where conv is 3x3 with padding 1 and bias. Write ONE def named `unit` that owns the parameters
    "conv.weight" and "conv.bias", and call it three times, at module paths "stage.0", "stage.1" and "stage.2"; the last
    result is y. The params g and b are declared outside. Equations only.
    """
    t = F.group_norm(x, 2, g, b)
    for w, c in ((w1, b1), (w2, b2), (w3, b3)):
        t = t + F.silu(F.conv2d(t, w, c, padding=1))
    return {"y": t}


@task(
    param("wa", (3, 4), "vlad.assign.weight"),
    param("ba", (3,), "vlad.assign.bias"),
    param("c", (3, 4), "vlad.centroids"),
    given("x", 2, 7, 4),
    output("y", 2, 12),
    demands=[problem],
)
def netvlad(wa, ba, c, x):
    """
    NetVLAD. x is [batch, points, 4]. a = softmax over the 3 clusters of (x wa^T + ba). v[batch, cluster, d] = sum over
    points of a * (x - c of the cluster). Normalise each v[batch, cluster, :] by its L2 norm, v / max(norm, 1e-12);
    flatten to [batch, 12] with the cluster index slower than d; normalise each row of that by its L2 norm in the same
    way. Equations only.
    """
    a = F.softmax(F.linear(x, wa, ba), -1)
    v = torch.einsum("bnk,bnd->bkd", a, x) - a.sum(1)[:, :, None] * c
    return {"y": F.normalize(F.normalize(v, dim=2).flatten(1), dim=1)}
