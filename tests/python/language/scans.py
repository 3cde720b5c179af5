"""Prefix sums and products."""

import torch

from . import case, coin, rand

X = rand(4, 9)


@case(x=X)
def cumulative_sum(x):
    """
    input x : f32[4,9]
    output y : f32[4,9]
    y[m,n] = sum[j where j <= n](x[m,j])
    """
    return x.cumsum(1)


@case(x=X)
def cumulative_sum_as_a_recurrence(x):
    """
    input x : f32[4,9]
    output y : f32[4,9]
    y[m,n] = y[m,n-1 else 0] + x[m,n]
    """
    return x.cumsum(1)


@case(x=X)
def cumulative_sum_from_the_end(x):
    """
    input x : f32[4,9]
    output y : f32[4,9]
    y[m,n] = sum[j where j >= n](x[m,j])
    """
    return x.flip(1).cumsum(1).flip(1)


@case(x=X)
def cumulative_sum_of_a_flipped_row(x):
    """
    input x : f32[4,9]
    output y : f32[4,9]
    f[m,n] = x[m,8-n] for n < 9
    c[m,n] = sum[j where j <= n](f[m,j]) for n < 9
    y[m,n] = c[m,8-n]
    """
    return x.flip(1).cumsum(1).flip(1)


@case(x=X)
def exclusive_cumulative_sum(x):
    """
    input x : f32[4,9]
    output y : f32[4,9]
    y[m,n] = sum[j where j < n](x[m,j])
    """
    return x.cumsum(1) - x


@case(x=X)
def exclusive_cumulative_sum_in_pieces(x):
    """
    input x : f32[4,9]
    output y : f32[4,9]
    c[m,n] = sum[j<8 where j <= n](x[m,j]) for n < 8
    y[m,0] = 0*x[m,0]
    y[m,n+1] = c[m,n]
    """
    return torch.cat((torch.zeros_like(x[:, :1]), x[:, :-1].cumsum(1)), 1)


@case(x=X, k=coin(4, 9))
def cumulative_sum_under_a_mask(x, k):
    """
    input x : f32[4,9]
    input k : bool[4,9]
    output y : f32[4,9]
    y[m,n] = sum[j where j <= n](x[m,j] * k[m,j])
    """
    return (x * k).cumsum(1)


@case(x=X)
def cumulative_product(x):
    """
    input x : f32[4,9]
    output y : f32[4,9]
    y[m,n] = prod[j where j <= n](x[m,j])
    """
    return x.cumprod(1)


def blocks(x):
    return x.reshape(x.shape[0], -1, 4, *x.shape[2:])


def segment_sums(x):
    sums = x.cumsum(-1)
    below = torch.ones(x.shape[-1], x.shape[-1], dtype=torch.bool).tril()
    return (sums[..., :, None] - sums[..., None, :]).masked_fill(~below, -torch.inf)


def state_space(a, b, c, x):
    """Chunked scan of a state space model, chunks of 4."""
    xb, ab, bb, cb = map(blocks, (x, a, b, c))
    ab = ab.permute(0, 3, 1, 2)
    sums = ab.cumsum(-1)
    within = torch.einsum("bclhn,bcshn,bhcls,bcshp->bclhp", cb, bb, segment_sums(ab).exp(), xb)
    states = torch.einsum("bclhn,bhcl,bclhp->bchpn", bb, (sums[..., -1:] - sums).exp(), xb)
    states = torch.cat([torch.zeros_like(states[:, :1]), states], 1)
    decay = segment_sums(torch.nn.functional.pad(sums[..., -1], (1, 0))).exp()
    states = torch.einsum("bhzc,bchpn->bzhpn", decay, states)
    across = torch.einsum("bclhn,bchpn,bhcl->bclhp", cb, states[:, :-1], sums.exp())
    return {"y": (within + across).reshape(x.shape), "f": states[:, -1]}


SPACE = dict(a=rand(2, 8, 2), b=rand(2, 8, 2, 4), c=rand(2, 8, 2, 4), x=rand(2, 8, 2, 3))


@case(**SPACE)
def state_space_model_in_chunks(a, b, c, x):
    """
    dim B = 2, L = 8, H = 2, P = 3, N = 4, Q = 4, C = L//Q
    param a : f32[B,L,H]
    param b : f32[B,L,H,N]
    param c : f32[B,L,H,N]
    input x : f32[B,L,H,P]
    output y : f32[B,L,H,P]
    output f : f32[B,H,P,N]
    s[n,h,z,l] = sum[j<Q where j <= l](a[n,Q*z+j,h]) for z < C, l < Q
    d[n,h,z,l,j] = select(j <= l, exp(s[n,h,z,l] - s[n,h,z,j]), 0)
    t[n,z,h,p,q] = sum[l](b[n,Q*z+l,h,q] * exp(s[n,h,z,Q-1] - s[n,h,z,l]) * x[n,Q*z+l,h,p])
    e[n,h,z] = sum[j where j < z](s[n,h,j,Q-1]) for z < C+1
    u[n,z,h,p,q] = sum[j where j < z](exp(e[n,h,z] - e[n,h,j+1]) * t[n,j,h,p,q]) for z < C+1
    y[n,Q*z+l,h,p] = sum[q,j](c[n,Q*z+l,h,q] * b[n,Q*z+j,h,q] * d[n,h,z,l,j] * x[n,Q*z+j,h,p])
      + sum[q](c[n,Q*z+l,h,q] * u[n,z,h,p,q] * exp(s[n,h,z,l])) for z < C
    f[n,h,p,q] = u[n,C,h,p,q]
    """
    return state_space(a, b, c, x)


@case(**SPACE)
def state_space_model_as_a_recurrence(a, b, c, x):
    """
    dim B = 2, L = 8, H = 2, P = 3, N = 4
    param a : f32[B,L,H]
    param b : f32[B,L,H,N]
    param c : f32[B,L,H,N]
    input x : f32[B,L,H,P]
    output y : f32[B,L,H,P]
    output f : f32[B,H,P,N]
    tensor s : f32[B,L,H,P,N]
    s[n,t,h,p,q] = exp(a[n,t,h]) * s[n,t-1,h,p,q else 0] + b[n,t,h,q] * x[n,t,h,p]
    y[n,t,h,p] = sum[q](c[n,t,h,q] * s[n,t,h,p,q])
    f[n,h,p,q] = s[n,L-1,h,p,q]
    """
    return state_space(a, b, c, x)
