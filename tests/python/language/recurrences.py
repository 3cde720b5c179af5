"""Recurrent layers, and defs that are called."""

import torch
import torch.nn as nn
import torch.nn.functional as F

from . import case, rand


def weights(layer, prefix):
    """A layer of float64 as inputs of a program: `prefix` maps each parameter's name."""
    return {prefix(name): value.detach() for name, value in layer.named_parameters()}


torch.manual_seed(3)
LSTM = nn.LSTM(4, 3, 2, batch_first=True, dtype=torch.float64)
GRU = nn.GRU(4, 3, 1, bidirectional=True, dtype=torch.float64)
RNN = nn.RNN(4, 3, dtype=torch.float64)

_SHORT = {"weight_ih": "wi", "weight_hh": "wh", "bias_ih": "bi", "bias_hh": "bh"}


def in_lstm(name):
    short, layer = name.rsplit("_l", 1)
    return f"l{layer}__{_SHORT[short]}"


def in_gru(name):
    short, _, reverse = name.partition("_l0")
    return _SHORT[short] + ("r" if reverse else "f")


@case(x=rand(2, 5, 4), h0=rand(2, 2, 3), c0=rand(2, 2, 3), **weights(LSTM, in_lstm))
def lstm_of_two_layers(x, h0, c0, **_):
    """
    def lstm[U](x : f32[T,B,I], h0 : f32[B,U], c0 : f32[B,U]) -> h : f32[T,B,U], c : f32[T,B,U] {
      param wi : f32[4*U,I] "weight_ih"
      param wh : f32[4*U,U] "weight_hh"
      param bi : f32[4*U] "bias_ih"
      param bh : f32[4*U] "bias_hh"
      tensor gx : f32[T,B,4*U]
      kernel inp by gemm() {
        gx[t,b,q] = sum[i](x[t,b,i] * wi[q,i]) + bi[q] + bh[q]
      }
      kernel loop by recurrent() {
        g[t,b,q,j] = gx[t,b,U*q+j] + sum[k](h[t-1,b,k else h0[b,k]] * wh[U*q+j,k]) for t < T, q < 4, j < U
        c[t,b,j] = sigmoid(g[t,b,1,j])*c[t-1,b,j else c0[b,j]] + sigmoid(g[t,b,0,j])*tanh(g[t,b,2,j])
        h[t,b,j] = sigmoid(g[t,b,3,j])*tanh(c[t,b,j])
      }
    }
    dim T = 5, B = 2, I = 4, U = 3, L = 2
    input x : f32[B,T,I]
    input h0 : f32[L,B,U]
    input c0 : f32[L,B,U]
    output hn : f32[L,B,U]
    output cn : f32[L,B,U]
    view xt[t,b,i] = x[b,t,i]
    a, ca = lstm[U=U](xt, h0[0], c0[0]) at "l0"
    d, cd = lstm[U=U](a, h0[1], c0[1]) at "l1"
    hn[0,b,j] = a[T-1,b,j]
    hn[1,b,j] = d[T-1,b,j]
    cn[0,b,j] = ca[T-1,b,j]
    cn[1,b,j] = cd[T-1,b,j]
    """
    _, (h, c) = LSTM(x, (h0, c0))
    return {"hn": h, "cn": c}


