"""What moves values and computes nothing."""

import torch
import torch.nn.functional as F

from . import case, rand

X, Y = rand(4, 9), rand(4, 9)


@case(x=rand(2, 6, 3, 3))
def channel_shuffle(x):
    """
    dim G = 2, D = 3
    input x : f32[2,6,3,3]
    output y : f32[2,6,3,3]
    y[n,G*d+g,h,w] = x[n,D*g+d,h,w] for g < G, d < D
    """
    return F.channel_shuffle(x, 2)


@case(x=X)
def roll(x):
    """
    input x : f32[4,9]
    output y : f32[4,9]
    y[m,n] = x[m,(n+3)%9]
    """
    return x.roll(-3, 1)


@case(a=X, b=rand(4, 7))
def concatenation(a, b):
    """
    input a : f32[4,9]
    input b : f32[4,7]
    output y : f32[4,16]
    y[m,n] = a[m,n]
    y[m,9+n] = b[m,n]
    """
    return torch.cat([a, b], 1)


@case(x=X)
def reshape_across_rows(x):
    """
    input x : f32[4,9]
    output y : f32[6,6]
    y[p,q] = x[(6*p+q)//9,(6*p+q)%9]
    """
    return x.reshape(6, 6)


@case(x=rand(2, 4, 4, 3))
def patch_merging(x):
    """
    input x : f32[2,4,4,3]
    output y : f32[2,2,2,12]
    y[b,i,j,6*v+3*u+c] = x[b,2*i+u,2*j+v,c] for i < 2, j < 2, u < 2, v < 2
    """
    return torch.cat([x[:, 0::2, 0::2], x[:, 1::2, 0::2], x[:, 0::2, 1::2], x[:, 1::2, 1::2]], -1)


@case(a=X, b=Y)
def stack_pad_and_slice(a, b):
    """
    input a : f32[4,9]
    input b : f32[4,9]
    output y : f32[2,4,9]
    output z : f32[4,12]
    output u : f32[3,4]
    y[0,m,n] = a[m,n]
    y[1,m,n] = b[m,n]
    z[m,n] = a[m,n-2 else 0]
    u[m,n] = a[m,2*n+1] for m < 3
    """
    return {"y": torch.stack([a, b]), "z": F.pad(a, (2, 1)), "u": a[:3, 1::2]}
