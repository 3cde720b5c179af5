"""Losses."""

import torch
import torch.nn.functional as F

from . import case, integers, rand

X, Y, Z = rand(4, 9), rand(4, 9), rand(4, 9)


@case(x=X, t=integers(0, 9, 4))
def cross_entropy(x, t):
    """
    input x : f32[4,9]
    input t : i64[4]
    output l : f32[]
    l[] = mean[n](logsumexp[c](x[n,c]) - x[n,t[n]])
    """
    return F.cross_entropy(x, t)


@case(x=X, t=torch.tensor([3, -100, 8, 0]))
def cross_entropy_that_ignores(x, t):
    """
    input x : f32[4,9]
    input t : i64[4]
    output l : f32[]
    l[] = mean[n where t[n] != -100](logsumexp[c](x[n,c]) - x[n,t[n]])
    """
    return F.cross_entropy(x, t)


@case(x=X, t=Y)
def smooth_l1(x, t):
    """
    input x : f32[4,9]
    input t : f32[4,9]
    output l : f32[]
    d[i,j] = abs(x[i,j] - t[i,j])
    l[] = mean[i,j](select(d[i,j] < 1, 0.5*d[i,j]**2, d[i,j] - 0.5))
    """
    return F.smooth_l1_loss(x, t)


@case(p=X.softmax(1), t=Y.softmax(1))
def kullback_leibler(p, t):
    """
    input p : f32[4,9]
    input t : f32[4,9]
    output l : f32[]
    l[] = sum[i,j](select(t[i,j] > 0, t[i,j]*(log(t[i,j]) - log(p[i,j])), 0))/4
    """
    return F.kl_div(p.log(), t, reduction="batchmean")


@case(a=X, p=Y, n=Z)
def triplet_margin(a, p, n):
    """
    input a : f32[4,9]
    input p : f32[4,9]
    input n : f32[4,9]
    output l : f32[]
    dp[i] = sqrt(sum[j]((a[i,j] - p[i,j] + 1e-6)**2))
    dn[i] = sqrt(sum[j]((a[i,j] - n[i,j] + 1e-6)**2))
    l[] = mean[i](max(dp[i] - dn[i] + 1, 0))
    """
    return F.triplet_margin_loss(a, p, n)
