"""Softmax and the norms."""

import torch
import torch.nn as nn
import torch.nn.functional as F

from . import case, coin, rand

IMAGE = rand(3, 8, 6, 5)


@case(x=rand(5, 9))
def softmax(x):
    """
    input x : f32[5,9]
    output y : f32[5,9]
    kernel s by rows(axis=1) {
      e[m,n] = exp(x[m,n] - max[n](x[m,n]))
      y[m,n] = e[m,n] / sum[n](e[m,n])
    }
    """
    return x.softmax(1)


@case(x=rand(5, 9))
def log_softmax(x):
    """
    input x : f32[5,9]
    output y : f32[5,9]
    y[m,n] = x[m,n] - logsumexp[n](x[m,n])
    """
    return x.log_softmax(1)


@case(x=IMAGE, g=rand(8, 6, 5), b=rand(8, 6, 5))
def layer_norm_over_three_dims(x, g, b):
    """
    param g : f32[8,6,5]
    param b : f32[8,6,5]
    input x : f32[3,8,6,5]
    output y : f32[3,8,6,5]
    mu[n] = mean[c,h,w](x[n,c,h,w])
    v[n] = var[c,h,w](x[n,c,h,w])
    y[n,c,h,w] = (x[n,c,h,w] - mu[n]) * rsqrt(v[n] + 1e-5) * g[c,h,w] + b[c,h,w]
    """
    return F.layer_norm(x, (8, 6, 5), g, b)


@case(x=IMAGE, g=rand(8), b=rand(8), rm=rand(8), rv=rand(8).abs())
def batch_norm_in_training(x, g, b, rm, rv):
    """
    param g : f32[8]
    param b : f32[8]
    buffer rm : f32[8]
    buffer rv : f32[8]
    input x : f32[3,8,6,5]
    output y : f32[3,8,6,5]
    tensor rm1 : f32[8] into rm
    tensor rv1 : f32[8] into rv
    dim N = 3*6*5
    mu[c] = mean[n,h,w](x[n,c,h,w])
    v[c] = var[n,h,w](x[n,c,h,w])
    y[n,c,h,w] = (x[n,c,h,w] - mu[c]) * rsqrt(v[c] + 1e-5) * g[c] + b[c]
    rm1[c] = 0.9*rm[c] + 0.1*mu[c]
    rv1[c] = 0.9*rv[c] + 0.1*v[c]*N/(N-1)
    """
    norm = nn.BatchNorm2d(8, dtype=torch.float64)
    norm.load_state_dict({"weight": g, "bias": b, "running_mean": rm, "running_var": rv}, strict=False)
    return {"y": norm(x), "rm1": norm.running_mean, "rv1": norm.running_var}


@case(x=IMAGE, g=rand(8), b=rand(8))
def group_norm_by_division(x, g, b):
    """
    dim C = 8, G = 4
    param g : f32[C]
    param b : f32[C]
    input x : f32[3,C,6,5]
    output y : f32[3,C,6,5]
    mu[n,q] = mean[c<C//G,h,w](x[n,C//G*q+c,h,w]) for q < G
    v[n,q] = var[c<C//G,h,w](x[n,C//G*q+c,h,w]) for q < G
    y[n,c,h,w] = (x[n,c,h,w] - mu[n,c//(C//G)]) * rsqrt(v[n,c//(C//G)] + 1e-5) * g[c] + b[c]
    """
    return F.group_norm(x, 4, g, b)


@case(x=IMAGE, g=rand(8), b=rand(8))
def group_norm_by_digits(x, g, b):
    """
    dim G = 4, D = 2
    param g : f32[8]
    param b : f32[8]
    input x : f32[3,8,6,5]
    output y : f32[3,8,6,5]
    mu[n,q] = mean[d<D,h,w](x[n,D*q+d,h,w]) for q < G
    v[n,q] = var[d<D,h,w](x[n,D*q+d,h,w]) for q < G
    y[n,D*q+d,h,w] = (x[n,D*q+d,h,w] - mu[n,q]) * rsqrt(v[n,q] + 1e-5) * g[D*q+d] + b[D*q+d] for d < D
    """
    return F.group_norm(x, 4, g, b)


@case(x=IMAGE)
def instance_norm(x):
    """
    input x : f32[3,8,6,5]
    output y : f32[3,8,6,5]
    mu[n,c] = mean[h,w](x[n,c,h,w])
    y[n,c,h,w] = (x[n,c,h,w] - mu[n,c]) * rsqrt(var[h,w](x[n,c,h,w]) + 1e-5)
    """
    return F.instance_norm(x)


@case(x=IMAGE)
def rms_norm_over_channels(x):
    """
    input x : f32[3,8,6,5]
    output y : f32[3,8,6,5]
    y[n,c,h,w] = x[n,c,h,w] * rsqrt(mean[c](x[n,c,h,w]**2) + 1e-5)
    """
    return x / torch.sqrt(x.square().mean(1, keepdim=True) + 1e-5)


@case(x=(rand(4, 6, 5) * 2).round())
def argmin_with_ties(x):
    """
    input x : f32[4,6,5]
    output y : i64[4,5]
    y[i,k] = argmin[j](x[i,j,k])
    """
    return x.argmin(1)


@case(x=(rand(4, 6, 5) * 2).round())
def argmax_with_ties(x):
    """
    input x : f32[4,6,5]
    output y : i64[4,5]
    y[i,k] = argmax[j](x[i,j,k])
    """
    return x.argmax(1)


@case(x=rand(4, 9), keep=coin(4, 9, p=0.9))
def dropout(x, keep):
    """
    random keep : bool[4,9] from bernoulli(0.9)
    input x : f32[4,9]
    output y : f32[4,9]
    y[m,n] = select(keep[m,n], x[m,n]/0.9, 0)
    """
    return x * keep / 0.9