@case(x=rand(5, 2, 4), h0=rand(2, 2, 3), **weights(GRU, in_gru))
def gru_in_both_directions(x, h0, **_):
    """
    dim T = 5, B = 2, I = 4, U = 3
    param wif : f32[3*U,I]
    param whf : f32[3*U,U]
    param bif : f32[3*U]
    param bhf : f32[3*U]
    param wir : f32[3*U,I]
    param whr : f32[3*U,U]
    param bir : f32[3*U]
    param bhr : f32[3*U]
    input x : f32[T,B,I]
    input h0 : f32[2,B,U]
    output y : f32[T,B,2*U]
    output hn : f32[2,B,U]
    tensor hf : f32[T,B,U]
    tensor hr : f32[T,B,U]
    af[t,b,q] = sum[i](x[t,b,i] * wif[q,i]) + bif[q]
    rf[t,b,q] = sum[k](hf[t-1,b,k else h0[0,b,k]] * whf[q,k]) + bhf[q] for t < T
    zf[t,b,j] = sigmoid(af[t,b,U+j] + rf[t,b,U+j]) for j < U
    nf[t,b,j] = tanh(af[t,b,2*U+j] + sigmoid(af[t,b,j] + rf[t,b,j])*rf[t,b,2*U+j]) for j < U
    hf[t,b,j] = (1 - zf[t,b,j])*nf[t,b,j] + zf[t,b,j]*hf[t-1,b,j else h0[0,b,j]]
    ar[t,b,q] = sum[i](x[t,b,i] * wir[q,i]) + bir[q]
    rr[t,b,q] = sum[k](hr[t+1,b,k else h0[1,b,k]] * whr[q,k]) + bhr[q] for t < T
    zr[t,b,j] = sigmoid(ar[t,b,U+j] + rr[t,b,U+j]) for j < U
    nr[t,b,j] = tanh(ar[t,b,2*U+j] + sigmoid(ar[t,b,j] + rr[t,b,j])*rr[t,b,2*U+j]) for j < U
    hr[t,b,j] = (1 - zr[t,b,j])*nr[t,b,j] + zr[t,b,j]*hr[t+1,b,j else h0[1,b,j]]
    y[t,b,j] = hf[t,b,j]
    y[t,b,U+j] = hr[t,b,j]
    hn[0,b,j] = hf[T-1,b,j]
    hn[1,b,j] = hr[0,b,j]
    """
    y, h = GRU(x, h0)
    return {"y": y, "hn": h}


@case(x=rand(5, 2, 4), h0=rand(2, 3), **weights(RNN, lambda name: _SHORT[name.removesuffix("_l0")]))
def plain_rnn(x, h0, **_):
    """
    dim T = 5, B = 2, I = 4, U = 3
    param wi : f32[U,I]
    param wh : f32[U,U]
    param bi : f32[U]
    param bh : f32[U]
    input x : f32[T,B,I]
    input h0 : f32[B,U]
    output h : f32[T,B,U]
    h[t,b,j] = tanh(sum[i](x[t,b,i] * wi[j,i]) + sum[k](h[t-1,b,k else h0[b,k]] * wh[j,k]) + bi[j] + bh[j])
    """
    return RNN(x, h0[None])[0]


CONVOLUTIONS = {
    "layer0__conv1": (2, 3, 1, 1),
    "layer0__conv2": (2, 2, 3, 3),
    "layer0__conv3": (8, 2, 1, 1),
    "layer0__down__conv": (8, 3, 1, 1),
    "layer1__conv1": (2, 8, 1, 1),
    "layer1__conv2": (2, 2, 3, 3),
    "layer1__conv3": (8, 2, 1, 1),
}
NORMS = {
    "layer0__bn1": 2,
    "layer0__bn2": 2,
    "layer0__bn3": 8,
    "layer0__down__bn": 8,
    "layer1__bn1": 2,
    "layer1__bn2": 2,
    "layer1__bn3": 8,
}
BLOCKS = {f"{name}__w": rand(*shape) for name, shape in CONVOLUTIONS.items()} | {
    f"{name}__{what}": value
    for name, c in NORMS.items()
    for what, value in {"g": rand(c), "b": rand(c), "rm": rand(c), "rv": rand(c).abs(), "nb": torch.tensor(4)}.items()
}


