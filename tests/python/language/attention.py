"""Attention."""

import torch
import torch.nn.functional as F

from . import case, rand

QKV = dict(q=rand(2, 3, 6, 4), k=rand(2, 3, 6, 4), v=rand(2, 3, 6, 4))


@case(**QKV)
def scaled_dot_product_attention(q, k, v):
    """
    dim B = 2, H = 3, S = 6, D = 4
    input q : f32[B,H,S,D]
    input k : f32[B,H,S,D]
    input v : f32[B,H,S,D]
    output o : f32[B,H,S,D]
    kernel a by attention() {
      s[b,h,i,j] = sum[d](q[b,h,i,d] * k[b,h,j,d]) / sqrt(D)
      p[b,h,i,j] = exp(s[b,h,i,j] - max[j](s[b,h,i,j]))
      o[b,h,i,e] = sum[j](p[b,h,i,j] * v[b,h,j,e]) / sum[j](p[b,h,i,j])
    }
    """
    return F.scaled_dot_product_attention(q, k, v)


@case(**QKV)
def causal_attention(q, k, v):
    """
    dim B = 2, H = 3, S = 6, D = 4
    input q : f32[B,H,S,D]
    input k : f32[B,H,S,D]
    input v : f32[B,H,S,D]
    output o : f32[B,H,S,D]
    kernel a by attention() {
      s[b,h,i,j] = sum[d](q[b,h,i,d] * k[b,h,j,d]) / sqrt(D)
      p[b,h,i,j] = exp(s[b,h,i,j] - max[j where j <= i](s[b,h,i,j]))
      o[b,h,i,e] = sum[j where j <= i](p[b,h,i,j] * v[b,h,j,e]) / sum[j where j <= i](p[b,h,i,j])
    }
    """
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


@case(s=rand(6, 6))
def relu_of_masked_scores(s):
    """
    input s : f32[6,6]
    output y : f32[6,6]
    y[i,j] = relu(select(j <= i, s[i,j], -inf))
    """
    return F.relu(s.masked_fill(~torch.ones(6, 6).tril().bool(), -torch.inf))