@case(x=rand(2, 3, 6, 6), **BLOCKS)
def chain_of_residual_blocks(x, **w):
    """
    def conv1[K, S = 1](x : f32[N,C,H,W]) -> y : f32[N,K,(H-1)//S+1,(W-1)//S+1] {
      param w : f32[K,C,1,1] "weight"
      y[n,k,p,q] = sum[c](x[n,c,S*p,S*q] * w[k,c,0,0])
    }
    def conv3[K, S = 1](x : f32[N,C,H,W]) -> y : f32[N,K,(H-1)//S+1,(W-1)//S+1] {
      param w : f32[K,C,3,3] "weight"
      y[n,k,p,q] = sum[c,r,s](x[n,c,S*p+r-1,S*q+s-1 else 0] * w[k,c,r,s])
    }
    def bn(x : f32[N,C,H,W]) -> y : f32[N,C,H,W] {
      dim M = N*H*W
      param g : f32[C] "weight"
      param b : f32[C] "bias"
      buffer rm : f32[C] "running_mean"
      buffer rv : f32[C] "running_var"
      buffer nb : i64[] "num_batches_tracked"
      tensor rm1 : f32[C] into rm
      tensor rv1 : f32[C] into rv
      tensor nb1 : i64[] into nb
      mu[c] = mean[n,h,w](x[n,c,h,w])
      v[c] = var[n,h,w](x[n,c,h,w])
      y[n,c,h,w] = (x[n,c,h,w] - mu[c]) * rsqrt(v[c] + 1e-5) * g[c] + b[c]
      rm1[c] = 0.9*rm[c] + 0.1*mu[c]
      rv1[c] = 0.9*rv[c] + 0.1*v[c]*M/(M-1)
      nb1[] = nb[] + 1
    }
    def inner[P, S = 1](x : f32[N,C,H,W]) -> y : f32[N,4*P,(H-1)//S+1,(W-1)//S+1] {
      a1 = conv1[K=P](x) at "conv1"
      a2 = bn(a1) at "bn1"
      a3[n,c,h,w] = relu(a2[n,c,h,w])
      a4 = conv3[K=P, S=S](a3) at "conv2"
      a5 = bn(a4) at "bn2"
      a6[n,c,h,w] = relu(a5[n,c,h,w])
      a7 = conv1[K=4*P](a6) at "conv3"
      y = bn(a7) at "bn3"
    }
    dim B = 2, C = 3, H = 6
    input x : f32[B,C,H,H]
    output y : f32[B,8,3,3]
    u = inner[P=2, S=2](x) at "layer0"
    d1 = conv1[K=8, S=2](x) at "layer0.down.conv"
    d2 = bn(d1) at "layer0.down.bn"
    z[n,k,p,q] = relu(u[n,k,p,q] + d2[n,k,p,q])
    t = inner[P=2](z) at "layer1"
    y[n,k,p,q] = relu(t[n,k,p,q] + z[n,k,p,q])
    """
    state = {}

    def bn(x, name):
        layer = nn.BatchNorm2d(NORMS[name], dtype=torch.float64)
        ours = {"weight": "g", "bias": "b", "running_mean": "rm", "running_var": "rv", "num_batches_tracked": "nb"}
        layer.load_state_dict({theirs: w[f"{name}__{short}"] for theirs, short in ours.items()})
        y = layer(x)
        path = name.replace("__", ".")
        state.update(
            {
                f"{path}.rm1": layer.running_mean,
                f"{path}.rv1": layer.running_var,
                f"{path}.nb1": layer.num_batches_tracked,
            }
        )
        return y

    def inner(x, name, stride):
        x = F.relu(bn(F.conv2d(x, w[f"{name}__conv1__w"]), f"{name}__bn1"))
        x = F.relu(bn(F.conv2d(x, w[f"{name}__conv2__w"], stride=stride, padding=1), f"{name}__bn2"))
        return bn(F.conv2d(x, w[f"{name}__conv3__w"]), f"{name}__bn3")

    down = bn(F.conv2d(x, w["layer0__down__conv__w"], stride=2), "layer0__down__bn")
    z = F.relu(inner(x, "layer0", 2) + down)
    y = F.relu(inner(z, "layer1", 1) + z)
    return {"y": y, **state}
